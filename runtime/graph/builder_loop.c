/* builder_loop.c - the part of the graph builder that adds loops (graph.h), for compiler/elab/: a loop's kernel, the records of its steps and tokens, and its
 * node. It decides where tokens lie between rounds. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/graph/builder_impl.h"

struct maker {
    struct df_builder *b;
    const struct df_loop_desc *desc;
    struct df_port_desc *ports;
    uint64_t (*port_dims)[DF_MAX_RANK];
    const char **dim_names;
    uint64_t *dims;
    struct df_scalar_desc *scalar_descs;
    uint32_t *scalars;
    struct df_loop_token *tokens;
    struct df_step *steps;
    struct df_step_port *step_ports;
    char (*names)[160], (*scalar_names)[80]; /* copies, because the builder's texts move */
    uint32_t n_ports, n_dims, n_scalars, n_step_ports;
    uint64_t tmp_bytes;
};

static const struct df_kernel *kernel_of(const struct maker *m, uint32_t step) { return &dfr_b_kernels(m->b)[m->desc->steps[step].kernel]; }

static bool bytes_of(enum df_elem elem, unsigned rank, const uint64_t *dims, uint64_t *bytes)
{
    *bytes = df_elem_bytes(elem);
    for (unsigned i = 0; i < rank; i++)
        if (__builtin_mul_overflow(*bytes, dims[i], bytes) || *bytes > INT64_MAX / 2)
            return false;
    return true;
}

/* Takes room in the tmp port. false: there is too much. */
static bool take(uint64_t *end, uint64_t bytes, uint64_t *place)
{
    *place = *end;
    return !__builtin_add_overflow(*end, df_tmp_room(bytes), end) && *end <= INT64_MAX / 2;
}

static void add_port(struct maker *m, const struct df_loop_port_desc *token, enum df_mode mode)
{
    m->ports[m->n_ports] = (struct df_port_desc){ token->name, mode, token->elem, token->rank };
    for (unsigned i = 0; i < DF_MAX_RANK; i++)
        m->port_dims[m->n_ports][i] = i < token->rank ? token->dims[i] : 1;
    m->n_ports++;
}

/* Ports are in the order of tokens, and the tmp port is the last. What is carried and read in the end is an inout port: its second place is scratch, so there are
 * two of it in all. */
static bool place_tokens(struct maker *m)
{
    const struct df_loop_port_desc *t = m->desc->tokens;
    bool fits = true;
    for (uint32_t i = 0; i < m->desc->n_tokens; i++) {
        m->tokens[i] = (struct df_loop_token){ .in_port = t[i].is_in ? m->n_ports : DF_NONE, .out_port = DF_NONE, .elem = t[i].elem, .carried = t[i].carried };
        fits &= bytes_of(t[i].elem, t[i].rank, t[i].dims, &m->tokens[i].bytes);
        if (t[i].is_out)
            m->tokens[i].out_port = m->n_ports;
        if (t[i].is_in)
            add_port(m, &t[i], t[i].is_out ? DF_INOUT : DF_IN);
    }
    for (uint32_t i = 0; i < m->desc->n_tokens && fits; i++) {
        if ((t[i].carried && !t[i].is_out) || (!t[i].carried && !t[i].is_in))
            fits &= take(&m->tmp_bytes, m->tokens[i].bytes, &m->tokens[i].place[0]);
        if (t[i].carried)
            fits &= take(&m->tmp_bytes, m->tokens[i].bytes, &m->tokens[i].place[1]);
    }
    return fits;
}

