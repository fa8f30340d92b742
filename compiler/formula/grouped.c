/* grouped.c - determines which reductions work-groups of a GPU share, for compiler/generate (generate/reduce_group.c, generate/pass_group.c), and adds for
 * check.c the scratch in which they hand results to each other; elab/to_builder.c asks for its size. The limits are those of runtime/df_formula_gpu.h.
 */
#include <stdlib.h>

#include "compiler/formula/build.h"

#define MOST_GROUPS 2048                /* DF_MOST_GROUPS */
#define MOST_RESULTS (INT64_C(1) << 18) /* DF_MOST_RESULTS */
#define LINES 32                        /* side by side, that a work-group scans */
#define ITEMS 256
#define TERMS_OF_ITEM 4                 /* elements of a tile that an item scans */
#define BLOCK 1024                      /* DF_BLOCK */
#define WIDE_BLOCK 16384                /* DF_WIDE_BLOCK */
#define FEW_TERMS 255                   /* DF_FEW_TERMS */
#define TEST_SUMS 24                    /* with -DDF_RACES 12 lines have two segments, and one has 6 */
#define TEST_RESULTS 40                 /* with -DDF_RACES, DF_MOST_RESULTS */

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

/* None of this gets smaller with larger extents: those that differ from wave to wave are counted at their most. */

