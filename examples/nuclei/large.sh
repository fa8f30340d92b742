#!/usr/bin/env bash
# nuclei on many large tiles with little device memory, beside what is predicted: large.sh BUILDDIR OUTDIR
# Measures the kernels here, alone and beside others, simulates the run, then runs it on the emulated GPU. The last lines say how long it took beside the
# prediction, and how much memory it had. Nothing else should run meanwhile. 100 tiles need 2.5 GB in OUTDIR. What was measured stays there in large.db,
# and the next run takes it. The status is 1 if the run took a tenth longer than predicted.
#   TILES=100 SIDE=4096 MEMORY=1GiB INFLIGHT=4 POLICY=dmda
set -eu
here=$(cd "$(dirname "$0")" && pwd); build=$(realpath "$1"); mkdir -p "$2"; cd "$2"
tiles=${TILES:-100} side=${SIDE:-4096} memory=${MEMORY:-1GiB} inflight=${INFLIGHT:-4} policy=${POLICY:-dmda}
export DFC_PROFILE=$PWD/large.db
dfc=$build/bin/dfc graph=("$here/nuclei.df" --device=emu -w -D "tile=$side" -D list=1)
run=(--device=emu "--gpu-mem=$memory" --overlay=large%03d.png --table=large.csv)
trap 'rm -f large[0-9]*.png' EXIT

# shellcheck disable=SC2046
${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o synthetic "$here/synthetic.c" $(pkg-config --cflags --libs libpng 2>/dev/null || echo "-I$build/include -L$build/lib -Wl,-rpath,$build/lib -lpng") -lm
./synthetic "$side" "$side" 1 large-tile.png
for ((i = 0; i < tiles; i++)); do echo large-tile.png; done >large.txt
head -n 3 large.txt >few.txt
if [ ! -e large.db ]; then
    "$dfc" probe --device=emu --quick >/dev/null
    "$dfc" profile --loaded "${graph[@]}" --nvcc=none --gpu-mem="$memory" --max-time=0.3s -- --input=@few.txt "${run[@]}" >profile.txt 2>&1
fi
"$dfc" "${graph[@]}" --nvcc=none -o large 2>/dev/null
"$dfc" simulate "${graph[@]}" --gpu-mem="$memory" --waves="$tiles" --inflight="$inflight" --policy="$policy" --format=csv |
    tail -n 1 | cut -d, -f4 >predicted

./large --policy="$policy" --inflight="$inflight" --input=@large.txt "${run[@]}" --stats >large.log 2>&1 &
while [ -r "/proc/$!/status" ]; do
    while read -r key kib _; do if [ "$key" = VmRSS: ]; then echo $((kib / 1024)); fi; done <"/proc/$!/status" || break
    sleep 1
done 2>/dev/null >resident.txt
wait $!
grep -E '^(policy|waves in flight|makespan|memory +pool|emu0 .*GiB.* [0-9]+ +[0-9]+$)' large.log
awk 'FNR == NR { n = FNR; next } { half = FNR <= n / 2; if ($1 > most[half]) most[half] = $1 }
     END { printf "host memory: %d MiB at most in the first half of the run, %d MiB in the second\n", most[1], most[0] }' resident.txt resident.txt
awk '/^makespan/ { print $2 }' large.log | paste - predicted | awk -v n="$tiles" '
    { printf "%d tiles: %.1f s, predicted %.1f s: %.2f times as long; %.2f s a tile\n", n, $1, $2, $1 / $2, $1 / n; exit $1 > 1.1 * $2 }'
