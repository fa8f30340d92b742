/* test_gpu_rare.c - what the worker of a GPU meets seldom: a device that fails at one chosen moment, that says an error
 * need not be the caller's, or that does not reach its peer. The back end is the emulator with some operations replaced,
 * put in the place of CUDA's, which is a weak symbol.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_rig.h"
#include "runtime/base/error.h"
#include "runtime/device/device.h"
#include "runtime/engine/call.h"
#include "runtime/graph/plan.h"

#define WAVES 3

extern const struct dfr_device_ops dfr_emu_ops;
struct dfr_device_ops dfr_cuda_ops;     /* filled by each test before a run */

static struct df_platform seen;         /* the machine that the back end describes */
static struct dfr_device *last_opened;

/* The emulator's device says whose it is: that is replaced too. */
static int open_as_cuda(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device,
                        struct df_error *error)
{
    int status = dfr_emu_ops.open(index, config, device, error);
    if (status == DF_OK) {
        (*device)->ops = &dfr_cuda_ops;
        last_opened = *device;
    }
    return status;
}

static uint32_t count_seen(struct df_error *error)
{
    (void)error;
    return seen.n_units - 1;
}

static int describe_seen(uint32_t index, struct df_unit *unit, struct df_error *error)
{
    (void)error;
    *unit = seen.units[index + 1];
    return DF_OK;
}

static int planted(const char *what, struct df_error *error)
{
    return dfr_error(error, DF_E_DEVICE, "planted in %s", what);
}

static bool always(struct dfr_device *device)
{
    (void)device;
    return true;
}

static void use_emulator(void)
{
    dfr_cuda_ops = dfr_emu_ops;
    dfr_cuda_ops.name = "cuda";
    dfr_cuda_ops.runs_cpu_code = false;
    dfr_cuda_ops.open = open_as_cuda;
    dfr_cuda_ops.count = count_seen;
    dfr_cuda_ops.describe = describe_seen;
}

/* GPUs that see one another, or do not. */
static struct df_platform machine(uint32_t gpus, bool peers)
{
    const struct df_link link = { 1e11, 1e-7, 0 };
    struct df_platform p;
    df_platform_default(&p, gpus);
    for (uint32_t u = 1; u <= gpus; u++) {
        p.units[u].h2d = p.units[u].d2h = link;
        p.units[u].peer = peers ? link : (struct df_link){ 0 };
        p.units[u].launch_s = 0;
        p.units[u].memory_bytes = 1 << 20;
    }
    return p;
}

/* A source on the host, n nodes for GPUs, a sink on the host. */
static void make_chain(struct rig *r, unsigned n)
{
    struct rig_out at;

    rig_begin(r, 100);
    at = rig_node(r, RIG_SOURCE | RIG_CPU_ONLY, 1, RIG_NOTHING, RIG_NOTHING);
    for (unsigned i = 0; i < n; i++)
        at = rig_node(r, i % 2 ? RIG_BUMP : RIG_ADD1, i, at, RIG_NOTHING);
    rig_sink(r, RIG_SINK | RIG_CPU_ONLY, at);
    rig_end(r);
    rig_expect(r, WAVES);
}

static struct df_options options_of(const struct df_platform *p, const char *policy)
{
    struct df_options o = rig_options(policy, DF_DEVICE_CUDA, 1);
    o.waves = WAVES;
    o.emu_check = 0;
    o.gpu_jobs = 1;
    o.inflight = 1;
    o.platform = p;
    seen = *p;
    return o;
}

/* The chain fails so, or so if another text is given; afterwards a whole device runs it. */
static void fails_either(const struct df_options *o, unsigned n, int status, const char *text, const char *other)
{
    struct df_error error = { "" };
    struct rig r;

    make_chain(&r, n);
    assert_int_equal(rig_run(&r, o, NULL, &error), status);
    if (!other || strcmp(error.text, other) != 0)
        assert_string_equal(error.text, text);
    use_emulator();
    assert_int_equal(rig_run(&r, o, NULL, &error), DF_OK);
    assert_true(rig_same(&r, WAVES));
    rig_free(&r);
}

static void fails(const struct df_options *o, unsigned n, int status, const char *text)
{
    fails_either(o, n, status, text, NULL);
}

/* ---- whose error it is ---- */

static int refuse_h2d(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                      uint32_t stream, struct df_error *error)
{
    if (kind == DFR_COPY_H2D && device == last_opened)
        return planted("copy", error);
    return dfr_emu_ops.copy(device, kind, to, from, bytes, stream, error);
}

/* The device says that an earlier job may have made the error, and there is none. The copy is made ahead of the job, or
 * for it. */
