/* pulse.h - the timeout of heartbeats: the requested time, or longer if the round trip to the rank takes long. Both sides of the protocol in ranks/ use
 * it: ranks/manager.c with ranks/manager_workers.c, and worker.c.
 *
 * Measure:  a BEAT carries a *stamp*: the sender's time, the last time received from the other side, and how long ago that was received. From it each side
 *           computes the round-trip time of heartbeats, which includes queueing behind the pieces of large messages. It is smoothed as TCP's round-trip
 *           time is (RFC 6298: mean and mean deviation).
 * Limit:    DFR_PULSE_PATIENCE times (mean + 4 deviations), if that exceeds the requested time.
 * Outliers: a round trip longer than the current limit is ignored: it shows a process that was stopped, and not a slow link.
 * Clocks:   times of different hosts are never subtracted, so clocks need not be synchronised.
 */
#ifndef DFR_PULSE_H
#define DFR_PULSE_H

#include <stdbool.h>

#include "runtime/link/message.h"

#define DFR_PULSE_PATIENCE 4

struct dfr_pulse {
    bool heard, measured;
    double there_s, came_s;             /* the other side's time in its last stamp; when it was received */
    double trip_s, deviation_s;
};

struct dfr_stamp {
    double sent_s;
    double back_s;                      /* sent_s of the last stamp received; < 0: none */
    double held_s;                      /* how long ago that was received */
};

/* Returns the stamp of a BEAT that is sent now. */
struct dfr_stamp dfr_pulse_stamp(const struct dfr_pulse *pulse, double now_s);
/* Makes such a BEAT. NULL: out of memory. */
struct dfr_message *dfr_pulse_beat(const struct dfr_pulse *pulse, double now_s, const struct dfr_head *head);
/* Handles a BEAT that was received. One without a stamp is ignored. */
void dfr_pulse_hear(struct dfr_pulse *pulse, double now_s, const struct dfr_message *beat, double wanted_s);
/* Returns the timeout. wanted_s: the requested one. */
double dfr_pulse_limit_s(const struct dfr_pulse *pulse, double wanted_s);

#endif
