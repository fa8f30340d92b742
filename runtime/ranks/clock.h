/* clock.h - how far the clock of a rank is from rank 0's: Cristian's algorithm (Distributed Computing 3, 1989), as NTP does it. The rank sends its time, rank 0
 * answers with its own, and half of the round trip is how wrong the difference can be. Of several trips the shortest counts. worker.c makes the trips, and
 * replica.c reports what they say for the merged trace (cluster_trace.h).
 *
 * Two bursts of trips, at the start and at the end of a run, give two differences. Between them the clock is taken to drift evenly.
 * Before the first and behind the last it is taken to stay. If the bursts are so close that this would turn the order of events, the more certain one counts
 * alone.
 */
#ifndef DFR_CLOCK_TRIPS_H
#define DFR_CLOCK_TRIPS_H

#include "runtime/trace/trace.h"

#define DFR_TRIPS 8                     /* of a burst */

struct dfr_trips {                      /* a burst. All 0: it has not begun */
    unsigned n;
    double at_s;                        /* of the shortest trip: the middle, by the own clock, */
    double offset_s;                    /* rank 0's clock less the own one, */
    double uncertainty_s;               /* and by how much that can be wrong */
};

/* One trip: by the own clock it began and ended then, and rank 0 said `there_s` between. A clock that stepped back does not count. */
void dfr_trips_add(struct dfr_trips *trips, double sent_s, double there_s, double back_s);
/* From times of the own clock to those of a trace that begins at origin_s of rank 0's. `last` may have no trips. */
struct dfr_trace_clock dfr_trips_clock(const struct dfr_trips *first, const struct dfr_trips *last, double origin_s);

#endif
