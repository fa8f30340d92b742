/* test_buffers_random.c - random graphs whose values lie in the caller's memory, as results and as given values, under
 * every policy, on the host and on devices, with and without enough memory. The expected values come from a serial run
 * in which all of them lie in buffers, and whose sinks agree with the sequential reference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "long.h"
#include "partition/partition.h"
#include "run_rig.h"
#include "runtime/emu/emu.h"

enum { MAX_BUFFERS = 512 };

struct bound {                          /* all values of a graph that can have a buffer */
    struct rig rig;
    int64_t waves;
    uint32_t n;
    struct df_buffer buffers[MAX_BUFFERS];
    char names[MAX_BUFFERS][64];
    int64_t *reference[MAX_BUFFERS];
    bool may_be_given[MAX_BUFFERS];
    uint64_t tokens[MAX_BUFFERS];
};

static bool is_taken(const struct df_graph *g, uint32_t value)
{
    for (uint32_t y = 0; y < g->n_values; y++)
        if (g->values[y].taken_from == value)
            return true;
    return false;
}

/* Is it a source with one output, which no inout takes over? Streams are left out, because a stream must run to say
 * when it ends. */
static bool may_be_given(const struct df_graph *g, uint32_t value)
{
    uint32_t v = g->values[value].producer;
    return g->values[value].taken_from == DF_NONE && df_node_n_in(g, v) == 0 && df_node_n_out(g, v) == 1 &&
           !(g->kernels[g->nodes[v].kernel].traits & DF_STREAM);
}

static void bind_all(struct bound *b)
{
    struct df_graph *g = b->rig.graph;

    for (uint32_t v = 0; v < g->n_nodes; v++)
        ((struct df_node *)g->nodes)[v].ordinal = v + 1; /* without it, all nodes of the rig have one name */
    for (uint32_t y = 0; y < g->n_values && b->n < MAX_BUFFERS; y++) {
        uint32_t i = b->n, v = g->values[y].producer;
        if (is_taken(g, y))
            continue;
        df_node_name(g, v, b->names[i], sizeof b->names[i]);
        b->tokens[i] = g->nodes[v].flags & DF_NODE_ONCE ? 1 : (uint64_t)b->waves;
        b->may_be_given[i] = may_be_given(g, y);
        b->reference[i] = calloc(b->tokens[i], g->values[y].bytes);
        b->buffers[i] = (struct df_buffer){ .node = b->names[i], .out_slot = g->values[y].slot,
                                            .bytes = b->tokens[i] * g->values[y].bytes,
                                            .data = malloc(b->tokens[i] * g->values[y].bytes) };
        assert_true(b->reference[i] && b->buffers[i].data);
        b->n++;
    }
}

static void unbind_all(struct bound *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        free(b->reference[i]);
        free(b->buffers[i].data);
    }
    rig_free(&b->rig);
}

static void find_reference(struct bound *b)
{
    struct df_options o = rig_options("ws", DF_DEVICE_NONE, 1);
    struct df_buffer buffers[MAX_BUFFERS];

    for (uint32_t i = 0; i < b->n; i++) {
        buffers[i] = b->buffers[i];
        buffers[i].data = b->reference[i];
    }
    o.waves = b->waves;
    o.serial = 1;
    o.buffers = buffers;
    o.n_buffers = b->n;
    rig_check(&b->rig, &o, b->waves);
}

/* Chooses some of the buffers. Some of these are given. */
static void check(struct bound *b, struct df_options o, uint32_t *random)
{
    struct df_buffer buffers[MAX_BUFFERS];
    uint32_t of[MAX_BUFFERS], n = 0;
    struct df_stats stats;
    uint64_t n_wrong;

    for (uint32_t i = 0; i < b->n; i++) {
        if (rig_rand(random) % 3 == 0)
            continue;
        of[n] = i;
        buffers[n] = b->buffers[i];
        buffers[n].given = b->may_be_given[i] && rig_rand(random) % 2;
        if (buffers[n].given)
            memcpy(buffers[n].data, b->reference[i], buffers[n].bytes);
        else
            memset(buffers[n].data, 0xee, buffers[n].bytes);
        n++;
    }
    o.buffers = buffers;
    o.n_buffers = n;
    stats = rig_check(&b->rig, &o, b->waves);
    for (uint32_t k = 0; k < n; k++)
        if (memcmp(buffers[k].data, b->reference[of[k]], buffers[k].bytes) != 0)
            fail_msg("%s, output %u: policy %s, device %d, %u workers, %u in flight, %llu bytes of GPU memory",
                     buffers[k].node, buffers[k].out_slot, o.policy, o.device, o.workers, o.inflight,
                     (unsigned long long)o.gpu_mem_bytes);
    assert_int_equal(stats.left_bytes, 0);
    assert_int_equal(dfr_emu_host_registered(&n_wrong), 0);
    assert_int_equal(n_wrong, 0);
}

