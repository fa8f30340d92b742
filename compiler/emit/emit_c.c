/* emit_c.c - prints NAME.c, which completes the user's files to a program: one adapter function per variant, through
 * which libdf calls it; inline code; and main(). build/build_units.c calls it, and commands/cmd_compile.c for --emit. The rest of the
 * room takes names, calls and inline code from it, and compiler/build learns from it which code is generated. Nodes,
 * times and placement are not in the code but in the image (build/build_data.c).
 */
#include "compiler/emit/emit.h"
#include "compiler/generate/generate.h"
#include "compiler/types/paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct dfl_variant *variant_of(const struct dfc_kernel_code *code, bool gpu)
{
    return gpu ? code->gpu : code->cpu;
}

bool dfc_code_is_generated(const struct dfl_variant *variant)
{
    return variant->code && (!variant->path || dfc_code_kind_of(variant->path) == DFC_CODE_OBJECT);
}

bool dfc_has_inline(const struct dfc_front *front, bool gpu)
{
    for (size_t i = 0; i < front->n_kernels; i++)
        if (variant_of(&front->kernels[i], gpu) && dfc_code_is_generated(variant_of(&front->kernels[i], gpu)))
            return true;
    return false;
}

/* ---- inline code ---- */

void dfc_emit_inline_headers(FILE *out)
{
    fputs("#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
          "#include <string.h>\n\n", out);
}

/* What stands behind # and this word on a line; NULL: another line. */
static const char *after_directive(const char *line, const char *word)
{
    line += strspn(line, " \t");
    if (*line != '#')
        return NULL;
    line += 1 + strspn(line + 1, " \t");
    return strncmp(line, word, strlen(word)) == 0 ? line + strlen(word) + strspn(line + strlen(word), " \t") : NULL;
}

/* How long the name is of the header that is included here, with its marks: <NAME> or "NAME.h". 0: it is another file. */
static size_t header_length(const char *name)
{
    const char *end = *name == '<' || *name == '"' ? name + 1 + strcspn(name + 1, ">\"\n") : NULL;
    if (!end || *end != (*name == '<' ? '>' : '"') || (*end == '"' && strncmp(end - 2, ".h", 2) != 0))
        return 0;
    return (size_t)(end + 1 - name);
}

/* The headers that inline code includes under no condition, in front of its function. Most headers declare nothing where
 * they are included once more, so the code of the next kernel would be without them. */
static void emit_headers_of(FILE *out, const struct dfl_variant *variant, const char *file)
{
    unsigned deep = 0, at = variant->code_loc.line;
    for (const char *line = variant->code; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL, at++) {
        const char *name = after_directive(line, "include");
        size_t length = name && deep == 0 ? header_length(name) : 0;
        if (after_directive(line, "if"))
            deep++;
        else if (after_directive(line, "endif") && deep > 0)
            deep--;
        if (length == 0)
            continue;
        dfc_emit_line(out, at, file);
        fprintf(out, "#include %.*s\n", (int)length, name);
    }
}

void dfc_emit_inline(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                     const struct dfl_variant *variant, bool gpu, const char *linkage)
{
    const char *file = dfl_sink_file_name(front->sink, variant->code_loc.file);
    emit_headers_of(out, variant, file);
    dfc_emit_names_free(out, front->graph, code->kernel);
    fputs(linkage, out);
    dfc_emit_signature(out, front->graph, code->kernel, "df_inline_", gpu, false);
    fputs("\n{\n", out);
    dfc_emit_unused(out, front->graph, code->kernel, gpu);
    dfc_emit_line(out, variant->code_loc.line, file);
    fprintf(out, "%*s%s\n", (int)variant->code_loc.col - 1, "", variant->code);
    fprintf(out, "#line 1 \"after the inline code of '%s'\"\n    ;\n    return DF_OK;\n}\n", code->ast->name.text);
    dfc_emit_names_back(out, front->graph, code->kernel);
    fputc('\n', out);
}

/* ---- calls ---- */

/* decides: what the kernel decides is passed by address. */
static void emit_dims(FILE *out, const struct df_graph *g, const struct df_kernel *k, bool decides)
{
    for (unsigned d = 0; d < k->n_dims; d++)
        fprintf(out, ", %sdims[%u]", decides && df_kernel_decides(g, k, d) ? "(size_t *)&" : "", d);
}

static void emit_scalars(FILE *out, const struct df_graph *g, const struct df_kernel *k)
{
    for (unsigned s = 0; s < k->n_scalars; s++)
        fprintf(out, ", scalars[%u].%s", s, df_scalar_name(g->kscalars[k->first_scalar + s].type));
}

