# --emit of each kind, on examples/sum and on every graph of tests/dags where they are.
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
expect c-header 0 '^int add_gpu\(struct df_call \*call, cudaStream_t stream, size_t k, const float \*a, const float \*b, float \*c\);$' \
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
cat sum.df machine.df > with.df
expect plan-declared 0 "^plan with: gp-thesis on platform 'titan' \(graph\)$" "$DFC" with.df --emit=plan
expect plan-unit 0 "^u1 gpu titan: 1 worker, h2d 6 GB/s after 10 us" "$DFC" with.df --emit=plan
expect emit-error 1 'sum2.df:[0-9]+:[0-9]+: error: ' bash -c "sed 's/= add(/= ad(/' sum.df > sum2.df; '$DFC' sum2.df --emit=graph -o bad.txt"
[ -e bad.txt ] && fail emit-error-writes-nothing "bad.txt exists" || pass emit-error-writes-nothing
expect full-device 1 "cannot write '/dev/full'" "$DFC" sum.df --emit=graph -o /dev/full

dags=${DF_DAGS:-$DF_SOURCE/tests/dags}
if [ -d "$dags" ]; then
    n=0 bad=''
    for f in "$dags"/*.df; do
        n=$((n + 1))
        "$DFC" "$f" --emit=graph > out 2> err || bad="$bad $(basename "$f"): $(head -n 1 err);"
        grep -q '^graph ' out || bad="$bad $(basename "$f"): no graph;"
    done
    [ -z "$bad" ] && [ "$n" -gt 0 ] && pass "dags-$n" || fail dags "$bad"
else
    skip dags "no folder tests/dags"
fi
