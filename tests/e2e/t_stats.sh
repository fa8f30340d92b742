# --stats says what kernels and nodes took: as many jobs as there were, whichever loop ran them, and times that the workers' busy times hold.
cp "$programs/ways.df" "$programs/stats.py" .
check compile "$DFC" ways.df -o ways --nvcc=none
ways() { # NAME ARG…: the statistics of a run, checked
    local name=$1; shift
    if ./ways --stats=json --waves=200 "$@" >out 2>err && python3 stats.py out >said 2>&1; then pass "$name"; else fail "$name" "$(tail -n 3 said err | tr '\n' ' ')"; fi
}
ways list --workers=1
grep -q '"loop": "list"' out && pass list-stays || fail list-stays "$(cat out)"
ways deques --workers=2 --policy=ws
grep -q '"loop": "deques"' out && pass deques-stay || fail deques-stay "$(cat out)"
ways policy --workers=2 --policy=dmda
ways emulated --device=emu --policy=all-gpu --emu-all
grep -q '"name": "work", "on": "gpu", "jobs": 400' out && pass on-gpu || fail on-gpu "$(cat out)"
ways recorded --device=emu --policy=all-gpu --emu-all --cuda-graphs=on --inflight=1
grep -qE '"replayed": [1-9]' out && pass recordings-stay || fail recordings-stay "$(cat out)"
ways simulated --device=sim
ways rehearsed --rehearse=1x

# In words, and where it goes.
expect kernels 0 '^work +cpu +400 +[0-9.]+ [mun]?s +[0-9.]+ [mun]?s +[0-9.]+$' ./ways --waves=200 --stats --workers=1
expect nodes 0 '^main/work#2 +cpu +200 ' ./ways --waves=200 --stats --workers=1
./ways --stats >out 2>err; [ ! -s out ] && pass text-on-stderr || fail text-on-stderr "$(cat out)"
./ways --stats=totals 2>err; grep -q '^kernel' err && fail totals "$(cat err)" || pass totals
./ways --stats=json,totals >out; grep -q '"nodes"' out && fail json-totals "$(cat out)" || pass json-totals
./ways --stats=json --stats-file=s.json >out 2>err; [ ! -s out ] && [ ! -s err ] && python3 stats.py s.json >said && pass file || fail file "$(cat out err said)"
./ways --stats-file=s.txt 2>err && grep -q '^kernel' s.txt && pass file-alone || fail file-alone "$(cat err)"
expect form 2 "^ways: error: --stats: no form 'xml'; there are: json, totals$" ./ways --stats=xml
expect folder 1 "error: cannot write 'no/such': " ./ways --stats-file=no/such
expect itself 2 "^ways: error: --stats-file=./ways: it would replace this program$" ./ways --stats-file=./ways
expect empty 2 "^ways: error: --stats-file needs a name, and this one is empty$" ./ways --stats-file=
for i in $(seq 30); do echo "a$i: i32[10] = make$i();"; done >many
{ for i in $(seq 30); do echo "kernel make$i(out a: i32[k]) cpu {{ a[0] = 1; }} cost cpu 1us;"; done
  echo 'kernel last(in a: i32[k]) cpu {{ (void)a; }};'; echo 'graph main {'; cat many; for i in $(seq 30); do echo "last(a$i);"; done; echo '}'; } >many.df
check compile-many "$DFC" many.df -o many-nodes --nvcc=none
expect most 0 '^and 40 more rows; --stats=json has them all$' ./many-nodes --stats
