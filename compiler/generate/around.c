/* around.c - prints reductions of many terms in a formula's row function, for rows.c: their loops stand around the loop over the columns.
 *
 * Why:      a loop inside that of the columns keeps compilers from making vectors. Here the columns are innermost, and an array has the partial result of
 *           each column of a strip. The inner ranges are written out, as far as they are short.
 * Lanes:    a long real sum has 16 partial results for each column, one for each lane of the defined order; they are rows of such an array.
 * Channels: if terms depend on channels, the loops over the strip's columns stand apart for each channel.
 * Running:  a sum of integers whose terms move along the row takes each one up once, and drops it once. One whose terms move with the row is made of that of
 *           the row before it, which the caller of the row functions keeps. Integers wrap around, so the order of terms does not matter.
 */
#include "compiler/generate/reduce.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 8                         /* terms that are joined before what a column has is stored */
#define MOST_TOGETHER 4                 /* reductions in the same loops */
#define LEAST_WORK 4                    /* operations of a value that is not computed anew for each term */

struct around {
    const struct dff_node *nodes[MOST_TOGETHER];
    const char *values[MOST_TOGETHER], *anys[MOST_TOGETHER]; /* arrays; anys: NULL if there surely is a term */
    unsigned n;
    const struct dff_range *range;      /* a chunk of its terms is joined; NULL: none */
    unsigned terms;                     /* of a chunk: */
    int64_t apart;                      /* each is so much behind the one before it, */
    const char *names[4];               /* or these are the slots' names: */
    bool has_names;
    const char *row;                    /* of LANES, what has the lane of each column */
    bool begins;                        /* the chunk's first term is the lane's */
};

static uint32_t slots_of(const struct dff_node *n)
{
    uint32_t slots = 0;
    for (uint32_t r = 0; r < n->n_ranges; r++)
        slots |= 1u << n->ranges[r].slot;
    return slots;
}

bool dfg_is_of_columns(const struct dfg_gen *g, const struct dff_node *n, uint32_t channels)
{
    return n->slots >> (unsigned)g->column & 1 && !(n->slots & ~(((2u << (unsigned)g->column) - 1) | channels));
}

bool dfg_holds_long(const struct dff_node *n)
{
    bool holds = n->kind == DFF_REDUCE || (n->kind == DFF_OP && n->op >= DFF_EXP && n->op <= DFF_TANH);
    for (uint32_t k = 0; k < n->n_args && !holds; k++)
        holds = n->args[k] && dfg_holds_long(n->args[k]);
    return holds;
}

/* Is the reduction of many terms that are soon computed? Written out, these would read so many rows or neighbours that caches and registers lose them:
 * a loop around the columns takes a few at a time. */
static bool is_of_many(const struct dff_node *n)
{
    bool is = n->n_ranges == 1 && dfg_range_is_fixed(&n->ranges[0]) && n->ranges[0].to->i - n->ranges[0].from->i > DFG_MOST_IN_COLUMNS;
    for (uint32_t k = 0; k < n->n_args && is; k++)
        is = !n->args[k] || !dfg_holds_long(n->args[k]);
    return is;
}

bool dfg_reads_rows(const struct dfg_gen *g, const struct dff_node *n)
{
    const uint32_t column = 1u << (unsigned)g->column;
    bool rows = true, behind = false;
    for (uint32_t k = 0; k < n->n_args && rows; k++) {
        struct dfg_affine at;
        if (!n->args[k] || n->kind != DFF_READ) {
            rows = !n->args[k] || dfg_reads_rows(g, n->args[k]);
            continue;
        }
        rows = !(behind && g->kernel->ports[n->number].extents[k]->kind != DFF_CONST) && (!(n->args[k]->slots & column) || dfg_affine(g, dfg_index_in(g, n, k), &at));
        behind |= (n->args[k]->slots & column) != 0;
    }
    return rows;
}

/* Ranges that end with numbers are short, or the loop inside is no better anyway. */
static bool ends_well(const struct dfg_gen *g, const struct dff_node *n)
{
    bool fixed = true;
    for (uint32_t r = 0; r < n->n_ranges; r++) {
        fixed &= dfg_range_is_fixed(&n->ranges[r]);
        if (n->ranges[r].from->slots | n->ranges[r].to->slots)
            return false;
    }
    return fixed || dfg_reads_rows(g, n);
}

bool dfg_has_lanes(const struct dff_node *n)
{
    return n->order == DFF_ORDER_LANES && dfg_is_float(n->type);
}

static bool holds_reduction(const struct dff_node *n)
{
    bool holds = n->kind == DFF_REDUCE;
    for (uint32_t k = 0; k < n->n_args && !holds; k++)
        holds = n->args[k] && holds_reduction(n->args[k]);
    return holds;
}

/* May the condition of terms in lanes choose between them and what changes no bit of a lane? A NaN is not kept beside an infinity. */
static bool may_test(const struct dff_node *n)
{
    const struct dff_node *condition = dfg_condition_of(n);
    return !condition || ((n->op == DFF_SUM || n->op == DFF_PROD) && !holds_reduction(condition));
}

/* Finds the reduction in the terms of the last range that is a row for each of its values. false: they hold other loops. */
static bool find_inner(struct dfg_gen *g, const struct dff_node *n, uint32_t slot, const struct dff_node **inner)
{
    bool good = true;
    if (n->kind == DFF_REDUCE && !dfg_columns_has(g, n) && g->facts[n->id].loops) {
        const uint32_t all = ((2u << (unsigned)g->column) - 1) | 1u << slot | g->apart;
        good = (!*inner || *inner == n) && dfg_has_lanes(n) && may_test(n) && !holds_reduction(n->args[0]) && ends_well(g, n) && !(n->slots & ~all) &&
               n->slots >> (unsigned)g->column & 1;
        *inner = n;
        return good;
    }
    for (uint32_t k = 0; k < n->n_args && good; k++)
        good = !n->args[k] || find_inner(g, n->args[k], slot, inner);
    return good;
}

