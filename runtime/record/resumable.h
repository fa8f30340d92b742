/* resumable.h - a run that can be resumed, or that makes a chunk: what `--journal`, `--resume`, `--spool` and `--waves=A:B --out=FILE`
 * of a program do. docs/clusters.md is the user's page.
 *
 * Steps:    dfr_resumable_open() changes the options; df_run_start() follows with these; then dfr_resumable_feed(), which returns when the run has
 *           ended; df_run_wait(); dfr_resumable_close().
 * Ranks:    Of a run on several ranks the first one opens it, and feeds its parts itself (ranks.c): dfr_resumable_begin(); dfr_resumable_ended() as
 *           waves end; dfr_resumable_end() when nothing runs any more, before the last part is closed; dfr_resumable_close().
 * Resumed:  A run goes on with the first wave that is not done. If a node keeps something from wave to wave (dfr_node_keeps()), the waves before are
 *           computed again for it, and nothing else is.
 * Accs:     A node that keeps nothing but accs can go on from a *checkpoint*: a file beside the journal, PATH.accs, with the accs after some waves that
 *           are done (checkpoint.h). It is written every checkpoint_s, when no wave is in flight, and at the end by a signal. Then the node does not fire in
 *           the waves before it. Accs on devices are fetched for it. Ranks that share parts of accs have a file for each part
 *           (shares/spans.h), and these are at unlike waves. One process takes for each node the file that has the most waves.
 * Signals:  SIGTERM and SIGUSR1 end the process with status DFR_RESUMABLE when the waves in flight have ended, or after `grace_s`. After SIGINT the
 *           process ends by that signal, so that shells see it (base/interrupt.h). On several ranks dfr_asked() says that one has come.
 * Threads:  these calls are of one thread. While the run goes on, another one (writer.h) writes the journal, at least once a second, and checkpoints.
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

/* *resumable is NULL if nothing is left to do, which has been told. */
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
/* All waves before `waves` have ended. Tells if a record could not be written. */
int dfr_resumable_ended(struct dfr_resumable *resumable, int64_t waves, struct df_error *error);
/* Ranks share waves, and the last part has the accs. number: by value of its graph, rising: its number in the whole graph; borrowed until dfr_resumable_end()
 * has returned. */
void dfr_resumable_tail(struct dfr_resumable *resumable, const uint32_t *number);
/* Asked again and again with the run of the last part (NULL: it has none any more): may no wave be begun there now? A checkpoint is due, and is written as soon
 * as the run is idle: all waves have ended that were begun. While it is written the run may only be asked whether it has room. */
bool dfr_resumable_pauses(struct dfr_resumable *resumable, struct df_run *tail, bool idle);
/* What writes records; others may put jobs until dfr_resumable_end(). */
struct dfr_writer *dfr_resumable_writer(struct dfr_resumable *resumable);
/* Ranks share parts: the file for the checkpoints of accs, and what tells those of this program, of its args and of its inputs from others. NULL: there are no accs, or no
 * checkpoints are wanted. */
const char *dfr_resumable_accs(const struct dfr_resumable *resumable, uint64_t *program);
/* What a signal leaves behind: after so many waves the run goes on, although none of them is done. */
void dfr_resumable_kept(struct dfr_resumable *resumable, int64_t waves);
/* Says something of the run, if messages are wanted. */
void dfr_resumable_say(const struct dfr_resumable *resumable, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes the last record. all: the run of the last part has all its waves, and this waits until it has ended. Else some are left, and after a signal its
 * accs are written: NULL, or it is idle. */
int dfr_resumable_end(struct dfr_resumable *resumable, struct df_run *tail, bool all, struct df_error *error);
/* After the end by a signal: says so and how to go on, and ends the process with status DFR_RESUMABLE or, after SIGINT, by that. */
void dfr_resumable_leave(struct dfr_resumable *resumable, bool all_ended) __attribute__((noreturn));

/* `status` and *error are what the run has given so far; gives the status of all. */
int dfr_resumable_close(struct dfr_resumable *resumable, int status, struct df_error *error);

#endif
