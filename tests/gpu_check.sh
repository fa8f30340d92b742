#!/usr/bin/env bash
# The flows on a real GPU, each compared with the same program on the CPU alone: gpu_check.sh BUILDDIR (a build tree or a bundle).
# Where there is no GPU, or no nvcc, the programs are still compiled and started as far as they go, and the rest is counted as skipped.
# Prints a line for each case; the last line is `N passed, N failed, N skipped`.
set -u
cd "$(dirname "$0")/.."
source=$PWD build=$(realpath "$1")
dfc=$build/bin/dfc
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export DFC_PROFILE=$work/profile.db OPENBLAS_NUM_THREADS=1
passed=0 failed=0 skipped=0
pass() { echo "ok $1"; passed=$((passed + 1)); }
fail() { echo "not ok $1: $2"; failed=$((failed + 1)); }
skip() { echo "skip $1: $2"; skipped=$((skipped + 1)); }

if gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1) && [ -n "$gpu" ]; then
    echo "GPU: $gpu"
else
    gpu=''; echo 'GPU: none found'
fi
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
[ -n "$nvcc" ] && "$nvcc" --version | tail -n 2 | head -n 1

compile() { # NAME FILE.df [dfc options]: $work/NAME/app
    local name=$1 df=$2; shift 2
    mkdir -p "$work/$name"
    "$dfc" "$df" -o "$work/$name/app" "$@" >"$work/$name/log" 2>&1 || { fail "$name-compiles" "$(tail -n 5 "$work/$name/log")"; return 1; }
    pass "$name-compiles"
}
no_gpu_is_said() { # NAME ARGS…: asked for CUDA where there is none, a program says so and exits 1
    local name=$1; shift
    (cd "$work/$name" && ./app --device=cuda "$@") >/dev/null 2>"$work/$name/err"
    [ $? = 1 ] && grep -qiE 'no CUDA|no GPU|driver|nvcc' "$work/$name/err" && pass "$name-says-no-gpu" || fail "$name-says-no-gpu" "$(cat "$work/$name/err")"
}
compare() { # NAME ARGS…: sorted output on cuda under every policy against the cpu's
    local name=$1 policy set; shift
    if [ -z "$gpu" ]; then no_gpu_is_said "$name" "$@"; skip "$name-on-cuda" 'no GPU'; return; fi
    (cd "$work/$name" && ./app --device=none "$@") 2>"$work/$name/err" | sort >"$work/$name/want"
    for policy in eager ws dmda gp-thesis all-gpu; do
        for set in '' --gpu-jobs=1 --inflight=1; do
            # shellcheck disable=SC2086
            (cd "$work/$name" && timeout 120 ./app --device=cuda --policy=$policy $set --stats=json "$@") 2>"$work/$name/err" | sort >"$work/$name/got"
            if cmp -s "$work/$name/want" "$work/$name/got"; then pass "$name-$policy$set"; else
                fail "$name-$policy$set" "$(diff "$work/$name/want" "$work/$name/got" | head -n 3) $(tail -n 3 "$work/$name/err")"; fi
        done
    done
}

agree() { # NAME ARGS…: each cpu variant against its gpu variant, on the same inputs
    local name=$1; shift
    if [ -z "$gpu" ]; then skip "$name-variants" 'no GPU'; return; fi
    (cd "$work/$name" && timeout 120 ./app --device=cuda --check=variants "$@") >"$work/$name/out" 2>"$work/$name/err" &&
        grep -q -- '--check=variants: .* agree' "$work/$name/err" && pass "$name-variants" || fail "$name-variants" "$(tail -n 3 "$work/$name/err")"
}
planted() { # a wrong gpu variant, and one that never ends: both are named
    mkdir -p "$work/planted"
    cat >"$work/planted/p.df" <<'EOT'
arg spin: i32 = 0;
kernel make(out v: f32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = (float)i; }};
kernel half(in v: f32[k], out o: f32[k]; spin: i32) cpu {{ for (size_t i = 0; i < k; i++) o[i] = v[i] / 2; }} gpu "p.cu": half<<<(k + 255) / 256, 256>>>(v, o, k, spin);
kernel last(in o: f32[k]) cpu {{ }};
graph main { v: f32[1000] = make(); o = half(v, spin); last(o); }
EOT
    cat >"$work/planted/p.cu" <<'EOT'
