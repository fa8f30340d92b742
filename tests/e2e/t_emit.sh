# --emit of each kind, on examples/sum and on graphs of all families.
cp "$DF_SOURCE"/examples/sum/sum.df "$DF_SOURCE"/examples/sum/vec.* .

"$DFC" sum.df --emit=ast > once.df && "$DFC" once.df --emit=ast > twice.df
same ast-again twice.df once.df
expect graph 0 '^graph sum: 4 nodes, 3 values, 3 arcs, 3 works, 4 kernels$|^graph sum: 4 nodes, 3 values, 3 arcs, [0-9]+ works, [0-9]+ kernels$' "$DFC" sum.df --emit=graph
expect graph-node 0 '^n2 main/add w[0-9] \(v0, v1\) -> v2 c$' "$DFC" sum.df --emit=graph
expect graph-scalar 0 '^w[0-9]+ generate\[k=1024\]\(seed \+ 1\): out v f32\[1024\]; 1 node' "$DFC" sum.df --emit=graph
expect graph-define 0 'f32\[12\]' "$DFC" sum.df -D n=12 --emit=graph
"$DFC" sum.df --emit=graph > a; "$DFC" sum.df --emit=graph -o b
same graph-to-file a b
expect c 0 '^int main\(int argc, char \*\*argv\)$' "$DFC" sum.df --emit=c
expect c-header 0 '^int add_gpu\(struct df_call \*call, cudaStream_t stream, size_t /\* k \*/, const float \*/\* a \*/, const float \*/\* b \*/, float \*/\* c \*/\);$' \
    "$DFC" sum.df --emit=c
expect dot 0 'add' "$DFC" sum.df --emit=dot
if command -v dot >/dev/null; then
    "$DFC" sum.df --emit=dot > sum.dot; expect dot-is-dot 0 'svg' dot -Tsvg sum.dot
else
    skip dot-is-dot "no dot here"
fi
"$DFC" sum.df --emit=metis > sum.metis
expect metis-head 0 '^4 3 ' grep -v '^%' sum.metis
if command -v gpmetis >/dev/null; then expect metis-reads 0 'Edgecut' gpmetis sum.metis 2; fi
expect plan 0 '^plan sum: gp-thesis on platform' "$DFC" sum.df --emit=plan
expect plan-node 0 '^n3 main/print u0 ' "$DFC" sum.df --emit=plan
"$DFC" sum.df --emit=plan > p1; "$DFC" sum.df --emit=plan > p2
same plan-same p1 p2
cat > machine.df <<'X'
platform titan {
    cpu host  { workers = 3; }
    gpu titan { memory = 6 GiB; h2d = 6 GB/s, 10 us; d2h = 6 GB/s, 10 us; engines = 2; launch = 8 us; }
}
X
expect plan-platform 0 "^plan sum: gp-thesis on platform 'titan' \(file\)$" "$DFC" sum.df --emit=plan --platform=machine.df
expect plan-memory 0 '^memory of u0 host: 12288 bytes for a wave in any order \(at least 12288\), 12288 in sequence \(at least 12288\), 0 once, 0 for scratch' \
    "$DFC" sum.df --emit=plan
expect plan-token 0 '^ v1 b: 4096 bytes at 4096, in sequence at 4096; n1 to n2$' "$DFC" sum.df --emit=plan
cp "$programs/memory.df" .
expect plan-promise 0 '^memory of u1 titan: 16384 bytes for a wave in any order \(at least 16384\), 4096 once, 8192 for scratch; fits in 6 GiB with 4 waves in flight$' \
    "$DFC" memory.df --emit=plan
expect plan-in-place 0 '^ v4 d, v5 e: 8192 bytes at 8192; n4 to n6$' "$DFC" memory.df --emit=plan
expect plan-once 0 '^ v0 t: 4096 bytes at 0, once; n0 to the end$' "$DFC" memory.df --emit=plan
expect partition-promise 0 '^memory +titan needs 28 KiB for one wave in any order \(at least 28 KiB\), 8 KiB of that for scratch, 28 KiB for its largest job; fits in 45 KiB with 2 waves in flight, not with 4$' \
    "$DFC" partition memory.df --gpu-mem=45KiB
