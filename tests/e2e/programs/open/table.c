#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic int n_open, n_closed, n_busy;

struct table {
    _Atomic int busy;                   /* a job uses it: no two may */
    float factor;
    float values[];
};

int table_open(struct df_call *call, size_t k, float f, int32_t bad, void **state)
{
    struct table *t;
    if (f == 7)
        return df_fail(call, "no table of %g", (double)f);
    if (f == 8)
        return 5;
    t = malloc(sizeof *t + k * sizeof *t->values);
    if (!t)
        return df_fail(call, "no memory");
    (void)bad;
    t->busy = 0;
    t->factor = f;
    for (size_t i = 0; i < k; i++)
        t->values[i] = f * (float)i;
    n_open++;
    *state = t;
    return DF_OK;
}

void table_close(void *state)
{
    struct table *t = state;
    n_busy += t->busy;
    n_closed++;
    free(t);
}

int table_cpu(struct df_call *call, size_t k, const float *v, float *w, float f, int32_t bad)
{
    struct table *t = df_opened(call);
    if (bad == df_wave(call))
        return df_fail(call, "a bad wave");
    if (t->busy++ != 0 || t->factor != f)
        return df_fail(call, "this table is another job's");
    for (size_t i = 0; i < k; i++)
        w[i] = v[i] + t->values[i];
    t->busy--;
    return DF_OK;
}

int team_open(struct df_call *call, size_t k, void **state)
{
    static float quarter = 0.25f;
    (void)call, (void)k;
    *state = &quarter;
    return DF_OK;
}

int show_open(struct df_call *call, size_t k, void **state)
{
    (void)call, (void)k;
    n_open++;
    *state = NULL;                      /* it keeps nothing, and is closed all the same */
    return DF_OK;
}

void show_close(void *state)
{
    n_closed++;
    if (state)
        n_busy++;
}

int print_wave(struct df_call *call, size_t k, float *w)
{
    if (df_opened(call))
        return df_fail(call, "what was opened is not NULL");
    printf("%lld %g\n", (long long)df_wave(call), (double)(w[0] + w[k - 1]));
    return DF_OK;
}

static __attribute__((destructor)) void say(void)
{
    fprintf(stderr, "opened %d closed %d busy %d\n", n_open, n_closed, n_busy);
}
