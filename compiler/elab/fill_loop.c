/* fill_loop.c - passes loops with 'while' to the graph builder: the calls of a body are collected as steps while to_builder.c describes them, and the item that
 * ends the loop makes one node of them. dims.c calls it for that item, once the body's formats are known.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/elab/elab.h"

static struct dfc_step *steps_of(const struct dfc_fill *fill) { return fill->steps.items; }

static void *copy(struct dfc_unit *u, const void *items, size_t size)
{
    void *to = dfc_alloc(u, size + 1);
    if (to && size)
        memcpy(to, items, size);
    return to;
}

bool dfc_step_add(struct dfc_fill *fill, const struct df_node_desc *desc, unsigned n_ports)
{
    struct dfc_unit *u = fill->e->u;
    const struct dfc_callee *callee = dfc_items(fill->e)[fill->step_item].callee;
    struct dfc_step *step = dfr_array_add(&fill->steps, sizeof *step, 1);
    if (!step)
        return dfc_no_memory(u);
    *step = (struct dfc_step){ .item = fill->step_item, .kernel = desc->kernel, .hint_class = desc->hint_class, .rows = fill->step_rows, .by_rows = callee->formula,
                               .n_ports = n_ports,
                               .dims = copy(u, desc->dims, callee->sig.n_variables * sizeof *desc->dims),
                               .port_dims = copy(u, desc->port_dims, n_ports * sizeof *desc->port_dims),
                               .scalars = copy(u, desc->scalars, callee->sig.n_scalars * sizeof *desc->scalars) };
    for (unsigned c = 0; c < DF_MAX_CLASSES; c++)
        step->cost_s[c] = desc->cost_s && c < desc->n_cost ? desc->cost_s[c] : (double)NAN;
    return step->dims && step->port_dims && step->scalars;
}

/* ---- the loop ---- */

struct making {
    struct dfc_fill *fill;
    struct dfc_elab *e;
    const struct dfc_loop *loop;
    const struct dfc_item *begin, *end;
    const struct dfc_format *formats;   /* by value */
    uint32_t number, n_carried;
    struct dfr_array tokens;            /* uint32_t: the value of each, behind those that are carried */
};

static bool is_inside(const struct making *m, uint32_t value)
{
    return dfc_items(m->e)[dfc_outputs(m->e)[value].item].loop == m->number;
}

/* The token that the value is; *next: as a round makes it for the next one. DF_NONE: no memory. */
static uint32_t token_of(struct making *m, uint32_t value, bool *next)
{
    const uint32_t *made = m->e->in_values + m->end->first_in, *values = m->tokens.items;
    *next = false;
    if (is_inside(m, value) && value - m->begin->first_out < m->n_carried)
        return value - m->begin->first_out;
    for (uint32_t i = 0; i < m->n_carried; i++)
        if (made[i] == value) {
            *next = true;
            return i;
        }
    for (uint32_t i = 0; i < m->tokens.n; i++)
        if (values[i] == value)
            return m->n_carried + i;
    uint32_t *item = dfr_array_add(&m->tokens, sizeof *item, 1);
    if (!item)
        return DF_NONE;
    *item = value;
    return m->n_carried + m->tokens.n - 1;
}

static bool fill_step(struct making *m, const struct dfc_step *step, struct df_step_desc *to)
{
    struct dfc_unit *u = m->e->u;
    const struct dfc_item *item = &dfc_items(m->e)[step->item];
    const struct dfc_sig *sig = &item->callee->sig;
    uint32_t *reads = dfc_alloc(u, (step->n_ports + 1u) * sizeof *reads), *writes = dfc_alloc(u, (step->n_ports + 1u) * sizeof *writes);
    bool *next = dfc_alloc(u, step->n_ports + 1u), made;
    if (!reads || !writes || !next)
        return false;
    for (unsigned p = 0; p < step->n_ports; p++)
        reads[p] = writes[p] = DF_NONE;
    for (unsigned i = 0; i < sig->n_in; i++)
        if ((reads[sig->in_port[i]] = token_of(m, m->e->in_values[item->first_in + i], &next[sig->in_port[i]])) == DF_NONE)
            return dfc_no_memory(u);
    for (unsigned i = 0; i < sig->n_out; i++)
        if ((writes[sig->out_port[i]] = token_of(m, item->first_out + i, &made)) == DF_NONE)
            return dfc_no_memory(u);
    *to = (struct df_step_desc){ .kernel = step->kernel, .dims = step->dims, .port_dims = step->port_dims, .scalars = step->scalars, .rows = step->rows,
                                 .by_rows = step->by_rows, .reads = reads, .writes = writes, .next = next };
    return true;
}

