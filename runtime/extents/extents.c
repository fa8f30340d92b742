/* extents.c - tracks extents that vary: which values have them, the rows that store them, and the dimensions of a job
 * computed from the tokens that it reads (extents.h). The engine and the workers of GPUs query it for each job;
 * measure/, inspect/ and subgraph/ use it as well. A dimension variable is bound by the first in port where it is an
 * extent by itself; every other port that has it must agree.
 */
#include "runtime/extents/extents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/graph/expr.h"

struct row {
    uint64_t dims[DF_MAX_RANK];
    uint64_t bytes;
};

struct dfr_extents {
    const struct df_graph *g;
    uint32_t n_slots, n_rows;           /* n_slots without the once slot */
    uint8_t *varies;                    /* by node */
    uint8_t *vary;                      /* by value: bit i: extent i does */
    uint32_t *row;                      /* by value; DF_NONE: it varies not, and its kernel decides no extent of it */
    uint32_t *like;                     /* by value: itself, or the value that it is a copy of: its row is in that one's slot */
    struct row *rows;                   /* [slot * n_rows + row] */
};

/* ---- what varies ---- */

static const struct df_kernel *kernel_of(const struct df_graph *g, uint32_t node)
{
    return &g->kernels[g->nodes[node].kernel];
}

static uint32_t input_value(const struct df_graph *g, uint32_t node, const struct df_kport *port)
{
    return g->in_value[g->nodes[node].first_in + (uint32_t)port->in_slot];
}

static uint32_t output_value(const struct df_graph *g, uint32_t node, const struct df_kport *port)
{
    return g->nodes[node].first_out + (uint32_t)port->out_slot;
}

static bool code_varies(const struct df_graph *g, const struct df_extent *e, const uint8_t *dims)
{
    for (uint32_t i = 0; i < e->n_code; i++) {
        const uint64_t *word = &g->code[e->first_code + i];
        if (*word == DF_X_ARG && dims[word[1]])
            return true;
        i += *word <= DF_X_ARG;         /* its operand */
    }
    return false;
}

/* Which dimension variables of the node vary. */
static void find_dims(const struct dfr_extents *x, uint32_t node, uint8_t *dims)
{
    const struct df_graph *g = x->g;
    const struct df_kernel *k = kernel_of(g, node);
    memset(dims, 0, k->n_dims);
    for (uint32_t p = 0; p < k->n_ports; p++) {
        const struct df_kport *port = &g->kports[k->first_port + p];
        uint8_t vary = port->in_slot >= 0 ? x->vary[input_value(g, node, port)]
                       : port->own ? port->own & ~g->values[output_value(g, node, port)].exact : 0;
        for (unsigned i = 0; i < port->rank; i++) {
            uint32_t d = vary >> i & 1 ? df_extent_variable(g, k, p, i) : DF_NONE;
            if (d != DF_NONE)
                dims[d] = 1;
        }
    }
}

/* A copy, whose ports are said to be bytes, passes on what it reads; a select one of what it reads. */
static void find_copy(struct dfr_extents *x, uint32_t node)
{
    const struct df_graph *g = x->g;
    const uint32_t *from = &g->in_value[g->nodes[node].first_in];
    uint32_t to = g->nodes[node].first_out, n_in = kernel_of(g, node)->n_in;
    for (uint32_t i = 0; i < n_in; i++)
        x->vary[to] |= x->vary[from[i]];
    x->varies[node] = x->vary[to] != 0;
    if (x->varies[node] && n_in > 1)
        x->row[to] = x->n_rows++;
    if (n_in == 1) {
        x->row[to] = x->row[*from];
        x->like[to] = x->like[*from];
    }
}

