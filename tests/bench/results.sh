#!/usr/bin/env bash
# Every policy on every family of graphs, in virtual time: results.sh BUILDDIR [OUT]. Writes into OUT (build/results)
#     runs.csv       a line for each graph and policy, as `dfc simulate` prints it, with the family before it
#     wrong.csv      a line for each graph, wrong times and policy, as `dfc simulate --error` prints it
#     tables.md      what docs/scheduling.md shows, made by results.py
#     *.svg          its plots
# DAGS=DIR adds all .df files of a folder; their tables are in tables.md alone.
# UPDATE=1 puts the tables between their markers in docs/scheduling.md and refreshes docs/results/*.svg.
# Runs no kernel; only the planning times differ from run to run.
set -euo pipefail
export DFC_PROFILE=/nonexistent/profile.db      # no times and no probe of this machine: everybody gets the same figures
cd "$(dirname "$0")/../.."
dfc=$(realpath "$1")/bin/dfc out=${2:-build/results}
mkdir -p "$out/graphs"; out=$(realpath "$out")
dags=${DAGS:+$(realpath "$DAGS")} graphs=$PWD/examples/graphs
examples/graphs/families.sh "$out/graphs"
cc -std=c11 -D_GNU_SOURCE -O2 -o "$out/layered" examples/graphs/layered.c -lm
columns=$("$dfc" simulate examples/graphs/qr.df --policy=eager --format=csv | head -n 1)
runs=$out/runs.csv deep=$out/deep.csv large=$out/large.csv wrong=$out/wrong.csv
echo "family,budget,$columns" | tee "$runs" "$deep" >"$large"

simulate() { # FILE_OF_RUNS FAMILY BUDGET NAME OPTIONS…: its lines, the graph's name replaced by ours, which tells sizes apart
    local to=$1 family=$2 budget=$3 name=$4; shift 4
    "$dfc" simulate "$@" --format=csv >"$out/one.csv" || { echo "results: dfc simulate $* failed" >&2; exit 1; }
    sed -n "2,\$s|^[^,]*|$family,$budget,$name|p" "$out/one.csv" >>"$to"
}
simulate_all() { simulate "$runs" "$1" 1 "$2" "${@:3}" --policy=all; simulate "$deep" "$1" 10 "$2" "${@:3}" --policy=gp --budget=10x; }

cd "$out/graphs"
family=
while IFS=, read -r name of; do
    [ "$of" = "$family" ] || { family=$of; echo "== $family" >&2; }
    simulate_all "$family" "$name" "$name.df"
done < <(tail -n +2 families.csv)
echo "== wrong times" >&2
errors=$("$dfc" simulate qr-4.df --policy=eager --error=off:10 --draws=1 --format=csv | head -n 1)
echo "set,error,guard,$errors" >"$wrong"
err() { # SET NAME ERROR GUARD OPTIONS…
    local set=$1 name=$2 error=$3 guard=$4; shift 4
    "$dfc" simulate "$@" --error="$error" --guard="$guard" --format=csv >"$out/one.csv" ||
        { echo "results: dfc simulate $* --error=$error failed" >&2; exit 1; }
    sed -n "2,\$s|^[^,]*|$set,$error,$guard,$name|p" "$out/one.csv" >>"$wrong"
}
sigmas() { # SET NAME POLICIES OPTIONS…: plans are made once for all draws
    for sigma in 0.1 0.3 0.6; do
        err "$1" "$2" sigma:$sigma on "${@:4}" --policy="$3" --draws=40
        err "$1" "$2" sigma:$sigma off "${@:4}" --policy=gp --draws=40
    done
}
wrong_times() { # SET NAME OPTIONS…: what is told differs from draw to draw, so each has its own plans
    sigmas "$1" "$2" all "${@:3}"
    for percent in 10 25 50 75 100; do err "$1" "$2" off:$percent on "${@:3}" --policy=all --draws=9; done
    for percent in 20 60 100; do err "$1" "$2" confound:$percent on "${@:3}" --policy=all; done
}
for name in cholesky-8 lu-8 qr-6 fft-16 jacobi-16 wavefront-20-3 image-16 ma-1024-1 mm-1024-1 mixed-1024-1 layered-200-0.5-1; do
    wrong_times latency $name $name.df
done
for shape in montage epigenomics cybershake ligo genome; do sigmas workflows $shape-60-1 gp $shape-60-1.df; done
wrong_times tiles microscopy "$graphs/microscopy.df" -D tiles=24 --waves=8 --inflight=2
wrong_times tiles coprocessors "$graphs/coprocessors.df" -D tiles=40 --waves=8 --inflight=2 --prefetch
echo "== growth" >&2
for n in 1000 10000 100000; do
    "$out/layered" $n 0.5 1 >large.df
    simulate "$large" $n 1 layered-$n large.df --policy="$(cut -d, -f5 "$runs" | sort -u | grep -xE 'eager|dmda|heft|gp-thesis|gp' | paste -sd,)"
done
rm -f large.df
if [ -n "$dags" ]; then
    echo "== $dags" >&2
    for file in "$dags"/*.df; do
        name=$(basename "$file" .df)
        simulate_all folder "$name" "$file"
    done
fi
cd - >/dev/null
python3 tests/bench/results.py "$out" ${UPDATE:+"--update=docs/scheduling.md"}
