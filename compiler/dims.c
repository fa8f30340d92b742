/* dims.c - dimensions by unification, producers first: what the inputs of a call are binds the variables of its signature,
 * those give its outputs. Two ends that disagree are both named.
 *
 * Before:   dfc_order_items(): when an item is met, its inputs have formats, and so has the entry of its graph where it
 *           speaks of the graph's dimensions.
 * Leaves:   every node given to the builder (build.c), every format checked.
 * Errors:   one statement is reported once, however often it is elaborated; what hangs on it is passed over in silence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/elab.h"

enum origin_kind { FROM_INPUT, FROM_ANNOTATION, FROM_OUT_PORT };

struct origin {                         /* where the extent of a variable was found; put in words only for a message */
    enum origin_kind kind;
    unsigned slot;                      /* FROM_INPUT: of the call at hand */
    const char *name;                   /* else */
    struct dfl_loc loc;
};

struct solve {
    struct dfc_elab *e;
    struct dfc_build build;
    struct dfc_format *formats;         /* by value */
    bool *bad;                          /* by value: its node had an error */
    bool *once;                         /* by value: made before wave 0 */
    struct dfr_table reported;          /* statements */
    struct dfr_array reported_items;
    /* of the item at hand */
    const struct dfc_item *item;
    uint64_t *bound;                    /* by variable, 0: not yet */
    struct origin *origins;
    uint64_t (*port_dims)[DF_MAX_RANK];
};

/* ---- errors ---- */

static bool same_stmt(const void *context, uint32_t id, const void *key)
{
    return ((const void *const *)((const struct dfr_array *)context)->items)[id] == key;
}

static uint32_t hash_stmt(const void *stmt)
{
    return dfr_hash_fold(dfr_hash(0, &stmt, sizeof stmt));
}

static bool was_reported(const struct solve *s, const struct dfl_stmt *stmt)
{
    uint32_t id;
    return dfr_table_find(&s->reported, hash_stmt(stmt), same_stmt, &s->reported_items, stmt, &id);
}

/* Ends the report of an error in the item at hand. */
static bool failed(struct solve *s)
{
    const struct dfl_stmt *stmt = s->item->stmt;
    dfc_note_context(s->e, s->item->frame, s->item->env);
    if (was_reported(s, stmt))
        return false;
    const void **item =
        dfr_table_reserve(&s->reported) ? dfr_array_add(&s->reported_items, sizeof *item, 1) : NULL;
    if (!item)
        return dfc_no_memory(s->e->u);
    *item = stmt;
    dfr_table_put(&s->reported, hash_stmt(stmt), s->reported_items.n - 1);
    return false;
}

static struct dfl_loc call_loc(const struct solve *s)
{
    return s->item->stmt->call_loc;
}

/* "(line 9)", or with the file where that is another than the call's. */
static const char *place(const struct solve *s, struct dfl_loc loc, char *text, size_t size)
{
    if (loc.file == call_loc(s).file)
        snprintf(text, size, "line %u", (unsigned)loc.line);
    else
        snprintf(text, size, "%s:%u", dfl_sink_file_name(s->e->u->sink, loc.file), (unsigned)loc.line);
    return text;
}

/* The declaration of a stream that is a port of its frame's graph. */
static struct dfl_loc port_loc(const struct dfc_elab *e, const struct dfc_stream *stream)
{
    const struct dfc_sig *sig = &dfc_frames(e)[stream->frame].graph->sig;
    const char *name = dfc_index_names(&e->names)[stream->name];
    for (unsigned p = 0; p < sig->n_ports; p++)
        if (strcmp(sig->ports[p].ast->name.text, name) == 0)
            return sig->ports[p].ast->name.loc;
    return (struct dfl_loc){ .file = DFL_NO_FILE };
}

