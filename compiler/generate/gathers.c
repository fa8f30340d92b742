/* gathers.c - vectorises for rows.c and reduce.c formulas that read at computed positions (gathers), such as
 * c[i32(1023 * r[y, x])].
 *
 * A loop with a gather is not vectorised: no instruction gathers bytes, and for larger elements gcc gives up if the
 * position is computed from two or more indices. The code before and after the read can be vectorised, though. So the
 * loop over the columns of a strip is split into up to three: one computes positions into arrays, one reads the
 * elements there into other arrays, one computes the rest from these. Only the second remains scalar. Gathers that do
 * not depend on one another share these loops.
 *
 * Sums:     in a sum over a few views, for example, the positions also depend on the view. The loop over the views is
 *           then the outer one, and each column's partial sum is kept in an array (dfg_sum_print).
 * Runs:     elements that are always adjacent, such as r[y, i] and r[y, i + 1], share one position and are copied
 *           together. Four elements of four bytes are transposed on the way if that is faster (DF_FOURS of
 *           df_formula.h).
 * Kept:     subexpressions of a position that the rest needs, too, are also kept in arrays and not computed again.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RUN_BYTES 16               /* a register that every processor has */
#define LEAST_KEPT 4                    /* operations of a value that is kept */
#define LONG_OPERATION 8                /* counts as so many: a division and functions */

/* ---- which reads ---- */

static bool is_narrow(const struct dfg_gen *g, const struct dff_node *n)
{
    if (n->kind != DFF_READ && n->kind != DFF_TABLE)
        return false;
    enum df_elem elem = n->kind == DFF_READ ? g->kernel->ports[n->number].elem : g->kernel->tables[n->number]->elem;
    return (dff_is_narrow(elem) && elem != DF_U32) || (elem == DF_F16 && n->kind == DFF_READ);
}

static bool has_number(const struct dff_port *port)
{
    for (unsigned d = 0; d < port->rank; d++)
        if (port->border[d] == DFF_NUMBER)
            return true;
    return false;
}

static bool is_wide(struct dfg_gen *g, const struct dff_node *n)
{
    return !is_narrow(g, n) && (n->kind == DFF_READ || n->kind == DFF_TABLE) && dfg_free_dimensions(g, n) > 1;
}

/* Does the place change from column to column in a way that is no sum of indices? */
static bool is_computed(const struct dfg_gen *g, const struct dff_node *n)
{
    struct dfg_affine affine;
    for (uint32_t d = 0; d < n->n_args; d++)
        if (n->args[d]->slots >> g->column & 1 && !dfg_affine(g, dfg_index_in(g, n, d), &affine))
            return true;
    return false;
}

/* Inside the loop of g->sum: of the reads of its terms that depend on its range. Other sums may have that slot with more or fewer values.
 * Outside: of all other reads. */
static bool is_here(const struct dfg_gen *g, const struct dff_node *n)
{
    return !g->within || (n->slots & g->within && g->facts[n->id].in_sum);
}

static bool is_gather(struct dfg_gen *g, const struct dff_node *n)
{
    const uint32_t inside = ((1u << g->formula->rank) - 1) | g->within;
    return g->facts[n->id].uses && (is_narrow(g, n) || is_wide(g, n)) && !(n->slots & ~inside) && is_here(g, n) && is_computed(g, n) &&
           !dfg_is_chosen(g, n) &&
           (n->kind == DFF_TABLE || (n->number != g->formula->port && !has_number(&g->kernel->ports[n->number])));
}

/* A conversion of integers to a type that holds them, and the like, is no operation. */
static const struct dff_node *below(const struct dff_node *n)
{
    while ((n->kind == DFF_CONVERT || n->kind == DFF_CAST) && dfg_is_int(n->type) && dfg_is_int(n->args[0]->type))
        n = n->args[0];
    return n;
}

static bool has_operations(const struct dff_node *n)
{
    for (uint32_t d = 0; d < n->n_args; d++) {
        const struct dff_node *index = below(n->args[d]);
        if (index->kind != DFF_READ && index->kind != DFF_TABLE && index->kind != DFF_INDEX && index->kind != DFF_CONST)
            return true;
    }
    return false;
}

