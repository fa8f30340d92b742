# Finding a wrong result: --check=variants, --dump, --serial, --poison, --watchdog, df_log, and that waiting costs no time.
cp "$programs/k.c" .
cp "$programs/g.c" .
cat >k.df <<'EOT'
kernel make(out v: f32[h, w]) cpu "k.c";
kernel half(in v: f32[h, w], out o: f32[h, w], out n: i32) TOLERANCE cpu "k.c" gpu "g.c";
kernel bump(inout v: f32[h, w]) cpu "k.c" gpu "g.c";
kernel count(in v: f32[h, w], out o: f32[h, w]) ordered cpu "k.c" gpu "g.c";
kernel last(in v: f32[h, w], in n: i32) ordered cpu "k.c";
graph main { a: f32[8, 20] = make(); b = bump(a); (c, n) = half(b); d = count(c); last(d, n); }
EOT
build() { # NAME PLANTED TOLERANCE
    sed "s/TOLERANCE/$3/" k.df >"$1.df"
    check "compile-$1" "$DFC" "$1.df" -o "$1" --emu-gpu-code --nvcc=none --cflags=-DPLANTED="$2"
}
build good 0 ''; build bad 0.25f ''; build wide 0.25f 'tolerance(0, 0.5)'; build narrow 0 'tolerance(1e-9, 0)'; build dies -1 ''
expect agree 0 '^good: --check=variants: 10 jobs of 2 kernels agree$' ./good --check=variants --device=emu --waves=5
expect left-out 0 "^good: warning: node 'main/count' is not checked: its kernel is 'ordered'" ./good --check=variants --device=emu
expect too-large 0 "^good: warning: node 'main/bump' \(and 1 more node\) is not checked: one job is larger than the device's memory$" ./good --check=variants --device=emu --gpu-mem=512B
expect nothing-compared 0 "^good: --check=variants: no job has two variants that could be compared$" ./good --check=variants --device=emu --gpu-mem=512B
expect differs 1 "^bad: error: node 'main/half', wave 3: output 'o'\[4,17\] \(index 97\): cpu 50.5, gpu 50.7[0-9]*, differs by 0.25, allowed 0.000508; 1 of 160 elements differ$" ./bad --check=variants --device=emu --waves=5
expect earlier-waves 0 'agree' ./bad --check=variants --device=emu --waves=3
expect tolerance 0 '10 jobs of 2 kernels agree' ./wide --check=variants --device=emu --waves=5
expect no-tolerance 1 "node 'main/half', wave 0: output 'o'\[0,0\]" ./narrow --check=variants --device=emu
expect variant-fails 1 "^dies: error: node 'main/half', wave 0: no such luck \(its gpu variant\)$" ./dies --check=variants --device=emu
expect runs-gpu-code 1 "^dies: error: node 'main/half', wave 0: no such luck$" ./dies --device=emu --policy=all-gpu
expect no-device 1 'there is no device to run gpu variants on' env CUDA_VISIBLE_DEVICES= ./good --check=variants
expect check-none 2 'gpu variants need a device' ./good --check=variants --device=none
expect check-what 2 "--check=all: variants is expected" ./good --check=all
expect check-policy 2 '--check runs one job at a time in a fixed order: it does not go with --policy' ./good --check=variants --policy=eager
for option in --check=variants --dump=main/half --poison --watchdog=1s --serial; do
    expect "sim$option" 2 "${option%%=*}: no kernel is called in the virtual time" ./good --device=sim $option
done

# gpu variants in .c and .cpp files are for the emulator; one in a .cu file is left out, and its cpu variant runs.
cat >kinds.df <<'EOT'
kernel make(out v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = 1; }};
kernel plus(in v: i32[k], out o: i32[k]) cpu {{ memcpy(o, v, k * sizeof *v); }} gpu "plus.cpp";
kernel same(in v: i32[k], out o: i32[k]) cpu {{ memcpy(o, v, k * sizeof *v); }} gpu "none.cu";
kernel last(in v: i32[k]) cpu {{ printf("%d\n", (int)v[0]); }};
graph main { a: i32[4] = make(); b = plus(a); c = same(b); last(c); }
EOT
cat >plus.cpp <<'EOT'
int plus_gpu(struct df_call *, cudaStream_t, size_t k, const int32_t *v, int32_t *o)
{
    for (size_t i = 0; i < k; i++)
        o[i] = v[i] + 1;
    return DF_OK;
}
EOT
touch none.cu
expect cu-is-left-out 0 "the gpu variant of 'same' is left out" "$DFC" kinds.df -o kinds --emu-gpu-code --nvcc=none
expect cpp-is-not 0 '^2$' ./kinds --device=emu --policy=all-gpu

