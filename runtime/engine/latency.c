/* latency.c - the latency of waves (latency.h). */
#include "runtime/engine/latency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/message.h"
#include "runtime/base/text.h"
#include "runtime/engine/ending.h"
#include "runtime/graph/wave_path.h"
#include "runtime/threads/clock.h"

#define BETWEEN_LINES_S 1.0             /* at least so long from one line of --on-late=warn to the next */

struct dfr_latency {
    pthread_mutex_t lock;               /* of all but spans */
    struct dfr_job_span *spans;         /* [slot * n_nodes + node], of the wave in the slot */
    struct df_latency_stats stats;
    double *latencies;
    uint32_t capacity;
    uint64_t random;
    double first_end_s, last_end_s;
    double said_s;                      /* when the latest line was printed */
    uint64_t unsaid;                    /* late waves since then */
};

static const struct df_promise *find(const struct df_graph *g, enum df_promise_kind kind)
{
    for (uint32_t p = 0; p < g->n_promises; p++)
        if (g->promises[p].kind == kind)
            return &g->promises[p];
    return NULL;
}

int dfr_latency_create(struct df_run *run, struct df_error *error)
{
    const struct df_promise *latency = find(run->graph, DF_PROMISE_LATENCY), *rate = find(run->graph, DF_PROMISE_RATE);
    const bool acts = run->options.on_late != DF_LATE_COUNT, possible = !run->calls.on && !run->feed.slots && !run->skips.passes && !run->rehearsal;

    if (acts && !latency)
        return dfr_error(error, DF_E_ARGUMENT, "--on-late: the graph promises no latency");
    if (acts && !possible)
        return dfr_error(error, DF_E_ARGUMENT, "--on-late: the waves of this run have no latency, because %s",
                         run->skips.passes ? "they go by several times" : run->rehearsal ? "it is a rehearsal" : "another process begins them");
    if (!possible || (!acts && !(run->options.latency && (latency || rate))))
        return DF_OK;
    struct dfr_latency *l = calloc(1, sizeof *l);
    if (!l)
        return dfr_error_memory(error);
    run->watch.latency = l;
    pthread_mutex_init(&l->lock, NULL);
    l->said_s = -INFINITY;
    l->stats.promised_s = latency ? latency->bound : 0;
    l->stats.confidence = latency ? latency->confidence : 0;
    l->stats.promised_rate = rate ? rate->bound : 0;
    l->spans = calloc((size_t)run->inflight * run->graph->n_nodes + 1, sizeof *l->spans);
    l->capacity = 1024;
    l->latencies = malloc(l->capacity * sizeof *l->latencies);
    return l->spans && l->latencies ? DF_OK : dfr_error_memory(error);
}

void dfr_latency_destroy(struct dfr_latency *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l->spans);
    free(l->latencies);
    free(l);
}

void dfr_latency_job(struct df_run *run, uint64_t job, uint32_t unit, double begin_s, double end_s)
{
    if (dfr_job_slot(job) < run->inflight)
        run->watch.latency->spans[(size_t)dfr_job_slot(job) * run->graph->n_nodes + dfr_job_node(job)] = (struct dfr_job_span){ begin_s, end_s, unit };
}

/* ---- late waves ---- */

static void write_cause(const struct df_run *run, const struct dfr_job_span *spans, const struct dfr_wave_path *path, char *text, size_t size)
{
    const struct df_graph *g = run->graph;
    const uint32_t unit = spans[path->longest].unit;
    const double expected_s = run->choice.times_known ? run->choice.time_s[(size_t)unit * g->n_works + g->nodes[path->longest].work] : NAN;
    const double beyond_s = isnan(expected_s) ? path->longest_s : path->longest_s - expected_s;
    char name[128], a[24], b[24], expected[48] = "";

    if (path->waited_s > beyond_s) {
        df_node_name(g, path->waited, name, sizeof name);
        snprintf(text, size, "%s waited %s for a worker or a copy", name, dfr_text_seconds(path->waited_s, a, sizeof a));
        return;
    }
    df_node_name(g, path->longest, name, sizeof name);
    if (!isnan(expected_s))
        snprintf(expected, sizeof expected, ", %s expected", dfr_text_seconds(expected_s, b, sizeof b));
    snprintf(text, size, "%s took %s on %s%s", name, dfr_text_seconds(path->longest_s, a, sizeof a), run->machine.platform.units[unit].name, expected);
}

