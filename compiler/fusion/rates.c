/* rates.c - determines for the rest of the room how many rows the members of a group make while others make theirs: in a pyramid one for two, and one for four.
 * It also composes the rows of successive reads.
 *
 * What a member reads of another one ties their rates to each other. A group has one rate for each member, so a ring holds a
 * few rows however tall its stream is.
 */
#include "compiler/fusion/fusion.h"
#include "runtime/df_strips.h"

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

struct dfu_ratio dfu_product(struct dfu_ratio a, struct dfu_ratio b)
{
    const int64_t times = a.times * b.times, by = a.by * b.by, d = divisor(times, by);
    return (struct dfu_ratio){ times / d, by / d };
}

struct dfu_ratio dfu_inverse(struct dfu_ratio a)
{
    return (struct dfu_ratio){ a.by, a.times };
}

bool dfu_in_place(const struct dfu_rows *rows)
{
    return dfu_is_one(rows->rate) && rows->low == 0 && rows->high == 0;
}

struct dfu_rows dfu_rows_through(const struct dfu_rows *first, const struct dfu_rows *then)
{
    const struct dfu_ratio a = first->rate, b = then->rate;
    const int64_t by = a.by * b.by, d = divisor(a.times * b.times, by);
    const int64_t rounded = b.times > 1 ? b.times * (a.by - 1) : 0; /* what `first` may lose, times b.times */
    struct dfu_rows rows = *then;
    rows.rate = (struct dfu_ratio){ a.times * b.times / d, by / d };
    rows.low = df_strip_floor(b.times * first->low - rounded + a.by * then->low, d);
    rows.high = df_strip_floor(b.times * first->high + a.by * then->high, d);
    return rows;
}

/* ---- a group ---- */

static bool is_near(struct dfu_ratio a)
{
    return a.times <= DFU_MOST_RATIO && a.by <= DFU_MOST_RATIO;
}

/* How the rows that member m makes and those that it reads of its input i are tied. false: they are not. */
static bool tie(const struct dfu_wiring *w, unsigned m, unsigned i, unsigned dim, struct dfu_ratio *ratio)
{
    const struct dfc_callee *callee = w->member[m].callee;
    struct dfu_rows rows;
    if (w->member[m].in[i].member < 0 || dfu_why_no_rows(callee, callee->sig.in_port[i], dim, &rows) || !rows.taps)
        return false;
    *ratio = rows.rate;
    return true;
}

/* Finds the rates of those that are tied to members whose rate is known. *more: there may be others. false: two ways lead to unlike rates. */
static bool follow(const struct dfu_wiring *w, unsigned dim, struct dfu_ratio *rates, bool *more)
{
    *more = false;
    for (unsigned m = w->n; m-- > 0;)
        for (unsigned i = 0; i < w->member[m].callee->sig.n_in; i++) {
            struct dfu_ratio ratio, wanted;
            if (!tie(w, m, i, dim, &ratio))
                continue;
            struct dfu_ratio *made = &rates[w->member[m].in[i].member], *reader = &rates[m];
            if (!made->by && !reader->by)
                continue;
            *more |= !made->by || !reader->by;
            if (!reader->by)
                *reader = dfu_product(*made, dfu_inverse(ratio));
            wanted = dfu_product(*reader, ratio);
            if (!made->by)
                *made = wanted;
            if (made->times != wanted.times || made->by != wanted.by || !is_near(*made) || !is_near(*reader))
                return false;
        }
    return true;
}

static bool follow_all(const struct dfu_wiring *w, unsigned dim, struct dfu_ratio *rates)
{
    for (unsigned m = 0; m < w->n; m++) {
        bool more = !rates[m].by;
        if (more)
            rates[m] = (struct dfu_ratio){ 1, 1 };
        while (more)
            if (!follow(w, dim, rates, &more))
                return false;
    }
    return true;
}

bool dfu_leaves(const struct dfu_member *member)
{
    bool any = false;
    for (unsigned slot = 0; slot < member->callee->sig.n_out; slot++)
        any |= member->leaves[slot];
    return any;
}

bool dfu_rates(const struct dfu_wiring *w, unsigned dim, struct dfu_ratio *rates)
{
    struct dfu_ratio highest = { 0, 1 };
    bool good = true;
    for (unsigned m = 0; m < w->n; m++)
        rates[m] = (struct dfu_ratio){ 0, 0 };
    if (!follow_all(w, dim, rates))
        return false;
    for (unsigned m = 0; m < w->n; m++)
        if (dfu_leaves(&w->member[m]) && rates[m].times * highest.by > highest.times * rates[m].by)
            highest = rates[m];
    for (unsigned m = 0; m < w->n && highest.times; m++) {
        rates[m] = dfu_product(rates[m], dfu_inverse(highest));
        good &= is_near(rates[m]);
    }
    return good;
}
