#!/usr/bin/env bash
# nbia beside the same analysis with scikit-image, whole processes in turns, one and two workers, on a TIFF without compression: bench.sh BUILDDIR OUTDIR
#   PEERS=1 installs python3-skimage    RUNS=5    SIZE=4096x3072
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dfc=$(realpath "$1")/bin/dfc; mkdir -p "$2"; cd "$2"
runs=${RUNS:-5} size=${SIZE:-4096x3072}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
. "$here/../peers.sh"
peers python3-skimage
peer=; /usr/bin/python3 -c 'import skimage' 2>/dev/null && peer=1 || echo 'scikit-image (python3-skimage) is not here, so it is left out'
${CC:-cc} -std=c11 -O2 -o synthetic "$here/synthetic.c" -lpng -ltiff -lm
./synthetic ${size/x/ } 512 1 slide.tif slide.raw
for program in train nbia; do "$dfc" "$here/$program.df" --nvcc="${NVCC:-none}" -D tiff=1 -o $program; done
./train --input=slide.tif --progress=off

seconds() { local from=$EPOCHREALTIME; "$@" >/dev/null; awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'; }
median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
rm -f times.*
for _ in $(seq "$runs"); do
    for workers in 1 2; do
        seconds ./nbia --input=slide.tif --rate=1 --workers=$workers --device=none --progress=off >>times.nbia.$workers
        [ -z "$peer" ] || seconds /usr/bin/python3 "$here/peer.py" slide.tif 512 $workers >>times.peer.$workers
    done
done
for workers in 1 2; do
    ours=$(median times.nbia.$workers)
    if [ -n "$peer" ]; then
        theirs=$(median times.peer.$workers)
        awk -v w=$workers -v a="$ours" -v b="$theirs" 'BEGIN { printf "workers %d: nbia %.3f s, scikit-image %.2f s: %.1f x as fast\n", w, a, b, b / a }'
    else echo "workers $workers: nbia $ours s"; fi
done
paste times.nbia.1 times.nbia.2 | awk '{ print $1 / $2 }' >times.ratio
printf 'two workers: %.2f x as fast as one\n' "$(median times.ratio)"
