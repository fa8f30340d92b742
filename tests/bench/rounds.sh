#!/usr/bin/env bash
# A loop with 'while' beside a loop in C: bench/rounds.sh BUILDDIR OUT [N] [ROUNDS] [RUNS]. Both do Jacobi's step and the residual of f32[N, N] (4096), one pass over
# memory each, and give the same numbers. Prints the CPU time of a round on one core, without what comes before the rounds: the medians of RUNS (5) runs in
# turn, and their ratio. CPU time, so that other processes disturb less; nothing else should run all the same.
set -euo pipefail
build=$(realpath "$1") out=$(realpath -m "$2") n=${3:-4096} rounds=${4:-50} runs=${5:-5}
source=$(realpath "$(dirname "$0")")/rounds
mkdir -p "$out"
"$build/bin/dfc" "$source/jacobi.df" -o "$out/jacobi" --nvcc=none -D n="$n" -D most="$rounds" 2>/dev/null
"$build/bin/dfc" "$source/jacobi.df" -o "$out/jacobi-0" --nvcc=none -D n="$n" -D most=0 2>/dev/null
cc -O3 -march=native -ffp-contract=off -ffinite-math-only -fno-signed-zeros -fno-trapping-math "$source/hand.c" -o "$out/hand" -lm
[ "$("$out/jacobi" --workers=1)" = "$("$out/hand" "$n" "$rounds")" ] || echo "the numbers differ: $("$out/jacobi" --workers=1), $("$out/hand" "$n" "$rounds")"

# The user and system time of a command, in milliseconds.
cpu() {
    local times
    TIMEFORMAT='%U %S'
    times=$({ time "$@" >/dev/null 2>&1; } 2>&1)
    awk '{ printf "%.0f\n", 1000 * ($1 + $2) }' <<<"$times"
}
median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
for what in dfc dfc-0 hand hand-0; do : >"$out/$what.ms"; done
for _ in $(seq "$runs"); do
    cpu "$out/jacobi" --workers=1 >>"$out/dfc.ms"
    cpu "$out/hand" "$n" "$rounds" >>"$out/hand.ms"
    cpu "$out/jacobi-0" --workers=1 >>"$out/dfc-0.ms"
    cpu "$out/hand" "$n" 0 >>"$out/hand-0.ms"
done
awk -v rounds="$rounds" -v n="$n" -v a="$(median <"$out/dfc.ms")" -v a0="$(median <"$out/dfc-0.ms")" -v b="$(median <"$out/hand.ms")" -v b0="$(median <"$out/hand-0.ms")" \
    'BEGIN { ours = (a - a0) / rounds; theirs = (b - b0) / rounds; printf "%d x %d: a round takes %.2f ms of CPU as a loop with while, %.2f ms in C: %.3f\n", n, n, ours, theirs, ours / theirs }'
