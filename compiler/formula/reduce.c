/* reduce.c - checks and builds for expr.c reductions over ranges: sum, prod, min, max, any, all, count, argmin and
 * argmax.
 *
 * A range takes the next free slot. Its bounds must be known before any data is read: they may use numbers, params,
 * scalars, dimensions, indices and ranges. What they use determines the order in which terms are accumulated
 * (dff_order).
 */
#include <string.h>

#include "compiler/formula/build.h"

static const struct reduction {
    const char *name;
    enum dff_op op;
} reductions[] = {
    { "sum", DFF_SUM }, { "prod", DFF_PROD }, { "min", DFF_LEAST }, { "max", DFF_GREATEST }, { "any", DFF_ANY },
    { "all", DFF_ALL }, { "count", DFF_COUNT }, { "argmin", DFF_ARGMIN }, { "argmax", DFF_ARGMAX },
};

static enum dff_op reduction_op(const char *name)
{
    size_t i = 0;
    while (strcmp(reductions[i].name, name) != 0)
        i++;                            /* the parser takes no other name */
    return reductions[i].op;
}

/* ---- ranges ---- */

static const struct dff_node *range_end(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e)
{
    struct dff_value v;
    const struct dff_node *node = dff_expr(b, place, e, &v) ? dff_as_index(b, &v, "the end of a range", e->loc) : NULL;
    if (!node || !dff_note_of(b, node)->data)
        return node;
    dfl_error(b->u->sink, e->loc, "the end of a range cannot depend on data");
    dfl_hint(b->u->sink, "take the whole range, and leave terms out by 'if'");
    return NULL;
}

static bool enter_range(struct dff_build *b, struct dff_place *place, const struct dfl_range *ast,
                        struct dff_range *range, struct dff_scope *scope)
{
    const struct dff_node *from = range_end(b, place, ast->from), *to = range_end(b, place, ast->to);
    if (!dff_new_name(b, place, "index", ast->name.text, ast->name.loc) || !from || !to)
        return false;
    if (place->n_slots >= DFF_MAX_SLOTS) {
        dfl_error(b->u->sink, ast->name.loc, "at most %d indices and ranges can be in force at one place",
                  DFF_MAX_SLOTS);
        return false;
    }
    const struct dff_node *index = dff_leaf(b, DFF_INDEX, DFF_I32, place->n_slots, ast->name.loc);
    *range = (struct dff_range){ place->n_slots, from, to, ast->name.text };
    *scope = (struct dff_scope){ ast->name.text, ast->name.loc, { .node = index }, place->scope };
    if (place->formula == place->scope)
        place->formula = scope;
    place->range = range;
    place->scope = scope;
    place->n_slots++;
    return index;
}

static enum dff_order find_order(const struct dff_build *b, const struct dff_range *ranges, unsigned n)
{
    uint32_t own = 0, held = 0;
    bool fixed = true;
    for (unsigned i = 0; i < n; i++) {
        own |= 1u << ranges[i].slot;
        held |= ranges[i].from->slots | ranges[i].to->slots;
        fixed &= dff_note_of(b, ranges[i].from)->fixed && dff_note_of(b, ranges[i].to)->fixed;
    }
    return held & own ? DFF_ORDER_NESTED : held ? DFF_ORDER_RUNNING : fixed ? DFF_ORDER_FOLD : DFF_ORDER_LANES;
}

/* ---- the term ---- */

static bool check_parts(struct dff_build *b, const struct dfl_expr *e, enum dff_op op)
{
    if (op == DFF_COUNT && e->a) {
        dfl_error(b->u->sink, e->a->loc, "'count' takes no term: it counts");
        dfl_hint(b->u->sink, "what is counted stands behind 'if': 'count(i in 0..n if v[i] > 0)'");
        return false;
    }
    if (op != DFF_COUNT && !e->a) {
        dfl_error(b->u->sink, e->loc, "'%s' needs a term", e->s);
        dfl_hint(b->u->sink, "it stands behind ':', as in '%s(i in 0..n: v[i])'", e->s);
        return false;
    }
    if ((op == DFF_ARGMIN || op == DFF_ARGMAX) && e->ranges->next) {
        dfl_error(b->u->sink, e->ranges->next->loc, "'%s' gives one number, so it has one range", e->s);
        dfl_hint(b->u->sink, "count the elements, row by row: '%s(i in 0..h * w: v[i / w, i %% w])'", e->s);
        return false;
    }
    return true;
}

static enum dff_type result_type(enum dff_op op, const struct dff_node *term)
{
    switch (op) {
    case DFF_ANY:
    case DFF_ALL: return DFF_BOOL;
    case DFF_COUNT:
    case DFF_ARGMIN:
    case DFF_ARGMAX: return DFF_I32;
    default: return term->type;
    }
}

/* The term and the condition; both stay NULL if they are not written. */
static bool read_parts(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, enum dff_op op,
                       const struct dff_node *args[2])
{
    struct dff_value v;
    struct dff_place inner = *place;
    bool ok = !e->b || (dff_expr(b, place, e->b, &v) && (args[1] = dff_truth(b, &v, e->b->loc)));
    if (!e->a)
        return ok;
    if (ok && e->b)
        inner = dff_place_given(b, place, &v, e->b->loc, true);
    if (!dff_expr(b, &inner, e->a, &v))
        return false;
    args[0] = op == DFF_ANY || op == DFF_ALL ? dff_truth(b, &v, e->a->loc)
                                             : dff_as(b, &v, dff_own_type(&v), e->a->loc);
    return ok && args[0];
}

bool dff_reduce(struct dff_build *b, const struct dff_place *place, const struct dfl_expr *e, struct dff_value *v)
{
    enum dff_op op = reduction_op(e->s);
    unsigned n = 0;
    for (const struct dfl_range *r = e->ranges; r; r = r->next)
        n++;
    if (!check_parts(b, e, op))
        return false;
    struct dff_place inner = *place;
    struct dff_range *ranges = dfc_alloc(b->u, n * sizeof *ranges);
    struct dff_scope *scopes = dfc_alloc(b->u, n * sizeof *scopes); /* expansions of lets keep pointers to them */
    const struct dff_node *args[2] = { NULL, NULL };
    if (!ranges || !scopes)
        return false;
    n = 0;
    for (const struct dfl_range *r = e->ranges; r; r = r->next, n++)
        if (!enter_range(b, &inner, r, &ranges[n], &scopes[n]))
            return false;
    if (!read_parts(b, &inner, e, op, args))
        return false;
    const struct dff_node want = { .kind = DFF_REDUCE, .type = result_type(op, args[0]), .op = op,
                                   .order = find_order(b, ranges, n), .loc = e->loc, .n_args = 2, .args = args,
                                   .n_ranges = n, .ranges = ranges };
    return dff_value_node(v, dff_intern(b, &want), false);
}
