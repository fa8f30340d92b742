/* explain_facts.c - analyses a plan for `dfc explain` (commands/cmd_explain.c) and words the results: the critical path, the
 * utilisation of units, and for a node the cost of its present and its alternative placement.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/show/explain.h"
#include "compiler/tools/messages.h"
#include "partition/planner/plan_report.h"
#include "runtime/base/error.h"
#include "runtime/graph/passes.h"

#define SAME 1e-9                       /* relative; times that differ by less count as equal */
#define SAME_RATE 1e-3                  /* the same for times per wave, which are averages */

/* ---- copies ---- */

/* The units that read a value, as bits, except its readers at node `without`. */
static uint32_t reader_units(const struct dfc_explained *e, const struct df_value *value, uint32_t without)
{
    const struct df_reader *readers = e->problem->graph->readers + value->first_reader;
    uint32_t units = 0;
    for (uint32_t r = 0; r < value->n_readers; r++)
        if (readers[r].node != without)
            units |= 1u << e->plan->place[readers[r].node];
    return units;
}

/* Sums the copies. Each value is sent once to each memory that reads it: to peers directly, to others through the
 * host. */
static void sum_copies(struct dfc_explained *e)
{
    const struct df_graph *g = e->problem->graph;
    const struct df_platform *p = e->problem->platform;
    for (uint32_t v = 0; v < g->n_values; v++) {
        const struct df_value *value = &g->values[v];
        uint32_t home = e->plan->place[value->producer], units = reader_units(e, value, DF_NONE) & ~(1u << home);
        uint32_t peers = units & df_platform_peers(p, home);
        if (!units || !value->bytes)
            continue;
        for (uint32_t u = 1; u < p->n_units; u++)
            if (peers >> u & 1)
                e->copy_s[home][2] += df_peer_time_s(p, home, u, value->bytes);
        units &= ~peers;
        if (home && units)
            e->copy_s[home][0] += df_link_time_s(&p->units[home].d2h, value->bytes);
        for (uint32_t u = 1; u < p->n_units; u++)
            if (units & 1u << u)
                e->copy_s[u][1] += df_link_time_s(&p->units[u].h2d, value->bytes);
    }
}

/* The copies that a node on that unit would wait for and cause, if all others stay. Data that another reader there gets
 * anyway costs nothing. */
static double copies_at(const struct dfc_explained *e, uint32_t node, uint32_t unit)
{
    const struct df_graph *g = e->problem->graph;
    const struct df_node *n = &g->nodes[node];
    double sum_s = 0;
    for (uint32_t i = 0; i < df_node_n_in(g, node); i++) {
        const struct df_value *value = &g->values[g->in_value[n->first_in + i]];
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again = again || g->in_value[n->first_in + k] == g->in_value[n->first_in + i];
        if (!again && !(reader_units(e, value, node) & 1u << unit))
            sum_s += dfp_copy_time_s(e->problem->platform, e->plan->place[value->producer], unit, value->bytes);
    }
    for (uint32_t o = 0; o < df_node_n_out(g, node); o++) {
        const struct df_value *value = &g->values[n->first_out + o];
        uint32_t units = reader_units(e, value, DF_NONE);
        for (uint32_t u = 0; u < e->model.n_units; u++)
            if (units & 1u << u)
                sum_s += dfp_copy_time_s(e->problem->platform, unit, u, value->bytes);
    }
    return sum_s;
}

/* The copies of what a node reads, whether they are shared with other readers or not. It bounds the first part of
 * copies_at() from above, and need not look at other readers, of which there may be very many. */
static double copies_to(const struct dfc_explained *e, uint32_t node)
{
    const struct df_graph *g = e->problem->graph;
    double sum_s = 0;
    for (uint32_t i = 0; i < df_node_n_in(g, node); i++) {
        const struct df_value *value = &g->values[g->in_value[g->nodes[node].first_in + i]];
        sum_s += dfp_copy_time_s(e->problem->platform, e->plan->place[value->producer], e->plan->place[node],
                                 value->bytes);
    }
    return sum_s;
}

/* ---- the longest way ---- */

/* In the first of the waves that are placed jointly. */
static double time_of(const struct dfc_explained *e, uint32_t node)
{
    return dfp_model_time_s(&e->model, node, e->plan->place[node]);
}

