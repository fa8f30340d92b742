/* nodes.c - the second part of the graph builder: adds nodes with their scalars and works, and the arcs between them. The compiler (elab/) calls it, and so may
 * any program that builds graphs with df.h. Equal scalars and equal works are stored once. Formats are compared in finish.c, when every end of an arc is
 * known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/builder_impl.h"
#include "runtime/base/error.h"
#include "runtime/graph/platform.h"

/* ---- scalars ---- */

static bool same_scalar(const void *context, uint32_t id, const void *key)
{
    const struct df_builder *b = context;
    const struct df_scalar_value *have = &dfr_b_scalars(b)[id], *want = key;
    if (have->n_code != want->n_code || have->type != want->type)
        return false;
    if (!have->n_code)
        return memcmp(have, want, sizeof *have) == 0;
    const uint64_t *code = dfr_b_code(b);
    return memcmp(code + have->first_code, code + want->first_code, have->n_code * sizeof *code) == 0;
}

/* Gives the id of an equal scalar, or adds this one. Its code, if any, is already at the end of the array. */
static int intern_scalar(struct df_builder *b, const struct df_scalar_value *scalar, uint32_t *id,
                         struct df_error *error)
{
    uint64_t hash = scalar->n_code ? dfr_hash(scalar->type, dfr_b_code(b) + scalar->first_code,
                                              scalar->n_code * sizeof(uint64_t))
                                   : dfr_hash(0, scalar, sizeof *scalar);
    if (dfr_table_find(&b->scalar_ids, dfr_hash_fold(hash), same_scalar, b, scalar, id)) {
        b->arrays[DFR_A_code].n -= scalar->n_code;
        return DF_OK;
    }
    uint32_t new_id = dfr_b_count(b, DFR_A_scalars);
    struct df_scalar_value *item =
        dfr_table_reserve(&b->scalar_ids) ? dfr_builder_add(b, DFR_A_scalars, 1) : NULL;
    if (!item)
        return dfr_error_memory(error);
    *item = *scalar;
    dfr_table_put(&b->scalar_ids, dfr_hash_fold(hash), new_id);
    *id = new_id;
    return DF_OK;
}

int df_builder_constant(struct df_builder *b, enum df_scalar_type type, union df_scalar value, uint32_t *id,
                        struct df_error *error)
{
    if ((unsigned)type > DF_S_STR)
        return dfr_error(error, DF_E_ARGUMENT, "a scalar has an unknown type");
    struct df_scalar_value scalar = { .type = type };
    if (type == DF_S_STR && (scalar.str = df_builder_string(b, value.str)) == DF_NONE)
        return dfr_error_memory(error);
    dfr_split_scalar(type, value, &scalar.i, &scalar.f);
    return intern_scalar(b, &scalar, id, error);
}

int df_builder_expression(struct df_builder *b, enum df_scalar_type type, const uint64_t *code, unsigned n_code,
                          uint32_t *id, struct df_error *error)
{
    if ((unsigned)type > DF_S_STR || !n_code)
        return dfr_error(error, DF_E_ARGUMENT, "an expression needs a type and code");
    struct df_scalar_value scalar = { .type = type, .n_code = n_code, .first_code = dfr_b_count(b, DFR_A_code) };
    uint64_t *copy = dfr_builder_add(b, DFR_A_code, n_code);
    if (!copy)
        return dfr_error_memory(error);
    memcpy(copy, code, n_code * sizeof *code);
    return intern_scalar(b, &scalar, id, error);
}

/* ---- works ---- */

