#!/usr/bin/env bash
# The flows on a real GPU, each compared with the same program on the CPU alone: gpu_check.sh BUILDDIR (a build tree or a bundle).
# Where there is no GPU, the programs are still compiled and started as far as they go, and the rest is counted as skipped. Without nvcc, programs
# that were made beforehand are run, which a bundle has (programs.tar.gz). tests/gpu/programs.sh makes the programs, step3.sh and step7.sh run them.
# Prints a line for each case; the last line is `N passed, N failed, N skipped`.
set -u
cd "$(dirname "$0")/.."
source=$PWD build=$(realpath "$1")
dfc=$build/bin/dfc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
kit=$work/kit; mkdir -p "$kit/programs"; ln -s "$build/lib" "$kit/lib"
export DFC_PROFILE=$work/profile.db OPENBLAS_NUM_THREADS=1 LC_ALL=C
pass() { echo "ok $1"; }
fail() { echo "not ok $1: $2"; }
skip() { echo "skip $1: $2"; }

# Whether there is a GPU is what CUDA says: nvidia-smi may be missing, and knows nothing of CUDA_VISIBLE_DEVICES.
if [ -x "$build/tests/test_cuda" ]; then cuda_unit=$build/tests/test_cuda; else cuda_unit=$build/tests/unit/test_cuda; fi
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
why=$("$cuda_unit" 2>&1 | sed -n 's/^no GPU: //p' | head -n 1)
nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)}
[ "$nvcc" != none ] || nvcc=''
# A bundle's own CUDA may be newer than the driver here. Programs are linked with that of this machine's nvcc: they decide.
too_new=''
case $why in *'this program needs one for CUDA'*)
    if [ -n "$nvcc" ] && "$dfc" examples/sum/sum.df -o "$work/first" 2>/dev/null >&2 && "$work/first" --device=cuda >/dev/null 2>&1; then
        too_new=$why why=''
    fi ;;
esac
if [ -z "$why" ]; then gpu=${gpu:-of a name that is not known here}; echo "GPU: $gpu"
else
    [ -z "$gpu" ] || echo "nvidia-smi shows '$gpu', but CUDA cannot use it"
    gpu=''; echo "GPU: none found ($why)"
fi
[ -n "$nvcc" ] && "$nvcc" --version | tail -n 2 | head -n 1

unit() {
    [ -x "$cuda_unit" ] || return
    CMOCKA_MESSAGE_OUTPUT=TAP "$cuda_unit" >"$work/unit" 2>&1; rc=$?
    grep -E '^(ok|not ok)' "$work/unit" | sed 's/^/  unit: /'
    if [ $rc != 0 ]; then fail unit-cuda "exit $rc: $(tail -n 5 "$work/unit")"
    elif grep -qi '# skip' "$work/unit"; then pass unit-cuda-without-gpu; skip unit-cuda "${too_new:-no GPU}"
    else pass unit-cuda; fi
}
programs() { # in $kit/programs
    local names='sum planted ways broken photo matrix-mm matrix-ma matrix-mixed' seed
    if [ -z "$nvcc" ]; then
        if [ -e "$build/programs.tar.gz" ]; then tar -xzf "$build/programs.tar.gz" -C "$kit"; pass programs-made-beforehand
        else skip programs 'no nvcc, and no programs that were made beforehand'; fi
        return
    fi
    if command -v python3 >/dev/null; then for seed in ${DF_GPU_SEEDS:-1 2 3}; do names+=" random-$seed"; done; else
        skip random 'no python3, which makes the graphs'; fi
    # shellcheck disable=SC2086
    tests/gpu/programs.sh "$build" "$kit/programs" $names
}
step() { # N: without its own sum
    BUDGET_S=${BUDGET_S:-100000} RANDOM_FLOWS='random-*' bash "tests/gpu/step$1.sh" "$kit" "$work/out" cuda | sed -u '1d; /^[0-9]* passed, /d; s/^figure /  figure: /'
}
warnings() { # every warning an error, for every architecture that this nvcc knows
    local strict='-arch=all -Wno-deprecated-gpu-targets --threads=0 -Werror all-warnings -Xcompiler=-Wall,-Wextra,-Werror' df name
    sh tests/bench/gpu/sources.sh "$work/bench" >"$work/log" 2>&1 || fail bench-sources "$(tail -n 5 "$work/log")"
    tests/photo/written.sh "$PWD/tests/photo" >"$work/written.df"
    for df in examples/sum/sum.df examples/photo/photo.df "$work/written.df" "$kit"/programs/matrix-mixed/g.df "$kit"/programs/random-1/g.df tests/gpu/flows/ways.df "$work"/bench/{stream,chain,times}.df; do
        [ -e "$df" ] || continue
        name=warnings-$(basename "$(dirname "$df")")-$(basename "$df" .df)
        "$dfc" "$df" -o "$work/strict" --nvcc-flags="$strict" >"$work/log" 2>&1 && pass "$name" || fail "$name" "$(tail -n 5 "$work/log")"
    done
    "$nvcc" -std=c++17 -O2 $strict -o "$work/plain" tests/bench/gpu/plain.cu >"$work/log" 2>&1 && pass plain-compiles || fail plain-compiles "$(tail -n 5 "$work/log")"
}
figures() {
    if [ -z "$gpu" ]; then
        "$work/plain" 1024 1 1 1 >/dev/null 2>"$work/err"
        [ $? = 1 ] && grep -qi 'error: cuda' "$work/err" && pass plain-says-no-gpu || fail plain-says-no-gpu "$(cat "$work/err")"
        skip figures 'no GPU'
    else # each figure is shown as it comes: the last ones may take longer than somebody can wait
        bash tests/bench/gpu/run.sh "$build" "$work/figures" cuda 2>"$work/err" | sed -u 's/^/  figure: /'
        if [ "${PIPESTATUS[0]}" = 0 ]; then pass figures; else fail figures "$(tail -n 5 "$work/err")"; fi
    fi
}
all() {
    unit
    programs
    if [ -n "$(ls "$kit/programs")" ]; then step 3; step 7; fi
    if [ -n "$nvcc" ]; then warnings; figures; fi
}
all | tee "$work/all"
count() { grep -c "^$1 " "$work/all"; }
failed=$(count 'not ok')
echo "$(count ok) passed, $failed failed, $(count skip) skipped"
[ "$failed" = 0 ]
