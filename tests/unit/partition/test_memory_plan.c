/* test_memory_plan.c - the memory plan against brute force: on random graphs no two tokens that may be alive together
 * lie on each other, by the transitive closure and by schedules that fill what they free with a pattern; bounds below
 * results; the figures of plain shapes; and the segments that offsets come from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "memmgr/layout.h"
#include "memory_graphs.h"
#include "partition/memory/memory.h"
#include "sample_graph.h"

static void plan(const struct shape *s, const uint16_t *place, uint32_t unit, uint64_t alignment,
                 struct dfp_memory *m)
{
    struct df_error e;
    if (dfp_memory_make(s->graph, place, unit, alignment, m, &e) != DF_OK)
        fail_msg("%s", e.text);
    assert_true(m->any_bound_bytes <= m->any_bytes);
    assert_true(m->sequence_bound_bytes <= m->sequence_bytes);
    assert_true(m->sequence_bound_bytes <= m->any_bound_bytes); /* the sequence is one of the orders */
    for (uint32_t t = 0; t < m->n; t++) {
        const struct dfp_tenant *tenant = &m->tenants[t];
        assert_true(tenant->bytes >= s->graph->values[tenant->first].bytes);
        assert_true(tenant->bytes % alignment == 0 && tenant->any % alignment == 0 &&
                    tenant->sequence % alignment == 0);
        assert_true(tenant->any + tenant->bytes <= (t < m->n_wave ? m->any_bytes : m->once_bytes));
        assert_true(tenant->sequence + tenant->bytes <= (t < m->n_wave ? m->sequence_bytes : m->once_bytes));
    }
}

/* ---- figures ---- */

static void plain_shapes(void **state)
{
    struct shape s;
    struct dfp_memory m;
    (void)state;
    shape_chain(&s, 10000, 32);
    plan(&s, NULL, 0, 32, &m);
    assert_int_equal(m.sequence_bytes, 64);
    assert_int_equal(m.any_bytes, 64);
    dfp_memory_free(&m);
    shape_free(&s);
    shape_wavefront(&s, 100, 32, false); /* a row and the token on its way */
    plan(&s, NULL, 0, 32, &m);
    assert_int_equal(m.sequence_bytes, 101 * 32);
    assert_int_equal(m.any_bytes, 199 * 32); /* a tenant for each diagonal, as many as two counter-diagonals have */
    assert_int_equal(m.any_bound_bytes, 199 * 32);
    dfp_memory_free(&m);
    shape_free(&s);
    shape_wavefront(&s, 100, 32, true);
    plan(&s, NULL, 0, 32, &m);
    assert_int_equal(m.sequence_bytes, 103 * 32);
    assert_int_equal(m.any_bytes, m.any_bound_bytes);
    dfp_memory_free(&m);
    shape_free(&s);
}

/* Stages of 60 ways of 4 steps and a tree of joins, in turn with small and large tokens: what lies before a join is
 * known to have left, however far back. */
static void stages_share_their_memory(void **state)
{
    struct shape s;
    struct dfp_memory m;
    struct shape_out last = { 0, 0 };
    (void)state;
    shape_begin(&s);
    for (uint32_t stage = 0; stage < 200; stage++) { /* too many nodes to search far from each */
        struct shape_out ends[64];
        uint32_t from = shape_node(&s, 64, 1, false, false, stage > 0, &last), n = 64;
        for (uint32_t way = 0; way < n; way++) {
            ends[way] = (struct shape_out){ from, 0 };
            for (uint32_t step = 1; step < 5; step++)
                ends[way].node = shape_node(&s, (stage % 2 ? 6400 : 640) * step, 1, false, false, 1, &ends[way]);
        }
        for (; n > 1; n /= 4)
            for (uint32_t i = 0; i < n / 4; i++)
                ends[i] = (struct shape_out){ shape_node(&s, 64, 1, false, false, 4, &ends[4 * i]), 0 };
        last = ends[0];
    }
    shape_end(&s);
    plan(&s, NULL, 0, 64, &m);
    assert_true(m.any_bytes < m.any_bound_bytes * 3 / 2);
    dfp_memory_free(&m);
    shape_free(&s);
}

