# @stage(n): calls with one number are a stage of a pipeline. Stages are never fused with each other; on ranks each has one of its own, with the bytes of
# one process, on fewer ranks and on more; dfc map has the same stages. What cannot be there is in tests/golden/hint-stage*.
. "$here/ranks.sh"
export NVCC=none
formulas_for none
cat >line.df <<'EOT2'
param shift = 0;
param m = 50 dynamic;
arg last: i64 = 60;
kernel table(out t: i64[n]) once cpu {{ for (size_t i = 0; i < n; i++) t[i] = 3 * (int64_t)i + 1; }} cost cpu 1ms;
kernel count(out p: i64[n]; last: i64) stream restart cpu {{
    if (df_wave(call) == last) return DF_END;
    for (size_t i = 0; i < n; i++) p[i] = df_wave(call) * 7 + (int64_t)i;
}} cost cpu 10us;
kernel square(in p: i64[n], out q: i64[n]) { q[i] = p[i] * p[i]; } cost cpu 1ms;
kernel weigh(in q: i64[n], in t: i64[n], out w: i64[n]) { w[i] = q[i] * t[i]; } cost cpu 9ms;
kernel halve(in w: i64[n], in p: i64[n], out h: i64[n]) { h[i] = w[i] / 2 + p[i]; } cost cpu 1ms;
kernel turn(inout h: i64[n]; by: i64) cpu {{
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
    if (getenv("WHO")) { int f = open("who", O_CREAT | O_APPEND | O_WRONLY, 0600); dprintf(f, "%d:%s\n", (int)by, getenv("OMPI_COMM_WORLD_RANK")); close(f); }
    for (size_t i = 0; i < n; i++) h[i] ^= h[i] >> by;
}} cost cpu 2ms;
kernel show(in h: i64[n], in p: i64[n]) ordered cpu {{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum = sum * 31 + (uint64_t)h[i] + (uint64_t)p[i];
    printf("%lld %lld\n", (long long)df_wave(call), (long long)sum);
}} cost cpu 10us;
graph both(in q: i64[n], in t: i64[n], in p: i64[n], out h: i64[n]) { w = weigh(q, t); h = halve(w, p); }
graph main {
    t: i64[m] = table();
    p: i64[m] = count(last);
    q = square(p) @stage(shift);
    h[0] = both(q, t, p) @stage(shift + 1);
    for k in 1..4 { h[k] = turn(h[k - 1], k) @stage(shift + 1 + k / 2); }
    show(h[3], p);
}
EOT2
sed 's/ @stage([^)]*)//' line.df >plain.df
"$DFC" --emit=graph line.df >line.graph && "$DFC" --emit=graph plain.df >plain.graph || fail graphs "no graph"

# ---- what needs no mpirun ----
# Without marks three formulas are one node. With them those of one stage are, and no others.
expect plain-fused 0 '^n2 main/both/square\+weigh\+halve w' cat plain.graph
expect fused 0 '^n3 main/both/weigh\+halve w.* @stage\(1\)$' cat line.graph
expect apart 0 '^n2 main/square w.* @stage\(0\)$' cat line.graph
expect why 0 '^not fused: square and weigh, line [0-9]+: they are of unlike stages$' "$DFC" explain line.df -w
expect in-loop 0 '^n6 main/turn\[3\] w.* @stage\(2\)$' cat line.graph
expect outside 0 '^n7 main/show w[0-9]+ \([^)]*\)$' cat line.graph
check picture "$DFC" partition line.df -o line.svg -w
expect in-picture 0 '@stage\(2\)' cat line.svg
# Who reads the copy that an inout port needs has its stage, too.
cat >copy.df <<'EOT2'
kernel count(out p: i64[8]) stream cost cpu 1us;
kernel turn(inout h: i64[n]) cost cpu 1us;
kernel add(in a: i64[n], in b: i64[n], out c: i64[n]) cost cpu 1us;
kernel show(in c: i64[n]) ordered cost cpu 1us;
graph main { p = count(); h = turn(p) @stage(4); c = add(h, p) @stage(7); show(c); }
EOT2
expect copy 0 '^n1 main/copy .* @stage\(4\) inserted$' "$DFC" --emit=graph copy.df -w
cat >lab.df <<'EOT2'
platform lab {
    node fast { count = 1; speed = 3; net = 1 GB/s, 50 us; cpu host { workers = 1; } }
    node slow { count = 3; net = 1 GB/s, 50 us; cpu host { workers = 1; } }
    network switch { manager = 1 GB/s, 50 us; }
}
EOT2
expect map 0 '^line\.df: 3 stages on the 4 processors of lab' "$DFC" map line.df --platform=lab.df --replicate=groups -o made.map -w
printf '@0: slow.0\n@1: fast\n@2: slow.1\n' >three.map
expect map-use 0 '^given ' "$DFC" map line.df --platform=lab.df --use=three.map --show=given -w
expect map-copy 0 '^copy\.df: 2 stages on' "$DFC" map copy.df --platform=lab.df -w
expect by-demand 0 '^@1  *50 %' "$DFC" scale line.df --platform=lab.df --stream-policy=odds --waves=100 --fires=@1=50 -w

