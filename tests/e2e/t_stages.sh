# Stages of one program on different ranks: the same bytes as in one process, in order and by demand, with each policy of streams, also if a rank dies or
# holds a wave too long. What cannot be done is refused.
. "$here/ranks.sh"
have_ranks stages || return 0

formulas_for none
cp "$programs/line.df" .
check compile "$DFC" line.df --nvcc=none --no-opencl -w -o line
printf 'square: a\nboth: b\nfold: c\n' >three.map
printf 'feeding order\nsquare: a\nboth: b c\nfold: d # the last\n' >replicas.map
printf 'feeding demand\nsquare: a b\nboth fold: c d\n' >demand.map
printf 'square both fold: a\n' >one.map
printf 'square: a\nboth: b\nfold: c d\n' >neighbour.map

# ---- ranks that die: these runs wait for a silence most of the time, so they go on beside the others ----
./line >line.one
# dies NAME MAP OPTION…: begins a run, in a folder of its own, in which a rank with `weigh` dies at wave 20, or holds the wave.
dies() {
    mkdir "$1"
    (cd "$1" && timeout 300 mpirun $root --oversubscribe --bind-to none --enable-recovery -n 5 ../line --cluster --mapping=../"$2" --workers=1 "${@:3}" >out 2>err
     echo $? >rc) &
}
dies killed-spare three.map --deadly=20
dies killed-replica replicas.map --deadly=20
dies killed-neighbour neighbour.map --deadly=20
dies killed-demand demand.map --deadly=20 --stream-policy=ddwrr
dies hung three.map --hangs=20 --wave-timeout=10s

# ---- runs ----
how='--device=none --mapping=three.map' on_ranks three 4 line
! long || how='--device=none --mapping=three.map --inflight=1' on_ranks narrow 4 line
# Each rank has what the map says; in one process there is no rank.
rm -f who; WHO=1 how='--device=none --mapping=replicas.map' on_ranks replicas 5 line
[ "$(grep -v null who | sort | uniq -c | awk '{ print $2 ":" $1 }' | tr '\n' ' ')" = "2:30 3:30 " ] && pass where || fail where "$(sort who | uniq -c | tr '\n' ' ')"
how='--device=none --mapping=one.map' on_ranks gathered 2 line
for policy in $(long && echo ddfcfs) odds; do how="--device=none --mapping=demand.map --stream-policy=$policy" on_ranks "demand-$policy" 5 line; done
how='--device=emu --emu-all --policy=all-gpu --mapping=three.map' on_ranks device 4 line
how='--device=none --mapping=three.map --resume' on_ranks journal 4 line
expect journal-ended 0 "^line: all 60 waves are done, as 'line.journal' says: nothing is left to do$" ranks 4 ./line --cluster --mapping=three.map --resume
! long || on_ranks none 4 line --last=0
how='--device=none --mapping=one.map' on_ranks no-waves 2 line --last=0
cat >lab.df <<'EOT2'
platform lab {
    node fast { count = 1; speed = 3; net = 1 GB/s, 50 us; cpu host { workers = 1; } }
    node slow { count = 3; net = 1 GB/s, 50 us; cpu host { workers = 1; } }
    network switch { manager = 1 GB/s, 50 us; }
}
EOT2
check made "$DFC" map line.df --platform=lab.df --replicate=groups -o made.map
! long || how='--device=none --mapping=made.map' on_ranks made 5 line
# Waves of two kinds, on ranks with and without a device: with odds a rank gets what suits it best (unit test suits), and the bytes stay the same.
cp "$programs/kinds.df" . && check compile-kinds "$DFC" kinds.df --nvcc=none --no-opencl -w -o kinds
printf 'feeding demand\neven odd: a\nboth: b c\n' >kinds.map
./kinds >kinds.one
for policy in $(long && echo ddwrr) odds; do
    app="./kinds --cluster --workers=1 --mapping=kinds.map --stream-policy=$policy"
    # shellcheck disable=SC2086
    timeout 150 mpirun $root --oversubscribe --bind-to none -n 3 $app --device=none : -n 1 $app --device=emu --emu-all >kinds.out 2>kinds.err || fail kinds-$policy-run "$(tail -n 3 kinds.err)"
    same kinds-$policy kinds.out kinds.one
