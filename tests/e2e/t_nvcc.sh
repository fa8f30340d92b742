# What is asked of nvcc and of the linker: programs without a C++ compiler, and relocatable device code.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -z "$nvcc" ]; then skip nvcc "no nvcc here"; exit 0; fi
if [ ! -e "$DF_BUILD/lib/libdf-cuda.a" ]; then skip nvcc "this dfc was built without CUDA"; exit 0; fi

# A file of the user that has the name of a system's header: in the .df's folder it is found by names in quotes alone (hidden/throw.cu
# below, too).
mkdir -p hidden && printf '#error "this is not the features.h that <stdio.h> asks for"\n' >hidden/features.h && printf '#define STEP 3\n' >hidden/step.h
cat >hidden/step.cu <<'X'
#include <stdio.h>
#include "step.h"
static __global__ void add(int k, const int *a, int *b) { if ((int)threadIdx.x < k) b[threadIdx.x] = a[threadIdx.x] + STEP; }
int plus_gpu(struct df_call *, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b) { add<<<1, 32, 0, stream>>>((int)k, a, b); return DF_OK; }
X
cat >hidden/step.df <<'X'
kernel make(out a: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) a[i] = (int)i; }};
kernel plus(in a: i32[k], out b: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) b[i] = a[i] + 3; }} gpu "step.cu";
kernel show(in b: i32[k]) cpu {{ printf("%d\n", b[0]); (void)k; }};
graph main { a: i32[4] = make(); b = plus(a); show(b); }
X
! long || check hidden-header "$DFC" hidden/step.df --gpu-arch=sm_90 -o step
cp -r hidden 'hid den' && rm 'hid den/features.h' && ! long || check blank-in-folder "$DFC" 'hid den/step.df' --gpu-arch=sm_90 -o step2

# nvcc runs its steps through a shell. What users name reaches none: a file is compiled under a plain name (that of the relocatable device code
# below), and what cannot be renamed is refused.
shell() { sed 's/"step.cu"/"'"$2"'"/' hidden/step.df >"$1"; }
mkdir -p 'na mes'/{sub,'sub`touch ran-folder`'} && ln -s 'na mes' names && cp hidden/step.cu hidden/step.h names/'sub`touch ran-folder`'
shell names/folder.df 'sub`touch ran-folder`\/step.cu'
expect shell-folder 1 "^dfc: error: nvcc gives '-Inames/sub\`touch ran-folder\`' to a shell, where '\`' has a meaning: use another name or folder" "$DFC" names/folder.df --gpu-arch=sm_90 -o step4
mkdir 'temp$(touch ran-temp)'
expect shell-temp 1 "^dfc: error: nvcc gives '.*temp\\$\(touch ran-temp\)/dfc-.*' to a shell, where '\\$' has a meaning" env DFC_CACHE=none TMPDIR="$PWD/temp\$(touch ran-temp)" "$DFC" hidden/step.df --gpu-arch=sm_90 -o step4

