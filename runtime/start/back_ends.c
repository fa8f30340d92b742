/* back_ends.c - the table of device back ends (back_ends.h), for all code that opens or names devices: the start of a run, measurements, probes, dfc's build
 * and `dfc doctor`.
 *
 * A back end that needs libraries of its own is itself in a separate library, so that programs and machines without
 * them do not depend on it. The reference to it is weak: it is NULL if that library was not linked. A program links
 * CUDA's with `-u dfr_cuda_ops -ldf-cuda`. OpenCL's is in libdf, whose linker takes it for who calls df_cl_launch(), or asks for it by `-u dfr_opencl_ops`.
 * DF_DEVICE_AUTO does not take it: loading OpenCL's drivers takes tenths of a second, and one of them may run on the very cores that the workers have.
 */
#include "runtime/start/back_ends.h"

extern const struct dfr_device_ops dfr_emu_ops;
extern const struct dfr_device_ops dfr_cuda_ops __attribute__((weak));
extern const struct dfr_device_ops dfr_opencl_ops __attribute__((weak));

static const struct {
    enum df_device_kind kind;
    bool real;                          /* DF_DEVICE_AUTO takes it */
    const struct dfr_device_ops *ops;   /* NULL: it was not linked */
    const char *missing;
} table[] = {
    { DF_DEVICE_CUDA, true, &dfr_cuda_ops, "no CUDA device: this program was linked without CUDA" },
    { DF_DEVICE_OPENCL, false, &dfr_opencl_ops, "no OpenCL device: this program has no OpenCL code" },
    { DF_DEVICE_EMU, false, &dfr_emu_ops, NULL },
};

struct dfr_back_ends dfr_back_ends_for(const struct df_options *options)
{
    const enum df_device_kind kind = options->device;
    struct dfr_back_ends found = { .missing = table[0].missing };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const bool named = table[i].kind == kind || (kind != DF_DEVICE_NONE && options->also >> table[i].kind & 1);
        if (named && !table[i].ops && !found.lacks) {
            found.missing = table[i].missing;
            found.lacks = true;
        }
        if (table[i].ops && (named || (kind == DF_DEVICE_AUTO && table[i].real)))
            found.ops[found.n++] = table[i].ops;
    }
    return found;
}

struct dfr_back_ends dfr_back_ends_of(enum df_device_kind kind)
{
    return dfr_back_ends_for(&(struct df_options){ .device = kind });
}

const struct dfr_device_ops *dfr_back_end_of(enum df_device_kind kind)
{
    const struct dfr_back_ends found = dfr_back_ends_of(kind);
    return found.n ? found.ops[0] : NULL;
}
