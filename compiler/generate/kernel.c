/* kernel.c - prints the functions of one kernel for generate.c: the function that computes its formulas, and the entry
 * point through which libdf calls it. The files for rows, strips and GPUs take parameters and arguments from it.
 */
#include "compiler/generate/gen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

const char *dfg_scalar_type(enum dfl_scalar type)
{
    static const char *const names[] = { [DFL_I32] = "int32_t ", [DFL_I64] = "int64_t ", [DFL_F32] = "float ",
                                         [DFL_F64] = "double ", [DFL_STRING] = "const char *" };
    return names[type];
}

/* Formulas compute with no texts, and GPUs have none. */
bool dfg_is_passed(const struct dfg_gen *g, unsigned scalar)
{
    return !g->gpu || g->kernel->callee->sig.scalars[scalar]->type != DFL_STRING;
}

/* As an argument of the launch, on GPUs. */
static const char *value_of(struct dfg_gen *g, const char *name) { return g->gpu ? dfg_printf(g, "DF_VALUE(%s)", name) : name; }

const char *dfg_parameters(struct dfg_gen *g)
{
    const struct dfc_sig *sig = &g->kernel->callee->sig;
    const char *text = "";
    for (unsigned i = 0; i < sig->n_variables; i++)
        text = dfg_printf(g, "%sconst int64_t %s, ", text, dfg_dim_name(g, i));
    for (unsigned i = 0; i < sig->n_scalars; i++)
        if (dfg_is_passed(g, i))
            text = dfg_printf(g, "%sconst %s%s, ", text, dfg_scalar_type(sig->scalars[i]->type), dfg_scalar_name(g, i));
    return text;
}

const char *dfg_arguments(struct dfg_gen *g)
{
    const struct dfc_sig *sig = &g->kernel->callee->sig;
    const char *text = "";
    for (unsigned i = 0; i < sig->n_variables; i++)
        text = dfg_printf(g, "%s%s, ", text, value_of(g, dfg_dim_name(g, i)));
    for (unsigned i = 0; i < sig->n_scalars; i++)
        if (dfg_is_passed(g, i))
            text = dfg_printf(g, "%s%s, ", text, value_of(g, dfg_scalar_name(g, i)));
    return text;
}

const char *dfg_port_parameters(struct dfg_gen *g)
{
    const char *text = "";
    for (unsigned i = 0; i < g->kernel->n_ports; i++)
        text = dfg_printf(g, "%s%s%s%s *%s", text, i ? ", " : "", g->kernel->ports[i].mode == DF_IN ? "const " : "",
                          df_elem_c_type(g->kernel->ports[i].elem), dfg_port_name(g, i));
    return text;
}

