/* dims.c - infers all dimensions by unification, producers before consumers, for front/front.c: the formats of a call's
 * inputs bind the variables of its signature, and these determine the formats of its outputs. If the two ends of an arc
 * disagree, the message names both. It also determines in which phase a node fires (for fuse.c and stage_hints.c, too),
 * and for root.c checks graphs whose extents are unknown.
 *
 * Before:   dfc_order_items() has succeeded, so every item is visited after the producers of its inputs, and after the
 *           entry of the graph instance whose dimensions it uses.
 * Leaves:   every node passed to the graph builder (to_builder.c), every format checked.
 * Errors:   each statement is reported at most once, however often it is elaborated. Items that depend on a wrong one
 *           are skipped silently.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/elab/dims.h"
#include "compiler/proof/proof.h"

/* ---- nodes ---- */

/* No input gives this variable. Says what to write instead: an annotation of the first target whose format has it. */
static void hint_annotation(const struct dfc_elab *e, const struct dfc_item *item, unsigned variable)
{
    const struct dfc_sig *sig = &item->callee->sig;
    const bool bounded = sig->variables[variable].bound;
    const struct dfl_target *target = item->stmt->targets;
    for (unsigned i = 0; i < sig->n_out; i++, target = target->next) {
        const struct dfc_port *port = &sig->ports[sig->out_port[i]];
        for (unsigned d = 0; d < port->rank; d++) {
            if (port->dims[d].kind != DFC_DIM_VARIABLE || port->dims[d].variable != variable)
                continue;
            dfl_hint(e->u->sink, "annotate the target: '%s: %s[%s%s...] = %s(...)'", target->name.text, df_elem_name(port->elem),
                     bounded ? sig->variables[variable].name.text : "", bounded ? " <= " : "", item->callee->name);
            return;
        }
    }
}

/* Whoever writes 'f64[features]' may mean the param. */
static void hint_param(const struct dfc_elab *e, const struct dfc_variable *variable)
{
    const char *name = variable->name.text;
    uint32_t id;
    if (!dfc_index_find(&e->u->params, name, &id))
        return;
    dfl_note(e->u->sink, variable->name.loc, "a bare name in a port is a dimension variable, never the param '%s'", name);
    dfl_hint(e->u->sink, "a type has the param's number: 'type row = f64[%s];', and the port is a 'row'", name);
}

static void report_not_found(const struct dfc_elab *e, const struct dfc_item *item, unsigned v)
{
    const struct dfc_variable *variable = &item->callee->sig.variables[v];
    if (variable->bound)
        dfl_error(e->u->sink, item->stmt->call_loc, "'%s' leaves the bound of dimension %s to its calls, and this one says none",
                  item->callee->name, variable->name.text);
    else
        dfl_error(e->u->sink, item->stmt->call_loc, "dimension %s of '%s' is found in none of its inputs", variable->name.text,
                  item->callee->name);
    hint_annotation(e, item, v);
    hint_param(e, variable);
}

static bool all_bound(struct dfc_solve *s)
{
    for (unsigned v = 0; v < s->item->callee->sig.n_variables; v++)
        if (!s->bound[v]) {
            report_not_found(s->e, s->item, v);
            return dfc_solve_failed(s);
        }
    return true;
}

/* Does an annotation, or an out port of the graph around the call, have this extent? */
static bool is_said(const struct dfc_elab *e, const struct dfc_item *item, unsigned variable)
{
    const struct dfc_sig *sig = &item->callee->sig, *outer = &dfc_frames(e)[item->frame].graph->sig;
    const struct dfl_target *target = item->stmt->targets;
    for (unsigned i = 0; i < sig->n_out; i++, target = target->next) {
        const struct dfc_port *port = &sig->ports[sig->out_port[i]];
        bool said = target->annotation;
        for (unsigned p = 0; p < outer->n_out; p++)
            said |= strcmp(outer->ports[outer->out_port[p]].ast->name.text, target->name.text) == 0;
        for (unsigned d = 0; d < port->rank && said; d++)
            if (port->dims[d].kind == DFC_DIM_VARIABLE && port->dims[d].variable == variable)
                return true;
    }
    return false;
}

