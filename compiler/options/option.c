/* option.c - parses the command lines of dfc's commands by their option tables, and rejects unknown options (option.h):
 * common.c calls it for commands with a graph, the others call it directly.
 */
#include "compiler/options/option.h"

#include <string.h>

#include "compiler/tools/messages.h"
#include "runtime/base/colour.h"
#include "runtime/base/suggest.h"
#include "runtime/program/args.h"

const struct dfc_command *const *dfc_commands;
size_t dfc_n_commands;

/* Colours count from here on. */
static int set_colour(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    (void)field, (void)option, (void)error;
    dfr_colour_set(strcmp(text, "auto") == 0 ? dfr_colour_wanted() : strcmp(text, "always") == 0);
    return DF_OK;
}

const struct dfr_option dfc_options_everywhere[] = {
    { "--color", "auto|always|never", "colours in messages (auto: if stderr is a terminal and $NO_COLOR is not set)", .type = DFR_TYPE_ONE_OF,
      .set = set_colour },
    { .name = "--help", .text = "print this; so does -h" },
    { .name = "-h" },
    { 0 }
};

const char *dfc_command_name(const struct dfc_command *command)
{
    return command->name ? command->name : "compile";
}

/* ---- words of a command line ---- */

static bool offers(const struct dfc_command *command, const char *name)
{
    const struct dfr_option *option = dfr_option_find(command->options, name);
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
    return dfr_option_find(command->options, "-D") && strncmp(written, "--", 2) == 0 && dfr_option_find(dfr_program_options, written);
}

/* The first other command that has this option and says so in its help. NULL, too: this command reads no graph, as those do. */
static const struct dfc_command *other_with(const struct dfc_command *command, const char *written)
{
    for (size_t i = 0; i < dfc_n_commands && dfr_option_find(command->options, "-D"); i++) {
        const struct dfr_option *option = dfr_option_find(dfc_commands[i]->options, written);
        if (dfc_commands[i] != command && option && option->text)
            return dfc_commands[i];
    }
    return NULL;
}

static struct dfr_suggestion closest_of(const struct dfc_command *command, const char *written)
{
    struct dfr_suggestion best = { .name = written };
    const struct dfr_option *option;
    for (size_t i = 0; (option = dfr_option_at(command->options, i)); i++)
        if (option->name && option->text && option->name[1] == '-')
            dfr_suggest(&best, option->name);
    return best;
}

static void unknown(const struct dfc_command *command, const char *word)
{
    const char *name = dfc_command_name(command), *here;
    const struct dfc_command *other;
    const bool runs = dfr_option_find(command->options, "--");
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

bool dfc_options_read(const struct dfc_command *command, int argc, char **argv, void *request, bool (*word)(void *request, const char *word))
{
    for (int i = 1; i < argc; i++) {
        struct df_error error = { "" };
        const char *written = argv[i];
        bool known = true, good = true;
        if (written[0] != '-' || !written[1])
            good = word(request, written);
        else
            good = dfr_option_take(command->options, request, argc, argv, &i, &known, &error) == DF_OK && known;
        if (!known)
            unknown(command, written);
        else if (error.text[0])
            dfc_error("%s", error.text);
        if (!good)
            return false;
    }
    return true;
}