/* ---- arrays ---- */

struct gather {
    const struct dff_node *node;
    uint32_t slot;                      /* behind the column, that the read depends on, too (a channel); DF_NONE: none */
    int64_t number;                     /* of it */
    unsigned level;                     /* how many gathers its place needs, one behind the other */
    unsigned run;                       /* how many elements its array has for a column; 0: it is in the run of another one */
    const struct dff_node *others[MOST_RUN_BYTES / 4]; /* the run: others[1] is read behind the node, … */
};

struct gathers {
    struct gather *all;
    unsigned n, levels;
    unsigned *level;                    /* by node id: gathers that the node needs, one behind the other */
};

static bool is_whole_value(const struct dfg_gen *g, const struct dff_node *n)
{
    return g->n_siblings == 1 && below(g->formula->value) == n;
}

static void print_run(struct dfg_gen *g, struct dfg_block *loop, const struct dfg_column *c)
{
    dfg_line(g, loop, "__builtin_memcpy(%s + %u * (%s - df_strip), &%s, %u * sizeof *%s);", c->name, c->each,
             g->formula->names[g->column], dfg_read(g, c->node).c, c->each, c->name);
}

static void print_element(struct dfg_gen *g, struct dfg_block *loop, struct dfg_column *c)
{
    struct dfg_block number;
    const char *x = g->formula->names[g->column];
    if (c->slot != DF_NONE)
        dfg_open_number(g, &number, (int)c->slot, c->low);
    if (!g->failed) {
        const char *text = c->is_place ? dfg_place(g, c->node) : dfg_value(g, c->node).c;
        if (c->is_place && g->near_places && is_wide(g, c->node))
            text = dfg_printf(g, "(int32_t)(%s)", text);
        dfg_line(g, loop, "%s[%s - df_strip] = %s;", c->name, x, text);
    }
    if (c->slot != DF_NONE)
        dfg_close(g, &number, "");
}

static void print_four(struct dfg_gen *g, const struct dfg_column *c)
{
    struct dfg_block inside; /* the column's number is known there */
    dfg_open_columns(g, &inside);
    const char *from = dfg_read(g, c->node).c;
    dfg_drop(g, &inside);
    dfg_line(g, g->block, "DF_FOURS(%s, df_strip_columns, %s, df_strip, df_strip_end, &%s);", c->name, g->formula->names[g->column], from);
}

/* Prints the loops that fill the arrays from `first` on. */
static void print_loops(struct dfg_gen *g, unsigned first)
{
    struct dfg_block loop;
    const unsigned last = g->n_columns;
    unsigned fours = 0;
    for (unsigned i = first; i < last && !g->failed; i++) {
        fours += g->columns[i].four;
        if (g->columns[i].four && !g->columns[i].at)
            print_four(g, &g->columns[i]);
    }
    if (last - first == fours)
        return;
    dfg_open_columns(g, &loop);
    loop.loc = &g->formula->ast->loc;
    g->n_columns = first; /* they are not there yet */
    for (unsigned i = first; i < last && !g->failed; i++)
        if (!g->columns[i].each)
            print_element(g, &loop, &g->columns[i]);
        else if (!g->columns[i].at && !g->columns[i].four)
            print_run(g, &loop, &g->columns[i]);
    g->n_columns = last;
    dfg_close_columns(g, &loop, "df_strip", "df_strip_end");
}

static void add_places(struct dfg_gen *g, const struct gathers *gathers, unsigned level)
{
    for (unsigned i = 0; i < gathers->n && g->n_columns < DFG_MAX_COLUMNS; i++) {
        const struct gather *a = &gathers->all[i];
        if (a->level != level || !a->run || !has_operations(a->node))
            continue;
        struct dfg_column *c = dfg_column_add(g, a->node, true);
        c->slot = a->slot;
        c->low = c->high = a->number;
        dfg_column_array(g, is_wide(g, a->node) && !g->near_places ? DFF_I64 : DFF_I32, c->name, 1, 0);
    }
}

