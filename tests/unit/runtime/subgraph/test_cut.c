/* test_cut.c - random graphs are cut at random into HEAD, BODY and TAIL. The three are run one after the other, on memory that
 * has the tokens that cross. What reaches the sinks is compared with the sequential reference. A second graph has extents that
 * differ from wave to wave.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/subgraph/cut.h"
#include "runtime/graph/expr.h"

enum { MOST_VALUES = 1024 };

static struct df_error error;

#define OK(call) \
    do { \
        if ((call) != DF_OK) \
            fail_msg("%s", error.text); \
    } while (0)

struct crossing {                       /* by value of the whole graph */
    unsigned char *tokens;              /* NULL: it does not cross */
    unsigned char *empty;
    size_t *extents;
    bool lent;                          /* the memory is another value's */
};

struct parts {
    const struct df_graph *whole;
    int64_t waves;
    uint8_t place[MOST_VALUES];
    struct dfr_cut cuts[DFR_PLACES];
    struct crossing crossing[MOST_VALUES];
};

static void number_nodes(struct df_graph *g)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        ((struct df_node *)g->nodes)[v].ordinal = v + 1; /* without it, all nodes of the rig have one name */
}

static void make_room(struct parts *p, uint32_t x, const uint64_t *largest)
{
    struct crossing *c = &p->crossing[x];
    if (c->tokens)
        return;
    c->tokens = malloc(p->whole->values[x].bytes * (uint64_t)p->waves + 1);
    c->empty = calloc((size_t)p->waves + 1, 1);
    c->extents = malloc(((size_t)p->waves + 1) * DF_MAX_RANK * sizeof *c->extents);
    for (int64_t w = 0; w < p->waves; w++)
        for (unsigned i = 0; i < DF_MAX_RANK; i++)
            c->extents[w * DF_MAX_RANK + i] = largest[i];
}

static void cut_all(struct parts *p)
{
    OK(dfr_cut_settle(p->whole, p->place, DFR_TAIL, &error));
    for (unsigned which = 0; which < DFR_PLACES; which++) {
        struct dfr_cut *cut = &p->cuts[which];
        OK(dfr_cut_make(p->whole, p->place, which, cut, &error));
        if (!df_graph_check(cut->graph, &error))
            fail_msg("%s", error.text);
        for (uint32_t x = 0; x < cut->graph->n_values; x++) {
            uint32_t v = cut->graph->values[x].producer;
            if (dfr_cut_is_given(cut, v))
                make_room(p, cut->value[x], cut->graph->port_dims + (cut->graph->works[cut->graph->nodes[v].work].first_port +
                                                                     cut->graph->values[x].slot) * (size_t)DF_MAX_RANK);
        }
    }
}

static void free_all(struct parts *p)
{
    for (unsigned which = 0; which < DFR_PLACES; which++)
        dfr_cut_free(&p->cuts[which]);
    for (uint32_t x = 0; x < p->whole->n_values; x++) {
        if (p->crossing[x].lent)
            continue;
        free(p->crossing[x].tokens);
        free(p->crossing[x].empty);
        free(p->crossing[x].extents);
    }
    memset(p->crossing, 0, sizeof p->crossing);
}

static uint32_t taker_of(const struct df_graph *g, uint32_t value)
{
    for (uint32_t y = value + 1; y < g->n_values; y++)
        if (g->values[y].taken_from == value)
            return y;
    return DF_NONE;
}

struct buffers {
    struct df_buffer of[MOST_VALUES];
    char names[MOST_VALUES][64];
    uint32_t n;
    bool taken[MOST_VALUES];            /* by value of the cut: it has one */
};

/* The memory of value x of the cut, which is of value `of`, the first of a chain of inout values, or x itself. */
static void add_buffer(struct parts *p, const struct dfr_cut *cut, struct buffers *b, uint32_t x, uint32_t of, bool given)
{
    const struct df_graph *g = cut->graph;
    struct crossing *c = &p->crossing[cut->value[of]];
    bool once = df_value_is_once(g, x);
    df_node_name(g, g->values[x].producer, b->names[b->n], sizeof b->names[b->n]);
    b->of[b->n] = (struct df_buffer){ .node = b->names[b->n], .out_slot = g->values[x].slot, .data = c->tokens,
                                      .bytes = g->values[x].bytes * (once ? 1 : (uint64_t)p->waves), .given = given,
                                      .empty = once ? NULL : c->empty, .extents = c->extents };
    b->taken[x] = true;
    b->n++;
}

