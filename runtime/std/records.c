/* records.c - the sources of std/records.df, compiled into programs that import it: read binary files of records with a header; each record has numbers and
 * then an array.
 *
 * Header:   described by words: the name of an extent of the array, or `records` (their number), each a u32; or a
 *           number, which skips that many bytes.
 * Files:    all are checked before the first wave. Their records form one sequence. An incomplete last wave is padded
 *           with zeros.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <df_io.h>

#include "elements.h"

struct record {
    enum df_elem label_elem;
    size_t labels;
    struct token array;
    const char *names[2];               /* of the array's extents */
};

struct header {
    size_t bytes;
    int64_t records;                    /* -1: it does not say how many */
    uint64_t extents[2];                /* 0: it does not say it */
};

struct source {
    struct df_files *files;
    size_t next;                        /* number of the file to open */
    FILE *file;                         /* NULL: none is open */
    int64_t left;                       /* records in it; -1: until it ends */
    int64_t skip;                       /* records of waves that are done */
};

static size_t label_bytes(const struct record *r)
{
    return r->labels * element_bytes[r->label_elem];
}

/* ---- the header ---- */

static int read_word(struct df_call *call, const char *path, FILE *file, const char *word, const struct record *r, struct header *h)
{
    char skipped[64];
    uint32_t number = 0;
    unsigned long bytes = strtoul(word, NULL, 10);
    const int skips = word[strspn(word, "0123456789")] == '\0', records = strcmp(word, "records") == 0;
    unsigned d = 0;
    while (d < r->array.rank && strcmp(word, r->names[d]) != 0)
        d++;
    if (!skips && !records && d == r->array.rank)
        return df_fail(call, "'%s' in a header is neither %s%s%s nor 'records' nor a number of bytes", word, r->names[0],
                       r->array.rank > 1 ? " nor " : "", r->array.rank > 1 ? r->names[1] : "");
    h->bytes += skips ? bytes : sizeof number;
    for (unsigned long n; skips && bytes; bytes -= n) {
        n = bytes < sizeof skipped ? bytes : sizeof skipped;
        if (fread(skipped, 1, n, file) != n)
            break;
    }
    if (skips ? bytes != 0 : fread(&number, sizeof number, 1, file) != 1)
        return df_fail(call, "'%s' ends within its header, of which %zu bytes were asked for", path, h->bytes);
    if (records)
        h->records = number;
    else if (!skips)
        h->extents[d] = number;
    if (!records && !skips && !number)
        return df_fail(call, "the header of '%s' says that '%s' is 0", path, word);
    return DF_OK;
}

static int read_header(struct df_call *call, const char *path, FILE *file, const char *words, const struct record *r, struct header *h)
{
    char *copy = strdup(words), *rest = copy, *word;
    int status = copy ? DF_OK : df_fail(call, "no memory for a header");
    *h = (struct header){ .records = -1 };
    while (status == DF_OK && (word = strsep(&rest, " ")))
        if (*word)
            status = read_word(call, path, file, word, r, h);
    free(copy);
    return status;
}

static int check_extents(struct df_call *call, const char *path, const struct record *r, const struct header *h)
{
    uint64_t in_file[2];
    for (unsigned d = 0; d < r->array.rank; d++)
        in_file[d] = h->extents[d] ? h->extents[d] : r->array.extents[d];
    return df_extents_check(call, path, r->array.elem, r->array.rank, r->array.extents, in_file);
}

/* *n: how many records the file has; -1: as many as come, because it is a pipe whose header does not say it. */
static int check_size(struct df_call *call, const char *path, FILE *file, const struct record *r, const struct header *h, int64_t *n)
{
    struct stat info;
    char text[96];
    uint64_t extents[2] = { r->array.extents[0], r->array.rank > 1 ? r->array.extents[1] : 0 };
    const int64_t bytes = (int64_t)(label_bytes(r) + token_bytes(&r->array));
    *n = h->records;
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
        return DF_OK;
    const int64_t size = (int64_t)info.st_size - (int64_t)h->bytes;
    int64_t want = size / bytes * bytes;
    if (h->records >= 0 && __builtin_mul_overflow(h->records, bytes, &want))
        want = INT64_MAX;
    *n = want / bytes;
    if (size == want && (h->records >= 0 || size > 0))
        return DF_OK;
    df_extents_text(text, sizeof text, r->array.elem, r->array.rank, extents);
    if (h->records < 0)
        return df_fail(call, "'%s' has %lld bytes behind its header, and a record of %zu numbers and %s has %lld", path, (long long)size,
                       r->labels, text, (long long)bytes);
    return df_fail(call, "'%s' has %lld bytes behind its header, but %lld records of %zu numbers and %s have %lld: %s", path, (long long)size,
                   (long long)h->records, r->labels, text, (long long)want, size < want ? "it is truncated" : "something follows them");
}

/* ---- reading ---- */

static int end_source(void *state, int good, struct df_error *error)
{
    struct source *s = state;
    (void)good, (void)error;
    if (s->file)
        fclose(s->file);
    df_files_close(s->files);
    return DF_OK;
}

static int next_file(struct df_call *call, struct source *s, const struct record *r, const char *words)
{
    struct header header;
    const char *path = df_files_path(s->files, s->next++);
    if (s->file)
        fclose(s->file);
    s->file = NULL;
    if (df_file_open(call, path, &s->file) != DF_OK || read_header(call, path, s->file, words, r, &header) != DF_OK ||
        check_extents(call, path, r, &header) != DF_OK)
        return DF_FAILED;
    return check_size(call, path, s->file, r, &header, &s->left);
}

