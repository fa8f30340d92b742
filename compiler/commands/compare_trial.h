/* compare_trial.h - a graph's program built for this command alone, in a folder of its own that goes away again:
 * what `dfc compare` and `dfc profile` run.
 *
 * Signals:  an interrupt, a hang-up or a request to end ends the program that runs and removes the folder, then ends
 *           the command.
 * Threads:  one program at a time.
 */
#ifndef DFC_COMPARE_TRIAL_H
#define DFC_COMPARE_TRIAL_H

#include "compiler/build/build.h"
#include "compiler/tools/spawn.h"

struct dfc_trial {
    char *folder, *path;
};

/* Words of a command line that a command's user wrote: those before "--" are the command's, those after it the
 * program's. */
int dfc_trial_split(int argc, char **argv); /* index of "--", argc where there is none */

/* false: reported. */
bool dfc_trial_build(const struct dfc_common *common, struct dfc_loaded *loaded, const struct dfc_build_options *build,
                       struct dfc_trial *trial);
void dfc_trial_remove(struct dfc_trial *trial);

/* The program and the options that it and dfc have in common, as far as they were given. */
void dfc_trial_arguments(const struct dfc_trial *trial, const struct dfc_common *common, struct dfc_list *argv);

#endif