static void test_random(void **state)
{
    static const char *const policies[] = { "eager", "ws", "dmda", "all-cpu", "all-gpu", "heft", "gp" };
    enum { N_POLICIES = sizeof policies / sizeof *policies };
    unsigned first = 1, last = IN_LONG(8u, 3u);
    struct df_platform platforms[3];

    (void)state;
    rig_seeds(&first, &last);
    df_platform_default(&platforms[0], 1);
    df_platform_default(&platforms[1], 2);
    df_platform_default(&platforms[2], 3);
    for (uint32_t u = 1; u <= 3; u++)
        platforms[2].units[u].peer = (struct df_link){ 1e11, 1e-7, 0 };
    for (uint32_t seed = first; seed <= last; seed++) {
        struct bound *b = calloc(1, sizeof *b);
        uint32_t x = seed * 747796405u | 1;
        bool streams = rig_rand(&x) % 3 == 0;

        assert_non_null(b);
        b->waves = 1 + rig_rand(&x) % 7;
        rig_random(&b->rig, seed, 6 + rig_rand(&x) % 50, 1 + rig_rand(&x) % 512, streams ? b->waves : 0);
        rig_expect(&b->rig, b->waves);
        bind_all(b);
        find_reference(b);
        for (int p = 0; p < N_POLICIES; p++)
            for (int device = DF_DEVICE_NONE; device <= DF_DEVICE_EMU; device++) {
                struct df_options o = rig_options(policies[p], (enum df_device_kind)device, 1 + rig_rand(&x) % 3);
                o.waves = b->waves;
                o.planner = &dfp_planner;
                o.emu_all = rig_rand(&x) % 2;
                o.gpu_jobs = rig_rand(&x) % 4;
                o.inflight = rig_rand(&x) % 5;
                o.emu_check = rig_rand(&x) % 4 == 0;
                o.platform = &platforms[rig_rand(&x) % 3];
                o.gpu_mem_bytes = rig_rand(&x) % 2 ? (4 + rig_rand(&x) % 9) * 4096 : 0; /* 1 page a token, 4 a job */
                struct dfr_emu_trial trial = { .reorder_seed = rig_rand(&x) % 2 ? 1 + x % 1000 : 0 };
                o.poison = rig_rand(&x) % 4 == 0;
                o.pin = (int)(rig_rand(&x) % 3);
                dfr_emu_trial_use(&trial);
                check(b, o, &x);
                dfr_emu_trial_use(NULL);
            }
        unbind_all(b);
        free(b);
    }
}

/* Nobody knows beforehand how long a stream is. So places are used in turn, or the run says how many waves it has. */
static void test_stream(void **state)
{
    struct rig r;
    struct rig_out a;
    int64_t tokens[4 * 10];
    struct df_buffer buffer = { .node = "main/add1", .data = tokens, .bytes = sizeof tokens };
    struct df_error error;
    struct df_run *run;

    (void)state;
    rig_begin(&r, 10);
    a = rig_node(&r, RIG_STREAM, 9, RIG_NOTHING, RIG_NOTHING);
    a = rig_node(&r, RIG_ADD1, 5, a, RIG_NOTHING);
    rig_sink(&r, RIG_SINK, a);
    rig_end(&r);
    rig_expect(&r, 9);
    for (int device = DF_DEVICE_NONE; device <= DF_DEVICE_EMU; device++)
        for (unsigned workers = 1; workers <= 2; workers++) {
            struct df_options o = rig_options("eager", (enum df_device_kind)device, workers);
            o.buffers = &buffer;
            o.n_buffers = 1;
            buffer.n_tokens = 0;
            assert_int_equal(df_run_start(r.graph, &o, &run, &error), DF_E_ARGUMENT);
            assert_string_equal(error.text, "buffer of node 'main/add1', output 0: nobody knows how many waves there "
                                            "will be: say how many the run has, or use places in turn (n_tokens)");
            buffer.n_tokens = 4;
            assert_int_equal(rig_check(&r, &o, 9).inflight, 4);
            buffer.n_tokens = 3;
            assert_int_equal(rig_check(&r, &o, 9).inflight, 3);
        }
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_stream) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
