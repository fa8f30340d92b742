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

# cuBLAS and its header: the toolkit's, else those of Python's packages, where the name that the linker looks for is missing.
blas=()
find_blas() {
    local top site dir lib
    top=$("$nvcc" --dryrun -x cu -E /dev/null 2>&1 | sed -n 's/^...TOP=//p')
    for dir in "$top" "$top/targets/x86_64-linux" /usr; do for lib in "$dir"/lib64 "$dir"/lib "$dir"/lib/x86_64-linux-gnu; do
        [ -e "$dir/include/cublas_v2.h" ] && [ -e "$lib/libcublas.so" ] && return 0
    done; done
    while read -r site; do for dir in "$site"/nvidia/cu[0-9]* "$site"/nvidia/cublas; do
        lib=$(ls "$dir"/lib/libcublas.so.* 2>/dev/null | head -n 1)
        if [ -z "$lib" ] || [ ! -e "$dir/include/cublas_v2.h" ]; then continue; fi
        mkdir -p "$work/blas/include" "$work/blas/lib"
        ln -sf "$dir"/include/cublas*.h "$work/blas/include/"; ln -sf "$lib" "$work/blas/lib/libcublas.so"
        blas=(-I "$work/blas/include" -L "$work/blas/lib")
        export LD_LIBRARY_PATH=$dir/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        return 0
    done; done < <(python3 -c 'import sys; print("\n".join(p for p in sys.path if p))' 2>/dev/null)
    return 1
}

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
        for set in '' --gpu-jobs=1 --inflight=1 --cuda-graphs=on --cuda-graphs=off --sync-kernels; do
            case $policy$set in eager?*|ws?*|gp-thesis?*) continue ;; esac # every run makes a context anew, which takes long
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

if [ -x "$cuda_unit" ]; then
    CMOCKA_MESSAGE_OUTPUT=TAP "$cuda_unit" >"$work/unit" 2>&1; rc=$?
    grep -E '^(ok|not ok)' "$work/unit" | sed 's/^/  unit: /'
    if [ $rc != 0 ]; then fail unit-cuda "exit $rc: $(tail -n 5 "$work/unit")"
    elif grep -qi '# skip' "$work/unit"; then pass unit-cuda-without-gpu; skip unit-cuda "${too_new:-no GPU}"
    else pass unit-cuda; fi
fi
if [ -z "$nvcc" ]; then
    skip programs 'no nvcc: gpu variants are not compiled'
else
    compile sum examples/sum/sum.df && compare sum --seed=3 && agree sum --seed=3
    planted
    ${CC:-cc} -std=c11 -O2 -o "$work/generate" examples/matrix/generate.c
    kinds='mm ma mixed'
    find_blas || { skip matrix 'no cuBLAS with its header, in the toolkit or among the packages of python3'; kinds=; }
    for kind in $kinds; do
        mkdir -p "$work/matrix-$kind"; cp examples/matrix/matrix.c examples/matrix/matrix.cu "$work/matrix-$kind/"
        "$work/generate" --kind=$kind --n=192 >"$work/matrix-$kind/g.df"
        compile "matrix-$kind" "$work/matrix-$kind/g.df" "${blas[@]}" || continue
        # mixed rounds products of fractions, in an order that is the BLAS's own: check.py's tolerance decides there.
        if [ $kind != mixed ]; then compare "matrix-$kind"
        elif ! command -v python3 >/dev/null; then skip matrix-mixed-on-cuda 'no python3, which checks it'
        elif [ -n "$gpu" ]; then
            (cd "$work/matrix-mixed" && ./app --device=cuda --policy=dmda >got 2>err) &&
                python3 examples/matrix/check.py "$work/matrix-mixed/g.df" "$work/matrix-mixed/got" >/dev/null &&
                pass matrix-mixed-dmda || fail matrix-mixed-dmda "$(tail -n 3 "$work/matrix-mixed/err")"
        else skip matrix-mixed-on-cuda 'no GPU'; fi
    done
    L=(-I"$build/include" -L"$build/lib" -Wl,-rpath,"$build/lib")
    if ${CC:-cc} -D_GNU_SOURCE -O2 "${L[@]}" -o "$work/synthetic" examples/photo/synthetic.c -lpng -lm &&
       ${CC:-cc} -D_GNU_SOURCE -O2 "${L[@]}" -o "$work/check" examples/photo/check.c -lpng -lm && compile photo examples/photo/photo.df; then
        "$work/synthetic" 700 500 1 "$work/in.png"
        if [ -z "$gpu" ]; then no_gpu_is_said photo --input="$work/in.png" --output="$work/out.png"; skip photo-on-cuda 'no GPU'; else
            for policy in eager ws dmda gp-thesis all-gpu; do for set in '' --gpu-mem=1MiB --pin=off; do
                rm -f "$work/out.png"
                if "$work/photo/app" --device=cuda --policy=$policy $set --input="$work/in.png" --output="$work/out.png" 2>"$work/err" &&
                   "$work/check" "$work/in.png" "$work/out.png" >"$work/err"; then pass "photo-$policy$set"; else fail "photo-$policy$set" "$(tail -n 3 "$work/err")"; fi
            done; done
        fi
    fi
    ${CC:-cc} -c -O1 -I"$build/include" -o "$work/kernels.o" tests/random/kernels.c
    command -v python3 >/dev/null || { skip random 'no python3, which makes the graphs'; DF_GPU_SEEDS=' '; }
    for seed in ${DF_GPU_SEEDS:-1 2 3}; do
        mkdir -p "$work/random-$seed"
        python3 tests/random/generate.py "$seed" "$work/kernels.o" "$source/tests/random/kernels.cu" 4 "$work/random-$seed/g.df" "$work/random-$seed/expected"
        compile "random-$seed" "$work/random-$seed/g.df" && compare "random-$seed" --waves=4 && agree "random-$seed" --waves=4
    done
