/* lets.c - expands lets (named subexpressions and local functions) at each use, for names.c and call.c, and checks for
 * check.c that each is used.
 *
 * A let without indices stands for its expression, and sees all indices and ranges in scope where it is used. A let
 * with indices is a local function: it sees its own indices and those and the ranges of the formula around the use, but
 * no index of another let. Expansion is hygienic: ranges in its body may have the same names as those around the use.
 * Expansions are memoised by arguments, so a chain of lets that each use the previous one twice stays linear.
 */
#include <string.h>

#include "compiler/formula/build.h"

/* ---- declarations ---- */

struct dff_let *dff_find_let(struct dff_build *b, const char *name)
{
    for (unsigned i = 0; i < b->n_lets; i++)
        if (strcmp(b->lets[i].ast->name.text, name) == 0)
            return &b->lets[i];
    return NULL;
}

/* Its indices are names of its own; but what is in force everywhere in the kernel they may not repeat. */
static bool enter_indices(struct dff_build *b, struct dff_let *let)
{
    const struct dff_place none = { 0 };
    bool ok = true;
    for (const struct dfl_expr *index = let->ast->indices; index; index = index->next, let->n_indices++) {
        ok &= dff_new_name(b, &none, "index", index->s, index->loc);
        for (const struct dfl_expr *other = let->ast->indices; other != index; other = other->next)
            if (strcmp(other->s, index->s) == 0) {
                dfl_error(b->u->sink, index->loc, "index '%s' is declared twice", index->s);
                ok = false;
            }
    }
    return ok;
}

bool dff_enter_lets(struct dff_build *b)
{
    const struct dff_place none = { 0 };
    unsigned n = 0;
    bool ok = true;
    for (const struct dfl_formula *f = b->callee->kernel->formulas; f; f = f->next)
        n += f->is_let;
    b->lets = dfc_alloc(b->u, (n + 1) * sizeof *b->lets);
    if (!b->lets)
        return false;
    for (const struct dfl_formula *f = b->callee->kernel->formulas; f; f = f->next)
        if (f->is_let && dff_new_name(b, &none, "let", f->name.text, f->name.loc))
            b->lets[b->n_lets++] = (struct dff_let){ .ast = f };
        else
            ok &= !f->is_let;
    for (unsigned i = 0; i < b->n_lets; i++)
        ok &= enter_indices(b, &b->lets[i]);
    return ok;
}

bool dff_check_lets_used(struct dff_build *b)
{
    bool ok = true;
    for (unsigned i = 0; i < b->n_lets; i++)
        if (!b->lets[i].expansions) {
            dfl_error(b->u->sink, b->lets[i].ast->name.loc, "no formula uses let '%s'", b->lets[i].ast->name.text);
            ok = false;
        }
    return ok;
}

/* ---- expansion ---- */

static bool same_value(const struct dff_value *x, const struct dff_value *y)
{
    if (x->exact != y->exact || x->soft != y->soft)
        return false;
    return !x->exact ? x->node == y->node
                     : x->n.kind == y->n.kind && x->n.i == y->n.i && memcmp(&x->n.f, &y->n.f, sizeof x->n.f) == 0;
}

static const struct dff_expansion *known(struct dff_build *b, const struct dff_place *place, const struct dff_let *let,
                                         const struct dff_value *args, struct dfl_loc loc)
{
    unsigned n = 0;
    for (const struct dff_expansion *x = let->expansions; x; x = x->next) {
        if (++n % 4 == 0 && !dff_step(b, loc)) /* looking is cheap, but not free */
            return NULL;
        bool same = x->n_slots == place->n_slots && x->scope == place->scope;
        for (unsigned i = 0; i < let->n_indices && same; i++)
            same = same_value(&x->args[i], &args[i]);
        if (same)
            return x;
    }
    return NULL;
}

/* The place of the let's expression: a local function's indices are in front of what it sees. */
static bool enter(struct dff_build *b, const struct dff_let *let, const struct dff_value *args, struct dff_place *place)
{
    const struct dfl_expr *index = let->ast->indices;
    place->fence = place->scope;
    for (unsigned i = 0; i < let->n_indices; i++, index = index->next) {
        struct dff_scope *scope = dfc_alloc(b->u, sizeof *scope);
        if (!scope)
            return false;
        *scope = (struct dff_scope){ index->s, index->loc, args[i], place->scope };
        place->scope = scope;
    }
    return true;
}

static bool write_out(struct dff_build *b, const struct dff_place *place, struct dff_let *let,
                      const struct dff_value *args, const struct dfl_expr *at, struct dff_value *v)
{
    struct dff_place inner = *place;
    unsigned before = dfl_sink_errors(b->u->sink);
    if (!enter(b, let, args, &inner))
        return false;
    let->busy = true;
    bool ok = dff_expr(b, &inner, let->ast->value, v);
    let->busy = false;
    if (ok)
        return true;
    const unsigned errors = dfl_sink_errors(b->u->sink);
    if (!let->failed && !b->too_large && errors > before && errors > b->explained) {
        dfl_note(b->u->sink, at->loc, "in this use of let '%s'", let->ast->name.text);
        b->explained = errors;
    }
    let->failed = true;
    return false;
}

bool dff_expand(struct dff_build *b, const struct dff_place *place, struct dff_let *let, const struct dff_value *args,
                const struct dfl_expr *at, struct dff_value *v)
{
    struct dff_place own = *place;
    if (let->n_indices)
        own.scope = own.formula;
    if (let->busy && !let->failed) {
        dfl_error(b->u->sink, at->loc, "let '%s' refers to itself", let->ast->name.text);
        let->failed = true;
    }
    if (let->failed)
        return false;
    const struct dff_expansion *seen = known(b, &own, let, args, at->loc);
    if (seen) {
        *v = seen->value;
        return true;
    }
    struct dff_expansion *fresh = dfc_alloc(b->u, sizeof *fresh);
    if (!fresh || !write_out(b, &own, let, args, at, v))
        return false;
    *fresh = (struct dff_expansion){ own.scope, own.n_slots, args, *v, let->expansions };
    let->expansions = fresh;
    return true;
}
