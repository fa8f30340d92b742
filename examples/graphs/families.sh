#!/usr/bin/env bash
# Writes graphs of all families into a folder, each with its sizes in it: families.sh OUT. OUT/families.csv says which graph is of which family.
# The same files every time. `make results` simulates them, and `make check-rehearse DIR=OUT` rehearses them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: families.sh OUT" >&2; exit 2; }
mkdir -p "$1"; cd "$1"
cp "$here/study.df" "$here/two.df" .
programs=$(mktemp -d); trap 'rm -rf "$programs"' EXIT
for p in layered workflow ../matrix/generate; do
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O0 -o "$programs/$(basename $p)" "$here/$p.c" -lm
done
echo graph,family >families.csv

add() { echo "$2,$1" >>families.csv; cat >"$2.df"; }                # FAMILY NAME, the graph on standard input
with() { # FILE PARAM=VALUE…: the file with these values
    local file=$1 sets=(); shift
    for set in "$@"; do
        grep -q "^param ${set%%=*} = " "$here/$file" || { echo "families.sh: $file has no param ${set%%=*}" >&2; return 1; }
        sets+=(-e "s/^param ${set%%=*} = [^;]*;/param ${set%%=*} = ${set#*=};/")
    done
    sed "${sets[@]}" "$here/$file"
}
on_two() { sed 's/import "study.df"/import "two.df"/'; }

for kind in ma mm mixed; do for n in 512 1024 2048; do for seed in 1 2 3; do
    { echo 'import "study.df";'; "$programs/generate" --kind=$kind --n=$n --seed=$seed --costs; } | add "thesis $kind" $kind-$n-$seed
done; done; done
for T in 4 8 12; do for f in cholesky lu; do with $f.df T=$T | add factorizations $f-$T; done; done
for T in 4 6 8; do with qr.df T=$T | add factorizations qr-$T; done
for stages in 3 4 5 6; do with fft.df N=$((1 << stages)) stages=$stages | add stencils fft-$((1 << stages)); done
for N in 10 20 40; do for x in 3 10; do with wavefront.df N=$N speedup=$x | add stencils wavefront-$N-$x; done; done
for N in 8 16 32; do with jacobi.df N=$N | add stencils jacobi-$N; done
for strips in 4 8 16 64; do with image.df strips=$strips | add "image pipelines" image-$strips; done
for strips in 4 16; do with image.df strips=$strips size=16000000 | add "image pipelines" image-$strips-large; done
for n in 50 200 1000; do for ccr in 0.1 0.5 2; do for seed in 1 2; do
    "$programs/layered" $n $ccr $seed | add "layered $([ $n -lt 1000 ] && echo '≤ 200' || echo 1000)" layered-$n-$ccr-$seed
done; done; done
for shape in montage epigenomics cybershake ligo genome; do for width in 20 60; do for seed in 1 2; do
    "$programs/workflow" $shape $width $seed | add workflows $shape-$width-$seed
done; done; done
with cholesky.df T=12 | on_two | add "two GPUs" cholesky-12-two
with image.df strips=64 | on_two | add "two GPUs" image-64-two
for n in 200 1000; do "$programs/layered" $n 0.5 1 | on_two | add "two GPUs" layered-$n-0.5-1-two; done
for shape in montage genome; do "$programs/workflow" $shape 60 1 | on_two | add "two GPUs" $shape-60-1-two; done
