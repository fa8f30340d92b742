/* resumable.h - runs that can be resumed or that make a chunk: the options `--journal`, `--resume`, `--spool` and `--waves=A:B --out=FILE` of a program.
 * docs/clusters.md is the user's page.
 *
 * Steps:    dfr_resumable_open() changes the options; df_run_start() follows with these; dfr_resumable_feed() returns when the run has ended; df_run_wait();
 *           dfr_resumable_close().
 * Ranks:    In a run on several ranks, rank 0 opens it and feeds its parts itself (ranks/ranks.c): dfr_resumable_begin(); dfr_resumable_ended() as
 *           waves end; dfr_resumable_end() when nothing runs any more, before the last part is closed; dfr_resumable_close().
 * Resume:   A run continues with the first wave that is not done. If a node keeps state across waves (dfr_node_keeps()), the earlier waves are
 *           computed again for it, and for nothing else.
 * Accs:     A node that keeps only accs continues from a *checkpoint*: a file PATH.accs beside the journal with the accs after some waves that
 *           are done (checkpoint.h). It is written every checkpoint_s, when no wave is in flight, and when a signal ends the run. The node does not fire in
 *           earlier waves then. Accs on devices are fetched first. Ranks that share parts of accs have a file for each part
 *           (spans.h), at different waves. A single process takes the file with the most waves for each node.
 * Signals:  SIGTERM and SIGUSR1 end the process with status DFR_RESUMABLE when the waves in flight have ended, or after `grace_s`. After SIGINT the
 *           process ends by that signal, so that shells notice (base/interrupt.h). On several ranks dfr_asked() tells whether one has come.
 * Threads:  one thread makes these calls. During the run a background thread (writer.h) writes the journal, at least once a second, and checkpoints.
 */
#ifndef DFR_RESUMABLE_H
#define DFR_RESUMABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/df.h"

struct dfr_writer;

enum { DFR_RESUMABLE = 75 };            /* EX_TEMPFAIL of sysexits.h: batch systems take it as "again later" */

struct dfr_resumable_options {
    const char *journal;                /* NULL: none is written */
    bool resume;
    bool accept;                        /* inputs may have changed since the journal began */
    const char *spool;                  /* folder for what pipes give; NULL: inputs that are pipes are refused */
    double grace_s;
    double checkpoint_s;                /* 0: accs are neither written nor read */
    const char *chunk;                  /* the file for what waves first … options.waves - 1 write; NULL: no chunk is made */
    int64_t first;
    bool parts;                         /* ranks share parts of accs, and read checkpoints themselves */
    double lock_s;                      /* another process may have the journal for so long, until it ends */
    const char *command;                /* the command line that goes on, for messages; NULL: it is not known */
};

struct dfr_resumable;

/* Sets *resumable to NULL if nothing is left to do, after a message that says so. */
int dfr_resumable_open(const struct df_graph *graph, struct df_options *options, const struct dfr_resumable_options *wanted,
                       struct dfr_resumable **resumable, struct df_error *error);
void dfr_resumable_feed(struct dfr_resumable *resumable, struct df_run *run);

/* The waves, beside what changed in the options. */
struct dfr_resumable_waves {
    int64_t done, limit;                /* the waves 0 … done - 1 are done; there are at most `limit` */
    uint64_t epoch;                     /* of the journal */
};
struct dfr_resumable_waves dfr_resumable_waves(const struct dfr_resumable *resumable);
void dfr_resumable_begin(struct dfr_resumable *resumable);
/* All waves before `waves` have ended. Fails if a record could not be written. */
int dfr_resumable_ended(struct dfr_resumable *resumable, int64_t waves, struct df_error *error);
/* For ranks that share waves, whose last part has the accs. number maps the values of that part's graph to those of the whole graph, in rising order; borrowed until
 * dfr_resumable_end() has returned. */
void dfr_resumable_tail(struct dfr_resumable *resumable, const uint32_t *number);
/* Polled with the run of the last part, or NULL if that has ended. Returns true if no wave may begin there now, because a checkpoint is due. It is written as soon
 * as the run is idle, that is, all its waves have ended. While it is being written the run may only be asked whether it has room. */
bool dfr_resumable_pauses(struct dfr_resumable *resumable, struct df_run *tail, bool idle);
/* The thread that writes records. The caller may put jobs of its own until dfr_resumable_end(). */
struct dfr_writer *dfr_resumable_writer(struct dfr_resumable *resumable);
/* For ranks that share parts: returns the path of checkpoints, and the program hash including inputs that they carry. NULL if there are no accs, or checkpoints are
 * off. */
const char *dfr_resumable_accs(const struct dfr_resumable *resumable, uint64_t *program);
/* Sets the number of waves that a message after a signal reports: a resumed run skips them by its checkpoints although they are not done. */
void dfr_resumable_kept(struct dfr_resumable *resumable, int64_t waves);
/* Prints a message about the run, unless the log level excludes it. */
void dfr_resumable_say(const struct dfr_resumable *resumable, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes the last record. If `all`, the run of the last part has all its waves, and the call waits until it has ended. Otherwise tail is an idle run, whose accs are
 * written after a signal, or NULL. */
int dfr_resumable_end(struct dfr_resumable *resumable, struct df_run *tail, bool all, struct df_error *error);
/* After a run that a signal has ended: prints how to resume it, and exits with status DFR_RESUMABLE or, after SIGINT, by that signal. */
void dfr_resumable_leave(struct dfr_resumable *resumable, bool all_ended) __attribute__((noreturn));

/* status and *error are the result of the run so far. Returns the result of the whole. */
int dfr_resumable_close(struct dfr_resumable *resumable, int status, struct df_error *error);

#endif