/* At most a line a second. */
static void warn(struct dfr_latency *l, int64_t wave, double latency_s, const char *cause)
{
    const double now_s = dfr_clock_s();
    char a[24], b[24], more[64] = "";

    l->unsaid++;
    if (now_s - l->said_s < BETWEEN_LINES_S)
        return;
    if (l->unsaid > 1)
        snprintf(more, sizeof more, "; so were %llu before it", (unsigned long long)l->unsaid - 1);
    dfr_message_print(stderr, "warning: wave %lld took %s, and %s is promised: %s%s", (long long)wave, dfr_text_seconds(latency_s, a, sizeof a),
                      dfr_text_seconds_6(l->stats.promised_s, b, sizeof b), cause, more);
    l->said_s = now_s;
    l->unsaid = 0;
}

static void be_late(struct df_run *run, int64_t wave, const struct dfr_job_span *spans, const struct dfr_wave_path *path)
{
    struct dfr_latency *l = run->watch.latency;
    struct df_latency_stats *s = &l->stats;
    const double latency_s = path->end_s - path->begin_s;
    char cause[sizeof s->causes[0].cause], a[24], b[24];

    s->late++;
    write_cause(run, spans, path, cause, sizeof cause);
    if (s->n_causes < DF_MOST_LATE) {
        s->causes[s->n_causes].wave = wave;
        s->causes[s->n_causes].latency_s = latency_s;
        memcpy(s->causes[s->n_causes++].cause, cause, sizeof cause);
    }
    if (run->options.on_late == DF_LATE_WARN)
        warn(l, wave, latency_s, cause);
    else if (run->options.on_late == DF_LATE_FAIL)
        dfr_engine_fail(run, DF_E_REFUSED, "--on-late=fail: wave %lld took %s, and %s is promised: %s", (long long)wave, dfr_text_seconds(latency_s, a, sizeof a),
                        dfr_text_seconds_6(s->promised_s, b, sizeof b), cause);
}

/* Without memory for more, the sample stays as large as it is. */
static void keep(struct dfr_latency *l, double latency_s)
{
    const uint64_t n = l->stats.waves++;

    if (n == l->capacity && l->capacity < DFR_LATENCIES) {
        double *more = realloc(l->latencies, 2 * (size_t)l->capacity * sizeof *more);
        if (more) {
            l->latencies = more;
            l->capacity *= 2;
        }
    }
    l->random = l->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t at = n < l->capacity ? n : (l->random >> 11) % (n + 1);
    if (at < l->capacity)
        l->latencies[at] = latency_s;
}

void dfr_latency_wave(struct df_run *run, uint32_t slot, int64_t wave)
{
    struct dfr_latency *l = run->watch.latency;
    struct dfr_job_span *spans = l->spans + (size_t)slot * run->graph->n_nodes;
    struct dfr_wave_path path;
    const bool any = dfr_wave_path(run->graph, spans, &path);

    pthread_mutex_lock(&l->lock);
    if (any) {
        l->first_end_s = l->stats.waves ? fmin(l->first_end_s, path.end_s) : path.end_s;
        l->last_end_s = fmax(l->last_end_s, path.end_s);
        l->stats.worst_s = fmax(l->stats.worst_s, path.end_s - path.begin_s);
        keep(l, path.end_s - path.begin_s);
        if (l->stats.promised_s > 0 && path.end_s - path.begin_s > l->stats.promised_s)
            be_late(run, wave, spans, &path);
    }
    pthread_mutex_unlock(&l->lock);
    memset(spans, 0, run->graph->n_nodes * sizeof *spans);
}

/* ---- the end ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void dfr_latency_stats(const struct df_run *run, struct df_latency_stats *stats)
{
    struct dfr_latency *l = run->watch.latency;
    const uint64_t n = l ? l->stats.waves < l->capacity ? l->stats.waves : l->capacity : 0;

    if (n == 0)
        return;
    qsort(l->latencies, n, sizeof *l->latencies, by_value);
    *stats = l->stats;
    stats->p50_s = l->latencies[(n - 1) / 2];
    stats->p99_s = l->latencies[(uint64_t)ceil(0.99 * (double)n) - 1];
    if (l->last_end_s > l->first_end_s)
        stats->rate = (double)(l->stats.waves - 1) / (l->last_end_s - l->first_end_s);
}
