/* state.c - checks for check_kernel.c the functions named by `open` and `close` of a variant, which create and destroy
 * its state. Since C allows one prototype per name, all uses of a name must agree: in being an open or a close
 * function, and for open functions in the number of dimensions and the types of scalars.
 */
#include <string.h>

#include "compiler/declare/declare.h"

struct use {
    const struct dfc_callee *callee;
    const struct dfl_name *name;
    bool closes;
};

/* Programs call these of the C library, or have them. */
static bool check_name(struct dfc_unit *u, const struct dfl_name *name)
{
    static const char *const taken[] = { "open", "close", "main" };
    if (dfc_name_reserved(u, "function", name))
        return false;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(name->text, taken[i]) == 0) {
            dfl_error(u->sink, name->loc, "'%s' cannot be the name of this function: programs have another one of that "
                      "name", name->text);
            return false;
        }
    return true;
}

static bool same_arguments(const struct dfc_sig *a, const struct dfc_sig *b)
{
    if (a->n_variables != b->n_variables || a->n_scalars != b->n_scalars)
        return false;
    for (unsigned i = 0; i < a->n_scalars; i++)
        if (a->scalars[i]->type != b->scalars[i]->type)
            return false;
    return true;
}

static bool check_use(struct dfc_unit *u, const struct use *use)
{
    uint32_t id;
    bool fresh;
    struct use *first;
    if (!dfc_index_add(&u->state_names, use->name->text, &id, &fresh))
        return dfc_no_memory(u);
    if (fresh) {
        first = dfr_array_add(&u->state_uses, sizeof *first, 1);
        if (first)
            *first = *use;
        return first || dfc_no_memory(u);
    }
    first = (struct use *)u->state_uses.items + id;
    if (first->closes == use->closes && (use->closes || same_arguments(&first->callee->sig, &use->callee->sig)))
        return true;
    if (first->closes != use->closes)
        dfl_error(u->sink, use->name->loc, "'%s' stands behind 'open' and behind 'close'", use->name->text);
    else
        dfl_error(u->sink, use->name->loc,
                  "'%s' opens for kernels that differ in their dimensions or scalars: '%s' and '%s'", use->name->text,
                  first->callee->name, use->callee->name);
    dfl_note(u->sink, first->name->loc, "the other use is here");
    return false;
}

bool dfc_state_check(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_variant *variant)
{
    const struct use open = { callee, &variant->open, false }, close = { callee, &variant->close, true };
    bool opens = variant->open.text, closes = variant->close.text;
    if (closes && !opens) {
        dfl_error(u->sink, variant->close.loc, "'%s' would close what nothing has opened", variant->close.text);
        dfl_hint(u->sink, "write 'open FUNCTION' before 'close %s'", variant->close.text);
        return false;
    }
    if ((opens && !check_name(u, open.name)) || (closes && !check_name(u, close.name)))
        return false;
    return (!opens || check_use(u, &open)) && (!closes || check_use(u, &close));
}
