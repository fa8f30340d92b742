/* emit_unit.c - prints for build/build_units.c the translation unit of one user file: a header, the text of the file, and
 * after it wrappers for those of its functions that the .df calls as `cpu "file": f(a, b)`, and code written as
 * `cpu "file" {{ … }}`. The rest of the room reads files and finds a file's variants with it.
 *
 * The text is pasted, not included, so that it stays a file of its own. Messages name only that file (#line), its own
 * includes work (-iquote its folder), and it need not be changed to be called. Feature test macros (_GNU_SOURCE, …)
 * that it defines are put before the header, because they count only before the first system header.
 *
 * C:        an existing function returns void (which counts as DF_OK) or int; the generated code finds out which by
 *           __typeof__. With '-> void' in the .df, any value is ignored.
 * C++:      the same by overload resolution. There a function that differs from its prototype would be a new overload
 *           instead of an error, so the unit ends with an assertion that the name denotes a single function.
 */
#include "compiler/emit/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/tools/messages.h"
#include "compiler/types/argument.h"
#include "compiler/types/paths.h"

/* ---- the file's text ---- */

/* Compilers accept a byte order mark at the beginning of a file only, and here it would stand inside the unit. */
bool dfc_emit_read(const char *path, char **text)
{
    static const char mark[] = "\xEF\xBB\xBF";
    FILE *file = fopen(path, "rb");
    size_t length = 0;
    ssize_t n = file ? getdelim(text, &length, '\0', file) : -1;
    bool failed = !file || ferror(file);
    int error = errno;
    if (file)
        fclose(file);
    if (!failed && n > 0 && (*text)[n - 1] == '\0') {
        dfc_error("'%s' holds a NUL byte: it is not a text file", path);
        return false;
    }
    if (!failed && n > 0 && strncmp(*text, mark, strlen(mark)) == 0)
        memmove(*text, *text + strlen(mark), strlen(*text + strlen(mark)) + 1);
    if (!failed && n < 0) { /* the file is empty */
        free(*text);
        *text = strdup("");
        failed = !*text;
        error = ENOMEM;
    }
    if (failed)
        dfc_error("cannot read '%s': %s", path, strerror(error));
    return !failed;
}

/* If this line defines a feature test macro, the length of its name; else 0. */
static size_t feature_macro(const char *line, size_t length)
{
    static const char *const names[] = {
        "_GNU_SOURCE", "_POSIX_C_SOURCE", "_POSIX_SOURCE", "_XOPEN_SOURCE", "_DEFAULT_SOURCE", "_BSD_SOURCE",
        "_SVID_SOURCE", "_ISOC99_SOURCE", "_ISOC11_SOURCE", "_LARGEFILE_SOURCE", "_LARGEFILE64_SOURCE",
        "_FILE_OFFSET_BITS", "_TIME_BITS", "__STDC_FORMAT_MACROS", "__STDC_LIMIT_MACROS", "__STDC_CONSTANT_MACROS",
        "__STDC_WANT_LIB_EXT1__",
    };
    const char *p = line, *end = line + length;
    p += strspn(p, " \t");
    if (p >= end || *p != '#')
        return 0;
    p++;
    p += strspn(p, " \t");
    if (strncmp(p, "define", 6) != 0 || (p[6] != ' ' && p[6] != '\t'))
        return 0;
    p += 6;
    p += strspn(p, " \t");
    size_t n = strcspn(p, " \t\r\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && memcmp(p, names[i], n) == 0)
            return n;
    return 0;
}

static void emit_feature_macros(FILE *out, const char *text)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (feature_macro(line, length)) {
            const char *define = strstr(line, "define"), *name = define + 6 + strspn(define + 6, " \t");
            fprintf(out, "#ifndef %.*s\n%.*s\n#endif\n", (int)strcspn(name, " \t\r\n"), name, (int)length, line);
        }
        line += length + (line[length] == '\n');
    }
}

/* The line at which `name` is first followed by "(": a reader would look for the function there. 1: there is no such
 * line. */
static unsigned line_of_function(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p += n) {
        bool begins = p == text || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", p[-1]);
        if (!begins || p[n + strspn(p + n, " \t\r\n")] != '(')
            continue;
        unsigned line = 1;
        for (const char *q = text; q < p; q++)
            line += *q == '\n';
        return line;
    }
    return 1;
}

