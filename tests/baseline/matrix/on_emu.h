/* on_emu.h - the kernels of matrix.cu on the emulated GPU: included by it in place of those for CUDA. */
const enum emulated_stream emulated_streams[] = { EMULATED_UPLOADS, EMULATED_DOWNLOADS, EMULATED_COMPUTES };
const unsigned emulated_n_streams = 3;

struct product {
    int (*kernel)(struct df_call *call, size_t m, const float *a, const float *b, float *c);
    size_t m;
    const float *a, *b;
    float *c;
};

static int carry_out(struct df_call *call, const void *args)
{
    const struct product *p = (const struct product *)args;
    return p->kernel(call, p->m, p->a, p->b, p->c);
}

static int ma_gpu(struct df_call *call, cudaStream_t stream, size_t m, const float *a, const float *b, float *c)
{
    const struct product p = { ma_cpu, m, a, b, c };
    return emulated_launch(call, stream, carry_out, &p, sizeof p);
}

static int mm_gpu(struct df_call *call, cudaStream_t stream, size_t m, const float *a, const float *b, float *c)
{
    const struct product p = { mm_cpu, m, a, b, c };
    return emulated_launch(call, stream, carry_out, &p, sizeof p);
}
