/* platform_values.c - evaluates the properties of a platform or cluster, for platform_decl.c and cluster_decl.c:
 * numbers with units of measure, checked against their bounds.
 */
#include <math.h>
#include <string.h>

#include "compiler/declare/declare.h"
#include "compiler/declare/platform_impl.h"

struct measure { /* a number and the powers of its units */
    double n;
    int bytes, seconds;
};

static bool is_param(const struct dfc_convert *c, const struct dfl_expr *e)
{
    uint32_t id;
    return dfc_index_find(&c->u->params, e->s, &id);
}

/* Is it the unit under the line of a rate: the s of 6 GB/s? */
static bool is_rate(const struct dfc_convert *c, const struct dfl_expr *e)
{
    return e->kind == DFL_EXPR_BINARY && e->op == DFL_OP_DIV && e->b->kind == DFL_EXPR_NAME && !is_param(c, e->b);
}

static bool has_units(const struct dfc_convert *c, const struct dfl_expr *e)
{
    if (!e)
        return false;
    bool has = e->kind == DFL_EXPR_QUANTITY || has_units(c, e->a) || (!is_rate(c, e) && has_units(c, e->b));
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        has |= has_units(c, arg);
    return has;
}

static bool unknown_unit(struct dfc_convert *c, struct dfl_loc loc, const char *unit)
{
    dfl_error(c->sink, loc, "unknown unit '%s'", unit);
    dfc_hint_name(c->u, unit, dfc_unit_names, dfc_unit_n_names);
    return false;
}

/* One rounding: 1.2ms is the double nearest to 0.0012. */
static double scaled(double n, double factor)
{
    return factor < 1 ? n / (factor == 1e-3 ? 1e3 : factor == 1e-6 ? 1e6 : 1e9) : n * factor;
}

static bool measure(struct dfc_convert *c, const struct dfl_expr *e, struct measure *m);

static bool measure_number(struct dfc_convert *c, const struct dfl_expr *e, struct measure *m)
{
    const struct dfc_names names = { .use = c->promise ? DFC_USE_PROMISE : DFC_USE_PLATFORM };
    struct dfc_value value;
    enum dfc_unit_kind kind;
    double factor;
    if (e->kind == DFL_EXPR_NAME && !is_param(c, e) && dfc_unit_find(e->s, &kind, &factor)) {
        dfl_error(c->sink, e->loc, "a number is missing before the unit '%s'", e->s);
        return false;
    }
    if (!dfc_fold(c->u, &names, e, &value))
        return false;
    if (value.n.kind == DF_KIND_STR) {
        dfl_error(c->sink, e->loc, "a string is not a number");
        return false;
    }
    *m = (struct measure){ .n = value.n.kind == DF_KIND_I64 ? (double)value.n.i : value.n.f };
    return true;
}

static bool measure_quantity(struct dfc_convert *c, const struct dfl_expr *e, struct measure *m)
{
    enum dfc_unit_kind kind;
    double factor;
    if (!dfc_unit_find(e->s, &kind, &factor))
        return unknown_unit(c, e->loc, e->s);
    *m = (struct measure){ scaled(e->is_int ? (double)e->i : e->f, factor), kind == DFC_UNIT_BYTES,
                           kind == DFC_UNIT_TIME };
    return true;
}

static bool measure_rate(struct dfc_convert *c, const struct dfl_expr *e, struct measure *m)
{
    enum dfc_unit_kind kind;
    double factor;
    if (!measure(c, e->a, m))
        return false;
    if (!dfc_unit_find(e->b->s, &kind, &factor))
        return unknown_unit(c, e->loc, e->b->s);
    m->n /= factor;
    m->bytes -= kind == DFC_UNIT_BYTES;
    m->seconds -= kind == DFC_UNIT_TIME;
    return true;
}

static bool combine(struct dfc_convert *c, const struct dfl_expr *e, enum dfl_op op, const struct measure *b,
                    struct measure *a)
{
    int sign = op == DFL_OP_MUL ? 1 : -1;
    if (op == DFL_OP_MUL || op == DFL_OP_DIV) {
        if (op == DFL_OP_DIV && b->n == 0) {
            dfl_error(c->sink, e->loc, "division by zero");
            return false;
        }
        *a = (struct measure){ op == DFL_OP_MUL ? a->n * b->n : a->n / b->n, a->bytes + sign * b->bytes,
                               a->seconds + sign * b->seconds };
        return true;
    }
    if (op != DFL_OP_ADD && op != DFL_OP_SUB) {
        dfl_error(c->sink, e->loc, "values with units can be added, subtracted, multiplied and divided");
        return false;
    }
    if (a->bytes != b->bytes || a->seconds != b->seconds) {
        dfl_error(c->sink, e->loc, "values with different units cannot be added");
        return false;
    }
    a->n = op == DFL_OP_ADD ? a->n + b->n : a->n - b->n;
    return true;
}

