/* on_emu.h - the kernels of ct.cu on the emulated GPU: included by it in place of those for CUDA. */
const enum emulated_stream emulated_streams[] = { EMULATED_UPLOADS, EMULATED_COMPUTES };
const unsigned emulated_n_streams = 2;

static int filter_rows_gpu_open(struct df_call *call, size_t k, size_t h, size_t w, void **state)
{
    return filter_rows_open(call, k, h, w, state);
}

static void filter_rows_gpu_close(void *state)
{
    filter_rows_close(state);
}

struct preparation {
    size_t k, h, w;
    const float *images, *forms, *spectrum;
    float *weighted, *pairs;
};

static int prepare(struct df_call *call, const void *args)
{
    const struct preparation *p = (const struct preparation *)args;
    int status = DF_OK;
    for (size_t i = 0; i < p->k && status == DF_OK; i++)
        status = prepare_cpu(call, p->h, p->w, p->images + i * p->h * p->w, p->forms + 6 * i, p->spectrum, p->weighted,
                             p->pairs + i * (p->h + 4) * (p->w + 4) * 2);
    return status;
}

/* As on the CPU, one image at a time is between the steps. */
static int prepare_gpu(struct df_call *call, cudaStream_t stream, size_t k, size_t h, size_t w, const float *images, const float *forms,
                       const float *spectrum, float *, float *weighted, float *, float *pairs)
{
    const struct preparation p = { k, h, w, images, forms, spectrum, weighted, pairs };
    return emulated_launch(call, stream, prepare, &p, sizeof p);
}

struct back_projection {
    size_t k, m, c, z, y, x;
    const float *r;
    const double *a;
    float *vol;
    double side;
    const char *rule;
};

static int back_project(struct df_call *call, const void *args)
{
    const struct back_projection *b = (const struct back_projection *)args;
    return backproject_cpu(call, b->k, b->m, b->c, b->z, b->y, b->x, b->r, b->a, b->vol, b->side, b->rule);
}

static int backproject_gpu(struct df_call *call, cudaStream_t stream, size_t k, size_t m, size_t c, size_t z, size_t y, size_t x, const float *r,
                           const double *a, float *vol, double side, const char *rule)
{
    const struct back_projection b = { k, m, c, z, y, x, r, a, vol, side, rule };
    return emulated_launch(call, stream, back_project, &b, sizeof b);
}
