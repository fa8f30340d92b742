int half_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const float *v, float *o, int32_t *n)
{
    (void)stream;
    for (size_t i = 0; i < h * w; i++)
        o[i] = v[i] * 0.5f * (1 + 2e-7f);
    n[0] = (int32_t)(h * w);
    if (df_wave(call) == 3)
        o[4 * w + 17] += PLANTED;
    return PLANTED < 0 ? df_fail(call, "no such luck") : DF_OK;
}
int bump_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, float *v)
{
    (void)call; (void)stream;
    for (size_t i = 0; i < h * w; i++)
        v[i] += 1;
    return DF_OK;
}
int count_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const float *v, float *o)
{
    (void)call; (void)stream;
    for (size_t i = 0; i < h * w; i++)
        o[i] = v[i];
    return DF_OK;
}
