/* output_check.c - rejects output paths that must be a mistake, before any work is done, for every command with an
 * output: one typing error (`-o examples/sum/vec.c`, `--csv=graph.df`) would overwrite the only copy of a source.
 */
#include "compiler/load/load.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "compiler/tools/messages.h"
#include "compiler/types/paths.h"
#include "runtime/base/output.h"
#include "runtime/start/learn.h"

/* ---- inputs ---- */

static bool is_file(const char *path, const struct stat *output)
{
    struct stat input;
    return stat(path, &input) == 0 && input.st_dev == output->st_dev && input.st_ino == output->st_ino;
}

/* If the variant's code is in the file `output`, gives that file's name, malloc'ed. NULL: it is not. */
static char *is_variant(const struct dfc_kernel_code *code, const struct dfl_variant *variant,
                        const struct stat *output)
{
    const char *file;
    for (unsigned i = 0; variant && (file = dfc_variant_file(variant, i, NULL)); i++) {
        char *path = dfc_path_join(code->dir, file);
        if (path && is_file(path, output))
            return path;
        free(path);
    }
    return NULL;
}

/* If the profile database is the file `output`, gives its name, malloc'ed. NULL: it is not. */
static char *is_database(const struct stat *output)
{
    struct df_error ignored;
    char *path;
    if (dfr_learn_database(&path, &ignored) != DF_OK)
        return NULL;
    if (is_file(path, output))
        return path;
    free(path);
    return NULL;
}

/* The name of the input that is the file `output`, malloc'ed. NULL: no input is, or there is no memory to say so. */
static char *find_input(const struct dfc_common *common, const struct dfc_front *front, const struct stat *output)
{
    const char *given[] = { common->path, common->platform, common->lock };
    char *found = NULL;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i] && is_file(given[i], output))
            return strdup(given[i]);
    if (!front)
        return NULL;
    for (size_t i = 0; i < front->n_sources; i++)
        if (is_file(front->sources[i].path, output))
            return strdup(front->sources[i].path);
    for (size_t i = 0; i < front->n_kernels && !found; i++) {
        found = is_variant(&front->kernels[i], front->kernels[i].cpu, output);
        if (!found)
            found = is_variant(&front->kernels[i], front->kernels[i].gpu, output);
        if (!found)
            found = is_variant(&front->kernels[i], front->kernels[i].opencl, output);
    }
    return found ? found : is_database(output);
}

bool dfc_output_check(const struct dfc_common *common, const struct dfc_loaded *loaded, const char *path)
{
    struct df_error error = { "" };
    struct stat output;
    if (!path || strcmp(path, "-") == 0)
        return true;
    if (dfr_output_check(path, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return false;
    }
    char *input = stat(path, &output) == 0 ? find_input(common, loaded ? loaded->front : NULL, &output) : NULL;
    if (input)
        dfc_error("'%s' is not written: it would replace '%s', which it is made of", path, input);
    free(input);
    return !input;
}

bool dfc_outputs_apart(const char *a_option, const char *a, const char *b_option, const char *b)
{
    if (!a || !b || !((strcmp(a, "-") == 0 && strcmp(b, "-") == 0) || dfr_output_is(a, b)))
        return true;
    dfc_error("%s and %s would both write '%s'", a_option, b_option, b);
    return false;
}

bool dfc_output_is_no_database(const char *db, const char *path)
{
    struct df_error ignored;
    char *own = NULL;
    if (!db && dfr_learn_database(&own, &ignored) != DF_OK)
        return true;                    /* opening the database tells why */
    bool good = dfc_outputs_apart(db ? "--db" : "the profile database", db ? db : own, "-o", path);
    free(own);
    return good;
}

/* ---- pictures ---- */

bool dfc_output_is_picture(const char *option, const char *path, const char *form)
{
    static const struct { const char *suffix, *form; } known[] = {
        { ".svg", "SVG" }, { ".dot", "DOT" }, { ".gv", "DOT" },   { ".png", "SVG" }, { ".jpg", NULL },
        { ".jpeg", NULL }, { ".pdf", NULL },  { ".gif", NULL },   { ".ps", NULL },  { ".eps", NULL },
        { ".webp", NULL }, { ".tif", NULL },  { ".tiff", NULL },  { ".bmp", NULL }, { ".svgz", NULL },
        { ".html", NULL }, { ".df", NULL },
    };
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        if (strcasecmp(dot, known[i].suffix) == 0 && (!known[i].form || strcmp(known[i].form, form) != 0)) {
            dfc_error("%s%s%s: %s is written, so a name that ends in %s is expected", option,
                      option[1] == '-' ? "=" : " ", path, form, strcmp(form, "SVG") ? ".dot or .gv" : ".svg or .png");
            return false;
        }
    return true;
}
