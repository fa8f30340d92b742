#!/usr/bin/env bash
# Dispatch of empty nodes, ours, oneTBB's flow graph, GCC's OpenMP tasks and StarPU's in turns, or of nodes on an OpenCL device: dispatch.sh BUILDDIR OUT.
#   ROUNDS=5 NODES=10000 WORKERS="1 2" POLICIES="default" WORK_NS=0   turns of each program, nodes, threads, our policies, length of the kernels
#   PEERS="oneTBB OpenMP StarPU"  SHAPES="chain tree wavefront independent random"   which of them; also the shape pair, and Taskflow
#   DEVICE=opencl                the nodes run on the first OpenCL device; PEERS="OpenCL StarPU": plain OpenCL calls, which in the row
#                                OpenCL+finish wait for each node, and StarPU's OpenCL driver
#   TASKFLOW=DIR                 a folder that holds taskflow/taskflow.hpp
#   CSV=dispatch.csv             where in OUT the figures go
# Prints, for each shape and number of threads, the median over the rounds of nanoseconds a node, cpu time / wall time (a stolen core
# shows), bytes a node, and how many times faster ours is than oneTBB; the same as CSV in OUT, with the number of rounds,
# and how many had their cores (shapes.h): the medians are of those where there are any. Every program checks that each node ran once,
# after those that it reads. What is not installed is skipped, and counted; installs nothing.
set -euo pipefail
build=$(realpath "$1"); mkdir -p "$2"; out=$(realpath "$2")
cd "$(dirname "$0")/../.."
rounds=${ROUNDS:-5} nodes=${NODES:-10000} workers=${WORKERS:-1 2} policies=${POLICIES:-default} work_ns=${WORK_NS:-0} csv=$out/${CSV:-dispatch.csv}
shapes=${SHAPES:-chain tree wavefront independent random}
export DISPATCH_TRACE=$out/dispatch-trace.json
export STARPU_HOME=$out STARPU_SILENT=1 STARPU_HOSTNAME=here STARPU_OPENCL_ON_CPUS=1
runs=39; [ -z "${DEVICE:-}" ] || runs=9; [ "$nodes" -le 100000 ] || runs=5

${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 ${DEVICE:+-DON_OPENCL} -I"$build/include" -o "$out/dispatch" tests/bench/dispatch.c "$build/lib/libdf.a" -lhwloc -lm -ldl -lrt -pthread
peers=() skipped=0; [ -n "${PEERS+set}" ] || PEERS=$([ -n "${DEVICE:-}" ] && echo OpenCL StarPU || echo oneTBB OpenMP StarPU)
peer() { # NAME PACKAGE COMMAND…: makes OUT/NAME_dispatch where the compiler finds what is in standard input
    case " $PEERS " in *" $1 "*) ;; *) return 0 ;; esac
    if "${@:3}" -o "$out/probe" -x "$lang" - >/dev/null 2>&1; then peers+=("$1")
    else echo "skip dispatch beside $1: $2 is not installed"; skipped=$((skipped + 1)); return 0; fi
    rm -f "$out/probe"
}
lang=c++ peer oneTBB libtbb-dev "${CXX:-c++}" -std=c++17 -E <<<'#include <oneapi/tbb/flow_graph.h>'
lang=c++ peer Taskflow "TASKFLOW=DIR" "${CXX:-c++}" -std=c++20 -E -I"${TASKFLOW:-/nonexistent}" <<<'#include <taskflow/taskflow.hpp>'
lang=c peer OpenMP "gcc with libgomp" ${CC:-cc} -fopenmp <<<$'#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }'
# shellcheck disable=SC2046
lang=c peer StarPU libstarpu-dev ${CC:-cc} -E $(pkg-config --cflags starpu-1.3 2>/dev/null || true) <<<'#include <starpu.h>'
lang=c peer OpenCL "opencl-headers or ocl-icd-opencl-dev" ${CC:-cc} -lOpenCL <<<$'#include <CL/cl.h>\nint main(void) { return 0; }'
for p in "${peers[@]}"; do
    # shellcheck disable=SC2046
    case ${DEVICE:-}$p in
    openclStarPU) ${CC:-cc} -std=gnu11 -O2 -o "$out/StarPU_dispatch" tests/bench/starpu/starpu_opencl.c $(pkg-config --cflags --libs starpu-1.3) -lOpenCL ;;
    openclOpenCL) ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o "$out/OpenCL_dispatch" tests/bench/opencl_dispatch.c -lOpenCL ;;
    Taskflow) ${CXX:-c++} -std=c++20 -O2 -I"$TASKFLOW" -o "$out/Taskflow_dispatch" tests/bench/taskflow_dispatch.cpp -pthread ;;
    oneTBB) ${CXX:-c++} -std=c++17 -O2 -o "$out/oneTBB_dispatch" tests/bench/tbb_dispatch.cpp -ltbb ;;
    OpenMP) ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -fopenmp -o "$out/OpenMP_dispatch" tests/bench/omp_dispatch.c ;;
    StarPU) ${CC:-cc} -std=gnu11 -O2 -o "$out/StarPU_dispatch" tests/bench/starpu/starpu_dispatch.c $(pkg-config --cflags --libs starpu-1.3) ;;
    esac