/* ---- calls of existing functions ---- */

static void emit_arguments(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                           const struct dfl_variant *variant, bool gpu)
{
    fprintf(out, "%s(", variant->target.text);
    dfc_emit_arguments(out, front, code, variant, gpu ? "call, stream" : "call");
    fputc(')', out);
}

/* Prints the call on a line of its own, in the line and column in which it was written, so that a caret under it is
 * right. */
static void emit_placed(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                        const struct dfl_variant *variant, bool gpu)
{
    fputc('\n', out);
    dfc_emit_line(out, variant->target.loc.line, dfl_sink_file_name(front->sink, variant->target.loc.file));
    fprintf(out, "%*s", (int)variant->target.loc.col - 1, "");
    emit_arguments(out, front, code, variant, gpu);
}

/* C has the call three times, since nothing else tells its type. All three stand in one place, so that what the
 * compiler says of each is the same text, which is shown once (build_units.c). */
static void emit_call_c(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                        const struct dfl_variant *variant, bool gpu)
{
    fprintf(out,
            "#pragma GCC diagnostic error \"-Wimplicit-function-declaration\"\n"
            "#pragma GCC diagnostic error \"-Wincompatible-pointer-types\"\n"
            "#pragma GCC diagnostic error \"-Wint-conversion\"\n    %s(",
            variant->result.text ? "(void)" : "typedef __typeof__");
    emit_placed(out, front, code, variant, gpu);
    if (variant->result.text) {
        fputs(");\n    return DF_OK;\n", out);
        return;
    }
    fputs(") df_result;\n"
          "#pragma GCC diagnostic ignored \"-Wincompatible-pointer-types\"\n"
          "#pragma GCC diagnostic ignored \"-Wint-conversion\"\n",
          out);
    dfc_emit_line(out, variant->target.loc.line, dfl_sink_file_name(front->sink, variant->target.loc.file));
    fprintf(out,
            "    _Static_assert(__builtin_types_compatible_p(df_result, int) || "
            "__builtin_types_compatible_p(df_result, void), \"'%s' returns neither int nor void; -> void after its "
            "arguments ignores its value\");\n",
            variant->target.text);
    fputs("    return __builtin_choose_expr(__builtin_types_compatible_p(df_result, void), (", out);
    emit_placed(out, front, code, variant, gpu);
    fputs(", DF_OK), ", out);
    emit_placed(out, front, code, variant, gpu);
    fputs(");\n", out);
}

/* Prints (f(…), df_ok()). If f returns void, the comma is the built-in one and gives DF_OK; if it returns int, the
 * comma is the overload, which gives the int. */
static void emit_call_cxx(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                          const struct dfl_variant *variant, bool gpu)
{
    fprintf(out, "    return (%s", variant->result.text ? "(void)" : "");
    emit_placed(out, front, code, variant, gpu);
    fputs(", df_generated::ok());\n", out);
}

static void emit_target(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                        const struct dfl_variant *variant, bool gpu, bool cxx)
{
    const struct df_graph *g = front->graph;
    dfc_emit_argument_prelude(out);
    /* If the call is wrong, the function seems to have no 'return': that was said of the call. */
    fputs(cxx ? "extern \"C\" "
              : "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wreturn-type\"\n", out);
    dfc_emit_prototype(out, g, code->kernel, "df_target_", gpu, true);
    fputc('\n', out);
    dfc_emit_names_free(out, g, code->kernel);
    fputs(cxx ? "extern \"C\" " : "", out);
    dfc_emit_signature(out, g, code->kernel, "df_target_", gpu, true);
    fputs("\n{\n", out);
    dfc_emit_unused(out, g, code->kernel, gpu);
    dfc_emit_argument_values(out, front, code, variant);
    if (variant->has_launch)
        dfc_emit_launch(out, front, code, variant);
    else
        (cxx ? emit_call_cxx : emit_call_c)(out, front, code, variant, gpu);
    fputs("}\n", out);
    dfc_emit_names_back(out, g, code->kernel);
    fputs(cxx ? "" : "#pragma GCC diagnostic pop\n", out);
}

