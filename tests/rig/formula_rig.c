/* formula_rig.c - kernels of formulas, built node by node: formula_rig.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formula_rig.h"

static void need(bool ok)
{
    if (!ok)
        abort();
}

void formula_open(struct formula_rig *rig)
{
    memset(rig, 0, sizeof *rig);
}

void formula_close(struct formula_rig *rig)
{
    if (!rig->unit.sink)
        return;
    dfc_index_free(&rig->unit.params);
    dfr_array_free(&rig->unit.param_items);
    dfl_sink_free(rig->unit.sink);
    dfl_arena_free(rig->unit.arena);
    fclose(rig->out);
    free(rig->messages);
    rig->unit.sink = NULL;
}

static const char *letter(struct formula_rig *rig, char c)
{
    return dfc_printf(&rig->unit, "%c", c);
}

void formula_begin(struct formula_rig *rig, const char *dims)
{
    formula_close(rig);
    formula_open(rig);
    rig->out = open_memstream(&rig->messages, &rig->n_messages);
    rig->unit.sink = dfl_sink_new(rig->out);
    rig->unit.arena = dfl_arena_new();
    need(rig->out && rig->unit.sink && rig->unit.arena);
    rig->n_dims = (unsigned)strlen(dims);
    rig->callee.name = "f";
    rig->callee.sig.n_variables = rig->n_dims;
    rig->callee.sig.variables = dfc_alloc(&rig->unit, (rig->n_dims + 1) * sizeof *rig->callee.sig.variables);
    for (unsigned v = 0; v < rig->n_dims; v++)
        rig->callee.sig.variables[v].name.text = letter(rig, dims[v]);
}

/* ---- nodes: equal ones are one ---- */

static bool equal(const struct dff_node *a, const struct dff_node *b)
{
    if (a->kind != b->kind || a->type != b->type || a->op != b->op || a->elem != b->elem || a->number != b->number || a->i != b->i ||
        a->n_args != b->n_args || a->n_ranges != b->n_ranges)
        return false;
    for (unsigned i = 0; i < a->n_ranges; i++)
        if (a->ranges[i].slot != b->ranges[i].slot || a->ranges[i].from != b->ranges[i].from ||
            a->ranges[i].to != b->ranges[i].to)
            return false;
    return a->n_args == 0 || memcmp(a->args, b->args, a->n_args * sizeof *a->args) == 0;
}

static const struct dff_node *intern(struct formula_rig *rig, const struct dff_node *key)
{
    for (unsigned i = 0; i < rig->n_nodes; i++)
        if (equal(rig->nodes[i], key))
            return rig->nodes[i];
    struct dff_node *node = dfc_alloc(&rig->unit, sizeof *node);
    const struct dff_node **args = dfc_alloc(&rig->unit, (key->n_args + 1) * sizeof *args);
    struct dff_range *ranges = dfc_alloc(&rig->unit, (key->n_ranges + 1) * sizeof *ranges);
    need(node && args && ranges && rig->n_nodes < FORMULA_MOST);
    *node = *key;
    if (key->n_args)
        memcpy(args, key->args, key->n_args * sizeof *args);
    if (key->n_ranges)
        memcpy(ranges, key->ranges, key->n_ranges * sizeof *ranges);
    node->args = args;
    node->ranges = ranges;
    node->id = rig->n_nodes;
    node->loc = (struct dfl_loc){ DFL_NO_FILE, 1, 1, 2 };
    for (unsigned i = 0; i < key->n_args; i++)
        node->slots |= key->args[i] ? key->args[i]->slots : 0;
    for (unsigned i = 0; i < key->n_ranges; i++)
        node->slots = (node->slots & ~(1u << ranges[i].slot)) | ranges[i].from->slots | ranges[i].to->slots;
    if (node->kind == DFF_INDEX)
        node->slots = 1u << node->number;
    rig->nodes[rig->n_nodes++] = node;
    return node;
}

const struct dff_node *node_number(struct formula_rig *rig, int64_t value)
{
    return intern(rig, &(struct dff_node){ .kind = DFF_CONST, .type = DFF_I32, .i = value });
}

const struct dff_node *node_index(struct formula_rig *rig, uint32_t slot)
{
    return intern(rig, &(struct dff_node){ .kind = DFF_INDEX, .type = DFF_I32, .number = slot });
}

const struct dff_node *node_dim(struct formula_rig *rig, uint32_t dim)
{
    return intern(rig, &(struct dff_node){ .kind = DFF_DIM, .type = DFF_I32, .number = dim });
}

