/* call.c - the calls of df.h that kernels of examples/ct and examples/matrix make, without libdf. */
#include "call.h"

#include <stdarg.h>
#include <stdio.h>

int df_fail(struct df_call *call, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(call->message, sizeof call->message, format, values);
    va_end(values);
    return DF_FAILED;
}

struct df_part df_part(const struct df_call *call)
{
    return call->part;
}

void *df_opened(struct df_call *call)
{
    return call->opened;
}
