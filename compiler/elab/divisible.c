/* divisible.c - determines how a node or fused group could be divided into parts, for dims.c: how many rows it
 * produces, and which rows of its inputs each part reads. Kernels declare it with 'split' on their ports; for formulas
 * compiler/fusion/ infers it. front/front.c has it check requests for parts in graphs whose sizes are unknown.
 */
#include <string.h>

#include "compiler/elab/dims.h"

static const char why_varying[] = "its extents differ from wave to wave";

/* Is there anything by which this call could be divided? Else nobody needs to know. */
static bool is_asked(const struct dfc_unit *u, const struct dfl_stmt *stmt)
{
    bool asked = u->options->parts > 1 || u->options->n_divisions;
    for (const struct dfl_hint *hint = stmt->hints; hint; hint = hint->next)
        asked |= strcmp(hint->name.text, "parts") == 0 || strcmp(hint->name.text, "passes") == 0;
    return asked;
}

/* The number of the stream from outside that the port is. */
static uint32_t stream_of(const struct dfc_rows *r, const struct dfc_sig *sig, unsigned port)
{
    return r->outside ? r->outside[port] : (uint32_t)sig->ports[port].in_slot;
}

/* Finds the in ports of which all reads go to rows at fixed distances. */
static bool find_divided(struct dfc_unit *u, const struct dfc_sig *sig, struct dfc_rows *r)
{
    const struct dfu_wiring *w = r->wiring;
    bool *divides = dfc_alloc(u, sig->n_ports + 1u), *told = dfc_alloc(u, w->n_outside + 1u),
         *read = dfc_alloc(u, w->n_outside + 1u);
    if (!divides || !told || !read)
        return false;
    memset(told, true, w->n_outside);
    for (unsigned m = 0; m < w->n; m++)
        for (unsigned i = 0; i < w->member[m].callee->sig.n_in; i++) {
            const struct dfu_source *from = &w->member[m].in[i];
            struct dfu_rows rows;
            if (from->member >= 0)
                continue;
            told[from->slot] &= !dfu_why_no_rows(w->member[m].callee, w->member[m].callee->sig.in_port[i], 0, &rows);
            read[from->slot] |= rows.taps > 0;
        }
    for (unsigned p = 0; p < sig->n_ports; p++)
        divides[p] = sig->ports[p].in_slot >= 0 && told[stream_of(r, sig, p)] && read[stream_of(r, sig, p)];
    r->divides = divides;
    return true;
}

/* All that leaves must have one number of rows. */
static const char *find_whole(const struct dfc_sig *sig, const uint64_t (*port_dims)[DF_MAX_RANK], struct dfc_rows *r)
{
    r->whole = port_dims[sig->out_port[0]][0];
    for (unsigned i = 1; i < sig->n_out; i++)
        if (port_dims[sig->out_port[i]][0] != r->whole)
            return "its outputs have unlike numbers of rows";
    return NULL;
}

/* Whatever its sizes are. */
static const char *why_never(const struct dfu_wiring *w)
{
    const char *why = dfu_why_no_parts(w);
    return !why && w->n_outside > DFU_MOST_OUTSIDE ? "it reads too many streams" : why;
}

static bool find_rows(struct dfc_unit *u, const struct dfc_sig *sig, const uint64_t (*port_dims)[DF_MAX_RANK],
                      struct dfc_rows *r)
{
    r->why = why_never(r->wiring);
    if (!r->why)
        r->why = find_whole(sig, port_dims, r);
    return r->why || find_divided(u, sig, r);
}

/* A kernel of formulas, as a group of one member. NULL: no memory. */
static const struct dfu_wiring *wiring_of(struct dfc_unit *u, const struct dfc_callee *callee)
{
    const struct dfc_sig *sig = &callee->sig;
    struct dfu_wiring *w = dfc_alloc(u, sizeof *w);
    struct dfu_source *in = dfc_alloc(u, (sig->n_in + 1u) * sizeof *in);
    bool *leaves = dfc_alloc(u, sig->n_out + 1u);
    if (!w || !in || !leaves)
        return NULL;
    for (unsigned i = 0; i < sig->n_in; i++)
        in[i] = (struct dfu_source){ -1, i };
    memset(leaves, true, sig->n_out);
    w->n = 1;
    w->n_outside = sig->n_in;
    w->member[0] = (struct dfu_member){ callee, in, leaves };
    return w;
}

static bool rows_of_formulas(struct dfc_solve *s, struct dfc_rows *r)
{
    struct dfc_unit *u = s->e->u;
    const struct dfc_sig *sig = &s->item->callee->sig;
    uint64_t *rows = dfc_alloc(u, (sig->n_in + 1u) * sizeof *rows), **in_rows = dfc_alloc(u, sizeof *in_rows);
    if (!rows || !in_rows || !(r->wiring = wiring_of(u, s->item->callee)))
        return false;
    for (unsigned i = 0; i < sig->n_in; i++)
        rows[i] = sig->ports[sig->in_port[i]].rank ? s->port_dims[sig->in_port[i]][0] : 0;
    in_rows[0] = rows;
    r->in_rows = (const uint64_t *const *)in_rows;
    return find_rows(u, sig, (const uint64_t (*)[DF_MAX_RANK])s->port_dims, r);
}