static bool measure(struct dfc_convert *c, const struct dfl_expr *e, struct measure *m)
{
    struct measure b;
    if (is_rate(c, e))
        return measure_rate(c, e, m);
    if (!has_units(c, e))
        return measure_number(c, e, m);
    if (e->kind == DFL_EXPR_QUANTITY)
        return measure_quantity(c, e, m);
    if (e->kind == DFL_EXPR_UNARY && e->op == DFL_OP_NEG) {
        if (!measure(c, e->a, m))
            return false;
        m->n = -m->n;
        return true;
    }
    if (e->kind == DFL_EXPR_BINARY)
        return measure(c, e->a, m) && measure(c, e->b, &b) && combine(c, e, e->op, &b, m);
    dfl_error(c->sink, e->loc, "values with units can be added, subtracted, multiplied and divided");
    return false;
}

bool dfc_take_number(struct dfc_convert *c, const struct dfl_expr *value, const char *what, int want, bool rate,
                      double *result)
{
    static const char *const examples[] = { "10 us", "6 GiB" };
    struct measure m;
    if (!measure(c, value, &m))
        return c->ok = false;
    if (m.bytes == (want == DFC_UNIT_BYTES) && m.seconds == (want == DFC_UNIT_TIME) - rate) {
        *result = m.n;
        return true;
    }
    if (want == DFC_NO_UNIT && rate)
        dfl_error(c->sink, value->loc, "%s must be given like '8 / ns'", what);
    else if (want == DFC_NO_UNIT)
        dfl_error(c->sink, value->loc, "%s must be a number without a unit", what);
    else
        dfl_error(c->sink, value->loc, "%s must be given like '%s'", what, rate ? "6 GB/s" : examples[want]);
    return c->ok = false;
}

bool dfc_take_count(struct dfc_convert *c, const struct dfl_expr *value, const char *what, uint32_t least, uint32_t most,
                     uint32_t *result)
{
    double n;
    if (!dfc_take_number(c, value, what, DFC_NO_UNIT, false, &n))
        return false;
    if (n != floor(n) || n < least || n > most) {
        dfl_error(c->sink, value->loc, "%s must be a whole number from %u to %u", what, (unsigned)least,
                  (unsigned)most);
        return c->ok = false;
    }
    *result = (uint32_t)n;
    return true;
}

void dfc_take_bytes(struct dfc_convert *c, const struct dfl_expr *value, const char *what, uint64_t *result)
{
    double n;
    if (!dfc_take_number(c, value, what, DFC_UNIT_BYTES, false, &n))
        return;
    if (n < 1 || n >= (double)DF_LIMIT_BYTES) {
        dfl_error(c->sink, value->loc, "%s must be from 1 B to 8 EiB", what);
        c->ok = false;
        return;
    }
    *result = (uint64_t)n;
}

void dfc_take_delay(struct dfc_convert *c, const struct dfl_expr *value, const char *what, double *result)
{
    double n;
    if (!dfc_take_number(c, value, what, DFC_UNIT_TIME, false, &n))
        return;
    if (n < 0 || n > DF_MOST_DELAY_S) {
        dfl_error(c->sink, value->loc, n < 0 ? "%s must be from 0 to %.0f s" : "%s must be at most %.0f s", what,
                  DF_MOST_DELAY_S);
        c->ok = false;
        return;
    }
    *result = n;
}

bool dfc_take_rate(struct dfc_convert *c, const struct dfl_expr *value, const char *what, double *bytes_per_s)
{
    if (!dfc_take_number(c, value, what, DFC_UNIT_BYTES, true, bytes_per_s))
        return false;
    if (*bytes_per_s >= DF_LEAST_RATE && *bytes_per_s <= DF_MOST_RATE)
        return true;
    dfl_error(c->sink, value->loc, "%s must be from 1 B/s to 1000000 TB/s", what);
    return c->ok = false;
}

void dfc_refuse_value(struct dfc_convert *c, const struct dfl_expr *value, const char *what)
{
    if (!value)
        return;
    dfl_error(c->sink, value->loc, "%s", what);
    c->ok = false;
}

void dfc_take_link(struct dfc_convert *c, const struct dfl_property *property, struct df_link *link)
{
    const struct dfl_expr *value = property->values;
    double n;
    if (!dfc_take_rate(c, value, "a link's bandwidth", &link->bytes_per_s))
        return;
    if ((value = value->next))
        dfc_take_delay(c, value, "a link's latency", &link->latency_s);
    if (value && (value = value->next) && dfc_take_number(c, value, "a link's threshold", DFC_UNIT_BYTES, false, &n)) {
        if (n < 0)
            dfc_refuse_value(c, value, "a link's threshold must not be negative");
        else if (n >= (double)DF_LIMIT_BYTES)
            dfc_refuse_value(c, value, "a link's threshold must be at most 8 EiB");
        else
            link->threshold_bytes = (uint64_t)n;
    }
    if (value)
        dfc_refuse_value(c, value->next, "a link has a bandwidth, a latency and a threshold, and nothing more");
}
