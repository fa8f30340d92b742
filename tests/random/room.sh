#!/usr/bin/env bash
# Less GPU memory than is needed, for N random graphs and all examples: tests/random/room.sh BUILDDIR [N]. Shows how far it is; what
# fails is kept in BUILDDIR/room-failed/. The last line is `N passed, N failed, N skipped`.
set -u
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
mkdir -p "$build/room" && rm -rf "$build/room-failed"
${CC:-cc} -c -O1 -I "$build/include" -o "$build/room/kernels.o" tests/random/kernels.c || exit 1
python3 tests/random/room.py "$build/bin/dfc" "$build/room/kernels.o" tests/random/kernels.cu --graphs="${2:-1000}" \
    --examples=examples --keep="$build/room-failed" --must-gain > "$build/room/log"
grep -vE '^ok ' "$build/room/log"
passed=$(grep -c '^ok ' "$build/room/log"); failed=$(grep -c '^not ok ' "$build/room/log")
tail -n 1 "$build/room/log" | grep -q '^# .* failed$' || failed=$((failed + 1)) # it did not come to its end
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
