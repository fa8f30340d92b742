#!/usr/bin/env bash
# Figures of this machine: bench/run.sh BUILDDIR. Prints CSV and keeps it in BUILDDIR/bench/. Medians; cpu time / wall time shows a stolen core.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1"); out=$build/bench; mkdir -p "$out"
export DFC_PROFILE=$out/profile.db
echo "== dispatch of empty nodes"
bash tests/bench/dispatch.sh "$build" "$out"
echo "== the job queue beside Concurrency Kit's"
bash tests/bench/queue.sh "$build" "$out" --csv | tee "$out/queue.csv"
echo "== the memory plan"
cc -std=c11 -D_GNU_SOURCE -O2 -I. -Itests/unit -o "$out/memory" tests/bench/memory.c "$build/obj/libunit.a" "$build/lib/libdfplan.a" "$build/lib/libdf.a" \
    -lcmocka -lmetis -lhwloc -lm -ldl -lrt -pthread
"$out/memory" | tee "$out/memory.csv"
echo "== large graphs: compile and run"
bash tests/bench/large.sh "$build/bin/dfc" "$out" | tee "$out/large.csv"
echo "== the emulated GPU, links of 1 GB/s"
bash tests/bench/gpu/run.sh "$build" "$out/gpu" emu | tee "$out/gpu-emu.csv"
if nvidia-smi -L >/dev/null 2>&1; then
    echo "== the GPU"
    bash tests/bench/gpu/run.sh "$build" "$out/gpu" cuda | tee "$out/gpu.csv"
fi
echo "== StarPU beside it"
bash tests/bench/starpu/run.sh "$build" "$out/starpu"
