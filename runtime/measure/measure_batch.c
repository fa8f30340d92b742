/* measure_batch.c - times several launches of one job that execute back to back on a device, so that the host's launch
 * overhead is not in the time; measure_gpu.c calls it. Copies within the device keep the stream busy until all launches
 * are enqueued; they are the only long-running operation that every back end has.
 */
#include "runtime/measure/measure_impl.h"

#include "runtime/engine/single_impl.h"

#define PROBE_BYTES (UINT64_C(4) << 20) /* of the copy by which the rate of copies is found */
#define MOST_COPIES 64u                 /* of a delay */

struct spare {                          /* two halves behind the present job */
    unsigned char *from, *to;
    uint64_t bytes;                     /* of each */
};

uint64_t dfr_measure_most_flushed(const struct dfr_single_gpu *gpu, uint32_t work)
{
    uint64_t need = dfr_single_gpu_need(gpu->run->graph, work);
    return need < gpu->pool_bytes ? (gpu->pool_bytes - need) / 512 * 256 : 0;
}

static struct spare spare_of(const struct dfr_single_gpu *gpu, uint32_t node)
{
    uint32_t work = gpu->run->graph->nodes[node].work;
    uint64_t half = dfr_measure_most_flushed(gpu, work);
    unsigned char *from =
        (unsigned char *)gpu->ops->pool(gpu->device) + dfr_single_gpu_need(gpu->run->graph, work);
    return (struct spare){ from, from + half, half };
}

static int make_ends(struct dfr_single_gpu *gpu, uint32_t n, struct df_error *error)
{
    int status = DF_OK;

    while (gpu->n_ends < n && status == DF_OK) {
        status = gpu->ops->event_create(gpu->device, &gpu->ends[gpu->n_ends], error);
        gpu->n_ends += status == DF_OK;
    }
    return status;
}

/* ---- the delay ---- */

/* The second of two copies counts: the first one meets memory that was never touched. */
static int find_rate(struct dfr_single_gpu *gpu, const struct spare *spare, struct df_error *error)
{
    uint64_t bytes = spare->bytes < PROBE_BYTES ? spare->bytes : PROBE_BYTES;
    double begin_s, end_s;
    int status = DF_OK;

    for (int i = 0; i < 2 && status == DF_OK; i++) {
        status = dfr_single_copy(gpu, DFR_COPY_D2D, spare->to, spare->from, bytes, error);
        if (status == DF_OK)
            status = gpu->ops->event_record(gpu->device, gpu->event, DFR_SINGLE_STREAM, error);
        if (status == DF_OK)
            status = dfr_event_wait(gpu->device, gpu->event, 0, error);
    }
    if (status == DF_OK && gpu->ops->event_times(gpu->device, gpu->event, &begin_s, &end_s) && end_s > begin_s)
        gpu->bytes_per_s = (double)bytes / (end_s - begin_s);
    return status;
}

/* Enqueues copies of about that time, as long ones as there is room for, and an event behind them. */
static int delay(struct dfr_single_gpu *gpu, const struct spare *spare, double seconds, struct df_error *error)
{
    double bytes = gpu->bytes_per_s * seconds;
    int status = DF_OK;

    for (unsigned i = 0; i < MOST_COPIES && bytes >= 1 && status == DF_OK; i++) {
        uint64_t now = bytes < (double)spare->bytes ? (uint64_t)bytes : spare->bytes;
        status = dfr_single_copy(gpu, DFR_COPY_D2D, spare->to, spare->from, now, error);
        bytes -= (double)now;
    }
    return status == DF_OK ? gpu->ops->event_record(gpu->device, gpu->event, DFR_SINGLE_STREAM, error) : status;
}

/* ---- the batch ---- */

struct launches {                       /* all of a batch; those before `first` are not counted */
    uint32_t first, n;
    int codes[DFR_SINGLE_MOST + 1];
};

static int enqueue_all(struct dfr_single_gpu *gpu, const struct dfr_single_job *job, uint64_t flush_bytes,
                       const struct spare *spare, struct dfr_single_launch *l, struct launches *all,
                       struct df_error *error)
{
    int status = DF_OK;

    for (uint32_t i = 0; i < all->n && status == DF_OK; i++) {
        status = dfr_single_restore(gpu, job, error);
        if (status == DF_OK)
            status = dfr_single_copy(gpu, DFR_COPY_D2D, spare->to, spare->from, flush_bytes, error);
        if (status == DF_OK)
            status = dfr_single_enqueue(gpu, l, &all->codes[i], error);
        if (status == DF_OK)
            status = gpu->ops->event_record(gpu->device, gpu->ends[i], DFR_SINGLE_STREAM, error);
    }
    return status;
}

/* false: the back end cannot say. */
static bool mean_time(struct dfr_single_gpu *gpu, const struct launches *all, double *seconds)
{
    double sum_s = 0, begin_s, end_s;

    for (uint32_t i = all->first; i < all->n; i++) {
        if (!gpu->ops->event_times(gpu->device, gpu->ends[i], &begin_s, &end_s))
            return false;
        sum_s += end_s - begin_s;
    }
    *seconds = sum_s / (all->n - all->first);
    return true;
}

int dfr_measure_batch(struct dfr_single_gpu *gpu, struct dfr_single_job *job, const struct dfr_measure_batch *batch,
                         double *seconds, bool *full, struct df_error *error)
{
    struct spare spare = spare_of(gpu, job->node);
    struct dfr_single_launch l;
    struct df_error why = { "" };
    bool delayed = batch->delay_s > 0 && spare.bytes > 0, gone = false;
    struct launches all = { .first = delayed && batch->warm };
    all.n = batch->n + all.first;
    int status = make_ends(gpu, all.n, error);

    if (status == DF_OK && delayed && gpu->bytes_per_s == 0)
        status = find_rate(gpu, &spare, error);
    if (status != DF_OK)
        return status;
    dfr_single_prepare(gpu, job, &l);
    if (delayed)
        status = delay(gpu, &spare, batch->delay_s, &why);
    if (status == DF_OK)
        status = enqueue_all(gpu, job, batch->flush_bytes, &spare, &l, &all, &why);
    if (status == DF_OK && delayed)
        status = gpu->ops->event_query(gpu->device, gpu->event, &gone, &why);
    if (status == DF_OK)
        status = dfr_event_wait(gpu->device, gpu->ends[all.n - 1], 0, &why);
    if (status != DF_OK)
        return dfr_single_failed(gpu, job, &l, status, &why, error);
    *full = delayed && !gone;
    job->code = DF_OK;
    for (uint32_t i = 0; i < all.n && job->code == DF_OK; i++)
        job->code = all.codes[i];
    status = dfr_single_outcome(gpu->run, job, &l.call, error);
    if (status == DF_OK && !mean_time(gpu, &all, seconds))
        status = dfr_single_gpu_launch(gpu, job, seconds, error); /* which has the host's clock, too */
    return status;
}
