#!/bin/bash
# lines.sh: the lines that a user writes, with dfc and by hand with CUDA and pthreads. Empty lines and comments do not count.
cd "$(dirname "$0")/../.." || exit 1
code() { # FILE…: their lines of code
    cat "$@" | sed -e 's,/\*.*\*/,,' -e '/^ *\/\*/,/\*\//d' -e 's,//.*,,' | grep -c '[^[:space:]]'
}
row() { # WHAT DFC HAND
    awk -v what="$1" -v a="$2" -v b="$3" 'BEGIN { printf "%-58s %5d %5d  %5.1f %% fewer\n", what, a, b, 100 * (1 - a / b) }'
}
by_hand() { # FILE…: their lines of code, without those that put the emulated GPU in the place of CUDA
    code <(sed -e '/^#ifdef __CUDACC__/d' -e '/^#else/,/^#endif/d' "$@")
}
printf '%-58s %5s %5s\n' '' dfc 'by hand'
ct=examples/ct hand=tests/baseline/ct
# By hand the filter is needed, too, but cuFFT would be linked and not found at run time.
filter=$(code runtime/std/fft.c <(sed -e '/^enum { CUFFT/,/^};/d' -e '/^template/,/^}/d' -e '/^static bool find_cufft/,/^}/d' -e '/if (!find_cufft/,/^    }/d' runtime/std/fft.cu))
by_hand=$(by_hand $hand/ct.cu) all=$(($(by_hand $hand/ct.cu) + $(code $hand/backproject.{c,cu} $hand/geometry.c) + filter))
row 'ct: all' "$(code $ct/ct.df $ct/kernels.df)" "$all"
row 'ct: all, geometry, filter, back-projection from a library' "$(code $ct/ct.df $ct/kernels.df)" "$by_hand"
matrix=examples/matrix hand=tests/baseline/matrix/matrix.cu graphs=$(mktemp -d)
cc -std=c11 -O2 -o "$graphs/generate" $matrix/generate.c
"$graphs/generate" --kind=mixed >"$graphs/mixed.df"
"$graphs/generate" --kind=mixed --std >"$graphs/std.df"
kernels=$(code $matrix/matrix.c $matrix/matrix.cu) by_hand=$(by_hand $hand)
# By hand cuBLAS would be linked, so neither its prototype nor the kernel in place of it is needed.
linked=$(code $matrix/matrix.c <(sed -e '/^enum { SIDE/d' -e '/^static __global__ void multiply/,/^}/d' -e '/^typedef int sgemm/,/;/d' -e '/static int told/d' \
    -e '/unsigned tiles/d' -e '/sgemm \*product/d' -e '/if (!product) {/,/^    }/d' $matrix/matrix.cu))
row 'matrix: all' "$(code "$graphs/std.df" $matrix/kernels.df)" $((by_hand + linked))
row 'matrix: all, with the same kernels in C and CUDA' $(($(code "$graphs/mixed.df") + kernels)) $((by_hand + kernels))
row 'matrix: the graph, without the kernels, which both have' "$(code "$graphs/mixed.df")" "$by_hand"
rm -r "$graphs"
