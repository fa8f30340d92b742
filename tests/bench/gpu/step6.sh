#!/bin/sh
# step6.sh PROGRAMS OUT cuda|emu: the mixed matrix graph under every policy and the default, in several sizes, after the machine was probed and
# each size's kernels were measured: all plan by that. Beside each stands what a simulation predicts for it.
# PROGRAMS holds the programs that `step6.sh --programs` lists. OUT gets step6.csv, step6.log, step6.times and
# step6.probe.df. See step.sh.
#   SIZES="512 1024 …"    rows of the matrices
#   POLICIES="gp ws …"    these alone, besides the default
#   WAVE_LIMIT_S=5        what is predicted to take longer for one wave is skipped
set -u
step=step6 budget_s=300
. "$(dirname "$0")/step.sh"
set_up_planned "times-gpu  dfc SOURCES/times-gpu.df -o times-gpu: not without nvcc" "$@"
sizes=${SIZES:-$([ "$device" = cuda ] && echo 512 1024 2048 4096 8192 || echo 48 96)}

probe_h2d() { probe "$out/step6.probe.df" && probed "$out/step6.probe.df" h2d; }
profile() { measure_times "$1" && time_us "$1" mm_gpu; } # N
policy() { # N POLICY: ms a wave
    ms=$(value "matrix of $1 under $2 predicted")
    if [ -n "$ms" ] && less "${WAVE_LIMIT_S:-5}" "1e-3 * $ms"; then echo "a wave is predicted to take $ms ms" >&2; return 77; fi
    option=--policy=$2; [ "$2" != default ] || option=
    # shellcheck disable=SC2046,SC2086
    s=$(wave_s "1e-3 * ${ms:-0}" matrix $option --inflight=1 $(costs "$1")) || return
    calc "1e3 * $s"
}
policies=${POLICIES:-$(policies_of matrix)}
turn() {
    once 'h2d probed' GB/s probe_h2d
    plan_for "$out/step6.probe.df"
    for n in $sizes; do
        once "product of $n rows on the GPU" us profile "$n"
        for p in default ${policies:-gp}; do
            [ "$p" = default ] || once "matrix of $n under $p predicted" 'ms a wave' known "$n" predict_ms "$n" "$p"
            figure "matrix of $n under $p" 'ms a wave' policy "$n" "$p"
        done
    done
}
in_turns turn
finish
