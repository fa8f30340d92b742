#!/usr/bin/env bash
# Figures of a GPU's path: run.sh BUILDDIR OUT cuda|emu|opencl. Prints CSV (figure,value,unit), each value the median of its turns (step.sh):
#   copies, overlap, launches   those of step4.sh; on CUDA what plain CUDA reaches stands beside them
#   matrix                      the mixed matrix graph under every policy and the default. Before that the machine is probed, the kernels are
#                               profiled, and the program is built again with what they found
# A figure that could not be taken has no value, and says why; then the exit status is 1. On the emulator links have 1 GB/s, and computing is a
# pause, so that other load on the machine matters little. From outside: TURNS, MATRIX_N,
# MATRIX_POLICIES, GPU_FLAGS (more of dfc's options), NVCC.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 3 ] && [ -x "$1/bin/dfc" ] || { echo "usage: run.sh BUILDDIR OUT cuda|emu|opencl" >&2; exit 2; }
build=$(realpath "$1"); mkdir -p "$2" || exit 1; top=$(realpath "$2") where=$3 status=0
rm -rf "${top:?}"/{programs,src,figures,matrix,profile.db*}; mkdir -p "$top/programs"
sh "$here/sources.sh" "$top/src" || exit 1
ln -s "$build/bin/dfc" "$top/programs/dfc"
export DFC_PROFILE=$top/profile.db TURNS=${TURNS:-3}
read -ra flags <<<"${GPU_FLAGS:-}"
[ "$where" = cuda ] || flags+=(--nvcc=none)
if [ "$where" = cuda ]; then
    nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc)}
    "$nvcc" -O2 -std=c++17 -arch=all-major -Wno-deprecated-gpu-targets -o "$top/programs/plain" "$top/src/plain.cu" || exit 1
fi
as_csv() { # from a step's summary
    sed -n -e 's/,/;/g' -e 's/ (median of [0-9]*)$//' -e 's/^ok \(.*\) = \([^ ]*\) \(.*\)$/\1,\2,\3/p' -e 's/^not ok \([^:]*\): /\1,,failed: /p' -e 's/^skip \([^:]*\): /\1,,skipped: /p'
}
compile() { # DFC'S ARGUMENTS…
    "$build/bin/dfc" "$@" "${flags[@]}" 2>"$top/log" || { cat "$top/log" >&2; return 1; }
}
# The programs that step4.sh lists, as it says that they are built.
while read -r name how; do
    case $how in dfc\ *) ;; *) continue ;; esac
    read -ra arguments <<<"${how#dfc }"
    arguments=("${arguments[@]//SOURCES/$top/src}"); arguments[-1]=$top/programs/$name
    compile "${arguments[@]}" || exit 1
done < <(sh "$here/step4.sh" --programs)
echo figure,value,unit
sh "$here/step4.sh" "$top/programs" "$top/figures" "$where" | as_csv || status=1
[ "$where" != opencl ] || exit $status # the matrix graph is in CUDA

step=matrix budget_s=300
. "$here/step.sh"
set_up "$top/programs" "$top/matrix" "$where"
export DFC_PROFILE=$top/profile.db
n=${MATRIX_N:-$([ "$where" = cuda ] && echo 1024 || echo 96)}
graph=("$top/src/measured.df" -D "n=$n" "--device=$where" "--platform=$top/probe.df")
probe_h2d() { probe "$top/probe.df" && probed "$top/probe.df" h2d; }
profile() { # how many times `dfc profile` has found
    said=$("$build/bin/dfc" profile "${graph[@]}" "${flags[@]}" 2>"$top/log") || { tail -n 3 "$top/log" >&2; return 1; }
    sed -n 's/^\([0-9]*\) measured.*/\1/p' <<<"$said"
}
rebuild() { # ms of a wave by the plan that is built in then
    compile "${graph[@]}" -o "$top/programs/matrix" >&2 || return
    "$top/programs/matrix" --device=sim --platform="$top/probe.df" --policy=gp --inflight=1 --stats=json,totals --stats-file=/dev/stderr 2>"$work/stats" >/dev/null || { cat "$work/stats" >&2; return 1; }
    calc "1e3 * $(statistic makespan_s)"
}
policy() { # POLICY: ms a wave
    option=(--policy="$1"); [ "$1" != default ] || option=()
    s=$(wave_s 0 matrix "${option[@]}" --inflight=1) || return
    calc "1e3 * $s"
}
compare() {
    once 'h2d probed' GB/s probe_h2d
    plan_for "$top/probe.df"
    once 'times of the matrix graph measured' times profile
    once 'matrix under gp predicted' 'ms a wave' rebuild
    [ "$turn" -gt 1 ] || unasked=$(run matrix --inflight=1 2>/dev/null && sed -n 's/.*"policy": "\([^"]*\)".*/\1/p' "$work/stats")
    for p in default ${MATRIX_POLICIES:-$(policies_of matrix)}; do
        figure "matrix under $p$([ "$p" != default ] || echo " (${unasked:-unknown})")" 'ms a wave' policy "$p"
    done
}
in_turns compare
summary | tee -a "$log" | as_csv
exit $((status || $(grep -c . "$work/failed") > 0))
