/* test_part.c - the parts of random graphs as fed runs: HEAD, two of BODY that get waves at random, one of them in places at random if the graph allows it, and TAIL, whose tokens go
 * from one to the other as messages do, copied, against the sequential reference; streams that end; failures; and tokens that are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/subgraph/part.h"
#include "runtime/record/digest.h"
#include "runtime/graph/plan.h"

enum { BODIES = 2, MOST_WAVES = 64, MOST_PORTS = 512 };

static struct df_error error;

#define OK(call) \
    do { \
        if ((call) != DF_OK) \
            fail_msg("%s", error.text); \
    } while (0)

struct bench {
    struct dfr_parts parts;
    struct dfr_part *head, *body[BODIES], *tail;
    struct dfr_value values[MOST_PORTS];
    int64_t limit, n_head, n_tail;      /* waves at most; those that HEAD has made and TAIL has ended */
    struct dfr_message *made[MOST_WAVES], *passed[MOST_WAVES], *result[MOST_WAVES];
    int64_t number[BODIES][MOST_WAVES]; /* by place */
    bool out_of_turn;                   /* the places of the second BODY are taken at random, and each has a unit */
    int64_t n_out_of_turn;
    uint32_t unit[8];
    bool over;
    uint32_t random;
};

static _Atomic unsigned n_fed;
static int64_t n_out_of_turn;             /* waves of all seeds */

static void count_fed(void *arg)
{
    (void)arg;
    atomic_fetch_add(&n_fed, 1);
}

static struct dfr_message *keep(const struct dfr_value *values, uint32_t n, int64_t wave)
{
    const struct dfr_head head = { .kind = DFR_GIVE, .epoch = 1, .wave = wave };
    struct dfr_message *message = dfr_message_make(&head, values, n);
    assert_non_null(message);
    return message;
}

/* Does no node of BODY see the waves in order? */
static bool may_be_out_of_turn(const struct dfr_parts *parts)
{
    const struct df_graph *g = parts->cuts[DFR_BODY].graph;

    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (!dfr_cut_is_given(&parts->cuts[DFR_BODY], v) && (df_kernel_in_order(&g->kernels[g->nodes[v].kernel]) || g->nodes[v].depth > 0))
            return false;
    return true;
}

static void open_parts(struct bench *b, const struct df_graph *g, const struct df_options *options)
{
    uint32_t n;
    struct df_options o = *options;

    o.fed = count_fed;
    OK(dfr_parts_make(g, &b->parts, &error));
    assert_true(b->parts.n_ports < MOST_PORTS);
    OK(dfr_part_open(&b->parts, DFR_HEAD, &o, NULL, 0, &b->head, &error));
    OK(dfr_part_once(b->head, b->values, &n, &error));
    struct dfr_message *once = keep(b->values, n, 0);
    for (int i = 0; i < BODIES; i++) {
        struct df_options own = o;
        if (i == 1 && (b->out_of_turn = may_be_out_of_turn(&b->parts)))
            own.policy = NULL, own.unit_of_slot = b->unit;
        OK(dfr_part_open(&b->parts, DFR_BODY, &own, once->values, once->n_values, &b->body[i], &error));
    }
    OK(dfr_part_open(&b->parts, DFR_TAIL, &o, once->values, once->n_values, &b->tail, &error));
    dfr_message_drop(once);
}

static void close_parts(struct bench *b)
{
    dfr_part_close(b->head);
    dfr_part_close(b->tail);
    for (int i = 0; i < BODIES; i++)
        dfr_part_close(b->body[i]);
    for (int i = 0; i < MOST_WAVES; i++) {
        dfr_message_drop(b->made[i]);
        dfr_message_drop(b->passed[i]);
        dfr_message_drop(b->result[i]);
    }
    dfr_parts_free(&b->parts);
}

static void step_head(struct bench *b)
{
    int64_t wave;
    uint32_t n;

    OK(dfr_part_poll(b->head, &error));
    while (b->limit > 0 && dfr_part_has_room(b->head)) {
        OK(dfr_part_begin(b->head, b->n_head, NULL, 0, &wave, &error));
        b->limit--;
        b->n_head++;
    }
    while ((wave = dfr_part_ended(b->head, true)) >= 0) {
        dfr_part_values(b->head, wave, DFR_BODY, b->values, &n);
        b->made[wave] = keep(b->values, n, wave);
        dfr_part_values(b->head, wave, DFR_TAIL, b->values, &n);
        b->passed[wave] = keep(b->values, n, wave);
        dfr_part_release(b->head, wave);
    }
    b->over = dfr_part_is_over(b->head) || (b->limit == 0 && dfr_part_is_idle(b->head));
}