static int find_node(struct dfr_extents *x, uint32_t node, uint8_t *dims, struct df_error *error)
{
    const struct df_graph *g = x->g;
    const struct df_kernel *k = kernel_of(g, node);
    bool reads = false;
    for (uint32_t i = 0; i < k->n_in; i++)
        reads |= x->vary[g->in_value[g->nodes[node].first_in + i]] != 0;
    if (reads && k->first_extent == DF_NONE)
        return dfr_error(error, DF_E_FORMAT, "kernel '%s' reads extents that vary, and its own are not known",
                         df_graph_string(g, k->name));
    if (k->first_extent == DF_NONE)
        return DF_OK;
    find_dims(x, node, dims);
    x->varies[node] = reads;
    for (uint32_t p = 0; p < k->n_ports; p++) {
        const struct df_kport *port = &g->kports[k->first_port + p];
        uint32_t value = output_value(g, node, port);
        for (unsigned i = 0; i < port->rank && port->out_slot >= 0; i++)
            if (code_varies(g, &g->extents[k->first_extent + p * DF_MAX_RANK + i], dims))
                x->vary[value] |= (uint8_t)(1u << i);
        if (port->out_slot < 0 || (!x->vary[value] && !port->own))
            continue;
        x->row[value] = x->n_rows++;
        x->varies[node] = 1;
    }
    return DF_OK;
}

static int find_all(struct dfr_extents *x, struct df_error *error)
{
    const struct df_graph *g = x->g;
    uint32_t most = 1;
    int status = DF_OK;
    for (uint32_t k = 0; k < g->n_kernels; k++)
        most = g->kernels[k].n_dims > most ? g->kernels[k].n_dims : most;
    uint8_t *dims = malloc(most);
    if (!dims)
        return dfr_error_memory(error);
    for (uint32_t v = 0; v < g->n_nodes && status == DF_OK; v++) /* in topological order */
        if (kernel_of(g, v)->flags & DF_KERNEL_COPY)
            find_copy(x, v);
        else
            status = find_node(x, v, dims, error);
    free(dims);
    return status;
}

int dfr_extents_create(const struct df_graph *g, uint32_t n_slots, struct dfr_extents **extents, struct df_error *error)
{
    struct dfr_extents *x;
    int status = DF_OK;

    *extents = NULL;
    if (g->n_extents == 0)
        return DF_OK;
    x = calloc(1, sizeof *x);
    if (!x)
        return dfr_error_memory(error);
    x->g = g;
    x->n_slots = n_slots;
    x->varies = calloc(g->n_nodes + 1, sizeof *x->varies);
    x->vary = calloc(g->n_values + 1, sizeof *x->vary);
    x->row = malloc((g->n_values + 1) * sizeof *x->row);
    x->like = malloc((g->n_values + 1) * sizeof *x->like);
    if (x->varies && x->vary && x->row && x->like) {
        memset(x->row, 0xff, (g->n_values + 1) * sizeof *x->row); /* DF_NONE */
        for (uint32_t y = 0; y < g->n_values; y++)
            x->like[y] = y;
        status = find_all(x, error);
    } else {
        status = dfr_error_memory(error);
    }
    if (status == DF_OK && x->n_rows > 0 && !(x->rows = calloc((n_slots + 1) * (size_t)x->n_rows, sizeof *x->rows)))
        status = dfr_error_memory(error);
    if (status == DF_OK && x->n_rows > 0)
        *extents = x;
    else
        dfr_extents_destroy(x);
    return status;
}

void dfr_extents_destroy(struct dfr_extents *x)
{
    if (!x)
        return;
    free(x->varies);
    free(x->vary);
    free(x->row);
    free(x->like);
    free(x->rows);
    free(x);
}

/* ---- rows ---- */

static struct row *row_of(const struct dfr_extents *x, uint32_t value, uint32_t slot)
{
    bool once = x->g->nodes[x->g->values[x->like[value]].producer].flags & DF_NODE_ONCE;
    return &x->rows[(size_t)(once ? x->n_slots : slot) * x->n_rows + x->row[value]];
}

bool dfr_extents_node_varies(const struct dfr_extents *x, uint32_t node)
{
    return x->varies[node];
}

bool dfr_extents_value_varies(const struct dfr_extents *x, uint32_t value)
{
    return x->vary[value] != 0;
}

unsigned dfr_extents_that_vary(const struct dfr_extents *x, uint32_t value)
{
    return x->vary[value];
}

static uint32_t out_port(const struct df_graph *g, uint32_t value)
{
    const struct df_kernel *k = kernel_of(g, g->values[value].producer);
    uint32_t p = g->values[value].slot;
    while (g->kports[k->first_port + p].out_slot != (int)g->values[value].slot)
        p++;
    return p;
}

