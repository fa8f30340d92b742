/* merge.c - builds the fused kernel of a group for elab/fuse.c: concatenates the variables, scalars, ports and formulas
 * of its members.
 *
 * A member's dimension variable that an internal stream determines is replaced by that stream's extent, so the group
 * has few variables and equal extents are one node. Members keep their names unless they collide.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/fusion/merge.h"

#define MOST_NAME 100                   /* bytes of a group's name that list all members */

static const struct dfu_member *member_at(const struct dfu_merge *m, unsigned i)
{
    return &m->wiring->member[i];
}

/* ---- names ---- */

static bool take(struct dfu_merge *m, const char *name)
{
    uint32_t id;
    bool fresh;
    return dfc_index_add(&m->names, name, &id, &fresh) || dfc_no_memory(m->b.u);
}

/* Indices and ranges keep their names, so nothing else may have them. */
static bool take_indices(struct dfu_merge *m)
{
    bool ok = true;
    for (unsigned i = 0; i < m->wiring->n; i++) {
        const struct dff_kernel *k = member_at(m, i)->callee->formula;
        for (unsigned f = 0; f < k->n_formulas; f++)
            for (unsigned d = 0; d < k->formulas[f].rank; d++)
                ok = ok && (!k->formulas[f].is_index[d] || take(m, k->formulas[f].names[d]));
        for (unsigned n = 0; n < k->n_nodes; n++)
            for (uint32_t r = 0; r < k->nodes[n]->n_ranges; r++)
                ok = ok && take(m, k->nodes[n]->ranges[r].name);
    }
    return ok;
}

const char *dfu_new_name(struct dfu_merge *m, const char *wanted)
{
    const char *name = dfc_printf(m->b.u, "%s", wanted);
    uint32_t id;
    for (unsigned n = 2; name && dfc_index_find(&m->names, name, &id); n++)
        name = dfc_printf(m->b.u, "%s_%u", wanted, n);
    return name && take(m, name) ? name : NULL;
}

/* "grey+blur", or "grey+...+sobel" if that is long. */
static const char *group_name(const struct dfu_merge *m)
{
    char text[MOST_NAME + 1] = "";
    size_t n = 0;
    for (unsigned i = 0; i < m->wiring->n && n < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? "+" : "", member_at(m, i)->callee->name);
    if (n < sizeof text)
        return dfc_printf(m->b.u, "%s", text);
    return dfc_printf(m->b.u, "%s+...+%s", member_at(m, 0)->callee->name,
                      member_at(m, m->wiring->n - 1)->callee->name);
}

/* ---- variables ---- */

bool dfu_add_variable(struct dfu_merge *m, const char *wanted, struct dfl_loc loc)
{
    struct dfc_sig *sig = &m->group->callee->sig;
    const char *name = dfu_new_name(m, wanted);
    if (name)
        sig->variables[sig->n_variables++] = (struct dfc_variable){ .name = { name, loc } };
    return name;
}

/* What a stream's dimension is in the group; NULL: not known yet. streams: what members make, inlined or not. */
static const struct dff_node *extent_of(const struct dfu_merge *m, struct dff_port *const *streams,
                                        const struct dfu_source *from, unsigned d)
{
    if (from->member < 0)
        return m->ports[from->slot].extents[d];
    return streams[from->member][from->slot].extents[d];
}

static bool map_variables(struct dfu_merge *m, struct dff_port *const *streams)
{
    const struct dfc_sig *sig = &member_at(m, m->member)->callee->sig;
    struct dfu_value *from = (struct dfu_value *)m->group->variables;
    const struct dff_node **map = dfc_alloc(m->b.u, (sig->n_variables + 1u) * sizeof *map);
    if (!map)
        return false;
    m->variables[m->member] = map;
    for (unsigned i = 0; i < sig->n_in; i++) {
        const struct dfc_port *port = &sig->ports[sig->in_port[i]];
        for (unsigned d = 0; d < port->rank; d++)
            if (port->dims[d].kind == DFC_DIM_VARIABLE && !map[port->dims[d].variable])
                map[port->dims[d].variable] = extent_of(m, streams, &member_at(m, m->member)->in[i], d);
    }
    for (unsigned v = 0; v < sig->n_variables; v++) {
        if (map[v])
            continue;
        const uint32_t number = m->group->callee->sig.n_variables;
        from[number] = (struct dfu_value){ m->member, v };
        if (!dfu_add_variable(m, sig->variables[v].name.text, sig->variables[v].name.loc) ||
            !(map[v] = dff_leaf(&m->b, DFF_DIM, DFF_I32, number, sig->variables[v].name.loc)))
            return false;
    }
    return true;
}

