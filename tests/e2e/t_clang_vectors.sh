# Which row loops of the filters' formulas clang makes no vectors of, with dfc's flags: those of programs/clang_vectors/scalar.txt, none today. The same of the
# functions of df_math.h. e2e-filters and e2e-formula_code look at gcc's, and tests/bench/filters.sh runs.
version=$(clang -dumpversion 2>/dev/null)
if [ "$(uname -m)" != x86_64 ] || [ "${version%%.*}" -lt 14 ] 2>/dev/null || [ -z "$version" ]; then skip vectors 'no clang here of version 14 or later, for x86-64'; return 0; fi
cp "$DF_SOURCE"/examples/filters/{*.df,follow.c} .
export LISTS=$PWD FORMULA_LEVEL=v3
for filter in harris bilateral sobel $(! long || echo unsharp camera canny); do
    tile=(); case $filter in harris | unsharp | camera) tile=(-D tile=64) ;; esac
    "$DFC" $filter.df --nvcc=none -o none --cc="$programs/cc.sh" --no-cache "${tile[@]}" >$filter.said 2>&1
    cat ${filter}_formulas*.yaml 2>/dev/null | grep -q Vectorized || fail compile-$filter "$(tail -n 3 $filter.said)"
done
python3 "$programs/scalar_loops.py" ./*_formulas*.c >scalar 2>loops
echo "figure clang $version: all but $(wc -l <scalar) formulas of $(cat loops) row loops are vectors"
expect loops 0 '^[1-9][0-9]+$' cat loops
comm -23 scalar "$programs/scalar.txt" >more; same vectors more /dev/null
comm -13 scalar "$programs/scalar.txt" | sed 's/^/figure vectors now, and listed as none: /'

loops=$(grep -cE '^(ONE|TWO|FAR)\(' "$programs/../math/loops.h")
vector_lines loops.h clang -O3 -march=x86-64-v3 -ffp-contract=off -fno-math-errno -fno-trapping-math -I"$DF_BUILD/include" -c -o loops.o -x c \
    "$programs/../math/loops.h" >math
expect math 0 "^$loops$" wc -l <math
