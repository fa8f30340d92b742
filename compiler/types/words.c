/* words.c - splits a text into words, for the flags of source files (declare/code_flags.c) and the command lines of
 * tools/spawn.c.
 */
#include "compiler/types/words.h"

#include <string.h>

bool dfc_next_word(const char **text, char *word, bool *unclosed)
{
    char quote = 0;
    const char *p = *text + strspn(*text, " \t\n");
    bool found = *p != '\0';
    for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
        if (!quote && (*p == '\'' || *p == '"'))
            quote = *p;
        else if (quote && *p == quote)
            quote = 0;
        else if (*p == '\\' && quote != '\'' && p[1])
            *word++ = *++p;
        else
            *word++ = *p;
    }
    *word = '\0';
    *text = p;
    if (unclosed)
        *unclosed = quote != 0;
    return found;
}
