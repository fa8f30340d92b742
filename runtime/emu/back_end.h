/* back_end.h - the table of device back ends: which operations stand for a kind of device.
 *
 * runtime/emu/ is the lowest room that can hold the table, because the emulator is always there and the table names it.
 * A new back end is one room, one line in back_end.c and one kind in df.h.
 */
#ifndef DFR_BACK_END_H
#define DFR_BACK_END_H

#include "runtime/device/device.h"

/* NULL: the kind has no device (none, sim), or its library was not linked (cuda). DF_DEVICE_AUTO is cuda if that was
 * linked; it is never the emulator. */
const struct dfr_device_ops *dfr_device_back_end(enum df_device_kind kind);

#endif
