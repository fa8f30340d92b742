/* clock.c - finds how far a rank's clock is from rank 0's (clock.h): a worker (worker.c) adds its trips, replica.c asks for the result. */
#include "runtime/ranks/clock.h"

#include <math.h>

void dfr_trips_add(struct dfr_trips *trips, double sent_s, double there_s, double back_s)
{
    const double half_s = (back_s - sent_s) / 2;

    if (!(half_s >= 0))
        return;
    if (trips->n == 0 || half_s < trips->uncertainty_s) {
        trips->at_s = sent_s + half_s;
        trips->offset_s = there_s - trips->at_s;
        trips->uncertainty_s = half_s;
    }
    trips->n++;
}

struct dfr_trace_clock dfr_trips_clock(const struct dfr_trips *first, const struct dfr_trips *last, double origin_s)
{
    const struct dfr_trips *end = last->n > 0 ? last : first, *begin = first->n > 0 ? first : end;

    if (fabs(end->offset_s - begin->offset_s) >= end->at_s - begin->at_s)   /* by the line between, events would change places */
        begin = end = begin->uncertainty_s < end->uncertainty_s ? begin : end;
    return (struct dfr_trace_clock){ .origin_s = origin_s, .first_s = begin->at_s, .first_offset_s = begin->offset_s, .last_s = end->at_s,
                                     .last_offset_s = end->offset_s };
}
