/* emit_device.c - prints, for each gpu variant that nvcc compiles, a function that returns the address of a __global__
 * function; emit_cuda.c and emit_unit.c put it into their units. Before a run libdf looks it up on each GPU: a GPU that
 * has no code for it cannot run the program; on others the look-up loads the code.
 *
 * The name of a launch's target alone may be ambiguous: overloads, or a template. So one more overload of a different
 * type is declared, and the overload set is passed to the template code(). If exactly one function of the set is a
 * __global__ function, it is deduced. Otherwise code() returns some other function of the unit, which was compiled for
 * the same architectures.
 */
#include "compiler/emit/emit.h"
#include "compiler/types/paths.h"

bool dfc_has_device_code(const struct dfl_variant *gpu)
{
    return gpu && (dfc_code_is_generated(gpu) || (gpu->path && dfc_code_kind_of(gpu->path) == DFC_CODE_CUDA));
}

void dfc_emit_device_prelude(FILE *out)
{
    fputs("namespace df_generated {\n"
          "static __global__ void in_unit() {}\n"
          "struct nothing;\n"
          "template <class... A> inline const void *code(void (*f)(A...), int) { return (const void *)f; }\n"
          "inline const void *code(int (*)(nothing *), long) { return (const void *)in_unit; }\n"
          "}\n", out);
}

void dfc_emit_device(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code)
{
    const char *kernel = df_graph_string(front->graph, front->graph->kernels[code->kernel].name);

    if (code->gpu->has_launch) {
        dfc_emit_line(out, code->gpu->target.loc.line, dfl_sink_file_name(front->sink, code->gpu->target.loc.file));
        fprintf(out, "namespace df_generated { namespace of_%s {\ninline int %s(nothing *) { return 0; }\nusing ::%s;\n"
                     "inline const void *device() { return code(&%s, 0); }\n} }\n",
                kernel, code->gpu->target.text, code->gpu->target.text, code->gpu->target.text);
    }
    fprintf(out, "extern \"C\" const void *df_device_%s(void) { return ", kernel);
    if (code->gpu->has_launch)
        fprintf(out, "df_generated::of_%s::device(); }\n", kernel);
    else
        fputs("(const void *)df_generated::in_unit; }\n", out);
}