static int look_ahead(struct df_call *call, struct df_files *files, const struct record *r, size_t k, const char *words)
{
    struct source s = { .files = files };
    struct stat info;
    int64_t records = 0;
    int status = DF_OK, known = 1;
    for (size_t i = 0; i < df_files_n(files) && status == DF_OK; i++) {
        s.next = i;
        if (stat(df_files_path(files, i), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
            known = 0; /* a pipe is read only once */
        else if ((status = next_file(call, &s, r, words)) == DF_OK)
            records += s.left;
    }
    if (s.file)
        fclose(s.file);
    if (status == DF_OK && known)
        df_expect_waves(call, (records + (int64_t)k - 1) / (int64_t)k);
    return status;
}

/* DF_END: a pipe has ended before the record. */
static int read_record(struct df_call *call, struct source *s, const struct record *r, char *labels, char *array)
{
    const char *path = df_files_path(s->files, s->next - 1);
    size_t bytes = label_bytes(r), n = fread(labels, 1, bytes, s->file);
    if (n == 0 && s->left < 0 && !ferror(s->file))
        return DF_END;
    s->left -= s->left > 0;
    if (n == bytes && fread(array, 1, token_bytes(&r->array), s->file) == token_bytes(&r->array))
        return DF_OK;
    return df_fail(call, ferror(s->file) ? "cannot read '%s': %s" : "'%s' ends within a record", path, strerror(errno));
}

/* Goes behind records of waves that are done. A pipe's are read. */
static int skip_records(struct df_call *call, struct source *s, const struct record *r, char *labels, char *array)
{
    const int64_t n = s->skip < s->left ? s->skip : s->left;
    if (s->left > 0 && fseeko(s->file, (off_t)n * (off_t)(label_bytes(r) + token_bytes(&r->array)), SEEK_CUR) == 0) {
        s->skip -= n;
        s->left -= n;
        return DF_OK;
    }
    int status = read_record(call, s, r, labels, array);
    s->skip -= status == DF_OK;
    return status;
}

static int next_record(struct df_call *call, struct source *s, const struct record *r, char *labels, char *array, const char *words)
{
    int status = DF_OK;
    while (status == DF_OK) {
        while (s->file && s->left != 0 && s->skip > 0 && (status = skip_records(call, s, r, labels, array)) == DF_OK)
            ;
        if (status == DF_FAILED)
            return status;
        if (s->file && s->left != 0 && status != DF_END && (status = read_record(call, s, r, labels, array)) != DF_END)
            return status;
        if (s->next == df_files_n(s->files))
            return DF_END;
        status = next_file(call, s, r, words);
    }
    return status;
}

static int read_records(struct df_call *call, const struct record *r, size_t k, char *labels, char *arrays, const char *path, const char *words)
{
    struct source *s = df_state(call, sizeof *s, end_source);
    const size_t of_labels = label_bytes(r), of_array = token_bytes(&r->array);
    int status = s ? DF_OK : DF_FAILED;
    size_t n = 0;
    if (s && !s->files && (status = df_files_open(call, path, &s->files)) == DF_OK) {
        s->skip = df_wave(call) * (int64_t)k;
        status = look_ahead(call, s->files, r, k, words);
    }
    while (status == DF_OK && n < k)
        if ((status = next_record(call, s, r, labels + n * of_labels, arrays + n * of_array, words)) == DF_OK)
            n++;
    if (status != DF_END || n == 0)
        return status;
    memset(labels + n * of_labels, 0, (k - n) * of_labels);
    memset(arrays + n * of_array, 0, (k - n) * of_array);
    return DF_OK;
}

/* ---- the kernels ---- */

#define RECORDS(LABEL, LABEL_TYPE, LABEL_NUMBER, ELEM, TYPE, NUMBER)                                                                       \
    int read_records_##LABEL##_##ELEM##_cpu(struct df_call *call, size_t k, size_t l, size_t n, LABEL_TYPE *a, TYPE *v, const char *path,  \
                                            const char *header)                                                                            \
    {                                                                                                                                      \
        const struct record r = { LABEL_NUMBER, l, { NUMBER, 1, (size_t[]){ n } }, { "n" } };                                              \
        return read_records(call, &r, k, (char *)a, (char *)v, path, header);                                                              \
    }                                                                                                                                      \
    int read_records_##LABEL##_##ELEM##_2d_cpu(struct df_call *call, size_t k, size_t l, size_t h, size_t w, LABEL_TYPE *a, TYPE *v,       \
                                               const char *path, const char *header)                                                       \
    {                                                                                                                                      \
        const struct record r = { LABEL_NUMBER, l, { NUMBER, 2, (size_t[]){ h, w } }, { "h", "w" } };                                      \
        return read_records(call, &r, k, (char *)a, (char *)v, path, header);                                                              \
    }
#define DF_ELEMENT(ID, name, type, ...)                                                                                                    \
    RECORDS(i32, int32_t, DF_I32, name, type, DF_##ID)                                                                                     \
    RECORDS(i64, int64_t, DF_I64, name, type, DF_##ID)                                                                                     \
    RECORDS(f32, float, DF_F32, name, type, DF_##ID)                                                                                       \
    RECORDS(f64, double, DF_F64, name, type, DF_##ID)
#include "elements.def"
