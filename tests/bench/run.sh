#!/usr/bin/env bash
# Figures of this machine beside those of its peers: bench/run.sh BUILDDIR [OUT]. Each part leaves CSV in OUT (BUILDDIR/bench); bench.py puts
# them into one table, bench.csv, bench.md and bench.svg.
#   QUICK=1         shorter runs, in all less than a minute on an idle machine; without it about three, twice that on a busy one
#   PARTS="…"       of dispatch work million session opencl queue plan memory large endtoend starpu gpu: these alone
#   POLICIES="…"    ours in the parts dispatch and work: what a run without --policy gets (`default`), the same with a trace, and some
#                   policies that are asked for
#   LIMIT_S=N       no part gets longer than that
#   TASKFLOW=DIR    a folder that holds taskflow/taskflow.hpp: Taskflow in the part session, too
#   UPDATE=1        puts the tables between their markers in docs/results/cpu.md, and the plot beside it
# A part that runs past its time, or whose peer is not installed, is skipped and counted; one that fails, a check of its result included,
# ends the whole with exit status 1.
set -uo pipefail
build=$(realpath "$1") && mkdir -p "${2:-$build/bench}" && out=$(realpath "${2:-$build/bench}") || exit 2
cd "$(dirname "$0")/../.." || exit 1
parts=${PARTS:-dispatch work million session opencl queue plan memory large endtoend starpu gpu} failed=0
export DFC_PROFILE=$out/profile.db OPENBLAS_NUM_THREADS=1 CCACHE_DISABLE=1
rm -f "$out"/*.csv "$out"/*.log "$out/skipped.txt" "$out/scale.md" "$out/starpu/starpu.csv"
cut -d' ' -f1-3 /proc/loadavg >"$out/load.txt"
pick() { if [ -n "${QUICK:-}" ]; then echo "$2"; else echo "$1"; fi; }

part() { # NAME SECONDS TITLE COMMAND…: what it prints is shown; lines that begin with "skip" are counted
    local name=$1 limit=$2 title=$3 status; shift 3
    case " $parts " in *" $name "*) ;; *) return 0 ;; esac
    [ "${LIMIT_S:-$limit}" -ge "$limit" ] || limit=$LIMIT_S
    echo "== $title"
    timeout -k 5 "$limit" "$@" 2>&1 </dev/null | tee "$out/$name.log"
    status=${PIPESTATUS[0]}
    grep '^skip ' "$out/$name.log" >>"$out/skipped.txt"
    if [ "$status" = 124 ] || [ "$status" = 137 ]; then echo "skip $name: not done after $limit s" | tee -a "$out/skipped.txt"
    elif [ "$status" != 0 ]; then echo "bench: error: $name: exit status $status"; failed=1; fi
}
csv() { # FILE COMMAND…: its standard output is also kept
    local file=$1; shift
    set -o pipefail; "$@" | tee "$file"
}
plan() {
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o "$out/layered" examples/graphs/layered.c -lm &&
        csv "$out/scale.md" python3 tests/bench/scale.py "$build/bin/dfc" "$out/layered" examples/graphs/study.df "$@"
}
memory() {
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -I. -Itests/rig -o "$out/memory" tests/bench/memory.c "$build/obj/libunit.a" "$build/lib/libdfplan.a" \
        "$build/lib/libdf.a" -lcmocka -lmetis -lhwloc -lm -ldl -lrt -pthread && csv "$out/memory.csv" "$out/memory" "$@"
}
export -f csv plan memory; export build out

export POLICIES=${POLICIES:-default ws all-cpu dmda default+trace}
part dispatch 240 'dispatch of empty nodes' env ROUNDS="$(pick 5 1)" bash tests/bench/dispatch.sh "$build" "$out"
part work 120 'nodes of 0.8 us on two workers' env CSV=work.csv WORK_NS=800 WORKERS=2 SHAPES="tree wavefront" PEERS="oneTBB OpenMP" \
    ROUNDS="$(pick 5 1)" bash tests/bench/dispatch.sh "$build" "$out"
[ -n "${QUICK:-}" ] || part million 90 'dispatch of a million nodes' env CSV=million.csv NODES=1000000 WORKERS=1 SHAPES=random PEERS=oneTBB \
    POLICIES=default ROUNDS=1 bash tests/bench/dispatch.sh "$build" "$out"
session() { # CSV WORK_NS SHAPES: calls of a session; each is a wave of a graph of 20 nodes, as each round of the peers is
    CSV=$1 WORK_NS=$2 SHAPES=$3 NODES=20 PEERS="oneTBB Taskflow" POLICIES=default+calls ROUNDS=$4 bash tests/bench/dispatch.sh "$build" "$out"
}
export -f session
part session 120 'calls of a session, 20 nodes' bash -c 'session session.csv 0 "chain tree pair" "$1" && session session-work.csv 50000 pair "$1"' - \
    "$(pick 5 1)"
opencl() { # nodes that are launched on a device
    if ! "$build/bin/dfc" doctor --quick | grep -q '^  ok .* OpenCL '; then echo "skip dispatch on OpenCL: there is no device"; return; fi
    DEVICE=opencl CSV=opencl.csv NODES=1000 WORKERS=1 SHAPES="chain wavefront" POLICIES="all-gpu default" PEERS="OpenCL StarPU" ROUNDS=$1 bash tests/bench/dispatch.sh "$build" "$out"
}
export -f opencl
part opencl 240 'dispatch on an OpenCL device' bash -c 'opencl "$1"' - "$(pick 5 1)"
part queue 60 "the job queue beside Concurrency Kit's" bash -c 'csv "$out/queue.csv" bash tests/bench/queue.sh "$build" "$out" --csv "$@"' - \
    --runs="$(pick 301 51)"
# shellcheck disable=SC2046
part plan 120 'planning on one core' bash -c 'plan "$@"' - $(pick '1000 10000' 1000)
part memory 60 'the memory plan' bash -c 'memory "$@"' - "$(pick 1000000 10000)"
part large 120 'large graphs: compile and run' bash -c 'csv "$out/large.csv" bash tests/bench/large.sh "$build/bin/dfc" "$out" "$@"' - \
    "$(pick 1000000 100000)" "$(pick 1000 300)"
part endtoend 120 'end to end: examples/photo' python3 tests/bench/endtoend.py "$build" "$out" --rounds="$(pick 9 3)" --side="$(pick 2048 1024)"
part starpu 120 'end to end: the matrix graph beside StarPU' env RUNS="$(pick 7 3)" SIZES="$(pick 64,256 64)" \
    bash tests/bench/starpu/run.sh "$build" "$out/starpu"
part gpu 180 'the emulated GPU, links of 1 GB/s' env TURNS="$(pick 3 1)" bash -c 'csv "$out/gpu-emu.csv" bash tests/bench/gpu/run.sh "$build" "$out/gpu" emu'
if nvidia-smi -L >/dev/null 2>&1; then
    part gpu 600 'the GPU' bash -c 'csv "$out/gpu.csv" bash tests/bench/gpu/run.sh "$build" "$out/gpu" cuda'
fi
python3 tests/bench/bench.py "$out" ${UPDATE:+docs/results/cpu.md} || failed=1
exit "$failed"
