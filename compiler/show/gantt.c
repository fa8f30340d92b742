/* gantt.c - records a run as bars, finds its critical chain, and has gantt_draw.c draw them: simulated runs for
 * `dfc simulate` in commands/cmd_simulate.c. gantt_trace.c adds the bars of traces.
 *
 * Chain:    the search goes backwards from the last job. A bar begins exactly, to the last digit, when what it waited
 *           for ended: the copy that brought an input, else the job that made an input, else what occupied its worker
 *           or engine, else any other bar that released something. Jobs that cost nothing have no bars, and the chain
 *           passes through them.
 */
#include "compiler/show/gantt_impl.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/text.h"

/* ---- bars ---- */

struct dfc_gantt *dfc_gantt_new(void)
{
    return calloc(1, sizeof(struct dfc_gantt));
}

void dfc_gantt_free(struct dfc_gantt *gantt)
{
    if (gantt)
        free(gantt->bars);
    free(gantt);
}

void dfc_gantt_add(struct dfc_gantt *gantt, struct dfc_gantt_bar bar)
{
    if (DFR_ARRAY_ROOM(gantt->bars, gantt->n_bars, gantt->capacity))
        gantt->bars[gantt->n_bars++] = bar;
    else
        gantt->failed = true;
}

static void copied(void *arg, uint32_t from, uint32_t to, uint32_t value, uint32_t wave, double begin_s, double end_s)
{
    enum dfc_bar_kind kind = from == 0 ? DFC_BAR_TO_DEVICE : to == 0 ? DFC_BAR_FROM_DEVICE : DFC_BAR_TO_PEER;
    dfc_gantt_add(arg, (struct dfc_gantt_bar){ .kind = kind, .row = from ? from : to, .to = to, .what = value,
                                               .wave = wave, .begin_s = begin_s, .end_s = end_s });
}

static void ran(void *arg, uint32_t worker, uint32_t node, uint32_t wave, double begin_s, double end_s)
{
    dfc_gantt_add(arg, (struct dfc_gantt_bar){ .kind = DFC_BAR_JOB, .row = worker, .what = node, .wave = wave,
                                               .begin_s = begin_s, .end_s = end_s });
}

void dfc_gantt_listen(struct dfc_gantt *gantt, struct dfr_simulation *simulation)
{
    gantt->n_bars = 0;
    simulation->copied = copied;
    simulation->ran = ran;
    simulation->arg = gantt;
}

/* ---- the chain ---- */

struct walk {
    const struct dfc_gantt *gantt;
    const struct df_graph *graph;
    const struct df_platform *platform;
    size_t *by_end;                     /* bars, in the order of their ends */
};

static int compare_ends(const void *a, const void *b, void *arg)
{
    const struct dfc_gantt_bar *bars = arg, *x = &bars[*(const size_t *)a], *y = &bars[*(const size_t *)b];
    if (x->end_s != y->end_s)
        return x->end_s < y->end_s ? -1 : 1;
    return *(const size_t *)a < *(const size_t *)b ? -1 : 1;
}

