/* emit_opencl.c - prints for build/build_units.c the unit of a .cl file: the file's text with what it includes, which libdf gives to OpenCL's drivers, and for each
 * kernel that names the file a function that launches with the kernel's arguments. Extents are computed as the .df says, in 64 bits with overflow checks. The
 * room's other files for OpenCL take texts and strings from it, emit_c.c the references to its functions.
 */
#include "compiler/emit/emit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/types/argument.h"
#include "compiler/types/launch.h"
#include "runtime/base/intern.h"

void dfc_emit_string(FILE *out, const char *text, size_t n)
{
    fputc('"', out);
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '\n')
            fputs(i + 1 < n ? "\\n\"\n    \"" : "\\n", out);
        else
            fprintf(out, c >= 0x20 && c < 0x7f && !strchr("\"\\?", c) ? "%c" : "\\%03o", c);
    }
    fputc('"', out);
}

/* The source has the name of its file, so that several kernels have one. */
static void print_source_name(FILE *out, const char *path)
{
    fprintf(out, "df_opencl_source_%016" PRIx64, dfr_hash(0, path, strlen(path)));
}

void dfc_emit_opencl_functions(FILE *out, const struct dfc_kernel_code *code, const char *name, bool declares)
{
    char *path = dfc_path_join(code->dir, code->opencl->path);
    fprintf(out, declares ? "extern df_function df_launch_%s_opencl;\nextern const struct df_cl_source " : " .opencl = df_launch_%s_opencl, .opencl_source = &", name);
    print_source_name(out, path ? path : "");
    fputs(declares ? ";\n" : ",", out);
    free(path);
}

/* ---- the text ---- */

/* Files whose text is being printed: one that is in another, and so on. */
struct including {
    const char *path;
    const struct including *by;
};

static bool is_open(const struct including *file, const char *path)
{
    for (; file; file = file->by)
        if (strcmp(file->path, path) == 0)
            return true;
    return false;
}

/* Does a comment go on behind this line? */
static bool ends_in_comment(const char *line, size_t n, bool inside)
{
    char quote = '\0';
    for (size_t i = 0; i < n; i++) {
        const char c = line[i], next = i + 1 < n ? line[i + 1] : '\0';
        if (inside && c == '*' && next == '/')
            inside = false, i++;
        else if (!inside && quote)
            i += c == '\\', quote = c == quote ? '\0' : quote;
        else if (!inside && c == '/' && next == '/')
            return false;
        else if (!inside && c == '/' && next == '*')
            inside = true, i++;
        else if (!inside && (c == '"' || c == '\''))
            quote = c;
    }
    return inside;
}

/* The file that a line includes by a name in quotes, looked for beside the file that the line is in; malloc'ed. NULL: none, or none that is there. */
static char *included_by(const char *line, size_t n, const char *path)
{
    const char *at = line + strspn(line, " \t"), *slash = strrchr(path, '/');
    if (*at++ != '#')
        return NULL;
    at += strspn(at, " \t");
    if (strncmp(at, "include", 7) != 0)
        return NULL;
    at += 7 + strspn(at + 7, " \t");
    const char *end = *at == '"' ? memchr(at + 1, '"', n - (size_t)(at + 1 - line)) : NULL;
    char *dir = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(""), *name = end ? strndup(at + 1, (size_t)(end - at - 1)) : NULL;
    char *found = dir && name ? dfc_path_join(dir, name) : NULL;
    free(dir);
    free(name);
    if (found)
        dfc_path_tidy(found);           /* so that a file has one name */
    if (found && access(found, R_OK) == 0)
        return found;
    free(found);
    return NULL;
}

static const char once[] = "#pragma once";

/* Is it to be included once, and was it? */
static bool is_done(const struct dfc_list *files, const char *path, const char *text)
{
    const bool is_once = strstr(text, once) != NULL;
    bool done = false;
    for (size_t i = 0; i < files->n && is_once; i++)
        done |= strcmp(files->items[i], path) == 0;
    return done;
}

