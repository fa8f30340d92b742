#!/usr/bin/env bash
# run.sh - runs the fuzz targets at the same time, each on one core: run.sh BUILDDIR SECONDS [NAME]
#
# Each target goes on after a finding. What it found lies in BUILDDIR/found/TARGET/, and what it learned in BUILDDIR/corpus/TARGET/, where
# the next run begins. With FUZZ_RUNS=N a target ends after N executions, if the time allows; FUZZ_READER is for fuzz_files.c. At the end a row for each target says executions, coverage (cov: edges of the code; ft: features, which count how
# often an edge was taken, too) and findings. Exit status 1: there was a finding.
set -u
cd "$(dirname "$0")/../.."
build=$(realpath "$1") seconds=$2 name=${3:-}
corpus=$build/corpus
tests/fuzz/corpus.sh "$build" "$corpus" || exit 1
export ASAN_OPTIONS=allow_user_segv_handler=1 LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
targets=()
for t in "$build"/tests/fuzz_*; do
    t=${t##*/fuzz_}
    case $t in *.d) ;; *"$name"*) targets+=("$t") ;; esac
done
[ ${#targets[@]} -gt 0 ] || { echo "no fuzz target has '$name' in its name"; exit 2; }

# A target ends at its first finding, and begins again with what it has learned until the time is over.
drive() { # TARGET, in the folder for its findings
    local end=$((SECONDS + seconds))
    while [ $SECONDS -lt $end ]; do
        "$build/tests/fuzz_$1" -max_total_time=$((end - SECONDS)) -runs="${FUZZ_RUNS:--1}" -timeout=20 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
            -dict="$corpus/dictionary" -artifact_prefix="$PWD/" "$corpus/$1" && break
        sleep 1
    done >> log 2>&1
}
export -f drive; export build seconds corpus
for t in "${targets[@]}"; do
    found=$build/found/$t
    rm -rf "$found"; mkdir -p "$found"
    (cd "$found" && exec nice -n 15 bash -c 'drive "$1"' _ "$t") &
done
wait

status=0
for t in "${targets[@]}"; do
    found=$build/found/$t
    runs=$(awk '/^stat::number_of_executed_units/ { n += $2 } END { print n + 0 }' "$found/log")
    read -r cov ft <<<"$(sed -nE 's/.* cov: ([0-9]+) ft: ([0-9]+) .*/\1 \2/p' "$found/log" | tail -n 1)"
    n=$(find "$found" -type f ! -name log | wc -l)
    printf '%-8s %9s executions, cov %5s, ft %6s, %d findings\n' "$t" "$runs" "${cov:-0}" "${ft:-0}" "$n"
    [ "$n" = 0 ] || { status=1; find "$found" -type f ! -name log | sed 's/^/    /'; }
    [ "$runs" != 0 ] || { status=1; tail -n 5 "$found/log" | sed 's/^/    /'; }
done
exit $status
