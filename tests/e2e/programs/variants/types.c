#include <stdio.h>
#include <string.h>
int make_cpu(struct df_call *call, size_t h, size_t w, uint8_t *a, uint16_t *b, int64_t *c, double *e, df_f16 *g, int32_t i, int64_t l,
             float f, double d, const char *s)
{
    if (h != 2 || w != 3 || i != -3 || l != 5000000000 || f != 0.5f || d != 0.1 || strcmp(s, "a \"b\""))
        return df_fail(call, "got %zu %zu %d %lld %g %g '%s'", h, w, i, (long long)l, f, d, s);
    memset(a, 200, h * w);
    for (size_t y = 0; y < h; y++) { b[y] = 60000; e[y] = d; }
    for (size_t x = 0; x < w; x++) { c[x] = l; g[x] = 0x3c00; }
    return DF_OK;
}
int look_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *a, const uint16_t *b, const int64_t *c, const double *e,
             const df_f16 *g, float *t)
{
    t[h * w - 1] = 1;
    printf("%d %d %lld %g %x\n", a[h * w - 1], b[h - 1], (long long)c[w - 1], e[h - 1], g[w - 1]);
    return DF_OK;
}