/* Both works are records in the arrays: a candidate is added first, and taken back if there is an equal one. */
static bool same_work(const void *context, uint32_t id, const void *key)
{
    const struct df_builder *b = context;
    const struct df_work *have = &dfr_b_works(b)[id], *want = &dfr_b_works(b)[*(const uint32_t *)key];
    const struct dfr_work_cost *costs = b->work_costs.items, *cost = &costs[*(const uint32_t *)key];
    if (have->kernel != want->kernel || have->threads != want->threads || costs[id].n != cost->n)
        return false;
    const struct df_kernel *k = &dfr_b_kernels(b)[want->kernel];
    const double *cost_s = b->costs.items;
    return (!k->n_dims || !memcmp(dfr_b_dims(b) + have->first_dim, dfr_b_dims(b) + want->first_dim,
                                  k->n_dims * sizeof(uint64_t))) &&
           (!k->n_ports || !memcmp(dfr_b_port_dims(b) + (size_t)have->first_port * DF_MAX_RANK,
                                   dfr_b_port_dims(b) + (size_t)want->first_port * DF_MAX_RANK,
                                   k->n_ports * DF_MAX_RANK * sizeof(uint64_t))) &&
           (!k->n_scalars || !memcmp(dfr_b_node_scalars(b) + have->first_scalar,
                                     dfr_b_node_scalars(b) + want->first_scalar, k->n_scalars * sizeof(uint32_t))) &&
           (!cost->n || !memcmp(cost_s + costs[id].first, cost_s + cost->first, cost->n * sizeof(double)));
}

static uint32_t work_hash(const struct df_builder *b, uint32_t id)
{
    const struct df_work *work = &dfr_b_works(b)[id];
    const struct df_kernel *k = &dfr_b_kernels(b)[work->kernel];
    const struct dfr_work_cost *cost = (const struct dfr_work_cost *)b->work_costs.items + id;
    uint64_t hash = dfr_hash(work->kernel, &work->threads, sizeof work->threads);
    if (k->n_dims)
        hash = dfr_hash(hash, dfr_b_dims(b) + work->first_dim, k->n_dims * sizeof(uint64_t));
    if (k->n_ports)
        hash = dfr_hash(hash, dfr_b_port_dims(b) + (size_t)work->first_port * DF_MAX_RANK,
                        k->n_ports * DF_MAX_RANK * sizeof(uint64_t));
    if (k->n_scalars)
        hash = dfr_hash(hash, dfr_b_node_scalars(b) + work->first_scalar, k->n_scalars * sizeof(uint32_t));
    if (cost->n)
        hash = dfr_hash(hash, (const double *)b->costs.items + cost->first, cost->n * sizeof(double));
    return dfr_hash_fold(hash);
}

/* The ends of the arrays of works, for taking a candidate back. */
struct mark {
    uint32_t works, dims, ports, scalars, costs;
};

static struct mark mark_works(const struct df_builder *b)
{
    return (struct mark){ dfr_b_count(b, DFR_A_works), dfr_b_count(b, DFR_A_dims), dfr_b_count(b, DFR_A_port_bytes),
                          dfr_b_count(b, DFR_A_node_scalars), b->costs.n };
}

static void take_back(struct df_builder *b, const struct mark *mark)
{
    b->arrays[DFR_A_works].n = b->work_costs.n = mark->works;
    b->arrays[DFR_A_dims].n = mark->dims;
    b->arrays[DFR_A_port_bytes].n = mark->ports;
    b->arrays[DFR_A_port_dims].n = mark->ports * DF_MAX_RANK;
    b->arrays[DFR_A_node_scalars].n = mark->scalars;
    b->costs.n = mark->costs;
}

