int half_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const float *v, float *o)
{
    (void)stream;
    for (size_t i = 0; i < h * w; i++)
        o[i] = v[i] * 0.5f;
    if (df_wave(call) == 3)
        o[w + 2] += 0.25f;
    return DF_OK;
}
int close_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const float *v, float *o)
{
    (void)call; (void)stream;
    for (size_t i = 0; i < h * w; i++)
        o[i] = v[i] * 0.25f * (1 + 2e-7f);
    return DF_OK;
}
