/* emit_spell.c - how C spells what a graph declares: element and scalar types, signatures, arguments, #line. Every file
 * that prints code calls it.
 *
 * Order:    `call`, the stream of a gpu variant, dimensions, ports as declared, scalars.
 */
#include "compiler/build/emit.h"

void dfc_emit_line(FILE *out, unsigned line, const char *file)
{
    fprintf(out, "#line %u \"", line);
    for (const char *p = file; *p; p++) {
        if (*p == '\n' || *p == '\r') {
            fputs(*p == '\n' ? "\\n" : "\\r", out);
            continue;
        }
        if (*p == '"' || *p == '\\')
            fputc('\\', out);
        fputc(*p, out);
    }
    fputs("\"\n", out);
}

const char *dfc_c_elem(enum df_elem elem)
{
    static const char *const names[DF_N_ELEMS] = {
        [DF_U8] = "uint8_t", [DF_U16] = "uint16_t", [DF_I32] = "int32_t", [DF_I64] = "int64_t",
        [DF_F16] = "df_f16", [DF_F32] = "float", [DF_F64] = "double",
    };
    return names[elem];
}

const char *dfc_c_scalar(enum df_scalar_type type)
{
    static const char *const names[] = {
        [DF_S_I32] = "int32_t ", [DF_S_I64] = "int64_t ",     [DF_S_F32] = "float ",
        [DF_S_F64] = "double ",  [DF_S_STR] = "const char *",
    };
    return names[type];
}

const char *dfc_variant_prefix(const struct dfl_variant *variant)
{
    return variant->code ? "df_inline_" : variant->has_target ? "df_target_" : "";
}

void dfc_emit_signature(FILE *out, const struct df_graph *g, uint32_t kernel, const char *prefix, bool gpu,
                        bool mutable_inputs)
{
    const struct df_kernel *k = &g->kernels[kernel];
    fprintf(out, "int %s%s_%s(struct df_call *call", prefix, df_graph_string(g, k->name), gpu ? "gpu" : "cpu");
    if (gpu)
        fputs(", cudaStream_t stream", out);
    for (unsigned d = 0; d < k->n_dims; d++)
        fprintf(out, ", size_t %s", df_graph_string(g, g->dim_names[k->first_dim + d]));
    for (unsigned p = 0; p < k->n_ports; p++) {
        const struct df_kport *port = &g->kports[k->first_port + p];
        fprintf(out, ", %s%s *%s", port->mode == DF_IN && !mutable_inputs ? "const " : "",
                dfc_c_elem((enum df_elem)port->elem), df_graph_string(g, port->name));
    }
    for (unsigned s = 0; s < k->n_scalars; s++) {
        const struct df_kscalar *scalar = &g->kscalars[k->first_scalar + s];
        fprintf(out, ", %s%s", dfc_c_scalar((enum df_scalar_type)scalar->type), df_graph_string(g, scalar->name));
    }
    fputc(')', out);
}

void dfc_emit_unused(FILE *out, const struct df_graph *g, uint32_t kernel, bool gpu)
{
    const struct df_kernel *k = &g->kernels[kernel];
    fprintf(out, "    (void)call;%s", gpu ? " (void)stream;" : "");
    for (unsigned d = 0; d < k->n_dims; d++)
        fprintf(out, " (void)%s;", df_graph_string(g, g->dim_names[k->first_dim + d]));
    for (unsigned p = 0; p < k->n_ports; p++)
        fprintf(out, " (void)%s;", df_graph_string(g, g->kports[k->first_port + p].name));
    for (unsigned s = 0; s < k->n_scalars; s++)
        fprintf(out, " (void)%s;", df_graph_string(g, g->kscalars[k->first_scalar + s].name));
    fputc('\n', out);
}

static const char *emit_argument(FILE *out, const char *comma, const struct df_graph *g, uint32_t name)
{
    fprintf(out, "%s%s", comma, df_graph_string(g, name));
    return ", ";
}

void dfc_emit_arguments(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                        const struct dfl_variant *variant, const char *first)
{
    const struct df_graph *g = front->graph;
    const struct df_kernel *k = &g->kernels[code->kernel];
    if (variant->has_args) {
        for (const struct dfl_expr *a = variant->args; a; a = a->next)
            fprintf(out, "%s%s", a->s, a->next ? ", " : "");
        return;
    }
    const char *comma = *first ? ", " : ""; /* as a prototype made by dfc has them */
    fputs(first, out);
    for (unsigned d = 0; d < k->n_dims; d++)
        comma = emit_argument(out, comma, g, g->dim_names[k->first_dim + d]);
    for (unsigned p = 0; p < k->n_ports; p++)
        comma = emit_argument(out, comma, g, g->kports[k->first_port + p].name);
    for (unsigned s = 0; s < k->n_scalars; s++)
        comma = emit_argument(out, comma, g, g->kscalars[k->first_scalar + s].name);
}