static void test_faulted_before_any_job(void **state)
{
    struct df_platform p = machine(1, false);
    struct df_options o = options_of(&p, "all-gpu");

    (void)state;
    use_emulator();
    dfr_cuda_ops.copy = refuse_h2d;
    dfr_cuda_ops.faulted = always;
    fails_either(&o, 1, DF_E_DEVICE, "node 'main/add1', wave 0: planted in copy",
                 "node 'main/source_cpu', wave 0, copying what it made: planted in copy");
}

static int fail_in_host_code(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream,
                             struct df_error *error)
{
    (void)device, (void)stream;
    dfr_call_failed(launch->call, "its host code says why");
    return planted("launch", error);
}

/* A kernel's host code gives a reason, and the launch fails: the reason is told. */
static void test_reason_of_host_code(void **state)
{
    struct df_platform p = machine(1, false);
    struct df_options o = options_of(&p, "all-gpu");

    (void)state;
    use_emulator();
    dfr_cuda_ops.launch = fail_in_host_code;
    fails(&o, 1, DF_E_KERNEL, "node 'main/add1', wave 0: its host code says why");
}

/* ---- the end of a copy ---- */

static struct dfr_event *of_copy[4096]; /* events that were last recorded behind a copy from the host */
static unsigned n_of_copy;
static _Atomic bool launched, ended, failed;

static int note_record(struct dfr_device *device, struct dfr_event *event, uint32_t stream, struct df_error *error)
{
    if (stream == DFR_STREAM_H2D && n_of_copy < sizeof of_copy / sizeof *of_copy)
        of_copy[n_of_copy++] = event;
    return dfr_emu_ops.event_record(device, event, stream, error);
}

static bool is_of_copy(const struct dfr_event *event)
{
    for (unsigned i = 0; i < n_of_copy; i++)
        if (of_copy[i] == event)
            return true;
    return false;
}

static int note_launch(struct dfr_device *device, const struct dfr_launch *launch, uint32_t stream,
                       struct df_error *error)
{
    atomic_store(&launched, true);
    return dfr_emu_ops.launch(device, launch, stream, error);
}

/* No copy ends for it before a job has been launched; then it fails. */
static int fail_when_launched(struct dfr_device *device, struct dfr_event *event, bool *complete,
                              struct df_error *error)
{
    if (!is_of_copy(event))
        return dfr_emu_ops.event_query(device, event, complete, error);
    *complete = false;
    return atomic_load(&launched) ? planted("event_query", error) : DF_OK;
}

/* No copy ends for it before a job has ended; then it fails, once. */
static int fail_when_ended(struct dfr_device *device, struct dfr_event *event, bool *complete, struct df_error *error)
{
    int status;

    if (is_of_copy(event) && atomic_load(&ended))
        return atomic_exchange(&failed, true) ? dfr_emu_ops.event_query(device, event, complete, error)
                                              : planted("event_query", error);
    status = dfr_emu_ops.event_query(device, event, complete, error);
    if (is_of_copy(event))
        *complete = false;
    else if (*complete)
        atomic_store(&ended, true);
    return status;
}

static void watch_copies(int (*query)(struct dfr_device *, struct dfr_event *, bool *, struct df_error *))
{
    use_emulator();
    n_of_copy = 0;
    atomic_store(&launched, false);
    atomic_store(&ended, false);
    atomic_store(&failed, false);
    dfr_cuda_ops.event_record = note_record;
    dfr_cuda_ops.launch = note_launch;
    dfr_cuda_ops.event_query = query;
}

/* It may be the launched job's error: that job is named, not the copy. */
static void test_copy_fails_behind_a_launch(void **state)
{
    struct df_platform p = machine(1, false);
    struct df_options o = options_of(&p, "all-gpu");

    (void)state;
    watch_copies(fail_when_launched);
    dfr_cuda_ops.faulted = always;
    fails(&o, 1, DF_E_DEVICE, "node 'main/add1', wave 0: planted in event_query");
    watch_copies(fail_when_launched);   /* each error is the caller's own: the copy is named */
    dfr_cuda_ops.faulted = NULL;
    fails(&o, 1, DF_E_DEVICE, "node 'main/source_cpu', wave 0, copying what it made: planted in event_query");
}

/* The worker looks at copies once more before it ends a job. */
static void test_copy_fails_at_the_end_of_a_job(void **state)
{
    struct df_platform p = machine(1, false);
    struct df_options o = options_of(&p, "all-gpu");

    (void)state;
    watch_copies(fail_when_ended);
    fails(&o, 1, DF_E_DEVICE, "node 'main/source_cpu', wave 0, copying what it made: planted in event_query");
}

