/* test_figures.c - reports of ranks: what is packed is read again, and nothing that is cut or changed does harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ranks/figures.h"

enum { N_NODES = 3 };

static struct df_error error;

static struct df_stats sample(void)
{
    struct df_stats s = { .makespan_s = 1.5, .waves = 7, .jobs = 30, .inflight = 4, .passes = 1, .n_workers = 2, .n_memories = 1,
                          .policy = "ws", .policy_why = "asked for", .loop = "deques", .loop_why = "why not" };
    s.workers[0] = (struct df_worker_stats){ .name = "cpu 0", .jobs = 20, .busy_s = 1.25 };
    s.workers[1] = (struct df_worker_stats){ .name = "emu0", .jobs = 10, .busy_s = 0.5 };
    memset(&s.memories[0], 0x11, sizeof s.memories[0]);
    s.memories[0].inexact = 1;
    strcpy(s.memories[0].name, "emu0");
    memset(s.memories[0].name + 5, 0, sizeof s.memories[0].name - 5);
    memset(s.memories[0].evict, 0, sizeof s.memories[0].evict);
    strcpy(s.memories[0].evict, "lru");
    return s;
}

static struct df_node_stats nodes[N_NODES] = { { 1, 2, 0.5, 0.25, 7 }, { 3, 4, 5, 6, 0 }, { 0, 9, 0, 1, 11 } };
static struct df_node_skips skips[N_NODES] = { { 1, 2 }, { 0, 3 }, { 4, 0 } };

static const struct dfr_trips trips[2] = { { 8, 1.5, -3, 0.25 }, { 2, 9, -3.5, 0.125 } };

static struct dfr_stage_rows two_rows(void)
{
    struct dfr_stage_rows rows = { 0 };
    struct dfr_stage_row *row = dfr_stage_rows_find(&rows, 2, 1);

    dfr_stage_row_name(row, "fold");
    row->waves = 60, row->in_bytes = 1000, row->out_bytes = 2000, row->ran_s = 0.5, row->waited_s = 0.25, row->full_s = 0.125;
    row = dfr_stage_rows_find(&rows, 0, 2);
    dfr_stage_row_name(row, "square");
    dfr_stage_row_name(row, "both");
    row->waves = 7;
    assert_ptr_equal(dfr_stage_rows_find(&rows, 0, 2), row);
    assert_int_equal(rows.n, 2);
    return rows;
}

static unsigned char *pack(size_t *size)
{
    struct df_stats stats = sample();
    struct dfr_stage_rows rows = two_rows();
    const struct dfr_report report = { &stats, trips, nodes, skips, N_NODES, &rows };
    unsigned char *bytes = dfr_report_pack(&report, size);
    assert_non_null(bytes);
    dfr_stage_rows_free(&rows);
    return bytes;
}

static struct dfr_figures *create(bool with_nodes)
{
    struct dfr_figures *f;
    assert_int_equal(dfr_figures_create(3, N_NODES, with_nodes, &f, &error), DF_OK);
    return f;
}

static void test_round_trip(void **state)
{
    struct dfr_figures *f = create(true);
    struct df_stats expected = sample();
    size_t size;
    unsigned char *bytes = pack(&size);

    (void)state;
    assert_true(dfr_report_read(f, 1, bytes, size));
    assert_true(f->ranks[1].reported && !f->ranks[2].reported);
    const struct df_stats *s = &f->ranks[1].stats;
    assert_string_equal(s->policy_why, "asked for");
    assert_string_equal(s->loop, "deques");
    assert_true(s->makespan_s == 1.5 && s->waves == 7 && s->jobs == 30 && s->n_workers == 2 && s->n_memories == 1);
    assert_string_equal(s->workers[1].name, "emu0");
    assert_true(s->workers[1].busy_s == 0.5 && s->workers[1].jobs == 10);
    assert_memory_equal(&s->memories[0], &expected.memories[0], sizeof expected.memories[0]); /* a member that is left out is found */

    assert_true(f->ranks[1].trips[0].n == 8 && f->ranks[1].trips[0].at_s == 1.5 && f->ranks[1].trips[1].offset_s == -3.5 &&
                f->ranks[1].trips[1].uncertainty_s == 0.125);

    /* A second one of the same rank is refused; another rank's nodes are added. */
    assert_false(dfr_report_read(f, 1, bytes, size));
    assert_true(dfr_report_read(f, 2, bytes, size));
    assert_false(dfr_report_read(f, 3, bytes, size));
    for (unsigned v = 0; v < N_NODES; v++) {
        assert_int_equal(f->nodes[v].host_jobs, 2 * nodes[v].host_jobs);
        assert_int_equal(f->nodes[v].device_jobs, 2 * nodes[v].device_jobs);
        assert_true(f->nodes[v].host_s == 2 * nodes[v].host_s && f->nodes[v].device_s == 2 * nodes[v].device_s);
        assert_true(f->nodes[v].rounds == 2 * nodes[v].rounds);
        assert_int_equal(f->skips[v].skipped, 2 * skips[v].skipped);
        assert_int_equal(f->skips[v].left_out, 2 * skips[v].left_out);
    }
    free(bytes);
    dfr_figures_free(f);
}

