/* lower.c - translates expression nodes into affine forms over the solver's variables, for prove.c, scope.c and
 * conditions.c (prover.h).
 *
 * An i32 sum that wraps differs from its form by a multiple of 2^32. For an index that is harmless: if the form is
 * within bounds, it equals the index. Where a value is compared or divided, the form must equal the value, so
 * dff_lower_exact() checks that the form stays within its type, and otherwise assumes only the range of the type.
 */
#include "compiler/proof/prover.h"

#define WIDE ((int64_t)1 << 49)         /* no bound of a fact is larger */
#define NODE_LIMIT ((int64_t)1 << 40)   /* of the coefficients of a node's form */

/* ---- variables ---- */

static struct dff_form of_var(unsigned v)
{
    struct dff_form form = { 0 };
    form.c[v] = 1;
    return form;
}

static void learn_span(struct dff_prover *p, const struct dff_form *form, struct dff_span span)
{
    const struct dff_form low = dff_number(span.low), high = dff_number(span.high);
    if (span.low > -WIDE && span.low < WIDE)
        dff_learn(p, dff_at_least(p, form, &low, 0));
    if (span.high > -WIDE && span.high < WIDE)
        dff_learn(p, dff_at_least(p, &high, form, 0));
}

struct dff_form dff_var_form(struct dff_prover *p, enum dff_var_kind kind, uint32_t number,
                             const struct dff_node *node, struct dff_span span, bool *fresh)
{
    unsigned v = 0;
    while (v < p->n_vars && !(p->vars[v].kind == kind && p->vars[v].number == number && p->vars[v].node == node))
        v++;
    if (fresh)
        *fresh = v == p->n_vars;
    const struct dff_form form = of_var(v);
    if (v < p->n_vars)
        return form;
    if (v == DFF_MAX_VARS - 1) {        /* the last is dff_bound()'s */
        p->failed = true;
        return dff_number(0);
    }
    p->vars[p->n_vars++] = (struct dff_var){ kind, number, node, span };
    if (kind == DFF_VAR_DIM)
        p->linear.last |= (uint64_t)1 << v;
    if (kind != DFF_VAR_SLOT)           /* its ends are known better */
        learn_span(p, &form, span);
    return form;
}

struct dff_span dff_form_span(const struct dff_prover *p, const struct dff_form *form)
{
    static const struct dff_span most = { INT64_MIN, INT64_MAX };
    __int128 low = form->k, high = form->k;
    for (unsigned v = 0; v < p->n_vars; v++) {
        const struct dff_span span = p->vars[v].span;
        const int64_t c = form->c[v];
        low += (__int128)c * (c > 0 ? span.low : span.high);
        high += (__int128)c * (c > 0 ? span.high : span.low);
    }
    return (struct dff_span){ dff_clamped(low, most), dff_clamped(high, most) };
}

/* A value of which no more is known than its span. real: it may be any of these. In an extent, where sums do not go
 * around, it may be anything, and is not the value that a formula computes. */
static struct dff_form unknown(struct dff_prover *p, const struct dff_node *node, bool real)
{
    static const struct dff_span any = { INT64_MIN, INT64_MAX };
    p->exact &= real;
    return dff_var_form(p, DFF_VAR_NODE, p->wide, node, p->wide ? any : p->spans[node->id], NULL);
}

/* ---- values that are not affine: a variable and facts about it ---- */

/* a / by for by > 1, rounded to 0, or down (floor). Node: of `a`. */
static struct dff_form quotient(struct dff_prover *p, const struct dff_node *node, const struct dff_form *a, int64_t by,
                                bool floor)
{
    const struct dff_form zero = dff_number(0);
    const struct dff_span of_a = dff_form_span(p, a);
    const struct dff_span span = { of_a.low / by - (floor && of_a.low % by < 0), of_a.high / by };
    const bool positive = of_a.low >= 0 || dff_shown(p, a, &zero, 0);
    const enum dff_var_kind kind = floor || positive ? DFF_VAR_FLOOR : DFF_VAR_TRUNC;
    bool fresh;
    const struct dff_form q =
        dff_var_form(p, p->wide ? kind + DFF_VAR_WIDE_FLOOR - DFF_VAR_FLOOR : kind, (uint32_t)by, node, span, &fresh);
    if (!fresh)
        return q;
    struct dff_form product = dff_number(0);
    p->failed |= !dff_form_add(&product, &q, by);
    const struct dff_fact *down = dff_both(p, dff_at_least(p, a, &product, 0), dff_at_least(p, &product, a, 1 - by));
    if (floor || positive) {
        dff_learn(p, down);
        return q;
    }
    const struct dff_fact *up = dff_both(p, dff_at_least(p, &product, a, 0), dff_at_least(p, a, &product, 1 - by));
    dff_learn(p, dff_either(p, dff_both(p, dff_at_least(p, a, &zero, 0), down),
                            dff_both(p, dff_at_least(p, &zero, a, 1), up)));
    return q;
}