static void find_buffers(struct parts *p, unsigned which, struct buffers *b)
{
    const struct dfr_cut *cut = &p->cuts[which];
    for (uint32_t x = 0; x < cut->graph->n_values; x++) {
        uint32_t last = x, next;
        if (!dfr_cut_is_given(cut, cut->graph->values[x].producer))
            continue;
        while ((next = taker_of(cut->graph, last)) != DF_NONE)
            last = next;
        add_buffer(p, cut, b, last, x, true);
        if (last != x && p->crossing[cut->value[last]].tokens) { /* what is made of it goes on from there */
            struct crossing *c = &p->crossing[cut->value[last]];
            free(c->tokens);
            free(c->empty);
            free(c->extents);
            *c = p->crossing[cut->value[x]];
            c->lent = true;
        }
    }
    for (uint32_t x = 0; x < cut->graph->n_values; x++)
        if (!b->taken[x] && p->crossing[cut->value[x]].tokens && !dfr_cut_is_given(cut, cut->graph->values[x].producer))
            add_buffer(p, cut, b, x, x, false);
}

static void run_part(struct parts *p, unsigned which, struct df_options o)
{
    struct buffers *b = calloc(1, sizeof *b);
    struct df_run *run;

    find_buffers(p, which, b);
    o.waves = p->waves;
    o.buffers = b->of;
    o.n_buffers = b->n;
    if (p->cuts[which].graph->n_nodes > 0) {
        OK(df_run_start(p->cuts[which].graph, &o, &run, &error));
        OK(df_run_wait(run, NULL, &error));
    }
    free(b);
}

/* Some nodes go to later places than they need to. */
static void move_some(struct parts *p, uint32_t *random)
{
    dfr_cut_places(p->whole, p->place);
    for (uint32_t v = 0; v < p->whole->n_nodes; v++) {
        bool first = p->whole->nodes[v].flags & DF_NODE_ONCE || p->whole->kernels[p->whole->nodes[v].kernel].traits & DF_STREAM;
        uint32_t x = rig_rand(random) % 4;
        if (!first && x >= p->place[v] && x < DFR_PLACES)
            p->place[v] = (uint8_t)x;
        if (!first && p->place[v] == DFR_BODY && df_node_n_acc(p->whole, v) == 0 && x == 0)
            p->place[v] = DFR_HEAD;
    }
}

static void check_seed(unsigned seed)
{
    static const char *const policies[] = { "ws", "eager", "dmda", "all-cpu" };
    struct parts *p = calloc(1, sizeof *p);
    uint32_t random = seed * 747796405u | 1;
    struct rig r;

    rig_skips = seed % 2;
    rig_accs = seed % 3 == 0;
    p->waves = 1 + rig_rand(&random) % 9;
    rig_random(&r, seed, 4 + rig_rand(&random) % 40, 1 + rig_rand(&random) % 60, seed % 4 == 0 ? p->waves : 0);
    rig_expect(&r, p->waves);
    number_nodes(r.graph);
    p->whole = r.graph;
    assert_true(r.graph->n_values <= MOST_VALUES && r.graph->n_nodes <= MOST_VALUES);
    move_some(p, &random);
    cut_all(p);
    rig_clear(&r);
    for (unsigned which = 0; which < DFR_PLACES; which++) {
        struct df_options o = rig_options(policies[rig_rand(&random) % 4],
                                          rig_rand(&random) % 3 == 0 ? DF_DEVICE_EMU : DF_DEVICE_NONE, 1 + rig_rand(&random) % 3);
        o.inflight = rig_rand(&random) % 5;
        o.emu_all = 1;
        run_part(p, which, o);
    }
    if (!rig_same(&r, p->waves))
        fail_msg("seed %u", seed);
    free_all(p);
    rig_free(&r);
    free(p);
}

