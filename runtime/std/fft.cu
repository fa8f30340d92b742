// fft.cu - rows filtered on the GPU: cuFFT transforms all rows of an image at once.
//
// cuFFT is found when the program runs, so this compiles and links without it.
#include <df_formula_gpu.h>
#include <dlfcn.h>
#include <stdlib.h>

enum { CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c }; // of cufft.h, as the prototypes below

struct cufft {
    int (*plan_many)(int *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist, int type, int batch);
    int (*set_stream)(int plan, cudaStream_t stream);
    int (*forth)(int plan, float *real, float *complex);
    int (*back)(int plan, float *complex, float *real);
    int (*destroy)(int plan);
};

struct gpu_filter {
    struct cufft fft;
    int forth, back;                    // plans
    int n_plans;
};

template <class function> static bool find(void *library, const char *name, function *to)
{
    *to = (function)dlsym(library, name);
    return *to != NULL;
}

// The library stays loaded for as long as the process lives.
static bool find_cufft(struct cufft *f)
{
    const char *names[] = { "libcufft.so.12", "libcufft.so.11", "libcufft.so.10", "libcufft.so" };
    for (const char *name : names) {
        void *library = dlopen(name, RTLD_NOW);
        if (library && find(library, "cufftPlanMany", &f->plan_many) && find(library, "cufftSetStream", &f->set_stream) &&
            find(library, "cufftExecR2C", &f->forth) && find(library, "cufftExecC2R", &f->back) && find(library, "cufftDestroy", &f->destroy))
            return true;
    }
    return false;
}

extern "C" void filter_rows_gpu_close(void *state)
{
    struct gpu_filter *f = (struct gpu_filter *)state;
    if (f->n_plans > 0)
        f->fft.destroy(f->forth);
    if (f->n_plans > 1)
        f->fft.destroy(f->back);
    free(f);
}

// Both transforms are in place: a row has room for its w + 1 complex numbers.
extern "C" int filter_rows_gpu_open(struct df_call *call, size_t k, size_t h, size_t w, void **state)
{
    struct gpu_filter *f = (struct gpu_filter *)calloc(1, sizeof *f);
    int n = (int)(2 * w), real = n + 2, waves = (int)w + 1, status = 0;
    (void)k;
    if (!f)
        return df_fail(call, "no memory for a filter");
    if (!find_cufft(&f->fft)) {
        free(f);
        return df_fail(call, "no cuFFT was found (libcufft.so.12, 11 or 10): put its folder into LD_LIBRARY_PATH, or run with --device=none");
    }
    status = f->fft.plan_many(&f->forth, 1, &n, &real, 1, real, &waves, 1, waves, CUFFT_R2C, (int)h);
    f->n_plans += status == 0;
    if (status == 0)
        status = f->fft.plan_many(&f->back, 1, &n, &waves, 1, waves, &real, 1, real, CUFFT_C2R, (int)h);
    f->n_plans += status == 0 && f->n_plans == 1;
    if (status != 0) {
        filter_rows_gpu_close(f);
        return df_fail(call, "cufftPlanMany for %zu rows of %d: status %d", h, n, status);
    }
    *state = f;
    return DF_OK;
}

// Rows of an image, each with zeros behind it up to twice its width.
static __global__ void widen(int h, int w, const float *p, float *r)
{
    for (int y = (int)df_first_y(); y < h; y += (int)df_step_y())
        for (int x = (int)df_first_x(); x < 2 * w; x += (int)df_step_x())
            r[(size_t)y * (2 * w + 2) + x] = x < w ? p[(size_t)y * w + x] : 0;
}

static __global__ void multiply(int h, int w, const float *s, float *r)
{
    float scale = 1 / (float)(2 * w);   // cuFFT's transforms are not normalised
    for (int y = (int)df_first_y(); y < h; y += (int)df_step_y())
        for (int x = (int)df_first_x(); x < 2 * w + 2; x += (int)df_step_x())
            r[(size_t)y * (2 * w + 2) + x] *= s[x / 2] * scale;
}

static __global__ void narrow(int h, int w, const float *r, float *q)
{
    for (int y = (int)df_first_y(); y < h; y += (int)df_step_y())
        for (int x = (int)df_first_x(); x < w; x += (int)df_step_x())
            q[(size_t)y * w + x] = r[(size_t)y * (2 * w + 2) + x];
}

extern "C" int filter_rows_gpu(struct df_call *call, cudaStream_t stream, size_t k, size_t h, size_t w, const float *p, const float *s, float *r, float *q)
{
    struct gpu_filter *f = (struct gpu_filter *)df_opened(call);
    const dim3 block(32, 8), grid = df_grid(block, 2 * (int64_t)w + 2, (int64_t)h, 1);
    int status = f->fft.set_stream(f->forth, stream) | f->fft.set_stream(f->back, stream);
    for (size_t i = 0; i < k && status == 0; i++) {
        DF_LAUNCH(widen, grid, block, stream, (int)h, (int)w, p + i * h * w, r);
        status = f->fft.forth(f->forth, r, r);
        DF_LAUNCH(multiply, grid, block, stream, (int)h, (int)w, s, r);
        if (status == 0)
            status = f->fft.back(f->back, r, r);
        DF_LAUNCH(narrow, grid, block, stream, (int)h, (int)w, r, q + i * h * w);
    }
    return status == 0 ? (int)DF_OK : df_fail(call, "cuFFT: status %d", status);
}