static struct dff_form negated(struct dff_prover *p, const struct dff_form *a)
{
    struct dff_form form = dff_number(0);
    p->failed |= !dff_form_add(&form, a, -1);
    return form;
}

/* a / b for a b that is no number: no further from 0 than a, of a's sign if b is positive. */
static void learn_quotient(struct dff_prover *p, const struct dff_form *v, const struct dff_form *a,
                           const struct dff_form *b)
{
    const struct dff_form zero = dff_number(0);
    const struct dff_fact *positive = dff_at_least(p, b, &zero, 0), *negative = dff_at_least(p, &zero, b, 1);
    const struct dff_fact *up = dff_both(p, dff_at_least(p, v, &zero, 0), dff_at_least(p, a, v, 0));
    const struct dff_fact *down = dff_both(p, dff_at_least(p, &zero, v, 0), dff_at_least(p, v, a, 0));
    dff_learn(p, dff_either(p, negative, dff_both(p, positive, dff_either(p, up, down))));
}

/* a % b for a b that is no number: of a's sign, and nearer to 0 than b. */
static void learn_rest(struct dff_prover *p, const struct dff_form *v, const struct dff_form *a,
                       const struct dff_form *b)
{
    const struct dff_form zero = dff_number(0), minus_b = negated(p, b), minus_v = negated(p, v);
    const struct dff_fact *is_zero = dff_both(p, dff_at_least(p, v, &zero, 0), dff_at_least(p, &zero, v, 0));
    const struct dff_fact *positive = dff_both(p, dff_at_least(p, v, &zero, 0), dff_at_least(p, a, v, 0));
    const struct dff_fact *negative = dff_both(p, dff_at_least(p, &zero, v, 0), dff_at_least(p, v, a, 0));
    const struct dff_fact *near_b = dff_both(p, dff_at_least(p, b, v, 1), dff_at_least(p, b, &minus_v, 1));
    const struct dff_fact *near_minus_b =
        dff_both(p, dff_at_least(p, &minus_b, v, 1), dff_at_least(p, &minus_b, &minus_v, 1));
    dff_learn(p, dff_either(p, positive, negative));
    dff_learn(p, dff_either(p, near_b, dff_either(p, near_minus_b, is_zero)));
}

/* What an index or the variable of a range is below. NULL: nothing of that kind. */
static const struct dff_node *end_of(const struct dff_prover *p, const struct dff_node *index)
{
    const struct dff_site *site = p->site;
    if (index->kind != DFF_INDEX)
        return NULL;
    for (; site->outer; site = site->outer)
        if (site->range && site->range->slot == index->number)
            return site->range->to;
    if (site->range && site->range->slot == index->number)
        return site->range->to;
    return index->number < site->formula->rank && site->formula->is_index[index->number] ? p->kernel->ports[site->formula->port].extents[index->number]
                                                                                         : NULL;
}

/* i / b for i below x * b: below x, if both are positive. If the product goes around, what is below it is below x * b even more so. */
static void learn_quotient_of_product(struct dff_prover *p, const struct dff_form *v, const struct dff_form *b, const struct dff_node *node)
{
    const struct dff_node *end = end_of(p, node->args[0]);
    if (!end || end->kind != DFF_OP || end->op != DFF_MUL || (end->args[0] != node->args[1] && end->args[1] != node->args[1]))
        return;
    const struct dff_form zero = dff_number(0), x = dff_lower_exact(p, end->args[end->args[0] == node->args[1]]);
    dff_learn(p, dff_either(p, dff_at_least(p, &zero, b, 0), dff_either(p, dff_at_least(p, &zero, &x, 0), dff_at_least(p, &x, v, 1))));
}