bool dfc_dims_can_be_found(const struct dfc_elab *e, const struct dfc_item *item)
{
    const struct dfc_sig *sig = &item->callee->sig;
    for (unsigned v = 0; v < sig->n_variables && sig->needs_annotation; v++) {
        const struct dfc_variable *variable = &sig->variables[v];
        if (variable->from_input || (variable->bound && !dfc_bound_is_open(variable->bound)) || is_said(e, item, v))
            continue;
        report_not_found(e, item, v);
        dfc_note_context(e, item->frame, item->env);
        return false;
    }
    return true;
}

static struct dfc_format port_format(const struct dfc_solve *s, unsigned p)
{
    const struct dfc_port *port = &s->item->callee->sig.ports[p];
    if (s->item->callee->built_in)
        return s->formats[s->e->in_values[s->item->first_in]];
    struct dfc_format format = { .elem = (uint8_t)port->elem, .rank = (uint8_t)port->rank,
                                 .bounded = s->port_bounded[p] };
    memcpy(format.dims, s->port_dims[p], port->rank * sizeof format.dims[0]);
    return format;
}

static bool check_size(struct dfc_solve *s, unsigned p)
{
    const struct dfc_format format = port_format(s, p);
    uint64_t bytes;
    char text[160];
    if (dfc_format_bytes(&format, &bytes))
        return true;
    dfc_format_print(&format, text, sizeof text);
    dfl_error(s->e->u->sink, dfc_solve_loc(s), "port '%s' of '%s' is %s: its size does not fit in 63 bits",
              s->item->callee->sig.ports[p].ast->name.text, s->item->callee->name, text);
    return dfc_solve_failed(s);
}

void dfc_report_acc(const struct dfc_elab *e, const struct dfc_item *item, unsigned p, unsigned d)
{
    const struct dfc_port *port = &item->callee->sig.ports[p];
    const char *name = port->ast->name.text;
    dfl_error(e->u->sink, item->stmt->call_loc, "'%s' of '%s' is an acc, which has one size in all waves, but its extent %u differs from wave to wave "
              "here", name, item->callee->name, d + 1);
    dfl_note(e->u->sink, port->ast->loc, "port '%s' of '%s' is declared here", name, item->callee->name);
    dfl_hint(e->u->sink, "give '%s' dimensions of its own, and say them at the call: 'acc %s: %s[m]', and 'y: %s[100] = %s(...)'", name, name,
             df_elem_name(port->elem), df_elem_name(port->elem), item->callee->name);
}

/* The memory of an acc is made before the first wave. */
static bool check_acc(struct dfc_solve *s, unsigned p)
{
    if (s->item->callee->built_in || s->item->callee->sig.ports[p].ast->mode != DFL_ACC || !s->port_bounded[p])
        return true;
    dfc_report_acc(s->e, s->item, p, (unsigned)__builtin_ctz(s->port_bounded[p]));
    return dfc_solve_failed(s);
}

/* What is proved of the reads of formulas holds up to some extent, which 32 bits decide. */
static bool check_provable(struct dfc_solve *s, unsigned p)
{
    const struct dfc_callee *callee = s->item->callee;
    const struct dfc_format format = port_format(s, p);
    char text[160];
    bool ok = true;
    for (unsigned i = 0; i < format.rank && callee->proof; i++)
        ok &= format.dims[i] <= (uint64_t)callee->proof->max_extent;
    if (ok)
        return true;
    dfc_format_print(&format, text, sizeof text);
    dfl_error(s->e->u->sink, dfc_solve_loc(s), "port '%s' of '%s' is %s, but its formulas take extents up to %lld",
              callee->sig.ports[p].ast->name.text, callee->name, text, (long long)callee->proof->max_extent);
    if (callee->proof->max_extent < DFF_MOST_EXTENT)
        dfl_hint(s->e->u->sink, "they compare or divide a sum of indices, which must fit in an i32");
    return dfc_solve_failed(s);
}

/* ---- phases ---- */

static bool has_acc(const struct dfc_sig *sig)
{
    bool acc = false;
    for (unsigned i = 0; i < sig->n_out; i++)
        acc |= sig->ports[sig->out_port[i]].ast->mode == DFL_ACC;
    return acc;
}