/* ---- scalars ---- */

static bool add_scalars(struct dfu_merge *m)
{
    const struct dfc_sig *from = &member_at(m, m->member)->callee->sig;
    struct dfc_sig *sig = &m->group->callee->sig;
    struct dfu_value *values = (struct dfu_value *)m->group->scalars;
    m->first_scalar[m->member] = sig->n_scalars;
    for (unsigned i = 0; i < from->n_scalars; i++) {
        struct dfl_scalar_decl *decl = dfc_alloc(m->b.u, sizeof *decl);
        const char *name = dfu_new_name(m, from->scalars[i]->name.text);
        if (!decl || !name)
            return false;
        *decl = *from->scalars[i];
        decl->name.text = name;
        values[sig->n_scalars] = (struct dfu_value){ m->member, i };
        sig->scalars[sig->n_scalars++] = decl;
    }
    sig->n_given = sig->n_scalars;
    return true;
}

/* ---- ports ---- */

static bool set_extents(struct dfu_merge *m, const struct dff_port *from, struct dff_port *to)
{
    for (unsigned d = 0; d < from->rank; d++)
        if (!(to->extents[d] = dfu_node(m, from->extents[d])))
            return false;
    return true;
}

/* The port of the signature; what it is called and how it is used in the group. */
static bool name_port(struct dfu_merge *m, uint32_t p, const struct dff_port *from,
                      enum dfl_mode mode, struct dfu_value value)
{
    struct dfc_sig *sig = &m->group->callee->sig;
    struct dfl_port *ast = dfc_alloc(m->b.u, sizeof *ast);
    const char *name = dfu_new_name(m, from->ast->name.text);
    if (!ast || !name)
        return false;
    *ast = *from->ast;
    ast->name.text = name;
    ast->mode = mode;
    ast->border = NULL;
    ast->next = NULL;
    sig->ports[p] = (struct dfc_port){ .ast = ast, .elem = from->elem, .rank = from->rank,
                                       .in_slot = mode == DFL_IN ? (int)sig->n_in : -1,
                                       .out_slot = mode == DFL_OUT ? (int)sig->n_out : -1 };
    if (mode == DFL_IN)
        sig->in_port[sig->n_in++] = (uint16_t)p;
    if (mode == DFL_OUT) {
        ((struct dfu_value *)m->group->outs)[sig->n_out] = value;
        sig->out_port[sig->n_out++] = (uint16_t)p;
    }
    ((struct dfu_value *)m->group->ports)[p] = value;
    m->ports[p] = (struct dff_port){ .ast = ast, .elem = from->elem, .rank = from->rank, .memory = p,
                                     .mode = mode == DFL_IN ? DF_IN : mode == DFL_OUT ? DF_OUT : DF_TMP };
    return true;
}

/* Gives numbers and names to the ports of the group: streams from outside first, then those of members. */
static bool number_ports(struct dfu_merge *m)
{
    m->n_ports = m->wiring->n_outside;
    for (unsigned i = 0; i < m->wiring->n; i++) {
        const struct dfu_member *member = member_at(m, i);
        const struct dfc_sig *sig = &member->callee->sig;
        for (unsigned k = 0; k < sig->n_in; k++)
            if (member->in[k].member < 0 && !m->ports[member->in[k].slot].ast &&
                !name_port(m, member->in[k].slot, &member->callee->formula->ports[sig->in_port[k]], DFL_IN,
                           (struct dfu_value){ DF_NONE, member->in[k].slot }))
                return false;
    }
    for (unsigned i = 0; i < m->wiring->n; i++) {
        const struct dfu_member *member = member_at(m, i);
        for (unsigned slot = 0; slot < member->callee->sig.n_out; slot++) {
            struct dfu_stream *s = &m->streams[i][slot];
            s->port = s->inlined ? DF_NONE : m->n_ports++;
            if (!s->inlined && !name_port(m, s->port,
                                          &member->callee->formula->ports[member->callee->sig.out_port[slot]],
                                          member->leaves[slot] ? DFL_OUT : DFL_TMP, (struct dfu_value){ i, slot }))
                return false;
        }
    }
    m->group->callee->sig.n_ports = m->n_ports;
    return true;
}

