/* test_loop.c - a loop (graph.h) that is built by hand: on the CPU, on the emulated GPU, and on a device whose memory the host cannot read, where the condition's
 * number is copied before each round. And graphs whose records of loops are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/device/device.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/expr.h"

extern const struct dfr_device_ops dfr_emu_ops;
struct dfr_device_ops dfr_cuda_ops;     /* as in test_engine_device.c: it takes the place of CUDA's back end, a weak symbol */

enum { N = 5 };
static int32_t shown[N];
static _Atomic long copied_to_host;

static int first(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)scalars;
    for (size_t i = 0; i < dims[0]; i++)
        ((int32_t *)ports[0])[i] = (int32_t)i;
    *(int32_t *)ports[1] = 3;
    return DF_OK;
}

static int step(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)call, (void)stream;
    for (size_t i = 0; i < dims[0]; i++)
        ((int32_t *)ports[2])[i] = ((const int32_t *)ports[0])[i] + scalars[0].i32;
    *(int32_t *)ports[3] = 2 * *(const int32_t *)ports[1];
    return DF_OK;
}

static int show(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)scalars;
    memcpy(shown, ports[0], dims[0] * sizeof *shown);
    return DF_OK;
}

/* first() -> loop of step() while r < most -> show() */
static struct df_graph *make(int32_t most)
{
    static const char *const dims[] = { "n" };
    const struct df_port_desc made[] = { { "x", DF_OUT, DF_I32, 1 }, { "r", DF_OUT, DF_I32, 0 } }, read[] = { { "x", DF_IN, DF_I32, 1 } };
    const struct df_port_desc both[] = { { "x", DF_IN, DF_I32, 1 }, { "r", DF_IN, DF_I32, 0 }, { "y", DF_OUT, DF_I32, 1 }, { "s", DF_OUT, DF_I32, 0 } };
    const struct df_scalar_desc by = { "by", DF_S_I32 };
    const struct df_kernel_desc kernels[] = {
        { .name = "first", .n_dims = 1, .dims = dims, .n_ports = 2, .ports = made, .functions = { .cpu = first } },
        { .name = "step", .n_dims = 1, .dims = dims, .n_ports = 4, .ports = both, .n_scalars = 1, .scalars = &by, .functions = { .cpu = step, .gpu = step } },
        { .name = "show", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = read, .functions = { .cpu = show } },
    };
    const uint64_t n[] = { N }, port_dims[4][DF_MAX_RANK] = { { N }, { 1 }, { N }, { 1 } };
    const uint32_t reads[] = { 0, 1, DF_NONE, DF_NONE }, writes[] = { DF_NONE, DF_NONE, 0, 1 }, condition_reads[] = { 1 };
    const bool next[4] = { false };
    const uint64_t code[] = { DF_X_ARG, 0, DF_X_INT, (uint64_t)most, DF_X_LT };
    const struct df_loop_port_desc tokens[] = { { "x", DF_I32, 1, n, true, true, true }, { "r", DF_I32, 0, n, true, true, false } };
    const char *const names[] = { "y" };
    struct df_builder *b = df_builder_new("loop");
    struct df_graph *g = NULL;
    struct df_error error;
    uint32_t ids[3], nodes[3], scalar;
    for (unsigned k = 0; k < 3; k++)
        assert_int_equal(df_builder_kernel(b, &kernels[k], &ids[k], &error), DF_OK);
    assert_int_equal(df_builder_constant(b, DF_S_I32, (union df_scalar){ .i32 = 7 }, &scalar, &error), DF_OK);
    const struct df_step_desc steps[] = { { .kernel = ids[1], .dims = n, .port_dims = port_dims, .scalars = &scalar, .reads = reads, .writes = writes, .next = next } };
    const struct df_loop_desc loop = { .name = "loop-step", .most = 1000, .n_steps = 1, .n_tokens = 2, .n_reads = 1, .steps = steps, .tokens = tokens,
                                       .reads = condition_reads, .code = code, .n_code = 5 };
    const struct df_node_desc at = { .threads = 1, .hint_class = -1, .value_names = names };
    assert_int_equal(df_builder_node(b, ids[0], n, port_dims, NULL, &nodes[0], &error), DF_OK);
    assert_int_equal(df_builder_loop(b, &loop, &at, &nodes[1], &error), DF_OK);
    assert_int_equal(df_builder_node(b, ids[2], n, port_dims, NULL, &nodes[2], &error), DF_OK);
    assert_int_equal(df_builder_connect(b, nodes[0], 0, nodes[1], 0, &error), DF_OK);
    assert_int_equal(df_builder_connect(b, nodes[0], 1, nodes[1], 1, &error), DF_OK);
    assert_int_equal(df_builder_connect(b, nodes[1], 0, nodes[2], 0, &error), DF_OK);
    if (df_builder_finish(b, &g, &error) != DF_OK || !df_graph_check(g, &error))
        fail_msg("%s", error.text);
    df_builder_free(b);
    struct df_functions *own = (struct df_functions *)&g->functions[g->n_kernels - 1]; /* as dfc's tables have it */
    own->cpu = own->gpu = df_loop;
    return g;
}