/* Sizes of a work's ports, and their sums. false: a size is more than 2^63; *port is the port. */
static bool measure_work(const struct df_builder *b, struct df_work *work, unsigned *port)
{
    const struct df_kernel *k = &dfr_b_kernels(b)[work->kernel];
    uint64_t tmp[2] = { 0 }, job = 0;
    for (unsigned p = 0; p < k->n_ports; p++) {
        const struct df_kport *kport = &dfr_b_kports(b)[k->first_port + p];
        const uint64_t *dims = dfr_b_port_dims(b) + ((size_t)work->first_port + p) * DF_MAX_RANK;
        uint64_t bytes = df_elem_bytes(kport->elem);
        *port = p;
        bool empty = false, overflow = false;
        for (unsigned i = 0; i < kport->rank; i++)
            empty |= dims[i] == 0;
        for (unsigned i = 0; i < kport->rank && !empty; i++)
            overflow |= __builtin_mul_overflow(bytes, dims[i], &bytes) || bytes > INT64_MAX;
        if (empty)
            bytes = 0;
        const uint64_t room = kport->mode == DF_TMP ? df_tmp_room(bytes) : bytes;
        for (int side = 0; side < 2 && kport->mode == DF_TMP; side++)
            overflow |= df_port_is_on(kport, side) && (__builtin_add_overflow(tmp[side], room, &tmp[side]) || tmp[side] > INT64_MAX);
        overflow |= df_port_is_on(kport, DF_ON_HOST) && (__builtin_add_overflow(job, room, &job) || job > INT64_MAX);
        if (overflow)
            return false;
        dfr_b_port_bytes(b)[work->first_port + p] = bytes;
    }
    memcpy(work->tmp_bytes, tmp, sizeof tmp);
    work->job_bytes = job;
    return true;
}

/* Appends the work that `desc` describes. The caller has checked it, and takes it back on failure. */
static bool append_work(struct df_builder *b, const struct df_node_desc *desc)
{
    const struct df_kernel k = dfr_b_kernels(b)[desc->kernel];
    struct df_work work = { .kernel = desc->kernel, .first_dim = dfr_b_count(b, DFR_A_dims),
                            .first_port = dfr_b_count(b, DFR_A_port_bytes),
                            .first_scalar = dfr_b_count(b, DFR_A_node_scalars),
                            .threads = desc->threads ? desc->threads : 1 };
    struct dfr_work_cost cost = { .first = b->costs.n, .n = desc->cost_s ? desc->n_cost : 0 };
    while (cost.n && isnan(desc->cost_s[cost.n - 1]))
        cost.n--;
    uint64_t *dims = dfr_builder_add(b, DFR_A_dims, k.n_dims);
    uint64_t *port_bytes = dfr_builder_add(b, DFR_A_port_bytes, k.n_ports);
    uint64_t *port_dims = dfr_builder_add(b, DFR_A_port_dims, (size_t)k.n_ports * DF_MAX_RANK);
    uint32_t *scalars = dfr_builder_add(b, DFR_A_node_scalars, k.n_scalars);
    double *costs = dfr_array_add(&b->costs, sizeof *costs, cost.n);
    struct dfr_work_cost *work_cost = dfr_array_add(&b->work_costs, sizeof *work_cost, 1);
    struct df_work *item = dfr_builder_add(b, DFR_A_works, 1);
    if (!dims || !port_bytes || !port_dims || !scalars || !costs || !work_cost || !item)
        return false;
    for (unsigned i = 0; i < k.n_dims; i++)
        dims[i] = desc->dims[i];
    for (unsigned p = 0; p < k.n_ports; p++)
        for (unsigned i = 0; i < DF_MAX_RANK; i++)
            port_dims[p * DF_MAX_RANK + i] =
                i < dfr_b_kports(b)[k.first_port + p].rank ? desc->port_dims[p][i] : 1;
    for (unsigned i = 0; i < k.n_scalars; i++)
        scalars[i] = desc->scalars[i];
    for (unsigned c = 0; c < cost.n; c++)
        costs[c] = isnan(desc->cost_s[c]) ? (double)NAN : desc->cost_s[c] + 0.0; /* one form of NaN and of zero, so that
                                                                                  * equal costs are equal bytes */
    *work_cost = cost;
    *item = work;
    return true;
}

