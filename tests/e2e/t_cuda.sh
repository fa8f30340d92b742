# gpu variants: every way to give one compiles and links with nvcc, mistakes point at the user's file, and without a GPU the program
# still starts and runs on the CPU. What runs on a GPU is gpu-check's.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -z "$nvcc" ]; then skip cuda "no nvcc here"; exit 0; fi
if [ ! -e "$DF_BUILD/lib/libdf-cuda.a" ]; then skip cuda "this dfc was built without CUDA"; exit 0; fi

mkdir 'my kernels'
cp "$programs/k.cu" 'my kernels/k.cu'
echo '#define PLUS 1' > 'my kernels/plus.h'
cp "$programs/host.c" 'my kernels/host.c'
cp "$programs/all.df" .
seq 3 6 > expected
one=--nvcc-flags=-arch=compute_80 # one architecture: quicker
check all-ways-compile "$DFC" all.df -o all -MD $one
printf 'all: all.done\ninclude all.d\nall.done: all\n\ttouch all.done\n' > all.mk
touch all.done; expect dependencies-are-files 0 '^' make -q -f all.mk
grep -q "inline" all.d && fail dependencies-no-made-up-names "$(grep inline all.d)" || pass dependencies-no-made-up-names
./all --device=none > out; same all-ways-on-cpu out expected
./all --device=emu > out; same all-ways-emulated out expected
if ! find "$DF_BUILD/tests" -name test_cuda -exec {} \; 2>&1 | grep -q "^no GPU: "; then # what CUDA says, not nvidia-smi
    ./all --device=cuda > out; same all-ways-on-cuda out expected
else
    expect no-gpu-says-so 1 'no cuda device' ./all --device=cuda
    expect auto-says-why 0 '^all: runs on the CPU alone: .*(driver|GPU)' ./all --log=info
fi
expect needs-nvcc 1 "all.df:2:.* error: the cpu variant of 'first' is in a .cu file, which needs nvcc" "$DFC" all.df -o all --nvcc=none

# Errors in the code, at the user's lines: one of each kind, in one compilation.
cp 'my kernels/plus.h' .
sed 's/my kernels\/k.cu/k2.cu/g' all.df > wrong.df
sed -e 's/b\[i\] = a\[i\] + PLUS;/b[i] = nonsense;/' -e 's/first_gpu(struct df_call \*call, cudaStream_t stream, size_t k, const/first_gpu(struct df_call *call, cudaStream_t stream, int k, const/' \
    'my kernels/k.cu' > k2.cu
sed -e 's/return df_fail(call, "%s", cuda/return nonsense(call, "%s", cuda/' -e 's/launch(stream, k, a, b)/launch(stream, a, b)/' \
    -e 's/>>>(k, a, b)/>>>(a, k, b)/' -e 's/4 \* tile \* n>>>/0>>>(h, w, a, b)/' wrong.df > errors.df
"$DFC" errors.df -o errors $one > errors.log 2>&1; rc=$?
said() { cat errors.log; return $rc; }
expect error-line 1 '^k2.cu\(6\): error: identifier "nonsense"' said
expect overload 1 "^k2.cu\(8\): error: .*'first_gpu' differs" said     # in place of the function that was declared
expect inline-error-line 1 '^errors.df\(9\): error: identifier "nonsense"' said
expect target-error-line 1 '^errors.df\(3\): error' said
expect launch-arity 1 '^errors.df\(17\): error: too few arguments in function call' said
expect launch-types 1 '^errors.df\(11\): error: argument of type "size_t".* is incompatible' said

# A kernel or device function without its return; an existing function whose value is no status.
cat > status.cu <<'X'
__device__ int forgot(int x) { if (x > 3) return 1; }
double squares(cudaStream_t, size_t, const int *, int *) { return 0.5; }
X
cat > status.df <<'X'
kernel make(out a: i32[k]) cpu {{ memset(a, 0, k * 4); }};
kernel square(in a: i32[k], out b: i32[k]) gpu "status.cu": squares(stream, k, a, b) -> void;
graph main { a: i32[4] = make(); b = square(a); }
X
expect forgotten-return 1 '^status.cu\(1\): error: missing return statement' "$DFC" status.df -o status $one
! long || check no-status "$DFC" status.df -o status --nvcc-flags='-arch=compute_80 --diag-suppress=940'