const struct dff_node *node_param(struct formula_rig *rig, const char *name, int64_t value)
{
    struct dfc_sig *sig = &rig->callee.sig;
    struct dfc_hidden *hidden = dfc_alloc(&rig->unit, sizeof *hidden);
    struct dfl_expr *expr = dfc_alloc(&rig->unit, sizeof *expr);
    struct dfl_scalar_decl *decl = dfc_alloc(&rig->unit, sizeof *decl);
    const struct dfl_scalar_decl **scalars = dfc_alloc(&rig->unit, sizeof *scalars);
    struct dfc_param *param = dfr_array_add(&rig->unit.param_items, sizeof *param, 1);
    uint32_t id;
    bool fresh;
    need(hidden && expr && decl && scalars && param && dfc_index_add(&rig->unit.params, name, &id, &fresh) && id == 0);
    *expr = (struct dfl_expr){ .kind = DFL_EXPR_NAME, .s = name };
    *hidden = (struct dfc_hidden){ .value = expr };
    param->value = (struct dfc_value){ .known = true, .dynamic = name, .n = { .kind = DF_KIND_I64, .i = value } };
    decl->name.text = name;
    *scalars = decl;
    sig->scalars = scalars;
    sig->hidden = hidden;
    sig->n_scalars = 1;
    return intern(rig, &(struct dff_node){ .kind = DFF_SCALAR, .type = DFF_I32, .number = 0 });
}

const struct dff_node *node_op(struct formula_rig *rig, enum dff_op op, const struct dff_node *a,
                               const struct dff_node *b, const struct dff_node *c)
{
    const struct dff_node *args[] = { a, b, c };
    const bool truth = op >= DFF_LT && op <= DFF_OR;
    return intern(rig, &(struct dff_node){ .kind = DFF_OP, .type = truth ? DFF_BOOL : DFF_I32, .op = op, .args = args,
                                           .n_args = c ? 3 : b ? 2 : 1 });
}

const struct dff_node *node_wrap(struct formula_rig *rig, enum df_elem elem, const struct dff_node *a)
{
    return intern(rig, &(struct dff_node){ .kind = DFF_WRAP, .type = DFF_I32, .elem = elem, .args = &a, .n_args = 1 });
}

const struct dff_node *node_read(struct formula_rig *rig, uint32_t port, const struct dff_node *a,
                                 const struct dff_node *b)
{
    const struct dff_node *args[] = { a, b };
    return intern(rig, &(struct dff_node){ .kind = DFF_READ, .type = DFF_I32, .number = port, .args = args,
                                           .n_args = b ? 2 : 1 });
}

const struct dff_node *node_table(struct formula_rig *rig, uint32_t table, const struct dff_node *a)
{
    return intern(rig, &(struct dff_node){ .kind = DFF_TABLE, .type = DFF_I32, .number = table, .args = &a,
                                           .n_args = 1 });
}

const struct dff_node *node_sum(struct formula_rig *rig, uint32_t slot, const char *name, const struct dff_node *from,
                                const struct dff_node *to, const struct dff_node *condition,
                                const struct dff_node *body)
{
    const struct dff_node *args[] = { body, condition };
    const struct dff_range range = { slot, from, to, name };
    return intern(rig, &(struct dff_node){ .kind = DFF_REDUCE, .type = DFF_I32, .op = DFF_SUM, .args = args,
                                           .n_args = 2, .ranges = &range, .n_ranges = 1 });
}

/* ---- the kernel ---- */

uint32_t formula_port(struct formula_rig *rig, const char *name, enum df_elem elem, const struct dff_node *a,
                      const struct dff_node *b, enum dff_border border)
{
    const uint32_t p = rig->n_ports++;
    need(p < 4);
    rig->port_asts[p].name.text = name;
    rig->ports[p] = (struct dff_port){ .ast = &rig->port_asts[p], .elem = elem, .mode = DF_IN, .rank = b ? 2 : 1,
                                       .extents = { a, b }, .border = { border, border } };
    return p;
}

uint32_t formula_table(struct formula_rig *rig, const char *name, const int64_t *values, uint64_t n)
{
    struct dfl_decl *decl = dfc_alloc(&rig->unit, sizeof *decl);
    struct dff_table *table = dfc_alloc(&rig->unit, sizeof *table);
    need(decl && table);
    decl->name.text = name;
    *table = (struct dff_table){ .decl = decl, .elem = DF_I32, .rank = 1, .extents = { n }, .i = values };
    rig->tables[rig->n_tables] = table;
    return rig->n_tables++;
}

void formula_set(struct formula_rig *rig, const char *names, const struct dff_node *value)
{
    rig->ports[rig->n_ports - 1].mode = DF_OUT;
    rig->formula = (struct dff_formula){ .port = rig->n_ports - 1, .rank = (unsigned)strlen(names), .value = value };
    for (unsigned d = 0; d < rig->formula.rank; d++) {
        rig->formula.is_index[d] = true;
        rig->formula.names[d] = letter(rig, names[d]);
    }
}

const struct dff_proof *formula_prove(struct formula_rig *rig)
{
    rig->kernel = (struct dff_kernel){ .callee = &rig->callee, .n_ports = rig->n_ports, .n_formulas = 1,
                                       .n_tables = rig->n_tables, .n_nodes = rig->n_nodes, .ports = rig->ports,
                                       .formulas = &rig->formula, .tables = rig->tables, .nodes = rig->nodes };
    const struct dff_proof *proof = dff_prove(&rig->unit, &rig->kernel);
    fflush(rig->out);
    return proof;
}
