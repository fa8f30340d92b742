#!/usr/bin/env bash
# Graphs of a million nodes: large.sh DFC DIR [N [SIDE]]. Compiles and runs a chain of 10^6 and a wavefront of 1000 x 1000, each written as a loop in a
# few lines, and prints seconds, peak memory and processor time of each step as CSV. The result is checked: the chain adds one a node, the wavefront counts
# its longest way.
set -euo pipefail
dfc=$1 n=${3:-1000000} side=${4:-1000}; mkdir -p "$2/large"; cd "$2/large"
cat >step.c <<'EOT'
#include <stdio.h>
int first_cpu(struct df_call *call, int32_t *a) { (void)call; *a = 0; return DF_OK; }
int next_cpu(struct df_call *call, const int32_t *a, int32_t *b) { (void)call; *b = *a + 1; return DF_OK; }
int both_cpu(struct df_call *call, const int32_t *a, const int32_t *b, int32_t *c) { (void)call; *c = (*a > *b ? *a : *b) + 1; return DF_OK; }
int print_cpu(struct df_call *call, const int32_t *a) { (void)call; printf("%d\n", *a); return DF_OK; }
EOT
kernels='kernel first(out a: i32[1]) cpu "step.c";
kernel next(in a: i32[1], out b: i32[1]) cpu "step.c";
kernel both(in a: i32[1], in b: i32[1], out c: i32[1]) cpu "step.c";
kernel print(in a: i32[1]) cpu "step.c";'
cat >chain.df <<EOT
param n = $n;
$kernels
graph main { A[0] = first(); for i in 0..n { A[i + 1] = next(A[i]); } print(A[n]); }
EOT
cat >wavefront.df <<EOT
param n = $side;
$kernels
graph main {
    W[0, 0] = first();
    for i in 1..n { W[i, 0] = next(W[i - 1, 0]); W[0, i] = next(W[0, i - 1]); }
    for i in 1..n { for j in 1..n { W[i, j] = both(W[i - 1, j], W[i, j - 1]); } }
    print(W[n - 1, n - 1]);
}
EOT
timed() { # LABEL COMMAND…: seconds and peak MiB of it, its output in ./out
    local label=$1; shift
    python3 - "$label" "$@" <<'EOT'
import resource, subprocess, sys, time
t = time.monotonic()
with open("out", "w") as out:
    rc = subprocess.run(sys.argv[2:], stdout=out).returncode
s = time.monotonic() - t
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = used.ru_utime + used.ru_stime
print(f"{sys.argv[1]},{s:.3f},{used.ru_maxrss / 1024:.0f},{cpu:.3f},{rc}", flush=True)
sys.exit(rc != 0)
EOT
}
echo step,seconds,peak_mib,cpu_s,exit
timed chain-compile "$dfc" chain.df -o chain
timed chain-run ./chain;     [ "$(cat out)" = "$n" ] || { echo "chain: wrong result $(cat out)"; exit 1; }
timed wavefront-compile "$dfc" wavefront.df -o wavefront
timed wavefront-run ./wavefront; [ "$(cat out)" = $((2 * side - 2)) ] || { echo "wavefront: wrong result $(cat out)"; exit 1; }
