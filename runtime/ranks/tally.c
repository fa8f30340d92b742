/* tally.c - what a rank counts of its stages: tally.h. */
#include "runtime/ranks/tally.h"

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

void dfr_tally_free(struct dfr_tally *t)
{
    dfr_stage_rows_free(&t->rows);
    *t = (struct dfr_tally){ 0 };
}
