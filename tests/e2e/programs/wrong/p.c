int fill_cpu(struct df_call *call, size_t k, float *v, int32_t *n)
{
    (void)call;
    for (size_t i = 0; i < k; i++) { v[i] = 1; n[i] = 1; }
    return DF_OK;
}
int forget_cpu(struct df_call *call, size_t k, const float *a, const int32_t *m, float *v, int32_t *n, float *t)
{
    (void)call;
    for (size_t i = 0; i < k / 2; i++) { v[i] = a[i]; n[i] = m[i]; }
    v[0] = t[k - 1];
    return DF_OK;
}
int look_cpu(struct df_call *call, size_t k, const float *v, const int32_t *n)
{
    for (size_t i = 1; i < k / 2; i++)
        if (v[i] != 1 || n[i] != 1)
            return df_fail(call, "the first half was spoilt");
    for (size_t i = k / 2; i < k; i++)
        if (v[i] == v[i] || n[i] != (int32_t)0xa5a5a5a5)
            return df_fail(call, "element %d is %g and %d", (int)i, (double)v[i], n[i]);
    return v[0] == v[0] ? df_fail(call, "the scratch held %g", (double)v[0]) : DF_OK;
}
