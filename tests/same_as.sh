#!/usr/bin/env bash
# Whether two dfc's plan and simulate alike, byte for byte: same_as.sh OLD_DFC NEW_DFC FOLDER…
#
# Takes each .df file of the folders. Of each it compares the plans of gp and heft (--emit=plan; dmda has none, it decides in the run) and the
# simulations of gp, heft and dmda (CSV, without the column plan_ms, which is a measured time). A file of which the old dfc makes nothing, such as
# a platform alone, must be refused by the new one too. Prints how many files were compared, and `the same bytes` or the names that differ.
set -uo pipefail
[ $# -ge 3 ] || { echo "usage: same_as.sh OLD_DFC NEW_DFC FOLDER..." >&2; exit 2; }
old=$(realpath "$1") new=$(realpath "$2"); shift 2
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export LC_ALL=C DFC_PROFILE=$work/none.db       # times of this machine are not asked for

outputs() { # DFC FILE INTO: what is compared, one file each; the exit statuses in the last
    local dfc=$1 file=$2 into=$3 policy
    mkdir "$into"
    for policy in gp heft; do "$dfc" "$file" --policy=$policy --emit=plan >"$into/$policy.plan" 2>/dev/null; echo "$policy.plan $?" >>"$into/status"; done
    "$dfc" simulate "$file" --policy=gp,heft,dmda --format=csv 2>/dev/null | sed 's/,[^,]*$//' >"$into/simulate.csv"
    echo "simulate ${PIPESTATUS[0]}" >>"$into/status"
}
compare() { # FILE: NAME, and what differs or `refused`
    local file=$1 at=$work/$BASHPID
    cd "$(dirname "$file")" || exit 1
    outputs "$old" "$(basename "$file")" "$at.old"; outputs "$new" "$(basename "$file")" "$at.new"
    if ! diff -rq "$at.old" "$at.new" >"$at.diff"; then echo "differs $file: $(sed "s,.*/,," "$at.diff" | sed 's/ differ$//' | tr '\n' ' ')"
    elif [ -s "$at.old/gp.plan" ] && [ -s "$at.old/simulate.csv" ]; then echo "same $file"
    else echo "refused $file"; fi
    rm -rf "$at.old" "$at.new" "$at.diff"
}
export -f outputs compare; export old new work
for folder; do find "$(realpath "$folder")" -maxdepth 1 -name '*.df'; done | sort -u |
    xargs -P "$(nproc)" -d '\n' -I{} bash -c 'compare "$1"' _ {} >"$work/said"
compared=$(grep -cE '^(same|differs)' "$work/said") refused=$(grep -c '^refused' "$work/said") different=$(grep -c '^differs' "$work/said")
sort "$work/said" | grep '^differs'
echo "$compared files compared, $refused refused by both"
[ "$compared" -gt 0 ] || { echo "nothing was compared"; exit 1; }
[ "$different" = 0 ] || { echo "$different differ"; exit 1; }
echo "the same bytes"
