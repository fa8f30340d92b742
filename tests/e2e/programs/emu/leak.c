#include <string.h>

static const int32_t *saved;
int first_cpu(struct df_call *call, size_t k, int32_t *a) { (void)call; for (size_t i = 0; i < k; i++) a[i] = (int32_t)i; return DF_OK; }
int keep_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b) { (void)call; saved = a; memcpy(b, a, k * 4); return DF_OK; }
int steal_cpu(struct df_call *call, size_t k, const int32_t *b, int32_t *c)
{
    (void)call;
    for (size_t i = 0; i < k; i++)
        c[i] = b[i] + saved[i];
    return DF_OK;
}
int spoil_cpu(struct df_call *call, size_t k, const int32_t *c, int32_t *d)
{
    (void)call;
    d[0] = c[0];
    ((int32_t *)(uintptr_t)c)[k - 1] = 7;
    return DF_OK;
}
int hold_cpu(struct df_call *call, size_t k, const int32_t *a, const int32_t *c, int32_t *d)
{
    (void)call;
    d[0] = c[0];
    d[k - 1] = a[k - 1];
    return DF_OK;
}
int last_cpu(struct df_call *call, size_t k, const int32_t *d) { (void)call; return d[k - 1] == (int32_t)k - 1 && d[0] == 0 ? DF_OK : DF_FAILED; }
