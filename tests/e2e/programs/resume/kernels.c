/* kernels.c - kernels of the programs here: work that takes its time, a filter that keeps what it has seen, a source and a sink of its own. */
#include <df_io.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int work_cpu(struct df_call *call, size_t n, const uint8_t *a, uint8_t *b, int64_t us)
{
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };
    if (us > 0)
        nanosleep(&t, NULL);
    while (df_wave(call) >= 60 && access("hold", F_OK) == 0) /* so a run ends no sooner than a test lets it */
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    for (size_t i = 0; i < n; i++)
        b[i] = (uint8_t)(a[i] ^ 0x5a);
    return DF_OK;
}

/* The sum of all tokens so far. */
int running_cpu(struct df_call *call, size_t n, const uint8_t *a, uint8_t *b)
{
    uint8_t *sum = df_state(call, n, NULL);
    if (!sum)
        return DF_FAILED;
    for (size_t i = 0; i < n; i++)
        b[i] = sum[i] = (uint8_t)(sum[i] + a[i]);
    return DF_OK;
}

/* Counts in its own memory, not by the wave. */
int count_cpu(struct df_call *call, size_t n, uint8_t *a, int64_t waves)
{
    int64_t *next = df_state(call, sizeof *next, NULL);
    if (!next || *next == waves)
        return next ? DF_END : DF_FAILED;
    for (size_t i = 0; i < n; i++)
        a[i] = (uint8_t)(*next * 7 + (int64_t)i);
    ++*next;
    return DF_OK;
}

int print_cpu(struct df_call *call, size_t n, const uint8_t *a)
{
    printf("%lld %d\n", (long long)df_wave(call), a[n - 1]);
    return DF_OK;
}

/* Every third token is empty. */
int some_cpu(struct df_call *call, size_t n, const uint8_t *a, uint8_t *b)
{
    for (size_t i = 0; i < n; i++)
        b[i] = a[i];
    return df_wave(call) % 3 == 1 ? DF_SKIP : DF_OK;
}
