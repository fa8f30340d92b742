/* kernel.c - the functions of one kernel: one that computes its formulas, and one that libdf calls. */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

static const char *scalar_type(enum dfl_scalar type)
{
    static const char *const names[] = { [DFL_I32] = "int32_t ", [DFL_I64] = "int64_t ", [DFL_F32] = "float ",
                                         [DFL_F64] = "double ", [DFL_STRING] = "const char *" };
    return names[type];
}

static const char *scalar_member(enum dfl_scalar type)
{
    static const char *const names[] = { [DFL_I32] = "i32", [DFL_I64] = "i64", [DFL_F32] = "f32", [DFL_F64] = "f64",
                                         [DFL_STRING] = "str" };
    return names[type];
}

static const char *parameters(struct dfg_gen *g)
{
    const struct dfc_sig *sig = &g->kernel->callee->sig;
    const char *text = "", *comma = "";
    for (unsigned i = 0; i < sig->n_variables; i++, comma = ", ")
        text = dfg_printf(g, "%s%sconst int64_t %s", text, comma, dfg_dim_name(g, i));
    for (unsigned i = 0; i < sig->n_ports; i++, comma = ", ")
        text = dfg_printf(g, "%s%s%s%s *restrict %s", text, comma, g->kernel->ports[i].mode == DF_IN ? "const " : "",
                          dfg_elem(g->kernel->ports[i].elem), dfg_port_name(g, i));
    for (unsigned i = 0; i < sig->n_scalars; i++, comma = ", ")
        text = dfg_printf(g, "%s%sconst %s%s", text, comma, scalar_type(sig->scalars[i]->type), dfg_scalar_name(g, i));
    return text;
}

static const char *arguments(struct dfg_gen *g)
{
    const struct dfc_sig *sig = &g->kernel->callee->sig;
    const char *text = "", *comma = "";
    for (unsigned i = 0; i < sig->n_variables; i++, comma = ", ")
        text = dfg_printf(g, "%s%s(int64_t)df_dims[%u]", text, comma, i);
    for (unsigned i = 0; i < sig->n_ports; i++, comma = ", ")
        text = dfg_printf(g, "%s%sdf_ports[%u]", text, comma, i);
    for (unsigned i = 0; i < sig->n_scalars; i++, comma = ", ")
        text = dfg_printf(g, "%s%sdf_scalars[%u].%s", text, comma, i, scalar_member(sig->scalars[i]->type));
    return text;
}

/* ---- formulas ---- */

static void store(struct dfg_gen *g)
{
    const struct dff_formula *f = g->formula;
    const struct dff_port *port = &g->kernel->ports[f->port];
    struct dfg_text at[DF_MAX_RANK] = { { 0 } }, value = dfg_value(g, f->value);
    for (unsigned d = 0; d < f->rank; d++)
        at[d] = f->is_index[d] ? (struct dfg_text){ f->names[d], DFG_ATOM } : dfg_number(g, DFF_I32, f->at[d], 0);
    const char *place = dfg_offset(g, port, at);
    const char *narrow = port->elem == DF_U8 || port->elem == DF_U16 ? dfg_printf(g, "(%s)", dfg_elem(port->elem)) : "";
    if (port->elem == DF_F16)
        dfg_line(g, g->block, "%s[%s] = df_f16_of_f32(%s);", dfg_port_name(g, f->port), place, value.c);
    else
        dfg_line(g, g->block, "%s[%s] = %s%s;", dfg_port_name(g, f->port), place, narrow,
                 *narrow ? dfg_within(g, value, DFG_ATOM) : value.c);
}

static void domain(struct dfg_gen *g, unsigned d)
{
    const struct dff_formula *f = g->formula;
    struct dfg_block block;
    while (d < f->rank && !f->is_index[d])
        d++;
    if (d == f->rank) {
        store(g);
        return;
    }
    const char *extent = dfg_index(g, g->kernel->ports[f->port].extents[d]).c;
    dfg_open(g, &block, (int)d, f->names[d]);
    if (!g->failed)
        domain(g, d + 1);
    dfg_close(g, &block, dfg_printf(g, "for (int64_t %s = 0; %s < %s; %s++)", f->names[d], f->names[d], extent,
                                    f->names[d]));
}

