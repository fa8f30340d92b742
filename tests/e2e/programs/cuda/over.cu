__global__ void alone(size_t n, const int *a, int *b) { if (n) b[0] = a[0]; }
__global__ void either(size_t n, const int *a, int *b) { if (n) b[0] = a[0]; }
__global__ void either(size_t n, const double *a, double *b) { if (n) b[0] = a[0]; }
template <class T> __global__ void any(size_t n, const T *a, T *b) { if (n) b[0] = a[0]; }
namespace { __global__ void hidden(size_t n, const int *a, int *b) { if (n) b[0] = a[0]; } }
extern "C" __global__ void plain(size_t n, const int *a, int *b) { if (n) b[0] = a[0]; }
extern "C" int host_gpu(struct df_call *, cudaStream_t s, size_t n, const int *a, int *b) { alone<<<1, 1, 0, s>>>(n, a, b); return 0; }
