/* divide.c - decides which nodes are divided if nobody says it: those whose division is predicted to make a wave shorter.
 *
 * Candidates: the nodes of the longest jobs that can be divided. Each is tried in equal parts for the CPU workers; in parts
 *           for all units that can run it, as large as the units are fast (Qilin; Luk et al., MICRO 2009); and, if its
 *           job does not fit in a device's memory, in parts that do.
 * Choice:   the graph is elaborated with the candidate, planned by heft, and its makespan predicted. The best candidate is
 *           taken if it is better than the graph without it by GAIN. Then the next node is tried.
 * Accs:     the longest node with an acc, in 2 to ACC_PARTS parts; or one that was divided to fit, in 2 and 4 times as many parts. For
 *           each, the passes in which so many waves are fastest (dfp_passes_choose()). The best is taken if it is better by
 *           ACC_GAIN. If nobody says how many waves there are, they are GUESSED_WAVES, and what is taken is slower
 *           by at most ACC_LOSS if it goes by once, as it does if there are very many.
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

#define MOST_TRIED 4u                   /* nodes */
#define MOST_NODES 5000u
#define LEAST_PART_S 50e-6
#define GAIN 0.97                       /* dfc_emit_divisions() says it */
#define ACC_PARTS 16u                   /* that are tried for an acc */
#define ACC_GAIN 0.98
#define ACC_LOSS 1.01
#define GUESSED_WAVES 100u
#define ROOM 0.8                        /* of a device's memory that a part may take */

struct attempt {                        /* the graph with some divisions */
    struct dfl_sink *sink;
    struct dfc_front *front;
    struct df_times times;
    double predicted_s;
    struct dfp_passes passes;           /* if it is of an acc */
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
    const struct dfp_problem problem = { .graph = graph, .platform = platform, .times = times };
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

/* Adds a division to a list of *n. false: no memory. */
static bool append(struct dfc_division **divisions, size_t *n, const char *node, const struct candidate *c)
{
    struct dfc_division *list = realloc(*divisions, (*n + 1) * sizeof *list);
    double *weights = malloc(c->n * sizeof *weights);
    char *name = malloc(strlen(node) + 1);
    if (list)
        *divisions = list;
    if (!list || !weights || !name) {
        free(weights);
        free(name);
        return false;
    }
    memcpy(weights, c->weights, c->n * sizeof *weights);
    memcpy(name, node, strlen(node) + 1);
    list[(*n)++] = (struct dfc_division){ .node = name, .n = c->n, .weights = weights, .why = c->why };
    return true;
}

static void drop(struct dfc_division *list, size_t *n, size_t i)
{
    free((char *)list[i].node);
    free((double *)list[i].weights);
    memmove(&list[i], &list[i + 1], (--*n - i) * sizeof *list);
}

/* To those of `loaded`. If the node is divided already, this division counts. false: no memory. */
static bool add_division(struct dfc_loaded *loaded, const char *node, const struct candidate *c)
{
    return append(&loaded->divisions, &loaded->n_divisions, node, c);
}

static void drop_division(struct dfc_loaded *loaded, size_t i) { drop(loaded->divisions, &loaded->n_divisions, i); }

void dfc_divisions_free(struct dfc_loaded *loaded)
{
    while (loaded->n_divisions)
        drop_division(loaded, loaded->n_divisions - 1);
    while (loaded->n_declined)
        drop(loaded->declined, &loaded->n_declined, loaded->n_declined - 1);
    free(loaded->divisions);
    free(loaded->declined);
    loaded->divisions = loaded->declined = NULL;
}

/* Remembers the best division of a node that would not pay. Without memory it is forgotten, which changes nothing. */
static void decline(struct dfc_loaded *loaded, const char *node, const struct candidate *c, double after_s, double before_s)
{
    if (isinf(after_s) || isinf(before_s) || !append(&loaded->declined, &loaded->n_declined, node, c))
        return;
    loaded->declined[loaded->n_declined - 1].before_s = before_s;
    loaded->declined[loaded->n_declined - 1].after_s = after_s;
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
    const struct attempt old = { loaded->sink, loaded->front, loaded->times, 0, { 0 } };
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
    const bool acc = df_node_n_acc(loaded->front->graph, v) > 0;
    struct choice choice = { .best_s = *now_s * GAIN };
    struct candidate c, nearest;
    double nearest_s = INFINITY;
    char name[512];
    df_node_name(loaded->front->graph, v, name, sizeof name);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct attempt a;
        if (!kinds[i](loaded, v, &c) || !add_division(loaded, name, &c))
            continue;
        if (attempt_make(common, need_code, loaded, &a)) {
            if (a.predicted_s < nearest_s) {
                nearest = c;
                nearest_s = a.predicted_s;
            }
            keep_best(&choice, &a, &c);
        }
        drop_division(loaded, loaded->n_divisions - 1);
    }
    if (take(loaded, &choice, name, now_s))
        loaded->divisions[loaded->n_divisions - 1].acc = acc;
    else if (!acc)
        decline(loaded, name, &nearest, nearest_s, *now_s);
}

