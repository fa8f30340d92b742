/* unify.c - unifies one call with the formats of its inputs, for dims.c. The first occurrence of a variable as a whole
 * extent binds it; every further one must agree, or the message names both. Expressions are evaluated and compared
 * afterwards.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/elab/dims.h"

/* ---- errors ---- */

static bool same_stmt(const void *context, uint32_t id, const void *key)
{
    return ((const void *const *)((const struct dfr_array *)context)->items)[id] == key;
}

static uint32_t hash_stmt(const void *stmt)
{
    return dfr_hash_fold(dfr_hash(0, &stmt, sizeof stmt));
}

bool dfc_solve_reported(const struct dfc_solve *s, const struct dfl_stmt *stmt)
{
    uint32_t id;
    return dfr_table_find(&s->reported, hash_stmt(stmt), same_stmt, &s->reported_items, stmt, &id);
}

/* Ends the report of an error in the item at hand. */
bool dfc_solve_failed(struct dfc_solve *s)
{
    const struct dfl_stmt *stmt = s->item->stmt;
    dfc_note_context(s->e, s->item->frame, s->item->env);
    if (dfc_solve_reported(s, stmt))
        return false;
    const void **item =
        dfr_table_reserve(&s->reported) ? dfr_array_add(&s->reported_items, sizeof *item, 1) : NULL;
    if (!item)
        return dfc_no_memory(s->e->u);
    *item = stmt;
    dfr_table_put(&s->reported, hash_stmt(stmt), s->reported_items.n - 1);
    return false;
}

struct dfl_loc dfc_solve_loc(const struct dfc_solve *s)
{
    return s->item->stmt->call_loc;
}

/* "(line 9)"; with the file too, if that is not the call's. */
static const char *place(const struct dfc_solve *s, struct dfl_loc loc, char *text, size_t size)
{
    if (loc.file == dfc_solve_loc(s).file)
        snprintf(text, size, "line %u", (unsigned)loc.line);
    else
        snprintf(text, size, "%s:%u", dfl_sink_file_name(s->e->u->sink, loc.file), (unsigned)loc.line);
    return text;
}

/* The declaration of a port that is a stream of its graph's frame. */
static struct dfl_loc port_loc(const struct dfc_elab *e, const struct dfc_stream *stream)
{
    const struct dfc_sig *sig = &dfc_frames(e)[stream->frame].graph->sig;
    const char *name = dfc_index_names(&e->names)[stream->name];
    for (unsigned p = 0; p < sig->n_ports; p++)
        if (strcmp(sig->ports[p].ast->name.text, name) == 0)
            return sig->ports[p].ast->name.loc;
    return (struct dfl_loc){ .file = DFL_NO_FILE };
}

/* For an input: the stream as the call names it, and the line that assigns it. */
void dfc_origin_print(const struct dfc_solve *s, const struct dfc_origin *origin, char *text, size_t size)
{
    static const char *const before[] = { "", "the annotation of ", "out port ", "the bound of " };
    char where[300], name[300];
    struct dfl_loc loc = origin->loc;
    if (origin->kind == DFC_FROM_INPUT) {
        uint32_t id = dfc_in_streams(s->e)[s->item->first_in + origin->slot];
        const struct dfc_stream *stream = &dfc_streams(s->e)[id];
        dfc_stream_print(s->e, id, name, sizeof name);
        loc = stream->target ? stream->target->name.loc : port_loc(s->e, stream);
    } else {
        snprintf(name, sizeof name, "%s", origin->name);
    }
    snprintf(text, size, "%s'%s' (%s)", before[origin->kind], name, place(s, loc, where, sizeof where));
}

void dfc_solve_note_port(const struct dfc_solve *s, const struct dfc_port *port)
{
    dfl_note(s->e->u->sink, port->ast->loc, "port '%s' of '%s' is declared here", port->ast->name.text,
             s->item->callee->name);
}

/* ---- binding ---- */

static void hint_bounded(const struct dfc_solve *s)
{
    dfl_hint(s->e->u->sink, "an extent with a bound may be less in a wave, so it meets only extents with the same bound");
}

