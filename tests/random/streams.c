/* streams.c - kernels of the random programs of streams.py, which computes the same in Python: 32-bit integers that wrap, and
 * a result that depends on the order of waves where a kernel keeps something. A token has y rows of x elements.
 */
#include <df.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define U(p) ((uint32_t *)(p))
#define C(p) ((const uint32_t *)(p))

/* One of eight, by wave and seed. */
static uint32_t draw(struct df_call *call, int32_t s)
{
    return ((uint32_t)df_wave(call) * 2654435761u + (uint32_t)s * 40503u) >> 11 & 7;
}

static void fill(int32_t *v, size_t n, int32_t s, uint32_t w)
{
    for (size_t i = 0; i < n; i++)
        U(v)[i] = ((uint32_t)s * 2654435761u) ^ ((uint32_t)i * 40503u + w * 97u);
}

/* ---- sources ---- */

int gen_cpu(struct df_call *call, size_t y, size_t x, int32_t *v, int32_t s)
{
    fill(v, y * x, s, (uint32_t)df_wave(call));
    return DF_OK;
}

int table_cpu(struct df_call *call, size_t y, size_t x, int32_t *v, int32_t s)
{
    (void)call;
    fill(v, y * x, s, 1000);
    return DF_OK;
}

int src_cpu(struct df_call *call, size_t y, size_t x, int32_t *v, int32_t s, int32_t count, int32_t p)
{
    if (df_wave(call) >= count)
        return DF_END;
    fill(v, y * x, s, (uint32_t)df_wave(call));
    return draw(call, s) < (uint32_t)p ? DF_SKIP : DF_OK;
}

int load_cpu(struct df_call *call, size_t *y, size_t *x, int32_t *v, int32_t s)
{
    *y = (size_t)(df_wave(call) * 7 + 3 * s) % 13;
    *x = (size_t)(df_wave(call) * 5 + s) % 6;
    fill(v, *y * *x, s, (uint32_t)df_wave(call));
    return DF_OK;
}

/* ---- of whole tokens ---- */

int scale_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *b, int32_t f)
{
    (void)call;
    for (size_t i = 0; i < y * x; i++)
        U(b)[i] = C(a)[i] * (uint32_t)f + (uint32_t)i;
    return DF_OK;
}

int add_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, const int32_t *b, int32_t *c)
{
    (void)call;
    for (size_t i = 0; i < y * x; i++)
        U(c)[i] = C(a)[i] + 3 * C(b)[y * x - 1 - i];
    return DF_OK;
}

int bump_cpu(struct df_call *call, size_t y, size_t x, int32_t *a)
{
    (void)call;
    for (size_t i = 0; i < y * x; i++)
        U(a)[i] = U(a)[i] * 5 + 7;
    return DF_OK;
}

int skips_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *b, int32_t *c, int32_t s, int32_t p)
{
    for (size_t i = 0; i < y * x; i++) { /* what is written of an empty token is never seen */
        U(b)[i] = C(a)[i] + (uint32_t)df_wave(call);
        U(c)[i] = C(a)[i] ^ (uint32_t)s;
    }
    return draw(call, s) < (uint32_t)p ? DF_SKIP : DF_OK;
}

int gang_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *b)
{
    if (df_threads(call) < 1)
        return df_fail(call, "no threads");
    for (size_t i = 0; i < y * x; i++)
        U(b)[i] = C(a)[i] - 11;
    return DF_OK;
}

int less_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *b)
{
    (void)call;
    for (size_t i = 0; i + 1 < y; i++)
        for (size_t j = 0; j < x; j++)
            U(b)[i * x + j] = C(a)[i * x + j] - C(a)[(i + 1) * x + j];
    return DF_OK;
}

int wide_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *b)
{
    (void)call;
    for (size_t i = 0; i < 2 * y * x; i++)
        U(b)[i] = C(a)[i / 2] + (uint32_t)(i % 2);
    return DF_OK;
}

int cut_cpu(struct df_call *call, size_t y, size_t x, size_t *n, const int32_t *a, int32_t *b, int32_t s)
{
    *n = (C(a)[0] + (uint32_t)df_wave(call) + (uint32_t)s) % 9;
    for (size_t i = 0; i < *n; i++)
        memcpy(b + i * x, a + i % y * x, x * sizeof *a);
    return DF_OK;
}

/* ---- in parts ---- */

int blur_cpu(struct df_call *call, size_t y, size_t x, size_t p, size_t q, const int32_t *a, const int32_t *t, int32_t *b)
{
    const struct df_part part = df_part(call);
    for (size_t r = 0; r < y; r++)
        for (size_t j = 0; j < x; j++) {
            uint32_t sum = (uint32_t)(part.first + r);
            for (size_t d = 0; d < 5; d++) {
                size_t row = part.first + r + d;        /* and two rows above it */
                if (row >= 2 && row - 2 < part.whole)
                    sum += C(t)[d % (p * q)] * C(a)[(row - 2 - df_part_row(call, 0)) * x + j];
            }
            U(b)[r * x + j] = sum;
        }
    return DF_OK;
}

int near_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, const int32_t *b, int32_t *u, int32_t *c, int32_t *d)
{
    const struct df_part part = df_part(call);
    for (size_t i = 0; i < y * x; i++)
        U(u)[i] = 3 * C(b)[i];
    for (size_t r = 0; r < y; r++)
        for (size_t j = 0; j < x; j++) {
            size_t next = part.first + r + 1 < part.whole ? r + 1 : r;
            U(c)[r * x + j] = C(a)[(part.before + next) * x + j] + C(u)[r * x + j];
            U(d)[r * x + j] = C(u)[r * x + j] ^ (uint32_t)(part.first + r);
        }
    return DF_OK;
}

