#!/usr/bin/env bash
# Figures of a GPU's path: run.sh BUILDDIR OUT cuda|emu. Prints CSV (figure,value,unit) and what each stands beside:
#   copies      bandwidth of the host's tokens to the GPU and back through a graph; on CUDA a plain cudaMemcpyAsync loop beside it
#   overlap     copies that take as long as the computing: max(copy, compute) / time, of what could be at best 100 %
#   launches    a chain of small jobs, time per job, launched one by one and replayed; on CUDA plain launches and a plain graph beside it
#   matrix      the mixed matrix graph under every policy
# On the emulator links have 1 GB/s (its platform is below), and computing is a pause, so that other load on the machine matters little.
# On CUDA a run's first launch of each kernel loads its code, and cuBLAS makes its handles, which takes longer than all else: each figure is of
# the waves beyond the first few, that is of a long run less a short one. One GPU is used, as plain.cu uses one.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); source=$(cd "$here/../../.." && pwd)
build=$(realpath "$1"); mkdir -p "$2"; out=$(realpath "$2"); device=$3; dfc=$build/bin/dfc
export DFC_PROFILE=$out/profile.db OPENBLAS_NUM_THREADS=1
cp "$here"/* "$out/"; cd "$out"
if [ "$device" = emu ]; then
    cat >link.df <<'X'
platform slow { cpu host { workers = 2; } gpu emulated { memory = 1 GiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; launch = 5 us; } }
X
    options=(--device=emu --emu-check=off --platform=link.df) flags=(--nvcc=none) copies=40 times=200 bandwidth=1 first=0
else
    options=(--device=cuda) copies=1000 times=1000 first=16
    read -ra flags <<<"${GPU_FLAGS:-}"               # more of dfc's options, for a cuBLAS that is elsewhere
    export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES-0}
    CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES%%,*}
fi
"$dfc" stream.df -o stream "${flags[@]}" 2>log || { cat log; exit 1; }
"$dfc" stream.df -o both -D back=1048576 "${flags[@]}" 2>log || { cat log; exit 1; }
"$dfc" chain.df -o chain "${flags[@]}" 2>log || { cat log; exit 1; }
value() { # NAME: of the last run's statistics
    sed -n "s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" stats
}
run() { # PROGRAM ARGS…: the best of $times_each runs by makespan, in ./stats
    local best=; for _ in $(seq "${times_each:-5}"); do
        "$@" "${options[@]}" --policy=all-gpu --stats=json 2>now >/dev/null || { cat now >&2; exit 1; }
        grep makespan now >stats; local s; s=$(value makespan_s)
        if [ -z "$best" ] || awk "BEGIN { exit !($s < $best) }"; then best=$s; cp stats kept; fi
    done; cp kept stats
}
waves() { # PROGRAM WAVES ARGS…: $s, seconds of $n waves, those after the first few
    local program=$1 all=$2 begun=0; shift 2
    if [ $first -gt 0 ]; then times_each=3 run "$program" --waves=$first "$@"; begun=$(value makespan_s); fi
    run "$program" --waves="$all" "$@"
    s=$(awk "BEGIN { print $(value makespan_s) - $begun }") n=$((all - first))
}
calc() { awk "BEGIN { printf \"%.3f\", $1 }"; }
token=4194304                                   # bytes of stream.df's
echo figure,value,unit
if [ "$device" = cuda ]; then
    nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc)}
    "$nvcc" -O2 -std=c++17 -arch=all-major -Wno-deprecated-gpu-targets -o plain plain.cu
    ./plain $token $copies 30 $times
fi
waves ./stream $copies --inflight=8
bandwidth=$(calc "$n * $token / $s / 1e9"); echo "h2d through a graph,$bandwidth,GB/s"
waves ./both $copies --inflight=8
echo "h2d beside d2h through a graph,$(calc "$n * $token / $s / 1e9"),GB/s each"
waves ./both $copies --inflight=8 --pin=off
echo "h2d beside d2h through a graph of memory that is not pinned,$(calc "$n * $token / $s / 1e9"),GB/s each"
us=$(awk "BEGIN { printf \"%d\", $token / $bandwidth / 1e3 + 0.5 }")
[ "$device" = cuda ] || us=4204                 # what a copy takes there: 10 us and 4 MiB at 1 GB/s
for jobs in 1 2 auto; do
    waves ./stream $copies --inflight=8 --us="$us" --gpu-jobs=$jobs
    echo "overlap with --gpu-jobs=$jobs,$(calc "100 * $n * $us * 1e-6 / $s"),% of the ideal"
done
for graphs in off auto; do
    waves ./chain $times --inflight=1 --cuda-graphs=$graphs
    echo "chain with --cuda-graphs=$graphs,$(calc "1e6 * $s / (30 * $n)"),us per job"
    echo "replayed with --cuda-graphs=$graphs,$(value replayed),of $((30 * times)) jobs"
done
cp "$source"/examples/matrix/matrix.c "$source"/examples/matrix/matrix.cu "$source"/examples/matrix/generate.c .
${CC:-cc} -std=c11 -O2 -o generate generate.c && ./generate --kind=mixed --n="${MATRIX_N:-$([ "$device" = cuda ] && echo 1024 || echo 128)}" >matrix.df
"$dfc" matrix.df -o matrix "${flags[@]}" 2>log || { echo "matrix,,not compiled: $(head -c 200 log | tr ',\n' '; ')"; exit 0; }
policies=$({ ./matrix --policy=none 2>&1 || true; } | sed -n "s/.*; there are //p" | sed "s/,\| and//g")
for policy in ${policies:?"matrix names no policies"}; do
    good=1 s=()
    for _ in 1 2 3; do
        before=0
        for waves in $([ $first = 0 ] || echo 1) $((first ? 21 : 1)); do
            ./matrix "${options[@]}" --policy="$policy" --waves="$waves" --inflight=1 --stats=json 2>now >/dev/null || { good=0; break 2; }
            grep makespan now >stats; last=$before before=$(value makespan_s)
        done
        s+=("$(awk "BEGIN { print ($before - $last) / ($first ? 20 : 1) }")")
    done
    [ $good = 1 ] || { echo "matrix under $policy,,failed: $(head -c 200 now | tr ',\n' '; ')"; continue; }
    echo "matrix under $policy,$(printf '%s\n' "${s[@]}" | sort -g | sed -n 2p | awk '{ printf "%.3f", 1e3 * $1 }'),ms a wave (median of 3)"
done
