#include <unistd.h>
int spin_cpu(struct df_call *call, const int32_t *a, int32_t *b, int32_t ms)
{
    (void)call;
    if (ms < 0)
        for (;;)
            pause();
    usleep((unsigned)ms * 1000);
    *b = *a;
    return DF_OK;
}
