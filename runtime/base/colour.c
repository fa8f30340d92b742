/* colour.c - terminal colours of messages (colour.h). dfc's main program and options choose whether there are any;
 * dsl/diag.c and the other printers of messages write them. */
#include "runtime/base/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool coloured;

void dfr_colour_set(bool on)
{
    coloured = on;
}

bool dfr_colour_wanted(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

const char *dfr_colour_begin(const char *kind)
{
    static const struct { const char *kind, *begin; } colours[] = {
        { "error", "\033[1;31m" }, { "warning", "\033[1;35m" }, { "note", "\033[1;36m" }, { "hint", "\033[1;34m" },
        { "caret", "\033[1;32m" },
    };
    for (size_t i = 0; coloured && i < sizeof colours / sizeof *colours; i++)
        if (strcmp(kind, colours[i].kind) == 0)
            return colours[i].begin;
    return "";
}

const char *dfr_colour_end(void)
{
    return coloured ? "\033[m" : "";
}