static struct dff_form divided(struct dff_prover *p, const struct dff_node *node)
{
    const struct dff_form a = dff_lower_exact(p, node->args[0]);
    int64_t by;
    if (dff_is_number(p, node->args[1], &by) && by > -NODE_LIMIT && by < NODE_LIMIT) {
        if (by == 0 || by == 1 || by == -1)
            return by == 0 ? dff_number(0) : by == 1 ? a : negated(p, &a);
        const struct dff_form q = quotient(p, node->args[0], &a, by < 0 ? -by : by, false);
        return by < 0 ? negated(p, &q) : q;
    }
    const struct dff_form b = dff_lower_exact(p, node->args[1]), v = unknown(p, node, false);
    learn_quotient(p, &v, &a, &b);
    learn_quotient_of_product(p, &v, &b, node);
    return v;
}

static struct dff_form rest(struct dff_prover *p, const struct dff_node *node)
{
    const struct dff_form a = dff_lower_exact(p, node->args[0]);
    int64_t by;
    if (dff_is_number(p, node->args[1], &by) && by > -NODE_LIMIT && by < NODE_LIMIT) {
        by = by < 0 ? -by : by;
        if (by <= 1)
            return dff_number(0);
        const struct dff_form q = quotient(p, node->args[0], &a, by, false);
        struct dff_form form = a;
        p->failed |= !dff_form_add(&form, &q, -by);
        return form;
    }
    const struct dff_form b = dff_lower_exact(p, node->args[1]), v = unknown(p, node, false);
    learn_rest(p, &v, &a, &b);
    return v;
}

static struct dff_form least_or_most(struct dff_prover *p, const struct dff_node *node, bool most)
{
    const struct dff_form a = dff_lower_exact(p, node->args[0]), b = dff_lower_exact(p, node->args[1]);
    const struct dff_form v = unknown(p, node, true);
    const struct dff_fact *v_a = dff_at_least(p, &v, &a, 0), *v_b = dff_at_least(p, &v, &b, 0);
    const struct dff_fact *a_v = dff_at_least(p, &a, &v, 0), *b_v = dff_at_least(p, &b, &v, 0);
    dff_learn(p, most ? dff_both(p, v_a, v_b) : dff_both(p, a_v, b_v));
    dff_learn(p, most ? dff_either(p, a_v, b_v) : dff_either(p, v_a, v_b));
    return v;
}

static struct dff_form absolute(struct dff_prover *p, const struct dff_node *node)
{
    const struct dff_form a = dff_lower_exact(p, node->args[0]), minus_a = negated(p, &a), v = unknown(p, node, true);
    const int64_t least = dff_type_span(node->type).low;
    if (dff_form_span(p, &a).low <= least && node->type != DFF_I32)
        return v;
    const struct dff_fact *usual = dff_both(p, dff_at_least(p, &v, &a, 0), dff_at_least(p, &v, &minus_a, 0));
    usual = dff_both(p, usual, dff_either(p, dff_equal(p, &v, &a), dff_equal(p, &v, &minus_a)));
    if (dff_form_span(p, &a).low <= least) {    /* goes around, to itself */
        const struct dff_form low = dff_number(least);
        usual = dff_either(p, usual, dff_both(p, dff_equal(p, &a, &low), dff_equal(p, &v, &low)));
    }
    dff_learn(p, usual);
    return v;
}

static struct dff_form chosen(struct dff_prover *p, const struct dff_node *node)
{
    const struct dff_form a = dff_lower_exact(p, node->args[1]), b = dff_lower_exact(p, node->args[2]);
    const struct dff_form v = unknown(p, node, true);
    dff_learn(p, dff_either(p, dff_both(p, dff_lower_condition(p, node->args[0], true), dff_equal(p, &v, &a)),
                            dff_both(p, dff_lower_condition(p, node->args[0], false), dff_equal(p, &v, &b))));
    return v;
}

/* ---- operators ---- */

