/* table.c - tables: the extents are numbers, there are as many values, and each is one of the element type. */
#include "compiler/formula/table.h"

#include <math.h>

#include "compiler/formula/build.h"

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

static bool read_value(struct dfc_unit *u, const struct dfl_decl *decl, const struct dfl_expr *e, enum df_elem elem,
                       int64_t *i, double *f)
{
    const struct dfc_names names = { .use = DFC_USE_TABLE };
    const char *type = df_elem_name(elem);
    struct dfc_value v;
    if (!dfc_fold(u, &names, e, &v))
        return false;
    double real = v.n.kind == DF_KIND_I64 ? (double)v.n.i : v.n.f;
    if (v.n.kind == DF_KIND_STR) {
        dfl_error(u->sink, e->loc, "a table holds numbers, and this is a string");
        return false;
    }
    if (dff_elem_is_float(elem)) {
        *f = dff_round_float(real, elem);
        if (isfinite(*f))
            return true;
        dfl_error(u->sink, e->loc, "%.9g does not fit in %s, the type of table '%s'", real, type, decl->name.text);
        return false;
    }
    *i = v.n.i;
    if (dff_fits(&v.n, elem))
        return true;
    if (v.n.kind == DF_KIND_I64)
        dfl_error(u->sink, e->loc, "%lld does not fit in %s, the type of table '%s'", (long long)v.n.i, type,
                  decl->name.text);
    else
        dfl_error(u->sink, e->loc, "table '%s' is %s, but %.9g is a number with a point", decl->name.text, type, real);
    return false;
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
    bool ok = true;
    for (const struct dfl_expr *e = decl->value; e; e = e->next, k++)
        ok &= read_value(u, decl, e, (enum df_elem)format.elem, &i[k], &f[k]);
    *table = (struct dff_table){ .decl = decl, .elem = (enum df_elem)format.elem, .rank = format.rank };
    for (unsigned d = 0; d < format.rank; d++)
        table->extents[d] = format.dims[d];
    if (dff_elem_is_float(table->elem))
        table->f = f;
    else
        table->i = i;
    return ok ? table : NULL;
}
