/* learn.h - `./app --learn`: saves how long the jobs of a run took, for dfc to import. This is the dynamic mode of Wu's
 * thesis: profiling during productive runs. The end of a run calls it; profiles/db/learned.c reads the files.
 *
 * Place:    programs do not contain SQLite, so they leave files in a folder named like the profile database with
 *           ".learned" appended: ~/.local/share/dfc/profile.db.learned/. Any command of dfc that opens the database
 *           imports them.
 * File:     NAME.jsonl, one per run, written under another name and then renamed. Lines of JSON. The first is
 *           {"learned": 1, "machine": M, "program": P, "workers": N}: N workers computed on the host's cores, emulated
 *           GPUs included. Then follows one line for each work and device: {"device", "variant", "kernel", "dims",
 *           "scalars", "hash", "job_bytes", "median_s", "ci_s", "runs", "dropped"}. These are the fields of a sample's
 *           key (profiles/profiles.h; hash in 16 hex digits), and the measurement. ci_s is null if it is unknown.
 * Waves:    the first line also has "code", a hash of the kernels' sources, and "waves", the number of waves of the
 *           run, which dfc uses to divide accs (compiler/divide/).
 * Rates:    it also has "rates": {NODE: N, …}, the number of waves in which a node fired, for nodes that did not fire
 *           in all. A kernel fires in a wave if it is called, so one that returns DF_SKIP fires and its readers do not.
 *           A run with several passes over its stream reports no rates.
 * Overlap:  a job that shared an emulated GPU with another is excluded. A back end with `begins_early` (device.h)
 *           reports when the job's stream reached it, not when the GPU began it. Its jobs therefore count from the end
 *           of the previous job on that GPU, if that is later; jobs that truly overlapped then count with the time that
 *           each added.
 * Robust:   the time of a work is the median of its jobs. Excluded are jobs that waited for their kernel's code to be
 *           loaded; ends of streams; jobs with fewer threads than requested; all jobs of a failed run; and variants
 *           with a cost clause. Scalars are those of the run, unlike in `dfc profile`, which uses args' defaults.
 * Cost:     an in-memory trace of the first DFR_LEARN_EVENTS jobs of each worker.
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
