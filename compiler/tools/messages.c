/* messages.c - prints dfc's messages that concern no place in a source (dsl/diag.c prints the others) to stderr,
 * escaped and shortened; all of the compiler but the front end uses it. Standard output is flushed first, so that the
 * two streams stay in order if both go to the same place.
 */
#include "compiler/tools/messages.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "runtime/base/colour.h"
#include "runtime/base/message.h"

static void report(const char *kind, const char *format, va_list list)
{
    char text[DFR_MESSAGE_BYTES];
    fflush(stdout);
    dfr_message(text, sizeof text, format, list);
    fprintf(stderr, "dfc: %s%s:%s %s\n", dfr_colour_begin(kind), kind, dfr_colour_end(), text);
}

void dfc_error(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report("error", format, list);
    va_end(list);
}

static bool no_warnings;

void dfc_no_warnings(void)
{
    no_warnings = true;
}

void dfc_warning(const char *format, ...)
{
    va_list list;
    if (no_warnings)
        return;
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