/* For an input, the stream as the call names it and the line where it is assigned. */
static void print_origin(const struct solve *s, const struct origin *origin, char *text, size_t size)
{
    static const char *const before[] = { "", "the annotation of ", "out port " };
    char where[300], name[300];
    struct dfl_loc loc = origin->loc;
    if (origin->kind == FROM_INPUT) {
        uint32_t id = dfc_in_streams(s->e)[s->item->first_in + origin->slot];
        const struct dfc_stream *stream = &dfc_streams(s->e)[id];
        dfc_stream_print(s->e, id, name, sizeof name);
        loc = stream->target ? stream->target->name.loc : port_loc(s->e, stream);
    } else {
        snprintf(name, sizeof name, "%s", origin->name);
    }
    snprintf(text, size, "%s'%s' (%s)", before[origin->kind], name, place(s, loc, where, sizeof where));
}

static void note_port(const struct solve *s, const struct dfc_port *port)
{
    dfl_note(s->e->u->sink, port->ast->loc, "port '%s' of '%s' is declared here", port->ast->name.text,
             s->item->callee->name);
}

/* ---- binding ---- */

static bool bind(struct solve *s, unsigned variable, uint64_t extent, const struct origin *origin)
{
    if (!s->bound[variable]) {
        s->bound[variable] = extent;
        s->origins[variable] = *origin;
        return true;
    }
    if (s->bound[variable] == extent)
        return true;
    char one[700], two[700];
    print_origin(s, &s->origins[variable], one, sizeof one);
    print_origin(s, origin, two, sizeof two);
    dfl_error(s->e->u->sink, call_loc(s), "dimension %s is %llu from %s and %llu from %s",
              s->item->callee->sig.variables[variable].name.text, (unsigned long long)s->bound[variable], one,
              (unsigned long long)extent, two);
    return failed(s);
}

static bool same_extent(struct solve *s, const struct dfc_port *port, unsigned dim, uint64_t want, uint64_t have,
                        const struct origin *origin)
{
    char text[700];
    if (want == have)
        return true;
    print_origin(s, origin, text, sizeof text);
    dfl_error(s->e->u->sink, call_loc(s), "dimension %u of %s is %llu, port '%s' of '%s' takes %llu", dim + 1, text,
              (unsigned long long)have, port->ast->name.text, s->item->callee->name, (unsigned long long)want);
    note_port(s, port);
    return failed(s);
}

static bool match_input(struct solve *s, unsigned slot)
{
    const struct dfc_sig *sig = &s->item->callee->sig;
    const struct dfc_port *port = &sig->ports[sig->in_port[slot]];
    const struct dfc_format *format = &s->formats[s->e->in_values[s->item->first_in + slot]];
    const struct origin origin = { .kind = FROM_INPUT, .slot = slot };
    char text[700];
    bool ok = true;
    if (format->elem != port->elem || format->rank != port->rank) {
        print_origin(s, &origin, text, sizeof text);
        if (format->elem != port->elem)
            dfl_error(s->e->u->sink, call_loc(s), "%s is %s, port '%s' of '%s' takes %s", text,
                      df_elem_name((enum df_elem)format->elem), port->ast->name.text, s->item->callee->name,
                      df_elem_name(port->elem));
        else
            dfl_error(s->e->u->sink, call_loc(s), "%s has %u dimension%s, port '%s' of '%s' takes %u", text, format->rank,
                      format->rank == 1 ? "" : "s", port->ast->name.text, s->item->callee->name, port->rank);
        note_port(s, port);
        return failed(s);
    }
    for (unsigned i = 0; i < port->rank && ok; i++) {
        const struct dfc_dim *dim = &port->dims[i];
        if (dim->kind == DFC_DIM_VARIABLE)
            ok = bind(s, dim->variable, format->dims[i], &origin);
        else if (dim->kind == DFC_DIM_NUMBER)
            ok = same_extent(s, port, i, dim->number, format->dims[i], &origin);
    }
    return ok;
}

/* ---- annotations ---- */

static bool match_annotation(struct solve *s, const struct dfl_target *target, const struct dfc_port *port)
{
    const struct dfc_names names = dfc_frame_names(s->e, s->item->frame, s->item->env, DFC_USE_ANNOTATION);
    const struct origin origin = { FROM_ANNOTATION, 0, target->name.text, target->annotation->loc };
    struct dfc_format format;
    bool ok = true;
    if (!dfc_format_fold(s->e->u, &names, target->annotation, &format))
        return failed(s);
    for (unsigned i = 0; i < port->rank && ok; i++)
        if (port->dims[i].kind == DFC_DIM_VARIABLE)
            ok = bind(s, port->dims[i].variable, format.dims[i], &origin);
    return ok;
}