/* Some wave goes to one of the bodies. Gives what its run says. */
static int step_body(struct bench *b)
{
    unsigned i = rig_rand(&b->random) % BODIES, w = rig_rand(&b->random) % MOST_WAVES;
    int64_t wave;
    uint32_t n;
    int status = dfr_part_poll(b->body[i], &error);

    if (status == DF_OK && b->made[w] && i == 1 && b->out_of_turn)
        dfr_part_turn(b->body[i], rig_rand(&b->random) % dfr_part_places(b->body[i]));
    if (status == DF_OK && b->made[w] && dfr_part_has_room(b->body[i])) {
        OK(dfr_part_begin(b->body[i], w, b->made[w]->values, b->made[w]->n_values, &wave, &error));
        b->number[i][wave % dfr_part_places(b->body[i])] = w;
        b->n_out_of_turn += i == 1 && b->out_of_turn;
        dfr_message_drop(b->made[w]);
        b->made[w] = NULL;
    }
    while (status == DF_OK && (wave = dfr_part_ended(b->body[i], false)) >= 0) {
        dfr_part_values(b->body[i], wave, DFR_PLACES, b->values, &n);
        const int64_t number = b->number[i][wave % dfr_part_places(b->body[i])];
        b->result[number] = keep(b->values, n, number);
        dfr_part_release(b->body[i], wave);
    }
    return status;
}

static int by_port(const void *a, const void *b)
{
    return (int)((const struct dfr_value *)a)->port - (int)((const struct dfr_value *)b)->port;
}

static void step_tail(struct bench *b, int64_t *begun)
{
    int64_t wave;

    OK(dfr_part_poll(b->tail, &error));
    while (*begun < MOST_WAVES && b->result[*begun] && dfr_part_has_room(b->tail)) {
        const struct dfr_message *one = b->result[*begun], *two = b->passed[*begun];
        memcpy(b->values, one->values, one->n_values * sizeof *b->values);
        memcpy(b->values + one->n_values, two->values, two->n_values * sizeof *b->values);
        qsort(b->values, one->n_values + two->n_values, sizeof *b->values, by_port);
        OK(dfr_part_begin(b->tail, *begun, b->values, one->n_values + two->n_values, &wave, &error));
        assert_int_equal(wave, *begun);
        ++*begun;
    }
    while ((wave = dfr_part_ended(b->tail, true)) >= 0) {
        dfr_part_release(b->tail, wave);
        b->n_tail++;
    }
}

static bool all_given(const struct bench *b)
{
    for (int w = 0; w < MOST_WAVES; w++)
        if (b->made[w] || (b->passed[w] && !b->result[w]))
            return false;
    return b->over;
}

static int run_all(struct bench *b)
{
    int64_t begun = 0;
    int status = DF_OK;

    while (status == DF_OK && (!all_given(b) || !dfr_part_is_idle(b->tail) || (begun < MOST_WAVES && b->result[begun]))) {
        step_head(b);
        status = step_body(b);
        step_tail(b, &begun);
    }
    return status;
}

static void finish_all(struct bench *b)
{
    OK(dfr_part_finish(b->head, NULL, &error));
    for (int i = 0; i < BODIES; i++)
        OK(dfr_part_finish(b->body[i], NULL, &error));
    OK(dfr_part_finish(b->tail, NULL, &error));
}

