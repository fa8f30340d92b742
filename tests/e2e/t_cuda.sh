# gpu variants: every way to give one compiles and links with nvcc, mistakes point at the user's file, and without a GPU the program
# still starts and runs on the CPU. What runs on a GPU is gpu-check's.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -z "$nvcc" ]; then skip cuda "no nvcc here"; exit 0; fi
if [ ! -e "$DF_BUILD/lib/libdf-cuda.a" ]; then skip cuda "this dfc was built without CUDA"; exit 0; fi

mkdir 'my kernels'
cat > 'my kernels/k.cu' <<'X'
#include "plus.h"
static __global__ void one_more(size_t k, const int *a, int *b)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < k)
        b[i] = a[i] + PLUS;
}
int first_gpu(struct df_call *call, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b)
{
    (void)call;
    one_more<<<(unsigned)((k + 255) / 256), 256, 0, stream>>>(k, a, b);
    return DF_OK;
}
int first_cpu(struct df_call *, size_t k, const int32_t *a, int32_t *b)
{
    for (size_t i = 0; i < k; i++)
        b[i] = a[i] + PLUS;
    return DF_OK;
}
void launch(cudaStream_t stream, int n, int *a, int *b) { one_more<<<(n + 255) / 256, 256, 0, stream>>>((size_t)n, a, b); }
int launch_status(int n, const int *a, int *b, cudaStream_t stream)
{
    one_more<<<(n + 255) / 256, 256, 0, stream>>>((size_t)n, a, b);
    return cudaGetLastError() == cudaSuccess ? 0 : 3;
}
X
echo '#define PLUS 1' > 'my kernels/plus.h'
cat > 'my kernels/host.c' <<'X'
#include <cuda_runtime_api.h>
int fourth_gpu(struct df_call *call, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b)
{
    cudaError_t error = cudaMemcpyAsync(b, a, k * sizeof *a, cudaMemcpyDeviceToDevice, stream);
    return error == cudaSuccess ? DF_OK : df_fail(call, "%s", cudaGetErrorString(error));
}
X
cat > all.df <<'X'
kernel count(out v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = (int32_t)i; }};
kernel first(in a: i32[k], out b: i32[k]) cpu "my kernels/k.cu" gpu "my kernels/k.cu";
kernel second(in a: i32[k], out b: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) b[i] = a[i] + 1; }} gpu "my kernels/k.cu": launch(stream, k, a, b);
kernel third(in a: i32[k], out b: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) b[i] = a[i] + 1; }} gpu "my kernels/k.cu": launch_status(k, a, b, stream);
kernel fourth(in a: i32[k], out b: i32[k]) cpu {{ memcpy(b, a, k * sizeof *a); }} gpu "my kernels/host.c";
kernel fifth(in a: i32[k], out b: i32[k]) cpu {{ memcpy(b, a, k * sizeof *a); }} gpu {{
    cudaError_t error = cudaMemcpyAsync(b, a, k * sizeof *a, cudaMemcpyDeviceToDevice, stream);
    if (error != cudaSuccess)
        return df_fail(call, "%s", cudaGetErrorString(error));
}};
kernel show(in v: i32[k]) ordered cpu {{ for (size_t i = 0; i < k; i++) printf("%d\n", v[i]); }};
graph main { a: i32[4] = count(); b = first(a); c = second(b); d = third(c); e = fourth(d); f = fifth(e); show(f); }
X
seq 3 6 > expected
one=--nvcc-flags=-arch=compute_80 # one architecture: quicker
check all-ways-compile "$DFC" all.df -o all -MD $one
printf 'all: all.done\ninclude all.d\nall.done: all\n\ttouch all.done\n' > all.mk
touch all.done; expect dependencies-are-files 0 '^' make -q -f all.mk
grep -q "inline" all.d && fail dependencies-no-made-up-names "$(grep inline all.d)" || pass dependencies-no-made-up-names
./all --device=none > out; same all-ways-on-cpu out expected
./all --device=emu > out; same all-ways-emulated out expected
if nvidia-smi -L >/dev/null 2>&1; then
    ./all --device=cuda > out; same all-ways-on-cuda out expected
else
    expect no-gpu-says-so 1 'no cuda device' ./all --device=cuda
fi
expect needs-nvcc 1 "all.df:2:.* error: the cpu variant of 'first' is in a .cu file, which needs nvcc" "$DFC" all.df -o all --nvcc=none

# An overload in place of the function that was declared, and an error in the code: both at the user's lines.
cp 'my kernels/plus.h' .
sed 's/first_gpu(struct df_call \*call, cudaStream_t stream, size_t k, const/first_gpu(struct df_call *call, cudaStream_t stream, int k, const/' \
    'my kernels/k.cu' > k2.cu
sed 's/my kernels\/k.cu/k2.cu/g' all.df > wrong.df
expect overload 1 "^k2.cu\(8\): error: .*'first_gpu' differs" "$DFC" wrong.df -o wrong $one
sed -e 's/b\[i\] = a\[i\] + PLUS;/b[i] = nonsense;/' 'my kernels/k.cu' > k2.cu
expect error-line 1 '^k2.cu\(6\): error: identifier "nonsense"' "$DFC" wrong.df -o wrong $one
sed 's/return df_fail(call, "%s", cuda/return nonsense(call, "%s", cuda/' all.df > inline.df
expect inline-error-line 1 '^inline.df\(9\): error: identifier "nonsense"' "$DFC" inline.df -o inline $one
sed 's/launch(stream, k, a, b)/launch(stream, a, b)/' all.df > target.df
expect target-error-line 1 '^target.df\(3\): error' "$DFC" target.df -o target $one
[ "$(ls -A | grep -c '^\.dfc-')" = 0 ] && pass nothing-left || fail nothing-left "$(ls -A)"
