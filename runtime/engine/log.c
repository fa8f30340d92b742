/* log.c - writes log lines to stderr (log.h), for the whole runtime and for dfc, and finds the name of the process.
 * Each line is one stdio call, so that lines of several threads do not interleave.
 */
#include "runtime/engine/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/message.h"
#include "runtime/base/status_line.h"
#include "runtime/engine/engine.h"

const char *dfr_program_name(void)
{
    static _Thread_local char shown[256];
    const char *name = program_invocation_short_name;
    if (!name || !*name)
        return "libdf";
    dfr_shown(shown, sizeof shown, name, strlen(name));
    return shown;
}

static void put(const char *word, const char *format, va_list list)
{
    char text[1024];

    dfr_message_text(text, sizeof text, format, list);
    dfr_status_clear();
    fprintf(stderr, "%s: %s%s\n", dfr_program_name(), word, text);
}

void dfr_log(const struct df_run *run, int level, const char *format, ...)
{
    static const char *const words[] = { "error: ", "warning: ", "", "debug: " };
    va_list list;

    if (level > run->options.log_level)
        return;
    va_start(list, format);
    put(level >= 0 && level <= DF_LOG_DEBUG ? words[level] : "", format, list);
    va_end(list);
}

void dfr_say(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    put("", format, list);
    va_end(list);
}
