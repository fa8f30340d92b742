/* probe.c - builds the platform description of this machine for `dfc probe` (compiler/commands/cmd_probe.c): queries hwloc and the
 * operating system about the host, and measures each GPU.
 *
 * Figures:  performance figures come from figures_host.c for the host and from figures_device.c for a GPU; if they
 *           cannot be measured, the report says why. An emulated GPU has none, since it computes on the host's cores.
 * Workers:  the number of cores minus one per GPU, as in a run. The emulator provides as many GPUs as it is configured
 *           to.
 * Cores:    the number of cores that emulated GPUs share with the workers; not given for real GPUs.
 * Handover: is measured on each GPU by a chain of empty jobs (probe_handover.c), after its links and launches.
 * Memory:   each GPU is opened with a small pool, measured, and closed before the next one. If there are several, all
 *           are then opened together with smaller pools, to measure the links between them.
 */
#include <stdio.h>
#include <string.h>

#include "profiles/probe/probe_impl.h"
#include "runtime/base/error.h"
#include "runtime/start/back_ends.h"

#define PAIR_POOL_BYTES (32ull << 20)

struct step {                           /* the share of a device in the whole progress, or the share of all pairs */
    dfw_progress *progress;
    void *arg;
    const char *device;                 /* NULL: the pairs are measured */
    uint32_t index, n;
};

static void device_progress(void *arg, const char *what, double done_of_1)
{
    const struct step *step = arg;
    char text[128];
    if (!step->progress)
        return;
    if (step->device)
        snprintf(text, sizeof text, "%s: %s", step->device, what);
    else
        snprintf(text, sizeof text, "%s", what);
    step->progress(step->arg, text, (step->index + done_of_1) / step->n);
}

static void probe_host(struct df_platform *p)
{
    char model[128];
    unsigned cores;
    struct df_unit *host = &p->units[0];
    dfw_machine_cpu(model, sizeof model, &cores, &host->memory_bytes);
    host->memory_bytes &= ~((UINT64_C(1) << 20) - 1);
    host->cls = DF_CLASS_CPU;
    strcpy(host->name, "host");
    host->workers = cores < DF_MAX_WORKERS ? cores : DF_MAX_WORKERS;
    host->engines = 0;
    p->n_units = 1;
}

/* If there is no memory for it, the host's figures stay unknown. */
static void probe_figures(const struct dfw_probe_options *options, struct df_unit *host, struct dfw_figures *figures,
                          dfw_progress *progress, void *arg)
{
    struct step step = { progress, arg, "host", 0, 1 };
    double seconds = options->quick ? DFW_FIGURES_S / 4 : DFW_FIGURES_S;
    if (dfw_figures_host(seconds, options->array_bytes, figures, device_progress, &step, NULL) == DF_OK)
        dfw_figures_give(figures, host);
}

/* Of the memory of a small device not all is taken. memory_bytes 0: not known, so it is not small. */
static uint64_t pool_bytes_for(uint64_t memory_bytes, uint64_t most)
{
    uint64_t bytes = most;
    while (memory_bytes && bytes > DFW_LEAST_POOL_BYTES && bytes > memory_bytes / 2)
        bytes /= 2;
    return bytes;
}

static int open_and_probe(const struct dfr_device_ops *ops, uint32_t index, bool quick, struct df_unit *unit,
                          struct dfw_paths *h2d, struct dfw_paths *d2h, struct step *step, struct df_error *error)
{
    const uint64_t segment = ops->segment_bytes ? ops->segment_bytes(index) : 0, most = DFW_PROBE_POOL_BYTES;
    uint64_t pool_bytes = pool_bytes_for(unit->memory_bytes, segment && segment < most ? segment : most); /* copies are of all of it */
    struct dfr_device_config config = { .unit = unit, .pool_bytes = pool_bytes, .compute_streams = 1 };
    struct dfr_device *device;
    int status = ops->open(index, &config, &device, error);
    if (status != DF_OK)
        return status;
    struct df_unit probed = *unit;
    status = dfw_probe_device(ops, device, &probed, pool_bytes, quick, h2d, d2h, device_progress, step, error);
    ops->close(device);
    if (status == DF_OK)
        *unit = probed;
    return status;
}