static int intern_work(struct df_builder *b, const struct df_node_desc *desc, uint32_t *work, struct df_error *error)
{
    struct mark mark = mark_works(b);
    uint32_t id = mark.works;
    if (!dfr_table_reserve(&b->work_ids) || !append_work(b, desc)) {
        take_back(b, &mark);
        return dfr_error_memory(error);
    }
    uint32_t hash = work_hash(b, id);
    if (dfr_table_find(&b->work_ids, hash, same_work, b, &id, work)) {
        take_back(b, &mark);
        return DF_OK;
    }
    unsigned port;
    if (!measure_work(b, &dfr_b_works(b)[id], &port)) {
        const struct df_kernel *k = &dfr_b_kernels(b)[desc->kernel];
        take_back(b, &mark);
        return dfr_error(error, DF_E_ARGUMENT, "node of '%s': the size of '%s' does not fit in 63 bits",
                         dfr_b_strings(b) + k->name,
                         dfr_b_strings(b) + dfr_b_kports(b)[k->first_port + port].name);
    }
    dfr_table_put(&b->work_ids, hash, id);
    for (unsigned c = 0; desc->cost_s && c < desc->n_cost; c++)
        if (!isnan(desc->cost_s[c]))
            dfr_b_kernels(b)[desc->kernel].cost_classes |= (uint16_t)(1u << c);
    *work = id;
    return DF_OK;
}

static int add_copy_kernel(struct df_builder *b, const char *name, const struct df_port_desc *ports, unsigned n_ports,
                           uint32_t *kernel, struct df_error *error)
{
    static const char *const dims[] = { "n" };
    const struct df_kernel_desc desc = { .name = name, .n_dims = 1, .dims = dims, .n_ports = n_ports, .ports = ports };
    int rc = df_builder_kernel(b, &desc, kernel, error);
    if (rc == DF_OK)
        dfr_b_kernels(b)[*kernel].flags = DF_KERNEL_COPY;
    return rc;
}

/* Every class can copy, those that were named since included. */
static void can_copy(struct df_builder *b, uint32_t kernel)
{
    dfr_b_kernels(b)[kernel].code_classes = (uint16_t)((1u << dfr_b_count(b, DFR_A_class_names)) - 1);
}

static bool is_select(const struct df_builder *b, uint32_t kernel)
{
    return dfr_b_kernels(b)[kernel].flags & DF_KERNEL_COPY && dfr_b_kernels(b)[kernel].n_in > 1;
}

int df_builder_select(struct df_builder *b, enum df_elem elem, unsigned rank, unsigned n_in, uint32_t *kernel,
                      struct df_error *error)
{
    struct df_port_desc *ports;
    char (*names)[16];
    int rc = DF_E_MEMORY;

    if (n_in < 2 || n_in >= DFR_MAX_PORTS)
        return dfr_error(error, DF_E_ARGUMENT, "a select has from 2 to %d inputs, but this one has %u",
                         DFR_MAX_PORTS - 1, n_in);
    for (uint32_t k = 0; k < dfr_b_count(b, DFR_A_kernels); k++) {
        const struct df_kport *port = &dfr_b_kports(b)[dfr_b_kernels(b)[k].first_port];
        if (is_select(b, k) && dfr_b_kernels(b)[k].n_in == n_in && port->elem == elem && port->rank == rank) {
            *kernel = k;
            return DF_OK;
        }
    }
    ports = calloc(n_in + 1, sizeof *ports);
    names = calloc(n_in + 1, sizeof *names);
    if (ports && names) {
        for (unsigned p = 0; p <= n_in; p++) {
            snprintf(names[p], sizeof *names, p == 1 ? "result" : "input%u", p == 0 ? 1 : p);
            ports[p] = (struct df_port_desc){ names[p], p == 1 ? DF_OUT : DF_IN, elem, rank };
        }
        rc = add_copy_kernel(b, "select", ports, n_in + 1, kernel, error);
    } else {
        dfr_error_memory(error);
    }
    free(ports);
    free(names);
    return rc;
}

void dfr_builder_selects(struct df_builder *b)
{
    for (uint32_t k = 0; k < dfr_b_count(b, DFR_A_kernels); k++)
        if (is_select(b, k))
            can_copy(b, k);
}