sed 's/, tmp s: f32\[k\]//; s/f32\[2000\]/f32[1000]/; s/c = f(b, t);/c = f(b, t); c2 = f(b, t); sink(c2);/' memory.df > tight.df
expect partition-no-promise 0 'largest job; one wave needs 20 KiB of 16 KiB: blocks will be evicted$' "$DFC" partition tight.df --gpu-mem=16KiB
expect partition-refused 1 "node 'main/f#1' fits nowhere: one job of it needs 28672 bytes, 'titan' has 28671" \
    "$DFC" partition memory.df --gpu-mem=28671
expect partition-no-promise-by-little 0 'largest job; one wave needs 20480 bytes of 20479: blocks will be evicted$' \
    "$DFC" partition tight.df --gpu-mem=20479
expect partition-promise-asked 0 'largest job; fits in 45 KiB with 2 of the 3 waves in flight asked for$' \
    "$DFC" partition memory.df --gpu-mem=45KiB --inflight=3
# The host's plans for any order and for the sequence are equal, so they are one panel; the device's alignment is another.
check memory-picture "$DFC" partition memory.df --memory=memory.svg
expect memory-picture-equal 0 '>host in any order = host in sequence: 15.6 KiB, at least 15.6 KiB \(dashed\)<' cat memory.svg
expect memory-picture-other 0 '>titan in any order: 16 KiB, at least 16 KiB \(dashed\)<' cat memory.svg
check memory-picture-is-xml python3 -c 'import sys, xml.dom.minidom; boxes = xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("title"); sys.exit(len(boxes) != 4 + 4)' memory.svg
cat > many.df <<'X'
kernel src(out a: f32[k]) cost cpu 1us;
kernel f(in a: f32[k], out b: f32[k]) cost cpu 1us;
graph main { a[0]: f32[16] = src(); for i in 1..4200 { a[i] = f(a[i - 1]); } }
X
expect memory-picture-many 0 'host in any order = host in sequence: 128 B, at least 128 B \(dashed\); too many blocks for a box each' \
    "$DFC" partition many.df --policy=all-cpu --memory=-
expect memory-picture-full 1 "cannot write '/dev/full'" "$DFC" partition memory.df --memory=/dev/full
cat sum.df machine.df > with.df
expect promise-compiled 0 'note: under all-gpu, titan needs .* for one wave: fits in 1 MiB with 2 waves in flight$' \
    "$DFC" with.df --policy=all-gpu --gpu-mem=1MiB --inflight=2 -o with --nvcc=none
if "$DFC" with.df --policy=all-gpu -o with --nvcc=none 2>&1 | grep 'for one wave'; then
    fail promise-not-told "all waves fit, and nobody asked"
else
    pass promise-not-told
fi
sed 's/memory = 6 GiB/memory = 20 KiB/' with.df > short.df
expect promise-of-less 0 'note: under all-gpu, titan needs 12 KiB for one wave: fits in 20 KiB with 1 wave in flight, not with 4$' \
    "$DFC" short.df --policy=all-gpu -D n=1000 -o short --nvcc=none
expect plan-declared 0 "^plan with: gp-thesis on platform 'titan' \(graph\)$" "$DFC" with.df --emit=plan
expect plan-unit 0 "^u1 gpu titan: 1 worker, h2d 6 GB/s after 10 us" "$DFC" with.df --emit=plan
expect emit-error 1 'sum2.df:[0-9]+:[0-9]+: error: ' bash -c "sed 's/= add(/= ad(/' sum.df > sum2.df; '$DFC' sum2.df --emit=graph -o bad.txt"
[ -e bad.txt ] && fail emit-error-writes-nothing "bad.txt exists" || pass emit-error-writes-nothing
expect full-device 1 "cannot write '/dev/full'" "$DFC" sum.df --emit=graph -o /dev/full

check families "$DF_SOURCE/examples/graphs/families.sh" dags
bad=''
for name in $(sed -e 1d -e 's/,.*//' dags/families.csv); do
    "$DFC" "dags/$name.df" --emit=graph > out 2> err || bad="$bad $name: $(head -n 1 err);"
    grep -q '^graph ' out || bad="$bad $name: no graph;"
done
[ -z "$bad" ] && pass families-emitted || fail families-emitted "$bad"