# A kernel that has a gpu variant alone, and skips a wave: the next one is there again.
cat >alone.df <<'EOT'
kernel make(out v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = 1; }};
kernel some(in v: i32[k], out o: i32[k]) gpu "some.c";
kernel last(in v: i32[k]) ordered cpu {{ printf("%d ", (int)df_wave(call)); }};
graph main { a: i32[4] = make(); b = some(a); last(b); }
EOT
cat >some.c <<'EOT'
#include <string.h>
int some_gpu(struct df_call *call, cudaStream_t stream, size_t k, const int32_t *v, int32_t *o)
{
    (void)stream;
    memcpy(o, v, k * sizeof *v);
    return df_wave(call) % 3 == 1 ? DF_SKIP : DF_OK;
}
EOT
check compile-alone "$DFC" alone.df -o alone --emu-gpu-code --nvcc=none
for set in --check=variants --policy=all-gpu --poison; do expect "alone $set" 0 '^0 2 3 5 $' bash -c "./alone --device=emu $set --waves=6 2>/dev/null"; done

# df_log: one line each, with node and wave, at the level asked for.
expect log 0 "^good: node 'main/last', wave 1: sees 80.5 and 160$" ./good --log=info --waves=2
[ -z "$(./good --waves=2 2>&1)" ] && pass log-quiet || fail log-quiet "said something"

# Tokens as .npy, from the host and from a device: the header as numpy defines it, and the numbers.
mkdir -p host device
check dump ./good --dump='main/*:1' --dump=main/half:0 --dump-dir=host --waves=3
check dump-device ./good --dump='main/h*' --dump-dir=device --waves=2 --device=emu --policy=all-gpu
[ "$(ls host device | tr '\n' ' ')" = "device: main.half.n.0.npy main.half.n.1.npy main.half.o.0.npy main.half.o.1.npy  host: main.bump.v.1.npy main.count.o.1.npy main.half.n.0.npy main.half.n.1.npy main.half.o.0.npy main.half.o.1.npy main.make.v.1.npy " ] && pass dump-files || fail dump-files "$(ls host device | tr '\n' ' ')"
cp "$programs/read.py" .
check dump-numbers "$(command -v /usr/bin/python3 || echo python3)" read.py
expect dump-unknown 1 "^good: error: --dump: there is no node 'main/hafl'; did you mean 'main/half'\?$" ./good --dump=main/hafl
expect dump-none 1 "there is no node 'zz\*'; names are as in messages" ./good --dump='zz*'
expect dump-sink 1 "main/last: it has no outputs" ./good --dump=main/last
expect dump-wave 1 "'x' is not the number of a wave" ./good --dump=main/half:x
expect dump-no-wave 0 "^good: warning: --dump=main/half:7: there was no such wave, so nothing was written$" ./good --dump=main/half:7
expect dump-empty 1 "':3' names no node" ./good --dump=:3
expect dump-folder 1 "^good: error: --dump-dir: cannot write to 'nowhere': No such file or directory$" ./good --dump=main/half --dump-dir=nowhere
expect dump-alone 2 '--dump-dir: no --dump says what to write' ./good --dump-dir=host
if [ -e /dev/full ]; then
    mkdir -p full; ln -s /dev/full full/main.half.o.0.npy
    expect dump-full 1 "^good: error: node 'main/half', wave 0: cannot write '/dev/full': No space left on device$" ./good --dump=main/half --dump-dir=full
fi

# --serial: the order of the nodes, one wave after another; also across a device.
cat >order.df <<'EOT'
kernel start(out v: i32) cpu {{ fprintf(stderr, "start %d\n", (int)df_wave(call)); *v = 1; }};
kernel read(out v: i32) stream cpu {{ fprintf(stderr, "read %d\n", (int)df_wave(call)); *v = 1; if (df_wave(call) == 3) return DF_END; }};
kernel table(out v: i32) once cpu {{ fprintf(stderr, "table\n"); *v = 1; }};
kernel step(in a: i32, out b: i32; name: str) cpu {{ fprintf(stderr, "%s %d\n", name, (int)df_wave(call)); *b = *a + 1; }} gpu "none.cu";
kernel both(in a: i32, in b: i32, out c: i32; name: str) cpu {{ fprintf(stderr, "%s %d\n", name, (int)df_wave(call)); *c = *a + *b; }} gpu "none.cu";
kernel end(in a: i32) cpu {{ if (*a != 7) return df_fail(call, "got %d", *a); }};
graph main {
    s = start(); r = read(); t = table();
    x = step(s, "x"); y = step(r, "y") @gpu; z = step(y, "z"); u = both(x, z, "u"); v = both(u, t, "v"); w = both(v, t, "w") @gpu; end(w);
}
EOT
: >none.cu
check compile-order "$DFC" order.df -o order --nvcc=none
{ echo table; for w in 0 1 2; do for n in read start x y z u v w; do echo "$n $w"; done; done; echo "read 3"; } >want
./order --serial --device=none 2>&1 | grep -v warning >got && same serial got want
./order --serial --device=emu 2>&1 | grep -v warning >got && same serial-device got want
expect serial-workers 2 '--serial runs one job at a time in a fixed order: it does not go with --workers' ./order --serial --workers=2

