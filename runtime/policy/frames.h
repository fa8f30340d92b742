/* frames.h - the frames of a live source (@newest, @every): how many wait, which are dropped, when they come, and how long their waves take. engine/live.c asks
 * it in a run, simulate/simulate.c and rehearsals in virtual time, and `dfc partition` what frames take.
 *
 * Words:    A *frame* is what one call of the source's kernel gives. With @newest a thread of its own calls it, and the wave's job *takes* the oldest of the
 *           frames that wait; else the job calls it. The *latency* of a wave is the time from its frame to the wave's end. With @newest a frame's time is
 *           when the kernel returned, else when @every says that it is due.
 * Virtual:  The thread of its own begins the next frame when it has the one before and @every allows it. Dropped or not, each takes the kernel's time. If
 *           that is none, and there is no @every, a frame comes when it is asked for.
 * Memory:   constant after dfr_frames_create(): latencies are counted in classes less than 2 % wide.
 * Threads:  one at a time; the caller locks.
 */
#ifndef DFR_FRAMES_H
#define DFR_FRAMES_H

#include <stdbool.h>

#include "runtime/graph/graph.h"

struct dfr_frame {
    uint32_t place;                     /* the caller's */
    double time_s;
};

enum { DFR_LATENCY_BITS = 6, DFR_LATENCY_LEAST = -40, DFR_LATENCY_MOST = 24, /* exponents of 2, in seconds */
       DFR_LATENCIES = (DFR_LATENCY_MOST - DFR_LATENCY_LEAST) << DFR_LATENCY_BITS };

struct dfr_frames {
    uint32_t node;
    struct df_live how;
    struct dfr_frame *waiting;          /* a ring of how.newest; NULL without @newest */
    uint32_t first, n;
    uint64_t frames, dropped, waves;
    double *taken_s;                    /* by slot: the time of its wave's frame; NAN: none */
    uint64_t *latencies;                /* by class */
    double worst_s;
    double takes_s, next_s;             /* virtual time: of one call of the kernel; when the next frame comes */
    uint64_t begun;                     /* virtual time: frames that have begun */
};

/* With @newest a source has this many places more than frames that may wait: one that its thread fills, and one that a job copies from. */
#define DFR_FRAMES_SPARE 2u
/* Where output port p begins in the place of a frame; p the number of ports: what a place takes. */
uint64_t dfr_frames_offset(const struct df_graph *graph, uint32_t node, uint32_t p);

/* For the live source `node`. takes_s: what its kernel takes, in virtual time; else NAN. DF_E_MEMORY. */
int dfr_frames_create(struct dfr_frames *f, const struct df_graph *graph, uint32_t node, uint32_t n_slots, double takes_s, struct df_error *error);
void dfr_frames_destroy(struct dfr_frames *f);

/* A frame comes. true: *dropped had to go for it. */
bool dfr_frames_come(struct dfr_frames *f, struct dfr_frame frame, struct dfr_frame *dropped);
/* The oldest that waits. false: none does. */
bool dfr_frames_take(struct dfr_frames *f, struct dfr_frame *frame);

/* In virtual time: the job of this wave begins now. Returns how long it takes, and notes its frame for the slot. */
double dfr_frames_job_s(struct dfr_frames *f, uint32_t slot, int64_t wave, double now_s);
/* The wave in that slot has ended. */
void dfr_frames_wave_ended(struct dfr_frames *f, uint32_t slot, double now_s);

void dfr_frames_stats(const struct dfr_frames *f, struct df_live_stats *stats);

#endif
