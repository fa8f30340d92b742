/* divide.c - chooses which nodes are divided into parts when the program does not say so: those whose division is
 * predicted to shorten a wave. load/load_divided.c calls it for dfc's commands, and front/replan.c for programs that change their
 * sizes; both print the choice with it, as show/emit_plan.c does.
 *
 * Candidates: the nodes with the longest jobs that can be divided. Each is tried in equal parts for the CPU workers; in
 *             parts for all units that can run it, sized by the units' speeds (Qilin; Luk et al., MICRO 2009); and, if
 *             its job does not fit in a device's memory, in parts that fit.
 * Choice:     the graph is elaborated with the candidate division, planned by heft, and its makespan predicted. The
 *             best candidate is taken if it beats the graph without it by GAIN. Then the next node is tried.
 * Accs:       the longest node with an acc, in 2 to ACC_PARTS parts, or, if it was already divided to fit in memory, in
 *             2 and 4 times as many. For each number of parts the fastest number of passes over the waves is found
 *             (dfp_passes_choose()). The best is taken if it gains at least ACC_GAIN. If the number of waves is
 *             unknown, GUESSED_WAVES is assumed, and the choice may cost at most ACC_LOSS in a single pass, which is
 *             what very long runs use.
 * Declined:   parts that would take less than LEAST_PART_S, unless they serve to fit in memory. In graphs that optimise
 *             throughput (with streams, for example), whose waves keep the units busy, and in graphs with unknown
 *             times, only nodes that fit nowhere are divided. Large graphs are left alone, because each trial
 *             elaborates the whole graph again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/divide/divide.h"
#include "runtime/base/text.h"
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
    struct dfc_made made;
    double predicted_s;
    struct dfp_passes passes;           /* if it is of an acc */
};

