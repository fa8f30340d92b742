/* flows.h - a network model in virtual time: flows that share the bandwidth of the resources they cross, max-min fair.
 * manager_simulation.c carries its messages and files with it.
 *
 * Model:    all flows of a *group* cross the same resources and have the same cap, and therefore the same rate. Rates
 *           are max-min fair: all rise together until a resource is saturated or a cap is reached; the flows concerned
 *           keep their rates, and the others rise further (Bertsekas and Gallager, Data Networks, 6.5.2). When a flow
 *           begins or ends, all rates change at once. SimGrid's model CM02 does the same.
 * Cost:     log(flows of the group) when a flow begins or ends, plus groups times resources to compute the rates. A
 *           group counts the bytes that one of its flows has moved since the beginning, so a change of rates touches no
 *           flow.
 * Threads:  one at a time.
 * Errors:   functions return false if memory ran out.
 */
#ifndef DFC_FLOWS_H
#define DFC_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/intern.h"

enum { DFC_MOST_RESOURCES = 8, DFC_MOST_GROUPS = 64 };

struct dfc_flow {                       /* an active flow */
    double end_bytes;                   /* the value of its group's counter at its end */
    uint64_t order;                     /* flows that end at once end in the order in which they began */
    uint32_t who;                       /* the caller's */
};

struct dfc_flow_group {
    uint32_t uses;                      /* resources, a bit for each */
    double cap;                         /* bytes per second of one flow; 0: limited only by its resources */
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

/* Add a resource, or a group; return its number. */
uint32_t dfc_flows_resource(struct dfc_flows *flows, double bytes_per_s);
uint32_t dfc_flows_group(struct dfc_flows *flows, uint32_t uses, double cap);
void dfc_flows_free(struct dfc_flows *flows);

/* Begins a flow at `now_s`, which must not be before the time of any earlier call. */
bool dfc_flows_begin(struct dfc_flows *flows, double now_s, uint32_t group, double bytes, uint32_t who);
/* The time at which the next flow ends, and its group. HUGE_VAL: no flow is active. */
double dfc_flows_next_s(const struct dfc_flows *flows, uint32_t *group);
/* Ends the flow that dfc_flows_next_s() reported, at that time; returns its `who`. */
uint32_t dfc_flows_end(struct dfc_flows *flows, double now_s, uint32_t group);

#endif