/* ---- brute force ---- */

struct closure {
    uint32_t n;
    bool *before;                       /* [a * n + b]: a is a proper ancestor of b */
};

static void closure_make(const struct df_graph *g, struct closure *c)
{
    c->n = g->n_nodes;
    c->before = calloc((size_t)c->n * c->n + 1, 1);
    assert_non_null(c->before);
    for (uint32_t v = 0; v < c->n; v++)
        for (uint32_t k = 0; k < df_node_n_in(g, v); k++) {
            uint32_t p = g->values[g->in_value[g->nodes[v].first_in + k]].producer;
            c->before[p * c->n + v] = true;
            for (uint32_t a = 0; a < c->n; a++)
                c->before[a * c->n + v] |= c->before[a * c->n + p];
        }
}

/* Has everybody read x before y's producer begins, in every order? */
static bool over_before(const struct df_graph *g, const struct closure *c, uint32_t x, uint32_t y)
{
    const struct df_value *value = &g->values[x];
    uint32_t writer = g->values[y].producer;
    for (uint32_t r = value->first_reader; r < value->first_reader + value->n_readers; r++)
        if (!c->before[g->readers[r].node * c->n + writer])
            return false;
    return value->n_readers > 0 || c->before[value->producer * c->n + writer];
}

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static void check_pairs(const struct df_graph *g, const struct closure *c, const struct dfp_memory *m)
{
    for (uint32_t x = 0; x < g->n_values; x++)
        for (uint32_t y = 0; y < x; y++) {
            uint32_t a = m->of_value[x], b = m->of_value[y];
            if (a == DF_NONE || b == DF_NONE || a == b || (a < m->n_wave) != (b < m->n_wave))
                continue;
            const struct dfp_tenant *t = &m->tenants[a], *u = &m->tenants[b];
            bool may = a < m->n_wave && (over_before(g, c, x, y) || over_before(g, c, y, x));
            if (!may && overlap(t->any, t->bytes, u->any, u->bytes))
                fail_msg("values %u and %u may be alive together and share bytes", x, y);
        }
}

/* In a sequence what counts is numbers. */
static void check_sequence(const struct df_graph *g, const struct dfp_memory *m)
{
    for (uint32_t a = 0; a < m->n_wave; a++)
        for (uint32_t b = 0; b < a; b++) {
            const struct dfp_tenant *t = &m->tenants[a], *u = &m->tenants[b];
            bool apart = dfp_tenant_last_end(g, t) < dfp_tenant_writer(g, u) ||
                         dfp_tenant_last_end(g, u) < dfp_tenant_writer(g, t);
            if (!apart)
                assert_false(overlap(t->sequence, t->bytes, u->sequence, u->bytes));
        }
}

static void random_graphs_pairwise(void **state)
{
    static const uint64_t alignments[] = { 32, 64, 4096 };
    (void)state;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct shape s;
        struct dfp_memory m;
        struct closure c;
        uint16_t *place;
        uint32_t rand = seed;
        shape_random(&s, seed, 10 + seed * 2, 3 + seed % 20, seed % 3 ? 3000 : 64);
        closure_make(s.graph, &c);
        place = calloc(s.graph->n_nodes + 1, sizeof *place);
        assert_non_null(place);
        for (uint32_t v = 0; v < s.graph->n_nodes; v++)
            place[v] = (uint16_t)(sample_rand(&rand) % 2);
        for (uint32_t unit = 0; unit < 3; unit++) { /* 2: everything */
            plan(&s, unit < 2 ? place : NULL, unit % 2, alignments[seed % 3], &m);
            check_pairs(s.graph, &c, &m);
            check_sequence(s.graph, &m);
            dfp_memory_free(&m);
        }
        free(place);
        free(c.before);
        shape_free(&s);
    }
}

/* ---- schedules that fill what they free ---- */

enum { MAX_RUNNING = 8 };

