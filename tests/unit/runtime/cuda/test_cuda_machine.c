/* test_cuda_machine.c - the machine that a run finds, on the mock of the CUDA runtime (cuda_rig.h): which GPUs take
 * part, how much of their memory, several users of one GPU, peers, cuBLAS, and pinned memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_rig.h"
#include "partition/partition.h"
#include "runtime/device/device.h"
#include "runtime/graph/plan.h"

/* ---- which GPUs, and how much of them ---- */

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
    assert_int_equal(cuda->describe(0, &probed.units[1], &error), DF_OK);
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
    assert_int_equal(cuda->count(&error), 0);
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
    assert_int_equal(cuda->open(0, &config, &device, &error), DF_E_DEVICE);
    assert_non_null(strstr(error.text, "cuda0: making a stream: "));
    assert_non_null(strstr(error.text, "cudaErrorDevicesUnavailable"));
    config.pool_bytes = 2 * MEMORY;
    assert_int_equal(cuda->open(0, &config, &device, &error), DF_E_MEMORY);
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
    assert_int_equal(cuda->free_bytes(0, &bytes, &error), DF_OK);
    assert_true(bytes == 0);
    o = options_of("dmda");
    assert_int_equal(rig_check(&r, &o, WAVES).memories[0].h2d_copies, 0);
    df_platform_default(&probed, 1);
    probed.units[0].workers = 2;
    probed.units[1].h2d = probed.units[1].d2h = (struct df_link){ 1e15, 0, 0 }; /* so that the GPU gets all it can run */
    probed.units[1].launch_s = 0;
    assert_int_equal(cuda->describe(0, &probed.units[1], &error), DF_OK);
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

static const void *some_kernel(void) { return (const void *)memcpy; }

/* CUDA keeps the largest frame for each thread that a GPU can hold. A run leaves that free, beside its reserve; a GPU with less has nothing for it. */
static void test_local_memory(void **state)
{
    const struct df_functions functions[] = { { .device = NULL }, { .device = some_kernel } };
    const uint64_t gib = UINT64_C(1) << 30, resident = 132 * 2048;
    uint64_t bytes = 0;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    mock_begin(2, 80 * gib, 1);
    mock_local(9216, 132, 2048);        /* 2.3 GiB */
    assert_int_equal(cuda->free_bytes(1, &bytes, &error), DF_OK);
    assert_true(bytes == 80 * gib - gib / 2);
    assert_int_equal(cuda->load(1, functions, 2, false, &error), DF_OK);
    assert_int_equal(cuda->free_bytes(1, &bytes, &error), DF_OK);
    assert_true(bytes == 80 * gib - gib / 2 - 9216 * resident);
    assert_int_equal(cuda->free_bytes(0, &bytes, &error), DF_OK); /* nothing was loaded there */
    assert_true(bytes == 80 * gib - gib / 2);
    mock_local(9000, 132, 2048);        /* a smaller frame fits into what CUDA keeps */
    assert_int_equal(cuda->load(1, functions, 2, false, &error), DF_OK);
    assert_int_equal(cuda->free_bytes(1, &bytes, &error), DF_OK);
    assert_true(bytes == 80 * gib - gib / 2 - 9216 * resident);
    mock_local(400 << 10, 132, 2048);   /* 103 GiB */
    assert_int_equal(cuda->load(1, functions, 2, false, &error), DF_OK);
    assert_int_equal(cuda->free_bytes(1, &bytes, &error), DF_OK);
    assert_true(bytes == 0);
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
    assert_int_equal(cuda->describe(0, &unit, &error), DF_OK);
    assert_int_equal(unit.memory_bytes, MEMORY / 2);
    make_chain(&r, 12);
    struct df_options o = options_of("all-gpu");
    rig_check(&r, &o, WAVES);
    rig_free(&r);

    mock_begin(1, 64 * terabyte, 1);    /* more than this machine has */
    mock_integrated();
    assert_int_equal(cuda->free_bytes(0, &bytes, &error), DF_OK);
    assert_true(bytes > 0 && bytes <= physical / 2);
    mock_begin(1, 64 * terabyte, 1);
    assert_int_equal(cuda->free_bytes(0, &bytes, &error), DF_OK);
    assert_true(bytes == 64 * terabyte - (UINT64_C(512) << 20));
}

