/* chunk.c - chunks, written, read and put together (chunk.h). */
#include "runtime/cluster/chunk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/io/digest.h"
#include "runtime/io/entry.h"

/* The first line, which has the same length in all chunks. */
#define HEAD "dfc chunk 2 program %016" PRIx64 " first %019" PRId64 " end %019" PRId64 " stream %d of %019" PRId64 " digest %016" PRIx64 "\n"
#define HEAD_READ "dfc chunk 2 program %16" SCNx64 " first %" SCNd64 " end %" SCNd64 " stream %d of %" SCNd64 " digest %16" SCNx64
enum { HEAD_BYTES = 20 + 16 + 7 + 19 + 5 + 19 + 8 + 1 + 4 + 19 + 8 + 16 + 1 };

/* ---- one chunk ---- */

static int not_whole(const char *path, const char *what, struct df_error *error)
{
    return dfr_error(error, DF_E_REFUSED, "'%s' %s", path, what);
}

/* Reads the first line, and goes behind it. */
static int read_head(FILE *file, const char *path, struct dfr_chunk *chunk, struct df_error *error)
{
    char line[HEAD_BYTES + 1];
    int ended;
    size_t n = fread(line, 1, HEAD_BYTES, file);
    line[n] = '\0';
    if (n != HEAD_BYTES || line[HEAD_BYTES - 1] != '\n' ||
        sscanf(line, HEAD_READ, &chunk->program, &chunk->first, &chunk->end, &ended, &chunk->of, &chunk->digest) != 6)
        return not_whole(path, "is no chunk, as --waves=A:B --out=FILE writes it", error);
    chunk->ended = ended;
    return chunk->first >= 0 && chunk->end >= chunk->first && chunk->of >= 0 ? DF_OK : not_whole(path, "is damaged", error);
}

static int check_digest(FILE *file, const char *path, const struct dfr_chunk *chunk, struct df_error *error)
{
    struct df_error why;
    uint64_t digest;
    int64_t n;
    if (dfr_bytes_digest(fileno(file), HEAD_BYTES, INT64_MAX, &digest, &n, &why) != DF_OK)
        return dfr_error(error, DF_E_IO, "cannot read '%s': %s", path, why.text);
    return digest == chunk->digest ? DF_OK : not_whole(path, "is damaged: what is in it is not what was written", error);
}

int dfr_chunk_read(const char *path, struct dfr_chunk *chunk, struct df_error *error)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return dfr_error(error, DF_E_IO, "cannot read '%s': %s", path, strerror(errno));
    int status = read_head(file, path, chunk, error);
    if (status == DF_OK)
        status = check_digest(file, path, chunk, error);
    fclose(file);
    return status;
}

static void write_head(FILE *to, const struct dfr_chunk *c)
{
    fprintf(to, HEAD, c->program, c->first, c->end, c->ended ? 1 : 0, c->of, c->digest);
}

int dfr_chunk_write(const char *path, struct dfr_chunk *chunk, struct dfr_outputs *outputs, struct df_error *error)
{
    struct dfr_output to;
    int64_t n;
    int status = dfr_output_open(&to, path, error);
    if (status != DF_OK)
        return status;
    write_head(to.file, chunk);
    status = dfr_outputs_chunk(outputs, to.file, error);
    if (status == DF_OK && fflush(to.file) != 0)
        status = dfr_error(error, DF_E_IO, "cannot write '%s': %s", path, strerror(errno));
    if (status == DF_OK)
        status = dfr_bytes_digest(fileno(to.file), HEAD_BYTES, INT64_MAX, &chunk->digest, &n, error);
    if (status == DF_OK && fseeko(to.file, 0, SEEK_SET) == 0)
        write_head(to.file, chunk);
    int closed = dfr_output_close(&to, status == DF_OK, error);
    return status != DF_OK ? status : closed;
}

/* ---- several chunks ---- */

struct source {                         /* a chunk */
    const char *path;
    struct dfr_chunk chunk;
};

struct target {                         /* a file that is appended to */
    struct target *next;
    struct dfr_entry entry;             /* of the first chunk that has it; tokens: of all so far */
    struct dfr_output to;
};

struct merging {
    struct source *sources;
    size_t n;
    struct target *targets;
    struct dfr_merged *merged;
};