static bool bind(struct dfc_solve *s, unsigned variable, uint64_t extent, bool bounded, const struct dfc_origin *origin)
{
    if (!s->bound[variable]) {
        s->bound[variable] = extent;
        s->bounded[variable] = bounded;
        s->origins[variable] = *origin;
        return true;
    }
    if (s->bound[variable] == extent && s->bounded[variable] == bounded)
        return true;
    char one[700], two[700];
    dfc_origin_print(s, &s->origins[variable], one, sizeof one);
    dfc_origin_print(s, origin, two, sizeof two);
    dfl_error(s->e->u->sink, dfc_solve_loc(s), "dimension %s is %s%llu from %s, but %s%llu from %s",
              s->item->callee->sig.variables[variable].name.text, s->bounded[variable] ? "at most " : "",
              (unsigned long long)s->bound[variable], one, bounded ? "at most " : "", (unsigned long long)extent, two);
    if (s->bounded[variable] || bounded)
        hint_bounded(s);
    else if (s->origins[variable].kind == DFC_FROM_INPUT && origin->kind == DFC_FROM_INPUT)
        dfl_hint(s->e->u->sink, "a name is one extent in all ports of a kernel: those that may differ have names of their own");
    return dfc_solve_failed(s);
}

static bool same_extent(struct dfc_solve *s, const struct dfc_port *port, unsigned dim, uint64_t want, bool bounded,
                        const struct dfc_format *format, const struct dfc_origin *origin)
{
    char text[700];
    bool has_bound = format->bounded >> dim & 1;
    if (want == format->dims[dim] && bounded == has_bound)
        return true;
    dfc_origin_print(s, origin, text, sizeof text);
    dfl_error(s->e->u->sink, dfc_solve_loc(s), "dimension %u of %s is %s%llu, but port '%s' of '%s' takes %s%llu",
              dim + 1, text, has_bound ? "at most " : "", (unsigned long long)format->dims[dim], port->ast->name.text,
              s->item->callee->name, bounded ? "at most " : "", (unsigned long long)want);
    if (bounded != has_bound)
        hint_bounded(s);
    dfc_solve_note_port(s, port);
    return dfc_solve_failed(s);
}

static bool match_input(struct dfc_solve *s, unsigned slot)
{
    const struct dfc_sig *sig = &s->item->callee->sig;
    const struct dfc_port *port = &sig->ports[sig->in_port[slot]];
    const struct dfc_format *format = &s->formats[s->e->in_values[s->item->first_in + slot]];
    const struct dfc_origin origin = { .kind = DFC_FROM_INPUT, .slot = slot };
    char text[700], other[DFC_OTHER_NAME];
    bool ok = true;
    if (format->elem != port->elem || format->rank != port->rank) {
        dfc_origin_print(s, &origin, text, sizeof text);
        if (format->elem != port->elem)
            dfl_error(s->e->u->sink, dfc_solve_loc(s), "%s is %s, but port '%s' of '%s' takes %s", text,
                      df_elem_name((enum df_elem)format->elem), port->ast->name.text, s->item->callee->name,
                      df_elem_name(port->elem));
        else
            dfl_error(s->e->u->sink, dfc_solve_loc(s), "%s has %u dimension%s, but port '%s' of '%s' takes %u", text,
                      format->rank, format->rank == 1 ? "" : "s", port->ast->name.text, s->item->callee->name,
                      port->rank);
        dfc_solve_note_port(s, port);
        if (format->elem == port->elem)
            dfl_hint(s->e->u->sink, "a stream has as many extents as the ports that read it: change its annotation, or what makes it, or the port");
        else if (dfc_name_for_element(s->e->u, s->item->callee->name, (enum df_elem)format->elem, other))
            dfl_hint(s->e->u->sink, "'%s' takes %s; or a kernel between them converts, as in '{ b[i] = %s(a[i]); }'", other,
                     df_elem_name((enum df_elem)format->elem), df_elem_name(port->elem));
        else
            dfl_hint(s->e->u->sink, "nothing is converted by itself: a kernel between them does it, as in '{ b[i] = %s(a[i]); }'",
                     df_elem_name(port->elem));
        return dfc_solve_failed(s);
    }
    for (unsigned i = 0; i < port->rank && ok; i++) {
        const struct dfc_dim *dim = &port->dims[i];
        if (s->unsized && !format->dims[i])
            continue;
        if (dim->kind == DFC_DIM_VARIABLE)
            ok = bind(s, dim->variable, format->dims[i], format->bounded >> i & 1, &origin);
        else if (dim->kind == DFC_DIM_NUMBER)
            ok = same_extent(s, port, i, dim->number, false, format, &origin);
    }
    return ok;
}