int dfr_builder_copy_work(struct df_builder *b, uint64_t bytes, uint32_t *work, struct df_error *error)
{
    static const struct df_port_desc ports[] = { { "from", DF_IN, DF_U8, 1 }, { "to", DF_OUT, DF_U8, 1 } };
    int rc = b->copy_kernel != DF_NONE ? DF_OK : add_copy_kernel(b, "copy", ports, 2, &b->copy_kernel, error);
    if (rc != DF_OK)
        return rc;
    can_copy(b, b->copy_kernel);
    const uint64_t port_dims[2][DF_MAX_RANK] = { { bytes }, { bytes } };
    const struct df_node_desc desc = { .kernel = b->copy_kernel, .dims = &bytes, .port_dims = port_dims };
    return intern_work(b, &desc, work, error);
}

/* ---- nodes ---- */

static bool is_live(const struct df_node_desc *desc)
{
    return desc->live.newest > 0 || desc->live.every_s > 0;
}

static int check_node(const struct df_builder *b, const struct df_node_desc *desc, struct df_error *error)
{
    if (desc->kernel >= dfr_b_count(b, DFR_A_kernels))
        return dfr_error(error, DF_E_ARGUMENT, "a node of kernel %u: there are only %u kernels", (unsigned)desc->kernel,
                         (unsigned)dfr_b_count(b, DFR_A_kernels));
    const struct df_kernel *k = &dfr_b_kernels(b)[desc->kernel];
    const char *name = dfr_b_strings(b) + k->name;
    uint32_t n_classes = dfr_b_count(b, DFR_A_class_names);
    if ((k->n_dims && !desc->dims) || (k->n_ports && !desc->port_dims) || (k->n_scalars && !desc->scalars) ||
        (desc->n_indices && !desc->indices))
        return dfr_error(error, DF_E_ARGUMENT, "node of '%s': dimensions, formats, scalars or indices are missing",
                         name);
    if (desc->scope >= dfr_b_count(b, DFR_A_scopes))
        return dfr_error(error, DF_E_ARGUMENT, "node of '%s': there is no scope %u", name, (unsigned)desc->scope);
    if (desc->n_indices > UINT16_MAX)
        return dfr_error(error, DF_E_ARGUMENT, "node of '%s' has %u indices; at most %u are possible", name,
                         desc->n_indices, (unsigned)UINT16_MAX);
    if (desc->hint_class < -1 || desc->hint_class >= (int)n_classes)
        return dfr_error(error, DF_E_ARGUMENT, "node of '%s': its hint names class %d, which does not exist", name,
                         desc->hint_class);
    if (is_live(desc) && (desc->hint_class != DF_CLASS_CPU || !(k->traits & DF_STREAM) || desc->live.newest > DF_MAX_NEWEST || !(desc->live.every_s >= 0 && desc->live.every_s < DF_LIMIT_JOB_S)))
        return dfr_error(error, DF_E_ARGUMENT, "node of '%s': a live source is a stream on the CPU, of which at most %u frames wait", name, DF_MAX_NEWEST);
    if (is_live(desc) && dfr_b_count(b, DFR_A_live) == DF_MAX_LIVE)
        return dfr_error(error, DF_E_ARGUMENT, "node of '%s': a graph has at most %u sources with @newest or @every", name, DF_MAX_LIVE);
    if (!(desc->rate >= 0) || isinf((float)desc->rate) || (desc->rate > 0 && (float)desc->rate <= 0)) /* a float is kept */
        return dfr_error(error, DF_E_ARGUMENT, "node of '%s': its rate of %g is not possible", name, desc->rate);
    for (unsigned i = 0; i < k->n_scalars; i++) {
        const struct df_kscalar *want = &dfr_b_kscalars(b)[k->first_scalar + i];
        if (desc->scalars[i] >= dfr_b_count(b, DFR_A_scalars) || dfr_b_scalars(b)[desc->scalars[i]].type != want->type)
            return dfr_error(error, DF_E_ARGUMENT, "node of '%s': scalar '%s' has another type", name,
                             dfr_b_strings(b) + want->name);
    }
    for (unsigned c = 0; desc->cost_s && c < desc->n_cost; c++)
        if (!isnan(desc->cost_s[c]) && (c >= n_classes || desc->cost_s[c] < 0 || isinf(desc->cost_s[c])))
            return dfr_error(error, DF_E_ARGUMENT, "node of '%s': its cost of %g s on class %u is not possible", name,
                             desc->cost_s[c], c);
    return DF_OK;
}

