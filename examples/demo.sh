#!/usr/bin/env bash
# The main job, on real input: demo.sh BUILDDIR OUTDIR. Compiles matrix and photo, draws their partitions, compares the schedules on
# the emulated GPU (and on the real one where there is one), runs photo, checks both results, and says where everything is.
#   PHOTO=picture.png make demo      on a picture of yours (default: one that is made here)
#   DEMO_N=384                       rows of the matrices      DEMO_RUNS=5   runs of each policy
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1"); mkdir -p "$2"; out=$(realpath "$2")
dfc=$build/bin/dfc n=${DEMO_N:-384} runs=${DEMO_RUNS:-5}
say() { printf '\n== %s\n' "$*"; }
host_cc=${CC:-cc}
export DFC_PROFILE=${DFC_PROFILE:-$out/profile.db}   # the demo's own: nothing of it stays in your home

devices=(emu)
if nvidia-smi -L >/dev/null 2>&1; then devices+=(cuda); else echo 'No GPU found: the emulated one stands in for it.'; fi

say "matrix: 38 kernels, 75 dependencies, matrices of $n x $n"
$host_cc -std=c11 -O2 -o "$out/generate" examples/matrix/generate.c
for kind in mm ma; do
    mkdir -p "$out/$kind"; cp examples/matrix/matrix.c examples/matrix/matrix.cu "$out/$kind/"
    "$out/generate" --kind=$kind --n="$n" >"$out/$kind/$kind.df"
    "$dfc" "$out/$kind/$kind.df" -o "$out/$kind/$kind"
done
say 'matrix: measuring each kernel on this machine (dfc profile)'
for kind in mm ma; do "$dfc" profile "$out/$kind/$kind.df" --device=emu --max-time=0.5; done
for kind in mm ma; do
    say "matrix $kind: partition (gp-thesis)"
    "$dfc" partition "$out/$kind/$kind.df" --device=emu --svg="$out/matrix-$kind-partition.svg"
    for device in "${devices[@]}"; do
        say "matrix $kind: schedules on $device"
        "$dfc" compare "$out/$kind/$kind.df" --device=$device --runs="$runs" --csv="$out/matrix-$kind-$device.csv" \
            --svg="$out/matrix-$kind-$device.svg" -- --emu-check=off
    done
    "$out/$kind/$kind" --policy=gp-thesis --device=emu >"$out/$kind/result.txt"
    if command -v python3 >/dev/null; then
        "$dfc" -D n=96 "$out/$kind/$kind.df" -o "$out/$kind/small"
        "$out/$kind/small" --policy=gp-thesis --device=emu >"$out/$kind/small.txt"
        python3 examples/matrix/check.py "$out/$kind/$kind.df" "$out/$kind/small.txt" 96
    fi
done

picture=${PHOTO:-$out/photo-in.png}
if [ -z "${PHOTO:-}" ]; then
    $host_cc -std=c11 -D_GNU_SOURCE -O2 -o "$out/synthetic" examples/photo/synthetic.c $(pkg-config --cflags --libs libpng) -lm
    "$out/synthetic" 1500 1000 1 "$picture"
fi
say "photo: edges of $picture"
"$dfc" examples/photo/photo.df -o "$out/photo"
"$dfc" partition examples/photo/photo.df --device=emu --svg="$out/photo-partition.svg"
for device in "${devices[@]}"; do
    say "photo: schedules on $device"
    "$dfc" compare examples/photo/photo.df --device=$device --runs="$runs" --csv="$out/photo-$device.csv" --svg="$out/photo-$device.svg" \
        -- --emu-check=off --input="$picture" --output="$out/photo-compared.png"
done
rm -f "$out/photo-compared.png"
"$out/photo" --input="$picture" --output="$out/photo-out.png" --device=emu --stats --trace="$out/photo-trace.json"
$host_cc -std=c11 -D_GNU_SOURCE -O2 -o "$out/check" examples/photo/check.c $(pkg-config --cflags --libs libpng) -lm
"$out/check" "$picture" "$out/photo-out.png"

say 'What is where'
cat <<EOT
partitions as pictures    $out/matrix-mm-partition.svg
                          $out/matrix-ma-partition.svg
                          $out/photo-partition.svg
comparison charts         $out/matrix-{mm,ma}-{${devices[*]// /,}}.svg, $out/photo-{${devices[*]// /,}}.svg  (.csv beside them)
photo, in and out         $picture
                          $out/photo-out.png
trace of photo's run      $out/photo-trace.json   (open it in ui.perfetto.dev or chrome://tracing)
programs                  $out/mm/mm  $out/ma/ma  $out/photo   (each has --help)
EOT
