/* paths.c - path handling for the front end, the build and the commands: joins folders and file names, maps file
 * extensions to kinds of code, finds a variant's files and flags, reads whole files, and prints #line.
 */
#include "compiler/types/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* ---- names ---- */

char *dfc_path_join(const char *dir, const char *path)
{
    char *joined;
    if (*path == '/' || !*dir || strcmp(dir, ".") == 0)
        return strdup(path);
    return asprintf(&joined, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", path) < 0 ? NULL : joined;
}

void dfc_path_tidy(char *path)
{
    bool absolute = path[0] == '/';
    char *out = path + absolute, *floor = out; /* floor: what precedes it stays: a leading "/", or "../…" that nothing
                                                * can cancel */
    const char *in = path + absolute;
    while (in && *in) {
        size_t length = strcspn(in, "/");
        const char *next = in[length] ? in + length + 1 : NULL;    /* the end may be written over below */
        if (length == 2 && in[0] == '.' && in[1] == '.') {
            if (out > floor) {
                out--;                                  /* the slash after the last name */
                while (out > floor && out[-1] != '/')
                    out--;
            } else if (!absolute) {
                memmove(out, "../", 3);
                out += 3;
                floor = out;
            }
        } else if (length && !(length == 1 && in[0] == '.')) {
            memmove(out, in, length);
            out += length;
            *out++ = '/';
        }
        in = next;
    }
    if (out > path + absolute)
        out--;                                          /* no slash at the end */
    if (out == path)
        *out++ = '.';
    *out = '\0';
}

const char *dfc_unit_path(struct dfc_unit *u, const char *dir, const char *path)
{
    char *joined = dfc_path_join(dir, path);
    char *kept = joined ? dfl_arena_text(u->arena, strlen(joined) + 2) : NULL; /* "" becomes "." */
    if (kept) {
        strcpy(kept, joined);
        dfc_path_tidy(kept);
    } else {
        u->no_memory = true;
    }
    free(joined);
    return kept ? kept : "";
}

void dfc_make_plain(char *name)
{
    for (char *p = name; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+", *p))
            *p = '_';
}

char *dfc_stem(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t n = strlen(base);
    if (n > 3 && strcmp(base + n - 3, ".df") == 0)
        n -= 3;
    char *stem = n ? strndup(base, n) : strdup("graph");
    if (stem)
        dfc_make_plain(stem);
    return stem;
}

bool dfc_code_kind(const char *path, enum dfc_code_kind *kind)
{
    static const struct { const char *suffix; enum dfc_code_kind kind; } known[] = {
        { ".c", DFC_CODE_C },       { ".cpp", DFC_CODE_CXX },   { ".cu", DFC_CODE_CUDA }, { ".cl", DFC_CODE_OPENCL },
        { ".o", DFC_CODE_OBJECT },  { ".a", DFC_CODE_OBJECT },  { ".cc", DFC_CODE_CXX }, { ".cxx", DFC_CODE_CXX },
    };
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].suffix, dot) == 0) {
            *kind = known[i].kind;
            return true;
        }
    return false;
}

enum dfc_code_kind dfc_code_kind_of(const char *path)
{
    enum dfc_code_kind kind = DFC_CODE_C;
    dfc_code_kind(path, &kind);
    return kind;
}

/* The i-th file after the first, from 1. */
static const struct dfl_expr *further_file(const struct dfl_variant *variant, unsigned i)
{
    const struct dfl_expr *more = variant->more_files;
    while (more && --i)
        more = more->next;
    return more;
}

const char *dfc_variant_file(const struct dfl_variant *variant, unsigned i, struct dfl_loc *loc)
{
    if (i == 0 && loc)
        *loc = variant->path_loc;
    if (i == 0)
        return variant->path;
    const struct dfl_expr *more = further_file(variant, i);
    if (more && loc)
        *loc = more->loc;
    return more ? more->s : NULL;
}

const struct dfl_expr *dfc_variant_flags(const struct dfl_variant *variant, unsigned i)
{
    const struct dfl_expr *more = i > 0 ? further_file(variant, i) : NULL;
    return i == 0 ? variant->flags : more ? more->args : NULL;
}