const uint64_t *dfr_extents_of(const struct dfr_extents *x, uint32_t value, uint32_t slot)
{
    const struct df_graph *g = x->g;
    const struct df_work *work = &g->works[g->nodes[g->values[value].producer].work];
    return x->vary[value] ? row_of(x, value, slot)->dims
                          : g->port_dims + (work->first_port + out_port(g, value)) * (size_t)DF_MAX_RANK;
}

uint64_t dfr_extents_bytes(const struct dfr_extents *x, uint32_t value, uint32_t slot)
{
    return x->vary[value] ? row_of(x, value, slot)->bytes : x->g->values[value].bytes;
}

/* ---- one job ---- */

struct job {                            /* what is asked for */
    const struct dfr_extents *x;
    const struct df_kernel *kernel;
    const struct df_work *work;
    uint32_t node, slot;
    char *why;
};

static struct job job_of(const struct dfr_extents *x, uint32_t node, uint32_t slot, char *why)
{
    const struct df_node *n = &x->g->nodes[node];
    return (struct job){ x, &x->g->kernels[n->kernel], &x->g->works[n->work], node, slot, why };
}

static uint64_t planned(const struct job *j, uint32_t port, unsigned i)
{
    return j->x->g->port_dims[(j->work->first_port + port) * (size_t)DF_MAX_RANK + i];
}

static const char *text(const struct job *j, uint32_t string)
{
    return df_graph_string(j->x->g, string);
}

/* "'a' of 'main/decode'": the input and who made its token. */
static void name_input(const struct job *j, const struct df_kport *port, char *to, size_t size)
{
    char maker[80];
    df_node_name(j->x->g, j->x->g->values[input_value(j->x->g, j->node, port)].producer, maker, sizeof maker);
    snprintf(to, size, "'%.40s', made by '%s'", text(j, port->name), maker);
}

/* Extent i of port p by the code of the kernel's declaration. below 1 gives 0. DF_FAILED: it cannot be computed. */
static int compute(const struct job *j, uint32_t p, unsigned i, const size_t *dims, uint64_t *extent)
{
    const struct df_graph *g = j->x->g;
    const struct df_extent *e = &g->extents[j->kernel->first_extent + p * DF_MAX_RANK + i];
    uint32_t d = df_extent_variable(g, j->kernel, p, i);
    struct df_number args[j->kernel->n_dims + 1u], result;
    struct df_error error;

    if (d != DF_NONE || e->n_code == 0) {
        *extent = d != DF_NONE ? dims[d] : planned(j, p, i);
        return DF_OK;
    }
    for (unsigned k = 0; k < j->kernel->n_dims; k++)
        args[k] = (struct df_number){ .kind = DF_KIND_I64, .i = (int64_t)dims[k] };
    if (df_expr_run(g->code + e->first_code, e->n_code, g->strings, args, j->kernel->n_dims, &result, &error) != DF_OK) {
        snprintf(j->why, DFR_EXTENTS_WHY, "extent %u of '%.60s': %.100s", i + 1,
                 text(j, g->kports[j->kernel->first_port + p].name), error.text);
        return DF_FAILED;
    }
    *extent = result.i > 0 ? (uint64_t)result.i : 0;
    return DF_OK;
}

/* The dimensions that in ports have alone: each by the first of them. */
static int bind_inputs(const struct job *j, size_t *dims)
{
    const struct df_graph *g = j->x->g;
    const struct df_kport *by[j->kernel->n_dims + 1u];
    memset(by, 0, sizeof by);
    for (uint32_t p = 0; p < j->kernel->n_ports; p++) {
        const struct df_kport *port = &g->kports[j->kernel->first_port + p];
        const uint64_t *have = port->in_slot < 0 ? NULL : dfr_extents_of(j->x, input_value(g, j->node, port), j->slot);
        for (unsigned i = 0; have && i < port->rank; i++) {
            uint32_t d = df_extent_variable(g, j->kernel, p, i);
            char one[140], two[140];
            if (d == DF_NONE)
                continue;
            if (!by[d]) {
                by[d] = port;
                dims[d] = have[i];
                continue;
            }
            if (dims[d] == have[i])
                continue;
            name_input(j, by[d], one, sizeof one);
            name_input(j, port, two, sizeof two);
            snprintf(j->why, DFR_EXTENTS_WHY, "dimension %.40s is %llu from %s, but %llu from %s",
                     text(j, g->dim_names[j->kernel->first_dim + d]), (unsigned long long)dims[d], one,
                     (unsigned long long)have[i], two);
            return DF_FAILED;
        }
    }
    return DF_OK;
}