static void fill_token(const struct making *m, uint32_t value, const char *name, struct df_loop_port_desc *to)
{
    const struct dfc_format *format = &m->formats[value];
    *to = (struct df_loop_port_desc){ .name = name, .elem = (enum df_elem)format->elem, .rank = format->rank, .dims = format->dims };
}

static const char *name_of(const struct making *m, uint32_t value)
{
    const uint32_t stream = dfc_outputs(m->e)[value].stream;
    return stream == DF_NONE ? "unread" : dfc_index_names(&m->e->names)[dfc_streams(m->e)[stream].name];
}

/* All tokens in a loop have memory of one size. */
static bool check_size(const struct making *m, uint32_t value)
{
    char text[160];
    if (!m->formats[value].bounded)
        return true;
    dfc_format_print(&m->formats[value], text, sizeof text);
    dfl_error(m->e->u->sink, m->loop->stmt->loc, "a loop with 'while' reads '%s', which is %s: an extent that differs from wave to wave", name_of(m, value), text);
    dfl_hint(m->e->u->sink, "a 'for' without 'while' may read such a stream");
    return false;
}

/* ---- the condition ---- */

struct condition {
    struct dfc_value value;
    uint32_t *args;                     /* numbers of the program's args that it has, n_args of them */
    uint32_t *scalars;                  /* their scalars in the builder */
    enum df_scalar_type *types;
    uint32_t n_args;
    uint64_t *code;
    uint32_t n_code;
};

static bool has_operand(uint64_t op) { return op == DF_X_INT || op == DF_X_FLOAT || op == DF_X_STR || op == DF_X_ARG; }

static bool add_arg(struct dfc_unit *u, struct condition *c, uint32_t arg, uint32_t *number)
{
    const uint64_t code[] = { DF_X_ARG, arg };
    struct df_error error;
    for (*number = 0; *number < c->n_args; ++*number)
        if (c->args[*number] == arg)
            return true;
    for (uint32_t i = 0; i < u->param_items.n; i++)
        if (dfc_params(u)[i].arg == arg)
            c->types[c->n_args] = dfc_scalar_type(dfc_params(u)[i].decl->scalar);
    c->args[c->n_args] = arg;
    int rc = df_builder_expression(u->builder, c->types[c->n_args], code, 2, &c->scalars[c->n_args], &error);
    c->n_args++;
    return rc == DF_OK || dfc_no_memory(u);
}

/* In the loop's code args are its own scalars, and behind these are the tokens. */
static bool number_args(struct dfc_unit *u, struct condition *c)
{
    uint32_t number;
    for (uint32_t i = 0; i < c->n_code; i += has_operand(c->code[i]) ? 2 : 1)
        if (c->code[i] == DF_X_ARG && c->code[i + 1] < u->n_args && !add_arg(u, c, (uint32_t)c->code[i + 1], &number))
            return false;
    for (uint32_t i = 0; i < c->n_code; i += has_operand(c->code[i]) ? 2 : 1) {
        if (c->code[i] != DF_X_ARG)
            continue;
        if (c->code[i + 1] >= u->n_args)
            c->code[i + 1] = c->code[i + 1] - u->n_args + c->n_args;
        else if (!add_arg(u, c, (uint32_t)c->code[i + 1], &number))
            return false;
        else
            c->code[i + 1] = number;
    }
    return true;
}

