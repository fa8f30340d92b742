/* option.c - tables of options (option.h): finding a row, printing --help, refusing what is in no table. */
#include "compiler/options/option.h"

#include <string.h>

#include "compiler/tools/messages.h"
#include "runtime/base/help_line.h"
#include "runtime/base/suggest.h"
#include "runtime/program/args.h"

const struct dfc_command *const *dfc_commands;
size_t dfc_n_commands;

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

static bool offers(const struct dfc_command *command, const char *name)
{
    const struct dfc_option *option = first_row(command, name);
    return option && (option->text || name[1] == 'h');
}

/* What an option is called here that other programs call so, if the command offers it. NULL: nothing. `letter` is for "-D". */
static const char *called_here(const struct dfc_command *command, const char *written, char letter[3])
{
    static const struct {
        const char *other, *option, *here;
    } names[] = {
        { "--output", "-o", "-o" }, { "--out", "-o", "-o" }, { "--define", "-D", "-D" }, { "--include", "-I", "-I" },
        { "--threads", "--workers", "--workers" }, { "--jobs", "--workers", "--workers" }, { "-j", "--workers", "--workers" },
        { "--gpu", "--device", "--device=cuda" }, { "--cuda", "--device", "--device=cuda" }, { "--cpu", "--device", "--device=none" },
        { "-W", "--cflags", "--cflags=-W..." }, { "-f", "--cflags", "--cflags=-f..." }, { "-m", "--cflags", "--cflags=-m..." },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((names[i].other[2] ? strcmp(written, names[i].other) == 0 : strncmp(written, names[i].other, 2) == 0) &&
            offers(command, names[i].option))
            return names[i].here;
    if (strlen(written) != 3 || strncmp(written, "--", 2) != 0)
        return NULL;
    memcpy(letter, (const char[]){ '-', written[2], '\0' }, 3); /* --D */
    return offers(command, letter) ? letter : NULL;
}

/* Does the command read a graph, whose program has this option (`written`: without its value)? */
static bool program_has(const struct dfc_command *command, const char *written)
{
    const char *name;
    if (!first_row(command, "-D") || strncmp(written, "--", 2) != 0)
        return false;
    for (size_t i = 0; (name = dfr_option_name(i)); i++)
        if (strcmp(written + 2, name) == 0)
            return true;
    return false;
}

/* The first other command that has this option and says so in its help. NULL, too: this command reads no graph, as those do. */
static const struct dfc_command *other_with(const struct dfc_command *command, const char *written)
{
    for (size_t i = 0; i < dfc_n_commands && first_row(command, "-D"); i++) {
        const struct dfc_option *option = first_row(dfc_commands[i], written);
        if (dfc_commands[i] != command && option && option->text)
            return dfc_commands[i];
    }
    return NULL;
}

static struct dfr_suggestion closest_of(const struct dfc_command *command, const char *written)
{
    struct dfr_suggestion best = { .name = written };
    const struct dfc_option *option;
    for (size_t i = 0; (option = dfc_option_at(command, i)); i++)
        if (option->name && option->text && option->name[1] == '-')
            dfr_suggest(&best, option->name);
    return best;
}

static void unknown(const struct dfc_command *command, const char *word)
{
    const char *name = dfc_command_name(command), *here;
    const struct dfc_command *other;
    const bool runs = first_row(command, "--");
    char written[64], letter[3];
    snprintf(written, sizeof written, "%.*s", (int)strcspn(word, "="), word);
    const struct dfr_suggestion best = closest_of(command, written);
    if (strcmp(word, "--") == 0)
        dfc_error("'--' stands before options of a graph's program, and 'dfc %s' runs none", name);
    else if (best.distance != 1 && (here = called_here(command, written, letter)))
        dfc_error("unknown option '%s'; did you mean '%s'?", word, here);
    else if (runs && program_has(command, written))
        dfc_error("'%s' is an option of the program, so it stands after '--': 'dfc %s FILE.df -- %s'", word, name, word);
    else if (program_has(command, written))
        dfc_error("'%s' is an option of the program: './PROGRAM %s', or 'dfc run FILE.df -- %s'", word, word, word);
    else if ((other = other_with(command, written)))
        dfc_error("'%s' is an option of 'dfc %s'; 'dfc %s --help' lists those of this command", word, dfc_command_name(other), name);
    else if (best.closest)
        dfc_error("unknown option '%s'; did you mean '%s'?%s", word, best.closest, runs && best.distance > 1 ? " Options of the program stand after '--'" : "");
    else if (runs)
        dfc_error("unknown option '%s'; 'dfc %s --help' lists them, and options of the program stand after '--'", word, name);
    else
        dfc_error("unknown option '%s'; 'dfc %s --help' lists them", word, name);
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
