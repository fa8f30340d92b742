# Accumulators of nodes that are divided: the same bits as undivided, in any number of parts, under every policy, in little
# device memory.
export NVCC=none DFC_PROFILE=$PWD/profile.db
source=$DF_SOURCE/tests/e2e/programs/volume/volume.df
for n in 1 2 3 13; do
    if "$DFC" "$source" --parts=$n -o volume-$n 2>said; then pass "compile-$n"; else fail "compile-$n" "$(cat said)"; fi
done
./volume-1 --waves=20 --device=none >want
check has-all test "$(wc -l <want)" -gt 500
for n in 2 3 13; do
    for policy in eager ws ddwrr random dmda dmdas gp gp-thesis heft all-cpu all-gpu; do
        for options in "--device=none --workers=2 --inflight=3" "--device=emu --emu-all --inflight=4" \
            "--device=emu --emu-all --gpu-mem=24KiB" "--device=emu --emu-all --inflight=1 --workers=2 --gpu-mem=40KiB"; do
            if ./volume-$n --waves=20 --policy="$policy" $options >got 2>said && cmp -s want got; then pass "same-$n-$policy"
            else fail "same-$n-$policy" "$options: $(head -c 300 said)"; fi
        done
    done
    for options in "--serial" "--device=emu --serial --emu-all" "--device=none --poison" "--device=emu --emu-all --poison" "--workers=1 --device=none"; do
        if ./volume-$n --waves=20 $options >got 2>said && cmp -s want got; then pass "same-$n $options"
        else fail "same-$n $options" "$(head -c 300 said)"; fi
    done
done
expect why-not 1 "cannot be divided: it reduces over data" "$DFC" <(printf 'kernel g(out p: f32[9]) cpu {{ p[0] = 0; }};
kernel h(in p: f32[n], acc hits: i64[7]) { hits[b] += count(i in 0..n if i32(p[i]) == b); }
kernel s(in hits: i64[7]) cpu {{ }};
graph main { p = g(); hits = h(p) @parts(2); s(hits); }') --emit=graph