/* Does the node fire in that pass of a wave? In steady state nothing does that fires once. */
static bool fires(const struct dfc_explained *e, uint32_t node, uint32_t pass)
{
    return !e->inflight || (!(e->problem->graph->nodes[node].flags & DF_NODE_ONCE) &&
                            (e->pass_of[node] == DF_NONE || e->pass_of[node] == pass));
}

/* When the value can be read on the unit, if nothing else were busy. What was kept in an earlier pass comes from the host; what is once is there. */
static double ready_at(const struct dfc_explained *e, uint32_t value, uint32_t unit, uint32_t pass, const double *before)
{
    const struct df_value *x = &e->problem->graph->values[value];
    bool fired = fires(e, x->producer, pass);
    if (!fired && df_value_is_once(e->problem->graph, value))
        return 0;
    return (fired ? before[x->producer] + time_of(e, x->producer) : 0) +
           dfp_copy_time_s(e->problem->platform, fired ? e->plan->place[x->producer] : 0, unit, x->bytes);
}

/* before[v]: when v could start in that pass if nothing else were busy. from[v]: the node that it would wait for. Numbers are a
 * topological order, so one walk is enough. Gives the node that ends last, and when; DF_NONE: none fires. */
static uint32_t walk(const struct dfc_explained *e, uint32_t pass, double *before, uint32_t *from, double *end_s)
{
    const struct df_graph *g = e->problem->graph;
    uint32_t last = DF_NONE;
    *end_s = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        before[v] = 0;
        from[v] = DF_NONE;
        for (uint32_t i = 0; fires(e, v, pass) && i < df_node_n_in(g, v); i++) {
            uint32_t value = g->in_value[g->nodes[v].first_in + i], p = g->values[value].producer;
            double ready_s = ready_at(e, value, e->plan->place[v], pass, before);
            if (ready_s > before[v] || (from[v] == DF_NONE && ready_s >= before[v])) {
                before[v] = ready_s;
                from[v] = fires(e, p, pass) ? p : DF_NONE;
            }
        }
        if (fires(e, v, pass) && (last == DF_NONE || before[v] + time_of(e, v) > *end_s)) {
            *end_s = before[v] + time_of(e, v);
            last = v;
        }
    }
    return last;
}

static void note_way(struct dfc_explained *e, uint32_t last, const uint32_t *from)
{
    memset(e->on_way, 0, e->problem->graph->n_nodes);
    e->way_last = last;
    e->way_nodes = 0;
    for (uint32_t v = last; v != DF_NONE; v = from[v]) {
        e->on_way[v] = 1;
        e->way_first = v;
        e->way_nodes++;
    }
}

static bool find_way(struct dfc_explained *e)
{
    uint32_t n = e->problem->graph->n_nodes;
    double *before = malloc((n + 1) * sizeof *before), most_s = -1, end_s;
    uint32_t *from = malloc((n + 1) * sizeof *from);
    e->on_way = calloc(n + 1, 1);
    bool good = before && from && e->on_way;
    for (uint32_t pass = 0; good && pass < e->n_passes; pass++) {
        uint32_t last = walk(e, pass, before, from, &end_s);
        e->way_s += end_s;
        if (last != DF_NONE && end_s > most_s) {
            most_s = end_s;
            note_way(e, last, from);
        }
    }
    free(before);
    free(from);
    return good;
}

/* Which node fires in which pass of a run of many waves. */
static int find_passes(struct dfc_explained *e, struct df_error *error)
{
    const struct df_graph *g = e->problem->graph;
    struct dfr_again again;
    int status = dfr_again_find(g, NULL, &again, error);
    e->n_passes = e->inflight ? dfr_passes_choose(g, e->problem->platform, INT64_MAX, e->problem->passes) : 1;
    e->pass_of = malloc((g->n_nodes + 1) * sizeof *e->pass_of);
    for (uint32_t v = 0; status == DF_OK && e->pass_of && v < g->n_nodes; v++)
        e->pass_of[v] = e->n_passes > 1 ? dfr_passes_of(g, v, e->n_passes, &again) : 0;
    dfr_again_free(&again);
    return status == DF_OK && !e->pass_of ? dfr_error_memory(error) : status;
}

/* ---- all of it ---- */

/* The plan is for one wave: what its evaluation says. */
static int find_wave(struct dfc_explained *e)
{
    e->wave_s = e->evaluation.makespan_s;
    e->run_s = e->plan->predicted_s;
    memcpy(e->busy_s, e->evaluation.busy_s, sizeof e->busy_s);
    sum_copies(e);
    return DF_OK;
}

