/* device.c - the table of device back ends. A new one is one file, one line here and one kind in df.h.
 *
 * cuda is in a library of its own, so that programs and machines without CUDA need nothing of it: the reference is
 * weak, and NULL where that library was not linked (a program asks for it with `-u dfr_cuda_ops -ldf-cuda`).
 */
#include "runtime/device/device.h"

extern const struct dfr_device_ops dfr_emu_ops;
extern const struct dfr_device_ops dfr_cuda_ops __attribute__((weak));

df_function *dfr_device_function(const struct dfr_device_ops *ops, const struct df_options *options,
                                 const struct df_functions *functions)
{
    if (ops->runs_cpu_code && !(options->emu_gpu_code && functions->gpu))
        return functions->cpu;
    return functions->gpu;
}

const struct dfr_device_ops *dfr_device_back_end(enum df_device_kind kind)
{
    switch (kind) {
    case DF_DEVICE_EMU:
        return &dfr_emu_ops;
    case DF_DEVICE_CUDA:
    case DF_DEVICE_AUTO: /* cuda where there is a GPU, never emu */
        return &dfr_cuda_ops;
    case DF_DEVICE_SIM: /* no device: virtual time (simulate.h) */
    case DF_DEVICE_NONE:
        break;
    }
    return NULL;
}