static bool check_token(const struct making *m, const struct dfc_loop_read *read, const struct dfc_format *format)
{
    char text[160];
    if (format->rank == 0 && format->elem != DF_F16)
        return true;
    dfc_format_print(format, text, sizeof text);
    dfl_error(m->e->u->sink, read->expr->loc, "the condition of a loop reads single numbers, and '%s' is %s", read->expr->s, text);
    if (format->rank == 0)
        dfl_hint(m->e->u->sink, "let the kernel that makes it give an f32");
    else
        dfl_hint(m->e->u->sink, "a kernel can reduce it: 'kernel size(in v: f32[n], out s: f32) { s = max(i in 0..n: abs(v[i])); }'");
    return false;
}

static bool make_condition(struct making *m, struct condition *c)
{
    struct dfc_unit *u = m->e->u;
    const struct dfc_loop *l = m->loop;
    const struct dfc_loop_read *reads = (const struct dfc_loop_read *)l->reads.items + l->first_token;
    struct dfc_token *tokens = dfc_alloc(u, (l->n_tokens + 1u) * sizeof *tokens);
    if (!tokens)
        return false;
    for (uint32_t i = 0; i < l->n_tokens; i++) {
        const struct dfc_format *format = &m->formats[m->e->in_values[m->end->first_in + m->n_carried + i]];
        if (!check_token(m, &reads[i], format))
            return false;
        const bool real = format->elem == DF_F32 || format->elem == DF_F64;
        tokens[i] = (struct dfc_token){ reads[i].expr, real ? DF_KIND_F64 : DF_KIND_I64, u->n_args + i };
    }
    struct dfc_names names = dfc_frame_names(m->e, l->frame, l->env, DFC_USE_WHILE);
    names.tokens = tokens;
    names.n_tokens = l->n_tokens;
    if (!dfc_fold(u, &names, l->stmt->cond, &c->value))
        return false;
    if (c->value.n.kind == DF_KIND_STR) {
        dfl_error(u->sink, l->stmt->cond->loc, "the condition of a loop must be a number, but this is a string");
        return false;
    }
    c->n_code = c->value.known ? 2 : c->value.n_code;
    c->code = dfc_alloc(u, (c->n_code + 1u) * sizeof *c->code);
    c->args = dfc_alloc(u, (u->n_args + 1u) * sizeof *c->args);
    c->scalars = dfc_alloc(u, (u->n_args + 1u) * sizeof *c->scalars);
    c->types = dfc_alloc(u, (u->n_args + 1u) * sizeof *c->types);
    if (!c->code || !c->args || !c->scalars || !c->types)
        return false;
    if (!c->value.known) {
        memcpy(c->code, c->value.code, c->n_code * sizeof *c->code);
        return number_args(u, c);
    }
    c->code[0] = DF_X_INT;
    c->code[1] = c->value.n.kind == DF_KIND_I64 ? c->value.n.i != 0 : c->value.n.f < 0 || c->value.n.f > 0;
    return true;
}

/* ---- the node ---- */

/* What is said of all calls: where they run, what they cost. */
static bool join_steps(const struct making *m, const struct dfc_step *const *steps, uint32_t n, struct df_node_desc *desc, double cost_s[DF_MAX_CLASSES])
{
    const uint64_t rounds = (uint64_t)(m->loop->to - m->loop->from);
    bool any = false;
    desc->hint_class = -1;
    for (uint32_t s = 0; s < n; s++) {
        if (desc->hint_class >= 0 && steps[s]->hint_class >= 0 && desc->hint_class != steps[s]->hint_class) {
            dfl_error(m->e->u->sink, dfc_items(m->e)[steps[s]->item].stmt->call_loc, "calls in a loop with 'while' run on one unit, and hints say two classes");
            dfl_hint(m->e->u->sink, "say '@cpu' or '@gpu' on one of them, or on all alike");
            return false;
        }
        desc->hint_class = steps[s]->hint_class >= 0 ? steps[s]->hint_class : desc->hint_class;
    }
    for (unsigned c = 0; c < DF_MAX_CLASSES; c++) {
        cost_s[c] = 0;
        for (uint32_t s = 0; s < n; s++)
            cost_s[c] += steps[s]->cost_s[c];
        cost_s[c] *= (double)rounds;
        any |= !isnan(cost_s[c]);
    }
    desc->cost_s = any ? cost_s : NULL;
    desc->n_cost = m->e->u->classes.names.n;
    return true;
}