/* Notes extents of a stream that does not leave. */
static void note_inside(struct dfu_merge *m, const struct dff_port *stream)
{
    for (unsigned d = 0; d < stream->rank; d++) {
        const struct dff_node *extent = stream->extents[d];
        unsigned i = 0;
        while (i < m->n_inside && m->inside[i] != extent)
            i++;
        if (i == m->n_inside && extent->kind == DFF_OP)
            m->inside[m->n_inside++] = extent;
    }
}

/* ---- members ---- */

/* A member's formulas. Those of streams that are inlined only leave their value. */
static bool add_formulas(struct dfu_merge *m, struct dff_formula *formulas, unsigned *n)
{
    const struct dfc_callee *callee = member_at(m, m->member)->callee;
    const struct dff_kernel *k = callee->formula;
    for (unsigned i = 0; i < k->n_formulas; i++) {
        struct dfu_stream *s = &m->streams[m->member][callee->sig.ports[k->formulas[i].port].out_slot];
        const struct dff_node *value = dfu_node(m, k->formulas[i].value);
        if (!value)
            return false;
        s->value = value;
        if (s->inlined)
            continue;
        formulas[*n] = k->formulas[i];
        formulas[*n].port = s->port;
        formulas[(*n)++].value = value;
    }
    return true;
}

static bool add_member(struct dfu_merge *m, struct dff_port *streams[], struct dff_formula *formulas,
                       unsigned *n)
{
    const struct dfu_member *member = member_at(m, m->member);
    const struct dfc_sig *sig = &member->callee->sig;
    const struct dff_kernel *k = member->callee->formula;
    bool ok = (m->memo = calloc(k->n_nodes + 1u, sizeof *m->memo)) || dfc_no_memory(m->b.u);
    streams[m->member] = dfc_alloc(m->b.u, (sig->n_out + 1u) * sizeof *streams[0]);
    ok = ok && streams[m->member] && map_variables(m, streams) &&
         add_scalars(m);
    for (unsigned i = 0; ok && i < sig->n_in; i++)
        if (member->in[i].member < 0 && !m->ports[member->in[i].slot].extents[0])
            ok = set_extents(m, &k->ports[sig->in_port[i]], &m->ports[member->in[i].slot]);
    for (unsigned slot = 0; ok && slot < sig->n_out; slot++) {
        struct dff_port *stream = &streams[m->member][slot];
        stream->rank = k->ports[sig->out_port[slot]].rank;
        ok = set_extents(m, &k->ports[sig->out_port[slot]], stream);
        if (ok && !member->leaves[slot])
            note_inside(m, stream);
        if (ok && !m->streams[m->member][slot].inlined)
            memcpy(m->ports[m->streams[m->member][slot].port].extents, stream->extents, sizeof stream->extents);
    }
    ok = ok && add_formulas(m, formulas, n);
    free(m->memo);
    m->memo = NULL;
    return ok;
}

/* ---- the group ---- */

