/* common.h - the options that mean the same in every command that reads a graph, and how options are parsed. */
#ifndef DFC_COMMON_H
#define DFC_COMMON_H

#include "compiler/load/load.h"
#include "compiler/options/option.h"

/* Takes argv[*i], and its value (moving *i), if it is an option that commands for a graph share. 1: taken. 0: it is
 * none of them. -1: it is wrong (reported; the command exits with 2). */
int dfc_common_option(struct dfc_common *common, int argc, char **argv, int *i);
/* The table of these options. */
extern const struct dfc_option dfc_options_common[];
/* Takes one option with a value, as --name=VALUE or --name VALUE. Gives 1, 0 and -1 as above. For a command's own
 * options. */
int dfc_option_value(const char *name, int argc, char **argv, int *i, const char **value);
/* Takes --format, for commands that can print in several forms. `json`: JSON is one of them. *form is set only if 1 is
 * given. Gives 1, 0 and -1 as above. */
enum dfc_form { DFC_FORM_TEXT, DFC_FORM_CSV, DFC_FORM_JSON };
int dfc_form_option(bool json, int argc, char **argv, int *i, enum dfc_form *form);
/* Takes --waves, for commands that plan a graph: how many waves runs will have. Gives 1, 0 and -1 as above. */
int dfc_waves_option(struct dfc_common *common, int argc, char **argv, int *i);
/* Parses a whole number within bounds. false: reported. */
bool dfc_parse_count(const char *name, const char *text, unsigned long least, unsigned long most,
                     unsigned long *count);
/* Does this policy place nodes before the run? NULL is the default one, which does. false: reported. */
bool dfc_policy_places(const char *policy);
/* Reads the whole command line of a command for one graph. An option that is in none of the command's tables is
 * refused. Each other one is offered to `own` first (which gives 1, 0 and -1 as above), then to the common ones. Gives
 * 0, or 2 for a usage error (reported). */
int dfc_parse_options(const struct dfc_command *command, int argc, char **argv, struct dfc_common *common,
                      int (*own)(void *request, int argc, char **argv, int *i), void *request);
void dfc_common_free(struct dfc_common *common);

#endif