static void test_random(void **state)
{
    unsigned first = 1, last = 120;

    (void)state;
    rig_seeds(&first, &last);
    for (unsigned seed = first; seed <= last; seed++)
        check_seed(seed);
    rig_skips = rig_accs = false;
}

/* ---- ranges ---- */

/* Runs the parts one after the other, and compares what the sinks got. */
static void check_cut(struct rig *r, struct parts *p)
{
    cut_all(p);
    rig_clear(r);
    for (unsigned which = 0; which < DFR_PLACES; which++)
        run_part(p, which, rig_options("ws", DF_DEVICE_NONE, 2));
    assert_true(rig_same(r, p->waves));
    free_all(p);
}

static uint32_t count_kernels(const struct dfr_cut *cut, unsigned flags)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < cut->graph->n_nodes; v++)
        n += (cut->graph->kernels[cut->graph->nodes[v].kernel].flags & flags) != 0;
    return n;
}

/* source -> view -> halves, changed at one place -> join -> ordered sink; a half of the view goes to a sink, too. Wherever the
 * halves are read there is a view, and halves of one whole are together. */
static void test_ranges(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++)
        for (uint8_t place = DFR_HEAD; place < DFR_PLACES; place++) {
            struct parts *p = calloc(1, sizeof *p);
            struct rig_out half[2], made[2];
            struct rig r;
            rig_begin(&r, 10);
            rig_view(&r, rig_node(&r, once ? RIG_ONCE : RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING), half);
            r.n = 5;
            struct rig_out wave = rig_node(&r, RIG_SOURCE, 4, RIG_NOTHING, RIG_NOTHING);
            for (int i = 0; i < 2; i++)
                made[i] = rig_node(&r, RIG_ADD2, 2 + i, wave, half[i]);
            rig_sink(&r, RIG_SINK, rig_node(&r, RIG_ADD2, 9, wave, half[1]));
            r.n = 10;
            rig_sink(&r, RIG_ORDERED, rig_join(&r, made[0], made[1]));
            rig_end(&r);
            number_nodes(r.graph);
            p->whole = r.graph;
            p->waves = 5;
            rig_expect(&r, p->waves);
            dfr_cut_places(r.graph, p->place);
            for (uint32_t v = 0; v < r.graph->n_nodes; v++)
                if (df_node_n_in(r.graph, v) == 2 && !df_node_is_ranges(r.graph, v))
                    p->place[v] = v % 2 ? place : DFR_BODY;
            check_cut(&r, p);
            rig_free(&r);
            free(p);
        }
}

/* Which kernels are where, without anybody's saying: the view is at two places. */
static void test_views(void **state)
{
    struct parts *p = calloc(1, sizeof *p);
    struct rig_out half[2];
    struct rig r;

    (void)state;
    rig_begin(&r, 10);
    rig_view(&r, rig_node(&r, RIG_STREAM, 3, RIG_NOTHING, RIG_NOTHING), half);
    r.n = 5;
    rig_sink(&r, RIG_ORDERED, half[0]);
    rig_sink(&r, RIG_ORDERED, rig_node(&r, RIG_ADD1, 2, half[1], RIG_NOTHING));
    rig_end(&r);
    number_nodes(r.graph);
    p->whole = r.graph;
    p->waves = 3;
    rig_expect(&r, p->waves);
    dfr_cut_places(r.graph, p->place);
    cut_all(p);
    assert_int_equal(count_kernels(&p->cuts[DFR_HEAD], DF_KERNEL_VIEW), 0);
    assert_int_equal(count_kernels(&p->cuts[DFR_BODY], DF_KERNEL_VIEW), 1);
    assert_int_equal(count_kernels(&p->cuts[DFR_TAIL], DF_KERNEL_VIEW), 1);
    assert_int_equal(p->cuts[DFR_HEAD].graph->n_nodes, 1);
    assert_int_equal(p->cuts[DFR_BODY].graph->n_nodes, 3);  /* given, view, add1 */
    assert_int_equal(p->cuts[DFR_TAIL].graph->n_nodes, 5);  /* two are given; view, sinks */
    free_all(p);
    check_cut(&r, p);
    rig_free(&r);
    free(p);
}

/* ---- extents that differ from wave to wave ---- */