/* Kernels that reach the host's memory where it lies, by the host's page tables, find their tokens there. Nothing is copied,
 * and nothing is pinned. A GPU with memory of its own copies all the same (GH200). */
static void test_unified(void **state)
{
    static const char *const policies[] = { "eager", "ws", "dmda", "all-gpu", "heft" };
    static struct df_stats stats;
    struct df_unit unit = { .workers = 1 };
    struct df_error error = { "" };
    uint64_t jobs = 0, replayed = 0;
    struct rig r;

    (void)state;
    need_mock();
    mock_coherent();
    assert_int_equal(cuda->describe(0, &unit, &error), DF_OK);
    assert_false(unit.unified);
    make_chain(&r, 12);
    struct df_options o = options_of("all-gpu");
    assert_true(rig_check(&r, &o, WAVES).memories[0].h2d_copies > 0);
    mock_begin(1, MEMORY, 1);
    mock_integrated();
    mock_coherent();
    o.inflight = 1;
    stats = rig_check(&r, &o, WAVES);
    assert_int_equal(stats.memories[0].replayed, 12 * (WAVES - 1)); /* tokens lie in the same place in each wave */
    rig_free(&r);
    for (uint32_t seed = 1; seed <= 6; seed++) {
        mock_begin(1, MEMORY, seed);
        mock_integrated();
        mock_coherent();
        rig_random(&r, seed, 40, 100, 0);
        use_launches(&r);
        rig_expect(&r, WAVES);
        for (unsigned p = 0; p < 5; p++) {
            o = options_of(policies[p]);
            o.planner = &dfp_planner;
            o.poison = p == seed % 5;
            o.inflight = seed % 3;
            o.gpu_mem_bytes = seed % 2 ? 2 * 4096 : 0;
            stats = rig_check(&r, &o, WAVES);
            const struct df_memory_stats *m = &stats.memories[0];
            assert_int_equal(m->h2d_copies + m->d2h_copies + m->staged_copies + m->evictions, 0);
            jobs += stats.workers[stats.n_workers - 1].jobs;
            replayed += m->replayed;
            assert_nothing_left();
        }
        rig_free(&r);
    }
    assert_true(jobs > 500 && replayed > 0);
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

/* ---- several users of one GPU, several GPUs ---- */

static struct dfr_device *open_device(uint32_t index)
{
    struct df_unit unit = { .workers = 1 };
    struct dfr_device_config config = { .unit = &unit, .pool_bytes = 1 << 20, .compute_streams = 2 };
    struct dfr_device *device;
    struct df_error error = { "" };
    if (cuda->open(index, &config, &device, &error) != DF_OK)
        fail_msg("%s", error.text);
    return device;
}

/* Errors that leave the process without its GPU are told as such, whatever the toolkit calls them. */
static void test_lost_devices(void **state)
{
    static const int statuses[] = { 214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911 };
    struct df_error error;

    (void)state;
    need_mock();
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        mock_begin(1, MEMORY, 1);
        struct dfr_device *device = open_device(0);
        assert_false(cuda->faulted(device));
        mock_fail(2, statuses[i]);
        assert_int_equal(cuda->copy(device, DFR_COPY_D2D, cuda->pool(device), (char *)cuda->pool(device) + 4096, 64,
                                   DFR_STREAM_COMPUTE, &error), DF_E_DEVICE);
        if (!cuda->faulted(device))
            fail_msg("after status %d the device is taken for well", statuses[i]);
        cuda->close(device);
    }
}

static void *drain_and_close(void *device)
{
    struct df_error error;
    int status = cuda->drain(device, &error);
    cuda->close(device);
    return status == DF_OK ? device : NULL;
}

