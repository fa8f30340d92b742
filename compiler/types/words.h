/* words.h - splits a text into words as a shell would split a command line: at blanks, with quotes and backslashes. No
 * other character is special, and no shell is run. declare/code_flags.c splits the flags of source files with it,
 * tools/spawn.c command lines.
 */
#ifndef DFC_WORDS_H
#define DFC_WORDS_H

#include <stdbool.h>

/* Copies the next word of *text, without its quotes, to `word`, which has room for strlen(*text) + 1 bytes, and moves
 * *text past it. *unclosed (may be NULL): does a quote begin that does not end? false: there is no further word. */
bool dfc_next_word(const char **text, char *word, bool *unclosed);

#endif
