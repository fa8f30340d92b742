#!/bin/bash
# lines.sh: the lines that a user writes, with dfc and by hand with CUDA and pthreads. Empty lines and comments do not count.
cd "$(dirname "$0")/../.." || exit 1
code() { # FILE…: their lines of code
    cat "$@" | sed -e 's,/\*.*\*/,,' -e '/^ *\/\*/,/\*\//d' -e 's,//.*,,' | grep -c '[^[:space:]]'
}
row() { # WHAT DFC HAND
    awk -v what="$1" -v a="$2" -v b="$3" 'BEGIN { printf "%-58s %5d %5d  %5.1f %% fewer\n", what, a, b, 100 * (1 - a / b) }'
}
part() { # FILE FIRST-SECTION NEXT-SECTION: the lines between two heads `// ---- NAME ----`
    sed -n "/^\/\/ ---- $2/,/^\/\/ ---- $3/p" "$1"
}
printf '%-58s %5s %5s\n' '' dfc 'by hand'
ct=examples/ct hand=tests/baseline/ct/ct.cu
shared=$(code $ct/kernels/{filter,backproject}.{c,cu} $ct/kernels/geometry.c)
dfc=$(code $ct/ct.df $ct/kernels.df $ct/kernels/rct.c) by_hand=$(code $hand)
row 'ct: all' $((dfc + shared)) $((by_hand + shared))
row 'ct: without filter and back-projection, which both have' "$dfc" "$by_hand"
row 'ct: the .df files, beside all but files and results' "$(code $ct/ct.df $ct/kernels.df)" "$(part $hand 'batches of views' 'results' | code -)"
formula=$(code $ct/formula.df $ct/kernels.df $ct/kernels/rct.c $ct/kernels/geometry.c $ct/kernels/filter.c $ct/kernels/filter.cu)
row 'ct: all, with back-projection as a formula (formula.df)' "$formula" $((by_hand + shared))
matrix=tests/baseline/matrix/matrix.cu graph=$(mktemp -d)
cc -std=c11 -O2 -o "$graph/generate" examples/matrix/generate.c && "$graph/generate" --kind=mixed >"$graph/mixed.df"
shared=$(code examples/matrix/matrix.c examples/matrix/matrix.cu) dfc=$(code "$graph/mixed.df") by_hand=$(code $matrix)
row 'matrix: all' $((dfc + shared)) $((by_hand + shared))
row 'matrix: the graph, without the kernels, which both have' "$dfc" "$by_hand"
rm -r "$graph"
