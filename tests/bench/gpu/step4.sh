#!/bin/sh
# step4.sh PROGRAMS OUT cuda|emu|opencl: copies, overlap and launches of a GPU through graphs, beside what CUDA alone reaches (plain).
# PROGRAMS holds the programs that `step4.sh --programs` lists. OUT gets step4.csv and step4.log. See step.sh.
# CUDA_DEVICE_MAX_CONNECTIONS is 8 and 32, code is loaded when it is first used and at the start (CUDA_MODULE_LOADING).
set -u
step=step4 budget_s=220 devices='cuda|emu|opencl'
if [ "${1-}" = --programs ]; then
    cat <<'EOT'
plain     nvcc -O2 -std=c++17 SOURCES/plain.cu -o plain
stream    dfc SOURCES/stream.df -o stream
small     dfc SOURCES/stream.df -D n=1024 -o small
both      dfc SOURCES/stream.df -D back=1048576 -o both
chain     dfc SOURCES/chain.df -o chain
chain300  dfc SOURCES/chain.df -D length=300 -o chain300
EOT
    exit
fi
. "$(dirname "$0")/step.sh"
set_up "$@"
token=4194304 # bytes of stream.df's

under() { # "MAX_CONNECTIONS LOADING" COMMAND…
    export CUDA_DEVICE_MAX_CONNECTIONS="${1%% *}" CUDA_MODULE_LOADING="${1#* }"
    shift
    "$@"
}
plain() { # NAME: one of the figures of plain.cu, which is run once a turn for all of them
    have plain || return
    told=$work/plain.$turn.$CUDA_DEVICE_MAX_CONNECTIONS.$CUDA_MODULE_LOADING
    [ -s "$told" ] || $timeout "$programs/plain" $token 1000 30 1000 >"$told" || { rm -f "$told"; return 1; }
    sed -n "s/^$1,\([^,]*\),.*/\1/p" "$told"
}
bandwidth() { # PROGRAM [OPTIONS]
    s=$(wave_s 0 "$@" --policy=all-gpu --inflight=8) || return
    calc "1e-9 * $token / $s"
}
overlap() { # SETTING JOBS: computing that takes as long as the copy; what copying and computing take together, of what could be best
    us=4204 # on the emulator: 10 us and 4 MiB at 1 GB/s
    if [ "$device" != emu ]; then
        us=$(value "h2d through a graph ($1)")
        if [ -z "$us" ]; then echo "it is not known how long a copy takes" >&2; return 1; fi
        us=$(awk "BEGIN { printf \"%d\", $token / $us / 1e3 + 0.5 }")
    fi
    asked=$us
    if [ "$device" = opencl ]; then # whose time of computing is no time
        asked=$(value "computing with --us=1000 ($1)")
        if [ -z "$asked" ]; then echo "it is not known how long computing takes" >&2; return 1; fi
        asked=$(awk "BEGIN { printf \"%d\", 1000 * $us / $asked + 0.5 }")
    fi
    s=$(wave_s 1e-6"*$us" stream --policy=all-gpu --inflight=8 --us="$asked" --gpu-jobs="$2") || return
    calc "100 * $us * 1e-6 / $s"
}
computing() { # us a wave, of which the copies are a small part
    s=$(wave_s 0 small --policy=all-gpu --inflight=8 --us=1000) || return
    calc "1e6 * $s"
}
launches() { # PROGRAM JOBS GRAPHS: us a job
    s=$(wave_s 0 "$1" --policy=all-gpu --inflight=1 --cuda-graphs="$3") || return
    cp "$work/stats" "$work/stats.$1.$3"
    calc "1e6 * $s / $2"
}
replayed() { # PROGRAM JOBS: % of the jobs, in the run before
    cp "$work/stats.$1.auto" "$work/stats" 2>/dev/null || { echo "the chain did not run in this call" >&2; return 77; }
    calc "100 * $(statistic replayed) / ($2 * $(statistic waves))"
}
start() { # ms of the first wave, which loads code
    run chain --policy=all-gpu --waves=1 || return
    calc "1e3 * $(statistic makespan_s)"
}
turn() {
    for setting in '32 LAZY' '32 EAGER' '8 LAZY' '8 EAGER'; do
        if [ "$device" != cuda ] && [ "$setting" != '32 LAZY' ]; then continue; fi # they are CUDA's
        if [ "$device" = cuda ]; then
            for name in 'plain h2d' 'plain d2h' 'plain h2d beside d2h'; do figure "$name ($setting)" GB/s under "$setting" plain "$name"; done
            for name in 'plain launches' 'plain graph'; do figure "$name ($setting)" 'us a kernel' under "$setting" plain "$name"; done
        fi
        figure "first wave of a chain ($setting)" ms under "$setting" start
        figure "h2d through a graph ($setting)" GB/s under "$setting" bandwidth stream
        figure "h2d beside d2h through a graph ($setting)" 'GB/s each' under "$setting" bandwidth both
        figure "h2d beside d2h through a graph of memory that is not pinned ($setting)" 'GB/s each' under "$setting" bandwidth both --pin=off
        [ "$device" != opencl ] || figure "computing with --us=1000 ($setting)" 'us' under "$setting" computing
        for jobs in $([ "$setting" = '32 LAZY' ] && echo 1 2) auto; do
            figure "overlap with --gpu-jobs=$jobs ($setting)" '% of max(copy; compute)' under "$setting" overlap "$setting" "$jobs"
        done
        for graphs in off $([ "$device" = opencl ] || echo auto); do # OpenCL records none
            figure "chain of 30 with --cuda-graphs=$graphs ($setting)" 'us a job' under "$setting" launches chain 30 $graphs
            figure "chain of 300 with --cuda-graphs=$graphs ($setting)" 'us a job' under "$setting" launches chain300 300 $graphs
        done
        [ "$device" != opencl ] || continue
        figure "replayed of the chain of 30 ($setting)" '% of the jobs' under "$setting" replayed chain 30
        figure "replayed of the chain of 300 ($setting)" '% of the jobs' under "$setting" replayed chain300 300
    done
}
in_turns turn
finish
