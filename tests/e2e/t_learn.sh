# ./app --learn: what a run measured is in the database at the next command of dfc; once, and without the spikes.
export DFC_PROFILE=$PWD/profile.db
query() { python3 -c 'import sqlite3, sys; print(*(" ".join(str(c) for c in r) for r in sqlite3.connect(sys.argv[1]).execute(sys.argv[2])), sep="\n")' "$DFC_PROFILE" "$1"; }
left() { find "$DFC_PROFILE.learned" -mindepth 1 -name "$1" 2>/dev/null | wc -l; }
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "'$2' instead of '$3'"; fi; }

cp "$programs/work.c" .
cat > flow.df <<'END'
param n = 64 dynamic;
arg scale: i32 = 1;
kernel src(out v: f32[k]) stream cpu "work.c";
kernel spiky(in v: f32[k], out w: f32[k]; scale: i32) cpu "work.c";
kernel last(in v: f32[k]) ordered cpu "work.c" cost cpu 1us;
graph main { a: f32[n] = src(); b = spiky(a, scale); last(b); }
END
check build "$DFC" flow.df -o flow --nvcc=none
expect plain 0 "" ./flow
is plain-leaves-nothing "$(left '*')" 0
expect run 0 "learned the times of 2 works; dfc takes them from '.*profile.db.learned/flow-" ./flow --learn --log=info --workers=1
is one-file "$(left '*.jsonl')" 1
expect taken 0 "note: the profile database has 2 times more, from 1 run with --learn" "$DFC" partition flow.df
expect used 0 "1 from cost clauses, 2 measured" "$DFC" partition flow.df
is gone "$(left '*')" 0
# Two of nine waves rested forty times as long (their mean would be 48 ms); the stream's end, which took no time, is no job of wave 9.
is spikes "$(query "SELECT runs, dropped >= 2, mean_s BETWEEN 0.0049 AND 0.045 FROM samples WHERE kernel = 'spiky'")" "9 1 1"
is end-of-stream "$(query "SELECT runs FROM samples WHERE kernel = 'src'")" 9
is no-cost-clause "$(query "SELECT count(*) FROM samples WHERE kernel = 'last'")" 0

# Sizes and scalars are those of the run; other sizes are estimated from them.
check other-size ./flow --learn --n=128 --scale=3 --workers=1
expect taken-again 0 "the profile database has 2 times more, from 1 run with --learn" "$DFC" partition flow.df
is key "$(query "SELECT dims, scalars, job_bytes FROM samples WHERE kernel = 'spiky' ORDER BY id DESC LIMIT 1")" "k=128 scale=3 1024"
is hashes-agree "$(query "SELECT count(DISTINCT hash) FROM samples WHERE kernel = 'spiky'")" 1
expect estimated 0 "1 measured, 1 estimated|2 estimated from other sizes" "$DFC" partition flow.df -D n=256

# A program that is started with another size times it by what was measured when it was made, as dfc does: here by a law that bytes do not
# follow.
python3 "$programs/samples.py" "$DFC_PROFILE"
check build-known "$DFC" flow.df -o known --nvcc=none
for n in 64 1000 1500 40000; do # measured; estimated within, and far beyond
    ran=$(./known --n=$n --device=sim --policy=eager --waves=1 --workers=1 --stats=json 2>&1 | sed -E 's/.*"makespan_s": ([0-9.e-]+).*/\1/')
    said=$("$DFC" simulate flow.df -D n=$n --policy=eager --waves=1 --workers=1 --format=csv | tail -n 1 | cut -d, -f4)
    if awk "BEGIN { exit !($ran > 0 && ($ran - $said) ^ 2 < ($said * 1e-5) ^ 2) }"; then pass "as-dfc-says-$n"; else
        fail "as-dfc-says-$n" "$ran s, dfc says $said"; fi
done
if awk "BEGIN { exit !($ran > 15 && $ran < 17) }"; then pass by-the-law; else fail by-the-law "$ran s for 40000, by the law 16 s"; fi

# Two programs and then two commands at once: each file once.
./flow --learn & ./flow --learn; wait
is two-files "$(left '*.jsonl')" 2
before=$(query "SELECT count(*) FROM samples")
"$DFC" partition flow.df >/dev/null 2>&1 & "$DFC" partition flow.df >/dev/null 2>&1; wait
is once "$(query "SELECT count(*) - $before FROM samples")" 4

