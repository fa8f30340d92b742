/* back_ends.h - the table of device back ends, and the only place that knows all of them: runs (run_machine.c),
 * measurements (measure/), probes (profiles/), builds (compiler/build/) and `dfc doctor` get their operations from
 * here. To add a back end: one room, a line in back_ends.c, and a kind in df.h if `--device` is to name it.
 */
#ifndef DFR_BACK_ENDS_H
#define DFR_BACK_ENDS_H

#include "runtime/device/devices.h"

/* The back ends that are linked and have devices of this kind. DF_DEVICE_AUTO: those of real devices, never the emulator. None for DF_DEVICE_NONE and
 * DF_DEVICE_SIM. */
struct dfr_back_ends dfr_back_ends_of(enum df_device_kind kind);
/* Those of options->device and options->also, in the order of the table. */
struct dfr_back_ends dfr_back_ends_for(const struct df_options *options);

/* The first of them; NULL if there are none. */
const struct dfr_device_ops *dfr_back_end_of(enum df_device_kind kind);

/* The back end of a rehearsal, which waits in place of computing. It is not in the table, whose rows are found by the kind of --device: a rehearsal stands in
 * for the devices of a described platform, of whatever kind they are. */
extern const struct dfr_device_ops dfr_rehearse_ops;

#endif