# ---- on ranks ----
have_ranks ranks || return 0
check compile "$DFC" line.df --no-opencl -w -o line
check compile-plain "$DFC" plain.df --no-opencl -w -o plain
./plain >plain.one
# Stage k is on rank k + 1. What ranks are left over are replicas, from the first stage on: here rank 4 of stage 0, and rank 5 of stage 1.
where() { # NAME RANKS EXPECTED: as on_ranks, and by number of a turn, the ranks that may do it; in one process there is no rank
    rm -f who; WHO=1 how='--device=none --heartbeat-timeout=100s' on_ranks "$1" "$2" line
    grep -v null who >who.ranks
    [ "$(wc -l <who.ranks)" = 180 ] && ! grep -qvE "^($3)\$" who.ranks && pass "$1" || fail "$1" "$(sort who.ranks | uniq -c | tr '\n' ' ')"
}
where where 4 '1:2|2:3|3:3'
where where-replicas 6 '1:[25]|2:3|3:3'
where where-few 3 '1:1|2:2|3:2'
expect few-told 0 '^line: warning: --cluster: there are 3 stages for 2 ranks beside rank 0, so some share one: @0 @1: rank 1; @2: rank 2$' cat where-few.err
expect enough-told 1 '^0$' grep -c warning where.err
! long || on_ranks one-stage 2 line
same as-plain where.one plain.one      # which has no marks
how='--device=none --stream-policy=odds' on_ranks odds 4 line
how='--device=none --tuned' on_ranks tuned 5 line
how='--device=none --share=waves' on_ranks waves 3 line
how='--device=none --mapping=three.map' on_ranks mapped 4 line
if long; then how='--device=none --mapping=made.map' on_ranks made 5 line; on_ranks sized 3 line --m=70; fi
on_ranks no-waves 3 line --last=0
check compile-parts "$DFC" line.df --no-opencl -w --parts=3 -o parts
on_ranks parts 3 parts
check compile-device "$DFC" line.df --no-opencl -w --emu-all -o emu
how='--device=emu --emu-all --policy=all-gpu' on_ranks device 3 emu
# The example of docs/mapping.md.
awk '/^```df pipeline\.df/ { on = 1; next } /^```/ { on = 0 } on' "$DF_SOURCE/docs/mapping.md" >pipeline.df
check compile-page "$DFC" pipeline.df --no-opencl -w -o pipeline
on_ranks page 3 pipeline
expect page-count 0 '^20$' grep -c . page.one
cat >middle.df <<'EOT2'
kernel count(out p: i64[8]) stream cpu {{ if (df_wave(call) == 9) return DF_END; for (int i = 0; i < 8; i++) p[i] = df_wave(call) + i; }};
kernel twice(in p: i64[n], out q: i64[n]) { q[i] = 2 * p[i]; }
kernel follow(in q: i64[n], out r: i64[n]) ordered cpu {{ for (size_t i = 0; i < n; i++) r[i] = q[i] + 1; }};
kernel show(in r: i64[n]) ordered cpu {{ printf("%lld\n", (long long)r[3]); }};
graph main { p = count(); q = twice(p) @stage(0); r = follow(q) @stage(1); s = twice(r) @stage(2); show(s); }
EOT2
check compile-middle "$DFC" middle.df --no-opencl -w -o middle
on_ranks middle 3 middle
for n in 1 2; do expect "first-told-$n" 0 "^middle: warning: --cluster: stage '@$n' runs on rank 0, as sources and sinks do" cat middle.err; done
# Sources with @worker are with their stage, or, without one, with the first group.
sed 's/read_raw_f32(input) @worker/& @stage(0)/; s/twice(a)/& @stage(0)/; s/add(b, c)/& @stage(1)/' "$here/programs/stages/worker.df" >worker.df
sed 's/read_raw_f32(other) @worker/& @stage(1)/' worker.df >both.df
head -c 1280 "$DFC" >in.raw; head -c 960 "$DFC" | tac >other.raw; truncate -s 960 other.raw    # 40 waves, and 30
for name in worker both; do
    check "compile-$name" "$DFC" "$name.df" --nvcc=none --no-opencl -w -o "$name"
    expect "$name-marks" 0 "^$([ $name = both ] && echo 2 || echo 1)\$" sh -c "'$DFC' --emit=graph $name.df -w | grep -c 'read_raw_f32.* @stage'"
    on_ranks "$name" "$(if long; then echo 3 5; elif [ $name = worker ]; then echo 3; else echo 5; fi)" "$name" --input=in.raw --other=other.raw
    [ "$(stat -c %s output.raw)" = 960 ] && pass "$name-end" || fail "$name-end" "$(stat -c %s output.raw) bytes"
done
expect one-rank 0 'there is one rank, so all runs in this process' ranks 1 ./line --cluster

# ---- what is refused ----
expect not-window 2 'error: --window: the graph says @stage, so ranks share no waves; with --share=waves they do$' ./line --cluster --window=2
expect not-inflight 2 'error: --inflight: with stages on ranks it is 1024 at most$' ./line --cluster --inflight=1025
expect not-waves 2 'error: --tuned is for stages on ranks: with --share there are none$' ./line --cluster --share=waves --tuned
expect not-alone 2 'error: --stream-policy is for stages on ranks: --cluster is missing$' ./line --stream-policy=odds
printf '@0: a\n@3: b\n' >wrong.map
expect unknown 1 "^wrong\.map:2:1: error: there is no stage '@3'$" ranks 3 ./line --cluster --mapping=wrong.map
cat >first.df <<'EOT2'
kernel count(out p: i64[8]) stream cpu {{ if (df_wave(call) == 3) return DF_END; p[0] = 1; }};
kernel show(in p: i64[n]) ordered cpu {{ printf("%lld\n", (long long)p[0]); }};
graph main { p = count() @stage(0); show(p) @stage(1); }
EOT2
check compile-first "$DFC" first.df --no-opencl -w -o first
expect nothing-left 1 '^first: error: --cluster: rank 0 alone can run all that says @stage' ranks 3 ./first --cluster
