/* passes.c - determines the number of passes of a run, assigns the parts of accs to passes, and allocates the tokens that later passes reuse (passes.h). run.c
 * calls it, and session.c for each call.
 */
#include "runtime/start/passes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/error.h"
#include "runtime/base/pages.h"
#include "runtime/base/text.h"
#include "runtime/engine/buffers.h"
#include "runtime/engine/host_memory.h"
#include "runtime/engine/log.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/plan.h"
#include "runtime/graph/scalars.h"
#include "runtime/io/files.h"
#include "runtime/start/run_machine.h"

#define NAME_BYTES 512
#define MOST_WAVES ((uint64_t)1 << 48)  /* of a pass, if nobody knows how many come, and nothing is kept */

struct dfr_pass_memory {
    struct df_buffer *buffers;          /* those of a session's caller, and behind them the run's own */
    char (*names)[NAME_BYTES];
    uint32_t n;                         /* of the run's own */
    unsigned char *memory;
    uint64_t bytes;
    int64_t most_waves;                 /* of a call */
    struct dfr_again again;
};

/* Why the waves of this run go by once. NULL: they may go by several times. */
static const char *why_once(const struct df_run *run)
{
    const struct df_graph *g = run->graph;
    if (run->options.feed)
        return "they are begun one by one, as by --journal and --out, or by the program's caller";
    if (dfr_passes_most(g) < 2)
        return "no acc is divided, or its kernel makes something else in each wave";
    if (run->options.serial || run->options.rehearse != 0 || run->options.poison || run->options.n_dumps > 0 ||
        run->options.n_record_jobs > 0 || run->options.check_variants)
        return "--serial, --poison, --dump, --record-job, --check=variants and --rehearse are for runs of one pass";
    return atomic_load(&run->firing.limit) < 1 ? "it has no waves" : NULL;
}

/* ---- sources ---- */

/* Does the node read a pipe? Its texts may be paths. In a session each call may say others. */
static bool reads_once(const struct df_run *run, uint32_t v, const union df_scalar *scalars)
{
    const struct df_graph *g = run->graph;
    const struct df_kernel *k = &g->kernels[g->nodes[v].kernel];
    bool once = false;
    if (!(k->traits & DF_RESTART))
        return false;
    for (uint32_t s = 0; s < k->n_scalars; s++)
        if (g->kscalars[k->first_scalar + s].type == DF_S_STR)
            once |= run->calls.on || !dfr_files_again(scalars[g->works[g->nodes[v].work].first_scalar + s].str);
    return once;
}

static int find_again(const struct df_run *run, struct dfr_again *again, struct df_error *error)
{
    union df_scalar *scalars = NULL;
    uint8_t *sources = calloc((size_t)run->graph->n_nodes + 1, sizeof *sources);
    int status = sources ? dfr_scalars_create(run->graph, run->options.args, &scalars, error) : dfr_error_memory(error);
    for (uint32_t v = 0; status == DF_OK && v < run->graph->n_nodes; v++)
        sources[v] = run->memory.buffers && run->memory.buffers->spared[v] ? DFR_SOURCE_GIVEN
                     : reads_once(run, v, scalars)                         ? DFR_SOURCE_ONCE
                                                                           : DFR_SOURCE_BY_TRAIT;
    if (status == DF_OK)
        status = dfr_again_find(run->graph, sources, again, error);
    free(scalars);
    free(sources);
    return status;
}

/* ---- making ---- */

static int make_buffers(struct df_run *run, const bool *kept, uint64_t stride, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    struct dfr_pass_memory *m = run->passes;
    const uint32_t n_given = run->options.n_buffers;
    uint64_t at = 0;

    m->buffers = calloc((size_t)n_given + g->n_values + 1, sizeof *m->buffers);
    m->names = calloc((size_t)g->n_values + 1, sizeof *m->names);
    m->memory = dfr_pages_reserve(m->bytes);
    if (!m->buffers || !m->names || !m->memory)
        return dfr_error_memory(error);
    if (n_given > 0)
        memcpy(m->buffers, run->options.buffers, n_given * sizeof *m->buffers);
    for (uint32_t x = 0; x < g->n_values; x++) {
        uint64_t bytes = (g->values[x].bytes + DFM_LINE - 1) / DFM_LINE * DFM_LINE;
        if (!kept[x] || dfr_buffers_lent(run, x)) /* the caller's memory has a place for each wave, and the token stays there */
            continue;
        df_node_name(g, g->values[x].producer, m->names[m->n], NAME_BYTES);
        m->buffers[n_given + m->n] = (struct df_buffer){ .node = m->names[m->n], .out_slot = g->values[x].slot, .data = m->memory + at,
                                                         .bytes = bytes * stride, .stride_bytes = bytes, .n_tokens = stride };
        at += bytes * stride;
        m->n++;
    }
    run->options.buffers = m->buffers;
    run->options.n_buffers = n_given + m->n;
    run->memory.n_own_buffers = m->n;
    return DF_OK;
}

