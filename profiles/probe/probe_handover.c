/* probe_handover.c - measures for probe.c the hand-over latency of a device: how long after a copy has ended other
 * threads act on its data. It runs a chain of empty jobs that alternate between host and device, so that one copy lies
 * between each two.
 *
 * Chain:    the jobs compute nothing and the tokens are as small as possible. What a pair of jobs takes, minus its
 *           launch and its two copies, is therefore wake-up latency: of the host's worker, the device's worker and its
 *           copy engines. Half of it is attributed to each copy.
 * Result:   the median of several runs. Start-up and shutdown of a run are spread over its pairs.
 */
#include <math.h>

#include "profiles/probe/probe_impl.h"
#include "runtime/base/error.h"
#include "runtime/graph/builder.h"

#define PAIRS 48
#define RUNS 9
#define QUICK_RUNS 3
#define TOKEN_BYTES 64

static int nothing(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                   const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_OK;
}

static int add_job(struct df_builder *b, uint32_t kernel, int cls, uint32_t *job, struct df_error *error)
{
    static const uint64_t port_dims[2][DF_MAX_RANK] = { { TOKEN_BYTES }, { TOKEN_BYTES } };
    struct df_node_desc desc = { .kernel = kernel, .port_dims = port_dims, .hint_class = cls };
    return df_builder_node_desc(b, &desc, job, error);
}

static int build(struct df_builder *b, struct df_graph **chain, struct df_error *error)
{
    static const struct df_port_desc ports[] = { { "in", DF_IN, DF_U8, 1 }, { "out", DF_OUT, DF_U8, 1 } };
    const struct df_kernel_desc descs[] = {
        { .name = "first", .n_ports = 1, .ports = ports + 1, .functions = { .cpu = nothing } },
        { .name = "host", .n_ports = 2, .ports = ports, .functions = { .cpu = nothing } },
        { .name = "device", .n_ports = 2, .ports = ports, .functions = { .cpu = nothing, .gpu = nothing, .opencl = nothing } },
    };
    const struct df_kernel_info both = { .code_classes = 1u << DF_CLASS_CPU | 1u << DF_CLASS_GPU };
    uint32_t kernels[3], last, next;
    int status = DF_OK;
    for (int k = 0; k < 3 && status == DF_OK; k++)
        status = df_builder_kernel(b, &descs[k], &kernels[k], error);
    if (status == DF_OK)
        status = df_builder_kernel_info(b, kernels[2], &both, error);
    if (status == DF_OK)
        status = add_job(b, kernels[0], DF_CLASS_CPU, &last, error);
    for (int i = 0; i < 2 * PAIRS && status == DF_OK; i++, last = next) {
        int cls = i % 2 ? DF_CLASS_CPU : DF_CLASS_GPU;
        status = add_job(b, kernels[i % 2 ? 1 : 2], cls, &next, error);
        if (status == DF_OK)
            status = df_builder_connect(b, last, 0, next, 0, error);
    }
    return status == DF_OK ? df_builder_finish(b, chain, error) : status;
}

static int run_chain(const struct df_graph *chain, const struct df_options *options, double *makespan_s,
                     struct df_error *error)
{
    struct df_run *run;
    struct df_stats stats;
    int status = df_run_start(chain, options, &run, error);
    if (status == DF_OK)
        status = df_run_wait(run, &stats, error);
    if (status == DF_OK)
        *makespan_s = stats.makespan_s;
    return status;
}

int dfw_probe_handover(enum df_device_kind kind, uint32_t index, const struct df_platform *platform, bool quick,
                       struct df_unit *unit, struct df_error *error)
{
    struct df_builder *b = df_builder_new("handover");
    struct df_graph *chain = NULL;
    struct df_options options;
    double makespan_s[RUNS];
    uint32_t runs = quick ? QUICK_RUNS : RUNS;
    int status = b ? build(b, &chain, error) : dfr_error_memory(error);
    df_options_default(&options);
    options.policy = "eager";
    options.device = kind;
    options.gpus = UINT64_C(1) << index;
    options.platform = platform;
    options.workers = 1;
    for (uint32_t i = 0; i < runs && status == DF_OK; i++)
        status = run_chain(chain, &options, &makespan_s[i], error);
    if (status == DF_OK) {
        double copies_s = df_link_time_s(&unit->h2d, TOKEN_BYTES) + df_link_time_s(&unit->d2h, TOKEN_BYTES);
        unit->handover_s = fmax(0, (dfr_median(makespan_s, runs) / PAIRS - unit->launch_s - copies_s) / 2);
    }
    df_graph_free(chain);
    df_builder_free(b);
    return status;
}
