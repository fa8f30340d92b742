/* messages.c - prints dfc's messages to stderr. Standard output is flushed first, so that the two streams keep their
 * order if both lead to one place.
 */
#include "compiler/tools/messages.h"

#include <stdarg.h>
#include <stdio.h>

static void report(const char *kind, const char *format, va_list list)
{
    fflush(stdout);
    fprintf(stderr, "dfc: %s: ", kind);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
}

void dfc_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report("error", format, list);
    va_end(list);
}

void dfc_warning(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report("warning", format, list);
    va_end(list);
}

void dfc_note(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report("note", format, list);
    va_end(list);
}