static int by_first(const void *a, const void *b)
{
    const struct dfr_chunk *x = &((const struct source *)a)->chunk, *y = &((const struct source *)b)->chunk;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first) : (x->end > y->end) - (x->end < y->end);
}

static int refuse_missing(int64_t first, int64_t end, const char *why, struct df_error *error)
{
    if (end == first + 1)
        return dfr_error(error, DF_E_REFUSED, "wave %lld is missing: no chunk has it%s", (long long)first, why);
    return dfr_error(error, DF_E_REFUSED, "the waves %lld to %lld are missing: no chunk has them%s", (long long)first, (long long)end - 1, why);
}

/* Do the waves of the next chunk follow on those before? */
static int check_next(const struct source *before, const struct source *next, struct df_error *error)
{
    const int64_t end = before ? before->chunk.end : 0, first = next->chunk.first;
    if (before && before->chunk.program != next->chunk.program)
        return dfr_error(error, DF_E_REFUSED, "'%s' and '%s' are of two programs, or of other arguments, sizes or inputs", before->path,
                         next->path);
    if (before && before->chunk.ended && next->chunk.end == first && next->chunk.ended && first >= end)
        return DF_OK;                   /* both lie behind the end of the stream */
    if (first > end)
        return refuse_missing(end, first, "", error);
    if (first < end)
        return dfr_error(error, DF_E_REFUSED, "'%s' and '%s' both have wave %lld", before->path, next->path, (long long)first);
    if (before && before->chunk.ended && next->chunk.end > first)
        return dfr_error(error, DF_E_REFUSED, "the stream ends with wave %lld in '%s', and '%s' has more", (long long)end - 1, before->path, next->path);
    return DF_OK;
}

/* How many waves the streams of the chunks expect; 0: none has said. */
static int64_t find_expected(const struct merging *m)
{
    int64_t of = 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->sources[i].chunk.of > 0 && (of == 0 || m->sources[i].chunk.of < of))
            of = m->sources[i].chunk.of;
    return of;
}

/* Are these all waves of the run? A chunk in which the stream has ended says it. If there is none, it is so if streams expect as many waves as there are. */
static int check_last(struct merging *m, int64_t wanted, struct df_error *error)
{
    const int64_t n = m->merged->waves, of = find_expected(m), all = wanted >= 0 ? wanted : of;
    char why[96];

    if (wanted >= 0 && n > wanted)
        return dfr_error(error, DF_E_REFUSED, "the chunks have %lld waves, and --waves=%lld says that the run has fewer", (long long)n, (long long)wanted);
    m->merged->ended |= n == of;
    if (m->merged->ended || n == all)
        return DF_OK;
    if (wanted >= 0)
        return refuse_missing(n, wanted, "", error);
    if (n > of)
        return dfr_error(error, DF_E_REFUSED, "no chunk says that wave %lld is the last one, so chunks behind it may be missing; --waves=%lld says that the run "
                         "has so many", (long long)n - 1, (long long)n);
    snprintf(why, sizeof why, ", and the stream has %lld waves", (long long)of);
    return refuse_missing(n, of, why, error);
}

static int read_sources(struct merging *m, const char *const *paths, int64_t wanted, struct df_error *error)
{
    int status = DF_OK;
    for (size_t i = 0; i < m->n && status == DF_OK; i++) {
        m->sources[i].path = paths[i];
        status = dfr_chunk_read(paths[i], &m->sources[i].chunk, error);
    }
    if (status != DF_OK)
        return status;
    qsort(m->sources, m->n, sizeof *m->sources, by_first);
    for (size_t i = 0; i < m->n && status == DF_OK; i++) {
        status = check_next(i ? &m->sources[i - 1] : NULL, &m->sources[i], error);
        if (m->sources[i].chunk.end > m->sources[i].chunk.first)
            m->merged->waves = m->sources[i].chunk.end;
        m->merged->ended |= m->sources[i].chunk.ended;
    }
    return status == DF_OK ? check_last(m, wanted, error) : status;
}

static int write_whole(FILE *from, const struct dfr_entry *entry, struct df_error *error)
{
    struct dfr_output to;
    int status = dfr_output_open(&to, entry->path, error);
    if (status != DF_OK)
        return status;
    status = dfr_copy_bytes(from, to.file, entry->bytes, error);
    int closed = dfr_output_close(&to, status == DF_OK, error);
    return status != DF_OK ? status : closed;
}

