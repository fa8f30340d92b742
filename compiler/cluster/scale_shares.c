/* scale_shares.c - determines what a wave takes on a machine that owns a share of the acc's parts, by simulation, for
 * `dfc scale` in scale_command.c (scale_shares.h).
 */
#include "compiler/cluster/scale_shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cluster/scale.h"
#include "runtime/base/error.h"
#include "runtime/subgraph/share.h"

struct look {                           /* on one type of machine */
    const struct dfp_problem *problem;
    const struct dfr_shared *shared;
    const char *policy;
    const struct dfp_options *options;
    uint32_t inflight;
    double speed;
};

struct span {
    uint32_t first, end;
    double every_s, latency_s;
};

/* ---- a share ---- */

/* The times of a share's graph. Its works have the numbers of the whole graph's; those behind them are of what is given, and take none. */
static bool make_times(const struct look *l, const struct df_graph *part, struct df_times *times)
{
    const struct df_times *from = l->problem->times;
    const size_t n = (size_t)from->n_classes * part->n_works + 1;

    *times = (struct df_times){ .n_classes = from->n_classes, .n_works = part->n_works, .time_s = malloc(n * sizeof *times->time_s),
                                .source = calloc(n, sizeof *times->source), .demand = from->demand ? calloc(n, sizeof *times->demand) : NULL };
    if (!times->time_s || !times->source || (from->demand && !times->demand))
        return false;
    for (uint32_t c = 0; c < from->n_classes; c++)
        for (uint32_t w = 0; w < part->n_works; w++) {
            const size_t to = (size_t)c * part->n_works + w, at = (size_t)c * from->n_works + w;
            const bool known = w < from->n_works;
            times->time_s[to] = known ? from->time_s[at] / l->speed : c == DF_CLASS_CPU ? 0 : NAN;
            times->source[to] = known ? from->source[at] : c == DF_CLASS_CPU ? DF_TIME_COST : DF_TIME_NONE;
            if (known && times->demand)
                times->demand[to] = from->demand[at];
        }
    return true;
}

static int measure(const struct look *l, struct span *span, struct df_error *error)
{
    struct dfp_problem problem = *l->problem;
    struct df_times times = { 0 };
    struct dfr_parts parts;
    int code = dfr_share_make(l->shared, span->first, span->end, &parts, error);

    if (code == DF_OK && !make_times(l, parts.cuts[DFR_BODY].graph, &times))
        code = dfr_error_memory(error);
    if (code == DF_OK) {
        problem.graph = parts.cuts[DFR_BODY].graph;
        problem.times = &times;
        code = dfc_scale_measure(&problem, &times, l->policy, l->options, l->inflight, &span->every_s, &span->latency_s, error);
    }
    free(times.time_s);
    free(times.source);
    free(times.demand);
    dfr_parts_free(&parts);
    return code;
}

/* Have both the same work to do? */
static bool are_alike(const struct dfr_shared *s, const struct span *a, const struct span *b)
{
    bool alike = a->end - a->first == b->end - b->first;

    for (uint32_t i = 0; alike && i < a->end - a->first; i++)
        alike = s->graph->nodes[s->parts[a->first + i]].work == s->graph->nodes[s->parts[b->first + i]].work;
    return alike;
}

static double bytes_of(const struct dfr_shared *s, const struct span *span)
{
    double bytes = 0;

    for (uint32_t i = span->first; i < span->end; i++)
        for (uint32_t a = 0; a < df_node_n_acc(s->graph, s->parts[i]); a++)
            bytes += (double)s->graph->values[df_node_acc(s->graph, s->parts[i], a)].bytes;
    return bytes;
}

/* ---- the shares of a row ---- */

static int look_at_row(const struct look *l, uint32_t type, uint32_t n, struct dfc_manager_share *shares, struct df_error *error)
{
    struct span *spans = calloc(n, sizeof *spans);
    int code = spans ? DF_OK : dfr_error_memory(error);

    for (uint32_t k = 0; k < n && code == DF_OK; k++) {
        struct span *span = &spans[k];
        uint32_t before = 0;
        *span = (struct span){ dfr_share_first(l->shared, k, n), dfr_share_first(l->shared, k + 1, n), 0, 0 };
        while (before < k && !are_alike(l->shared, &spans[before], span))
            before++;
        if (before < k) {
            span->every_s = spans[before].every_s;
            span->latency_s = spans[before].latency_s;
        } else {
            code = measure(l, span, error);
        }
        shares[k].every_s[type] = span->every_s;
        shares[k].latency_s[type] = span->latency_s;
        shares[k].bytes = bytes_of(l->shared, span);
    }
    free(spans);
    return code;
}