static void add_run(struct dfg_gen *g, const struct gather *a)
{
    const char *name = NULL;
    bool four = a->run == 4 && dfg_type_bytes(a->node->type) == 4 && dfg_columns_value(g, a->node, true);
    for (unsigned k = 0; k < a->run; k++) {
        struct dfg_column *c = dfg_column_add(g, k ? a->others[k] : a->node, false);
        c->name = name = k ? name : c->name;
        c->each = a->run;
        c->four = four;
        c->at = k;
    }
    dfg_column_array(g, a->node->type, name, a->run, 0);
}

static void add_elements(struct dfg_gen *g, const struct gathers *gathers, unsigned level)
{
    for (unsigned i = 0; i < gathers->n && g->n_columns < DFG_MAX_COLUMNS; i++) {
        const struct gather *a = &gathers->all[i];
        if (a->level != level || !a->run || is_whole_value(g, a->node))
            continue;
        if (a->run > 1) {
            add_run(g, a);
            continue;
        }
        struct dfg_column *c = dfg_column_add(g, a->node, false);
        c->slot = a->slot;
        c->low = c->high = a->number;
        dfg_column_array(g, a->node->type, c->name, 1, 0);
    }
}

/* ---- runs ---- */

struct spot {                           /* of an element: indices, and what is added to them */
    const struct dff_node *base[DF_MAX_RANK]; /* NULL: a number */
    int64_t more[DF_MAX_RANK];
    int64_t at;                         /* added to its place, as far as extents are numbers */
};

static void split(const struct dff_node *n, const struct dff_node **base, int64_t *more)
{
    const struct dff_node *number = n->kind == DFF_OP && n->n_args == 2 ? n->args[1] : NULL;
    bool sum = number && number->kind == DFF_CONST && (n->op == DFF_ADD || n->op == DFF_SUB);
    *base = n->kind == DFF_CONST ? NULL : sum ? n->args[0] : n;
    *more = n->kind == DFF_CONST ? n->i : !sum ? 0 : n->op == DFF_ADD ? number->i : -number->i;
}

/* false: the element may lie elsewhere, because of a border. */
static bool find_spot(struct dfg_gen *g, const struct dff_node *n, struct spot *s)
{
    const struct dff_port *port = &g->kernel->ports[n->number];
    int64_t apart = 1;                  /* elements from one index to the next; 0: not known */
    unsigned in_row;
    *s = (struct spot){ 0 };
    if (!dfg_is_unmoved(g, n, &in_row))
        return false;
    for (unsigned d = n->n_args; d-- > 0;) {
        s->base[d] = n->args[d];
        if (d < in_row)
            continue;
        split(n->args[d], &s->base[d], &s->more[d]);
        s->at += s->more[d] * apart;
        s->more[d] = apart ? 0 : s->more[d];
        apart = port->extents[d]->kind == DFF_CONST ? apart * port->extents[d]->i : 0;
    }
    return true;
}

/* How many elements `b` lies behind `a`. 0: not known. */
static int64_t distance(struct dfg_gen *g, const struct dff_node *a, const struct dff_node *b)
{
    struct spot from, to;
    bool good = a->kind == DFF_READ && b->kind == DFF_READ && a->number == b->number && find_spot(g, a, &from) && find_spot(g, b, &to);
    return good && memcmp(from.base, to.base, sizeof to.base) == 0 && memcmp(from.more, to.more, sizeof to.more) == 0 ? to.at - from.at : 0;
}

/* The gather whose element lies `apart` behind that of a, and that is in no run. NULL: there is none. */
static struct gather *behind(struct dfg_gen *g, struct gathers *gathers, const struct gather *a, int64_t apart)
{
    for (unsigned i = 0; i < gathers->n; i++) {
        struct gather *b = &gathers->all[i];
        if (b->run == 1 && b->level == a->level && b->slot == DF_NONE && is_wide(g, b->node) && !is_whole_value(g, b->node) &&
            distance(g, a->node, b->node) == apart)
            return b;
    }
    return NULL;
}