/* The file that is appended to; opened if it is the first time. NULL: error. */
static struct target *target_of(struct merging *m, struct dfr_entry *entry, struct df_error *error)
{
    struct target **at = &m->targets, *t;
    while (*at && ((*at)->entry.node != entry->node || strcmp((*at)->entry.path, entry->path) != 0))
        at = &(*at)->next;
    if (*at)
        return *at;
    if (!(t = calloc(1, sizeof *t))) {
        dfr_error_memory(error);
        return NULL;
    }
    if (dfr_output_open(&t->to, entry->path, error) != DF_OK) {
        free(t);
        return NULL;
    }
    dfr_output_pause(&t->to);
    t->entry = *entry;
    entry->path = NULL;                 /* it is the target's now */
    t->entry.tokens = 0;
    return *at = t;
}

/* Reads the head that each chunk has, and goes behind it. The first one is written. */
static int copy_head(FILE *from, struct target *t, const struct dfr_entry *entry, struct df_error *error)
{
    if (t->entry.tokens == 0)
        return dfr_copy_bytes(from, t->to.file, entry->head_bytes, error);
    if (entry->head_bytes != t->entry.head_bytes)
        return dfr_error(error, DF_E_REFUSED, "the chunks do not agree on how '%s' begins: are its tokens of one size?", t->entry.path);
    return fseeko(from, (off_t)entry->head_bytes, SEEK_CUR) == 0 ? DF_OK : dfr_error(error, DF_E_IO, "cannot read: %s", strerror(errno));
}

static int append(struct merging *m, FILE *from, struct dfr_entry *entry, struct df_error *error)
{
    const struct dfr_entry e = *entry;  /* its path goes to the target */
    struct target *t = target_of(m, entry, error);
    if (!t)
        return DF_E_IO;
    dfr_output_resume(&t->to);
    int status = copy_head(from, t, &e, error);
    if (status == DF_OK)
        status = dfr_copy_bytes(from, t->to.file, e.bytes - e.head_bytes, error);
    dfr_output_pause(&t->to);
    t->entry.tokens += e.tokens;
    return status;
}

static int merge_source(struct merging *m, const struct source *source, struct df_error *error)
{
    struct dfr_chunk chunk;
    struct dfr_entry entry;
    struct df_error why = { "" };
    FILE *from = fopen(source->path, "r");
    int got = 0;
    if (!from)
        return dfr_error(error, DF_E_IO, "cannot read '%s': %s", source->path, strerror(errno));
    int status = read_head(from, source->path, &chunk, error);
    while (status == DF_OK && (got = dfr_entry_read(from, &entry)) > 0) {
        m->merged->whole += !entry.appended;
        status = entry.appended ? append(m, from, &entry, &why) : write_whole(from, &entry, &why);
        if (status != DF_OK)
            dfr_error(error, status, "'%s': %s", source->path, why.text);
        free(entry.path);
    }
    fclose(from);
    return status == DF_OK && got < 0 ? not_whole(source->path, "is damaged", error) : status;
}

/* Gives the appended files their names, or removes them. */
static int close_targets(struct merging *m, int status, struct df_error *error)
{
    for (struct target *t = m->targets, *next; t; t = next) {
        next = t->next;
        dfr_output_resume(&t->to);
        if (status == DF_OK && t->entry.head_bytes == DF_NPY_HEADER_BYTES && fflush(t->to.file) == 0)
            status = dfr_npy_count(fileno(t->to.file), t->entry.tokens, error);
        int closed = dfr_output_close(&t->to, status == DF_OK, error);
        status = status == DF_OK ? closed : status;
        m->merged->appended++;
        free(t->entry.path);
        free(t);
    }
    return status;
}

int dfr_chunks_merge(const char *const *paths, size_t n, int64_t waves, struct dfr_merged *merged, struct df_error *error)
{
    struct merging m = { .sources = calloc(n + 1, sizeof *m.sources), .n = n, .merged = merged };
    *merged = (struct dfr_merged){ 0 };
    int status = m.sources ? read_sources(&m, paths, waves, error) : dfr_error_memory(error);
    for (size_t i = 0; i < n && status == DF_OK; i++)
        status = merge_source(&m, &m.sources[i], error);
    status = close_targets(&m, status, error);
    free(m.sources);
    return status;
}
