/* estimate.c - robust running estimates by medians (estimate.h), for the tuner (tuning.c) and for ranks/tune.c. */
#include "runtime/tuning/estimate.h"

#include <math.h>
#include <string.h>

#define JUMP 0.18                       /* log 1.2 */
#define SPREADS 3.0                     /* as many median absolute deviations are two standard deviations */
enum { OF_FEW = DFR_ESTIMATE_FEW - 1 };

/* The median of n values, which it sorts; the lower one of two. */
static float median_of(float *values, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        float value = values[i];
        uint32_t k = i;
        for (; k > 0 && values[k - 1] > value; k--)
            values[k] = values[k - 1];
        values[k] = value;
    }
    return values[(n - 1) / 2];
}

static void update(struct dfr_estimate *e)
{
    float values[DFR_ESTIMATE_MANY];
    memcpy(values, e->values, e->n * sizeof *values);
    e->median = median_of(values, e->n);
    if (e->n < DFR_ESTIMATE_FEW)
        return;
    for (uint32_t i = 0; i < e->n; i++)
        values[i] = fabsf(e->values[i] - e->median);
    e->spread = median_of(values, e->n);
}

/* Whether most of the distances are beyond the limit on one side. */
static bool most_beyond(const float *away, double spread)
{
    double limit = fmax(JUMP, SPREADS * spread);
    int above = 0, below = 0;
    for (int i = 0; i < DFR_ESTIMATE_FEW; i++) {
        above += away[i] > limit;
        below += away[i] < -limit;
    }
    return above >= OF_FEW || below >= OF_FEW;
}

static void put(struct dfr_estimate *e, float value)
{
    e->values[e->next] = value;
    e->next = (e->next + 1) % DFR_ESTIMATE_MANY;
    e->n += e->n < DFR_ESTIMATE_MANY;
}

bool dfr_estimate_add(struct dfr_estimate *e, double value)
{
    float last[DFR_ESTIMATE_FEW], away[DFR_ESTIMATE_FEW];
    float before = e->median;
    bool jumped = false;
    put(e, (float)value);
    if (e->n > DFR_ESTIMATE_FEW) {      /* the estimate is of more than the last few */
        for (uint32_t i = 0; i < DFR_ESTIMATE_FEW; i++) {
            last[i] = e->values[(e->next + DFR_ESTIMATE_MANY - DFR_ESTIMATE_FEW + i) % DFR_ESTIMATE_MANY];
            away[i] = last[i] - before;
        }
        jumped = most_beyond(away, e->spread);
    }
    if (jumped) {
        e->n = e->next = 0;
        for (uint32_t i = 0; i < DFR_ESTIMATE_FEW; i++)
            put(e, last[i]);
    }
    update(e);
    return jumped;
}

void dfr_estimate_set(struct dfr_estimate *e, double value)
{
    e->n = e->next = 0;
    for (int i = 0; i < DFR_ESTIMATE_ENOUGH; i++)
        put(e, (float)value);
    e->median = (float)value;
}

void dfr_estimate_follow(struct dfr_estimate *e, bool upwards)
{
    double value = e->values[(e->next + DFR_ESTIMATE_MANY - 1) % DFR_ESTIMATE_MANY], away = value - e->median;
    if (e->n && fabs(away) > fmax(JUMP, SPREADS * e->spread) && (away > 0) == upwards)
        dfr_estimate_set(e, value);
}

double dfr_estimate_chance(const struct dfr_estimate *e)
{
    /* a normal distribution's standard deviation is 1.48 spreads, and a median's error 1.25 standard deviations over the root of n */
    return e->n ? 3.5 * 1.48 * 1.25 * e->spread / sqrt(e->n) : HUGE_VAL;
}

bool dfr_jumps_add(struct dfr_jumps *j, double away, double spread, double *by)
{
    float values[DFR_ESTIMATE_FEW];
    j->away[j->next] = (float)away;
    j->next = (j->next + 1) % DFR_ESTIMATE_FEW;
    j->n += j->n < DFR_ESTIMATE_FEW;
    if (j->n < DFR_ESTIMATE_FEW || !most_beyond(j->away, spread))
        return false;
    memcpy(values, j->away, sizeof values);
    *by = median_of(values, DFR_ESTIMATE_FEW);
    *j = (struct dfr_jumps){ 0 };
    return true;
}
