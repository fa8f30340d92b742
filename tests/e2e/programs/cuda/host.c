#include <cuda_runtime_api.h>
int fourth_gpu(struct df_call *call, cudaStream_t stream, size_t k, const int32_t *a, int32_t *b)
{
    cudaError_t error = cudaMemcpyAsync(b, a, k * sizeof *a, cudaMemcpyDeviceToDevice, stream);
    return error == cudaSuccess ? DF_OK : df_fail(call, "%s", cudaGetErrorString(error));
}