/* The plan is for rate: what runs of many waves say, of the placement and as the plan runs. */
static int find_rate(struct dfc_explained *e, struct df_error *error)
{
    struct dfc_rate placed, run;
    bool online = e->plan->run_as[0] && strcmp(e->plan->run_as, DFP_RUN_PLACED);
    int code = dfc_rate_find(e->problem, e->plan, true, e->options, &placed, error);
    run = placed;
    if (!code && online)
        code = dfc_rate_find(e->problem, e->plan, false, e->options, &run, error);
    if (code)
        return code;
    e->inflight = dfc_rate_inflight(e->problem, e->plan, e->options);
    e->wave_s = placed.wave_s;
    e->run_s = run.wave_s;
    memcpy(e->busy_s, placed.busy_s, sizeof e->busy_s);
    memcpy(e->copy_s, placed.copy_s, sizeof e->copy_s);
    return DF_OK;
}

static void find_shared(struct dfc_explained *e)
{
    const struct df_graph *g = e->problem->graph;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        for (uint64_t rest = e->inflight && g->nodes[v].flags & DF_NODE_ONCE ? 0 : df_node_uses(g, v); rest; rest &= rest - 1)
            e->shared_s[__builtin_ctzll(rest)] += time_of(e, v);
}

bool dfc_explain(const struct dfp_problem *problem, const struct df_plan *plan, const struct dfp_options *options,
                 const struct dfw_known *known, struct dfc_explained *e)
{
    struct df_error error = { "" };
    *e = (struct dfc_explained){ .problem = problem, .plan = plan, .options = options, .known = known };
    int code = dfp_model_init(&e->model, problem, &error);
    if (!code)
        code = dfp_evaluate(problem, plan->place, plan->priority, &e->evaluation, &error);
    if (!code)
        code = dfp_is_for_rate(problem->graph, options) ? find_rate(e, &error) : find_wave(e);
    if (!code)
        code = find_passes(e, &error);
    if (!code)
        find_shared(e);
    if (!code && !find_way(e))
        code = dfr_error_memory(&error);
    if (code) {
        dfc_error("%s", error.text);
        dfc_explained_free(e);
    }
    return !code;
}

void dfc_explained_free(struct dfc_explained *e)
{
    free(e->on_way);
    free(e->pass_of);
    e->on_way = NULL;
    e->pass_of = NULL;
}

/* Takes a limit if it is above *most_s, and says whether it is. */
static bool is_more(double limit_s, double *most_s)
{
    if (limit_s <= *most_s)
        return false;
    *most_s = limit_s;
    return true;
}

/* The longest way: of one wave; for rate each of the waves in flight goes that way, in each pass. */
static double limit_of_way(const struct dfc_explained *e, char *text, size_t size)
{
    char first[160], last[160], waves[40] = "", passes[48] = ",";
    if (e->way_nodes == 0) {
        snprintf(text, size, "none, because every node fires once");
        return 0;
    }
    df_node_name(e->problem->graph, e->way_first, first, sizeof first);
    df_node_name(e->problem->graph, e->way_last, last, sizeof last);
    if (e->inflight)
        snprintf(waves, sizeof waves, "%u wave%s in flight on ", (unsigned)e->inflight, e->inflight == 1 ? "" : "s");
    if (e->n_passes > 1)
        snprintf(passes, sizeof passes, " in each of %u passes, at most", (unsigned)e->n_passes);
    snprintf(text, size, "%sthe longest way through the graph%s %u node%s from %s to %s", waves, passes, (unsigned)e->way_nodes,
             e->way_nodes == 1 ? "" : "s", first, last);
    return e->inflight ? e->way_s / e->inflight : e->way_s;
}

static void limit_of_resource(const struct dfc_explained *e, uint32_t r, double *most_s, char *text, size_t size)
{
    const struct df_resource *resource = &e->problem->graph->resources[r];
    if (is_more(e->shared_s[r] / resource->n, most_s))
        snprintf(text, size, "%s, which %u job%s may use at a time", df_graph_string(e->problem->graph, resource->name), (unsigned)resource->n, resource->n == 1 ? "" : "s");
}