# A machine with cc and nvcc, which calls gcc, and no program of the name c++ or g++. Host code throws all the same; so does that of an object.
mkdir no-cxx && for tool in cc gcc as ld; do ln -s "$(command -v $tool)" no-cxx/; done
cat > hidden/throw.cu <<'X'
#include <exception>
#include <stdio.h>
#include "step.h"
struct seven : std::exception {
    char text[32];
    explicit seven(size_t k) { snprintf(text, sizeof text, "seven %zu", k); }
    const char *what() const noexcept override { return text; }
};
static __global__ void one_more(size_t k, const int *a, int *b) { if (threadIdx.x < k) b[threadIdx.x] = a[threadIdx.x] + 1; }
int plus_gpu(struct df_call *, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b) { one_more<<<1, 32, 0, stream>>>(k, a, b); return DF_OK; }
int plus_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b)
{
    try {
        if (a[0] == 7)
            throw seven(k);
        b[0] = a[0] + STEP;
        return DF_OK;
    } catch (const std::exception &e) {
        return df_fail(call, "%s", e.what());
    }
}
X
cat > hidden/throw.df <<'X'
arg first: i32 = 1;
kernel make(out a: i32[k]; first: i32) cpu {{ for (size_t i = 0; i < k; i++) a[i] = first; }};
kernel plus(in a: i32[k], out b: i32[k]) cpu "throw.cu" gpu "throw.cu";
kernel show(in b: i32[k]) cpu {{ printf("%d\n", b[0]); (void)k; }};
graph main { a: i32[4] = make(first); b = plus(a); show(b); }
X
without_cxx() { env -u CC -u CXX PATH="$PWD/no-cxx" "$DFC" "$@" --nvcc="$nvcc" --nvcc-flags=-arch=compute_80; }
check no-cxx-links without_cxx hidden/throw.df -o throw --keep --cflags='-static-libstdc++ -static-libgcc'
expect no-cxx-runs 0 '^4$' ./throw --device=none
expect no-cxx-throws 1 "^throw: error: node 'main/plus', wave 0: seven 4$" ./throw --device=none --first=7
readelf -d throw | grep -E 'libstdc|libgcc' > needs; same no-cxx-static-runtime needs /dev/null
mv throw.dfc/1_throw.cu.o throw.o && sed 's/throw.cu/throw.o/g' hidden/throw.df > object.df
check no-cxx-links-objects without_cxx object.df -o object
expect no-cxx-object-throws 1 'wave 0: seven 4$' ./object --device=none --first=7
readelf -d object | grep -c 'libstdc++.so.6' > needs; echo 1 > one; same no-cxx-shared-runtime needs one

# Relocatable device code: a kernel calls what another file, or an object, defines. It is linked in a step of its own.
cat > calls.cu <<'X'
__device__ int twice(int x);
__global__ void f(size_t k, const int *a, int *b) { if (threadIdx.x < k) b[threadIdx.x] = twice(a[threadIdx.x]) + 1; }
X
cat > defines.cu <<'X'
__device__ int twice(int x) { return 2 * x; }
static __global__ void g(size_t k, const int *a, int *b) { if (threadIdx.x < k) b[threadIdx.x] = twice(a[threadIdx.x]); }
int g_gpu(struct df_call *, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b) { g<<<1, 32, 0, stream>>>(k, a, b); return DF_OK; }
X
cat > rdc.df <<'X'
kernel make(out a: i32[k]) cpu {{ memset(a, 0, k * 4); }};
kernel f(in a: i32[k], out b: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) b[i] = 2 * a[i] + 1; }} gpu "calls.cu": f<<<1, 32>>>(k, a, b);
kernel g(in a: i32[k], out b: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) b[i] = 2 * a[i]; }} gpu "defines.cu";
kernel show(in b: i32[k]) cpu {{ printf("%d\n", b[0]); (void)k; }};
graph main { a: i32[4] = make(); b = f(a); c = g(b); show(c); }
X
name='defines$(touch ran-name)`touch ran-name`.cu'; cp calls.cu names; cp defines.cu "names/$name"; sed "s/defines.cu/$name/" rdc.df >names/name.df
check relocatable "$DFC" 'na mes/name.df' -o rdc --nvcc-flags='-arch=sm_80 -rdc true'
check shell-name-and-blank test -x rdc
same shell-ran-nothing <(find . -name 'ran-*') /dev/null
expect relocatable-runs 0 '^2$' ./rdc --device=none
if long; then
"$DFC" rdc.df -o rdc --keep --nvcc-flags='-arch=sm_80 -rdc true' 2>/dev/null; cp rdc first; cp rdc.dfc/*_defines.cu.o defines.o
"$DFC" rdc.df -o rdc --keep --nvcc-flags='-arch=sm_80 -rdc true' 2>/dev/null; same relocatable-same-bytes first rdc
sed 's/defines.cu/defines.o/' rdc.df > rdc-object.df && rm -r rdc.dfc
check relocatable-object "$DFC" rdc-object.df -o rdc --nvcc-flags='-arch=sm_80 -dc'
sed 's/gpu "defines.cu"//' rdc.df > missing.df
expect relocatable-missing 1 "^dfc: error: linking the device code of 'missing' failed" "$DFC" missing.df -o missing --nvcc-flags='-arch=sm_80 -rdc=true'
expect relocatable-not 1 'nresolved extern function' "$DFC" rdc.df -o rdc --nvcc-flags='-arch=sm_80 -rdc=true --relocatable-device-code=false'
fi
