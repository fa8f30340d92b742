/* devices.c - the choice of devices (devices.h). */
#include "runtime/device/devices.h"

#include "runtime/base/error.h"
#include "runtime/graph/plan.h"

static int check_named(const struct dfr_device_ops *ops, uint64_t named, uint32_t present, struct df_error *error)
{
    uint32_t most = named ? 63u - (uint32_t)__builtin_clzll(named) : 0;

    if (most < present || named == 0)
        return DF_OK;
    if (present == 1)
        return dfr_error(error, DF_E_DEVICE, "there is no %s device %u, only device 0", ops->name, most);
    return dfr_error(error, DF_E_DEVICE, "there is no %s device %u: there are %u, from 0 to %u", ops->name, most, present,
                     present - 1);
}

static bool has_gpu_variants(const struct df_graph *graph)
{
    for (uint32_t k = 0; graph->functions && k < graph->n_kernels; k++)
        if (graph->functions[k].gpu)
            return true;
    return false;
}

int dfr_devices_choose(const struct dfr_device_ops *ops, const struct df_options *options, const struct df_graph *graph,
                       uint32_t present, uint32_t most, struct dfr_devices *chosen, struct df_error *error)
{
    uint64_t named = options->gpus;
    int status = check_named(ops, named, present, error);
    bool loads = ops->load && has_gpu_variants(graph);

    *chosen = (struct dfr_devices){ 0 };
    for (uint32_t i = 0; i < present && chosen->n < most && status == DF_OK; i++) {
        struct df_error why = { "" };
        if (named && (i > 63 || !(named >> i & 1)))
            continue;
        if (!loads || ops->load(i, graph->functions, graph->n_kernels, &why) == DF_OK) {
            chosen->number[chosen->n++] = i;
            continue;
        }
        if (named)
            status = dfr_error(error, DF_E_DEVICE, "%s", why.text);
        chosen->n_left_out++;
        chosen->left_out = why;
    }
    return status;
}

int dfr_devices_first(const struct dfr_device_ops *ops, const struct df_options *options, const struct df_graph *graph,
                      uint32_t *number, struct df_error *error)
{
    struct dfr_devices chosen;
    uint32_t present = ops->count(error);
    int status = present > 0 ? dfr_devices_choose(ops, options, graph, present, 1, &chosen, error) : DF_E_DEVICE;

    if (status == DF_OK && chosen.n == 0)
        status = dfr_error(error, DF_E_DEVICE, "%s", chosen.left_out.text);
    if (status == DF_OK)
        *number = chosen.number[0];
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
    bool asks = ops->free_bytes && (options->device != DF_DEVICE_AUTO || has_gpu_variants(graph));
    uint64_t free_bytes = 0;
    int status = asks ? ops->free_bytes(number, &free_bytes, error) : DF_OK;

    if (status != DF_OK)
        return status;
    if (options->gpu_mem_bytes > 0 && (*bytes == 0 || options->gpu_mem_bytes < *bytes))
        *bytes = options->gpu_mem_bytes;
    *others = asks && lower(bytes, free_bytes);
    return DF_OK;
}
