#include <time.h>
#include <unistd.h>
int make_cpu(struct df_call *call, size_t h, size_t w, float *v)
{
    for (size_t i = 0; i < h * w; i++)
        v[i] = (float)i + (float)df_wave(call);
    return DF_OK;
}
int half_cpu(struct df_call *call, size_t h, size_t w, const float *v, float *o, int32_t *n)
{
    (void)call;
    for (size_t i = 0; i < h * w; i++)
        o[i] = v[i] / 2;
    n[0] = (int32_t)(h * w);
    return DF_OK;
}
int bump_cpu(struct df_call *call, size_t h, size_t w, float *v)
{
    (void)call;
    for (size_t i = 0; i < h * w; i++)
        v[i] += 1;
    return DF_OK;
}
int count_cpu(struct df_call *call, size_t h, size_t w, const float *v, float *o)
{
    static int seen;
    (void)call;
    o[0] = v[0] + (float)seen++;
    for (size_t i = 1; i < h * w; i++)
        o[i] = v[i];
    return DF_OK;
}
int last_cpu(struct df_call *call, size_t h, size_t w, const float *v, const int32_t *n)
{
    df_log(call, DF_LOG_INFO, "sees %g\nand %d\n", (double)v[h * w - 1], n[0]);
    return DF_OK;
}
