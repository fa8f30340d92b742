/* divide.c - decides which nodes are divided if nobody says it: those whose division is predicted to make a wave shorter.
 *
 * Candidates: the nodes of the longest jobs that can be divided. Each is tried in equal parts for the CPU workers; in parts
 *           for all units that can run it, as large as the units are fast (Qilin; Luk et al., MICRO 2009); and, if its
 *           job does not fit in a device's memory, in parts that do.
 * Choice:   the graph is elaborated with the candidate, planned by heft, and its makespan predicted. The best candidate is
 *           taken if it is better than the graph without it by GAIN. Then the next node is tried.
 * Accs:     if the number of waves is known, and nothing was divided: the longest node with an acc, in 2 to ACC_PARTS parts and as many
 *           passes. They are simulated, and the fastest is taken if it is better by ACC_GAIN.
 * Declined: parts that would take less than LEAST_PART_S. Graphs that are for throughput (with streams, say), because waves
 *           keep the units busy; there, only what fits nowhere is divided. Graphs whose times are not known, and large ones, because each try takes as long as
 *           reading the graph. Programs with sizes that are given at start, and libraries.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/load/load.h"
#include "compiler/tools/messages.h"
#include "profiles/estimate/roofline.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/fit.h"
#include "runtime/simulate/simulate.h"

#define MOST_TRIED 4u                   /* nodes */
#define MOST_NODES 5000u
#define LEAST_PART_S 50e-6
#define GAIN 0.97
#define ACC_PARTS 16u                   /* and passes that are tried for an acc */
#define ACC_GAIN 0.98
#define ACC_JOBS 4000000u               /* of a simulation */
#define ROOM 0.8                        /* of a device's memory that a part may take */

struct attempt {                        /* the graph with some divisions */
    struct dfl_sink *sink;
    struct dfc_front *front;
    struct df_times times;
    double predicted_s;
};

static void attempt_free(struct attempt *a)
{
    dfr_times_free(&a->times);
    dfc_front_free(a->front);
    dfl_sink_free(a->sink);
    *a = (struct attempt){ 0 };
}

static double predict(const struct df_graph *graph, const struct df_platform *platform, const struct df_times *times)
{
    const struct dfp_problem problem = { graph, platform, times };
    struct dfp_options options;
    struct df_plan *plan = NULL;
    struct df_error error;
    double predicted_s = INFINITY;
    dfp_options_default(&options);
    options.no_memory = true;
    if (dfp_plan_make(&problem, "heft", &options, &plan, &error) == DF_OK)
        predicted_s = plan->predicted_s;
    dfr_plan_free(plan);
    return predicted_s;
}

/* false: the graph cannot be made so, which changes nothing. */
static bool attempt_make(const struct dfc_common *common, bool need_code, const struct dfc_loaded *loaded,
                         struct attempt *a)
{
    struct df_error error;
    *a = (struct attempt){ .sink = dfl_sink_new(stderr) };
    if (!a->sink)
        return false;
    dfl_sink_program(a->sink, "dfc");
    dfl_sink_no_warnings(a->sink);      /* they were told */
    bool made = dfc_run_front(common, need_code, loaded->divisions, loaded->n_divisions, a->sink, &a->front) &&
                dfw_rates_give(&loaded->rates, a->front->graph, &error) == DF_OK &&
                dfw_known_times(&loaded->known, a->front->graph, &a->times, &error) == DF_OK;
    if (made && dfw_roofline_times(&loaded->known, a->front->graph, a->front->operations, &a->times, &error) == DF_OK) {
        a->predicted_s = predict(a->front->graph, &loaded->platform, &a->times);
        return true;
    }
    attempt_free(a);
    return false;
}

/* ---- candidates ---- */

struct candidate {
    uint32_t n;
    double weights[DF_MAX_WORKERS + DF_MAX_UNITS];
    const char *why;
};

static double unit_time_s(const struct dfc_loaded *loaded, uint32_t v, uint32_t unit)
{
    const struct df_graph *g = loaded->front->graph;
    const struct df_unit *u = &loaded->platform.units[unit];
    const uint32_t cls = u->cls;
    if (cls >= loaded->times.n_classes || (g->nodes[v].hint_class >= 0 && (uint32_t)g->nodes[v].hint_class != cls))
        return NAN;
    return loaded->times.time_s[(size_t)cls * loaded->times.n_works + g->nodes[v].work];
}

