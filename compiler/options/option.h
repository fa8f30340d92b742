/* option.h - the tables of dfc's commands and options: the one source for parsing, --help, spelling suggestions, manual
 * pages and shell completion.
 *
 * Room:     compiler/options/ holds what all commands do with these tables. It knows no particular command. A command
 *           lists its tables in its struct dfc_command.
 * Rows:     as runtime/base/option.h says. A command's tables fill its request.
 */
#ifndef DFC_OPTION_H
#define DFC_OPTION_H

#include "runtime/base/option.h"

enum { DFC_MOST_TABLES = 6 };

struct dfc_command {
    const char *name;                   /* NULL: compile */
    const char *about;                  /* one line for `dfc --help` */
    const char *usage;                  /* `dfc NAME --help`, above the options */
    int (*run)(int argc, char **argv);  /* argv[0] is the command's name */
    struct dfr_options options[DFC_MOST_TABLES];
};

/* The tables of a command, followed by the options that all commands have. */
#define DFC_OPTIONS(...) { __VA_ARGS__, { dfc_options_everywhere, 0 } }
extern const struct dfr_option dfc_options_everywhere[];

/* Among the own options of a command that runs the graph's program: the program's options stand after it. */
#define DFC_OPTION_REST { .name = "--" }

/* All commands, so that a message can name the one that has an option. Set once, before any command line is read. */
extern const struct dfc_command *const *dfc_commands;
extern size_t dfc_n_commands;

/* "compile", "partition", … */
const char *dfc_command_name(const struct dfc_command *command);

/* Reads a command line by the command's tables, into its request. Words that are no options go to word(). An option that is in no table is refused, with the
 * closest name. false: reported; the command exits with 2. */
bool dfc_options_read(const struct dfc_command *command, int argc, char **argv, void *request, bool (*word)(void *request, const char *word));
/* Prints the completion script of a shell, "bash" or "zsh", for these commands. false: it is no such shell
 * (reported). */
bool dfc_print_completion(FILE *out, const char *shell, const struct dfc_command *const *commands, size_t n);

/* NAME of a command's manual page, dfc-NAME(1): "compile", "format" for --format. */
const char *dfc_man_name(const struct dfc_command *command);
/* Prints that page. */
void dfc_print_man(FILE *out, const char *version, const struct dfc_command *command);
/* Prints dfc(1), which lists the commands. `about` completes "dfc - …"; `examples` is whole lines. */
void dfc_print_man_overview(FILE *out, const char *version, const char *about, const char *examples);

#endif