# --poison: what a kernel reads without anyone having written it. The forgetful kernel leaves the second half of its output alone.
cat >poison.df <<'EOT'
kernel fill(out v: f32[k], out n: i32[k]) cpu "p.c" gpu "p.cu";
kernel forget(in a: f32[k], in m: i32[k], out v: f32[k], out n: i32[k], tmp t: f32[k]) cpu "p.c" gpu "p.cu";
kernel look(in v: f32[k], in n: i32[k]) ordered cpu "p.c";
graph main { (a: f32[64], m) = fill(); (v, n) = forget(a, m); (b, o) = forget(v, n); look(b, o); }
EOT
cp "$programs/p.c" .
: >p.cu
check compile-poison "$DFC" poison.df -o poison --nvcc=none
check poison ./poison --poison --waves=20 --device=none
check poison-device ./poison --poison --waves=20 --device=emu --policy=all-gpu
check poison-small ./poison --poison --waves=20 --device=emu --policy=all-gpu --gpu-mem=24KiB
expect poison-off 1 'element|scratch' ./poison --waves=1 --device=none

# --watchdog: a kernel that does not end, on the host and on a device; one that takes its time is left alone.
cat >hang.df <<'EOT'
arg pause_ms: i32 = 0;
kernel begin(out v: i32) cpu {{ *v = 1; }};
kernel spin(in a: i32, out b: i32; ms: i32) cpu "h.c" gpu "h.cu";
kernel after(in a: i32, out b: i32) cpu {{ *b = *a; }};
graph main { v = begin(); w = spin(v, pause_ms); x = after(w); y = after(w); z = after(y); }
EOT
cp "$programs/h.c" .
: >h.cu
check compile-hang "$DFC" hang.df -o hang --nvcc=none
expect dump-several 1 "no node 'main/after' alone; did you mean 'main/after#\*'\?$" ./hang --dump=main/after
waits="'main/after#1', 'main/after#2' and 'main/after#3' wait for it$"
expect watchdog 1 "^hang: error: node 'main/spin', wave 0: has not ended after 2[.]00 s on cpu [0-9]*; $waits" timeout 150 ./hang --pause_ms=-1 --watchdog=2s --device=none
expect watchdog-device 1 "^hang: error: node 'main/spin', wave 0: has not ended after 2[.]00 s on emu0; $waits" timeout 150 ./hang --pause_ms=-1 --watchdog=2s --device=emu --policy=all-gpu
expect watchdog-check 1 "node 'main/spin', wave 0: has not ended after 2[.]00 s on cpu 0; $waits" timeout 150 ./hang --pause_ms=-1 --watchdog=2s --device=emu --check=variants
expect watchdog-patient 0 '' timeout 150 ./hang --pause_ms=100 --watchdog=1h
for t in 0s 3 x -1s 2weeks; do expect "watchdog-$t" 2 "--watchdog=$t: a time is expected" ./hang --watchdog=$t; done

# An app that waits on a slow source burns no cpu time, neither its workers nor the watchdog: the source itself looks at the
# process's time before and after. (make check-long: SLOW_S=10.)
cat >slow.df <<'EOT'
arg s: f64 = 2.0;
arg most_ms: i32 = 50;
kernel wait(out v: i32; s: f64, most_ms: i32) stream cpu "wait.c";
kernel use(in v: i32, out w: i32) cpu "use.c" gpu "use.cu";
kernel show(in w: i32) cpu {{ }};
graph main { v = wait(s, most_ms); w = use(v); show(w); }
EOT
cp "$programs/wait.c" .
echo 'int use_cpu(struct df_call *call, const int32_t *v, int32_t *w) { (void)call; *w = *v; return DF_OK; }' >use.c
: >use.cu
check compile-slow "$DFC" slow.df -o slow --nvcc=none
most_ms=50; [ "${SLOW_S:-2}" -gt 2 ] && most_ms=100
slow() { ./slow --s="${SLOW_S:-2}" --most_ms=$most_ms --log=info "$@" 2>&1; }
slow --device=none --workers=8 >slow.1 & one=$!
slow --device=emu --policy=all-gpu --workers=4 >slow.2 & two=$!
slow --device=none --workers=4 --watchdog=60s >slow.3 & three=$!
n=0; for pid in $one $two $three; do
    n=$((n + 1)); if wait $pid; then pass "slow-source-$n"; else fail "slow-source-$n" "$(cat slow.$n)"; fi
done