/* Another device may come to the bound of the condition in another round. */
static void warn_of_tolerance(const struct making *m, const struct dfc_step *const *steps, uint32_t n)
{
    const struct dfc_callee *inexact = NULL;
    uint32_t classes = UINT32_MAX;
    for (uint32_t s = 0; s < n; s++) {
        const struct dfc_callee *callee = dfc_items(m->e)[steps[s]->item].callee;
        inexact = callee->tolerance.given ? callee : inexact;
        classes &= callee->code_classes | callee->cost_classes;
    }
    if (!inexact || !(classes & (classes - 1)) || m->loop->n_tokens == 0)
        return;
    dfl_warning(m->e->u->sink, m->loop->stmt->loc, "'%s' has a tolerance, so this loop may take another number of rounds on another device", inexact->name);
    dfl_hint(m->e->u->sink, "'@cpu' or '@gpu' on a call in the loop says where it runs");
}

static bool builder_failed(const struct making *m, int rc, const struct df_error *error)
{
    if (rc == DF_E_MEMORY)
        return dfc_no_memory(m->e->u);
    dfl_error(m->e->u->sink, m->loop->stmt->loc, "%s", error->text);
    return false;
}

static bool connect(const struct making *m, uint32_t node)
{
    const uint32_t *values = m->tokens.items;
    struct df_error error;
    uint32_t from, from_slot, slot = 0;
    for (uint32_t i = 0; i < m->n_carried + m->tokens.n; i++) {
        const uint32_t value = i < m->n_carried ? m->e->in_values[m->begin->first_in + i] : values[i - m->n_carried];
        if (i >= m->n_carried && is_inside(m, value))
            continue;
        if (!dfc_fill_from(m->fill, value, &from, &from_slot))
            return false;
        int rc = df_builder_connect(m->e->u->builder, from, from_slot, node, slot++, &error);
        if (rc != DF_OK)
            return builder_failed(m, rc, &error);
    }
    return true;
}

static bool make_node(struct making *m, struct df_loop_desc *desc, const struct dfc_step *const *steps)
{
    struct dfc_fill *fill = m->fill;
    struct dfc_unit *u = m->e->u;
    const uint32_t id = (uint32_t)(m->end - dfc_items(m->e));
    const struct dfl_loc loc = m->loop->stmt->loc;
    const struct dfc_carried *carried = m->loop->carried.items;
    double cost_s[DF_MAX_CLASSES];
    int32_t indices[DFC_MAX_LOOPS];
    struct df_error error;
    struct df_node_desc at = { .threads = 1, .ordinal = m->end->ordinal, .scope = fill->scope[m->end->frame], .indices = indices,
                               .n_indices = dfc_loop_indices(m->end->env, indices), .file = dfl_sink_file_name(u->sink, loc.file), .line = loc.line, .col = loc.col,
                               .stage = m->e->stage ? m->e->stage[id] : 0 };
    const char **names = dfc_alloc(u, (m->n_carried + 1u) * sizeof *names);
    uint32_t slot = 0;
    if (!names || !join_steps(m, steps, desc->n_steps, &at, cost_s))
        return false;
    for (uint32_t i = 0; i < m->n_carried; i++)
        if (carried[i].is_read) {
            names[slot] = dfc_index_names(&m->e->names)[dfc_streams(m->e)[carried[i].last].name];
            fill->moved[m->end->first_out + i] = slot++;
        }
    if (!slot) {
        dfl_error(u->sink, loc, "nothing reads what this loop makes");
        dfl_hint(u->sink, "'y = last(%s);' gives what its last round has made", dfc_index_names(&m->e->names)[dfc_streams(m->e)[carried[0].first].name]);
        return false;
    }
    at.value_names = names;
    warn_of_tolerance(m, steps, desc->n_steps);
    int rc = df_builder_loop(u->builder, desc, &at, &fill->node[id], &error);
    if (rc != DF_OK)
        return builder_failed(m, rc, &error);
    fill->n_nodes++;
    fill->costs[id] = true;
    return connect(m, fill->node[id]);
}