static void limit_of_unit(const struct dfc_explained *e, uint32_t u, double *most_s, char *text, size_t size)
{
    const struct df_unit *unit = &e->problem->platform->units[u];
    double busy_s = e->busy_s[u] / unit->workers, in_s = e->copy_s[u][1], out_s = e->copy_s[u][0];
    bool one = unit->engines == 1;
    if (busy_s >= *most_s && busy_s > 0) { /* a tie: the longest way is all of one worker's time */
        *most_s = busy_s;
        snprintf(text, size, "%s: its %u worker%s", unit->name, (unsigned)unit->workers,
                 unit->workers == 1 ? "" : "s");
    }
    if (u && is_more(one ? in_s + out_s : fmax(in_s, out_s), most_s))
        snprintf(text, size, "the link of %s: copies %s", unit->name,
                 one ? "both ways" : in_s > out_s ? "to it" : "from it");
    if (u && is_more(e->copy_s[u][2], most_s))
        snprintf(text, size, "the peer link of %s: copies from it", unit->name);
}

/* Does the node's job of one wave wait for that of the wave before? */
static bool is_in_order(const struct dfc_explained *e, uint32_t node)
{
    const struct df_node *n = &e->problem->graph->nodes[node];
    return !(n->flags & DF_NODE_ONCE) && (df_kernel_in_order(&e->problem->graph->kernels[n->kernel]) ||
                                          (n->depth && n->depth < e->inflight));
}

double dfc_explain_bottleneck(const struct dfc_explained *e, char *text, size_t size)
{
    double most_s = limit_of_way(e, text, size);
    for (uint32_t u = 0; u < e->problem->platform->n_units; u++)
        limit_of_unit(e, u, &most_s, text, size);
    for (uint32_t r = 0; r < e->problem->graph->n_resources; r++)
        limit_of_resource(e, r, &most_s, text, size);
    for (uint32_t v = 0; e->inflight && v < e->problem->graph->n_nodes; v++) {
        char name[160];
        if (!is_in_order(e, v) || !is_more(time_of(e, v), &most_s))
            continue;
        df_node_name(e->problem->graph, v, name, sizeof name);
        snprintf(text, size, "%s, which takes one wave after the other", name);
    }
    return e->wave_s > 0 ? most_s / e->wave_s : 0;
}

/* ---- one node ---- */

/* What a wave takes with this node alone moved, in all waves; priorities stay. */
static bool evaluate_moved(const struct dfc_explained *e, uint32_t node, uint32_t unit, double *wave_s)
{
    struct dfp_evaluation evaluation = { 0 };
    struct dfc_rate rate = { 0 };
    struct df_error error = { "" };
    struct df_plan moved = *e->plan;
    size_t n = (size_t)moved.n_nodes * moved.n_waves;
    moved.place = malloc((n + 1) * sizeof *moved.place);
    int status = moved.place ? DF_OK : dfr_error_memory(&error);
    if (moved.place) {
        memcpy(moved.place, e->plan->place, n * sizeof *moved.place);
        for (size_t at = node; at < n; at += moved.n_nodes)
            moved.place[at] = (uint16_t)unit;
        status = e->inflight ? dfc_rate_find(e->problem, &moved, true, e->options, &rate, &error)
                             : dfp_evaluate(e->problem, moved.place, moved.priority, &evaluation, &error);
    }
    free(moved.place);
    if (status != DF_OK)
        dfc_error("%s", error.text);
    *wave_s = e->inflight ? rate.wave_s : evaluation.makespan_s;
    return status == DF_OK;
}

bool dfc_explain_node(struct dfc_explained *e, uint32_t node, struct dfc_node_facts *f)
{
    uint32_t here = e->plan->place[node];
    *f = (struct dfc_node_facts){ .unit = here, .other = DF_NONE, .time_s = time_of(e, node),
                                  .copies_s = copies_at(e, node, here), .other_s = NAN, .moved_s = NAN };
    for (uint32_t u = 0; u < e->model.n_units; u++) {
        double time_s = dfp_model_time_s(&e->model, node, u);
        if (u == here || isnan(time_s))
            continue;
        double copies_s = copies_at(e, node, u);
        if (f->other != DF_NONE && time_s + copies_s >= f->other_s + f->other_copies_s)
            continue;
        f->other = u;
        f->other_s = time_s;
        f->other_copies_s = copies_s;
    }
    if (f->other == DF_NONE)
        return true;
    double moved_s;
    if (!evaluate_moved(e, node, f->other, &moved_s))
        return false;
    f->moved_s = moved_s - e->wave_s;
    return true;
}