/* What a device needs for the job, if its inputs come from the host and its outputs go there. */
static double with_copies_s(const struct dfc_loaded *loaded, uint32_t v, uint32_t unit)
{
    const struct df_graph *g = loaded->front->graph;
    const struct df_unit *u = &loaded->platform.units[unit];
    const struct df_node *node = &g->nodes[v];
    double in = 0, out = 0, time_s = unit_time_s(loaded, v, unit);
    for (uint32_t i = 0; i < df_node_n_in(g, v); i++)
        in += (double)g->values[g->in_value[node->first_in + i]].bytes;
    for (uint32_t y = node->first_out; y < node->first_out + df_node_n_out(g, v); y++)
        out += (double)g->values[y].bytes;
    if (unit == 0 || u->unified || !(u->h2d.bytes_per_s > 0) || !(u->d2h.bytes_per_s > 0))
        return time_s;
    return time_s + in / u->h2d.bytes_per_s + out / u->d2h.bytes_per_s + u->launch_s;
}

static bool for_workers(const struct dfc_loaded *loaded, uint32_t v, struct candidate *c)
{
    const uint32_t workers = loaded->platform.units[0].workers;
    *c = (struct candidate){ .n = workers, .why = "for the CPU workers" };
    for (uint32_t i = 0; i < workers; i++)
        c->weights[i] = 1;
    return workers > 1 && unit_time_s(loaded, v, 0) / workers >= LEAST_PART_S;
}

static bool for_all_units(const struct dfc_loaded *loaded, uint32_t v, struct candidate *c)
{
    const struct df_platform *p = &loaded->platform;
    bool devices = false, long_enough = true;
    double total = 0;
    *c = (struct candidate){ .why = "by the speeds of the units" };
    for (uint32_t u = p->n_units; u-- > 0;) {
        const double time_s = with_copies_s(loaded, v, u);
        for (uint32_t i = 0; time_s > 0 && i < p->units[u].workers; i++)
            total += c->weights[c->n++] = 1 / time_s;
        devices |= u > 0 && time_s > 0;
    }
    for (uint32_t i = 0; i < c->n; i++)
        long_enough &= 1 / total >= LEAST_PART_S; /* all parts take the same time */
    return devices && c->n > 1 && long_enough;
}

/* In parts that fit in the smallest memory of the devices that can run the node. */
static bool for_memory(const struct dfc_loaded *loaded, uint32_t v, struct candidate *c)
{
    const struct df_platform *p = &loaded->platform;
    const double bytes = (double)dfr_job_bytes(loaded->front->graph, v);
    double n = 1;
    *c = (struct candidate){ .why = "because a job does not fit in a device's memory" };
    for (uint32_t u = 1; u < p->n_units; u++)
        if (unit_time_s(loaded, v, u) > 0 && p->units[u].memory_bytes && bytes > (double)p->units[u].memory_bytes)
            n = fmax(n, ceil(2 * bytes / (ROOM * (double)p->units[u].memory_bytes))); /* two are there at a time */
    c->n = n <= DF_MAX_WORKERS ? (uint32_t)n : 0;
    for (uint32_t i = 0; i < c->n; i++)
        c->weights[i] = 1;
    return c->n > 1;
}

/* ---- nodes ---- */

static bool can_divide(const struct dfc_front *front, uint32_t v)
{
    const struct df_graph *g = front->graph;
    const struct df_kernel *k = &g->kernels[g->nodes[v].kernel];
    const uint32_t id = g->nodes[v].kernel;
    bool split = id < front->n_kernels && front->kernels[id].formula && !front->kernels[id].cpu && !front->kernels[id].gpu;
    for (uint32_t p = 0; p < k->n_ports; p++)
        split |= g->kports[k->first_port + p].split;
    return split && (g->nodes[v].part == DF_NONE || g->parts[g->nodes[v].part].n == 1);
}

static double least_time_s(const struct dfc_loaded *loaded, uint32_t v)
{
    double least = INFINITY;
    for (uint32_t u = 0; u < loaded->platform.n_units; u++)
        least = fmin(least, unit_time_s(loaded, v, u)); /* fmin passes over NaN */
    return least;
}

