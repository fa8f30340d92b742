/* figures_device.c - measures for probe.c a device's compute rates and memory bandwidth, with the benchmark loops of
 * the device interface.
 *
 * Arrays:   each of STREAM's three arrays is 16 times as large as the device's last-level cache, so that random reads
 *           rarely hit it, too. All three take at most half of the free memory. They fill the pool with which the
 *           device is opened; if that allocation fails, half the size is tried, and so on.
 * Times:    are taken from device events. Each call repeats a loop until it lasts LEAST_S, and a figure is computed
 *           from the median of several calls. The first call, which loads the code, is discarded.
 */
#include "profiles/probe/probe_impl.h"
#include "runtime/base/error.h"
#include "runtime/threads/clock.h"

#define TIMES_CACHE 16
#define LIKELY_CACHE (UINT64_C(8) << 20) /* if the device does not say */
#define LEAST_ARRAY (UINT64_C(64) << 10)
#define LEAST_S 1e-3                    /* a thousand times what an event is exact to */
#define MOST_TURNS (1u << 20)
#define CALLS 9

_Static_assert((int)DFR_GAUGE_COPY == DFW_COPY && (int)DFR_GAUGE_F32 == DFW_FLOPS_F32 &&
                   (int)DFR_GAUGE_DEPENDENT == DFW_DEPENDENT && (int)DFR_GAUGE_RANDOM == DFW_RANDOM &&
                   (int)DFR_GAUGE_SHARED == DFW_SHARED && (int)DFR_GAUGE_SPREAD == DFW_SPREAD && (int)DFR_GAUGES == DFW_FIGURES,
               "loops are in the order of the figures that they give");

struct bench {
    const struct dfr_device_ops *ops;
    struct dfr_device *device;
    struct dfr_event *event;
    uint64_t array_bytes;
    enum dfr_gauge gauge;
    uint32_t turns;
};

static int time_call(struct bench *b, double *work, double *seconds, struct df_error *error)
{
    double begin_s = 0, end_s = 0;
    int status = b->ops->gauge(b->device, b->gauge, b->array_bytes, b->turns, DFR_STREAM_COMPUTE, work, error);
    if (status == DF_OK)
        status = b->ops->event_record(b->device, b->event, DFR_STREAM_COMPUTE, error);
    if (status == DF_OK)
        status = dfr_event_wait(b->device, b->event, DFW_GIVE_UP_S, error);
    if (status == DF_OK && (!b->ops->event_times(b->device, b->event, &begin_s, &end_s) || end_s <= begin_s))
        status = dfr_error(error, DF_E_DEVICE, "%s: its events give no times", b->ops->name);
    *seconds = end_s - begin_s;
    return status;
}

static int measure(struct bench *b, enum dfr_gauge gauge, double seconds, double *per_s, struct df_error *error)
{
    double until_s = dfr_clock_s() + seconds, work, taken_s[CALLS];
    uint32_t n = 0;
    b->gauge = gauge;
    b->turns = 1;
    int status = time_call(b, &work, &taken_s[0], error);
    if (status == DF_OK)
        status = time_call(b, &work, &taken_s[0], error);
    while (status == DF_OK && taken_s[0] < LEAST_S && b->turns < MOST_TURNS) {
        b->turns *= 2;
        status = time_call(b, &work, &taken_s[0], error);
    }
    for (n = 1; status == DF_OK && n < CALLS && dfr_clock_s() < until_s; n++)
        status = time_call(b, &work, &taken_s[n], error);
    if (status == DF_OK)
        *per_s = work / dfr_median(taken_s, n);
    return status;
}

static uint64_t whole(uint64_t bytes)
{
    return bytes > LEAST_ARRAY ? bytes / LEAST_ARRAY * LEAST_ARRAY : LEAST_ARRAY;
}

static uint64_t choose_bytes(const struct dfw_figures *f, uint64_t free_bytes)
{
    uint64_t wanted = TIMES_CACHE * (f->cache_bytes ? f->cache_bytes : LIKELY_CACHE), most = free_bytes / 2 / 3;
    return whole(wanted < most ? wanted : most);
}

/* Opens the device with the arrays as its pool, or with smaller ones. */
static int open_with_arrays(struct bench *b, uint32_t index, const struct df_unit *unit, struct df_error *error)
{
    struct dfr_device_config config = { .unit = unit, .compute_streams = 1, .times = true };
    for (;;) {
        config.pool_bytes = 3 * b->array_bytes;
        int status = b->ops->open(index, &config, &b->device, error);
        if (status != DF_E_MEMORY || b->array_bytes == LEAST_ARRAY)
            return status;
        b->array_bytes = whole(b->array_bytes / 2);
    }
}

int dfw_figures_device(const struct dfr_device_ops *ops, uint32_t index, const struct df_unit *unit, double seconds,
                       struct dfw_figures *figures, dfw_progress *progress, void *arg, struct df_error *error)
{
    struct dfw_figures f = { .n = 1, .threads = { 1 }, .cache_bytes = ops->cache_bytes ? ops->cache_bytes(index) : 0 };
    struct bench b = { .ops = ops };
    uint64_t free_bytes = unit->memory_bytes;
    int status = ops->free_bytes ? ops->free_bytes(index, &free_bytes, error) : DF_OK;
    b.array_bytes = choose_bytes(&f, free_bytes);
    if (status == DF_OK)
        status = open_with_arrays(&b, index, unit, error);
    if (status != DF_OK)
        return status;
    f.array_bytes = b.array_bytes;
    status = ops->event_create(b.device, &b.event, error);
    for (int gauge = 0; gauge < DFR_GAUGES && status == DF_OK; gauge++) {
        if (progress)
            progress(arg, dfw_figure_names[gauge], 1);
        status = measure(&b, (enum dfr_gauge)gauge, seconds / DFR_GAUGES, &f.per_s[0][gauge], error);
    }
    if (b.event)
        ops->event_destroy(b.device, b.event);
    ops->close(b.device);
    if (status == DF_OK)
        *figures = f;
    return status;
}