/* Prints one formula as a block of the function. */
static void print_formula(FILE *out, struct dfg_gen *g)
{
    struct dfg_block block;
    dfg_analyse(g);
    if (dfg_open(g, &block, -1, NULL))
        domain(g, 0);
    dfg_close(g, &block, "");
    if (!g->failed)
        fprintf(out, "    {\n%s    }\n", block.bytes);
    free(block.bytes);
}

/* ---- the kernel ---- */

/* Temporaries are t0, t1, … unless the .df uses such a name. */
static bool is_prefix(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) == 0 && name[n] && strspn(name + n, "0123456789_") == strlen(name + n);
}

static bool prefix_is_used(const struct dfg_gen *g)
{
    const struct dfc_sig *sig = &g->kernel->callee->sig;
    bool used = false;
    for (unsigned i = 0; i < sig->n_variables; i++)
        used |= is_prefix(dfg_dim_name(g, i), g->prefix);
    for (unsigned i = 0; i < sig->n_ports; i++)
        used |= is_prefix(dfg_port_name(g, i), g->prefix);
    for (unsigned i = 0; i < sig->n_scalars; i++)
        used |= is_prefix(dfg_scalar_name(g, i), g->prefix);
    for (unsigned i = 0; i < g->kernel->n_formulas; i++)
        for (unsigned d = 0; d < g->kernel->formulas[i].rank; d++)
            used |= g->kernel->formulas[i].is_index[d] && is_prefix(g->kernel->formulas[i].names[d], g->prefix);
    for (unsigned i = 0; i < g->kernel->n_nodes; i++)
        for (uint32_t r = 0; r < g->kernel->nodes[i]->n_ranges; r++)
            used |= is_prefix(g->kernel->nodes[i]->ranges[r].name, g->prefix);
    return used;
}

static void print_call(FILE *out, struct dfg_gen *g)
{
    const struct dfc_sig *sig = &g->kernel->callee->sig;
    fprintf(out, "int DF_LEVEL(df_formula_%c)(struct df_call *call, void *stream, const size_t *df_dims, void *const *df_ports,\n"
                 "    const union df_scalar *df_scalars)\n{\n    (void)call; (void)stream; (void)df_dims; (void)df_scalars;\n",
            DFG_NAME);
    if (sig->n_variables)
        fprintf(out, "    if (df_beyond(df_dims, %u, %" PRId64 "))\n"
                     "        return df_fail(call, \"an extent is more than %" PRId64 ", the most that these formulas take\");\n",
                sig->n_variables, g->limit, g->limit);
    fprintf(out, "    const unsigned df_state = df_float_begin();\n    df_kernel_%c(%s);\n    df_float_end(df_state);\n"
                 "    return DF_OK;\n}\n\n",
            DFG_NAME, arguments(g));
}

bool dfg_kernel_print(FILE *out, struct dfg_gen *g)
{
    g->facts = calloc(g->kernel->n_nodes + 1u, sizeof *g->facts);
    g->failed = !g->facts;
    g->prefix = "t";
    while (prefix_is_used(g))
        g->prefix = dfg_printf(g, "%s_", g->prefix);
    if (!g->failed)
        dfg_find_limit(g);
    fprintf(out, "static DF_ALONE void df_kernel_%c(%s)\n{\n", DFG_NAME, parameters(g));
    for (unsigned i = 0; i < g->kernel->n_formulas && !g->failed; i++) {
        g->formula = &g->kernel->formulas[i];
        print_formula(out, g);
    }
    fputs("}\n\n", out);
    print_call(out, g);
    free(g->facts);
    return !g->failed;
}
