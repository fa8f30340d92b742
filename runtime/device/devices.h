/* devices.h - chooses which devices of one or more back ends take part in a run, a check or a measurement, and how much of their memory they may use.
 * start/run_machine.c calls it for a run, inspect/check_variants.c for --check=variants, measure/measure.c for a measurement; engine/single_job.c,
 * which serves both, asks for the memory.
 *
 * Numbers:  options->gpus counts the devices of all back ends, in the order of the back ends. options->gpu_names names further ones.
 *
 * Cost:     a device is initialized when it is first asked for code or for its free memory, which may take some tenths of a second. So the devices of a
 *           program without gpu variants are not asked.
 */
#ifndef DFR_DEVICES_H
#define DFR_DEVICES_H

#include "runtime/device/device.h"
#include "runtime/graph/graph.h"

#define DFR_MAX_BACK_ENDS 4u

/* The back ends to choose from. */
struct dfr_back_ends {
    uint32_t n;
    const struct dfr_device_ops *ops[DFR_MAX_BACK_ENDS];
    bool lacks;                         /* one that was named is not linked */
    const char *missing;                /* the message for that, or if a device is demanded and n is 0 */
};

struct dfr_devices {
    uint32_t n;
    struct {
        const struct dfr_device_ops *ops;
        uint32_t number;                /* among its back end's devices */
        uint32_t index;                 /* among all devices */
        struct df_error inexact;        /* what it lacks for the CPU's bits, which options->inexact allows; "": nothing */
    } of[DF_MAX_UNITS];                 /* the first n, in the order of back ends and numbers */
    uint32_t present;                   /* devices that there are */
    uint32_t n_left_out;                /* those that cannot run the program, if no device was named */
    struct df_error left_out;           /* why the last of them cannot, or why there are none */
};

/* Do the options name devices? */
static inline bool dfr_devices_named(const struct df_options *options)
{
    return options->gpus || options->gpu_names;
}

/* Chooses at most `most` devices: those that the options name or, if they name none, all that can run the program. The program's code is loaded to them. A
 * device that two back ends have is taken of the first. If options->also names further kinds, each kind must give one, unless `most` are chosen before.
 * n_emulated: how many devices there are to be with the emulator's, which has at least one; 0: as many as it says. DF_OK with n 0: none can, and left_out says why. DF_E_DEVICE: one that was named is
 * not there, or cannot run the program. */
int dfr_devices_choose(const struct dfr_back_ends *ends, const struct df_options *options, const struct df_graph *graph,
                       uint32_t n_emulated, uint32_t most, struct dfr_devices *chosen, struct df_error *error);

/* The first such device: its back end, and its number. DF_E_DEVICE: there is none, and *error says why. */
int dfr_devices_first(const struct dfr_back_ends *ends, const struct df_options *options, const struct df_graph *graph,
                      const struct dfr_device_ops **ops, uint32_t *number, struct df_error *error);

/* Lowers *bytes, the described memory of device `number`, to what a run may use now: what other processes have left, and at most options->gpu_mem_bytes; it is
 * then never 0. *others: other processes' use has lowered it. 0 in *bytes means unknown, and stays 0 if nothing lowers it. */
int dfr_devices_memory(const struct dfr_device_ops *ops, const struct df_options *options, const struct df_graph *graph,
                       uint32_t number, uint64_t *bytes, bool *others, struct df_error *error);

#endif
