# --device=sim: the program in virtual time. The same figures each time and as `dfc simulate`, a trace as of a real run, no kernel called.
cp "$DF_SOURCE"/examples/photo/*.df "$DF_SOURCE"/examples/photo/*.c "$DF_SOURCE"/examples/photo/*.cu .
check compile "$DFC" photo.df --nvcc=none -o photo
for policy in eager ws dmda gp-thesis; do
    run() { ./photo --input=nowhere.png --device=sim --policy=$policy --waves=1 --workers=1 --stats=json; }
    run 2>a; run 2>b
    same "repeatable-$policy" a b
    makespan=$(sed -E 's/.*"makespan_s": ([0-9.e-]+).*/\1/' a)
    said=$("$DFC" simulate photo.df --policy=$policy --workers=1 --format=csv | tail -n 1 | cut -d, -f4)
    if awk "BEGIN { exit !($makespan > 0 && ($makespan - $said) ^ 2 < ($said * 1e-5) ^ 2) }"; then pass "as-dfc-simulate-$policy"; else
        fail "as-dfc-simulate-$policy" "$makespan, dfc simulate says $said"; fi
done
check trace ./photo --input=nowhere.png --device=sim --waves=12 --trace=t.json
expect trace-reads 0 'beside computation' python3 "$DF_SOURCE/tests/e2e/trace_check.py" t.json
[ ! -e edges.png ] && pass no-kernel || fail no-kernel 'edges.png was written'
expect stats 0 '^waves +12' ./photo --input=nowhere.png --device=sim --waves=12 --stats