/* Writes the reason for a node that can be on one unit only. */
static void reason_of_one(const struct dfc_explained *e, uint32_t node, char *text, size_t size)
{
    const struct df_graph *g = e->problem->graph;
    const struct df_times *t = e->problem->times;
    const struct df_node *n = &g->nodes[node];
    uint32_t own = e->model.cls[e->plan->place[node]];
    if (e->model.n_units == 1) {
        snprintf(text, size, "the platform has nothing else");
        return;
    }
    if (n->hint_class >= 0 && (uint32_t)n->hint_class == own) {
        snprintf(text, size, "it says @%s", df_graph_string(g, g->class_names[own]));
        return;
    }
    for (uint32_t u = 0; u < e->model.n_units; u++) {
        uint32_t cls = e->model.cls[u];
        if (cls == own || cls >= t->n_classes)
            continue;
        if (isnan(t->time_s[(size_t)cls * t->n_works + n->work]))
            snprintf(text, size, "%s has no %s variant", df_graph_string(g, g->kernels[n->kernel].name),
                     df_graph_string(g, g->class_names[cls]));
        else
            snprintf(text, size, "its job does not fit in %s's memory", e->problem->platform->units[u].name);
        return;
    }
    snprintf(text, size, "nothing else can run it");
}

static void reason_of_move(const struct dfc_explained *e, const struct dfc_node_facts *f, char *text, size_t size)
{
    const char *other = e->problem->platform->units[f->other].name;
    const char *wave = e->inflight ? "each wave" : "the wave";
    char time[32];
    if (fabs(f->moved_s) <= (e->inflight ? SAME_RATE : SAME) * e->wave_s)
        snprintf(text, size, "on %s %s would take as long", other, wave);
    else
        snprintf(text, size, "on %s %s would take %s %s", other, wave, dfp_text_time(time, fabs(f->moved_s)),
                 f->moved_s > 0 ? "longer" : "less");
}

void dfc_explain_reason(const struct dfc_explained *e, uint32_t node, const struct dfc_node_facts *f, char *text,
                        size_t size)
{
    char move[160], a[32], b[32];
    if (f->other == DF_NONE) {
        reason_of_one(e, node, text, size);
        return;
    }
    const char *other = e->problem->platform->units[f->other].name;
    reason_of_move(e, f, move, sizeof move);
    bool faster = f->time_s < f->other_s, alike = f->time_s == f->other_s;
    bool cheaper = f->time_s + f->copies_s <= (f->other_s + f->other_copies_s) * (1 + SAME);
    if (dfp_node_is_free(e->problem->graph, node))
        snprintf(text, size, "it costs nothing, so it is where its data is; %s", move);
    else if (alike && cheaper)
        snprintf(text, size, "%s; %s", f->copies_s < f->other_copies_s ? "as fast here, with less to copy"
                                                                       : "as fast on either", move);
    else if (faster && cheaper)
        snprintf(text, size, "%.3gx faster here; %s", f->other_s / f->time_s, move);
    else if (cheaper)
        snprintf(text, size, "slower here, but for %s it would copy %s, here %s; %s", other,
                 dfp_text_time(a, f->other_copies_s), dfp_text_time(b, f->copies_s), move);
    else if (faster)
        snprintf(text, size, "%.3gx faster here, though it copies more; %s", f->other_s / f->time_s, move);
    else
        snprintf(text, size, "balance: %s would be faster for it alone, and is busy %.0f %% of the time; %s", other,
                 e->wave_s > 0 ? 100 * e->busy_s[f->other] /
                     (e->wave_s * e->problem->platform->units[f->other].workers) : 0.0, move);
}

/* ---- order ---- */

struct weighed {
    double weight;
    uint32_t node;
};

static int compare_weighed(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

uint32_t *dfc_explain_order(const struct dfc_explained *e)
{
    uint32_t n = e->problem->graph->n_nodes;
    struct weighed *list = malloc((n + 1) * sizeof *list);
    uint32_t *order = malloc((n + 1) * sizeof *order);
    if (!list || !order) {
        dfc_error("out of memory");
        free(list);
        free(order);
        return NULL;
    }
    for (uint32_t v = 0; v < n; v++) {
        double own_s = time_of(e, v) + copies_to(e, v);
        list[v] = (struct weighed){ own_s + (e->on_way[v] && !e->inflight ? e->way_s + 1 : 0), v };
    }
    qsort(list, n, sizeof *list, compare_weighed);
    for (uint32_t v = 0; v < n; v++)
        order[v] = list[v].node;
    free(list);
    return order;
}