# With a GPU, a trace as well, and no database yet.
export DFC_PROFILE=$PWD/new/data.db
cp "$DF_SOURCE"/examples/sum/{sum.df,vec.c,vec.cu} .
check build-sum "$DFC" sum.df -o sum --nvcc=none
check run-emu ./sum --learn --device=emu --policy=all-gpu --waves=20 --trace=t.json
check trace-too test -s t.json
expect taken-new 0 "has 4 times more, from" "$DFC" partition sum.df --device=emu
expect used-emu 0 "measured, |[0-9] measured" "$DFC" partition sum.df --device=emu
is emu "$(query "SELECT device, variant, runs > 0 FROM samples WHERE kernel = 'add'")" "emu gpu 1"

# In which part of the waves nodes fire: gate skips 6 of 8 waves, and the graph's times are stated, so nothing depends on the machine.
export DFC_PROFILE=$PWD/rates.db
cat >rates.df <<'X'
kernel src(out v: i32[k]) stream cpu {{ if (df_wave(call) == 80) return DF_END; v[0] = (int32_t)df_wave(call); }} cost cpu 1us;
kernel gate(in v: i32[k], out w: i32[k]) cpu {{ if (v[0] % 8 > 1) return DF_SKIP; memcpy(w, v, k * sizeof *w); }} cost cpu 1us;
kernel fine(in w: i32[k], out x: i32[k]) cpu {{ memcpy(x, w, k * sizeof *x); }} cost cpu 10ms;
kernel sink(in x: i32[k]) ordered cpu {{ (void)x; }} cost cpu 1us;
graph main { v: i32[4] = src(); w = gate(v); x = fine(w); y = fine(x); sink(y); }
X
sed 's/y = fine(x);/y = fine(x) @rate(0.5);/' rates.df >stated.df
makespan() { "$DFC" simulate "$1" --policy=eager --waves=80 --workers=1 --format=csv 2>/dev/null | tail -n 1 | cut -d, -f4 | cut -c 1-4; }
is rates-before "$(makespan rates.df)" 1.60
for graph in rates stated; do
    check "build-$graph" "$DFC" $graph.df -o $graph --nvcc=none
    check "run-$graph" ./$graph --learn --workers=2 --policy=eager
    expect "taken-$graph" 0 "has 0 times and the rates of 3 nodes more, from 1 run with --learn" "$DFC" partition $graph.df
done
is rates-rows "$(query "SELECT program, node, fired, waves FROM rates ORDER BY program, node LIMIT 3")" "rates main/fine#1 20 80
rates main/fine#2 20 80
rates main/sink 20 80"
is rates-used "$(makespan rates.df)" 0.40
is stated-wins "$(makespan stated.df)" 0.60
expect rates-explained 0 'rate    it fires in 0.25 of the waves \(learnt\)$' "$DFC" explain rates.df --node='fine#1'
expect stated-explained 0 'rate    it fires in 0.5 of the waves \(stated\); learnt: 0.25$' "$DFC" explain stated.df --node='fine#2'
# An edited kernel makes what was learnt void; what makes no sense is refused, and what was known stays.
sed 's/% 8 > 1/% 8 > 3/' rates.df >edit.df && mv edit.df rates.df
is rates-edited "$(makespan rates.df)" 1.60
check build-edited "$DFC" rates.df -o rates --nvcc=none
check run-edited ./rates --learn
is rates-again "$(makespan rates.df)" 0.80
check run-last ./rates --learn
sed -i 's/"main.sink": 40/"main\/sink": 81/' rates.db.learned/rates-*.jsonl
expect rates-senseless 0 "1 file in .*line 1: its waves or rates make no sense" "$DFC" partition rates.df
is rates-kept "$(makespan rates.df)" 0.80

# How many waves there were: an acc is divided for as many. Of an app that is divided, too, and in several passes.
programs=$DF_SOURCE/tests/e2e/programs
cp "$programs/divide/waves.df" waves.df
expect waves-guessed 0 '^part by part: 100 waves go by 2 times, if so many come' "$DFC" explain waves.df
check build-waves "$DFC" waves.df -o waves --nvcc=none
for way in undivided divided; do
    check "run-waves-$way" ./waves --waves=40 --learn --device=emu --emu-all
    expect "waves-$way" 0 '^divided: main/back in 8 parts, .*: 40 waves in 8 passes take 55.9337 ms in place of 62.8687 ms' "$DFC" explain waves.df
    expect "waves-told-$way" 0 '^part by part: 40 waves go by 8 times, as the latest run with --learn had so many; ' "$DFC" explain waves.df
    check "build-waves-$way" "$DFC" waves.df -o waves --nvcc=none