static void *open_first(void *error)
{
    struct df_unit unit = { .workers = 1 };
    struct dfr_device_config config = { .unit = &unit, .pool_bytes = 1 << 20, .compute_streams = 1 };
    struct dfr_device *device = NULL;
    (void)cuda->open(0, &config, &device, error);
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
        pool = cuda->pool(ours);
        assert_int_equal(cuda->blas(other, DFR_STREAM_COMPUTE, &error) != NULL, 1);
        if (!blas) {
            cuda->close(other);
            other = open_device(0);
        }
        assert_int_equal(cuda->record_begin(ours, DFR_STREAM_COMPUTE, &error), DF_OK);
        assert_int_equal(cuda->copy(ours, DFR_COPY_D2D, pool, pool + 4096, 64, DFR_STREAM_COMPUTE, &error), DF_OK);
        assert_int_equal(pthread_create(&thread, NULL, drain_and_close, other), 0);
        assert_int_equal(pthread_join(thread, &drained), 0);
        assert_non_null(drained);
        assert_int_equal(cuda->record_end(ours, DFR_STREAM_COMPUTE, &recording, &error), DF_OK);
        assert_int_equal(recording != NULL, !blas);
        assert_int_equal(mock_last_error(), 0);
        if (recording) {
            assert_int_equal(cuda->replay(ours, recording, DFR_STREAM_COMPUTE, &error), DF_OK);
            cuda->recording_destroy(ours, recording);
        }
        assert_int_equal(cuda->copy(ours, DFR_COPY_D2D, pool, pool + 4096, 64, DFR_STREAM_COMPUTE, &error), DF_OK);
        assert_int_equal(cuda->drain(ours, &error), DF_OK);
        cuda->close(ours);
        assert_nothing_left();
    }
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
        assert_true(cuda->connect(a, b));
        assert_true(mock_peers(0, 1) && !mock_peers(1, 0));
        assert_int_equal(mock_last_error(), 0);
    }
    assert_int_equal(cuda->copy_peer(a, b, cuda->pool(b), cuda->pool(a), 64, DFR_STREAM_PEER, &error), DF_OK);
    assert_int_equal(cuda->drain(a, &error), DF_OK);
    mock_no_peers();                    /* two sockets, say: the driver goes by way of the host */
    assert_false(cuda->connect(b, a));
    assert_false(mock_peers(1, 0));
    assert_int_equal(mock_last_error(), 0);
    assert_int_equal(cuda->copy_peer(b, a, cuda->pool(a), cuda->pool(b), 64, DFR_STREAM_PEER, &error), DF_OK);
    assert_int_equal(cuda->drain(b, &error), DF_OK);
    cuda->close(b);
    cuda->close(a);
    assert_nothing_left();
}

/* ---- batches of copies ---- */

