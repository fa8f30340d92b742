/* help_std.c - `dfc help std/NAME` (help_std.h): prints the declarations that have a comment right above them, which those for other elements have not. main.c
 * calls it.
 */
#include "compiler/commands/help_std.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/tools/home.h"
#include "compiler/tools/messages.h"

#define MOST_LINES 8                    /* of a comment */

/* A declaration up to its ports and scalars, without borders and bodies. */
static void print_signature(const char *line)
{
    unsigned depth = 0;
    bool closed = false;
    printf("\n  ");
    for (const char *at = strchr(line, ' ') + 1; *at && *at != '\n' && !closed; at++) {
        depth += *at == '(';
        if (strncmp(at, " border ", 8) == 0)
            at += strcspn(at, ",;)");
        putchar(*at);
        closed = *at == ')' && --depth == 0;
    }
    putchar('\n');
}

/* A comment that stands above no declaration is about the file. What the file that is asked for imports lies beside it. */
static bool print_file(const char *path, bool is_imported)
{
    char other[PATH_MAX], kept[MOST_LINES][256], imported[256], *line = NULL;
    size_t size = 0;
    unsigned n_kept = 0;
    FILE *file = fopen(path, "r");
    while (file && getline(&line, &size, file) >= 0) {
        const bool declares = strncmp(line, "kernel ", 7) == 0 || strncmp(line, "graph ", 6) == 0;
        if (strncmp(line, "// ", 3) == 0) {
            if (n_kept < MOST_LINES)
                snprintf(kept[n_kept++], sizeof kept[0], "%s", line + 3);
            continue;
        }
        if (n_kept && declares)
            print_signature(line);
        else if (n_kept)
            putchar('\n');
        for (unsigned i = 0; i < n_kept; i++)
            printf("%s%s", declares ? "      " : "", kept[i]);
        n_kept = 0;
        if (!is_imported && sscanf(line, "import \"%255[^\"]\"", imported) == 1 &&
            snprintf(other, sizeof other, "%.*s%s", (int)(strrchr(path, '/') + 1 - path), path, imported) < (int)sizeof other)
            print_file(other, true);
    }
    free(line);
    if (file)
        fclose(file);
    return file;
}

int dfc_help_std(const char *name)
{
    const char *share = dfc_home_share(), *dot = strrchr(name, '.');
    char path[PATH_MAX];
    const bool fits = share && snprintf(path, sizeof path, "%s/%s%s", share, name, dot && strcmp(dot, ".df") == 0 ? "" : ".df") < (int)sizeof path;
    if (fits && !strstr(name, "..") && print_file(path, false))
        return 0;
    dfc_error("dfc comes with no '%s'; 'dfc help std/io' and 'dfc help std/image' list what graphs can import", name);
    return 2;
}
