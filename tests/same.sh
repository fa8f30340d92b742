#!/usr/bin/env bash
# What must not depend on the run, the number of threads, the kind of build or the compiler: same.sh DFC OUT [GRAPH…] writes it into the
# folder OUT, for a handful of graphs; two such folders are compared byte for byte (tests/e2e/t_same.sh, make check-same). Per graph:
#     NAME.POLICY.plan   placement, priorities as far as they show, predicted times and copies: --emit=plan
#     NAME.csv           dfc simulate under every policy, without the column plan_ms
# and of one graph each: other waves, objective, seed and times; pictures, METIS's input, reasons, the Gantt chart. The graph `layered` is made
# with LAYERED=300 nodes.
set -euo pipefail
dfc=$(realpath "$1") source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$2"; cd "$2"; shift 2
[ $# -gt 0 ] || set -- cholesky qr fft image coprocessors mixed layered; rm -f -- *
cp "$source"/examples/graphs/*.df .
if ! [ -x ../layered ] || ! [ -x ../generate ]; then
    cc -std=c11 -D_GNU_SOURCE -O1 -o ../layered "$source/examples/graphs/layered.c" -lm
    cc -std=c11 -O1 -o ../generate "$source/examples/matrix/generate.c"
fi
../layered "${LAYERED:-300}" 0.5 3 >layered.df
../generate --kind=mixed --n=512 --seed=2 --costs >mixed.df

run() { # OUTPUT COMMAND…
    local to=$1; shift
    "$@" >"$to" 2>err || { echo "same: $* failed: $(tail -n 3 err)" >&2; exit 1; }
}
simulate() { # OUTPUT OPTIONS…
    run "$1.all" "$dfc" simulate "${@:2}" --format=csv
    sed 's/,[^,]*$//' "$1.all" >"$1"; rm "$1.all"
}
for graph; do
    for policy in gp gp-thesis heft peft; do run $graph.$policy.plan "$dfc" $graph.df --policy=$policy --emit=plan; done
    simulate $graph.csv $graph.df --policy=all
done
simulate waves.csv layered.df --policy=all --waves=6 --inflight=3
simulate rate.csv layered.df --policy=gp,dmda --objective=throughput --waves=6 --inflight=3
simulate seed.csv layered.df --policy=gp,gp-thesis,random --seed=7
run qr.error.txt "$dfc" simulate qr.df --policy=gp,dmda,pats --error=sigma:0.3 --draws=3 --format=csv
run qr.metis "$dfc" qr.df --emit=metis
run qr.dot "$dfc" partition qr.df --policy=gp --dot=-
run qr.explain "$dfc" explain qr.df
"$dfc" simulate qr.df --policy=gp --gantt=qr.gantt.svg >/dev/null 2>err || { echo "same: $(cat err)" >&2; exit 1; }
rm -f -- *.df err