/* Has the port the elements that the array would have? Those of u32 are i64 there. */
static bool is_copied(const struct dfg_gen *g, const struct dff_node *n)
{
    return n->kind == DFF_READ && df_elem_bytes(g->kernel->ports[n->number].elem) == dfg_type_bytes(n->type);
}

static void find_runs(struct dfg_gen *g, struct gathers *gathers)
{
    for (unsigned i = 0; i < gathers->n && !g->failed; i++) {
        struct gather *a = &gathers->all[i], *b;
        if (a->run != 1 || a->slot != DF_NONE || !is_wide(g, a->node) || !is_copied(g, a->node) || is_whole_value(g, a->node) || behind(g, gathers, a, -1))
            continue;
        const unsigned most = MOST_RUN_BYTES / dfg_type_bytes(a->node->type);
        while (a->run < most && (b = behind(g, gathers, a, a->run))) {
            a->others[a->run++] = b->node;
            b->run = 0;
        }
    }
}

/* ---- kept values ---- */

static bool is_operation(const struct dff_node *n)
{
    return n->kind == DFF_OP || n->kind == DFF_CONVERT || n->kind == DFF_CAST || n->kind == DFF_WRAP;
}

static unsigned own_work(const struct dff_node *n)
{
    bool is_long = n->kind == DFF_OP && (n->op == DFF_DIV || n->op == DFF_MOD || n->op == DFF_SQRT || (n->op >= DFF_EXP && n->op <= DFF_TANH));
    return is_long ? LONG_OPERATION : 1;
}

/* Is the value needed where the elements of this level are? */
static bool is_needed_behind(struct dfg_gen *g, const struct gathers *gathers, const struct dff_node *n, unsigned level)
{
    for (unsigned i = n->id + 1; i < g->kernel->n_nodes; i++) {
        const struct dff_node *user = g->kernel->nodes[i];
        for (uint32_t k = 0; k < user->n_args && gathers->level[user->id] > level && g->facts[user->id].uses && !is_gather(g, user); k++)
            if (user->args[k] == n)
                return true;
    }
    return false;
}

struct keep {                           /* by node id */
    unsigned char *in_place;            /* a place of this level is made of it */
    unsigned *work;                     /* operations of the column; 0: none of them is in a place */
};

static void mark_places(struct dfg_gen *g, const struct gathers *gathers, unsigned level, const struct keep *keep)
{
    for (unsigned i = g->kernel->n_nodes; i-- > 0;) {
        const struct dff_node *n = g->kernel->nodes[i];
        bool gather = is_gather(g, n) && gathers->level[n->id] == level + 1;
        for (uint32_t k = 0; k < n->n_args && (gather || (keep->in_place[n->id] && is_operation(n))); k++)
            if (n->args[k])
                keep->in_place[n->args[k]->id] = 1;
    }
}

static unsigned work_of(struct dfg_gen *g, const struct dff_node *n, const struct keep *keep)
{
    const uint32_t inside = ((2u << (unsigned)g->column) - 1) | g->within;
    unsigned all = own_work(n), shared = keep->in_place[n->id];
    if (!is_operation(n) || n->slots & ~inside || !(n->slots >> g->column & 1))
        return 0;
    for (uint32_t k = 0; k < n->n_args; k++) {
        all += n->args[k] ? keep->work[n->args[k]->id] : 0;
        shared += n->args[k] && keep->work[n->args[k]->id];
    }
    return !shared ? 0 : all < LEAST_KEPT ? all : LEAST_KEPT;
}

/* Adds arrays for what the places of a level are made of, if it is needed later; `spare` arrays at most. */
static void add_kept(struct dfg_gen *g, const struct gathers *gathers, unsigned level, unsigned *spare)
{
    const unsigned n_nodes = g->kernel->n_nodes;
    struct keep keep = { calloc(n_nodes + 1u, 1), calloc(n_nodes + 1u, sizeof *keep.work) };
    g->failed |= !keep.in_place || !keep.work;
    if (!g->failed)
        mark_places(g, gathers, level, &keep);
    for (unsigned i = 0; i < n_nodes && !g->failed && *spare; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        keep.work[n->id] = gathers->level[n->id] == level && g->facts[n->id].uses ? work_of(g, n, &keep) : 0;
        if (keep.work[n->id] < LEAST_KEPT || (g->within && !g->facts[n->id].in_sum) || !is_needed_behind(g, gathers, n, level))
            continue;
        dfg_column_array(g, n->type, dfg_column_add(g, n, false)->name, 1, 0);
        --*spare;
    }
    free(keep.in_place);
    free(keep.work);
}