/* ---- accs ---- */

static bool choose_passes(const struct dfc_loaded *loaded, const struct df_graph *graph, const struct df_times *times,
                          struct dfp_passes *passes)
{
    const struct dfp_problem problem = { .graph = graph, .platform = &loaded->platform, .times = times };
    struct df_error error;
    return dfr_times_known(graph, times) && dfp_passes_choose(&problem, loaded->waves, passes, &error) == DF_OK;
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

/* The acc that is to be divided, or divided into more parts: name[0] is 0 if there is none. Gives the division that it has, or DF_NONE. */
static size_t find_acc(const struct dfc_loaded *loaded, char *name, size_t size)
{
    for (size_t i = 0; i < loaded->n_divisions; i++)
        if (loaded->divisions[i].acc) {
            snprintf(name, size, "%s", loaded->divisions[i].node);
            return i;
        }
    const uint32_t v = longest_acc(loaded);
    name[0] = 0;
    if (v != DF_NONE)
        df_node_name(loaded->front->graph, v, name, size);
    return DF_NONE;
}

/* So many equal parts of the acc, in the passes that are best for them. */
static void try_acc(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded, const char *name, uint32_t n,
                    struct choice *choice)
{
    struct candidate c = { .n = n, .why = "because a part leaves its device while the next one is changed" };
    struct attempt a;
    for (uint32_t i = 0; i < n; i++)
        c.weights[i] = 1;
    if (!add_division(loaded, name, &c))
        return;
    if (attempt_make(common, need_code, loaded, &a)) {
        const bool good = choose_passes(loaded, a.front->graph, &a.times, &a.passes) &&
                          (!loaded->waves_guessed || a.passes.least_s <= ACC_LOSS * loaded->passes.least_s);
        a.predicted_s = good ? a.passes.predicted_s : INFINITY;
        keep_best(choice, &a, &c);
    }
    drop_division(loaded, loaded->n_divisions - 1);
}

/* Chooses the parts of an acc, and the passes of the waves. */
static void divide_acc(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded)
{
    char name[512];
    const size_t old = find_acc(loaded, name, sizeof name);
    const uint32_t n = old == DF_NONE ? 1 : loaded->divisions[old].n, most = n == 1 ? ACC_PARTS : 4 * n;
    struct choice choice = { .best_s = loaded->passes.predicted_s * ACC_GAIN };
    for (uint32_t k = 2 * n; *name && k <= most && k <= DF_MAX_WORKERS; k *= 2)
        try_acc(common, need_code, loaded, name, k, &choice);
    const struct dfp_passes passes = choice.best.passes;
    double now_s = loaded->passes.predicted_s;
    if (!take(loaded, &choice, name, &now_s))
        return;
    if (old != DF_NONE)
        drop_division(loaded, old);
    loaded->passes = passes;
    loaded->divisions[loaded->n_divisions - 1].waves = loaded->waves;
    loaded->divisions[loaded->n_divisions - 1].passes = passes.n;
}

/* ---- all of it ---- */

static void divide_nodes(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded)
{
    const struct df_graph *g = loaded->front->graph;
    const bool must = common->partition.objective == DFP_THROUGHPUT ||
                      (common->partition.objective == DFP_BY_GRAPH && df_graph_has_streams(g)); /* then only what fits nowhere is divided */
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
}

void dfc_divide(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded)
{
    const struct df_graph *g = loaded->front->graph;
    const bool free_to = !common->parts && g->n_nodes <= MOST_NODES;
    bool accs = false;
    if (common->exported || common->graph || loaded->front->has_dynamic || !dfr_times_known(g, &loaded->times))
        return;
    if (free_to)
        divide_nodes(common, need_code, loaded);
    loaded->waves_guessed = common->waves == 0;
    loaded->waves = common->waves ? common->waves : GUESSED_WAVES;
    for (uint32_t v = 0; v < loaded->front->graph->n_nodes; v++)
        accs |= df_node_n_acc(loaded->front->graph, v) > 0;
    if (!accs || common->passes || loaded->waves < 2 || loaded->platform.n_units < 2 ||
        !choose_passes(loaded, loaded->front->graph, &loaded->times, &loaded->passes))
        return;
    if (free_to)
        divide_acc(common, need_code, loaded);
}
