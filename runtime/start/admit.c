/* admit.c - determines where each node can run before a run starts: by its variants, its hint, and the memory of
 * devices and host. A node that can run nowhere is rejected here, with its name. df_run_start() calls dfr_admit().
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/engine/buffers.h"
#include "runtime/engine/host_memory.h"
#include "runtime/inspect/check_variants.h"
#include "runtime/base/error.h"
#include "runtime/device/can_run.h"
#include "runtime/engine/log.h"
#include "runtime/start/run_machine.h"
#include "runtime/start/run_rehearse.h"
#include "runtime/start/size.h"

enum warning { W_HINT_NO_GPU, W_HINT_NO_CODE, W_HINT_CLASS, W_TOO_LARGE, N_WARNINGS };

struct admission {
    struct df_run *run;
    const struct df_times *times;       /* of a rehearsal: they say what can run where, and not the code; else NULL */
    uint32_t count[N_WARNINGS], first[N_WARNINGS]; /* how many nodes each warning is about, and the first of them */
    uint64_t first_bytes;               /* what the first node needs that is too large */
};

static uint32_t all_gpus(const struct df_run *run)
{
    return (uint32_t)((UINT64_C(1) << (run->machine.n_gpus + 1)) - 2);
}

/* The units that have code for this node. */
static uint32_t units_with_code(const struct df_run *run, uint32_t node)
{
    uint32_t kernel = run->graph->nodes[node].kernel, units = run->graph->functions[kernel].cpu ? 1u : 0;

    if (run->devices.check_ops && dfr_check_can(run, node))
        units = 1u;                     /* the CPU worker runs it on the check's device */
    for (uint32_t u = 1; u <= run->machine.n_gpus; u++)
        units |= (uint32_t)dfr_device_can(run->devices.ops[u], &run->options, run->graph, kernel) << u;
    return units;
}

static void note(struct admission *a, enum warning warning, uint32_t node)
{
    if (a->count[warning]++ == 0)
        a->first[warning] = node;
}

static int refuse(const struct df_run *run, uint32_t node, const char *why, struct df_error *error)
{
    return dfr_refuse_node(run->graph, node, why, error);
}

static int apply_hint(struct admission *a, uint32_t node, uint32_t *units, struct df_error *error)
{
    const struct df_run *run = a->run;
    int hint = run->graph->nodes[node].hint_class;
    uint32_t gpus = all_gpus(run);

    if (hint == DF_CLASS_CPU) {
        *units &= 1u;
        return *units ? DF_OK : refuse(run, node, "it is '@cpu' and has no cpu variant", error);
    }
    if (hint == DF_CLASS_GPU && *units & gpus) {
        *units &= gpus;
    } else if (hint == DF_CLASS_GPU) {  /* then the CPU has code, since some unit has */
        if (!run->devices.check_ops)
            note(a, run->machine.n_gpus ? W_HINT_NO_CODE : W_HINT_NO_GPU, node);
    } else if (hint > DF_CLASS_GPU) {
        note(a, W_HINT_CLASS, node);
    }
    return DF_OK;
}

/* Takes away the devices whose memory the job is too large for. */
static int apply_memory(struct admission *a, uint32_t node, uint32_t *units, struct df_error *error)
{
    const struct df_run *run = a->run;
    uint64_t bytes = 0, most = 0;
    uint32_t fits = *units;

    for (uint32_t u = 1; u <= run->machine.n_gpus; u++) {
        const struct dfr_device_ops *ops = run->devices.ops[u];
        uint64_t limit = run->devices.limit_bytes[u] / DFM_PAGE * DFM_PAGE, segment = ops->segment_bytes ? ops->segment_bytes(run->devices.number[u]) : 0;
        if (segment && segment < limit)
            limit = segment - DFM_PAGE; /* then an empty segment has room for the job, whatever lies in the others */
        if (!(*units >> u & 1))
            continue;
        bytes = dfr_job_own_bytes(run, u, node);
        if (bytes > limit)
            fits &= ~(1u << u);
        most = limit > most ? limit : most;
    }
    if (fits == 0) {
        char why[192];
        bool hinted = run->graph->nodes[node].hint_class == DF_CLASS_GPU;
        snprintf(why, sizeof why, "one job needs %llu bytes of GPU memory and there are %llu%s",
                 (unsigned long long)bytes, (unsigned long long)most,
                 hinted ? "; it is '@gpu'" : ", and it has no cpu variant");
        return refuse(run, node, why, error);
    }
    if (fits != *units && !(fits & all_gpus(run))) {
        if (a->count[W_TOO_LARGE] == 0)
            a->first_bytes = bytes;
        note(a, W_TOO_LARGE, node);
    }
    *units = fits;
    return DF_OK;
}

/* Takes away the host if the job is too large for its memory. */
static int apply_host_memory(const struct admission *a, uint32_t node, uint32_t *units, struct df_error *error)
{
    const struct df_graph *g = a->run->graph;

    if (a->times)                       /* its memory is never touched */
        return DF_OK;
    if (!(*units & 1u) || g->works[g->nodes[node].work].job_bytes <= dfr_host_bytes())
        return DF_OK;
    if (!(*units & all_gpus(a->run)))
        return dfr_admit_host(g, g->nodes[node].work, error);
    *units &= ~1u;
    return DF_OK;
}