/* Would it be a loop inside that over the columns? */
static bool is_loop(struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_block columns;
    dfg_open_columns(g, &columns);
    const bool is = !g->failed && dfg_ranges_written(g, n) < n->n_ranges;
    dfg_drop(g, &columns);
    return is;
}

/* Is it a reduction whose loop is to stand around the columns? */
static bool is_around(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_node *inner = NULL;
    if (n->kind != DFF_REDUCE || !g->facts[n->id].uses || dfg_is_best(n) || n == g->sum || !dfg_is_of_columns(g, n, g->apart) || dfg_columns_has(g, n) ||
        (dfg_has_lanes(n) && (!may_test(n) || !find_inner(g, n->args[0], n->ranges[n->n_ranges - 1].slot, &inner))) || !ends_well(g, n))
        return false;
    return is_of_many(n) || is_loop(g, n);
}

enum { NOT_AROUND, AROUND, HOLDS_AROUND = 2 }; /* by node id: what it is, and what its arguments hold */

/* Marks which nodes hold reductions that are to stand around the columns: arguments have lower numbers than the nodes that they are of. */
static void mark_holders(const struct dfg_gen *g, unsigned char *marks)
{
    for (unsigned i = 0; i < g->kernel->n_nodes; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        marks[i] &= AROUND;
        for (uint32_t k = 0; k < n->n_args; k++)
            if (n->args[k] && marks[n->args[k]->id])
                marks[i] |= HOLDS_AROUND;
    }
}

static bool has_ranges_of(const struct dff_node *a, const struct dff_node *b)
{
    bool same = a->n_ranges == b->n_ranges && dfg_is_backwards(a) == dfg_is_backwards(b);
    for (uint32_t r = 0; r < a->n_ranges && same; r++)
        same = a->ranges[r].slot == b->ranges[r].slot && a->ranges[r].from == b->ranges[r].from && a->ranges[r].to == b->ranges[r].to;
    return same;
}

static unsigned work_of(const struct dff_node *n)
{
    const bool is_long = n->kind == DFF_REDUCE || (n->kind == DFF_OP && (n->op == DFF_DIV || n->op == DFF_MOD || (n->op >= DFF_SQRT && n->op <= DFF_TANH)));
    unsigned work = is_long ? LEAST_WORK : n->kind == DFF_OP || n->kind == DFF_CONVERT;
    for (uint32_t k = 0; k < n->n_args && work < LEAST_WORK; k++)
        work += n->args[k] ? work_of(n->args[k]) : 0;
    return work;
}

/* Adds arrays for what the terms need and what is the same for all of them: inside the loop it would be computed anew for each. Comes to each node
 * once in a walk; one for each of the reductions is left free. */
static void keep_columns(struct dfg_gen *g, const struct dff_node *n, uint32_t slots)
{
    if (g->facts[n->id].walk == g->walks || !(n->slots >> (unsigned)g->column & 1) || dfg_columns_has(g, n) ||
        g->n_columns + MOST_TOGETHER >= DFG_MAX_COLUMNS)
        return;
    g->facts[n->id].walk = g->walks;
    g->facts[n->id].inside = 1;
    if (!(n->slots & slots) && dfg_is_of_columns(g, n, g->apart) && work_of(n) >= LEAST_WORK) {
        dfg_column_array(g, n->type, dfg_column_add(g, n, false)->name, 1, 0);
        return;
    }
    for (uint32_t k = 0; k < n->n_args; k++)
        if (n->args[k])
            keep_columns(g, n->args[k], slots);
}

static const char *place_in_strip(struct dfg_gen *g, const char *array)
{
    return dfg_printf(g, "%s[%s - df_strip]", array, g->formula->names[g->column]);
}

/* A loop over the strip's columns, in which print() prints. */
static void over_columns(struct dfg_gen *g, const struct around *a, void (*print)(struct dfg_gen *g, const struct around *a))
{
    struct dfg_block loop;
    if (dfg_open_columns(g, &loop)) {
        loop.loc = &g->formula->ast->loc;
        print(g, a);
    }
    dfg_close_columns(g, &loop, "df_strip", "df_strip_end");
}

/* Adds C that says whether the range has values to `text`, which says so of others. NULL: they surely have. */
static const char *also_has_values(struct dfg_gen *g, const char *text, const struct dff_range *range)
{
    if (dfg_range_has_values(range))
        return text;
    return dfg_printf(g, "%s%s%s < %s", text ? text : "", text ? " && " : "", dfg_within(g, dfg_index(g, range->from), DFG_PLUS),
                      dfg_within(g, dfg_index(g, range->to), DFG_PLUS));
}

/* So of all ranges from number r on. */
static const char *has_values(struct dfg_gen *g, const struct dff_node *n, uint32_t r)
{
    const char *text = NULL;
    for (; r < n->n_ranges; r++)
        text = also_has_values(g, text, &n->ranges[r]);
    return text;
}

static void begin_columns(struct dfg_gen *g, const struct around *a)
{
    for (unsigned i = 0; i < a->n; i++) {
        const char *start = dfg_start_of(a->nodes[i]), *some = dfg_needs_any(a->nodes[i]) && !a->anys[i] ? has_values(g, a->nodes[i], 0) : NULL;
        dfg_line(g, g->block, "%s = %s;", place_in_strip(g, a->values[i]), some ? dfg_printf(g, "%s ? %s : 0", some, start) : start);
        if (a->anys[i])
            dfg_line(g, g->block, "%s = 0;", place_in_strip(g, a->anys[i]));
    }
}

static void end_columns(struct dfg_gen *g, const struct around *a)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->anys[i]) {
            const char *value = place_in_strip(g, a->values[i]);
            dfg_line(g, g->block, "%s = %s ? %s : 0;", value, place_in_strip(g, a->anys[i]), value);
        }
}

