/* cmd_wrap.c - `dfc wrap`: prints kernel declarations for existing functions, from their debug information: of a
 * source, which it compiles first, or an object file.
 */
#include "compiler/commands/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/types/paths.h"
#include "compiler/wrap/kernel_text.h"
#include "runtime/base/suggest.h"

enum { MOST_GLOBALS = 8 };

static const char usage[] =
    "usage: dfc wrap FILE [options]\n\n"
    "Writes kernel declarations for functions that exist. FILE is C or C++ (.c .cpp .cc .cxx), OpenCL C (.cl), whose\n"
    "kernels are written, or an object or archive that was compiled with -g (.o .a). Types, names and const come from the debug information. What that does not tell\n"
    "is marked with '?' for you to write: 'in', 'out' or 'inout' for a port, and its extents. Extents that are guessed\n"
    "from names are marked in a comment. Without --function all functions that other files can call are written; of a\n"
    "source that has none but main(), the static ones; of a source that has none at all, those of its headers.\n";

struct request {
    struct dfc_common common;
    struct dfc_build_options build;
    const char **names;
    size_t n_names;
    bool statics;                       /* static functions are written, because the source has no others */
    bool headers;                       /* those of headers are written, because the source has none at all */
};

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    { "--function", "NAME", "only this function; may be given several times, and name a static one", DFR_NAMES(struct request, names, n_names) },
    DFC_OPTION_OUTPUT("the file for the declarations; else they go to standard output"),
    { "--cflags", "FLAGS", "flags for the compiler, which are also written into the declarations", DFR_FIELD(TEXT, struct request, build.cflags) },
    { "--cc", "COMMAND", "the C compiler ($CC, else cc)", DFR_FIELD(TEXT, struct request, build.cc) },
    { "-I", "DIR", "a folder in which the file's headers are looked for", DFR_NAMES(struct request, common.import_dirs, common.n_import_dirs) },
    { 0 }
};

static int parse(int argc, char **argv, struct request *r)
{
    r->common.path_optional = true;
    int status = dfc_parse_options(&dfc_command_wrap, argc, argv, &r->common);
    if (status || r->common.path)
        return status;
    dfc_error("a file of C, C++ or OpenCL C, an object or an archive is expected; 'dfc wrap --help' says more");
    return 2;
}

/* ---- what is written ---- */

static bool is_named(const struct request *r, const struct dfc_function *f)
{
    for (size_t i = 0; i < r->n_names; i++)
        if (strcmp(r->names[i], f->name) == 0 || strcmp(r->names[i], f->qualified) == 0)
            return true;
    return false;
}

static bool is_wanted(const struct request *r, const struct dfc_function *f)
{
    if (r->n_names)
        return is_named(r, f);
    return f->header ? r->headers && f->is_external : (f->is_external || r->statics) && strcmp(f->name, "main") != 0;
}

/* Is there a function for each --function? */
static bool find_named(const struct request *r, const struct dfc_prototypes *prototypes)
{
    bool all = true;
    for (size_t i = 0; i < r->n_names; i++) {
        struct dfr_suggestion best = { .name = r->names[i] };
        bool found = false;
        for (const struct dfc_function *f = prototypes->functions; f; f = f->next) {
            found |= strcmp(r->names[i], f->name) == 0 || strcmp(r->names[i], f->qualified) == 0;
            dfr_suggest(&best, f->name);
        }
        if (!found && best.closest)
            dfc_error("'%s' defines no function '%s'; did you mean '%s'?", r->common.path, r->names[i], best.closest);
        else if (!found)
            dfc_error("'%s' defines no function '%s'", r->common.path, r->names[i]);
        all &= found;
    }
    return all;
}

/* Counts the functions that are wanted and wrapped. Says why the others are not, if `told`. */
static size_t count_wrapped(const struct request *r, const struct dfc_prototypes *prototypes,
                            const struct dfc_wrapped_file *file, bool told)
{
    char text[DFC_WHY_BYTES];
    size_t n = 0;
    for (const struct dfc_function *f = prototypes->functions; f; f = f->next) {
        const char *why = is_wanted(r, f) ? dfc_kernel_refused(f, file, text) : NULL;
        n += is_wanted(r, f) && !why;
        if (why && told)
            dfc_error("'%s' cannot be wrapped as it is: %s", f->qualified, why);
    }
    return n;
}

