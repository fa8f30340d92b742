# Scratch of GPU code: a fused group without tiles needs a plane for each stream inside, and what the plan says of that is what a run takes on the emulated
# GPU, which executes the GPU's code. A group with tiles needs none. Rows that the CPU keeps are no device memory.
cat >three.df <<'X'
param n = 1024 dynamic;
kernel make(out p: f32[n, n]) cpu {{ for (size_t i = 0; i < n * n; i++) p[i] = (float)(i * i >> 7 & 255); }};
kernel first(in p: f32[h, w] border clamp, wrap, out o: f32[h, w]) { o[y, x] = sqrt(p[y - 1, x - 1] + p[y + 1, x + 2]); }
kernel second(in p: f32[h, w] border clamp, wrap, out o: f32[h, w]) { o[y, x] = sqrt(p[y - 2, x - 1] * p[y + 1, x] + 3); }
kernel third(in p: f32[h, w] border mirror, wrap, out o: f32[h, w]) { o[y, x] = p[y - 1, x - 1] - p[y + 1, x + 1]; }
kernel show(in p: f32[h, w]) ordered cpu {{
    unsigned long sum = 0;
    for (size_t i = 0; i < h * w; i++) { unsigned bits; memcpy(&bits, &p[i], 4); sum = sum * 31 + bits; }
    printf("%lx\n", sum);
}};
graph main { p: f32[n, n] = make(); a = first(p) @gpu; b = second(a) @gpu; c = third(b) @gpu; show(c); }
X
sed 's/, wrap,/,/' three.df >tiled.df
gpu='--nvcc=none --no-opencl --emu-gpu-code -O0 -w'
formulas_for none

# planned FILE OPTION…: bytes for a wave and for scratch on the GPU.
planned() { "$DFC" "$@" --device=emu --policy=all-gpu --emit=plan | sed -nE 's/^memory of u1 .*: ([0-9]+) bytes for a wave .*, ([0-9]+) for scratch.*/\1 \2/p'; }
# host PROGRAM OPTION…: the bits that the CPU makes. takes NAME WANTED PROGRAM OPTION…: the bits are those, and a run takes that scratch, to the byte. With
# a policy that gives jobs when they are asked for no job has scratch before it runs.
host() { "$@" --device=none >host 2>/dev/null; }
takes() {
    local name=$1 wanted=$2; shift 2
    "$@" --device=emu --policy=eager --gpu-jobs=1 --stats=json,totals >out 2>&1
    grep -E '^[0-9a-f]+$' out | cut -d' ' -f1 >bits; sed -n '/^{/p' out >stats.json
    same "$name-bits" bits host
    are "$name-scratch" "$wanted" stats.json scratch_peak_bytes
}

# All in all: tokens and planes.
# shellcheck disable=SC2086
check compile "$DFC" three.df $gpu -o three
host ./three
expect tmp-ports 0 'k5 first\+second\+third\(.*tmp\(cpu\) o: f32.*tmp\(gpu\) o_plane: f32\[\*, \*\], tmp\(gpu\) o_2_plane' "$DFC" three.df --emit=graph
expect plan 0 '^8388608 8388608$' planned three.df
expect partition 0 '^memory .*gpu0 needs 16 MiB for one wave in any order .at least 16 MiB., 8 MiB of that for scratch, 16 MiB for its largest job' \
    "$DFC" partition three.df --device=emu --policy=all-gpu
takes whole 8388608 ./three
are whole-peak 16777216 stats.json peak_bytes
# Sizes that are given at start: the program plans as dfc does.
host ./three --n=333
read -r _ scratch <<<"$(planned three.df -D n=333)"
[ "$scratch" -ge $((333 * 333 * 8)) ] && pass dynamic-plan || fail dynamic-plan "$scratch"
takes dynamic "$scratch" ./three --n=333
# A part needs its rows and the halo: of 5 parts of 333 rows the largest makes 67, from 71 of b and 74 of a.
# shellcheck disable=SC2086
check parts-compile "$DFC" three.df $gpu -o parts --parts=5
read -r _ scratch <<<"$(planned three.df -D n=333 --parts=5)"
rows() { echo $((($1 * 333 * 4 + 255) / 256 * 256)); }
[ "$scratch" = $((($(rows 69) + $(rows 72) + 4095) / 4096 * 4096)) ] && pass parts-plan || fail parts-plan "$scratch, $(rows 69), $(rows 72)"
takes parts "$scratch" ./parts --n=333
# Tiles need none, unless they are too large for local memory. The program knows that, too.
expect tiled-plan 0 '^8388608 0$' planned tiled.df
expect large-plan 0 '^8388608 8388608$' planned tiled.df --gpu-tile=500x500
# shellcheck disable=SC2086
check tiled-compile "$DFC" tiled.df $gpu -o tiled && check large-compile "$DFC" tiled.df $gpu -o large --gpu-tile=500x500
host ./tiled --n=200
takes tiled 0 ./tiled --n=200
takes large "$(planned tiled.df --gpu-tile=500x500 -D n=200 | cut -d' ' -f2)" ./large --n=200
# The emulated GPU that executes the CPU's code takes what a GPU would take; rows that the CPU's code keeps are the host's.
check cpu-code-compile "$DFC" tiled.df --nvcc=none --no-opencl -O0 -o cpu_code && takes cpu-code 0 ./cpu_code --n=200

