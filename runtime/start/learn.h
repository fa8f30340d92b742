/* learn.h - `./app --learn`: a run writes down how long its jobs took, and dfc finds that. This is the dynamic mode
 * of Wu's thesis: profiling while the real work is done. The run's end calls it; profiles/ reads the files.
 *
 * Place:    programs know nothing of SQLite, so they leave files in a folder. It is named like the profile database
 *           with ".learned" added: ~/.local/share/dfc/profile.db.learned/. Any command of dfc that opens the database
 *           moves them into it.
 * File:     NAME.jsonl, one for each run. It is there whole or not at all: it is written under another name and then
 *           renamed. It has lines of JSON. The first is {"learned": 1, "machine": M, "program": P, "workers": N}:
 *           N workers computed on the host's cores, emulated GPUs included. Then there is one line for each work and
 *           device: {"device", "variant", "kernel", "dims", "scalars", "hash", "job_bytes", "median_s", "ci_s", "runs",
 *           "dropped"}. These are the fields of a sample's key (profiles.h; hash in 16
 *           hex digits), and what was measured. ci_s is null if it is unknown.
 * Waves:    the first line also has "code", of the kernels' sources, and "waves", how many the run had. By it dfc divides accs
 *           (compiler/divide/).
 * Rates:    there, too: "rates": {NODE: N, …}, which says in how many
 *           of the waves a node fired that did not fire in all. A kernel fires in a wave if it is called, so one that returns
 *           DF_SKIP fires and its readers do not. A run that went over its stream several times tells no rates.
 * Overlap:  a job that shared an emulated GPU with another is left out. A back end that `begins_early` (device.h) does
 *           not say when the GPU began a job, but when the job's stream came to it. So its jobs count from the end of the job before on
 *           that GPU, if that is later. Jobs that truly ran side by side then count with what each added.
 * Robust:   the time of a work is the median of its jobs. These are left out: jobs that waited for their kernel's code
 *           to be loaded there; ends of streams; jobs with fewer threads than they asked for; all jobs of a failed run;
 *           variants with a cost clause. Scalars are those of the run, unlike in `dfc profile`, which gives args their
 *           defaults.
 * Cost:     a trace in memory of the first DFR_LEARN_EVENTS jobs of each worker.
 */
#ifndef DFR_LEARN_H
#define DFR_LEARN_H

#include "runtime/df.h"

#define DFR_LEARN_VERSION 1
#define DFR_LEARN_MOST_BYTES (256 << 20)    /* dfc reads no larger file: it would be a million works */
#define DFR_LEARN_EVENTS (UINT64_C(1) << 17)

struct df_run;
struct df_graph;

/* Gives the path of the profile database, unless a command is told another one (profiles.h). The caller frees it.
 * Without a home folder it makes a folder for it, and DF_E_IO says if that cannot be trusted. */
int dfr_learn_database(char **path, struct df_error *error);
/* The folder for a database at this path. The caller frees it; NULL: no memory. */
char *dfr_learn_folder(const char *database);

/* A name that distinguishes machines which share a home folder: the CPU's model, and the number of CPUs. */
void dfr_learn_machine(char *buffer, size_t size);

/* The code of a graph's kernels as text: an edited kernel changes it. */
#define DFR_CODE_TEXT 17
void dfr_learn_code(const struct df_graph *graph, char text[DFR_CODE_TEXT]);

/* Called before the run: makes the folder, and finds out whether files can be made there, so that no long run is in
 * vain. DF_E_IO with the folder's name if not. */
int dfr_learn_check(struct df_error *error);

/* Called after all workers have ended. DF_E_IO with the file's name. If there is nothing to tell, no file is
 * written. */
int dfr_learn_write(const struct df_run *run, struct df_error *error);

#endif