/* An extent that the out port of the graph around the call states; 0: it leaves it open. */
static bool stated_extent(struct solve *s, const struct dfc_dim *dim, uint64_t *extent)
{
    const struct dfc_frame *frame = &dfc_frames(s->e)[s->item->frame];
    const struct dfc_names names = { .use = DFC_USE_PORT, .callee = frame->graph, .dims = frame->dims };
    bool known;
    *extent = dim->kind == DFC_DIM_NUMBER ? dim->number : dim->kind == DFC_DIM_VARIABLE ? frame->dims[dim->variable] : 0;
    for (unsigned v = 0; v < frame->graph->sig.n_variables; v++)
        if (!frame->dims[v])
            return true;
    return dim->kind != DFC_DIM_EXPR || dfc_fold_extent(s->e->u, &names, dim->expr, extent, &known) || failed(s);
}

/* A target that is an out port of its own graph: the port's format binds what nothing else has bound. */
static bool match_out_port(struct solve *s, const struct dfl_target *target, const struct dfc_port *port)
{
    const struct dfc_sig *outer = &dfc_frames(s->e)[s->item->frame].graph->sig;
    for (unsigned p = 0; p < outer->n_out; p++) {
        const struct dfc_port *given = &outer->ports[outer->out_port[p]];
        if (target->indices || strcmp(given->ast->name.text, target->name.text) != 0 || given->rank != port->rank)
            continue;
        const struct origin origin = { FROM_OUT_PORT, 0, given->ast->name.text, given->ast->loc };
        for (unsigned i = 0; i < port->rank; i++) {
            uint64_t extent;
            if (port->dims[i].kind != DFC_DIM_VARIABLE || s->bound[port->dims[i].variable])
                continue;
            if (!stated_extent(s, &given->dims[i], &extent) ||
                (extent && !bind(s, port->dims[i].variable, extent, &origin)))
                return false;
        }
    }
    return true;
}

static bool match_targets(struct solve *s)
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

static bool match_all(struct solve *s)
{
    const struct dfc_sig *sig = &s->item->callee->sig;
    memset(s->bound, 0, (sig->n_variables + 1) * sizeof *s->bound);
    for (unsigned i = 0; i < sig->n_in; i++)
        if (!match_input(s, i))
            return false;
    return match_targets(s);
}

/* ---- nodes ---- */

static bool all_bound(struct solve *s)
{
    const struct dfc_sig *sig = &s->item->callee->sig;
    for (unsigned v = 0; v < sig->n_variables; v++) {
        if (s->bound[v])
            continue;
        const char *target = "x";
        const struct dfl_target *t = s->item->stmt->targets;
        for (unsigned i = 0; i < sig->n_out; i++, t = t->next)
            for (unsigned d = 0; d < sig->ports[sig->out_port[i]].rank; d++)
                if (sig->ports[sig->out_port[i]].dims[d].kind == DFC_DIM_VARIABLE &&
                    sig->ports[sig->out_port[i]].dims[d].variable == v)
                    target = t->name.text;
        dfl_error(s->e->u->sink, call_loc(s), "dimension %s of '%s' is found in none of its inputs",
                  sig->variables[v].name.text, s->item->callee->name);
        dfl_hint(s->e->u->sink, "annotate the target: '%s: type[...] = %s(...)'", target, s->item->callee->name);
        return failed(s);
    }
    return true;
}

/* Extents of a port from the variables. */
static bool port_extents(struct solve *s, unsigned p)
{
    const struct dfc_port *port = &s->item->callee->sig.ports[p];
    const struct dfc_names names = { .use = DFC_USE_PORT, .callee = s->item->callee, .dims = s->bound };
    for (unsigned i = 0; i < port->rank; i++) {
        const struct dfc_dim *dim = &port->dims[i];
        bool known;
        if (dim->kind == DFC_DIM_EXPR && !dfc_fold_extent(s->e->u, &names, dim->expr, &s->port_dims[p][i], &known)) {
            dfl_note(s->e->u->sink, call_loc(s), "in this use of '%s'", s->item->callee->name);
            return failed(s);
        }
        if (dim->kind != DFC_DIM_EXPR)
            s->port_dims[p][i] = dim->kind == DFC_DIM_NUMBER ? dim->number : s->bound[dim->variable];
    }
    return true;
}