/* Inline code that stands with this file. */
static void emit_attached(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                          const struct dfl_variant *variant, bool gpu, bool cxx)
{
    dfc_emit_inline_headers(out);
    if (!cxx) {
        fputs("#pragma GCC diagnostic push\n#pragma GCC diagnostic error \"-Wimplicit-function-declaration\"\n", out);
        dfc_emit_prototype(out, front->graph, code->kernel, "df_inline_", gpu, false);
        fputc('\n', out);
    }
    dfc_emit_inline(out, front, code, variant, gpu, cxx ? "extern \"C\" " : "");
    fputs(cxx ? "" : "#pragma GCC diagnostic pop\n", out);
}

/* Prints the type of one argument: that of its name, or of its value. */
static void emit_argument_type(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                               const struct dfl_expr *arg)
{
    const struct df_graph *g = front->graph;
    const struct df_kernel *k = &g->kernels[code->kernel];
    const char *name = arg->s;
    if (!dfc_argument_is_name(&dfc_callee_of(front, code)->sig, arg)) {
        static const char *const types[] = { [DF_KIND_I64] = "int64_t", [DF_KIND_F64] = "double",
                                             [DF_KIND_STR] = "const char *" };
        fputs(types[dfc_argument_value(front, code, arg).n.kind], out);
        return;
    }
    for (unsigned p = 0; p < k->n_ports; p++) {
        const struct df_kport *port = &g->kports[k->first_port + p];
        if (strcmp(df_graph_string(g, port->name), name) == 0) {
            fprintf(out, "%s *", df_elem_c_type((enum df_elem)port->elem));
            return;
        }
    }
    for (unsigned s = 0; s < k->n_scalars; s++) {
        const struct df_kscalar *scalar = &g->kscalars[k->first_scalar + s];
        if (strcmp(df_graph_string(g, scalar->name), name) == 0) {
            fputs(df_scalar_c_type((enum df_scalar_type)scalar->type), out);
            return;
        }
    }
    for (unsigned d = 0; d < k->n_dims; d++)
        if (strcmp(df_graph_string(g, g->dim_names[k->first_dim + d]), name) == 0 && df_kernel_decides(g, k, d)) {
            fputs("size_t *", out);
            return;
        }
    fputs(strcmp(name, "call") == 0     ? "struct df_call *"
          : strcmp(name, "stream") == 0 ? "cudaStream_t"
                                        : "size_t",
          out);
}

void dfc_emit_object_target(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                            const struct dfl_variant *variant, bool gpu)
{
    const struct df_graph *g = front->graph;
    const char *name = df_graph_string(g, g->kernels[code->kernel].name), *cls = gpu ? "gpu" : "cpu";
    /* A name of its own for each prototype: two kernels may call one function with arguments of other types. */
    bool is_void = variant->result.text;
    dfc_emit_argument_prelude(out);
    fprintf(out, "/* In an object file: taken to return %s. */\nextern %s df_object_%s_%s(",
            is_void ? "nothing" : "int", is_void ? "void" : "int", name, cls);
    if (variant->has_args) {
        for (const struct dfl_expr *a = variant->args; a; a = a->next) {
            emit_argument_type(out, front, code, a);
            fputs(a->next ? ", " : "", out);
        }
        fputs(variant->args ? "" : "void", out);
    }
    fprintf(out, ") __asm__(\"%s\");\n", variant->target.text);
    dfc_emit_names_free(out, g, code->kernel);
    fputs("static ", out);
    dfc_emit_signature(out, g, code->kernel, "df_target_", gpu, true);
    fputs("\n{\n", out);
    dfc_emit_unused(out, g, code->kernel, gpu);
    dfc_emit_argument_values(out, front, code, variant);
    struct dfl_variant call = *variant;
    char *own;
    if (asprintf(&own, "df_object_%s_%s", name, cls) < 0)
        return; /* no memory: the unit lacks this function, so compiling it fails with a message */
    call.target.text = own;
    fputs(is_void ? "    " : "    return ", out);
    emit_arguments(out, front, code, &call, gpu);
    fputs(is_void ? ";\n    return DF_OK;\n}\n" : ";\n}\n", out);
    dfc_emit_names_back(out, g, code->kernel);
    fputc('\n', out);
    free(own);
}

