/* buffers_pin.c - pins lent memory (buffers.h) if that makes copies faster, and frees the table. start/run.c calls it,
 * and buffers.c when buffers move. Whole pages are pinned, so that no copy begins in pinned memory and ends in pageable
 * memory. Buffers in the same or in adjacent pages form one range.
 */
#include <stdlib.h>
#include <unistd.h>

#include "runtime/engine/buffers.h"
#include "runtime/engine/log.h"

static int by_address(const void *a, const void *b)
{
    const struct dfr_pinned *x = a, *y = b;
    return (x->memory > y->memory) - (x->memory < y->memory);
}

/* Lists a range of whole pages for each buffer. Gives the number of ranges. */
static uint32_t list_pages(const struct df_run *run, struct dfr_pinned *ranges)
{
    const struct dfr_buffers *b = run->memory.buffers;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        uint64_t token_bytes = run->graph->values[b->value[i]].bytes;
        uint64_t bytes = (b->of[i].n_tokens - 1) * b->of[i].stride_bytes + token_bytes;
        uint64_t before = (uintptr_t)b->of[i].data % page;
        if (token_bytes > 0 && b->of[i].data)
            ranges[n++] = (struct dfr_pinned){ .memory = b->of[i].data - before,
                                               .bytes = (before + bytes + page - 1) / page * page };
    }
    return n;
}

static uint32_t join(struct dfr_pinned *ranges, uint32_t n)
{
    uint32_t kept = 0;

    qsort(ranges, n, sizeof *ranges, by_address);
    for (uint32_t i = 0; i < n; i++) {
        struct dfr_pinned *last = kept ? &ranges[kept - 1] : NULL;
        unsigned char *end = ranges[i].memory + ranges[i].bytes;
        if (!last || ranges[i].memory > last->memory + last->bytes)
            ranges[kept++] = ranges[i];
        else if (end > last->memory + last->bytes)
            last->bytes = (uint64_t)(end - last->memory);
    }
    return kept;
}

/* Was pinning asked for? If nothing was asked: is copying from pinned memory faster on some device, or does nobody
 * know? */
static bool is_wanted(const struct df_run *run)
{
    bool wanted = run->options.pin == DF_PIN_ON;
    for (uint32_t u = 1; run->options.pin == DF_PIN_AUTO && u <= run->machine.n_gpus; u++)
        wanted = wanted || run->machine.platform.units[u].registers != DF_REGISTER_NO;
    if (run->skips.passes && run->skips.passes->reserved)
        return false;                   /* most of it will not be used */
    return wanted && run->machine.n_gpus > 0 && run->devices.host->host_register;
}

static bool lies_in(const struct dfr_buffers *b, uint32_t i, const struct dfr_pinned *range)
{
    uintptr_t from = (uintptr_t)range->memory, data = (uintptr_t)b->of[i].data;
    return data >= from && data - from <= range->bytes && b->span_bytes[i] <= range->bytes - (data - from);
}

void dfr_buffers_mark_pinned(struct dfr_buffers *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        b->of[i].pinned = false;
        for (uint32_t k = 0; k < b->n_pinned && !b->of[i].pinned; k++)
            b->of[i].pinned = lies_in(b, i, &b->pinned[k]);
    }
}

void dfr_buffers_pin(struct df_run *run)
{
    struct dfr_buffers *b = run->memory.buffers;
    uint32_t n;

    if (!b || !is_wanted(run))
        return;
    n = join(b->pinned, list_pages(run, b->pinned));
    for (uint32_t i = 0; i < n; i++) {
        struct dfr_pinned range = b->pinned[i];
        struct df_error error;
        if (run->devices.host->host_register(range.memory, range.bytes, &error) != DF_OK) {
            dfr_log(run, DF_LOG_INFO, "%llu bytes of buffers are copied through pinned memory, not pinned: %s",
                    (unsigned long long)range.bytes, error.text);
            continue;
        }
        b->pinned[b->n_pinned++] = range;
        b->pinned_bytes += range.bytes;
    }
    dfr_buffers_mark_pinned(b);
}

void dfr_buffers_destroy(struct df_run *run)
{
    struct dfr_buffers *b = run->memory.buffers;

    if (!b)
        return;
    for (uint32_t i = 0; i < b->n_pinned; i++)
        run->devices.host->host_unregister(b->pinned[i].memory, b->pinned[i].bytes);
    free(b->lent);
    free(b->keeper);
    free(b->node);
    free(b->order);
    free(b->span_bytes);
    free(b->spared);
    free(b->value);
    free(b->of);
    free(b->pinned);
    free(b->all);
    free(b);
    run->memory.buffers = NULL;
}
