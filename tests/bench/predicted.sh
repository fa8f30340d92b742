#!/usr/bin/env bash
# Predicted against measured makespan of examples/matrix and examples/photo, a line for each policy:
#     predicted.sh BUILDDIR [OUT] [emu|cuda]
# In each of three rounds, and for each graph, it measures links and kernels (dfc probe, dfc profile), simulates with what was measured, and
# then runs for real (dfc compare), in turns. A virtual machine's cores may be moved at any time to where they share caches, or do not
# (distance.c). That changes what memory does, so a prediction is compared with the runs that follow it at once. If the cores were moved
# meanwhile, that graph's round is done again.
#   RUNS=7 MA=1024 MM=384 WAVES=5 PICTURE=1024 POLICIES=eager,…   counted runs (at least), rows of the matrices of either kind and
#                waves of them, pixels a side
#   GRAPHS=ma    some of ma, mm, photo
#   ROUNDS=3     among which the runs are divided
#   TRIES=3      a graph's round is done so often at most
#   WORKERS=1    CPU workers. The emulated GPU computes and copies on the host's cores: leave it one of these at least
#   GPU_JOBS=N   jobs in flight on the GPU, if not what dfc probe says
#   LOADED=0     kernels are measured alone only, so that no simulated job slows another
#   PROGRAM=--guard=off      options of the measured runs: this one keeps gp to its plan whatever the times turn out to be
#   NVCC=none    leaves the gpu variants out; the emulated GPU needs none
# Runs without --policy are measured, too: they say which of the policies is the default. Writes predicted.csv and predicted.md in OUT.
# The machine should be idle: a core that is taken away for a while makes jobs longer than they were when they were measured, which the
# column `jobs` shows.
set -euo pipefail
cd "$(dirname "$0")/../.."
dfc=$(realpath "$1")/bin/dfc out=${2:-build/results/predicted} device=${3:-emu}
loaded=(--loaded); [ "${LOADED:-1}" = 0 ] && loaded=()
rounds=${ROUNDS:-3} runs=$(((${RUNS:-7} + rounds - 1) / rounds)) picture=${PICTURE:-1024} tile=256
rm -rf "$out"; mkdir -p "$out/photo"; out=$(realpath "$out")
export OPENBLAS_NUM_THREADS=1 CCACHE_DISABLE=1
matrices=() nvcc=(); [ "${NVCC:-}" = none ] && nvcc=(--nvcc=none)
policies=${POLICIES:-$("$dfc" simulate examples/sum/sum.df --platform=examples/graphs/study.df --format=csv | tail -n +2 | cut -d, -f3 |
    grep -xE 'eager|ws|dmda|dmdas|pats|heft|peft|gp-thesis|gp|all-cpu|all-gpu' | paste -sd,)}

cc -std=c11 -O2 -o "$out/generate" examples/matrix/generate.c
cc -std=c11 -O2 -pthread -o "$out/distance" tests/bench/distance.c
cc -std=c11 -D_GNU_SOURCE -O2 -o "$out/synthetic" examples/photo/synthetic.c -lpng -lm
cp examples/photo/photo.df "$out/photo/"
"$out/synthetic" "$picture" "$picture" 7 "$out/photo/in.png"

graphs=${GRAPHS:-ma mm photo} photo=
[[ $graphs == *photo* ]] && photo=photo
for kind in ${graphs/photo/}; do for n in $(tr , ' ' <<<"$([ "$kind" = ma ] && echo "${MA:-1024}" || echo "${MM:-384}")"); do
    mkdir -p "$out/$kind-$n"; cp examples/matrix/matrix.c examples/matrix/matrix.cu "$out/$kind-$n/"
    "$out/generate" --kind=$kind --n="$n" >"$out/$kind-$n/graph.df"
    matrices+=("$kind-$n")
done; done

# FILE: while something is measured, twice a second how many ns a cache line takes from core to core. A look takes some ms.
watcher=
watch_cores() { while :; do "$out/distance"; sleep 0.5; done >"$1" & watcher=$!; }
unwatch() { if [ -n "$watcher" ]; then kill "$watcher"; wait "$watcher" || :; fi; watcher=; } 2>/dev/null
trap unwatch EXIT
moved() { sort -n "$1" | awk 'NR == 1 { least = $1 } { most = $1 } END { exit !(most > 2 * least) }'; }

predict_and_run() { # NAME GRAPH WAVES INFLIGHT [program's options]
    local graph=$2 waves=$3 inflight=$4 to=$out/$1.$round; shift 4
    local same=(--device="$device" --inflight="$inflight" --waves="$waves" ${WORKERS:+"--workers=$WORKERS"} ${GPU_JOBS:+"--gpu-jobs=$GPU_JOBS"})
    export DFC_PROFILE=$to.db
    rm -f "$DFC_PROFILE"
    "$dfc" probe --quick --device="$device" -o "$to.platform.df"
    "$dfc" profile "$graph" --device="$device" "${nvcc[@]}" "${loaded[@]}" --max-time=2 -- "${profiled[@]}" ${WORKERS:+"--workers=$WORKERS"} "$@" >&2
    "$dfc" simulate "$graph" "${same[@]}" --policy="$policies" --format=csv -o "$to.simulated.csv"
    if moved "$to.distances" && ((tries > 1)); then return; fi
    "$dfc" compare "$graph" "${same[@]}" "${nvcc[@]}" --runs="$runs" --policy="$policies,default" --csv="$to.measured.csv" -- ${PROGRAM:-} "$@" >&2
}
try() {
    local tries distances=$out/$1.$round.distances
    for ((tries = ${TRIES:-3}; tries > 0; tries--)); do
        echo "== $1, round $round" >&2
        watch_cores "$distances"
        predict_and_run "$@"
        unwatch
        if ! moved "$distances"; then break; fi
        echo "== the cores were moved meanwhile" >&2
    done
}
tiles=$(((picture + tile - 1) / tile))
for round in $(seq "$rounds"); do
    profiled=(--waves="${WAVES:-5}")
    for name in "${matrices[@]}"; do try "$name" "$out/$name/graph.df" "${WAVES:-5}" 1; done
    profiled=()                         # until the stream ends
    if [ -n "$photo" ]; then try photo "$out/photo/photo.df" $((tiles * tiles)) 4 --input="$out/photo/in.png" --output="$out/photo/out.png"; fi
done
python3 tests/bench/predicted.py "$out" "$rounds" "${matrices[@]}" $photo