static bool scaled(struct dff_form *form, int64_t by)
{
    struct dff_form result = dff_number(0);
    if (!dff_form_add(&result, form, by))
        return false;
    *form = result;
    for (unsigned v = 0; v < DFF_MAX_VARS; v++)
        if (form->c[v] > NODE_LIMIT || form->c[v] < -NODE_LIMIT)
            return false;
    return form->k < NODE_LIMIT && form->k > -NODE_LIMIT;
}

static bool constant(const struct dff_form *form)
{
    const struct dff_form number = dff_number(form->k);
    return dff_form_is(form, &number);
}

static struct dff_form sum(struct dff_prover *p, const struct dff_node *node, int64_t factor)
{
    struct dff_form a = dff_lower(p, node->args[0]);
    const struct dff_form b = dff_lower(p, node->args[1]);
    return dff_form_add(&a, &b, factor) && scaled(&a, 1) ? a : unknown(p, node, false);
}

static struct dff_form times(struct dff_prover *p, const struct dff_node *node)
{
    struct dff_form a = dff_lower(p, node->args[0]), b = dff_lower(p, node->args[1]);
    if (constant(&b) && scaled(&a, b.k))
        return a;
    if (constant(&a) && scaled(&b, a.k))
        return b;
    return unknown(p, node, false);
}

/* << and >> take the count modulo the width; & with 2^n - 1 is a rest that is never negative. */
static struct dff_form bits(struct dff_prover *p, const struct dff_node *node)
{
    int64_t by;
    if (!dff_is_number(p, node->args[1], &by))
        return unknown(p, node, false);
    const int64_t shift = by & (node->type == DFF_I32 ? 31 : 63);
    struct dff_form a = node->op == DFF_SHL ? dff_lower(p, node->args[0]) : dff_lower_exact(p, node->args[0]);
    if (node->op == DFF_SHL)
        return shift < 40 && scaled(&a, (int64_t)1 << shift) ? a : unknown(p, node, false);
    if (node->op == DFF_SHR && shift < 32)
        return shift ? quotient(p, node->args[0], &a, (int64_t)1 << shift, true) : a;
    if (node->op != DFF_BITAND || by < 1 || by > INT32_MAX || (by & (by + 1)) != 0)
        return unknown(p, node, false);
    const struct dff_form q = quotient(p, node->args[0], &a, by + 1, true);
    p->failed |= !dff_form_add(&a, &q, -(by + 1));
    return a;
}

static struct dff_form lower_op(struct dff_prover *p, const struct dff_node *node)
{
    struct dff_form a;
    switch (node->op) {
    case DFF_ADD: return sum(p, node, 1);
    case DFF_SUB: return sum(p, node, -1);
    case DFF_MUL: return times(p, node);
    case DFF_DIV: return divided(p, node);
    case DFF_MOD: return rest(p, node);
    case DFF_MIN: return least_or_most(p, node, false);
    case DFF_MAX: return least_or_most(p, node, true);
    case DFF_ABS: return absolute(p, node);
    case DFF_CHOOSE: return chosen(p, node);
    case DFF_BITAND: case DFF_SHL: case DFF_SHR: return bits(p, node);
    case DFF_NEG:
        a = dff_lower(p, node->args[0]);
        return negated(p, &a);
    default: return unknown(p, node, false);
    }
}

/* ---- conversions and reductions ---- */

/* Saturates. */
static struct dff_form converted(struct dff_prover *p, const struct dff_node *node)
{
    const struct dff_span to = dff_elem_span(node->elem);
    if (!dff_is_integer(node->args[0]))
        return unknown(p, node, true);
    const struct dff_form a = dff_lower_exact(p, node->args[0]);
    const struct dff_span from = dff_form_span(p, &a);
    if (from.low >= to.low && from.high <= to.high)
        return a;
    const struct dff_span most = { -WIDE, WIDE };
    const struct dff_form v = unknown(p, node, true), low = dff_number(dff_clamped(to.low, most));
    const struct dff_form high = dff_number(dff_clamped(to.high, most));
    dff_learn(p, dff_either(p, dff_equal(p, &v, &a),
                            dff_either(p, dff_both(p, dff_at_least(p, &low, &a, 1), dff_equal(p, &v, &low)),
                                       dff_both(p, dff_at_least(p, &a, &high, 1), dff_equal(p, &v, &high)))));
    return v;
}

