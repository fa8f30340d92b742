/* passes.c - how many passes a run has, which part is in which, and the memory of the tokens that come again (passes.h). */
#include "runtime/start/passes.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/base/error.h"
#include "runtime/base/pages.h"
#include "runtime/base/text.h"
#include "runtime/engine/host_room.h"
#include "runtime/engine/log.h"
#include "runtime/graph/passes.h"

#define NAME_BYTES 512
#define MOST_WAVES ((uint64_t)1 << 48)  /* of a pass, if nobody knows how many come, and nothing is kept */

struct dfr_pass_memory {
    struct df_buffer *buffers;
    char (*names)[NAME_BYTES];
    uint32_t n;
    unsigned char *memory;
    uint64_t bytes;
};

/* Why the waves of this run go by once. NULL: they may go by several times. */
static const char *why_once(const struct df_run *run)
{
    const struct df_graph *g = run->graph;
    if (dfr_passes_most(g) < 2)
        return "no acc is divided, or its kernel makes something else in each wave";
    if (run->calls.on || run->options.n_buffers > 0)
        return "the tokens lie in memory of the caller";
    if (run->options.serial || run->options.rehearse != 0 || run->options.poison || run->options.n_dumps > 0 ||
        run->options.check_variants)
        return "it is looked into, or rehearsed";
    return atomic_load(&run->firing.limit) < 1 ? "it has no waves" : NULL;
}

/* ---- making ---- */

static int make_buffers(struct df_run *run, const bool *kept, uint64_t stride, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    struct dfr_pass_memory *m = run->passes;
    uint64_t at = 0;

    m->buffers = calloc((size_t)g->n_values + 1, sizeof *m->buffers);
    m->names = calloc((size_t)g->n_values + 1, sizeof *m->names);
    m->memory = dfr_pages_reserve(m->bytes);
    if (!m->buffers || !m->names || !m->memory)
        return dfr_error_memory(error);
    for (uint32_t x = 0; x < g->n_values; x++) {
        uint64_t bytes = (g->values[x].bytes + DFM_LINE - 1) / DFM_LINE * DFM_LINE;
        if (!kept[x])
            continue;
        df_node_name(g, g->values[x].producer, m->names[m->n], NAME_BYTES);
        m->buffers[m->n] = (struct df_buffer){ .node = m->names[m->n], .out_slot = g->values[x].slot, .data = m->memory + at,
                                               .bytes = bytes * stride, .stride_bytes = bytes, .n_tokens = stride };
        at += bytes * stride;
        m->n++;
    }
    run->options.buffers = m->buffers;
    run->options.n_buffers = m->n;
    return DF_OK;
}

/* Are the tokens of so many waves more than half of the host's memory? */
static int check_room(const struct df_run *run, const struct dfr_again *again, uint32_t n, int64_t waves, struct df_error *error)
{
    const uint64_t bytes = dfr_again_bytes(again, waves);
    char need[16], have[16];
    if (run->options.passes == 0)
        return dfr_again_admit(run->graph, again, waves, dfr_host_bytes() / 2, error);
    if (bytes <= dfr_host_bytes() / 2)
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "--passes=%u: to keep what the parts read of all waves takes %s of host memory, and "
                     "half of this machine's %s may be used", n, dfr_text_bytes(bytes, need, sizeof need),
                     dfr_text_bytes(dfr_host_bytes(), have, sizeof have));
}

/* Nobody knows how many waves come. Gives the rounds whose tokens half of the host's memory keeps; at least those of one wave. */
static uint64_t reserved_stride(uint64_t kept_bytes, uint64_t step)
{
    uint64_t stride = kept_bytes ? dfr_host_bytes() / 2 / kept_bytes : MOST_WAVES;
    stride = stride / step * step;
    return stride > 2 * step ? stride : 2 * step;
}

/* Fills run->skips: the pass of each node, and which values come again. */
static int set_passes(struct df_run *run, const struct dfr_again *again, uint32_t n, int64_t waves, int64_t stride, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    int status = dfr_skips_make_passes(&run->skips, g, again->kept, n, waves, stride, error);
    for (uint32_t v = 0; status == DF_OK && v < g->n_nodes; v++)
        run->skips.passes->of_node[v] = dfr_passes_of(g, v, n, again);
    return status;
}

/* The waves go by n times, which is more than once. */
static int make(struct df_run *run, const struct dfr_again *again, uint32_t n, struct df_error *error)
{
    int64_t waves = atomic_load(&run->firing.limit);
    const bool unknown = waves == INT64_MAX;
    const uint64_t step = run->options.inflight ? run->options.inflight : DF_DEFAULT_INFLIGHT;
    const uint64_t stride = unknown ? reserved_stride(again->kept_bytes, step) : ((uint64_t)waves + 2 * step - 1) / step * step;
    int status;

    waves = unknown ? (int64_t)(stride - step) : waves;
    if ((status = check_room(run, again, n, waves, error)) != DF_OK)
        return status;
    run->passes = calloc(1, sizeof *run->passes);
    if (!run->passes)
        return dfr_error_memory(error);
    run->passes->bytes = stride * again->kept_bytes;
    run->options.inflight = (unsigned)step; /* so a round's place is that of rounds in its slot alone */
    if (again->kept_bytes > 0)
        status = make_buffers(run, again->kept, stride, error);
    if (status == DF_OK)
        status = set_passes(run, again, n, waves, (int64_t)stride, error);
    if (status == DF_OK)
        run->skips.passes->reserved = unknown;
    atomic_store(&run->firing.limit, (int64_t)stride * (n - 1) + waves);
    return status;
}

int dfr_passes_create(struct df_run *run, struct df_error *error)
{
    const bool asked = run->options.passes > 1;
    const char *why = why_once(run);
    const int64_t waves = atomic_load(&run->firing.limit);
    struct dfr_again again;
    uint32_t n;
    int status;

    if (asked && why)
        return dfr_error(error, DF_E_ARGUMENT, "--passes=%u: the waves of this run go by once, because %s", run->options.passes, why);
    if (why || run->options.passes == 1 || (!asked && run->machine.n_gpus == 0))
        return DF_OK;
    n = dfr_passes_choose(run->graph, &run->machine.platform, waves, run->options.passes);
    if (n == 1)
        return DF_OK;
    status = dfr_again_find(run->graph, &again, error);
    if (status == DF_OK && waves == INT64_MAX && !asked && again.kept_bytes > 0)
        dfr_log(run, DF_LOG_WARNING, "a divided acc does not fit in a device's memory, and is copied in each wave, because nobody knows how "
                "many waves its stream has: --waves=N says how many at most, --passes=%u keeps what comes, and 'restart' at the stream "
                "keeps nothing", n);
    else if (status == DF_OK)
        status = make(run, &again, n, error);
    dfr_again_free(&again);
    return status;
}

void dfr_passes_destroy(struct df_run *run)
{
    struct dfr_pass_memory *m = run->passes;
    if (!m)
        return;
    if (m->memory)
        munmap(m->memory, m->bytes);
    free(m->buffers);
    free(m->names);
    free(m);
}
