/* learn.h - `./app --learn`: what a run measured, left where dfc finds it (the dynamic mode of Wu's thesis: profiling
 * while the real work is done).
 *
 * Place:    programs know nothing of SQLite, so they leave files in a folder that is named as the profile database with
 *           ".learned" added: ~/.local/share/dfc/profile.db.learned/. Any command of dfc that opens the database moves
 *           them into it.
 * File:     NAME.jsonl, one for each run, whole or not there at all (written under another name, then renamed). Lines
 *           of JSON: first {"learned": 1, "machine": M, "program": P}, then for each work and device
 *           {"device", "variant", "kernel", "dims", "scalars", "hash", "job_bytes", "median_s", "ci_s", "runs",
 *           "dropped"}: the fields of a sample's key (profiles.h; hash in 16 hex digits), and what was measured; ci_s
 *           is null where it is unknown.
 * Robust:   the time of a work is the median of its jobs. Left out are: jobs that shared a GPU with another, or that
 *           waited for their kernel's code to come there, ends of streams, jobs with fewer threads than they asked for,
 *           all of a failed run, variants with a cost clause. Scalars are those of the run, unlike in `dfc profile`,
 *           where args have their defaults.
 * Cost:     a trace in memory of the first DFR_LEARN_EVENTS jobs of each worker.
 */
#ifndef DFR_LEARN_H
#define DFR_LEARN_H

#include "runtime/df.h"

#define DFR_LEARN_VERSION 1
#define DFR_LEARN_EVENTS (UINT64_C(1) << 17)

struct df_run;

/* Where the profile database is unless a command is told otherwise: profiles.h. To be freed; NULL: no memory. */
char *dfr_learn_database(void);
/* The folder for a database at this path. To be freed; NULL: no memory. */
char *dfr_learn_folder(const char *database);
/* mkdir -p of the folder that path lies in. That it failed shows when the file is opened, with a better message. */
void dfr_learn_make_folders(const char *path);

/* What distinguishes machines that share a home: the CPU's model and how many there are. */
void dfr_learn_machine(char *buffer, size_t size);

/* Before the run: makes the folder and says whether files can be made there, so that no long run is in vain. DF_E_IO
 * with the folder's name. */
int dfr_learn_check(struct df_error *error);

/* After all workers have ended. DF_E_IO with the file's name. Nothing to tell: no file. */
int dfr_learn_write(const struct df_run *run, struct df_error *error);

#endif