/* The ports of a step. Steps use one room for scratch, one after the other, behind the tokens. */
static bool add_step(struct maker *m, uint32_t s, uint64_t scratch, uint64_t *scratch_end)
{
    const struct df_step_desc *d = &m->desc->steps[s];
    const struct df_kernel *k = kernel_of(m, s);
    uint64_t end = scratch;
    bool fits = true;
    m->steps[s] = (struct df_step){ .kernel = d->kernel, .first_dim = m->n_dims, .first_scalar = m->n_scalars, .first_port = m->n_step_ports, .rows = d->rows, .by_rows = d->by_rows };
    for (unsigned i = 0; i < k->n_dims; i++) {
        m->dim_names[m->n_dims] = m->names[m->n_dims];
        snprintf(m->names[m->n_dims], sizeof *m->names, "%.100s.%.50s", dfr_b_strings(m->b) + k->name, dfr_b_strings(m->b) + dfr_b_dim_names(m->b)[k->first_dim + i]);
        m->dims[m->n_dims++] = d->dims[i];
    }
    for (unsigned i = 0; i < k->n_scalars; i++) {
        const struct df_kscalar *scalar = &dfr_b_kscalars(m->b)[k->first_scalar + i];
        snprintf(m->scalar_names[m->n_scalars], sizeof *m->scalar_names, "%.70s", dfr_b_strings(m->b) + scalar->name);
        m->scalar_descs[m->n_scalars] = (struct df_scalar_desc){ m->scalar_names[m->n_scalars], (enum df_scalar_type)scalar->type };
        m->scalars[m->n_scalars++] = d->scalars[i];
    }
    for (unsigned p = 0; p < k->n_ports && fits; p++) {
        const struct df_kport *port = &dfr_b_kports(m->b)[k->first_port + p];
        struct df_step_port *to = &m->step_ports[m->n_step_ports++];
        uint64_t bytes;
        *to = (struct df_step_port){ .reads = DF_NONE, .writes = DF_NONE };
        if (port->mode == DF_TMP) {
            fits = bytes_of(port->elem, port->rank, d->port_dims[p], &bytes) && take(&end, bytes, &to->place);
            continue;
        }
        if (port->in_slot >= 0) {
            to->reads = d->reads[p];
            to->next = d->next[p];
        }
        if (port->out_slot >= 0)
            to->writes = d->writes[p];
    }
    *scratch_end = end > *scratch_end ? end : *scratch_end;
    return fits;
}

static bool make_room(struct maker *m)
{
    const struct df_loop_desc *d = m->desc;
    uint32_t n_ports = d->n_tokens + 1, n_dims = 1, n_scalars = d->n_scalars + 1, n_step_ports = 1;
    for (uint32_t s = 0; s < d->n_steps; s++) {
        n_dims += kernel_of(m, s)->n_dims;
        n_scalars += kernel_of(m, s)->n_scalars;
        n_step_ports += kernel_of(m, s)->n_ports;
    }
    m->ports = calloc(n_ports, sizeof *m->ports);
    m->port_dims = calloc(n_ports, sizeof *m->port_dims);
    m->dim_names = calloc(n_dims, sizeof *m->dim_names);
    m->names = calloc(n_dims, sizeof *m->names);
    m->dims = calloc(n_dims, sizeof *m->dims);
    m->scalar_descs = calloc(n_scalars, sizeof *m->scalar_descs);
    m->scalar_names = calloc(n_scalars, sizeof *m->scalar_names);
    m->scalars = calloc(n_scalars, sizeof *m->scalars);
    m->tokens = calloc(d->n_tokens + 1u, sizeof *m->tokens);
    m->steps = calloc(d->n_steps + 1u, sizeof *m->steps);
    m->step_ports = calloc(n_step_ports, sizeof *m->step_ports);
    return m->ports && m->port_dims && m->dim_names && m->names && m->dims && m->scalar_descs && m->scalar_names && m->scalars && m->tokens && m->steps && m->step_ports;
}

static void free_room(struct maker *m)
{
    free(m->ports);
    free(m->port_dims);
    free(m->dim_names);
    free(m->names);
    free(m->dims);
    free(m->scalar_descs);
    free(m->scalar_names);
    free(m->scalars);
    free(m->tokens);
    free(m->steps);
    free(m->step_ports);
}

/* What its steps are: the classes that have code for all, a hash of their sources, the tolerances that are given. */
static void describe_kernel(const struct maker *m, struct df_kernel *loop, uint32_t number)
{
    const struct df_loop_desc *d = m->desc;
    uint32_t classes = UINT32_MAX;
    uint64_t hash[2] = { 0 };
    for (uint32_t s = 0; s < d->n_steps; s++) {
        const struct df_kernel *k = kernel_of(m, s);
        classes &= k->code_classes;
        for (unsigned side = 0; side < 2; side++)
            hash[side] = dfr_hash(hash[side], &k->code_hash[side], sizeof k->code_hash[side]);
        loop->tolerance.given |= k->tolerance.given;
        loop->tolerance.relative = k->tolerance.relative > loop->tolerance.relative ? k->tolerance.relative : loop->tolerance.relative;
        loop->tolerance.absolute = k->tolerance.absolute > loop->tolerance.absolute ? k->tolerance.absolute : loop->tolerance.absolute;
    }
    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t p = 0; p < m->n_step_ports; p++)
            hash[side] = dfr_hash(hash[side], &m->step_ports[p], offsetof(struct df_step_port, place));
        hash[side] = dfr_hash(hash[side], d->code, d->n_code * sizeof *d->code);
        loop->code_hash[side] = hash[side];
    }
    loop->flags = DF_KERNEL_LOOP;
    loop->code_classes = (uint16_t)classes;
    loop->loop = number;
}

