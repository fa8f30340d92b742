/* build_library.c - decides by its path whether a product is a library, for the link step and commands/cmd_compile.c, and does
 * the last steps of building one: build_link.c makes the shared library or archive, build_program.c opens and closes
 * the files beside it.
 *
 * A shared library is linked like a program, with only its own symbols exported. For an archive, everything is linked
 * into one relocatable object in which only these symbols are global, so that two archives with the same kernels, or
 * from two versions of dfc, can be linked into one program. A header, a pkg-config file and a CMake package are written
 * beside the library. They locate themselves, so all of them can be moved together.
 */
#include "compiler/build/build_program.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/emit/emit.h"
#include "compiler/tools/home.h"

static bool no_memory(void)
{
    dfc_error("out of memory");
    return false;
}

/* ---- names ---- */

const char *dfc_library_file(const struct dfc_program *p)
{
    const char *slash = strrchr(p->output, '/');
    return slash ? slash + 1 : p->output;
}

enum dfc_product dfc_product_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".so") == 0  ? DFC_SHARED
           : dot && strcmp(dot, ".a") == 0 ? DFC_ARCHIVE
                                           : DFC_PROGRAM;
}

/* "edges" of dir/libedges.so. malloc'ed; NULL: no memory. */
static char *library_stem(const struct dfc_program *p)
{
    const char *file = dfc_library_file(p);
    if (strncmp(file, "lib", 3) == 0 && file[3] != '.')
        file += 3;
    char *name = strndup(file, (size_t)(strrchr(file, '.') - file)), *stem = name ? dfc_stem(name) : NULL;
    free(name);
    return stem;
}

/* ---- symbols ---- */

/* The file in the work folder that names what can be seen from outside. malloc'ed; NULL: reported. */
char *dfc_library_exports(const struct dfc_program *p, bool script)
{
    char *path;
    if (asprintf(&path, "%s/exports.%s", p->work, script ? "map" : "txt") < 0) {
        no_memory();
        return NULL;
    }
    FILE *file = fopen(path, "w");
    if (file)
        dfc_emit_exports(file, p->loaded->front, script);
    bool good = file && !ferror(file);
    if (file && fclose(file) == 0 && good)
        return path;
    dfc_error("cannot write '%s': %s", path, strerror(errno));
    free(path);
    return NULL;
}

/* ---- an archive ---- */

static bool run_step(struct dfc_list *argv, const struct dfc_program *p)
{
    char *said = NULL;
    int status = dfc_run_linker(argv, &said);
    if (status > 0 && !dfc_signals_caught())
        dfc_error("making '%s' failed", p->output);
    free(said);
    dfc_list_free(argv);
    return status == 0;
}

/* All in one object, then nothing but the exports global, then the archive with that object. */
bool dfc_link_archive(const struct dfc_program *p, const char *path)
{
    struct dfc_list relocatable = { 0 }, localise = { 0 }, archive = { 0 };
    char *exports = dfc_library_exports(p, false);
    if (!exports)
        return false;
    dfc_link_relocatable(p, &relocatable);
    dfc_list_add_words(&localise, "objcopy");
    dfc_list_add(&localise, "--keep-global-symbols=%s", exports);
    dfc_list_add(&localise, "%s/all.o", p->work);
    dfc_list_add(&localise, "%s/%s.exported.o", p->work, p->stem);
    dfc_list_add_words(&archive, "ar rcsD");
    dfc_list_add_path(&archive, "", path);
    dfc_list_add(&archive, "%s/%s.exported.o", p->work, p->stem);
    free(exports);
    remove(path);                       /* ar adds to what is there, and an empty file is no archive */
    bool good = run_step(&relocatable, p) && run_step(&localise, p);
    if (good)
        return run_step(&archive, p);
    dfc_list_free(&localise);
    dfc_list_free(&archive);
    return false;
}

/* ---- the files beside it ---- */

/* A file of that name which dfc did not make stays. */
static bool may_replace(const char *path)
{
    char line[400] = "";
    FILE *file = fopen(path, "r");
    bool there = file != NULL, ours = file && fgets(line, sizeof line, file) && strstr(line, "- made by dfc of ");
    if (file)
        fclose(file);
    if (!there || ours)
        return true;
    dfc_error("'%s' is there already, and dfc did not make it: give the library another name or folder", path);
    return false;
}

static bool open_companion(const struct dfc_program *p, const char *stem, const char *ending, struct dfc_output *output)
{
    char *path;
    if (asprintf(&path, "%.*s%s%s", (int)(dfc_library_file(p) - p->output), p->output, stem, ending) < 0)
        return no_memory();
    bool good = dfc_output_check(p->common, p->loaded, path) && may_replace(path) && dfc_output_open(output, path);
    free(path);
    return good;
}

/* Can the module be made? graphs.py, opened; NULL: reported. */
static FILE *open_python(const struct dfc_program *p, const char *stem)
{
    const struct dfc_front *front = p->loaded->front;
    const char *share = dfc_home_share();
    char path[PATH_MAX];
    for (size_t i = 0; i < front->n_exports; i++)
        if (!dfc_python_name(front->exports[i]->name)) {
            dfc_error("--python: the module cannot have a graph of the name '%s'", front->exports[i]->name);
            return NULL;
        }
    if (stem[strspn(stem, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] || !dfc_python_name(stem) ||
        (stem[0] >= '0' && stem[0] <= '9')) {
        dfc_error("--python: '%s' is no name of a module: give the library another", stem);
        return NULL;
    }
    snprintf(path, sizeof path, "%s/python/dfc/graphs.py", share ? share : "");
    FILE *text = fopen(path, "r");
    if (!text)
        dfc_error("--python: '%s' is missing: install dfc again", path);
    return text;
}

bool dfc_library_open(const struct dfc_program *p, struct dfc_library_files *files)
{
    static const char *const endings[DFC_LIBRARY_FILES] = { ".h", ".pc", "Config.cmake", ".py" };
    size_t n = p->options->python ? DFC_LIBRARY_FILES : DFC_LIBRARY_FILES - 1;
    struct dfc_list needs = { 0 };
    FILE *text = NULL;
    char *stem = library_stem(p);
    bool archive = dfc_product_of(p->output) == DFC_ARCHIVE, good = stem || no_memory();
    const char *source = strrchr(p->common->path, '/'), *file = dfc_library_file(p);
    source = source ? source + 1 : p->common->path;
    if (good && p->options->python)
        good = (text = open_python(p, stem)) != NULL;
    while (good && files->n < n && open_companion(p, stem, endings[files->n], &files->output[files->n]))
        files->n++;
    good = good && files->n == n;
    if (good) {
        if (archive)
            dfc_link_needs(p, &needs);
        dfc_emit_library_header(files->output[0].file, p->loaded->front, stem, source);
        dfc_emit_pkg_config(files->output[1].file, stem, file, source, &needs);
        dfc_emit_cmake(files->output[2].file, stem, file, source, archive, &needs);
        if (text)
            dfc_emit_python(files->output[3].file, p->loaded->front, stem, file, source, text);
    }
    if (text)
        fclose(text);
    dfc_list_free(&needs);
    free(stem);
    return good;
}

bool dfc_library_close(struct dfc_library_files *files, bool keep)
{
    bool good = true;
    for (size_t i = 0; i < files->n; i++)
        good = dfc_output_close(&files->output[i], keep && good) && good;
    files->n = 0;
    return good;
}
