/* pulse.c - the timeout of heartbeats: stamps those that are sent, measures round trips by those received, and says how
 * long a rank may be silent (pulse.h). Both sides of the protocol in ranks/ call it: ranks/manager.c, ranks/manager_workers.c and
 * worker.c. */
#include "runtime/link/pulse.h"

#include <math.h>
#include <string.h>

struct dfr_stamp dfr_pulse_stamp(const struct dfr_pulse *pulse, double now_s)
{
    return (struct dfr_stamp){ now_s, pulse->heard ? pulse->there_s : -1, pulse->heard ? now_s - pulse->came_s : 0 };
}

struct dfr_message *dfr_pulse_beat(const struct dfr_pulse *pulse, double now_s, const struct dfr_head *head)
{
    const struct dfr_stamp stamp = dfr_pulse_stamp(pulse, now_s);

    return dfr_message_make(head, &(struct dfr_value){ .data = &stamp, .bytes = sizeof stamp }, 1);
}

static void measure(struct dfr_pulse *pulse, double trip_s)
{
    if (pulse->measured) {
        pulse->deviation_s += (fabs(trip_s - pulse->trip_s) - pulse->deviation_s) / 4;
        pulse->trip_s += (trip_s - pulse->trip_s) / 8;
    } else {
        pulse->trip_s = trip_s;
        pulse->deviation_s = trip_s / 2;
        pulse->measured = true;
    }
}

void dfr_pulse_hear(struct dfr_pulse *pulse, double now_s, const struct dfr_message *beat, double wanted_s)
{
    struct dfr_stamp stamp;

    if (beat->n_values != 1 || beat->values[0].bytes != sizeof stamp)
        return;
    memcpy(&stamp, beat->values[0].data, sizeof stamp);
    pulse->heard = true;
    pulse->there_s = stamp.sent_s;
    pulse->came_s = now_s;
    const double trip_s = now_s - stamp.back_s - stamp.held_s;
    if (stamp.back_s >= 0 && trip_s >= 0 && trip_s <= dfr_pulse_limit_s(pulse, wanted_s))
        measure(pulse, trip_s);
}

double dfr_pulse_limit_s(const struct dfr_pulse *pulse, double wanted_s)
{
    const double slow_s = pulse->measured ? DFR_PULSE_PATIENCE * (pulse->trip_s + 4 * pulse->deviation_s) : 0;

    return slow_s > wanted_s ? slow_s : wanted_s;
}