/* Opens the block of a chunk's term k. */
static bool open_term(struct dfg_gen *g, const struct around *a, struct dfg_block *term, unsigned k)
{
    const char *name = a->has_names ? a->names[k] : dfg_block_of(g, 1u << a->range->slot)->name;
    const bool good = dfg_open_shared(g, term, (int)a->range->slot, name);
    dfg_set_ends(term, a->range, a->has_names ? 0 : k * a->apart);
    return good;
}

static void written_chunk(struct dfg_gen *g, const struct dfg_fold *folds, const struct around *a)
{
    const unsigned before = g->copies;
    g->copies *= a->terms;
    for (unsigned k = 0; k < a->terms && !g->failed; k++) {
        struct dfg_block term;
        if (open_term(g, a, &term, k))
            dfg_fold_terms(g, folds, false);
        dfg_close(g, &term, "");
    }
    g->copies = before;
}

/* How many of the ranges are written out inside the loops around the columns. */
static unsigned written_around(struct dfg_gen *g, const struct dff_node *n)
{
    return is_of_many(n) ? 0 : dfg_ranges_written(g, n);
}

/* One column: the terms of the ranges that are written out, or of a chunk. */
static void join_columns(struct dfg_gen *g, const struct around *a)
{
    struct dfg_fold folds[MOST_TOGETHER];
    unsigned written = a->nodes[0]->n_ranges;
    bool first = false;
    for (unsigned i = 0; i < a->n; i++) {
        const struct dff_node *n = a->nodes[i];
        const unsigned own = written_around(g, n);
        folds[i] = (struct dfg_fold){ .node = n, .name = dfg_new_name(g), .any = a->anys[i] ? dfg_new_name(g) : NULL, .next = i + 1 < a->n ? &folds[i + 1] : NULL };
        written = own < written ? own : written;
        dfg_line(g, g->block, "%s %s = %s;", dfg_type(n->type), folds[i].name, place_in_strip(g, a->values[i]));
        if (a->anys[i])
            dfg_line(g, g->block, "int %s = %s;", folds[i].any, place_in_strip(g, a->anys[i]));
    }
    if (a->range)
        written_chunk(g, folds, a);
    else
        dfg_written_out(g, folds, folds[0].node->n_ranges - written, &first);
    for (unsigned i = 0; i < a->n; i++) {
        dfg_line(g, g->block, "%s = %s;", place_in_strip(g, a->values[i]), folds[i].name);
        if (a->anys[i])
            dfg_line(g, g->block, "%s = %s;", place_in_strip(g, a->anys[i]), folds[i].any);
    }
}

static unsigned around_written(struct dfg_gen *g, const struct around *a)
{
    struct dfg_block columns;
    unsigned written = a->nodes[0]->n_ranges;
    dfg_open_columns(g, &columns);
    for (unsigned i = 0; i < a->n && !g->failed; i++) {
        const unsigned own = written_around(g, a->nodes[i]);
        written = own < written ? own : written;
    }
    dfg_drop(g, &columns);
    return written;
}

static void one_chunk(struct dfg_gen *g, const struct around *a, const struct dff_range *range, const char *from, const char *to, unsigned terms)
{
    struct around chunk = *a;
    struct dfg_block block;
    struct dfg_loop loop = dfg_loop_open(g, range, &block);
    chunk.range = range;
    chunk.terms = terms;
    chunk.apart = 1;
    if (!g->failed)
        over_columns(g, &chunk, join_columns);
    dfg_close(g, &block, dfg_printf(g, "for (int64_t %s = %s; %s < %s; %s += %u)", loop.name, from, loop.name, to, loop.name, terms));
}

/* The innermost range, if none is written out: CHUNK terms at a time, and then the rest, because what the columns have is read and stored each time. */
static void around_chunks(struct dfg_gen *g, const struct around *a, const struct dff_range *range)
{
    const char *from = dfg_index(g, range->from).c, *to = dfg_index(g, range->to).c, *middle = dfg_new_name(g);
    const int64_t values = dfg_range_is_fixed(range) ? range->to->i - range->from->i : 0, whole = values - values % CHUNK;
    if (values)
        middle = dfg_printf(g, "%" PRId64, range->from->i + whole);
    else
        dfg_line(g, g->block, "const int64_t %s = %s + (%s - (%s)) / %d * %d;", middle, from, to, from, CHUNK, CHUNK);
    if (!values || whole)
        one_chunk(g, a, range, from, middle, CHUNK);
    if (!values || whole < values)
        one_chunk(g, a, range, middle, to, 1);
}

static void around_loops(struct dfg_gen *g, const struct around *a, uint32_t depth, uint32_t loops)
{
    struct dfg_block block;
    if (depth == loops) {
        over_columns(g, a, join_columns);
        return;
    }
    if (depth + 1 == a->nodes[0]->n_ranges) {
        around_chunks(g, a, dfg_range_at(a->nodes[0], depth));
        return;
    }
    struct dfg_loop loop = dfg_loop_open(g, dfg_range_at(a->nodes[0], depth), &block);
    if (!g->failed)
        around_loops(g, a, depth + 1, loops);
    dfg_loop_close(g, &block, &loop);
}

static void print_kept(struct dfg_gen *g, unsigned first)
{
    struct dfg_block loop;
    const unsigned last = g->n_columns;
    if (first == last)
        return;
    if (dfg_open_columns(g, &loop)) {
        g->n_columns = first;           /* they are not there yet */
        for (unsigned i = first; i < last && !g->failed; i++)
            dfg_line(g, g->block, "%s = %s;", place_in_strip(g, g->columns[i].name), dfg_value(g, g->columns[i].node).c);
        g->n_columns = last;
    }
    dfg_close_columns(g, &loop, "df_strip", "df_strip_end");
}