done
# On like nodes with a core and a GPU each of them requests waves. However long a core has to wait, it can take few of the large tiles, 40 of which a GPU does in the same time. A rank
# with --policy asks as a whole.
cp "$programs/tiles.df" "$programs/wait.c" . && check compile-tiles "$DFC" tiles.df --nvcc=none --no-opencl --emu-gpu-code -w -o tiles
printf 'feeding demand\nclassify: a\nanalyse: b c\n' >tiles.map
./tiles --last=150 --again=10 --workers=16 --inflight=32 --device=none >tiles.one
for policy in $(long && echo ddwrr) odds whole; do
    app="./tiles --cluster --workers=1 --mapping=tiles.map --last=150 --again=10 --stream-policy=${policy/whole/odds}"
    # shellcheck disable=SC2086
    timeout 150 mpirun $root --oversubscribe --bind-to none -n 1 $app --device=none --stats=json --stats-file=tiles.json : -n 1 $app --device=none --inflight=64 \
        : -n 2 $app --device=emu --inflight=2 $([ $policy != whole ] || echo --policy=dmda) >tiles.out 2>tiles.err || fail tiles-$policy-run "$(tail -n 3 tiles.err)"
    same tiles-$policy tiles.out tiles.one
    python3 - $policy <<'P' && pass tiles-$policy-workers || fail tiles-$policy-workers "$(cut -c1-600 tiles.json)"
import json, sys
s = json.load(open("tiles.json"))
policies = {rank["stats"]["policy"] for rank in s["ranks"][2:]}
jobs = {(node["name"].split("/")[-1], node["on"]): node["jobs"] for node in s["nodes"]}
if sys.argv[1] == "whole":
    assert policies == {"dmda"}, policies
else:
    assert policies == {"by-worker"}, policies
    assert jobs["high", "gpu"] >= 11 and jobs["high", "gpu"] + jobs.get(("high", "cpu"), 0) == 15, jobs
    assert jobs["low", "cpu"] > 0 and jobs["low", "gpu"] >= jobs["high", "gpu"], jobs # the wave of a large tile has both
P
done
# Parts of a divided node are read by the next group.
cat >parts.df <<'EOT2'
kernel count(out p: i64[n]) stream restart cpu {{ if (df_wave(call) == 20) return DF_END; for (size_t i = 0; i < n; i++) p[i] = df_wave(call) * 7 + (int64_t)i; }};
kernel twice(in p: i64[n], out q: i64[n]) { q[i] = 2 * p[i]; }
kernel add(in q: i64[n], in p: i64[n], out r: i64[n]) { r[i] = q[i] + p[i]; }
kernel show(in r: i64[n]) ordered cpu {{ for (size_t i = 0; i < n; i++) printf("%lld ", (long long)r[i]); printf("\n"); }};
graph main { p: i64[60] = count(); q = twice(p); r = add(q, p); show(r); }
EOT2
check compile-parts "$DFC" parts.df --no-fuse --parts=3 --nvcc=none --no-opencl -w -o parts
printf 'twice: a\nadd: b\n' >parts.map
how='--device=none --mapping=parts.map' on_ranks parts 3 parts
expect alone 0 'there is one rank, so all runs in this process, and --mapping has no effect' ranks 1 ./line --cluster --mapping=three.map

# ---- what is refused ----
expect fails 1 "^line: error: rank 2 on .*: .*main/both/weigh.* wave 20" ranks 4 ./line --cluster --mapping=three.map --fails=20
# refused NAME PATTERN HINT: the map comes on stdin. Other mistakes in such a file are unit tests' and dfc map's, which reads it with the same code.
refused() {
    cat >wrong.map; ranks 3 ./line --cluster --mapping=wrong.map >wrong.out 2>&1 && fail "$1" 'it ran'
    expect "$1" 0 "$2" cat wrong.out; expect "$1-hint" 0 "$3" cat wrong.out; }
