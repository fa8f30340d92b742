/* flows.c - computes the max-min fair rates of network flows, and which flow ends next, for manager_simulation.c
 * (flows.h).
 */
#include "compiler/cluster/flows.h"
#include "runtime/base/binary_heap.h"

#include <math.h>

uint32_t dfc_flows_resource(struct dfc_flows *flows, double bytes_per_s)
{
    flows->resources[flows->n_resources] = bytes_per_s;
    return flows->n_resources++;
}

uint32_t dfc_flows_group(struct dfc_flows *flows, uint32_t uses, double cap)
{
    flows->groups[flows->n_groups] = (struct dfc_flow_group){ .uses = uses, .cap = cap };
    return flows->n_groups++;
}

void dfc_flows_free(struct dfc_flows *flows)
{
    for (uint32_t g = 0; g < flows->n_groups; g++)
        dfr_array_free(&flows->groups[g].flows);
}

/* ---- heaps ---- */

static bool flow_before(const struct dfc_flow *a, const struct dfc_flow *b)
{
    return a->end_bytes != b->end_bytes ? a->end_bytes < b->end_bytes : a->order < b->order;
}
DFR_HEAP(flow, struct dfc_flow)

static bool push(struct dfc_flow_group *group, struct dfc_flow flow)
{
    if (!dfr_array_add(&group->flows, sizeof flow, 1))
        return false;
    flow_put(group->flows.items, group->flows.n - 1, flow);
    return true;
}

static uint32_t pop(struct dfc_flow_group *group)
{
    return flow_take(group->flows.items, group->flows.n--).who;
}

/* ---- rates ---- */

static void go_to(struct dfc_flows *flows, double now_s)
{
    double step_s = now_s - flows->now_s;
    for (uint32_t g = 0; g < flows->n_groups && step_s > 0; g++) {
        struct dfc_flow_group *group = &flows->groups[g];
        if (!group->flows.n)
            continue;
        double bytes = group->rate * step_s;
        group->moved_bytes += bytes;
        for (uint32_t r = 0; r < flows->n_resources; r++)
            if (group->uses >> r & 1)
                flows->moved_bytes[r] += bytes * (double)group->flows.n;
    }
    flows->now_s = now_s;
}

/* The rate at which the flows of `open` groups, a bit for each, reach the first of their limits, and whose that is: a
 * resource's, or else a group's cap. */
static double first_limit(const struct dfc_flows *flows, uint64_t open, const double *left, uint32_t *resource,
                          uint32_t *group)
{
    double least = HUGE_VAL;
    *resource = *group = UINT32_MAX;
    for (uint32_t r = 0; r < flows->n_resources; r++) {
        size_t n = 0;
        for (uint32_t g = 0; g < flows->n_groups; g++)
            n += open >> g & 1 && flows->groups[g].uses >> r & 1 ? flows->groups[g].flows.n : 0;
        if (n && left[r] / (double)n < least) {
            least = left[r] / (double)n;
            *resource = r;
        }
    }
    for (uint32_t g = 0; g < flows->n_groups; g++)
        if (open >> g & 1 && flows->groups[g].cap > 0 && flows->groups[g].cap < least) {
            least = flows->groups[g].cap;
            *resource = UINT32_MAX;
            *group = g;
        }
    return least;
}

static void find_rates(struct dfc_flows *flows)
{
    double left[DFC_MOST_RESOURCES];
    uint64_t open = 0;
    for (uint32_t r = 0; r < flows->n_resources; r++)
        left[r] = flows->resources[r];
    for (uint32_t g = 0; g < flows->n_groups; g++)
        open |= (uint64_t)(flows->groups[g].flows.n > 0) << g;
    while (open) {
        uint32_t resource, only;
        double rate = first_limit(flows, open, left, &resource, &only);
        for (uint32_t g = 0; g < flows->n_groups; g++) {
            struct dfc_flow_group *group = &flows->groups[g];
            if (!(open >> g & 1) || !(resource == UINT32_MAX ? g == only : group->uses >> resource & 1))
                continue;
            group->rate = rate;
            open &= ~(UINT64_C(1) << g);
            for (uint32_t r = 0; r < flows->n_resources; r++)
                if (group->uses >> r & 1)
                    left[r] = fmax(left[r] - rate * (double)group->flows.n, 0);
        }
    }
}

bool dfc_flows_begin(struct dfc_flows *flows, double now_s, uint32_t group, double bytes, uint32_t who)
{
    struct dfc_flow_group *g = &flows->groups[group];
    go_to(flows, now_s);
    if (!g->flows.n)
        g->moved_bytes = 0;             /* so that it stays exact in long runs */
    if (!push(g, (struct dfc_flow){ g->moved_bytes + bytes, flows->order++, who }))
        return false;
    find_rates(flows);
    return true;
}

double dfc_flows_next_s(const struct dfc_flows *flows, uint32_t *group)
{
    double next_s = HUGE_VAL;
    for (uint32_t g = 0; g < flows->n_groups; g++) {
        const struct dfc_flow_group *flow = &flows->groups[g];
        if (!flow->flows.n)
            continue;
        double left = fmax(((const struct dfc_flow *)flow->flows.items)[0].end_bytes - flow->moved_bytes, 0), end_s = flows->now_s + left / flow->rate;
        if (end_s < next_s) {
            next_s = end_s;
            *group = g;
        }
    }
    return next_s;
}

uint32_t dfc_flows_end(struct dfc_flows *flows, double now_s, uint32_t group)
{
    go_to(flows, now_s);
    uint32_t who = pop(&flows->groups[group]);
    find_rates(flows);
    return who;
}