/* A node that reads nothing but what is there before wave 0 fires then, unless it has an acc. One that reads an acc's
 * result, or what is made of it, fires after the last wave. */
enum dfc_phase dfc_item_phase(const struct dfc_elab *e, const struct dfc_item *item, uint8_t *phases)
{
    const struct dfc_sig *sig = &item->callee->sig;
    bool before = sig->n_in > 0 && !has_acc(sig), after = false;
    for (unsigned i = 0; i < sig->n_in; i++) {
        before &= phases[e->in_values[item->first_in + i]] == DFC_BEFORE;
        after |= phases[e->in_values[item->first_in + i]] == DFC_AFTER;
    }
    before |= (item->callee->kernel->traits & DFL_ONCE) != 0;
    const enum dfc_phase phase = before ? DFC_BEFORE : after ? DFC_AFTER : DFC_EVERY_WAVE;
    for (unsigned i = 0; i < sig->n_out; i++)
        phases[item->first_out + i] = sig->ports[sig->out_port[i]].ast->mode == DFL_ACC ? DFC_AFTER : phase;
    return phase;
}

static void print_input(const struct dfc_solve *s, unsigned slot, char *text, size_t size)
{
    const struct dfc_origin origin = { .kind = DFC_FROM_INPUT, .slot = slot };
    dfc_origin_print(s, &origin, text, size);
}

/* Reports that the node reads what is not there when it fires. in[phase] is an input of that phase, if n[phase] > 0. */
static bool refuse_phases(struct dfc_solve *s, const unsigned n[3], const unsigned in[3])
{
    const struct dfc_callee *callee = s->item->callee;
    const bool once = callee->kernel->traits & DFL_ONCE;
    const unsigned late = n[DFC_AFTER] ? DFC_AFTER : DFC_EVERY_WAVE;
    char text[700], beside[700];
    print_input(s, in[late], text, sizeof text);
    if (once || n[DFC_EVERY_WAVE] == 0) {
        dfl_error(s->e->u->sink, dfc_solve_loc(s), "'%s' %s, but %s %s", callee->name, once ? "is 'once'" : "has an 'acc'",
                  text, late == DFC_AFTER ? "comes after the last wave" : "is made for every wave");
        return dfc_solve_failed(s);
    }
    print_input(s, in[DFC_EVERY_WAVE], beside, sizeof beside);
    dfl_error(s->e->u->sink, dfc_solve_loc(s), "'%s' reads %s, which comes in every wave, beside %s, which comes once, after "
              "the last wave", callee->name, beside, text);
    dfl_hint(s->e->u->sink, "what is needed of all waves after the last one is the result of an 'acc', too");
    return dfc_solve_failed(s);
}

/* What is made for every wave is not there before wave 0, and what is there after the last wave is not there in any. */
static bool check_phases(struct dfc_solve *s)
{
    const struct dfc_sig *sig = &s->item->callee->sig;
    const bool declared = s->item->callee->kernel->traits & DFL_ONCE;
    unsigned n[3] = { 0 }, in[3] = { 0 };
    for (unsigned i = 0; i < sig->n_in; i++) {
        const enum dfc_phase phase = s->phase[s->e->in_values[s->item->first_in + i]];
        n[phase]++;
        in[phase] = i;
    }
    if ((declared && n[DFC_BEFORE] < sig->n_in) || (n[DFC_AFTER] && (n[DFC_EVERY_WAVE] || has_acc(sig))))
        return refuse_phases(s, n, in);
    dfc_item_phase(s->e, s->item, s->phase);
    return true;
}

bool dfc_check_phases(struct dfc_elab *e, const struct dfc_item *item, uint8_t *phases)
{
    struct dfc_solve s = { .e = e, .item = item, .phase = phases };
    bool good = check_phases(&s);
    dfr_table_free(&s.reported);
    dfr_array_free(&s.reported_items);
    return good;
}

/* ---- one node ---- */

