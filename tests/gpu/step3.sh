#!/usr/bin/env bash
# Step 3: the flows, each with one seed: under every policy, with the options that change how a GPU is used, in too little memory, and with faults.
# step3.sh KIT OUT cuda|emu. What a flow prints is compared with what it prints on the CPU alone. RANDOM_FLOWS='random-*' is for all random graphs,
# POLICIES="gp ws" for these alone.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/case.sh"; . "$here/flow.sh"
case_begin 3 "$1" "$2" "$3" 240
find_gpu
sets='--gpu-jobs=1 --inflight=1 --cuda-graphs=on --cuda-graphs=off --sync-kernels'

compare() { # NAME ARG…
    local name=$1 policy set; shift
    if [ -z "$gpu" ]; then says_no_gpu "$name" "$@"; skip "$name-on-$device" "$why"; return; fi
    expected_of "$name" "$@"
    for policy in ${POLICIES:-$(policies_of "$name")}; do
        try "$name-$policy" "$name" "$work/$name.want" --policy="$policy" "$@"
        [ "$policy" != all-gpu ] || on_gpu "$name" "$@"
    done
    # Every run makes a context anew, which takes long: the options are for a policy of each kind.
    for policy in dmda gp all-gpu; do for set in $sets; do
        case " ${POLICIES:-$policy} " in *" $policy "*) ;; *) continue ;; esac
        try "$name-$policy$set" "$name" "$work/$name.want" --policy=$policy $set "$@"
    done; done
    try "$name-gp--guard=off" "$name" "$work/$name.want" --policy=gp --guard=off "$@"
}
on_gpu() { # NAME ARG…: under all-gpu it is the GPU that works
    want "$1-all-gpu-is-on-gpu" || return 0
    app "$1" --policy=all-gpu --stats=json --stats-file=/dev/stderr "${@:2}"
    figure "$1: jobs on the GPU" "$(gpu_jobs)" "jobs, $(stat_sum replayed) replayed"
    if [ "$(gpu_jobs)" -gt 0 ]; then pass "$1-all-gpu-is-on-gpu"; else fail "$1-all-gpu-is-on-gpu" "no job on a GPU: $(cat "$work/err")"; fi
}
agree() { # NAME ARG…: each cpu variant against its gpu variant, on the same inputs
    local one=$1-variants name=$1; shift
    if [ -z "$gpu" ]; then skip "$one" "$why"; return; fi
    want "$one" || return 0
    app "$name" --check=variants "$@" && grep -q -- '--check=variants: .* agree' "$work/err" && pass "$one" || fail "$one" "$(tail -n 3 "$work/err")"
}
evicted() { # NAME ARG…: in the memory of the largest job and in twice that
    local name=$1 policy size largest moved=0; shift
    if [ -z "$gpu" ]; then skip "$name-evicts" "$why"; return; fi
    largest=$(cat "$kit/programs/$name/largest")
    for policy in all-gpu gp dmda; do for size in $largest $((2 * largest)); do
        try "$name-$policy-in-$size" "$name" "$work/$name.want" --policy=$policy --gpu-mem="$size" "$@" && moved=$((moved + $(stat_sum evictions)))
    done; done
    want "$name-evicts" || return 0
    app "$name" --policy=all-gpu --gpu-mem="$largest" --stats=json --stats-file=/dev/stderr "$@"
    figure "$name in the memory of its largest job" "$(stat_sum evictions)" "evictions, $(stat_sum h2d_bytes) bytes to the GPU"
    if [ "$(stat_sum evictions)" -gt 0 ]; then pass "$name-evicts"; else fail "$name-evicts" "nothing was evicted: $(cat "$work/err")"; fi
}
picture() {
    local policy set
    if [ -z "$gpu" ]; then
        says_no_gpu photo --input="$kit/programs/photo/in.png" --output="$work/out.png"; skip "photo-on-$device" "$why"; return; fi
    for policy in ${POLICIES:-$(policies_of photo)}; do for set in '' --gpu-mem=1MiB --pin=off; do
        want "photo-$policy$set" || continue
        rm -f "$work/out.png"
        if app photo --policy="$policy" $set --input="$kit/programs/photo/in.png" --output="$work/out.png" &&
           "$kit/programs/photo/check" "$kit/programs/photo/in.png" "$work/out.png" >"$work/err" 2>&1; then pass "photo-$policy$set"; else
            fail "photo-$policy$set" "$(tail -n 3 "$work/err")"; fi
    done; done
}
planted() { # a wrong gpu variant, and one that never ends: both are named
    if [ "$device" != cuda ]; then return; fi       # the emulated GPU runs the cpu variant, which is right
    if [ -z "$gpu" ]; then skip planted-found "$why"; return; fi
    if want planted-found; then
        app planted --check=variants
        [ $? = 1 ] && grep -q "node 'main/half', wave 0: output 'o'\[333\]" "$work/err" && pass planted-found || fail planted-found "$(cat "$work/err")"
    fi
    if want planted-endless; then
        app planted --policy=all-gpu --spin=1 --watchdog=2s
        [ $? = 1 ] && grep -q "node 'main/half', wave 0: has not ended after 2.00 s" "$work/err" && pass planted-endless || fail planted-endless "$(cat "$work/err")"
    fi
    want planted-dump || return 0
    mkdir -p "$work/cpu"
    app planted --policy=all-gpu --poison --dump=main/half && alone planted --dump=main/half --dump-dir="$work/cpu"
    [ "$(cmp -l "$work/main.half.o.0.npy" "$work/cpu/main.half.o.0.npy" | awk '{ print int(($1 - 129) / 4) }' | sort -u)" = 333 ] && pass planted-dump ||
        fail planted-dump "$(cat "$work/err")"
}
fault() { # CASE PATTERN NAME ARG…: the run ends with status 1, and says that
    local one=$1 pattern=$2 rc; shift 2
    want "$one" || return 0
    app "$@"; rc=$?
    [ $rc = 1 ] && grep -q "$pattern" "$work/err" && pass "$one" || fail "$one" "exit $rc: $(cat "$work/err")"
}
faults() {
    local what
    if [ "$device" = emu ]; then
        for what in launch:2 copy:3 late-launch:1 late-copy:2 alloc:1; do
            export DF_EMU_TRIAL=fail=$what; fault "fault-$what" "error: .*emu0.*as asked for" ways --policy=all-gpu --waves=20; unset DF_EMU_TRIAL
        done
    elif [ -z "$gpu" ]; then skip kernel-error-names-node "$why"; skip kernel-error-ends-run "$why"; return
    else
        fault kernel-error-names-node "node 'main/breaks', wave 0: .*cudaErrorIllegalAddress" broken --policy=all-gpu --sync-kernels
        fault kernel-error-ends-run "node 'main/.*cudaErrorIllegalAddress" broken --policy=all-gpu --waves=20
    fi
    expected_of sum --seed=3
    try after-faults sum "$work/sum.want" --seed=3 --policy=all-gpu # the GPU is as it was
}
for name in $(programs sum) $(programs ways) $(programs "${RANDOM_FLOWS:-random-1}"); do
    case $name in
        sum) compare sum --seed=3; agree sum --seed=3 ;;
        ways) compare ways --waves=20 ;;
        *) compare "$name" --waves=4; agree "$name" --waves=4; evicted "$name" --waves=4 ;;
    esac
done
[ ! -x "$kit/programs/planted/app" ] || planted
[ ! -x "$kit/programs/broken/app" ] || faults
[ ! -x "$kit/programs/photo/app" ] || picture
for name in $(programs 'matrix-*'); do compare "$name"; done
case_end
