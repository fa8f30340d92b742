#include <cstdarg>
#include <cstdio>
#include <cuda_runtime_api.h>
#include "extents.df.h"
extern "C" int df_fail(struct df_call *, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    puts("");
    return DF_FAILED;
}
extern "C" const char *cudaGetErrorString(cudaError_t) { return ""; }
/* Two GPUs: a block has 100 KiB, the function 8 of them; without asking it may have 40 more. */
static int device, may[2] = { 40960, 40960 };
extern "C" cudaError_t cudaGetDevice(int *d) { *d = device; return cudaSuccess; }
extern "C" cudaError_t cudaGetLastError(void) { return cudaSuccess; }
extern "C" cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *has, const void *)
{
    printf("(looked) ");
    has->sharedSizeBytes = 8192;
    has->maxDynamicSharedSizeBytes = may[device];
    return cudaSuccess;
}
extern "C" cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 102400 : 0;
    return cudaSuccess;
}
extern "C" cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute attribute, int bytes)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || bytes + 8192 > 102400)
        return cudaErrorInvalidValue;
    printf("(asked for %d) ", bytes);
    may[device] = bytes;
    return cudaSuccess;
}
static void go(dim3 g, dim3 b, size_t s)
{
    if (s > (size_t)may[device])
        printf("refused by CUDA: ");
    printf("%u %u %u, %u %u %u, %zu\n", g.x, g.y, g.z, b.x, b.y, b.z, s);
}