/* A call in a loop is not divided. */
static bool fill_step(struct dfc_solve *s, uint32_t id, const struct dfc_solved *solved)
{
    struct dfc_rows rows;
    if (!dfc_rows_of_node(s, &rows))
        return false;
    s->fill.step_item = id;
    s->fill.step_rows = rows.why ? 0 : rows.whole;
    rows.why = "it is called in a loop with 'while'";
    bool ok = dfc_fill_node(&s->fill, id, solved, &rows);
    s->fill.step_item = DF_NONE;
    return ok;
}

static bool fill_node(struct dfc_solve *s, uint32_t id)
{
    const struct dfc_solved solved = { s->bound, (const uint64_t (*)[DF_MAX_RANK])s->port_dims, s->port_bounded };
    const struct dfc_format *format = &s->formats[s->item->first_out];
    struct dfc_rows rows;
    if (s->item->callee->loop_part == DFC_LOOP_BEGIN)
        return true;
    if (s->item->callee->loop_part == DFC_LOOP_END)
        return dfc_fill_loop(&s->fill, id, s->formats) || dfc_solve_failed(s);
    if (s->item->loop)
        return fill_step(s, id, &solved) || dfc_solve_failed(s);
    if (s->item->callee->built_in)
        return dfc_fill_select(&s->fill, id, &solved, format) || dfc_solve_failed(s);
    return (dfc_rows_of_node(s, &rows) && dfc_fill_node(&s->fill, id, &solved, &rows)) || dfc_solve_failed(s);
}

/* Is what a round leaves to the next as large as what it reads? */
static bool check_carried(struct dfc_solve *s)
{
    const struct dfc_loop *loop = &dfc_loops(s->e)[s->item->loop - 1];
    const struct dfc_carried *carried = loop->carried.items;
    char one[160], two[160], name[300];
    for (uint32_t i = 0; i < loop->carried.n; i++) {
        const struct dfc_format *first = &s->formats[dfc_items(s->e)[loop->begin].first_out + i], *made = &s->formats[s->e->in_values[s->item->first_in + i]];
        const bool bounded = first->bounded || made->bounded;
        if (!bounded && first->elem == made->elem && first->rank == made->rank && memcmp(first->dims, made->dims, first->rank * sizeof *first->dims) == 0)
            continue;
        dfc_format_print(first, one, sizeof one);
        dfc_format_print(made, two, sizeof two);
        dfc_stream_print(s->e, carried[i].made, name, sizeof name);
        if (bounded)
            dfl_error(s->e->u->sink, dfc_streams(s->e)[carried[i].made].target->loc, "what a loop with 'while' changes has extents that are the same in all waves, but '%s' is %s",
                      name, first->bounded ? one : two);
        else
            dfl_error(s->e->u->sink, dfc_streams(s->e)[carried[i].made].target->loc, "a round of this loop makes '%s' as %s, but reads it as %s", name, two, one);
        return dfc_solve_failed(s);
    }
    return true;
}

/* The items that begin and end a loop pass on what they read. */
static bool solve_loop(struct dfc_solve *s, uint32_t id)
{
    if (!check_phases(s))
        return false;
    for (unsigned i = 0; i < s->item->callee->sig.n_out; i++)
        s->formats[s->item->first_out + i] = s->formats[s->e->in_values[s->item->first_in + i]];
    if (s->item->callee->loop_part == DFC_LOOP_END && !check_carried(s))
        return false;
    return s->e->use || fill_node(s, id);
}

/* Finds the formats of a node. It is filled in at once if there are no groups, which wait for their last member. */
static bool solve_node(struct dfc_solve *s, uint32_t id)
{
    const struct dfc_sig *sig = &s->item->callee->sig;
    if (s->item->callee->loop_part)
        return solve_loop(s, id);
    if (!dfc_match_all(s) || !all_bound(s) || !check_phases(s))
        return false;
    for (unsigned p = 0; p < sig->n_ports; p++)
        if (!dfc_port_extents(s, p) || (sig->ports[p].in_slot >= 0 && !dfc_check_input_exprs(s, p)) ||
            !check_size(s, p) || !check_provable(s, p) || !check_acc(s, p))
            return false;
    const struct dfl_target *target = s->item->stmt->targets;
    for (unsigned i = 0; i < sig->n_out; i++, target = target->next) {
        struct dfc_format format = port_format(s, sig->out_port[i]);
        if (!dfc_check_annotation(s, target, &format))
            return false;
        s->formats[s->item->first_out + i] = format;
    }
    return s->e->use || fill_node(s, id);
}