/* ---- reading ---- */

/* Opens a file for reading. A named pipe is refused, because a program that opens one waits until somebody writes to
 * it. Pipes of the shell, such as <(…), have no file system but the kernel's own. */
static FILE *open_input(const char *path, struct stat *info, const char **why)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct statfs where;
    bool good = fd >= 0 && fstat(fd, info) == 0 && fstatfs(fd, &where) == 0;
    if (good && S_ISFIFO(info->st_mode) && where.f_type != PIPEFS_MAGIC) {
        close(fd);
        *why = "it is a named pipe";
        return NULL;
    }
    FILE *file = good && fcntl(fd, F_SETFL, O_RDONLY) == 0 ? fdopen(fd, "rb") : NULL;
    if (!file) {
        *why = strerrordesc_np(errno);
        if (fd >= 0)
            close(fd);
    }
    return file;
}

static const char too_large[] = "it is larger than 64 MiB";

static bool read_disk(const char *path, char **text, size_t *length, const char **why)
{
    struct stat info;
    FILE *file = open_input(path, &info, why);
    if (!file)
        return false;
    if (S_ISREG(info.st_mode) && info.st_size > (off_t)DFL_MAX_FILE) {
        *why = too_large;
        fclose(file);
        return false;
    }
    size_t room = S_ISREG(info.st_mode) && info.st_size >= 0 ? (size_t)info.st_size + 1 : 1u << 16;
    size_t n = 0;
    char *bytes = malloc(room);
    errno = ENOMEM;
    while (bytes) {
        size_t got = fread(bytes + n, 1, room - n, file);
        n += got;
        if (n < room || n > DFL_MAX_FILE)
            break;
        room *= 2;
        char *more = realloc(bytes, room);
        if (!more)
            free(bytes);
        bytes = more;
    }
    *why = !bytes ? strerrordesc_np(ENOMEM)
                  : ferror(file) ? strerrordesc_np(errno) : n > DFL_MAX_FILE ? too_large : NULL;
    fclose(file);
    if (*why) {
        free(bytes);
        return false;
    }
    *text = bytes;
    *length = n;
    return true;
}

/* Is the file in that folder, or in one of its folders? Links are followed. */
static bool is_below(const char *path, const char *folder)
{
    char *real = folder ? realpath(folder, NULL) : NULL;
    const size_t n = real ? strlen(real) : 0;
    const bool below = n && strncmp(path, real, n) == 0 && (path[n] == '/' || n == 1);
    free(real);
    return below;
}

static bool may_read(const struct dfc_front_options *options, const char *path)
{
    if (!options->untrusted || strcmp(path, options->path) == 0)
        return true;
    char *real = realpath(path, NULL), *main = real ? realpath(options->path, NULL) : NULL;
    bool may = real ? is_below(real, options->own_dir) || (main && strcmp(real, main) == 0)
                    : access(path, F_OK) != 0; /* a missing file is reported by reading it; a pipe in /proc/self/fd has no real path */
    for (size_t i = 0; real && !may && i < options->n_import_dirs; i++)
        may = is_below(real, options->import_dirs[i]);
    if (!may && main)
        may = is_below(real, dirname(main));
    free(real);
    free(main);
    return may;
}

bool dfc_read_file(const struct dfc_front_options *options, const char *path, char **text, size_t *length,
                   const char **why)
{
    *why = "it cannot be read";
    if (options->read)
        return options->read(options->read_arg, path, text, length, why);
    if (!may_read(options, path)) {
        *why = "it is not below the program's folder, and the program is --untrusted";
        return false;
    }
    return read_disk(path, text, length, why);
}

void dfc_emit_line(FILE *out, unsigned line, const char *file)
{
    fprintf(out, "#line %u \"", line);
    for (const char *p = file; *p; p++) {
        if (*p == '\n' || *p == '\r') {
            fputs(*p == '\n' ? "\\n" : "\\r", out);
            continue;
        }
        if (*p == '"' || *p == '\\')
            fputc('\\', out);
        fputc(*p, out);
    }
    fputs("\"\n", out);
}