/* ---- annotations ---- */

/* 'h <= 480' is of the dimension that the port calls h, so extents cannot be confused. */
static bool same_name(struct dfc_solve *s, unsigned variable, const struct dfl_expr *extent)
{
    const char *name = s->item->callee->sig.variables[variable].name.text;
    if (strcmp(extent->a->s, name) == 0)
        return true;
    dfl_error(s->e->u->sink, extent->a->loc, "'%s' calls this dimension '%s', and the annotation '%s'",
              s->item->callee->name, name, extent->a->s);
    return dfc_solve_failed(s);
}

/* Only what a kernel decides has a bound. If the kernel leaves it open, a number may stand there, too: then the kernel decides
 * that number in every wave. What a graph gives is compared when its inside is known. */
static bool same_kind(struct dfc_solve *s, unsigned variable, const struct dfl_target *target, bool bounded)
{
    const char *name = s->item->callee->sig.variables[variable].name.text;
    if (!bounded || s->bounded[variable] || s->item->callee->graph)
        return true;
    dfl_error(s->e->u->sink, target->annotation->loc, "dimension '%s' of '%s' is the same in all waves, so it has no bound",
              name, s->item->callee->name);
    dfl_hint(s->e->u->sink, "leave out '%s <='", name);
    return dfc_solve_failed(s);
}

static bool match_annotation(struct dfc_solve *s, const struct dfl_target *target, const struct dfc_port *port)
{
    const struct dfc_names names = dfc_frame_names(s->e, s->item->frame, s->item->env, DFC_USE_ANNOTATION);
    const struct dfc_origin origin = { DFC_FROM_ANNOTATION, 0, target->name.text, target->annotation->loc };
    struct dfc_format format;
    bool ok = true;
    if (!dfc_format_fold(s->e->u, &names, target->annotation, &format))
        return dfc_solve_failed(s);
    const struct dfl_expr *e = target->annotation->dims; /* NULL: it is a declared type */
    for (unsigned i = 0; i < port->rank && i < format.rank && ok; i++, e = e ? e->next : NULL) {
        const unsigned v = port->dims[i].variable;
        const bool bounded = format.bounded >> i & 1;
        if (port->dims[i].kind != DFC_DIM_VARIABLE)
            continue;
        if ((bounded && !same_name(s, v, e)) || (!s->bound[v] && !same_kind(s, v, target, bounded)))
            ok = false;
        else if (!s->bound[v] || !s->bounded[v]) /* a bound of the declaration is compared later */
            ok = bind(s, v, format.dims[i], bounded, &origin);
    }
    return ok;
}

/* An extent that an out port of the graph around the call gives. 0: the port leaves it open. */
static bool stated_extent(struct dfc_solve *s, const struct dfc_dim *dim, uint64_t *extent, bool *bounded)
{
    const struct dfc_frame *frame = &dfc_frames(s->e)[s->item->frame];
    const struct dfc_names names = { .use = DFC_USE_PORT, .callee = frame->graph, .dims = frame->dims };
    bool known;
    *extent = dim->kind == DFC_DIM_NUMBER ? dim->number : 0;
    if (dim->kind == DFC_DIM_VARIABLE)
        *extent = frame->dims[dim->variable];
    *bounded = dim->kind != DFC_DIM_NUMBER && frame->bounded &&
               dfc_extent_is_bounded(&frame->graph->sig, dim->expr, frame->bounded);
    for (unsigned v = 0; v < frame->graph->sig.n_variables; v++)
        if (!frame->dims[v])
            return true;
    return dim->kind != DFC_DIM_EXPR || dfc_fold_extent(s->e->u, &names, dim->expr, extent, &known) ||
           dfc_solve_failed(s);
}