static struct dfc_format port_format(const struct solve *s, unsigned p)
{
    const struct dfc_port *port = &s->item->callee->sig.ports[p];
    struct dfc_format format = { .elem = (uint8_t)port->elem, .rank = (uint8_t)port->rank };
    memcpy(format.dims, s->port_dims[p], port->rank * sizeof format.dims[0]);
    return format;
}

static bool check_size(struct solve *s, unsigned p)
{
    const struct dfc_format format = port_format(s, p);
    uint64_t bytes;
    char text[160];
    if (dfc_format_bytes(&format, &bytes))
        return true;
    dfc_format_print(&format, text, sizeof text);
    dfl_error(s->e->u->sink, call_loc(s), "port '%s' of '%s' is %s: its size does not fit in 63 bits",
              s->item->callee->sig.ports[p].ast->name.text, s->item->callee->name, text);
    return failed(s);
}

/* Inputs whose extents are expressions, now that the variables are known. */
static bool check_input_exprs(struct solve *s, unsigned p)
{
    const struct dfc_port *port = &s->item->callee->sig.ports[p];
    const struct dfc_format *format = &s->formats[s->e->in_values[s->item->first_in + (unsigned)port->in_slot]];
    for (unsigned i = 0; i < port->rank; i++)
        if (port->dims[i].kind == DFC_DIM_EXPR && s->port_dims[p][i] != format->dims[i]) {
            const struct origin origin = { .kind = FROM_INPUT, .slot = (unsigned)port->in_slot };
            return same_extent(s, port, i, s->port_dims[p][i], format->dims[i], &origin);
        }
    return true;
}

/* An annotation against what the output is. */
static bool check_annotation(struct solve *s, const struct dfl_target *target, const struct dfc_format *format)
{
    const struct dfc_names names = dfc_frame_names(s->e, s->item->frame, s->item->env, DFC_USE_ANNOTATION);
    struct dfc_format annotated;
    char one[160], two[160];
    if (!target->annotation || !dfc_format_fold(s->e->u, &names, target->annotation, &annotated))
        return true;
    bool same = true;
    for (unsigned i = 0; i < format->rank; i++)
        same &= annotated.dims[i] == format->dims[i];
    if (same)
        return true;
    dfc_format_print(&annotated, one, sizeof one);
    dfc_format_print(format, two, sizeof two);
    dfl_error(s->e->u->sink, target->annotation->loc, "'%s' is annotated as %s, '%s' gives %s", target->name.text, one,
              s->item->callee->name, two);
    return failed(s);
}

/* A kernel that fires before wave 0 can only read what is there by then. What reads nothing else fires then too. */
static bool check_once(struct solve *s)
{
    const struct dfc_callee *callee = s->item->callee;
    bool declared = callee->kernel->traits & DFL_ONCE, all = callee->sig.n_in > 0;
    for (unsigned i = 0; i < callee->sig.n_in; i++) {
        if (s->once[s->e->in_values[s->item->first_in + i]])
            continue;
        all = false;
        if (!declared)
            continue;
        const struct origin origin = { .kind = FROM_INPUT, .slot = i };
        char text[700];
        print_origin(s, &origin, text, sizeof text);
        dfl_error(s->e->u->sink, call_loc(s), "'%s' is 'once', but %s is made for every wave", callee->name, text);
        return failed(s);
    }
    for (unsigned i = 0; i < callee->sig.n_out; i++)
        s->once[s->item->first_out + i] = declared || all;
    return true;
}