/* ---- lanes of columns ---- */

/* Notes whether the column has a term. The array has the type of the terms, so that vectors of both have as many lanes. */
static void note_any(struct dfg_gen *g, const struct around *a)
{
    if (!a->anys[0])
        return;
    const char *any = place_in_strip(g, a->anys[0]);
    dfg_line(g, g->block, "%s = %s ? 1 : %s;", any, dfg_within(g, dfg_value(g, dfg_condition_of(a->nodes[0])), DFG_COMPARE), any);
}

/* Joins a chunk of terms with the lane of a column, or begins it. */
static void join_lane(struct dfg_gen *g, const struct around *a)
{
    const struct dfg_fold fold = { .node = a->nodes[0], .name = dfg_new_name(g) };
    const char *lane = place_in_strip(g, a->row);
    if (!a->begins || dfg_condition_of(fold.node))
        dfg_line(g, g->block, "%s %s = %s;", dfg_type(fold.node->type), fold.name, a->begins ? dfg_start_of(fold.node) : lane);
    for (unsigned k = 0; k < a->terms && !g->failed; k++) {
        struct dfg_block term;
        if (open_term(g, a, &term, k)) {
            note_any(g, a);
            dfg_fold_terms(g, &fold, a->begins && k == 0);
        }
        dfg_close(g, &term, "");
    }
    dfg_line(g, g->block, "%s = %s;", lane, fold.name);
}

/* Stores what the terms of four lanes give that are equally far apart, or of those of them that have one. */
static void join_four(struct dfg_gen *g, const struct around *a)
{
    struct dfg_text terms[4] = { { 0 } };
    for (unsigned k = 0; k < a->terms && !g->failed; k++) {
        struct dfg_block term;
        if (open_term(g, a, &term, k)) {
            note_any(g, a);
            terms[k] = dfg_lane_term(g, a->nodes[0]);
        }
        dfg_close(g, &term, "");
    }
    if (!g->failed)
        dfg_line(g, g->block, "%s = %s;", place_in_strip(g, a->row), dfg_joined_lanes(g, a->nodes[0], terms, a->terms).c);
}

/* A loop over columns behind `head`, in which a chunk of terms is joined. i: the name of the range's slot in a loop over chunks; NULL: it is there already,
 * and the chunk is the first one. */
static void lane_chunk(struct dfg_gen *g, const struct around *a, unsigned terms, const char *i, const char *head)
{
    struct around chunk = *a;
    struct dfg_block block;
    chunk.terms = terms;
    chunk.begins = !i;
    if (dfg_open(g, &block, i ? (int)a->range->slot : -1, i))
        over_columns(g, &chunk, a->has_names ? join_four : join_lane);
    dfg_close(g, &block, head);
}

/* A lane of a block of more than 16 terms. There is no `else` here: what a chunk needs of the block around it may be printed before it. */
static void print_long(struct dfg_gen *g, const struct around *a, const char *i)
{
    const char *four = dfg_new_name(g), *one = dfg_new_name(g);
    lane_chunk(g, a, 1, NULL, "if (df_left == 1)");
    lane_chunk(g, a, 2, NULL, "if (df_left == 2 || df_left == 3)");
    lane_chunk(g, a, 4, NULL, "if (df_left >= 4)");
    lane_chunk(g, a, 4, four, dfg_printf(g, "for (int64_t %s = %s + %d; df_end - %s > %d; %s += %d)", four, i, 4 * DFG_LANES, four, 3 * DFG_LANES, four, 4 * DFG_LANES));
    lane_chunk(g, a, 1, one, dfg_printf(g, "for (int64_t %s = %s + %d * (df_left < 4 ? df_left / 2 * 2 + (df_left == 1) : df_left / 4 * 4); %s < df_end; %s += %d)", one, i, DFG_LANES, one, one, DFG_LANES));
}

/* Lanes l, l + df_apart, … of a block of 16 terms at most. */
static void print_short(struct dfg_gen *g, struct around *a, const char *i)
{
    a->has_names = true;
    a->names[0] = i;
    for (unsigned k = 1; k < 4; k++) {
        a->names[k] = dfg_new_name(g);
        dfg_line(g, g->block, "const int64_t %s = %s + df_apart;", a->names[k], a->names[k - 1]);
    }
    for (unsigned terms = 1; terms <= 4 && !g->failed; terms++)
        lane_chunk(g, a, terms, NULL, dfg_printf(g, "if (df_left == %u)", terms));
}

/* The loop over the lanes of a block, or over those of a short block of which one row is made. */
static void print_lane_loop(struct dfg_gen *g, const struct around *a, const char *i, const char *lanes, bool is_short)
{
    struct dfg_block block;
    struct around own = *a;
    own.row = dfg_new_name(g);
    own.apart = DFG_LANES;
    if (dfg_open(g, &block, (int)a->range->slot, i)) {
        dfg_set_ends(&block, a->range, 0);
        dfg_line(g, &block, "%s *const %s = %s + df_l * df_strip_columns;", dfg_type(a->nodes[0]->type), own.row, lanes);
        dfg_line(g, &block, "const int64_t %s = df_block + df_l, df_left = (df_end - %s + df_apart - 1) / df_apart;", i, i);
        if (is_short)
            print_short(g, &own, i);
        else
            print_long(g, &own, i);
    }
    dfg_close(g, &block, "for (int64_t df_l = 0; df_l < df_apart; df_l++)");
}

