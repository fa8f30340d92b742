/* can_run.h - whether a device can run a kernel, by the code that the program contains for it. Used before a run (start/admit.c), by --check=variants and
 * by the measuring mode. */
#ifndef DFR_CAN_RUN_H
#define DFR_CAN_RUN_H

#include "runtime/device/device.h"
#include "runtime/graph/graph.h"

/* Copies need no code. Ranges are of the host's memory. The emulator runs gpu variants that were made for it; and it runs the cpu variant if the kernel has
 * a gpu variant, too, or if --emu-all is given. */
static inline bool dfr_device_can(const struct dfr_device_ops *ops, const struct df_options *options,
                                  const struct df_graph *g, uint32_t kernel)
{
    const struct df_functions *f = &g->functions[kernel];

    if (g->kernels[kernel].flags & DF_KERNEL_COPY)
        return true;
    if (g->kernels[kernel].flags & DF_KERNEL_RANGES)
        return false;
    if (!ops->runs_cpu_code)
        return dfr_gpu_variant(ops, f) != NULL;
    return (options->emu_gpu_code && f->gpu) ||
           (f->cpu && (g->kernels[kernel].code_classes >> DF_CLASS_GPU & 1 || f->gpu || options->emu_all));
}

#endif
