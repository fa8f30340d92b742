/* devices.c - chooses the devices of a run, a check or a measurement, and how much of their memory may be used (devices.h). start/run_machine.c,
 * inspect/check_variants.c, engine/single_job.c and measure/ call it. */
#include "runtime/device/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/base/error.h"
#include "runtime/base/option.h"
#include "runtime/graph/plan.h"

static int check_named(const struct dfr_back_ends *ends, uint64_t named, uint32_t present, struct df_error *error)
{
    uint32_t most = named ? 63u - (uint32_t)__builtin_clzll(named) : 0;
    const char *kind = ends->n == 1 ? ends->ops[0]->name : "GPU";

    if (most < present || named == 0)
        return DF_OK;
    if (present == 1)
        return dfr_error(error, DF_E_DEVICE, "there is no %s device %u, only device 0", kind, most);
    return dfr_error(error, DF_E_DEVICE, "there is no %s device %u: there are %u, from 0 to %u", kind, most, present,
                     present - 1);
}

/* Is it the device with this name among names, "opencl0,emu1"? */
static bool has_name(const char *names, const struct dfr_device_ops *ops, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "%s%u", ops->name, number);
    return names && dfr_option_lists(names, name);
}

/* Is each such name one of a device that is present? */
static int check_names(const struct dfr_back_ends *ends, const uint32_t *present, const char *names, struct df_error *error)
{
    for (const char *at = names; at && *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t n = strcspn(at, "0123456789,");
        bool there = n == 0;            /* a number */
        for (uint32_t k = 0; k < ends->n; k++)
            there |= strlen(ends->ops[k]->name) == n && strncmp(at, ends->ops[k]->name, n) == 0 && strtoul(at + n, NULL, 10) < present[k];
        if (!there)
            return dfr_error(error, DF_E_DEVICE, "there is no device %.*s here", (int)strcspn(at, ","), at);
    }
    return DF_OK;
}

static bool has_gpu_variants(const struct dfr_device_ops *ops, const struct df_graph *graph)
{
    for (uint32_t k = 0; graph->functions && k < graph->n_kernels; k++)
        if (dfr_gpu_variant(ops, &graph->functions[k]))
            return true;
    return false;
}

/* Has another back end given this device already? */
static bool is_taken(const struct dfr_devices *chosen, const struct dfr_device_ops *ops, uint32_t number, struct df_error *why)
{
    char here[32], there[32];
    if (!ops->bus_id || ops->bus_id(number, here, sizeof here, NULL) != DF_OK)
        return false;
    for (uint32_t i = 0; i < chosen->n; i++) {
        const struct dfr_device_ops *other = chosen->of[i].ops;
        if (other != ops && other->bus_id && other->bus_id(chosen->of[i].number, there, sizeof there, NULL) == DF_OK && strcasecmp(here, there) == 0) {
            dfr_error(why, DF_E_DEVICE, "%s%u is %s%u (%s)", ops->name, number, other->name, chosen->of[i].number, here);
            return true;
        }
    }
    return false;
}

/* Loads the program's code to a device. A device that does not take it is left out, unless it was named. */
static int take(struct dfr_devices *chosen, const struct dfr_device_ops *ops, uint32_t number, uint32_t index, const struct df_options *options,
                const struct df_graph *graph, struct df_error *error)
{
    struct df_error why = { "" };
    if (is_taken(chosen, ops, number, &chosen->left_out)) {
        chosen->n_left_out++;
        return DF_OK;
    }
    bool loaded = !ops->load || !has_gpu_variants(ops, graph) || ops->load(number, graph->functions, graph->n_kernels, false, &why) == DF_OK;
    if (!loaded && options->inexact && ops->load(number, graph->functions, graph->n_kernels, true, NULL) == DF_OK) {
        chosen->of[chosen->n].inexact = why;
        loaded = true;
    }
    if (loaded) {
        chosen->of[chosen->n].ops = ops;
        chosen->of[chosen->n].index = index;
        chosen->of[chosen->n++].number = number;
        return DF_OK;
    }
    chosen->n_left_out++;
    chosen->left_out = why;
    return dfr_devices_named(options) ? dfr_error(error, DF_E_DEVICE, "%s", why.text) : DF_OK;
}