/* A benchmark often is one source with a main() and static functions; a library that is a header needs a source of two
 * lines. So what is written depends on what the source itself has. */
static void choose(struct request *r, const struct dfc_prototypes *prototypes)
{
    size_t n = 0, n_external = 0;
    for (const struct dfc_function *f = prototypes->functions; f; f = f->next)
        if (!f->header && strcmp(f->name, "main") != 0) {
            n++;
            n_external += f->is_external;
        }
    r->statics = n_external == 0;
    r->headers = n == 0;
}

/* Names the static functions of a source, which are not written unless they are asked for. */
static void print_static(FILE *out, const struct request *r, const struct dfc_prototypes *prototypes,
                         const struct dfc_wrapped_file *file)
{
    const char *before = "// Static, and written if --function names them: ";
    if (r->n_names || r->statics || !file->is_source)
        return;
    for (const struct dfc_function *f = prototypes->functions; f; f = f->next)
        if (!f->is_external && !f->header) {
            fprintf(out, "%s%s", before, f->qualified);
            before = ", ";
        }
    fputs(*before == ',' ? "\n" : "", out);
}

/* Names the first variables of "a, b, c". */
static void print_globals(FILE *out, const char *names)
{
    const char *end = names;
    for (unsigned i = 0; end && *end && i < MOST_GLOBALS; i++)
        end += strcspn(end + (i > 0), ",") + (i > 0);
    if (names)
        fprintf(out, "// The file has variables: %.*s%s. A kernel whose function writes such needs the trait 'ordered'.\n",
                (int)(end - names), names, *end ? " and others" : "");
}

static bool print_all(FILE *out, const struct request *r, const struct dfc_prototypes *prototypes,
                      const struct dfc_wrapped_file *file)
{
    char text[DFC_WHY_BYTES];
    fprintf(out, "// Kernels for the functions of %s, written by 'dfc wrap'. Each '?' is for you to replace: in 'inout?' by\n"
                 "// 'in', 'out' or 'inout', %sin '[?]' by an extent in elements, such as n, h * w or 1024.\n", file->path,
            file->is_opencl ? "in '<<<?' by the number of work-groups, and " : "and ");
    print_globals(out, r->headers ? prototypes->header_globals : prototypes->globals);
    print_static(out, r, prototypes, file);
    for (const struct dfc_function *f = prototypes->functions; f; f = f->next) {
        if (!is_wanted(r, f))
            continue;
        const char *why = dfc_kernel_refused(f, file, text);
        fputc('\n', out);
        if (why)
            dfc_kernel_print_refused(out, f, file, why, prototypes->functions);
        else if (!dfc_kernel_print(out, f, file)) {
            dfc_error("out of memory");
            return false;
        }
    }
    return true;
}

/* The file as the .df will name it: beside the .df it is named without a folder, elsewhere by its whole path. */
static char *path_for_df(const struct request *r)
{
    const char *output = r->common.output, *slash = output ? strrchr(output, '/') : NULL, *path = r->common.path;
    char *whole, *folder = slash ? strndup(output, (size_t)(slash - output) + 1) : strdup("."), *named = NULL;
    char *place = folder ? realpath(folder, NULL) : NULL;
    free(folder);
    whole = realpath(path, NULL);
    size_t n = place ? strlen(place) : 0;
    if (path[0] != '/' && !slash)
        named = strdup(path);
    else if (whole && place && strncmp(whole, place, n) == 0 && whole[n] == '/')
        named = strdup(whole + n + 1);
    else
        named = strdup(whole ? whole : path);
    free(place);
    free(whole);
    return named;
}

