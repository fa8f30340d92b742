/* explain_facts.c - finds out why a plan is as it is: the longest way, what is busy, and for one node what each of its
 * two places would mean.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/show/explain.h"
#include "compiler/tools/messages.h"
#include "partition/planner/plan_report.h"

#define SAME 1e-9                       /* relative; times that differ by less count as equal */

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

static double time_of(const struct dfc_explained *e, uint32_t node)
{
    return dfp_model_time_s(&e->model, node, e->plan->place[node]);
}

/* before[v]: when v could start if nothing else were busy. from[v]: the node that it would wait for. Numbers are a
 * topological order, so one pass is enough. */
static uint32_t walk(const struct dfc_explained *e, double *before, uint32_t *from)
{
    const struct df_graph *g = e->problem->graph;
    uint32_t last = 0;
    double longest_s = -1;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        before[v] = 0;
        from[v] = DF_NONE;
        for (uint32_t i = 0; i < df_node_n_in(g, v); i++) {
            const struct df_value *value = &g->values[g->in_value[g->nodes[v].first_in + i]];
            uint32_t p = value->producer;
            double ready_s = before[p] + time_of(e, p) + dfp_copy_time_s(e->problem->platform, e->plan->place[p],
                                                                         e->plan->place[v], value->bytes);
            if (from[v] == DF_NONE || ready_s > before[v]) {
                before[v] = ready_s;
                from[v] = p;
            }
        }
        if (before[v] + time_of(e, v) > longest_s) {
            longest_s = before[v] + time_of(e, v);
            last = v;
        }
    }
    return last;
}

static bool find_way(struct dfc_explained *e)
{
    uint32_t n = e->problem->graph->n_nodes;
    double *before = malloc((n + 1) * sizeof *before);
    uint32_t *from = malloc((n + 1) * sizeof *from);
    e->on_way = calloc(n + 1, 1);
    bool good = before && from && e->on_way;
    if (good && n > 0) {
        e->way_last = walk(e, before, from);
        e->way_s = before[e->way_last] + time_of(e, e->way_last);
        for (uint32_t v = e->way_last; v != DF_NONE; v = from[v]) {
            e->on_way[v] = 1;
            e->way_first = v;
            e->way_nodes++;
        }
    }
    free(before);
    free(from);
    return good;
}

/* ---- all of it ---- */

bool dfc_explain(const struct dfp_problem *problem, const struct df_plan *plan, struct dfc_explained *e)
{
    struct df_error error = { "" };
    *e = (struct dfc_explained){ .problem = problem, .plan = plan };
    if (dfp_model_init(&e->model, problem, &error) != DF_OK ||
        dfp_evaluate(problem, plan->place, plan->priority, &e->evaluation, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return false;
    }
    sum_copies(e);
    if (!find_way(e)) {
        dfc_error("out of memory");
        dfc_explained_free(e);
        return false;
    }
    return true;
}

void dfc_explained_free(struct dfc_explained *e)
{
    free(e->on_way);
    e->on_way = NULL;
}

double dfc_explain_bottleneck(const struct dfc_explained *e, char *text, size_t size)
{
    const struct df_platform *p = e->problem->platform;
    char first[160], last[160];
    double most_s = e->way_s;
    df_node_name(e->problem->graph, e->way_first, first, sizeof first);
    df_node_name(e->problem->graph, e->way_last, last, sizeof last);
    snprintf(text, size, "the longest way through the graph, %u node%s from %s to %s", (unsigned)e->way_nodes,
             e->way_nodes == 1 ? "" : "s", first, last);
    for (uint32_t u = 0; u < p->n_units; u++) {
        const struct df_unit *unit = &p->units[u];
        double busy_s = e->evaluation.busy_s[u] / unit->workers, in_s = e->copy_s[u][1], out_s = e->copy_s[u][0];
        bool one = unit->engines == 1;
        if (busy_s >= most_s && busy_s > 0) { /* a tie: the longest way is all of one worker's time */
            most_s = busy_s;
            snprintf(text, size, "%s: its %u worker%s", unit->name, (unsigned)unit->workers,
                     unit->workers == 1 ? "" : "s");
        }
        if (u && (one ? in_s + out_s : fmax(in_s, out_s)) > most_s) {
            most_s = one ? in_s + out_s : fmax(in_s, out_s);
            snprintf(text, size, "the link of %s: copies %s", unit->name,
                     one ? "both ways" : in_s > out_s ? "to it" : "from it");
        }
        if (u && e->copy_s[u][2] > most_s) {
            most_s = e->copy_s[u][2];
            snprintf(text, size, "the peer link of %s: copies from it", unit->name);
        }
    }
    return e->evaluation.makespan_s > 0 ? most_s / e->evaluation.makespan_s : 0;
}

/* ---- one node ---- */

/* Evaluates the placement with this node alone moved; priorities stay. */
static bool evaluate_moved(struct dfc_explained *e, uint32_t node, uint32_t unit, double *makespan_s)
{
    struct dfp_evaluation moved;
    struct df_error error = { "" };
    uint16_t kept = e->plan->place[node];
    e->plan->place[node] = (uint16_t)unit;
    int status = dfp_evaluate(e->problem, e->plan->place, e->plan->priority, &moved, &error);
    e->plan->place[node] = kept;
    if (status != DF_OK)
        dfc_error("%s", error.text);
    *makespan_s = moved.makespan_s;
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
    f->moved_s = moved_s - e->evaluation.makespan_s;
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
    char time[32];
    if (fabs(f->moved_s) <= SAME * e->evaluation.makespan_s)
        snprintf(text, size, "on %s the wave would take as long", other);
    else
        snprintf(text, size, "on %s the wave would take %s %s", other, dfp_text_time(time, fabs(f->moved_s)),
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
                 e->evaluation.makespan_s > 0 ? 100 * e->evaluation.busy_s[f->other] /
                     (e->evaluation.makespan_s * e->problem->platform->units[f->other].workers) : 0.0, move);
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
        list[v] = (struct weighed){ own_s + (e->on_way[v] ? e->way_s + 1 : 0), v };
    }
    qsort(list, n, sizeof *list, compare_weighed);
    for (uint32_t v = 0; v < n; v++)
        order[v] = list[v].node;
    free(list);
    return order;
}
