/* format.c - element types and formats of tokens, for all of the front end: their names, extents and sizes in bytes,
 * and which extents vary from wave to wave.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/types/frontend.h"

bool dfc_elem_find(const char *name, enum df_elem *elem)
{
    if (strcmp(name, "bytes") == 0) {
        *elem = DF_U8;
        return true;
    }
    for (int e = 0; e < DF_N_ELEMS; e++)
        if (strcmp(df_elem_name((enum df_elem)e), name) == 0) {
            *elem = (enum df_elem)e;
            return true;
        }
    return false;
}

/* Does the last -D of that name give an element type? */
static bool is_defined(const struct dfc_unit *u, const char *name, enum df_elem *elem)
{
    const struct dfc_front_options *o = u->options;
    for (size_t i = o->n_defines; i-- > 0;)
        if (strcmp(o->defines[i].name, name) == 0)
            return dfc_elem_find(o->defines[i].value, elem);
    return false;
}

bool dfc_elem_of(const struct dfc_unit *u, const char *name, enum df_elem *elem)
{
    uint32_t id;
    for (uint32_t step = 0; step <= u->type_items.n; step++) { /* more steps: types that refer to each other */
        if (dfc_elem_find(name, elem))
            return true;
        if (!dfc_index_find(&u->types, name, &id) || dfc_types(u)[id].decl->format->dims)
            return false;
        if (is_defined(u, name, elem))
            return true;
        name = dfc_types(u)[id].decl->format->name.text;
    }
    return false;
}

static void unknown_type(struct dfc_unit *u, const struct dfl_name *name)
{
    struct dfr_array list = { 0 };
    const char **item;
    dfl_error(u->sink, name->loc, "unknown type '%s'", name->text);
    if (!dfl_sink_shows(u->sink))
        return;
    for (int e = 0; e < DF_N_ELEMS; e++)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = df_elem_name((enum df_elem)e);
    if ((item = dfr_array_add(&list, sizeof *item, 1)))
        *item = "bytes";
    for (uint32_t i = 0; i < u->types.names.n; i++)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = dfc_index_names(&u->types)[i];
    const char *close = dfl_suggest(name->text, list.items, list.n), *same = dfl_suggest_type(name->text);
    enum df_elem elem;
    if (!close && same && dfc_elem_find(same, &elem))
        close = same;
    if (close)
        dfl_hint(u->sink, "did you mean '%s'?", close);
    else
        dfl_hint(u->sink, DFC_ELEM_TYPES);
    dfr_array_free(&list);
}

/* 'h <= 480' in an annotation. The name is compared where the call is known. */
static bool fold_bound(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, uint64_t *most)
{
    bool known;
    if (e->a->kind == DFL_EXPR_NAME)
        return dfc_fold_extent(u, names, e->b, most, &known);
    dfl_error(u->sink, e->a->loc, DFC_BOUND_NEEDS_NAME);
    return false;
}

bool dfc_format_fold(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_format *ast,
                     struct dfc_format *format)
{
    enum df_elem elem;
    *format = (struct dfc_format){ .rank = (uint8_t)ast->rank };
    if (!dfc_elem_of(u, ast->name.text, &elem)) {
        uint32_t id;
        if (!dfc_index_find(&u->types, ast->name.text, &id)) {
            unknown_type(u, &ast->name);
            return false;
        }
        if (ast->dims && !dfc_types(u)[id].ready)
            return false;                               /* which was reported */
        if (ast->dims) {
            dfl_error(u->sink, ast->loc, "'%s' is a declared type that has extents: brackets may only follow an element type",
                      ast->name.text);
            return false;
        }
        *format = dfc_types(u)[id].format;
        return dfc_types(u)[id].ready;
    }
    format->elem = (uint8_t)elem;
    bool ok = true, known;
    unsigned i = 0;
    for (const struct dfl_expr *e = ast->dims; e; e = e->next, i++) {
        const bool has_bound = dfc_extent_has_bound(e) && names->use == DFC_USE_ANNOTATION;
        format->bounded |= (uint8_t)(has_bound << i);
        ok &= has_bound ? fold_bound(u, names, e, &format->dims[i])
                        : dfc_fold_extent(u, names, e, &format->dims[i], &known);
    }
    return ok;
}

static bool in_list(const struct dfc_sig *sig, const struct dfl_expr *list, const bool *bounded)
{
    for (const struct dfl_expr *e = list; e; e = e->next)
        if (dfc_extent_is_bounded(sig, e, bounded))
            return true;
    return false;
}

bool dfc_extent_is_bounded(const struct dfc_sig *sig, const struct dfl_expr *e, const bool *bounded)
{
    for (unsigned v = 0; e->kind == DFL_EXPR_NAME && v < sig->n_variables; v++)
        if (bounded[v] && strcmp(sig->variables[v].name.text, e->s) == 0)
            return true;
    return (e->a && dfc_extent_is_bounded(sig, e->a, bounded)) || (e->b && dfc_extent_is_bounded(sig, e->b, bounded)) ||
           in_list(sig, e->args, bounded);
}

uint8_t dfc_port_varies(const struct dfc_sig *sig, const struct dfc_port *port)
{
    bool bounded[sig->n_variables + 1u];
    uint8_t varies = 0;
    for (unsigned v = 0; v < sig->n_variables; v++)
        bounded[v] = sig->variables[v].bound != NULL;
    for (unsigned i = 0; i < port->rank; i++)
        if (port->dims[i].expr && dfc_extent_is_bounded(sig, port->dims[i].expr, bounded))
            varies |= (uint8_t)(1u << i);
    return varies;
}

void dfc_format_print(const struct dfc_format *format, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", df_elem_name((enum df_elem)format->elem));
    for (unsigned i = 0; i < format->rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s%llu", i ? ", " : "[", format->bounded >> i & 1 ? "<= " : "",
                              (unsigned long long)format->dims[i]);
    if (format->rank && n < size)
        snprintf(text + n, size - n, "]");
}

bool dfc_format_bytes(const struct dfc_format *format, uint64_t *bytes)
{
    *bytes = df_elem_bytes((enum df_elem)format->elem);
    for (unsigned i = 0; i < format->rank; i++)
        if (__builtin_mul_overflow(*bytes, format->dims[i], bytes) || *bytes > INT64_MAX)
            return false;
    return true;
}
