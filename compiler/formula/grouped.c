/* grouped.c - which reductions work-groups of a GPU share, and the scratch in which they hand results to each other (compiler/generate/reduce_group.c,
 * pass_group.c). The limits are those of runtime/df_formula_gpu.h.
 */
#include <stdlib.h>

#include "compiler/formula/build.h"

#define MOST_GROUPS 2048                /* DF_MOST_GROUPS */
#define MOST_RESULTS (INT64_C(1) << 18) /* DF_MOST_RESULTS */
#define LINES 32                        /* side by side, that a work-group scans */
#define ITEMS 256
#define TERMS_OF_ITEM 4                 /* elements of a tile that an item scans */
#define TEST_SUMS 24                    /* with -DDF_RACES 12 lines have two segments, and one has 6 */
#define PADDING 48                      /* of three arrays to multiples of 16 bytes */

/* ---- which ---- */

struct search {
    const struct dff_node **nodes;
    unsigned n, n_hoisted;              /* found; of them, the hoisted ones */
    const struct dff_node *hoisted[DFF_MOST_GROUPED];
    bool has_index;
    unsigned char *seen;                /* by node: 1: outside of reductions, 2: inside of one */
};

static bool is_found(const struct dff_node *const *nodes, unsigned n, const struct dff_node *node)
{
    bool found = false;
    for (unsigned k = 0; k < n; k++)
        found |= nodes[k] == node;
    return found;
}

static void find_hoisted(struct search *s, const struct dff_node *n, bool inside)
{
    const unsigned char bit = inside ? 2 : 1;
    if (s->seen[n->id] & bit)
        return;
    s->seen[n->id] |= bit;
    for (uint32_t k = 0; k < n->n_args; k++)
        if (n->args[k])
            find_hoisted(s, n->args[k], inside || n->kind == DFF_REDUCE);
    if (n->kind == DFF_REDUCE && n->order == DFF_ORDER_LANES && !n->slots && (inside || s->has_index) && s->n < DFF_MOST_GROUPED && !is_found(s->nodes, s->n, n))
        s->nodes[s->n++] = n;
}

static void find_grouped(struct search *s, const struct dff_node *n)
{
    if (s->seen[n->id])
        return;
    s->seen[n->id] = 1;
    if (n->kind == DFF_REDUCE) {
        if (n->order == DFF_ORDER_LANES && s->n < DFF_MOST_GROUPED && !is_found(s->hoisted, s->n_hoisted, n))
            s->nodes[s->n++] = n;
        return;
    }
    for (uint32_t k = 0; k < n->n_args; k++)
        if (n->args[k])
            find_grouped(s, n->args[k]);
}

unsigned dff_hoisted(const struct dff_kernel *kernel, const struct dff_formula *formula, const struct dff_node **nodes)
{
    struct search s = { .nodes = nodes, .seen = calloc(kernel->n_nodes + 1u, 1) };
    for (unsigned d = 0; d < formula->rank; d++)
        s.has_index |= formula->is_index[d];
    if (s.seen)                         /* else each thread computes them */
        find_hoisted(&s, formula->value, false);
    free(s.seen);
    return s.n;
}

unsigned dff_grouped(const struct dff_kernel *kernel, const struct dff_formula *formula, const struct dff_node **nodes)
{
    struct search s = { .nodes = nodes, .seen = calloc(kernel->n_nodes + 1u, 1) };
    s.n_hoisted = dff_hoisted(kernel, formula, s.hoisted);
    if (s.seen)                         /* else each thread computes an element */
        find_grouped(&s, formula->value);
    free(s.seen);
    return s.n;
}

/* ---- scratch ---- */

static int64_t bytes_of(enum dff_type type) { return type == DFF_I64 || type == DFF_F64 ? 8 : 4; }
static bool is_real(enum dff_type type) { return type == DFF_F32 || type == DFF_F64; }

/* Can dff_extent_value() compute it? */
static bool is_of_dims(const struct dff_node *n)
{
    bool good = n->kind == DFF_CONST || n->kind == DFF_DIM || n->kind == DFF_CONVERT || n->kind == DFF_CAST ||
                (n->kind == DFF_OP && (n->op == DFF_NEG || n->op == DFF_ADD || n->op == DFF_SUB || n->op == DFF_MUL || n->op == DFF_DIV || n->op == DFF_MOD ||
                                       n->op == DFF_MIN || n->op == DFF_MAX));
    for (uint32_t k = 0; k < n->n_args; k++)
        good = good && is_of_dims(n->args[k]);
    return good;
}

/* Nodes of no formula, for extents alone. NULL: no memory. */
static const struct dff_node *number(struct dff_build *b, int64_t i)
{
    struct dff_node *n = dfc_alloc(b->u, sizeof *n);
    if (n)
        *n = (struct dff_node){ .kind = DFF_CONST, .type = DFF_I64, .i = i };
    return n;
}

