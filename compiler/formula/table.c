/* table.c - checks tables for declare/decl.c: the extents are numbers, there are as many values, and each is representable in
 * the element type. declare/sig.c reads and check.c encodes single numbers with it.
 */
#include "compiler/formula/table.h"

#include <math.h>
#include <string.h>

#include "compiler/formula/build.h"
#include "runtime/df_formula.h"

static bool check_number(struct dfc_unit *u, const struct dfl_decl *decl, const struct dfc_format *format,
                         uint64_t given)
{
    uint64_t n = 1;
    char text[120];
    for (unsigned d = 0; d < format->rank; d++)
        if (__builtin_mul_overflow(n, format->dims[d], &n) || n > INT32_MAX)
            n = UINT64_MAX;
    if (n == given)
        return true;
    dfc_format_print(format, text, sizeof text);
    if (n == UINT64_MAX)
        dfl_error(u->sink, decl->format->loc, "table '%s' is too large: it has 2147483647 values at most",
                  decl->name.text);
    else
        dfl_error(u->sink, decl->name.loc, "table '%s' is %s, which has %llu value%s, but %llu %s given",
                  decl->name.text, text, (unsigned long long)n, n == 1 ? "" : "s", (unsigned long long)given,
                  given == 1 ? "is" : "are");
    return false;
}

bool dff_read_number(struct dfc_unit *u, const struct dfl_expr *e, enum df_elem elem, const char *whose, int64_t *i,
                     double *f)
{
    const struct dfc_names names = { .use = DFC_USE_TABLE };
    const char *type = df_elem_name(elem);
    struct dfc_value v;
    if (!dfc_fold(u, &names, e, &v))
        return false;
    double real = v.n.kind == DF_KIND_I64 ? (double)v.n.i : v.n.f;
    if (v.n.kind == DF_KIND_STR) {
        dfl_error(u->sink, e->loc, "%s holds numbers, and this is a string", whose);
        return false;
    }
    if (df_elem_is_float(elem)) {
        *f = dff_round_float(real, elem);
        if (isfinite(*f))
            return true;
        dfl_error(u->sink, e->loc, "%.9g does not fit in %s, the type of %s", real, type, whose);
        return false;
    }
    *i = v.n.i;
    if (dff_fits(&v.n, elem))
        return true;
    if (v.n.kind == DF_KIND_I64)
        dfl_error(u->sink, e->loc, "%lld does not fit in %s, the type of %s", (long long)v.n.i, type, whose);
    else
        dfl_error(u->sink, e->loc, "%s is %s, but %.9g is a number with a point", whose, type, real);
    return false;
}

uint64_t dff_elem_bits(enum df_elem elem, int64_t i, double f)
{
    const float single = (float)f;
    uint64_t bits = 0;
    if (elem == DF_F16)
        bits = df_f16_of_f64(f);
    else if (elem == DF_F32)
        memcpy(&bits, &single, sizeof single);
    else if (elem == DF_F64)
        memcpy(&bits, &f, sizeof f);
    else
        bits = (uint64_t)i & (UINT64_MAX >> (64 - 8 * df_elem_bytes(elem)));
    return bits;
}

const struct dff_table *dff_table_check(struct dfc_unit *u, const struct dfl_decl *decl)
{
    const struct dfc_names names = { .use = DFC_USE_TABLE };
    struct dfc_format format;
    uint64_t n = 0, k = 0;
    if (!dfc_format_fold(u, &names, decl->format, &format))
        return NULL;
    for (const struct dfl_expr *e = decl->value; e; e = e->next)
        n++;
    if (!check_number(u, decl, &format, n))
        return NULL;
    struct dff_table *table = dfc_alloc(u, sizeof *table);
    int64_t *i = dfc_alloc(u, (n + 1) * sizeof *i);
    double *f = dfc_alloc(u, (n + 1) * sizeof *f);
    if (!table || !i || !f)
        return NULL;
    const char *whose = dfc_printf(u, "table '%s'", decl->name.text);
    bool ok = whose != NULL;
    for (const struct dfl_expr *e = decl->value; e; e = e->next, k++)
        ok &= dff_read_number(u, e, (enum df_elem)format.elem, whose, &i[k], &f[k]);
    *table = (struct dff_table){ .decl = decl, .elem = (enum df_elem)format.elem, .rank = format.rank };
    for (unsigned d = 0; d < format.rank; d++)
        table->extents[d] = format.dims[d];
    if (df_elem_is_float(table->elem))
        table->f = f;
    else
        table->i = i;
    return ok ? table : NULL;
}
