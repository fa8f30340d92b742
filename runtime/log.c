/* log.c - lines on stderr. */
#include "runtime/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "runtime/engine.h"

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
    fprintf(stderr, "%s: %s%s\n", run->graph->name && *run->graph->name ? run->graph->name : "libdf",
            level >= 0 && level <= DF_LOG_DEBUG ? words[level] : "", text);
}
