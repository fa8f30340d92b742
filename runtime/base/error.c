/* error.c - fills struct df_error (error.h), for every room: a function that detects a failure calls it. */
#include "runtime/base/error.h"

#include <stdarg.h>

#include "runtime/base/message.h"

int dfr_error(struct df_error *error, int code, const char *format, ...)
{
    if (error) {
        va_list list;
        va_start(list, format);
        dfr_message(error->text, sizeof error->text, format, list);
        va_end(list);
    }
    return code;
}

int dfr_error_memory(struct df_error *error)
{
    return dfr_error(error, DF_E_MEMORY, "out of memory");
}
