#!/usr/bin/env bash
# The job queue beside Concurrency Kit's: bench/queue.sh BUILDDIR OUT [--csv] [--runs=N] [ROW…], the rest as queue.c says.
# Skipped where Debian's libck-dev is not installed.
set -euo pipefail
build=$(realpath "$1") out=$(realpath -m "$2"); shift 2
cd "$(dirname "$0")/../.."
if ! echo '#include <ck_fifo.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
    echo "skip queue: no Concurrency Kit here; install it: apt-get install libck-dev"
    exit 0
fi
mkdir -p "$out"
${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -I. -o "$out/queue" tests/bench/queue.c "$build/lib/libdf.a" -pthread
"$out/queue" "$@"