void dfc_emit_call(FILE *out, const struct df_graph *g, uint32_t kernel, const char *prefix, bool gpu)
{
    const struct df_kernel *k = &g->kernels[kernel];
    fprintf(out, "%s%s_%s(call", prefix, df_graph_string(g, k->name), gpu ? "gpu" : "cpu");
    if (gpu)
        fputs(", (cudaStream_t)stream", out);
    emit_dims(out, g, k, true);
    for (unsigned p = 0; p < dfc_n_declared_ports(g, k); p++)
        fprintf(out, ", ports[%u]", p);
    emit_scalars(out, g, k);
    fputc(')', out);
}

/* What libdf calls a kernel through. */
static const char run_parameters[] = "(struct df_call *call, void *stream, const size_t *dims, void *const *ports,\n"
                                     "    const union df_scalar *scalars)";

/* Prints the head of a function that is called through df_catch(), which passes on what it is given. */
static void emit_head(FILE *out, const char *what, const char *name, bool gpu)
{
    fprintf(out, "static int df_%s_%s_%s%s\n{\n    (void)stream; (void)dims; (void)ports; (void)scalars;\n", what, name, gpu ? "gpu" : "cpu", run_parameters);
}

/* The function by which libdf calls a variant's open function. */
static void emit_open(FILE *out, const struct df_graph *g, const struct df_kernel *k, const char *open, bool gpu, bool catches)
{
    const char *name = df_graph_string(g, k->name), *class = gpu ? "gpu" : "cpu";
    emit_head(out, "opens", name, gpu);
    fprintf(out, "    return %s(call", open);
    emit_dims(out, g, k, false);
    emit_scalars(out, g, k);
    fprintf(out, ", (void **)stream);\n}\n\n"
                 "static int df_open_%s_%s(struct df_call *call, const size_t *dims, const union df_scalar *scalars,\n"
                 "    void **state)\n{\n    return %sdf_opens_%s_%s%scall, state, dims, NULL, scalars);\n}\n\n",
            name, class, catches ? "df_catch(" : "", name, class, catches ? ", " : "(");
}

static void emit_variant(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code, bool gpu, bool catches)
{
    const struct dfl_variant *variant = variant_of(code, gpu);
    const char *prefix = dfc_variant_prefix(variant),
               *name = df_graph_string(front->graph, front->graph->kernels[code->kernel].name);
    if (dfc_code_is_generated(variant) && !gpu) {
        dfc_emit_inline(out, front, code, variant, false, "static ");
    } else if (variant->has_target && dfc_code_kind_of(variant->path) == DFC_CODE_OBJECT) {
        dfc_emit_object_target(out, front, code, variant, gpu);
    } else if (*prefix) {
        dfc_emit_prototype(out, front->graph, code->kernel, prefix, gpu, variant->has_target);
        fputs("\n\n", out);
    }
    if (variant->open.text)
        emit_open(out, front->graph, &front->graph->kernels[code->kernel], variant->open.text, gpu, catches);
    emit_head(out, catches ? "calls" : "run", name, gpu);
    if (variant->open.text)
        fprintf(out, "    if (df_open(call, df_open_%s_%s, %s) != DF_OK)\n        return DF_FAILED;\n", name,
                gpu ? "gpu" : "cpu", variant->close.text ? variant->close.text : "NULL");
    fputs("    return ", out);
    dfc_emit_call(out, front->graph, code->kernel, prefix, gpu);
    fputs(";\n}\n\n", out);
    if (!catches)
        return;
    emit_head(out, "run", name, gpu);
    fprintf(out, "    return df_catch(df_calls_%s_%s, call, stream, dims, ports, scalars);\n}\n\n", name, gpu ? "gpu" : "cpu");
}

const char *dfc_emit_name(const struct dfc_front *front, const struct dfc_kernel_code *code)
{
    return code->c_name ? code->c_name : df_graph_string(front->graph, front->graph->kernels[code->kernel].name);
}

/* The function of STEM_formulas.c for this processor, of the levels below n_levels. */
static void emit_formulas(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code, unsigned n_levels)
{
    const char *name = dfc_emit_name(front, code);
    for (unsigned i = 0; i < n_levels && dfg_level(i); i++)
        fprintf(out, "extern int df_formula_%s%s%s%s;\n", name, i ? "_" : "", dfg_level(i)->name, run_parameters);
    fprintf(out, "static int df_run_%s_cpu%s\n{\n", name, run_parameters);
    for (unsigned i = n_levels - 1; i > 0; i--)
        if (dfg_level(i))
            fprintf(out, "    if (df_isa_level() >= %u)\n        return df_formula_%s_%s(call, stream, dims, ports, scalars);\n",
                    dfg_level(i)->least, name, dfg_level(i)->name);
    fprintf(out, "    return df_formula_%s(call, stream, dims, ports, scalars);\n}\n\n", name);
}

