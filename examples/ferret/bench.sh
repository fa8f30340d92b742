#!/usr/bin/env bash
# ferret beside the same search with OpenCV and NumPy (peer.py), whole processes in turns, one and two workers: bench.sh BUILDDIR OUTDIR
#   PEERS=1 installs python3-opencv    RUNS=5    COUNT=1000 WANTED=200 pictures in the index, and looked for    SIDE=128
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); build=$(realpath "$1"); mkdir -p "$2"; cd "$2"
runs=${RUNS:-5} count=${COUNT:-1000} wanted=${WANTED:-200} side=${SIDE:-128}
export DFC_PROFILE=${DFC_PROFILE:-$PWD/profile.db} OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
. "$here/../peers.sh"; . "$here/../turns.sh"
peers python3-opencv
for python in python3 /usr/bin/python3 none; do "$python" -c 'import cv2' 2>/dev/null && break; done
[ "$python" != none ] || echo 'left out: python3-opencv is not installed (PEERS=1 installs it)'
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o synthetic "$here/synthetic.c" $(pkg-config --cflags --libs libpng 2>/dev/null || echo "-I$build/include -L$build/lib -Wl,-rpath,$build/lib -lpng") -lm
rm -rf pictures queries
./synthetic "$count" "$side" 1 pictures; ./synthetic "$wanted" "$side" 2 queries
[ "$python" = none ] || { ls pictures/*.png >pictures.txt; ls queries/*.png >queries.txt; }
"$build/bin/dfc" "$here/index.df" --nvcc=none -w -o index 2>/dev/null
"$build/bin/dfc" "$here/ferret.df" --nvcc=none -w -o ferret 2>/dev/null
"$build/bin/dfc" "$here/ferret.df" --nvcc=none -w -D html=0 -o tables 2>/dev/null
sizes="--h=$side --w=$side --device=none --progress=off" room="--images=$count"
# shellcheck disable=SC2086
ours() { if [ "$1" = index ]; then seconds ./index $sizes --workers="$2"; else seconds "./$1" $sizes $room --workers="$2"; fi; }
theirs() { if [ "$1" = index ]; then seconds "$python" "$here/peer.py" index pictures.txt peer.npz; else seconds "$python" "$here/peer.py" search queries.txt peer.npz peer.csv; fi; }
rm -f times.* scaling.*
for ((i = 0; i < runs; i++)); do
    core=$(core_of $i)
    for program in index tables; do
        [ "$python" = none ] || { on "$core" ours $program 1 >>times.$program; on "$core" theirs $program >>times.peer.$program; }
        scaling $program ours $program
    done
    scaling ferret ours ferret
done
for program in index tables ferret; do
    gain $program
    [ "$python" = none ] || [ $program = ferret ] ||
        printf '    OpenCV, one thread: %.2f s, %.1f x as long as one worker\n' "$(median times.peer.$program)" "$(ratio times.peer.$program times.$program)"
done
