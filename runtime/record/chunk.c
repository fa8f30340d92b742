/* chunk.c - writes and reads a chunk for the run that makes it (resumable.c), and puts chunks together for `dfc merge` (chunk.h). */
#include "runtime/record/chunk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/base/output.h"
#include "runtime/record/digest.h"

/* The first line, which has the same length in all chunks. */
#define HEAD "dfc chunk 3 program %016" PRIx64 " first %019" PRId64 " end %019" PRId64 " stream %d of %019" PRId64 " digest %016" PRIx64 "\n"
#define HEAD_READ "dfc chunk 3 program %16" SCNx64 " first %" SCNd64 " end %" SCNd64 " stream %d of %" SCNd64 " digest %16" SCNx64
enum { VERSION = 3, HEAD_BYTES = 20 + 16 + 7 + 19 + 5 + 19 + 8 + 1 + 4 + 19 + 8 + 16 + 1 };

/* ---- one chunk ---- */

static int not_whole(const char *path, const char *what, struct df_error *error)
{
    return dfr_error(error, DF_E_REFUSED, "'%s' %s", path, what);
}

/* Reads the first line, and goes behind it. */
static int read_head(FILE *file, const char *path, struct dfr_chunk *chunk, struct df_error *error)
{
    char line[HEAD_BYTES + 1];
    int ended, version;
    size_t n = fread(line, 1, HEAD_BYTES, file);
    line[n] = '\0';
    if (sscanf(line, "dfc chunk %d program", &version) == 1 && version != VERSION)
        return dfr_error(error, DF_E_REFUSED, "'%s' is a chunk of version %d, made by %s dfc: make it again", path, version,
                         version > VERSION ? "a newer" : "an older");
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

static void write_facts(FILE *to, const struct dfr_facts *facts)
{
    for (size_t i = 0; i < facts->n; i++) {
        fputs("fact ", to);
        dfr_fact_write(to, &facts->items[i]);
        fputc('\n', to);
    }
}

/* Reads the lines `fact`, and seeks to the first entry. facts NULL: skips them. Returns false if one is wrong, or without memory. */
static bool read_facts(FILE *file, struct dfr_facts *facts)
{
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    off_t at = ftello(file);
    for (ssize_t n; good && (n = getline(&line, &room, file)) > 0 && !strncmp(line, "fact ", 5); at = ftello(file)) {
        line[n - 1] = '\0';
        good = !facts || dfr_fact_read(facts, line + 5);
    }
    free(line);
    return good && fseeko(file, at, SEEK_SET) == 0;
}

int dfr_chunk_write(const char *path, struct dfr_chunk *chunk, const struct dfr_facts *facts, struct dfr_outputs *outputs, struct df_error *error)
{
    struct dfr_output to;
    int64_t n;
    int status = dfr_output_open(&to, path, error);
    if (status != DF_OK)
        return status;
    write_head(to.file, chunk);
    write_facts(to.file, facts);
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

/* Reads the line of the next entry. 1: it is there. 0: the file has ended before it. -1: it is none, or there is no memory. */
static int read_entry(FILE *from, struct dfr_written *entry)
{
    char *line = NULL;
    size_t room = 0;
    const ssize_t n = getline(&line, &room, from);
    const bool good = n > 0 && line[n - 1] == '\n' && dfr_written_read(line, DFR_LINE_ENTRY, entry) == DF_OK;
    free(line);
    return good ? 1 : n < 0 && feof(from) ? 0 : -1;
}

struct source {                         /* a chunk */
    const char *path;
    struct dfr_chunk chunk;
};

struct place {                          /* of an entry, to be compared with others */
    struct dfr_written entry;
    size_t source;
};

struct target {                         /* a file that is appended to */
    struct target *next;
    struct dfr_written entry;             /* of the first chunk that has it; tokens: of all so far */
    struct dfr_output to;
};

struct merging {
    struct source *sources;
    size_t n;
    bool outside;
    struct dfr_array places;            /* of struct place: of all entries */
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

/* Opens the chunk at its first entry, and reads its facts if `facts` is not NULL. NULL: error. */
static FILE *open_entries(const char *path, struct dfr_facts *facts, struct df_error *error)
{
    struct dfr_chunk chunk;
    FILE *file = fopen(path, "r");
    if (!file) {
        dfr_error(error, DF_E_IO, "cannot read '%s': %s", path, strerror(errno));
        return NULL;
    }
    if (read_head(file, path, &chunk, error) == DF_OK && (read_facts(file, facts) || not_whole(path, "is damaged", error) == DF_OK))
        return file;
    fclose(file);
    return NULL;
}

/* The chunks are not of one program with one set of arguments and inputs. */
static int refuse_mixture(const char *one, const char *other, struct df_error *error)
{
    const char *const paths[] = { one, other };
    struct dfr_facts facts[2] = { { 0 }, { 0 } };
    char what[300] = "";
    for (int i = 0; i < 2; i++) {
        FILE *file = open_entries(paths[i], &facts[i], NULL);
        if (file)
            fclose(file);
    }
    if (!dfr_facts_differ(&facts[0], &facts[1], DFR_ONE_OTHER, what, sizeof what))
        snprintf(what, sizeof what, "they read other inputs, or the nodes of their programs differ");
    dfr_facts_free(&facts[0]);
    dfr_facts_free(&facts[1]);
    return dfr_error(error, DF_E_REFUSED, "'%s' and '%s' are of two programs, or of other arguments, sizes or inputs: %s", one, other, what);
}

/* Do the waves of the next chunk follow on those before? */
static int check_next(const struct source *before, const struct source *next, struct df_error *error)
{
    const int64_t end = before ? before->chunk.end : 0, first = next->chunk.first;
    if (before && before->chunk.program != next->chunk.program)
        return refuse_mixture(before->path, next->path, error);
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

/* ---- what the chunks would write ---- */

/* Returns whether the path leads out of the working folder. Symbolic links in it are not followed: they are the user's own. */
static bool leads_out(const char *path)
{
    int depth = 0;
    if (*path == '/')
        return true;
    while (*path && depth >= 0) {
        const size_t n = strcspn(path, "/");
        depth += n == 2 && !strncmp(path, "..", 2) ? -1 : n > 0 && !(n == 1 && *path == '.');
        path += n + strspn(path + n, "/");
    }
    return depth < 0;
}

static int check_entry(const struct merging *m, const struct source *s, const struct dfr_written *e, struct df_error *error)
{
    if (!m->outside && leads_out(e->path))
        return dfr_error(error, DF_E_REFUSED, "'%s' has a file '%s', outside the folder that dfc runs in; --outside writes it", s->path, e->path);
    if (!e->appended && (e->wave < s->chunk.first || e->wave >= s->chunk.end))
        return dfr_error(error, DF_E_REFUSED, "'%s' has a file of wave %lld, '%s', and is of the waves %lld to %lld", s->path, (long long)e->wave, e->path,
                         (long long)s->chunk.first, (long long)s->chunk.end - 1);
    return DF_OK;
}

/* Skips the bytes of an entry. Returns false if the file ends before. */
static bool skip_bytes(FILE *file, int64_t bytes)
{
    struct stat info;
    const off_t at = ftello(file);
    return at >= 0 && fstat(fileno(file), &info) == 0 && bytes <= info.st_size - at && fseeko(file, at + (off_t)bytes, SEEK_SET) == 0;
}

static int list_entries(struct merging *m, size_t source, struct df_error *error)
{
    const struct source *s = &m->sources[source];
    struct dfr_written entry;
    FILE *file = open_entries(s->path, NULL, error);
    int got = 0, status = file ? DF_OK : DF_E_REFUSED;
    while (status == DF_OK && (got = read_entry(file, &entry)) > 0) {
        struct place *const place = dfr_array_add(&m->places, sizeof *place, 1);
        status = !place ? dfr_error_memory(error) : skip_bytes(file, entry.bytes) ? check_entry(m, s, &entry, error) : not_whole(s->path, "is damaged", error);
        if (place)
            *place = (struct place){ entry, source };
        else
            free(entry.path);
    }
    if (file)
        fclose(file);
    return status == DF_OK && got < 0 ? not_whole(s->path, "is damaged", error) : status;
}

static int by_path(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    const int order = strcmp(x->entry.path, y->entry.path);
    return order ? order : (x->source > y->source) - (x->source < y->source);
}

/* An appended file may be in every chunk. A file that a kernel rewrites in several waves may be in several chunks, but once in each; the last one counts. */
static int check_pair(const struct merging *m, const struct place *a, const struct place *b, struct df_error *error)
{
    const char *path = a->entry.path, *one = m->sources[a->source].path, *other = m->sources[b->source].path;
    if (strcmp(path, b->entry.path) != 0)
        return DF_OK;
    if (a->entry.node != b->entry.node || a->entry.appended != b->entry.appended)
        return dfr_error(error, DF_E_REFUSED, "'%s' and '%s' both have '%s', of two nodes", one, other, path);
    if (!a->entry.appended && a->source == b->source)
        return dfr_error(error, DF_E_REFUSED, "'%s' has '%s' twice, of the waves %lld and %lld", one, path, (long long)a->entry.wave, (long long)b->entry.wave);
    return DF_OK;
}

static int check_entries(struct merging *m, struct df_error *error)
{
    int status = DF_OK;
    for (size_t i = 0; i < m->n && status == DF_OK; i++)
        status = list_entries(m, i, error);
    struct place *places = m->places.items;
    const uint32_t n = m->places.n;
    if (status == DF_OK && n > 0)
        qsort(places, n, sizeof *places, by_path);
    for (uint32_t i = 1; i < n && status == DF_OK; i++)
        status = check_pair(m, &places[i - 1], &places[i], error);
    for (uint32_t i = 0; i < n; i++)
        free(places[i].entry.path);
    dfr_array_free(&m->places);
    return status;
}

/* ---- writing ---- */

static int write_whole(FILE *from, const struct dfr_written *entry, struct df_error *error)
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
static struct target *target_of(struct merging *m, struct dfr_written *entry, struct df_error *error)
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
static int copy_head(FILE *from, struct target *t, const struct dfr_written *entry, struct df_error *error)
{
    if (t->entry.tokens == 0)
        return dfr_copy_bytes(from, t->to.file, entry->head_bytes, error);
    if (entry->head_bytes != t->entry.head_bytes)
        return dfr_error(error, DF_E_REFUSED, "the chunks do not agree on how '%s' begins: are its tokens of one size?", t->entry.path);
    return fseeko(from, (off_t)entry->head_bytes, SEEK_CUR) == 0 ? DF_OK : dfr_error(error, DF_E_IO, "cannot read: %s", strerror(errno));
}

static int append(struct merging *m, FILE *from, struct dfr_written *entry, struct df_error *error)
{
    const struct dfr_written e = *entry;  /* its path goes to the target */
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
    struct dfr_written entry;
    struct df_error why = { "" };
    FILE *from = open_entries(source->path, NULL, error);
    int got = 0, status = from ? DF_OK : DF_E_REFUSED;
    while (status == DF_OK && (got = read_entry(from, &entry)) > 0) {
        m->merged->whole += !entry.appended;
        status = entry.appended ? append(m, from, &entry, &why) : write_whole(from, &entry, &why);
        if (status != DF_OK)
            dfr_error(error, status, "'%s': %s", source->path, why.text);
        free(entry.path);
    }
    if (from)
        fclose(from);
    return status == DF_OK && got < 0 ? not_whole(source->path, "is damaged", error) : status;
}

/* Gives the appended files their names, or removes them. */
static int close_targets(struct merging *m, int status, struct df_error *error)
{
    for (struct target *t = m->targets, *next; t; t = next) {
        next = t->next;
        dfr_output_resume(&t->to);
        if (status == DF_OK)
            status = dfr_written_count(&t->entry, t->to.file, error);
        int closed = dfr_output_close(&t->to, status == DF_OK, error);
        status = status == DF_OK ? closed : status;
        m->merged->appended++;
        free(t->entry.path);
        free(t);
    }
    return status;
}

int dfr_chunks_merge(const char *const *paths, size_t n, int64_t waves, bool outside, struct dfr_merged *merged, struct df_error *error)
{
    struct merging m = { .sources = calloc(n + 1, sizeof *m.sources), .n = n, .outside = outside, .merged = merged };
    *merged = (struct dfr_merged){ 0 };
    int status = m.sources ? read_sources(&m, paths, waves, error) : dfr_error_memory(error);
    status = status == DF_OK ? check_entries(&m, error) : status;
    for (size_t i = 0; i < n && status == DF_OK; i++)
        status = merge_source(&m, &m.sources[i], error);
    status = close_targets(&m, status, error);
    free(m.sources);
    return status;
}