/* The first entry of by_end that ends at this moment or later. */
static size_t first_ending(const struct walk *w, double time_s)
{
    size_t low = 0, high = w->gantt->n_bars;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (w->gantt->bars[w->by_end[middle]].end_s < time_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The worker's unit; *worker becomes its number there. */
static uint32_t unit_of_worker(const struct df_platform *platform, uint32_t *worker)
{
    uint32_t unit = 0;
    while (*worker >= platform->units[unit].workers)
        *worker -= platform->units[unit++].workers;
    return unit;
}

static bool makes(const struct df_graph *g, uint32_t node, uint32_t value)
{
    return g->values[value].producer == node;
}

/* Does `node` read what `other` gave, directly or through nodes that cost nothing? */
static bool follows(const struct df_graph *g, uint32_t node, uint32_t other, unsigned depth)
{
    const uint32_t *in = g->in_value + g->nodes[node].first_in;
    for (uint32_t k = 0; k < df_node_n_in(g, node); k++) {
        uint32_t producer = g->values[in[k]].producer;
        if (producer == other || (depth && g->nodes[producer].flags & DF_NODE_ZERO_COST && follows(g, producer, other,
                                                                                                   depth - 1)))
            return true;
    }
    return false;
}

static bool reads(const struct df_graph *g, uint32_t node, uint32_t value)
{
    const uint32_t *in = g->in_value + g->nodes[node].first_in;
    for (uint32_t k = 0; k < df_node_n_in(g, node); k++)
        if (in[k] == value)
            return true;
    return false;
}

/* Do both copies use one engine? Copies to peers have an engine of their own. */
static bool same_engine(const struct walk *w, const struct dfc_gantt_bar *a, const struct dfc_gantt_bar *b)
{
    bool shared = w->platform->units[a->row].engines == 1 && a->kind != DFC_BAR_TO_PEER && b->kind != DFC_BAR_TO_PEER;
    return a->row == b->row && (a->kind == b->kind || shared);
}

/* How well `cause`, which ended when `bar` began, explains why it began then. 0: not at all. */
static int reason(const struct walk *w, const struct dfc_gantt_bar *bar, const struct dfc_gantt_bar *cause)
{
    const struct df_graph *g = w->graph;
    bool same_wave = cause->wave == bar->wave;
    uint32_t worker = bar->row;
    if (cause->end_s <= cause->begin_s)
        return 0;                       /* it took no time, so nothing waited for it */
    if (bar->kind == DFC_BAR_JOB) {
        if (cause->kind != DFC_BAR_JOB)
            return reads(g, bar->what, cause->what) && same_wave && cause->to == unit_of_worker(w->platform, &worker)
                       ? 5
                       : 1;
        return same_wave && follows(g, bar->what, cause->what, 2) ? 4 : cause->row == bar->row ? 3 : 2;
    }
    if (cause->kind == DFC_BAR_JOB)
        return makes(g, cause->what, bar->what) && same_wave ? 4 : 2;
    if (cause->what == bar->what && same_wave && cause->to == (bar->kind == DFC_BAR_TO_DEVICE ? 0 : bar->row))
        return 5;                       /* it brought the value to where this one takes it from */
    return same_engine(w, bar, cause) ? 3 : 1;
}

static bool step_back(const struct walk *w, size_t *at)
{
    const struct dfc_gantt_bar *bars = w->gantt->bars, *bar = &bars[*at];
    size_t best = SIZE_MAX;
    int best_reason = 0;
    for (size_t i = first_ending(w, bar->begin_s); i < w->gantt->n_bars; i++) {
        const struct dfc_gantt_bar *cause = &bars[w->by_end[i]];
        int r;
        if (cause->end_s != bar->begin_s)
            break;
        r = reason(w, bar, cause);
        if (r > best_reason) {
            best_reason = r;
            best = w->by_end[i];
        }
    }
    if (best == SIZE_MAX)
        return false;
    *at = best;
    return true;
}

size_t dfc_gantt_chain(const struct dfc_gantt *gantt, const struct dfp_problem *problem, size_t **chain)
{
    struct walk w = { .gantt = gantt, .graph = problem->graph, .platform = problem->platform };
    size_t n = 0, at;
    w.by_end = malloc((gantt->n_bars + 1) * sizeof *w.by_end);
    *chain = malloc((gantt->n_bars + 1) * sizeof **chain);
    if (!w.by_end || !*chain) {
        free(w.by_end);
        free(*chain);
        *chain = NULL;
        return SIZE_MAX;
    }
    for (size_t i = 0; i < gantt->n_bars; i++)
        w.by_end[i] = i;
    qsort_r(w.by_end, gantt->n_bars, sizeof *w.by_end, compare_ends, gantt->bars);
    if (gantt->n_bars) {
        at = w.by_end[gantt->n_bars - 1];
        do
            (*chain)[n++] = at;
        while (n < gantt->n_bars && step_back(&w, &at));
    }
    free(w.by_end);
    return n;
}

/* ---- the view ---- */

struct simulated {                      /* a view of a simulated run, with what it points to */
    struct dfc_gantt_view view;
    const struct dfp_problem *problem;
    struct dfc_gantt_line *lines;
    uint32_t *first_line;               /* of a unit: its workers; of a device also, behind them, in, out, to peers */
    const char **kernels;
    size_t *chain;
    char title[600];
};

static void name_of(const struct dfc_gantt_view *view, const struct dfc_gantt_bar *bar, char *name, size_t size)
{
    const struct df_graph *g = ((const struct dfp_problem *)view->arg)->graph;
    df_node_name(g, bar->kind == DFC_BAR_JOB ? bar->what : g->values[bar->what].producer, name, size);
}

static const char *peer_of(const struct dfc_gantt_view *view, const struct dfc_gantt_bar *bar)
{
    return ((const struct dfp_problem *)view->arg)->platform->units[bar->to].name;
}

static void add_line(struct simulated *s, const char *name, const char *what, bool copies)
{
    struct dfc_gantt_line *line = &s->lines[s->view.n_lines];
    snprintf(line->name, sizeof line->name, "%s%s", name, what);
    line->copies = copies;
    s->view.n_lines++;
}

/* A line for each worker; below a device's, one for each direction of its copies. */
static void make_lines(struct simulated *s)
{
    static const char *const engines[] = { " in", " out", " peers" };
    const struct df_platform *p = s->problem->platform;
    unsigned n_engines = 2;
    char number[16];
    for (uint32_t u = 1; u < p->n_units; u++)
        n_engines = df_platform_peers(p, u) ? 3 : n_engines;
    for (uint32_t u = 0; u < p->n_units; u++) {
        s->first_line[u] = s->view.n_lines;
        s->lines[s->view.n_lines].begins = true;
        for (uint32_t i = 0; i < p->units[u].workers; i++) {
            snprintf(number, sizeof number, " %u", (unsigned)i);
            add_line(s, p->units[u].name, p->units[u].workers > 1 || !u ? number : "", false);
        }
        for (unsigned i = 0; u && i < n_engines; i++)
            add_line(s, p->units[u].name, engines[i], true);
    }
}

static void place_bar(const struct simulated *s, struct dfc_gantt_bar *bar)
{
    const struct df_platform *p = s->problem->platform;
    uint32_t worker = bar->row;
    if (bar->kind == DFC_BAR_JOB) {
        uint32_t unit = unit_of_worker(p, &worker);
        bar->line = s->first_line[unit] + worker;
        bar->kernel = s->problem->graph->nodes[bar->what].kernel;
    } else {
        bar->line = s->first_line[bar->row] + p->units[bar->row].workers + bar->kind - DFC_BAR_TO_DEVICE;
    }
}

static bool allocate(struct simulated *s)
{
    const struct df_platform *p = s->problem->platform;
    size_t n_lines = 1;
    for (uint32_t u = 0; u < p->n_units; u++)
        n_lines += p->units[u].workers + 3;
    s->lines = calloc(n_lines, sizeof *s->lines);
    s->first_line = calloc((size_t)p->n_units + 1, sizeof *s->first_line);
    s->kernels = calloc((size_t)s->problem->graph->n_kernels + 1, sizeof *s->kernels);
    return s->lines && s->first_line && s->kernels;
}

bool dfc_gantt_write(struct dfc_gantt *gantt, const struct dfp_problem *problem, const char *policy, double makespan_s,
                     FILE *out)
{
    const struct df_graph *g = problem->graph;
    struct simulated s = { .problem = problem };
    char time[32];
    bool good = !gantt->failed && allocate(&s);
    if (good) {
        make_lines(&s);
        for (size_t i = 0; i < gantt->n_bars; i++)
            place_bar(&s, &gantt->bars[i]);
        for (uint32_t k = 0; k < g->n_kernels; k++)
            s.kernels[k] = df_graph_string(g, g->kernels[k].name);
        snprintf(s.title, sizeof s.title, "%s on %s, %s: %s", g->name, problem->platform->name, policy,
                 dfr_text_seconds(makespan_s, time, sizeof time));
        s.view.n_chain = dfc_gantt_chain(gantt, problem, &s.chain);
        good = s.view.n_chain != SIZE_MAX;
    }
    if (good) {
        s.view = (struct dfc_gantt_view){ s.title, makespan_s, s.lines, s.view.n_lines, s.kernels, g->n_kernels,
                                          gantt->bars, gantt->n_bars, s.chain, s.view.n_chain, name_of, peer_of,
                                          problem };
        good = dfc_gantt_draw(&s.view, out);
    }
    free(s.chain);
    free(s.kernels);
    free(s.first_line);
    free(s.lines);
    return good;
}
