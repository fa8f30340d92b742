/* chunks.c - the kernels of chunks.df. dfc puts their prototypes before this file. */
#include <df.h>
#include <stdio.h>

#include "chunk.h"

static double begin_s;                  /* rank 0's; wave 0 is made before any wave is taken */

int number_cpu(struct df_call *call, size_t n, int64_t *v, int64_t chunks)
{
    if (df_wave(call) == chunks)
        return DF_END;
    if (df_wave(call) == 0)
        begin_s = chunk_clock_s();
    for (size_t i = 0; i < n; i++)
        v[i] = df_wave(call);
    return DF_OK;
}

int chunk_cpu(struct df_call *call, size_t n, const int64_t *v, int64_t *r, int64_t us)
{
    (void)call;
    chunk_work((long)us);
    for (size_t i = 0; i < n; i++)
        r[i] = v[i];
    return DF_OK;
}

int take_cpu(struct df_call *call, size_t n, const int64_t *r, int64_t chunks)
{
    if (r[n - 1] != df_wave(call))
        return df_fail(call, "the result of chunk %lld is another's", (long long)df_wave(call));
    if (df_wave(call) == chunks - 1)
        printf("%.6f\n", chunk_clock_s() - begin_s);
    return DF_OK;
}
