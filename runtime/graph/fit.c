/* fit.c - computes device memory needs in whole pages (fit.h), for the planners, the simulator and compiler/divide/. */
#include "runtime/graph/fit.h"

#include "runtime/graph/plan.h"

uint64_t dfr_job_bytes(const struct df_graph *g, uint32_t node)
{
    const struct df_node *n = &g->nodes[node];
    const uint32_t *in = g->in_value + n->first_in;
    uint64_t bytes = dfr_whole_pages(df_node_tmp_bytes(g, node, DF_ON_DEVICE));
    for (uint32_t i = 0; i < df_node_n_in(g, node); i++) {
        uint32_t k = 0;
        while (in[k] != in[i])          /* ports are few: a value that is read twice is there once */
            k++;
        if (k == i)
            bytes += dfr_whole_pages(g->values[in[i]].bytes);
    }
    for (uint32_t y = n->first_out; y < n->first_out + df_node_n_out(g, node); y++)
        if (g->values[y].taken_from == DF_NONE)
            bytes += dfr_whole_pages(g->values[y].bytes);
    return bytes;
}

bool dfr_everything_fits(const struct df_graph *g, uint64_t memory_bytes, uint32_t inflight, uint64_t jobs)
{
    double bytes = 0, scratch = 0;      /* no overflow */
    for (uint32_t y = 0; y < g->n_values; y++) {
        uint32_t copies = df_value_is_once(g, y) ? 1 : inflight;
        bytes += (double)dfr_whole_pages(g->values[y].bytes) * copies;
    }
    for (uint32_t w = 0; w < g->n_works; w++) {
        double tmp = (double)dfr_whole_pages(g->works[w].tmp_bytes[DF_ON_DEVICE]);
        scratch = tmp > scratch ? tmp : scratch;
    }
    return bytes + scratch * (double)jobs <= (double)memory_bytes;
}
