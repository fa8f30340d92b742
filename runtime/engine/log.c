/* log.c - writes lines on stderr (log.h). Each line is one call of stdio, so that lines of several threads do not
 * mix. */
#include "runtime/engine/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/engine/engine.h"

const char *dfr_program_name(void)
{
    const char *name = program_invocation_short_name;
    return name && *name ? name : "libdf";
}

/* Writes the text as one line: line breaks at its end go, and those within it become spaces. */
static void put(const char *word, char *text)
{
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        text[--n] = '\0';
    for (char *p = text; *p; p++)
        if (*p == '\n' || *p == '\r')
            *p = ' ';
    fprintf(stderr, "%s: %s%s\n", dfr_program_name(), word, text);
}

void dfr_log(const struct df_run *run, int level, const char *format, ...)
{
    static const char *const words[] = { "error: ", "warning: ", "", "debug: " };
    char text[1024];
    va_list list;

    if (level > run->options.log_level)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put(level >= 0 && level <= DF_LOG_DEBUG ? words[level] : "", text);
}

void dfr_say(const char *format, ...)
{
    char text[1024];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put("", text);
}
