/* test_gpu_copies.c - selects that are replayed on a device that tells results late, as the emulator does. One that was
 * taken from the policy is a copy of the device's, and one that was launched ahead is a function, which asks for empty
 * tokens. A recording of the one is never replayed for the other. Batches are given to dfr_gpu_replay() as gpu_launch.c
 * does; no worker takes part, so each case is there every time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/start/back_ends.h"
#include "runtime/engine/engine.h"
#include "runtime/gpu/gpu_impl.h"

#define PAGE 4096u
#define N 3                             /* elements of a token */

struct trial {
    struct rig rig;
    struct df_run *run;
    struct dfr_code *codes;
    double *time_s;
    struct dfr_gpu gpu;
    struct gpu_job job;
    struct dfr_range ranges[3];
    void *ports[3];
    char name[DFR_GPU_NAME_BYTES];
    uint8_t flying[1];
    uint32_t node, in[2], out;          /* of the select; values */
};

static const struct df_unit free_links = { .engines = 2, .h2d = { .bytes_per_s = INFINITY }, .d2h = { .bytes_per_s = INFINITY } };
static const int64_t tokens[2][N] = { { 1, 2, 3 }, { 4, 5, 6 } };

/* The run of a graph with one select, and the GPU with its three tokens: the first input, the output, the second input. */
static void set_up(struct trial *t)
{
    struct rig_out source, a, b;
    struct df_error error;

    memset(t, 0, sizeof *t);
    rig_begin(&t->rig, N);
    source = rig_node(&t->rig, RIG_SOURCE, 1, RIG_NOTHING, RIG_NOTHING);
    a = rig_node(&t->rig, RIG_SKIP, 17, source, RIG_NOTHING);
    b = rig_node(&t->rig, RIG_SKIP, 13, source, RIG_NOTHING);
    t->node = rig_select(&t->rig, a, b).node;
    rig_end(&t->rig);

    const struct df_graph *g = t->rig.graph;
    t->in[0] = g->in_value[g->nodes[t->node].first_in];
    t->in[1] = g->in_value[g->nodes[t->node].first_in + 1];
    t->out = g->nodes[t->node].first_out;
    t->run = aligned_alloc(64, (sizeof *t->run + 63) / 64 * 64);
    t->codes = calloc(g->n_works, sizeof *t->codes);
    t->time_s = calloc(2 * g->n_works, sizeof *t->time_s);
    assert_true(t->run && t->codes && t->time_s);
    memset(t->run, 0, sizeof *t->run);
    t->run->graph = g;
    t->run->inflight = 1;
    t->run->options.cuda_graphs = DF_GRAPHS_ON;
    t->run->firing.codes = t->codes;
    t->run->choice.time_s = t->time_s;
    assert_int_equal(dfr_skips_create(&t->run->skips, g, 2, &error), DF_OK);
    atomic_store(&t->run->skips.any, true);

    t->gpu = (struct dfr_gpu){ .run = t->run, .unit = 1, .jobs = &t->job, .flying = t->flying };
    assert_int_equal(dfr_back_end_of(DF_DEVICE_EMU)->open(0, &(struct dfr_device_config){
        .unit = &free_links, .pool_bytes = 4 * PAGE, .compute_streams = 1 }, &t->gpu.device, &error), DF_OK);
    assert_int_equal(dfr_gpu_recordings_create(&t->gpu, &error), DF_OK);
    assert_non_null(t->gpu.recordings);
    t->job = (struct gpu_job){ .job = dfr_job(0, t->node), .ports = t->ports, .ranges = t->ranges, .name = t->name };
    for (int p = 0; p < 3; p++) {
        t->ports[p] = (unsigned char *)t->gpu.device->ops->pool(t->gpu.device) + p * PAGE;
        t->ranges[p] = (struct dfr_range){ .address = t->ports[p], .bytes = sizeof tokens[0], .writable = p == 1, .port = "a" };
    }
    assert_int_equal(t->gpu.device->ops->event_create(t->gpu.device, &t->job.event, &error), DF_OK);
}

static void tear_down(struct trial *t)
{
    dfr_gpu_recordings_destroy(&t->gpu);
    t->gpu.device->ops->event_destroy(t->gpu.device, t->job.event);
    t->gpu.device->ops->close(t->gpu.device);
    dfr_skips_destroy(&t->run->skips);
    free(t->run);
    free(t->codes);
    free(t->time_s);
    rig_free(&t->rig);
}

static void copy(struct trial *t, enum dfr_copy kind, void *to, const void *from)
{
    struct dfr_device *device = t->gpu.device;
    struct df_error error;

    assert_int_equal(device->ops->copy(device, kind, to, from, sizeof tokens[0], DFR_STREAM_COMPUTE, &error), DF_OK);
}

/* Replays the select in a wave whose inputs are empty or not, and looks at its output. That was empty in the wave before,
 * or not, as `before` says. */
static void replay(struct trial *t, bool ahead, bool first_empty, bool second_empty, bool before)
{
    struct dfr_skips *skips = &t->run->skips;
    struct gpu_job *batch[1] = { &t->job };
    struct df_error error = { "" };
    int64_t got[N] = { 0 };
    bool done = false;

    t->job.ahead = ahead;
    t->job.result = DF_OK;
    t->job.call = (struct df_call){ .run = t->run, .job = t->job.job, .threads = 1, .device = t->gpu.device,
                                    .stream = DFR_STREAM_COMPUTE };
    skips->empty[t->in[0]] = first_empty;
    skips->empty[t->in[1]] = second_empty;
    skips->empty[t->out] = before;
    copy(t, DFR_COPY_H2D, t->ports[0], tokens[0]);
    copy(t, DFR_COPY_H2D, t->ports[2], tokens[1]);
    copy(t, DFR_COPY_H2D, t->ports[1], got);
    if (dfr_gpu_replay(&t->gpu, batch, 1, &done, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(done);
    copy(t, DFR_COPY_D2H, got, t->ports[1]);
    assert_int_equal(t->gpu.device->ops->drain(t->gpu.device, &error), DF_OK);
    dfr_gpu_replayed(&t->gpu, &t->job);
    assert_int_equal(t->job.result, first_empty && second_empty ? DF_SKIP : DF_OK);
    assert_int_equal(dfr_skips_empty(skips, 0, t->out), first_empty && second_empty);
    if (!first_empty || !second_empty)
        assert_memory_equal(got, tokens[first_empty], sizeof got);
}

static void test_copy_then_function(void **state)
{
    struct trial t;

    (void)state;
    set_up(&t);
    for (int before = 0; before < 2; before++) {
        replay(&t, false, false, false, before);
        replay(&t, true, false, false, before);
        replay(&t, true, true, false, before);
        replay(&t, true, true, true, before);
    }
    tear_down(&t);
}

static void test_function_then_copy(void **state)
{
    struct trial t;

    (void)state;
    set_up(&t);
    for (int before = 0; before < 2; before++) {
        replay(&t, true, true, false, before);
        replay(&t, true, true, true, before);
        replay(&t, false, false, false, before);
    }
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_copy_then_function), cmocka_unit_test(test_function_then_copy) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