/* ---- nodes and groups, once all formats are known ---- */

/* Binds the variables of an item again, and finds the extents of its ports. */
static bool bind_again(struct dfc_solve *s, uint32_t id)
{
    s->item = &dfc_items(s->e)[id];
    s->e->u->at = s->item->stmt->call_loc;
    bool ok = dfc_match_all(s);
    for (unsigned p = 0; ok && p < s->item->callee->sig.n_ports; p++)
        ok = dfc_port_extents(s, p);
    return ok;
}

/* What the group's ports are, as streams; those from outside by the values that it reads. */
static void group_formats(const struct dfc_solve *s, const struct dfc_joined *use, struct dfc_format *formats)
{
    for (unsigned p = 0; p < use->group->callee->sig.n_ports; p++) {
        const struct dfu_value *from = &use->group->ports[p];
        formats[p] = s->formats[from->member == DF_NONE
                                    ? use->outside[from->number]
                                    : dfc_items(s->e)[use->items[from->member]].first_out + from->number];
    }
}

static void group_port_dims(const struct dfu_group *group, const struct dfc_format *formats, const uint64_t *dims,
                            uint64_t (*port_dims)[DF_MAX_RANK])
{
    for (unsigned p = 0; p < group->callee->sig.n_ports; p++) {
        memcpy(port_dims[p], formats[p].dims, sizeof port_dims[p]);
        if (group->strips->ring_rows[p] == DF_NONE)
            continue;
        for (unsigned d = 0; d < group->strips->dim; d++)
            port_dims[p][d] = 1;
        port_dims[p][group->strips->dim] = dims[group->strips->ring_rows[p]];
    }
}

/* What is told of the group: streams that it keeps out of memory, those that are inlined included. */
static bool note_group(struct dfc_solve *s, const struct dfc_joined *use, uint64_t strip, uint64_t ring_bytes,
                       uint32_t node)
{
    struct dfc_fused *fused = dfr_array_add(&s->e->u->fused, sizeof *fused, 1);
    if (!fused)
        return dfc_no_memory(s->e->u);
    *fused = (struct dfc_fused){ .group = use->group, .node = node, .strip_rows = strip,
                                  .ring_bytes = ring_bytes };
    for (unsigned m = 0; m < use->group->wiring.n; m++)
        for (unsigned i = 0; i < use->group->wiring.member[m].callee->sig.n_out; i++) {
            uint64_t bytes;
            dfc_format_bytes(&s->formats[dfc_items(s->e)[use->items[m]].first_out + i], &bytes);
            fused->saved_bytes += use->group->wiring.member[m].leaves[i] ? 0 : bytes;
        }
    return true;
}

/* Fills a group in as one node; as its members if its rings would be too large. */
static bool fill_group(struct dfc_solve *s, uint32_t id)
{
    const struct dfc_joined *use = (const struct dfc_joined *)s->e->uses.items + id;
    const struct dfc_sig *sig = &use->group->callee->sig;
    const unsigned n = use->group->wiring.n;
    const uint64_t *member_dims[DFU_MOST_MEMBERS];
    uint64_t *dims = dfc_alloc(s->e->u, (sig->n_variables + 1u) * sizeof *dims);
    uint64_t (*port_dims)[DF_MAX_RANK] = dfc_alloc(s->e->u, (sig->n_ports + 1u) * sizeof *port_dims);
    struct dfc_format *formats = dfc_alloc(s->e->u, (sig->n_ports + 1u) * sizeof *formats);
    uint64_t ring_bytes;
    if (!dims || !port_dims || !formats)
        return false;
    for (unsigned m = 0; m < n; m++) {
        const size_t bytes = (dfc_items(s->e)[use->items[m]].callee->sig.n_variables + 1u) * sizeof *dims;
        uint64_t *own = dfc_alloc(s->e->u, bytes);
        if (!own || !bind_again(s, use->items[m]))
            return false;
        memcpy(own, s->bound, bytes - sizeof *dims);
        member_dims[m] = own;
    }
    for (unsigned v = 0; v < use->group->n_variables; v++)
        dims[v] = member_dims[use->group->variables[v].member][use->group->variables[v].number];
    group_formats(s, use, formats);
    const bool fits = dfu_strips_plan(use->group, formats, (struct df_rows){ 0, INT64_MAX }, dims, &ring_bytes);
    const uint64_t strip = dims[use->group->strips->strip];
    if (fits) {
        group_port_dims(use->group, formats, dims, port_dims);
        const struct dfc_solved solved = { dims, (const uint64_t (*)[DF_MAX_RANK])port_dims, NULL };
        struct dfc_rows rows;
        return dfc_rows_of_group(s, use, formats, &solved, &rows) &&
                       dfc_fill_group(&s->fill, id, &solved, member_dims, &rows)
                   ? note_group(s, use, strip, ring_bytes, s->fill.node[use->items[0]]) : dfc_solve_failed(s);
    }
    if (!note_group(s, use, strip, ring_bytes, DF_NONE))
        return false;
    for (unsigned m = 0; m < n; m++)
        if (!bind_again(s, use->items[m]) || !fill_node(s, use->items[m]))
            return false;
    return true;
}