# Names of macros, and of what the code around a launch uses; a value that is no status.
echo '__global__ void go(size_t n, const int *a, int *b, int *c, int s) { if (n && c) b[0] = a[0] + s; }
double squares(cudaStream_t, size_t, const int *, int *) { return 0.5; }' > names.cu
cat > names.df <<'X'
kernel make(out a: i32[k]) cpu {{ memset(a, 0, k * 4); }};
kernel f(in SIZE_MAX: i32[M_PI], out dim3: i32[M_PI], tmp cudaError_t: i32[70000]; cudaSuccess: i32)
    gpu "names.cu": go<<<1, min(8, M_PI), M_PI * 20000 + cudaSuccess>>>(M_PI, SIZE_MAX, dim3, cudaError_t, cudaSuccess);
kernel g(in SIZE_MAX: i32[M_PI], out INT_MAX: i32[M_PI]; stdin: i32) gpu {{ if (stdin + M_PI == 0) INT_MAX = (int *)SIZE_MAX; }};
kernel h(in linux: i32[unix], out i386: i32[unix]; errno: i32) gpu {{ if (errno + unix == 0) i386 = (int *)linux; }};
kernel square(in a: i32[k], out b: i32[k]) gpu "names.cu": squares(stream, k, a, b) -> void;
graph main { a: i32[4] = make(); b = f(a, 7); c = g(b, 7); d = h(c, 7); e = square(d); }
X
check names "$DFC" names.df -o names $one

# What a launch is given is worked out on the host: that code is run here, with a launch that only says what it was given.
cat > extents.df <<'X'
param tile = 16;
kernel f(in a: i32[h, w], out b: i32[h, w]; n: i32, m: i64) cpu {{ (void)n; (void)m; memcpy(b, a, h * w * sizeof *a); }}
    gpu "f.cu": go<<<(w + tile - 1) / tile, max(1, -n, h / 8), (n == 0 || 8 / n > 1) * tile, min(8, 4, 6) % 5, 4 * m>>>;
kernel make(out a: i32[h, w]) cpu {{ memset(a, 0, h * w * sizeof *a); }};
kernel drop(in a: i32[h, w]) cpu {{ (void)a; (void)h; (void)w; }};
graph main { a: i32[20, 40] = make(); drop(f(a, 1, 64)); }
X
sed -i 's/drop(f(a, 1, 64))/b = f(a, 1, 64); drop(b)/' extents.df
echo '__global__ void go(size_t, size_t, const int *, int *, int, long) {}' > f.cu
cuda=$(realpath "$(echo >top.cu; "$nvcc" --dryrun top.cu 2>&1 | sed -n 's/^#\$ TOP=//p')")      # nvcc may be a script that calls another
printf '#!/bin/sh\ncase "$*" in *dryrun*) echo "#$ TOP=%s" >&2 ;; *) echo "no code for GPUs"; exit 1 ;; esac\n' "$cuda" >pretended && chmod +x pretended
expect extents-written 1 '^no code for GPUs$' "$DFC" extents.df -o extents --keep --nvcc="$PWD/pretended"
{ cat "$programs/extents_head.cpp"
sed -n '/^namespace df_generated/,$p' extents.dfc/*f.cu |
    sed -e 's/^ *go<<<\(.*\), stream>>>.*/go(\1);/'
cat "$programs/extents_main.cpp"
} > extents.cpp
check extents-host-compile c++ -std=c++14 -Iextents.dfc -I"$DF_BUILD/include" -isystem "$cuda/include" -isystem /usr/local/cuda/include -o extents-host extents.cpp
./extents-host > extents.out
cat > extents.want <<'X'
(looked) 3 2 1, 16 4 1, 256
3 2 1, 16 4 1, 256
3 2 1, 16 4 1, 40960
(looked) (asked for 94208) 3 2 1, 16 4 1, 45056
3 250 1, 16 4 1, 80000
(looked) (asked for 94208) 3 2 1, 16 4 1, 45056
(looked) launching 'f': 102400 bytes of dynamic and 8192 of static shared memory; a block of this GPU has at most 102400
launching 'f': block x is 0, it must be from 1 to 1024
launching 'f': grid y is 70000, it must be from 1 to 65535
launching 'f': dynamic shared memory does not fit in 64 bits, or divides by zero
launching 'f': dynamic shared memory is -4, it must be from 0 to 1048576
X
same extents extents.out extents.want