/* ---- the unit ---- */

bool dfc_variant_is_of(const struct dfc_kernel_code *code, const struct dfl_variant *variant, const char *file)
{
    char *path = variant && variant->path ? dfc_path_join(code->dir, variant->path) : NULL;
    bool same = path && strcmp(path, file) == 0;
    free(path);
    return same;
}

static const char cxx_prelude[] =
    "namespace df_generated {\n"
    "struct ok { operator int() const { return DF_OK; } };\n"
    "inline int operator,(int status, ok) { return status; }\n"
    "template <class T> int operator,(T, ok) = delete; /* neither int nor void */\n"
    "struct one { static const bool value = true; };\n"
    "struct many { static const bool value = false; };\n"
    "template <class F> one count(F *, int);\n"
    "}\n";

/* Asserts that `function` is the name of one function, whose type type_of_FUNCTION has. It stands within df_generated; what
 * follows is the end of the assertion's text. */
static void begin_single_check(FILE *out, const char *function, const char *path, const char *text)
{
    fprintf(out, "\nmany count(decltype(type_of_%s) *, long);\n", function);
    dfc_emit_line(out, line_of_function(text, function), path);
    fprintf(out, "static_assert(decltype(count(&::%s, 0))::value, \"'%s' differs from its declaration, ", function,
            function);
}

static void emit_single_check(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code, bool gpu,
                              const char *path, const char *text)
{
    const struct df_graph *g = front->graph;
    const char *name = df_graph_string(g, g->kernels[code->kernel].name), *cls = gpu ? "gpu" : "cpu";
    char function[300];
    snprintf(function, sizeof function, "%s_%s", name, cls);
    fprintf(out, "namespace df_generated {\n");
    dfc_emit_prototype(out, g, code->kernel, "type_of_", gpu, false);
    begin_single_check(out, function, path, text);
    dfc_emit_signature(out, g, code->kernel, "", gpu, false);
    fputs("\");\n}\n", out);
}

/* The same for the function that opens. It may be in another file: then there is nothing to find. */
static void emit_open_check(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                            const char *open, const char *path, const char *text)
{
    fputs("namespace df_generated {\n", out);
    dfc_emit_open_prototype(out, front->graph, code->kernel, "type_of_", open);
    begin_single_check(out, open, path, text);
    dfc_emit_open_prototype(out, front->graph, code->kernel, "", open);
    fputs("\");\n}\n", out);
}

bool dfc_emit_unit(FILE *out, const struct dfc_front *front, const char *header, const char *path, bool cxx,
                   bool gpu_too)
{
    bool prelude = false, launches = false, device = false;
    char *text = NULL;
    if (!dfc_emit_read(path, &text)) {
        free(text);
        return false;
    }
    if (!cxx)
        emit_feature_macros(out, text);
    dfc_emit_line(out, 1, path); /* debug information holds no other name; above all, not that of the work folder */
    fprintf(out, "#include \"%s\"\n", header);
    dfc_emit_line(out, 1, path);
    fputs(text, out);
    fputc('\n', out);
    for (size_t i = 0; i < front->n_kernels; i++) {
        const struct dfc_kernel_code *code = &front->kernels[i];
        for (int gpu = 0; gpu <= gpu_too; gpu++) {
            const struct dfl_variant *variant = gpu ? code->gpu : code->cpu;
            if (!dfc_variant_is_of(code, variant, path))
                continue;
            if (cxx && !prelude)
                fputs(cxx_prelude, out);
            prelude = true;
            if (variant->has_launch && !launches)
                dfc_emit_launch_prelude(out);
            launches |= variant->has_launch;
            if (variant->code)
                emit_attached(out, front, code, variant, gpu, cxx);
            else if (variant->has_target)
                emit_target(out, front, code, variant, gpu, cxx);
            else if (cxx)
                emit_single_check(out, front, code, gpu, path, text);
            if (cxx && variant->open.text)
                emit_open_check(out, front, code, variant->open.text, path, text);
            if (!gpu || !dfc_has_device_code(variant))
                continue;
            if (!device)
                dfc_emit_device_prelude(out);
            device = true;
            dfc_emit_device(out, front, code);
        }
    }
    free(text);
    return true;
}
