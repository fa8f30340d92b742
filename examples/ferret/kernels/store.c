/* store.c - collects what is known of the pictures, and writes it as an index (index.h) after the last one. */
#include "index.h"

#include <stdlib.h>
#include <string.h>

struct bytes {
    char *data;
    size_t n, room;
};

struct entry {
    int64_t key;
    int32_t id;
};

struct store {
    struct df_output *output;
    struct df_files *files;             /* the pictures' names */
    struct index_head head;
    struct bytes name_at, names, png_at, pngs, known;
    struct bytes entries;               /* of each region: an entry for each table */
};

/* Adds n bytes and gives their place. NULL: no memory. */
static void *more(struct bytes *b, size_t n)
{
    if (b->n + n > b->room) {
        const size_t room = 2 * (b->n + n);
        char *data = realloc(b->data, room);
        if (!data)
            return NULL;
        b->data = data;
        b->room = room;
    }
    b->n += n;
    return b->data + b->n - n;
}

static int by_key(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->id > y->id) - (x->id < y->id);
}

static void put(FILE *file, const void *data, size_t bytes)
{
    static const char zeros[8];
    fwrite(data, 1, bytes, file);
    fwrite(zeros, 1, (8 - bytes % 8) % 8, file);
}

/* Keys of all tables, then regions of all tables. 0: no memory. */
static int put_tables(FILE *file, struct store *s)
{
    const size_t tables = (size_t)s->head.tables, n = (size_t)s->head.entries;
    const struct entry *all = (const struct entry *)(const void *)s->entries.data;
    struct entry *sorted = malloc(tables * n * sizeof *sorted);
    int32_t *ids = malloc(tables * n * sizeof *ids);
    int64_t *keys = malloc(tables * n * sizeof *keys);
    const int good = sorted && ids && keys;
    for (size_t t = 0; good && t < tables; t++) {
        for (size_t i = 0; i < n; i++)
            sorted[t * n + i] = all[i * tables + t];
        qsort(sorted + t * n, n, sizeof *sorted, by_key);
    }
    for (size_t i = 0; good && i < tables * n; i++) {
        keys[i] = sorted[i].key;
        ids[i] = sorted[i].id;
    }
    if (good) {
        put(file, keys, tables * n * sizeof *keys);
        put(file, ids, tables * n * sizeof *ids);
    }
    free(sorted);
    free(ids);
    free(keys);
    return good;
}

static int end_store(void *state, int good, struct df_error *error)
{
    struct store *s = state;
    int done = DF_OK, all;
    if (good && s->output) {
        FILE *file = df_output_resume(s->output);
        int64_t *last_name = more(&s->name_at, sizeof *last_name), *last_png = more(&s->png_at, sizeof *last_png);
        all = last_name && last_png;
        if (all) {
            *last_name = s->head.name_bytes = (int64_t)s->names.n;
            *last_png = s->head.png_bytes = (int64_t)s->pngs.n;
            fwrite(&s->head, sizeof s->head, 1, file);
            put(file, s->name_at.data, s->name_at.n);
            put(file, s->names.data, s->names.n);
            put(file, s->png_at.data, s->png_at.n);
            put(file, s->pngs.data, s->pngs.n);
            put(file, s->known.data, s->known.n);
        }
        if (!all || !put_tables(file, s)) {
            snprintf(error->text, sizeof error->text, "no memory for the index");
            done = DF_E_MEMORY;
        }
    }
    struct df_error other;
    const int closed = df_output_close(s->output, good && done == DF_OK, done == DF_OK ? error : &other);
    df_files_close(s->files);
    free(s->name_at.data);
    free(s->names.data);
    free(s->png_at.data);
    free(s->pngs.data);
    free(s->known.data);
    free(s->entries.data);
    return done == DF_OK ? closed : done;
}

static int begin(struct df_call *call, struct store *s, size_t regions, size_t tables, size_t directions, double width,
                 const char *input, const char *output)
{
    s->head = (struct index_head){ "ferret1", (int64_t)regions, (int64_t)tables, (int64_t)(directions / tables), width, 0, 0, 0, 0 };
    if (tables > MOST_TABLES || directions / tables > MOST_BITS)
        return df_fail(call, "an index has at most %d tables of at most %d numbers", MOST_TABLES, MOST_BITS);
    return df_files_open(call, input, &s->files) == DF_OK && df_output_open(call, output, &s->output) == DF_OK ? DF_OK : DF_FAILED;
}

/* The entries of one region, whose number is `id`. */
static void add_entries(const struct index_head *h, const float *at, int32_t id, struct entry *entries)
{
    int32_t numbers[MOST_BITS];
    for (size_t t = 0; t < (size_t)h->tables; t++) {
        for (size_t i = 0; i < (size_t)h->bits; i++)
            numbers[i] = index_number(at[t * (size_t)h->bits + i]);
        entries[t] = (struct entry){ (int64_t)index_key(t, numbers, (size_t)h->bits), id };
    }
}

int store_cpu(struct df_call *call, size_t n, size_t j, size_t b, const float *f, const int32_t *share, const float *at, const uint8_t *png,
              int32_t regions, int32_t tables, double width, const char *input, const char *output)
{
    struct store *s = df_state(call, sizeof *s, end_store);
    if (!s || (!s->output && begin(call, s, (size_t)regions, (size_t)tables, j, width, input, output) != DF_OK))
        return DF_FAILED;
    if ((size_t)df_wave(call) >= df_files_n(s->files))
        return df_fail(call, "'%s' has more pictures than names", input);
    if (s->head.images >= INT32_MAX / s->head.regions)
        return df_fail(call, "an index has at most %d pictures", INT32_MAX / (int)s->head.regions);
    const char *name = df_files_path(s->files, (size_t)df_wave(call));
    int64_t *name_at = more(&s->name_at, sizeof *name_at);
    char *copy = more(&s->names, strlen(name) + 1);
    int64_t *png_at = more(&s->png_at, sizeof *png_at);
    uint8_t *png_copy = more(&s->pngs, b);
    float *known = more(&s->known, (size_t)regions * 15 * sizeof *known);
    struct entry *entries = more(&s->entries, n * (size_t)tables * sizeof *entries);
    if (!name_at || !copy || !png_at || !png_copy || !known || !entries)
        return df_fail(call, "no memory for %lld pictures", (long long)s->head.images + 1);
    *name_at = (int64_t)(s->names.n - strlen(name) - 1);
    memcpy(copy, name, strlen(name) + 1);
    *png_at = (int64_t)(s->pngs.n - b);
    memcpy(png_copy, png, b);
    memset(known, 0, (size_t)regions * 15 * sizeof *known);
    for (size_t i = 0; i < n; i++) {
        memcpy(known + 15 * i, f + 14 * i, 14 * sizeof *f);
        known[15 * i + 14] = (float)share[i];
        add_entries(&s->head, at + j * i, (int32_t)(s->head.images * regions + (int64_t)i), entries + (size_t)tables * i);
    }
    s->head.images++;
    s->head.entries += (int64_t)n;
    return DF_OK;
}