static void run(const struct df_graph *g, const char *policy, enum df_device_kind device, uint64_t rounds)
{
    struct df_options o = rig_options(policy, device, 2);
    struct df_node_stats stats[3] = { { 0 } };
    struct df_error error;
    struct df_run *r;
    o.waves = 2;
    o.emu_check = device == DF_DEVICE_EMU;
    o.node_stats = stats;
    memset(shown, 0, sizeof shown);
    int status = df_run_start(g, &o, &r, &error);
    if (status == DF_OK)
        status = df_run_wait(r, NULL, &error);
    if (status != DF_OK)
        fail_msg("%s", error.text);
    for (int32_t i = 0; i < N; i++)
        assert_int_equal(shown[i], i + 7 * (int32_t)rounds);
    assert_int_equal(stats[1].rounds, 2 * rounds);
    assert_int_equal(stats[1].host_jobs + stats[1].device_jobs, 2);
}

/* ---- a device like CUDA's: code for it is called in launch(), and the host does not read its memory ---- */

static int open_as_cuda(uint32_t index, const struct dfr_device_config *config, struct dfr_device **device, struct df_error *error)
{
    int status = dfr_emu_ops.open(index, config, device, error);
    if (status == DF_OK)
        (*device)->ops = &dfr_cuda_ops;
    return status;
}

/* What was enqueued before is done first, as work on the stream would be. */
static int launch_now(struct dfr_device *device, const struct dfr_launch *l, uint32_t stream, struct df_error *error)
{
    struct dfr_event *event;
    int status = device->ops->event_create(device, &event, error);
    if (status != DF_OK)
        return status;
    status = device->ops->event_record(device, event, stream, error);
    if (status == DF_OK)
        status = dfr_event_wait(device, event, 0, error);
    device->ops->event_destroy(device, event);
    if (status == DF_OK)
        *l->result = l->fn(l->call, NULL, l->dims, l->ports, l->scalars);
    return status;
}

static int copy_counted(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes, uint32_t stream, struct df_error *error)
{
    copied_to_host += kind == DFR_COPY_D2H && stream >= DFR_STREAM_COMPUTE && bytes == sizeof(int32_t);
    return dfr_emu_ops.copy(device, kind, to, from, bytes, stream, error);
}

static void use_device(void)
{
    dfr_cuda_ops = dfr_emu_ops;
    dfr_cuda_ops.name = "cuda";
    dfr_cuda_ops.runs_cpu_code = false;
    dfr_cuda_ops.open = open_as_cuda;
    dfr_cuda_ops.launch = launch_now;
    dfr_cuda_ops.copy = copy_counted;
    dfr_cuda_ops.record_begin = NULL;
}

static void test_runs(void **state)
{
    (void)state;
    static const struct { int32_t most; uint64_t rounds; } cases[] = { { 3, 0 }, { 4, 1 }, { 7, 2 }, { 100, 6 }, { 3 << 20, 20 } };
    use_device();
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct df_graph *g = make(cases[k].most);
        run(g, "ws", DF_DEVICE_NONE, cases[k].rounds);
        run(g, "all-gpu", DF_DEVICE_EMU, cases[k].rounds);
        run(g, "eager", DF_DEVICE_EMU, cases[k].rounds);
        copied_to_host = 0;
        run(g, "all-gpu", DF_DEVICE_CUDA, cases[k].rounds);
        assert_int_equal(copied_to_host, 2 * (cases[k].rounds + 1)); /* in each of two waves */
        df_graph_free(g);
    }
}

/* ---- wrong records ---- */

static void refuses(const struct df_graph *g, const char *why)
{
    struct df_error error = { "" };
    assert_false(df_graph_check(g, &error));
    if (!strstr(error.text, why))
        fail_msg("%s", error.text);
}

static void test_checked(void **state)
{
    (void)state;
    struct df_graph *g = make(100);
    struct df_error error;
    const uint32_t kernel = g->n_kernels - 1;
    struct df_loop *loop = (struct df_loop *)&g->loops[0];
    struct df_step *s = (struct df_step *)&g->steps[0];
    struct df_step_port *port = (struct df_step_port *)&g->step_ports[0];
    struct df_loop_token *token = (struct df_loop_token *)&g->loop_tokens[1];
    struct df_kernel *k = (struct df_kernel *)&g->kernels[kernel];
    k->loop = 1, refuses(g, "not the shape of a loop"), k->loop = 0;
    loop->n_steps = 2, refuses(g, "out of range"), loop->n_steps = 1;
    loop->n_tokens = 3, refuses(g, "out of range"), loop->n_tokens = 2;
    loop->n_code = 4, refuses(g, "out of range"), loop->n_code = 5;
    s->kernel = kernel, refuses(g, "built-in one"), s->kernel = 1;
    s->first_dim = 2, refuses(g, "out of range"), s->first_dim = 1;
    s->first_scalar = 1, refuses(g, "out of range"), s->first_scalar = 0;
    s->first_port = 1, refuses(g, "out of range"), s->first_port = 0;
    port->reads = 2, refuses(g, "wrong tokens"), port->reads = 0;
    port->writes = 0, refuses(g, "wrong tokens"), port->writes = DF_NONE;
    port->next = 2, refuses(g, "wrong tokens"), port->next = 0;
    token->in_port = DF_NONE, refuses(g, "no such port"), token->in_port = 1;
    token->out_port = 0, refuses(g, "no such port"), token->out_port = DF_NONE;
    const uint64_t place = token->place[0];
    token->place[0] = 1 << 20, refuses(g, "out of range"), token->place[0] = place;
    token->bytes = 8, refuses(g, "out of range"), token->bytes = 4;
    ((uint32_t *)g->loop_reads)[0] = 2, refuses(g, "reads no token"), ((uint32_t *)g->loop_reads)[0] = 1;
    if (!df_graph_check(g, &error))
        fail_msg("%s", error.text);
    df_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_runs), cmocka_unit_test(test_checked) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
