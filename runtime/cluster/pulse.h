/* pulse.h - how long a rank may be silent before it counts as dead: the time that was asked for, or more if the link to it is slow.
 *
 * Measure:  a BEAT carries a *stamp*: the sender's time, the other side's last time, and for how long it has that. So each side finds the round trip of
 *           heartbeats, which wait behind the pieces of messages that are on their way: the link's rate is in it. It is smoothed as TCP's round
 *           trip is (RFC 6298: mean and mean deviation).
 * Limit:    DFR_PULSE_PATIENCE times the round trip and four deviations, if that is more than what was asked for.
 * Bad ones: a round trip longer than the limit so far says that a rank stood still, and nothing of the link. It is left out.
 * Clocks:   only differences of times of one side are used.
 */
#ifndef DFR_PULSE_H
#define DFR_PULSE_H

#include <stdbool.h>

#include "runtime/cluster/message.h"

#define DFR_PULSE_PATIENCE 4

struct dfr_pulse {
    bool heard, measured;
    double there_s, came_s;             /* the other side's time in its last stamp; when that came */
    double trip_s, deviation_s;
};

struct dfr_stamp {
    double sent_s;
    double back_s;                      /* the last stamp's sent_s of the other side; < 0: none came */
    double held_s;                      /* since that came */
};

/* The stamp of a BEAT that leaves now. */
struct dfr_stamp dfr_pulse_stamp(const struct dfr_pulse *pulse, double now_s);
/* Makes such a BEAT. NULL: out of memory. */
struct dfr_message *dfr_pulse_beat(const struct dfr_pulse *pulse, double now_s, const struct dfr_head *head);
/* A BEAT has come. One without a stamp measures nothing. */
void dfr_pulse_hear(struct dfr_pulse *pulse, double now_s, const struct dfr_message *beat, double wanted_s);
/* How long it may be silent. wanted_s: what was asked for. */
double dfr_pulse_limit_s(const struct dfr_pulse *pulse, double wanted_s);

#endif
