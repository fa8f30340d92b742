#!/usr/bin/env bash
# What a chunk of work costs beside the work: bench/chunks.sh BUILDDIR OUT [RUNS] gives chunks of 10 and of 100 ms to two workers, through `--cluster` (window found,
# and 2), through Work Queue and through a bare loop over MPI. A chunk waits and does not compute, so that busy cores disturb less. Prints a table: the overhead
# of a chunk is (wall time * workers - work) / chunks, from the first chunk to the last result, the median of RUNS (3); processes that start are not in it.
# A row is left out, in words, if its program or headers are not here (Debian: openmpi-bin, libopenmpi-dev; coop-computing-tools, coop-computing-tools-dev). CPPFLAGS
# and LDFLAGS say where they are instead. CHUNKS=N:M: so many of 10 and of 100 ms (400:40).
set -euo pipefail
build=$(realpath "$1") out=$(realpath -m "$2") runs=${3:-3} workers=2
source=$(realpath "$(dirname "$0")")/chunks
mkdir -p "$out"
IFS=: read -r -a numbers <<<"${CHUNKS:-400:40}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ranks() { timeout 100 mpirun --oversubscribe --bind-to none -n $((workers + 1)) "$@"; }
flags=(-std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra)

# Each of these prints the seconds that a run took: US CHUNKS.
ours() { ranks "$out/chunks" --us="$1" --chunks="$2" --cluster --workers=1 --device=none; }
ours_2() { ranks "$out/chunks" --us="$1" --chunks="$2" --cluster --workers=1 --device=none --window=2; }
bare() { ranks "$out/mpi_loop" "$1" "$2"; }
work_queue() {
    local port pids=() status=0
    rm -f "$out/port"
    timeout 100 "$out/queue" "$1" "$2" "$workers" "$out/port" >"$out/seconds" & local manager=$!
    for _ in $(seq 100); do [ -s "$out/port" ] && break; sleep 0.1; done
    port=$(cat "$out/port")
    for _ in $(seq "$workers"); do
        work_queue_worker --cores 1 --memory 100 --disk 100 --timeout 20 --workdir "$out" 127.0.0.1 "$port" >"$out/worker.log" 2>&1 & pids+=($!)
    done
    wait "$manager" || status=$?
    kill "${pids[@]}" 2>/dev/null || true
    wait "${pids[@]}" || true
    cat "$out/seconds"
    return $status
}

systems=()
if command -v mpirun >/dev/null && [ -e "$build/lib/libdf-mpi.so" ]; then
    (cd "$out" && "$build/bin/dfc" "$source/chunks.df" --nvcc=none -o chunks)
    systems+=('dfc --cluster|ours' 'dfc --cluster --window=2|ours_2')
else
    echo 'skip dfc: no mpirun, or no mpicc when dfc was built; install them: apt-get install openmpi-bin libopenmpi-dev'
fi
# shellcheck disable=SC2086
if command -v work_queue_worker >/dev/null && cc "${flags[@]}" ${CPPFLAGS:-} "$source/queue.c" -o "$out/queue" ${LDFLAGS:-} -lwork_queue -ldttools -lm -lz -pthread 2>"$out/queue.log"; then
    systems+=('Work Queue|work_queue')
else
    echo 'skip Work Queue: install it: apt-get install coop-computing-tools coop-computing-tools-dev'
fi
if command -v mpicc >/dev/null && mpicc "${flags[@]}" "$source/mpi_loop.c" -o "$out/mpi_loop"; then
    systems+=('MPI loop|bare')
else
    echo 'skip MPI loop: install it: apt-get install openmpi-bin libopenmpi-dev'
fi

echo "2 workers, median of $runs; load average at the beginning: $(cut -d' ' -f1-3 /proc/loadavg)"
printf '| chunk | chunks | system | wall | overhead a chunk |\n|---|---|---|---|---|\n'
for i in 0 1; do
    us=$((i == 0 ? 10000 : 100000)) chunks=${numbers[i]}
    for system in "${systems[@]}"; do
        for _ in $(seq "$runs"); do "${system##*|}" "$us" "$chunks"; done >"$out/times"
        sort -g "$out/times" | awk -v us="$us" -v chunks="$chunks" -v workers="$workers" -v name="${system%%|*}" '{ s[NR] = $1 } END {
            if (!NR) exit 1
            wall = s[int((NR + 1) / 2)]
            printf "| %d ms | %d | %s | %.3f s | %.2f ms |\n", us / 1000, chunks, name, wall, (wall * workers / chunks - us / 1e6) * 1e3 }'
    done
done
echo "load average at the end: $(cut -d' ' -f1-3 /proc/loadavg)"
