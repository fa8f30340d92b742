/* divided.c - builds divided nodes for to_builder.c: chooses the number of parts, the rows that each part produces and
 * reads, and inserts the views and joins around them. root.c, too, locates values in the builder with it.
 *
 * A part works on ranges of rows of the divided ports. Its input is a range of a value (a view), or directly the output
 * of a part of another node if both have the same rows. A value that exists only in parts is joined when some node
 * reads it as a whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/elab/elab.h"
#include "runtime/graph/builder.h"

/* A value of which the builder has parts. */
struct divided {
    const struct dfc_parts *parts;
    const uint32_t *nodes;              /* by part */
    const char *name;                   /* of the kernel that joins */
    const struct df_node_desc *of;
    const char *value_name;
    struct dfc_format format;
    unsigned slot;
    uint32_t join;                      /* DF_NONE: there is none yet */
};

struct viewed {                         /* ranges that there are of a value */
    uint32_t value, n, node;
    const uint64_t *first, *rows;
};

static bool builder_failed(struct dfc_unit *u, struct dfl_loc loc, int rc, const struct df_error *error)
{
    if (rc == DF_E_MEMORY)
        return dfc_no_memory(u);
    dfl_error(u->sink, loc, "%s", error->text);
    return false;
}

/* ---- how many ---- */

static const struct dfc_division *chosen(const struct dfc_fill *fill, const struct df_node_desc *desc)
{
    const struct dfc_front_options *options = fill->e->u->options;
    char name[512];
    if (!options->n_divisions)
        return NULL;
    df_builder_desc_name(fill->e->u->builder, desc, name, sizeof name);
    for (size_t i = options->n_divisions; i-- > 0;)     /* a later one takes the place of an earlier one */
        if (strcmp(options->divisions[i].node, name) == 0)
            return &options->divisions[i];
    return NULL;
}

/* Cuts the rows by weights; each part has a row at least. */
static void cut(struct dfc_parts *parts, const double *weights)
{
    double total = 0, sum = 0;
    for (unsigned k = 0; k < parts->n; k++)
        total += weights ? weights[k] : 1;
    for (unsigned k = 0; k < parts->n; k++) {
        parts->first[k] = weights ? (uint64_t)((double)parts->whole * (sum / total) + 0.5)
                                  : (uint64_t)((unsigned __int128)parts->whole * k / parts->n);
        if (k && parts->first[k] <= parts->first[k - 1])
            parts->first[k] = parts->first[k - 1] + 1;
        if (parts->first[k] > parts->whole - (parts->n - k))
            parts->first[k] = parts->whole - (parts->n - k);
        sum += weights ? weights[k] : 1;
    }
    parts->first[parts->n] = parts->whole;
    for (unsigned k = 0; k < parts->n; k++)
        parts->rows[k] = parts->first[k + 1] - parts->first[k];
}

/* The waves of the whole graph go by so often, so all nodes that say it say the same. */
static bool check_passes(struct dfc_fill *fill, const struct dfc_hints *hints, uint64_t n)
{
    struct dfl_sink *sink = fill->e->u->sink;
    if (hints->passes && fill->passes && hints->passes != fill->passes) {
        dfl_error(sink, hints->passes_loc, "'@passes(%u)', and another node has '@passes(%u)'", (unsigned)hints->passes, (unsigned)fill->passes);
        dfl_note(sink, fill->passes_loc, "that one is here");
        dfl_hint(sink, "the waves of the whole graph go by so often");
        return false;
    }
    if (hints->passes && !fill->passes) {
        fill->passes = hints->passes;
        fill->passes_loc = hints->passes_loc;
    }
    if (hints->passes > n) {
        dfl_warning(sink, hints->passes_loc, "'@passes(%u)', and the node has %llu part%s", (unsigned)hints->passes, (unsigned long long)n,
                    n == 1 ? "" : "s");
        dfl_hint(sink, "each pass changes one part at least, so there are no more passes than parts");
    }
    return true;
}

void dfc_report_undivided(struct dfc_unit *u, struct dfl_loc loc, const char *why)
{
    dfl_error(u->sink, loc, "this node cannot be divided: %s", why);
}

