# --device=sim: the program in virtual time. The same figures each time and as `dfc simulate`, a trace as of a real run, no kernel called.
formulas_for none
cp "$DF_SOURCE"/examples/photo/*.df .
check compile "$DFC" photo.df --nvcc=none -o photo
for policy in eager ws dmda gp-thesis; do
    run() { ./photo --input=nowhere.png --device=sim --policy=$policy --waves=1 --workers=1 --stats=json --stats-file=/dev/stderr; }
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

# Unasked, a program follows gp's plan for one wave of known times, and dmda for more.
cp "$DF_SOURCE"/examples/graphs/study.df .
sed -E 's/ cost cpu/ cpu {{ }} cost cpu/' "$DF_SOURCE"/examples/graphs/cholesky.df >cholesky.df
check compile-known "$DFC" cholesky.df -D T=6 -D b=8 --nvcc=none -o cholesky
seconds() { ./cholesky --device=sim --stats=json --stats-file=/dev/stderr "$@" 2>&1 | sed -E 's/.*"makespan_s": ([0-9.e-]+).*/\1/'; }
for waves in 1 2; do
    default=$(seconds --waves=$waves) gp=$(seconds --waves=$waves --policy=gp) dmda=$(seconds --waves=$waves --policy=dmda)
    if [ $waves = 1 ]; then want=$gp other=$dmda; else want=$dmda other=$gp; fi
    if [ "$default" = "$want" ] && [ "$default" != "$other" ]; then pass "default-$waves-waves"; else
        fail "default-$waves-waves" "default $default, gp $gp, dmda $dmda"; fi
done

# A plan is for one platform: on another one, if only its link is, there is another plan.
sed -E 's/= 10 GB/= 0.05 GB/g' study.df >slow.df
check compile-large "$DFC" cholesky.df -D T=6 -D b=240 --nvcc=none -o cholesky
own=$(seconds --policy=gp --platform=slow.df)
said=$("$DFC" simulate cholesky.df -D T=6 -D b=240 --platform=slow.df --policy=gp --format=csv | tail -n 1 | cut -d, -f4)
if [ "$own" = "$said" ]; then pass other-link; else fail other-link "$own, dfc simulate says $said"; fi
emulated() { ./cholesky --device=emu --emu-all --workers=3 --policy=gp --log=info "$@" 2>&1; }
check emulated-own emulated
if emulated | grep -q 'placed again'; then fail own-plan "placed again for its own platform"; else pass own-plan; fi
expect emulated-other-link 0 'placed again for this machine: 3 CPU workers, 1 GPUs' emulated --platform=slow.df
