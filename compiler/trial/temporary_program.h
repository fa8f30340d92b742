/* temporary_program.h - a program that a command builds temporarily, in a folder of its own, in order to run it: `dfc
 * compare`, `dfc profile` and `dfc run` (cmd_….c). commands/cmd_replay.c only separates the program's arguments from dfc's
 * with it.
 *
 * Signals:  any of dfr_ending_signals ends the running program, then removes the folder, then ends the command.
 * Threads:  one program at a time.
 */
#ifndef DFC_TEMPORARY_PROGRAM_H
#define DFC_TEMPORARY_PROGRAM_H

#include "compiler/build/make_program.h"
#include "compiler/tools/spawn.h"

struct dfc_trial {
    char *folder, *path;
};

/* Splits a command line: words before "--" are for the command, words after it for the program. */
int dfc_trial_split(int argc, char **argv); /* index of "--"; argc if there is none */

/* Checks that each arg of the graph without a default is among the program's options, words[0..n). Reported before anything is
 * compiled. false: reported. */
bool dfc_trial_args(const struct df_graph *graph, char *const *words, int n);

/* Warns of each option of dfc, words[0..n), that has the name of an arg of the graph: the program does not get it. */
void dfc_trial_warn_taken(const struct df_graph *graph, char *const *words, int n);

/* Makes the program in a folder of its own, for this machine's processor alone. false: reported. */
bool dfc_trial_build(const struct dfc_common *common, struct dfc_loaded *loaded, const struct dfc_build_options *build,
                       struct dfc_trial *trial);
void dfc_trial_remove(struct dfc_trial *trial);

/* Reports that the program could not be run, with the reason: an errno, or that no program may run in its folder. */
void dfc_trial_cannot_run(const char *program, int code);

/* Adds the program's path, and those of the options common to dfc and the program that were given. */
void dfc_trial_arguments(const struct dfc_trial *trial, const struct dfc_common *common, struct dfc_list *argv);

#endif
