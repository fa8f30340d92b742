/* probe_peer.c - measures for probe.c the bandwidth between devices: each ordered pair that the back end connects, one
 * after the other.
 *
 * The number of pairs grows with the square of the number of devices, so each pair is measured more briefly than a
 * device's link to the host.
 */
#include <stdio.h>

#include "profiles/probe/probe_impl.h"
#include "runtime/threads/clock.h"

struct bench {
    struct dfr_device *from, *to;
    struct dfr_event *event;
};

/* A callback of dfw_link_measure(): makes one copy from a device to its peer, and times it. */
static int copy_bytes(void *arg, uint64_t bytes, double *seconds, struct df_error *error)
{
    struct bench *b = arg;
    const struct dfr_device_ops *ops = b->from->ops;
    double begin_s = dfr_clock_s();
    int status = ops->copy_peer(b->from, b->to, ops->pool(b->to), ops->pool(b->from), bytes, DFR_STREAM_PEER, error);
    if (status == DF_OK)
        status = ops->event_record(b->from, b->event, DFR_STREAM_PEER, error);
    if (status == DF_OK)
        status = dfr_event_wait(b->from, b->event, DFW_GIVE_UP_S, error);
    *seconds = dfw_copy_seconds(b->from, b->event, begin_s);
    return status;
}

static int probe_pair(struct dfr_device *from, struct dfr_device *to, uint64_t most_bytes, struct df_link *link,
                      struct df_error *error)
{
    static const struct dfr_sampler_options sampling = {
        .goal = 0.005, .min_runs = 7, .max_runs = DFW_MAX_COPIES, .max_s = 0.02
    };
    struct bench b = { .from = from, .to = to };
    const struct dfw_link_bench copies = { .name = from->ops->name, .n_sizes = dfw_link_sizes(most_bytes), .sampling = &sampling,
                                           .copy = copy_bytes, .arg = &b };
    int status = from->ops->event_create(from, &b.event, error);
    if (status != DF_OK)
        return status;
    status = dfw_link_measure(&copies, link, error);
    if (status != DF_OK)
        from->ops->drain(from, NULL);
    from->ops->event_destroy(from, b.event);
    return status;
}

int dfw_probe_peers(const struct dfr_device_ops *ops, struct dfr_device *const *devices, struct df_platform *platform,
                    uint64_t pool_bytes, struct dfw_pairs *pairs, dfw_progress *progress, void *arg, struct df_error *error)
{
    uint32_t n = platform->n_units, done = 0, all = (n - 1) * (n - 2);
    for (uint32_t from = 1; from < n && ops->copy_peer; from++)
        for (uint32_t to = 1; to < n; to++) {
            if (from == to)
                continue;
            if (!platform->units[from].unified && !platform->units[to].unified &&
                ops->connect(devices[from], devices[to])) {
                int status = probe_pair(devices[from], devices[to], pool_bytes, &pairs->link[from][to], error);
                if (status != DF_OK)
                    return status;
            }
            if (progress)
                progress(arg, "copies between devices", (double)++done / all);
        }
    dfw_pairs_give(pairs, platform);
    return DF_OK;
}
