/* test_cuda_mock.c - all of the CUDA back end, and what stands on it, on a stand-in for the CUDA runtime
 * (tests/mock). No GPU takes part, so this says nothing of kernels or speed. But every call of CUDA's is made, in
 * every order that the runtime makes them, and each of them fails once.
 *
 * The rig's kernels are launched as functions. These read and write their ports when their turn comes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "partition/partition.h"
#include "run_rig.h"
#include "runtime/device/device.h"
#include "runtime/emu/back_end.h"
#include "runtime/engine/engine.h"
#include "runtime/measure/measure.h"
#include "runtime/start/learn.h"
#include "runtime/graph/plan.h"
#include "temp_folder.h"
#include "tests/mock/cuda_mock.h"

#define MEMORY (UINT64_C(64) << 20)
#define WAVES 5

static const struct dfr_device_ops *ops;

/* ---- kernels ---- */

struct launched {                       /* what a kernel is given is copied, as CUDA does */
    df_function *fn;
    struct df_call call;
    size_t dims[1];
    void *ports[4];
    union df_scalar scalars[1];
};

static void run_launched(void *arguments)
{
    struct launched *l = arguments;
    l->fn(&l->call, NULL, l->dims, l->ports, l->scalars);
}

/* What the host code of the kernel named by `misbehaves` does beside its launch. */
static enum { WELL, FAULTS, FAULTS_AND_TELLS, ALLOCATES, USES_BLAS, SELECTS, ENDS } misbehaves;

static const struct df_kernel *kernel_of(const struct df_call *call, uint32_t *number)
{
    const struct df_graph *g = call->run->graph;
    *number = g->nodes[dfr_job_node(call->job)].kernel;
    return &g->kernels[*number];
}

static int launches(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                    const union df_scalar *scalars)
{
    uint32_t number;
    const struct df_kernel *k = kernel_of(call, &number);
    struct launched l = { .fn = call->run->graph->functions[number].cpu, .call = *call, .dims = { dims[0] },
                          .scalars = { scalars[0] } };
    memcpy(l.ports, ports, k->n_ports * sizeof *ports);
    if (number == RIG_SOURCE || number == RIG_SINK || number == RIG_ORDERED)
        l.call.wave = df_wave(call);
    if (number == RIG_SPLIT && misbehaves == ALLOCATES && mock_allocate() != 0)
        return df_fail(call, "no memory");
    if (number == RIG_SPLIT && misbehaves == ENDS && call->wave == 0)
        pthread_exit(NULL);
    if (number == RIG_SPLIT && misbehaves == USES_BLAS && !df_cublas(call))
        return DF_FAILED;
    if (number == RIG_SPLIT && misbehaves == USES_BLAS && mock_blas().stream != stream)
        return df_fail(call, "the handle is bound to another job's stream");
    if (number == RIG_ADD1 && misbehaves == FAULTS_AND_TELLS)
        (void)mock_allocate();          /* waits for all that was launched before */
    mock_launch(stream, run_launched, &l, sizeof l);
    if (number == RIG_SPLIT && (misbehaves == FAULTS || misbehaves == FAULTS_AND_TELLS) && call->wave == 1)
        mock_launch_fault(stream);
    if (misbehaves == FAULTS_AND_TELLS && mock_last_error() != 0)
        return df_fail(call, "launch failed");
    if (misbehaves == SELECTS)
        mock_select(1);
    return DF_OK;
}

static const void *device_code(void)
{
    return &ops;                        /* stands for a __global__ function */
}

/* The rig's gpu variants become launches; those that do nothing else are told to the runtime. */
static void use_launches(struct rig *r)
{
    struct df_kernel *kernels = (struct df_kernel *)r->graph->kernels;
    struct df_functions *functions = (struct df_functions *)r->graph->functions;
    for (uint32_t k = 0; k < RIG_KERNELS; k++) {
        functions[k].gpu = launches;
        functions[k].device = device_code;
        if (k != RIG_SOURCE && k != RIG_SINK && k != RIG_ORDERED && !(k == RIG_SPLIT && misbehaves != WELL))
            kernels[k].traits |= DF_LAUNCH;
    }
}

static struct df_options options_of(const char *policy)
{
    struct df_options o = rig_options(policy, DF_DEVICE_CUDA, 2);
    o.waves = WAVES;
    o.gpu_jobs = 2;
    return o;
}

static int set_up(void **state)
{
    (void)state;
    misbehaves = WELL;
    if (mock_begin) {
        mock_begin(1, MEMORY, 1);
        ops = dfr_device_back_end(DF_DEVICE_CUDA);
    }
    return 0;
}

static void need_mock(void)
{
    if (!mock_begin || !ops) {
        print_message("built without CUDA's headers\n");
        skip();
    }
}

static void assert_nothing_left(void)
{
    if (mock_left() != 0)
        fail_msg("%zu of CUDA's objects were not returned", mock_left());
}

/* ---- the same results ---- */

