/* emit_header.c - prints NAME.df.h: one prototype for each variant that is a function in a user's file, and for each
 * function that opens or closes what a variant keeps. So what disagrees with its declaration does not compile.
 */
#include "compiler/emit/emit.h"

#include <string.h>

static void emit_state_prototypes(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                                  const struct dfl_variant *variant)
{
    if (!variant || !variant->open.text)
        return;
    dfc_emit_open_prototype(out, front->graph, code->kernel, "", variant->open.text);
    fputc('\n', out);
    if (variant->close.text)
        fprintf(out, "void %s(void *state);\n", variant->close.text);
}

static void emit_prototypes(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code)
{
    const struct dfl_variant *const variants[] = { code->cpu, code->gpu };
    for (int gpu = 0; gpu < 2; gpu++) {
        emit_state_prototypes(out, front, code, variants[gpu]);
        if (variants[gpu] && !variants[gpu]->code && !variants[gpu]->has_target) {
            dfc_emit_prototype(out, front->graph, code->kernel, "", gpu, false);
            fputc('\n', out);
        }
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
