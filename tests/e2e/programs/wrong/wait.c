#define _GNU_SOURCE
#include <time.h>
static double spent_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int wait_cpu(struct df_call *call, int32_t *v, double s, int32_t most_ms)
{
    struct timespec pause = { (time_t)s, (long)((s - (double)(time_t)s) * 1e9) };
    double before_s = spent_s(), ms;
    if (df_wave(call) == 1)
        return DF_END;
    nanosleep(&pause, NULL);
    ms = 1e3 * (spent_s() - before_s);
    *v = 1;
    df_log(call, DF_LOG_INFO, "%.3f ms of cpu time", ms);
    return ms < most_ms ? DF_OK : df_fail(call, "%.3f ms of cpu time while waiting %g s", ms, s);
}
