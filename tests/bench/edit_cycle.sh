#!/usr/bin/env bash
# What one turn of editing costs: edit_cycle.sh BUILDDIR. Prints a table of CPU seconds (user and system, of dfc, of the compilers that it runs and of the
# program), each the median of N runs: `dfc run` of edits/spots.df with an empty cache, after one formula was edited, and unchanged; of a graph of one
# formula; and dfc.compile() of a text in Python, whose interpreter needs NumPy.
#   N=5            runs of each
#   PYTHON3=…      the interpreter
set -euo pipefail
build=$(realpath "$1") sources=$(realpath "$(dirname "$0")/edits") dfc=$(realpath "$1")/bin/dfc
n=${N:-5} python=${PYTHON3:-python3} folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export DFC_CACHE=$folder/cache DFC_PROFILE=$folder/profile.db DFC_HOME=$build TIMEFORMAT='%U %S'
cp "$sources"/* "$folder" && cd "$folder"
printf 'kernel ramp(out v: i32[n]) { v[i] = 3 * i; }\ngraph main { v: i32[1000] = ramp() @quiet; }\n' >one.df
cat >twice.py <<'END'
import resource, sys
import dfc
text = "kernel twice(in a: f32[n], out b: f32[n]) { b[i] = 2 * a[i]; }\ngraph doubled(in a: f32[n], out b: f32[n]) { b = twice(a); }\n"
def seconds():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
for _ in range(2):
    began = seconds()
    dfc.compile(text)
    print(f"{seconds() - began:.3f}")
END

empty() { rm -rf "$DFC_CACHE"; }
edit() { sed -i "s/65[0-9]*\.0/65$((RANDOM % 900 + 100)).0/" spots.df; } # flatten's divisor
row() { # NAME MOST PREPARE FILE: runs FILE after PREPARE
    local i name=$1 most=$2 prepare=$3 file=$4
    for ((i = 0; i < n; i++)); do
        $prepare
        { time "$dfc" run "$file" >/dev/null; } 2>&1 | awk '{ print $1 + $2 }' >>"$folder/${name// /-}"
    done
    median "$name" "$most" <"$folder/${name// /-}"
}
median() { sort -n | awk -v name="$1" -v most="$2" '{ v[NR] = $1 } END { printf "| %s | %.2f | %s |\n", name, v[int((NR + 1) / 2)], most }'; }

echo '| `dfc run` | CPU s | at most |'; echo '|---|---|---|'
row 'nine kernels, empty cache' 6 empty spots.df
row 'one formula edited' 2 edit spots.df
row 'unchanged' 0.3 : spots.df
row 'one formula, empty cache' 0.8 empty one.df
if ! "$python" -c 'import numpy' 2>/dev/null; then echo "skip dfc.compile(): $python has no NumPy" >&2; exit 0; fi
export PYTHONPATH=$build/share/dfc/python
for ((i = 0; i < n; i++)); do empty; "$python" twice.py >both; head -n 1 both >>first; tail -n 1 both >>second; done
median 'dfc.compile(text), first' '' <first
median 'dfc.compile(text), second' 0.2 <second
