/* stage_rows.c - what ranks did with their stages (stage_rows.h): replica_stages.c counts it, figures.c sends and keeps the rows, and program/stages_report.c
 * prints and sums them. */
#include "runtime/ranks/stage_rows.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/ranks/figures.h"

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

/* ---- counting ---- */

/* NULL: the rank has no stages. */
static struct dfr_stage_row *row_of(struct dfr_tally *t)
{
    return t->state == DFR_TALLY_NONE ? NULL : &t->rows.rows[t->now];
}

static void add_time(struct dfr_tally *t, double now_s)
{
    struct dfr_stage_row *row = row_of(t);
    const double seconds = now_s > t->since_s ? now_s - t->since_s : 0;

    t->since_s = now_s;
    if (row)
        *(t->state == DFR_TALLY_RAN ? &row->ran_s : t->state == DFR_TALLY_WAITED ? &row->waited_s : &row->full_s) += seconds;
}

static void name_row(struct dfr_stage_row *row, const struct dfr_stages *stages, const struct dfr_mapping *m, uint32_t group)
{
    for (uint32_t s = 0; s < m->n_stages; s++)
        if (m->group_of_stage[s] == group)
            dfr_stage_row_name(row, stages->names[s]);
}

bool dfr_tally_begin(struct dfr_tally *t, const struct dfr_stages *stages, const struct dfr_mapping *m, uint32_t group, double now_s)
{
    uint32_t first = 0, n = 0;

    add_time(t, now_s);
    t->state = DFR_TALLY_NONE;
    if (group == DFR_NO_GROUP)
        return true;
    for (uint32_t s = m->n_stages; s-- > 0;)
        if (m->group_of_stage[s] == group) {
            first = s;
            n++;
        }
    struct dfr_stage_row *row = dfr_stage_rows_find(&t->rows, first, n);
    if (!row)
        return false;
    if (row->names[0] == '\0')
        name_row(row, stages, m, group);
    t->now = (uint32_t)(row - t->rows.rows);
    t->state = DFR_TALLY_WAITED;
    return true;
}

void dfr_tally_is(struct dfr_tally *t, enum dfr_tally_state state, double now_s)
{
    add_time(t, now_s);
    if (t->state != DFR_TALLY_NONE)
        t->state = state;
}

void dfr_tally_wave(struct dfr_tally *t)
{
    struct dfr_stage_row *row = row_of(t);
    if (row)
        row->waves++;
}

void dfr_tally_in(struct dfr_tally *t, uint64_t bytes)
{
    struct dfr_stage_row *row = row_of(t);
    if (row)
        row->in_bytes += bytes;
}

void dfr_tally_out(struct dfr_tally *t, uint64_t bytes)
{
    struct dfr_stage_row *row = row_of(t);
    if (row)
        row->out_bytes += bytes;
}