/* ---- between devices ---- */

/* The chain's GPU nodes alternate between two GPUs. */
static struct df_options alternate(struct df_plan *plan, uint16_t *place, const struct df_platform *p, unsigned n)
{
    struct df_options o = options_of(p, "gp-thesis");

    for (unsigned v = 0; v < n + 2; v++)
        place[v] = v == 0 || v == n + 1 ? 0 : (uint16_t)(1 + (v - 1) % 2);
    *plan = (struct df_plan){ .policy = "gp-thesis", .place = place, .platform = *p, .n_nodes = n + 2 };
    plan->platform.units[0].workers = 1;
    o.plan = plan;
    o.guard = 0;
    return o;
}

/* What one GPU made has come to the host while a job of the other waits for it, and cannot be sent on. */
static void test_sending_on_fails(void **state)
{
    struct df_platform p = machine(2, false);
    uint16_t place[4];
    struct df_plan plan;
    struct df_options o;

    (void)state;
    p.units[1].d2h.latency_s = 20e-3;   /* so that the other job waits by then */
    o = alternate(&plan, place, &p, 2);
    use_emulator();
    dfr_cuda_ops.copy = refuse_h2d;     /* on the second GPU */
    fails(&o, 2, DF_E_DEVICE, "node 'main/bump', wave 0: planted in copy");
}

static bool reach_none(struct dfr_device *device, struct dfr_device *receiver)
{
    (void)device, (void)receiver;
    return false;
}

/* The platform says that they see one another, the driver does not: the user is told, the results are the same. */
static void test_unreached_peer(void **state)
{
    struct df_platform p = machine(2, true);
    uint16_t place[22];
    struct df_plan plan;
    struct df_options o = alternate(&plan, place, &p, 20);
    struct df_error error = { "" };
    static char said[4096];
    int saved = dup(STDERR_FILENO);
    FILE *log = tmpfile();
    struct rig r;
    int status;

    (void)state;
    use_emulator();
    dfr_cuda_ops.connect = reach_none;
    o.log_level = DF_LOG_INFO;
    make_chain(&r, 20);
    assert_non_null(log);
    fflush(stderr);
    dup2(fileno(log), STDERR_FILENO);
    status = rig_run(&r, &o, NULL, &error);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(log);
    said[fread(said, 1, sizeof said - 1, log)] = '\0';
    fclose(log);
    assert_int_equal(status, DF_OK);
    assert_true(rig_same(&r, WAVES));
    assert_non_null(strstr(said, "'gpu0' does not reach 'gpu1' as the platform says: copies go by way of the host"));
    assert_non_null(strstr(said, "'gpu1' does not reach 'gpu0' as the platform says: copies go by way of the host"));
    rig_free(&r);
}

/* ---- the rest ---- */

static int refuse_recording(struct dfr_device *device, uint32_t stream, struct df_error *error)
{
    (void)device, (void)stream;
    return planted("record_begin", error);
}

static void test_no_recording(void **state)
{
    struct df_platform p = machine(1, false);
    struct df_options o = options_of(&p, "all-gpu");

    (void)state;
    use_emulator();
    dfr_cuda_ops.record_begin = refuse_recording;
    o.cuda_graphs = DF_GRAPHS_ON;
    fails(&o, 1, DF_E_DEVICE, "node 'main/add1', wave 0: planted in record_begin");
}

static _Atomic unsigned n_drained;

static int fail_third(struct dfr_device *device, struct df_error *error)
{
    return atomic_fetch_add(&n_drained, 1) == 2 ? planted("drain", error) : dfr_emu_ops.drain(device, error);
}

/* --poison fills all memory at the start, and what is given back. The first time that it does the latter it fails. */
static void test_no_poison(void **state)
{
    struct df_platform p = machine(1, false);
    struct df_options o = options_of(&p, "all-gpu");

    (void)state;
    use_emulator();
    dfr_cuda_ops.drain = fail_third;
    atomic_store(&n_drained, 0);
    o.poison = 1;
    fails(&o, 1, DF_E_DEVICE, "planted in drain");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faulted_before_any_job), cmocka_unit_test(test_reason_of_host_code),
        cmocka_unit_test(test_copy_fails_behind_a_launch), cmocka_unit_test(test_copy_fails_at_the_end_of_a_job),
        cmocka_unit_test(test_sending_on_fails), cmocka_unit_test(test_unreached_peer),
        cmocka_unit_test(test_no_recording), cmocka_unit_test(test_no_poison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
