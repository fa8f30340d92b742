# policies.sh - what check.sh of several examples share: the same result under every policy, on the CPU and on the emulated GPU, with all of its memory and with
# the least that the largest job needs, with 1 and with 8 waves in flight. Without FULL=1 a few policies stand for all. Needs $dfc, $here and verdict.

# everywhere NAME TRY: TRY OPTIONS… runs a program with these options and compares what it makes; its status is the verdict.
everywhere() {
    local name=$1 try=$2 bad=0 runs=0 least=4096 more=4096 policies='eager ws dmda gp all-gpu' policy where inflight
    [ "${FULL-}" ] && policies=$("$dfc" simulate "$here/../graphs/cholesky.df" --policy=all --format=csv 2>/dev/null | tail -n +2 | cut -d, -f3 | sort -u)
    while [ -n "$more" ]; do
        least=$more
        "$try" --device=emu --policy=all-gpu --gpu-mem="$least" >run.out 2>run.log
        more=$(sed -nE 's/.*one job needs ([0-9]+) bytes of GPU memory.*/\1/p' run.log | sort -g | tail -n 1)
    done
    for policy in $policies; do for where in --device=none --device=emu "--device=emu --gpu-mem=$least"; do for inflight in 1 8; do
        runs=$((runs + 1))
        # shellcheck disable=SC2086
        "$try" --policy="$policy" $where --inflight=$inflight >run.out 2>run.log && continue
        cat run.out run.log
        verdict 1 "$name: --policy=$policy $where --inflight=$inflight"
        bad=1
    done; done; done
    verdict $bad "$name: the same in $runs runs: $(echo "$policies" | wc -w) policies, CPU and emulated GPU, all and $least bytes of its memory, 1 and 8 waves in flight"
}