static bool solve_node(struct solve *s, uint32_t id)
{
    const struct dfc_sig *sig = &s->item->callee->sig;
    if (!match_all(s) || !all_bound(s) || !check_once(s))
        return false;
    for (unsigned p = 0; p < sig->n_ports; p++)
        if (!port_extents(s, p) || (sig->ports[p].in_slot >= 0 && !check_input_exprs(s, p)) || !check_size(s, p))
            return false;
    const struct dfl_target *target = s->item->stmt->targets;
    for (unsigned i = 0; i < sig->n_out; i++, target = target->next) {
        struct dfc_format format = port_format(s, sig->out_port[i]);
        if (!check_annotation(s, target, &format))
            return false;
        s->formats[s->item->first_out + i] = format;
    }
    const struct dfc_solved solved = { s->bound, (const uint64_t (*)[DF_MAX_RANK])s->port_dims };
    return dfc_build_node(&s->build, id, &solved) || failed(s);
}

/* ---- nested graphs ---- */

static bool enter_scalars(struct solve *s, struct dfc_frame *inner)
{
    const struct dfc_sig *sig = &inner->graph->sig;
    const struct dfc_names names = dfc_frame_names(s->e, s->item->frame, s->item->env, DFC_USE_SCALAR);
    struct dfc_value *scalars = dfc_alloc(s->e->u, (sig->n_scalars + 1) * sizeof *scalars);
    if (!scalars)
        return false;
    for (unsigned i = 0; i < sig->n_scalars; i++) {
        const struct dfl_expr *expr = dfc_call_scalar(s->item->stmt, sig, i);
        const char *what = dfc_printf(s->e->u, "scalar '%s' of '%s'", sig->scalars[i]->name.text, inner->graph->name);
        if (!dfc_fold(s->e->u, &names, expr, &scalars[i]) ||
            !dfc_convert(s->e->u, expr->loc, what, sig->scalars[i]->type, &scalars[i]))
            return failed(s);
    }
    inner->scalars = scalars;
    return true;
}

static bool solve_entry(struct solve *s)
{
    struct dfc_frame *inner = &dfc_frames(s->e)[s->item->inner];
    if (!match_all(s))
        return false;
    for (unsigned p = 0; p < inner->graph->sig.n_ports; p++)
        if (inner->graph->sig.ports[p].in_slot >= 0 && (!port_extents(s, p) || !check_input_exprs(s, p)))
            return false;
    memcpy(inner->dims, s->bound, inner->graph->sig.n_variables * sizeof *inner->dims);
    return enter_scalars(s, inner);
}

/* One out port against what was assigned to it inside; binds what no in port and no annotation did. */
static bool check_out_port(struct solve *s, struct dfc_frame *inner, unsigned slot)
{
    const struct dfc_elab *e = s->e;
    const struct dfc_sig *sig = &inner->graph->sig;
    const struct dfc_port *port = &sig->ports[sig->out_port[slot]];
    uint32_t last, stream = dfc_port_streams(e)[s->item->first_out + slot], value = dfc_stream_value(e, stream, &last);
    const struct dfl_target *assigned = dfc_streams(e)[stream].target;
    const struct dfc_names names = { .use = DFC_USE_PORT, .callee = inner->graph, .dims = inner->dims };
    if (value == DF_NONE || s->bad[value])
        return true;
    const struct dfc_format *format = &s->formats[value];
    if (format->elem != port->elem || format->rank != port->rank) {
        if (format->elem != port->elem)
            dfl_error(e->u->sink, assigned->loc, "out port '%s' of graph '%s' is %s, it is assigned %s", port->ast->name.text,
                      inner->graph->name, df_elem_name(port->elem), df_elem_name((enum df_elem)format->elem));
        else
            dfl_error(e->u->sink, assigned->loc, "out port '%s' of graph '%s' has %u dimension%s, it is assigned %u",
                      port->ast->name.text, inner->graph->name, port->rank, port->rank == 1 ? "" : "s", format->rank);
        note_port(s, port);
        return failed(s);
    }
    for (unsigned i = 0; i < port->rank; i++) {
        const struct dfc_dim *dim = &port->dims[i];
        uint64_t want = dim->number;
        bool known;
        if (dim->kind == DFC_DIM_VARIABLE) {
            if (!inner->dims[dim->variable])
                inner->dims[dim->variable] = format->dims[i];
            want = inner->dims[dim->variable];
        }
        if (dim->kind == DFC_DIM_EXPR && !dfc_fold_extent(e->u, &names, dim->expr, &want, &known))
            return failed(s);
        if (want == format->dims[i])
            continue;
        dfl_error(e->u->sink, assigned->loc, "dimension %u of out port '%s' of graph '%s' is %llu, it is assigned %llu", i + 1,
                  port->ast->name.text, inner->graph->name, (unsigned long long)want, (unsigned long long)format->dims[i]);
        note_port(s, port);
        return failed(s);
    }
    const struct dfl_target *target = s->item->stmt->targets;
    for (unsigned i = 0; i < slot; i++)
        target = target->next;
    return check_annotation(s, target, format);
}

