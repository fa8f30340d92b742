/* stream.c - the names of stream policies, for dfc's options and reports (compiler/cluster/), and the weight of an item
 * for a processor type, for items.c and sender.c. */
#include "runtime/stream/stream.h"

#include <math.h>
#include <string.h>

static const struct { const char *name, *summary; } policies[DFR_STREAM_POLICIES] = {
    [DFR_STREAM_DDFCFS] = { "ddfcfs", "the oldest item, for whoever asks" },
    [DFR_STREAM_DDWRR] = { "ddwrr", "the oldest item to whoever asks; there a worker takes what suits it best" },
    [DFR_STREAM_ODDS] = { "odds", "what suits the asking processor best, and as many as hide the latency" },
};

const char *dfr_stream_policy_name(enum dfr_stream_policy policy)
{
    return policies[policy].name;
}

const char *dfr_stream_policy_summary(enum dfr_stream_policy policy)
{
    return policies[policy].summary;
}

bool dfr_stream_policy_find(const char *name, enum dfr_stream_policy *policy)
{
    for (int p = 0; p < DFR_STREAM_POLICIES; p++)
        if (strcmp(name, policies[p].name) == 0) {
            *policy = (enum dfr_stream_policy)p;
            return true;
        }
    return false;
}

double dfr_stream_weight(const struct dfr_stream_item *item, uint32_t n_types, uint32_t present, uint32_t type)
{
    double here_s = item->time_s[type], elsewhere_s = NAN;
    if (here_s == INFINITY)
        return -1;
    for (uint32_t t = 0; t < n_types; t++)
        if (t != type && present >> t & 1)
            elsewhere_s = fmin(elsewhere_s, item->time_s[t]); /* of a number and NaN: the number */
    return isnan(here_s) || isnan(elsewhere_s) ? 1 : elsewhere_s / here_s;
}