done
programs=$((1 + ${#peers[@]})); case ${DEVICE:-}" ${peers[*]} " in opencl*' OpenCL '*) peers+=(OpenCL+finish) ;; esac
turns=0; [ "$work_ns" = 0 ] || turns=$("$out/dispatch" turns "$work_ns")

once() { # SHAPE THREADS SYSTEM: the line of one program's runs, fewer of the slower ones
    case $3 in
    oneTBB | Taskflow | OpenCL) "$out/$3_dispatch" "$1" "$nodes" "$2" "$turns" "$runs" ;;
    OpenCL+finish) "$out/OpenCL_dispatch" "$1" "$nodes" "$2" "$turns" "$runs" finish ;;
    OpenMP) "$out/OpenMP_dispatch" "$1" "$nodes" "$2" "$turns" $((runs / 4)) ;;
    StarPU) "$out/StarPU_dispatch" "$1" "$nodes" "$2" "$turns" 3 ;;
    *) "$out/dispatch" "$1" "$nodes" "$2" "$turns" "$runs" "$3" ;;
    esac
}
# Of lines as `once` gives them: NS SHARE CLEAN ROUNDS; a round is clean where one of its runs is.
medians='{ n++; if ($4 > 0) { clean++; ns[clean] = $1; share[clean] = $3 } all_ns[n] = $1; all_share[n] = $3 }
    function middle(v, m,  i, j, x) {
        for (i = 2; i <= m; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { x = v[j]; v[j] = v[j - 1]; v[j - 1] = x }
        return v[int((m + 1) / 2)]
    }
    END { if (clean) printf "%.2f %.2f", middle(ns, clean), middle(share, clean); else printf "%.2f %.2f", middle(all_ns, n), middle(all_share, n)
          printf " %d %d\n", clean, n }'

echo "shape,threads,system,nodes,work_ns,ns_per_node,cpu_over_wall,bytes_per_node,times_faster,rounds,clean" >"$csv"
printf '%-12s %7s  %-8s %9s %9s %10s %12s\n' shape threads system ns/node cpu/wall bytes/node 'oneTBB/ours'
for shape in $shapes; do
    for n in $workers; do
        rm -f "$out"/row.*
        for ((r = 0; r < rounds; r++)); do
            for system in "${peers[@]}" $policies; do
                once "$shape" "$n" "$system" >>"$out/row.$system" || { echo "dispatch: $system failed: $shape, $n threads"; exit 1; }
            done
        done
        theirs=
        for system in "${peers[@]}" $policies; do
            read -r ns share clean of < <(awk "$medians" "$out/row.$system"); ratio='' bytes=''
            case " ${peers[*]} " in
            *" $system "*) [ "$system" != oneTBB ] || theirs=$ns ;;
            *)  [ -n "${DEVICE:-}" ] || bytes=$(tail -n 1 "$out/row.$system" | cut -d' ' -f6)
                [ -z "$theirs" ] || ratio=$(awk -v a="$theirs" -v b="$ns" 'BEGIN { printf "%.2f", a / b }') ;;
            esac
            printf '%-12s %7s  %-8s %9s %9s %10s %12s\n' "$shape" "$n" "$system" "$ns" "$share" "${bytes:--}" "${ratio:--}"
            echo "$shape,$n,$system,$nodes,$work_ns,$ns,$share,$bytes,$ratio,$of,$clean" >>"$csv"
        done
    done
done
rm -f "$out"/row.*
echo "$programs programs run, $skipped skipped; $csv"
