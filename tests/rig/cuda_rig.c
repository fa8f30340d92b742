/* cuda_rig.c - kernels that launch on the mock of the CUDA runtime (cuda_rig.h). */
#include "cuda_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "runtime/device/device.h"
#include "runtime/start/back_ends.h"
#include "runtime/engine/engine.h"

const struct dfr_device_ops *cuda;
enum misbehaviour misbehaves;

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
    if ((number == RIG_SKIP || number == RIG_DROP) && rig_would_skip(call, scalars))
        return DF_SKIP;
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
    return &cuda;                       /* stands for a __global__ function */
}

/* The rig's gpu variants become launches; those that do nothing else are told to the runtime. */
void use_launches(struct rig *r)
{
    struct df_kernel *kernels = (struct df_kernel *)r->graph->kernels;
    struct df_functions *functions = (struct df_functions *)r->graph->functions;
    for (uint32_t k = 0; k < RIG_KERNELS; k++) {
        functions[k].gpu = launches;
        functions[k].device = device_code;
        if (k != RIG_SOURCE && k != RIG_SINK && k != RIG_ORDERED && k != RIG_SKIP && k != RIG_DROP &&
            !(k == RIG_SPLIT && misbehaves != WELL))
            kernels[k].traits |= DF_LAUNCH;
    }
}

void make_chain(struct rig *r, unsigned length)
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

struct df_options options_of(const char *policy)
{
    struct df_options o = rig_options(policy, DF_DEVICE_CUDA, 2);
    o.waves = WAVES;
    o.gpu_jobs = 2;
    return o;
}

int cuda_set_up(void **state)
{
    (void)state;
    misbehaves = WELL;
    if (mock_begin) {
        mock_begin(1, MEMORY, 1);
        cuda = dfr_back_end_of(DF_DEVICE_CUDA);
    }
    return 0;
}

void need_mock(void)
{
    if (!mock_begin || !cuda) {
        print_message("built without CUDA's headers\n");
        skip();
    }
}

void assert_nothing_left(void)
{
    if (mock_left() != 0)
        fail_msg("%zu of CUDA's objects were not returned", mock_left());
}