/* Jobs are not timed: nodes' jobs are not kept, and what they skipped is. */
static void test_without_nodes(void **state)
{
    struct dfr_figures *f = create(false);
    struct df_stats stats = sample();
    size_t size;
    struct dfr_report report = { .stats = &stats, .skips = skips, .n_nodes = N_NODES };
    unsigned char *bytes = dfr_report_pack(&report, &size);

    (void)state;
    assert_true(dfr_report_read(f, 1, bytes, size));
    assert_null(f->nodes);
    assert_int_equal(f->skips[2].skipped, 4);
    free(bytes);
    report.skips = NULL;
    bytes = dfr_report_pack(&report, &size);
    assert_true(dfr_report_read(f, 2, bytes, size));
    free(bytes);
    dfr_figures_free(f);
}

static void check_untouched(const struct dfr_figures *f)
{
    assert_false(f->ranks[1].reported);
    assert_int_equal(f->ranks[1].stages.n, 0);
    for (unsigned v = 0; v < N_NODES; v++)
        assert_true(f->nodes[v].host_jobs == 0 && f->nodes[v].host_s == 0 && f->skips[v].skipped == 0);
}

/* Cut at every byte, it is refused whole. */
static void test_cut(void **state)
{
    struct dfr_figures *f = create(true);
    size_t size;
    unsigned char *bytes = pack(&size);

    (void)state;
    for (size_t n = 0; n < size; n++) {
        unsigned char *cut = malloc(n + 1);
        memcpy(cut, bytes, n);
        assert_false(dfr_report_read(f, 1, cut, n));
        check_untouched(f);
        free(cut);
    }
    free(bytes);
    dfr_figures_free(f);
}

/* Any byte may be another: what is accepted then keeps its bounds, and has no time that is none. */
static void test_changed(void **state)
{
    size_t size;
    unsigned char *bytes = pack(&size);

    (void)state;
    for (size_t at = 0; at < size; at++)
        for (unsigned value = 0; value < 256; value += 51) {
            struct dfr_figures *f = create(true);
            unsigned char was = bytes[at];
            bytes[at] = (unsigned char)value;
            if (dfr_report_read(f, 1, bytes, size)) {
                const struct df_stats *s = &f->ranks[1].stats;
                assert_true(s->n_workers <= DF_MAX_WORKERS && s->n_memories <= DF_MAX_UNITS && isfinite(s->makespan_s) && s->makespan_s >= 0);
                assert_true(strlen(s->policy) < sizeof s->policy && strlen(s->workers[0].name) < sizeof s->workers[0].name);
                for (unsigned v = 0; v < N_NODES; v++)
                    assert_true(isfinite(f->nodes[v].host_s) && f->nodes[v].host_s >= 0);
                for (uint32_t i = 0; i < f->ranks[1].stages.n; i++) {
                    const struct dfr_stage_row *row = &f->ranks[1].stages.rows[i];
                    assert_true(strlen(row->names) < sizeof row->names && row->waves >= 0 && isfinite(row->ran_s) && row->ran_s >= 0);
                }
            } else {
                check_untouched(f);
            }
            bytes[at] = was;
            dfr_figures_free(f);
        }
    free(bytes);
}

static void test_join(void **state)
{
    struct df_stats to = { 0 }, from = sample();

    (void)state;
    dfr_stats_join(&to, &from, "head");
    from.makespan_s = 3;
    dfr_stats_join(&to, &from, "tail");
    assert_int_equal(to.n_workers, 4);
    assert_string_equal(to.workers[0].name, "head cpu 0");
    assert_string_equal(to.workers[3].name, "tail emu0");
    assert_int_equal(to.jobs, 60);
    assert_true(to.makespan_s == 3 && to.n_memories == 2);
    for (unsigned i = 0; i < DF_MAX_WORKERS; i++)
        dfr_stats_join(&to, &from, "more");
    assert_true(to.n_workers == DF_MAX_WORKERS && to.n_memories == DF_MAX_UNITS);
}

