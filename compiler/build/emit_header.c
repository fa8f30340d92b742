/* emit_header.c - NAME.df.h: one prototype per variant that is a function in a user's file, so that a kernel which
 * disagrees with its declaration does not compile. And the spelling of signatures in C, for every file that prints one.
 *
 * Order:    `call`, the stream of a gpu variant, dimensions, ports as declared, scalars.
 */
#include "compiler/build/build_program.h"

#include <stdlib.h>
#include <string.h>

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

static void emit_prototypes(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code)
{
    const struct dfl_variant *const variants[] = { code->cpu, code->gpu };
    for (int gpu = 0; gpu < 2; gpu++)
        if (variants[gpu] && !variants[gpu]->code && !variants[gpu]->has_target) {
            dfc_emit_signature(out, front->graph, code->kernel, "", gpu, false);
            fputs(";\n", out);
        }
}

void dfc_emit_header(FILE *out, const struct dfc_front *front, const char *stem)
{
    char guard[64] = "DF_HEADER_";
    for (size_t n = strlen(guard), i = 0; stem[i] && n + 1 < sizeof guard; i++, n++)
        guard[n] = stem[i] >= 'a' && stem[i] <= 'z'                                    ? (char)(stem[i] - 'a' + 'A')
                   : (stem[i] >= '0' && stem[i] <= '9') || (stem[i] >= 'A' && stem[i] <= 'Z') ? stem[i] : '_';
    fprintf(out,
            "/* %s.df.h - made by dfc: the functions that the kernels of %s.df call. */\n#ifndef %s\n#define %s\n\n"
            "#include <df.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
            stem, stem, guard, guard);
    for (size_t i = 0; i < front->n_kernels; i++)
        emit_prototypes(out, front, &front->kernels[i]);
    fputs("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n", out);
}