/* The last range: its blocks. a->row: whether it is one block. */
static void print_lane_blocks(struct dfg_gen *g, const struct around *a, const char *kind, const char *state, const char *lanes)
{
    struct around own = *a;
    struct dfg_block block, part;
    own.range = &a->nodes[0]->ranges[a->nodes[0]->n_ranges - 1];
    struct dfg_loop loop = dfg_loop_open(g, own.range, &block); /* for its name */
    block.slot = -1;
    block.name = NULL;
    dfg_line(g, &block, "const int64_t df_end = %s - df_block < DF_BLOCK ? %s : df_block + DF_BLOCK, df_terms = df_end - df_block;", loop.to, loop.to);
    dfg_line(g, &block, "const int64_t df_apart = df_terms <= 4 ? 1 : df_terms <= 8 ? 2 : df_terms <= DF_LANES ? 4 : DF_LANES;");
    for (int is_short = 1; is_short >= 0 && !g->failed; is_short--) {
        if (dfg_open(g, &part, -1, NULL))
            print_lane_loop(g, &own, loop.name, lanes, is_short);
        dfg_close(g, &part, is_short ? "if (df_apart < DF_LANES)" : "if (df_apart == DF_LANES)");
    }
    dfg_line(g, &block, "df_join_rows_%s(%s, df_strip_columns, df_apart, df_strip_end - df_strip);", kind, lanes);
    dfg_line(g, &block, "if (!%s)", own.row);
    dfg_line(g, &block, "    df_put_row_%s(&%s, 1, %s, %s, df_strip_columns, df_strip_end - df_strip);", kind, state, lanes, lanes);
    dfg_close(g, &block, dfg_printf(g, "for (int64_t df_block = %s; df_block < %s; df_block += DF_BLOCK)", loop.from, loop.to));
}

static void store_term(struct dfg_gen *g, const struct around *a)
{
    const char *term = dfg_lane_term(g, a->nodes[0]).c;
    note_any(g, a);
    dfg_line(g, g->block, "%s = %s;", place_in_strip(g, a->row), term);
}

static const char *rows_of_lanes(struct dfg_gen *g, const struct around *a, uint32_t r);

static void begin_any(struct dfg_gen *g, const struct around *a)
{
    dfg_line(g, g->block, "%s = 0;", place_in_strip(g, a->anys[0]));
}

/* Of no term a sum is 0, and not what its lanes begin with. */
static void end_any(struct dfg_gen *g, const struct around *a)
{
    dfg_line(g, g->block, "%s = %s != 0 ? %s : 0;", place_in_strip(g, a->values[0]), place_in_strip(g, a->anys[0]), place_in_strip(g, a->row));
}

/* Prints a reduction in lanes. Gives the name of the row that has its values. */
static const char *row_of_lanes(struct dfg_gen *g, const struct dff_node *n)
{
    struct around a = { .nodes = { n }, .n = 1 };
    if (!dfg_condition_of(n) || n->op != DFF_SUM)
        return rows_of_lanes(g, &a, 0);
    a.anys[0] = dfg_new_name(g);
    a.values[0] = dfg_new_name(g);
    dfg_column_array(g, n->type, a.anys[0], 1, 0);
    dfg_column_array(g, n->type, a.values[0], 1, 0);
    over_columns(g, &a, begin_any);
    a.row = rows_of_lanes(g, &a, 0);
    over_columns(g, &a, end_any);
    return a.values[0];
}

/* Prints the row of terms for one value of the last range. inner: the reduction that they hold; NULL: none. Gives its name. */
static const char *row_of_terms(struct dfg_gen *g, const struct around *a, const struct dff_node *inner)
{
    struct around own = *a;
    const unsigned before = g->n_columns;
    own.row = dfg_new_name(g);
    if (inner)
        dfg_column_add(g, inner, false)->name = row_of_lanes(g, inner);
    dfg_line(g, g->block, "%s %s[df_strip_columns];", dfg_type(a->nodes[0]->type), own.row);
    over_columns(g, &own, store_term);
    g->n_columns = before;              /* the next value has another one */
    return own.row;
}

static bool holds_calls(const struct dff_node *n)
{
    const struct dff_node *condition = dfg_condition_of(n);
    return dfg_holds_long(n->args[0]) || (condition && dfg_holds_long(condition));
}

/* Prints what puts the values of ranges r, r + 1, … together, of each column. Gives the name of the row that has them. */
static const char *rows_of_lanes(struct dfg_gen *g, const struct around *a, uint32_t r)
{
    const struct dff_node *n = a->nodes[0];
    const char *state = dfg_new_name(g), *lanes = dfg_new_name(g), *row = dfg_new_name(g), *kind = dfg_lanes_name(g, n), *some = has_values(g, n, r + 1);
    const char *end = dfg_printf(g, "df_end_rows_%s(&%s, %s, df_strip_columns, df_strip_end - df_strip, %s)", kind, state, lanes, n->op == DFF_SUM ? "0" : dfg_start_of(n));
    struct dfg_block block, inside;
    struct around own = *a;
    const struct dff_node *held = NULL;
    const bool last = r + 1 == n->n_ranges;
    if (last)
        find_inner(g, n->args[0], n->ranges[r].slot, &held);
    const bool in_blocks = last && !held && !holds_calls(n); /* the text of a term stands there several times */
    if (in_blocks) {
        const char *from = dfg_within(g, dfg_index(g, n->ranges[r].from), DFG_UNARY), *to = dfg_within(g, dfg_index(g, n->ranges[r].to), DFG_PLUS);
        own.row = dfg_new_name(g);
        dfg_line(g, g->block, "const int %s = %s > %s && %s - %s <= DF_BLOCK;", own.row, to, from, to, from);
        end = dfg_printf(g, "%s ? %s : %s", own.row, lanes, end);
    }
    dfg_line(g, g->block, "struct df_row_lanes %s = { .n = { 0 } };", state);
    dfg_line(g, g->block, "%s %s[DF_LEVELS * DF_LANES * df_strip_columns];", dfg_type(n->type), lanes);
    if (some)
        dfg_open(g, &inside, -1, NULL);
    if (in_blocks && !g->failed)
        print_lane_blocks(g, &own, kind, state, lanes);
    else if (!g->failed) {
        struct dfg_loop loop = dfg_loop_open(g, &n->ranges[r], &block);
        const char *inner = g->failed ? "" : last ? row_of_terms(g, a, held) : rows_of_lanes(g, a, r + 1);
        dfg_line(g, g->block, "df_put_row_%s(&%s, 0, %s, %s, df_strip_columns, df_strip_end - df_strip);", kind, state, lanes, inner);
        dfg_loop_close(g, &block, &loop);
    }
    if (some)
        dfg_close(g, &inside, dfg_printf(g, "if (%s)", some));
    dfg_line(g, g->block, "const %s *const %s = %s;", dfg_type(n->type), row, end);
    return row;
}