bool dfc_parts_choose(struct dfc_fill *fill, const struct dfc_rows *rows, const struct df_node_desc *desc,
                      const struct dfc_hints *hints, struct dfl_loc loc, struct dfc_parts **result)
{
    struct dfc_unit *u = fill->e->u;
    const struct dfc_division *division = rows->why ? NULL : chosen(fill, desc);
    const uint32_t parts_or_passes = u->options->parts ? u->options->parts : hints->passes;
    const uint64_t n_wanted = hints->parts ? hints->parts : division ? division->n : parts_or_passes;
    const uint64_t n = n_wanted > 1 && !rows->why ? (n_wanted < rows->whole ? n_wanted : rows->whole) : 1;
    *result = NULL;
    if (rows->why && (hints->parts > 1 || hints->passes > 1)) {
        dfc_report_undivided(u, loc, rows->why);
        return false;
    }
    if (!check_passes(fill, hints, n))
        return false;
    if (rows->whole == 0 || (rows->wiring && n == 1))
        return true;                    /* else code may ask for its rows, also undivided */
    struct dfc_parts *parts = dfc_alloc(u, sizeof *parts);
    if (!parts || !(parts->first = dfc_alloc(u, (n + 1) * sizeof *parts->first)) ||
        !(parts->rows = dfc_alloc(u, (n + 1) * sizeof *parts->rows)))
        return false;
    parts->n = (unsigned)n;
    parts->passes = (uint32_t)(hints->passes < n ? hints->passes : n);
    parts->whole = rows->whole;
    cut(parts, division && n == division->n && !hints->parts ? division->weights : NULL);
    *result = parts;
    return true;
}

/* ---- which rows ---- */

void dfc_parts_port(const struct dfc_rows *r, const struct dfc_callee *callee, unsigned port, uint64_t from, uint64_t to,
                    uint64_t *first, uint64_t *end)
{
    const struct dfc_port *p = &callee->sig.ports[port];
    *first = from;
    *end = to;
    if (p->out_slot >= 0 && p->in_slot < 0)
        return;
    if (!r->wiring) {
        *first = from > p->halo ? from - p->halo : 0;
        *end = r->whole - to > p->halo ? to + p->halo : r->whole;
        return;
    }
    struct df_rows need[DFU_MOST_OUTSIDE];
    dfu_part_rows(r->wiring, r->in_rows, (struct df_rows){ (int64_t)from, (int64_t)to }, need);
    const uint32_t number = r->outside ? r->outside[port] : (uint32_t)p->in_slot;
    *first = (uint64_t)need[number].from;
    *end = (uint64_t)need[number].to;
}

bool dfc_parts_divides(const struct dfc_rows *r, const struct dfc_callee *callee, unsigned port)
{
    const struct dfc_port *p = &callee->sig.ports[port];
    if (!r->wiring)
        return p->split && p->ast->mode != DFL_TMP;
    return p->rank > 0 && p->ast->mode != DFL_TMP && (p->in_slot < 0 || r->divides[port]);
}

/* ---- views and joins ---- */

static const struct divided *divided_of(const struct dfc_fill *fill, uint32_t value)
{
    return fill->divided && fill->divided[value] ? (const struct divided *)fill->divided[value] : NULL;
}

static uint32_t slot_of(const struct dfc_fill *fill, uint32_t value)
{
    const uint32_t from = dfc_outputs(fill->e)[value].item;
    return fill->moved && fill->moved[value] != DF_NONE ? fill->moved[value]
                                                        : value - dfc_items(fill->e)[from].first_out;
}

static struct df_ranges ranges_of(const char *name, const struct dfc_format *format, const struct dfc_parts *parts,
                                  const struct df_node_desc *of)
{
    return (struct df_ranges){ .name = name, .elem = (enum df_elem)format->elem, .rank = format->rank, .n = parts->n,
                               .dims = format->dims, .first = parts->first, .rows = parts->rows, .of = of };
}

bool dfc_fill_from(struct dfc_fill *fill, uint32_t value, uint32_t *node, uint32_t *slot)
{
    struct dfc_unit *u = fill->e->u;
    struct divided *d = (struct divided *)divided_of(fill, value);
    struct df_error error;
    if (!d) {
        *node = fill->node[dfc_outputs(fill->e)[value].item];
        *slot = slot_of(fill, value);
        return true;
    }
    if (d->join == DF_NONE) {
        const struct df_ranges ranges = ranges_of(d->name, &d->format, d->parts, d->of);
        int rc = df_builder_join(u->builder, &ranges, d->nodes, d->slot, d->value_name, &d->join, &error);
        if (rc != DF_OK)
            return builder_failed(u, u->at, rc, &error);
        fill->n_nodes++;
    }
    *node = d->join;
    *slot = 0;
    return true;
}

/* Its name as a kernel: "blur.g.view". */
static const char *ranges_name(struct dfc_unit *u, const struct dfc_callee *callee, unsigned port, const char *what)
{
    return dfc_printf(u, "%s.%s.%s", callee->name, callee->sig.ports[port].ast->name.text, what);
}

/* The builder's copy of what a join needs to know of the node, which is made when somebody reads the whole. */
static const struct df_node_desc *keep_desc(struct dfc_unit *u, const struct df_node_desc *desc)
{
    struct df_node_desc *kept = dfc_alloc(u, sizeof *kept);
    int32_t *indices = dfc_alloc(u, (desc->n_indices + 1) * sizeof *indices);
    if (!kept || !indices)
        return NULL;
    if (desc->n_indices)
        memcpy(indices, desc->indices, desc->n_indices * sizeof *indices);
    *kept = *desc;
    kept->indices = indices;
    kept->port_dims = NULL;
    return kept;
}