/* ---- which gathers ---- */

static void add(struct dfg_gen *g, struct gathers *gathers, struct gather a)
{
    struct gather *more = realloc(gathers->all, (gathers->n + 1) * sizeof *more);
    g->failed |= !more;
    if (!more)
        return;
    gathers->all = more;
    more[gathers->n++] = a;
    gathers->levels = a.level >= gathers->levels ? a.level + 1 : gathers->levels;
}

static void add_channels(struct dfg_gen *g, struct gathers *gathers, const struct dff_node *n, unsigned level)
{
    const uint32_t channels = (n->slots & ~g->within) >> (g->column + 1);
    if (!channels)
        add(g, gathers, (struct gather){ .node = n, .slot = DF_NONE, .level = level, .run = 1 });
    if (!channels || channels & (channels - 1))
        return;
    const uint32_t slot = (uint32_t)(g->column + 1 + __builtin_ctz(channels));
    const struct dff_node *extent = g->kernel->ports[g->formula->port].extents[slot];
    for (int64_t number = 0; number < extent->i; number++)
        add(g, gathers, (struct gather){ .node = n, .slot = slot, .number = number, .level = level, .run = 1 });
}

static unsigned level_of(const struct dff_node *n, const unsigned *levels)
{
    unsigned level = 0;
    for (uint32_t k = 0; k < n->n_args; k++)
        if (n->args[k] && levels[n->args[k]->id] > level)
            level = levels[n->args[k]->id];
    return level;
}

/* Arguments have lower numbers than the nodes that they are of. */
static void find(struct dfg_gen *g, struct gathers *gathers)
{
    unsigned *levels = gathers->level = calloc(g->kernel->n_nodes + 1u, sizeof *levels);
    g->failed |= !levels;
    for (unsigned i = 0; i < g->kernel->n_nodes && !g->failed; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        levels[n->id] = level_of(n, levels);
        if (is_gather(g, n))
            add_channels(g, gathers, n, levels[n->id]++);
    }
}

/* Marks what the terms hold. false: a reduction among it has the sum's slot for a range of its own, as the argument of a local function may,
 * so a read there depends on another range than the slot says. */
static bool mark_terms(struct dfg_gen *g, const struct dff_node *n, uint32_t slot)
{
    bool good = true;
    if (g->facts[n->id].in_sum)
        return true;
    g->facts[n->id].in_sum = true;
    for (uint32_t r = 0; r < n->n_ranges; r++)
        good &= n->ranges[r].slot != slot;
    for (uint32_t k = 0; k < n->n_args && good; k++)
        good = !n->args[k] || mark_terms(g, n->args[k], slot);
    return good;
}

/* Does the sum, of a range of numbers, hold a read whose place is computed of the range and the column? Whether it has a term may not
 * depend on the column. */
static bool gathers_terms(struct dfg_gen *g, const struct dff_node *sum)
{
    const uint32_t rows = (1u << (unsigned)g->column) - 1, columns = (2u << (unsigned)g->column) - 1;
    if (sum->kind != DFF_REDUCE || sum->op != DFF_SUM || sum->order != DFF_ORDER_FOLD || sum->n_ranges != 1 || !g->facts[sum->id].uses ||
        !dfg_range_is_fixed(&sum->ranges[0]) || sum->slots & ~columns)
        return false;
    const uint32_t slot = 1u << sum->ranges[0].slot, both = slot | 1u << (unsigned)g->column;
    bool found = false;
    if (sum->n_args > 1 && sum->args[1] && sum->args[1]->slots & ~(rows | slot))
        return false;
    for (unsigned i = 0; i < g->kernel->n_nodes; i++)
        g->facts[i].in_sum = false;
    if (!mark_terms(g, sum->args[0], sum->ranges[0].slot))
        return false;
    for (unsigned i = 0; i < sum->id && !found; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        found = g->facts[i].in_sum && (n->kind == DFF_READ || n->kind == DFF_TABLE) && (n->slots & both) == both && !(n->slots & ~(columns | slot)) &&
                is_computed(g, n);
    }
    return found;
}