static void test_results(void **state)
{
    static const char *const policies[] = { "eager", "ws", "dmda", "all-gpu" };
    static struct df_stats stats;
    struct df_error error;
    uint64_t replayed = 0, evicted = 0, sent = 0, staged = 0;
    struct df_platform linked;

    (void)state;
    need_mock();
    df_platform_default(&linked, 2);
    linked.units[1].peer = linked.units[2].peer = (struct df_link){ 1e10, 1e-6, 0 };
    for (uint32_t seed = 1; seed <= 6; seed++)
        for (unsigned p = 0; p < 4; p++) {
            struct rig r;
            mock_begin(1 + seed % 2, MEMORY, seed);
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
            }
            rig_free(&r);
        }
    assert_true(replayed > 0 && evicted > 0 && sent > 0 && staged > 0);
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

static void make_chain(struct rig *r, unsigned length)
{
    struct rig_out at;
    rig_begin(r, 50);
    at = rig_node(r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    for (unsigned i = 0; i < length; i++)
        at = rig_node(r, i % 4 == 3 ? RIG_BUMP : i == length / 2 ? RIG_SPLIT : RIG_ADD1, i, at, RIG_NOTHING);
    rig_sink(r, RIG_SINK | RIG_CPU_ONLY, at);
    rig_end(r);
    use_launches(r);
    rig_expect(r, WAVES);
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

/* How many jobs of gpu variants stand in the one file that the run left. */
static unsigned learned(void)
{
    char path[512], line[4096];
    unsigned sum = 0, n_files = 0;
    struct dirent *entry;

    snprintf(path, sizeof path, "%s.learned", temp_file);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        n_files++;
        snprintf(path, sizeof path, "%s.learned/%s", temp_file, entry->d_name);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file)) {
            unsigned runs;
            const char *at = strstr(line, "\"runs\": ");
            if (strstr(line, "\"variant\": \"gpu\"") && at && sscanf(at, "\"runs\": %u", &runs) == 1)
                sum += runs;
        }
        fclose(file);
        unlink(path);
    }
    closedir(folder);
    assert_int_equal(n_files, 1);
    snprintf(path, sizeof path, "%s.learned", temp_file);
    rmdir(path);
    return sum;
}

/* A kernel's first launch loads its code. The time of that launch is not learned as the kernel's time. */
static void test_loading_is_not_learned(void **state)
{
    struct rig r;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    make_chain(&r, 12);                 /* of three kernels */
    struct df_options o = options_of("all-gpu");
    o.gpu_jobs = 1;
    o.learn = 1;
    setenv("DFC_PROFILE", temp_file, 1);
    assert_int_equal(dfr_learn_check(&error), DF_OK);
    rig_check(&r, &o, WAVES);
    assert_int_equal(learned(), 12 * WAVES - 3);
    assert_nothing_left();
    rig_free(&r);
}

/* CUDA says when a stream came to a job, not when the GPU began it. So nearly all jobs of several streams seem to overlap.
 * Each is learned, and the GPU's time counts once. */