static bool fill_all(struct dfc_solve *s)
{
    const struct dfc_elab *e = s->e;
    for (uint32_t k = 0; k < e->n_fill; k++) {
        const uint32_t id = e->fill_order[k];
        bool filled = e->use[id] != DF_NONE ? fill_group(s, e->use[id]) : bind_again(s, id) && fill_node(s, id);
        if (!filled)
            return false;
    }
    return true;
}

/* ---- nested graphs ---- */

static bool enter_scalars(struct dfc_solve *s, struct dfc_frame *inner)
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
            return dfc_solve_failed(s);
    }
    inner->scalars = scalars;
    return true;
}

static bool solve_entry(struct dfc_solve *s)
{
    struct dfc_frame *inner = &dfc_frames(s->e)[s->item->inner];
    if (!dfc_match_all(s))
        return false;
    for (unsigned p = 0; p < inner->graph->sig.n_ports; p++)
        if (inner->graph->sig.ports[p].in_slot >= 0 && (!dfc_port_extents(s, p) || !dfc_check_input_exprs(s, p)))
            return false;
    memcpy(inner->dims, s->bound, inner->graph->sig.n_variables * sizeof *inner->dims);
    inner->bounded = dfc_alloc(s->e->u, (inner->graph->sig.n_variables + 1) * sizeof *inner->bounded);
    if (!inner->bounded)
        return false;
    memcpy(inner->bounded, s->bounded, inner->graph->sig.n_variables * sizeof *inner->bounded);
    return enter_scalars(s, inner);
}

/* Checks one out port against what was assigned to it inside. Binds the variables that no in port and no annotation has
 * bound. */
static bool check_out_port(struct dfc_solve *s, struct dfc_frame *inner, unsigned slot)
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
            dfl_error(e->u->sink, assigned->loc, "out port '%s' of graph '%s' is %s, but it is assigned %s",
                      port->ast->name.text, inner->graph->name, df_elem_name(port->elem),
                      df_elem_name((enum df_elem)format->elem));
        else
            dfl_error(e->u->sink, assigned->loc,
                      "out port '%s' of graph '%s' has %u dimension%s, but it is assigned %u", port->ast->name.text,
                      inner->graph->name, port->rank, port->rank == 1 ? "" : "s", format->rank);
        dfc_solve_note_port(s, port);
        return dfc_solve_failed(s);
    }
    for (unsigned i = 0; i < port->rank; i++) {
        const struct dfc_dim *dim = &port->dims[i];
        uint64_t want = dim->number;
        bool known, bounded = false, has_bound = format->bounded >> i & 1;
        if (s->unsized && (!format->dims[i] || dim->kind != DFC_DIM_NUMBER || (has_bound && s->item->frame == 0)))
            continue;                   /* root.c checks which results of a call have extents with a bound */
        if (dim->kind == DFC_DIM_VARIABLE) {
            if (!inner->dims[dim->variable]) {
                inner->dims[dim->variable] = format->dims[i];
                inner->bounded[dim->variable] = has_bound;
            }
            want = inner->dims[dim->variable];
            bounded = inner->bounded[dim->variable];
        }
        if (dim->kind == DFC_DIM_EXPR && !dfc_fold_extent(e->u, &names, dim->expr, &want, &known))
            return dfc_solve_failed(s);
        if (dim->kind == DFC_DIM_EXPR)
            bounded = dfc_extent_is_bounded(sig, dim->expr, inner->bounded);
        if (want == format->dims[i] && bounded == has_bound)
            continue;
        dfl_error(e->u->sink, assigned->loc,
                  "dimension %u of out port '%s' of graph '%s' is %s%llu, but it is assigned %s%llu", i + 1,
                  port->ast->name.text, inner->graph->name, bounded ? "at most " : "", (unsigned long long)want,
                  has_bound ? "at most " : "", (unsigned long long)format->dims[i]);
        dfc_solve_note_port(s, port);
        return dfc_solve_failed(s);
    }
    const struct dfl_target *target = s->item->stmt->targets;
    for (unsigned i = 0; i < slot; i++)
        target = target->next;
    return s->unsized || dfc_check_annotation(s, target, format);
}

