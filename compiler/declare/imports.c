/* imports.c - loads the files of a program for front/front.c: the main file, and each imported file once, even if several
 * paths name it. An import is searched beside the importing file, then in the -I folders, then among dfc's own files.
 * Cyclic imports are an error.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/declare/declare.h"
#include "compiler/types/paths.h"

/* ---- paths ---- */

static const char *dir_of(struct dfc_unit *u, const char *path)
{
    const char *slash = strrchr(path, '/');
    return !slash ? "." : dfl_arena_copy(u->arena, path, slash == path ? 1 : (size_t)(slash - path));
}

/* ---- the files ---- */

/* Parses a file that has been read, and adds it. Takes `text`. own: it comes with dfc. */
static bool add_file(struct dfc_unit *u, const char *path, char *text, size_t length, bool own)
{
    struct dfc_source *source = dfr_array_add(&u->sources, sizeof *source, 1);
    char *path_copy = strdup(path);
    if (!source || !path_copy) {
        if (source)
            u->sources.n--;
        free(path_copy);
        free(text);
        return dfc_no_memory(u);
    }
    *source = (struct dfc_source){ path_copy, text, length };
    struct dfl_file *ast = dfl_parse(u->sink, path, text, length);
    struct dfc_loaded_file *file = ast ? dfr_array_add(&u->files, sizeof *file, 1) : NULL;
    if (!file) {
        dfl_file_free(ast);
        return dfc_no_memory(u);
    }
    *file = (struct dfc_loaded_file){ ast, path_copy, dir_of(u, path), own };
    return true;
}

/* Has the file at `path` been loaded by another name: through a link, or by another path? */
static bool find_same(const struct dfc_unit *u, const char *path, uint32_t *file)
{
    const struct dfc_loaded_file *files = u->files.items;
    struct stat this, other;
    if (u->options->read || stat(path, &this) != 0)
        return false;
    for (uint32_t f = 0; f < u->files.n; f++)
        if (stat(files[f].path, &other) == 0 && other.st_dev == this.st_dev && other.st_ino == this.st_ino) {
            *file = f;
            return true;
        }
    return false;
}

/* Adds a file that an import names and that has been read (takes `text`). A second name of a loaded file is added as an
 * empty file. So a program that plans again at its start, from the texts read here, need not ask the file system which
 * names mean one file. */
static bool add_import(struct dfc_unit *u, const char *path, char *text, size_t length, bool own, uint32_t *file)
{
    if (find_same(u, path, file))
        length = 0;
    return add_file(u, path, text, length, own);
}

/* Folder i in which an import is looked for: the importing file's, those of -I, dfc's own. NULL: there are no more. */
static const char *import_dir(const struct dfc_unit *u, const char *dir, const char *name, size_t i)
{
    size_t n = u->options->n_import_dirs;
    if (i == 0)
        return dir;
    if (name[0] == '/' || i > n + 1)
        return NULL;
    return i <= n ? u->options->import_dirs[i - 1] : u->options->own_dir;
}

/* What comes with dfc (runtime/std/). */
static const char *const std_files[] = { "std/io.df", "std/raw.df", "std/npy.df", "std/png.df", "std/jpeg.df", "std/tiff.df", "std/csv.df", "std/image.df" };

/* Finds the file that an import names: one that is loaded already, or a new one, which is added. */
static bool load_import(struct dfc_unit *u, struct dfc_index *paths, const struct dfl_decl *import,
                        const struct dfc_loaded_file *from, uint32_t *file)
{
    const char *first_why = NULL, *name = import->name.text;
    size_t n_dirs = name[0] == '/' ? 0 : u->options->n_import_dirs;
    const char *folder;
    if (!*name) {
        dfl_error(u->sink, import->name.loc, "an import names a file, but this name is empty");
        return false;
    }
    for (size_t i = 0; (folder = import_dir(u, from->dir, name, i)); i++) {
        const char *path = dfc_unit_path(u, folder, name), *why;
        char *text;
        size_t length;
        bool fresh;
        if (dfc_index_find(paths, path, file))
            return true;
        if (dfc_read_file(u->options, path, &text, &length, &why)) {
            if (!dfc_index_add(paths, path, file, &fresh)) {
                free(text);
                return dfc_no_memory(u);
            }
            return add_import(u, path, text, length, folder == u->options->own_dir || (i == 0 && from->own), file);
        }
        if (!first_why)
            first_why = why;
    }
    dfl_error(u->sink, import->name.loc, "cannot import '%s': %s", name, first_why);
    const char *with_std = dfc_printf(u, "std/%s%s", name, strchr(name, '.') ? "" : ".df");
    if (!dfc_hint_name(u, name, std_files, sizeof std_files / sizeof std_files[0]))
        dfc_hint_name(u, with_std, std_files, sizeof std_files / sizeof std_files[0]);
    if (n_dirs)
        dfl_hint(u->sink, "it was looked for beside '%s' and in %zu folder%s of -I",
                 dfl_sink_file_name(u->sink, import->loc.file), n_dirs, n_dirs == 1 ? "" : "s");
    return false;
}

/* Loads what the files import, and what those import, and notes who imports whom. */
static bool load_all(struct dfc_unit *u, struct dfc_index *paths, struct dfr_array *edges)
{
    bool ok = true;
    for (uint32_t f = 0; f < u->files.n && !u->no_memory; f++) {
        struct dfc_loaded_file file = ((struct dfc_loaded_file *)u->files.items)[f];
        for (const struct dfl_decl *decl = file.ast->decls; decl; decl = decl->next) {
            uint32_t to;
            if (decl->kind != DFL_IMPORT)
                continue;
            if (!load_import(u, paths, decl, &file, &to)) {
                ok = false;
                continue;
            }
            struct dfc_edge *edge = dfr_array_add(edges, sizeof *edge, 1);
            if (!edge)
                return dfc_no_memory(u);
            *edge = (struct dfc_edge){ f, to, decl->name.loc };
        }
    }
    return ok && !u->no_memory;
}

static bool check_import_cycles(struct dfc_unit *u, const struct dfc_index *paths, const struct dfr_array *edges)
{
    uint32_t *order = malloc(u->files.n * sizeof *order);
    bool ok = order ? dfc_order_references(u, "file", "imports", dfc_index_names(paths), u->files.n, edges, order)
                    : dfc_no_memory(u);
    free(order);
    return ok;
}

bool dfc_load_files(struct dfc_unit *u)
{
    const struct dfl_loc nowhere = { .file = DFL_NO_FILE };
    struct dfc_index paths = { 0 };
    struct dfr_array edges = { 0 };
    unsigned before = dfl_sink_errors(u->sink);
    const char *path = dfc_unit_path(u, ".", u->options->path), *why;
    char *text;
    size_t length;
    uint32_t id;
    bool fresh, ok = false;

    if (u->no_memory) {
        ok = false;
    } else if (!dfc_read_file(u->options, path, &text, &length, &why)) {
        dfl_error(u->sink, nowhere, "cannot read '%s': %s", u->options->path, why);
    } else if (!dfc_index_add(&paths, path, &id, &fresh)) {
        free(text);
        dfc_no_memory(u);
    } else {
        ok = add_file(u, path, text, length, false) && load_all(u, &paths, &edges) && check_import_cycles(u, &paths, &edges);
        for (uint32_t f = 0; f < u->files.n && dfl_sink_errors(u->sink) == before; f++)
            dfl_check_supported(u->sink, ((struct dfc_loaded_file *)u->files.items)[f].ast);
    }
    dfc_index_free(&paths);
    dfr_array_free(&edges);
    return ok && dfl_sink_errors(u->sink) == before;
}