/* Drivers see no files, so the text has what it includes by names in quotes. A file that is open already is left out: only what guards against that includes itself. */
static bool emit_file(FILE *out, const struct including *file, struct dfc_list *files)
{
    char *text = NULL;
    bool good = dfc_emit_read(file->path, &text), inside = false;
    unsigned number = 1;
    const bool done = good && is_done(files, file->path, text);
    if (good && file->by && !done)
        dfc_list_add(files, "%s", file->path);
    dfc_emit_line(out, 1, file->path);  /* drivers name places in the user's file */
    for (const char *line = text; good && !done && *line; number++) {
        const size_t n = strcspn(line, "\n");
        char *path = inside ? NULL : included_by(line, n, file->path);
        if (path && !is_open(file, path))
            good = emit_file(out, &(struct including){ path, file }, files);
        if (path)
            dfc_emit_line(out, number + 1, file->path);
        else
            fprintf(out, "%.*s\n", file->by && strncmp(line, once, strlen(once)) == 0 ? 0 : (int)n, line); /* what is once in the text need not say so */
        inside = ends_in_comment(line, n, inside);
        free(path);
        line += n + (line[n] == '\n');
    }
    free(text);
    return good;
}

bool dfc_emit_opencl_text(FILE *out, const char *path, struct dfc_list *files)
{
    return emit_file(out, &(struct including){ path, NULL }, files) && !files->failed;
}

static const struct dfl_expr *flags_of(const struct dfc_front *front, const char *path)
{
    for (size_t i = 0; i < front->n_kernels; i++)
        if (dfc_variant_is_of(&front->kernels[i], front->kernels[i].opencl, path))
            return front->kernels[i].opencl->flags; /* they are the same in all */
    return NULL;
}

static bool emit_source(FILE *out, const struct dfc_front *front, const char *path)
{
    const struct dfl_expr *flags = flags_of(front, path);
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    struct dfc_list files = { 0 };
    bool good = to && dfc_emit_opencl_text(to, path, &files);
    good = to && fclose(to) == 0 && good;
    dfc_list_free(&files);
    if (good) {
        fputs("static const char df_text[] =\n    ", out);
        dfc_emit_string(out, text, n);
        fputs(";\nextern const struct df_cl_source ", out);
        print_source_name(out, path);
        fputs(";\nconst struct df_cl_source ", out);
        print_source_name(out, path);
        fputs(" = { .name = ", out);
        dfc_emit_string(out, path, strlen(path));
        fputs(", .text = df_text, .bytes = sizeof df_text - 1", out);
        if (flags) {
            fputs(", .options = ", out);
            dfc_emit_string(out, flags->s, strlen(flags->s));
        }
        fputs(" };\n\n", out);
    }
    free(text);
    return good;
}

/* ---- launches ---- */

static const char checks[] =
    "struct df_extent { const char *name; int64_t least, most; };\n"
    "static inline int df_fits(struct df_call *call, const char *kernel, int bad, int64_t n, struct df_extent e)\n"
    "{\n"
    "    if (bad)\n"
    "        df_fail(call, \"launching '%s': %s does not fit in 64 bits, or divides by zero\", kernel, e.name);\n"
    "    else if (n < e.least || n > e.most)\n"
    "        df_fail(call, \"launching '%s': %s is %lld, it must be from %lld to %lld\", kernel, e.name, (long long)n, (long long)e.least, (long long)e.most);\n"
    "    return !bad && n >= e.least && n <= e.most;\n"
    "}\n\n";

static void emit_extents(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code)
{
    const char *kernel = code->ast->name.text;
    unsigned n = 0, i = 0;
    for (const struct dfl_expr *e = code->opencl->launch; e; e = e->next)
        n++;
    fputs("    uint32_t df_extents[7] = { 1, 1, 1, 1, 1, 1, 0 };\n    int64_t df_extent;\n    int df_bad = 0;\n", out);
    for (const struct dfl_expr *e = code->opencl->launch; e; e = e->next, i++) {
        int64_t least, most;
        enum dfc_extent extent = dfc_launch_extent(n, i);
        const char *name = dfc_launch_limit(extent, &least, &most);
        fputs("    df_extent = ", out);
        dfc_argument_print(out, front, code, e);
        fprintf(out, ";\n    if (!df_fits(call, \"%s\", df_bad, df_extent, (struct df_extent){ \"%s\", %" PRId64 ", %" PRId64 " }))\n        return DF_FAILED;\n"
                     "    df_extents[%u] = (uint32_t)df_extent;\n", kernel, name, least, most, extent);
    }
    fprintf(out, "    df_extent = (int64_t)df_extents[3] * df_extents[4] * df_extents[5];\n"
                 "    if (!df_fits(call, \"%s\", 0, df_extent, (struct df_extent){ \"the size of a block\", 1, %u }))\n        return DF_FAILED;\n", kernel, DFC_MAX_BLOCK);
}

