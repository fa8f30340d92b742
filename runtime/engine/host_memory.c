/* host_memory.c - finds the host's memory, and refuses a node whose job needs more (host_memory.h). start/admit.c and
 * the measuring mode use it to admit nodes; dfc, ranks and probes query the size. */
#include "runtime/engine/host_memory.h"

#include <stdio.h>
#include <sys/sysinfo.h>

#include "runtime/base/cgroup.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

uint64_t dfr_host_bytes(void)
{
    static _Atomic uint64_t known;      /* the system is asked once, because this is called for each node */
    struct sysinfo system;

    if (!known)
        known = sysinfo(&system) == 0 ? ((uint64_t)system.totalram + system.totalswap) * system.mem_unit : UINT64_MAX;
    if (known > dfr_cgroup_own()->memory_bytes)
        known = dfr_cgroup_own()->memory_bytes;
    return known;
}

int dfr_refuse_node(const struct df_graph *g, uint32_t node, const char *why, struct df_error *error)
{
    char name[256];
    df_node_name(g, node, name, sizeof name);
    return dfr_error(error, DF_E_REFUSED, "node '%s' (kernel '%s') cannot run: %s", name,
                     df_graph_string(g, g->kernels[g->nodes[node].kernel].name), why);
}

int dfr_admit_host(const struct df_graph *g, uint32_t work, struct df_error *error)
{
    uint64_t bytes = g->works[work].job_bytes, most = dfr_host_bytes();
    char why[128], need[16], have[16];
    uint32_t node = 0;

    if (bytes <= most)
        return DF_OK;
    while (g->nodes[node].work != work)
        node++;
    snprintf(why, sizeof why, "one job needs %s of memory, and this machine has %s",
             dfr_text_bytes(bytes, need, sizeof need), dfr_text_bytes(most, have, sizeof have));
    return dfr_refuse_node(g, node, why, error);
}
