/* rehearse_device.h - the back end of rehearsed devices, for the start of a run. Its devices need the rehearsal in struct
 * dfr_device_config. */
#ifndef DFR_REHEARSE_DEVICE_H
#define DFR_REHEARSE_DEVICE_H

#include "runtime/device/device.h"

extern const struct dfr_device_ops dfr_rehearse_ops;

#endif
