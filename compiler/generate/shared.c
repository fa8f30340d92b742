/* shared.c - shares work between rows, for rows.c: functions that compute two rows at once, and values that are kept
 * for later rows.
 *
 * Two rows: neighbouring rows of a window share most of the rows that they read. When both are computed in one loop,
 *           compilers load each element once, and compute common subexpressions once, such as the sum of a row in a sum
 *           of such sums.
 * Kept:     in sum(j, i: exp(-(v[y + j, x + i] - v[y, x])^2) * v[y + j, x + i]) the exp of a pair of elements is needed
 *           from both sides, and (a - b)^2 has the same bits as (b - a)^2. The value for (y, x) and (-j, -i) thus
 *           equals that for (y - j, x - i) and (j, i), and half of them suffice. They are computed one row at a time and
 *           stay in a ring of rows. A row before the first requested one is computed only for these values. Its position
 *           obeys the border in the same way as the original read, so this holds for every border.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- two rows ---- */

#define MOST_STATEMENTS 100             /* of a row: more would be more values than a processor has registers */

/* Is it made of operations that take much longer than a read? */
static bool has_functions(const struct dfg_gen *g)
{
    for (unsigned i = 0; i < g->kernel->n_nodes; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        if (g->facts[n->id].uses && n->kind == DFF_OP && n->op >= DFF_EXP && n->op <= DFF_TANH)
            return true;
    }
    return false;
}

static unsigned statements(const char *text)
{
    unsigned n = 0;
    for (; *text; text++)
        n += *text == ';';
    return n;
}

bool dfg_pair_is_wanted(const struct dfg_gen *g, const char *text)
{
    const enum df_mode mode = g->kernel->ports[g->formula->port].mode;
    int64_t modulus; /* if the row decides between sides of conditions, two rows have little in common */
    if (mode == DF_INOUT || mode == DF_ACC || g->near_facts) /* of which it reads the row that it writes; or scalars decide which function is called */
        return false;
    return dfg_lead(g) && g->formula->is_index[dfg_lead(g) - 1] && g->stage.n_rows > 1 && statements(text) <= MOST_STATEMENTS &&
           !g->stage.has_strips && !has_functions(g) && dfg_residues(g, &modulus) < 0;
}

/* Do its columns depend on more than numbers? */
static bool is_moved(const struct dfg_bound *bound)
{
    return bound->least.n || bound->most.n;
}

static bool same_columns(const struct dfg_bound *a, const struct dfg_bound *b)
{
    return a->extent == b->extent && a->factor == b->factor && a->least.constant == b->least.constant && a->most.constant == b->most.constant;
}

/* The fewest dimensions that are fixed in a row of the port that the function reads. */
static unsigned least_lead(const struct dfg_stage *stage, uint32_t port)
{
    unsigned lead = DF_MAX_RANK;
    for (unsigned i = 0; i < stage->n_rows; i++)
        lead = stage->rows[i].port == port && stage->rows[i].lead < lead ? stage->rows[i].lead : lead;
    return lead;
}

bool dfg_pair_is_good(const struct dfg_gen *g)
{
    bool good = g->pair.n_rows < 2 * g->stage.n_rows && g->pair.n_bounds == g->stage.n_bounds &&
                memcmp(g->pair.whole, g->stage.whole, sizeof g->pair.whole) == 0;
    for (unsigned i = 0; good && i < g->stage.n_bounds; i++)
        good = same_columns(&g->pair.bounds[i], &g->stage.bounds[i]) && !is_moved(&g->stage.bounds[i]);
    for (unsigned i = 0; good && i < g->pair.n_rows; i++) /* not so of y / 2 in the second row */
        good = g->pair.rows[i].lead >= least_lead(&g->stage, g->pair.rows[i].port);
    return good;
}

/* ---- values that are kept: is the value of both sides the same? ---- */

#define MOST_STEPS 10000                /* comparisons of nodes */

