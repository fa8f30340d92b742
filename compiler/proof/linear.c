/* linear.c - the solver below the rest of the room: affine forms, and Fourier-Motzkin elimination with integer
 * rounding, case splits, and search for integer points (linear.h).
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/proof/linear.h"

#define LIMIT ((int64_t)1 << 62)        /* of a coefficient or constant of a row */
#define FORM_LIMIT ((int64_t)1 << 50)   /* of a form that is given, so that a few can be added */
#define MOST_ROWS 4000u                 /* of one elimination */
#define MOST_TRIES 40000                /* of one question, in units of a row that is made */
#define ROWS_COMPARED 8                 /* in the time in which one is made */
#define NARROW 16                       /* a variable with so few values is tried at each */
#define EDGE 4                          /* else at so many values on either end */

void dff_linear_free(struct dff_linear *l)
{
    dfr_array_free(&l->rows);
    dfr_array_free(&l->found);
}

/* ---- forms ---- */

bool dff_form_add(struct dff_form *to, const struct dff_form *form, int64_t factor)
{
    bool fits = true;
    for (unsigned v = 0; v <= DFF_MAX_VARS; v++) {
        int64_t *t = v < DFF_MAX_VARS ? &to->c[v] : &to->k, add;
        fits &= !__builtin_mul_overflow(v < DFF_MAX_VARS ? form->c[v] : form->k, factor, &add);
        fits &= !__builtin_add_overflow(*t, add, t) && *t <= FORM_LIMIT && *t >= -FORM_LIMIT;
    }
    return fits;
}

