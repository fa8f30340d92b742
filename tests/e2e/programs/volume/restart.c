/* restart.c - the source of restart.df. What ends its state is a function of the file: one inside another function is called through its stack. */
#include <stdint.h>
#include <stdio.h>

static int64_t ends;                            /* of states: a new one for each pass */

static int end_state(void *state, int good, struct df_error *error)
{
    (void)error;
    fprintf(stderr, "state %lld: %lld%s\n", (long long)ends++, (long long)*(int64_t *)state, good ? "" : ", failed");
    return DF_OK;
}

int project_cpu(struct df_call *call, size_t n, float *p, int64_t end, int64_t late, int64_t gaps)
{
    int64_t *called = df_state(call, sizeof *called, end_state);
    if (!called)
        return DF_FAILED;
    if (*called != df_wave(call))
        return df_fail(call, "called %lld times before", (long long)*called);
    if (df_wave(call) >= (ends > 0 && late < end ? late : end))
        return DF_END;
    ++*called;
    if (df_wave(call) % gaps == gaps - 1)
        return DF_SKIP;
    for (size_t i = 0; i < n; i++)
        p[i] = (float)((i * 7 + 13 * (size_t)df_wave(call)) % 101) / 7;
    return DF_OK;
}
