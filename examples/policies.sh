# policies.sh - what check.sh of several examples share: the same result under every policy, on the CPU and on devices, with all of their memory and with the
# least that the largest job needs, with 1 and with 8 waves in flight. Devices are the emulated GPU and, where a driver is installed, OpenCL's first device, with one
# and with three CPU workers, and beside the emulated GPU. Without FULL=1 a few policies stand for all; with QUICK=1 one, and the emulated GPU with the least memory.
# Needs $dfc, $here and verdict.

# least_memory TRY DEVICE [FROM]: sets $least to the smallest --gpu-mem with which every job fits in the device, from FROM bytes on.
least_memory() {
    local more=${3:-4096}
    while [ -n "$more" ]; do
        least=$more
        "$1" --device="$2" --policy=all-gpu --gpu-mem="$least" >run.out 2>run.log
        more=$(sed -nE 's/.*one job needs ([0-9]+) bytes of GPU memory.*/\1/p' run.log | sort -g | tail -n 1)
    done
}

# opencl_places NAME TRY EMULATED [FROM]: adds to the array $places those with OpenCL's device, or says why there is none. EMULATED: the least memory of the emulated GPU.
# A program without OpenCL code fails, unless NO_OPENCL=1 says that it has none.
opencl_places() {
    if ! "$dfc" doctor --quick | grep -q '^  ok .* OpenCL '; then echo "left out: $1 on OpenCL: there is no device"
    elif "$2" --device=opencl >run.out 2>run.log; then
        least_memory "$2" opencl "${4:-}"
        places+=('--device=opencl --workers=1' "--device=opencl --workers=1 --gpu-mem=$least" '--device=opencl --workers=3' "--device=opencl --workers=3 --gpu-mem=$least")
        least_memory "$2" emu,opencl $(($3 > least ? $3 : least))
        places+=(--device=emu,opencl "--device=emu,opencl --gpu-mem=$least")
    elif [ "${NO_OPENCL-}" ] && grep -q 'this program has no OpenCL code' run.log; then echo "left out: $1 on OpenCL: it has no OpenCL code"
    else verdict 1 "$1 on OpenCL: $(cat run.log)"; fi
}

# everywhere NAME TRY [FROM]: TRY OPTIONS… runs a program with these options and compares what it makes; its status is the verdict. FROM as for least_memory.
everywhere() {
    local name=$1 try=$2 bad=0 runs=0 least policies='eager ws dmda gp all-gpu' policy where inflight waves='1 8' places
    [ "${FULL-}" ] && policies=$("$dfc" simulate "$here/../graphs/cholesky.df" --policy=all --format=csv 2>/dev/null | tail -n +2 | cut -d, -f3 | sort -u)
    least_memory "$try" emu "${3:-}"
    if [ "${QUICK-}" ]; then policies=gp waves=8 places=("--device=emu --gpu-mem=$least")
    else
        places=(--device=none --device=emu "--device=emu --gpu-mem=$least")
        opencl_places "$name" "$try" "$least" "${3:-}"
    fi
    for policy in $policies; do for where in "${places[@]}"; do for inflight in $waves; do
        runs=$((runs + 1))
        # shellcheck disable=SC2086
        "$try" --policy="$policy" $where --inflight=$inflight >run.out 2>run.log && ! grep 'runs on the CPU' run.log >>run.out && continue
        cat run.out run.log
        verdict 1 "$name: --policy=$policy $where --inflight=$inflight"
        bad=1
    done; done; done
    verdict $bad "$name: the same in $runs runs: $(wc -w <<<"$policies") policies, $waves waves in flight, and each of:$(printf " [%s]" "${places[@]}")"
}