static void probe_device_figures(const struct dfr_device_ops *ops, uint32_t index, bool quick, struct df_unit *unit,
                                 struct dfw_figures *figures, char *no_figures, struct step *step)
{
    struct df_error why = { "" };
    double seconds = quick ? DFW_DEVICE_FIGURES_S / 4 : DFW_DEVICE_FIGURES_S;
    if (!ops->gauge)
        return;
    if (dfw_figures_device(ops, index, unit, seconds, figures, device_progress, step, &why) == DF_OK)
        dfw_figures_give(figures, unit);
    else
        snprintf(no_figures, sizeof ((struct dfw_probe_report *)0)->no_figures[0], "%.*s", (int)sizeof ((struct dfw_probe_report *)0)->no_figures[0] - 1, why.text);
}

/* Fills the platform that the emulator stands for: the gpus of the given one, or if it has none, the default one. Gives
 * how many gpus it has. */
static uint32_t emulated_units(const struct df_platform *given, struct df_platform *emulated)
{
    df_platform_default(emulated, 1);
    uint32_t n = 0;
    for (uint32_t u = 1; given && u < given->n_units; u++)
        if (given->units[u].cls == DF_CLASS_GPU)
            emulated->units[++n] = given->units[u];
    emulated->n_units = n ? 1 + n : emulated->n_units;
    return emulated->n_units - 1;
}

/* Measures all pairs of devices. units[]: the units as which they are opened. */
static int probe_pairs(const struct dfr_device_ops *ops, const struct df_unit *units, struct df_platform *p,
                       struct dfw_probe_report *report, struct step *step, struct df_error *error)
{
    struct dfr_device *devices[DF_MAX_UNITS];
    uint32_t n = 1;
    int status = DF_OK;
    uint64_t pool_bytes = PAIR_POOL_BYTES;
    for (uint32_t u = 1; u < p->n_units; u++)
        pool_bytes = pool_bytes_for(p->units[u].memory_bytes, pool_bytes);
    for (; n < p->n_units && status == DF_OK; n += status == DF_OK) {
        struct dfr_device_config config = { .unit = &units[n - 1],
                                            .pool_bytes = pool_bytes,
                                            .compute_streams = 1 };
        status = ops->open(n - 1, &config, &devices[n], error);
    }
    if (status == DF_OK)
        status = dfw_probe_peers(ops, devices, p, pool_bytes, &report->pairs, device_progress, step, error);
    while (n > 1)
        ops->close(devices[--n]);
    return status;
}