/* Of the nodes that were not tried, the one of the longest job that can be divided. DF_NONE: there is none. */
static uint32_t longest(const struct dfc_loaded *loaded, const bool *tried)
{
    const struct df_graph *g = loaded->front->graph;
    uint32_t best = DF_NONE;
    double best_s = 2 * LEAST_PART_S;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const double time_s = tried[v] || !can_divide(loaded->front, v) ? 0 : least_time_s(loaded, v);
        if (time_s > best_s && !isinf(time_s)) {
            best = v;
            best_s = time_s;
        }
    }
    return best;
}

/* ---- choosing ---- */

/* Adds a division to those of `loaded`. false: no memory. */
static bool add_division(struct dfc_loaded *loaded, const char *node, const struct candidate *c)
{
    struct dfc_division *list = realloc(loaded->divisions, (loaded->n_divisions + 1) * sizeof *list);
    double *weights = malloc(c->n * sizeof *weights);
    char *name = malloc(strlen(node) + 1);
    if (list)
        loaded->divisions = list;
    if (!list || !weights || !name) {
        free(weights);
        free(name);
        return false;
    }
    memcpy(weights, c->weights, c->n * sizeof *weights);
    memcpy(name, node, strlen(node) + 1);
    list[loaded->n_divisions++] = (struct dfc_division){ .node = name, .n = c->n, .weights = weights, .why = c->why };
    return true;
}

static void drop_division(struct dfc_loaded *loaded)
{
    const struct dfc_division *last = &loaded->divisions[--loaded->n_divisions];
    free((char *)last->node);
    free((double *)last->weights);
}

void dfc_divisions_free(struct dfc_loaded *loaded)
{
    while (loaded->n_divisions)
        drop_division(loaded);
    free(loaded->divisions);
    loaded->divisions = NULL;
}

/* The best of several attempts for a node, and the candidate that it was made with. */
struct choice {
    struct attempt best;
    struct candidate candidate;
    double best_s;                      /* what an attempt must be faster than */
};

/* Keeps the attempt if it is the best so far; else it is freed. */
static void keep_best(struct choice *choice, struct attempt *a, const struct candidate *c)
{
    if (a->predicted_s >= choice->best_s) {
        attempt_free(a);
        return;
    }
    attempt_free(&choice->best);
    choice->best = *a;
    choice->best_s = a->predicted_s;
    choice->candidate = *c;
}

/* Takes the graph and the division of an attempt, if there is one. *now_s: what was predicted without it, and then with it. */
static bool take(struct dfc_loaded *loaded, struct choice *choice, const char *name, double *now_s)
{
    struct attempt *best = &choice->best;
    if (!best->front || !add_division(loaded, name, &choice->candidate)) {
        attempt_free(best);
        return false;
    }
    struct dfc_division *taken = &loaded->divisions[loaded->n_divisions - 1];
    taken->before_s = *now_s;
    taken->after_s = *now_s = best->predicted_s;
    const struct attempt old = { loaded->sink, loaded->front, loaded->times, 0 };
    loaded->sink = best->sink;
    loaded->front = best->front;
    loaded->times = best->times;
    *best = old;
    attempt_free(best);
    return true;
}

/* Tries the candidates for the node, and keeps the graph of the best if it is good enough. */
static void divide_node(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded, uint32_t v,
                        double *now_s)
{
    bool (*const kinds[])(const struct dfc_loaded *, uint32_t, struct candidate *) = { for_workers, for_all_units,
                                                                                       for_memory };
    struct choice choice = { .best_s = *now_s * GAIN };
    struct candidate c;
    char name[512];
    df_node_name(loaded->front->graph, v, name, sizeof name);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct attempt a;
        if (!kinds[i](loaded, v, &c) || !add_division(loaded, name, &c))
            continue;
        if (attempt_make(common, need_code, loaded, &a))
            keep_best(&choice, &a, &c);
        drop_division(loaded);
    }
    take(loaded, &choice, name, now_s);
}

/* ---- accs ---- */