/* An input whose extent is an expression. */
static int check_input(const struct job *j, uint32_t p, unsigned i, uint64_t want)
{
    const struct df_kport *port = &j->x->g->kports[j->kernel->first_port + p];
    uint64_t have = dfr_extents_of(j->x, input_value(j->x->g, j->node, port), j->slot)[i];
    char name[140];
    if (want == have)
        return DF_OK;
    name_input(j, port, name, sizeof name);
    snprintf(j->why, DFR_EXTENTS_WHY, "extent %u of %s is %llu, but its other inputs make it %llu", i + 1, name,
             (unsigned long long)have, (unsigned long long)want);
    return DF_FAILED;
}

static int too_large(const struct job *j, uint32_t p, unsigned i, uint64_t extent)
{
    snprintf(j->why, DFR_EXTENTS_WHY, "extent %u of '%.60s' is %llu, and it may be at most %llu", i + 1,
             text(j, j->x->g->kports[j->kernel->first_port + p].name), (unsigned long long)extent,
             (unsigned long long)planned(j, p, i));
    return DF_FAILED;
}

/* Port p before the call. What the kernel decides is not known yet. */
static int check_port(const struct job *j, uint32_t p, const size_t *dims)
{
    const struct df_kport *port = &j->x->g->kports[j->kernel->first_port + p];
    for (unsigned i = 0; i < port->rank; i++) {
        uint64_t extent;
        if (compute(j, p, i, dims, &extent) != DF_OK)
            return DF_FAILED;
        if (port->in_slot >= 0 && check_input(j, p, i, extent) != DF_OK)
            return DF_FAILED;
        if (extent > planned(j, p, i))
            return too_large(j, p, i, extent);
        if (extent == 0 && !(j->kernel->traits & DF_ZERO_EXTENTS))
            return DF_SKIP;
    }
    return DF_OK;
}

static int bind_copy(const struct job *j, uint32_t in_slot, size_t *dims)
{
    dims[0] = dfr_extents_bytes(j->x, j->x->g->in_value[j->x->g->nodes[j->node].first_in + in_slot], j->slot);
    return DF_OK;
}

int dfr_extents_bind(const struct dfr_extents *x, uint32_t node, uint32_t slot, uint32_t passed, size_t *dims,
                     char why[DFR_EXTENTS_WHY])
{
    const struct job j = job_of(x, node, slot, why);
    int status;

    for (unsigned d = 0; d < j.kernel->n_dims; d++)
        dims[d] = x->g->dims[j.work->first_dim + d];
    if (j.kernel->flags & DF_KERNEL_COPY)
        return bind_copy(&j, passed, dims);
    status = bind_inputs(&j, dims);
    for (uint32_t p = 0; p < j.kernel->n_ports && status == DF_OK; p++)
        status = check_port(&j, p, dims);
    return status;
}

static int not_exact(const struct job *j, uint32_t p, unsigned i, uint64_t extent)
{
    const char *dim = text(j, j->x->g->dim_names[j->kernel->first_dim + df_extent_variable(j->x->g, j->kernel, p, i)]);
    snprintf(j->why, DFR_EXTENTS_WHY, "extent %u of '%.60s' is %llu, and the call says that it is %llu: '%.40s <= %llu' takes less",
             i + 1, text(j, j->x->g->kports[j->kernel->first_port + p].name), (unsigned long long)extent,
             (unsigned long long)planned(j, p, i), dim, (unsigned long long)planned(j, p, i));
    return DF_FAILED;
}