static int64_t bytes_of(enum dff_type type) { return type == DFF_I64 || type == DFF_F64 ? 8 : 4; }
static bool is_real(enum dff_type type) { return type == DFF_F32 || type == DFF_F64; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t up(int64_t n, int64_t by) { return n / by + (n % by != 0); }
static int64_t times(int64_t a, int64_t b) { return (int64_t)((__int128)a * b > DFF_MOST_NUMBER ? DFF_MOST_NUMBER : (__int128)a * b); }

/* Can dff_index_value() compute it? */
static bool is_of_dims(const struct dff_node *n)
{
    bool good = n->kind == DFF_CONST || n->kind == DFF_DIM || n->kind == DFF_CONVERT || n->kind == DFF_CAST ||
                (n->kind == DFF_OP && (n->op == DFF_NEG || n->op == DFF_ADD || n->op == DFF_SUB || n->op == DFF_MUL || n->op == DFF_DIV || n->op == DFF_MOD ||
                                       n->op == DFF_MIN || n->op == DFF_MAX));
    for (uint32_t k = 0; k < n->n_args; k++)
        good = good && is_of_dims(n->args[k]);
    return good;
}

/* The values of the range; of one that other numbers end, as many as there can be. */
static int64_t n_values(const struct dff_range *r, const uint64_t *dims)
{
    if (!is_of_dims(r->from) || !is_of_dims(r->to))
        return DFF_MOST_NUMBER;
    const int64_t from = dff_index_value(r->from, dims), to = dff_index_value(r->to, dims);
    return from >= to ? 0 : (__int128)to - from > DFF_MOST_NUMBER ? DFF_MOST_NUMBER : to - from;
}

static int64_t n_elements(const struct dff_kernel *kernel, const struct dff_formula *f, const uint64_t *dims)
{
    int64_t n = 1;
    for (unsigned d = 0; d < f->rank; d++)
        n = f->is_index[d] ? times(n, (int64_t)dff_extent_value(kernel->ports[f->port].extents[d], dims)) : n;
    return n;
}

/* As df_width_of() for a whole work-group. */
static int64_t width_of(int64_t extent)
{
    int64_t width = 1;
    while (width < extent && width < ITEMS)
        width *= 2;
    return width;
}

static int64_t n_terms(const struct dff_node *reduce, uint32_t n_ranges, const uint64_t *dims)
{
    int64_t terms = 1;
    for (uint32_t r = 0; r < n_ranges; r++)
        terms = times(terms, n_values(&reduce->ranges[r], dims));
    return terms;
}

/* Have all of these reductions, which one launch computes, few terms? Then each thread computes an element, unless a test asks for less (df_is_grouped()). */
static bool have_few(const struct dff_node *const *nodes, unsigned n, const uint64_t *dims)
{
    bool few = true;
    for (unsigned k = 0; k < n && few; k++)
        few = n_terms(nodes[k], nodes[k]->n_ranges, dims) <= FEW_TERMS;
    return few;
}

/* The results that there are of a reduction at a time: of units, or of work-groups if it has no order (df_lane_units(), df_wide_units(), df_shares_of()). */
static int64_t n_results(const struct dff_node *reduce, int64_t elements, bool few, const uint64_t *dims)
{
    const uint32_t last_range = reduce->n_ranges - 1;
    const int64_t outer = n_terms(reduce, last_range, dims), last = n_values(&reduce->ranges[last_range], dims);
    const bool real = is_real(reduce->type);
    const int64_t parts = real ? times(up(last, BLOCK), outer) : up(times(up(last, WIDE_BLOCK), outer), ITEMS / width_of(last));
    const int64_t n = least(times(parts, real ? least(elements, MOST_GROUPS) : elements), real ? MOST_RESULTS : MOST_GROUPS);
    return few ? least(n, TEST_RESULTS) : n;
}

static int64_t in_16s(int64_t bytes) { return up(bytes, 16) * 16; }

/* The bytes of its results, as df_results() has them. */
static int64_t bytes_of_reduction(const struct dff_node *n, int64_t elements, bool few, const uint64_t *dims)
{
    const int64_t results = n_results(n, elements, few, dims), term = n->op == DFF_ARGMIN || n->op == DFF_ARGMAX ? bytes_of(n->args[0]->type) : 0;
    return in_16s(results * bytes_of(n->type)) + in_16s(results * term) + in_16s(results);
}

static bool is_scan(const struct dff_formula *f) { return f->value->kind == DFF_REDUCE && f->value->order == DFF_ORDER_RUNNING && !is_real(f->value->type); }

/* A scan has the sums of each line's segments, of at least a tile each, if there is more than one. */
static int64_t bytes_of_scan(const struct dff_kernel *kernel, const struct dff_formula *f, const uint64_t *dims)
{
    int64_t lines = 1, length = 1;
    bool is_last = true;
    for (unsigned d = 0; d < f->rank; d++) {
        if (!f->is_index[d])
            continue;
        const int64_t extent = (int64_t)dff_extent_value(kernel->ports[f->port].extents[d], dims);
        is_last = f->value->ranges[0].to->slots >> d & 1;
        length = is_last ? extent : length;
        lines = is_last ? lines : times(lines, extent);
    }
    const int64_t tiles = up(length, is_last ? ITEMS * TERMS_OF_ITEM : ITEMS / LINES * TERMS_OF_ITEM);
    const int64_t sums = tiles > 1 ? least(times(lines, tiles), is_last ? MOST_GROUPS : MOST_GROUPS * LINES) : 0;
    return bytes_of(f->value->type) * most(sums, TEST_SUMS);
}

/* Of the formula, with the values of hoisted reductions first. */
static int64_t bytes_of_formula(const struct dff_kernel *kernel, const struct dff_formula *f, const uint64_t *dims)
{
    const struct dff_node *nodes[DFF_MOST_GROUPED];
    const int64_t elements = n_elements(kernel, f, dims);
    int64_t bytes = is_scan(f) ? bytes_of_scan(kernel, f, dims) : 0;
    unsigned n = dff_grouped(kernel, f, nodes);
    bool few = have_few(nodes, n, dims);
    for (unsigned k = 0; k < n; k++)
        bytes += bytes_of_reduction(nodes[k], elements, few, dims);
    n = dff_hoisted(kernel, f, nodes);
    few = have_few(nodes, n, dims);
    for (unsigned k = 0; k < n; k++)
        bytes = most(bytes, bytes_of_reduction(nodes[k], 1, few, dims));
    return bytes + DFF_VALUE_BYTES * n;
}

uint64_t dff_group_scratch(const struct dff_kernel *kernel, const uint64_t *dims)
{
    int64_t bytes = 0;
    for (unsigned i = 0; i < kernel->n_formulas; i++)
        bytes = most(bytes, bytes_of_formula(kernel, &kernel->formulas[i], dims));
    return (uint64_t)bytes;
}

bool dff_add_group_scratch(struct dff_build *b, struct dff_kernel *kernel)
{
    const struct dff_node *nodes[DFF_MOST_GROUPED];
    const struct dff_scratch scratch = { "df_scratch", DF_U8, 1, { NULL } };
    bool has = false;
    for (unsigned i = 0; i < kernel->n_formulas && !has; i++)
        has = is_scan(&kernel->formulas[i]) || dff_grouped(kernel, &kernel->formulas[i], nodes) || dff_hoisted(kernel, &kernel->formulas[i], nodes);
    return !has || dff_add_scratch(b, kernel, &scratch) != DF_NONE;
}