/* Of many waves that go by so often. INFINITY: it cannot be simulated. */
static double simulated_s(const struct dfc_loaded *loaded, const struct df_graph *graph, const struct df_times *times, uint32_t waves,
                          uint32_t passes)
{
    const struct dfp_problem problem = { graph, &loaded->platform, times };
    struct dfr_simulate_options how = { .policy = "heft", .waves = waves, .passes = passes, .inflight = DFP_DEFAULT_INFLIGHT };
    struct dfr_simulation simulation = { 0 };
    struct dfp_options options;
    struct df_plan *plan = NULL;
    struct df_error error;
    dfp_options_default(&options);
    options.no_memory = true;
    bool good = dfp_plan_make(&problem, "heft", &options, &plan, &error) == DF_OK;
    how.plan = plan;
    good = good && dfr_simulate(graph, &loaded->platform, times, &how, &simulation, &error) == DF_OK;
    dfr_plan_free(plan);
    return good ? simulation.makespan_s : INFINITY;
}

static uint32_t longest_acc(const struct dfc_loaded *loaded)
{
    const struct df_graph *g = loaded->front->graph;
    uint32_t best = DF_NONE;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (df_node_n_acc(g, v) > 0 && can_divide(loaded->front, v) && !isinf(least_time_s(loaded, v)) &&
            (best == DF_NONE || least_time_s(loaded, v) > least_time_s(loaded, best)))
            best = v;
    return best;
}

/* Tries as many passes as parts, so that a part leaves its device while the next one is changed. */
static void divide_acc(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded)
{
    const uint32_t v = longest_acc(loaded);
    struct candidate c = { .why = "because a part leaves its device while the next one is changed" };
    char name[512];
    if (v == DF_NONE)
        return;
    df_node_name(loaded->front->graph, v, name, sizeof name);
    double now_s = simulated_s(loaded, loaded->front->graph, &loaded->times, common->waves, 1);
    struct choice choice = { .best_s = now_s * ACC_GAIN };
    for (c.n = 2; c.n <= ACC_PARTS; c.n *= 2) {
        struct attempt a;
        for (uint32_t i = 0; i < c.n; i++)
            c.weights[i] = 1;
        if (!add_division(loaded, name, &c))
            continue;
        if (attempt_make(common, need_code, loaded, &a)) {
            a.predicted_s = simulated_s(loaded, a.front->graph, &a.times, common->waves, c.n);
            keep_best(&choice, &a, &c);
        }
        drop_division(loaded);
    }
    if (take(loaded, &choice, name, &now_s)) {
        loaded->divisions[loaded->n_divisions - 1].waves = common->waves;
        loaded->divisions[loaded->n_divisions - 1].passes = loaded->passes = choice.candidate.n;
    }
}

void dfc_divide(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded)
{
    const struct df_graph *g = loaded->front->graph;
    if (common->parts || common->exported || common->graph || loaded->front->has_dynamic || g->n_nodes > MOST_NODES ||
        !dfr_times_known(g, &loaded->times))
        return;
    const bool must = dfp_is_for_rate(g, &common->partition); /* then only what fits nowhere is divided */
    bool any = false;
    for (uint32_t v = 0; v < g->n_nodes && !any; v++)
        any = can_divide(loaded->front, v) && least_time_s(loaded, v) > 2 * LEAST_PART_S;
    double now_s = any ? predict(g, &loaded->platform, &loaded->times) : 0;
    for (uint32_t done = 0; any && done < MOST_TRIED && (!must || isinf(now_s)); done++) {
        const uint32_t n_nodes = loaded->front->graph->n_nodes;
        bool *tried = calloc((size_t)n_nodes + 1, sizeof *tried);
        if (!tried)
            return;
        /* Nodes are numbered anew when one is divided. Those that were tried are longer than those that were not. */
        uint32_t v = DF_NONE, left = done + 1 - (uint32_t)loaded->n_divisions;
        while (left-- > 0 && (v = longest(loaded, tried)) != DF_NONE)
            tried[v] = true;
        free(tried);
        if (v == DF_NONE)
            break;
        divide_node(common, need_code, loaded, v, &now_s);
    }
    if (common->waves > 1 && common->passes == 0 && loaded->n_divisions == 0 && loaded->platform.n_units > 1 &&
        (uint64_t)common->waves * (g->n_nodes + ACC_PARTS) * ACC_PARTS <= ACC_JOBS)
        divide_acc(common, need_code, loaded);
}