bool dfc_rows_of_node(struct dfc_solve *s, struct dfc_rows *r)
{
    const struct dfc_callee *callee = s->item->callee;
    *r = (struct dfc_rows){ .why = "its ports do not say 'split'" };
    for (unsigned p = 0; p < callee->sig.n_ports; p++)
        if (s->port_bounded[p]) {
            r->why = why_varying;
            r->whole = callee->sig.split ? s->bound[callee->sig.split_variable] : 0;
            return true;
        }
    if (callee->kernel->has_formulas)
        return !is_asked(s->e->u, s->item->stmt) || rows_of_formulas(s, r);
    if (callee->sig.split)
        *r = (struct dfc_rows){ .whole = s->bound[callee->sig.split_variable] };
    return true;
}

/* By member and in slot: rows of the streams. */
static const uint64_t *const *member_rows(const struct dfc_solve *s, const struct dfc_joined *use)
{
    const struct dfu_wiring *w = &use->group->wiring;
    uint64_t **in_rows = dfc_alloc(s->e->u, (w->n + 1u) * sizeof *in_rows);
    for (unsigned m = 0; in_rows && m < w->n; m++) {
        const struct dfc_item *item = &dfc_items(s->e)[use->items[m]];
        const unsigned n_in = item->callee->sig.n_in;
        if (!(in_rows[m] = dfc_alloc(s->e->u, (n_in + 1u) * sizeof **in_rows)))
            return NULL;
        for (unsigned i = 0; i < n_in; i++) {
            const struct dfc_format *format = &s->formats[s->e->in_values[item->first_in + i]];
            in_rows[m][i] = format->rank ? format->dims[0] : 0;
        }
    }
    return (const uint64_t *const *)in_rows;
}

bool dfc_rows_of_group(struct dfc_solve *s, const struct dfc_joined *use, const struct dfc_format *formats,
                       const struct dfc_solved *solved, struct dfc_rows *r)
{
    const struct dfc_sig *sig = &use->group->callee->sig;
    bool asked = false;
    *r = (struct dfc_rows){ .why = "it was not requested", .group = use->group, .formats = formats };
    for (unsigned m = 0; m < use->group->wiring.n; m++)
        asked |= is_asked(s->e->u, dfc_items(s->e)[use->items[m]].stmt);
    if (!asked)
        return true;
    uint32_t *outside = dfc_alloc(s->e->u, (sig->n_ports + 1u) * sizeof *outside);
    for (unsigned p = 0; p < sig->n_ports; p++)
        if (formats[p].bounded) {
            r->why = why_varying;
            return true;
        }
    *r = (struct dfc_rows){ .wiring = &use->group->wiring, .in_rows = member_rows(s, use), .outside = outside,
                            .group = use->group, .formats = formats };
    if (!outside || !r->in_rows)
        return false;
    for (unsigned p = 0; p < sig->n_ports; p++)
        outside[p] = use->group->ports[p].number;
    return find_rows(s->e->u, sig, solved->port_dims, r);
}

/* ---- where sizes are not known ---- */

/* Does the call say that its node is divided? A hint whose value is not known yet does not. */
static bool has_parts_hint(const struct dfc_elab *e, const struct dfc_item *item)
{
    const struct dfc_names names = dfc_frame_names(e, item->frame, item->env, DFC_USE_SCALAR);
    struct dfc_hints hints;
    return is_asked(e->u, item->stmt) && dfc_call_hints(e->u, item->stmt, item->callee, &names, &hints) && (hints.parts > 1 || hints.passes > 1);
}

/* The group that the item is in; NULL: none. */
static const struct dfc_joined *group_of(const struct dfc_elab *e, uint32_t id)
{
    return e->use && e->use[id] != DF_NONE ? (const struct dfc_joined *)e->uses.items + e->use[id] : NULL;
}

bool dfc_check_parts(const struct dfc_elab *e)
{
    bool ok = true;
    for (uint32_t k = 0; k < e->items.n && !e->u->no_memory; k++) {
        const uint32_t id = e->order[k];
        const struct dfc_item *item = &dfc_items(e)[id];
        if (item->inner != DF_NONE || item->callee->built_in || !has_parts_hint(e, item))
            continue;
        const struct dfc_joined *use = group_of(e, id);
        const struct dfu_wiring *w = use ? &use->group->wiring : item->callee->kernel->has_formulas ? wiring_of(e->u, item->callee) : NULL;
        const char *why = e->varies[id] ? why_varying : w ? why_never(w) : NULL;
        if (!why)
            continue;
        dfc_report_undivided(e->u, item->stmt->call_loc, why);
        dfc_note_context(e, item->frame, item->env);
        ok = false;
    }
    return ok && !e->u->no_memory;
}