bool dfc_parts_made(struct dfc_fill *fill, const struct dfc_divide *d, unsigned port, uint32_t value,
                    const char *value_name, const uint64_t *dims)
{
    struct dfc_unit *u = fill->e->u;
    const struct dfc_port *p = &d->callee->sig.ports[port];
    struct divided *made = dfc_alloc(u, sizeof *made);
    if (!fill->divided && !(fill->divided = calloc((size_t)fill->e->values.n + 1, sizeof *fill->divided)))
        return dfc_no_memory(u);
    if (!made)
        return false;
    *made = (struct divided){ .parts = d->parts, .nodes = d->nodes, .slot = (unsigned)p->out_slot, .join = DF_NONE,
                              .name = ranges_name(u, d->callee, port, "join"), .of = keep_desc(u, d->desc),
                              .value_name = value_name ? dfc_printf(u, "%s", value_name) : NULL,
                              .format = { .elem = (uint8_t)p->elem, .rank = (uint8_t)p->rank } };
    memcpy(made->format.dims, dims, p->rank * sizeof *dims);
    fill->divided[value] = made;
    return made->name && made->of;
}

/* Parts of the value that are just these ranges. NULL: there are none. */
static const struct divided *same_parts(const struct dfc_fill *fill, uint32_t value, const struct dfc_parts *ranges)
{
    const struct divided *d = divided_of(fill, value);
    bool same = d && d->parts->n == ranges->n &&
                memcmp(d->parts->first, ranges->first, ranges->n * sizeof *ranges->first) == 0 &&
                memcmp(d->parts->rows, ranges->rows, ranges->n * sizeof *ranges->rows) == 0;
    return same ? d : NULL;
}

static bool get_view(struct dfc_fill *fill, const struct dfc_divide *d, unsigned port, uint32_t value,
                     const struct dfc_parts *ranges, const uint64_t *dims, uint32_t *view)
{
    struct dfc_unit *u = fill->e->u;
    const struct dfc_port *p = &d->callee->sig.ports[port];
    struct dfc_format format = { .elem = (uint8_t)p->elem, .rank = (uint8_t)p->rank };
    const struct viewed *have = fill->views.items;
    struct df_error error;
    uint32_t node, slot;
    for (uint32_t i = fill->views.n; i-- > 0;)
        if (have[i].value == value && have[i].n == ranges->n &&
            memcmp(have[i].first, ranges->first, ranges->n * sizeof *ranges->first) == 0 &&
            memcmp(have[i].rows, ranges->rows, ranges->n * sizeof *ranges->rows) == 0) {
            *view = have[i].node;
            return true;
        }
    memcpy(format.dims, dims, p->rank * sizeof *dims);
    const char *name = ranges_name(u, d->callee, port, "view");
    struct viewed *item = name ? dfr_array_add(&fill->views, sizeof *item, 1) : NULL;
    if (!item)
        return dfc_no_memory(u);
    if (!dfc_fill_from(fill, value, &node, &slot))
        return false;
    const struct df_ranges desc = ranges_of(name, &format, ranges, d->desc);
    int rc = df_builder_view(u->builder, &desc, node, slot, view, &error);
    if (rc != DF_OK)
        return builder_failed(u, u->at, rc, &error);
    fill->n_nodes++;
    *item = (struct viewed){ value, ranges->n, *view, ranges->first, ranges->rows };
    return true;
}

/* The ranges of the port that the parts read. NULL: no memory. */
static const struct dfc_parts *read_ranges(struct dfc_unit *u, const struct dfc_divide *d, unsigned port)
{
    struct dfc_parts *ranges = dfc_alloc(u, sizeof *ranges);
    if (!ranges || !(ranges->first = dfc_alloc(u, (d->parts->n + 1) * sizeof *ranges->first)) ||
        !(ranges->rows = dfc_alloc(u, (d->parts->n + 1) * sizeof *ranges->rows)))
        return NULL;
    ranges->n = d->parts->n;
    for (unsigned k = 0; k < ranges->n; k++) {
        uint64_t end;
        dfc_parts_port(d->rows, d->callee, port, d->parts->first[k], d->parts->first[k + 1], &ranges->first[k], &end);
        ranges->rows[k] = end - ranges->first[k];
    }
    return ranges;
}

/* If a part of the node before skips, the whole is empty, and no row of an acc may change in that wave. So the parts of a node
 * with an acc read views of the whole. */
static bool has_acc(const struct dfc_callee *callee)
{
    bool any = false;
    for (unsigned p = 0; p < callee->sig.n_ports; p++)
        any |= callee->sig.ports[p].ast->mode == DFL_ACC;
    return any;
}

