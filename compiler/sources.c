/* sources.c - the pack of sources: "DFSRC1\0\0", then the counts of definitions, folders and files, then their strings,
 * each as its length (8 bytes, least first), its bytes and a NUL. Definitions are name and value, files path and text.
 */
#include "compiler/pack.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"

static const unsigned char magic[8] = "DFSRC1";

/* ---- writing: once to count, once to fill ---- */

struct writer {
    unsigned char *to;                  /* NULL: only counting */
    size_t n;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
    if (w->to && n)
        memcpy(w->to + w->n, bytes, n);
    w->n += n;
}

static void put_number(struct writer *w, uint64_t number)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    put(w, bytes, sizeof bytes);
}

static void put_string(struct writer *w, const char *text, size_t length)
{
    put_number(w, length);
    put(w, text, length);
    put(w, "", 1);
}

static void put_all(struct writer *w, const struct dfc_front *front, const struct dfc_define *defines, size_t n_defines)
{
    put(w, magic, sizeof magic);
    put_number(w, n_defines);
    put_number(w, front->n_import_dirs);
    put_number(w, front->n_sources);
    for (size_t i = 0; i < n_defines; i++) {
        put_string(w, defines[i].name, strlen(defines[i].name));
        put_string(w, defines[i].value, strlen(defines[i].value));
    }
    for (size_t i = 0; i < front->n_import_dirs; i++)
        put_string(w, front->import_dirs[i], strlen(front->import_dirs[i]));
    for (size_t i = 0; i < front->n_sources; i++) {
        put_string(w, front->sources[i].path, strlen(front->sources[i].path));
        put_string(w, front->sources[i].text, front->sources[i].length);
    }
}

bool dfc_sources_pack(const struct dfc_front *front, const struct dfc_define *defines, size_t n_defines,
                      unsigned char **bytes, size_t *size)
{
    struct writer count = { NULL, 0 };
    put_all(&count, front, defines, n_defines);
    struct writer fill = { malloc(count.n), 0 };
    if (!fill.to)
        return false;
    put_all(&fill, front, defines, n_defines);
    *bytes = fill.to;
    *size = fill.n;
    return true;
}

/* ---- reading: every length is checked against what is left ---- */

struct reader {
    const unsigned char *at;
    size_t left;
    bool ok;
};

static uint64_t get_number(struct reader *r)
{
    uint64_t number = 0;
    r->ok &= r->left >= 8;
    if (!r->ok)
        return 0;
    for (unsigned i = 0; i < 8; i++)
        number |= (uint64_t)r->at[i] << 8 * i;
    r->at += 8;
    r->left -= 8;
    return number;
}

static const char *get_string(struct reader *r, size_t *length)
{
    uint64_t n = get_number(r);
    r->ok = r->ok && n < r->left && r->at[n] == '\0';
    if (!r->ok)
        return "";
    const char *text = (const char *)r->at;
    *length = (size_t)n;
    r->at += n + 1;
    r->left -= (size_t)n + 1;
    return text;
}

int dfc_pack_open(const unsigned char *bytes, size_t size, struct dfc_pack *pack, struct df_error *error)
{
    struct reader r = { bytes, size, size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0 };
    struct dfc_pack p = { 0 };
    size_t length;
    if (r.ok) {
        r.at += sizeof magic;
        r.left -= sizeof magic;
    }
    uint64_t n_defines = get_number(&r), n_dirs = get_number(&r), n_files = get_number(&r);
    if (!r.ok || !n_files || n_defines > size || n_dirs > size || n_files > size)
        return dfr_error(error, DF_E_FORMAT, "the program's sources cannot be read");
    p.n_defines = (size_t)n_defines;
    p.n_dirs = (size_t)n_dirs;
    p.n_files = (size_t)n_files;
    p.defines = calloc(p.n_defines + 1, sizeof *p.defines);
    p.dirs = calloc(p.n_dirs + 1, sizeof *p.dirs);
    p.files = calloc(p.n_files + 1, sizeof *p.files);
    if (!p.defines || !p.dirs || !p.files) {
        dfc_pack_close(&p);
        return dfr_error_memory(error);
    }
    for (size_t i = 0; i < p.n_defines && r.ok; i++) {
        p.defines[i].name = get_string(&r, &length);
        p.defines[i].value = get_string(&r, &length);
    }
    for (size_t i = 0; i < p.n_dirs && r.ok; i++)
        p.dirs[i] = get_string(&r, &length);
    for (size_t i = 0; i < p.n_files && r.ok; i++) {
        p.files[i].path = get_string(&r, &length);
        p.files[i].text = get_string(&r, &p.files[i].length);
    }
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
    free(pack->files);
    *pack = (struct dfc_pack){ 0 };
}