int dfr_devices_choose(const struct dfr_back_ends *ends, const struct df_options *options, const struct df_graph *graph,
                       uint32_t n_emulated, uint32_t most, struct dfr_devices *chosen, struct df_error *error)
{
    uint32_t present[DFR_MAX_BACK_ENDS], index = 0;
    uint64_t named = options->gpus;

    *chosen = (struct dfr_devices){ 0 };
    for (uint32_t k = 0; k < ends->n; k++) {
        present[k] = ends->ops[k]->count(&chosen->left_out);
        if (n_emulated && ends->ops[k]->runs_cpu_code)
            present[k] = n_emulated > chosen->present ? n_emulated - chosen->present : 1;
        if (present[k] == 0 && options->also)
            return dfr_error(error, DF_E_DEVICE, "no %s device: %s", ends->ops[k]->name, chosen->left_out.text);
        chosen->present += present[k];
    }
    const bool some = dfr_devices_named(options);
    int status = chosen->present ? check_named(ends, named, chosen->present, error) : DF_OK;
    if (status == DF_OK)
        status = check_names(ends, present, options->gpu_names, error);
    for (uint32_t k = 0; k < ends->n; k++)
        for (uint32_t i = 0; i < present[k] && status == DF_OK; i++, index++)
            if (chosen->n < most && (!some || (index < 64 && named >> index & 1) || has_name(options->gpu_names, ends->ops[k], i)))
                status = take(chosen, ends->ops[k], i, index, options, graph, error);
    for (uint32_t k = 0; k < ends->n && options->also && !some && chosen->n < most && status == DF_OK; k++) {
        bool has = false;
        for (uint32_t i = 0; i < chosen->n; i++)
            has |= chosen->of[i].ops == ends->ops[k];
        if (!has)
            status = dfr_error(error, DF_E_DEVICE, "no %s device: %s", ends->ops[k]->name, chosen->left_out.text);
    }
    return status;
}

int dfr_devices_first(const struct dfr_back_ends *ends, const struct df_options *options, const struct df_graph *graph,
                      const struct dfr_device_ops **ops, uint32_t *number, struct df_error *error)
{
    struct dfr_devices chosen;
    int status = dfr_devices_choose(ends, options, graph, 0, 1, &chosen, error);

    if (status == DF_OK && chosen.n == 0)
        status = dfr_error(error, DF_E_DEVICE, "%s", chosen.left_out.text);
    if (status == DF_OK) {
        *ops = chosen.of[0].ops;
        *number = chosen.of[0].number;
    }
    return status;
}

static bool lower(uint64_t *bytes, uint64_t limit)
{
    bool lowers = *bytes == 0 || limit < *bytes;

    if (lowers)
        *bytes = limit > DF_PAGE_BYTES ? limit : DF_PAGE_BYTES;
    return lowers;
}

int dfr_devices_memory(const struct dfr_device_ops *ops, const struct df_options *options, const struct df_graph *graph,
                       uint32_t number, uint64_t *bytes, bool *others, struct df_error *error)
{
    bool asks = ops->free_bytes && (options->device != DF_DEVICE_AUTO || has_gpu_variants(ops, graph));
    uint64_t free_bytes = 0;
    int status = asks ? ops->free_bytes(number, &free_bytes, error) : DF_OK;

    if (status != DF_OK)
        return status;
    if (options->gpu_mem_bytes > 0 && (*bytes == 0 || options->gpu_mem_bytes < *bytes))
        *bytes = options->gpu_mem_bytes;
    *others = asks && lower(bytes, free_bytes);
    return DF_OK;
}