static bool has_variant(const struct dfc_kernel_code *code, bool gpu)
{
    return variant_of(code, gpu) || dfc_is_formula(code, gpu);
}

/* Is there a function that gives the address of device code? */
static bool has_device(const struct dfc_kernel_code *code)
{
    return dfc_has_device_code(code->gpu) || dfc_is_formula(code, true);
}

/* ---- the program ---- */

/* Have all steps of the loop gpu variants in this program? */
static bool loop_has_gpu(const struct dfc_front *front, uint32_t kernel, bool gpu)
{
    const struct df_graph *g = front->graph;
    const struct df_loop *loop = &g->loops[g->kernels[kernel].loop];
    for (uint32_t s = loop->first_step; s < loop->first_step + loop->n_steps && gpu; s++)
        for (size_t i = 0; i < front->n_kernels; i++)
            gpu &= front->kernels[i].kernel != g->steps[s].kernel || has_variant(&front->kernels[i], true);
    return gpu;
}

static void emit_functions(FILE *out, const struct dfc_front *front, const struct dfc_emit_gpu *how, unsigned n_levels, bool catches)
{
    const struct df_graph *g = front->graph;
    const bool gpu = how->code;
    if (how->opencl)
        fputs("extern const struct df_cl_source df_formulas_opencl;\n", out);
    for (size_t i = 0; i < front->n_kernels; i++) {
        if (front->kernels[i].cpu)
            emit_variant(out, front, &front->kernels[i], false, catches);
        else if (front->kernels[i].formula)
            emit_formulas(out, front, &front->kernels[i], n_levels);
        if (front->kernels[i].gpu && gpu)
            emit_variant(out, front, &front->kernels[i], true, catches);
        if (gpu && dfc_is_formula(&front->kernels[i], true))
            fprintf(out, "extern df_function df_formula_%s_gpu;\n",
                    dfc_emit_name(front, &front->kernels[i]));
        if (front->kernels[i].opencl)
            dfc_emit_opencl_functions(out, &front->kernels[i], dfc_emit_name(front, &front->kernels[i]), true);
        if (gpu && has_device(&front->kernels[i]))
            fprintf(out, "extern const void *df_device_%s(void);\n\n",
                    dfc_emit_name(front, &front->kernels[i]));
        if (how->opencl && dfc_is_opencl_formula(&front->kernels[i]))
            fprintf(out, "extern df_function df_formula_%s_opencl;\n\n", dfc_emit_name(front, &front->kernels[i]));
    }
    fprintf(out, "static const struct df_functions functions[%u] = {\n", g->n_kernels);
    for (size_t i = 0; i < front->n_kernels; i++) {
        const struct dfc_kernel_code *code = &front->kernels[i];
        const char *name = dfc_emit_name(front, code);
        const bool on_cpu = has_variant(code, false), on_gpu = gpu && has_variant(code, true), on_opencl = how->opencl && dfc_is_opencl_formula(code);
        if (!on_cpu && !on_gpu && !on_opencl && !code->opencl)
            continue;
        const char *comma = "";
        fprintf(out, "    [%u] = {", code->kernel);
        if (code->opencl)
            dfc_emit_opencl_functions(out, code, name, false);
        if (on_cpu)
            fprintf(out, "%s .cpu = df_run_%s_cpu", comma, name), comma = ",";
        if (on_gpu)
            fprintf(out, "%s .gpu = %s_%s_gpu", comma, code->gpu ? "df_run" : "df_formula", name), comma = ",";
        if (gpu && has_device(code))
            fprintf(out, "%s .device = df_device_%s", comma, name), comma = ",";
        if (on_opencl)
            fprintf(out, "%s .opencl = df_formula_%s_opencl, .opencl_source = &df_formulas_opencl", comma, name), comma = ",";
        if (code->formula && !code->cpu && !(on_gpu && code->gpu) && code->formula->callee->sig.n_variables)
            fprintf(out, "%s .most = %" PRId64, comma, dfg_limit(code->formula));
        fputs(" },\n", out);
    }
    for (uint32_t k = 0; k < g->n_kernels; k++)
        if (g->kernels[k].flags & DF_KERNEL_LOOP)
            fprintf(out, "    [%u] = { .cpu = df_loop%s },\n", (unsigned)k, loop_has_gpu(front, k, gpu) ? ", .gpu = df_loop" : "");
    fputs("};\n\n", out);
}

/* Is the graph made again, or at all, when the program runs? */
static bool needs_front(const struct dfc_front *front)
{
    return front->has_dynamic || front->n_exports > 0;
}