done
is waves-row "$(query "SELECT program, waves FROM waves WHERE program = 'waves'")" "waves 40"
expect waves-said 0 '^part by part: 10 waves go by 16 times; ' "$DFC" explain waves.df --waves=10
check run-wave ./waves --learn --device=emu --emu-all
expect wave 1 '^$' bash -c '"$DFC" explain waves.df 2>/dev/null | grep -E "divided|part by part"'
check run-senseless ./waves --learn --device=emu --emu-all
sed -i 's/"waves": 1/"waves": 0/' rates.db.learned/waves-*.jsonl
expect waves-senseless 0 "1 file in .*line 1: its waves or rates make no sense" "$DFC" explain waves.df

# What goes wrong.
export DFC_PROFILE=$PWD/new/data.db
expect virtual 2 "error: --learn: nothing is measured in the virtual time" ./sum --learn --device=sim
rm -f t.json
expect unwritable 1 "error: --learn: cannot write into '/proc/none/p.db.learned': No such file" env DFC_PROFILE=/proc/none/p.db ./sum --learn
sed -e 's/v\[0\] < 0/v[0] > 0/' work.c > w2.c && sed -e 's/work.c/w2.c/' flow.df > bad.df && sed -i 's/flow.df.h/bad.df.h/' w2.c
check build-bad "$DFC" bad.df -o bad --nvcc=none
expect failed-run 1 "negative" ./bad --learn
is failed-leaves-nothing "$(left 'bad*')" 0
cp sum.df 'odd"name.df' && check odd-name "$DFC" 'odd"name.df' -o odd --nvcc=none && check odd-name-run ./odd --learn
expect odd-name-program 0 '"program": "odd\\"name", "workers": [0-9]+, "code": "[0-9a-f]{16}", "waves": 1, "rates": \{\}}$' sh -c 'head -n 1 new/data.db.learned/odd*.jsonl'
rm new/data.db.learned/odd*.jsonl
echo 'no json' > new/data.db.learned/x.jsonl
expect unreadable 0 "1 file in '.*data.db.learned' has no times that a program learned: renamed to end in .bad; 'x.jsonl', line 1: it is no JSON" \
    "$DFC" partition sum.df
is kept-as-bad "$(left 'x.jsonl.bad')" 1
mkfifo new/data.db.learned/a.jsonl; ln -s /dev/zero new/data.db.learned/b.jsonl; mkdir new/data.db.learned/c.jsonl
expect irregular 0 "3 files in .* have no times .*; the first: 'a.jsonl': it is no regular file" timeout 150 "$DFC" partition sum.df
check learn-again ./sum --learn
sed -i '2s/"runs": [0-9]*/"runs": -1/' new/data.db.learned/sum-*.jsonl
expect field 0 "1 file in .*; 'sum-.*.jsonl', line 2: 'runs' is '-1', which makes no sense" "$DFC" partition sum.df
python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("UPDATE samples SET job_bytes = -1"); db.commit()' "$DFC_PROFILE"
expect row 0 "warning: profile database '.*data.db': a sample of kernel '[a-z]+' has the job_bytes '-1', so it is not used" "$DFC" partition sum.df
expect row-report 0 "a sample of kernel '[a-z]+' has the job_bytes '-1'" "$DFC" profile --report

# Without a home folder: a folder in TMPDIR (else /tmp) that nobody else could have made or written.
mkdir t elsewhere
homeless() { env -u HOME -u XDG_DATA_HOME -u DFC_PROFILE TMPDIR="$PWD/t" "$@"; }
own=t/dfc-$(id -u)
expect own-made 0 "4 times more" homeless sh -c './sum --learn && "$DFC" partition sum.df'
is own-mode "$(stat -c %a "$own")" 700
check own-database test -s "$own/profile.db"
refused() { # NAME WHY
    expect "$1-compile" 0 "warning: the profile database is not used: '.*$own' is refused as the folder of the profile database: $2; set HOME or DFC_PROFILE" \
        homeless "$DFC" partition sum.df
    expect "$1-profile" 1 "error: '.*$own' is refused .*: $2" homeless "$DFC" profile sum.df
    expect "$1-program" 1 "^sum: error: '.*$own' is refused .*: $2" homeless ./sum --learn
}
chmod 777 "$own"; refused own-open "others may write into it"
rm -r "$own"; ln -s "$PWD/elsewhere" "$own"; refused own-link "it is a link"
is own-link-unused "$(find elsewhere | wc -l)" 1
rm "$own"; touch "$own"; refused own-file "it is no folder"
rm "$own"
if [ "$(id -u)" = 0 ]; then mkdir -m 700 "$own"; chown 65534 "$own"; refused own-foreign "it belongs to another user"; rm -r "$own"; else
    skip own-foreign "only the superuser can make another user's folder"; fi
expect help 0 "--learn +keep how long kernels took" ./sum --help