fi
# Every way that a gpu variant can be given, every warning an error, for every architecture that this nvcc knows.
if [ -n "$nvcc" ]; then
    strict='-arch=all -Wno-deprecated-gpu-targets --threads=0 -Werror all-warnings -Xcompiler=-Wall,-Wextra,-Werror'
    mkdir -p "$work/ways"
    cat >"$work/ways/k.cu" <<'X'
#include <cuda_runtime.h>
static __global__ void twice(const int *a, int *b, size_t k) { size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < k) b[i] = 2 * a[i]; }
__global__ void turn(const int *a, int *b, size_t h, size_t w, int add) /* by tiles in shared memory */
{
    extern __shared__ int tile[];
    size_t x = blockIdx.x * (size_t)blockDim.x + threadIdx.x, y = blockIdx.y * (size_t)blockDim.y + threadIdx.y;
    if (x < w && y < h) tile[threadIdx.y * blockDim.x + threadIdx.x] = a[y * w + x] + add;
    __syncthreads();
    if (x < w && y < h) b[x * h + y] = tile[threadIdx.y * blockDim.x + threadIdx.x];
}
int waits_gpu(struct df_call *call, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b)
{
    int first = 0;
    cudaError_t e = cudaMemcpyAsync(&first, a, sizeof first, cudaMemcpyDeviceToHost, stream);
    if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
    if (e != cudaSuccess) return df_fail(call, "%s", cudaGetErrorString(e));
    twice<<<(unsigned)((k + 127) / 128), 128, 0, stream>>>(a, b, k);
    return first % 2 == 0 ? DF_OK : df_fail(call, "the first is %d", first);
}
int spoils_gpu(struct df_call *call, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b)
{
    static int calls; /* allocates, which no recording may: it is launched each time */
    void *room = NULL;
    calls++;
    if (cudaMalloc(&room, 256) != cudaSuccess) return df_fail(call, "no memory at call %d", calls);
    cudaFree(room);
    twice<<<(unsigned)((k + 127) / 128), 128, 0, stream>>>(a, b, k);
    return DF_OK;
}
static __global__ void shift(int *a, size_t k, int by) { size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < k) a[i] += by; }
int late_gpu(struct df_call *call, cudaStream_t stream, size_t k, int32_t *a) /* asks for the wave, so it is launched anew in each */
{
    shift<<<(unsigned)((k + 127) / 128), 128, 0, stream>>>(a, k, (int)df_wave(call));
    return DF_OK;
}
__global__ void plus(size_t k, const int *a, const int *b, int *c, int *t)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < k) { t[i] = b[i]; c[i] = a[i] + t[i]; }
}
static __global__ void crash(int *b) { *(volatile int *)((char *)b + (1ull << 44)) = 1; }
int breaks_gpu(struct df_call *, cudaStream_t stream, size_t, const int32_t *, int32_t *b) { crash<<<1, 1, 0, stream>>>(b); return DF_OK; }
X
    cat >"$work/ways/ways.df" <<'X'
kernel make(out a: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) a[i] = 2 * (int32_t)(i + (size_t)df_wave(call)); }};
kernel once_made(out a: i32[k]) once cpu {{ for (size_t i = 0; i < k; i++) a[i] = (int32_t)i % 5; }};
kernel square(in v: i32[k], out a: i32[h, w]) cpu {{ memcpy(a, v, k * sizeof *v); }} gpu {{
    cudaError_t e = cudaMemcpyAsync(a, v, k * sizeof *v, cudaMemcpyDeviceToDevice, stream);
    if (e != cudaSuccess) return df_fail(call, "%s", cudaGetErrorString(e));
}};
kernel turn(in a: i32[h, w], out b: i32[w, h]; add: i32) cpu {{ for (size_t y = 0; y < h; y++) for (size_t x = 0; x < w; x++) b[x * h + y] = a[y * w + x] + add; }}
    gpu "k.cu": turn<<<(w + 15) / 16, (h + 15) / 16, 16, 16, 4 * 16 * 16>>>(a, b, h, w, add);
