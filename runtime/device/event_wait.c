/* event_wait.c - waits for one event of a device by polling, for callers that have nothing else to do: measurements and
 * probes, a single job (engine/single_job.c), and the worker of a GPU if options.sync_kernels is set (gpu/gpu_launch.c). */
#include <sched.h>

#include "runtime/threads/clock.h"
#include "runtime/device/device.h"
#include "runtime/base/error.h"

#define SPIN_S 20e-6                    /* after that, the emulator's engines, which are threads, may need this core */

int dfr_event_wait(struct dfr_device *device, struct dfr_event *event, double give_up_s, struct df_error *error)
{
    double begin_s = dfr_clock_s();
    for (;;) {
        bool complete = false;
        int status = device->ops->event_query(device, event, &complete, error);
        if (status != DF_OK || complete)
            return status;
        double waited_s = dfr_clock_s() - begin_s;
        if (give_up_s > 0 && waited_s > give_up_s)
            return dfr_error(error, DF_E_DEVICE, "%s: no answer for %.0f s", device->ops->name, give_up_s);
        if (waited_s > SPIN_S)
            sched_yield();
    }
}
