/* test_cuda_mock.c - runs on the CUDA back end with the mock of the CUDA runtime below it (cuda_rig.h). They have the
 * same results as on the CPU. If a call or a kernel fails they say so and return everything; each call of CUDA's fails
 * once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cuda_rig.h"
#include "profiles/probe/probe_impl.h"
#include "runtime/device/device.h"

/* ---- the probe's chain ---- */

/* The chain of empty jobs runs on a GPU, too, although dfc has no code for it; the second one is measured by itself. */
static void test_handover(void **state)
{
    struct df_unit unit = { .h2d = { 1e15, 0, 0 }, .d2h = { 1e15, 0, 0 } };
    struct df_error error = { "" };

    (void)state;
    need_mock();
    mock_begin(2, MEMORY, 1);
    if (dfw_probe_handover(DF_DEVICE_CUDA, 1, NULL, false, &unit, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(unit.handover_s > 0 && unit.handover_s < 0.1);
    assert_nothing_left();
}

/* ---- the same results ---- */

static void test_results(void **state)
{
    static const char *const policies[] = { "eager", "ws", "dmda", "all-gpu" };
    static struct df_stats stats;
    struct df_error error;
    uint64_t replayed = 0, evicted = 0, sent = 0, staged = 0, batched = 0, in_one_call = 0;
    struct df_platform linked;

    (void)state;
    need_mock();
    df_platform_default(&linked, 2);
    linked.units[1].peer = linked.units[2].peer = (struct df_link){ 1e10, 1e-6, 0 };
    for (uint32_t seed = 1; seed <= 6; seed++)
        for (unsigned p = 0; p < 4; p++) {
            struct rig r;
            mock_begin(1 + seed % 2, MEMORY, seed);
            if (seed == 4)
                mock_no_batches();
            rig_random(&r, seed, 40, 100, 0);
            use_launches(&r);
            rig_expect(&r, WAVES);
            struct df_options o = options_of(policies[p]);
            o.gpu_mem_bytes = seed % 3 ? 0 : 7 * 4096;
            o.cuda_graphs = seed % 3 == 1 ? DF_GRAPHS_ON : seed % 3 == 2 ? DF_GRAPHS_OFF : DF_GRAPHS_AUTO;
            o.sync_kernels = seed == 5;
            o.gpu_jobs = seed % 4;
            o.platform = seed % 4 == 1 ? &linked : NULL;
            o.pin = (seed + p) % 2 ? DF_PIN_OFF : DF_PIN_AUTO;
            if (rig_run(&r, &o, &stats, &error) != DF_OK)
                fail_msg("seed %u, %s: %s", seed, policies[p], error.text);
            assert_true(rig_same(&r, WAVES));
            assert_nothing_left();
            for (unsigned m = 0; m < stats.n_memories; m++) {
                replayed += stats.memories[m].replayed;
                evicted += stats.memories[m].evictions;
                sent += stats.memories[m].peer_copies;
                staged += stats.memories[m].staged_copies;
                batched += stats.memories[m].batched_copies;
            }
            in_one_call += mock_batches();
            assert_true(seed != 4 || mock_batches() == 0);
            rig_free(&r);
        }
    mock_begin(1, MEMORY, 1);
    assert_true(replayed > 0 && evicted > 0 && sent > 0 && staged > 0 && batched > 0);
    assert_true(in_one_call > 0 || !mock_has_batches());
}

/* The second device of --check=variants, and what looks into a run on the first. */
static void test_looked_into(void **state)
{
    (void)state;
    need_mock();
    for (int i = 0; i < 2; i++) {
        struct rig r;
        mock_begin(1, MEMORY, 6);
        rig_random(&r, 3, 30, 100, 0);
        use_launches(&r);
        rig_expect(&r, WAVES);
        struct df_options o = options_of("all-gpu");
        o.check_variants = i == 0;
        o.poison = i == 1;
        o.watchdog_s = i == 1 ? 100 : 0;
        rig_check(&r, &o, WAVES);
        assert_nothing_left();
        rig_free(&r);
    }
}

/* A chain is recorded when it comes a second time in the same place, and replayed from then on. */
static void test_replay(void **state)
{
    struct rig r;

    (void)state;
    need_mock();
    make_chain(&r, 12);
    struct df_options o = options_of("all-gpu");
    o.inflight = 1;
    struct df_stats stats = rig_check(&r, &o, WAVES);
    assert_int_equal(stats.memories[0].replayed, 12 * (WAVES - 1));
    assert_int_equal(mock_graph_launches(), WAVES - 1);
    assert_nothing_left();
    rig_free(&r);
}

/* a, then b and c, then d: the graph has an edge for each input that is made in it, and no other. The mock does b and c in
 * either order. */
static void test_replay_of_a_diamond(void **state)
{
    (void)state;
    need_mock();
    for (uint32_t seed = 1; seed <= 8; seed++) {
        struct rig r;
        struct rig_out a, b, c;
        mock_begin(1, MEMORY, seed);
        rig_begin(&r, 50);
        a = rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
        a = rig_node(&r, RIG_ADD1, 1, a, RIG_NOTHING);
        b = rig_node(&r, RIG_SCRATCH, 2, a, RIG_NOTHING);
        c = rig_node(&r, RIG_ADD1, 3, a, RIG_NOTHING);
        rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, rig_node(&r, RIG_ADD2, 4, b, c));
        rig_end(&r);
        use_launches(&r);
        rig_expect(&r, WAVES);
        struct df_options o = options_of("all-gpu");
        o.inflight = 1;
        struct df_stats stats = rig_check(&r, &o, WAVES);
        assert_int_equal(stats.memories[0].replayed, 4 * (WAVES - 1));
        assert_int_equal(mock_graph_edges(), 4);
        assert_nothing_left();
        rig_free(&r);
    }
}

/* Host code that a capture forbids: the capture is given up, and nothing is lost or done twice. */
static void test_spoiled_captures(void **state)
{
    (void)state;
    need_mock();
    for (int i = 0; i < 2; i++) {
        struct rig r;
        misbehaves = i ? ALLOCATES : USES_BLAS;
        mock_begin(1, MEMORY, 3);
        make_chain(&r, 12);
        struct df_options o = options_of("all-gpu");
        o.inflight = 1;
        o.cuda_graphs = DF_GRAPHS_ON;
        struct df_stats stats = rig_check(&r, &o, WAVES);
        assert_int_equal(stats.memories[0].replayed, 0);
        if (misbehaves == USES_BLAS)
            assert_int_equal(mock_spoiled(), 0); /* no handle is made in a capture */
        else
            assert_true(mock_spoiled() > 0);
        assert_nothing_left();
        rig_free(&r);
    }
}

/* Host code leaves another GPU selected. Nothing goes to that GPU. */
static void test_other_gpu_selected(void **state)
{
    struct rig r;

    (void)state;
    need_mock();
    misbehaves = SELECTS;
    mock_begin(2, MEMORY, 7);
    make_chain(&r, 12);
    struct df_options o = options_of("all-gpu");
    o.inflight = 1;
    o.cuda_graphs = DF_GRAPHS_ON;
    struct df_stats stats = rig_check(&r, &o, WAVES);
    assert_true(stats.memories[0].replayed > 0);
    assert_nothing_left();
    rig_free(&r);
}

/* Results in the caller's memory, registered or not, of values that no job of the host reads. They have the same
 * bytes as on the CPU, and each of CUDA's objects is returned. */
static void test_buffers(void **state)
{
    static int64_t memory[2][WAVES * 50], wanted[2][WAVES * 50];
    struct rig r;
    char names[2][32];
    struct df_platform platform;
    struct df_buffer buffers[2];
    uint64_t bytes = sizeof memory[0];

    (void)state;
    need_mock();
    make_chain(&r, 12);
    for (uint32_t v = 0; v < r.graph->n_nodes; v++)
        ((struct df_node *)r.graph->nodes)[v].ordinal = v + 1; /* the rig's nodes have all one name */
    df_node_name(r.graph, 1, names[0], sizeof names[0]);
    df_node_name(r.graph, 12, names[1], sizeof names[1]);
    for (int k = 0; k < 2; k++)
        buffers[k] = (struct df_buffer){ .node = names[k], .data = wanted[k], .bytes = bytes };
    struct df_options o = rig_options("eager", DF_DEVICE_NONE, 1);
    o.waves = WAVES;
    o.buffers = buffers;
    o.n_buffers = 2;
    rig_check(&r, &o, WAVES);
    df_platform_default(&platform, 1);
    for (uint32_t registers = DF_REGISTER_UNKNOWN; registers <= DF_REGISTER_NO; registers++)
        for (unsigned inflight = 1; inflight <= 3; inflight++) {
            o = options_of("all-gpu");
            platform.units[1].registers = registers;
            o.platform = &platform;
            o.inflight = inflight;
            o.buffers = buffers;
            o.n_buffers = 2;
            memset(memory, 0, sizeof memory);
            for (int k = 0; k < 2; k++)
                buffers[k].data = memory[k];
            assert_int_equal(rig_check(&r, &o, WAVES).pinned_bytes > 0, registers != DF_REGISTER_NO);
            assert_memory_equal(memory, wanted, sizeof memory);
            assert_nothing_left();
        }
    rig_free(&r);
}

/* ---- trouble ---- */

/* Each call of CUDA's fails once. The run ends, says what failed, and returns everything; or it can do without that
 * call. */
static void fail_each_call(struct rig *r, int pin)
{
    static const int statuses[] = { 1, MOCK_OUT_OF_MEMORY };
    unsigned failed = 0, done_without = 0;

    for (uint64_t n = 1;; n += n < 100 ? 1 : 5) {
        struct df_options o = options_of("all-gpu");
        struct df_error error = { "" };
        o.waves = 3;
        o.inflight = 1;
        o.pin = pin;
        mock_begin(1, MEMORY, 2);
        mock_fail(n, statuses[n % 2]);
        int status = rig_run(r, &o, NULL, &error);
        const char *call = mock_failed();
        if (!call) {
            assert_int_equal(status, DF_OK);
            break;
        }
        if (status == DF_OK) {
            assert_true(rig_same(r, 3));
            done_without++;
        } else {
            if ((status != DF_E_DEVICE && status != DF_E_MEMORY) || !strstr(error.text, "cuda"))
                fail_msg("call %llu, %s: status %d, '%s'", (unsigned long long)n, call, status, error.text);
            failed++;
        }
        if (!strstr(call, "Destroy") && !strstr(call, "Free"))
            assert_nothing_left();
    }
    assert_true(failed > 50 && done_without > 0);
}

static void test_each_call_fails(void **state)
{
    struct rig r;

    (void)state;
    need_mock();
    make_chain(&r, 6);
    fail_each_call(&r, DF_PIN_AUTO);
    fail_each_call(&r, DF_PIN_OFF);
    rig_free(&r);
}

/* Host code that ends the GPU's worker, within a capture or outside: the run fails, and gives all back. */
static void test_thread_ended(void **state)
{
    (void)state;
    need_mock();
    for (int graphs = DF_GRAPHS_AUTO; graphs <= DF_GRAPHS_OFF; graphs++)
        for (unsigned inflight = 1; inflight <= 3; inflight += 2) {
            struct df_error error = { "" };
            struct rig r;

            misbehaves = ENDS;
            mock_begin(1, MEMORY, 7);
            make_chain(&r, 12);
            struct df_options o = options_of("all-gpu");
            o.cuda_graphs = graphs;
            o.inflight = inflight;
            assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_KERNEL);
            assert_non_null(strstr(error.text, "node 'main/split', wave 0: the kernel ended its thread"));
            assert_nothing_left();
            misbehaves = WELL;
            rig_check(&r, &o, WAVES);
            rig_free(&r);
        }
}