printf 'square: a\nboht: b\nfold: c\n' | refused unknown "^wrong\.map:2:1: error: there is no stage 'boht'$" "^hint: did you mean 'both'\?$"
printf 'square: a\nboth fold: b\303\266 c\n' | refused too-many "^wrong\.map:2:16: error: processor 'c' is one too many$" '^hint: rank 0 has no stages; other ranks: 2$'
expect too-many-utf-8 0 '^ {18}\^$' cat wrong.out
printf 'square: a\nboth: b\n' | refused missing "^wrong\.map:.*: error: stage 'fold' has no processor$" '^hint: each stage stands in one line$'
printf 'count: a\nsquare both: b\nfold: c\nshow: d\n' >ends.map
how='--device=none --mapping=ends.map' on_ranks ends 5 line
expect ends-told 0 "^line: warning: ends\.map: stage 'show' runs on rank 0, as sources and sinks do, and what must see all waves in order$" cat ends.err
expect no-file 1 "^line: error: --mapping: cannot read 'none\.map': No such file" ranks 2 ./line --cluster --mapping=none.map
expect no-cluster 2 'error: --mapping is for a run on several ranks: --cluster is missing' ./line --mapping=three.map
expect no-map 2 'error: --stream-policy is for stages on ranks: --mapping is missing' ./line --cluster --stream-policy=odds
expect no-policy 2 "error: --stream-policy=fair: one of ddfcfs, ddwrr, odds is expected" ./line --cluster --mapping=three.map --stream-policy=fair
expect too-many-waves 2 'error: --inflight: with stages on ranks it is 1024 at most$' ./line --cluster --mapping=three.map --inflight=1025
for other in --window=2 --share=parts; do
    expect "not$other" 2 "error: --mapping: it does not go with ${other%=*}, because ranks share no waves" ./line --cluster --mapping=three.map "$other"
done
# Sources with @worker are with their stage, and the rank that has it finds the end of the stream. A sink with @worker is refused.
cp "$programs/worker.df" .
check compile-worker "$DFC" worker.df --no-fuse --nvcc=none --no-opencl -w -o worker
head -c 1280 "$DFC" >in.raw; head -c 960 "$DFC" | tac >other.raw; truncate -s 960 other.raw    # 40 waves, and 30
printf 'read_raw_f32#1 twice: a\nread_raw_f32#2 add: b\n' >worker.map
how='--device=none --mapping=worker.map' on_ranks worker 3 worker --input=in.raw --other=other.raw
[ "$(stat -c %s output.raw)" = 960 ] && pass worker-end || fail worker-end "$(stat -c %s output.raw) bytes"
printf 'feeding demand\nread_raw_f32#1 twice read_raw_f32#2 add: a b\n' >workers.map
how='--device=none --mapping=workers.map' on_ranks workers 3 worker --input=in.raw --other=other.raw
! long || how='--device=none --mapping=workers.map --resume' on_ranks workers-journal 3 worker --input=in.raw --other=other.raw
expect worker-pipe 1 "^worker: error: --cluster: '/dev/stdin' can be read once only, and not by all ranks, as '@worker' says$" \
    ranks 3 ./worker --input=/dev/stdin --other=other.raw --cluster --mapping=worker.map
sed 's/, "output.raw")/, "output-%d.raw") @worker/' worker.df >sink.df
check compile-sink "$DFC" sink.df --no-fuse --nvcc=none --no-opencl -w -o sink
expect worker-sink 1 "^sink: error: --mapping: sink 'main/write_raw_f32' is '@worker', and with stages on ranks rank 0 alone writes: leave '@worker' out, or run without --mapping$" \
    ranks 3 ./sink --input=in.raw --other=other.raw --cluster --mapping=worker.map

# Accs are on rank 0, also if they have parts, which ranks share without a mapping.
cp "$here/programs/checkpoint_ranks/shared.df" . && check compile-shared "$DFC" shared.df --nvcc=none --no-opencl -w -o shared
touch go; ./shared && mv result.raw shared.one
printf 'slow: a b\n' >shared.map
check shared ranks 3 ./shared --cluster --mapping=shared.map --device=none
same shared-result result.raw shared.one

# ---- what became of the ranks that died ----
wait
for name in killed-spare killed-replica killed-neighbour killed-demand hung; do
    if [ "$(cat $name/rc)" = 0 ] && [ -e $name/killed -o -e $name/hung ]; then same $name $name/out line.one; else fail $name "$(tail -n 5 $name/err | tr '\n' ' ')"; fi
done
expect killed-spare-told 0 'the stages are mapped anew: square: rank 1; both: rank 4; fold: rank 3$' cat killed-spare/err
expect killed-replica-told 0 'the stages are mapped anew: square: rank 1; both: rank [23]; fold: rank 4$' cat killed-replica/err
expect killed-neighbour-told 0 'the stages are mapped anew: square both: rank 1; fold: ranks 3 4$' cat killed-neighbour/err
expect hung-told 0 'rank 2 on .* counts as dead: it has held a wave for' cat hung/err