# Where a long chain reads far, halos of tiles would take longer than memory between its stages: then it has planes, unless a tile is asked for.
chain() {
    echo "kernel make(out p: f32[n, n]) cpu {{ for (size_t i = 0; i < n * n; i++) p[i] = (float)(i * i >> 7 & 255); }};"
    echo "kernel step(in p: f32[h, w] border clamp, out o: f32[h, w]) { o[y, x] = sum(j in -$1..$1 + 1, i in -$1..$1 + 1: p[y + j, x + i]) / 7; }"
    sed -n '/^kernel show/,/^}/p' three.df
    echo "param n = 512 dynamic; graph main { a0: f32[n, n] = make(); $(for k in 0 1 2 3 4 5 6 7; do printf 'a%d = step(a%d) @gpu; ' $((k + 1)) $k; done)show(a8); }"
}
chain 1 >near.df; chain 3 >far.df
expect near-plan 0 '^2097152 0$' planned near.df
expect far-plan 0 '^2097152 7340032$' planned far.df
expect far-asked 0 '^2097152 0$' planned far.df --gpu-tile=8x8
# shellcheck disable=SC2086
check near-compile "$DFC" near.df $gpu -o near && check far-compile "$DFC" far.df $gpu -o far
for reach in near far; do
    host ./$reach --n=60
    takes $reach "$(planned $reach.df -D n=60 | cut -d' ' -f2)" ./$reach --n=60
done

# Work-groups hand results of reductions to each other in scratch: 1024 units of 1024 terms, and what there is in a launch is what is planned, to the byte.
cat >sums.df <<'X'
param n = 1024 dynamic;
kernel make(out p: f32[n, n]) { p[y, x] = (y * 31 + x * 17) % 1009 * 0.1; }
kernel sums(in p: f32[h, w], out o: f64[3]) {
    o[0] = sum(y in 0..h, x in 0..w: p[y, x]) / (h * w);
    o[1] = sum(y in 0..h, x in 0..w: f64(p[y, x])) + max(y in 0..h, x in 0..w: p[y, x]);
    o[2] = argmax(x in 0..w: p[0, x]);
}
kernel rows(in p: f32[h, w], out r: f64[h]) { r[y] = sum(i in 0..h, x in 0..w: f64(p[i, x])) / w - sum(x in 0..w: f64(p[y, x])); }
kernel counts(in p: f32[h, w], out c: i64[w]) { c[x] = argmin(y in 0..h: p[y, x]) + count(y in 0..h if p[y, x] > 5); }
kernel mixed(in p: f32[h, w], out q: f64[h]) { q[y] = sum(x in 0..w: f64(p[y, x])) + max(i in 0..w / 128: p[y, i]); }
kernel scans(in p: f32[h, w], out s: i64[h, w]) { s[y, x] = sum(i in 0..y + 1: i64(p[i, x])); }
kernel show(in o: f64[3], in r: f64[h], in q: f64[h], in c: i64[w], in s: i64[h, w]) cpu {{
    unsigned long bits, all = 0;
    for (size_t i = 0; i < 3 + h; i++) { memcpy(&bits, i < 3 ? &o[i] : &r[i - 3], 8); all = all * 31 + bits; }
    for (size_t i = 0; i < h; i++) { memcpy(&bits, &q[i], 8); all = all * 31 + bits; }
    for (size_t i = 0; i < w; i++) all = all * 31 + (unsigned long)c[i];
    for (size_t i = 0; i < h * w; i++) all = all * 31 + (unsigned long)s[i];
    printf("%lx\n", all);
}};
graph main { p: f32[n, n] = make(); o = sums(p) @cpu; r = rows(p) @cpu; q = mixed(p) @cpu; c = counts(p) @cpu; s = scans(p) @cpu; show(o, r, q, c, s); }
X
cat >used-c++ <<'X'
#!/bin/sh
for last; do :; done
case $last in *_formulas.cpp)
    sed -i -E '1i #include <stdio.h>