/* ---- running sums ---- */

struct run {                            /* a sum of integers that is the one before it, without its first terms and with others */
    const struct dff_range *down, *across; /* along rows and along columns; NULL: it does not run so */
    const struct dff_node *term;
};

static bool is_plain_sum(const struct dff_node *n)
{
    bool is = n->kind == DFF_REDUCE && n->op == DFF_SUM && !dfg_is_float(n->type) && !dfg_condition_of(n);
    for (uint32_t r = 0; r < n->n_ranges && is; r++)
        is = !(n->ranges[r].from->slots | n->ranges[r].to->slots);
    return is;
}

/* Finds the ranges of a sum, or of a sum of sums, and the term. Gives how many there are; 0: they are too many, or something else. */
static unsigned ranges_of(const struct dff_node *n, const struct dff_range **ranges, const struct dff_node **term)
{
    if (!is_plain_sum(n) || n->n_ranges > 2)
        return 0;
    const struct dff_node *inner = n->args[0];
    const bool nested = n->n_ranges == 1 && is_plain_sum(inner) && inner->n_ranges == 1 && inner->type == n->type;
    ranges[0] = &n->ranges[0];
    ranges[1] = nested ? &inner->ranges[0] : &n->ranges[n->n_ranges - 1];
    *term = nested ? inner->args[0] : inner;
    return dfg_holds_long(*term) ? 0 : nested ? 2 : n->n_ranges;
}

/* Are MAIN's columns the same ones in each row, and is nothing read that is written? Then the row before has the sums of these columns. */
static bool rows_are_alike(const struct dfg_gen *g)
{
    const uint32_t column = 1u << (unsigned)g->column;
    for (unsigned i = 0; i < g->kernel->n_nodes; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        if (n->kind != DFF_READ || !g->facts[i].uses)
            continue;
        if (g->kernel->ports[n->number].mode == DF_INOUT || g->kernel->ports[n->number].mode == DF_ACC)
            return false;
        for (uint32_t k = 0; k < n->n_args; k++)
            if (n->args[k]->slots & column && n->args[k]->slots & (column - 1))
                return false;
    }
    return true;
}

static bool find_run(struct dfg_gen *g, const struct dff_node *n, struct run *run)
{
    const struct dff_range *ranges[2];
    const unsigned x = (unsigned)g->column, y = dfg_lead(g) - 1, n_ranges = ranges_of(n, ranges, &run->term);
    const bool down = dfg_lead(g) && g->formula->is_index[y] && rows_are_alike(g);
    run->down = run->across = NULL;
    if (n_ranges == 1 && dfg_is_shifted(g, run->term, x, ranges[0]->slot))
        run->across = ranges[0];
    else if (n_ranges == 1 && down && dfg_is_shifted(g, run->term, y, ranges[0]->slot))
        run->down = ranges[0];
    for (unsigned k = 0; k < 2 && n_ranges == 2 && down && !run->down; k++)
        if (dfg_is_shifted(g, run->term, y, ranges[k]->slot) && dfg_is_shifted(g, run->term, x, ranges[!k]->slot)) {
            run->down = ranges[k];
            run->across = ranges[!k];
        }
    return run->down || run->across;
}

bool dfg_is_box(struct dfg_gen *g, const struct dff_node *n)
{
    struct run run;
    return is_around(g, n) && find_run(g, n, &run) && run.down && run.across;
}

/* The number of the sum among those that rows keep. -1: these are too many. */
static int number_of(struct dfg_gen *g, const struct dff_node *n)
{
    unsigned i = 0;
    const int64_t channel = n->slots & g->apart ? dfg_channel(g) : 0;
    while (i < g->stage.n_runs && (g->stage.runs[i].node != n || g->stage.runs[i].channel != channel))
        i++;
    if (i == DFG_MAX_RUNS)
        return -1;
    if (i == g->stage.n_runs)
        g->stage.runs[g->stage.n_runs++] = (struct dfg_run){ n, channel };
    return (int)i;
}

/* The term for which the range's slot has that name. */
static const char *term_of(struct dfg_gen *g, const struct dff_node *term, const struct dff_range *range, const char *name)
{
    struct dfg_block block;
    const char *value = "";
    if (dfg_open_shared(g, &block, (int)range->slot, name)) {
        dfg_set_ends(&block, range, 0);
        value = dfg_value(g, term).c;
    }
    dfg_close(g, &block, "");
    return value;
}

/* C for the slot's value of the term that a sum gains, and of the one that it loses. */
static const char *gained_by(struct dfg_gen *g, const struct dff_range *range)
{
    return dfg_printf(g, "%s - 1", dfg_within(g, dfg_index(g, range->to), DFG_PLUS));
}

static const char *lost_by(struct dfg_gen *g, const struct dff_range *range)
{
    return dfg_printf(g, "%s - 1", dfg_within(g, dfg_index(g, range->from), DFG_PLUS));
}