/* Who asked for several passes: the option or '@passes'. "": nobody did. */
static const char *who_asked(const struct df_run *run, char text[32])
{
    const uint32_t hint = run->options.passes ? 0 : dfr_passes_hint(run->graph);
    text[0] = 0;
    if (run->options.passes > 1)
        snprintf(text, 32, "--passes=%u", run->options.passes);
    else if (hint > 1)
        snprintf(text, 32, "'@passes(%u)'", hint);
    return text;
}

/* Are the tokens of so many waves more than half of the host's memory? */
static int check_room(const struct df_run *run, const struct dfr_again *again, int64_t waves, struct df_error *error)
{
    const uint64_t bytes = dfr_again_bytes(again, waves);
    char need[16], have[16], who[32];
    if (!*who_asked(run, who))
        return dfr_again_admit(run->graph, again, waves, dfr_host_bytes() / 2, error);
    if (bytes <= dfr_host_bytes() / 2)
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "%s: to keep what the parts read of all waves takes %s of host memory, and half of this "
                     "machine's %s may be used", who, dfr_text_bytes(bytes, need, sizeof need),
                     dfr_text_bytes(dfr_host_bytes(), have, sizeof have));
}

/* Nobody knows how many waves come. Gives the rounds whose tokens half of the host's memory keeps; at least those of one wave. */
static uint64_t reserved_stride(uint64_t kept_bytes, uint64_t step)
{
    uint64_t stride = kept_bytes ? dfr_host_bytes() / 2 / kept_bytes : MOST_WAVES;
    stride = stride / step * step;
    return stride > 2 * step ? stride : 2 * step;
}

/* How many rounds a pass has. If nothing is kept they cost nothing, so any call of a session has room in them; and whatever number of
 * waves will be in flight divides them. */
static int64_t choose_stride(const struct dfr_again *again, int64_t waves, uint64_t step, bool calls)
{
    const uint64_t reserved = again->kept_bytes ? reserved_stride(again->kept_bytes, step) : 0;
    const uint64_t turns = 720720 * step;       /* 1 to 16 divide it, and what was asked for */
    if (again->kept_bytes == 0)
        return (int64_t)((MOST_WAVES + turns - 1) / turns * turns);
    if (waves == INT64_MAX || (calls && (uint64_t)waves + 2 * step > reserved))
        return (int64_t)reserved;
    return (int64_t)(((uint64_t)waves + 2 * step - 1) / step * step);
}

/* Sets the pass of each node, for so many waves that go by n times. Gives the number of rounds. */
static int64_t set_passes(struct df_run *run, uint32_t n, int64_t waves)
{
    struct dfr_passes *p = run->skips.passes;
    p->n = n;
    p->overlap = dfr_passes_overlap(run->graph, &run->machine.platform, n);
    p->apart = !p->overlap || df_graph_has_streams(run->graph);
    p->most_waves = waves;
    atomic_store(&p->waves, waves);
    for (uint32_t v = 0; v < run->graph->n_nodes; v++)
        p->of_node[v] = dfr_passes_of(run->graph, v, n, &run->passes->again);
    return p->stride * (n - 1) + waves;
}

/* The waves go by n times, which is more than once. */
static int make(struct df_run *run, uint32_t n, struct df_error *error)
{
    const struct dfr_again *again = &run->passes->again;
    const uint64_t step = run->options.inflight ? run->options.inflight : DF_DEFAULT_INFLIGHT;
    int64_t waves = atomic_load(&run->firing.limit);
    const bool unknown = waves == INT64_MAX;
    const int64_t stride = choose_stride(again, waves, step, run->calls.on);
    int status;

    waves = waves < stride - (int64_t)step ? waves : stride - (int64_t)step;
    if ((status = check_room(run, again, waves, error)) != DF_OK)
        return status;
    run->passes->most_waves = stride - (int64_t)step;
    run->passes->bytes = (uint64_t)stride * again->kept_bytes;
    run->options.inflight = (unsigned)step; /* so a round's place is that of rounds in its slot alone, and tokens have room beside the parts */
    if (again->kept_bytes > 0)
        status = make_buffers(run, again->kept, (uint64_t)stride, error);
    if (status == DF_OK)
        status = dfr_skips_make_passes(&run->skips, run->graph, again->kept, n, waves, stride, error);
    if (status != DF_OK)
        return status;
    run->skips.passes->reserved = unknown;
    run->skips.passes->kept_bytes = again->kept_bytes;
    atomic_store(&run->firing.limit, set_passes(run, n, waves));
    if (again->kept_bytes == 0)
        return DF_OK;
    dfr_buffers_destroy(run);           /* those of a session's caller are among the new ones */
    return dfr_buffers_create(run, error);
}