const struct dff_node *dfg_sum_that_gathers(struct dfg_gen *g)
{
    const struct dff_formula *f = g->formula;
    const struct dff_node *found = NULL;
    struct dfg_block scratch; /* indices are looked at in a block */
    if (g->column < 0 || g->kernel->ports[f->port].mode != DF_ACC || g->column + 1 != (int)f->rank)
        return NULL;
    dfg_open(g, &scratch, -1, NULL);
    for (unsigned i = 0; i < g->kernel->n_nodes && !found && !g->failed; i++)
        found = gathers_terms(g, g->kernel->nodes[i]) ? g->kernel->nodes[i] : NULL;
    dfg_drop(g, &scratch);
    return found;
}

/* If there is no room for all, larger elements are read where they are used: one of them there keeps the loop from being a vector.
 * Gives how many arrays there is room for beside those that are wanted. */
static unsigned drop_wide(struct dfg_gen *g, struct gathers *gathers)
{
    unsigned arrays = g->n_columns, kept = 0;
    for (unsigned i = 0; i < gathers->n; i++)
        arrays += has_operations(gathers->all[i].node) + !is_whole_value(g, gathers->all[i].node);
    for (unsigned i = 0; i < gathers->n && arrays > DFG_MAX_COLUMNS; i++)
        if (is_narrow(g, gathers->all[i].node))
            gathers->all[kept++] = gathers->all[i];
    if (arrays > DFG_MAX_COLUMNS)
        gathers->n = kept;
    return arrays > DFG_MAX_COLUMNS ? 0 : DFG_MAX_COLUMNS - arrays;
}

void dfg_gathers_print(struct dfg_gen *g)
{
    struct gathers gathers = { 0 };
    find(g, &gathers);
    unsigned spare = g->failed ? 0 : drop_wide(g, &gathers);
    find_runs(g, &gathers);
    for (unsigned level = 0; level < gathers.levels && !g->failed; level++) {
        unsigned first = g->n_columns;
        add_places(g, &gathers, level);
        add_kept(g, &gathers, level, &spare);
        print_loops(g, first);
        first = g->n_columns;
        add_elements(g, &gathers, level);
        print_loops(g, first);
    }
    free(gathers.level);
    free(gathers.all);
}

/* "(double)h * (double)w <= DF_NEAR": an int64_t might not hold the product. */
static const char *fits(struct dfg_gen *g, const struct dff_node *n)
{
    const struct dff_port *port = &g->kernel->ports[n->number];
    const char *text = "";
    unsigned free_ones = dfg_free_dimensions(g, n);
    for (unsigned d = port->rank - free_ones; d < port->rank; d++)
        text = dfg_printf(g, "%s%s(double)%s", text, *text ? " * " : "", dfg_within(g, dfg_index(g, port->extents[d]), DFG_ATOM));
    return dfg_printf(g, "%s <= DF_NEAR", text);
}

static const char *places_are_near(struct dfg_gen *g, const char *text)
{
    for (unsigned i = 0; i < g->kernel->n_nodes && !g->failed; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        if (n->kind != DFF_READ || !is_gather(g, n) || !is_wide(g, n))
            continue;
        const char *more = fits(g, n);
        if (!text || !strstr(text, more))
            text = text ? dfg_printf(g, "%s && %s", text, more) : more;
    }
    return text;
}

const char *dfg_places_are_near(struct dfg_gen *g)
{
    const char *text = places_are_near(g, NULL);
    if (g->sum) {
        g->within = 1u << g->sum->ranges[0].slot;
        text = places_are_near(g, text);
        g->within = 0;
    }
    return text;
}
