/* call.c - the two calls that the kernels of examples/photo make of a runtime. */
#include <stdarg.h>
#include <stdio.h>

#include "plain.h"

int64_t df_wave(const struct df_call *call)
{
    return call->wave;
}

int df_fail(struct df_call *call, const char *format, ...)
{
    va_list list;
    (void)call;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return DF_FAILED;
}
