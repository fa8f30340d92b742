/* chain.c - the check at the end of chain.df. */
#include "turns.h"

int look_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t want, int64_t last, int32_t warm_ms)
{
    if (a[0] != want || a[k - 1] != want + (int32_t)k - 1)
        return df_fail(call, "got %d", a[0]);
    turns_note(call, last, warm_ms);
    return DF_OK;
}