struct schedule {
    const struct df_graph *g;
    const struct dfp_memory *m;
    uint32_t *waits_for, *left, *ready, n_ready, running[MAX_RUNNING], n_running, rand;
    uint32_t *owner;                    /* of each unit of memory: tenant + 1; 0 is the pattern of what is free */
};

static void fill(struct schedule *s, uint32_t tenant, uint32_t was, uint32_t is)
{
    const struct dfp_tenant *t = &s->m->tenants[tenant];
    uint64_t unit = s->m->alignment;
    for (uint64_t at = t->any / unit; at < (t->any + t->bytes) / unit; at++) {
        assert_int_equal(s->owner[at], was);
        s->owner[at] = is;
    }
}

static void value_read(struct schedule *s, uint32_t value)
{
    uint32_t tenant = s->m->of_value[value];
    if (tenant < s->m->n_wave && --s->left[value] == 0 && s->m->tenants[tenant].last == value)
        fill(s, tenant, tenant + 1, 0);
}

static void begin_node(struct schedule *s, uint32_t v)
{
    const struct df_node *node = &s->g->nodes[v];
    for (uint32_t y = node->first_out; y < node->first_out + df_node_n_out(s->g, v); y++) {
        uint32_t tenant = s->m->of_value[y];
        if (tenant < s->m->n_wave && s->m->tenants[tenant].first == y)
            fill(s, tenant, 0, tenant + 1);
    }
}

static void end_node(struct schedule *s, uint32_t v)
{
    const struct df_graph *g = s->g;
    const struct df_node *node = &g->nodes[v];
    for (uint32_t k = 0; k < df_node_n_in(g, v); k++)
        value_read(s, g->in_value[node->first_in + k]);
    for (uint32_t y = node->first_out; y < node->first_out + df_node_n_out(g, v); y++) {
        if (g->values[y].n_readers == 0)
            value_read(s, y);
        for (uint32_t r = 0; r < g->values[y].n_readers; r++) {
            uint32_t reader = g->readers[g->values[y].first_reader + r].node;
            if (--s->waits_for[reader] == 0)
                s->ready[s->n_ready++] = reader;
        }
    }
}

/* Ready nodes begin and running ones end at random, on up to `workers` of them. */
static void run_schedule(const struct shape *shape, const struct dfp_memory *m, uint32_t seed, uint32_t workers)
{
    const struct df_graph *g = shape->graph;
    struct schedule s = { .g = g, .m = m, .rand = seed * 31 + workers };
    uint32_t done = 0;
    s.waits_for = calloc(g->n_nodes + 1, sizeof *s.waits_for);
    s.left = calloc(g->n_values + 1, sizeof *s.left);
    s.ready = calloc(g->n_nodes + 1, sizeof *s.ready);
    s.owner = calloc(m->any_bytes / m->alignment + 1, sizeof *s.owner);
    assert_true(s.waits_for && s.left && s.ready && s.owner);
    for (uint32_t x = 0; x < g->n_values; x++)
        s.left[x] = g->values[x].n_readers ? g->values[x].n_readers : 1;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if ((s.waits_for[v] = df_node_n_in(g, v)) == 0)
            s.ready[s.n_ready++] = v;
    while (done < g->n_nodes) {
        bool begins = s.n_ready > 0 && s.n_running < workers && (s.n_running == 0 || sample_rand(&s.rand) % 3);
        uint32_t *from = begins ? s.ready : s.running, *n = begins ? &s.n_ready : &s.n_running;
        uint32_t i = sample_rand(&s.rand) % *n, v = from[i];
        from[i] = from[--*n];
        if (begins) {
            begin_node(&s, v);
            s.running[s.n_running++] = v;
        } else {
            end_node(&s, v);
            done++;
        }
    }
    for (uint64_t at = 0; at < m->any_bytes / m->alignment; at++)
        assert_int_equal(s.owner[at], 0);
    free(s.waits_for);
    free(s.left);
    free(s.ready);
    free(s.owner);
}