static int look_at_rows(const struct look *l, uint32_t type, enum dfr_share_what what, const unsigned long *nodes, struct dfc_scale_shares *shares,
                        struct df_error *error)
{
    struct span whole = { .end = shares->n_parts };
    int code = measure(l, &whole, error);

    shares->whole_s[type] = whole.every_s;
    for (uint32_t i = 0; i < shares->n_rows && code == DF_OK; i++) {
        if (what == DFR_SHARE_FIND && !dfr_shared_pays(l->shared, (int)nodes[i], false))
            continue;
        shares->n[i] = nodes[i] < shares->n_parts ? (uint32_t)nodes[i] : shares->n_parts;
        if (!shares->rows[i] && !(shares->rows[i] = calloc(shares->n[i], sizeof *shares->rows[i])))
            return dfr_error_memory(error);
        code = look_at_row(l, type, shares->n[i], shares->rows[i], error);
    }
    return code;
}

/* The args of a run that are not known here: numbers as they are declared, or 1; no text names a pipe. NULL: out of memory. */
static union df_scalar *guess_args(const struct df_graph *g)
{
    union df_scalar *args = calloc(g->n_args + (size_t)1, sizeof *args);

    for (uint32_t a = 0; args && a < g->n_args; a++) {
        const struct df_arg *arg = &g->args[a];
        switch (arg->type) {
        case DF_S_I32: args[a].i32 = arg->has_default ? (int32_t)arg->i : 1; break;
        case DF_S_I64: args[a].i64 = arg->has_default ? arg->i : 1; break;
        case DF_S_F32: args[a].f32 = arg->has_default ? (float)arg->f : 1; break;
        case DF_S_F64: args[a].f64 = arg->has_default ? arg->f : 1; break;
        default: args[a].str = arg->has_default ? df_graph_string(g, arg->str) : "";
        }
    }
    return args;
}

static int make_rows(uint32_t type, uint32_t n_parts, unsigned n_rows, struct dfc_scale_shares *shares, struct df_error *error)
{
    if (type > 0 && n_parts != shares->n_parts)
        return dfr_error(error, DF_E_REFUSED, "accs have %u parts here, and %u on other nodes: @parts(n) in the graph says how many", n_parts,
                         shares->n_parts);
    shares->n_parts = n_parts;
    shares->n_rows = n_rows;
    if (!shares->rows)
        shares->rows = calloc(n_rows + (size_t)1, sizeof *shares->rows);
    if (!shares->n)
        shares->n = calloc(n_rows + (size_t)1, sizeof *shares->n);
    return shares->rows && shares->n ? DF_OK : dfr_error_memory(error);
}

int dfc_scale_shares_look(const struct dfp_problem *problem, const char *policy, const struct dfp_options *options, uint32_t inflight, uint32_t type,
                          double speed, enum dfr_share_what what, const unsigned long *nodes, unsigned n_rows, struct dfc_scale_shares *shares,
                          struct df_error *error)
{
    struct dfr_shared shared = { 0 };
    struct df_error why = { "" };
    union df_scalar *args = guess_args(problem->graph);
    const struct look look = { problem, &shared, policy, options, inflight, speed };

    if (!args)
        return dfr_error_memory(error);
    int code = what == DFR_SHARE_WAVES ? DF_E_REFUSED : dfr_shared_find(problem->graph, args, &shared, &why);
    const bool can = code == DF_OK;
    if (code == DF_E_REFUSED && what != DFR_SHARE_PARTS)
        code = DF_OK;
    else if (!can)
        dfr_error(error, code, code == DF_E_REFUSED ? "--share=parts: %s" : "%s", why.text);
    if (code == DF_OK)
        code = make_rows(type, can ? shared.n_parts : 0, n_rows, shares, error);
    if (code == DF_OK && can)
        code = look_at_rows(&look, type, what, nodes, shares, error);
    dfr_shared_free(&shared);
    free(args);
    return code;
}

void dfc_scale_shares_free(struct dfc_scale_shares *shares)
{
    for (uint32_t i = 0; shares->rows && i < shares->n_rows; i++)
        free(shares->rows[i]);
    free(shares->rows);
    free(shares->n);
    *shares = (struct dfc_scale_shares){ 0 };
}
