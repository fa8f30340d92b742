# Many waves in flight: gp plans for throughput, is behind no policy, and is well ahead of dmda; joint placements reach a program.
cp "$DF_SOURCE"/examples/graphs/image.df "$DF_SOURCE"/examples/graphs/study.df .
cc -std=c11 -o generate "$DF_SOURCE/examples/matrix/generate.c"
for kind in ma mm mixed; do for n in 512 2048; do ./generate --kind=$kind --costs --n=$n --seed=$n >$kind-$n.df; done; done
simulate() { # NAME FILE [OPTION…]
    local name=$1; shift
    "$DFC" simulate "$@" --platform=study.df --policy=all --waves=32 --format=json >"$name.json" || echo "{}" >"$name.json"
}
for kind in ma mm mixed; do for n in 512 2048; do simulate $kind-$n $kind-$n.df; done; done
for strips in 4 16 32; do simulate image-$strips image.df -D strips=$strips; done
python3 "$programs/throughput.py" >waves.out 2>&1
if [ $? = 0 ]; then pass throughput; else fail throughput "$(cat waves.out)"; fi
grep '^figure' waves.out
expect text 0 'gp: the busiest unit or copy engine is loaded .* a wave, .* above the bound' "$DFC" simulate image.df -D strips=4 --policy=gp --waves=32
expect latency 0 '^gp ' "$DFC" simulate image.df -D strips=4 --policy=gp --waves=32 --objective=latency --budget=500
expect summary 0 'waves .* a wave with 8 in flight; the busiest unit or copy engine is loaded' "$DFC" partition image.df --objective=throughput -D strips=4 --budget=500 -o image.svg
expect explained 0 'waves .* a wave in steady state with 8 in flight; the busiest unit' "$DFC" explain image.df --objective=throughput -D strips=4 --budget=500

# One wave in three on the host, two on the GPU: neither 2, 4, 8 … waves nor an online policy shares so evenly.
cat >third.df <<'EOT'
platform study { cpu host { workers = 1; } gpu g { memory = 1 GiB; h2d = 100 GB/s, 0 us; d2h = 100 GB/s, 0 us; engines = 2; } }
kernel src(out v: f32[k]) stream cost cpu 0s;
kernel job(in v: f32[k], out w: f32[k]) cost cpu 2ms gpu 1ms;
kernel sink(in v: f32[k]) cost cpu 0s;
graph main { a: f32[1] = src(); b = job(a); sink(b); }
EOT
expect thirds 0 'is loaded 667 us, 0.0 % above the bound; 3 waves are placed jointly' "$DFC" partition third.df

# A program with a plan of several waves: the same results as on one CPU, whatever wave.
cat >scale.c <<'EOT'
int make_cpu(struct df_call *call, size_t k, int32_t *a) { for (size_t i = 0; i < k; i++) a[i] = (int32_t)(df_wave(call) * 100 + (int64_t)i); return DF_OK; }
int step_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b) { (void)call; for (size_t i = 0; i < k; i++) b[i] = a[i] * 3 + 1; return DF_OK; }
int last_cpu(struct df_call *call, size_t k, const int32_t *a) { (void)call; int64_t s = 0; for (size_t i = 0; i < k; i++) s += a[i]; printf("%lld\n", (long long)s); return DF_OK; }
EOT
: >none.cu
cat >scale.df <<'EOT'
platform p { cpu h { workers = 1; } gpu g { memory = 1 GiB; h2d = 10 GB/s, 1 us; d2h = 10 GB/s, 1 us; engines = 2; } }
kernel make(out a: i32[k]) cpu "scale.c" cost cpu 1us;
kernel step(in a: i32[k], out b: i32[k]) cpu "scale.c" gpu "none.cu" cost cpu 5us gpu 4us;
kernel last(in a: i32[k]) ordered cpu "scale.c" cost cpu 1us;
graph main {
    a: i32[1000] = make();
    b = step(a); c = step(b); d = step(c);
    last(d);
}
EOT
sed -i '1i #include <stdio.h>' scale.c
check compile "$DFC" scale.df -o scale --nvcc=none --objective=throughput
expect jointly 0 'waves placed jointly' "$DFC" scale.df --emit=plan --objective=throughput
./scale --waves=50 --device=none >cpu.out && ./scale --waves=50 --device=emu --policy=gp --stats >emu.out 2>stats.out
same joint-on-emu cpu.out emu.out

# eager is ahead of every placement if it has locality and prefetch, in memory for little more than one wave: step follows open on the device.
cp "$programs/options.df" .
eight() { "$DFC" "$@" --inflight=8; }
expect options-plan 0 '^waves +3.47 ms a wave with 8 in flight as eager --dl --prefetch decides in the run' eight partition options.df
expect options-json 0 '"run_as": "eager --dl --prefetch"' eight partition options.df --format=json
expect options-explained 0 'gp found eager --dl --prefetch 22 % faster than any placement \(3.29 ms a wave\)' eight explain options.df
made() { eight simulate options.df --waves=32 --format=csv "$@" | tail -n 1 | cut -d, -f4; }
for options in '' --dl '--dl --prefetch'; do made --policy=dmdar; made --policy=eager $options; made --policy=gp; done | tr '\n' ' ' >simulated.out
expect options-simulated 0 '^0.133 0.141 0.111 0.133 0.14 0.111 0.133 0.111 0.111 $' cat simulated.out
# Where nobody asked for 8 in flight, a run has fewer, so options are not tried.
"$DFC" partition options.df >fewer.out
if grep -q -- --dl fewer.out; then fail options-fewer "$(cat fewer.out)"; else pass options-fewer; fi