enum alike { UNLIKE, SIZE, SAME };      /* SIZE: equal, or one is the negative of the other; a zero has any sign */

struct sides {                          /* a value is compared with itself as it is seen from the neighbour */
    const struct dfg_gen *g;
    const struct dfg_kept *kept;
    uint32_t moved;                     /* the slots of the ranges, the row and the column */
    unsigned steps;
};

struct linear {                         /* an index */
    int64_t slot[DFF_MAX_SLOTS], constant;
    struct dfg_affine dims;             /* its dimensions alone */
};

static bool linear_of(const struct dfg_gen *g, const struct dff_node *n, struct linear *to)
{
    struct dfg_affine a;
    *to = (struct linear){ 0 };
    if (!dfg_affine(g, n, &a))
        return false;
    to->constant = a.constant;
    for (unsigned i = 0; i < a.n; i++)
        if (a.term[i].dim)
            to->dims.term[to->dims.n++] = a.term[i];
        else
            to->slot[a.term[i].number] += a.term[i].factor;
    return true;
}

static bool same_dims(const struct dfg_affine *a, const struct dfg_affine *b)
{
    bool same = a->n == b->n;
    for (unsigned i = 0; same && i < a->n; i++)
        same = a->term[i].number == b->term[i].number && a->term[i].factor == b->term[i].factor;
    return same;
}

static unsigned row_slot(const struct dfg_gen *g)
{
    return dfg_lead(g) - 1;
}

/* Is index a, at the neighbour and with the negatives of the ranges, index b? */
static bool same_index(const struct sides *s, const struct dff_node *a, const struct dff_node *b)
{
    struct linear from, to;
    if (!linear_of(s->g, a, &from) || !linear_of(s->g, b, &to) || from.constant != to.constant || !same_dims(&from.dims, &to.dims))
        return false;
    const int64_t row = from.slot[row_slot(s->g)], column = from.slot[s->g->column];
    for (unsigned r = 0; r < s->kept->n_ranges; r++) {
        int64_t *range = &from.slot[s->kept->ranges[r].slot];
        *range = row * s->kept->row_by[r] + column * s->kept->column_by[r] - *range;
    }
    return memcmp(from.slot, to.slot, sizeof from.slot) == 0;
}

static enum alike alike(struct sides *s, const struct dff_node *a, const struct dff_node *b);

/* Of two pairs of operands, the less. */
static enum alike both(struct sides *s, const struct dff_node *a, const struct dff_node *b, unsigned other)
{
    const enum alike x = alike(s, a->args[0], b->args[other]), y = x ? alike(s, a->args[1], b->args[!other]) : UNLIKE;
    return x < y ? x : y;
}

static const struct dff_node *without_sign(const struct dff_node *n, bool *negative)
{
    for (; n->kind == DFF_OP && n->op == DFF_NEG; n = n->args[0])
        *negative = !*negative;
    return n;
}

/* What the product is the square of, or the negative of that; NULL: it is none. */
static const struct dff_node *root_of(const struct dff_node *product, bool *negative)
{
    *negative = false;
    const struct dff_node *x = without_sign(product->args[0], negative), *y = without_sign(product->args[1], negative);
    return x == y ? x : NULL;
}

static enum alike products(struct sides *s, const struct dff_node *a, const struct dff_node *b)
{
    bool minus_a, minus_b;
    const struct dff_node *x = root_of(a, &minus_a), *y = root_of(b, &minus_b);
    if (x && y && minus_a == minus_b)
        return alike(s, x, y) ? SAME : UNLIKE;
    const enum alike straight = both(s, a, b, 0);
    return straight ? straight : both(s, a, b, 1);
}

