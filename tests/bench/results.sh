#!/usr/bin/env bash
# Every policy on every family of graphs, in virtual time: results.sh BUILDDIR [OUT]. Writes into OUT (build/results)
#     runs.csv       a line for each graph and policy, as `dfc simulate` prints it, with the family before it
#     wrong.csv      a line for each graph, wrong times and policy, as `dfc simulate --error` prints it
#     tables.md      what docs/scheduling.md shows, made by results.py
#     *.svg          its plots
# DAGS=DIR adds all .df files of a folder, compared with the folder's reference.csv where it has one.
# UPDATE=1 puts the tables between their markers in docs/scheduling.md and refreshes docs/results/*.svg.
# Runs no kernel; only the planning times differ from run to run.
set -euo pipefail
export DFC_PROFILE=/nonexistent/profile.db      # no times and no probe of this machine: everybody gets the same figures
cd "$(dirname "$0")/../.."
dfc=$(realpath "$1")/bin/dfc out=${2:-build/results}
mkdir -p "$out/graphs"; out=$(realpath "$out")
dags=${DAGS:+$(realpath "$DAGS")}
cp examples/graphs/*.df "$out/graphs/"
cc -std=c11 -D_GNU_SOURCE -O2 -o "$out/layered" examples/graphs/layered.c -lm
cc -std=c11 -O2 -o "$out/generate" examples/matrix/generate.c
columns=$("$dfc" simulate examples/graphs/qr.df --policy=eager --format=csv | head -n 1)
runs=$out/runs.csv deep=$out/deep.csv large=$out/large.csv wrong=$out/wrong.csv
echo "family,budget,$columns" | tee "$runs" "$deep" >"$large"

simulate() { # FILE_OF_RUNS FAMILY BUDGET NAME OPTIONS…: its lines, the graph's name replaced by ours, which tells sizes apart
    local to=$1 family=$2 budget=$3 name=$4; shift 4
    "$dfc" simulate "$@" --format=csv >"$out/one.csv" || { echo "results: dfc simulate $* failed" >&2; exit 1; }
    sed -n "2,\$s|^[^,]*|$family,$budget,$name|p" "$out/one.csv" >>"$to"
}
simulate_all() { simulate "$runs" "$1" 1 "$2" "${@:3}" --policy=all; }

cd "$out/graphs"
echo "== thesis graphs" >&2
for kind in ma mm mixed; do for n in 512 1024 2048; do for seed in 1 2 3; do
    { echo 'import "study.df";'; "$out/generate" --kind=$kind --n=$n --seed=$seed --costs; } >"$kind-$n-$seed.df"
    simulate_all "thesis $kind" $kind-$n-$seed "$kind-$n-$seed.df"
done; done; done
echo "== factorizations, transforms, stencils" >&2
for T in 4 8 12; do simulate_all factorizations cholesky-$T cholesky.df -D T=$T; simulate_all factorizations lu-$T lu.df -D T=$T; done
for T in 4 6 8; do simulate_all factorizations qr-$T qr.df -D T=$T; done
for stages in 3 4 5 6; do simulate_all stencils fft-$((1 << stages)) fft.df -D N=$((1 << stages)) -D stages=$stages; done
for N in 10 20 40; do for x in 3 10; do simulate_all stencils wavefront-$N-$x wavefront.df -D N=$N -D speedup=$x; done; done
for N in 8 16 32; do simulate_all stencils jacobi-$N jacobi.df -D N=$N; done
echo "== image pipelines" >&2
for strips in 4 8 16 64; do simulate_all "image pipelines" image-$strips image.df -D strips=$strips; done
for strips in 4 16; do simulate_all "image pipelines" image-$strips-large image.df -D strips=$strips -D size=16000000; done
echo "== layered random graphs" >&2
for n in 50 200 1000; do for ccr in 0.1 0.5 2; do for seed in 1 2; do
    "$out/layered" $n $ccr $seed >layered-$n-$ccr-$seed.df
    simulate_all "layered $([ $n -lt 1000 ] && echo '≤ 200' || echo 1000)" layered-$n-$ccr-$seed layered-$n-$ccr-$seed.df
done; done; done
echo "== wrong times" >&2
errors=$("$dfc" simulate qr.df -D T=2 --policy=eager --error=off:10 --draws=1 --format=csv | head -n 1)
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
wrong_times latency cholesky-8 cholesky.df -D T=8; wrong_times latency lu-8 lu.df -D T=8; wrong_times latency qr-6 qr.df -D T=6
wrong_times latency fft-16 fft.df -D N=16 -D stages=4; wrong_times latency jacobi-16 jacobi.df -D N=16
wrong_times latency wavefront-20-3 wavefront.df -D N=20 -D speedup=3; wrong_times latency image-16 image.df -D strips=16
for kind in ma mm mixed; do wrong_times latency $kind-1024-1 $kind-1024-1.df; done
wrong_times latency layered-200-0.5-1 layered-200-0.5-1.df
wrong_times tiles microscopy microscopy.df -D tiles=24 --waves=8 --inflight=2
wrong_times tiles coprocessors coprocessors.df -D tiles=40 --waves=8 --inflight=2 --prefetch
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
        simulate_all reference "$name" "$file"
        sigmas reference "$name" gp "$file"
        simulate "$deep" reference 10 "$name" "$file" --policy=gp --budget=10x
    done
fi
cd - >/dev/null
python3 tests/bench/results.py "$out" ${dags:+"--reference=$dags/reference.csv"} ${UPDATE:+"--update=docs/scheduling.md"}
