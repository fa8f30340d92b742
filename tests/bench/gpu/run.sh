#!/usr/bin/env bash
# Figures of a GPU's path: run.sh BUILDDIR OUT cuda|emu. Prints CSV (figure,value,unit) and what each stands beside:
#   copies      bandwidth of the host's tokens to the GPU and back through a graph; on CUDA a plain cudaMemcpyAsync loop beside it
#   overlap     copies that take as long as the computing: max(copy, compute) / time, of what could be at best 100 %
#   launches    a chain of small jobs, time per job, launched one by one and replayed; on CUDA plain launches and a plain graph beside it
#   matrix      the mixed matrix graph under every policy
# On the emulator links have 1 GB/s (its platform is below), and computing is a pause, so that other load on the machine matters little.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); source=$(cd "$here/../../.." && pwd)
build=$(realpath "$1"); mkdir -p "$2"; out=$(realpath "$2"); device=$3; dfc=$build/bin/dfc
export DFC_PROFILE=$out/profile.db OPENBLAS_NUM_THREADS=1
cp "$here"/* "$out/"; cd "$out"
if [ "$device" = emu ]; then
    cat >link.df <<'X'
platform slow { cpu host { workers = 2; } gpu emulated { memory = 1 GiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; launch = 5 us; } }
X
    options=(--device=emu --emu-check=off --platform=link.df) flags=(--nvcc=none) copies=40 times=200 bandwidth=1
else
    options=(--device=cuda) copies=400 times=1000
    read -ra flags <<<"${GPU_FLAGS:-}"               # more of dfc's options, for a cuBLAS that is elsewhere
fi
"$dfc" stream.df -o stream "${flags[@]}" 2>log || { cat log; exit 1; }
"$dfc" stream.df -o both -D back=1048576 "${flags[@]}" 2>log || { cat log; exit 1; }
"$dfc" chain.df -o chain "${flags[@]}" 2>log || { cat log; exit 1; }
value() { # NAME: of the last run's statistics
    sed -n "s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" stats
}
run() { # PROGRAM ARGS…: the best of five runs by makespan, in ./stats
    local best=; for _ in 1 2 3 4 5; do
        "$@" "${options[@]}" --policy=all-gpu --stats=json 2>now >/dev/null || { cat now >&2; exit 1; }
        grep makespan now >stats; local s; s=$(value makespan_s)
        if [ -z "$best" ] || awk "BEGIN { exit !($s < $best) }"; then best=$s; cp stats kept; fi
    done; cp kept stats
}
calc() { awk "BEGIN { printf \"%.3f\", $1 }"; }
echo figure,value,unit
if [ "$device" = cuda ]; then
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc)
    "$nvcc" -O2 -std=c++17 -o plain plain.cu
    ./plain 4194304 $copies 30 $times
fi
run ./stream --waves=$copies --inflight=8
bandwidth=$(calc "$(value h2d_bytes) / $(value makespan_s) / 1e9"); echo "h2d through a graph,$bandwidth,GB/s"
run ./both --waves=$copies --inflight=8
echo "h2d beside d2h through a graph,$(calc "$(value h2d_bytes) / $(value makespan_s) / 1e9"),GB/s each"
us=$(awk "BEGIN { printf \"%d\", 4194304 / $bandwidth / 1e3 + 0.5 }")
[ "$device" = cuda ] || us=4204                 # what a copy takes there: 10 us and 4 MiB at 1 GB/s
for jobs in 1 2 auto; do
    run ./stream --waves=$copies --inflight=8 --us="$us" --gpu-jobs=$jobs
    echo "overlap with --gpu-jobs=$jobs,$(calc "100 * $copies * $us * 1e-6 / $(value makespan_s)"),% of the ideal"
done
for graphs in off auto; do
    run ./chain --waves=$times --inflight=1 --cuda-graphs=$graphs
    echo "chain with --cuda-graphs=$graphs,$(calc "1e6 * $(value makespan_s) / (30 * $times)"),us per job"
    echo "replayed with --cuda-graphs=$graphs,$(value replayed),of $((30 * times)) jobs"
done
cp "$source"/examples/matrix/matrix.c "$source"/examples/matrix/matrix.cu "$source"/examples/matrix/generate.c .
"${CC:-cc}" -std=c11 -O2 -o generate generate.c && ./generate --kind=mixed --n="${MATRIX_N:-$([ "$device" = cuda ] && echo 1024 || echo 128)}" >matrix.df
"$dfc" matrix.df -o matrix "${flags[@]}" 2>log || { echo "matrix,,not compiled: $(head -c 200 log | tr ',\n' '; ')"; exit 0; }
for policy in $(./matrix --help 2>&1 | grep -oE 'how jobs get a worker: .*' | sed -E 's/.*worker: //; s/ \([^)]*\)//g; s/,//g'); do
    s=(); for _ in 1 2 3; do "./matrix" "${options[@]}" --policy="$policy" --stats=json 2>now >/dev/null || { s=(); break; }
        s+=("$(grep makespan now | sed -n 's/.*"makespan_s": \([0-9.e+-]*\).*/\1/p')"); done
    [ ${#s[@]} = 0 ] && { echo "matrix under $policy,,failed: $(head -c 200 now | tr ',\n' '; ')"; continue; }
    echo "matrix under $policy,$(printf '%s\n' "${s[@]}" | sort -g | sed -n 2p | awk '{ printf "%.3f", 1e3 * $1 }'),ms (median of 3)"
done