/* After all nodes: what comes out of nested graphs is what their out ports say. */
static bool check_exits(struct solve *s)
{
    bool ok = true;
    for (uint32_t i = 0; i < s->e->items.n; i++) {
        const struct dfc_item *item = &dfc_items(s->e)[i];
        if (item->inner == DF_NONE || dfc_frames(s->e)[item->inner].bad || was_reported(s, item->stmt))
            continue;
        s->item = item;
        for (unsigned slot = 0; slot < item->callee->sig.n_out; slot++)
            if (!check_out_port(s, &dfc_frames(s->e)[item->inner], slot)) {
                ok = false;
                break;
            }
    }
    return ok;
}

/* ---- the walk ---- */

/* Hangs on something that was reported, or was reported itself in an earlier round. */
static bool passed_over(const struct solve *s)
{
    const struct dfc_item *item = s->item;
    if (dfc_frames(s->e)[item->frame].bad || (s->reported_items.n && was_reported(s, item->stmt)))
        return true;
    for (unsigned i = 0; i < item->callee->sig.n_in; i++)
        if (s->bad[s->e->in_values[item->first_in + i]])
            return true;
    return false;
}

static void mark_bad(struct solve *s)
{
    if (s->item->inner != DF_NONE)
        dfc_frames(s->e)[s->item->inner].bad = true;
    for (unsigned i = 0; i < s->item->callee->sig.n_out && s->item->inner == DF_NONE; i++)
        s->bad[s->item->first_out + i] = true;
}

static bool solve_open(struct solve *s)
{
    const struct dfc_unit *u = s->e->u;
    unsigned n_variables = 1, n_ports = 1;
    for (uint32_t i = 0; i < u->callee_items.n; i++) {
        const struct dfc_sig *sig = &dfc_callees(u)[i].sig;
        n_variables = sig->n_variables >= n_variables ? sig->n_variables + 1 : n_variables;
        n_ports = sig->n_ports > n_ports ? sig->n_ports : n_ports;
    }
    s->formats = calloc((size_t)s->e->values.n + 1, sizeof *s->formats);
    s->bad = calloc((size_t)s->e->values.n + 1, sizeof *s->bad);
    s->once = calloc((size_t)s->e->values.n + 1, sizeof *s->once);
    s->bound = calloc(n_variables, sizeof *s->bound);
    s->origins = calloc(n_variables, sizeof *s->origins);
    s->port_dims = calloc(n_ports, sizeof *s->port_dims);
    return s->formats && s->bad && s->once && s->bound && s->origins && s->port_dims;
}

bool dfc_solve_dims(struct dfc_elab *e)
{
    struct solve s = { .e = e };
    bool ok = solve_open(&s) && dfc_build_begin(&s.build, e);
    if (!ok)
        dfc_no_memory(e->u);
    for (uint32_t k = 0; k < e->items.n && !e->u->no_memory; k++) {
        s.item = &dfc_items(e)[e->order[k]];
        bool solved = !passed_over(&s) && (s.item->inner == DF_NONE ? solve_node(&s, e->order[k]) : solve_entry(&s));
        if (!solved)
            mark_bad(&s);
        ok &= solved;
    }
    ok = !e->u->no_memory && check_exits(&s) && ok && dfc_build_finish(&s.build);
    dfc_build_free(&s.build);
    dfr_table_free(&s.reported);
    dfr_array_free(&s.reported_items);
    free(s.formats);
    free(s.bad);
    free(s.once);
    free(s.bound);
    free(s.origins);
    free(s.port_dims);
    return ok;
}
