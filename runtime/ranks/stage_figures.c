/* stage_figures.c - what ranks did with their stages: stage_figures.h. */
#include "runtime/ranks/stage_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/bytes.h"
#include "runtime/ranks/figures.h"

static const unsigned char magic[DFR_BYTES_MAGIC] = "dfstage1";
static const char more[] = "…";

/* ---- rows ---- */

struct dfr_stage_row *dfr_stage_rows_find(struct dfr_stage_rows *rows, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < rows->n; i++)
        if (rows->rows[i].first == first && rows->rows[i].n == n)
            return &rows->rows[i];
    if (!DFR_ARRAY_ROOM(rows->rows, rows->n, rows->room))
        return NULL;
    rows->rows[rows->n] = (struct dfr_stage_row){ .first = first, .n = n };
    return &rows->rows[rows->n++];
}

/* Does `text` end with the sign that names are left out? */
static bool is_cut(const char *text, size_t length)
{
    return length >= strlen(more) && strcmp(text + length - strlen(more), more) == 0;
}

void dfr_stage_row_name(struct dfr_stage_row *row, const char *name)
{
    const size_t length = strlen(row->names), space = length > 0, wanted = length + space + strlen(name);

    if (is_cut(row->names, length))
        return;
    if (wanted + 1 + sizeof more > sizeof row->names) /* there is always room for the sign */
        name = more;
    memcpy(row->names + length, " ", space);
    strcpy(row->names + length + space, name);
}

void dfr_stage_rows_free(struct dfr_stage_rows *rows)
{
    free(rows->rows);
    *rows = (struct dfr_stage_rows){ 0 };
}

/* ---- bytes ---- */

static void put_rows(struct dfr_bytes_writer *w, const struct dfr_stage_rows *rows)
{
    dfr_bytes_put(w, magic, sizeof magic);
    dfr_bytes_put_number(w, rows->n);
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct dfr_stage_row *row = &rows->rows[i];
        dfr_bytes_put_number(w, row->first);
        dfr_bytes_put_number(w, row->n);
        dfr_bytes_put_text(w, row->names, strlen(row->names));
        dfr_bytes_put_number(w, (uint64_t)row->waves);
        dfr_bytes_put_number(w, row->in_bytes);
        dfr_bytes_put_number(w, row->out_bytes);
        dfr_bytes_put_real(w, row->ran_s);
        dfr_bytes_put_real(w, row->waited_s);
        dfr_bytes_put_real(w, row->full_s);
    }
}

void *dfr_stage_rows_pack(const struct dfr_stage_rows *rows, size_t *size)
{
    struct dfr_bytes_writer w = { 0 };

    put_rows(&w, rows);
    *size = w.n;
    w = (struct dfr_bytes_writer){ .to = malloc(w.n) };
    if (w.to)
        put_rows(&w, rows);
    return w.to;
}

static double get_time(struct dfr_bytes_reader *r)
{
    double s = dfr_bytes_get_real(r);

    r->ok = r->ok && isfinite(s) && s >= 0;
    return r->ok ? s : 0;
}

static uint64_t get_number(struct dfr_bytes_reader *r, uint64_t most)
{
    uint64_t number = dfr_bytes_get_number(r);

    r->ok = r->ok && number <= most;
    return r->ok ? number : 0;
}

static struct dfr_stage_row get_row(struct dfr_bytes_reader *r)
{
    struct dfr_stage_row row = { .first = (uint32_t)get_number(r, UINT32_MAX), .n = (uint32_t)get_number(r, UINT32_MAX) };
    size_t length = 0;
    const char *names = dfr_bytes_get_text(r, &length);

    r->ok = r->ok && length < sizeof row.names && strlen(names) == length;
    if (r->ok)
        memcpy(row.names, names, length);
    row.waves = (int64_t)get_number(r, INT64_MAX);
    row.in_bytes = dfr_bytes_get_number(r);
    row.out_bytes = dfr_bytes_get_number(r);
    row.ran_s = get_time(r);
    row.waited_s = get_time(r);
    row.full_s = get_time(r);
    return row;
}

bool dfr_stage_rows_read(struct dfr_figures *f, int rank, const void *bytes, size_t size)
{
    struct dfr_bytes_reader r = dfr_bytes_read(bytes, size, magic);
    struct dfr_stage_rows rows = { 0 };
    const uint64_t n = dfr_bytes_get_number(&r);

    r.ok = r.ok && rank >= 0 && rank < f->n_ranks && f->ranks[rank].stages.n == 0;
    for (uint64_t i = 0; i < n && r.ok; i++) {
        const struct dfr_stage_row row = get_row(&r);
        struct dfr_stage_row *to = r.ok ? dfr_stage_rows_find(&rows, row.first, row.n) : NULL;
        r.ok = to && rows.n == i + 1;   /* each group stands there once */
        if (r.ok)
            *to = row;
    }
    if (!r.ok || r.left > 0) {
        dfr_stage_rows_free(&rows);
        return false;
    }
    dfr_stage_rows_free(&f->ranks[rank].stages);
    f->ranks[rank].stages = rows;
    return true;
}

/* ---- sums ---- */

static bool add_row(struct dfr_stage_rows *sum, const struct dfr_stage_row *row)
{
    struct dfr_stage_row *to = dfr_stage_rows_find(sum, row->first, row->n);

    if (!to)
        return false;
    memcpy(to->names, row->names, sizeof to->names);
    to->waves += row->waves;
    to->in_bytes += row->in_bytes;
    to->out_bytes += row->out_bytes;
    to->ran_s += row->ran_s;
    to->waited_s += row->waited_s;
    to->full_s += row->full_s;
    return true;
}

static int by_stage(const void *a, const void *b)
{
    const struct dfr_stage_row *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first) : (x->n > y->n) - (x->n < y->n);
}

bool dfr_stage_rows_sum(const struct dfr_figures *f, struct dfr_stage_rows *sum)
{
    *sum = (struct dfr_stage_rows){ 0 };
    for (int rank = 0; rank < f->n_ranks; rank++)
        for (uint32_t i = 0; i < f->ranks[rank].stages.n; i++)
            if (!add_row(sum, &f->ranks[rank].stages.rows[i])) {
                dfr_stage_rows_free(sum);
                return false;
            }
    if (sum->n > 1)
        qsort(sum->rows, sum->n, sizeof *sum->rows, by_stage);
    return true;
}