static int check_dims(const struct df_run *run, uint32_t node, uint32_t kernel, const uint64_t *dims, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    const struct df_kernel *k = &g->kernels[kernel];
    const uint64_t most = g->functions[kernel].most;
    char why[160];
    for (uint32_t d = 0; most && !g->n_extents && d < k->n_dims; d++) {
        if (dims[d] <= most)
            continue;
        snprintf(why, sizeof why, "its dimension %s is %llu, and the code of its formulas takes %llu at most",
                 df_graph_string(g, g->dim_names[k->first_dim + d]), (unsigned long long)dims[d], (unsigned long long)most);
        return refuse(run, node, why, error);
    }
    return DF_OK;
}

/* Else it would be the job that fails. If extents differ from wave to wave they may never be so large. */
static int check_extents(const struct df_run *run, uint32_t node, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    const uint64_t *dims = g->dims + g->works[g->nodes[node].work].first_dim;
    const struct df_kernel *k = &g->kernels[g->nodes[node].kernel];
    int status = check_dims(run, node, g->nodes[node].kernel, dims, error);
    if (!(k->flags & DF_KERNEL_LOOP))
        return status;
    for (uint32_t s = 0; s < g->loops[k->loop].n_steps && status == DF_OK; s++) {
        const struct df_step *step = &g->steps[g->loops[k->loop].first_step + s];
        status = check_dims(run, node, step->kernel, dims + step->first_dim, error);
    }
    return status;
}

static int admit_node(struct admission *a, uint32_t node, struct df_error *error)
{
    struct df_run *run = a->run;
    uint32_t units = a->times ? dfr_rehearse_units(run, a->times, node) : units_with_code(run, node);
    int status;

    if (dfr_buffers_spare(run, node)) {
        run->choice.able[node] = 1u;
        return DF_OK;
    }
    if (run->graph->kernels[run->graph->nodes[node].kernel].flags & DF_KERNEL_COPY)
        units &= ~df_platform_on_host(&run->machine.platform) | 1u; /* platform.h says why */
    if (units == 0) {
        const struct df_kernel *k = &run->graph->kernels[run->graph->nodes[node].kernel];
        return refuse(run, node,
                      a->times                ? "no unit of the platform has a time for it"
                      : k->code_classes == 0  ? "it has a cost only and no code"
                      : run->machine.n_gpus ? "this program has no variant of it for the devices present"
                                            : "it has no cpu variant, and there is no GPU",
                      error);
    }
    status = a->times ? DF_OK : check_extents(run, node, error);
    if (status == DF_OK)
        status = apply_hint(a, node, &units, error);
    if (status == DF_OK)
        status = apply_memory(a, node, &units, error);
    if (status == DF_OK)
        status = apply_host_memory(a, node, &units, error);
    if (status == DF_OK)
        run->choice.able[node] = units;
    return status;
}

static void say(const struct admission *a, enum warning warning, const char *text)
{
    char name[256], more[48] = "";
    if (a->count[warning] == 0)
        return;
    df_node_name(a->run->graph, a->first[warning], name, sizeof name);
    if (a->count[warning] > 1)
        snprintf(more, sizeof more, " (and %u more node%s)", a->count[warning] - 1, a->count[warning] == 2 ? "" : "s");
    dfr_log(a->run, DF_LOG_WARNING, "node '%s'%s %s", name, more, text);
}

static void say_all(const struct admission *a)
{
    char text[128];
    say(a, W_HINT_NO_GPU, "is '@gpu' and runs on the CPU: there is no GPU");
    say(a, W_HINT_NO_CODE, "is '@gpu' and runs on the CPU: this program has no gpu variant of it");
    say(a, W_HINT_CLASS, "is placed on a class of device that this program cannot use; the hint is ignored");
    snprintf(text, sizeof text, "runs on the CPU: one job needs %llu bytes of GPU memory, more than there is",
             (unsigned long long)a->first_bytes);
    say(a, W_TOO_LARGE, text);
}

int dfr_admit(struct df_run *run, struct df_error *error)
{
    struct admission a = { .run = run };
    const struct df_graph *g = run->graph;
    struct df_times own = { 0 };
    uint32_t any = 0;
    int status = DF_OK;

    run->choice.able = malloc((g->n_nodes + 1) * sizeof *run->choice.able);
    if (!run->choice.able)
        return dfr_error_memory(error);
    if (run->options.rehearse != 0)
        status = dfr_machine_times(run, &a.times, &own, error);
    else if (!g->functions && g->n_nodes > 0)
        return dfr_error(error, DF_E_REFUSED, "this graph has costs only and no code: it can be studied, not run");
    for (uint32_t v = 0; v < g->n_nodes && status == DF_OK; v++) {
        status = admit_node(&a, v, error);
        any |= run->choice.able[v];
    }
    dfr_times_free(&own);
    if (status != DF_OK)
        return status;
    say_all(&a);
    if (run->options.rehearse == 0 && run->options.device == DF_DEVICE_AUTO && !(any & all_gpus(run)))
        run->machine.n_gpus = 0;
    return DF_OK;
}
