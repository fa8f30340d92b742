#!/usr/bin/env bash
# DDFCFS, DDWRR and ODDS on four ranks over MPI, whose workers wait in place of computing (stream_ranks.c): bench/stream_ranks.sh BUILDDIR OUT [WAVES [SCALE [LATE_MS]]].
# Prints a table and a line that compares the best of each. Skipped if there is no Open MPI.
set -euo pipefail
build=$(realpath "$1") out=$(realpath -m "$2")
cd "$(dirname "$0")/../.."
if ! command -v "${MPICC:-mpicc}" >/dev/null || ! mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    echo "skip stream-ranks: no Open MPI here; install it: apt-get install openmpi-bin libopenmpi-dev"
    exit 0
fi
mkdir -p "$out"
"${MPICC:-mpicc}" -std=c11 -O2 -D_GNU_SOURCE -Wall -Wextra -Wshadow -I. tests/bench/stream_ranks.c -o "$out/stream_ranks" -L"$build/lib" -ldf -lhwloc -pthread -lm -ldl -lrt \
    $(grep -oE -- '--coverage' "$build/obj/flags" | head -n 1)
root=; [ "$(id -u)" != 0 ] || root=--allow-run-as-root
mpirun $root --oversubscribe --bind-to none -n 4 "$out/stream_ranks" "${3:-26742}" "${4:-1}" "${5:-0}"
