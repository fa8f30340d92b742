# What formulas become for OpenCL devices: OpenCL C, the same text as for CUDA by other macros, which makes the bits of the CPU's code. Random programs of formulas
# go the same way: tests/formula/compare.py --modes=device=opencl.
if "$DFC" doctor --quick | grep -q 'built without OpenCL'; then skip formula-opencl "this dfc was built without OpenCL's headers"; exit 0; fi
export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable  # else PoCL takes seconds for a kernel with barriers
cp "$programs/words.df" .
# All sizes take the ways of large ones. The driver finds no headers, so the text includes none. Where it computes with f64 it says so.
check compile "$DFC" words.df -o words --nvcc=none -O0 -w --keep --cflags=-DDF_RACES=-1
expect no-headers 1 '^$' grep -E '^#include <df_(formula|formula_gpu|math|strips|opencl_c).h>' words.dfc/words_formulas.cl
expect needs-fp64 0 'DF_CL_EXACT \| DF_CL_FP64 ' cat words.dfc/words_formulas_opencl.c
own=$(grep -n '^#line .*words_formulas.cl"' words.dfc/words_formulas.cl | head -n 1)
if [[ $own == "${own%%:*}:#line $((${own%%:*} + 1)) \"words_formulas.cl\"" ]]; then pass lines; else fail lines "$own"; fi
# With an error planted in the text, for later.
cat >planting-cc <<'X'
#!/bin/sh
for last; do :; done
case $last in *_formulas_opencl.c) sed -i 's/ \* 9\.0f);/ * 8.0f);/' "$last" ;; esac
exec cc "$@"
X
chmod +x planting-cc
sed '/^kernel ends/,/^}/d; /ends(b/d; /show(/d; /^kernel running/d; /running(/d; /"running"/d' words.df >planted.df
check planted-compile env CC="$PWD/planting-cc" "$DFC" planted.df -o planted --nvcc=none -O0 -w --keep
expect needs-no-fp64 0 '\.needs = DF_CL_EXACT }' cat planted.dfc/planted_formulas_opencl.c

have_opencl formula-opencl || exit 0
./words --device=none | sort >expected
./words --device=opencl --policy=all-gpu --stats 2>&1 | tee stats | sort >out
expect on-gpu 0 '^[a-z_+#0-9]+ +gpu +1 ' cat stats
if [ "$(wc -l <expected)" = 4 ] && [ "$(grep -xFcf expected out)" = 4 ]; then pass bits; else fail bits "$(head -n 9 out)"; fi
# What ran is the text.
./planted --device=opencl --policy=all-gpu >planted.out 2>&1
if ! grep -q '^edges [0-9a-f]' planted.out; then fail planted "$(head -n 3 planted.out)"
elif grep -qxFf planted.out <(grep edges expected); then fail planted "the bits are the same"; else pass planted; fi

long || exit 0
# Kernels of every shape, fused and not; cases, and random programs.
cp "$here/programs/formula_gpu/kernels.df" .
for how in '' --no-fuse; do
    check "kernels-compile$how" "$DFC" kernels.df -o kernels --nvcc=none -O1 -w $how
    ./kernels --seed=3 --device=none | sort >cpu && ./kernels --seed=3 --device=opencl --policy=all-gpu | sort >gpu && same "kernels$how" gpu cpu
done
ulimit -s 262144                               # PoCL keeps what all items of a work-group compute on the stack, and with these flags every value
modes='device=opencl;device=opencl -O0 --cflags=-DDF_RACES=-1 --gpu-tile=4x7'
python3 "$DF_SOURCE/tests/formula/compare.py" "$DF_BUILD" --plain --modes="$modes" --cases "$DF_SOURCE"/tests/formula/cases/*.df || failures=1
python3 "$DF_SOURCE/tests/formula/compare.py" "$DF_BUILD" --plain --modes="$modes" --programs=250 --first=5000 || failures=1
# As PoCL compiles by default.
unset POCL_EXTRA_BUILD_FLAGS
DFC_CACHE=none ./words --device=opencl --policy=all-gpu | sort >out; same optimised out expected   # the cache does not know these flags
