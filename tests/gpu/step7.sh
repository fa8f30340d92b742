#!/usr/bin/env bash
# Step 7: more random graphs, in little memory, under policies that know the order of jobs and others, in turns. step7.sh KIT OUT cuda|emu
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/case.sh"; . "$here/flow.sh"
case_begin 7 "$1" "$2" "$3" 240
find_gpu
policies=(all-gpu gp dmda heft ws peft gp-thesis eager)
evictions=0 runs=0
turn=0
for name in $(programs 'random-*'); do
    if [ -z "$gpu" ]; then skip "$name-in-little-memory" "$why"; continue; fi
    cp "$kit/programs/$name/expected" "$work/$name.want"; largest=$(cat "$kit/programs/$name/largest")
    for size in $largest $((largest * 3 / 2)) $((largest * 2)) $((largest * 4)); do for set in '' --gpu-jobs=3 --inflight=1 --cuda-graphs=on --evict=lru; do
        turn=$((turn + 1)) policy=${policies[turn % ${#policies[@]}]}
        want "$name-$policy-in-$size$set" || continue
        try "$name-$policy-in-$size$set" "$name" "$work/$name.want" --waves=4 --policy="$policy" --gpu-mem="$size" $set &&
            evictions=$((evictions + $(stat_sum evictions))) runs=$((runs + 1))
    done; done
done
[ $runs = 0 ] || figure 'evictions in little memory' $evictions "in $runs runs"
case_end
