/* emit_header.c - prints NAME.df.h, for build/build_units.c and --emit in commands/cmd_compile.c: a prototype for each variant that is
 * a function in a user's file, and for its `open` and `close` functions. Code that disagrees with its declaration fails
 * to compile, and so does code whose flags change types, data layout or calling conventions with respect to libdf. Each
 * C file of std/ has a header of its own.
 */
#include "compiler/emit/emit.h"

#include <string.h>

#include "compiler/types/argument.h"
#include "runtime/df.h"

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

/* ---- what flags may not change ---- */

/* With such a macro the code of this header means something else. Macros that only remove a qualifier (inline, const, static, restrict,
 * register) change nothing that is called. */
void dfc_emit_keywords(FILE *out)
{
    static const char *const words[] = { "int", "long", "short", "char", "float", "double", "signed", "unsigned", "void", "if", "else", "for", "while", "do",
                                         "switch", "case", "default", "break", "continue", "return", "goto", "struct", "union", "enum", "typedef", "sizeof" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        fprintf(out, "#ifdef %s\n#error \"a flag, as -D%s=..., makes '%s' another word: it is a keyword of C\"\n#endif\n", words[i], words[i], words[i]);
}

#define SIZE(type) { #type, sizeof(type) }

/* libdf was compiled with these sizes. */
static void emit_sizes(FILE *out, const char *as)
{
    static const struct {
        const char *type;
        size_t bytes;
    } types[] = { SIZE(void *), SIZE(size_t), SIZE(char), SIZE(short), SIZE(int), SIZE(long), SIZE(long long), SIZE(float), SIZE(double) },
      layouts[] = { SIZE(enum df_elem), SIZE(enum df_scalar_type), SIZE(struct df_error), SIZE(union df_scalar), SIZE(struct df_part), SIZE(struct df_functions),
                    SIZE(struct df_program), SIZE(struct df_library_port), SIZE(struct df_library_function) };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        fprintf(out, "%s(sizeof(%s) == %zu, \"a flag changes the sizes of C's types, as -m32 and -mx32 do: libdf has others\");\n", as, types[i].type, types[i].bytes);
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        fprintf(out, "%s(sizeof(%s) == %zu, \"a flag changes how data is laid out, as -fshort-enums and -fpack-struct do: libdf has another layout\");\n", as,
                layouts[i].type, layouts[i].bytes);
}

static void emit_checks(FILE *out)
{
    fputs("#ifdef __cplusplus\n", out);
    emit_sizes(out, "static_assert");
    fputs("#else\n", out);
    emit_sizes(out, "_Static_assert");
    fputs("#if defined __x86_64__ && defined __GNUC__\n"
          "_Static_assert(__builtin_types_compatible_p(void (*)(int), void (__attribute__((sysv_abi)) *)(int)), "
          "\"a flag changes how functions are called, as -mabi=ms does: libdf has another way\");\n#endif\n#endif\n\n", out);
}

void dfc_emit_header(FILE *out, const struct dfc_front *front, const char *stem)
{
    char guard[64] = "DF_HEADER_";
    for (size_t n = strlen(guard), i = 0; stem[i] && n + 1 < sizeof guard; i++, n++)
        guard[n] = stem[i] >= 'a' && stem[i] <= 'z'                                    ? (char)(stem[i] - 'a' + 'A')
                   : (stem[i] >= '0' && stem[i] <= '9') || (stem[i] >= 'A' && stem[i] <= 'Z') ? stem[i] : '_';
    fprintf(out,
            "/* %s.df.h - made by dfc: the functions that the kernels of %s.df call. */\n#ifndef %s\n#define %s\n\n",
            stem, stem, guard, guard);
    dfc_emit_keywords(out);
    fputs("#include <df.h>\n\n", out);
    emit_checks(out);
    fputs("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n", out);
    for (size_t i = 0; i < front->n_kernels; i++)
        emit_prototypes(out, front, &front->kernels[i]);
    fputs("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n", out);
}

/* Does the declaration give an extent with a bound? How such a kernel is called is worked out for those alone that a graph calls. */
static bool has_bound(const struct dfc_sig *sig)
{
    bool has = false;
    for (unsigned v = 0; v < sig->n_variables; v++)
        has |= sig->variables[v].bound != NULL;
    return has;
}

void dfc_emit_file_header(FILE *out, const struct dfc_front *front, const char *path)
{
    dfc_emit_keywords(out);
    fputs("#include <df.h>\n\n", out);
    emit_checks(out);
    for (size_t i = 0; i < front->n_kernels; i++) {
        struct dfc_kernel_code code = front->kernels[i];
        if (has_bound(&dfc_callee_of(front, &code)->sig))
            continue;
        code.gpu = NULL;
        for (code.cpu = code.ast->variants; code.cpu; code.cpu = code.cpu->next)
            if (strcmp(code.cpu->cls.text, "cpu") == 0 && dfc_variant_is_of(&code, code.cpu, path))
                emit_prototypes(out, front, &code);
    }
}