bool dfc_parts_connect(struct dfc_fill *fill, const struct dfc_divide *d, unsigned port, uint32_t value,
                       const uint64_t *dims)
{
    struct dfc_unit *u = fill->e->u;
    const unsigned in_slot = (unsigned)d->callee->sig.ports[port].in_slot;
    const bool divides = dfc_parts_divides(d->rows, d->callee, port);
    const struct dfc_parts *ranges = divides ? read_ranges(u, d, port) : NULL;
    const struct divided *same = ranges && !has_acc(d->callee) ? same_parts(fill, value, ranges) : NULL;
    struct df_error error;
    uint32_t node, slot;
    if ((divides && !ranges) || (divides && !same && !get_view(fill, d, port, value, ranges, dims, &node)) ||
        (!divides && !dfc_fill_from(fill, value, &node, &slot)))
        return false;
    for (unsigned k = 0; k < d->parts->n; k++) {
        int rc = df_builder_connect(u->builder, same ? same->nodes[k] : node, same ? same->slot : divides ? k : slot,
                                    d->nodes[k], in_slot, &error);
        if (rc != DF_OK)
            return builder_failed(u, u->at, rc, &error);
    }
    return true;
}

/* ---- one part ---- */

/* Extents of scratch, which may depend on the rows of the part. */
static bool scratch_dims(struct dfc_unit *u, const struct dfc_callee *callee, unsigned port, const uint64_t *dims,
                         uint64_t *extents)
{
    const struct dfc_port *p = &callee->sig.ports[port];
    const struct dfc_names names = { .use = DFC_USE_PORT, .callee = callee, .dims = dims };
    for (unsigned i = 0; i < p->rank; i++) {
        bool known;
        if (p->dims[i].kind == DFC_DIM_VARIABLE)
            extents[i] = dims[p->dims[i].variable];
        if (p->dims[i].kind == DFC_DIM_EXPR && !dfc_fold_extent(u, &names, p->dims[i].expr, &extents[i], &known))
            return false;
    }
    return true;
}

/* The rings of a group, which hold as many rows as its strips need: strips of a part begin at its first row. */
static void ring_dims(const struct dfc_rows *r, struct df_rows made, uint64_t *dims, uint64_t (*port_dims)[DF_MAX_RANK])
{
    const struct dff_strips *strips = r->group->strips;
    uint64_t ring_bytes;
    dfu_strips_plan(r->group, r->formats, made, dims, &ring_bytes);
    for (unsigned p = 0; p < r->group->callee->sig.n_ports; p++)
        if (strips->ring_rows[p] != DF_NONE)
            port_dims[p][0] = dims[strips->ring_rows[p]];
}

bool dfc_parts_solve(struct dfc_unit *u, const struct dfc_divide *d, const struct dfc_solved *whole, unsigned k,
                     struct dfc_part *part)
{
    const struct dfc_sig *sig = &d->callee->sig;
    const uint64_t from = d->parts->first[k], to = d->parts->first[k + 1];
    uint64_t *dims = dfc_alloc(u, (sig->n_variables + 1u) * sizeof *dims);
    uint64_t (*port_dims)[DF_MAX_RANK] = dfc_alloc(u, (sig->n_ports + 1u) * sizeof *port_dims);
    uint64_t *port_rows = dfc_alloc(u, (sig->n_ports + 1u) * sizeof *port_rows);
    if (!dims || !port_dims || !port_rows)
        return false;
    memcpy(dims, whole->dims, sig->n_variables * sizeof *dims);
    memcpy(port_dims, whole->port_dims, sig->n_ports * sizeof *port_dims);
    if (!d->rows->wiring)
        dims[sig->split_variable] = to - from;
    if (d->rows->group && d->rows->group->strips->dim == 0 && d->parts->n > 1)
        ring_dims(d->rows, (struct df_rows){ (int64_t)from, (int64_t)to }, dims, port_dims);
    for (unsigned p = 0; p < sig->n_ports; p++) {
        uint64_t first, end;
        if (!d->rows->wiring && sig->ports[p].ast->mode == DFL_TMP && !scratch_dims(u, d->callee, p, dims, port_dims[p]))
            return false;
        if (!dfc_parts_divides(d->rows, d->callee, p))
            continue;
        dfc_parts_port(d->rows, d->callee, p, from, to, &first, &end);
        port_dims[p][0] = end - first;
        port_rows[p] = first;
    }
    *part = (struct dfc_part){
        .solved = { .dims = dims, .port_dims = (const uint64_t (*)[DF_MAX_RANK])port_dims },
        .rows = { .first = from, .rows = to - from, .whole = d->parts->whole, .number = k, .n = d->parts->n,
                  .passes = d->parts->passes },
        .port_rows = port_rows,
    };
    return true;
}