static void test_faults(void **state)
{
    struct df_error error = { "" };
    struct rig r;

    (void)state;
    need_mock();
    for (int sync = 0; sync < 2; sync++) {
        misbehaves = FAULTS;
        mock_begin(1, MEMORY, 5);
        make_chain(&r, 12);
        struct df_options o = options_of("all-gpu");
        o.sync_kernels = sync;
        assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_DEVICE);
        assert_non_null(strstr(error.text, "cudaErrorIllegalAddress"));
        if (sync)
            assert_non_null(strstr(error.text, "node 'main/split', wave 1: cuda0: "));
        else
            assert_true(strstr(error.text, " more in flight: cuda0: ") && strstr(error.text, "; --sync-kernels tells"));
        misbehaves = WELL;              /* the process has lost this GPU */
        assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_DEVICE);
        assert_non_null(strstr(error.text, "cuda0: "));
        o.device = DF_DEVICE_NONE;
        rig_check(&r, &o, WAVES);
        rig_free(&r);
    }
}

/* Host code that looks for errors finds one of another kernel: then its node is not blamed alone. If the device is
 * well, what the host code says is the reason. */
static void test_fault_found_by_another(void **state)
{
    struct df_error error;
    struct rig r;

    (void)state;
    need_mock();
    misbehaves = FAULTS_AND_TELLS;
    make_chain(&r, 12);
    struct df_options o = options_of("all-gpu");
    o.cuda_graphs = DF_GRAPHS_OFF;
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_DEVICE);
    if (!strstr(error.text, "cudaErrorIllegalAddress") || !strstr(error.text, " more in flight: cuda0: ") ||
        strstr(error.text, "launch failed"))
        fail_msg("%s", error.text);
    o.inflight = 1;                     /* nothing of wave 1 is launched yet */
    for (uint64_t n = 1; !mock_failed() || strcmp(mock_failed(), "launch") != 0; n++) {
        mock_begin(1, MEMORY, 1);
        mock_fail(n, 1);
        (void)rig_run(&r, &o, NULL, &error);
        assert_true(n < 10000);
    }
    if (!strstr(error.text, ": launch failed"))
        fail_msg("%s", error.text);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_handover, cuda_set_up),
        cmocka_unit_test_setup(test_results, cuda_set_up),
        cmocka_unit_test_setup(test_looked_into, cuda_set_up),
        cmocka_unit_test_setup(test_replay, cuda_set_up),
        cmocka_unit_test_setup(test_replay_of_a_diamond, cuda_set_up),
        cmocka_unit_test_setup(test_spoiled_captures, cuda_set_up),
        cmocka_unit_test_setup(test_other_gpu_selected, cuda_set_up),
        cmocka_unit_test_setup(test_buffers, cuda_set_up),
        cmocka_unit_test_setup(test_each_call_fails, cuda_set_up),
        cmocka_unit_test_setup(test_thread_ended, cuda_set_up),
        cmocka_unit_test_setup(test_faults, cuda_set_up),
        cmocka_unit_test_setup(test_fault_found_by_another, cuda_set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
