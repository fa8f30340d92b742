/* emit_cuda.c - prints NAME_gpu.cu, for build/build_units.c and --emit in commands/cmd_compile.c: the gpu variants that are written
 * inline, as host functions in which `stream` is defined.
 */
#include "compiler/emit/emit.h"

void dfc_emit_cuda(FILE *out, const struct dfc_front *front, const char *stem)
{
    fprintf(out,
            "/* %s_gpu.cu - made by dfc: the inline gpu code of %s.df. */\n#line 2 \"%s_gpu.cu\"\n",
            stem, stem, stem);
    dfc_emit_inline_headers(out);
    fprintf(out, "#include \"%s.df.h\"\n\n", stem);
    dfc_emit_device_prelude(out);
    for (size_t i = 0; i < front->n_kernels; i++) {
        const struct dfc_kernel_code *code = &front->kernels[i];
        if (!code->gpu || !dfc_code_is_generated(code->gpu))
            continue;
        dfc_emit_inline(out, front, code, code->gpu, true, "extern \"C\" ");
        dfc_emit_device(out, front, code);
    }
}