/* Runs one after the other on a rank: counts and times are added, what is no count is not. */
static void test_add(void **state)
{
    struct df_stats sum = { 0 }, one = sample(), two = sample();

    (void)state;
    dfr_stats_add(&sum, &one);
    assert_memory_equal(&sum, &one, sizeof sum);
    two.n_workers = 1;
    two.inflight = 2;
    two.memories[0].peak_bytes++;
    two.memories[0].scratch_peak_bytes += 2;
    two.memories[0].h2d_bytes = 5;
    dfr_stats_add(&sum, &two);
    assert_int_equal(sum.waves, 14);
    assert_int_equal(sum.jobs, 60);
    assert_true(sum.makespan_s == 3);
    assert_int_equal(sum.n_workers, 2);
    assert_int_equal(sum.workers[0].jobs, 40);
    assert_true(sum.workers[0].busy_s == 2.5 && sum.workers[1].busy_s == 0.5);
    assert_int_equal(sum.inflight, 4);
    assert_int_equal(sum.memories[0].h2d_bytes, one.memories[0].h2d_bytes + 5);
    assert_int_equal(sum.memories[0].joined_copies, 2 * one.memories[0].joined_copies);
    assert_int_equal(sum.memories[0].peak_bytes, one.memories[0].peak_bytes + 1);
    assert_int_equal(sum.memories[0].scratch_peak_bytes, one.memories[0].scratch_peak_bytes + 2);
    assert_int_equal(sum.memories[0].capacity_bytes, one.memories[0].capacity_bytes);
    assert_string_equal(sum.memories[0].name, "emu0");
    assert_string_equal(sum.policy, "ws");

    /* Other workers and memories than before stand behind them. */
    strcpy(two.workers[0].name, "emu0");
    strcpy(two.memories[0].name, "emu1");
    dfr_stats_add(&sum, &two);
    assert_true(sum.n_workers == 2 && sum.workers[1].busy_s == 0.5 + two.workers[0].busy_s && sum.workers[0].jobs == 40);
    assert_true(sum.n_memories == 2 && sum.memories[1].h2d_bytes == 5);
}

/* ---- stages ---- */

/* Rows of the same stages of several ranks are added up, in the order of stages. */
static void test_stages(void **state)
{
    struct dfr_figures *f = create(false);
    struct dfr_stage_rows rows = two_rows(), sum;
    size_t size;
    unsigned char *bytes = pack(&size);

    (void)state;
    assert_true(dfr_report_read(f, 1, bytes, size));
    assert_true(dfr_report_read(f, 2, bytes, size));
    assert_int_equal(f->ranks[1].stages.n, 2);
    assert_memory_equal(&f->ranks[1].stages.rows[0], &rows.rows[0], sizeof rows.rows[0]);
    assert_true(dfr_stage_rows_sum(f, &sum));
    assert_int_equal(sum.n, 2);
    assert_string_equal(sum.rows[0].names, "square both");
    assert_string_equal(sum.rows[1].names, "fold");
    assert_true(sum.rows[0].waves == 14 && sum.rows[1].in_bytes == 2000 && sum.rows[1].out_bytes == 4000 && sum.rows[1].ran_s == 1 &&
                sum.rows[1].waited_s == 0.5 && sum.rows[1].full_s == 0.25);
    dfr_stage_rows_free(&sum);
    dfr_stage_rows_free(&rows);
    free(bytes);
    dfr_figures_free(f);
}

/* Names that do not fit are left out, and the row says so. */
static void test_many_names(void **state)
{
    struct dfr_stage_row row = { .n = 100 };

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        dfr_stage_row_name(&row, "stage");
    assert_true(strlen(row.names) < sizeof row.names && strlen(row.names) > sizeof row.names - 16);
    assert_string_equal(row.names + strlen(row.names) - strlen(" stage …"), " stage …");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trip), cmocka_unit_test(test_without_nodes), cmocka_unit_test(test_cut),
                                        cmocka_unit_test(test_changed), cmocka_unit_test(test_join), cmocka_unit_test(test_add),
                                        cmocka_unit_test(test_stages), cmocka_unit_test(test_many_names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