/* Is there a cost for at least one class, and is every cost 0? A live source takes a worker nevertheless, which waits for its frames. */
static bool is_zero_cost(const struct df_node_desc *desc)
{
    unsigned n = 0;
    if (is_live(desc))
        return false;
    for (unsigned c = 0; desc->cost_s && c < desc->n_cost; c++) {
        if (desc->cost_s[c] > 0)
            return false;
        n += !isnan(desc->cost_s[c]);
    }
    return n > 0;
}

static int add_part(struct df_builder *b, const struct df_node_desc *desc, uint32_t *part, struct df_error *error)
{
    const unsigned n_ports = dfr_b_kernels(b)[desc->kernel].n_ports;
    const uint32_t id = dfr_b_count(b, DFR_A_parts), first_port = dfr_b_count(b, DFR_A_port_rows);
    *part = DF_NONE;
    if (!desc->part)
        return DF_OK;
    struct df_part_rows *item = dfr_builder_add(b, DFR_A_parts, 1);
    uint64_t *rows = item ? dfr_builder_add(b, DFR_A_port_rows, n_ports) : NULL;
    if (!rows)
        return dfr_error_memory(error);
    *item = *desc->part;
    item->first_port = first_port;
    memcpy(rows, desc->port_rows, n_ports * sizeof *rows);
    *part = id;
    return DF_OK;
}

/* Gives the one dimension of a select, the bytes of a token; 0 if they do not fit, which is told elsewhere. */
static int select_bytes(const struct df_builder *b, const struct df_node_desc *desc, uint64_t *bytes,
                        struct df_error *error)
{
    const struct df_kernel *k = &dfr_b_kernels(b)[desc->kernel];
    const struct df_kport *port = &dfr_b_kports(b)[k->first_port];

    *bytes = df_elem_bytes((enum df_elem)port->elem);
    for (unsigned i = 0; i < port->rank; i++) {
        for (unsigned p = 1; p < k->n_ports; p++)
            if (desc->port_dims[p][i] != desc->port_dims[0][i])
                return dfr_error(error, DF_E_FORMAT, "node of 'select': its ports do not have the same extents");
        if (__builtin_mul_overflow(*bytes, desc->port_dims[0][i], bytes))
            *bytes = 0;
    }
    return DF_OK;
}