/* Two batches are two calls. The second time the driver has no batches. That is found out once, and each copy is a call. */
static void test_batches(void **state)
{
    enum { N = 3, APART = 8192, BYTES = 100 };
    struct dfr_device *device;
    struct df_error error = { "" };

    (void)state;
    need_mock();
    for (int missing = 0; missing < 2; missing++) {
        struct dfr_transfer there[N], back[N];
        unsigned char *host, *pool;
        mock_begin(1, MEMORY, 1);
        if (missing)
            mock_no_batches();
        bool whole = mock_has_batches();
        device = open_device(0);
        pool = cuda->pool(device);
        host = cuda->host_alloc(2 * N * BYTES, &error);
        assert_non_null(host);
        for (unsigned i = 0; i < N * BYTES; i++)
            host[i] = (unsigned char)(7 * i + 1);
        for (unsigned i = 0; i < N; i++) {
            there[i] = (struct dfr_transfer){ pool + i * APART, host + i * BYTES, BYTES };
            back[i] = (struct dfr_transfer){ host + (N + i) * BYTES, pool + i * APART, BYTES };
        }
        assert_int_equal(cuda->copy_batch(device, DFR_COPY_H2D, there, N, DFR_STREAM_H2D, &error), DF_OK);
        assert_int_equal(cuda->drain(device, &error), DF_OK);
        uint64_t calls = mock_calls();
        assert_int_equal(cuda->copy_batch(device, DFR_COPY_D2H, back, N, DFR_STREAM_H2D, &error), DF_OK);
        assert_int_equal(mock_calls() - calls, 1 + (whole ? 1 : N)); /* the first asks for the current device */
        assert_int_equal(cuda->drain(device, &error), DF_OK);
        assert_memory_equal(host, host + N * BYTES, N * BYTES);
        assert_int_equal(mock_batches(), whole ? 2 : 0);
        assert_int_equal(mock_last_error(), 0);
        there[1].to = host;             /* no address of the device */
        assert_int_equal(cuda->copy_batch(device, DFR_COPY_H2D, there, N, DFR_STREAM_H2D, &error), DF_E_DEVICE);
        assert_has(error.text, "cuda0: copying to it: ");
        assert_int_equal(cuda->drain(device, &error), DF_OK);
        cuda->host_free(host, 2 * N * BYTES);
        cuda->close(device);
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
    first = cuda->blas(device, DFR_STREAM_COMPUTE, &error);
    assert_non_null(first);
    workspaces[0] = mock_blas().workspace;
    assert_non_null(workspaces[0]);
    assert_ptr_equal(cuda->blas(device, DFR_STREAM_COMPUTE + 1, &error), first);
    workspaces[1] = mock_blas().workspace;
    assert_non_null(workspaces[1]);
    assert_true((char *)workspaces[1] >= (char *)workspaces[0] + (4 << 20) ||
                (char *)workspaces[0] >= (char *)workspaces[1] + (4 << 20));
    for (uint32_t s = 0; s < 4; s++) {
        assert_ptr_equal(cuda->blas(device, DFR_STREAM_COMPUTE + s % 2, &error), first);
        assert_ptr_equal(mock_blas().workspace, workspaces[s % 2]);
    }
    assert_int_equal(mock_blas().handles, 1);
    other = open_device(1);
    assert_ptr_not_equal(cuda->blas(other, DFR_STREAM_COMPUTE, &error), first);
    assert_int_equal(mock_blas().handles, 2);
    assert_non_null(cuda->blas_function(device, "cublasSetStream_v2"));
    assert_null(cuda->blas_function(device, "cublasNothing"));
    cuda->close(other);
    cuda->close(device);
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
    assert_int_equal(cuda->open(0, &config, &device, &error), DF_OK);
    for (int i = 0; i < 2; i++) {
        error.text[0] = '\0';
        assert_null(cuda->blas(device, DFR_STREAM_COMPUTE, &error));
        assert_string_equal(error.text, "cuda0: allocating a workspace for cuBLAS of 4.0 MiB, while 0.1 of 64.0 MiB are "
                                        "free (--gpu-mem takes less): an error of the mock (cudaErrorMemoryAllocation)");
    }
    assert_int_equal(mock_last_error(), 0);
    cuda->close(device);
    assert_nothing_left();
}

/* ---- pinned memory ---- */

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
    assert_int_equal(cuda->host_register(memory + PAGE, PAGE, &error), DF_OK);
    assert_int_equal(cuda->host_register(memory, PAGES * PAGE, &error), DF_E_DEVICE);
    assert_int_equal(cuda->host_register(memory + PAGE + 100, 100, &error), DF_E_DEVICE);
    assert_int_equal(mock_last_error(), 0);
    assert_int_equal(cuda->copy(device, DFR_COPY_H2D, cuda->pool(device), memory + PAGE, PAGE, DFR_STREAM_H2D, &error),
                     DF_OK);
    assert_int_equal(cuda->copy(device, DFR_COPY_H2D, cuda->pool(device), memory, 2 * PAGE, DFR_STREAM_H2D, &error),
                     DF_E_DEVICE);
    assert_int_equal(cuda->drain(device, &error), DF_OK);
    cuda->host_unregister(memory + PAGE, PAGE);
    assert_int_equal(cuda->host_register(memory, PAGES * PAGE, &error), DF_OK);
    cuda->host_unregister(memory, PAGES * PAGE);
    cuda->close(device);
    assert_nothing_left();
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_plan_is_for_this_machine, cuda_set_up),
        cmocka_unit_test_setup(test_queues, cuda_set_up),
        cmocka_unit_test_setup(test_no_gpu, cuda_set_up),
        cmocka_unit_test_setup(test_no_code, cuda_set_up),
        cmocka_unit_test_setup(test_no_gpu_variants, cuda_set_up),
        cmocka_unit_test_setup(test_shared_memory, cuda_set_up),
        cmocka_unit_test_setup(test_local_memory, cuda_set_up),
        cmocka_unit_test_setup(test_integrated, cuda_set_up),
        cmocka_unit_test_setup(test_unified, cuda_set_up),
        cmocka_unit_test_setup(test_named_gpus, cuda_set_up),
        cmocka_unit_test_setup(test_lost_devices, cuda_set_up),
        cmocka_unit_test_setup(test_first_is_busy, cuda_set_up),
        cmocka_unit_test_setup(test_capture_beside_others, cuda_set_up),
        cmocka_unit_test_setup(test_peers, cuda_set_up),
        cmocka_unit_test_setup(test_batches, cuda_set_up),
        cmocka_unit_test_setup(test_one_blas_handle, cuda_set_up),
        cmocka_unit_test_setup(test_no_room_for_blas, cuda_set_up),
        cmocka_unit_test_setup(test_pinning, cuda_set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