static enum alike operations(struct sides *s, const struct dff_node *a, const struct dff_node *b)
{
    switch (a->op) {
    case DFF_ABS: return alike(s, a->args[0], b->args[0]) ? SAME : UNLIKE;
    case DFF_NEG: return alike(s, a->args[0], b->args[0]);
    case DFF_MUL: return products(s, a, b);
    case DFF_SUB: return both(s, a, b, 0) == SAME ? SAME : both(s, a, b, 1) == SAME ? SIZE : UNLIKE;
    case DFF_ADD: return both(s, a, b, 0) == SAME || both(s, a, b, 1) == SAME ? SAME : UNLIKE;
    default: break;
    }
    for (uint32_t k = 0; k < a->n_args; k++)
        if (alike(s, a->args[k], b->args[k]) != SAME)
            return UNLIKE;
    return SAME;
}

static enum alike reads(const struct sides *s, const struct dff_node *a, const struct dff_node *b)
{
    for (uint32_t k = 0; k < a->n_args; k++)
        if (!same_index(s, a->args[k], b->args[k]))
            return UNLIKE;
    return SAME;
}

/* Node a from the neighbour's side beside node b from this one. */
static enum alike alike(struct sides *s, const struct dff_node *a, const struct dff_node *b)
{
    if (a == b && !(a->slots & s->moved))
        return SAME;
    if (++s->steps > MOST_STEPS || a->kind != b->kind || a->type != b->type || a->op != b->op || a->elem != b->elem ||
        a->number != b->number || a->n_args != b->n_args)
        return UNLIKE;
    switch (a->kind) {
    case DFF_INDEX:                     /* a range is negated, a row or column moves */
        for (unsigned r = 0; r < s->kept->n_ranges; r++)
            if (s->kept->ranges[r].slot == a->number)
                return SIZE;
        return UNLIKE;
    case DFF_READ: return reads(s, a, b);
    case DFF_OP: return operations(s, a, b);
    case DFF_CAST: return a->args[0]->type == DFF_BOOL ? UNLIKE : alike(s, a->args[0], b->args[0]);
    case DFF_CONVERT:
    case DFF_WRAP: return alike(s, a->args[0], b->args[0]) == SAME ? SAME : UNLIKE;
    default: return UNLIKE;
    }
}

/* ---- which value is kept ---- */

#define MOST_READS 16                   /* of a value */

struct content {                        /* of a value that may be kept */
    const struct dff_node *reads[MOST_READS];
    unsigned n_reads, n_functions;
    bool unfit;
};

/* Only what takes long is worth it. sin and its like note what is far, and a read under a condition may be outside. */
static void look_into(const struct dfg_gen *g, const struct dff_node *n, struct content *c)
{
    const bool is_function = n->kind == DFF_OP && n->op >= DFF_EXP && n->op <= DFF_TANH;
    c->unfit |= n->kind == DFF_TABLE || n->kind == DFF_REDUCE || (is_function && n->op >= DFF_SIN && n->op <= DFF_TAN) ||
                (n->kind == DFF_READ && (c->n_reads == MOST_READS || n->number == g->formula->port));
    c->n_functions += is_function;
    if (c->unfit)
        return;
    if (n->kind == DFF_READ) {
        for (unsigned d = 0; d < n->n_args; d++)
            c->unfit |= g->facts[n->id].sometimes && g->kernel->ports[n->number].border[d] == DFF_NONE;
        c->reads[c->n_reads++] = n;
        return;
    }
    for (uint32_t k = 0; k < n->n_args; k++)
        look_into(g, n->args[k], c);
}

/* Finds how far the neighbour is, if read b is at the neighbour what read a is here. */
static bool find_way(const struct dfg_gen *g, const struct dff_node *a, const struct dff_node *b, struct dfg_kept *kept)
{
    struct linear from, to;
    memset(kept->row_by, 0, sizeof kept->row_by);
    memset(kept->column_by, 0, sizeof kept->column_by);
    for (uint32_t d = 0; d < a->n_args; d++) {
        if (!linear_of(g, a->args[d], &from) || !linear_of(g, b->args[d], &to))
            return false;
        const bool by_row = from.slot[row_slot(g)] == 1, by_column = from.slot[g->column] == 1;
        for (unsigned r = 0; r < kept->n_ranges; r++) {
            const int64_t by = to.slot[kept->ranges[r].slot];
            if (from.slot[kept->ranges[r].slot] || (by && by_row == by_column))
                return false;
            if (by)
                (by_row ? kept->row_by : kept->column_by)[r] = by;
        }
    }
    return true;
}