static void test_overlap_is_learned(void **state)
{
    enum { N = 40, JOBS = 4 };
    struct rig r;
    struct rig_out from;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    rig_begin(&r, 50);
    from = rig_node(&r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    for (unsigned i = 0; i < N; i++)
        rig_sink(&r, RIG_SINK | RIG_CPU_ONLY, rig_node(&r, RIG_ADD1, i, from, RIG_NOTHING));
    rig_end(&r);
    use_launches(&r);
    rig_expect(&r, WAVES);
    struct df_options o = options_of("all-gpu");
    o.gpu_jobs = JOBS;
    o.learn = 1;
    setenv("DFC_PROFILE", temp_file, 1);
    assert_int_equal(dfr_learn_check(&error), DF_OK);
    rig_check(&r, &o, WAVES);
    assert_in_range(learned(), N * WAVES - JOBS, N * WAVES - 1); /* without the first of each stream */
    assert_nothing_left();
    rig_free(&r);
}

/* Events are made with timing, and the begin of work is marked, if somebody wants the times, and only then. */
static void test_times_if_wanted(void **state)
{
    uint64_t records[2];
    struct rig r;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    make_chain(&r, 12);
    setenv("DFC_PROFILE", temp_file, 1);
    assert_int_equal(dfr_learn_check(&error), DF_OK);
    for (int learn = 0; learn < 2; learn++) {
        struct df_options o = options_of("all-gpu");
        o.learn = learn;
        o.gpu_jobs = 1;
        o.cuda_graphs = DF_GRAPHS_OFF;
        mock_begin(1, MEMORY, 1);
        rig_check(&r, &o, WAVES);
        records[learn] = mock_records();
        assert_int_equal(mock_timed_events() > 0, learn);
        assert_nothing_left();
    }
    assert_int_equal(learned(), 12 * WAVES - 3);
    assert_true(records[0] >= 12 * WAVES && records[1] >= records[0] + 12 * WAVES);
    rig_free(&r);
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

/* ---- measured ---- */

static int measure(const struct df_graph *graph, bool cold, uint32_t max_runs, char **text, struct df_error *error)
{
    struct dfr_sampler_options sampler = { .goal = 0.5, .min_runs = 4, .max_runs = max_runs, .max_s = 0.01 };
    struct df_options o = options_of(NULL);
    size_t size;
    FILE *out = open_memstream(text, &size);

    o.waves = 1;
    int status = dfr_measure_to(graph, &o, &sampler, false, cold, out, NULL, error);
    fclose(out);
    return status;
}

/* Microseconds that a gpu variant took; 0: there is no sample of it. *runs: how often. */
static double measured_us(const char *text, const char *kernel, unsigned *runs)
{
    char key[64];
    double mean_s = 0;

    snprintf(key, sizeof key, "\tgpu\t%s\t", kernel);
    for (const char *at = text; (at = strstr(at, "sample\t")); at++) {
        const char *end = strchr(at, '\n'), *found = strstr(at, key);
        if (found && found < end)       /* sample, device, variant, kernel, dims, scalars, hash, bytes */
            assert_int_equal(sscanf(found + strlen(key), "%*[^\t]\t%*[^\t]\t%*[^\t]\t%*[^\t]\t%lf\t%*[^\t]\t%u", &mean_s,
                                    runs), 2);
    }
    return 1e6 * mean_s;
}

static void assert_takes(const char *text, const char *kernel, double us)
{
    unsigned runs = 0;
    double is_us = measured_us(text, kernel, &runs);
    if (is_us < us - 0.05 || is_us > us + 0.05)
        fail_msg("%s took %g us, not %g:\n%s", kernel, is_us, us, text);
}

/* The host takes 20 us for each call, and a kernel's launch is two of them. Nothing of that is the kernel's time: the
 * launches wait until all are enqueued. (1 us is the mock's for the launch, and 1 us for the event behind it.) */
static void test_measured_without_the_host(void **state)
{
    (void)state;
    need_mock();
    for (int cold = 0; cold < 2; cold++) {
        struct rig r;
        struct df_error error = { "" };
        char *text;
        unsigned runs;

        mock_begin(1, MEMORY, 8);
        make_chain(&r, 12);
        mock_times(20, 3, 9, 1 << 20);
        if (measure(r.graph, cold, 1000, &text, &error) != DF_OK)
            fail_msg("%s", error.text);
        assert_takes(text, "add1", cold ? 9 + 2 : 3 + 2);
        assert_takes(text, "bump", cold ? 9 + 2 : 3 + 2); /* its input is restored before each launch */
        if (measured_us(text, "split", &runs) <= 0) fail_msg("%s", text);
        assert_true(runs >= 4 * 8);        /* several at a time */
        assert_nothing_left();
        free(text);
        rig_free(&r);
    }
}

/* No more launches than are allowed, whatever a batch has. A kernel that waits for the GPU itself is launched by
 * itself; its time has the host's share in it. */
static void test_measured_alone(void **state)
{
    struct rig r;
    struct df_error error = { "" };
    char *text;
    unsigned runs;

    (void)state;
    need_mock();
    make_chain(&r, 12);
    ((struct df_kernel *)r.graph->kernels)[RIG_ADD1].traits |= DF_SYNC;
    mock_times(20, 3, 9, 1 << 20);
    if (measure(r.graph, false, 6, &text, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(measured_us(text, "add1", &runs) > 20);
    assert_in_range(runs, 4, 6);
    assert_takes(text, "bump", 3 + 2);
    measured_us(text, "bump", &runs);
    assert_in_range(runs, 4, 6);
    assert_nothing_left();
    free(text);
    rig_free(&r);
    /* Nobody has said of this one that it waits. It is measured all the same, and the measuring ends. */
    misbehaves = ALLOCATES;
    mock_begin(1, MEMORY, 9);
    make_chain(&r, 12);
    mock_times(20, 3, 9, 1 << 20);
    if (measure(r.graph, false, 1000, &text, &error) != DF_OK)
        fail_msg("%s", error.text);
    if (measured_us(text, "split", &runs) <= 5)
        fail_msg("%s", text);
    free(text);
    rig_free(&r);
}

/* Little memory: what a delay takes is what is left beside the job. A cold cache needs a buffer of its size. */
static void test_measured_in_little_memory(void **state)
{
    (void)state;
    need_mock();
    for (int cold = 0; cold < 2; cold++) {
        struct rig r;
        struct df_error error = { "" };
        char *text;

        mock_begin(1, UINT64_C(3) << 20, 8);
        make_chain(&r, 12);
        mock_times(20, 3, 9, 2 << 20);
        if (measure(r.graph, cold, 1000, &text, &error) != DF_OK)
            fail_msg("%s", error.text);
        if (!cold)
            assert_takes(text, "add1", 3 + 2);
        else if (!strstr(text, "skip\t") || !strstr(text, "\tthe device has no room for a buffer as large as its cache beside it\t"))
            fail_msg("%s", text);
        assert_nothing_left();
        free(text);
        rig_free(&r);
    }
}

/* Each call of CUDA's fails once while kernels are measured: the cause is said, and all is returned. */
static void test_each_call_of_measuring_fails(void **state)
{
    unsigned failed = 0;
    struct rig r;

    (void)state;
    need_mock();
    make_chain(&r, 3);
    for (uint64_t n = 1;; n += n < 60 ? 1 : 53) {
        struct df_error error = { "" };
        char *text;

        mock_begin(1, MEMORY, 2);
        mock_fail(n, MOCK_OUT_OF_MEMORY);
        int status = measure(r.graph, n % 2, 30, &text, &error);
        free(text);
        const char *call = mock_failed();
        if (!call) {
            assert_int_equal(status, DF_OK);
            break;
        }
        if (status != DF_OK && !strstr(error.text, "cuda") && !strstr(error.text, "CUDA"))
            fail_msg("call %llu, %s: status %d, '%s'", (unsigned long long)n, call, status, error.text);
        failed += status != DF_OK;
        if (!strstr(call, "Destroy") && !strstr(call, "Free"))
            assert_nothing_left();
    }
    if (failed < 20)
        fail_msg("only %u failed", failed);
    rig_free(&r);
}

/* ---- the machine ---- */

/* A run finds the GPU to be as a probe says. So the plan is used that was made for it, and the run needs no planner. */
static void test_plan_is_for_this_machine(void **state)
{
    struct df_platform probed;
    struct df_times times;
    struct df_plan *plan;
    struct df_error error = { "" };
    struct rig r;

    (void)state;
    need_mock();
    mock_begin(1, MEMORY + 12345, 4);
    make_chain(&r, 12);
    df_platform_default(&probed, 1);
    probed.units[0].workers = 2;
    assert_int_equal(ops->describe(0, &probed.units[1], &error), DF_OK);
    assert_int_equal(probed.units[1].memory_bytes % (1 << 20), 0); /* as a platform file says it */
    assert_true(probed.units[1].memory_bytes < MEMORY * 95 / 100);
    assert_int_equal(dfr_times_default(r.graph, true, &times, &error), DF_OK);
    assert_int_equal(dfp_planner.make(r.graph, &probed, &times, "heft", &plan, &error), DF_OK);
    struct df_options o = options_of("heft");
    o.plan = plan;
    rig_check(&r, &o, WAVES);
    dfr_plan_free(plan);
    dfr_times_free(&times);
    rig_free(&r);
}

/* CUDA reads this variable when it begins. */
static void test_queues(void **state)
{
    struct rig r;

    (void)state;
    need_mock();
    make_chain(&r, 3);
    for (int given = 0; given < 2; given++) {
        struct df_options o = options_of("all-gpu");
        mock_begin(1, MEMORY, 1);
        if (given)
            setenv("CUDA_DEVICE_MAX_CONNECTIONS", "4", 1);
        else
            unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
        rig_check(&r, &o, WAVES);
        assert_string_equal(mock_connections(), given ? "4" : "32");
    }
    rig_free(&r);
}

static void check_none(const char *expected)
{
    struct df_error error = { "" };
    assert_int_equal(ops->count(&error), 0);
    if (!strstr(error.text, expected))
        fail_msg("'%s' is not in '%s'", expected, error.text);
    assert_int_equal(mock_last_error(), 0);
}

static void test_no_gpu(void **state)
{
    struct dfr_device_config config = { .pool_bytes = 1 << 20, .compute_streams = 1 };
    struct dfr_device *device = NULL;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    mock_driver(0, MOCK_DRIVER_TOO_OLD);
    check_none("no CUDA driver found");
    mock_driver(11040, MOCK_DRIVER_TOO_OLD);
    check_none("the CUDA driver is for CUDA 11.4, this program needs one for CUDA 1");
    mock_driver(13000, MOCK_NO_DEVICE);
    unsetenv("CUDA_VISIBLE_DEVICES");
    check_none("no CUDA GPU that this program may use");
    setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    check_none("no CUDA GPU that this program may use (CUDA_VISIBLE_DEVICES is '7')");
    unsetenv("CUDA_VISIBLE_DEVICES");
    mock_driver(13000, 999);
    check_none("cuda: counting GPUs: ");
    mock_begin(1, MEMORY, 1);
    mock_fail(2, MOCK_BUSY);            /* another process has it for itself */
    assert_int_equal(ops->open(0, &config, &device, &error), DF_E_DEVICE);
    assert_non_null(strstr(error.text, "cuda0: making a stream: "));
    assert_non_null(strstr(error.text, "cudaErrorDevicesUnavailable"));
    config.pool_bytes = 2 * MEMORY;
    assert_int_equal(ops->open(0, &config, &device, &error), DF_E_MEMORY);
    assert_non_null(strstr(error.text, "128.0 MiB, while 64.0 of 64.0 MiB are free (--gpu-mem takes less)"));
    assert_nothing_left();
}

/* Runs the rig with what is written to stderr in said. */
static int run_and_listen(struct rig *r, const struct df_options *o, struct df_stats *stats, char *said, size_t size,
                          struct df_error *error)
{
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO), status;
    size_t n;

    assert_true(file && kept >= 0);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    status = rig_run(r, o, stats, error);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    n = fread(said, 1, size - 1, file);
    said[n] = 0;
    fclose(file);
    return status;
}

static void assert_has(const char *text, const char *expected)
{
    if (!strstr(text, expected))
        fail_msg("'%s' is not in '%s'", expected, text);
}

/* A GPU for which the program was not compiled gets no work. If nothing else was asked for, the CPU does it, and the run
 * says why. */
static void test_no_code(void **state)
{
    static const char why[] = "cuda0: the program has no code for it (Mock GPU 0, sm_61; dfc --nvcc-flags=-arch=sm_61 ";
    static struct df_stats stats;
    struct df_error error = { "" };
    struct rig r;
    char said[1024];

    (void)state;
    need_mock();
    make_chain(&r, 12);
    mock_no_code(0);
    struct df_options o = options_of("dmda");
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_DEVICE);
    assert_has(error.text, "no cuda device: cuda0: the program has no code for it (");
    assert_has(error.text, "cudaErrorNoKernelImageForDevice");
    o.device = DF_DEVICE_AUTO;
    o.log_level = DF_LOG_WARNING;
    assert_int_equal(run_and_listen(&r, &o, &stats, said, sizeof said, &error), DF_OK);
    assert_has(said, "warning: runs on the CPU alone: ");
    assert_has(said, why);
    assert_true(rig_same(&r, WAVES));
    assert_int_equal(stats.n_memories, 0);
    o.check_variants = 1;
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_DEVICE);
    assert_has(error.text, "--check=variants: there is no device to run gpu variants on: cuda0: the program has no code ");

    mock_begin(2, MEMORY, 1);
    mock_no_code(0);
    o = options_of("all-gpu");
    o.log_level = DF_LOG_INFO;
    assert_int_equal(run_and_listen(&r, &o, &stats, said, sizeof said, &error), DF_OK);
    assert_has(said, ": 1 of 2 devices left out; the last: ");
    assert_has(said, why);
    assert_true(rig_same(&r, WAVES));
    assert_int_equal(stats.n_memories, 1);
    assert_string_equal(stats.memories[0].name, "Mock GPU 1");
    assert_int_equal(mock_loads(1), RIG_KERNELS);
    assert_nothing_left();
    o.gpus = 1;
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_DEVICE);
    assert_has(error.text, why);
    rig_free(&r);
}

