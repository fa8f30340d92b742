/* emit_spell.c - how graph declarations are spelled in C: element and scalar types, signatures, arguments, #line. All
 * files of the room that print code use it, and build/build_link.c to name signatures in messages.
 *
 * Order:    of parameters: `call`, the stream of a gpu variant, dimensions, ports as declared, scalars.
 * Macros:   a name that the .df gives to a port, dimension or scalar may be a macro of some header, such as SIZE_MAX.
 *           Prototypes therefore have names only in comments, and around each generated function the macros of its
 *           names are undefined (dfc_emit_names_free) and restored.
 */
#include "compiler/emit/emit.h"
#include "compiler/types/argument.h"
#include "compiler/types/paths.h"

const char *dfc_variant_prefix(const struct dfl_variant *variant)
{
    return variant->code ? "df_inline_" : variant->has_target ? "df_target_" : "";
}

static void emit_head(FILE *out, const struct df_graph *g, uint32_t kernel, const char *prefix, bool gpu)
{
    fprintf(out, "int %s%s_%s(struct df_call *call%s", prefix, df_graph_string(g, g->kernels[kernel].name),
            gpu ? "gpu" : "cpu", gpu ? ", cudaStream_t stream" : "");
}

/* Prints the dimensions as parameters. `open` and `close` stand around each name. decides: those that the kernel decides
 * are pointers. */
static void emit_sizes(FILE *out, const struct df_graph *g, const struct df_kernel *k, bool decides, const char *open,
                       const char *close)
{
    for (unsigned d = 0; d < k->n_dims; d++)
        fprintf(out, ", size_t %s%s%s%s", decides && df_kernel_decides(g, k, d) ? "*" : "", open,
                df_graph_string(g, g->dim_names[k->first_dim + d]), close);
}

static void emit_scalars(FILE *out, const struct df_graph *g, const struct df_kernel *k, const char *open,
                         const char *close)
{
    for (unsigned s = 0; s < k->n_scalars; s++) {
        const struct df_kscalar *scalar = &g->kscalars[k->first_scalar + s];
        fprintf(out, ", %s%s%s%s", df_scalar_c_type((enum df_scalar_type)scalar->type), open,
                df_graph_string(g, scalar->name), close);
    }
}

unsigned dfc_n_declared_ports(const struct df_graph *g, const struct df_kernel *k)
{
    unsigned n = k->n_ports;
    while (n > 0 && g->kports[k->first_port + n - 1].only)
        n--;
    return n;
}

static void emit_parameters(FILE *out, const struct df_graph *g, uint32_t kernel, bool mutable_inputs,
                            const char *open, const char *close)
{
    const struct df_kernel *k = &g->kernels[kernel];
    emit_sizes(out, g, k, true, open, close);
    for (unsigned p = 0; p < dfc_n_declared_ports(g, k); p++) {
        const struct df_kport *port = &g->kports[k->first_port + p];
        fprintf(out, ", %s%s *%s%s%s", port->mode == DF_IN && !mutable_inputs ? "const " : "",
                df_elem_c_type((enum df_elem)port->elem), open, df_graph_string(g, port->name), close);
    }
    emit_scalars(out, g, k, open, close);
    fputc(')', out);
}

void dfc_emit_signature(FILE *out, const struct df_graph *g, uint32_t kernel, const char *prefix, bool gpu,
                        bool mutable_inputs)
{
    emit_head(out, g, kernel, prefix, gpu);
    emit_parameters(out, g, kernel, mutable_inputs, "", "");
}

void dfc_emit_prototype(FILE *out, const struct df_graph *g, uint32_t kernel, const char *prefix, bool gpu,
                        bool mutable_inputs)
{
    emit_head(out, g, kernel, prefix, gpu);
    emit_parameters(out, g, kernel, mutable_inputs, "/* ", " */");
    fputc(';', out);
}

void dfc_emit_open_prototype(FILE *out, const struct df_graph *g, uint32_t kernel, const char *prefix,
                             const char *open)
{
    const struct df_kernel *k = &g->kernels[kernel];
    fprintf(out, "int %s%s(struct df_call *call", prefix, open);
    emit_sizes(out, g, k, false, "/* ", " */");
    emit_scalars(out, g, k, "/* ", " */");
    fputs(", void **state);", out);
}

