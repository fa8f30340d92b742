# What formulas become for GPUs: CUDA C++, which nvcc compiles, and whose bodies run on the emulated GPU (--emu-gpu-code). There they make the bits of
# the CPU's code. Random programs of formulas go the same way: tests/formula/compare.py --modes='--emu-gpu-code --nvcc=none'.
cp "$programs/kernels.df" .
n_kernels=$(grep '^kernel' kernels.df | grep -vc ' cpu {{')

formulas_for none
code='--emu-gpu-code --nvcc=none --no-opencl -O0 -w'
# shellcheck disable=SC2086
check compile "$DFC" kernels.df -o kernels $code --no-fuse --keep # its formulas are in one file then
[ -e kernels ] || return 0
for seed in 3 8; do
    ./kernels --seed=$seed --device=none | sort >cpu-$seed || fail run-cpu "seed $seed"
    ./kernels --seed=$seed --device=emu --policy=all-gpu | sort >gpu-$seed || fail run-gpu "seed $seed"
    same bits-$seed gpu-$seed cpu-$seed
done
expect lines 0 '^16$' grep -c . cpu-3
if cmp -s cpu-3 cpu-8; then fail differs "two seeds have the same hashes"; else pass differs; fi
./kernels --device=emu --policy=all-gpu --stats 2>&1 | awk '/^main/ && $2 == "gpu" { print $1 }' >on-gpu
if [ "$(wc -l <on-gpu)" = "$n_kernels" ]; then pass on-gpu; else fail on-gpu "$(tr '\n' ' ' <on-gpu), not $n_kernels kernels"; fi

# Fused kernels make the same bits there.
# shellcheck disable=SC2086
check compile-fused "$DFC" kernels.df -o fused $code --keep
./fused --seed=3 --device=emu --policy=all-gpu | sort >fused-3 && same bits-fused fused-3 cpu-3
expect fused-on-gpu 0 '^main/[^ ]*\+[^ ]* +gpu ' ./fused --device=emu --policy=all-gpu --stats

# The code that ran there is the CUDA code: with an error planted in it before it is compiled, the bits differ.
cat > planting-c++ <<'X'
#!/bin/sh
for last; do :; done
case $last in *_formulas.cpp) sed -i 's/blur_0, 32, 8, df_up(w, 32), /blur_0, 32, 8, 1, /; s/x = DF_NEXT_X(x, w)/x += w/' "$last" ;; esac
exec c++ -std=gnu++14 "$@"
X
chmod +x planting-c++
{ sed '/^graph main/,$d' kernels.df; echo 'graph main { t: u8[m, n, 3] = make(seed); g = grey(t); b = blur(g); hash2(b, name = "blur"); }'; } >blur.df
# shellcheck disable=SC2086
check planted-compile env CXX="$PWD/planting-c++" "$DFC" blur.df -o planted $code --no-fuse
./planted --seed=3 --device=emu --policy=all-gpu >planted-3 2>&1
if ! grep -qE '^blur [0-9a-f]{16}$' planted-3; then fail planted "$(head -n 3 planted-3)"
elif grep -qxFf planted-3 cpu-3; then fail planted "the bits are the same"; else pass planted; fi

# Without a barrier, items read what others have not written yet. The host finds that if it runs an item's phases one by one, in either order.
cat > racing-c++ <<'X'
#!/bin/sh
for last; do :; done
case $last in *_formulas.cpp)
    awk '/^ *DF_BARRIER\(\);$/ && !cut { cut = 1; n = 0; getline; next } n { print held } { held = $0; n = 1 } END { print held }' "$last" >"$last.cut" &&
        mv "$last.cut" "$last" ;;
esac
exec c++ -std=gnu++14 "$@"
X
chmod +x racing-c++
{ sed '/^graph main/,$d' kernels.df; echo 'graph main { t: u8[m, n, 3] = make(seed); g = grey(t); b = blur(g); c = blur(b); hash2(c, name = "blur"); }'; } >blur2.df
# A group is one launch, and its streams are in local memory.
group() { "$DFC" "$1" "${@:3}" --nvcc=none -w --emit=c | sed -n '/_formulas.cu - made by dfc/,$ { /df_kernel_df_group/,$ p }' >"$2"; }
group blur2.df groups
expect one-launch 0 '^1$' grep -c 'DF_RUN(df_kernel_df_group' groups
expect local 0 'DF_LOCAL.float, df_tile_g, ' cat groups
# Between tiles there is a barrier only if the first phase writes what the last one reads: with one blur more, its stream is where g was.
expect barriers 0 '^2$' grep -c 'DF_BARRIER();' groups
sed 's/hash2(c,/d = blur(c); hash2(d,/' blur2.df >blur3.df
group blur3.df between
expect between-array 0 'DF_LOCAL_IN.float, df_tile_b_2, df_tile_g' cat between
expect between 0 '^4$' grep -c 'DF_BARRIER();' between
# shellcheck disable=SC2086
for order in -1 $(! long || echo 1); do
    check "tiles-compile$order" "$DFC" blur2.df -o tiles$order $code --gpu-tile=4x6 --cflags=-DDF_RACES=$order
    check "race-compile$order" env CXX="$PWD/racing-c++" "$DFC" blur2.df -o race$order $code --gpu-tile=4x6 --cflags=-DDF_RACES=$order
    ./tiles$order --seed=3 --device=none >blur2.out
    ./tiles$order --seed=3 --device=emu --policy=all-gpu >tiles.out
    ./race$order --seed=3 --device=emu --policy=all-gpu >race.out
    if ! cmp -s tiles.out blur2.out; then fail "tiles$order" "$(head -n 1 tiles.out), not $(head -n 1 blur2.out)"; else pass "tiles$order"; fi
    if cmp -s race.out blur2.out; then fail "race$order" "the bits are the same"; else pass "race$order"; fi
