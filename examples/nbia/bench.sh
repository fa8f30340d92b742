#!/usr/bin/env bash
# nbia beside the same analysis with scikit-image, whole processes in turns, one and two workers, on a TIFF without compression: bench.sh BUILDDIR OUTDIR
#   PEERS=1 installs python3-skimage    RUNS=5    SIZE=4096x3072
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dfc=$(realpath "$1")/bin/dfc; mkdir -p "$2"; cd "$2"
runs=${RUNS:-5} size=${SIZE:-4096x3072}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
. "$here/../peers.sh"; . "$here/../turns.sh"
peers python3-skimage
peer=; /usr/bin/python3 -c 'import skimage' 2>/dev/null && peer=1 || echo 'scikit-image (python3-skimage) is not here, so it is left out'
${CC:-cc} -std=c11 -O2 -o synthetic "$here/synthetic.c" -lpng -ltiff -lm
./synthetic ${size/x/ } 512 1 slide.tif slide.raw
for program in train nbia; do "$dfc" "$here/$program.df" --nvcc="${NVCC:-none}" -D tiff=1 -o $program; done
./train --input=slide.tif --progress=off

ours() { seconds ./nbia --input=slide.tif --rate=1 --workers="$1" --device=none --progress=off; }
theirs() { seconds /usr/bin/python3 "$here/peer.py" slide.tif 512 "$1"; }
rm -f times.* scaling.*
for ((i = 0; i < runs; i++)); do
    core=$(core_of $i)
    on "$core" ours 1 >>times.nbia.1; [ -z "$peer" ] || on "$core" theirs 1 >>times.peer.1
    ours 2 >>times.nbia.2; [ -z "$peer" ] || theirs 2 >>times.peer.2
    scaling nbia ours
done
for workers in 1 2; do
    printf 'workers %d: nbia %.3f s' $workers "$(median times.nbia.$workers)"
    [ -z "$peer" ] || printf ', scikit-image %.2f s: %.1f x as fast' "$(median times.peer.$workers)" "$(ratio times.peer.$workers times.nbia.$workers)"
    echo
done
gain nbia