static const struct dff_node *both(struct dff_build *b, enum dff_op op, const struct dff_node *x, const struct dff_node *y)
{
    struct dff_node *n = dfc_alloc(b->u, sizeof *n);
    const struct dff_node **args = dfc_alloc(b->u, 2 * sizeof *args);
    if (!n || !args || !x || !y)
        return NULL;
    args[0] = x;
    args[1] = y;
    *n = (struct dff_node){ .kind = DFF_OP, .type = DFF_I64, .op = op, .n_args = 2, .args = args };
    return n;
}

/* The results of blocks of a reduction, for all elements, or for one if it is hoisted: no more than there are terms, nor than MOST_RESULTS. */
static const struct dff_node *results(struct dff_build *b, const struct dff_kernel *kernel, const struct dff_formula *f, const struct dff_node *reduce, bool hoisted)
{
    const struct dff_node *n = number(b, 1);
    bool known = true;
    for (unsigned d = 0; d < f->rank && !hoisted; d++)
        if (f->is_index[d])
            n = both(b, DFF_MUL, n, kernel->ports[f->port].extents[d]);
    for (uint32_t r = 0; r < reduce->n_ranges; r++) {
        known = known && is_of_dims(reduce->ranges[r].from) && is_of_dims(reduce->ranges[r].to);
        n = both(b, DFF_MUL, n, both(b, DFF_MAX, number(b, 0), both(b, DFF_SUB, reduce->ranges[r].to, reduce->ranges[r].from)));
    }
    return known ? both(b, DFF_MIN, number(b, MOST_RESULTS), n) : number(b, MOST_RESULTS);
}

static bool is_scan(const struct dff_formula *f) { return f->value->kind == DFF_REDUCE && f->value->order == DFF_ORDER_RUNNING && !is_real(f->value->type); }

/* A scan has the sums of each line's segments, of at least a tile each, if there is more than one. */
static const struct dff_node *bytes_of_scan(struct dff_build *b, const struct dff_kernel *kernel, const struct dff_formula *f)
{
    const struct dff_node *lines = number(b, 1), *length = lines;
    bool is_last = true;
    for (unsigned d = 0; d < f->rank; d++) {
        const bool along = f->value->ranges[0].to->slots >> d & 1;
        if (!f->is_index[d])
            continue;
        if (along)
            length = kernel->ports[f->port].extents[d];
        else
            lines = both(b, DFF_MUL, lines, kernel->ports[f->port].extents[d]);
        is_last = along;
    }
    const struct dff_node *tiles = both(b, DFF_DIV, both(b, DFF_SUB, length, number(b, 1)), number(b, is_last ? ITEMS * TERMS_OF_ITEM : ITEMS / LINES * TERMS_OF_ITEM));
    const struct dff_node *sums = both(b, DFF_MIN, number(b, is_last ? MOST_GROUPS : MOST_GROUPS * LINES), both(b, DFF_MUL, both(b, DFF_MUL, number(b, 2), lines), tiles));
    return both(b, DFF_MUL, number(b, bytes_of(f->value->type)), both(b, DFF_MAX, sums, number(b, TEST_SUMS)));
}

static const struct dff_node *bytes_of_reduction(struct dff_build *b, const struct dff_kernel *kernel, const struct dff_formula *f, const struct dff_node *n, bool hoisted)
{
    const int64_t each = bytes_of(n->type) + 1;
    if (!is_real(n->type))
        return number(b, PADDING + MOST_GROUPS * (each + 8));
    return both(b, DFF_ADD, number(b, PADDING), both(b, DFF_MUL, number(b, each), results(b, kernel, f, n, hoisted)));
}

/* Of the formula, with the values of hoisted reductions first. NULL: no memory; or a number of 0. */
static const struct dff_node *bytes_of_formula(struct dff_build *b, const struct dff_kernel *kernel, const struct dff_formula *f)
{
    const struct dff_node *nodes[DFF_MOST_GROUPED], *bytes = is_scan(f) ? bytes_of_scan(b, kernel, f) : number(b, 0);
    unsigned n = dff_grouped(kernel, f, nodes);
    for (unsigned k = 0; k < n; k++)
        bytes = both(b, DFF_ADD, bytes, bytes_of_reduction(b, kernel, f, nodes[k], false));
    n = dff_hoisted(kernel, f, nodes);
    for (unsigned k = 0; k < n; k++)
        bytes = both(b, DFF_MAX, bytes, bytes_of_reduction(b, kernel, f, nodes[k], true));
    return n ? both(b, DFF_ADD, bytes, number(b, DFF_VALUE_BYTES * n)) : bytes;
}

bool dff_add_group_scratch(struct dff_build *b, struct dff_kernel *kernel)
{
    const struct dff_node *all = NULL;
    for (unsigned i = 0; i < kernel->n_formulas; i++) {
        const struct dff_node *bytes = bytes_of_formula(b, kernel, &kernel->formulas[i]);
        if (!bytes)
            return false;
        if (bytes->kind == DFF_CONST)   /* 0 */
            continue;
        all = all ? both(b, DFF_MAX, all, bytes) : bytes;
        if (!all)
            return false;
    }
    const struct dff_scratch scratch = { "df_scratch", DF_U8, 1, { all } };
    return !all || dff_add_scratch(b, kernel, &scratch) != DF_NONE;
}
