/* test_size.c - how many waves are in flight by default, by the host's memory that a slot takes; and when a plan's
 * places in devices' memories are used under an online policy. The run is made by hand and never starts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run_rig.h"
#include "runtime/start/size.h"

#define MIB (UINT64_C(1) << 20)

static struct df_run *run_of(const struct df_graph *graph, unsigned n_gpus)
{
    static const struct dfr_policy policy = { .name = "ws" };
    struct df_run *run = aligned_alloc(_Alignof(struct df_run), sizeof *run);

    assert_non_null(run);
    memset(run, 0, sizeof *run);
    run->graph = graph;
    run->machine.n_gpus = n_gpus;
    run->machine.n_units = 1 + n_gpus;
    run->choice.policy = &policy;
    run->choice.able = calloc(graph->n_nodes, sizeof *run->choice.able);
    assert_non_null(run->choice.able);
    for (uint32_t v = 0; v < graph->n_nodes; v++)
        run->choice.able[v] = 1;
    atomic_init(&run->firing.limit, 100);
    for (unsigned u = 1; u <= n_gpus; u++)
        run->devices.limit_bytes[u] = 4 * MIB;
    return run;
}

static void free_run(struct df_run *run)
{
    dfr_rooms_free(run);
    free(run->choice.able);
    free(run);
}

static struct df_value *values(const struct rig *r)
{
    return (struct df_value *)r->graph->values;
}

static uint32_t inflight(const struct rig *r, unsigned n_gpus)
{
    struct df_run *run = run_of(r->graph, n_gpus);
    struct df_error error;
    uint32_t n;

    assert_int_equal(dfr_size(run, &error), DF_OK);
    n = run->inflight;
    free_run(run);
    return n;
}

/* Two nodes in a row, and n_more sources that nobody reads. */
static void make_graph(struct rig *r, unsigned n_more)
{
    struct rig_out a;

    rig_begin(r, 1);
    a = rig_node(r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    rig_sink(r, RIG_SINK, a);
    for (unsigned i = 0; i < n_more; i++)
        (void)rig_node(r, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    rig_end(r);
}

/* The tables of a slot: the most bytes that four waves in flight leave of a quarter of 512 MiB. */
static uint64_t table_bytes(unsigned n_more, unsigned n_gpus)
{
    struct rig r;
    uint64_t low = 0, high = 1 * MIB;

    make_graph(&r, n_more);
    while (high - low > 1) {            /* four waves fit beside tables of `high` bytes, and not beside `low` */
        uint64_t middle = (low + high) / 2;
        values(&r)[0].bytes = 128 * MIB - middle;
        for (uint32_t x = 1; x < r.graph->n_values; x++)
            values(&r)[x].bytes = 0;
        if (inflight(&r, n_gpus) == 4)
            high = middle;
        else
            low = middle;
    }
    rig_free(&r);
    return high;
}

static void test_slot_tables(void **state)
{
    uint64_t node = sizeof(struct dfr_pending), value = sizeof(struct dfm_block);

    (void)state;
    assert_int_equal(table_bytes(0, 0), 2 * node + 1 * value);
    assert_int_equal(table_bytes(3, 0), 5 * node + 4 * value);
    assert_int_equal(table_bytes(0, 1), 2 * (node + 32) + 1 * 8 + 1 * (value + 16));
    assert_int_equal(table_bytes(3, 1), 5 * (node + 32) + 1 * 8 + 4 * (value + 16));
    assert_int_equal(table_bytes(3, 2), 5 * (node + 32) + 1 * 8 + 4 * (value + 2 * 16));
}

static void test_waves_by_slot(void **state)
{
    static const struct {
        uint64_t bytes;
        uint32_t inflight;
    } cases[] = { { 1, 4 }, { 127 * MIB, 4 }, { 128 * MIB, 3 }, { 170 * MIB, 3 }, { 172 * MIB, 2 },
                  { 255 * MIB, 2 }, { 257 * MIB, 1 }, { 600 * MIB, 1 }, { UINT64_MAX, 1 } };
    struct rig r;

    (void)state;
    make_graph(&r, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        values(&r)[0].bytes = cases[i].bytes;
        assert_int_equal(inflight(&r, 0), cases[i].inflight);
    }
    rig_free(&r);
}

enum { UNITS = 3, ROWS = 2, MANY = 4 };

/* Which rooms use the places of a plan for an online policy, as bits, if one value has no place on one unit. */
static unsigned rooms_with_places(const struct rig *r, unsigned able, uint32_t unit, uint32_t row, uint32_t value)
{
    static uint32_t page[(UNITS - 1) * ROWS * MANY];
    struct df_plan plan;
    struct df_run *run = run_of(r->graph, UNITS - 1);
    struct df_error error;
    unsigned found = 0;

    assert_int_equal(r->graph->n_values, MANY);
    memset(&plan, 0, sizeof plan);
    plan.n_nodes = r->graph->n_nodes;
    plan.n_waves = ROWS;
    memset(page, 0, sizeof page);
    page[((unit - 1) * ROWS + row) * MANY + value] = DF_NONE;
    plan.devices.n = sizeof page / sizeof *page;
    plan.devices.page = page;
    plan.platform.n_units = UNITS;
    for (uint32_t u = 0; u < UNITS; u++) {
        plan.platform.units[u].workers = 1;
        plan.memory[u].wave_bytes = DF_PAGE_BYTES;
    }
    for (uint32_t v = 0; v < r->graph->n_nodes; v++)
        run->choice.able[v] = able;
    for (unsigned u = 1; u < UNITS; u++)
        run->devices.limit_bytes[u] = 2 * MIB; /* too little for places of all that may come */
    run->plan.online = true;
    run->options.plan = &plan;
    assert_int_equal(dfr_size(run, &error), DF_OK);
    for (unsigned u = 1; u < UNITS; u++) {
        assert_int_equal(run->devices.rooms[u].roomy, !(able >> u & 1));
        found |= (unsigned)(run->devices.rooms[u].page == page + (u - 1) * ROWS * MANY) << u;
    }
    free_run(run);
    return found;
}

/* The places hold only if each value has one in each row on each device where it may come. */
static void test_places_of_online_plan(void **state)
{
    struct rig r;

    (void)state;
    make_graph(&r, MANY - 1);
    for (uint32_t x = 0; x < MANY; x++)
        values(&r)[x].bytes = 1 * MIB;
    for (uint32_t u = 1; u < UNITS; u++)
        for (uint32_t row = 0; row < ROWS; row++)
            for (uint32_t x = 0; x < MANY; x++) {
                assert_int_equal(rooms_with_places(&r, 1 | 2 | 4, u, row, x), 0);
                assert_int_equal(rooms_with_places(&r, 1 | (u == 1 ? 4 : 2), u, row, x), u == 1 ? 4 : 2);
            }
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_slot_tables), cmocka_unit_test(test_waves_by_slot),
                                        cmocka_unit_test(test_places_of_online_plan) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
