#!/usr/bin/env bash
# The same 38-kernel graph with the same kernels, run for real on CPU workers by StarPU and by dfc, in turns: run.sh BUILDDIR [OUT].
#   RUNS=9 WAVES=5 WORKERS=2 SIZES=64,256 KIND=mm    counted runs of each, waves in a run, CPU workers, rows of the matrices, ma|mm|mixed
# StarPU: eager and dmda (after runs that fill its history of times). dfc, after dfc profile: what it does unasked (`default`), eager, dmda
# and gp. Every run's output must be the same. Prints the median time of a wave, and cpu time / wall time of the whole process (a stolen
# core shows); writes starpu.csv and starpu.md in OUT. Skipped, and counted, where StarPU is not installed (Debian: libstarpu-dev); installs nothing.
set -euo pipefail
cd "$(dirname "$0")/../../.."
build=$(realpath "$1") out=${2:-build/results/starpu}
runs=${RUNS:-9} waves=${WAVES:-5} workers=${WORKERS:-$(nproc)} kind=${KIND:-mm}
if ! pkg-config --exists starpu-1.3 || ! pkg-config --exists openblas; then
    echo "skip starpu: libstarpu-dev (pkg-config starpu-1.3) or libopenblas-dev is not installed"; echo "0 run, 1 skipped"; exit 0
fi
mkdir -p "$out/starpu"; out=$(realpath "$out")
export DFC_PROFILE=$out/profile.db OPENBLAS_NUM_THREADS=1
export STARPU_HOME=$out/starpu STARPU_NCPU=$workers STARPU_NCUDA=0 STARPU_NOPENCL=0 STARPU_SILENT=1 STARPU_HOSTNAME=here
cc -O2 -std=c11 -o "$out/generate" examples/matrix/generate.c
cp examples/matrix/matrix.c examples/matrix/matrix.cu "$out/"
# matrix.c as it is: what dfc's header would declare comes from the command line.
# shellcheck disable=SC2046
cc -O2 -std=gnu11 -c -DDF_OK=0 -include stddef.h -o "$out/kernels.o" -x c $(pkg-config --cflags openblas) - <<EOT
struct df_call; int df_fail(struct df_call *call, const char *format, ...);
#include "$out/matrix.c"
EOT
# shellcheck disable=SC2046
cc -O2 -std=gnu11 -Wall -Wextra -o "$out/matrix_starpu" tests/bench/starpu/matrix_starpu.c "$out/kernels.o" $(pkg-config --cflags --libs starpu-1.3 openblas)
ours=(default eager dmda); "$build/bin/dfc" simulate examples/sum/sum.df --policy=gp >/dev/null 2>&1 && ours+=(gp)
echo "n,system,policy,run,wave_s,cpu_over_wall" >"$out/starpu.csv"

once() { # N SYSTEM POLICY RUN: one run; its output goes to out.txt, its line to starpu.csv unless RUN is 0
    local n=$1 system=$2 policy=$3 run=$4 option=(--policy="$3") s share TIMEFORMAT='%R %U %S'
    [ "$policy" != default ] || option=()
    {   time if [ "$system" = StarPU ]; then STARPU_SCHED=$policy "$out/matrix_starpu" "$out/graph.txt" "$n" "$waves" >"$out/out.txt" 2>"$out/err.txt"
        else "$out/app-$n" "${option[@]}" --device=none --workers="$workers" --waves="$waves" --inflight=1 --stats=json,totals --stats-file=/dev/stderr >"$out/out.txt" 2>"$out/err.txt"; fi ||
            { echo "starpu: $system $policy, n = $n failed:"; cat "$out/err.txt"; exit 1; }
    } 2>"$out/time.txt"
    share=$(tail -n 1 "$out/time.txt" | awk '{ printf "%.2f", ($1 > 0 ? ($2 + $3) / $1 : 0) }')
    s=$(sed -n 's/.*"makespan_s": \([0-9.e+-]*\).*/\1/p' "$out/err.txt" | tail -n 1)
    sort "$out/out.txt" >"$out/sorted.txt"
    [ -e "$out/expected-$n.txt" ] || cp "$out/sorted.txt" "$out/expected-$n.txt"
    [ "$system" = StarPU ] || [ -n "$s" ] || { echo "starpu: $system $policy, n = $n: no time in --stats=json"; exit 1; }
    cmp -s "$out/sorted.txt" "$out/expected-$n.txt" || { echo "starpu: $system $policy, n = $n: another result"; exit 1; }
    [ "$run" = 0 ] || awk -v p="$n,$system,$policy,$run" -v s="$s" -v w="$waves" -v c="$share" 'BEGIN { printf "%s,%.9g,%s\n", p, s / w, c }' >>"$out/starpu.csv"
}
for n in $(tr , ' ' <<<"${SIZES:-64,256}"); do
    rm -f "$out/expected-$n.txt"
    "$out/generate" --kind="$kind" --n="$n" >"$out/graph.df"
    sed -nE 's/ *d([0-9]+).* = (m[am])\(d([0-9]+), d([0-9]+)\);/\2 \1 \3 \4/p; s/ *d([0-9]+).* = start\(([0-9]+)\);/start \1 \2/p
        s/ *report\(d([0-9]+), .*/report \1/p' "$out/graph.df" >"$out/graph.txt"
    "$build/bin/dfc" profile "$out/graph.df" --device=none --nvcc=none --max-time=0.5 >/dev/null 2>&1
    "$build/bin/dfc" "$out/graph.df" --device=none --nvcc=none --workers="$workers" -o "$out/app-$n" 2>/dev/null
    for _ in 1 2 3; do STARPU_CALIBRATE=1 once "$n" StarPU dmda 0; done
    for run in $(seq 0 "$runs"); do                    # run 0 warms up
        for policy in eager dmda; do once "$n" StarPU $policy "$run"; done
        for policy in "${ours[@]}"; do once "$n" dfc "$policy" "$run"; done
    done
done
python3 - "$out" "$waves" "$workers" "$kind" <<'EOT'
import csv, statistics, sys
out, waves, workers, kind = sys.argv[1:]
found, shares = {}, {}
for row in csv.DictReader(open(f"{out}/starpu.csv")):
    found.setdefault((row["n"], row["system"], row["policy"]), []).append(float(row["wave_s"]))
    shares.setdefault((row["n"], row["system"], row["policy"]), []).append(float(row["cpu_over_wall"]))
lines = [f"{kind}, 38 kernels, {workers} CPU workers, {waves} waves in a run; time of a wave", "",
         "| n | by | policy | median | fastest | middle half spans | cpu/wall | over the fastest median of its n |", "|---|---|---|---|---|---|---|---|"]
medians = {k: statistics.median(v) for k, v in found.items()}
for (n, system, policy), v in found.items():
    best = min(m for (other, _, _), m in medians.items() if other == n)
    q = statistics.quantiles(v, n=4, method="inclusive") if len(v) > 1 else [v[0]] * 3
    m = medians[n, system, policy]
    lines.append(f"| {n} | {system} | `{policy}` | {1e3 * m:.3g} ms | {1e3 * min(v):.3g} ms | {100 * (q[2] - q[0]) / m:.0f} % | "
                 f"{statistics.median(shares[n, system, policy]):.2f} | {m / best:.2f} |")
text = "\n".join(lines) + "\n"
open(f"{out}/starpu.md", "w").write(text)
print(text)
EOT
echo "$(pkg-config --modversion starpu-1.3 | sed 's/^/StarPU /'): all results equal; 1 run, 0 skipped"