/* Finds the row of the output that port p is. */
static int write_row(const struct job *j, uint32_t p, const size_t *dims, struct row *row)
{
    const struct df_kport *port = &j->x->g->kports[j->kernel->first_port + p];
    struct row made = { { 1, 1, 1, 1 }, df_elem_bytes((enum df_elem)port->elem) };
    for (unsigned i = 0; i < port->rank; i++) {
        if (compute(j, p, i, dims, &made.dims[i]) != DF_OK)
            return DF_FAILED;
        if (made.dims[i] > planned(j, p, i))
            return too_large(j, p, i, made.dims[i]);
        if (made.dims[i] < planned(j, p, i) && j->x->g->values[output_value(j->x->g, j->node, port)].exact >> i & 1)
            return not_exact(j, p, i, made.dims[i]);
        made.bytes *= made.dims[i];
    }
    *row = made;
    return DF_OK;
}

void dfr_extents_pass(struct dfr_extents *x, uint32_t node, uint32_t slot, uint32_t passed)
{
    uint32_t from = x->g->in_value[x->g->nodes[node].first_in + passed], to = x->g->nodes[node].first_out;
    if (kernel_of(x->g, node)->n_in > 1 && x->varies[node])
        *row_of(x, to, slot) = *row_of(x, from, slot);
}

void dfr_extents_fill(struct dfr_extents *x, uint32_t node, uint32_t slot, bool made)
{
    const struct df_graph *g = x->g;
    for (uint32_t y = g->nodes[node].first_out; y < g->nodes[node].first_out + df_node_n_out(g, node); y++) {
        const struct df_work *work = &g->works[g->nodes[node].work];
        struct row *row = x->vary[y] && x->like[y] == y ? row_of(x, y, slot) : NULL;
        if (!row || (made && row->bytes > 0))
            continue;
        memcpy(row->dims, g->port_dims + (work->first_port + out_port(g, y)) * (size_t)DF_MAX_RANK, sizeof row->dims);
        row->bytes = g->values[y].bytes;
    }
}

uint64_t dfr_extents_zeros(struct dfr_extents *x, uint32_t node, uint32_t slot)
{
    char why[DFR_EXTENTS_WHY];          /* what does not agree is no failure of a job that is not called */
    const struct job j = job_of(x, node, slot, why);
    size_t dims[j.kernel->n_dims + 1u];
    uint64_t zeros = 0;

    if (!x->varies[node] || j.kernel->flags & DF_KERNEL_COPY) /* one that makes a copy reads no other value, and has its row */
        return x->varies[node] && j.kernel->n_in == 1;
    for (unsigned d = 0; d < j.kernel->n_dims; d++)
        dims[d] = x->g->dims[j.work->first_dim + d];
    if (bind_inputs(&j, dims) != DF_OK)
        return 0;
    for (uint32_t p = 0; p < j.kernel->n_ports; p++) {
        const struct df_kport *port = &x->g->kports[j.kernel->first_port + p];
        const uint32_t value = output_value(x->g, node, port);
        struct row row;
        if (port->out_slot < 0 || port->out_slot > 63 || port->own || x->row[value] == DF_NONE || write_row(&j, p, dims, &row) != DF_OK || row.bytes > 0)
            continue;
        if (memcmp(row_of(x, value, slot), &row, sizeof row) != 0) /* said again at the end of a job on a device, when somebody may read it */
            *row_of(x, value, slot) = row;
        zeros |= UINT64_C(1) << port->out_slot;
    }
    return zeros;
}

int dfr_extents_made(struct dfr_extents *x, uint32_t node, uint32_t slot, uint32_t passed, const size_t *dims,
                     uint64_t *empty, char why[DFR_EXTENTS_WHY])
{
    const struct job j = job_of(x, node, slot, why);
    *empty = 0;
    if (j.kernel->flags & DF_KERNEL_COPY) {
        dfr_extents_pass(x, node, slot, passed);
        return DF_OK;
    }
    for (uint32_t p = 0; p < j.kernel->n_ports; p++) {
        const struct df_kport *port = &x->g->kports[j.kernel->first_port + p];
        uint32_t value = output_value(x->g, node, port);
        if (port->out_slot < 0 || x->row[value] == DF_NONE)
            continue;
        if (write_row(&j, p, dims, row_of(x, value, slot)) != DF_OK)
            return DF_FAILED;
        if (row_of(x, value, slot)->bytes == 0 && port->out_slot < 64)
            *empty |= UINT64_C(1) << port->out_slot;
    }
    return DF_OK;
}
