/* domain.c - checks for check.c left-hand sides, and that together they define every element of a port exactly once. It
 * also finds the column and the channels of a formula, for compiler/generate and compiler/fusion.
 *
 * A formula defines a box of its port: along each dimension either the whole extent (an index) or one position (a
 * number). The boxes of a port must be disjoint and complete. A number along a dimension requires an extent that is a
 * number.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/formula/build.h"

#define MOST_CHANNELS 8

/* ---- the left side ---- */

const char *dff_assign_text(enum dfl_assign assign)
{
    static const char *const texts[] = { [DFL_SET] = "=", [DFL_ADD] = "+=", [DFL_LEAST] = "min=", [DFL_MOST] = "max=" };
    return texts[assign];
}

static bool find_target(struct dff_build *b, const struct dfl_formula *ast, unsigned *p)
{
    const char *name = ast->name.text;
    *p = dff_find_port(b, name);
    if (*p == b->callee->sig.n_ports) {
        dfl_error(b->u->sink, ast->name.loc, "kernel '%s' has no port '%s'", b->callee->name, name);
        dfl_hint(b->u->sink, "'let %s = ...' gives an expression a name", name);
        return false;
    }
    if (b->ports[*p].mode == DF_IN) {
        dfl_error(b->u->sink, ast->name.loc, "'%s' is an in port: formulas define out ports", name);
        dfl_hint(b->u->sink, "'let NAME = ...;' gives a value a name, and an 'inout' port is changed in its place");
        return false;
    }
    if (ast->assign != DFL_SET && b->ports[*p].mode == DF_OUT) {
        dfl_error(b->u->sink, ast->loc, "'%s' changes what '%s' was before, and an out port was nothing before",
                  dff_assign_text(ast->assign), name);
        dfl_hint(b->u->sink, "make it an 'acc' port, which keeps its value from wave to wave; or write '='");
        return false;
    }
    return true;
}

static const char *example_indices(unsigned rank)
{
    static const char *const indices[] = { "", "[i]", "[y, x]", "[z, y, x]", "[t, z, y, x]" };
    return rank <= 4 ? indices[rank] : "";
}

static bool check_count(struct dff_build *b, const struct dfl_formula *ast, const struct dff_port *port)
{
    unsigned n = 0;
    for (const struct dfl_expr *e = ast->indices; e; e = e->next)
        n++;
    if (n == port->rank)
        return true;
    dfl_error(b->u->sink, ast->name.loc, "port '%s' has %u dimension%s, but the left side has %u ind%s",
              ast->name.text, port->rank, port->rank == 1 ? "" : "s", n, n == 1 ? "ex" : "ices");
    dfl_note(b->u->sink, port->ast->name.loc, "'%s' is declared here", ast->name.text);
    dfl_hint(b->u->sink, "the left side has an index for each dimension: '%s%s = ...;'", ast->name.text, example_indices(port->rank));
    return false;
}

static bool check_place(struct dff_build *b, const struct dfl_expr *e, const struct dff_port *port, unsigned d,
                        int64_t *at)
{
    const struct dff_node *extent = port->extents[d];
    *at = e->i;
    if (extent->kind != DFF_CONST) {
        dfl_error(b->u->sink, e->loc, "a number cannot stand here: how many elements '%s' has along dimension %u is not "
                  "known", port->ast->name.text, d + 1);
        dfl_hint(b->u->sink, "write an index, and 'index == %lld ? ... : ...' for what is special", (long long)e->i);
        return false;
    }
    if (e->i >= 0 && e->i < extent->i)
        return true;
    dfl_error(b->u->sink, e->loc, "dimension %u of '%s' goes from 0 to %lld, and this is %lld", d + 1,
              port->ast->name.text, (long long)extent->i - 1, (long long)e->i);
    return false;
}

bool dff_check_left(struct dff_build *b, const struct dfl_formula *ast, struct dff_formula *f,
                    struct dff_scope scope[DF_MAX_RANK], struct dff_place *place)
{
    unsigned p, d = 0;
    *place = (struct dff_place){ .left = f };
    if (!find_target(b, ast, &p) || !check_count(b, ast, &b->ports[p]))
        return false;
    *f = (struct dff_formula){ .port = p, .rank = b->ports[p].rank, .ast = ast };
    bool ok = true;
    for (const struct dfl_expr *e = ast->indices; e; e = e->next, d++) {
        f->is_index[d] = e->kind == DFL_EXPR_NAME;
        f->names[d] = e->s;
        if (!f->is_index[d]) {
            ok &= check_place(b, e, &b->ports[p], d, &f->at[d]);
            continue;
        }
        ok &= dff_new_name(b, place, "index", e->s, e->loc);
        const struct dff_node *index = dff_leaf(b, DFF_INDEX, DFF_I32, d, e->loc);
        scope[d] = (struct dff_scope){ e->s, e->loc, { .node = index }, place->scope };
        place->scope = &scope[d];
        ok &= index != NULL;
    }
    place->formula = place->scope;
    place->n_slots = f->rank;
    return ok;
}

/* ---- the whole domain ---- */

/* "o[y, x, 2]" */
static const char *element_text(struct dff_build *b, const struct dff_formula *f, const int64_t *at,
                                const bool *is_index)
{
    char text[600];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", b->ports[f->port].ast->name.text);
    for (unsigned d = 0; d < f->rank && n < sizeof text; d++)
        n += is_index[d] ? (size_t)snprintf(text + n, sizeof text - n, "%s%s", d ? ", " : "[",
                                            f->names[d] ? f->names[d] : "...")
                         : (size_t)snprintf(text + n, sizeof text - n, "%s%lld", d ? ", " : "[", (long long)at[d]);
    return dfc_printf(b->u, "%s%s", text, f->rank ? "]" : "");
}

