#!/bin/sh
# step5.sh PROGRAMS OUT cuda|emu: the machine is probed twice and the kernels of the matrix graph are measured; then `gp`, planned with that when
# the program starts, runs with its monitor (--guard) and recordings (--cuda-graphs) on and off, beside what a simulation predicts; and how many
# jobs --learn could time. PROGRAMS holds the programs that `step5.sh --programs` lists. OUT gets step5.csv,
# step5.log, step5.times and step5.probe.df, the platform probed first. See step.sh.
set -u
step=step5 budget_s=180
. "$(dirname "$0")/step.sh"
set_up_planned "measured   dfc SOURCES/measured.df -o measured" "$@"
n=1024; [ "$device" = cuda ] || n=48

figure_probed() { # FILE COLUMN: of the first GPU's row in the table of figures, which stands in comments
    awk -v column="$2" '$1 == "//" && $3 == "all" { print $column; found = 1; exit } END { exit !found }' "$1" && return
    grep 'was not measured' "$1" >&2
    return 1
}
probe_h2d() { probe "$1" && probed "$1" h2d; } # FILE: GB/s to the device
profile() { measure_times $n && time_us $n mm_gpu; }
cold() { # us of ma_gpu that finds nothing in the GPU's cache
    measure times $n ' cold=1' && awk -F'\t' '$1 == "sample" && $3 == "gpu" && $4 == "ma" { printf "%.6g", 1e6 * $9 }' "$work/lines"
}
gp() { # GUARD GRAPHS: ms a wave
    # shellcheck disable=SC2046
    s=$(wave_s 0 matrix --policy=gp --inflight=1 --guard="$1" --cuda-graphs="$2" $(costs $n)) || return
    cp "$work/stats" "$work/stats.$1.$2"
    calc "1e3 * $s"
}
replayed() { # GUARD GRAPHS: % of the GPU's jobs
    cp "$work/stats.$1.$2" "$work/stats" 2>/dev/null || { echo "gp did not run in this call" >&2; return 77; }
    jobs=$(gpu_jobs)
    [ "$jobs" -gt 0 ] || { echo 0; return; }
    calc "100 * $(statistic replayed) / $jobs"
}
gpu_jobs() { # of the last run: those of the workers that are no cpu's
    sed -n 's/.*"workers": \[\([^]]*\)\].*/\1/p' "$work/stats" | tr '}' '\n' | grep -v '"name": "cpu ' | sed -n 's/.*"jobs": \([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}
learned() { # POLICY IN-FLIGHT: % of the GPU's jobs that a run could time
    rm -rf "$work/learn.db.learned"
    DFC_PROFILE=$work/learn.db run measured --n=$n --policy="$1" --waves=40 --inflight="$2" --learn || return
    jobs=$(gpu_jobs)
    timed=$(cat "$work"/learn.db.learned/*.jsonl | grep '"variant": "gpu"' | sed -n 's/.*"runs": \([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
    echo "$1, $2 waves in flight: $timed of $jobs jobs of the GPU were timed" >&2
    if [ "$jobs" = 0 ] && [ "$1" != all-gpu ]; then echo "$1 gave the GPU no job" >&2; return 77; fi
    [ "$jobs" -gt 0 ] || { echo "no job ran on the GPU" >&2; return 1; }
    calc "100 * $timed / $jobs"
}
against() { # what was measured over what was predicted
    measured=$(value 'gp with --guard=on --cuda-graphs=auto') predicted=$(value 'gp predicted')
    if [ -z "$measured" ] || [ -z "$predicted" ]; then echo "one of the two is not known" >&2; return 77; fi
    calc "$measured / $predicted"
}
figures_probed() {
    once 'triad probed' GB/s figure_probed "$out/step5.probe.df" 7
    once 'f32 probed' Gflop/s figure_probed "$out/step5.probe.df" 8
    once 'f64 probed' Gflop/s figure_probed "$out/step5.probe.df" 9
    once 'dependent read probed' ns figure_probed "$out/step5.probe.df" 10
    once 'random reads probed' GB/s figure_probed "$out/step5.probe.df" 13
    once 'shared updates probed' M/s figure_probed "$out/step5.probe.df" 14
    once 'spread updates probed' M/s figure_probed "$out/step5.probe.df" 15
}
turn() {
    once 'h2d probed' GB/s probe_h2d "$out/step5.probe.df"
    once 'h2d probed again' GB/s probe_h2d "$work/again.df"
    plan_for "$out/step5.probe.df"
    once 'd2h probed' GB/s probed "$out/step5.probe.df" d2h
    once 'launch probed' us probed "$out/step5.probe.df" launch
    [ "$device" = emu ] || figures_probed # an emulated GPU has the host's
    once 'product on the GPU' us profile
    for kernel in mm_cpu ma_gpu ma_cpu; do once "time of $kernel" us time_us $n $kernel; done
    once 'time of ma_gpu with a cold cache' us cold
    once 'gp predicted' 'ms a wave' known $n predict_ms $n gp
    for guard in on off; do for graphs in auto on off; do
        figure "gp with --guard=$guard --cuda-graphs=$graphs" 'ms a wave' known $n gp $guard $graphs
    done; done
    for graphs in auto on; do figure "replayed with --guard=on --cuda-graphs=$graphs" "% of the GPU's jobs" replayed on $graphs; done
    for policy in all-gpu gp dmda; do
        for waves in 1 4; do once "learned under $policy with $waves in flight" "% of the GPU's jobs" learned $policy $waves; done
    done
}
in_turns turn
turn=1
once 'gp measured over predicted' times against
finish