int raise_cpu(struct df_call *call, size_t y, size_t x, int32_t *a)
{
    for (size_t i = 0; i < y * x; i++)
        U(a)[i] = U(a)[i] * 9 + (uint32_t)(df_part(call).first + i / x);
    return DF_OK;
}

/* The part with a row that the wave names skips. Rows beyond the whole are named, too. */
int holes_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *b, int32_t s)
{
    const struct df_part part = df_part(call);
    const size_t row = draw(call, s) * part.whole / 4;
    for (size_t i = 0; i < y * x; i++)
        U(b)[i] = C(a)[i] + 2;
    return row >= part.first && row < part.first + part.rows ? DF_SKIP : DF_OK;
}

/* ---- what stays ---- */

int count_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *b, int32_t s, int32_t p)
{
    uint32_t *calls = df_state(call, sizeof *calls, NULL);
    if (!calls)
        return DF_FAILED;
    ++*calls;
    for (size_t i = 0; i < y * x; i++)
        U(b)[i] = C(a)[i] + *calls;
    return draw(call, s) < (uint32_t)p ? DF_SKIP : DF_OK;
}

static void follow(int32_t *v, const int32_t *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        U(v)[i] = U(v)[i] * 3 + C(a)[i];
}

int collect_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *v, int32_t *w, int32_t *so_far,
                int32_t s, int32_t p)
{
    if (draw(call, s) < (uint32_t)p)
        return DF_SKIP;
    follow(v, a, y * x);
    for (size_t i = 0; i < y * x; i++)
        if (a[i] < w[i])
            w[i] = a[i];
    memcpy(so_far, v, y * x * sizeof *v);
    return DF_OK;
}

int absorb_cpu(struct df_call *call, size_t y, size_t x, int32_t *a, int32_t *v)
{
    (void)call;
    follow(v, a, y * x);
    for (size_t i = 0; i < y * x; i++)
        U(a)[i] ^= U(v)[i];
    return DF_OK;
}

int pour_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *v)
{
    follow(v, a, y * x);
    for (size_t i = 0; i < y * x; i++)
        U(v)[i] += (uint32_t)(df_part(call).first + i / x);
    return DF_OK;
}

/* Each element of the acc takes one of the token, which is whole for each part. */
int spread_cpu(struct df_call *call, size_t p, size_t q, size_t y, size_t x, const int32_t *a, int32_t *v, int32_t s)
{
    for (size_t i = 0; i < y * x; i++)
        U(v)[i] = U(v)[i] * 5 + C(a)[(df_part(call).first * x + i + (size_t)s) % (p * q)];
    return DF_OK;
}

int bins_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *h)
{
    (void)call;
    for (size_t i = 0; i < y * x; i++)
        U(h)[i % 12] = U(h)[i % 12] * 3 + C(a)[i];
    U(h)[12] = U(h)[12] * 3 + (uint32_t)y;
    return DF_OK;
}

/* ---- what is open ---- */

static _Atomic int n_open, n_closed, n_busy;

struct factor {
    _Atomic int busy;                   /* a job uses it: no two may */
    int32_t s;
};

int keeps_open(struct df_call *call, size_t y, size_t x, int32_t s, void **state)
{
    struct factor *f = malloc(sizeof *f);
    if (!f)
        return df_fail(call, "no memory");
    (void)y, (void)x;
    f->busy = 0;
    f->s = s;
    n_open++;
    *state = f;
    return DF_OK;
}

void keeps_close(void *state)
{
    n_busy += ((struct factor *)state)->busy;
    n_closed++;
    free(state);
}

int keeps_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *b, int32_t s)
{
    struct factor *f = df_opened(call);
    if (f->busy++ != 0 || f->s != s)
        return df_fail(call, "what is open is another job's");
    for (size_t i = 0; i < y * x; i++)
        U(b)[i] = C(a)[i] * (uint32_t)f->s;
    f->busy--;
    return DF_OK;
}

static __attribute__((destructor)) void say(void)
{
    if (n_open != n_closed || n_busy)
        fprintf(stderr, "opened %d closed %d busy %d\n", n_open, n_closed, n_busy);
}

/* ---- calls of a session ---- */

int bomb_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *b, int32_t at)
{
    if (df_wave(call) == at)
        return df_fail(call, "bomb");
    for (size_t i = 0; i < y * x; i++)
        U(b)[i] = C(a)[i] + 1;
    return DF_OK;
}

/* Calls a function of the host program in one wave. */
int tells_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t *b, int32_t now, int64_t whom)
{
    if (df_wave(call) == now)
        ((void (*)(void))(intptr_t)whom)();
    for (size_t i = 0; i < y * x; i++)
        U(b)[i] = C(a)[i] + 5;
    return DF_OK;
}

/* ---- results ---- */

int report_cpu(struct df_call *call, size_t y, size_t x, const int32_t *a, int32_t id)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < y * x; i++)
        h = (h ^ C(a)[i]) * 16777619u;
    if (printf("%d %lld %zu %zu %u\n", (int)id, (long long)df_wave(call), y, x, h) < 0)
        return df_fail(call, "can't write to standard output");
    return DF_OK;
}
