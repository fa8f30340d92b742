/* rates.c - finds each node's rate, the fraction of waves in which it fires: from @rate, else as learnt from earlier runs, else from the rates of its inputs.
 * finish.c calls it, and profiles/db/rates.c once the learnt rates are known. The hash of all kernels' sources, by which start/learn_place.c stores these, is here. */
#include "runtime/base/intern.h"
#include "runtime/graph/graph.h"

/* Each input has a token as often as its producer fires. Empty ones mostly come together, so the least rate counts, not
 * the product. A select passes on any token: in the worst case no two come in one wave. A once node counts as 1, and so
 * does what it makes. */
static float inherited_rate(const struct df_graph *g, uint32_t v)
{
    const struct df_node *node = &g->nodes[v];
    bool selects = g->kernels[node->kernel].flags & DF_KERNEL_COPY && df_node_n_in(g, v) > 1;
    float least = 1, sum = 0;
    if (node->flags & DF_NODE_ONCE)
        return 1;
    for (uint32_t i = 0; i < df_node_n_in(g, v); i++) {
        const struct df_value *value = &g->values[g->in_value[node->first_in + i]];
        float rate = value->flags & DF_VALUE_ONCE ? 1 : g->nodes[value->producer].rate;
        least = rate < least ? rate : least;
        sum += rate;
    }
    return !selects ? least : sum < 1 ? sum : 1;
}

void df_graph_find_rates(struct df_graph *g, const float *learnt)
{
    struct df_node *nodes = (struct df_node *)g->nodes;
    for (uint32_t v = 0; v < g->n_nodes; v++)       /* producers have lower numbers than their readers */
        if (!(nodes[v].flags & DF_NODE_RATED))
            nodes[v].rate = learnt && learnt[v] > 0 ? learnt[v] : inherited_rate(g, v);
}

uint64_t df_graph_code_hash(const struct df_graph *g)
{
    uint64_t hash = 0;
    for (uint32_t k = 0; k < g->n_kernels; k++) {
        bool code = false;              /* built-in kernels have none: how many there are depends on how nodes are divided */
        for (size_t c = 0; c < sizeof g->kernels[k].code_hash / sizeof *g->kernels[k].code_hash; c++)
            code |= g->kernels[k].code_hash[c] != 0;
        if (code)
            hash = dfr_hash(hash, g->kernels[k].code_hash, sizeof g->kernels[k].code_hash);
    }
    return hash;
}
