/* probe_link.c - measures one link for probe_device.c and probe_peer.c: times copies of 64 bytes and of each larger
 * power of two, and fits the transfer model to them.
 *
 * The time of a copy is what the runtime sees: from the call until the event after it is found complete. For the
 * emulator its own event times are used instead, because waking its threads costs host time that the link would not
 * take.
 */
#include <math.h>

#include "profiles/probe/probe_impl.h"
#include "runtime/threads/clock.h"
#include "runtime/base/error.h"

#define SMALLEST_BYTES 64u
#define MOST_SIZES 32

struct copies {                         /* of one size */
    const struct dfw_link_bench *bench;
    uint64_t bytes;
    double seconds[DFW_MAX_COPIES];
    uint32_t n;
};

double dfw_copy_seconds(struct dfr_device *device, struct dfr_event *event, double begin_s)
{
    const struct dfr_device_ops *ops = device->ops;
    double seconds = dfr_clock_s() - begin_s, event_begin_s, event_end_s;
    if (ops->runs_cpu_code && ops->event_times && ops->event_times(device, event, &event_begin_s, &event_end_s))
        return event_end_s - event_begin_s;
    return seconds;
}

/* A callback of the sampler: measures one copy. */
static int copy_once(void *arg, double *seconds, struct df_error *error)
{
    struct copies *c = arg;
    int status = c->bench->copy(c->bench->arg, c->bytes, seconds, error);
    if (status == DF_OK && c->n < DFW_MAX_COPIES)
        c->seconds[c->n++] = *seconds;
    return status;
}

/* Chance makes a link slower, never faster. So of the copies of one size the lower quartile counts. */
static double usual_time(struct copies *c)
{
    dfr_median(c->seconds, c->n);
    return fmax(c->seconds[c->n / 4], 1e-9);
}

int dfw_link_measure(const struct dfw_link_bench *bench, struct df_link *link, struct df_error *error)
{
    uint64_t bytes[MOST_SIZES];
    double seconds[MOST_SIZES];
    for (unsigned i = 0; i < bench->n_sizes; i++) {
        struct copies copies = { .bench = bench, .bytes = (uint64_t)SMALLEST_BYTES << i };
        struct dfr_sample sample;
        double warm_up;
        int status = bench->copy(bench->arg, copies.bytes, &warm_up, error);
        if (status == DF_OK)
            status = dfr_sample_until(bench->sampling, copy_once, &copies, &sample, error);
        if (status != DF_OK)
            return status;
        bytes[i] = copies.bytes;
        seconds[i] = usual_time(&copies);
        if (bench->progress)
            bench->progress(bench->arg, (i + 1.0) / bench->n_sizes);
    }
    if (!dfw_link_fit(bytes, seconds, bench->n_sizes, link))
        return dfr_error(error, DF_E_DEVICE,
                         "%s: larger copies do not take longer, so no link can be fitted to them", bench->name);
    return DF_OK;
}