static void *append(struct df_builder *b, unsigned array, const void *items, uint32_t n, size_t size)
{
    void *to = dfr_builder_add(b, array, n);
    if (to && n)
        memcpy(to, items, n * size);
    return to;
}

/* The records of the loop. NULL: no memory. */
static const void *add_loop(const struct maker *m)
{
    struct df_builder *b = m->b;
    const struct df_loop_desc *d = m->desc;
    const struct df_loop loop = {
        .most = d->most, .first_code = dfr_b_count(b, DFR_A_code), .n_code = d->n_code, .n_scalars = d->n_scalars,
        .first_read = dfr_b_count(b, DFR_A_loop_reads), .n_reads = d->n_reads, .first_step = dfr_b_count(b, DFR_A_steps), .n_steps = d->n_steps,
        .first_token = dfr_b_count(b, DFR_A_loop_tokens), .n_tokens = d->n_tokens,
    };
    for (uint32_t s = 0; s < d->n_steps; s++)
        m->steps[s].first_port += dfr_b_count(b, DFR_A_step_ports);
    bool memory = append(b, DFR_A_code, d->code, d->n_code, sizeof *d->code) && append(b, DFR_A_loop_reads, d->reads, d->n_reads, sizeof *d->reads) &&
                  append(b, DFR_A_steps, m->steps, d->n_steps, sizeof *m->steps) &&
                  append(b, DFR_A_step_ports, m->step_ports, m->n_step_ports, sizeof *m->step_ports) &&
                  append(b, DFR_A_loop_tokens, m->tokens, d->n_tokens, sizeof *m->tokens);
    return memory ? append(b, DFR_A_loops, &loop, 1, sizeof loop) : NULL;
}

static int make(struct maker *m, const struct df_node_desc *at, uint32_t *node, struct df_error *error)
{
    const struct df_loop_desc *d = m->desc;
    uint64_t scratch_end = 0;
    uint32_t kernel;
    m->dim_names[0] = "rounds";
    m->dims[m->n_dims++] = d->most;
    for (uint32_t i = 0; i < d->n_scalars; i++) {
        m->scalar_descs[m->n_scalars] = (struct df_scalar_desc){ "condition", d->scalar_types[i] };
        m->scalars[m->n_scalars++] = d->scalars[i];
    }
    bool fits = place_tokens(m);
    scratch_end = m->tmp_bytes;
    for (uint32_t s = 0; s < d->n_steps && fits; s++)
        fits = add_step(m, s, m->tmp_bytes, &scratch_end);
    if (!fits)
        return dfr_error(error, DF_E_ARGUMENT, "node of '%s': what it keeps between rounds does not fit in 63 bits", d->name);
    const uint64_t tmp_dims[] = { scratch_end ? scratch_end : 1, 1, 1, 1 };
    add_port(m, &(struct df_loop_port_desc){ .name = "rounds", .elem = DF_U8, .rank = 1, .dims = tmp_dims }, DF_TMP);
    const struct df_kernel_desc desc = { .name = d->name, .n_dims = m->n_dims, .dims = m->dim_names, .n_ports = m->n_ports, .ports = m->ports,
                                         .n_scalars = m->n_scalars, .scalars = m->scalar_descs, .traits = DF_SYNC };
    int rc = df_builder_kernel(m->b, &desc, &kernel, error);
    if (rc == DF_OK && !add_loop(m))
        rc = dfr_error_memory(error);
    if (rc == DF_OK)
        describe_kernel(m, &dfr_b_kernels(m->b)[kernel], dfr_b_count(m->b, DFR_A_loops) - 1);
    if (rc == DF_OK && d->keep_extents) {
        struct df_extent_desc *none = calloc((size_t)m->n_ports * DF_MAX_RANK, sizeof *none);
        rc = none ? df_builder_extents(m->b, kernel, none, error) : dfr_error_memory(error);
        free(none);
    }
    if (rc != DF_OK)
        return rc;
    struct df_node_desc own = *at;
    own.kernel = kernel;
    own.dims = m->dims;
    own.port_dims = (const uint64_t (*)[DF_MAX_RANK])m->port_dims;
    own.scalars = m->scalars;
    return df_builder_node_desc(m->b, &own, node, error);
}

int df_builder_loop(struct df_builder *b, const struct df_loop_desc *desc, const struct df_node_desc *at, uint32_t *node, struct df_error *error)
{
    struct maker m = { .b = b, .desc = desc };
    int rc = make_room(&m) ? make(&m, at, node, error) : dfr_error_memory(error);
    free_room(&m);
    return rc;
}
