# Launching ahead, and recordings: where the placement is known before the run, a GPU's jobs are launched behind those that make their inputs, and
# batches that come again are replayed. The same output whatever is on, failures that name their node, and nothing of a stream that ended.
: >none.cu
cp "$programs/chain.df" .
check compile "$DFC" chain.df -o chain --nvcc=none
./chain --device=none --waves=12 | sort >want
turn=0
for policy in all-gpu heft gp; do       # in make check all-gpu has each set, and the others every third one in turns
    for set in '--cuda-graphs=off' '--gpu-jobs=1' '--cuda-graphs=on --gpu-jobs=1' 'DF_EMU_TRIAL=reorder=3 --cuda-graphs=on --gpu-jobs=4' '--cuda-graphs=on --gpu-mem=16KiB' '--sync-kernels'; do
        turn=$((turn + 1)); long || [ $policy = all-gpu ] || [ $(((turn + ${#policy}) % 3)) = 0 ] || continue
        # shellcheck disable=SC2086
        timeout 150 env ${set%%--*} ./chain --device=emu --policy=$policy --waves=12 --${set#*--} 2>err | sort >got
        same "$policy $set" got want
    done
done
replayed() { ./chain --device=emu --policy=all-gpu --waves=40 --stats=json --stats-file=/dev/stderr "$@" 2>&1 >/dev/null | sed -n 's/.*"replayed": \([0-9]*\).*/\1/p'; }
[ "$(replayed --cuda-graphs=on --inflight=1)" -gt 1000 ] && pass replays || fail replays "$(replayed --cuda-graphs=on --inflight=1)"
# One after another, so the same batch each time: launched in wave 0, recorded and replayed from wave 1 on.
sed -e '/^graph/,$d' -e '/^kernel step/s/"none.cu"/"none.cu": step<<<1, 1>>>(a, b, k)/' chain.df |
    sed -e '/^kernel bump/,/^}}/s/"none.cu"/"none.cu": bump<<<1, 1>>>(a, k, i, bad)/' >line.df
echo 'graph main { a: i32[n] = src(1); b = step(a); c = bump(b, 0, -1); d = step(c); e = bump(d, 1, -1); show(e); }' >>line.df
check line-compile "$DFC" line.df -o line --nvcc=none
auto=$(./line --device=emu --policy=all-gpu --waves=40 --inflight=1 --stats=json --stats-file=/dev/stderr 2>&1 >got | sed -n 's/.*"replayed": \([0-9]*\).*/\1/p')
[ "$auto" = $((39 * 4)) ] && pass replays-unasked || fail replays-unasked "$auto"
unasked=$(./chain --device=emu --policy=all-gpu --waves=40 --inflight=1 --stats=json --stats-file=/dev/stderr 2>&1 >/dev/null | sed -n 's/.*"replayed": \([0-9]*\).*/\1/p')
[ "$unasked" = 0 ] && pass "host code runs for each job" || fail "host code runs for each job" "$unasked"
./line --device=none --waves=40 >want-line; same replays-unasked-right got want-line
for set in --cuda-graphs=off --sync-kernels; do
    [ "$(replayed $set)" = 0 ] && pass "nothing-replayed $set" || fail "nothing-replayed $set" "$(replayed $set)"
done
[ "$(replayed --trace=t.json)" = 0 ] && pass nothing-replayed-traced || fail nothing-replayed-traced "$(replayed --trace=t.json)"
check trace-of-replays ./chain --device=emu --policy=all-gpu --waves=12 --cuda-graphs=on --trace=t.json
for set in --cuda-graphs=off --cuda-graphs=on; do for at in 0 7 20; do
    expect "failure-$at $set" 1 "node 'main/bump(#1|\[[0-9]+\])?', wave 3: planted at $at" ./chain --device=emu --policy=all-gpu --waves=12 --bad=$at $set
done; done
expect bad-value 2 "--cuda-graphs=perhaps: one of auto, on, off is expected" ./chain --cuda-graphs=perhaps

# Behind a stream source on the GPU nothing is launched before the source has said that there is another wave.
cat >stream.df <<'X'
kernel tick(out a: i32[k]) stream cpu {{ if (df_wave(call) == 9) return DF_END; for (size_t i = 0; i < k; i++) a[i] = (int32_t)df_wave(call); }} gpu "none.cu";
kernel next(in a: i32[k], out b: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) b[i] = a[i] * 2; }} gpu "none.cu";
kernel show(in v: i32[k]) ordered cpu {{ printf("%d\n", v[k - 1]); }};
graph main { a: i32[8] = tick(); b = next(a); c = next(b); show(c); }
X
check stream-compile "$DFC" stream.df -o stream --nvcc=none
seq 0 4 32 >want
for set in --cuda-graphs=auto --cuda-graphs=on; do ./stream --device=emu --policy=all-gpu $set >got; same "stream $set" got want; done
