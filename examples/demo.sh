#!/usr/bin/env bash
# The main job, on real input: demo.sh BUILDDIR OUTDIR. Finds the nuclei in a picture of tissue and compares the schedules of that, compiles
# matrix and photo, draws their partitions, compares the schedules on the emulated GPU (and on a real one if there is one), rehearses the thesis's graphs on the platform that they are studied on, runs photo,
# checks the results, and says where everything is.
#   PHOTO=picture.png TISSUE=stained.png make demo      on pictures of yours (default: some that are made here)
#   DEMO_N=384  DEMO_WAVES=5  DEMO_RUNS=3    rows of the matrices, waves in a run, runs of each policy that are for real
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1") out=$2; mkdir -p "$out"
dfc=$build/bin/dfc n=${DEMO_N:-384} runs=${DEMO_RUNS:-3} waves=${DEMO_WAVES:-5}
say() { printf '\n== %s\n' "$*"; }
host_cc=${CC:-cc}
export DFC_PROFILE=${DFC_PROFILE:-$(realpath "$out")/profile.db}   # the demo's own: nothing of it stays in your home

devices=(emu)
if nvidia-smi -L >/dev/null 2>&1; then
    devices+=(cuda)
else
    export NVCC=${NVCC:-none}           # it takes a while to compile CUDA code for all architectures, and none of it would run
    echo 'No GPU found: the emulated one stands in for it, and CUDA code is not compiled (NVCC=nvcc does).'
fi

png=$(pkg-config --cflags --libs libpng 2>/dev/null || echo "-I$build/include -L$build/lib -Wl,-rpath,$build/lib -lpng")
tissue=${TISSUE:-$out/nuclei-in.png}
if [ -z "${TISSUE:-}" ]; then
    # shellcheck disable=SC2086
    $host_cc -std=c11 -D_GNU_SOURCE -O2 -o "$out/tissue" examples/nuclei/synthetic.c $png -lm
    "$out/tissue" 1500 1000 1 "$tissue"
fi
say "nuclei: what lies in $tissue, as a picture and as a table"
"$dfc" examples/nuclei/nuclei.df -o "$out/nuclei" -D tile=512 --nvcc=none
"$out/nuclei" --input="$tissue" --overlay="$out/nuclei-out.png" --table="$out/nuclei.csv" --device=emu --stats=totals
head -n 4 "$out/nuclei.csv" | cut -d, -f1-11
say 'nuclei: schedules (emu), run for real'
"$dfc" compare examples/nuclei/nuclei.df -D tile=512 --nvcc=none --device=emu --runs="$runs" --csv="$out/nuclei-emu.csv" --svg="$out/nuclei-emu.svg" -- \
    --emu-check=off --input="$tissue" --overlay="$out/nuclei-compared.png" --table="$out/nuclei-compared.csv"
rm -f "$out/nuclei-compared.png" "$out/nuclei-compared.csv"

say "matrix: 38 kernels, 75 dependencies, matrices of $n x $n"
$host_cc -std=c11 -O2 -o "$out/generate" examples/matrix/generate.c
for kind in mm ma; do
    mkdir -p "$out/$kind"; cp examples/matrix/matrix.c examples/matrix/matrix.cu "$out/$kind/"
    "$out/generate" --kind=$kind --n="$n" >"$out/$kind/$kind.df"
done
shown() { # GRAPH PICTURES [program's options]: measure its kernels, draw the partitions, compare the schedules, on each device
    local graph=$1 pictures=$2 device policy; shift 2
    for device in "${devices[@]}"; do
        say "$(basename "$pictures"): measuring each kernel on this machine (dfc profile, $device)"
        "$dfc" profile "$graph" --device="$device" --max-time=0.5 -- "$@"
        for policy in gp gp-thesis; do
            say "$(basename "$pictures"): partition by $policy ($device)"
            "$dfc" partition "$graph" --policy=$policy --device="$device" --svg="$pictures-partition-$policy-$device.svg"
        done
        say "$(basename "$pictures"): schedules ($device), run for real"
        "$dfc" compare "$graph" --device="$device" --runs="$runs" --waves="$waves" --csv="$pictures-$device.csv" \
            --svg="$pictures-$device.svg" -- --emu-check=off "$@"
    done
}

for kind in mm ma; do
    shown "$out/$kind/$kind.df" "$out/matrix-$kind"
    "$dfc" "$out/$kind/$kind.df" -o "$out/$kind/$kind"
    if command -v python3 >/dev/null; then
        "$dfc" -D n=96 "$out/$kind/$kind.df" -o "$out/$kind/small"
        "$out/$kind/small" --policy=gp-thesis --device=emu >"$out/$kind/small.txt"
        python3 examples/matrix/check.py "$out/$kind/$kind.df" "$out/$kind/small.txt" 96
    fi
done

# What no machine without a GPU can show by running: the schedules themselves, on the described platform of examples/graphs/study.df. One run of each is enough:
# a rehearsal takes as long again.
for kind in ma mm; do
    rehearsed=$out/rehearsed/thesis-$kind
    mkdir -p "$out/rehearsed"; cp examples/graphs/study.df "$out/rehearsed/"
    { echo 'import "study.df";'; "$out/generate" --kind=$kind --n=1024 --costs; } >"$rehearsed.df"
    say "thesis-$kind: the thesis's graph of 1024 x 1024, rehearsed on its platform: 3 CPU workers, a GPU of 1.1 TF/s, 10 GB/s"
    "$dfc" compare "$rehearsed.df" --rehearse --runs=1 --csv="$rehearsed.csv" --svg="$rehearsed.svg"
done

picture=${PHOTO:-$out/photo-in.png}
if [ -z "${PHOTO:-}" ]; then
    # shellcheck disable=SC2086
    $host_cc -std=c11 -D_GNU_SOURCE -O2 -o "$out/synthetic" examples/photo/synthetic.c $png -lm
    "$out/synthetic" 1500 1000 1 "$picture"
fi
waves=1000                             # as many as the picture has tiles
shown examples/photo/photo.df "$out/photo" --input="$picture" --output="$out/photo-compared.png"
rm -f "$out/photo-compared.png"
say "photo: edges of $picture"
"$dfc" examples/photo/photo.df -o "$out/photo"
"$out/photo" --input="$picture" --output="$out/photo-out.png" --device=emu --stats --trace="$out/photo-trace.json"
# shellcheck disable=SC2086
$host_cc -std=c11 -D_GNU_SOURCE -O2 -o "$out/check" examples/photo/check.c $png -lm
"$out/check" "$picture" "$out/photo-out.png"

say 'What is where'
cat <<EOT
partitions as pictures    $(printf '%s ' "$out"/*-partition-*.svg)
comparison charts         $(printf '%s\n' "$out"/*.svg | grep -v partition | tr '\n' ' ')
predicted and rehearsed   $(printf '%s ' "$out"/rehearsed/*.svg)
                          (the figures of both as .csv beside them)
nuclei, in and out        $tissue
                          $out/nuclei-out.png   $out/nuclei.csv
photo, in and out         $picture
                          $out/photo-out.png
trace of photo's run      $out/photo-trace.json   (open it in ui.perfetto.dev or chrome://tracing)
programs                  $out/mm/mm  $out/ma/ma  $out/photo   (each has --help)
EOT
