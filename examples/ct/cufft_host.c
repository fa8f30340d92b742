/* cufft_host.c - the calls of cuFFT that filter.cu makes, by FFTW on the host. check.sh has the GPU's code run with it on the emulated GPU. */
#include <fftw3.h>

enum { R2C = 0x2a, MOST = 1024 };

static fftwf_plan plans[MOST];
static int n_plans;

int cufftPlanMany(int *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist, int type, int batch);
int cufftSetStream(int plan, void *stream);
int cufftExecR2C(int plan, float *real, fftwf_complex *complex);
int cufftExecC2R(int plan, fftwf_complex *complex, float *real);
int cufftDestroy(int plan);

int cufftPlanMany(int *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist, int type, int batch)
{
    size_t floats = 2 * (size_t)(type == R2C ? odist : idist) * (size_t)batch;
    float *in = fftwf_alloc_real(floats);
    if (!in || n_plans == MOST)
        return 2; /* CUFFT_ALLOC_FAILED */
    plans[n_plans] = type == R2C ? fftwf_plan_many_dft_r2c(rank, n, batch, in, inembed, istride, idist, (fftwf_complex *)in, onembed, ostride, odist,
                                                           FFTW_ESTIMATE | FFTW_UNALIGNED)
                                 : fftwf_plan_many_dft_c2r(rank, n, batch, (fftwf_complex *)in, inembed, istride, idist, in, onembed, ostride, odist,
                                                           FFTW_ESTIMATE | FFTW_UNALIGNED);
    fftwf_free(in);
    *plan = n_plans;
    return plans[n_plans++] ? 0 : 5; /* CUFFT_INTERNAL_ERROR */
}

int cufftSetStream(int plan, void *stream)
{
    (void)plan, (void)stream;
    return 0;
}

int cufftExecR2C(int plan, float *real, fftwf_complex *complex)
{
    fftwf_execute_dft_r2c(plans[plan], real, complex);
    return 0;
}

int cufftExecC2R(int plan, fftwf_complex *complex, float *real)
{
    fftwf_execute_dft_c2r(plans[plan], complex, real);
    return 0;
}

int cufftDestroy(int plan)
{
    fftwf_destroy_plan(plans[plan]);
    return 0;
}
