/* device.h - what the GPU variants of ferret are made with.
 *
 * Host:     If the compiler is not nvcc, a launch is a loop over the threads, so that the emulated GPU can run this code and its results
 *           can be compared: check.sh does that.
 * Loops:    A kernel has one thread for each element, and takes what is a whole grid further besides: EACH.
 */
#ifndef FERRET_DEVICE_H
#define FERRET_DEVICE_H

#include <df.h>
#include <df_formula_gpu.h>
#include <string.h>

#define EACH(i, n) for (int64_t i = df_first_x(), i##_step = df_step_x(); i < (int64_t)(n); i += i##_step)
#define LAUNCH(function, n, stream, ...) DF_LAUNCH(function, dim3(df_n_blocks((int64_t)(n), 128, 1 << 20)), dim3(128), stream, __VA_ARGS__)

#ifdef __CUDACC__
static inline int after(struct df_call *call)
{
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? (int)DF_OK : df_fail(call, "%s", cudaGetErrorString(error));
}

/* Waits, and brings a few bytes to the host. */
static inline int bring(struct df_call *call, cudaStream_t stream, void *to, const void *from, size_t bytes)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return error == cudaSuccess ? (int)DF_OK : df_fail(call, "%s", cudaGetErrorString(error));
}
static inline void clear(cudaStream_t stream, void *p, size_t bytes) { cudaMemsetAsync(p, 0, bytes, stream); }
DF_ON_DEVICE void add(int32_t *p, int32_t v) { atomicAdd(p, v); }
DF_ON_DEVICE void add(int64_t *p, int64_t v) { atomicAdd((unsigned long long *)p, (unsigned long long)v); }
DF_ON_DEVICE void raise(int64_t *p, int64_t v) { atomicMax((long long *)p, (long long)v); }
DF_ON_DEVICE void raise(int32_t *p, int32_t v) { atomicMax(p, v); }
#else
static inline int after(struct df_call *) { return DF_OK; }
static inline int bring(struct df_call *, cudaStream_t, void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return DF_OK;
}
static inline void clear(cudaStream_t, void *p, size_t bytes) { memset(p, 0, bytes); }
template <class number> static inline void add(number *p, number v) { *p += v; }
template <class number> static inline void raise(number *p, number v) { *p = v > *p ? v : *p; }
#endif

/* Pixels that one thread adds up before it changes a sum that all threads change. */
enum { STRIP = 32 };
#endif
