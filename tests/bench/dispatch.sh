#!/usr/bin/env bash
# Dispatch of empty nodes, ours and oneTBB's flow graph in turns: dispatch.sh BUILDDIR OUT.
#   ROUNDS=5 NODES=10000 WORKERS="1 2" POLICIES="ws" WORK_NS=0   turns of each program, nodes, threads, our policies, length of the kernels
# Prints, for each shape and number of threads, the median over the rounds of nanoseconds a node, cpu time / wall time (a stolen core
# shows), bytes a node, and how many times faster ours is; the same as CSV in OUT/dispatch.csv. oneTBB is skipped, and counted, where it
# is not installed (Debian: libtbb-dev); installs nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1"); mkdir -p "$2"; out=$(realpath "$2")
rounds=${ROUNDS:-5} nodes=${NODES:-10000} workers=${WORKERS:-1 2} policies=${POLICIES:-ws} work_ns=${WORK_NS:-0} csv=$out/dispatch.csv
runs=39; [ "$nodes" -le 100000 ] || runs=5

cc -std=c11 -D_GNU_SOURCE -O2 -I"$build/include" -o "$out/dispatch" tests/bench/dispatch.c "$build/lib/libdf.a" -lhwloc -lm -ldl -lrt -pthread
tbb=() skipped=0
if echo '#include <oneapi/tbb/flow_graph.h>' | c++ -std=c++17 -E -x c++ - >/dev/null 2>&1; then
    c++ -std=c++17 -O2 -o "$out/tbb_dispatch" tests/bench/tbb_dispatch.cpp -ltbb; tbb=(oneTBB)
else
    echo "skip oneTBB: libtbb-dev is not installed"; skipped=1
fi
turns=0; [ "$work_ns" = 0 ] || turns=$("$out/dispatch" turns "$work_ns")

median() { sort -g | awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] }'; }

once() { # SHAPE THREADS SYSTEM: median ns, least ns, cpu/wall[, bytes] of one program's runs
    if [ "$3" = oneTBB ]; then "$out/tbb_dispatch" "$1" "$nodes" "$2" "$turns" "$runs"
    else "$out/dispatch" "$1" "$nodes" "$2" "$turns" "$runs" "$3"; fi
}

echo "shape,threads,system,nodes,work_ns,ns_per_node,cpu_over_wall,bytes_per_node,times_faster" >"$csv"
printf '%-12s %7s  %-8s %9s %9s %10s %12s\n' shape threads system ns/node cpu/wall bytes/node 'oneTBB/ours'
for shape in chain tree wavefront independent random; do
    for n in $workers; do
        rm -f "$out"/row.*
        for ((r = 0; r < rounds; r++)); do
            for system in "${tbb[@]}" $policies; do once "$shape" "$n" "$system" >>"$out/row.$system"; done
        done
        theirs=
        for system in "${tbb[@]}" $policies; do
            ns=$(cut -d' ' -f1 "$out/row.$system" | median) share=$(cut -d' ' -f3 "$out/row.$system" | median) ratio='' bytes=''
            if [ "$system" = oneTBB ]; then theirs=$ns
            else
                bytes=$(tail -n 1 "$out/row.$system" | cut -d' ' -f4)
                [ -z "$theirs" ] || ratio=$(awk -v a="$theirs" -v b="$ns" 'BEGIN { printf "%.2f", a / b }')
            fi
            printf '%-12s %7s  %-8s %9s %9s %10s %12s\n' "$shape" "$n" "$system" "$ns" "$share" "${bytes:--}" "${ratio:--}"
            echo "$shape,$n,$system,$nodes,$work_ns,$ns,$share,$bytes,$ratio" >>"$csv"
        done
    done
done
rm -f "$out"/row.*
echo "$((1 + ${#tbb[@]})) programs run, $skipped skipped; $csv"