const char *dfc_emit_name_of(const struct df_graph *g, uint32_t kernel, unsigned i)
{
    const struct df_kernel *k = &g->kernels[kernel];
    if (i < k->n_dims)
        return df_graph_string(g, g->dim_names[k->first_dim + i]);
    i -= k->n_dims;
    const unsigned n_ports = dfc_n_declared_ports(g, k);
    if (i < n_ports)
        return df_graph_string(g, g->kports[k->first_port + i].name);
    i -= n_ports;
    return i < k->n_scalars ? df_graph_string(g, g->kscalars[k->first_scalar + i].name) : NULL;
}

void dfc_emit_names_free(FILE *out, const struct df_graph *g, uint32_t kernel)
{
    const char *name;
    for (unsigned i = 0; (name = dfc_emit_name_of(g, kernel, i)); i++)
        fprintf(out, "#pragma push_macro(\"%s\")\n#undef %s\n", name, name);
}

void dfc_emit_names_back(FILE *out, const struct df_graph *g, uint32_t kernel)
{
    const char *name;
    for (unsigned i = 0; (name = dfc_emit_name_of(g, kernel, i)); i++)
        fprintf(out, "#pragma pop_macro(\"%s\")\n", name);
}

void dfc_emit_unused(FILE *out, const struct df_graph *g, uint32_t kernel, bool gpu)
{
    const char *name;
    fprintf(out, "    (void)call;%s", gpu ? " (void)stream;" : "");
    for (unsigned i = 0; (name = dfc_emit_name_of(g, kernel, i)); i++)
        fprintf(out, " (void)%s;", name);
    fputc('\n', out);
}

static bool is_name(const struct dfc_front *front, const struct dfc_kernel_code *code, const struct dfl_expr *arg)
{
    return dfc_argument_is_name(&dfc_callee_of(front, code)->sig, arg);
}

void dfc_emit_argument_values(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                              const struct dfl_variant *variant)
{
    bool first = true;
    unsigned n = 1;
    for (const struct dfl_expr *a = variant->args; a; a = a->next, n++) {
        if (is_name(front, code, a))
            continue;
        const struct dfc_value value = dfc_argument_value(front, code, a);
        if (value.known)
            continue;
        if (first)
            fputs("    int df_bad = 0;\n", out);
        first = false;
        fprintf(out, "    const %s df_argument_%u = ", value.n.kind == DF_KIND_I64 ? "int64_t" : "double", n);
        dfc_argument_print(out, front, code, a);
        fprintf(out, ";\n    if (df_bad)\n        return df_fail(call, \"calling '%s': argument %u does not fit in 64 "
                     "bits, or divides by zero\");\n", variant->target.text, n);
    }
}

void dfc_emit_argument_prelude(FILE *out)
{
    fprintf(out, "#ifndef DF_WRITTEN\n#define DF_WRITTEN\n%s#endif\n", dfc_argument_prelude);
}

static void emit_argument(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                          const struct dfl_expr *arg, unsigned n)
{
    if (is_name(front, code, arg))
        fputs(arg->s, out);
    else if (dfc_argument_value(front, code, arg).known)
        dfc_argument_print(out, front, code, arg);
    else
        fprintf(out, "df_argument_%u", n);
}

void dfc_emit_arguments(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                        const struct dfl_variant *variant, const char *first)
{
    const struct df_graph *g = front->graph;
    const char *comma = *first ? ", " : "", *name;
    if (variant->has_args) {
        unsigned n = 1;
        for (const struct dfl_expr *a = variant->args; a; a = a->next, n++) {
            emit_argument(out, front, code, a, n);
            fputs(a->next ? ", " : "", out);
        }
        return;
    }
    fputs(first, out); /* as a prototype made by dfc has them */
    for (unsigned i = 0; (name = dfc_emit_name_of(g, code->kernel, i)); i++, comma = ", ")
        fprintf(out, "%s%s", comma, name);
}
