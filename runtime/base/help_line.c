/* help_line.c - the lines of --help (help_line.h). */
#include "runtime/base/help_line.h"

#include <stdbool.h>
#include <string.h>

#define HELP_COLUMN 24                  /* where texts begin */
#define HELP_WIDTH 100

int dfr_help_words(FILE *out, int at, const char *text)
{
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (at > HELP_COLUMN && at + 1 + n > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_COLUMN, "");
            at = HELP_COLUMN;
        } else if (at > HELP_COLUMN) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", n, text);
        at += n;
        text += n;
        text += strspn(text, " ");
    }
    return at;
}

int dfr_help_line(FILE *out, const char *name, const char *value, const char *text)
{
    char left[300];
    bool is_long = name[1] == '-';
    int n;
    if (value && value[0] == '[')
        n = snprintf(left, sizeof left, "  %s[=%.*s]", name, (int)strlen(value) - 2, value + 1);
    else
        n = snprintf(left, sizeof left, "  %s%s%s", name, !value ? "" : is_long ? "=" : " ", value ? value : "");
    if (n < HELP_COLUMN)
        fprintf(out, "%-*s", HELP_COLUMN, left);
    else
        fprintf(out, "%s\n%*s", left, HELP_COLUMN, "");
    return dfr_help_words(out, HELP_COLUMN, text);
}