static void random_schedules(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        struct shape s;
        struct dfp_memory m;
        shape_random(&s, seed, seed == 12 ? 6000 : 100 * seed, 5 + 13 * seed, 200); /* 6000: not all is searched */
        plan(&s, NULL, 0, 64, &m);
        for (uint32_t workers = 1; workers <= MAX_RUNNING; workers++)
            run_schedule(&s, &m, seed, workers);
        dfp_memory_free(&m);
        shape_free(&s);
    }
}

/* ---- inout, once, sizes ---- */

static void inout_stays_in_place(void **state)
{
    struct shape s;
    struct dfp_memory m;
    (void)state;
    shape_begin(&s);
    uint32_t last = shape_node(&s, 1000, 1, false, false, 0, NULL);
    for (int i = 0; i < 10; i++)
        last = shape_node(&s, 0, 1, true, false, 1, &(struct shape_out){ last, 0 });
    shape_node(&s, 0, 0, false, false, 1, &(struct shape_out){ last, 0 });
    shape_end(&s);
    plan(&s, NULL, 0, 64, &m);
    assert_int_equal(m.n_wave, 1);
    assert_int_equal(m.any_bytes, 1024);
    assert_int_equal(m.any_bound_bytes, 1024);
    assert_int_equal(m.sequence_bytes, 1024);
    dfp_memory_free(&m);
    /* in turn on two units: what is changed elsewhere comes as a copy */
    uint16_t place[12];
    for (int v = 0; v < 12; v++)
        place[v] = (uint16_t)(v % 2);
    plan(&s, place, 1, 64, &m);
    assert_int_equal(m.n_wave, 6);
    assert_int_equal(m.any_bytes, 2048); /* the value that came is over where the next one is made, not before */
    dfp_memory_free(&m);
    shape_free(&s);
}

static void once_has_its_own(void **state)
{
    struct shape s;
    struct dfp_memory m;
    (void)state;
    shape_begin(&s);
    uint32_t table = shape_node(&s, 100, 1, false, true, 0, NULL);
    uint32_t derived = shape_node(&s, 200, 1, false, false, 1, &(struct shape_out){ table, 0 });
    uint32_t source = shape_node(&s, 300, 1, false, false, 0, NULL);
    shape_node(&s, 400, 1, false, false, 2, (struct shape_out[]){ { source, 0 }, { derived, 0 } });
    shape_end(&s);
    plan(&s, NULL, 0, 64, &m);
    assert_int_equal(m.n_wave, 2);
    assert_int_equal(m.n, 4);
    assert_int_equal(m.once_bytes, 128 + 256);
    assert_int_equal(m.any_bytes, 320 + 448);
    dfp_memory_free(&m);
    shape_free(&s);
}

static void too_large_is_refused(void **state)
{
    struct shape s;
    struct dfp_memory m;
    struct df_error e;
    (void)state;
    shape_begin(&s);
    for (int i = 0; i < 9; i++)
        shape_node(&s, UINT64_C(1) << 61, 1, false, false, 0, NULL);
    shape_end(&s);
    assert_int_equal(dfp_memory_make(s.graph, NULL, 0, 64, &m, &e), DF_E_REFUSED);
    assert_non_null(strstr(e.text, "too large to be addressed"));
    shape_free(&s);
}

static void heap_by_size(void **state)
{
    struct shape s;
    struct dfp_memory m;
    struct df_error e;
    uint64_t bytes;
    (void)state;
    shape_begin(&s);
    uint32_t last = shape_node(&s, 64, 1, false, false, 0, NULL);
    for (uint32_t i = 2; i <= 10; i++) /* ten sizes, two alive at once */
        last = shape_node(&s, 64 * i, 1, false, false, 1, &(struct shape_out){ last, 0 });
    shape_end(&s);
    plan(&s, NULL, 0, 64, &m);
    assert_int_equal(dfp_memory_by_size(s.graph, &m, &bytes, &e), DF_OK);
    assert_int_equal(bytes, 64 * 55);
    assert_int_equal(m.any_bound_bytes, 64 * 19);
    assert_true(m.any_bytes < 64 * 30);
    dfp_memory_free(&m);
    shape_free(&s);
}

