#!/usr/bin/env bash
# nuclei beside the same pipeline in OpenCV, SciPy and scikit-image (tests/baseline/nuclei/pipeline.py): bench.sh BUILDDIR OUTDIR
# Whole processes, in turns, on a PNG of 2048 x 2048 as one tile, and on one of 4096 x 4096 in tiles of 512. Times are medians of RUNS (5) runs. The gain of two
# workers is the median of the ratios of each turn.
# Then operations beside OpenCV's, called in turns in one process on the same pixels. PEERS=1 installs the libraries by apt. SIDE=4096 doubles all sides.
# PICTURE=file.png takes a picture of yours for both; it is one tile if it has at most SIDE rows and columns.
set -eu
here=$(cd "$(dirname "$0")" && pwd); build=$(realpath "$1"); mkdir -p "$2"; cd "$2"
side=${SIDE:-2048} runs=${RUNS:-5} peer=$here/../../tests/baseline/nuclei
export DFC_PROFILE=${DFC_PROFILE:-$PWD/profile.db} OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
. "$here/../peers.sh"
peers python3-opencv python3-scipy python3-skimage
for python in python3 /usr/bin/python3 none; do "$python" -c 'import cv2, scipy, skimage' 2>/dev/null && break; done
[ -e "$peer" ] || python=none
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o synthetic "$here/synthetic.c" $(pkg-config --cflags --libs libpng 2>/dev/null || echo "-I$build/include -L$build/lib -Wl,-rpath,$build/lib -lpng") -lm
large=${PICTURE:-large.png}
[ -n "${PICTURE:-}" ] || { ./synthetic "$side" "$side" 1 picture.png; PICTURE=picture.png; ./synthetic $((2 * side)) $((2 * side)) 1 large.png; }
"$build/bin/dfc" "$here/nuclei.df" --nvcc=none -w -o nuclei -D tile="$side" 2>/dev/null
"$build/bin/dfc" "$here/nuclei.df" --nvcc=none -w -o tiles -D tile=$((side / 4)) 2>/dev/null
seconds() { local start=$EPOCHREALTIME; "$@" >said 2>&1 || { tail -n 3 said >&2; exit 1; }; awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f\n", b - a }'; }
median() { sort -g "times.$1" | awk '{ v[NR] = $1 } END { m = int((NR + 1) / 2); printf "%.3f\n", (v[m] + v[NR + 1 - m]) / 2 }'; }
times() { awk -v a="$1" -v b="$2" -v digits="$3" 'BEGIN { printf "%.*f", digits, a / b }'; }
rm -f times.*
for ((i = 0; i < runs; i++)); do
    for workers in 1 2; do
        seconds ./nuclei --device=none --input="$PICTURE" --workers=$workers >>times.nuclei.$workers
        seconds ./tiles --device=none --input="$large" --workers=$workers >>times.tiles.$workers
    done
    [ "$python" = none ] || seconds "$python" "$peer/pipeline.py" "$PICTURE" theirs.csv theirs.png >>times.peer
done
one=$(median nuclei.1)
echo "$PICTURE, whole processes: one tile, 1 worker $one s, 2 workers $(median nuclei.2) s"
paste times.tiles.1 times.tiles.2 | awk '{ printf "%.2f\n", $1 / $2 }' >times.ratio
echo "$large in tiles of $((side / 4)): 1 worker $(median tiles.1) s, 2 workers $(median tiles.2) s ($(printf %.2f "$(median ratio)") times as fast)"
if [ "$python" = none ]; then echo "left out: python3-opencv, python3-scipy or python3-skimage is not installed (PEERS=1 installs them), or $peer is not here"; exit 0; fi
echo "OpenCV, SciPy and scikit-image, 1 thread: $(median peer) s, $(times "$(median peer)" "$one" 1) times as long as 1 worker"
"$build/bin/dfc" "$peer/operations.df" --lib --python --nvcc=none -w -o libfunctions.so 2>said || { cat said >&2; exit 1; }
"$python" "$peer/operations.py" "$PICTURE"
