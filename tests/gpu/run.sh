#!/usr/bin/env bash
# Runs steps of the kit: run.sh [--device=cuda|emu] [--out=DIR] STEP…, a STEP being a number from 1 to 7 or a range such as 1-3.
# Each prints its cases and figures and, last, `N passed, N failed, N skipped`, and leaves at most four files in DIR (out-cuda/ or
# out-emu/ beside this script). What stands there is not done again. BUDGET_S=SECONDS: no case or figure of a step begins after so long.
set -u
kit=$(cd "$(dirname "$(realpath "$0")")" && pwd)
device=cuda out='' steps=()
usage() { sed -n '2,4s/^# //p' "$kit/run.sh" >&2; exit 2; }
for word; do
    case $word in
        --device=cuda | --device=emu) device=${word#*=} ;;
        --out=?*) out=${word#*=} ;;
        [1-7]) steps+=("$word") ;;
        [1-7]-[1-7]) for n in 1 2 3 4 5 6 7; do [ $n -lt "${word%-*}" ] || [ $n -gt "${word#*-}" ] || steps+=($n); done ;;
        *) echo "run.sh: error: '$word' is no step and no option" >&2; usage ;;
    esac
done
[ ${#steps[@]} -gt 0 ] || usage
out=${out:-$kit/out-$device}; mkdir -p "$out" || exit 1
export OPENBLAS_NUM_THREADS=1 LC_ALL=C
[ "$device" = emu ] || export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES-0}
bad=0
for n in "${steps[@]}"; do
    begun=$SECONDS
    programs=$kit; case $n in [4-6]) programs=$kit/bench ;; esac
    bash "$kit/steps/step$n.sh" "$programs" "$out" "$device" || bad=1
    echo "step $n took $((SECONDS - begun)) s"
done
exit $bad
