/* option.h - the tables of dfc's commands and their options. --help, suggestions, the completion of shells, and what
 * dfc takes at all, come from them.
 *
 * Room:     compiler/options/ holds what all commands do with these tables. It knows no command. A command names its
 *           tables in its struct dfc_command.
 * Rows:     one for each spelling. If a name stands in several tables of a command, the first row counts. So a command
 *           can say something else about a shared option, or hide one that it would only refuse.
 * Ends:     a table ends with an empty row, a list of tables with NULL.
 */
#ifndef DFC_OPTION_H
#define DFC_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct dfc_option {
    const char *name;                   /* "-o", "--policy"; NULL: `text` is the heading of the rows that follow */
    const char *value;                  /* as --help shows it: NULL: none; in brackets: it may be left out. Shells
                                         * complete FILE…, DIR, POLICY…, and words as in "on|off" */
    const char *text;                   /* NULL: the option is taken, and not shown */
};

enum { DFC_MOST_TABLES = 6 };

struct dfc_command {
    const char *name;                   /* NULL: compile */
    const char *about;                  /* one line for `dfc --help` */
    const char *usage;                  /* `dfc NAME --help`, above the options */
    int (*run)(int argc, char **argv);  /* argv[0] is the command's name */
    const struct dfc_option *options[DFC_MOST_TABLES];
};

/* Among the own options of a command that runs the graph's program: the program's options stand after it. */
#define DFC_OPTION_REST { "--", NULL, NULL }

/* All commands, so that a message can name the one that has an option. Set once, before any command line is read. */
extern const struct dfc_command *const *dfc_commands;
extern size_t dfc_n_commands;

/* The options of every command; they stand behind a command's own tables. */
extern const struct dfc_option dfc_options_everywhere[];

/* "compile", "partition", … */
const char *dfc_command_name(const struct dfc_command *command);

/* Option i of a command, in the order of --help; a heading counts. NULL: there are not so many. Rows that an earlier
 * one replaces are left out. */
const struct dfc_option *dfc_option_at(const struct dfc_command *command, size_t i);

/* Prints the whole of `dfc NAME --help`. */
void dfc_print_help(FILE *out, const struct dfc_command *command);

/* Is the word (`--policy=gp`, `-Dn=4`) one of the command's options? An option without a value must have none. false:
 * reported, with the closest name. */
bool dfc_option_known(const struct dfc_command *command, const char *word);

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