static void attempt_free(const struct dfc_divide *d, struct attempt *a)
{
    if (a->made.front)
        d->unmake(&a->made);
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
static bool attempt_make(const struct dfc_divide *d, struct attempt *a)
{
    *a = (struct attempt){ 0 };
    if (!d->make(d->arg, d->divisions, d->n_divisions, &a->made))
        return false;
    a->predicted_s = predict(a->made.front->graph, d->platform, &a->made.times);
    return true;
}

/* ---- candidates ---- */

struct candidate {
    uint32_t n;
    double weights[DF_MAX_WORKERS + DF_MAX_UNITS];
    const char *why;
};

static double unit_time_s(const struct dfc_divide *d, uint32_t v, uint32_t unit)
{
    const struct df_graph *g = d->made.front->graph;
    const struct df_unit *u = &d->platform->units[unit];
    const uint32_t cls = u->cls;
    if (cls >= d->made.times.n_classes || (g->nodes[v].hint_class >= 0 && (uint32_t)g->nodes[v].hint_class != cls))
        return NAN;
    return d->made.times.time_s[(size_t)cls * d->made.times.n_works + g->nodes[v].work];
}

/* What a device needs for the job, if its inputs come from the host and its outputs go there. */
static double with_copies_s(const struct dfc_divide *d, uint32_t v, uint32_t unit)
{
    const struct df_graph *g = d->made.front->graph;
    const struct df_unit *u = &d->platform->units[unit];
    const struct df_node *node = &g->nodes[v];
    double in = 0, out = 0, time_s = unit_time_s(d, v, unit);
    for (uint32_t i = 0; i < df_node_n_in(g, v); i++)
        in += (double)g->values[g->in_value[node->first_in + i]].bytes;
    for (uint32_t y = node->first_out; y < node->first_out + df_node_n_out(g, v); y++)
        out += (double)g->values[y].bytes;
    if (unit == 0 || u->unified || !(u->h2d.bytes_per_s > 0) || !(u->d2h.bytes_per_s > 0))
        return time_s;
    return time_s + in / u->h2d.bytes_per_s + out / u->d2h.bytes_per_s + u->launch_s;
}

static bool for_workers(const struct dfc_divide *d, uint32_t v, struct candidate *c)
{
    const uint32_t workers = d->platform->units[0].workers;
    *c = (struct candidate){ .n = workers, .why = "for the CPU workers" };
    for (uint32_t i = 0; i < workers; i++)
        c->weights[i] = 1;
    return workers > 1 && unit_time_s(d, v, 0) / workers >= LEAST_PART_S;
}

static bool for_all_units(const struct dfc_divide *d, uint32_t v, struct candidate *c)
{
    const struct df_platform *p = d->platform;
    bool devices = false, long_enough = true;
    double total = 0;
    *c = (struct candidate){ .why = "by the speeds of the units" };
    for (uint32_t u = p->n_units; u-- > 0;) {
        const double time_s = with_copies_s(d, v, u);
        for (uint32_t i = 0; time_s > 0 && i < p->units[u].workers; i++)
            total += c->weights[c->n++] = 1 / time_s;
        devices |= u > 0 && time_s > 0;
    }
    for (uint32_t i = 0; i < c->n; i++)
        long_enough &= 1 / total >= LEAST_PART_S; /* all parts take the same time */
    return devices && c->n > 1 && long_enough;
}

/* In parts that fit in the smallest memory of the devices that can run the node. */
static bool for_memory(const struct dfc_divide *d, uint32_t v, struct candidate *c)
{
    const struct df_platform *p = d->platform;
    const double bytes = (double)dfr_job_bytes(d->made.front->graph, v);
    double n = 1;
    *c = (struct candidate){ .why = "because a job does not fit in a device's memory" };
    for (uint32_t u = 1; u < p->n_units; u++)
        if (unit_time_s(d, v, u) > 0 && p->units[u].memory_bytes && bytes > (double)p->units[u].memory_bytes)
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
    bool split = id < front->n_kernels && front->kernels[id].formula && !front->kernels[id].cpu && !front->kernels[id].gpu && !front->kernels[id].opencl;
    for (uint32_t p = 0; p < k->n_ports; p++)
        split |= g->kports[k->first_port + p].split;
    return split && (g->nodes[v].part == DF_NONE || g->parts[g->nodes[v].part].n == 1);
}

static double least_time_s(const struct dfc_divide *d, uint32_t v)
{
    double least = INFINITY;
    for (uint32_t u = 0; u < d->platform->n_units; u++)
        least = fmin(least, unit_time_s(d, v, u)); /* fmin passes over NaN */
    return least;
}

/* Can it be divided, and may that pay? Short jobs are divided for memory alone. */
static bool is_worth(const struct dfc_divide *d, uint32_t v)
{
    struct candidate c;
    return can_divide(d->made.front, v) && (least_time_s(d, v) > 2 * LEAST_PART_S || for_memory(d, v, &c));
}

/* Of the nodes that were not tried, the one of the longest job that can be divided. DF_NONE: there is none. */
static uint32_t longest(const struct dfc_divide *d, const bool *tried)
{
    const struct df_graph *g = d->made.front->graph;
    uint32_t best = DF_NONE;
    double best_s = -1;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const double time_s = tried[v] || !is_worth(d, v) ? -1 : least_time_s(d, v);
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

/* To those that there are. If the node is divided already, this division counts. false: no memory. */
static bool add_division(struct dfc_divide *d, const char *node, const struct candidate *c)
{
    return append(&d->divisions, &d->n_divisions, node, c);
}

static void drop_division(struct dfc_divide *d, size_t i) { drop(d->divisions, &d->n_divisions, i); }

void dfc_divide_free(struct dfc_divide *d)
{
    while (d->n_divisions)
        drop_division(d, d->n_divisions - 1);
    while (d->n_declined)
        drop(d->declined, &d->n_declined, d->n_declined - 1);
    free(d->divisions);
    free(d->declined);
    d->divisions = d->declined = NULL;
}

/* Remembers the best division of a node that would not pay. Without memory it is forgotten, which changes nothing. */
static void decline(struct dfc_divide *d, const char *node, const struct candidate *c, double after_s, double before_s)
{
    if (isinf(after_s) || isinf(before_s) || !append(&d->declined, &d->n_declined, node, c))
        return;
    d->declined[d->n_declined - 1].before_s = before_s;
    d->declined[d->n_declined - 1].after_s = after_s;
}

/* The best of several attempts for a node, and the candidate that it was made with. */
struct choice {
    struct attempt best;
    struct candidate candidate;
    double best_s;                      /* what an attempt must be faster than */
};

/* Keeps the attempt if it is the best so far; else it is freed. */
static void keep_best(const struct dfc_divide *d, struct choice *choice, struct attempt *a, const struct candidate *c)
{
    if (a->predicted_s >= choice->best_s) {
        attempt_free(d, a);
        return;
    }
    attempt_free(d, &choice->best);
    choice->best = *a;
    choice->best_s = a->predicted_s;
    choice->candidate = *c;
}

/* Takes the graph and the division of an attempt, if there is one. *now_s: what was predicted without it, and then with it. */
static bool take(struct dfc_divide *d, struct choice *choice, const char *name, double *now_s)
{
    struct attempt *best = &choice->best;
    if (!best->made.front || !add_division(d, name, &choice->candidate)) {
        attempt_free(d, best);
        return false;
    }
    struct dfc_division *taken = &d->divisions[d->n_divisions - 1];
    taken->before_s = *now_s;
    taken->after_s = *now_s = best->predicted_s;
    d->unmake(&d->made);
    d->made = best->made;
    *best = (struct attempt){ 0 };
    return true;
}

/* Tries the candidates for the node, and keeps the graph of the best if it is good enough. */
static void divide_node(struct dfc_divide *d, uint32_t v,
                        double *now_s)
{
    bool (*const kinds[])(const struct dfc_divide *, uint32_t, struct candidate *) = { for_workers, for_all_units,
                                                                                       for_memory };
    const bool acc = df_node_n_acc(d->made.front->graph, v) > 0;
    struct choice choice = { .best_s = *now_s * GAIN };
    struct candidate c, nearest;
    double nearest_s = INFINITY;
    char name[512];
    df_node_name(d->made.front->graph, v, name, sizeof name);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct attempt a;
        if (!kinds[i](d, v, &c) || !add_division(d, name, &c))
            continue;
        if (attempt_make(d, &a)) {
            if (a.predicted_s < nearest_s) {
                nearest = c;
                nearest_s = a.predicted_s;
            }
            keep_best(d, &choice, &a, &c);
        }
        drop_division(d, d->n_divisions - 1);
    }
    if (take(d, &choice, name, now_s))
        d->divisions[d->n_divisions - 1].acc = acc;
    else if (!acc)
        decline(d, name, &nearest, nearest_s, *now_s);
}

/* ---- accs ---- */

static bool choose_passes(const struct dfc_divide *d, const struct df_graph *graph, const struct df_times *times,
                          struct dfp_passes *passes)
{
    const struct dfp_problem problem = { .graph = graph, .platform = d->platform, .times = times };
    struct df_error error;
    return dfr_times_known(graph, times, d->platform) && dfp_passes_choose(&problem, d->waves, passes, &error) == DF_OK;
}

static uint32_t longest_acc(const struct dfc_divide *d)
{
    const struct df_graph *g = d->made.front->graph;
    uint32_t best = DF_NONE;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (df_node_n_acc(g, v) > 0 && can_divide(d->made.front, v) && !isinf(least_time_s(d, v)) &&
            (best == DF_NONE || least_time_s(d, v) > least_time_s(d, best)))
            best = v;
    return best;
}

/* The acc that is to be divided, or divided into more parts: name[0] is 0 if there is none. Gives the division that it has, or DF_NONE. */
static size_t find_acc(const struct dfc_divide *d, char *name, size_t size)
{
    for (size_t i = 0; i < d->n_divisions; i++)
        if (d->divisions[i].acc) {
            snprintf(name, size, "%s", d->divisions[i].node);
            return i;
        }
    const uint32_t v = longest_acc(d);
    name[0] = 0;
    if (v != DF_NONE)
        df_node_name(d->made.front->graph, v, name, size);
    return DF_NONE;
}

/* So many equal parts of the acc, in the passes that are best for them. */
static void try_acc(struct dfc_divide *d, const char *name, uint32_t n, struct choice *choice)
{
    struct candidate c = { .n = n, .why = "because a part leaves its device while the next one is changed" };
    struct attempt a;
    for (uint32_t i = 0; i < n; i++)
        c.weights[i] = 1;
    if (!add_division(d, name, &c))
        return;
    if (attempt_make(d, &a)) {
        const bool good = choose_passes(d, a.made.front->graph, &a.made.times, &a.passes) &&
                          (!d->waves_guessed || a.passes.least_s <= ACC_LOSS * d->passes.least_s);
        a.predicted_s = good ? a.passes.predicted_s : INFINITY;
        keep_best(d, choice, &a, &c);
    }
    drop_division(d, d->n_divisions - 1);
}

/* Chooses the parts of an acc, and the passes of the waves. */
static void divide_acc(struct dfc_divide *d)
{
    char name[512];
    const size_t old = find_acc(d, name, sizeof name);
    const uint32_t n = old == DF_NONE ? 1 : d->divisions[old].n, most = n == 1 ? ACC_PARTS : 4 * n;
    struct choice choice = { .best_s = d->passes.predicted_s * ACC_GAIN };
    for (uint32_t k = 2 * n; *name && k <= most && k <= DF_MAX_WORKERS; k *= 2)
        try_acc(d, name, k, &choice);
    const struct dfp_passes passes = choice.best.passes;
    double now_s = d->passes.predicted_s;
    if (!take(d, &choice, name, &now_s))
        return;
    if (old != DF_NONE)
        drop_division(d, old);
    d->passes = passes;
    d->divisions[d->n_divisions - 1].waves = d->waves;
    d->divisions[d->n_divisions - 1].passes = passes.n;
}

/* ---- all of it ---- */

static void divide_nodes(struct dfc_divide *d, bool must)
{
    const struct df_graph *g = d->made.front->graph;
    bool any = false;
    for (uint32_t v = 0; v < g->n_nodes && !any; v++)
        any = is_worth(d, v);
    double now_s = any ? predict(g, d->platform, &d->made.times) : 0;
    for (uint32_t done = 0; any && done < MOST_TRIED && (!must || isinf(now_s)); done++) {
        const uint32_t n_nodes = d->made.front->graph->n_nodes;
        bool *tried = calloc((size_t)n_nodes + 1, sizeof *tried);
        if (!tried)
            return;
        /* Nodes are numbered anew when one is divided. Those that were tried are longer than those that were not. */
        uint32_t v = DF_NONE, left = done + 1 - (uint32_t)d->n_divisions;
        while (left-- > 0 && (v = longest(d, tried)) != DF_NONE)
            tried[v] = true;
        free(tried);
        if (v == DF_NONE)
            break;
        divide_node(d, v, &now_s);
    }
}

void dfc_divide(struct dfc_divide *d)
{
    const struct df_graph *g = d->made.front->graph;
    const bool free_to = !d->fixed && g->n_nodes <= MOST_NODES, known = dfr_times_known(g, &d->made.times, d->platform);
    bool accs = false;
    if (free_to)
        divide_nodes(d, d->throughput || !known);
    d->waves_guessed = d->waves == 0;
    d->waves = d->waves ? d->waves : GUESSED_WAVES;
    for (uint32_t v = 0; v < d->made.front->graph->n_nodes; v++)
        accs |= df_node_n_acc(d->made.front->graph, v) > 0;
    if (!known || !accs || d->one_pass || d->waves < 2 || d->platform->n_units < 2 ||
        !choose_passes(d, d->made.front->graph, &d->made.times, &d->passes))
        return;
    if (free_to)
        divide_acc(d);
}

/* ---- telling ---- */

void dfc_division_print(FILE *out, const char *what, const struct dfc_division *d)
{
    double total = 0;
    bool equal = true;
    for (uint32_t k = 0; k < d->n; k++) {
        total += d->weights[k];
        equal &= d->weights[k] <= d->weights[0] && d->weights[k] >= d->weights[0];
    }
    fprintf(out, "%s: %s in %u parts, %s", what, d->node, d->n, d->why);
    for (uint32_t k = 0; k < d->n && !equal; k++)
        fprintf(out, "%s%.1f", k ? " : " : " (", 100 * d->weights[k] / total);
    fputs(equal ? ": " : " %): ", out);
}

void dfc_division_print_gain(FILE *out, const struct dfc_division *d)
{
    char before[32], after[32];
    if (d->passes)
        fprintf(out, "%u waves in %u passes take", d->waves, d->passes);
    else
        fputs("a wave takes", out);
    fprintf(out, " %s%s%s", dfr_text_seconds_6(d->after_s, after, sizeof after), isinf(d->before_s) ? "; undivided it fits nowhere" : " in place of ",
            isinf(d->before_s) ? "" : dfr_text_seconds_6(d->before_s, before, sizeof before));
}