/* An argument by its name. Ports have addresses, and so does everything else a value. */
static void emit_named(FILE *out, const struct dfc_sig *sig, const char *name)
{
    for (unsigned p = 0; p < sig->n_ports; p++)
        if (strcmp(sig->ports[p].ast->name.text, name) == 0) {
            fprintf(out, "        { .port = %s },\n", name);
            return;
        }
    fprintf(out, "        { .value = &%s, .bytes = sizeof %s },\n", name, name);
}

/* Integers are passed as 64 bits: the parameter types of the kernel are unknown here. */
static void emit_value(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code, const struct dfl_expr *arg, unsigned n)
{
    const struct dfc_value value = dfc_argument_value(front, code, arg);
    const char *type = value.n.kind == DF_KIND_I64 ? "int64_t" : "double";
    fprintf(out, "        { .value = &(const %s){ ", type);
    if (value.known)
        dfc_argument_print(out, front, code, arg);
    else
        fprintf(out, "df_argument_%u", n);
    fprintf(out, " }, .bytes = sizeof(%s) },\n", type);
}

static unsigned emit_arguments(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code)
{
    const struct dfc_sig *sig = &dfc_callee_of(front, code)->sig;
    const char *name;
    unsigned n = 0;
    fputs("    const struct df_cl_arg df_args[] = {\n", out);
    for (const struct dfl_expr *a = code->opencl->args; a; a = a->next, n++)
        if (dfc_argument_is_name(sig, a))
            emit_named(out, sig, a->s);
        else
            emit_value(out, front, code, a, n + 1);
    for (unsigned i = 0; !code->opencl->has_args && (name = dfc_emit_name_of(front->graph, code->kernel, i)); i++, n++)
        emit_named(out, sig, name);     /* as a prototype made by dfc has them */
    fputs("        { .bytes = df_extents[6] ? df_extents[6] : 1 },\n    };\n", out); /* a __local pointer, if the launch has such bytes */
    return n;
}

static void emit_launch(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code)
{
    const struct df_graph *g = front->graph;
    unsigned n_values = 0;
    for (const struct dfl_expr *e = code->opencl->launch; e; e = e->next)
        n_values++;
    fputs("static ", out);
    dfc_emit_prototype(out, g, code->kernel, "df_opencl_", true, true);
    fputc('\n', out);
    dfc_emit_names_free(out, g, code->kernel);
    fputs("static ", out);
    dfc_emit_signature(out, g, code->kernel, "df_opencl_", true, true);
    fputs("\n{\n", out);
    dfc_emit_unused(out, g, code->kernel, true);
    emit_extents(out, front, code);
    fputs("    {\n", out);
    dfc_emit_argument_values(out, front, code, code->opencl);
    const unsigned n = emit_arguments(out, front, code);
    fprintf(out, "    return df_cl_launch(call, stream, \"%s\", df_extents, df_extents + 3, df_args, %u);\n    }\n}\n", code->opencl->target.text, n + n_values % 2);
    dfc_emit_names_back(out, g, code->kernel);
    fprintf(out, "extern df_function df_launch_%s_opencl;\nint df_launch_%s_opencl", dfc_emit_name(front, code), dfc_emit_name(front, code));
    fputs("(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)\n{\n"
          "    (void)dims; (void)ports; (void)scalars;\n    return ", out);
    dfc_emit_call(out, g, code->kernel, "df_opencl_", true);
    fputs(";\n}\n\n", out);
}

bool dfc_emit_opencl(FILE *out, const struct dfc_front *front, const char *header, const char *path)
{
    fprintf(out, "#include \"%s\"\n#include <df_opencl.h>\n\n", header);
    const bool good = emit_source(out, front, path);
    fputs(checks, out);
    dfc_emit_argument_prelude(out);
    for (size_t i = 0; i < front->n_kernels; i++)
        if (dfc_variant_is_of(&front->kernels[i], front->kernels[i].opencl, path))
            emit_launch(out, front, &front->kernels[i]);
    return good;
}