void dfc_emit_program(FILE *out, const struct dfc_front *front, bool emu_gpu_code)
{
    for (size_t i = 0; i < front->n_params; i++)
        fprintf(out, "%s\"%s\"", i ? ", " : "    static const char *const params[] = { ", front->params[i]);
    if (front->n_params)
        fputs(", NULL };\n", out);
    fputs("    const struct df_program program = {\n"
          "        .image = df_image,\n        .image_bytes = (size_t)(df_image_end - df_image),\n"
          "        .functions = functions,\n        .n_functions = sizeof functions / sizeof *functions,\n"
          "        .planner = &dfp_planner,\n        .read_platform = dfc_program_platform,\n",
          out);
    if (needs_front(front))
        fputs("        .replanner = &dfc_replanner,\n", out);
    if (emu_gpu_code)
        fputs("        .emu_gpu_code = 1,\n", out);
    if (front->n_params)
        fputs("        .params = params,\n", out);
    fputs("        .identity = df_identity,\n    };\n", out);
}

bool dfc_is_formula(const struct dfc_kernel_code *code, bool gpu)
{
    return code->formula && !variant_of(code, gpu);
}

bool dfc_is_opencl_formula(const struct dfc_kernel_code *code) { return dfc_is_formula(code, true) && !code->opencl; }

bool dfc_has_opencl_formulas(const struct dfc_front *front)
{
    for (size_t i = 0; i < front->n_kernels; i++)
        if (dfc_is_opencl_formula(&front->kernels[i]))
            return true;
    return false;
}

bool dfc_has_formulas(const struct dfc_front *front, bool gpu)
{
    for (size_t i = 0; i < front->n_kernels; i++)
        if (dfc_is_formula(&front->kernels[i], gpu))
            return true;
    return false;
}

static bool print_formulas(struct dfg_texts *texts, const struct dfc_front *front, const struct dfg_print *how)
{
    struct dfg_kernel *kernels = calloc(front->n_kernels + 1, sizeof *kernels);
    size_t n = 0;
    for (size_t i = 0; kernels && i < front->n_kernels; i++)
        if (how->opencl ? dfc_is_opencl_formula(&front->kernels[i]) : dfc_is_formula(&front->kernels[i], how->gpu))
            kernels[n++] = (struct dfg_kernel){
                .name = dfc_emit_name(front, &front->kernels[i]),
                .formulas = front->kernels[i].formula,
            };
    *texts = (struct dfg_texts){ 0 };
    const bool good = kernels && dfg_print(how, kernels, n, texts);
    free(kernels);
    return good;
}

bool dfc_emit_formulas(struct dfg_texts *texts, const struct dfc_front *front, const char *stem, bool gpu, bool split)
{
    return print_formulas(texts, front, &(struct dfg_print){ .stem = stem, .sink = front->sink, .gpu = gpu, .split = split });
}

bool dfc_emit_opencl_formulas(struct dfg_texts *texts, const struct dfc_front *front, const char *stem)
{
    return print_formulas(texts, front, &(struct dfg_print){ .stem = stem, .sink = front->sink, .gpu = true, .opencl = true });
}

void dfc_emit_c(FILE *out, const struct dfc_front *front, const char *stem, unsigned n_levels, const struct dfc_emit_gpu *gpu, bool catches)
{
    fprintf(out, "/* %s.c - made by dfc: how libdf calls the kernels of %s.df, and main(). */\n#line 2 \"%s.c\"\n",
            stem, stem, stem);
    dfc_emit_keywords(out);
    if (dfc_has_inline(front, false))
        dfc_emit_inline_headers(out);
    fprintf(out, "#include \"%s.df.h\"\n\n", stem);
    fputs("_Static_assert(sizeof \"\u00e4\" == 3, \"a flag changes the characters of texts, as -finput-charset and -fexec-charset do: give it to a file alone, "
          "by 'flags'\");\n\n", out);
    if (dfc_has_inline(front, false))   /* older compilers only warn of an undeclared function, and pass it a float as a
                                         * double */
        fputs("#pragma GCC diagnostic error \"-Wimplicit-function-declaration\"\n\n", out);
    if (catches)
        dfc_emit_catch_prototype(out);
    emit_functions(out, front, gpu, n_levels, catches);
    fputs("/* From data.s: the graph, its times and its plan, which libdf lays over and never copies, and what the program was made of. */\n"
          "extern const unsigned char df_image[], df_image_end[];\nextern const char df_identity[];\n\n"
          "extern const struct df_planner dfp_planner;\n"
          "extern int dfc_program_platform(const char *path, struct df_platform *platform, struct df_error *error);\n",
          out);
    if (needs_front(front))
        fputs("extern const struct df_replanner dfc_replanner;\n", out);
    fputc('\n', out);
    if (front->n_exports > 0) {
        dfc_emit_library(out, front, gpu->emulated);
        return;
    }
    fputs("int main(int argc, char **argv)\n{\n", out);
    dfc_emit_program(out, front, gpu->emulated);
    fputs("    return df_main(argc, argv, &program);\n}\n", out);
}