bool dff_form_is(const struct dff_form *a, const struct dff_form *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static __int128 value_at(const struct dff_form *form, const int64_t *point, unsigned n_vars)
{
    __int128 sum = form->k;
    for (unsigned v = 0; v < n_vars; v++)
        if (form->c[v])
            sum += (__int128)form->c[v] * point[v];
    return sum;
}

static int64_t saturated(__int128 value)
{
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

int64_t dff_form_at(const struct dff_form *form, const int64_t *point)
{
    return saturated(value_at(form, point, DFF_MAX_VARS));
}

static __int128 floor_div(__int128 a, __int128 b)   /* b > 0 */
{
    return a / b - (a % b < 0);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* ---- rows ---- */

static struct dff_form *row(const struct dff_linear *l, size_t i)
{
    return &((struct dff_form *)l->rows.items)[i];
}

/* Divides by the greatest common divisor and rounds the constant down. Gives the divisor: 0 is a row without
 * variables. */
static int64_t tighten(struct dff_form *r, unsigned n_vars)
{
    int64_t g = 0;
    for (unsigned v = 0; v < n_vars && g != 1; v++)
        if (r->c[v])
            g = common_divisor(r->c[v], g);
    if (g > 1) {
        for (unsigned v = 0; v < n_vars; v++)
            r->c[v] /= g;
        r->k = (int64_t)floor_div(r->k, g);
    }
    return g;
}

static void spend(struct dff_linear *l, size_t work)
{
    l->left -= (int64_t)work;
    l->budget -= (int64_t)work;
}

/* Adds a row behind those from `base` on, unless one of these says as much. UNDECIDED: added, or not needed. */
static enum dff_verdict add_row(struct dff_linear *l, size_t base, struct dff_form *r)
{
    if (tighten(r, l->n_vars) == 0)
        return r->k < 0 ? DFF_NEVER : DFF_UNDECIDED;
    for (size_t i = base; i < l->rows.n; i++) {
        struct dff_form *other = row(l, i);
        if (memcmp(other->c, r->c, l->n_vars * sizeof r->c[0]) == 0) {
            if (r->k < other->k)
                other->k = r->k;
            return DFF_UNDECIDED;
        }
    }
    struct dff_form *fresh = dfr_array_add(&l->rows, sizeof *fresh, 1);
    spend(l, 1 + (l->rows.n - base) / ROWS_COMPARED);
    if (fresh)
        *fresh = *r;
    else
        l->no_memory = true;
    return DFF_UNDECIDED;
}

static bool exhausted(const struct dff_linear *l)
{
    return l->no_memory || l->left <= 0 || l->budget <= 0;
}

/* The sum of two rows in which v is gone: c[v] > 0 in a, < 0 in b. false: it does not fit. */
static bool combine(const struct dff_linear *l, const struct dff_form *a, const struct dff_form *b, unsigned v,
                    struct dff_form *sum)
{
    const int64_t g = common_divisor(a->c[v], b->c[v]), of_a = -(b->c[v] / g), of_b = a->c[v] / g;
    bool fits = true;
    memset(sum, 0, sizeof *sum);
    for (unsigned w = 0; w <= l->n_vars; w++) {
        const bool last = w == l->n_vars;
        const __int128 x = (__int128)(last ? a->k : a->c[w]) * of_a + (__int128)(last ? b->k : b->c[w]) * of_b;
        fits &= x < LIMIT && x > -LIMIT;
        *(last ? &sum->k : &sum->c[w]) = (int64_t)x;
    }
    return fits;
}

/* ---- elimination ---- */

struct step {                           /* rows [begin, end) hold the variable, and none that was eliminated before */
    unsigned var;
    size_t begin, end;
};

/* The variable whose elimination adds the fewest rows; those of `keep` only when no other is left. false: none is in a
 * row. */
static bool choose(const struct dff_linear *l, size_t base, uint64_t keep, bool keep_all, unsigned *var)
{
    int64_t best = INT64_MAX;
    for (unsigned v = 0; v < l->n_vars; v++) {
        int64_t up = 0, down = 0;
        for (size_t i = base; i < l->rows.n; i++) {
            up += row(l, i)->c[v] > 0;
            down += row(l, i)->c[v] < 0;
        }
        const bool kept = keep >> v & 1;
        if (up + down == 0 || (kept && keep_all))
            continue;
        const int64_t cost = up * down - up - down + (kept ? (int64_t)1 << 40 : 0);
        if (cost < best) {
            best = cost;
            *var = v;
        }
    }
    return best != INT64_MAX;
}

/* Brings the rows with v to the front of those from `base` on, and gives where they end. */
static size_t part(struct dff_linear *l, size_t base, unsigned v)
{
    size_t end = base;
    for (size_t i = base; i < l->rows.n; i++)
        if (row(l, i)->c[v]) {
            const struct dff_form held = *row(l, i);
            *row(l, i) = *row(l, end);
            *row(l, end++) = held;
        }
    return end;
}

static enum dff_verdict eliminate_one(struct dff_linear *l, const struct step *step)
{
    const unsigned v = step->var;
    struct dff_form sum;
    for (size_t i = step->begin; i < step->end; i++)
        for (size_t j = step->begin; j < step->end && row(l, i)->c[v] > 0; j++) {
            if (row(l, j)->c[v] > 0)
                continue;
            if (!combine(l, row(l, i), row(l, j), v, &sum))
                l->incomplete = true;
            else if (add_row(l, step->end, &sum) == DFF_NEVER)
                return DFF_NEVER;
            if (exhausted(l) || l->rows.n - step->end > MOST_ROWS)
                return DFF_UNDECIDED;
        }
    return DFF_HOLDS;
}

/* Eliminates from the rows from `base` on. HOLDS: a real point is left, as far as rounding shows. */
static enum dff_verdict eliminate(struct dff_linear *l, size_t base, bool keep_last, struct step *steps,
                                  unsigned *n_steps)
{
    unsigned v;
    *n_steps = 0;
    while (choose(l, base, l->last, keep_last, &v)) {
        struct step *step = &steps[(*n_steps)++];
        spend(l, 1 + (l->rows.n - base) / 2);
        *step = (struct step){ v, base, part(l, base, v) };
        const enum dff_verdict verdict = eliminate_one(l, step);
        if (verdict != DFF_HOLDS)
            return verdict;
        base = step->end;
    }
    return DFF_HOLDS;
}

/* ---- integer points ---- */

/* The values that the step's rows leave to its variable; the variables of later steps have theirs. */
static void interval(const struct dff_linear *l, const struct step *step, int64_t *low, int64_t *high)
{
    *low = INT64_MIN;
    *high = INT64_MAX;
    for (size_t i = step->begin; i < step->end; i++) {
        const struct dff_form *r = row(l, i);
        const int64_t c = r->c[step->var];
        const __int128 rest = value_at(r, l->point, l->n_vars) - (__int128)c * l->point[step->var];
        if (c > 0) {
            const int64_t least = saturated(-floor_div(rest, c));
            *low = least > *low ? least : *low;
        } else {
            const int64_t most = saturated(floor_div(rest, -(__int128)c));
            *high = most < *high ? most : *high;
        }
    }
}

static enum dff_verdict points(struct dff_linear *l, const struct step *steps, unsigned n_steps)
{
    int64_t low, high;
    if (n_steps == 0)
        return DFF_HOLDS;
    const struct step *step = &steps[n_steps - 1];
    l->point[step->var] = 0;
    interval(l, step, &low, &high);
    if (low > high)
        return DFF_NEVER;
    const bool below = low == INT64_MIN, above = high == INT64_MAX;
    const bool narrow = !below && !above && (uint64_t)high - (uint64_t)low < NARROW;
    const int64_t tries = narrow ? high - low + 1 : 2 * EDGE;
    bool never = narrow;
    for (int64_t t = 0; t < tries; t++) {
        const bool up = (narrow || t < EDGE || above) && !below;
        const int64_t x = below && above ? t - EDGE : up ? low + t : high - (narrow ? 0 : t % EDGE);
        l->point[step->var] = x;
        spend(l, 1 + (step->end - step->begin) / 2);
        if (exhausted(l))
            return DFF_UNDECIDED;
        const enum dff_verdict verdict = points(l, steps, n_steps - 1);
        if (verdict == DFF_HOLDS)
            return verdict;
        never &= verdict == DFF_NEVER;
    }
    return never ? DFF_NEVER : DFF_UNDECIDED;
}

/* ---- one case ---- */

/* point: look for one, else HOLDS means only that nothing was refuted. */
static enum dff_verdict decide_rows(struct dff_linear *l, bool point)
{
    const uint32_t base = l->rows.n;
    struct step steps[DFF_MAX_VARS];
    unsigned n_steps;
    if (base && !dfr_array_add(&l->rows, sizeof(struct dff_form), base)) {
        l->no_memory = true;
        return DFF_UNDECIDED;
    }
    if (base)
        memcpy(row(l, base), row(l, 0), base * sizeof(struct dff_form));
    l->incomplete = false;
    enum dff_verdict verdict = eliminate(l, base, false, steps, &n_steps);
    if (verdict == DFF_HOLDS && point) {
        memset(l->point, 0, sizeof l->point);
        verdict = points(l, steps, n_steps);
        if (verdict == DFF_NEVER && l->incomplete)
            verdict = DFF_UNDECIDED;
    }
    l->rows.n = base;
    return verdict;
}

/* ---- cases ---- */

static enum dff_verdict add_fact(struct dff_linear *l, const struct dff_fact *fact)
{
    if (!fact)
        return DFF_UNDECIDED;
    if (fact->join == DFF_ROW) {
        struct dff_form r = fact->form;
        return add_row(l, 0, &r);
    }
    if (fact->join == DFF_BOTH)
        return add_fact(l, fact->a) == DFF_NEVER ? DFF_NEVER : add_fact(l, fact->b);
    if (!fact->a || !fact->b)
        return DFF_UNDECIDED;
    if (l->n_eithers == DFF_MAX_EITHERS)
        l->dropped = true;
    else
        l->eithers[l->n_eithers++] = fact;
    return DFF_UNDECIDED;
}

static enum dff_verdict cases(struct dff_linear *l, unsigned next);

/* Rows may be made tighter in place, so the rows of the case around are put back from a copy. */
static enum dff_verdict try_case(struct dff_linear *l, unsigned next, const struct dff_fact *fact)
{
    const uint32_t n_rows = l->rows.n;
    const unsigned n_eithers = l->n_eithers;
    struct dff_form *kept = malloc((n_rows + 1) * sizeof *kept);
    if (!kept) {
        l->no_memory = true;
        return DFF_UNDECIDED;
    }
    if (n_rows)
        memcpy(kept, l->rows.items, n_rows * sizeof *kept);
    const enum dff_verdict verdict = add_fact(l, fact) == DFF_NEVER ? DFF_NEVER : cases(l, next);
    if (n_rows)
        memcpy(l->rows.items, kept, n_rows * sizeof *kept);
    free(kept);
    l->rows.n = n_rows;
    l->n_eithers = n_eithers;
    return verdict;
}

static void keep_case(struct dff_linear *l)
{
    l->found.n = 0;
    struct dff_form *rows = l->rows.n ? dfr_array_add(&l->found, sizeof *rows, l->rows.n) : NULL;
    if (rows)
        memcpy(rows, l->rows.items, l->rows.n * sizeof *rows);
    l->no_memory |= l->rows.n && !rows;
}

static enum dff_verdict cases(struct dff_linear *l, unsigned next)
{
    if (exhausted(l))
        return DFF_UNDECIDED;
    const enum dff_verdict here = decide_rows(l, next == l->n_eithers);
    if (here == DFF_NEVER || next == l->n_eithers) {
        if (here == DFF_HOLDS)
            keep_case(l);
        return here;
    }
    const struct dff_fact *either = l->eithers[next];
    const enum dff_verdict a = try_case(l, next + 1, either->a);
    if (a == DFF_HOLDS)
        return a;
    const enum dff_verdict b = try_case(l, next + 1, either->b);
    return b == DFF_NEVER ? a : b;
}

enum dff_verdict dff_decide(struct dff_linear *l, const struct dff_fact *const *facts, unsigned n, unsigned n_vars)
{
    enum dff_verdict verdict = DFF_UNDECIDED;
    l->rows.n = 0;
    l->n_eithers = 0;
    l->n_vars = n_vars;
    l->left = MOST_TRIES;
    l->dropped = false;
    for (unsigned i = 0; i < n; i++)
        if (add_fact(l, facts[i]) == DFF_NEVER)
            return DFF_NEVER;
    verdict = cases(l, 0);
    return verdict == DFF_HOLDS && l->dropped ? DFF_UNDECIDED : verdict;
}

/* ---- bounds ---- */

/* The row bounds variable t by 1 * t: gives the bound. */
static bool bound_of_row(const struct dff_form *r, unsigned t, bool upper, struct dff_form *bound)
{
    if (r->c[t] != (upper ? -1 : 1))
        return false;
    struct dff_form rest = *r;
    rest.c[t] = 0;
    memset(bound, 0, sizeof *bound);
    return dff_form_add(bound, &rest, upper ? 1 : -1);
}

bool dff_bound(struct dff_linear *l, const struct dff_form *form, bool upper, struct dff_form *bound)
{
    const unsigned t = l->n_vars;
    const uint64_t last = l->last;
    struct step steps[DFF_MAX_VARS];
    struct dff_form r = *form, candidate;
    unsigned n_steps;
    bool any = false;
    if (t == DFF_MAX_VARS || !dfr_array_add(&l->rows, sizeof r, l->found.n + 2))
        return false;
    if (l->found.n)
        memcpy(row(l, 0), l->found.items, l->found.n * sizeof r);
    r.c[t] = -1;
    *row(l, l->found.n) = r;
    memset(row(l, l->found.n + 1), 0, sizeof r);
    l->rows.n = l->found.n + 2;
    dff_form_add(row(l, l->found.n + 1), &r, -1);
    l->n_vars = t + 1;
    l->last |= (uint64_t)1 << t;
    l->left = MOST_TRIES;
    if (eliminate(l, 0, true, steps, &n_steps) == DFF_HOLDS)
        for (size_t i = n_steps ? steps[n_steps - 1].end : 0; i < l->rows.n; i++)
            if (bound_of_row(row(l, i), t, upper, &candidate)) {
                const int64_t at = dff_form_at(&candidate, l->point), so_far = any ? dff_form_at(bound, l->point) : 0;
                if (!any || (upper ? at < so_far : at > so_far))
                    *bound = candidate;
                any = true;
            }
    l->n_vars = t;
    l->last = last;
    l->rows.n = 0;
    return any;
}