/* The low bits: the value, where it fits. */
static struct dff_form wrapped(struct dff_prover *p, const struct dff_node *node)
{
    const struct dff_form a = dff_lower_exact(p, node->args[0]);
    const struct dff_span to = dff_elem_span(node->elem);
    const struct dff_form low = dff_number(to.low), high = dff_number(to.high);
    return dff_shown(p, &a, &low, 0) && dff_shown(p, &high, &a, 0) ? a : unknown(p, node, false);
}

/* Of one range: a count is no more than its length, and argmin and argmax lie in it or are -1. */
static struct dff_form reduced(struct dff_prover *p, const struct dff_node *node)
{
    const bool count = node->op == DFF_COUNT, arg = node->op == DFF_ARGMIN || node->op == DFF_ARGMAX;
    const struct dff_form v = unknown(p, node, false), none = dff_number(count ? 0 : -1);
    if (node->n_ranges != 1 || !(count || arg))
        return v;
    const struct dff_form from = dff_lower_exact(p, node->ranges[0].from), to = dff_lower_exact(p, node->ranges[0].to);
    struct dff_form length = to;
    p->failed |= !dff_form_add(&length, &from, -1);
    const struct dff_fact *within = count ? dff_both(p, dff_at_least(p, &v, &none, 0), dff_at_least(p, &length, &v, 0))
                                          : dff_both(p, dff_at_least(p, &v, &from, 0), dff_at_least(p, &to, &v, 1));
    const struct dff_fact *empty = dff_equal(p, &v, &none);
    if (!node->args[1])
        empty = dff_both(p, empty, dff_at_least(p, &none, &length, count ? 0 : -1));
    if (dff_form_span(p, &length).high > INT32_MAX)
        return v;
    dff_learn(p, dff_either(p, within, empty));
    return v;
}

/* ---- nodes ---- */

static struct dff_form lower_node(struct dff_prover *p, const struct dff_node *node)
{
    int64_t number;
    if (dff_is_number(p, node, &number) && number < NODE_LIMIT && number > -NODE_LIMIT)
        return dff_number(number);
    switch (node->kind) {
    case DFF_INDEX: return dff_var_form(p, DFF_VAR_SLOT, node->number, NULL, dff_elem_span(DF_I32), NULL);
    case DFF_DIM: return dff_var_form(p, DFF_VAR_DIM, node->number, NULL, (struct dff_span){ 1, p->max_extent }, NULL);
    case DFF_SCALAR: return dff_var_form(p, DFF_VAR_NODE, 0, node, p->spans[node->id], NULL);
    case DFF_CONST: case DFF_READ: case DFF_TABLE: return unknown(p, node, true);
    case DFF_OP: return lower_op(p, node);
    case DFF_CONVERT: return converted(p, node);
    case DFF_WRAP: return wrapped(p, node);
    case DFF_CAST: return dff_is_integer(node->args[0]) ? dff_lower_exact(p, node->args[0]) : unknown(p, node, true);
    case DFF_REDUCE: return reduced(p, node);
    }
    return unknown(p, node, false);
}

struct dff_form dff_lower(struct dff_prover *p, const struct dff_node *node)
{
    struct dff_memo *memo = &p->memo[node->id];
    if (memo->epoch == p->epoch)
        return *memo->form;
    if (p->depth == DFF_MOST_LOWERED)
        return unknown(p, node, false);
    p->depth++;
    struct dff_form *form = dfl_arena_alloc(p->arena, sizeof *form);
    *form = lower_node(p, node);
    p->depth--;
    *memo = (struct dff_memo){ p->epoch, form };
    return *form;
}

struct dff_form dff_lower_exact(struct dff_prover *p, const struct dff_node *node)
{
    const struct dff_form form = dff_lower(p, node);
    const struct dff_span span = dff_form_span(p, &form), type = dff_type_span(node->type);
    if (p->wide || (span.low >= type.low && span.high <= type.high))
        return form;
    const struct dff_form low = dff_number(type.low), high = dff_number(type.high);
    if (node->type == DFF_I32 && dff_shown(p, &form, &low, 0) && dff_shown(p, &high, &form, 0))
        return form;
    return unknown(p, node, false);
}
