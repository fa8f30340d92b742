# --journal and --resume: runs that are killed at any moment go on, nothing is lost and nothing counted twice; what is refused, in words. RESUME_CHAINS=100
# kills more often; RESUME_SEED chooses the moments.
shm=$(mktemp -d -p /dev/shm 2>/dev/null) && trap 'in_the_end "$shm" "$folder"' EXIT && cd "$shm" # syncing waits for other processes on a disk
cp "$programs"/* .
formulas_for none
for p in plain keeps counts once; do check "compile-$p" "$DFC" $p.df --nvcc=none --no-opencl -o $p; done
chains=${RESUME_CHAINS:-1}; RANDOM=${RESUME_SEED:-16}
head -c 1200 "$DFC" >in.raw                     # 150 waves
want() { rm -rf "want-$1"; mkdir "want-$1"; (cd "want-$1" && "../$@" >stdout) || fail "want-$1" "$(ls "want-$1")"; }
want plain --input=../in.raw; want keeps --input=../in.raw; want counts --many=150
head -c 8 "$DFC" >once.raw; mkdir want-once; (cd want-once && ln ../once.raw && ../once --input=../in.raw)
mkdir work; cd work || exit 1
# all NAME PROGRAM: each file of a whole run is there with the same bytes, and no other; what is printed may be there twice.
all() {
    local got; got=$(diff -rq -x '*.journal' -x stdout ../want-$2 . 2>&1)
    [ -z "$got" ] && pass "$1" || fail "$1" "$(head -n 4 <<<"$got" | tr '\n' ' ')"
    rm -f ./*
}

# The same bytes with a journal; then nothing is left to do.
check journal ../plain --input=../in.raw --journal
ls *.part >/dev/null 2>&1 && fail no-part "$(ls *.part)" || pass no-part
expect ended 0 "^plain: all 150 waves are done, as 'plain.journal' says: nothing is left to do$" ../plain --input=../in.raw --resume
all journal-bytes plain

# kill -9 at random moments until a run gets to its end.
kills=0
chain() { # NAME PROGRAM ARG…
    local name=$1 program=$2 n=0 pid; shift 2
    while [ $n -lt 8 ]; do
        ../$program "$@" --resume >>stdout 2>errors & pid=$!
        sleep "0.$(printf %03d $((20 + RANDOM % 160)))"
        kill -9 $pid 2>/dev/null && kills=$((kills + 1))
        wait $pid 2>/dev/null; got=$?
        [ $got = 0 ] && break
        [ $got = 137 ] || { fail "$name" "exit $got: $(cat errors)"; return; }
        n=$((n + 1))
    done
    [ $got = 0 ] || check "$name-last" ../$program "$@" --resume
    rm -f stdout errors; all "$name" $program
}
for ((i = 0; i < chains; i++)); do
    chain "killed-plain-$i" plain --input=../in.raw --us=2500 --workers=2
    chain "killed-keeps-$i" keeps --input=../in.raw --us=2500 --workers=$((1 + i % 2))
    chain "killed-counts-$i" counts --many=150 --us=2500
done
chain killed-device plain --input=../in.raw --us=2000 --device=emu --policy=dmda
chain killed-device-keeps keeps --input=../in.raw --us=2000 --device=emu --emu-all --policy=all-gpu
[ $kills -ge $((chains * 2)) ] && pass killed || fail killed "$kills kills alone"
echo "figure resume: $kills runs were killed"

# While there is a file `hold`, waves from 60 on wait (kernels.c): so a run goes on until the test has done to it what it does.
nap 0
# halved COMMAND…: kills it -9 after its first record.
halved() { touch hold; "$@" >stdout 2>/dev/null & until_line '^done' "${1##*/}.journal"; kill -9 $!; wait $! 2>/dev/null; rm hold; }