static bool describe(struct making *m)
{
    struct dfc_unit *u = m->e->u;
    const struct dfc_carried *carried = m->loop->carried.items;
    const struct dfc_step **steps = dfc_alloc(u, (m->fill->steps.n + 1u) * sizeof *steps);
    struct df_step_desc *step_descs = dfc_alloc(u, (m->fill->steps.n + 1u) * sizeof *step_descs);
    uint32_t *reads = dfc_alloc(u, (m->loop->n_tokens + 1u) * sizeof *reads);
    struct condition condition = { .n_args = 0 };
    struct df_loop_desc desc = { .name = m->end->callee->name, .most = (uint64_t)(m->loop->to - m->loop->from), .n_reads = m->loop->n_tokens,
                                 .keep_extents = dfc_has_bounds(u) };
    bool next;
    if (!steps || !step_descs || !reads || !make_condition(m, &condition))
        return false;
    for (uint32_t s = 0; s < m->fill->steps.n; s++) {
        const struct dfc_step *step = &steps_of(m->fill)[s];
        if (dfc_items(m->e)[step->item].loop != m->number)
            continue;
        if (!fill_step(m, step, &step_descs[desc.n_steps]))
            return false;
        steps[desc.n_steps++] = step;
    }
    for (uint32_t i = 0; i < desc.n_reads; i++)
        if ((reads[i] = token_of(m, m->e->in_values[m->end->first_in + m->n_carried + i], &next)) == DF_NONE)
            return dfc_no_memory(u);
    desc.n_tokens = m->n_carried + m->tokens.n;
    struct df_loop_port_desc *tokens = dfc_alloc(u, (desc.n_tokens + 1u) * sizeof *tokens);
    if (!tokens)
        return false;
    for (uint32_t i = 0; i < desc.n_tokens; i++) {
        const uint32_t value = i < m->n_carried ? m->begin->first_out + i : ((const uint32_t *)m->tokens.items)[i - m->n_carried];
        if (!check_size(m, value))
            return false;
        fill_token(m, value, i < m->n_carried ? dfc_index_names(&m->e->names)[dfc_streams(m->e)[carried[i].first].name] : name_of(m, value), &tokens[i]);
        tokens[i].carried = i < m->n_carried;
        tokens[i].is_in = i < m->n_carried || !is_inside(m, value);
        tokens[i].is_out = i < m->n_carried && carried[i].is_read;
    }
    desc.steps = step_descs;
    desc.tokens = tokens;
    desc.reads = reads;
    desc.scalars = condition.scalars;
    desc.scalar_types = condition.types;
    desc.n_scalars = condition.n_args;
    desc.code = condition.code;
    desc.n_code = condition.n_code;
    return make_node(m, &desc, steps);
}

bool dfc_fill_loop(struct dfc_fill *fill, uint32_t id, const struct dfc_format *formats)
{
    struct dfc_elab *e = fill->e;
    const struct dfc_item *end = &dfc_items(e)[id];
    const struct dfc_loop *loop = &dfc_loops(e)[end->loop - 1];
    struct making m = { .fill = fill, .e = e, .loop = loop, .begin = &dfc_items(e)[loop->begin], .end = end, .formats = formats, .number = end->loop,
                        .n_carried = loop->carried.n };
    bool ok = describe(&m);
    dfr_array_free(&m.tokens);
    if (!ok)
        dfc_note_context(e, end->frame, end->env);
    return ok;
}
