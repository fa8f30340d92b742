/* flight.c - adapts the number of jobs in flight on a GPU to its throughput (flight.h), for the worker of a GPU
 * (runtime/gpu/) and the simulator. */
#include "runtime/device/flight.h"

#define FIRST_STEP 2u
#define SHORTEST_ROUND 8u

static void begin_round(struct dfr_flight *f)
{
    f->settling = f->jobs;
    f->round = 2 * f->jobs > SHORTEST_ROUND ? 2 * f->jobs : SHORTEST_ROUND;
    f->ended = 0;
    f->work = 0;
}

void dfr_flight_start(struct dfr_flight *f, uint32_t first, uint32_t most)
{
    *f = (struct dfr_flight){ .jobs = first < most ? first : most, .most = most, .step = FIRST_STEP,
                              .fixed = first >= most };
    begin_round(f);
}

void dfr_flight_starved(struct dfr_flight *f)
{
    if (!f->fixed)
        begin_round(f);
}

static void move(struct dfr_flight *f)
{
    uint32_t room = f->down ? f->jobs - 1 : f->most - f->jobs, by = f->step < room ? f->step : room;
    f->jobs = f->down ? f->jobs - by : f->jobs + by;
}

/* Called at the end of a round. */
static bool decide(struct dfr_flight *f, double throughput)
{
    uint32_t before = f->jobs;
    if (throughput > f->last * (1 + DFR_FLIGHT_EQUAL)) {
        if (f->last > 0 && !f->found_top)
            f->step *= 2;
        move(f);
    } else if (throughput < f->last * (1 - DFR_FLIGHT_EQUAL)) {
        f->down = !f->down;
        move(f);
        f->step = f->step > 1 ? f->step / 2 : 1;
        f->found_top = true;
    }
    f->last = throughput;
    return f->jobs != before;
}

bool dfr_flight_ended(struct dfr_flight *f, double work, double now_s)
{
    bool changed;
    if (f->fixed)
        return false;
    if (f->settling > 0) {
        f->begin_s = now_s;
        f->settling--;
        return false;
    }
    f->work += work;
    if (++f->ended < f->round || now_s <= f->begin_s)
        return false;
    changed = decide(f, f->work / (now_s - f->begin_s));
    begin_round(f);
    if (!changed) {
        f->settling = 0;                /* the next round follows at once */
        f->begin_s = now_s;
    }
    return changed;
}
