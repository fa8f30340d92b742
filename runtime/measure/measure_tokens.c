/* measure_tokens.c - allocates the tokens of the measuring mode, for measure.c and the files that run variants: when a
 * node's ports need them, until after the last reader. Their pages are touched before a kernel runs, because in a run
 * tokens reuse memory, and a kernel that is fired only once would otherwise be charged for page faults.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/measure/measure_impl.h"
#include "runtime/base/pages.h"

/* Values that are made once stay: later waves read them again. */
static bool stays(const struct dfr_measure *m, uint32_t value)
{
    return m->n_waves > 1 && df_value_is_once(m->graph, value);
}

static void release_value(struct dfr_measure *m, uint32_t value)
{
    free(m->memory[value]);
    m->memory[value] = NULL;
}

int dfr_measure_allocate(uint64_t bytes, void **memory, struct df_error *error)
{
    *memory = dfr_pages_alloc(bytes);
    if (!*memory)
        return dfr_error(error, DF_E_MEMORY, "out of memory: a token of %llu bytes", (unsigned long long)bytes);
    dfr_pages_give(*memory, bytes);
    return DF_OK;
}

/* The output of an inout has its input's memory, or a copy if the input is read again in later waves. */
static int take_over(struct dfr_measure *m, uint32_t input, uint32_t output, uint64_t bytes, struct df_error *error)
{
    if (!stays(m, input) || stays(m, output)) {
        m->memory[output] = m->memory[input];
        m->memory[input] = NULL;
        return DF_OK;
    }
    int status = dfr_measure_allocate(bytes, &m->memory[output], error);
    if (status == DF_OK)
        memcpy(m->memory[output], m->memory[input], bytes);
    return status;
}

/* An acc has its first value, or what the waves before have made of it. */
static int keep_acc(struct dfr_measure *m, uint32_t value, struct df_error *error)
{
    int status = DF_OK;
    if (m->memory[value])
        return DF_OK;
    status = dfr_measure_allocate(m->graph->values[value].bytes, &m->memory[value], error);
    if (status == DF_OK)
        df_acc_first(m->graph, value, m->memory[value]);
    return status;
}

int dfr_measure_bind(struct dfr_measure *m, uint32_t node, struct df_error *error)
{
    const struct df_graph *g = m->graph;
    const struct df_node *v = &g->nodes[node];
    const struct df_work *work = &g->works[v->work];
    const struct df_kernel *kernel = &g->kernels[v->kernel];
    int status = DF_OK;
    for (unsigned p = 0; p < kernel->n_ports; p++)
        m->ports[p] = NULL;
    for (unsigned p = 0; p < kernel->n_ports && status == DF_OK; p++) {
        const struct df_kport *port = &g->kports[kernel->first_port + p];
        uint64_t bytes = df_port_bytes_on(g, work, p, DF_ON_HOST);
        uint32_t input = port->in_slot >= 0 ? g->in_value[v->first_in + (uint32_t)port->in_slot] : DF_NONE;
        uint32_t output = port->out_slot >= 0 ? v->first_out + (uint32_t)port->out_slot : DF_NONE;
        if (port->mode == DF_IN)
            m->ports[p] = m->memory[input];
        else if (port->mode == DF_TMP)
            status = dfr_measure_allocate(bytes, &m->ports[p], error);
        else
            status = port->mode == DF_INOUT ? take_over(m, input, output, bytes, error)
                     : port->mode == DF_ACC ? keep_acc(m, output, error)
                                            : dfr_measure_allocate(bytes, &m->memory[output], error);
        if (output != DF_NONE)
            m->ports[p] = m->memory[output];
    }
    for (unsigned d = 0; d < kernel->n_dims; d++)
        m->dims[d] = g->dims[work->first_dim + d];
    return status;
}

void dfr_measure_forget(struct dfr_measure *m)
{
    for (uint32_t y = 0; y < m->graph->n_values; y++)
        release_value(m, y);
}

void dfr_measure_clear(struct dfr_measure *m, uint32_t node)
{
    const struct df_graph *g = m->graph;
    uint32_t first = g->nodes[node].first_out;
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        memset(m->memory[y], 0, g->values[y].bytes);
}

void dfr_measure_release(struct dfr_measure *m, uint32_t node)
{
    const struct df_graph *g = m->graph;
    const struct df_node *v = &g->nodes[node];
    const struct df_kernel *kernel = &g->kernels[v->kernel];
    for (unsigned p = 0; p < kernel->n_ports; p++) {
        if (g->kports[kernel->first_port + p].mode == DF_TMP)
            free(m->ports[p]);
    }
    for (uint32_t i = 0; i < kernel->n_in; i++) {
        uint32_t value = g->in_value[v->first_in + i];
        if (m->left[value] > 0 && --m->left[value] == 0 && !stays(m, value))
            release_value(m, value);
    }
    for (uint32_t o = 0; o < kernel->n_out; o++) {
        if (g->values[v->first_out + o].n_readers == 0)
            release_value(m, v->first_out + o);
    }
}

void dfr_measure_begin_wave(struct dfr_measure *m)
{
    for (uint32_t y = 0; y < m->graph->n_values; y++)
        m->left[y] = m->graph->values[y].n_readers;
}

/* ---- how much there is ---- */

uint64_t dfr_measure_wave_bytes(struct dfr_measure *m)
{
    const struct df_graph *g = m->graph;
    uint64_t now = 0, most = 0;
    dfr_measure_begin_wave(m);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t first_out = g->nodes[v].first_out, end = first_out + df_node_n_out(g, v);
        for (uint32_t y = first_out; y < end; y++)
            now += g->values[y].bytes;
        most = now > most ? now : most;
        for (uint32_t k = 0; k < df_node_n_in(g, v); k++) {
            uint32_t value = g->in_value[g->nodes[v].first_in + k];
            now -= --m->left[value] == 0 ? g->values[value].bytes : 0;
        }
        for (uint32_t y = first_out; y < end; y++)
            now -= g->values[y].n_readers == 0 ? g->values[y].bytes : 0;
    }
    return most;
}

uint64_t dfr_measure_port_bytes(const struct df_graph *g, uint32_t work)
{
    const struct df_kernel *kernel = &g->kernels[g->works[work].kernel];
    uint64_t bytes = 0;
    for (unsigned p = 0; p < kernel->n_ports; p++)
        bytes += df_port_bytes_on(g, &g->works[work], p, DF_ON_HOST);
    return bytes;
}

uint64_t dfr_measure_other_bytes(const struct dfr_measure *m, uint32_t work)
{
    uint64_t own = dfr_measure_port_bytes(m->graph, work), others = m->wave_bytes > own ? m->wave_bytes - own : 0;
    return others < DFR_MEASURE_OTHERS ? others : DFR_MEASURE_OTHERS;
}