/* A program without gpu variants does not begin a GPU: that takes long, and may fail. */
static void test_no_gpu_variants(void **state)
{
    static struct df_stats stats;
    struct df_error error = { "" };
    struct rig r;
    char said[1024];

    (void)state;
    need_mock();
    make_chain(&r, 3);
    for (uint32_t k = 0; k < RIG_KERNELS; k++)
        ((struct df_functions *)r.graph->functions)[k] =
            (struct df_functions){ .cpu = r.graph->functions[k].cpu };
    mock_busy(0);
    struct df_options o = options_of("ws");
    o.device = DF_DEVICE_AUTO;
    o.log_level = DF_LOG_INFO;
    assert_int_equal(run_and_listen(&r, &o, &stats, said, sizeof said, &error), DF_OK);
    assert_null(strstr(said, "cuda"));
    assert_true(rig_same(&r, WAVES));
    assert_int_equal(stats.n_memories, 0);
    assert_int_equal(mock_loads(0), 0);
    rig_free(&r);
}

/* Others use the GPU: a run takes no more than they have left, less the reserve, and says so. A plan that needs no more
 * stays in use. */
static void test_shared_memory(void **state)
{
    const uint64_t reserve = MEMORY / 16, pages = 7 * 4096;
    static struct df_stats stats;
    struct df_error error = { "" };
    struct df_platform probed;
    struct df_times times;
    struct df_plan *plan;
    struct rig r;
    char said[1024];
    uint64_t bytes;

    (void)state;
    need_mock();
    rig_random(&r, 3, 40, 100, 0);
    use_launches(&r);
    rig_expect(&r, WAVES);
    struct df_options o = options_of("all-gpu");
    assert_int_equal(rig_run(&r, &o, &stats, &error), DF_OK);
    assert_int_equal(stats.memories[0].evictions, 0); /* the GPU for itself */
    mock_others(0, MEMORY - reserve - pages);
    o.log_level = DF_LOG_INFO;
    if (run_and_listen(&r, &o, &stats, said, sizeof said, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_has(said, "Mock GPU 0: this run takes at most 0.0 MiB of its memory, not 57.0: others use it");
    assert_true(rig_same(&r, WAVES));
    assert_int_equal(stats.memories[0].capacity_bytes, pages);
    assert_true(stats.memories[0].evictions > 0);
    o.gpu_mem_bytes = 6 * 4096;         /* the least of both */
    rig_run(&r, &o, &stats, &error);
    assert_int_equal(stats.memories[0].capacity_bytes, 6 * 4096);
    rig_free(&r);

    mock_begin(1, MEMORY, 4);
    make_chain(&r, 12);
    mock_others(0, MEMORY - reserve / 2); /* less than the reserve: nothing, so the CPU does it all */
    assert_int_equal(ops->free_bytes(0, &bytes, &error), DF_OK);
    assert_true(bytes == 0);
    o = options_of("dmda");
    assert_int_equal(rig_check(&r, &o, WAVES).memories[0].h2d_copies, 0);
    df_platform_default(&probed, 1);
    probed.units[0].workers = 2;
    probed.units[1].h2d = probed.units[1].d2h = (struct df_link){ 1e15, 0, 0 }; /* so that the GPU gets all it can run */
    probed.units[1].launch_s = 0;
    assert_int_equal(ops->describe(0, &probed.units[1], &error), DF_OK);
    assert_int_equal(dfr_times_default(r.graph, true, &times, &error), DF_OK);
    assert_int_equal(dfp_planner.make(r.graph, &probed, &times, "heft", &plan, &error), DF_OK);
    assert_true(dfr_need_bytes(&plan->memory[1], 1) > 4096);
    o = options_of("heft");
    o.platform = &probed;
    o.plan = plan;
    mock_others(0, MEMORY / 2);
    rig_check(&r, &o, WAVES);           /* it has no planner to make another */
    mock_others(0, MEMORY - reserve - 4096);
    assert_int_equal(rig_run(&r, &o, &stats, &error), DF_E_REFUSED);
    assert_has(error.text, "the one it has is for another machine or policy");
    dfr_plan_free(plan);
    dfr_times_free(&times);
    rig_free(&r);
}

/* The host's tokens lie in the same memory. So half is left to them: of all of it for a plan, of what is free for a run. */
static void test_integrated(void **state)
{
    const uint64_t terabyte = UINT64_C(1) << 40;
    uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), bytes = 0;
    struct df_unit unit = { .workers = 1 };
    struct df_error error = { "" };
    struct rig r;

    (void)state;
    need_mock();
    mock_integrated();
    assert_int_equal(ops->describe(0, &unit, &error), DF_OK);
    assert_int_equal(unit.memory_bytes, MEMORY / 2);
    make_chain(&r, 12);
    struct df_options o = options_of("all-gpu");
    rig_check(&r, &o, WAVES);
    rig_free(&r);

    mock_begin(1, 64 * terabyte, 1);    /* more than this machine has */
    mock_integrated();
    assert_int_equal(ops->free_bytes(0, &bytes, &error), DF_OK);
    assert_true(bytes > 0 && bytes <= physical / 2);
    mock_begin(1, 64 * terabyte, 1);
    assert_int_equal(ops->free_bytes(0, &bytes, &error), DF_OK);
    assert_true(bytes == 64 * terabyte - (UINT64_C(512) << 20));
}

/* --gpus: of four, two. Nothing is asked of the others, and nothing is allocated there. */
static void test_named_gpus(void **state)
{
    static struct df_stats stats;
    struct df_error error = { "" };
    struct df_platform linked;
    struct rig r;

    (void)state;
    need_mock();
    df_platform_default(&linked, 4);
    for (uint32_t u = 1; u <= 4; u++)
        linked.units[u].peer = (struct df_link){ 1e10, 1e-6, 0 };
    mock_begin(4, MEMORY, 3);
    mock_busy(0);
    mock_busy(2);
    rig_random(&r, 3, 40, 100, 0);
    use_launches(&r);
    rig_expect(&r, WAVES);
    struct df_options o = options_of("eager");
    o.platform = &linked;
    o.gpus = 1 << 1 | 1 << 3;
    if (rig_run(&r, &o, &stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(rig_same(&r, WAVES));
    assert_int_equal(stats.n_memories, 2);
    assert_string_equal(stats.memories[0].name, "Mock GPU 1");
    assert_string_equal(stats.memories[1].name, "Mock GPU 3");
    assert_true(mock_peers(1, 3) && mock_peers(3, 1));
    assert_nothing_left();
    o.gpus = 0;                         /* those that another process has for itself are left out */
    if (rig_run(&r, &o, &stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(stats.n_memories, 2);
    o.gpus = 1 << 2;
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_DEVICE);
    assert_has(error.text, "cuda2: selecting it: ");
    o.gpus = 1 << 4;
    assert_int_equal(rig_run(&r, &o, NULL, &error), DF_E_DEVICE);
    assert_has(error.text, "there is no cuda device 4: there are 4, from 0 to 3");
    o.check_variants = 1;
    o.gpus = 1 << 3;
    rig_check(&r, &o, WAVES);
    assert_int_equal(mock_loads(0) + mock_loads(2), 0);
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

/* ---- several users of one GPU, several GPUs ---- */

static struct dfr_device *open_device(uint32_t index)
{
    struct df_unit unit = { .workers = 1 };
    struct dfr_device_config config = { .unit = &unit, .pool_bytes = 1 << 20, .compute_streams = 2 };
    struct dfr_device *device;
    struct df_error error = { "" };
    if (ops->open(index, &config, &device, &error) != DF_OK)
        fail_msg("%s", error.text);
    return device;
}

/* Errors that leave the process without its GPU are told as such, whatever the toolkit calls them. */
static void test_lost_devices(void **state)
{
    static const int statuses[] = { 214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 911 };
    struct df_error error;

    (void)state;
    need_mock();
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        mock_begin(1, MEMORY, 1);
        struct dfr_device *device = open_device(0);
        assert_false(ops->faulted(device));
        mock_fail(2, statuses[i]);
        assert_int_equal(ops->copy(device, DFR_COPY_D2D, ops->pool(device), (char *)ops->pool(device) + 4096, 64,
                                   DFR_STREAM_COMPUTE, &error), DF_E_DEVICE);
        if (!ops->faulted(device))
            fail_msg("after status %d the device is taken for well", statuses[i]);
        ops->close(device);
    }
}

static void *drain_and_close(void *device)
{
    struct df_error error;
    int status = ops->drain(device, &error);
    ops->close(device);
    return status == DF_OK ? device : NULL;
}

static void *open_first(void *error)
{
    struct df_unit unit = { .workers = 1 };
    struct dfr_device_config config = { .unit = &unit, .pool_bytes = 1 << 20, .compute_streams = 1 };
    struct dfr_device *device = NULL;
    (void)ops->open(0, &config, &device, error);
    return device;
}

/* A thread that has set no device would be given another one by CUDA, under the first one's name. */
static void test_first_is_busy(void **state)
{
    struct df_error error = { "" };
    pthread_t thread;
    void *device;

    (void)state;
    need_mock();
    mock_begin(2, MEMORY, 1);
    mock_busy(0);
    assert_int_equal(pthread_create(&thread, NULL, open_first, &error), 0);
    assert_int_equal(pthread_join(thread, &device), 0);
    assert_null(device);
    assert_non_null(strstr(error.text, "cuda0: selecting it: "));
    assert_nothing_left();
}

/* Another run in this process ends while this one captures. The end of a cuBLAS handle waits for the whole GPU, and
 * that spoils the capture. Then there is no recording; that is no error. */
static void test_capture_beside_others(void **state)
{
    struct dfr_device *ours, *other;
    struct dfr_recording *recording;
    struct df_error error = { "" };
    unsigned char *pool;
    pthread_t thread;
    void *drained;

    (void)state;
    need_mock();
    for (int blas = 0; blas < 2; blas++) {
        mock_begin(1, MEMORY, 1);
        ours = open_device(0);
        other = open_device(0);
        pool = ops->pool(ours);
        assert_int_equal(ops->blas(other, DFR_STREAM_COMPUTE, &error) != NULL, 1);
        if (!blas) {
            ops->close(other);
            other = open_device(0);
        }
        assert_int_equal(ops->record_begin(ours, DFR_STREAM_COMPUTE, &error), DF_OK);
        assert_int_equal(ops->copy(ours, DFR_COPY_D2D, pool, pool + 4096, 64, DFR_STREAM_COMPUTE, &error), DF_OK);
        assert_int_equal(pthread_create(&thread, NULL, drain_and_close, other), 0);
        assert_int_equal(pthread_join(thread, &drained), 0);
        assert_non_null(drained);
        assert_int_equal(ops->record_end(ours, DFR_STREAM_COMPUTE, &recording, &error), DF_OK);
        assert_int_equal(recording != NULL, !blas);
        assert_int_equal(mock_last_error(), 0);
        if (recording) {
            assert_int_equal(ops->replay(ours, recording, DFR_STREAM_COMPUTE, &error), DF_OK);
            ops->recording_destroy(ours, recording);
        }
        assert_int_equal(ops->copy(ours, DFR_COPY_D2D, pool, pool + 4096, 64, DFR_STREAM_COMPUTE, &error), DF_OK);
        assert_int_equal(ops->drain(ours, &error), DF_OK);
        ops->close(ours);
        assert_nothing_left();
    }
}

/* ---- cuBLAS ---- */

/* A device has one handle. Each stream has a workspace of its own, because cuBLAS forbids that work on two streams uses
 * one; it is the same whenever the stream comes again. */
static void test_one_blas_handle(void **state)
{
    void *first, *workspaces[2];
    struct dfr_device *device, *other;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    mock_begin(2, MEMORY, 1);
    device = open_device(0);
    first = ops->blas(device, DFR_STREAM_COMPUTE, &error);
    assert_non_null(first);
    workspaces[0] = mock_blas().workspace;
    assert_non_null(workspaces[0]);
    assert_ptr_equal(ops->blas(device, DFR_STREAM_COMPUTE + 1, &error), first);
    workspaces[1] = mock_blas().workspace;
    assert_non_null(workspaces[1]);
    assert_true((char *)workspaces[1] >= (char *)workspaces[0] + (4 << 20) ||
                (char *)workspaces[0] >= (char *)workspaces[1] + (4 << 20));
    for (uint32_t s = 0; s < 4; s++) {
        assert_ptr_equal(ops->blas(device, DFR_STREAM_COMPUTE + s % 2, &error), first);
        assert_ptr_equal(mock_blas().workspace, workspaces[s % 2]);
    }
    assert_int_equal(mock_blas().handles, 1);
    other = open_device(1);
    assert_ptr_not_equal(ops->blas(other, DFR_STREAM_COMPUTE, &error), first);
    assert_int_equal(mock_blas().handles, 2);
    assert_non_null(ops->blas_function(device, "cublasSetStream_v2"));
    assert_null(ops->blas_function(device, "cublasNothing"));
    ops->close(other);
    ops->close(device);
    assert_nothing_left();
}

/* The pool has taken what there is: the message says what would help, and the next call asks again. */
static void test_no_room_for_blas(void **state)
{
    struct df_unit unit = { .workers = 1 };
    struct dfr_device_config config = { .unit = &unit, .pool_bytes = MEMORY - 65536, .compute_streams = 1 };
    struct dfr_device *device;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    mock_begin(1, MEMORY, 1);
    assert_int_equal(ops->open(0, &config, &device, &error), DF_OK);
    for (int i = 0; i < 2; i++) {
        error.text[0] = '\0';
        assert_null(ops->blas(device, DFR_STREAM_COMPUTE, &error));
        assert_string_equal(error.text, "cuda0: allocating a workspace for cuBLAS of 4.0 MiB, while 0.1 of 64.0 MiB are "
                                        "free (--gpu-mem takes less): an error of the mock (cudaErrorMemoryAllocation)");
    }
    assert_int_equal(mock_last_error(), 0);
    ops->close(device);
    assert_nothing_left();
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

/* Access that somebody has enabled before is no error, neither of this call nor of the next launch. */
static void test_peers(void **state)
{
    struct dfr_device *a, *b;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    mock_begin(2, MEMORY, 1);
    a = open_device(0);
    b = open_device(1);
    for (int i = 0; i < 2; i++) {
        assert_true(ops->connect(a, b));
        assert_true(mock_peers(0, 1) && !mock_peers(1, 0));
        assert_int_equal(mock_last_error(), 0);
    }
    assert_int_equal(ops->copy_peer(a, b, ops->pool(b), ops->pool(a), 64, DFR_STREAM_PEER, &error), DF_OK);
    assert_int_equal(ops->drain(a, &error), DF_OK);
    mock_no_peers();                    /* two sockets, say: the driver goes by way of the host */
    assert_false(ops->connect(b, a));
    assert_false(mock_peers(1, 0));
    assert_int_equal(mock_last_error(), 0);
    assert_int_equal(ops->copy_peer(b, a, ops->pool(a), ops->pool(b), 64, DFR_STREAM_PEER, &error), DF_OK);
    assert_int_equal(ops->drain(b, &error), DF_OK);
    ops->close(b);
    ops->close(a);
    assert_nothing_left();
}

/* Memory that is pinned already, in part or wholly, is not pinned again. And no copy is of memory that is pinned in
 * part. */
static void test_pinning(void **state)
{
    enum { PAGES = 4, PAGE = 4096 };
    unsigned char *memory = aligned_alloc(PAGE, PAGES * PAGE);
    struct dfr_device *device;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    assert_non_null(memory);
    memset(memory, 0, PAGES * PAGE);
    device = open_device(0);
    assert_int_equal(ops->host_register(memory + PAGE, PAGE, &error), DF_OK);
    assert_int_equal(ops->host_register(memory, PAGES * PAGE, &error), DF_E_DEVICE);
    assert_int_equal(ops->host_register(memory + PAGE + 100, 100, &error), DF_E_DEVICE);
    assert_int_equal(mock_last_error(), 0);
    assert_int_equal(ops->copy(device, DFR_COPY_H2D, ops->pool(device), memory + PAGE, PAGE, DFR_STREAM_H2D, &error),
                     DF_OK);
    assert_int_equal(ops->copy(device, DFR_COPY_H2D, ops->pool(device), memory, 2 * PAGE, DFR_STREAM_H2D, &error),
                     DF_E_DEVICE);
    assert_int_equal(ops->drain(device, &error), DF_OK);
    ops->host_unregister(memory + PAGE, PAGE);
    assert_int_equal(ops->host_register(memory, PAGES * PAGE, &error), DF_OK);
    ops->host_unregister(memory, PAGES * PAGE);
    ops->close(device);
    assert_nothing_left();
    free(memory);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_results, set_up),       cmocka_unit_test_setup(test_replay, set_up),
        cmocka_unit_test_setup(test_replay_of_a_diamond, set_up),
        cmocka_unit_test_setup(test_spoiled_captures, set_up), cmocka_unit_test_setup(test_each_call_fails, set_up),
        cmocka_unit_test_setup(test_faults, set_up),          cmocka_unit_test_setup(test_thread_ended, set_up),
        cmocka_unit_test_setup(test_loading_is_not_learned, set_up),
        cmocka_unit_test_setup(test_overlap_is_learned, set_up),
        cmocka_unit_test_setup(test_times_if_wanted, set_up),
        cmocka_unit_test_setup(test_fault_found_by_another, set_up),
        cmocka_unit_test_setup(test_lost_devices, set_up), cmocka_unit_test_setup(test_first_is_busy, set_up),
        cmocka_unit_test_setup(test_pinning, set_up),
        cmocka_unit_test_setup(test_looked_into, set_up),
        cmocka_unit_test_setup(test_measured_without_the_host, set_up),
        cmocka_unit_test_setup(test_measured_alone, set_up),
        cmocka_unit_test_setup(test_measured_in_little_memory, set_up),
        cmocka_unit_test_setup(test_each_call_of_measuring_fails, set_up),
        cmocka_unit_test_setup(test_no_gpu, set_up),         cmocka_unit_test_setup(test_queues, set_up),
        cmocka_unit_test_setup(test_plan_is_for_this_machine, set_up),
        cmocka_unit_test_setup(test_no_code, set_up),       cmocka_unit_test_setup(test_named_gpus, set_up),
        cmocka_unit_test_setup(test_no_gpu_variants, set_up),
        cmocka_unit_test_setup(test_shared_memory, set_up), cmocka_unit_test_setup(test_integrated, set_up),
        cmocka_unit_test_setup(test_capture_beside_others, set_up),
        cmocka_unit_test_setup(test_one_blas_handle, set_up), cmocka_unit_test_setup(test_no_room_for_blas, set_up),
        cmocka_unit_test_setup(test_other_gpu_selected, set_up),
        cmocka_unit_test_setup(test_peers, set_up),         cmocka_unit_test_setup(test_buffers, set_up),
    };
    return cmocka_run_group_tests(tests, temp_folder_make, temp_folder_remove);
}
