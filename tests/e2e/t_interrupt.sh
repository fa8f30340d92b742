# Ctrl-C and SIGTERM: the waves in flight end, what is complete stays under a name that is told, a second signal ends the process at once. Then there is no stray
# file. With a journal the command that is told goes on. INTERRUPT_RUNS=50 interrupts more often; INTERRUPT_SEED chooses the moments.
cp "$DF_SOURCE"/tests/e2e/programs/resume/{declared.df,plain.df,kernels.c} "$DF_SOURCE"/tests/e2e/programs/checkpoint/accs.df .
sed -i 's|^    while (df_wave(call) >= 60|    if (df_wave(call) >= 60) fclose(fopen("../held", "w"));\n&|' kernels.c # a wave waits, or would
formulas_for none
check compile "$DFC" plain.df --nvcc=none -o plain
check compile-accs "$DFC" accs.df --nvcc=none -o accs
head -c 1200 "$DFC" >in.raw                     # 150 waves
mkdir want work; (cd want && ../plain --input=../in.raw) || fail want "$(ls want)"
cd work || exit 1
until_file() { for _ in $(seq 3000); do [ -e "$1" ] && return; nap 0.01; done; fail until-file "$1: $(cat errors)"; }
until_said() { local text; for _ in $(seq 1500); do read -rd '' text <errors; matches "$1" "$text" && return; nap 0.02; done; fail until-said "$1: $(cat errors)"; }
# begin COMMAND…: waves from 60 on wait while there is a file `hold`.
begin() { rm -f errors each* ../held; touch hold; env --default-signal=INT,TERM,HUP "$@" >stdout 2>errors & pid=$!; until_file ../held; }
left() { ls -A | grep -E '^[.]dfc-|part'; }
# parts NAME WAVES: what all waves write together is a part, and each other file is whole.
parts() {
    local name=$1 n=$2 good=1 w file whole=()
    for ((w = 0; w < 150; w++)); do
        printf -v file each%03d.npy $w
        if [ "$w" -lt "$n" ] && [ $((w % 3)) != 1 ]; then whole+=($file)
        else [ ! -e $file ] || good="wave $w is there"; fi
    done
    cmp -s <(cat "${whole[@]}" </dev/null) <(cd ../want && cat "${whole[@]}" </dev/null) && stat "${whole[@]}" . >/dev/null || good="files of single waves: $(ls each* | tail -n 1)"
    cmp -s out.raw.part <(head -c $((8 * n)) ../want/out.raw) || good="out.raw.part of $n waves: $(ls -l)"
    cmp -s rows.csv.part <(head -n $((n + 1)) ../want/rows.csv) || good="rows.csv.part of $n waves: $(wc -l rows.csv.part)"
    grep -aq "'shape': ($n, 8)" all.npy.part && cmp -s <(tail -c $((8 * n)) all.npy.part) <(tail -c 1200 ../want/all.npy | head -c $((8 * n))) || good="all.npy.part: $(head -c 100 all.npy.part | tr -d '\0')"
    [ "$(left)" = "$(printf 'all.npy.part\nout.raw.part\nrows.csv.part')" ] || good="files: $(left)"
    [ ! -e out.raw ] && [ ! -e rows.csv ] && [ ! -e all.npy ] || good="whole files: $(ls)"
    [ "$good" = 1 ] && pass "$name" || fail "$name" "$good; $(cat errors)"
}
waves_told() { sed -n 's/^plain: stopped by SIG[A-Z0-9]* after \([0-9]*\) waves*\b.*/\1/p' errors; }
# interrupted NAME SIGNAL STATUS OPTION…
interrupted() {
    local name=$1 signal=$2 status=$3 got; shift 3
    begin ../plain --input=../in.raw --us=1000 "$@"
    kill -$signal $pid; until_said 'waiting for the waves in flight'; rm hold; wait $pid; got=$?
    [ $got = $status ] && [ -n "$(waves_told)" ] && pass "$name" || fail "$name" "exit $got: $(cat errors)"
    parts "$name-parts" "$(waves_told)"
}
clean() { rm -f ./* .dfc-*; }
interrupted several INT 130 --workers=3
expect told-part 0 "^plain: 'out.raw.part' has what these waves wrote$" cat errors
expect told-waves 0 "^plain: files of single waves are complete$" cat errors
expect told-journal 0 "^plain: a run with a journal can go on after a stop: ../plain --input=../in.raw --us=1000 --workers=3 --journal$" cat errors
# Nothing is replaced: the next part has another name.
cp out.raw.part ../first.part; begin ../plain --input=../in.raw --workers=2; kill -INT $pid; until_said 'in flight'; rm hold; wait $pid
expect told-part2 0 "^plain: 'out.raw.part2' has what these waves wrote$" cat errors
same first-part-stays out.raw.part ../first.part; clean
interrupted one INT 130 --workers=1; clean
interrupted term TERM 143 --workers=2; clean
interrupted device INT 130 --device=emu --policy=dmda; clean
interrupted eager INT 130 --workers=2 --policy=eager; clean
# timeout sends a signal twice, to its child and to the group. That is one request.
begin ../plain --input=../in.raw --workers=2; kill -INT $pid; kill -INT $pid; until_said 'in flight'; rm hold; wait $pid; parts twice-at-once "$(waves_told)"; clean
# The last wave is in flight: the run is complete. A shell still sees the signal.
begin ../plain --input=../in.raw --workers=2 --waves=61; kill -INT $pid; until_said 'in flight'; rm hold; wait $pid; got=$?
[ $got = 130 ] && [ -z "$(left)" ] && [ "$(wc -c <out.raw)" = 488 ] && grep -q '^plain: SIGINT came when the last waves were in flight: the run is complete$' errors &&
    pass complete || fail complete "exit $got: $(ls) $(cat errors)"
clean
# What ends it at once: the second signal, the time limit of SIGTERM, SIGHUP.
begin ../plain --input=../in.raw --workers=2; kill -INT $pid; until_said 'Ctrl-C again ends at once'; sleep 0.6; kill -INT $pid; wait $pid; got=$?
[ $got = 130 ] && [ -z "$(left)" ] && grep -q '^plain: ended at once; files that were not complete are removed$' errors && pass second || fail second "exit $got: $(left) $(cat errors)"
clean
begin ../plain --input=../in.raw --workers=2 --grace=1ms; kill -TERM $pid; wait $pid; got=$?
[ $got = 143 ] && [ -z "$(left)" ] && grep -q '^plain: SIGTERM: waves have not ended in time; files that were not complete are removed$' errors && pass limit || fail limit "exit $got: $(left) $(cat errors)"
clean

# Random moments: each run is interrupted, complete, or has not begun to write.
RANDOM=${INTERRUPT_SEED:-35} hits=0
for ((i = 0; i < ${INTERRUPT_RUNS:-4}; i++)); do
    env --default-signal=INT ../plain --input=../in.raw --us=1500 --workers=$((1 + i % 3)) >stdout 2>errors & pid=$!
    nap "0.$(printf %03d $((RANDOM % 200)))"; kill -INT $pid 2>/dev/null; wait $pid; got=$?
    if [ -n "$(waves_told)" ] && [ "$(waves_told)" -gt 0 ] && [ $got = 130 ]; then hits=$((hits + 1)); parts "random-$i" "$(waves_told)"
    elif [ -z "$(left)" ] && { [ ! -e out.raw ] || cmp -s out.raw ../want/out.raw; }; then pass "random-$i"
    else fail "random-$i" "exit $got: $(left) $(cat errors)"; fi
    clean
done
# Of many, some came in the middle.
[ "${INTERRUPT_RUNS:-4}" -lt 50 ] || { [ $hits -gt 0 ] && pass random-hits || fail random-hits "no run of $INTERRUPT_RUNS was interrupted in the middle"; }

# What comes after the last wave is not made of the first waves.
begin_accs() { rm -f errors; env --default-signal=INT ../accs "$@" >stdout 2>errors & pid=$!; for _ in $(seq 3000); do grep -qx 60 calls 2>/dev/null && return; nap 0.01; done; fail begin-accs "$(cat errors)"; }
begin_accs --workers=2; kill -INT $pid; until_said 'in flight'; touch go-60 go-140; wait $pid; got=$?
[ $got = 130 ] && [ ! -e result.raw ] && [ -s so_far.raw.part ] && grep -q '^accs: stopped by SIGINT after [0-9]* waves; what comes after the last wave is not computed$' errors &&
    pass final || fail final "exit $got: $(ls) $(cat errors)"
clean

# Waves that go by several times: none is complete.
begin_accs --workers=2 --passes 5; kill -INT $pid; until_said 'the waves go by several times, so none is complete yet; Ctrl-C again ends at once'; touch go-60 go-140; wait $pid; got=$?
[ $got = 130 ] && [ -z "$(ls ./*.raw* 2>/dev/null)" ] && [ -z "$(left)" ] && grep -q '^accs: stopped by SIGINT; no wave is complete, so nothing is kept$' errors &&
    grep -q '^accs: a run with a journal can go on after a stop: ../accs --workers=2 --journal$' errors && pass passes || fail passes "exit $got: $(ls -A) $(cat errors)"
clean

# With a journal: the command that is told goes on, and the bytes are those of one run.
cp ../in.raw "in put.raw"
begin ../plain "--input=in put.raw" --us=1000 --workers=2 --journal=j; until_line '^done' j; kill -INT $pid; until_said '^plain: SIGINT: waiting for the waves in flight; Ctrl-C again ends at once, and --resume goes on then, too$'
rm hold; wait $pid; got=$?
[ $got = 130 ] && grep -q '^plain: stopped by SIGINT after [0-9]* waves; --resume goes on$' errors && pass journal || fail journal "exit $got: $(cat errors)"
command=$(sed -n 's/^plain: to go on: //p' errors)
[ "$command" = "../plain '--input=in put.raw' --us=1000 --workers=2 --journal=j --resume" ] && pass journal-command || fail journal-command "$command"
check journal-goes-on eval "$command"
diff -rq -x j -x errors -x stdout -x 'in put.raw' ../want . > ../differs && pass journal-bytes || fail journal-bytes "$(cat ../differs)"
clean
# The second signal: the journal has what is done.
begin ../plain --input=../in.raw --us=1000 --workers=2 --journal; until_line '^done' plain.journal; kill -INT $pid; until_said 'waiting for'; sleep 0.6; kill -INT $pid; wait $pid; got=$?; rm hold
[ $got = 130 ] && grep -q '^plain: ended at once by a second signal; --resume goes on$' errors && pass journal-second || fail journal-second "exit $got: $(cat errors)"
check journal-second-goes-on ../plain --input=../in.raw --us=1000 --workers=2 --resume
diff -rq -x plain.journal -x errors -x stdout ../want . > ../differs && pass journal-second-bytes || fail journal-second-bytes "$(cat ../differs)"
clean

# A chunk is whole or absent.
begin ../plain --input=../in.raw --us=1000 --workers=2 --waves=20:120 --out=chunk; kill -INT $pid; until_said 'SIGINT: waiting for the jobs that run; a signal again ends at once'
rm hold; wait $pid; got=$?
[ $got = 130 ] && [ ! -e chunk ] && [ -z "$(left)" ] && grep -q "^plain: error: stopped by SIGINT: the chunk 'chunk' is not written; the same command line makes it$" errors &&
    pass chunk || fail chunk "exit $got: $(ls -A) $(cat errors)"
clean

# dfc run passes the signal on and waits; the command that is told is dfc's.
mkdir tmp; export TMPDIR=$PWD/tmp
begin "$DFC" run ../plain.df --nvcc=none -- --input=../in.raw --us=1000 --journal
until_line '^done' plain.journal; kill -INT $pid; until_said 'waiting for'; rm hold; wait $pid; got=$?
[ $got = 130 ] && [ -z "$(ls tmp)" ] && pass run || fail run "exit $got: $(ls tmp) $(cat errors)"
command=$(sed -n 's/^plain: to go on: //p' errors)
[ "$command" = "dfc run ../plain.df --nvcc=none -- --input=../in.raw --us=1000 --resume" ] && pass run-command || fail run-command "$command"
PATH=$(dirname "$DFC"):$PATH check run-goes-on eval "$command"
diff -rq -x plain.journal -x errors -x stdout -x tmp ../want . > ../differs && pass run-bytes || fail run-bytes "$(cat ../differs)"
rm -rf tmp; unset TMPDIR; clean

# More outputs than any table had places for, and a signal that ends at once.
{ echo 'import "std/raw.df"; kernel one(out v: u8[n]; us: i64) stream cpu {{ if (df_wave(call) == 99) return DF_END; struct timespec t = { 0, 20000000 };
  (void)us; nanosleep(&t, NULL); memset(v, 1, n); }}; graph main { v: u8[9] = one(1);'; for i in $(seq 30); do echo "write_raw_u8(v, \"o$i.raw\");"; done; echo '}'; } >many.df
check compile-many "$DFC" many.df --nvcc=none '--cflags=-include time.h -include string.h' -o many
env --default-signal=HUP ./many 2>errors & pid=$!
for _ in $(seq 3000); do [ "$(ls -A | grep -c '^[.]dfc-')" = 30 ] && break; nap 0.01; done
kill -HUP $pid; wait $pid; got=$?
[ $got = 129 ] && [ -z "$(left)" ] && pass many || fail many "exit $got: $(left | wc -l) files"