/* Prints a strip of sums along a row into the array: each is that of the column before it. op: what they are joined with there; NULL: nothing. */
static void print_across(struct dfg_gen *g, const struct run *run, const char *array, const char *op)
{
    const char *sum = dfg_new_name(g), *gained = dfg_new_name(g), *lost = dfg_new_name(g), *x = g->formula->names[g->column];
    const char *type = dfg_type_name(run->term->type), *place = place_in_strip(g, array), *value = op ? dfg_printf(g, "df_%s_%s(%s, %s)", op, type, place, sum) : sum;
    const struct dff_range *range = run->across;
    struct dfg_block first, block;
    dfg_line(g, g->block, "%s %s = 0;", dfg_type(run->term->type), sum);
    dfg_line(g, g->block, "const int64_t %s = %s, %s = %s;", gained, gained_by(g, range), lost, lost_by(g, range));
    if (dfg_open(g, &first, g->column, x)) {
        dfg_line(g, &first, "const int64_t %s = df_strip;", x);
        struct dfg_loop loop = dfg_loop_open(g, range, &block);
        if (!g->failed)
            dfg_line(g, &block, "%s = df_add_%s(%s, %s);", sum, type, sum, dfg_value(g, run->term).c);
        dfg_loop_close(g, &block, &loop);
        dfg_line(g, &first, "%s = %s;", place, value);
    }
    dfg_close(g, &first, "");
    if (dfg_open_columns(g, &block)) {
        const char *more = term_of(g, run->term, range, gained), *less = term_of(g, run->term, range, lost);
        dfg_line(g, &block, "%s = df_add_%s(%s, df_sub_%s(%s, %s));", sum, type, sum, type, more, less);
        dfg_line(g, &block, "%s = %s;", place, value);
    }
    dfg_close_columns(g, &block, "df_strip + 1", "df_strip_end");
}

/* Joins the sums along one row of a box. at: C for the slot's value of that row. */
static void print_box_row(struct dfg_gen *g, const struct run *run, const char *array, const char *op, const char *at)
{
    struct dfg_block block;
    const char *name = dfg_new_name(g);
    if (dfg_open(g, &block, (int)run->down->slot, name)) {
        dfg_set_ends(&block, run->down, 0);
        dfg_line(g, &block, "const int64_t %s = %s;", name, at);
        print_across(g, run, array, op);
    }
    dfg_close(g, &block, "");
}

/* Makes the sums of a row of those of the row before it, which the array has. */
static void print_next_row(struct dfg_gen *g, const struct run *run, const char *array, int number)
{
    const char *gained = dfg_new_name(g), *lost = dfg_new_name(g), *type = dfg_type_name(run->term->type);
    struct dfg_block block, columns;
    if (run->across) {
        print_box_row(g, run, array, "add", gained_by(g, run->down));
        print_box_row(g, run, array, "sub", lost_by(g, run->down));
    } else if (dfg_open(g, &block, (int)run->down->slot, lost)) {
        dfg_set_ends(&block, run->down, 0);
        dfg_line(g, &block, "const int64_t %s = %s, %s = %s;", gained, gained_by(g, run->down), lost, lost_by(g, run->down));
        if (dfg_open_columns(g, &columns)) {
            const char *sum = dfg_printf(g, "df_runs%d[%s]", number, g->formula->names[g->column]);
            const char *more = term_of(g, run->term, run->down, gained), *less = term_of(g, run->term, run->down, lost);
            dfg_line(g, &columns, "%s = df_add_%s(%s, df_sub_%s(%s, %s));", sum, type, sum, type, more, less);
        }
        dfg_close_columns(g, &columns, "df_strip", "df_strip_end");
        dfg_close(g, &block, "");
    }
}

static void print_loops(struct dfg_gen *g, struct around *a, bool any)
{
    over_columns(g, a, begin_columns);
    around_loops(g, a, 0, a->nodes[0]->n_ranges - around_written(g, a));
    if (any)
        over_columns(g, a, end_columns);
}

/* Makes the sums of a row that has none before it. some: C that says whether there are terms; NULL: there surely are. */
static void print_first_row(struct dfg_gen *g, struct around *a, const struct run *run, const char *some)
{
    struct dfg_block block, loop_block;
    if (!run->across) {
        print_loops(g, a, false);
        return;
    }
    over_columns(g, a, begin_columns);
    if (dfg_open(g, &block, -1, NULL)) {
        struct dfg_loop loop = dfg_loop_open(g, run->down, &loop_block);
        if (!g->failed)
            print_across(g, run, a->values[0], "add");
        dfg_loop_close(g, &loop_block, &loop);
    }
    dfg_close(g, &block, some ? dfg_printf(g, "if (%s)", some) : "");
}

/* The sums of a strip that are those of the row before it, which are in df_runs. */
static void print_down(struct dfg_gen *g, struct around *a, const struct run *run, const char *some, int number)
{
    const char *own = a->values[0], *when = some ? dfg_printf(g, "df_next && %s", some) : "df_next";
    struct dfg_block block;
    a->values[0] = dfg_new_name(g);
    dfg_line(g, g->block, "%s *const %s = df_runs%d ? df_runs%d + df_strip : %s;", dfg_type(a->nodes[0]->type), a->values[0], number, number, own);
    if (dfg_open(g, &block, -1, NULL))
        print_next_row(g, run, a->values[0], number);
    dfg_close(g, &block, dfg_printf(g, "if (%s)", when));
    if (dfg_open(g, &block, -1, NULL))
        print_first_row(g, a, run, some);
    dfg_close(g, &block, dfg_printf(g, "if (!(%s))", when));
}

/* Prints a sum that runs. number: among those that rows keep; -1: it is none of them. Of a range without values nothing is read. */
static void print_run(struct dfg_gen *g, struct around *a, const struct run *run, int number)
{
    const char *some = run->down ? also_has_values(g, NULL, run->down) : NULL;
    struct dfg_block block;
    if (run->across)
        some = also_has_values(g, some, run->across);
    a->values[0] = dfg_new_name(g);
    dfg_column_array(g, a->nodes[0]->type, a->values[0], 1, 0);
    if (number >= 0) {
        print_down(g, a, run, some, number);
    } else {
        if (some)
            over_columns(g, a, begin_columns);
        if (dfg_open(g, &block, -1, NULL))
            print_across(g, run, a->values[0], NULL);
        dfg_close(g, &block, some ? dfg_printf(g, "if (%s)", some) : "");
    }
    dfg_column_add(g, a->nodes[0], false)->name = a->values[0];
}