static bool overlap(struct dff_build *b, const struct dff_formula *f, const struct dff_formula *g)
{
    bool is_index[DF_MAX_RANK];
    int64_t at[DF_MAX_RANK];
    if (f->port != g->port)
        return false;
    for (unsigned d = 0; d < f->rank; d++) {
        if (!f->is_index[d] && !g->is_index[d] && f->at[d] != g->at[d])
            return false;
        is_index[d] = f->is_index[d] && g->is_index[d];
        at[d] = f->is_index[d] ? g->at[d] : f->at[d];
    }
    dfl_error(b->u->sink, g->ast->name.loc, "'%s' is defined twice", element_text(b, g, at, is_index));
    dfl_note(b->u->sink, f->ast->name.loc, "the first is here");
    return true;
}

struct element {                        /* that nothing defines */
    bool is_index[DF_MAX_RANK];
    int64_t at[DF_MAX_RANK];
};

static bool is_covered(struct dff_build *b, const struct dff_formula *const *list, unsigned n, unsigned d,
                       struct element *missing);

/* The formulas of the list that define place `at` of dimension d cover what is behind it. */
static bool place_covered(struct dff_build *b, const struct dff_formula *const *list, unsigned n, unsigned d, int64_t at,
                          struct element *missing)
{
    const struct dff_formula **some = dfc_alloc(b->u, (n + 1) * sizeof *some);
    unsigned n_some = 0;
    for (unsigned i = 0; some && i < n; i++)
        if (list[i]->is_index[d] || list[i]->at[d] == at)
            some[n_some++] = list[i];
    missing->is_index[d] = false;
    missing->at[d] = at;
    return some && is_covered(b, some, n_some, d + 1, missing);
}

/* The least number along dimension d, from `from` on; INT64_MAX: there is none. */
static int64_t next_number(const struct dff_formula *const *list, unsigned n, unsigned d, int64_t from)
{
    int64_t least = INT64_MAX;
    for (unsigned i = 0; i < n; i++)
        if (!list[i]->is_index[d] && list[i]->at[d] >= from && list[i]->at[d] < least)
            least = list[i]->at[d];
    return least;
}

/* Do these formulas, which are equal in the dimensions before d, define all from d on? Places without a number of their
 * own are alike, so the first of them stands for all. false: *missing says what is not defined. */
static bool is_covered(struct dff_build *b, const struct dff_formula *const *list, unsigned n, unsigned d,
                       struct element *missing)
{
    if (n == 0)
        return false;
    if (d == list[0]->rank)
        return true;
    if (next_number(list, n, d, 0) == INT64_MAX)
        return is_covered(b, list, n, d + 1, missing);
    const int64_t extent = b->ports[list[0]->port].extents[d]->i;
    bool gap = false;
    for (int64_t at = 0; at < extent; at++) {
        int64_t next = next_number(list, n, d, at);
        if ((next == at || !gap) && !place_covered(b, list, n, d, at, missing))
            return false;
        gap |= next != at;
        if (next != at)
            at = next > extent ? extent : next - 1;
    }
    missing->is_index[d] = true;
    return true;
}

static void no_formula(struct dff_build *b, const struct dfl_port *port)
{
    dfl_error(b->u->sink, port->name.loc, "no formula defines %s port '%s'", dfl_mode_name(port->mode), port->name.text);
    dfl_hint(b->u->sink, "the kernel computes it by '%s%s = ...;'", port->name.text, example_indices(port->format->rank));
}

static bool check_port(struct dff_build *b, const struct dff_formula *formulas, unsigned n, unsigned p)
{
    const struct dff_formula **list = dfc_alloc(b->u, (n + 1) * sizeof *list);
    unsigned n_list = 0;
    struct element missing = { .is_index = { true, true, true, true } };
    for (unsigned i = 0; list && i < n; i++)
        if (formulas[i].port == p)
            list[n_list++] = &formulas[i];
    if (list && n_list == 0)
        no_formula(b, b->ports[p].ast);
    if (!list || n_list == 0)
        return false;
    for (unsigned i = 0; i < n_list; i++)
        for (unsigned k = 0; k < i; k++)
            if (overlap(b, list[k], list[i]))
                return false;
    if (is_covered(b, list, n_list, 0, &missing))
        return true;
    if (!b->u->no_memory)
        dfl_error(b->u->sink, list[n_list - 1]->ast->name.loc, "no formula defines '%s'",
                  element_text(b, list[0], missing.at, missing.is_index));
    return false;
}

bool dff_check_domains(struct dff_build *b, const struct dff_formula *formulas, unsigned n)
{
    bool ok = true;
    for (unsigned p = 0; p < b->callee->sig.n_ports; p++)
        if (b->ports[p].mode != DF_IN)
            ok &= check_port(b, formulas, n, p);
    return ok;
}

/* ---- columns ---- */

int64_t dff_channels(const struct dff_kernel *kernel, const struct dff_formula *formula, unsigned d)
{
    const struct dff_node *extent = kernel->ports[formula->port].extents[d];
    return extent->kind == DFF_CONST && extent->i <= MOST_CHANNELS ? extent->i : 0;
}

int dff_column(const struct dff_kernel *kernel, const struct dff_formula *formula)
{
    int column = -1;
    for (unsigned d = 0; d < formula->rank; d++)
        if (formula->is_index[d] && (column < 0 || !dff_channels(kernel, formula, d)))
            column = (int)d;
    return column;
}
