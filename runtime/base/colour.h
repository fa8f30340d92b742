/* colour.h - terminal colours of messages: returns the escape sequences that begin and end each kind of colour. dfc's
 * main program and --color choose whether there are any (commands/main.c, options/option.c); dsl/diag.c,
 * compiler/tools/messages.c and source_line.c print with them.
 *
 * Threads:  dfr_colour_set() before any other thread prints.
 */
#ifndef DF_COLOUR_H
#define DF_COLOUR_H

#include <stdbool.h>

/* Switches colours on or off. They are off at the start. */
void dfr_colour_set(bool on);

/* Returns true if stderr is a terminal that shows colours: neither $NO_COLOR (no-color.org) nor TERM=dumb is set. */
bool dfr_colour_wanted(void);

/* The escape sequences before and after an "error", a "warning", a "note", a "hint" or a "caret"; "" without colours. */
const char *dfr_colour_begin(const char *kind);
const char *dfr_colour_end(void);

#endif
