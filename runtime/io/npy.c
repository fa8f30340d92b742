/* npy.c - reads and writes the header of NumPy's .npy format (NEP 1): versions 1 to 3, written as version 1 (df_io.h). For kernels, as those of std/npy.c; for
 * --dump; and for the record of outputs (record/), which corrects the count of tokens. */
#include "runtime/df_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/engine/engine.h"
#include "runtime/io/npy.h"

#define LARGEST_HEADER 65536u

static const char *const types[] = {
#define DF_ELEMENT(ID, name, type, bytes, least, most, formula, numpy) numpy,
#include "runtime/elements.def"
};

static char own_order(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1 ? '<' : '>';
}

/* ---- writing ---- */

void df_npy_write(FILE *file, const struct df_npy *npy)
{
    char shape[32 * (DF_MAX_RANK + 1)] = "", text[DF_NPY_HEADER_BYTES];
    size_t n = 0, length = DF_NPY_HEADER_BYTES - 10;
    for (unsigned i = 0; i < npy->rank; i++)
        n += (size_t)snprintf(shape + n, sizeof shape - n, "%llu%s", (unsigned long long)npy->extents[i],
                              npy->rank == 1 ? "," : i + 1 < npy->rank ? ", " : "");
    const char *type = types[npy->elem];
    snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
             type[0] == '|' ? '|' : own_order(), type + 1, shape);
    const unsigned char begin[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)length,
                                      (unsigned char)(length >> 8) };
    fwrite(begin, 1, sizeof begin, file);
    fprintf(file, "%-*s\n", (int)length - 1, text);
}

/* ---- reading: a Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } ---- */

/* Is `word` the next thing but blanks at *at? Then goes behind it. */
static int next(const char **at, const char *word)
{
    const char *p = *at + strspn(*at, " \t\n");
    size_t n = strlen(word);
    if (strncmp(p, word, n) != 0)
        return 0;
    *at = p + n;
    return 1;
}

static int read_type(struct df_call *call, const char *path, const char **at, struct df_npy *npy)
{
    char name[32];
    if (!next(at, "'"))
        return df_fail(call, "'%s' holds records, and a token has one type of element", path);
    size_t n = strcspn(*at, "'");
    snprintf(name, sizeof name, "%.*s", (int)n, *at);
    *at += n + ((*at)[n] == '\'');
    for (int e = 0; e < DF_N_ELEMS; e++)
        if (name[0] && strcmp(name + 1, types[e] + 1) == 0) {
            npy->elem = (enum df_elem)e;
            if (name[0] == own_order() || name[0] == '|' || name[0] == '=')
                return DF_OK;
            return df_fail(call, "'%s' has the bytes of its numbers in the other order ('%s'): save a.astype('%c%s')",
                           path, name, own_order(), name + 1);
        }
    return df_fail(call, "'%s' has elements of the type '%s', and tokens have u1 u2 i4 i8 f2 f4 f8", path, name);
}

static int read_shape(const char **at, struct df_npy *npy)
{
    npy->rank = 0;
    if (!next(at, "("))
        return 0;
    while (!next(at, ")")) {
        char *end;
        const char *p = *at + strspn(*at, " ");
        errno = 0;
        unsigned long long extent = strtoull(p, &end, 10);
        if (*p < '0' || *p > '9' || errno || npy->rank == DF_NPY_MAX_RANK)
            return 0;
        npy->extents[npy->rank++] = extent;
        *at = end;
        if (!next(at, ",") && *(*at + strspn(*at, " ")) != ')')
            return 0;
    }
    return 1;
}

static int malformed(struct df_call *call, const char *path)
{
    return df_fail(call, "the header of '%s' is not as NumPy writes it", path);
}

static int parse(struct df_call *call, const char *path, const char *at, struct df_npy *npy)
{
    unsigned seen = 0;
    if (!next(&at, "{"))
        return malformed(call, path);
    while (!next(&at, "}")) {
        if (next(&at, "'descr':")) {
            if (read_type(call, path, &at, npy) != DF_OK)
                return DF_FAILED;
            seen |= 1;
        } else if (next(&at, "'fortran_order':")) {
            if (next(&at, "True"))
                return df_fail(call, "'%s' is in Fortran order, columns first: save np.ascontiguousarray(a)", path);
            seen |= next(&at, "False") ? 2 : 0;
        } else if (next(&at, "'shape':")) {
            seen |= read_shape(&at, npy) ? 4 : 0;
        } else {
            return malformed(call, path);
        }
        next(&at, ",");
    }
    return seen == 7 ? DF_OK : malformed(call, path);
}