int df_builder_node_desc(struct df_builder *b, const struct df_node_desc *given, uint32_t *node, struct df_error *error)
{
    struct df_node_desc with_bytes;
    const struct df_node_desc *desc = given;
    uint64_t bytes;
    int rc = DF_OK;
    if (given->kernel < dfr_b_count(b, DFR_A_kernels) && is_select(b, given->kernel) && given->port_dims) {
        rc = select_bytes(b, given, &bytes, error);
        with_bytes = *given;
        with_bytes.dims = &bytes;
        desc = &with_bytes;
    }
    if (rc != DF_OK || (rc = check_node(b, desc, error)) != DF_OK)
        return rc;
    const struct df_kernel *k = &dfr_b_kernels(b)[desc->kernel];
    const unsigned n_in = k->n_in, n_out = k->n_out;
    uint32_t work, first_index, part, file = df_builder_string(b, desc->file);
    if (file == DF_NONE)
        return dfr_error_memory(error);
    if ((rc = add_part(b, desc, &part, error)) != DF_OK)
        return rc;
    if ((rc = intern_work(b, desc, &work, error)) != DF_OK)
        return rc;
    if ((rc = dfr_builder_add_indices(b, desc->indices, desc->n_indices, &first_index, error)) != DF_OK)
        return rc;
    uint32_t id = dfr_b_count(b, DFR_A_nodes), first_in = b->inputs.n, first_out = b->sources.n;
    uint32_t *inputs = dfr_array_add(&b->inputs, sizeof *inputs, n_in);
    struct dfr_source *sources = dfr_array_add(&b->sources, sizeof *sources, n_out);
    bool memory = inputs && sources;
    for (unsigned i = 0; memory && i < n_out; i++) {
        sources[i] = (struct dfr_source){ .node = id, .whole = DF_NONE, .exact = desc->exact ? desc->exact[i] : 0 };
        sources[i].name = desc->value_names ? df_builder_string(b, desc->value_names[i]) : 0;
        memory = sources[i].name != DF_NONE;
    }
    struct df_node *item = memory ? dfr_builder_add(b, DFR_A_nodes, 1) : NULL;
    struct df_live *live = item && is_live(desc) ? dfr_builder_add(b, DFR_A_live, 1) : NULL;
    if (!item || (is_live(desc) && !live)) {
        b->inputs.n = first_in;
        b->sources.n = first_out;
        return dfr_error_memory(error);
    }
    for (unsigned i = 0; i < n_in; i++)
        inputs[i] = DF_NONE;
    *item = (struct df_node){
        .kernel = desc->kernel, .work = work, .first_in = first_in, .first_out = first_out, .scope = desc->scope,
        .ordinal = desc->ordinal, .first_index = first_index, .n_indices = (uint16_t)desc->n_indices,
        .hint_class = (int8_t)desc->hint_class, .flags = (uint8_t)((is_zero_cost(desc) ? DF_NODE_ZERO_COST : 0) | (desc->rate > 0 ? DF_NODE_RATED : 0) |
                           (desc->worker ? DF_NODE_WORKER : 0)),
        .depth = desc->depth, .rate = (float)desc->rate, .file = file, .line = desc->line,
        .col = desc->col, .part = part, .stage = desc->stage, .live = live ? dfr_b_count(b, DFR_A_live) : 0,
    };
    if (live)
        *live = desc->live;
    *node = id;
    return DF_OK;
}

size_t df_builder_desc_name(const struct df_builder *b, const struct df_node_desc *desc, char *buffer, size_t size)
{
    const struct df_graph view = dfr_builder_view(b);
    const struct df_node node = { .kernel = desc->kernel, .scope = desc->scope, .ordinal = desc->ordinal,
                                  .n_indices = (uint16_t)desc->n_indices, .part = DF_NONE };
    return dfr_call_name(&view, &node, desc->indices, buffer, size);
}

/* Several nodes of one kernel get numbers that tell them apart, as the compiler numbers calls of one name. */
static int count_call(struct df_builder *b, uint32_t kernel, struct dfr_calls **calls, struct df_error *error)
{
    if (b->calls.n <= kernel && !dfr_array_add(&b->calls, sizeof **calls, kernel + 1 - b->calls.n))
        return dfr_error_memory(error);
    *calls = (struct dfr_calls *)b->calls.items + kernel;
    return DF_OK;
}

static void number_call(struct df_builder *b, struct dfr_calls *calls, uint32_t node)
{
    if (calls->n++ == 0) {
        calls->first = node;
        return;
    }
    dfr_b_nodes(b)[calls->first].ordinal = 1;
    dfr_b_nodes(b)[node].ordinal = calls->n;
}

int df_builder_cost(struct df_builder *b, unsigned device_class, double seconds, struct df_error *error)
{
    if (device_class > DF_CLASS_GPU)
        return dfr_error(error, DF_E_ARGUMENT, "a cost on class %u: the classes are cpu (0) and gpu (1)", device_class);
    if (seconds < 0 || seconds >= DF_LIMIT_JOB_S)
        return dfr_error(error, DF_E_ARGUMENT, "a cost of %g s on class %u: it must be 0 or more and less than %g s",
                         seconds, device_class, DF_LIMIT_JOB_S);
    b->cost_s[device_class] = seconds;
    return DF_OK;
}