/* After all nodes: checks that what comes out of nested graphs is what their out ports declare. */
static bool check_exits(struct dfc_solve *s)
{
    bool ok = true;
    for (uint32_t i = 0; i < s->e->items.n; i++) {
        const struct dfc_item *item = &dfc_items(s->e)[i];
        if (item->inner == DF_NONE || dfc_frames(s->e)[item->inner].bad || dfc_solve_reported(s, item->stmt))
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

/* ---- all items, in order ---- */

/* Does the item depend on something that was reported? Or was its own statement reported in an earlier round? */
static bool passed_over(const struct dfc_solve *s)
{
    const struct dfc_item *item = s->item;
    if (dfc_frames(s->e)[item->frame].bad || (s->reported_items.n && dfc_solve_reported(s, item->stmt)))
        return true;
    for (unsigned i = 0; i < item->callee->sig.n_in; i++)
        if (s->bad[s->e->in_values[item->first_in + i]])
            return true;
    return false;
}

static void mark_bad(struct dfc_solve *s)
{
    if (s->item->inner != DF_NONE)
        dfc_frames(s->e)[s->item->inner].bad = true;
    for (unsigned i = 0; i < s->item->callee->sig.n_out && s->item->inner == DF_NONE; i++)
        s->bad[s->item->first_out + i] = true;
}

static bool solve_open(struct dfc_solve *s)
{
    const struct dfc_unit *u = s->e->u;
    unsigned n_variables = 1, n_ports = 1;
    for (uint32_t i = 0; i < u->callee_items.n; i++) {
        const struct dfc_sig *sig = &dfc_callees(u)[i].sig;
        n_variables = sig->n_variables >= n_variables ? sig->n_variables + 1 : n_variables;
        n_ports = sig->n_ports > n_ports ? sig->n_ports : n_ports;
    }
    for (uint32_t i = 0; i < u->selects.n; i++) {
        const struct dfc_callee *select = ((struct dfc_callee *const *)u->selects.items)[i];
        n_ports = select->sig.n_ports > n_ports ? select->sig.n_ports : n_ports;
    }
    for (uint32_t i = 0; i < s->e->loops.n; i++) {
        const struct dfc_item *end = &dfc_items(s->e)[dfc_loops(s->e)[i].end];
        n_ports = end->callee->sig.n_ports > n_ports ? end->callee->sig.n_ports : n_ports;
    }
    s->formats = calloc((size_t)s->e->values.n + 1, sizeof *s->formats);
    s->bad = calloc((size_t)s->e->values.n + 1, sizeof *s->bad);
    s->phase = calloc((size_t)s->e->values.n + 1, sizeof *s->phase);
    s->bound = calloc(n_variables, sizeof *s->bound);
    s->bounded = calloc(n_variables, sizeof *s->bounded);
    s->origins = calloc(n_variables, sizeof *s->origins);
    s->port_dims = calloc(n_ports, sizeof *s->port_dims);
    s->port_bounded = calloc(n_ports, sizeof *s->port_bounded);
    return s->formats && s->bad && s->phase && s->bound && s->bounded && s->origins && s->port_dims && s->port_bounded;
}

static void solve_close(struct dfc_solve *s)
{
    dfr_table_free(&s->reported);
    dfr_array_free(&s->reported_items);
    free(s->formats);
    free(s->bad);
    free(s->phase);
    free(s->bound);
    free(s->bounded);
    free(s->origins);
    free(s->port_dims);
    free(s->port_bounded);
}

/* What is known of a port's format. An extent that follows from others is not computed. */
static struct dfc_format known_format(const struct dfc_solve *s, const struct dfc_sig *sig, const struct dfc_port *port)
{
    struct dfc_format format = { .elem = (uint8_t)port->elem, .rank = (uint8_t)port->rank };
    for (unsigned d = 0; d < port->rank; d++) {
        const struct dfc_dim *dim = &port->dims[d];
        if (dim->kind == DFC_DIM_NUMBER)
            format.dims[d] = dim->number;
        if (dim->kind != DFC_DIM_VARIABLE || dfc_bound_is_open(sig->variables[dim->variable].bound))
            continue;
        format.dims[d] = s->bound[dim->variable];
        format.bounded |= (uint8_t)(s->bounded[dim->variable] << d);
    }
    return format;
}

/* A source outside of the exported graph, which has the number `item`, stands for an in port of it. */
static void find_exported_port(struct dfc_solve *s, uint32_t item)
{
    const struct dfc_sig *sig = &dfc_frames(s->e)[1].graph->sig;
    for (unsigned v = 0; v < sig->n_variables; v++) {
        s->bounded[v] = sig->variables[v].bound && sig->variables[v].from_input;
        s->bound[v] = s->bounded[v] ? sig->variables[v].most : 0;
    }
    s->formats[s->item->first_out] = known_format(s, sig, &sig->ports[sig->in_port[item]]);
}

static void find_formats(struct dfc_solve *s)
{
    const struct dfc_sig *sig = &s->item->callee->sig;
    for (unsigned i = 0; i < sig->n_out; i++)
        s->formats[s->item->first_out + i] = s->item->callee->loop_part ? s->formats[s->e->in_values[s->item->first_in + i]] : s->item->callee->built_in ? s->formats[s->e->in_values[s->item->first_in]]
                                                                       : known_format(s, sig, &sig->ports[sig->out_port[i]]);
}

bool dfc_check_formats(struct dfc_elab *e)
{
    struct dfc_solve s = { .e = e, .unsized = true };
    bool ok = solve_open(&s);
    if (!ok)
        dfc_no_memory(e->u);
    for (uint32_t k = 0; k < e->items.n && !e->u->no_memory; k++) {
        s.item = &dfc_items(e)[e->order[k]];
        bool solved = !passed_over(&s) && dfc_match_all(&s);
        if (!solved)
            mark_bad(&s);
        else if (s.item->inner == DF_NONE && s.item->frame == 0)
            find_exported_port(&s, e->order[k]);
        else if (s.item->inner == DF_NONE)
            find_formats(&s);
        ok &= solved;
    }
    ok = !e->u->no_memory && check_exits(&s) && ok;
    solve_close(&s);
    return ok;
}

bool dfc_solve_dims(struct dfc_elab *e)
{
    struct dfc_solve s = { .e = e };
    bool ok = solve_open(&s) && dfc_fill_begin(&s.fill, e);
    if (!ok)
        dfc_no_memory(e->u);
    for (uint32_t k = 0; k < e->items.n && !e->u->no_memory; k++) {
        s.item = &dfc_items(e)[e->order[k]];
        e->u->at = s.item->stmt->call_loc;
        bool solved = !passed_over(&s) && (s.item->inner == DF_NONE ? solve_node(&s, e->order[k]) : solve_entry(&s));
        if (!solved)
            mark_bad(&s);
        ok &= solved;
    }
    ok = !e->u->no_memory && check_exits(&s) && ok && (!e->use || fill_all(&s)) && (!e->u->options->root || dfc_root_ports(&s.fill, s.formats)) &&
         dfc_fill_finish(&s.fill);
    dfc_fill_free(&s.fill);
    solve_close(&s);
    return ok;
}