done

# Of many stages one item finds the regions of a tile, which the others take from local memory, behind a barrier.
chain='b = blur(g)'; last=b; for k in 1 2 3 4 5 6 7 8; do chain+="; b$k = blur($last)"; last=b$k; done
{ sed '/^graph main/,$d' kernels.df; echo "graph main { t: u8[m, n, 3] = make(seed); g = grey(t); $chain; hash2($last, name = \"blur\"); }"; } >blur9.df
# shellcheck disable=SC2086
check regions-compile "$DFC" blur9.df -o blur9 $code --gpu-tile=8x8 --cflags=-DDF_RACES=-1
group blur9.df regions --gpu-tile=8x8
cat > early-c++ <<'X'
#!/bin/sh
for last; do :; done
case $last in *_formulas.cpp)
    awk '/DF_PHASE if \(DF_ITEM == 0\)/ { sub(/DF_PHASE/, "DF_PHASE {"); at = 1 } at == 1 && /DF_BARRIER/ { at = 2; next } at == 2 && sub(/DF_PHASE/, "") { at = 3 }
         at == 3 && sub(/DF_BARRIER/, "} DF_BARRIER") { at = 0 } { print }' "$last" >"$last.cut" && mv "$last.cut" "$last" ;;
esac
exec c++ -std=gnu++14 "$@"
X
chmod +x early-c++
# shellcheck disable=SC2086
check regions-race-compile env CXX="$PWD/early-c++" "$DFC" blur9.df -o race9 $code --gpu-tile=8x8 --cflags=-DDF_RACES=-1
expect regions 0 'DF_LOCAL.struct df_span, df_regions, 40' cat regions
for place in none emu; do ./blur9 --seed=3 --device=$place $([ $place = none ] || echo --policy=all-gpu) >blur9-$place; done
same regions-bits blur9-emu blur9-none
./race9 --seed=3 --device=emu --policy=all-gpu >race9.out
if cmp -s race9.out blur9-none; then fail regions-race "the bits are the same"; else pass regions-race; fi

# Reductions, histograms and scans that work-groups share: with the sizes of a test, and with those of a run, where one item is a work-group. The CPU's code of these
# files is not in e2e-formulas.
cases=(reductions values histograms chains) sizes='-O0 --emu-gpu-code --gpu-tile=6x9 --cflags=-DDF_RACES=-1'; ! long || { cases+=(sums accs ranged long); sizes+=';-O0 --emu-gpu-code'; }
as_is python3 "$DF_SOURCE/tests/formula/compare.py" "$DF_BUILD" --quick --plain --cpu --modes="$sizes" --cases $(printf "$DF_SOURCE/tests/formula/cases/%s.df " "${cases[@]}") || failures=1

# A whole picture that becomes one number, a histogram or a running sum: many work-groups, and the CPU's bits. The table of docs/results/gpu.md is what it says.
table() { python3 "$DF_SOURCE/tests/bench/gpu/reductions.py" "$DF_BUILD" --rows="$1" >"table-$1"; }
if table 300 && [ "$(grep -c '| the same |$' table-300)" = 6 ] && grep -q '^| sum of f32 | 19, 1 | ' table-300; then pass pictures; else fail pictures "$(tail -n 3 table-300)"; fi
if long; then
    table 8192 || fail large "$(tail -n 3 table-8192)"
    while read -r line; do
        if grep -qF "${line% the same |}" "$DF_SOURCE/docs/results/gpu.md"; then pass "large-${line:2:10}"; else fail "large-${line:2:10}" "docs/results/gpu.md has no '$line'"; fi
    done < <(tail -n +3 table-8192)
fi

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -z "$nvcc" ] || [ ! -e "$DF_BUILD/lib/libdf-cuda.a" ]; then skip nvcc "no nvcc here, or dfc without CUDA"; return 0; fi
if long; then
    check nvcc "$DFC" kernels.df -o cuda --nvcc="$nvcc" --gpu-arch=sm_80 --no-opencl --keep -O0 -w
    cat cuda.dfc/kernels_formulas*.ptx >ptx
else
    DF_NVCC=$nvcc "$DFC" kernels.df -o cuda --nvcc="$DF_SOURCE/tests/gpu/nvcc_ptx.sh" --gpu-arch=sm_80 --no-opencl --keep -O0 -w >nvcc.said 2>&1   # it does not link
    check nvcc cp cuda.dfc/kernels_formulas.cu.o ptx
fi
# Nothing is contracted, flushed or approximated.
if [ "$(grep -c '\.entry' ptx)" -ge "$n_kernels" ] && ! grep -E 'fma\.rn\.f(32|64)|(div|sqrt)\.approx|div\.full|\.ftz' ptx >wrong; then pass exact
else fail exact "$(head -n 2 wrong)"; fi
# nvcc makes min and max of choices as if there were one zero, and for the GPU -0 is less than 0. So it shall make none of real numbers: those that
# there are stand in the assembly of df_formula.h.
if ! python3 "$DF_SOURCE/tests/gpu/report.py" --ptx=ptx >wrong; then fail zeros "$(tr '\n' ' ' <wrong)"
elif sed '/begin inline asm/,/end inline asm/d' ptx >own && grep -q 'selp\.f32' own && grep -q 'selp\.f64' own; then pass zeros
else fail zeros "there are no choices"; fi
sed 's/begin inline asm/begin/' ptx >planted.ptx
expect zeros-planted 1 '(min|max)[a-z.]*\.f(32|64)' python3 "$DF_SOURCE/tests/gpu/report.py" --ptx=planted.ptx
long || return 0
./cuda --device=none --seed=3 | sort >cuda-cpu
same cuda-on-cpu cuda-cpu cpu-3
