/* back_end.c - the table of device back ends. Whoever opens, probes or measures a device asks here for its operations.
 *
 * CUDA is in a library of its own, so that programs and machines without CUDA need nothing of it. The reference to it
 * is weak: it is NULL if that library was not linked. A program asks for it with `-u dfr_cuda_ops -ldf-cuda`.
 */
#include "runtime/emu/back_end.h"

extern const struct dfr_device_ops dfr_emu_ops;
extern const struct dfr_device_ops dfr_cuda_ops __attribute__((weak));

const struct dfr_device_ops *dfr_device_back_end(enum df_device_kind kind)
{
    switch (kind) {
    case DF_DEVICE_EMU:
        return &dfr_emu_ops;
    case DF_DEVICE_CUDA:
    case DF_DEVICE_AUTO:
        return &dfr_cuda_ops;
    case DF_DEVICE_SIM:
    case DF_DEVICE_NONE:
        break;
    }
    return NULL;
}