kernel twice(in a: i32[h, w], out b: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) b[i] = 2 * a[i]; }} gpu "k.cu": twice<<<(k + 127) / 128, 128>>>(a, b, k);
kernel waits(in a: i32[k], out b: i32[k]) sync cpu {{ for (size_t i = 0; i < k; i++) b[i] = 2 * a[i]; }} gpu "k.cu";
kernel spoils(in a: i32[k], out b: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) b[i] = 2 * a[i]; }} gpu "k.cu";
kernel late(inout a: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) a[i] += (int32_t)df_wave(call); }} gpu "k.cu";
kernel plus(in a: i32[k], in b: i32[k], out c: i32[k], tmp t: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) { t[i] = b[i]; c[i] = a[i] + t[i]; } }}
    gpu "k.cu": plus<<<(k + 63) / 64, 64>>>;
kernel show(in v: i32[k]) ordered cpu {{ int64_t s = 0; for (size_t i = 0; i < k; i++) s = (s * 31 + v[i]) % 1000000007; printf("%ld\n", (long)s); }};
graph main {
    a: i32[600] = make(); c: i32[600] = once_made(); s: i32[20, 30] = square(a);
    t = turn(s, 3); u = turn(t, 4); v: i32[600] = twice(u); w = waits(v); x = spoils(w); y = late(x);
    z[0] = plus(y, c); for i in 0..8 { z[i + 1] = plus(z[i], c); }
    show(z[8]); show(v);
}
X
    compile ways "$work/ways/ways.df" --nvcc-flags="$strict" && compare ways --waves=20
    sed 's/spoils(in/breaks(in/; s/spoils(w)/breaks(w)/' "$work/ways/ways.df" >"$work/ways/broken.df"
    cp "$work/ways/k.cu" "$work/k.cu"; mkdir -p "$work/broken"; cp "$work/ways/k.cu" "$work/ways/broken.df" "$work/broken/"
    if compile broken "$work/broken/broken.df"; then
        if [ -z "$gpu" ]; then skip kernel-error-names-node 'no GPU'; else
            said=$(cd "$work/broken" && ./app --device=cuda --policy=all-gpu --sync-kernels 2>&1 >/dev/null); rc=$?
            [ $rc = 1 ] && grep -q "node 'main/breaks', wave 0: .*cudaErrorIllegalAddress" <<<"$said" && pass kernel-error-names-node || fail kernel-error-names-node "exit $rc: $said"
            said=$(cd "$work/broken" && timeout 120 ./app --device=cuda --policy=all-gpu --waves=20 2>&1 >/dev/null); rc=$?
            [ $rc = 1 ] && grep -q "node 'main/.*cudaErrorIllegalAddress" <<<"$said" && pass kernel-error-ends-run || fail kernel-error-ends-run "exit $rc: $said"
        fi
    fi
    for df in examples/sum/sum.df examples/photo/photo.df "$work"/matrix-mixed/g.df "$work"/random-1/g.df tests/bench/gpu/stream.df tests/bench/gpu/chain.df tests/bench/gpu/times.df; do
        [ -e "$df" ] || continue
        name=warnings-$(basename "$(dirname "$df")")-$(basename "$df" .df)
        "$dfc" "$df" -o "$work/strict" --nvcc-flags="$strict" "${blas[@]}" >"$work/log" 2>&1 && pass "$name" || fail "$name" "$(tail -n 5 "$work/log")"
    done
    "$nvcc" -std=c++17 -O2 $strict -o "$work/plain" tests/bench/gpu/plain.cu >"$work/log" 2>&1 && pass plain-compiles || fail plain-compiles "$(tail -n 5 "$work/log")"
    if [ -z "$gpu" ]; then
        "$work/plain" 1024 1 1 1 >/dev/null 2>"$work/err"
        [ $? = 1 ] && grep -qi 'error: cuda' "$work/err" && pass plain-says-no-gpu || fail plain-says-no-gpu "$(cat "$work/err")"
        skip figures 'no GPU'
    else # each figure is shown as it comes: the last ones may take longer than somebody can wait
        GPU_FLAGS="${blas[*]}" bash tests/bench/gpu/run.sh "$build" "$work/figures" cuda 2>"$work/err" | sed -u 's/^/  figure: /'
        if [ "${PIPESTATUS[0]}" = 0 ]; then pass figures; else fail figures "$(tail -n 5 "$work/err")"; fi
    fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
