/* kernels.c - kernels of the random graphs: 32-bit integers that wrap, so that every schedule must give the same bits.
 * The prototypes are those that dfc's header for a random graph has; generate.py computes the same in Python.
 */
#include <df.h>
#include <stdio.h>
#include <string.h>

#define U(p) ((uint32_t *)(p))
#define C(p) ((const uint32_t *)(p))

static void fill(int32_t *v, size_t k, uint32_t s, uint32_t w)
{
    for (size_t i = 0; i < k; i++)
        U(v)[i] = (s * 2654435761u) ^ ((uint32_t)i * 40503u + w * 97u);
}

int gen_cpu(struct df_call *call, size_t k, int32_t *v, int32_t s);
int gen_cpu(struct df_call *call, size_t k, int32_t *v, int32_t s)
{
    fill(v, k, (uint32_t)s, (uint32_t)df_wave(call));
    return DF_OK;
}

int table_cpu(struct df_call *call, size_t k, int32_t *v, int32_t s);
int table_cpu(struct df_call *call, size_t k, int32_t *v, int32_t s)
{
    (void)call;
    fill(v, k, (uint32_t)s, 1000);
    return DF_OK;
}

int src_cpu(struct df_call *call, size_t k, int32_t *v, int32_t s, int32_t count);
int src_cpu(struct df_call *call, size_t k, int32_t *v, int32_t s, int32_t count)
{
    if (df_wave(call) >= count)
        return DF_END;
    fill(v, k, (uint32_t)s, (uint32_t)df_wave(call));
    return DF_OK;
}

int add_cpu(struct df_call *call, size_t k, const int32_t *a, const int32_t *b, int32_t *c);
int add_cpu(struct df_call *call, size_t k, const int32_t *a, const int32_t *b, int32_t *c)
{
    (void)call;
    for (size_t i = 0; i < k; i++)
        U(c)[i] = C(a)[i] + 3 * C(b)[i];
    return DF_OK;
}

int rev_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b);
int rev_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b)
{
    (void)call;
    for (size_t i = 0; i < k; i++)
        U(b)[i] = C(a)[k - 1 - i] ^ (uint32_t)i;
    return DF_OK;
}

int bump_cpu(struct df_call *call, size_t k, int32_t *a);
int bump_cpu(struct df_call *call, size_t k, int32_t *a)
{
    (void)call;
    for (size_t i = 0; i < k; i++)
        U(a)[i] = U(a)[i] * 5 + 7;
    return DF_OK;
}

int both_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *s, int32_t *d);
int both_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *s, int32_t *d)
{
    (void)call;
    for (size_t i = 0; i < k; i++) {
        uint32_t next = C(a)[(i + 1) % k];
        U(s)[i] = C(a)[i] + next;
        U(d)[i] = C(a)[i] - next;
    }
    return DF_OK;
}

int mix_cpu(struct df_call *call, size_t k, const int32_t *a, const int32_t *b, int32_t *t, int32_t *c, int32_t *d,
            int32_t f);
int mix_cpu(struct df_call *call, size_t k, const int32_t *a, const int32_t *b, int32_t *t, int32_t *c, int32_t *d,
            int32_t f)
{ /* c is inout, t scratch */
    (void)call;
    for (size_t i = 0; i < k; i++)
        U(t)[i] = C(a)[i] * (uint32_t)f;
    for (size_t i = 0; i < k; i++) {
        U(d)[i] = U(t)[k - 1 - i] + C(b)[i];
        U(c)[i] ^= U(t)[i];
    }
    return DF_OK;
}

int join_cpu(struct df_call *call, size_t p, size_t q, const int32_t *a, const int32_t *b, int32_t *c);
int join_cpu(struct df_call *call, size_t p, size_t q, const int32_t *a, const int32_t *b, int32_t *c)
{
    (void)call;
    memcpy(c, a, p * sizeof *a);
    memcpy(c + p, b, q * sizeof *b);
    return DF_OK;
}

int report_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t id);
int report_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t id)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < k; i++)
        h = (h ^ C(a)[i]) * 16777619u;
    if (printf("%d %lld %u\n", (int)id, (long long)df_wave(call), h) < 0)
        return df_fail(call, "can't write to standard output");
    return DF_OK;
}