static const char *call_arguments(struct dfg_gen *g)
{
    const struct dfc_sig *sig = &g->kernel->callee->sig;
    const char *text = "";
    for (unsigned i = 0; i < sig->n_variables; i++)
        text = dfg_printf(g, "%s(int64_t)df_dims[%u], ", text, i);
    for (unsigned i = 0; i < sig->n_scalars; i++)
        text = dfg_printf(g, "%sdf_scalars[%u].%s, ", text, i, dfl_scalar_name(sig->scalars[i]->type));
    for (unsigned i = 0; i < g->kernel->n_ports; i++)
        text = dfg_printf(g, "%s%sdf_ports[%u]", text, i ? ", " : "", g->kernel->ports[i].memory);
    return text;
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

void dfg_print_limit(FILE *out, const struct dfg_gen *g)
{
    const struct dfc_sig *sig = &g->kernel->callee->sig;
    if (sig->n_variables)
        fprintf(out, "    if (df_beyond(df_dims, %u, %" PRId64 "))\n"
                     "        return df_fail(call, \"an extent is more than %" PRId64 ", the most that these formulas take\");\n",
                sig->n_variables, g->limit, g->limit);
}

static void print_call(FILE *out, struct dfg_gen *g)
{
    fprintf(out, "int DF_LEVEL(df_formula_%c)(struct df_call *call, void *stream, const size_t *df_dims, void *const *df_ports,\n"
                 "    const union df_scalar *df_scalars)\n{\n    (void)call; (void)stream; (void)df_dims; (void)df_scalars;\n",
            DFG_NAME);
    dfg_print_limit(out, g);
    dfg_part_print(out, g);
    fprintf(out, "    const unsigned df_state = df_float_begin();\n    const int df_good = df_kernel_%c(%s%s);\n"
                 "    df_float_end(df_state);\n"
                 "    return df_good ? DF_OK : df_fail(call, \"out of memory\");\n}\n\n",
            DFG_NAME, call_arguments(g), dfg_part_arguments(g));
}

static bool reads_whole_ring(const struct dfg_gen *g, const struct dfg_stage *stage)
{
    bool whole = false;
    for (unsigned p = 0; p < g->kernel->n_ports; p++)
        whole |= stage->whole[p] && dfg_is_ring(g, g->kernel->ports[p].memory);
    for (unsigned i = 0; i < stage->n_rows; i++)
        whole |= stage->rows[i].lead <= g->rows && dfg_is_ring(g, g->kernel->ports[stage->rows[i].port].memory);
    return whole;
}

/* Does the formula read or write a ring in other ways than by rows? */
static bool uses_whole_ring(const struct dfg_gen *g)
{
    return (dfg_is_ring(g, g->kernel->ports[g->formula->port].memory) && dfg_lead(g) <= g->rows) || reads_whole_ring(g, &g->stage) ||
           (g->pair.is_pair && reads_whole_ring(g, &g->pair)) || (g->kept.node && reads_whole_ring(g, &g->kept.half));
}

char *dfg_formulas(struct dfg_gen *g, FILE *out, unsigned first, unsigned n)
{
    char *text = NULL;
    size_t size;
    FILE *body = open_memstream(&text, &size);
    bool *done = calloc(n + 1u, sizeof *done);
    g->failed |= !body || !done;
    for (unsigned i = first; i < first + n && !g->failed; i++) {
        bool also_rows = false;
        if (done[i - first])
            continue;
        dfg_formula_alone(g, &g->kernel->formulas[i]);
        dfg_analyse(g);
        const bool one_pass = dfg_one_pass(g, body, &also_rows);
        if (one_pass && !also_rows)
            continue;
        if (!one_pass)
            dfg_siblings_find(g, g->formula + 1, first + n - i - 1, done + (i - first) + 1);
        if (also_rows || g->n_siblings > 1)
            dfg_analyse(g);
        dfg_row_functions(g, i, out);
        g->rings_are_whole |= uses_whole_ring(g);
        dfg_row_loops(g, body);
        dfg_facts_choose(g, false);
    }
    free(done);
    g->failed |= body && fclose(body) != 0;
    return text;
}

static void print_kernel(FILE *out, struct dfg_gen *g)
{
    const bool parts = dfg_has_parts(g);
    g->from = parts ? "df_from" : NULL;
    g->to = parts ? "df_to" : NULL;
    g->rows = 0;
    char *body = dfg_formulas(g, out, 0, g->kernel->n_formulas);
    g->from = g->to = NULL;
    if (!g->failed) {
        fprintf(out, "static DF_ALONE int df_kernel_%c(%s%s%s)\n{\n    int df_good = 1;\n", DFG_NAME, dfg_parameters(g),
                dfg_port_parameters(g), dfg_part_parameters(g));
        dfg_part_begin(out, g);
        fprintf(out, "%s    return df_good;\n}\n\n", body);
    }
    free(body);
}

bool dfg_kernel_begin(struct dfg_gen *g)
{
    g->all_facts = calloc(2 * (g->kernel->n_nodes + 1u), sizeof *g->all_facts);
    g->near_facts = g->all_facts ? g->all_facts + g->kernel->n_nodes + 1u : NULL;
    g->facts = g->all_facts;
    g->failed = !g->facts;
    g->prefix = "t";
    while (prefix_is_used(g))
        g->prefix = dfg_printf(g, "%s_", g->prefix);
    if (!g->failed)
        dfg_find_limit(g);
    return !g->failed;
}

bool dfg_kernel_print(FILE *out, struct dfg_gen *g)
{
    if (dfg_kernel_begin(g))
        (g->kernel->strips ? dfg_strips : print_kernel)(out, g);
    if (!g->failed)
        print_call(out, g);
    free(g->all_facts);
    return !g->failed;
}
