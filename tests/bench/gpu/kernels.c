/* kernels.c - cpu variants of stream.df. For work() the emulated GPU does nothing, for as long as it is told. */
#include "turns.h"

int work_cpu(struct df_call *call, size_t k, size_t m, const int32_t *a, int32_t *b, int32_t us)
{
    struct timespec pause = { us / 1000000, us % 1000000 * 1000L };

    (void)call;
    (void)k;
    if (us > 0)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    b[0] = b[m - 1] = a[0];
    return DF_OK;
}

int look_cpu(struct df_call *call, size_t m, const int32_t *b, int64_t last, int32_t warm_ms)
{
    (void)m;
    if (b[0] != df_wave(call))
        return df_fail(call, "got %d", b[0]);
    turns_note(call, last, warm_ms);
    return DF_OK;
}