#define KERNEL(name) \
    static int name(struct df_call *call, void *stream, const size_t *dims, void *const *ports, \
                    const union df_scalar *scalars)
#define UNUSED (void)call, (void)stream, (void)dims, (void)ports, (void)scalars

enum { MOST = 8, WAVES = 20 };
static int64_t sums[WAVES];

/* wave % 5 numbers, so none in some waves */
KERNEL(count)
{
    UNUSED;
    size_t *n = (size_t *)&dims[0];
    *n = (size_t)df_wave(call) % 5;
    for (size_t i = 0; i < *n; i++)
        ((int64_t *)ports[0])[i] = df_wave(call) * 10 + (int64_t)i;
    return DF_OK;
}

KERNEL(bump)
{
    UNUSED;
    for (size_t i = 0; i < dims[0]; i++)
        ((int64_t *)ports[0])[i] += 1000;
    return DF_OK;
}

KERNEL(sum)
{
    UNUSED;
    sums[df_wave(call)] = (int64_t)dims[0] * 1000000;
    for (size_t i = 0; i < dims[0]; i++)
        sums[df_wave(call)] += ((int64_t *)ports[0])[i];
    return DF_OK;
}

/* count (v[n <= MOST]) -> bump (in place) -> sum (ordered) */
static struct df_graph *make_bounded(void)
{
    static const char *const dims[] = { "n" };
    static const uint64_t n[] = { MOST }, extents[1][DF_MAX_RANK] = { { MOST } }, code[] = { DF_X_ARG, 0 };
    static const struct df_port_desc ports[] = { { "v", DF_OUT, DF_I64, 1 }, { "v", DF_INOUT, DF_I64, 1 }, { "v", DF_IN, DF_I64, 1 } };
    static const struct {
        const char *name;
        df_function *f;
        unsigned traits;
    } kinds[] = { { "count", count, 0 }, { "bump", bump, 0 }, { "sum", sum, DF_ORDERED } };
    struct df_builder *b = df_builder_new("g");
    struct df_graph *graph = NULL;
    uint32_t kernel, node[3];

    for (unsigned k = 0; k < 3; k++) {
        const struct df_kernel_desc desc = { .name = kinds[k].name, .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &ports[k],
                                             .traits = kinds[k].traits, .functions = { .cpu = kinds[k].f } };
        const struct df_extent_desc e[DF_MAX_RANK] = { { .code = code, .n_code = 2, .own = k == 0 } };
        OK(df_builder_kernel(b, &desc, &kernel, &error));
        OK(df_builder_extents(b, kernel, e, &error));
        OK(df_builder_node_desc(b, &(struct df_node_desc){ .kernel = kernel, .dims = n, .port_dims = extents, .hint_class = -1 },
                                &node[k], &error));
        if (k > 0)
            OK(df_builder_connect(b, node[k - 1], 0, node[k], 0, &error));
    }
    OK(df_builder_finish(b, &graph, &error));
    df_builder_free(b);
    return graph;
}

static void test_extents(void **state)
{
    static const uint8_t places[][3] = { { DFR_HEAD, DFR_BODY, DFR_TAIL }, { DFR_BODY, DFR_BODY, DFR_TAIL },
                                         { DFR_BODY, DFR_TAIL, DFR_TAIL }, { DFR_HEAD, DFR_HEAD, DFR_TAIL } };
    struct df_graph *graph = make_bounded();

    (void)state;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        struct parts *p = calloc(1, sizeof *p);
        p->whole = graph;
        p->waves = WAVES;
        memcpy(p->place, places[k], 3);
        memset(sums, 0xff, sizeof sums);
        cut_all(p);
        for (unsigned which = 0; which < DFR_PLACES; which++)
            run_part(p, which, rig_options("ws", DF_DEVICE_NONE, 2));
        for (int64_t w = 0; w < WAVES; w++) {
            int64_t n = w % 5;
            assert_int_equal(sums[w], n == 0 ? -1 : n * 1000000 + n * 1000 + n * w * 10 + n * (n - 1) / 2);
        }
        free_all(p);
        free(p);
    }
    df_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_ranges), cmocka_unit_test(test_views),
                                        cmocka_unit_test(test_extents) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
