/* code_files.c - checks for check_kernel.c that the source files named by variants exist, and hashes their contents, so
 * that a kernel whose source changed is measured again. Headers that a source includes are not hashed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/declare/declare.h"
#include "compiler/types/paths.h"

/* FNV-1a. A hash of 0 means "none", so callers make a real 0 into 1. */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text ? hash_bytes(hash, text, strlen(text) + 1) : hash_bytes(hash, "", 1);
}

/* The values of a launch, as they were written. */
static uint64_t hash_expr(uint64_t hash, const struct dfl_expr *e)
{
    for (; e; e = e->next) {
        const int64_t numbers[] = { e->kind, e->op, e->i };
        hash = hash_bytes(hash, (const char *)numbers, sizeof numbers);
        hash = hash_bytes(hash, (const char *)&e->f, sizeof e->f);
        hash = hash_text(hash, e->s);
        hash = hash_expr(hash_expr(hash_expr(hash, e->a), e->b), e->args);
    }
    return hash;
}

/* How the file's function is called: that is part of what is measured. */
static uint64_t hash_call(uint64_t hash, const struct dfl_variant *variant)
{
    hash = hash_text(hash, variant->has_target ? variant->target.text : NULL);
    for (const struct dfl_expr *arg = variant->args; arg; arg = arg->next) {
        const struct dfl_expr one = { .kind = arg->kind, .op = arg->op, .i = arg->i, .f = arg->f, .s = arg->s,
                                      .a = arg->a, .b = arg->b, .args = arg->args };
        hash = arg->kind == DFL_EXPR_NAME ? hash_text(hash, arg->s) : hash_expr(hash, &one);
    }
    return hash_expr(hash, variant->launch);
}

static const char *why_unreadable(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || (S_ISREG(info.st_mode) && access(path, R_OK) != 0))
        return strerrordesc_np(errno);
    return S_ISREG(info.st_mode) ? NULL : "it is not a file";
}

/* A file is read once, for all kernels that are in it. *id is its number. *hash is 0 if it cannot be read. */
static bool hash_file(struct dfc_unit *u, const char *path, uint32_t *id, uint64_t *hash)
{
    bool fresh;
    if (!dfc_index_add(&u->code_paths, path, id, &fresh))
        return dfc_no_memory(u);
    if (!fresh) {
        *hash = ((const uint64_t *)u->code_hashes.items)[*id];
        return true;
    }
    uint64_t *item = dfr_array_add(&u->code_hashes, sizeof *item, 1);
    if (!item)
        return dfc_no_memory(u);
    char *text;
    size_t length;
    const char *why;
    if (dfc_read_file(u->options, path, &text, &length, &why)) {
        *item = hash_bytes(0xcbf29ce484222325u, text, length);
        free(text);
    }
    *hash = *item;
    return true;
}

/* Checks one file of a variant. *hash is 0 if it cannot be read and need not be. */
static bool check_file(struct dfc_unit *u, const char *dir, const char *file, struct dfl_loc loc,
                       const struct dfl_expr *flags, uint64_t *hash)
{
    enum dfc_code_kind kind;
    uint32_t id;
    if (!dfc_code_kind(file, &kind)) {
        dfl_error(u->sink, loc, "'%s' is not a file of code: its name must end in .c, .cpp, .cc, .cxx, .cu, .cl, .o or .a", file);
        return false;
    }
    const char *path = dfc_unit_path(u, dir, file);
    if (u->options->need_code_files && !u->options->read) {
        const char *why = why_unreadable(path);
        if (why) {
            dfl_error(u->sink, loc, "cannot read '%s': %s", path, why);
            if (file[0] != '/')
                dfl_hint(u->sink, "it is looked for beside the .df that names it");
            return false;
        }
    }
    if (!hash_file(u, path, &id, hash) || !dfc_flags_check(u, id, file, kind == DFC_CODE_OBJECT, loc, flags))
        return false;
    if (*hash && flags) { /* how it is compiled is part of what is measured */
        *hash = hash_text(*hash, flags->s);
        *hash += !*hash;
    }
    return true;
}

bool dfc_code_check(struct dfc_unit *u, const struct dfl_variant *variant, const char *dir, uint64_t *hash)
{
    bool ok = true, readable = true;
    struct dfl_loc loc;
    const char *file;
    *hash = variant->code ? hash_text(0xcbf29ce484222325u, variant->code) : 0;
    for (unsigned i = 0; (file = dfc_variant_file(variant, i, &loc)); i++) {
        uint64_t one = 0;
        ok &= check_file(u, dir, file, loc, dfc_variant_flags(variant, i), &one);
        readable &= one != 0;
        *hash = *hash ? hash_bytes(*hash, (const char *)&one, sizeof one) : one;
    }
    if (!variant->code && readable)
        *hash = hash_call(*hash, variant);
    *hash = readable ? *hash + !*hash : 0;
    return ok;
}