static int write_kernels(struct request *r, const struct dfc_prototypes *prototypes)
{
    enum dfc_code_kind kind = dfc_code_kind_of(r->common.path);
    char *path = path_for_df(r);
    struct dfc_wrapped_file file = { path, r->build.cflags, kind != DFC_CODE_OBJECT, kind == DFC_CODE_OPENCL };
    struct dfc_output output;
    bool good = path != NULL;
    if (file.is_source)
        choose(r, prototypes);
    if (!path)
        dfc_error("out of memory");
    else if (!find_named(r, prototypes))
        good = false;
    else if (count_wrapped(r, prototypes, &file, false) == 0) {
        count_wrapped(r, prototypes, &file, true);
        dfc_error("'%s' has no function that can be wrapped as it is", r->common.path);
        good = false;
    } else if ((good = dfc_output_open(&output, r->common.output))) {
        good = print_all(output.file, r, prototypes, &file);
        good = dfc_output_close(&output, good) && good;
    }
    free(path);
    return good ? 0 : 1;
}

/* The unit of a .cl file is made by dfc, and the file is a header of it. */
static void take_kernels_for_own(const struct request *r, struct dfc_prototypes *prototypes)
{
    const size_t n = strlen(r->common.path);
    for (struct dfc_function *f = prototypes->functions; f; f = f->next) {
        const size_t length = f->header ? strlen(f->header) : 0;
        if (length >= n && strcmp(f->header + length - n, r->common.path) == 0)
            f->header = NULL;
    }
}

static int wrap_object(void *arg, const char *object)
{
    struct dfc_prototypes prototypes = { 0 };
    const struct request *r = arg;
    const enum dfc_code_kind kind = dfc_code_kind_of(r->common.path);
    int status = 1;
    if (dfc_prototypes_read(object, kind != DFC_CODE_OBJECT, &prototypes)) {
        if (kind == DFC_CODE_OPENCL)
            take_kernels_for_own(r, &prototypes);
        status = write_kernels(arg, &prototypes);
    }
    dfc_prototypes_free(&prototypes);
    return status;
}

/* ---- the command ---- */

/* Headers and CUDA have another way into a graph. */
static void explain_unsupported(const char *path)
{
    const char *name = strrchr(path, '/'), *dot = strrchr(path, '.');
    name = name ? name + 1 : path;
    dfc_error("'%s' cannot be wrapped: its name must end in .c, .cpp, .cc, .cxx, .cl, .o or .a", path);
    if (dot && (strcmp(dot, ".h") == 0 || strcmp(dot, ".hpp") == 0))
        dfc_note("a header is wrapped by way of a source that includes it: a file with '#include \"%s\"', below the macros "
                 "that it asks for", name);
    else if (dot && strcmp(dot, ".cu") == 0)
        dfc_note("a __global__ function needs no wrapping: gpu \"%s\": NAME<<<blocks, threads>>>(arguments)", name);
}

static bool is_readable(const char *path, enum dfc_code_kind *kind)
{
    struct stat info;
    if (!dfc_code_kind(path, kind) || *kind == DFC_CODE_CUDA)
        explain_unsupported(path);
    else if (stat(path, &info) != 0 || access(path, R_OK) != 0)
        dfc_error("cannot read '%s': %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        dfc_error("cannot read '%s': it is not a file", path);
    else
        return true;
    return false;
}

static int wrap(struct request *r)
{
    enum dfc_code_kind kind;
    if (!dfc_prototypes_read) {
        dfc_error("this dfc was built without libdw, which reads debug information: install libdw-dev, and make dfc again");
        return 1;
    }
    if (!is_readable(r->common.path, &kind) || !dfc_output_check(&r->common, NULL, r->common.output))
        return 1;
    r->build.debug = true;
    r->build.optimise = "-O0"; /* else static functions may leave no trace */
    return kind == DFC_CODE_OBJECT ? wrap_object(r, r->common.path)
                                   : dfc_build_object(&r->common, &r->build, r->common.path, wrap_object, r);
}

static int run(int argc, char **argv)
{
    struct request r = { .n_names = 0 };
    int status = parse(argc, argv, &r);
    if (status == 0)
        status = wrap(&r);
    free(r.names);
    dfc_common_free(&r.common);
    return status;
}

const struct dfc_command dfc_command_wrap = { "wrap", "write kernel declarations for functions that exist", usage, run,
                                              DFC_OPTIONS({ own_options, 0 }) };