s/^( *)const struct df_results (df_at[0-9]+) = .*;$/&\n\1fprintf(stderr, "used %lld\\n", (long long)\2.end);/
s/^( *)const int64_t df_shares = .*df_segment = .*$/&\n\1fprintf(stderr, "used %lld\\n", df_shares > 1 ? (long long)(df_lines * df_shares * 8) : 0);/' "$last" ;;
esac
exec c++ -std=gnu++14 "$@"
X
chmod +x used-c++
for kernel in sums mixed scans $(! long || echo rows counts); do # mixed: one launch of a long reduction and a short one
    sed "s/= $kernel(p) @cpu/= $kernel(p) @gpu/" sums.df >$kernel-gpu.df
    # shellcheck disable=SC2086
    check $kernel-compile env CXX="$PWD/used-c++" "$DFC" $kernel-gpu.df $gpu -o $kernel
    for n in 1024 $([ $kernel = rows ] && echo 17 || echo 300); do
        host ./$kernel --n=$n
        read -r _ scratch <<<"$(planned $kernel-gpu.df -D n=$n)"
        takes $kernel-$n "$scratch" ./$kernel --n=$n
        used=$(sed -n 's/^used //p' out | sort -n | tail -n 1)
        if [ $(((used + 4095) / 4096 * 4096)) = "$scratch" ]; then pass $kernel-used-$n; else fail $kernel-used-$n "$used of $scratch bytes"; fi
    done
done
expect sums-plan 0 ' 16384$' planned sums-gpu.df

# What does not fit is known before. dfc divides a node that then fits, and without a hint it may run on the CPU.
sed 's/ @gpu//g' three.df >free.df
expect too-little 0 "first\+second\+third' fits nowhere: one job of it needs 16777216 bytes, 'gpu0' has 15728640" "$DFC" three.df --device=emu --gpu-mem=15MiB \
    --parts=1 -o refused --nvcc=none
# shellcheck disable=SC2086
check divided-compile "$DFC" three.df --device=emu --gpu-mem=15MiB $gpu -o divided
host ./three
takes divided "$(planned three.df --gpu-mem=15MiB | cut -d' ' -f2)" ./divided --gpu-mem=15MiB
expect enough 0 '^memory .*gpu0 needs 16 MiB .*fits in 16 MiB with 1 wave in flight' "$DFC" partition three.df --device=emu --gpu-mem=16MiB
# shellcheck disable=SC2086
check free-compile "$DFC" free.df $gpu -o free && takes other-place 0 ./free --gpu-mem=15MiB

# Extents that differ from wave to wave: planes for the most that they may be. Waves with no rows are left out.
for chain in 1 2; do
    # shellcheck disable=SC2086
    check bounded-compile$chain "$DFC" "$DF_SOURCE/tests/e2e/programs/bounded/fused.df" $gpu -D chain=$chain --gpu-tile=500x500 -o bounded$chain
    ./bounded$chain --waves=12 --device=none 2>&1 | sort >want
    ./bounded$chain --waves=12 --device=emu --policy=all-gpu 2>&1 | sort >got; same bounded$chain got want
done

# Nothing in GPU code allocates memory, and an access beyond a plane ends the run.
# shellcheck disable=SC2086
check keep "$DFC" three.df $gpu --keep -o kept
expect no-allocation 1 '^$' grep -hE 'alloc|df_ring' kept.dfc/three_formulas.cpp "$DF_SOURCE/runtime/df_formula_gpu.h"
cat >beyond-c++ <<'X'
#!/bin/sh
for last; do :; done
case $last in *_formulas.cpp) sed -i 's/DF_PORT(float, df_ports\[5\]/DF_PORT(float, (float *)df_ports[5] + (1 << 20)/g' "$last" ;; esac
exec c++ -std=gnu++14 "$@"
X
chmod +x beyond-c++
# shellcheck disable=SC2086
check beyond-compile env CXX="$PWD/beyond-c++" "$DFC" three.df $gpu -o beyond
expect beyond 1 "node 'main/first\+second\+third'.* memory of emu0 that it did not declare" ./beyond --device=emu --policy=all-gpu

# Three stencils of 8192 x 8192 and 560 MiB: tokens take 512 MiB of it, so whole planes do not fit. dfc divides the node.
if long; then
    expect large-refused 0 "fits nowhere: one job of it needs 1073741824 bytes, 'gpu0' has 587202560" "$DFC" three.df --device=emu -D n=8192 --gpu-mem=560MiB \
        --parts=1 -o refused --nvcc=none
    # shellcheck disable=SC2086
    check large-divided "$DFC" three.df $gpu --device=emu -D n=8192 --gpu-mem=560MiB -o divided && host ./divided
    takes large-divided "$(planned three.df -D n=8192 --gpu-mem=560MiB | cut -d' ' -f2)" ./divided --gpu-mem=560MiB
    expect tiles-fit 0 'fits in 560 MiB with 1 wave in flight' "$DFC" partition tiled.df --device=emu --policy=all-gpu -D n=8192 --gpu-mem=560MiB
fi
