/* node.c - creates expression nodes for the rest of the room and compiler/fusion, with hash-consing: an equal node is
 * returned again. At the end, the nodes that a kernel needs are numbered.
 *
 * Operands are already unique, so two nodes are equal if their fields and their operands' pointers are. Source
 * locations and names of ranges do not count.
 */
#include <string.h>

#include "compiler/formula/build.h"

/* ---- equality ---- */

static uint64_t bits_of(double f)
{
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static uint32_t hash_node(const struct dff_node *n)
{
    const uint64_t head[] = { (uint64_t)n->kind << 32 | (uint64_t)n->type, (uint64_t)n->op << 32 | (uint64_t)n->elem,
                              (uint64_t)n->order << 32 | n->number, (uint64_t)n->i, bits_of(n->f) };
    uint64_t hash = dfr_hash(0, head, sizeof head);
    for (uint32_t k = 0; k < n->n_args; k++)
        hash = dfr_hash(hash, &n->args[k], sizeof n->args[k]);
    for (uint32_t k = 0; k < n->n_ranges; k++) {
        const struct dff_range *r = &n->ranges[k];
        const uint64_t range[] = { r->slot, r->from->id, r->to->id };
        hash = dfr_hash(hash, range, sizeof range);
    }
    return dfr_hash_fold(hash);
}

static bool same_node(const void *context, uint32_t id, const void *key)
{
    const struct dff_node *a = ((const struct dff_node *const *)((const struct dff_build *)context)->nodes.items)[id];
    const struct dff_node *n = key;
    if (a->kind != n->kind || a->type != n->type || a->op != n->op || a->elem != n->elem || a->order != n->order ||
        a->number != n->number || a->i != n->i || bits_of(a->f) != bits_of(n->f) || a->n_args != n->n_args ||
        a->n_ranges != n->n_ranges)
        return false;
    for (uint32_t k = 0; k < n->n_args; k++)
        if (a->args[k] != n->args[k])
            return false;
    for (uint32_t k = 0; k < n->n_ranges; k++)
        if (a->ranges[k].slot != n->ranges[k].slot || a->ranges[k].from != n->ranges[k].from ||
            a->ranges[k].to != n->ranges[k].to)
            return false;
    return true;
}

/* ---- limits ---- */

bool dff_too_large(struct dff_build *b, struct dfl_loc loc, const char *what)
{
    if (!b->too_large) {
        dfl_error(b->u->sink, loc, "the formulas of kernel '%s' are too large: %s", b->callee->name, what);
        dfl_hint(b->u->sink, "a let is written out wherever it is named; a kernel of its own keeps its values instead");
    }
    b->too_large = true;
    return false;
}

bool dff_step(struct dff_build *b, struct dfl_loc loc)
{
    if (b->u->no_memory)                /* what is known of nodes may not be whole: nothing more is said */
        return false;
    if (b->steps++ < DFF_MAX_STEPS)
        return true;
    return dff_too_large(b, loc, "with all lets written out they hold more than 1000000 expressions");
}

/* ---- making ---- */

static void join_operand(const struct dff_build *b, const struct dff_node *arg, struct dff_node *node,
                         struct dff_note *note)
{
    const struct dff_note *of = dff_note_of(b, arg);
    node->slots |= arg->slots;
    note->data |= of->data;
    note->fixed &= of->fixed;
    if (note->depth <= of->depth)
        note->depth = of->depth + 1;
}

/* The integer types, as bits, that have all numbers from low to high. */
static uint16_t elems_between(int64_t low, int64_t high)
{
    unsigned elems = 0;
    for (unsigned e = 0; e < DF_N_ELEMS; e++) {
        int64_t least, most;
        dff_elem_ends((enum df_elem)e, &least, &most);
        elems |= (unsigned)(!df_elem_is_float((enum df_elem)e) && least <= low && high <= most) << e;
    }
    return (uint16_t)elems;
}

/* The types that have all numbers of an element of a type. */
static uint16_t elems_of(enum df_elem elem)
{
    int64_t low, high;
    dff_elem_ends(elem, &low, &high);
    return df_elem_is_float(elem) ? (uint16_t)(1u << elem) : elems_between(low, high);
}

/* The types among f16 and the integers that have the number. */
static uint16_t elems_with(const struct dff_node *n)
{
    if (dff_is_float(n->type))
        return (uint16_t)((dff_round_float(n->f, DF_F16) == n->f) << DF_F16);
    return elems_between(n->i, n->i);
}

static uint16_t find_elems(const struct dff_build *b, const struct dff_node *n)
{
    switch (n->kind) {
    case DFF_CONST: return elems_with(n);
    case DFF_READ:
    case DFF_TABLE:
    case DFF_CONVERT:
    case DFF_WRAP: return elems_of(n->elem);
    case DFF_CAST: return dff_is_float(n->type) || dff_is_float(n->args[0]->type) ? 0 : dff_note_of(b, n->args[0])->elems; /* a truth value's: 0 and 1 */
    case DFF_OP:
        if (n->op == DFF_MIN || n->op == DFF_MAX)
            return dff_note_of(b, n->args[0])->elems & dff_note_of(b, n->args[1])->elems;
        if (n->op == DFF_CHOOSE)
            return dff_note_of(b, n->args[1])->elems & dff_note_of(b, n->args[2])->elems;
        return n->type == DFF_BOOL ? elems_between(0, 1) : 0;
    default: return n->type == DFF_BOOL ? elems_between(0, 1) : 0;
    }
}

static const struct dff_node *find_quotient(const struct dff_build *b, const struct dff_node *n)
{
    if (n->kind != DFF_OP || (n->type != DFF_I32 && n->type != DFF_I64))
        return NULL;
    switch (n->op) {
    case DFF_DIV: return n;
    case DFF_NEG: return dff_note_of(b, n->args[0])->quotient;
    case DFF_ADD:
    case DFF_SUB:
    case DFF_MUL:
    case DFF_MIN:
    case DFF_MAX:
    case DFF_CHOOSE: {
        const uint32_t first = n->op == DFF_CHOOSE;
        const struct dff_node *left = dff_note_of(b, n->args[first])->quotient;
        return left ? left : dff_note_of(b, n->args[first + 1])->quotient;
    }
    default: return NULL;
    }
}

/* What follows from the operands: the slots, and the note. */
static void sum_up(const struct dff_build *b, struct dff_node *node, struct dff_note *note)
{
    const struct dfc_sig *sig = &b->callee->sig;
    bool data = node->kind == DFF_READ || node->kind == DFF_TABLE || node->kind == DFF_REDUCE;
    *note = (struct dff_note){ .data = data, .fixed = !data && node->kind != DFF_INDEX && node->kind != DFF_DIM,
                               .elems = find_elems(b, node), .quotient = find_quotient(b, node) };
    if (node->kind == DFF_SCALAR)
        note->fixed = node->number >= sig->n_given && !sig->hidden[node->number - sig->n_given].is_arg;
    node->slots = node->kind == DFF_INDEX ? 1u << node->number : 0;
    for (uint32_t k = 0; k < node->n_args; k++)
        if (node->args[k])
            join_operand(b, node->args[k], node, note);
    for (uint32_t k = 0; k < node->n_ranges; k++) {
        join_operand(b, node->ranges[k].from, node, note);
        join_operand(b, node->ranges[k].to, node, note);
    }
    for (uint32_t k = 0; k < node->n_ranges; k++)
        node->slots &= ~(1u << node->ranges[k].slot);
}

static struct dff_node *copy(struct dff_build *b, const struct dff_node *want)
{
    struct dff_node *node = dfc_alloc(b->u, sizeof *node);
    const struct dff_node **args = dfc_alloc(b->u, (want->n_args + 1) * sizeof *args);
    struct dff_range *ranges = dfc_alloc(b->u, (want->n_ranges + 1) * sizeof *ranges);
    if (!node || !args || !ranges)
        return NULL;
    *node = *want;
    if (want->n_args)
        memcpy(args, want->args, want->n_args * sizeof *args);
    if (want->n_ranges)
        memcpy(ranges, want->ranges, want->n_ranges * sizeof *ranges);
    node->args = args;
    node->ranges = ranges;
    return node;
}

const struct dff_node *dff_intern(struct dff_build *b, const struct dff_node *want)
{
    uint32_t hash = hash_node(want), id;
    if (dfr_table_find(&b->table, hash, same_node, b, want, &id))
        return ((const struct dff_node *const *)b->nodes.items)[id];
    if (b->nodes.n >= DFF_MAX_NODES) {
        dff_too_large(b, want->loc, "with all lets written out they have more than 65536 nodes");
        return NULL;
    }
    struct dff_node *node = copy(b, want);
    struct dff_note note;
    if (!node)
        return NULL;
    sum_up(b, node, &note);
    if (note.depth > DFF_MAX_DEPTH) {
        dff_too_large(b, want->loc, "with all lets written out they are nested more than 1000 deep");
        return NULL;
    }
    const struct dff_node **item = dfr_table_reserve(&b->table) ? dfr_array_add(&b->nodes, sizeof *item, 1) : NULL;
    struct dff_note *kept = item ? dfr_array_add(&b->notes, sizeof *kept, 1) : NULL;
    if (!kept) {
        dfc_no_memory(b->u);
        return NULL;
    }
    node->id = b->nodes.n - 1;
    *item = node;
    *kept = note;
    dfr_table_put(&b->table, hash, node->id);
    return node;
}

const struct dff_node *dff_int(struct dff_build *b, enum dff_type type, int64_t i, struct dfl_loc loc)
{
    return dff_intern(b, &(struct dff_node){ .kind = DFF_CONST, .type = type, .i = i, .loc = loc });
}

const struct dff_node *dff_float(struct dff_build *b, enum dff_type type, double f, struct dfl_loc loc)
{
    return dff_intern(b, &(struct dff_node){ .kind = DFF_CONST, .type = type, .f = f, .loc = loc });
}

const struct dff_node *dff_leaf(struct dff_build *b, enum dff_kind kind, enum dff_type type, uint32_t number,
                                struct dfl_loc loc)
{
    return dff_intern(b, &(struct dff_node){ .kind = kind, .type = type, .number = number, .loc = loc });
}

const struct dff_node *dff_unary(struct dff_build *b, enum dff_type type, enum dff_op op, const struct dff_node *a,
                                 struct dfl_loc loc)
{
    if (!a)
        return NULL;
    return dff_intern(b, &(struct dff_node){ .kind = DFF_OP, .type = type, .op = op, .loc = loc, .n_args = 1,
                                             .args = &a });
}

const struct dff_node *dff_binary(struct dff_build *b, enum dff_type type, enum dff_op op, const struct dff_node *x,
                                  const struct dff_node *y, struct dfl_loc loc)
{
    const struct dff_node *args[] = { x, y };
    if (!x || !y)
        return NULL;
    return dff_intern(b, &(struct dff_node){ .kind = DFF_OP, .type = type, .op = op, .loc = loc, .n_args = 2,
                                             .args = args });
}

const struct dff_node *dff_choose(struct dff_build *b, const struct dff_node *condition, const struct dff_node *x,
                                  const struct dff_node *y, struct dfl_loc loc)
{
    const struct dff_node *args[] = { condition, x, y };
    if (!condition || !x || !y)
        return NULL;
    return dff_intern(b, &(struct dff_node){ .kind = DFF_OP, .type = x->type, .op = DFF_CHOOSE, .loc = loc,
                                             .n_args = 3, .args = args });
}

const struct dff_node *dff_change(struct dff_build *b, enum dff_kind kind, enum dff_type type, enum df_elem elem,
                                  const struct dff_node *a, struct dfl_loc loc)
{
    if (!a)
        return NULL;
    return dff_intern(b, &(struct dff_node){ .kind = kind, .type = type, .elem = elem, .loc = loc, .n_args = 1,
                                             .args = &a });
}

/* ---- the record ---- */

struct order {
    struct dff_node **nodes;            /* by new id */
    uint32_t n;
    bool *seen;                         /* by old id */
};

/* Depth first: operands before the node, so that the numbers follow from the formulas' meaning alone. */
static void visit(struct order *o, const struct dff_node *node)
{
    if (!node || o->seen[node->id])
        return;
    o->seen[node->id] = true;
    for (uint32_t k = 0; k < node->n_ranges; k++) {
        visit(o, node->ranges[k].from);
        visit(o, node->ranges[k].to);
    }
    for (uint32_t k = 0; k < node->n_args; k++)
        visit(o, node->args[k]);
    o->nodes[o->n++] = (struct dff_node *)node;
}

bool dff_number_nodes(struct dff_build *b, struct dff_kernel *kernel)
{
    struct order o = { .nodes = dfc_alloc(b->u, (b->nodes.n + 1) * sizeof *o.nodes),
                       .seen = dfc_alloc(b->u, b->nodes.n + 1) };
    if (!o.nodes || !o.seen)
        return false;
    for (unsigned p = 0; p < kernel->n_ports; p++)
        for (unsigned d = 0; d < kernel->ports[p].rank; d++) {
            visit(&o, kernel->ports[p].extents[d]);
            visit(&o, kernel->ports[p].outside[d]);
        }
    for (unsigned f = 0; f < kernel->n_formulas; f++)
        visit(&o, kernel->formulas[f].value);
    for (uint32_t id = 0; id < o.n; id++)
        o.nodes[id]->id = id;
    kernel->nodes = (const struct dff_node *const *)o.nodes;
    kernel->n_nodes = o.n;
    return true;
}

void dff_build_free(struct dff_build *b)
{
    dfr_array_free(&b->nodes);
    dfr_array_free(&b->notes);
    dfr_table_free(&b->table);
    dfr_array_free(&b->tables);
}
