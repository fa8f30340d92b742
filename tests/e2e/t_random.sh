# Random graphs: valid programs with integer results known from generate.py, run under the default and four policies each, in turn all of
# them, on every device (in make check each of the four on half of them, in turn), with all the GPU memory and with just enough for the largest job, where the emulated GPU stirs the order too, on
# two that are peers, on a unified one, alone and beside another, and with what looks into a run; compared bit for bit. DF_RANDOM_GRAPHS
# (default 2) of them, from DF_RANDOM_SEED (1) on.
policies=(eager gp ws heft dmda gp-thesis peft dmdas random all-gpu pats dmdar ddwrr padas pams ddfcfs all-cpu)
graphs=${DF_RANDOM_GRAPHS:-2} first=${DF_RANDOM_SEED:-1} waves=4
cc -c -I "$DF_BUILD/include" -o kernels.o "$DF_SOURCE/tests/random/kernels.c"
cp "$DF_SOURCE/tests/random/kernels.cu" .
link='2 GB/s, 5 us'
echo "platform pair { cpu host { workers = 2; } gpu a { h2d = $link; d2h = $link; peer = $link; }
                gpu b { h2d = $link; d2h = $link; peer = $link; engines = 1; } }" >pair.df
echo "platform own { cpu host { workers = 2; } gpu a { unified = 1; } }" >unified.df
echo "platform both { cpu host { workers = 2; } gpu a { unified = 1; } gpu b { h2d = $link; d2h = $link; } }" >both.df

for ((seed = first; seed < first + graphs; seed++)); do
    python3 "$DF_SOURCE/tests/random/generate.py" $seed kernels.o kernels.cu $waves g.df expected
    if ! "$DFC" g.df -o app --nvcc=none >compile.log 2>&1; then
        cp g.df "$seed.df"; fail "random-$seed" "does not compile: $(head -c 600 compile.log)"; continue
    fi
    largest=$(sed -n 's/^# //p' expected); tail -n +2 expected >want
    bad=''
    for ((turn = 4 * (seed - 1); turn <= 4 * seed; turn++)); do
        policy=''
        [ $turn -lt $((4 * seed)) ] && policy=${policies[turn % ${#policies[@]}]}
        for set in '--device=none --workers=1' '--device=none --workers=3 --poison' '--device=emu' '--device=emu --emu-all --gpu-jobs=3' \
                   "DF_EMU_TRIAL=reorder=$((seed * 4 + ${#policy})) --device=emu --emu-all" \
                   "DF_EMU_TRIAL=reorder=$seed --device=emu --emu-all --platform=pair.df" '--device=emu --emu-all --pin=off' \
                   "DF_EMU_TRIAL=reorder=$seed --device=emu --emu-all --platform=unified.df" '--device=emu --emu-all --platform=both.df' \
                   "--device=emu --gpu-mem=$largest" "--device=emu --gpu-mem=$((largest * 2)) --inflight=1"; do
            n=$((${n:-0} + 1)); [ -z "$policy" ] || long || [ $((n % 2)) = 0 ] || continue     # 11 of them: the other half under the next policy
            # shellcheck disable=SC2086
            timeout 150 env ${set%%--*} ./app ${policy:+--policy=$policy} --waves=$waves --${set#*--} >got 2>run.log || { bad="${policy:-default} $set: exit $?: $(tail -n 3 run.log)"; break 2; }
            sort got | cmp -s - want || { bad="${policy:-default} $set: other result: $(sort got | diff - want | head -n 3 | tr '\n' ' ')"; break 2; }
        done
    done
    for set in '--serial --device=none' '--serial --device=emu' '--check=variants --device=emu' '--poison --device=none' \
               "--poison --device=emu --policy=all-gpu --gpu-mem=$largest" \
               '--poison --device=emu --policy=all-gpu --platform=both.df' '--device=emu --platform=unified.df --sync-kernels'; do
        # shellcheck disable=SC2086
        [ -n "$bad" ] || { timeout 150 ./app --waves=$waves $set 2>run.log | sort | cmp -s - want || bad="$set: other result: $(tail -n 3 run.log)"; }
    done
    if [ -n "$bad" ]; then fail "random-$seed" "$bad"; else pass "random-$seed"; fi
done