/* Two sizes are live at once, and fit: all seven together have no number. */
static void heap_of_too_many_sizes(void **state)
{
    struct shape s;
    struct dfp_memory m;
    struct df_error e;
    uint64_t bytes;
    (void)state;
    shape_begin(&s);
    uint32_t last = shape_node(&s, UINT64_C(1) << 61, 1, false, false, 0, NULL);
    for (uint32_t i = 1; i <= 8; i++)
        last = shape_node(&s, (UINT64_C(1) << 61) + 64 * i, 1, false, false, 1, &(struct shape_out){ last, 0 });
    shape_end(&s);
    plan(&s, NULL, 0, 64, &m);
    assert_int_equal(dfp_memory_by_size(s.graph, &m, &bytes, &e), DF_OK);
    assert_true(bytes == UINT64_MAX);
    dfp_memory_free(&m);
    shape_free(&s);
}

static void nothing_at_all(void **state)
{
    struct shape s;
    struct dfp_memory m;
    (void)state;
    shape_begin(&s);
    shape_end(&s);
    plan(&s, NULL, 0, 64, &m);
    assert_int_equal(m.any_bytes + m.sequence_bytes + m.once_bytes, 0);
    dfp_memory_free(&m);
    shape_free(&s);
}

/* ---- segments ---- */

static uint64_t settle(struct dfm_layout *l, uint32_t tenant, uint64_t bytes)
{
    uint64_t offset;
    assert_true(dfm_layout_place(l, tenant, bytes, tenant, &offset));
    assert_true(dfm_layout_check(l));
    return offset;
}

static void segments(void **state)
{
    struct dfm_layout *l = dfm_layout_create(16, 12);
    uint64_t offset;
    (void)state;
    assert_non_null(l);
    assert_int_equal(settle(l, 0, 100), 0); /* 112 */
    assert_int_equal(settle(l, 1, 32), 112);
    assert_int_equal(settle(l, 2, 0), 144);
    assert_int_equal(settle(l, 3, 64), 160);
    assert_int_equal(dfm_layout_bytes(l), 224);
    assert_true(dfm_layout_offer(l, 0));
    assert_true(dfm_layout_offer(l, 1));
    assert_true(dfm_layout_offer(l, 3));
    assert_int_equal(settle(l, 4, 60), 160); /* the smallest run that is large enough */
    assert_int_equal(settle(l, 5, 120), 0); /* over two tenants */
    assert_int_equal(settle(l, 6, 16), 128); /* the rest of the second */
    assert_int_equal(settle(l, 7, 16), 224); /* nothing left but the end */
    dfm_layout_withdraw(l);
    assert_false(dfm_layout_offer(l, 0));
    assert_false(dfm_layout_offer(l, 1));
    assert_false(dfm_layout_offer(l, 3));
    assert_true(dfm_layout_offer(l, 7));
    assert_int_equal(settle(l, 8, 64), 224); /* the end grows over what was offered there */
    dfm_layout_withdraw(l);
    assert_int_equal(dfm_layout_bytes(l), 288);
    dfm_layout_offer_before(l, 7); /* 5 and 6 have ended, and lie beside each other and 2 */
    assert_true(dfm_layout_offer(l, 2));
    assert_int_equal(settle(l, 9, 224), 0);
    dfm_layout_withdraw(l);
    assert_false(dfm_layout_place(l, 10, UINT64_MAX - 8, 10, &offset));
    assert_false(dfm_layout_place(l, 10, UINT64_MAX - 256, 10, &offset));
    dfm_layout_destroy(l);
    assert_null(dfm_layout_create(16, UINT32_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_shapes),      cmocka_unit_test(stages_share_their_memory),
        cmocka_unit_test(random_graphs_pairwise), cmocka_unit_test(random_schedules),
        cmocka_unit_test(inout_stays_in_place), cmocka_unit_test(once_has_its_own),
        cmocka_unit_test(too_large_is_refused), cmocka_unit_test(heap_by_size),
        cmocka_unit_test(heap_of_too_many_sizes), cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