int df_builder_node(struct df_builder *b, uint32_t kernel, const uint64_t *dims,
                    const uint64_t (*port_dims)[DF_MAX_RANK], const union df_scalar *scalars, uint32_t *node,
                    struct df_error *error)
{
    uint32_t ids[DFR_MAX_PORTS];
    struct df_node_desc desc = { .kernel = kernel, .dims = dims, .port_dims = port_dims, .hint_class = -1,
                                 .cost_s = b->cost_s, .n_cost = 2 };
    if (kernel < dfr_b_count(b, DFR_A_kernels) && scalars) {
        const struct df_kernel *k = &dfr_b_kernels(b)[kernel];
        for (unsigned i = 0; i < k->n_scalars; i++) {
            enum df_scalar_type type = dfr_b_kscalars(b)[k->first_scalar + i].type;
            int rc = df_builder_constant(b, type, scalars[i], &ids[i], error);
            if (rc != DF_OK)
                return rc;
        }
        desc.scalars = ids;
    }
    struct dfr_calls *calls = NULL;
    int rc = kernel < dfr_b_count(b, DFR_A_kernels) ? count_call(b, kernel, &calls, error) : DF_OK;
    if (rc == DF_OK)
        rc = df_builder_node_desc(b, &desc, node, error);
    if (rc == DF_OK)
        number_call(b, calls, *node);
    return rc;
}

/* ---- arcs ---- */

int df_builder_connect(struct df_builder *b, uint32_t from, unsigned from_slot, uint32_t to, unsigned to_slot,
                       struct df_error *error)
{
    uint32_t n = dfr_b_count(b, DFR_A_nodes);
    if (from >= n || to >= n)
        return dfr_error(error, DF_E_ARGUMENT, "an arc from node %u to node %u: there are only %u nodes",
                         (unsigned)from, (unsigned)to, (unsigned)n);
    const struct df_node *source = &dfr_b_nodes(b)[from], *target = &dfr_b_nodes(b)[to];
    const struct df_kernel *source_kernel = &dfr_b_kernels(b)[source->kernel];
    const struct df_kernel *target_kernel = &dfr_b_kernels(b)[target->kernel];
    if (from_slot >= source_kernel->n_out)
        return dfr_error(error, DF_E_ARGUMENT, "'%s' has %u outputs; there is no slot %u",
                         dfr_b_strings(b) + source_kernel->name, (unsigned)source_kernel->n_out, from_slot);
    if (to_slot >= target_kernel->n_in)
        return dfr_error(error, DF_E_ARGUMENT, "'%s' has %u inputs; there is no slot %u",
                         dfr_b_strings(b) + target_kernel->name, (unsigned)target_kernel->n_in, to_slot);
    uint32_t *input = (uint32_t *)b->inputs.items + target->first_in + to_slot;
    if (*input != DF_NONE)
        return dfr_error(error, DF_E_ARGUMENT, "input %u of a node of '%s' is connected twice", to_slot,
                         dfr_b_strings(b) + target_kernel->name);
    *input = source->first_out + from_slot;
    return DF_OK;
}

/* ---- what is read from outside ---- */

int df_builder_keep(struct df_builder *b, uint32_t node, unsigned out_slot, struct df_error *error)
{
    if (node >= dfr_b_count(b, DFR_A_nodes) ||
        out_slot >= dfr_b_kernels(b)[dfr_b_nodes(b)[node].kernel].n_out)
        return dfr_error(error, DF_E_ARGUMENT, "node %u has no output %u to keep", (unsigned)node, out_slot);
    ((struct dfr_source *)b->sources.items)[dfr_b_nodes(b)[node].first_out + out_slot].kept = 1;
    return DF_OK;
}