static bool is_kept(const struct dfg_gen *g, const struct dff_node *n, struct dfg_kept *kept)
{
    struct sides sides = { .g = g, .kept = kept, .moved = 1u << row_slot(g) | 1u << (unsigned)g->column };
    struct content c = { .n_reads = 0 };
    for (unsigned r = 0; r < kept->n_ranges; r++)
        sides.moved |= 1u << kept->ranges[r].slot;
    if ((n->slots & sides.moved) != sides.moved || n->slots & ~(sides.moved | ((1u << g->formula->rank) - 1)) || !(n->type == DFF_F32 || n->type == DFF_F64))
        return false;
    look_into(g, n, &c);
    for (unsigned i = 0; i < c.n_reads && c.n_functions && !c.unfit; i++)
        for (unsigned k = 0; k < c.n_reads; k++)
            if (c.reads[i]->number == c.reads[k]->number && i != k && find_way(g, c.reads[i], c.reads[k], kept) &&
                alike(&sides, n, n) == SAME)
                return true;
    return false;
}

/* The largest such value of a sum's body. NULL: there is none. */
static const struct dff_node *largest(const struct dfg_gen *g, const struct dff_node *n, struct dfg_kept *kept)
{
    const struct dff_node *found = is_kept(g, n, kept) ? n : NULL;
    for (uint32_t k = 0; k < n->n_args && !found && n->kind == DFF_OP; k++)
        found = largest(g, n->args[k], kept);
    return found;
}

/* Does MAIN have the same columns in each row? Else a row has not kept all that the rows behind it read. */
static bool has_same_columns(const struct dfg_stage *stage)
{
    for (unsigned i = 0; i < stage->n_bounds; i++)
        if (is_moved(&stage->bounds[i]))
            return false;
    return true;
}

void dfg_kept_find(struct dfg_gen *g)
{
    const struct dff_formula *f = g->formula;
    struct dfg_block scratch;
    int64_t modulus;
    g->kept = (struct dfg_kept){ .node = NULL };
    if (g->near_facts || !dfg_lead(g) || !f->is_index[row_slot(g)] || g->kernel->ports[f->port].mode != DF_OUT || g->stage.has_strips ||
        !has_same_columns(&g->stage) || f->rank != (unsigned)g->column + 1 || dfg_residues(g, &modulus) >= 0 || !dfg_open(g, &scratch, -1, NULL))
        return;
    for (unsigned i = 0; i < g->kernel->n_nodes && !g->kept.node; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        if (!g->facts[i].uses || n->kind != DFF_REDUCE || n->order != DFF_ORDER_FOLD || !n->args[0] || !dfg_copies(n) ||
            n->n_ranges > DFG_MAX_KEPT_RANGES)
            continue;
        g->kept.ranges = n->ranges;
        g->kept.n_ranges = n->n_ranges;
        g->kept.node = largest(g, n->args[0], &g->kept);
    }
    dfg_drop(g, &scratch);
}

/* ---- planes ---- */