# What a device is asked for: the launch's own function, or one of the unit if the launch's name alone does not tell which it is.
if long; then
cp "$programs/over.cu" "$programs/over.df" .
check asked-for-compile "$DFC" over.df -o over --keep $one
check asked-for-link c++ $(grep -oE -- "-fsanitize=[a-z]+" "$DF_BUILD/obj/flags" | head -n 1) -o over-asked "$programs/over_main.cpp" over.dfc/*over.cu.o over.dfc/over_gpu.cu.o -L"$cuda/lib64" -L"$cuda/lib" -lcudart_static -lpthread -ldl -lrt
expect asked-for 0 '^1 1 0 1 1 0 1 1 $' sh -c './over-asked | tr "\n" " "'
rm -rf over.dfc
fi

# A toolkit with its libraries in lib alone, as Python's packages have it: linked from there, and found there when the program starts.
mkdir -p kit/lib && ln -s "$cuda/include" kit/include && ln -s "$cuda"/lib*/libcudart_static.a kit/lib/
printf '#!/bin/sh\necho "#$ TOP=%s" >&2\n' "$PWD/kit" >kit/nvcc && chmod +x kit/nvcc
cp 'my kernels/host.c' . && cat > kit.df <<'X'
kernel count(out v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = (int32_t)i; }};
kernel fourth(in a: i32[k], out b: i32[k]) cpu {{ memcpy(b, a, k * sizeof *a); }} gpu "host.c";
kernel drop(in a: i32[k]) cpu {{ (void)a; (void)k; }};
graph main { a: i32[4] = count(); b = fourth(a); drop(b); }
X
check other-toolkit "$DFC" kit.df -o kit-program --nvcc="$PWD/kit/nvcc"
expect other-toolkit-found 0 "R(UN)?PATH.*$PWD/kit/lib" readelf -d kit-program
# A run path of the user's is the only one, so that the program may be carried with its libraries.
check own-run-path "$DFC" kit.df -o kit-carried --nvcc="$PWD/kit/nvcc" --cflags='-Wl,-rpath,$ORIGIN/lib'
readelf -d kit-carried | sed -n 's/.*R[A-Z]*PATH.*\[\(.*\)\]/\1/p' >paths; echo '$ORIGIN/lib' >want; same own-run-path-alone paths want
# One whose CUDA calls a function by another name than the one that dfc was made with, as 12 and 13 do.
mkdir -p kit12/lib && ln -s "$cuda/include" kit12/include
names=$(nm -g kit/lib/libcudart_static.a 2>/dev/null | grep -oE ' T cudaGetDeviceProperties(_v2)?$')
case $names in *_v2*) change=cudaGetDeviceProperties_v2=cudaGetDeviceProperties_v0 ;; *) change=cudaGetDeviceProperties=cudaGetDeviceProperties_v2 ;; esac
objcopy --redefine-sym $change "$(realpath kit/lib/libcudart_static.a)" kit12/lib/libcudart_static.a
printf '#!/bin/sh\necho "#$ TOP=%s" >&2\n' "$PWD/kit12" >kit12/nvcc && chmod +x kit12/nvcc
check other-cuda "$DFC" kit.df -o kit12-program --nvcc="$PWD/kit12/nvcc"
expect other-cuda-starts 0 '' ./kit12-program --device=none
rm -rf extents.dfc
[ "$(ls -A | grep -c '^\.dfc-')" = 0 ] && pass nothing-left || fail nothing-left "$(ls -A)"