/* Do tokens that are to be kept lie in memory of the caller's where later waves take their places? */
static bool in_turn(const struct df_run *run)
{
    const struct dfr_buffers *b = run->memory.buffers;
    bool found = false;
    for (uint32_t i = 0; b && i < b->n; i++)
        found |= run->passes->again.kept[b->value[i]] && b->given[i].n_tokens > 0;
    return found;
}

/* What the parts read would have to be kept, and cannot be. NULL: it can, or need not. */
static const char *why_not_kept(const struct df_run *run)
{
    return run->passes->again.kept_bytes > 0 && run->options.n_buffers > 0 && (!run->calls.on || in_turn(run))
               ? "what the parts read is neither the caller's nor of sources that are 'restart', and is not kept where tokens lie in "
                 "memory of the caller"
               : NULL;
}

/* More passes than parts were asked for. */
static void say_fewer(const struct df_run *run, uint32_t n)
{
    if (run->options.passes > n)
        dfr_log(run, DF_LOG_WARNING, "--passes=%u: an acc has %u parts at most, so the waves go by so often", run->options.passes, n);
}

/* Are more passes than must be faster, as far as the planner knows? Nobody asked for a number. Gives n if they are not. */
static uint32_t find_faster(const struct df_run *run, uint32_t n)
{
    const struct df_planner *planner = run->options.planner;
    const int64_t waves = atomic_load(&run->firing.limit);
    const struct df_times *times;
    struct df_times own;
    struct df_error error;
    uint32_t faster = 0;
    if (!planner || !planner->passes || waves > UINT32_MAX || run->calls.on || !dfr_machine_is_placed(run) ||
        dfr_again_bytes(&run->passes->again, waves) > dfr_host_bytes() / 2 ||
        dfr_machine_times(run, &times, &own, &error) != DF_OK)
        return n;
    if (dfr_times_known(run->graph, times, &run->machine.platform))
        faster = planner->passes(run->graph, &run->machine.platform, times, (uint32_t)waves);
    dfr_times_free(&own);
    return faster > n ? faster : n;
}

/* The waves go by n times or, if nobody asked for that, more often. If what the parts read does not come again, *why says why, if n is more
 * than 1. */
static int make_passes(struct df_run *run, uint32_t n, bool asked, const char **why, struct df_error *error)
{
    const char *not_kept;
    int status;
    run->passes = calloc(1, sizeof *run->passes);
    if (!run->passes)
        return dfr_error_memory(error);
    status = find_again(run, &run->passes->again, error);
    not_kept = why_not_kept(run);
    if (status == DF_OK && !not_kept && !asked)
        n = find_faster(run, n);
    if (status != DF_OK || n == 1)
        return status;
    *why = not_kept;
    if (not_kept)
        return status;
    say_fewer(run, n);
    return make(run, n, error);
}

int dfr_passes_create(struct df_run *run, struct df_error *error)
{
    const char *why = why_once(run);
    char who[32];
    const bool asked = *who_asked(run, who);
    uint32_t n;
    int status;

    if (!why && run->options.passes != 1 && (asked || run->machine.n_gpus > 0)) {
        n = dfr_passes_choose(run->graph, &run->machine.platform, atomic_load(&run->firing.limit), run->options.passes);
        status = make_passes(run, n, asked, &why, error);
        if (status != DF_OK || !why)
            return status;
        if (run->options.passes == 0)
            dfr_log(run, DF_LOG_WARNING, "%s because %s",
                    asked ? "'@passes': the waves of this run go by once," : "a divided acc does not fit in a device's memory, and is copied "
                                                                             "in each wave,", why);
    }
    if (run->options.passes > 1 && why)
        return dfr_error(error, DF_E_ARGUMENT, "%s: the waves of this run go by once, because %s", who, why);
    return DF_OK;
}

int dfr_passes_admit(const struct df_run *run, int64_t waves, struct df_error *error)
{
    char bytes[16], have[16];
    if (!run->skips.passes || run->passes->again.kept_bytes == 0 || waves == INT64_MAX || waves <= run->passes->most_waves)
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "a call of %lld waves: what the parts of an acc read of them takes %s, and half of this machine's %s "
                     "may keep it. Shorter calls do, or --passes=1, by which the acc is copied in each wave", (long long)waves,
                     dfr_text_bytes(dfr_again_bytes(&run->passes->again, waves), bytes, sizeof bytes),
                     dfr_text_bytes(dfr_host_bytes(), have, sizeof have));
}

int64_t dfr_passes_call(struct df_run *run, int64_t waves)
{
    if (!run->skips.passes)
        return waves;
    if (waves > run->passes->most_waves)
        waves = run->passes->most_waves;
    return set_passes(run, dfr_passes_choose(run->graph, &run->machine.platform, waves, run->options.passes), waves);
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
    dfr_again_free(&m->again);
    free(m);
}