static void check_seed(unsigned seed)
{
    static const char *const policies[] = { "ws", "eager", "dmda", "all-cpu" };
    struct bench *b = calloc(1, sizeof *b);
    uint32_t *random = &b->random;
    struct rig r;

    *random = seed * 747796405u | 1;
    rig_skips = seed % 2;
    rig_accs = seed % 3 == 0;
    int64_t waves = 1 + rig_rand(random) % 20;
    bool streams = rig_rand(random) % 2;
    struct df_options o = rig_options(policies[rig_rand(random) % 4], rig_rand(random) % 4 ? DF_DEVICE_NONE : DF_DEVICE_EMU,
                                      1 + rig_rand(random) % 2);
    o.inflight = rig_rand(random) % 6;
    for (int place = 0; place < 8; place++)
        b->unit[place] = rig_rand(random) % 2;
    rig_random(&r, seed, 4 + rig_rand(random) % 30, 1 + rig_rand(random) % 60, streams ? waves : 0);
    rig_expect(&r, waves);
    for (uint32_t v = 0; v < r.graph->n_nodes; v++)
        ((struct df_node *)r.graph->nodes)[v].ordinal = v + 1;
    rig_clear(&r);
    b->limit = streams ? INT32_MAX : waves;
    open_parts(b, r.graph, &o);
    if (run_all(b) != DF_OK)
        fail_msg("seed %u: %s", seed, error.text);
    finish_all(b);
    if (b->n_tail != waves || !rig_same(&r, waves))
        fail_msg("seed %u: %lld of %lld waves", seed, (long long)b->n_tail, (long long)waves);
    n_out_of_turn += b->n_out_of_turn;
    close_parts(b);
    rig_free(&r);
    free(b);
}

static void test_random(void **state)
{
    unsigned first = 1, last = 40;

    (void)state;
    rig_seeds(&first, &last);
    n_fed = 0;
    for (unsigned seed = first; seed <= last; seed++)
        check_seed(seed);
    assert_true(n_fed > last - first);
    assert_true(n_out_of_turn > last - first);
    rig_skips = rig_accs = false;
}

/* ---- small graphs ---- */