int df_npy_read(struct df_call *call, const char *path, FILE *file, struct df_npy *npy)
{
    unsigned char begin[12];
    if (fread(begin, 1, 10, file) != 10 || memcmp(begin, "\x93NUMPY", 6) != 0)
        return df_fail(call, "'%s' is not a .npy file", path);
    if (begin[6] < 1 || begin[6] > 3)
        return df_fail(call, "'%s' is of version %d of the .npy format, and 1 to 3 are known", path, begin[6]);
    size_t length = begin[8] + 256u * begin[9];
    if (begin[6] > 1) {
        if (fread(begin + 10, 1, 2, file) != 2)
            return df_fail(call, "'%s' ends in its header", path);
        length += 65536u * begin[10] + 16777216u * (size_t)begin[11];
    }
    if (length > LARGEST_HEADER)
        return malformed(call, path);
    char *text = calloc(1, length + 1);
    int status = !text                                       ? df_fail(call, "out of memory")
                 : fread(text, 1, length, file) != length    ? df_fail(call, "'%s' ends in its header", path)
                                                             : parse(call, path, text, npy);
    free(text);
    return status;
}

/* ---- the number of tokens, when it is known ---- */

/* Writes the header again. false: errno says why. */
static bool write_header(int fd, const struct df_npy *npy)
{
    char text[DF_NPY_HEADER_BYTES];
    FILE *to = fmemopen(text, sizeof text, "w");
    if (!to)
        return false;
    setvbuf(to, NULL, _IOFBF, 2 * sizeof text); /* fmemopen() would put a NUL over the last byte of each flush */
    df_npy_write(to, npy);
    bool good = fclose(to) == 0;
    text[sizeof text - 1] = '\n';
    return good && pwrite(fd, text, sizeof text, 0) == (ssize_t)sizeof text;
}

/* The same, with the extent before the others. */
static bool write_count(int fd, struct df_npy *npy, int64_t tokens)
{
    memmove(npy->extents + 1, npy->extents, npy->rank * sizeof *npy->extents);
    npy->extents[0] = (uint64_t)tokens;
    npy->rank++;
    return write_header(fd, npy);
}

/* Reads the header and the file's status. Returns 1; 0 if the file has no header of df_npy_write(); -1, with *error, if that fails. */
static int read_header(int fd, struct df_npy *npy, struct stat *status, struct df_error *error)
{
    char text[DF_NPY_HEADER_BYTES + 1];
    struct df_call call = { 0 };        /* for what the header's reader says */
    ssize_t n = fstat(fd, status) == 0 ? 0 : -1;

    if (n == 0 && !S_ISREG(status->st_mode))
        return 0;                       /* such as /dev/null */
    if (n == 0)
        n = pread(fd, text, DF_NPY_HEADER_BYTES, 0);
    if (n < 0) {
        dfr_error(error, DF_E_IO, "the number of waves cannot be written at the beginning: %s", strerror(errno));
        return -1;
    }
    text[n] = '\0';
    if (n < DF_NPY_HEADER_BYTES || memcmp(text, "\x93NUMPY", 6) != 0)
        return 0;
    if (parse(&call, "", text + 10, npy) == DF_OK && npy->rank <= DF_MAX_RANK + 1)
        return 1;
    dfr_error(error, DF_E_IO, "the header is not as it was written: %s", call.message);
    return -1;
}

static uint64_t bytes_of(const struct df_npy *npy)
{
    uint64_t bytes = df_elem_bytes(npy->elem);
    for (unsigned i = 0; i < npy->rank; i++)
        bytes *= npy->extents[i];
    return bytes;
}

int dfr_npy_uncount(int fd, int64_t tokens, int64_t bytes, struct df_error *error)
{
    struct stat status;
    struct df_npy npy;
    const int there = tokens > 0 ? read_header(fd, &npy, &status, error) : 0;
    const uint64_t one = tokens > 0 ? (uint64_t)(bytes - DF_NPY_HEADER_BYTES) / (uint64_t)tokens : 0;

    if (there <= 0)
        return there < 0 ? DF_E_IO : DF_OK;
    if (npy.rank < 2 || bytes_of(&npy) == one || npy.extents[0] < 2 || bytes_of(&npy) / npy.extents[0] != one)
        return DF_OK;
    memmove(npy.extents, npy.extents + 1, --npy.rank * sizeof *npy.extents);
    return write_header(fd, &npy) ? DF_OK : dfr_error(error, DF_E_IO, "the header cannot be written again: %s", strerror(errno));
}

int dfr_npy_count(int fd, int64_t tokens, struct df_error *error)
{
    struct df_npy npy;
    struct stat status;
    const int there = read_header(fd, &npy, &status, error);

    if (there <= 0)
        return there < 0 ? DF_E_IO : DF_OK;
    const uint64_t bytes = bytes_of(&npy), all = (uint64_t)status.st_size - DF_NPY_HEADER_BYTES;
    if (bytes != all && bytes * (uint64_t)tokens != all)
        return dfr_error(error, DF_E_IO, "its tokens are not all of the size of the first one");
    if (tokens == 1 || bytes == all)    /* one token, or it has that extent */
        return DF_OK;
    if (npy.rank > DF_MAX_RANK)
        return dfr_error(error, DF_E_IO, "the header is not as it was written: it has %u extents", npy.rank);
    return write_count(fd, &npy, tokens)
               ? DF_OK : dfr_error(error, DF_E_IO, "the number of waves cannot be written at the beginning: %s", strerror(errno));
}