# SIGTERM and SIGUSR1: 75 and a sentence; --grace.
stopped() { # NAME SIGNAL PATTERN ARG…
    local name=$1 signal=$2 pattern=$3 pid got; shift 3
    touch hold
    ../plain --input=../in.raw --resume "$@" >out 2>&1 & pid=$!
    until_line '^done [1-9][0-9]' plain.journal     # some waves more than a test removes the files of
    kill -$signal $pid; [ "$name" = grace ] || rm hold
    wait $pid; got=$?; rm -f hold
    [ $got = 75 ] && grep -qE "$pattern" out && pass "$name" || fail "$name" "exit $got: $(cat out)"
    rm -f out
}
stopped term TERM '^plain: stopped by SIGTERM after [0-9]+ waves; --resume goes on$' --us=4000
check term-resumes ../plain --input=../in.raw --us=4000 --resume
all term-bytes plain
stopped usr1 USR1 '^plain: stopped by SIGUSR1 after [0-9]+ waves; --resume' --us=4000
check usr1-resumes ../plain --input=../in.raw --us=4000 --resume
all usr1-bytes plain
stopped grace TERM 'after [0-9]+ waves, while others had not ended; --resume' --us=60000 --grace=1ms
expect going-on 0 "^plain: [0-9]+ waves are done, as 'plain.journal' says: going on$" timeout 150 ../plain --input=../in.raw --us=60000 --resume --workers=2 --waves=6
rm -f ./*

# What is refused. A journal of 40 waves and more, and its files.
stopped half TERM stopped --us=3000
mkdir ../half && cp ./* ../half
again() { rm -f ./*; cp -p ../half/* .; }
run=(../plain --input=../in.raw --us=3000)
expect not-over 1 "the journal 'plain.journal' is of a run that has not ended, after [0-9]+ waves: --resume goes on with it; if it is removed, the run begins anew$" "${run[@]}" --journal
expect other-args 1 "^plain: error: the journal 'plain.journal' is of another run: --us was '3000', and is '3001' now; if it is removed, the run begins anew$" ../plain --input=../in.raw --us=3001 --resume
expect other-program 1 "'plain.journal' is of another run: --input is not there any more; --output is not there any more; --each is not there any more; and 2 more; if" ../counts --resume --journal=plain.journal
cp ../in.raw ../in.keep; touch ../in.raw
expect changed 1 "'../in.raw' has changed since the run of the journal 'plain.journal' began [(]1200 bytes then, 1200 now[)]; --accept-changed goes on with the inputs as they are now$" "${run[@]}" --resume
mv ../in.raw ../in.away
expect gone 1 "the run of the journal 'plain.journal' read '../in.raw', which is not there or not read any more; --accept-changed goes on with the inputs as they are now$" "${run[@]}" --resume
mv ../in.away ../in.raw; touch -r ../half/plain.journal ../in.raw
rm -f ./*; stopped half-again TERM stopped --us=3000; cp -p ./* ../half
sed -i 's/^begun/cegun/' plain.journal
expect damaged 1 "line [0-9]+ of the journal 'plain.journal' is damaged; if it is removed, the run begins anew$" "${run[@]}" --resume
again; echo x >other
expect no-journal 1 "'other' is no journal$" "${run[@]}" --resume --journal=other
expect program-as-journal 2 "error: --journal=../plain: it would replace this program$" "${run[@]}" --journal="${run[0]}"
expect no-file 1 "'/dev/full' cannot be a journal: it is no regular file$" "${run[@]}" --journal=/dev/full
expect no-folder 1 "cannot open the journal 'no/j': No such file" "${run[@]}" --journal=no/j
again; last=$(stat -c %s all.npy.part); from=$(grep 'all[.]npy' plain.journal | tail -n 1 | cut -d ' ' -f 6)
printf '\377' | dd of=all.npy.part bs=1 seek="$from" conv=notrunc 2>/dev/null
expect altered 1 "'all.npy' is not as the run of the journal 'plain.journal' has left it; if the journal is removed, the run begins anew$" "${run[@]}" --resume
again; truncate -s 5 out.raw.part
expect short 1 "'out.raw' is shorter than what the run has written$" "${run[@]}" --resume
again; mv out.raw.part away
expect lost 1 "cannot read 'out.raw', which the run has written: No such file" "${run[@]}" --resume
# A file of one wave that is missing, empty or another is made again; one that was copied is taken; and with --accept-changed none is looked at.
lost() { # NAME COMMAND…: the command is done to the files
    again; "${@:2}"; "${run[@]}" --resume >said 2>&1; got=$?
    [ $got = 0 ] && grep -qE "^plain: 'each0(03|06).npy', which wave (3|6) has written, is missing or has changed(, and so is 1 more)?: the waves from [0-6] on are done again$" said && pass "$1" ||
        fail "$1" "exit $got: $(cat said)"
    rm -f said; all "$1-bytes" plain
}
lost each-gone rm each003.npy
lost each-empty truncate -s 0 each006.npy
lost each-other sh -c 'printf x | dd of=each003.npy bs=1 seek=130 conv=notrunc 2>/dev/null; rm each006.npy'
again; cp each003.npy x; sleep 0.01; mv x each003.npy
"${run[@]}" --resume >said 2>&1; ! grep -q 'again' said && pass each-copied || fail each-copied "$(cat said)"
rm -f said; all each-copied-bytes plain
again; rm each003.npy; check each-accepted "${run[@]}" --resume --accept-changed
[ ! -e each003.npy ] && cmp -s out.raw ../want-plain/out.raw && pass each-accepted-bytes || fail each-accepted-bytes "$(ls)"
again; touch hold; "${run[@]}" --resume 2>/dev/null & until_line '^run 2' plain.journal
expect two 1 "another process is at work with the journal 'plain.journal'$" "${run[@]}" --resume
rm hold; wait; all two-bytes plain

# The journal cut within its last record; the page that was torn.
again; size=$(stat -c %s plain.journal); last=$(($(sed '$d' plain.journal | sed -n '/^done\|^run/=' | tail -n 1)))
kept=$(head -n "$last" plain.journal | wc -c); bad=0
for ((cut = kept; cut < size; cut += 23)); do
    again; truncate -s $cut plain.journal
    "${run[@]}" --resume >out 2>&1 && cmp -s out.raw ../want-plain/out.raw && cmp -s rows.csv ../want-plain/rows.csv && cmp -s all.npy ../want-plain/all.npy || { bad=1; fail "cut-$cut" "$(cat out)"; }
    cut=$((cut + 60))
done
[ $bad = 0 ] && pass cut

# A full disk: the run says so, and goes on when there is room again. The same for the journal.
rm -f ./*
full() { (ulimit -f 1; exec ../plain --input=../in.raw --resume --us=300 "$@"); }
expect full 1 "error: .*File too large" full
# The head of the journal alone is too long: it has the input's path.
expect full-journal 1 "^plain: error: cannot write the journal '../long.journal': File too large" full --journal=../long.journal --input="$(printf './%.0s' {1..600})../in.raw"
check full-resumes ../plain --input=../in.raw --resume --us=300
all full-bytes plain

# Sources of a program's own, accs, sinks that print: told when the run goes on.
halved ../keeps --input=../in.raw --us=3000 --journal
expect keeps-told 0 "^keeps: node 'main/running' keeps something from wave to wave, so what it needs of these waves is computed again$" ../keeps --input=../in.raw --us=3000 --resume
all keeps-bytes keeps
# A checkpoint that a run has left which was killed at its very end goes with the next one, which has nothing else to do: after the line `all`, and after `end`.
check keeps-whole ../keeps --input=../in.raw --journal
for line in end all; do
    [ $line = end ] || sed -i '/^end /d' keeps.journal
    touch keeps.journal.accs keeps.journal.accs.part
    expect "left-accs-$line" 0 '^keeps: all 150 waves are done, .*: nothing is left to do$' ../keeps --input=../in.raw --resume
    ls keeps.journal.accs* >/dev/null 2>&1 && fail "no-accs-$line" "$(ls)" || pass "no-accs-$line"
done
all keeps-whole-bytes keeps
ln ../once.raw; halved ../once --input=../in.raw --us=3000 --journal
check once-resumes ../once --input=../in.raw --us=3000 --resume
all once-bytes once
halved ../counts --many=150 --us=3000 --journal
expect prints-told 0 "^counts: node 'main/print' may get waves that it had before$" ../counts --many=150 --us=3000 --resume
all prints-bytes counts
expect stdout-told 0 "'/dev/stdout' is no file: if this run is resumed, what is written there may come twice$" sh -c '../plain --input=../in.raw --output=/dev/stdout --journal | cat >/dev/null'
rm -f ./*

# Pipes are refused, or kept.
piped() { cat ../in.raw | ../plain --input=/dev/stdin --us=1000 "$@"; }
expect pipe 1 "'/dev/stdin' can be read only once, so a run that reads it cannot be resumed: --spool=DIR keeps in a file what it gives$" piped --journal
mkdir ../spool
mkfifo pipe; cat ../in.raw >pipe &
halved ../plain --input=pipe --us=3000 --journal --spool=../spool
check spool-resumes timeout 150 ../plain --input=pipe --us=3000 --resume --spool=../spool
rm pipe; all spool-resumed-bytes plain
# What was kept is read, whatever stdin is now, and also if the folder is not named again.
for how in null closed folder; do
    mkdir ../spool-$how; touch hold; cat ../in.raw | ../plain --input=/dev/stdin --us=3000 --journal --spool=../spool-$how 2>/dev/null & until_line '^done' plain.journal; kill -9 $!; wait $! 2>/dev/null; rm hold
    case $how in
        null) check spool-null ../plain --input=/dev/stdin --us=3000 --resume --spool=../spool-null </dev/null ;;
        closed) check spool-closed sh -c '../plain --input=/dev/stdin --us=3000 --resume --spool=../spool-closed <&-' ;;
        folder) check spool-folder-kept ../plain --input=/dev/stdin --us=3000 --resume </dev/null ;;
    esac
    all spool-$how-bytes plain
done
check spool piped --journal --spool=../spool
cmp -s ../spool/plain-dev-stdin ../in.raw && pass spooled || fail spooled "$(ls -l ../spool)"
all spool-bytes plain
expect first-wave 1 "cannot write 'no/out.raw.*No such file" ../plain --input=../in.raw --output=no/out.raw --journal
check no-wave-done ../plain --input=../in.raw --journal
rm -f ./*
expect both-write 1 "cannot write 'rows.csv': node 'main/write_[a-z0-9_]*' writes it, too$" ../plain --input=../in.raw --output=rows.csv --journal
rm -f ./*
touch hold; ../plain --input=../in.raw --us=3000 --journal 2>/dev/null & until_line '^done [1-9]' plain.journal; kill -TERM $!; rm hold; wait $!
left=$((150 - $(grep '^done' plain.journal | tail -n 1 | cut -d ' ' -f 2)))
expect progress 0 "plain: $left of $left waves" ../plain --input=../in.raw --us=3000 --resume --progress=on
rm -f ./*
expect spool-folder 1 "cannot write 'no/plain-dev-stdin': No such file" piped --journal --spool=no
mkfifo pipe; printf '../in.raw\npipe\n' >list
expect spool-list 1 "^plain: error: --spool: 'pipe' is no arg's value: a list or a pattern names it, or the program; give it as an arg of its own$" ../plain --input=@list --journal --spool=../spool
rm pipe list
expect passes 1 "^plain: error: --passes=2: the waves of this run go by once, because they are begun one by one, as by --journal and --out, or by the program's caller$" ../plain --input=../in.raw --passes=2 --journal
rm -f ./*
expect spool-alone 2 '^plain: error: --spool: it is for runs with --journal or --resume$' ../plain --input=../in.raw --spool=.
expect grace-time 2 "^plain: error: --grace=soon: a time is expected" ../plain --input=../in.raw --journal --grace=soon
expect journal-sim 2 '^plain: error: --journal: no kernel is called with --device=sim$' ../plain --input=../in.raw --journal --device=sim
expect journal-learn 2 '^plain: error: --learn: with --journal a run may have a part of the waves only$' ../plain --input=../in.raw --journal --learn
expect journal-name 2 '^plain: error: --journal needs a name, and this one is empty$' ../plain --input=../in.raw --journal=
expect help 0 '^  --resume +go on where the journal ends' ../plain --help

# What differs is named: a size, the code of a kernel, the node's extents; a journal of version 1 does not know.
sized='import "declared.df"; param k = 8 dynamic; arg us2: i64 = 0; graph main { a: u8[k] = count(150); b = work(a, us); c = work(b, us2); print(c); }'
echo "$sized" >../sized.df; check compile-sized "$DFC" ../sized.df --nvcc=none -o ../sized
halved ../sized --us=3000 --journal
expect other-size 1 "the journal 'sized.journal' is of another run: --k was '8', and is '16' now; if it is removed" ../sized --us=3000 --k=16 --resume
expect other-two 1 "another run: --us2 was '0', and is '2' now; --us was '3000', and is '1' now; if" ../sized --us=1 --us2=2 --resume
sed 's/{ v\[0\]/{ v[0]/; s/nanosleep(&t, NULL)/nanosleep(\&t, 0)/' ../kernels.c >../kernels2.c; cmp -s ../kernels.c ../kernels2.c && fail other-code-changed 'nothing was changed'
sed 's/kernels.c/kernels2.c/' ../declared.df >../declared2.df; sed 's/declared.df/declared2.df/' ../sized.df >../sized2.df
check compile-sized2 "$DFC" ../sized2.df --nvcc=none -o ../sized2
expect other-code 1 "is of another run: the code of kernel 'work' has changed; " ../sized2 --us=3000 --resume --journal=sized.journal
sed 's/k = 8 dynamic/k = 9/' ../sized.df >../sized3.df; check compile-sized3 "$DFC" ../sized3.df --nvcc=none -o ../sized3
expect other-param 1 "is of another run: --k is not there any more; " ../sized3 --us=3000 --resume --journal=sized.journal
sed 's/k = 8 dynamic/k = 10/' ../sized.df >../sized4.df; check compile-sized4 "$DFC" ../sized4.df --nvcc=none -o ../sized4
rm -f ./*; halved ../sized3 --us=3000 --journal
expect other-extents 1 "is of another run: node 'main/count' had extents 9, and has 10 now; node 'main/work#1' had extents 9, and has 10 now; node 'main/work#2' had extents 9, and has 10 now; and 1 more; if" ../sized4 --us=3000 --resume --journal=sized3.journal
rm -f ./*

# --accept-changed: one broken file of a list is repaired, and another one that was to come is taken out. What is done stays.
for ((w = 0; w < 100; w++)); do printf -v octal '\\%03o' $((w + 32)); printf "$octal$octal$octal$octal$octal$octal$octal$octal" >in$w.bin; echo in$w.bin; done >list
repaired=(../plain --input=@list --us=2000 --workers=2)
printf xxx >in70.bin                            # a file that holds no whole token
expect broken 1 "'in70.bin' has 3 bytes" "${repaired[@]}" --journal
rm -f plain.journal ./*.part ./each*; cp in69.bin in70.bin
halved "${repaired[@]}" --journal
done=$(grep '^done' plain.journal | tail -n 1 | cut -d ' ' -f 2)
printf 'repaired' >in70.bin; sed -i '/^in80.bin$/d' list
expect repaired-refused 1 "'(list|in70.bin)' has changed since the run of the journal 'plain.journal' began .*; --accept-changed goes on with the inputs as they are now$" "${repaired[@]}" --resume
"${repaired[@]}" --resume --accept-changed >said 2>&1; got=$?
[ $got = 0 ] && grep -q "^plain: accepted: 'in70.bin' has changed (8 bytes then, 8 now)$" said && grep -q "^plain: accepted: 'in80.bin' is not read any more$" said &&
    grep -q '^plain: waves that are done stay as they are; the others are those of the inputs now, counted from wave 0$' said && pass accepted || fail accepted "exit $got: $(cat said)"
check python-model python3 -c "
names = [n for n in range(100) if n != 80]
want = b''.join((b'repaired' if n == 70 else bytes([n + 32]) * 8) for n in names)
got = bytes(b ^ 0x5a for b in open('out.raw', 'rb').read())
assert got == want and $done <= 70, (len(got), len(want), $done)"
# What was accepted is what the next run compares with.
rm -f out.raw* plain.journal each* rows.csv* all.npy*; halved "${repaired[@]}" --journal; touch in90.bin
touch hold; "${repaired[@]}" --resume --accept-changed >said 2>&1 & until_line '^run 2' plain.journal; kill -9 $!; wait $! 2>/dev/null; rm hold
check accepted-once "${repaired[@]}" --resume
expect accept-alone 2 '^plain: error: --accept-changed: it is for runs with --resume$' "${repaired[@]}" --journal=x --accept-changed
rm -f ./*
