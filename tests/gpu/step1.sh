#!/usr/bin/env bash
# Step 1: the machine, driver and toolkit; the device's own tests; one kernel; one compilation if nvcc is here. step1.sh KIT OUT cuda|emu
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/case.sh"; . "$here/flow.sh"
case_begin 1 "$1" "$2" "$3" 90
find_gpu

machine() { # a line each: what this is
    say "# system: $(uname -srm), $(nproc) processors, $(awk '/^MemTotal/ { printf "%.1f GiB", $2 / 1048576 }' /proc/meminfo), $(getconf GNU_LIBC_VERSION 2>/dev/null || echo 'glibc of unknown version')"
    say "# processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
    say "# driver: $(head -n 1 /proc/driver/nvidia/version 2>/dev/null || echo 'none told in /proc')"
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi --query-gpu=index,name,memory.total,memory.used,clocks.sm,clocks.max.sm,pcie.link.gen.max,pcie.link.width.max,compute_cap --format=csv,noheader 2>&1 |
            while read -r line; do say "# GPU: $line"; done
    fi
    nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)}
    [ "$nvcc" != none ] || nvcc=''
    say "# nvcc: $([ -n "$nvcc" ] && "$nvcc" --version | sed -n 's/^Cuda compilation tools, //p' || echo none)"
}
unit() { # the device's own tests
    local test=test_cuda rc
    [ "$device" = cuda ] || test=test_emu
    want unit || return 0
    CMOCKA_MESSAGE_OUTPUT=TAP timeout 60 "$kit/bin/$test" >"$work/unit" 2>&1; rc=$?
    if [ $rc != 0 ]; then fail unit "exit $rc: $(tail -n 5 "$work/unit")"
    elif grep -qi '# skip' "$work/unit"; then skip unit "${why:-no GPU}"
    else pass unit; fi
}
kernel() { # by one kernel: it was the GPU that did it
    local begun=$EPOCHREALTIME
    if [ -z "$gpu" ]; then says_no_gpu sum; skip kernel "$why"; return; fi
    expected_of sum --seed=3
    try kernel sum "$work/sum.want" --seed=3 --policy=all-gpu || return
    want kernel-on-gpu || return 0
    app sum --seed=3 --policy=all-gpu --stats=json --stats-file=/dev/stderr
    figure 'a run of one kernel, start to end' "$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')" s
    if [ "$(gpu_jobs)" = 1 ]; then pass kernel-on-gpu; else fail kernel-on-gpu "$(gpu_jobs) jobs on a GPU: $(cat "$work/err")"; fi
}
plain() { # CUDA without dfc: if this fails too, it is the machine
    [ "$device" = cuda ] && want plain || return 0
    if [ ! -x "$kit/bench/plain" ]; then skip plain 'it was not made'
    elif [ -z "$gpu" ]; then skip plain "$why"
    elif timeout 60 "$kit/bench/plain" 4194304 100 30 100 >"$work/got" 2>"$work/err"; then
        while IFS=, read -r a b c; do figure "$a" "$b" "$c"; done <"$work/got"; pass plain
    else fail plain "$(cat "$work/err")"; fi
}
compile() { # the whole way on this machine
    want compile || return 0
    if [ -z "$nvcc" ]; then skip compile 'no nvcc'; return; fi
    read -ra cc <<<"${CC:-cc}"; command -v "${cc[0]}" >/dev/null || { skip compile 'no C compiler'; return; }
    cp -r "$kit/programs/sum" "$work/compiled"; rm -f "$work/compiled/app"
    if ! (cd "$work/compiled" && DFC_PROFILE=$work/profile.db timeout 280 "$kit/bin/dfc" sum.df -o app --nvcc="$nvcc") >"$work/err" 2>&1; then
        fail compile "$(tail -n 5 "$work/err")"; return; fi
    if [ -z "$gpu" ]; then pass compile; skip compiled-runs "$why"; return; fi
    expected_of sum --seed=3
    "$work/compiled/app" --seed=3 --device="$device" --policy=all-gpu 2>"$work/err" | sort | cmp -s - "$work/sum.want" && pass compile || fail compile "$(cat "$work/err")"
}
machine
unit
kernel
plain
compile
case_end
