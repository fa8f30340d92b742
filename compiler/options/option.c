/* option.c - tables of options (option.h): finding a row, printing --help, refusing what is in no table. */
#include "compiler/options/option.h"

#include <string.h>

#include "compiler/tools/messages.h"
#include "runtime/base/help_line.h"
#include "runtime/base/suggest.h"

const struct dfc_option dfc_options_everywhere[] = {
    { "--color", "auto|always|never", "colours in messages (auto: if stderr is a terminal and $NO_COLOR is not set)" },
    { "--help", NULL, "print this; so does -h" },
    { "-h", NULL, NULL },
    { 0 }
};

const char *dfc_command_name(const struct dfc_command *command)
{
    return command->name ? command->name : "compile";
}

/* Table t of a command. NULL: there are not so many. */
static const struct dfc_option *table_at(const struct dfc_command *command, size_t t)
{
    size_t n = 0;
    while (n < DFC_MOST_TABLES && command->options[n])
        n++;
    return t < n ? command->options[t] : t == n ? dfc_options_everywhere : NULL;
}

static bool is_end(const struct dfc_option *option)
{
    return !option->name && !option->text;
}

/* The first row with this name. */
static const struct dfc_option *first_row(const struct dfc_command *command, const char *name)
{
    const struct dfc_option *option;
    for (size_t t = 0; (option = table_at(command, t)); t++)
        for (; !is_end(option); option++)
            if (option->name && strcmp(option->name, name) == 0)
                return option;
    return NULL;
}

const struct dfc_option *dfc_option_at(const struct dfc_command *command, size_t i)
{
    const struct dfc_option *option;
    for (size_t t = 0; (option = table_at(command, t)); t++)
        for (; !is_end(option); option++)
            if ((!option->name || first_row(command, option->name) == option) && i-- == 0)
                return option;
    return NULL;
}

void dfc_print_help(FILE *out, const struct dfc_command *command)
{
    const struct dfc_option *option;
    fputs(command->usage, out);
    for (size_t i = 0; (option = dfc_option_at(command, i)); i++)
        if (!option->name) {
            fprintf(out, "\n%s:\n", option->text);
        } else if (option->text) {
            dfr_help_line(out, option->name, option->value, option->text);
            fputc('\n', out);
        }
}

/* ---- words of a command line ---- */

/* Is the word this option, in one of the forms --name, --name=VALUE, -x and -xVALUE? */
static bool is_option(const struct dfc_option *option, const char *word)
{
    size_t n = strlen(option->name);
    if (strncmp(word, option->name, n) != 0)
        return false;
    return !word[n] || (option->name[1] == '-' ? word[n] == '=' : option->value != NULL);
}

static void unknown(const struct dfc_command *command, const char *word)
{
    char written[64];
    struct dfr_suggestion best = { .name = written };
    const struct dfc_option *option;
    snprintf(written, sizeof written, "%.*s", (int)strcspn(word, "="), word);
    for (size_t i = 0; (option = dfc_option_at(command, i)); i++)
        if (option->name && option->text && option->name[1] == '-')
            dfr_suggest(&best, option->name);
    if (best.closest)
        dfc_error("unknown option '%s'; did you mean '%s'?", word, best.closest);
    else
        dfc_error("unknown option '%s'; 'dfc %s --help' lists them", word, dfc_command_name(command));
}

bool dfc_option_known(const struct dfc_command *command, const char *word)
{
    const struct dfc_option *option;
    for (size_t i = 0; (option = dfc_option_at(command, i)); i++)
        if (option->name && is_option(option, word)) {
            if (option->value || !strchr(word, '='))
                return true;
            dfc_error("%s takes no value", option->name);
            return false;
        }
    unknown(command, word);
    return false;
}