__global__ void half(const float *v, float *o, size_t k, int spin)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    for (volatile int n = spin; n; n = spin)
        ;
    if (i < k)
        o[i] = v[i] / 2 + (i == 333);
}
EOT
    compile planted "$work/planted/p.df" || return
    if [ -z "$gpu" ]; then skip planted-found 'no GPU'; return; fi
    (cd "$work/planted" && timeout 120 ./app --device=cuda --check=variants) 2>"$work/planted/err"
    [ $? = 1 ] && grep -q "node 'main/half', wave 0: output 'o'\[333\]" "$work/planted/err" && pass planted-found || fail planted-found "$(cat "$work/planted/err")"
    (cd "$work/planted" && timeout 120 ./app --device=cuda --policy=all-gpu --spin=1 --watchdog=2s) 2>"$work/planted/err"
    [ $? = 1 ] && grep -q "node 'main/half', wave 0: has not ended after 2.00 s" "$work/planted/err" && pass planted-endless || fail planted-endless "$(cat "$work/planted/err")"
    (cd "$work/planted" && timeout 120 ./app --device=cuda --policy=all-gpu --poison --dump=main/half && ./app --device=none --dump=main/half --dump-dir=..) 2>"$work/planted/err"
    [ "$(cmp -l "$work/planted/main.half.o.0.npy" "$work/main.half.o.0.npy" | awk '{ print int(($1 - 129) / 4) }' | sort -u)" = 333 ] && pass planted-dump || fail planted-dump "$(cat "$work/planted/err")"
}

if [ -x "$build/tests/test_cuda" ]; then cuda_unit=$build/tests/test_cuda; else cuda_unit=$build/tests/unit/test_cuda; fi
if [ -x "$cuda_unit" ]; then
    CMOCKA_MESSAGE_OUTPUT=TAP "$cuda_unit" >"$work/unit" 2>&1; rc=$?
    grep -E '^(ok|not ok)' "$work/unit" | sed 's/^/  unit: /'
    if [ $rc != 0 ]; then fail unit-cuda "exit $rc: $(tail -n 5 "$work/unit")"
    elif grep -qi '# skip' "$work/unit"; then pass unit-cuda-without-gpu; [ -n "$gpu" ] || skip unit-cuda 'no GPU'
    else pass unit-cuda; fi
fi
if [ -z "$nvcc" ]; then
    skip programs 'no nvcc: gpu variants are not compiled'
else
    compile sum examples/sum/sum.df && compare sum --seed=3 && agree sum --seed=3
    planted
    "${CC:-cc}" -std=c11 -O2 -o "$work/generate" examples/matrix/generate.c
    for kind in mm ma mixed; do
        mkdir -p "$work/matrix-$kind"; cp examples/matrix/matrix.c examples/matrix/matrix.cu "$work/matrix-$kind/"
        "$work/generate" --kind=$kind --n=192 >"$work/matrix-$kind/g.df"
        compile "matrix-$kind" "$work/matrix-$kind/g.df" || continue
        # mixed rounds products of fractions, in an order that is the BLAS's own: check.py's tolerance decides there.
        if [ $kind != mixed ]; then compare "matrix-$kind"
        elif [ -n "$gpu" ]; then
            (cd "$work/matrix-mixed" && ./app --device=cuda --policy=dmda >got 2>err) &&
                python3 examples/matrix/check.py "$work/matrix-mixed/g.df" "$work/matrix-mixed/got" >/dev/null &&
                pass matrix-mixed-dmda || fail matrix-mixed-dmda "$(tail -n 3 "$work/matrix-mixed/err")"
        else skip matrix-mixed-on-cuda 'no GPU'; fi
    done
    L=(-I"$build/include" -L"$build/lib" -Wl,-rpath,"$build/lib")
    if "${CC:-cc}" -D_GNU_SOURCE -O2 "${L[@]}" -o "$work/synthetic" examples/photo/synthetic.c -lpng -lm &&
       "${CC:-cc}" -D_GNU_SOURCE -O2 "${L[@]}" -o "$work/check" examples/photo/check.c -lpng -lm && compile photo examples/photo/photo.df; then
        "$work/synthetic" 700 500 1 "$work/in.png"
        if [ -z "$gpu" ]; then no_gpu_is_said photo --input="$work/in.png" --output="$work/out.png"; skip photo-on-cuda 'no GPU'; else
            for policy in eager ws dmda gp-thesis all-gpu; do for set in '' --gpu-mem=1MiB; do
                rm -f "$work/out.png"
                if "$work/photo/app" --device=cuda --policy=$policy $set --input="$work/in.png" --output="$work/out.png" 2>"$work/err" &&
                   "$work/check" "$work/in.png" "$work/out.png" >"$work/err"; then pass "photo-$policy$set"; else fail "photo-$policy$set" "$(tail -n 3 "$work/err")"; fi
            done; done
        fi
    fi
    "${CC:-cc}" -c -O1 -I"$build/include" -o "$work/kernels.o" tests/random/kernels.c
    for seed in ${DF_GPU_SEEDS:-1 2 3}; do
        mkdir -p "$work/random-$seed"
        python3 tests/random/generate.py "$seed" "$work/kernels.o" "$source/tests/random/kernels.cu" 4 "$work/random-$seed/g.df" "$work/random-$seed/expected"
        compile "random-$seed" "$work/random-$seed/g.df" && compare "random-$seed" --waves=4 && agree "random-$seed" --waves=4
    done
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
