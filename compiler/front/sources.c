/* sources.c - packs the sources of a program into one block of bytes for build/build_program.c, and opens it in the program for replan.c (sources.h).
 *
 * Format:   "DFSRC5\0\0"; the divisions of nodes and the tile (dfc_front_options); the numbers of definitions, folders, fused groups
 *           and files; then their texts (runtime/base/bytes.h), and dfc's own folder of imports. A definition is a name and a value, a group is
 *           the text of its wiring (compiler/fusion/), a file is a path and a text.
 */
#include "compiler/front/pack.h"
#include "compiler/fusion/fusion.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/bytes.h"
#include "runtime/graph/builder.h"
#include "runtime/base/error.h"

static const unsigned char magic[DFR_BYTES_MAGIC] = "DFSRC5";

/* ---- writing: once to count, once to fill ---- */

static void put_all(struct dfr_bytes_writer *w, const struct dfc_front *front, const struct dfc_define *defines,
                    size_t n_defines)
{
    dfr_bytes_put(w, magic, sizeof magic);
    dfr_bytes_put_number(w, front->parts);
    dfr_bytes_put_number(w, front->gpu_tile.rows);
    dfr_bytes_put_number(w, front->gpu_tile.columns);
    dfr_bytes_put_number(w, n_defines);
    dfr_bytes_put_number(w, front->n_import_dirs);
    dfr_bytes_put_number(w, front->n_groups);
    dfr_bytes_put_number(w, front->n_sources);
    for (size_t i = 0; i < n_defines; i++) {
        dfr_bytes_put_text(w, defines[i].name, strlen(defines[i].name));
        dfr_bytes_put_text(w, defines[i].value, strlen(defines[i].value));
    }
    for (size_t i = 0; i < front->n_import_dirs; i++)
        dfr_bytes_put_text(w, front->import_dirs[i], strlen(front->import_dirs[i]));
    for (size_t i = 0; i < front->n_groups; i++)
        dfr_bytes_put_text(w, front->groups[i]->text, strlen(front->groups[i]->text));
    for (size_t i = 0; i < front->n_sources; i++) {
        dfr_bytes_put_text(w, front->sources[i].path, strlen(front->sources[i].path));
        dfr_bytes_put_text(w, front->sources[i].text, front->sources[i].length);
    }
    dfr_bytes_put_text(w, front->own_dir ? front->own_dir : "", front->own_dir ? strlen(front->own_dir) : 0);
}

bool dfc_sources_pack(const struct dfc_front *front, const struct dfc_define *defines, size_t n_defines,
                      unsigned char **bytes, size_t *size)
{
    struct dfr_bytes_writer count = { NULL, 0 };
    size_t n = 0;
    struct dfc_define *own = calloc(n_defines + 1, sizeof *own);
    for (size_t i = 0; own && i < n_defines; i++)       /* others are of the file of --platform */
        if (dfc_front_has_name(front, defines[i].name))
            own[n++] = defines[i];
    put_all(&count, front, own, own ? n : 0);
    struct dfr_bytes_writer fill = { own ? malloc(count.n) : NULL, 0 };
    if (fill.to)
        put_all(&fill, front, own, n);
    free(own);
    *bytes = fill.to;
    *size = fill.n;
    return fill.to != NULL;
}

/* ---- reading ---- */

int dfc_pack_open(const unsigned char *bytes, size_t size, struct dfc_pack *pack, struct df_error *error)
{
    struct dfr_bytes_reader r = dfr_bytes_read(bytes, size, magic);
    struct dfc_pack p = { 0 };
    uint64_t parts = dfr_bytes_get_number(&r), rows = dfr_bytes_get_number(&r), columns = dfr_bytes_get_number(&r);
    uint64_t n_defines = dfr_bytes_get_number(&r), n_dirs = dfr_bytes_get_number(&r);
    uint64_t n_groups = dfr_bytes_get_number(&r), n_files = dfr_bytes_get_number(&r);
    if (!r.ok || !n_files || parts > DF_MAX_PARTS || n_defines > size || n_dirs > size || n_groups > size || n_files > size)
        return dfr_error(error, DF_E_FORMAT, "the program's sources cannot be read");
    p.parts = (uint32_t)parts;
    p.gpu_tile = (struct dfc_tile){ (unsigned)rows, (unsigned)columns };
    p.n_defines = (size_t)n_defines;
    p.n_dirs = (size_t)n_dirs;
    p.n_groups = (size_t)n_groups;
    p.n_files = (size_t)n_files;
    p.defines = calloc(p.n_defines + 1, sizeof *p.defines);
    p.dirs = calloc(p.n_dirs + 1, sizeof *p.dirs);
    p.groups = calloc(p.n_groups + 1, sizeof *p.groups);
    p.files = calloc(p.n_files + 1, sizeof *p.files);
    if (!p.defines || !p.dirs || !p.groups || !p.files) {
        dfc_pack_close(&p);
        return dfr_error_memory(error);
    }
    for (size_t i = 0; i < p.n_defines && r.ok; i++) {
        p.defines[i].name = dfr_bytes_get_text(&r, NULL);
        p.defines[i].value = dfr_bytes_get_text(&r, NULL);
    }
    for (size_t i = 0; i < p.n_dirs && r.ok; i++)
        p.dirs[i] = dfr_bytes_get_text(&r, NULL);
    for (size_t i = 0; i < p.n_groups && r.ok; i++)
        p.groups[i] = dfr_bytes_get_text(&r, NULL);
    for (size_t i = 0; i < p.n_files && r.ok; i++) {
        p.files[i].path = dfr_bytes_get_text(&r, NULL);
        p.files[i].text = dfr_bytes_get_text(&r, &p.files[i].length);
    }
    p.own_dir = dfr_bytes_get_text(&r, NULL);
    if (!r.ok) {
        dfc_pack_close(&p);
        return dfr_error(error, DF_E_FORMAT, "the program's sources are cut off");
    }
    *pack = p;
    return DF_OK;
}

void dfc_pack_close(struct dfc_pack *pack)
{
    free(pack->defines);
    free(pack->dirs);
    free(pack->groups);
    free(pack->files);
    *pack = (struct dfc_pack){ 0 };
}