static bool make_callee(struct dfu_merge *m)
{
    struct dfc_unit *u = m->b.u;
    const struct dfc_callee *last = member_at(m, m->wiring->n - 1)->callee;
    struct dfc_callee *callee = dfc_alloc(u, sizeof *callee);
    struct dfl_kernel *ast = dfc_alloc(u, sizeof *ast);
    size_t n_ports = 1, n_variables = 1, n_scalars = 1;
    for (unsigned i = 0; i < m->wiring->n; i++) {
        n_ports += member_at(m, i)->callee->sig.n_ports;
        n_variables += member_at(m, i)->callee->sig.n_variables;
        n_scalars += member_at(m, i)->callee->sig.n_scalars;
    }
    n_variables += n_ports;             /* those of rings */
    struct dfc_sig sig = { .ports = dfc_alloc(u, n_ports * sizeof *sig.ports),
                           .variables = dfc_alloc(u, n_variables * sizeof *sig.variables),
                           .scalars = dfc_alloc(u, n_scalars * sizeof *sig.scalars),
                           .in_port = dfc_alloc(u, n_ports * sizeof *sig.in_port),
                           .out_port = dfc_alloc(u, n_ports * sizeof *sig.out_port) };
    m->group->scalars = dfc_alloc(u, n_scalars * sizeof *m->group->scalars);
    m->group->variables = dfc_alloc(u, n_variables * sizeof *m->group->variables);
    m->group->ports = dfc_alloc(u, n_ports * sizeof *m->group->ports);
    m->group->outs = dfc_alloc(u, n_ports * sizeof *m->group->outs);
    m->ports = dfc_alloc(u, 2 * n_ports * sizeof *m->ports);
    m->inside = dfc_alloc(u, n_ports * DF_MAX_RANK * sizeof *m->inside);
    m->has_border = dfc_alloc(u, 2 * n_ports * sizeof *m->has_border);
    if (!callee || !ast || u->no_memory)
        return false;
    *ast = (struct dfl_kernel){ .has_formulas = true };
    *callee = (struct dfc_callee){ .name = group_name(m), .loc = last->loc, .sig = sig, .ready = true, .kernel = ast,
                                   .code_classes = 1u << DF_CLASS_CPU | 1u << DF_CLASS_GPU | u->opencl_classes };
    ast->name = (struct dfl_name){ callee->name, last->loc };
    m->b.callee = m->group->callee = callee;
    return callee->name;
}

static bool merge(struct dfu_merge *m)
{
    struct dfc_unit *u = m->b.u;
    struct dff_kernel *kernel = dfc_alloc(u, sizeof *kernel);
    struct dff_port *streams[DFU_MOST_MEMBERS] = { NULL };
    unsigned n_formulas = 0, n = 0;
    for (unsigned i = 0; i < m->wiring->n; i++)
        n_formulas += member_at(m, i)->callee->formula->n_formulas;
    struct dff_formula *formulas = dfc_alloc(u, (n_formulas + 1) * sizeof *formulas);
    bool ok = kernel && formulas && make_callee(m) && take_indices(m) && dfu_choose_inlined(m) &&
              number_ports(m);
    for (m->member = 0; ok && m->member < m->wiring->n; m->member++)
        ok = add_member(m, streams, formulas, &n);
    const struct dff_table **tables = ok ? dfc_alloc(u, (m->b.tables.n + 1) * sizeof *tables) : NULL;
    if (!tables)
        return false;
    if (m->b.tables.n)
        memcpy(tables, m->b.tables.items, m->b.tables.n * sizeof *tables);
    *kernel = (struct dff_kernel){ .callee = m->group->callee, .n_ports = m->n_ports, .n_formulas = n,
                                   .n_tables = m->b.tables.n, .ports = m->ports, .formulas = formulas,
                                   .tables = tables };
    if (!dff_number_nodes(&m->b, kernel) || !dfu_add_strips(m, kernel))
        return false;
    m->group->callee->formula = kernel;
    m->group->callee->code_hash[0] = m->group->callee->code_hash[1] = dff_hash(kernel);
    return true;
}

struct dfu_group *dfu_merge(struct dfc_unit *u, const struct dfu_wiring *wiring)
{
    struct dfu_merge m = { .b = { .u = u }, .wiring = wiring };
    m.b.too_large = true;               /* nothing is reported: the members are not joined then */
    m.group = dfc_alloc(u, sizeof *m.group);
    bool ok = m.group != NULL;
    if (ok) {
        m.group->wiring = *wiring;
        m.wiring = &m.group->wiring;
        ok = (m.group->text = dfu_wiring_print(u, wiring)) && merge(&m);
    }
    dfc_index_free(&m.names);
    dff_build_free(&m.b);
    return ok ? m.group : NULL;
}