/* If a target is an out port of its own graph, the port's format binds what nothing else has bound. */
static bool match_out_port(struct dfc_solve *s, const struct dfl_target *target, const struct dfc_port *port)
{
    const struct dfc_sig *outer = &dfc_frames(s->e)[s->item->frame].graph->sig;
    for (unsigned p = 0; p < outer->n_out; p++) {
        const struct dfc_port *given = &outer->ports[outer->out_port[p]];
        if (target->indices || strcmp(given->ast->name.text, target->name.text) != 0 || given->rank != port->rank)
            continue;
        const struct dfc_origin origin = { DFC_FROM_OUT_PORT, 0, given->ast->name.text, given->ast->loc };
        for (unsigned i = 0; i < port->rank; i++) {
            uint64_t extent;
            bool bounded;
            if (port->dims[i].kind != DFC_DIM_VARIABLE || s->bound[port->dims[i].variable])
                continue;
            if (!stated_extent(s, &given->dims[i], &extent, &bounded))
                return false;
            if (extent && (!bounded || s->bounded[port->dims[i].variable]))
                bind(s, port->dims[i].variable, extent, bounded, &origin);
        }
    }
    return true;
}

static bool match_targets(struct dfc_solve *s)
{
    const struct dfc_sig *sig = &s->item->callee->sig;
    const struct dfl_target *target = s->item->stmt->targets;
    for (unsigned i = 0; i < sig->n_out; i++, target = target->next)
        if (target->annotation && !match_annotation(s, target, &sig->ports[sig->out_port[i]]))
            return false;
    target = s->item->stmt->targets;
    for (unsigned i = 0; i < sig->n_out && sig->needs_annotation; i++, target = target->next)
        if (!match_out_port(s, target, &sig->ports[sig->out_port[i]]))
            return false;
    return true;
}

static bool are_alike(const struct dfc_solve *s, const struct dfc_format *a, const struct dfc_format *b)
{
    bool alike = a->elem == b->elem && a->rank == b->rank;
    if (!s->unsized)
        return memcmp(a, b, sizeof *a) == 0;
    for (unsigned i = 0; alike && i < a->rank; i++)
        alike = !a->dims[i] || !b->dims[i] || (a->dims[i] == b->dims[i] && !((a->bounded ^ b->bounded) >> i & 1));
    return alike;
}

static void print_format(const struct dfc_solve *s, const struct dfc_format *format, char *text, size_t size)
{
    if (s->unsized)
        snprintf(text, size, "%s of %u dimension%s", df_elem_name((enum df_elem)format->elem), format->rank, format->rank == 1 ? "" : "s");
    else
        dfc_format_print(format, text, size);
}

/* The inputs of a select have one format, which is its output's. */
static bool match_alike(struct dfc_solve *s)
{
    const uint32_t *values = s->e->in_values + s->item->first_in;
    const struct dfc_format *first = &s->formats[values[0]];
    const struct dfc_origin origin = { .kind = DFC_FROM_INPUT };
    char one[160], two[160], here[700], there[700];
    for (unsigned i = 1; i < s->item->callee->sig.n_in; i++) {
        const struct dfc_format *format = &s->formats[values[i]];
        const struct dfc_origin other = { .kind = DFC_FROM_INPUT, .slot = i };
        if (are_alike(s, first, format))
            continue;
        print_format(s, first, one, sizeof one);
        print_format(s, format, two, sizeof two);
        dfc_origin_print(s, &origin, here, sizeof here);
        dfc_origin_print(s, &other, there, sizeof there);
        dfl_error(s->e->u->sink, dfc_solve_loc(s), "the inputs of 'select' have one format, but %s is %s and %s is %s",
                  here, one, there, two);
        return dfc_solve_failed(s);
    }
    return true;
}

