/* work.c - a kernel whose bits depend on a header, on a header of that, on flags, and on libraries. */
#include <df.h>
#include "gain.h"
float grow(float x);
float shrink(float x);
int work_cpu(struct df_call *call, size_t n, const float *a, float *b, int64_t us)
{
    (void)call, (void)us;
    for (size_t i = 0; i < n; i++)
        b[i] = shrink(grow(a[i] * GAIN * TWICE));
    return DF_OK;
}
