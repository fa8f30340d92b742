/* live.h - the live sources of a run (@newest, @every): a thread for each @newest source calls its kernel again and again, and the jobs of waves take the oldest
 * frame that waits; @every paces either. start/run.c creates and ends them; ports.c, engine.c, list.c, ending.c, start/run_rehearse.c and io/ call them.
 *
 * Threads:  A *grabber* is such a thread. It begins with the source's first job. A job that finds no frame waits on its worker, as a kernel that reads a
 *           camera does.
 * Places:   A source has a place for each frame that may wait, one that the grabber fills, and one that a job copies from. All are allocated before the run.
 * End:      The kernel's DF_END or failure comes to the job after the frames that wait. When the run ends, or is to end early, jobs that wait for a frame get
 *           DF_END; grabbers end when their kernel returns. df_file_wait() of df_io.h lets a kernel wait for a file without missing the end.
 * Record:   options.record_path and play_path (live_record.h). What is played has no grabbers, pace, drops or latencies.
 * Rehearsed: no kernel is called; frames come in nominal time, as in virtual time (policy/frames.h).
 * Refused:  runs that are fed (journals, chunks, ranks), sessions, and several passes, because the frames of a wave could not be given again.
 */
#ifndef DFR_LIVE_H
#define DFR_LIVE_H

#include "runtime/engine/engine.h"

/* run->live of a graph with live sources; else it stays NULL. DF_E_REFUSED, DF_E_MEMORY. */
int dfr_live_create(struct df_run *run, struct df_error *error);
/* Ends the grabbers: no job of the run runs any more. */
void dfr_live_end(struct df_run *run);
/* After that: --record's file gets its name. DF_E_IO. */
int dfr_live_keep_record(struct df_run *run, struct df_error *error);
void dfr_live_destroy(struct df_run *run);

/* The job of a live source: as a call of its cpu variant. */
int dfr_live_job(struct df_call *call, df_function *variant, const size_t *dims, void *const *ports, const union df_scalar *scalars);
/* In a rehearsal: how long the job is to take in nominal time. */
double dfr_live_job_s(struct df_run *run, uint64_t job, int64_t wave);
/* The wave in that slot has ended. */
void dfr_live_wave_ended(struct df_run *run, uint32_t slot);
/* The run is over, or is to end early: wakes all that wait here. */
void dfr_live_wake(struct df_run *run, bool over);

/* Are these the calls of a grabber, of which some make no wave? */
bool dfr_live_drops(const struct df_call *call);

void dfr_live_stats(const struct df_run *run, struct df_stats *stats);

#endif
