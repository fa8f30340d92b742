/* fft.c - the cpu variant of std/fft.df, compiled into programs that import it: filters rows by FFTW, in single precision.
 *
 * Rows are zero-padded to twice their width, so that the circular convolution equals the linear one. Plans use
 * FFTW_ESTIMATE, so the bits are the same in each run.
 */
#include <fftw3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct filter {
    fftwf_plan forth, back;
    float *row;                         /* 2 w, aligned as FFTW likes */
    fftwf_complex *waves;               /* w + 1 */
};

static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER; /* FFTW's planner is for one thread at a time */

static void take_planner(void)
{
    pthread_mutex_lock(&planner);
}

static void give_planner(void)
{
    pthread_mutex_unlock(&planner);
}

/* A child would wait for a thread that it does not have. This file is compiled with what dfc installs alone, so it has no macro of the runtime's for that. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(take_planner, give_planner, give_planner);
}

void filter_rows_close(void *state)
{
    struct filter *f = state;
    pthread_mutex_lock(&planner);
    if (f->forth)
        fftwf_destroy_plan(f->forth);
    if (f->back)
        fftwf_destroy_plan(f->back);
    pthread_mutex_unlock(&planner);
    fftwf_free(f->row);
    fftwf_free(f->waves);
    free(f);
}

int filter_rows_open(struct df_call *call, size_t k, size_t h, size_t w, void **state)
{
    struct filter *f = calloc(1, sizeof *f);
    (void)k, (void)h;
    if (!f)
        return df_fail(call, "no memory for a filter");
    f->row = fftwf_alloc_real(2 * w);
    f->waves = fftwf_alloc_complex(w + 1);
    if (f->row && f->waves) {
        pthread_mutex_lock(&planner);
        f->forth = fftwf_plan_dft_r2c_1d((int)(2 * w), f->row, f->waves, FFTW_ESTIMATE);
        f->back = fftwf_plan_dft_c2r_1d((int)(2 * w), f->waves, f->row, FFTW_ESTIMATE);
        pthread_mutex_unlock(&planner);
    }
    if (!f->forth || !f->back) {
        filter_rows_close(f);
        return df_fail(call, "FFTW has no plan for rows of %zu", 2 * w);
    }
    *state = f;
    return DF_OK;
}

int filter_rows_cpu(struct df_call *call, size_t k, size_t h, size_t w, const float *p, const float *s, float *r, float *q)
{
    struct filter *f = df_opened(call);
    (void)r; /* for the GPU, which has all rows of an image at once */
    const float scale = 1 / (float)(2 * w); /* FFTW's transforms are not normalised */
    for (size_t y = 0; y < k * h; y++) {
        memcpy(f->row, p + y * w, w * sizeof *p);
        memset(f->row + w, 0, w * sizeof *p);
        fftwf_execute(f->forth);
        for (size_t i = 0; i <= w; i++) {
            f->waves[i][0] *= s[i] * scale;
            f->waves[i][1] *= s[i] * scale;
        }
        fftwf_execute(f->back);
        memcpy(q + y * w, f->row, w * sizeof *q);
    }
    return DF_OK;
}
