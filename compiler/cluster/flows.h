/* flows.h - bytes on their way through a network in virtual time: flows that share what they go through, max-min fair.
 *
 * Model:    Flows are of *groups*. All flows of a group go through the same resources and have the same cap, so they have the
 *           same rate. Rates are max-min fair: they rise together, until a resource is used up or a cap is reached; what
 *           goes through that keeps its rate, and the others rise on (Bertsekas and Gallager, Data Networks, 6.5.2).
 *           When a flow begins or ends, the rates of all change at once. SimGrid's model CM02 does the same.
 * Cost:     log(flows of the group) for a flow that begins or ends, and groups times resources for the rates. A group counts
 *           what one of its flows has moved since the beginning, so no flow is touched when a rate changes.
 * Threads:  one at a time.
 * Errors:   false: out of memory.
 */
#ifndef DFC_FLOWS_H
#define DFC_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/intern.h"

enum { DFC_MOST_RESOURCES = 8, DFC_MOST_GROUPS = 64 };

struct dfc_flow {                       /* one that is under way */
    double end_bytes;                   /* what its group's counter reads when it is over */
    uint64_t order;                     /* flows that end at once end in the order in which they began */
    uint32_t who;                       /* the caller's */
};

struct dfc_flow_group {
    uint32_t uses;                      /* resources, a bit for each */
    double cap;                         /* bytes per second of one flow; 0: none but what its resources give */
    double rate, moved_bytes;           /* of one flow */
    struct dfr_array flows;             /* struct dfc_flow: a heap */
};

struct dfc_flows {
    double now_s;
    uint32_t n_resources, n_groups;
    double resources[DFC_MOST_RESOURCES];           /* bytes per second */
    double moved_bytes[DFC_MOST_RESOURCES];         /* by all flows so far */
    struct dfc_flow_group groups[DFC_MOST_GROUPS];
    uint64_t order;
};

/* Gives the number of the resource, or of the group. */
uint32_t dfc_flows_resource(struct dfc_flows *flows, double bytes_per_s);
uint32_t dfc_flows_group(struct dfc_flows *flows, uint32_t uses, double cap);
void dfc_flows_free(struct dfc_flows *flows);

/* Begins a flow at `now_s`, which is not before anything that was asked so far. */
bool dfc_flows_begin(struct dfc_flows *flows, double now_s, uint32_t group, double bytes, uint32_t who);
/* When the next flow ends, and of which group. HUGE_VAL: none is under way. */
double dfc_flows_next_s(const struct dfc_flows *flows, uint32_t *group);
/* Ends the flow that dfc_flows_next_s() told of, at its time; gives its `who`. */
uint32_t dfc_flows_end(struct dfc_flows *flows, double now_s, uint32_t group);

#endif