static void print_around(struct dfg_gen *g, struct around *a)
{
    const unsigned before = g->n_columns;
    bool any = false;
    g->stage.is_wide = true;
    g->walks++;
    for (unsigned i = 0; i < a->n; i++)
        for (uint32_t k = 0; k < a->nodes[i]->n_args; k++)
            if (a->nodes[i]->args[k])
                keep_columns(g, a->nodes[i]->args[k], slots_of(a->nodes[i]));
    print_kept(g, before);
    if (dfg_has_lanes(a->nodes[0])) {
        g->column_bytes += DFG_LANES / 2 * dfg_type_bytes(a->nodes[0]->type); /* 16 rows for a strip in the first cache, beside one that is read */
        dfg_column_add(g, a->nodes[0], false)->name = row_of_lanes(g, a->nodes[0]);
        return;
    }
    struct run run;
    const bool runs = find_run(g, a->nodes[0], &run);
    const int number = runs && run.down ? number_of(g, a->nodes[0]) : -1;
    if (runs && (number >= 0 || !run.down)) {
        print_run(g, a, &run, number);
        return;
    }
    for (unsigned i = 0; i < a->n; i++) {
        const struct dff_node *n = a->nodes[i];
        a->values[i] = dfg_new_name(g);
        a->anys[i] = dfg_needs_any(n) && dfg_condition_of(n) ? dfg_new_name(g) : NULL;
        any |= a->anys[i] != NULL;
        dfg_column_array(g, n->type, a->values[i], 1, 0);
        if (a->anys[i])
            dfg_column_array(g, DFF_I32, a->anys[i], 1, 0);
    }
    print_loops(g, a, any);
    for (unsigned i = 0; i < a->n; i++)
        dfg_column_add(g, a->nodes[i], false)->name = a->values[i];
}

/* Does its loop stand around the columns of this function? EDGE has those alone that rows keep. */
static bool is_here(struct dfg_gen *g, const struct dff_node *n)
{
    struct run run;
    return is_around(g, n) && (g->mode == DFG_MAIN || find_run(g, n, &run));
}

/* Would the terms stand there too often if the channels were inside the loop over the columns? */
static bool is_long_text(struct dfg_gen *g, const struct dff_node *n)
{
    return is_loop(g, n) || (is_of_many(n) && (n->ranges[0].to->i - n->ranges[0].from->i) * g->copies > DFG_MOST_COPIES);
}

void dfg_around_apart(struct dfg_gen *g)
{
    const uint32_t channels = dfg_channel_slots(g);
    const unsigned n = channels && dfg_has_many_columns(g) ? g->kernel->n_nodes : 0, before = g->copies;
    bool apart = false, runs = false;
    g->flat = n ? dfg_flat_channels(g) : 0;
    g->apart = channels;
    for (unsigned d = (unsigned)g->column + 1; channels >> d; d++)
        g->copies *= channels >> d & 1 ? (unsigned)dff_channels(g->kernel, g->formula, d) : 1;
    for (unsigned i = 0; i < n && !g->failed; i++) {
        const struct dff_node *node = g->kernel->nodes[i];
        struct run run;
        if (!(node->slots & channels) || node->kind != DFF_REDUCE || !g->facts[i].uses)
            continue;
        apart |= is_here(g, node) && (g->flat || is_long_text(g, node));
        runs |= is_around(g, node) && find_run(g, node, &run);
    }
    g->copies = before;
    g->apart = apart ? channels : 0;
    g->flat = apart && !runs ? g->flat : 0;
    g->apart_once = apart && !runs ? dfg_plain_channels(g) : 0; /* rows keep such sums for each channel */
}

/* Is it printed with no other? */
static bool is_alone(struct dfg_gen *g, const struct dff_node *n)
{
    struct run run;
    return dfg_has_lanes(n) || find_run(g, n, &run);
}

/* Reductions that are printed together have the same ranges, and none holds one that is not yet printed. */
static void find_together(struct dfg_gen *g, struct around *a, const unsigned char *marks)
{
    for (unsigned i = a->nodes[0]->id + 1; i < g->kernel->n_nodes && a->n < MOST_TOGETHER && !is_alone(g, a->nodes[0]); i++)
        if (marks[i] == AROUND && has_ranges_of(a->nodes[0], g->kernel->nodes[i]) && !is_alone(g, g->kernel->nodes[i]))
            a->nodes[a->n++] = g->kernel->nodes[i];
}

void dfg_around_print(struct dfg_gen *g)
{
    const unsigned n = dfg_has_many_columns(g) ? g->kernel->n_nodes : 0;
    unsigned char *marks = calloc(n + 1u, 1);
    g->failed |= !marks;
    for (unsigned i = 0; i < n && !g->failed; i++) {
        marks[i] = is_here(g, g->kernel->nodes[i]) ? AROUND : NOT_AROUND;
    }
    for (unsigned i = 0; i < n && !g->failed; i++) {
        struct around a = { .nodes = { g->kernel->nodes[i] }, .n = 1 };
        if (!(marks[i] & AROUND) || g->n_columns + MOST_TOGETHER > DFG_MAX_COLUMNS)
            continue;
        mark_holders(g, marks);
        find_together(g, &a, marks);
        print_around(g, &a);
        for (unsigned k = 0; k < a.n; k++)
            marks[a.nodes[k]->id] = NOT_AROUND;
    }
    free(marks);
}