/* stream -> `kernel` -> ordered sink */
static void make_chain(struct rig *r, int kernel, int64_t s)
{
    rig_begin(r, 10);
    r->expected_threads = 1;
    rig_sink(r, RIG_ORDERED, rig_node(r, kernel, s, rig_node(r, RIG_STREAM, 12, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING));
    rig_end(r);
}

static void test_failure(void **state)
{
    struct df_options o = rig_options("eager", DF_DEVICE_NONE, 2);
    struct bench *b = calloc(1, sizeof *b);
    struct rig r;

    (void)state;
    b->random = 1;
    b->limit = INT32_MAX;
    make_chain(&r, RIG_FAIL, 7);
    rig_clear(&r);
    open_parts(b, r.graph, &o);
    assert_int_equal(run_all(b), DF_E_KERNEL);
    assert_non_null(strstr(error.text, "node 'main/fail', wave 7"));
    close_parts(b);                     /* the others are given up */
    rig_free(&r);
    free(b);
}

static void refused(struct dfr_part *part, const struct dfr_value *values, uint32_t n, const char *why)
{
    int64_t wave;
    assert_int_equal(dfr_part_begin(part, 0, values, n, &wave, &error), DF_E_FORMAT);
    if (!strstr(error.text, why))
        fail_msg("%s", error.text);
}

static void test_wrong_tokens(void **state)
{
    struct df_options o = rig_options("eager", DF_DEVICE_NONE, 1);
    struct bench *b = calloc(1, sizeof *b);
    int64_t data[10] = { 0 };
    struct dfr_value value = { .data = data, .bytes = sizeof data };
    struct rig r;

    (void)state;
    make_chain(&r, RIG_ADD1, 1);
    rig_clear(&r);
    open_parts(b, r.graph, &o);
    uint32_t n;
    OK(dfr_part_once(b->body[0], b->values, &n, &error));
    assert_int_equal(n, 0);
    refused(b->body[0], NULL, 0, "what came of node 'main/stream' from another rank is no token of it: it is missing");
    value.bytes--;
    refused(b->body[0], &value, 1, "it has another size");
    value.bytes++;
    value.n_extents = 1;
    refused(b->body[0], &value, 1, "it has other extents");
    value.n_extents = 0;
    value.port = 1;
    refused(b->body[0], &value, 1, "it is missing");
    close_parts(b);
    rig_free(&r);
    free(b);
}

static void refuse_graph(struct rig *r, const char *why)
{
    struct dfr_parts parts;
    rig_end(r);
    assert_int_equal(dfr_parts_make(r->graph, &parts, &error), DF_E_REFUSED);
    if (!strstr(error.text, why))
        fail_msg("%s", error.text);
    rig_free(r);
}

static void test_refused(void **state)
{
    struct rig r;

    (void)state;
    rig_begin(&r, 10);
    rig_sink(&r, RIG_ORDERED, rig_node(&r, RIG_STREAM, 5, RIG_NOTHING, RIG_NOTHING));
    refuse_graph(&r, "what comes before node 'main/ordered_sink', which sees the waves in order, are sources, or nodes that fire once");
    rig_begin(&r, 10);                  /* of several the first is named, which is in the way */
    struct rig_out a = rig_node(&r, RIG_ACC, 1, rig_node(&r, RIG_STREAM, 5, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING);
    a.slot = 1;
    rig_sink(&r, RIG_ORDERED, rig_node(&r, RIG_ADD1, 1, a, RIG_NOTHING));
    refuse_graph(&r, "what comes before node 'main/acc', which sees the waves in order");
    rig_begin(&r, 10);
    rig_node(&r, RIG_ADD1, 5, rig_node(&r, RIG_ONCE, 5, RIG_NOTHING, RIG_NOTHING), RIG_NOTHING);
    refuse_graph(&r, "it has no node that fires in each wave, but for sources and sinks");
}

/* What a planner is told of BODY; it refuses, and so does the run that asked for its plan. */
static struct {
    char platform[48];
    double time_s;                      /* of the node that is not given */
    bool has_stream;
    uint32_t n_nodes;
} seen;

static int look(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times, const char *policy,
                struct df_plan **plan, struct df_error *e)
{
    (void)policy, (void)plan;
    memcpy(seen.platform, platform->name, sizeof seen.platform);
    seen.n_nodes = graph->n_nodes;
    for (uint32_t v = 0; v < graph->n_nodes; v++) {
        seen.has_stream |= (graph->kernels[graph->nodes[v].kernel].traits & DF_STREAM) != 0;
        if (!(graph->nodes[v].flags & DF_NODE_ZERO_COST))
            seen.time_s = times->time_s[graph->nodes[v].work];
    }
    strcpy(e->text, "seen");
    return DF_E_REFUSED;
}

/* A part plans for its own machine, with the times and the platform of the program's plan, and for many waves. */
static void test_plan(void **state)
{
    const struct df_planner planner = { .make = look };
    struct df_plan plan = { .policy = "gp-thesis" };
    struct df_options o = rig_options("gp", DF_DEVICE_NONE, 1);
    struct dfr_parts parts;
    struct dfr_part *part;
    struct rig r;

    (void)state;
    make_chain(&r, RIG_ADD1, 1);
    OK(dfr_parts_make(r.graph, &parts, &error));
    df_platform_default(&plan.platform, 0);
    strcpy(plan.platform.name, "elsewhere");
    OK(dfr_times_default(r.graph, false, &plan.times, &error));
    for (uint32_t w = 0; w < plan.times.n_works; w++)
        plan.times.time_s[w] = 0.125;
    o.plan = &plan;
    o.planner = &planner;
    assert_int_equal(dfr_part_open(&parts, DFR_BODY, &o, NULL, 0, &part, &error), DF_E_REFUSED);
    assert_string_equal(error.text, "seen");
    assert_string_equal(seen.platform, "elsewhere");
    assert_int_equal(seen.n_nodes, 2);  /* the stream, which is given, and ADD1 */
    assert_true(seen.time_s == 0.125 && seen.has_stream);
    dfr_times_free(&plan.times);
    dfr_parts_free(&parts);
    rig_free(&r);
}

static void test_hash(void **state)
{
    struct rig r, other;

    (void)state;
    make_chain(&r, RIG_ADD1, 1);
    make_chain(&other, RIG_ADD1, 1);
    assert_true(dfr_graph_digest(r.graph, NULL) == dfr_graph_digest(other.graph, NULL));
    rig_free(&other);
    make_chain(&other, RIG_ADD1, 2);
    assert_true(dfr_graph_digest(r.graph, NULL) != dfr_graph_digest(other.graph, NULL));
    rig_free(&other);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),  cmocka_unit_test(test_failure), cmocka_unit_test(test_wrong_tokens),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_hash), cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
