#!/usr/bin/env bash
# nuclei beside the same pipeline in OpenCV, SciPy and scikit-image (tests/baseline/nuclei/pipeline.py): bench.sh BUILDDIR OUTDIR
# Whole processes, in turns, on a PNG of 2048 x 2048 as one tile, and on one of 4096 x 4096 in tiles of 512. Times are medians of RUNS (5) runs, and ratios are
# medians of the rounds' ratios. Programs with one thread are on the same core in a round.
# Then operations beside OpenCV's, called in turns in one process on the same pixels. PEERS=1 installs the libraries by apt. SIDE=4096 doubles all sides.
# PICTURE=file.png takes a picture of yours for both; it is one tile if it has at most SIDE rows and columns.
set -eu
here=$(cd "$(dirname "$0")" && pwd); build=$(realpath "$1"); mkdir -p "$2"; cd "$2"
side=${SIDE:-2048} runs=${RUNS:-5} peer=$here/../../tests/baseline/nuclei
export DFC_PROFILE=${DFC_PROFILE:-$PWD/profile.db} OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
. "$here/../peers.sh"; . "$here/../turns.sh"
peers python3-opencv python3-scipy python3-skimage
for python in python3 /usr/bin/python3 none; do "$python" -c 'import cv2, scipy, skimage' 2>/dev/null && break; done
[ -e "$peer" ] || python=none
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o synthetic "$here/synthetic.c" $(pkg-config --cflags --libs libpng 2>/dev/null || echo "-I$build/include -L$build/lib -Wl,-rpath,$build/lib -lpng") -lm
large=${PICTURE:-large.png}
[ -n "${PICTURE:-}" ] || { ./synthetic "$side" "$side" 1 picture.png; PICTURE=picture.png; ./synthetic $((2 * side)) $((2 * side)) 1 large.png; }
"$build/bin/dfc" "$here/nuclei.df" --nvcc=none -w -o nuclei -D tile="$side" 2>/dev/null
"$build/bin/dfc" "$here/nuclei.df" --nvcc=none -w -o tiles -D tile=$((side / 4)) 2>/dev/null
one_tile() { seconds ./nuclei --device=none --input="$PICTURE" --workers="$1"; }
tiles() { seconds ./tiles --device=none --input="$large" --workers="$1"; }
rm -f times.* scaling.*
for ((i = 0; i < runs; i++)); do
    core=$(core_of $i)
    on "$core" one_tile 1 >>times.one
    [ "$python" = none ] || on "$core" seconds "$python" "$peer/pipeline.py" "$PICTURE" theirs.csv theirs.png >>times.peer
    one_tile 2 >>times.two
    scaling tiles tiles
done
echo "$PICTURE, whole processes: one tile, 1 worker $(median times.one) s, 2 workers $(median times.two) s"
echo "$large, in tiles of $((side / 4)):"
gain tiles
if [ "$python" = none ]; then echo "left out: python3-opencv, python3-scipy or python3-skimage is not installed (PEERS=1 installs them), or $peer is not here"; exit 0; fi
echo "OpenCV, SciPy and scikit-image, 1 thread: $(median times.peer) s, $(ratio times.peer times.one) times as long as 1 worker"
"$build/bin/dfc" "$peer/operations.df" --lib --python --nvcc=none -w -o libfunctions.so 2>said || { cat said >&2; exit 1; }
on "${cores[0]}" "$python" "$peer/operations.py" "$PICTURE"
