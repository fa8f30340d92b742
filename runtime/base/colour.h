/* colour.h - colours of messages on a terminal. Who prints a message asks for what begins and ends a colour.
 *
 * Threads:  dfr_colour_set() before any other thread prints.
 */
#ifndef DF_COLOUR_H
#define DF_COLOUR_H

#include <stdbool.h>

/* At the start there are no colours. */
void dfr_colour_set(bool on);

/* Would a person see colours on stderr? It is a terminal, neither $NO_COLOR (no-color.org) nor TERM=dumb is set. */
bool dfr_colour_wanted(void);

/* What a terminal gets before an "error", a "warning", a "note", a "hint" or a "caret", and behind it. "": no colour. */
const char *dfr_colour_begin(const char *kind);
const char *dfr_colour_end(void);

#endif
