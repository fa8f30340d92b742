/* options.c - parses a session's options for library.c: one text, split into words and then read as a program's command line (library.h).
 */
#include "runtime/library/library.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

/* ---- words ---- */

/* Copies the next word to `to`, without its quotes, and gives what follows it. NULL: a quote is not closed. */
static const char *take_word(const char *at, char *to)
{
    char quote = 0;
    for (; *at && (quote || !strchr(" \t\n", *at)); at++) {
        if (*at == quote)
            quote = 0;
        else if (!quote && (*at == '"' || *at == '\''))
            quote = *at;
        else
            *to++ = *at;
    }
    *to = '\0';
    return quote ? NULL : at;
}

/* The words lie behind their pointers, in one block. The first stands for the program's name. */
static int split(const char *text, char ***words, int *n, struct df_error *error)
{
    size_t length = strlen(text), most = length / 2 + 2;
    char **list = malloc(most * sizeof *list + length + 2);
    if (!list)
        return dfr_error_memory(error);
    char *to = (char *)(list + most);
    *to = '\0';
    list[0] = to++;
    *n = 1;
    for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
        const char *next = take_word(text, to);
        if (!next) {
            free(list);
            return dfr_error(error, DF_E_ARGUMENT, "options: a quote is not closed: %s", text);
        }
        list[(*n)++] = to;
        to += strlen(to) + 1;
        text = next;
    }
    *words = list;
    return DF_OK;
}

/* ---- options that are a program's alone ---- */

static int refuse(int n, char *const *words, struct df_error *error)
{
    for (int i = 1; i < n; i++) {
        const struct dfr_option *option = dfr_option_find(dfr_program_options, words[i]);
        if (option && option->program_only)
            return dfr_error(error, DF_E_ARGUMENT, "%s is no option of a library: %s", option->name, option->program_only);
    }
    return DF_OK;
}

static int read_platform(struct dfr_library *l, struct df_error *error)
{
    if (!l->line.platform_path)
        return DF_OK;
    l->platform = calloc(1, sizeof *l->platform);
    if (!l->platform)
        return dfr_error_memory(error);
    l->line.options.platform = l->platform;
    return l->program.read_platform(l->line.platform_path, l->platform, error);
}

int dfr_library_options(struct dfr_library *l, const char *text, struct df_error *error)
{
    int n = 0, rc = split(text ? text : "", &l->words, &n, error);
    if (rc == DF_OK)
        rc = refuse(n, l->words, error);
    if (rc == DF_OK)
        rc = dfr_args_parse(l->image.graph, l->program.params, n, l->words, &l->line, error);
    if (rc == DF_OK && l->line.options.device == DF_DEVICE_SIM)
        rc = dfr_error(error, DF_E_ARGUMENT, "--device=sim is no option of a library: a call is to have results");
    return rc == DF_OK ? read_platform(l, error) : rc;
}

void dfr_library_options_free(struct dfr_library *l)
{
    dfr_args_free(&l->line);
    free(l->words);
    free(l->platform);
}