bool dfc_match_all(struct dfc_solve *s)
{
    const struct dfc_sig *sig = &s->item->callee->sig;
    if (s->item->callee->loop_part)
        return true;
    if (s->item->callee->built_in)
        return match_alike(s);
    memset(s->bound, 0, (sig->n_variables + 1) * sizeof *s->bound);
    memset(s->bounded, 0, (sig->n_variables + 1) * sizeof *s->bounded);
    for (unsigned v = 0; v < sig->n_variables; v++)
        if (sig->variables[v].bound) {
            s->bound[v] = sig->variables[v].most;
            s->bounded[v] = true;
            s->origins[v] = (struct dfc_origin){ DFC_FROM_BOUND, 0, sig->variables[v].name.text,
                                                 sig->variables[v].bound->loc };
        }
    for (unsigned i = 0; i < sig->n_in; i++)
        if (!match_input(s, i))
            return false;
    return s->unsized || match_targets(s);
}

/* ---- expressions ---- */

/* Computes the extents of a port from the variables. */
bool dfc_port_extents(struct dfc_solve *s, unsigned p)
{
    const struct dfc_port *port = &s->item->callee->sig.ports[p];
    const struct dfc_names names = { .use = DFC_USE_PORT, .callee = s->item->callee, .dims = s->bound };
    if (s->item->callee->loop_part)
        return true;
    if (s->item->callee->built_in)
        memcpy(s->port_dims[p], s->formats[s->e->in_values[s->item->first_in]].dims, sizeof s->port_dims[p]);
    s->port_bounded[p] = 0;
    for (unsigned i = 0; i < port->rank; i++) {
        const struct dfc_dim *dim = &port->dims[i];
        bool known;
        if (dim->kind == DFC_DIM_EXPR && !dfc_fold_extent(s->e->u, &names, dim->expr, &s->port_dims[p][i], &known)) {
            dfl_note(s->e->u->sink, dfc_solve_loc(s), "in this use of '%s'", s->item->callee->name);
            return dfc_solve_failed(s);
        }
        if (dim->kind == DFC_DIM_EXPR && dfc_extent_is_bounded(&s->item->callee->sig, dim->expr, s->bounded))
            s->port_bounded[p] |= (uint8_t)(1u << i);
        if (dim->kind == DFC_DIM_VARIABLE && s->bounded[dim->variable])
            s->port_bounded[p] |= (uint8_t)(1u << i);
        if (dim->kind != DFC_DIM_EXPR)
            s->port_dims[p][i] = dim->kind == DFC_DIM_NUMBER ? dim->number : s->bound[dim->variable];
    }
    return true;
}

/* Checks inputs whose extents are expressions, now that the variables are known. */
bool dfc_check_input_exprs(struct dfc_solve *s, unsigned p)
{
    const struct dfc_port *port = &s->item->callee->sig.ports[p];
    const struct dfc_format *format = &s->formats[s->e->in_values[s->item->first_in + (unsigned)port->in_slot]];
    for (unsigned i = 0; i < port->rank; i++)
        if (port->dims[i].kind == DFC_DIM_EXPR) {
            const struct dfc_origin origin = { .kind = DFC_FROM_INPUT, .slot = (unsigned)port->in_slot };
            if (!same_extent(s, port, i, s->port_dims[p][i], s->port_bounded[p] >> i & 1, format, &origin))
                return false;
        }
    return true;
}

/* Checks an annotation against the format of the output. */
bool dfc_check_annotation(struct dfc_solve *s, const struct dfl_target *target, const struct dfc_format *format)
{
    const struct dfc_names names = dfc_frame_names(s->e, s->item->frame, s->item->env, DFC_USE_ANNOTATION);
    struct dfc_format annotated;
    char one[160], two[160];
    if (!target->annotation || !dfc_format_fold(s->e->u, &names, target->annotation, &annotated))
        return true;
    bool same = annotated.elem == format->elem && annotated.rank == format->rank;
    for (unsigned i = 0; i < format->rank; i++)
        same &= annotated.dims[i] == format->dims[i];
    same &= annotated.bounded == format->bounded;
    if (same)
        return true;
    dfc_format_print(&annotated, one, sizeof one);
    dfc_format_print(format, two, sizeof two);
    dfl_error(s->e->u->sink, target->annotation->loc, "'%s' is annotated as %s, but '%s' gives %s", target->name.text,
              one, s->item->callee->name, two);
    if (format->bounded)
        dfl_hint(s->e->u->sink, "write the same bounds, as in 'n <= 100', or leave out ': %s'", one);
    return dfc_solve_failed(s);
}