static int probe_devices(const struct dfr_device_ops *ops, const struct dfw_probe_options *options, uint32_t n,
                         struct df_platform *p, struct dfw_probe_report *report, dfw_progress *progress, void *arg,
                         struct df_error *error)
{
    struct df_platform emulated;
    bool emulates = options->device == DF_DEVICE_EMU;
    if (emulates)
        n = emulated_units(options->emulated, &emulated);
    n = n < DF_MAX_UNITS ? n : DF_MAX_UNITS - 1;
    uint32_t steps = n > 1 ? n + 1 : n;
    for (uint32_t i = 0; i < n; i++) {
        struct df_unit *unit = &p->units[p->n_units];
        memset(unit, 0, sizeof *unit);
        if (emulates)
            *unit = emulated.units[i + 1];
        else
            *unit = (struct df_unit){ .h2d = { 1e10, 1e-5, 0 }, .d2h = { 1e10, 1e-5, 0 }, .engines = 2 };
        unit->cls = DF_CLASS_GPU;
        unit->workers = 1;
        int status = ops->describe(i, unit, error);
        if (status != DF_OK)
            return status;
        unit->memory_bytes &= ~((UINT64_C(1) << 20) - 1);
        char name[sizeof unit->name];
        snprintf(name, sizeof name, "%s", unit->name);
        struct step step = { progress, arg, name, i, steps };
        status = open_and_probe(ops, i, options->quick, unit, &report->h2d[p->n_units], &report->d2h[p->n_units], &step,
                                error);
        if (status == DF_OK)
            status = dfw_probe_handover(options->device, i, emulates ? &emulated : NULL,
                                        options->quick, unit, error);
        if (status != DF_OK)
            return status;
        probe_device_figures(ops, i, options->quick, unit, &report->figures[p->n_units], report->no_figures[p->n_units],
                             &step);
        dfw_identifier(unit->name, sizeof unit->name, name);
        unit->peer = (struct df_link){ 0 }; /* until the pairs are measured */
        p->n_units++;
    }
    struct step step = { progress, arg, NULL, n, steps };
    return n > 1 ? probe_pairs(ops, emulates ? emulated.units + 1 : p->units + 1, p, report, &step, error)
                 : DF_OK;
}

/* Finds the first back end that has devices, and their number. DF_OK with *ops NULL: there are no devices, which is no error; the
 * report says why. */
static int find_devices(const struct dfw_probe_options *options, const struct dfr_device_ops **ops, uint32_t *n,
                        struct dfw_probe_report *report, struct df_error *error)
{
    struct df_error why = { "" };
    const struct dfr_back_ends ends = dfr_back_ends_of(options->device);
    *n = 0;
    for (uint32_t i = 0; i < ends.n && *n == 0; i++) {
        *ops = ends.ops[i];
        *n = (*ops)->count(&why);
    }
    if (*n)
        return DF_OK;
    *ops = NULL;
    if (ends.n == 0 && options->device != DF_DEVICE_NONE)
        dfr_error(&why, DF_E_DEVICE, "this dfc was built without a back end for GPUs");
    strcpy(report->no_device, why.text);
    if (options->device != DF_DEVICE_NONE && options->device != DF_DEVICE_AUTO)
        return dfr_error(error, DF_E_DEVICE, "no %s device: %s", ends.n ? ends.ops[0]->name : "such", why.text);
    return DF_OK;
}

int dfw_probe_with(const struct dfw_probe_options *options, struct df_platform *platform,
                   struct dfw_probe_report *report, dfw_progress *progress, void *arg, struct df_error *error)
{
    static const char *const suffix[] = { [DF_DEVICE_AUTO] = "", [DF_DEVICE_NONE] = "", [DF_DEVICE_EMU] = "_emu", [DF_DEVICE_CUDA] = "", [DF_DEVICE_OPENCL] = "_opencl" };
    struct df_platform p = { .n_classes = 2, .class_names = { "cpu", "gpu" } };
    struct dfw_probe_report found = { 0 };
    const struct dfr_device_ops *ops;
    uint32_t n;
    int status = find_devices(options, &ops, &n, &found, error);
    if (status != DF_OK)
        return status;
    probe_host(&p);
    p.units[0].cores = options->device == DF_DEVICE_EMU ? p.units[0].workers : 0;
    probe_figures(options, &p.units[0], &found.figures[0], progress, arg);
    if (ops)
        status = probe_devices(ops, options, n, &p, &found, progress, arg, error);
    if (status != DF_OK)
        return status;
    uint32_t gpus = p.n_units - 1;
    p.units[0].workers = p.units[0].workers > gpus ? p.units[0].workers - gpus : 1;

    char machine[512];
    dfw_machine_name(machine, sizeof machine);
    dfw_identifier(p.name, sizeof p.name - 4, machine);
    strcat(p.name, suffix[options->device]);
    found.n_units = p.n_units;
    *platform = p;
    if (report)
        *report = found;
    return DF_OK;
}
