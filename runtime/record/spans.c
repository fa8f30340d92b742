/* spans.c - the parts of accs divided among ranks, and their checkpoints (spans.h), for ranks/rank0_parts.c. */
#include "runtime/record/spans.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/record/checkpoint.h"
#include "runtime/record/writer.h"

/* ---- spans ---- */

uint32_t dfr_span_accs(const struct dfr_shared *shared, const struct dfr_span *span)
{
    uint32_t n = 0;
    for (uint32_t i = span->first; i < span->end; i++)
        n += df_node_n_acc(shared->graph, shared->parts[i]);
    return n;
}

static int64_t waves_of(const struct dfr_shared *shared, const struct dfr_accs_found *kept, uint32_t part)
{
    return kept->first ? kept->first[shared->parts[part]] : 0;
}

static int take_accs(const struct dfr_shared *shared, const struct dfr_accs_found *kept, struct dfr_span *span, struct df_error *error)
{
    const struct dfr_head head = { .kind = DFR_RESULT };
    const struct df_graph *g = shared->graph;
    struct dfr_value *values = calloc(dfr_span_accs(shared, span) + 1u, sizeof *values);
    uint32_t n = 0;

    for (uint32_t i = span->first; i < span->end && values; i++)
        for (uint32_t a = 0; a < df_node_n_acc(g, shared->parts[i]); a++) {
            uint32_t x = df_node_acc(g, shared->parts[i], a);
            values[n++] = (struct dfr_value){ .port = x, .data = kept->values[x], .bytes = g->values[x].bytes };
        }
    span->accs = values ? dfr_message_make(&head, values, n) : NULL;
    free(values);
    return span->accs ? DF_OK : dfr_error_memory(error);
}

/* Divides parts [first, end), which are at the same wave: each rank gets as many of all parts as others, or one more. */
static int divide(const struct dfr_shared *shared, const struct dfr_accs_found *kept, uint32_t first, uint32_t end, uint32_t n_ranks, struct dfr_span *spans,
                  uint32_t *n_spans, struct df_error *error)
{
    const uint64_t length = end - first, wanted = (length * n_ranks + shared->n_parts - 1) / shared->n_parts, n = wanted < length ? wanted : length;
    int status = DF_OK;

    for (uint64_t k = 0; k < n && status == DF_OK; k++) {
        struct dfr_span *span = &spans[(*n_spans)++];
        *span = (struct dfr_span){ .first = first + (uint32_t)(length * k / n), .end = first + (uint32_t)(length * (k + 1) / n), .waves = waves_of(shared, kept, first) };
        if (span->waves > 0)
            status = take_accs(shared, kept, span, error);
    }
    return status;
}

int dfr_spans_make(const struct dfr_shared *shared, uint32_t n_ranks, const char *path, uint64_t program, struct dfr_span **spans, uint32_t *n_spans,
                   struct df_error *error)
{
    struct dfr_accs_found kept = { 0 };
    int status = path ? dfr_accs_find(path, shared->graph, program, INT64_MAX, &kept, error) : DF_OK;

    *n_spans = 0;
    *spans = calloc(shared->n_parts + (size_t)1, sizeof **spans);
    if (status == DF_OK && !*spans)
        status = dfr_error_memory(error);
    for (uint32_t first = 0, end; first < shared->n_parts && status == DF_OK; first = end) {
        for (end = first + 1; end < shared->n_parts && waves_of(shared, &kept, end) == waves_of(shared, &kept, first); end++)
            ;
        status = divide(shared, &kept, first, end, n_ranks, *spans, n_spans, error);
    }
    dfr_accs_found_free(shared->graph, &kept);
    return status;
}

void dfr_spans_free(struct dfr_span *spans, uint32_t n_spans)
{
    for (uint32_t k = 0; k < n_spans; k++)
        dfr_message_drop(spans[k].accs);
    free(spans);
}

/* ---- writing ---- */

struct item {
    struct dfr_checkpoints to;
    struct dfr_span span;
};

static void item_free(void *arg)
{
    struct item *item = arg;
    dfr_message_drop(item->span.accs);
    free(item);
}

static int write_part(const struct dfr_checkpoints *to, uint32_t node, int64_t waves, const struct dfr_value *values, struct df_error *error)
{
    const uint32_t n = df_node_n_acc(to->shared->graph, node);
    struct dfr_acc *accs = malloc((n + (size_t)1) * sizeof *accs);
    char *path = dfr_accs_part_path(to->path, to->shared->graph, node);
    int status = accs && path ? DF_OK : dfr_error_memory(error);

    for (uint32_t a = 0; a < n && status == DF_OK; a++)
        accs[a] = (struct dfr_acc){ .value = values[a].port, .data = values[a].data, .bytes = values[a].bytes };
    if (status == DF_OK)
        status = dfr_accs_write_part(path, to->program, waves, accs, n, error);
    free(path);
    free(accs);
    return status;
}

static int write_item(void *arg, struct df_error *error)
{
    const struct item *item = arg;
    const struct dfr_shared *shared = item->to.shared;
    const struct dfr_value *values = item->span.accs->values;
    int status = DF_OK;

    for (uint32_t i = item->span.first; i < item->span.end && status == DF_OK; i++) {
        status = write_part(&item->to, shared->parts[i], item->span.waves, values, error);
        values += df_node_n_acc(shared->graph, shared->parts[i]);
    }
    return status;
}

int dfr_span_write(const struct dfr_checkpoints *to, const struct dfr_span *span, struct df_error *error)
{
    struct item *item = malloc(sizeof *item);

    if (!item)
        return dfr_error_memory(error);
    *item = (struct item){ *to, *span };
    dfr_message_hold(item->span.accs);
    /* another span cannot begin with the same part in this run */
    return dfr_writer_put(to->writer, &(struct dfr_writer_job){ span->first, write_item, item_free, item }, error);
}