/* The repetition that is printed now, as a plane. false: it is none, or its other side is none. */
static bool present(const struct dfg_gen *g, struct dfg_plane *p)
{
    *p = (struct dfg_plane){ .row = 0 };
    for (unsigned r = 0; r < g->kept.n_ranges; r++) {
        const struct dff_range *range = &g->kept.ranges[r];
        const struct dfg_block *block = dfg_block_of(g, 1u << range->slot);
        if (block->slot != (int)range->slot || !block->is_number || -block->number < range->from->i || -block->number >= range->to->i)
            return false;
        p->number[r] = block->number;
        p->row += g->kept.row_by[r] * block->number;
        p->column += g->kept.column_by[r] * block->number;
    }
    return p->row || p->column;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The plane's number. -1: it is none, or there are too many. */
static int number_of(struct dfg_kept *k, const struct dfg_plane *p)
{
    unsigned i = 0;
    while (i < k->n_planes && memcmp(k->planes[i].number, p->number, sizeof p->number) != 0)
        i++;
    if (i == DFG_MAX_PLANES || (i == k->n_planes && k->is_settled))
        return -1;
    if (i == k->n_planes)
        k->planes[k->n_planes++] = *p;
    return (int)i;
}

void dfg_kept_settle(struct dfg_gen *g)
{
    struct dfg_kept *k = &g->kept;
    const unsigned n = k->n_planes;
    k->n_planes = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct dfg_plane p = k->planes[i];
        if (!p.here || !p.there)
            continue;
        k->planes[k->n_planes++] = p;
        k->rows = greater(k->rows, p.row);
        k->columns = greater(k->columns, p.column < 0 ? -p.column : p.column);
    }
    k->is_settled = true;
}

const char *dfg_kept_value(struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_plane p;
    if (!g->kept.is_read || n != g->kept.node || !present(g, &p))
        return NULL;
    const bool behind = p.row < 0 || (p.row == 0 && p.column < 0);
    const int64_t row = behind ? -p.row : 0, column = behind ? p.column : 0;
    for (unsigned r = 0; behind && r < g->kept.n_ranges; r++)
        p.number[r] = -p.number[r];
    p.row = behind ? -p.row : p.row;
    p.column = behind ? -p.column : p.column;
    const int plane = number_of(&g->kept, &p);
    const char *x = g->formula->names[g->column];
    if (plane < 0)
        return NULL;
    *(behind ? &g->kept.planes[plane].there : &g->kept.planes[plane].here) = true;
    return dfg_printf(g, "df_kept_%" PRId64 "[%d * df_stride + %s%s]", row, plane, x,
                      column ? dfg_printf(g, " %c %" PRId64, column < 0 ? '-' : '+', column < 0 ? -column : column) : "");
}

static void print_plane(struct dfg_gen *g, unsigned plane, unsigned r)
{
    struct dfg_block number;
    if (r == g->kept.n_ranges) {
        const char *value = dfg_value(g, g->kept.node).c;
        dfg_line(g, g->block, "df_plane_%u[%s] = %s;", plane, g->formula->names[g->column], value);
        return;
    }
    if (dfg_open_number(g, &number, (int)g->kept.ranges[r].slot, g->kept.planes[plane].number[r]))
        print_plane(g, plane, r + 1);
    dfg_close(g, &number, "");
}

/* The loop over columns of planes `first` to `end` - 1. */
static void print_planes(struct dfg_gen *g, unsigned first, unsigned end, const char *from, const char *to)
{
    struct dfg_block loop;
    const bool good = dfg_open_columns(g, &loop);
    for (unsigned p = first; good && p < end && !g->failed; p++)
        print_plane(g, p, 0);
    dfg_close_columns(g, &loop, from, to);
}

void dfg_kept_print(struct dfg_gen *g)
{
    print_planes(g, 0, g->kept.n_planes, "df_from", "df_to");
    for (unsigned p = 0; p < g->kept.n_planes && !g->failed; p++) {
        const int64_t column = g->kept.planes[p].column;
        if (column > 0)
            print_planes(g, p, p + 1, dfg_printf(g, "df_from - %" PRId64, column), "df_from");
        else if (column < 0)
            print_planes(g, p, p + 1, "df_to", dfg_printf(g, "df_to + %" PRId64, -column));
    }
}
