/* progress.h - --progress: a line on stderr with the number of completed waves, their rate and the remaining time.
 * program_main.c starts and stops it around a run.
 *
 * Length:   the number of waves is given by --waves, or by a stream (df_expect_waves()), whichever is less. If neither
 *           is known, the line shows only waves and rate. A run of one wave has no line.
 * Means:    a thread of its own reads the run's counters ten times a second, so jobs have no extra work.
 * Forms:    AUTO draws only if stderr is a terminal, starting half a second into the run. ON always draws. OFF starts
 *           no thread.
 */
#ifndef DFR_PROGRESS_H
#define DFR_PROGRESS_H

#include <stdbool.h>

#include "runtime/df.h"

enum dfr_progress_form { DFR_PROGRESS_AUTO, DFR_PROGRESS_ON, DFR_PROGRESS_OFF };

struct dfr_progress;

/* The run is borrowed until the end. NULL: no line is wanted, or there is no thread for it. */
struct dfr_progress *dfr_progress_begin(const struct df_run *run, enum dfr_progress_form form);
/* To be called when all workers have ended and the run is still there. If the line was drawn it stays, with the last
 * numbers; but if the run has failed it goes, because an error follows. NULL is no progress. */
void dfr_progress_end(struct dfr_progress *progress);

/* The same for who counts the waves himself: a line of its own, and no thread. total 0: it is not known. */
struct dfr_progress_count {
    enum dfr_progress_form form;
    double started_s, drawn_s;
    int64_t done, total;
    bool drawn;
    int n_live, n_dead;                 /* ranks beside this one; 0: there are none */
};
void dfr_progress_count_begin(struct dfr_progress_count *progress, enum dfr_progress_form form);
/* Draws the line if it is time for it. `progress` is a struct dfr_progress_count. n_live, n_dead: ranks that compute, and those that count as dead. */
void dfr_progress_show(void *progress, int64_t done, int64_t total, int n_live, int n_dead);
void dfr_progress_count_end(struct dfr_progress_count *progress, bool well);

/* The end of the line in a run on many ranks: ", 3 ranks", ", 2 ranks, 1 lost"; "" if there are none. */
void dfr_progress_ranks(char *text, unsigned size, int n_live, int n_dead);
/* The line, without the program's name, for `done` waves after `seconds`. total 0: it is not known. */
void dfr_progress_text(char *text, unsigned size, int64_t done, int64_t total, double seconds);

#endif
