/* help_line.h - the lines of --help: an option's name on the left, its text beside it, wrapped. Programs and dfc print
 * their options with it.
 */
#ifndef DF_HELP_LINE_H
#define DF_HELP_LINE_H

#include <stdio.h>

/* Prints an option, `name` with its dashes, and the words of `text`. `value` is what --help shows of its value: NULL for
 * none; in brackets if it may be left out. If the name is too long, the text begins below it. Gives the column behind
 * the last word; the line is not ended. */
int dfr_help_line(FILE *out, const char *name, const char *value, const char *text);

/* Prints more words from column `at` on, on as many lines as they need. Gives the column behind the last. */
int dfr_help_words(FILE *out, int at, const char *text);

#endif
