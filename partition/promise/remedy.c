/* remedy.c - searches changes of one thing each after which all promises hold (promise.h). Each change is planned and derived as the unchanged problem was, by the
 * same draws.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/model/model.h"
#include "partition/promise/promise.h"
#include "runtime/base/error.h"

enum { MOST_TIMES_WORKERS = 16, MOST_GPUS = 8, LINK_STEPS = 4, SPEED_STEPS = 9 };

struct search {
    const struct dfp_problem *problem;
    const struct dfp_promise_options *options;
    struct dfp_remedy *found;
    unsigned n;
    struct df_error *error;
    int code;                           /* of a failure that is no refusal */
};

/* Derives the remedy's problem. true: all promises hold then. A machine on which a node fits nowhere is no remedy. */
static bool holds(struct search *s, struct dfp_remedy *r)
{
    struct dfp_promise_options options = *s->options;
    struct df_error error = { "" };
    options.quick = true;
    r->problem = *s->problem;
    r->problem.platform = &r->platform;
    if (r->times.time_s)
        r->problem.times = &r->times;
    if (r->inflight)
        options.partition.inflight = r->inflight;
    dfp_derived_free(&r->derived);
    const int code = s->code ? s->code : dfp_promises_derive(&r->problem, NULL, &options, &r->derived, &error);
    if (code != DF_OK && code != DF_E_REFUSED && !s->code) {
        s->code = code;
        *s->error = error;
    }
    return code == DF_OK && r->derived.given;
}

static void begin(const struct search *s, struct dfp_remedy *r)
{
    *r = (struct dfp_remedy){ .platform = *s->problem->platform };
}

static void keep(struct search *s, const struct dfp_remedy *r)
{
    struct dfp_remedy *kept = &s->found[s->n++];
    *kept = *r;
    kept->problem.platform = &kept->platform;
    if (kept->times.time_s)
        kept->problem.times = &kept->times;
}

/* Finds the least number in (fails, most] for which `set` makes the promises hold: doubles, then halves. 0: none was found. */
static uint32_t least(struct search *s, struct dfp_remedy *r, uint32_t fails, uint32_t most, void (*set)(struct search *s, struct dfp_remedy *r, uint32_t n))
{
    uint32_t good = fails;
    do {
        if (good == most)
            return 0;
        good = good > most / 2 ? most : good ? 2 * good : 1;
        set(s, r, good);
    } while (!holds(s, r) && (fails = good));
    for (uint32_t n; good - fails > 1;) {
        set(s, r, n = fails + (good - fails) / 2);
        *(holds(s, r) ? &good : &fails) = n;
    }
    set(s, r, good);
    return holds(s, r) ? good : 0;
}

/* ---- the changes ---- */

static bool refuses(const struct search *s, const struct dfp_derived *d, enum df_promise_kind kind)
{
    bool any = false;
    for (uint32_t p = 0; p < d->n; p++)
        any |= s->problem->graph->promises[p].kind == kind && !d->promised[p].given;
    return any;
}

static void set_inflight(struct search *s, struct dfp_remedy *r, uint32_t n)
{
    (void)s;
    r->inflight = n;
}

/* Fewer waves in flight wait less and need less memory; more of them keep more units busy. */
static void try_inflight(struct search *s, const struct dfp_derived *d)
{
    struct dfp_remedy r;
    uint32_t n = d->inflight;
    begin(s, &r);
    if (refuses(s, d, DF_PROMISE_RATE)) {
        n = least(s, &r, n, 8 * n, set_inflight);
    } else {
        for (n--; n > 0 && (set_inflight(s, &r, n), !holds(s, &r)); n--)
            ;
    }
    if (!n) {
        dfp_remedy_free(&r);
        return;
    }
    snprintf(r.what, sizeof r.what, "%u wave%s in flight in place of %u", (unsigned)n, n == 1 ? "" : "s", (unsigned)d->inflight);
    snprintf(r.option, sizeof r.option, "--inflight=%u", (unsigned)n);
    keep(s, &r);
}

static void set_workers(struct search *s, struct dfp_remedy *r, uint32_t n)
{
    (void)s;
    r->platform.units[0].workers = n;
}

static void try_workers(struct search *s)
{
    struct dfp_remedy r;
    const uint32_t now = s->problem->platform->units[0].workers, most = now * MOST_TIMES_WORKERS;
    begin(s, &r);
    const uint32_t n = least(s, &r, now, most < DF_MAX_WORKERS ? most : DF_MAX_WORKERS, set_workers);
    if (!n) {
        dfp_remedy_free(&r);
        return;
    }
    snprintf(r.what, sizeof r.what, "%u CPU workers in place of %u", (unsigned)n, (unsigned)now);
    snprintf(r.option, sizeof r.option, "--workers=%u", (unsigned)n);
    keep(s, &r);
}

static uint32_t last_gpu(const struct df_platform *p)
{
    for (uint32_t u = p->n_units; u-- > 1;)
        if (p->units[u].cls == DF_CLASS_GPU)
            return u;
    return DF_NONE;
}

static uint32_t count_gpus(const struct df_platform *p)
{
    uint32_t n = 0;
    for (uint32_t u = 1; u < p->n_units; u++)
        n += p->units[u].cls == DF_CLASS_GPU;
    return n;
}

/* Has `n` GPUs: those of the platform, and more like the last of them; or, without one, like that of the stated default. */
static void set_gpus(struct search *s, struct dfp_remedy *r, uint32_t n)
{
    const struct df_platform *from = s->problem->platform;
    const uint32_t like = last_gpu(from), workers = r->platform.units[0].workers;
    struct df_platform stated;
    uint32_t had = 0;
    df_platform_default(&stated, 1);
    r->platform = *from;
    r->platform.units[0].workers = workers;
    r->platform.n_units = 0;
    for (uint32_t u = 0; u < from->n_units; u++)
        if (from->units[u].cls != DF_CLASS_GPU || had++ < n)
            r->platform.units[r->platform.n_units++] = from->units[u];
    for (; had < n && r->platform.n_units < DF_MAX_UNITS; had++) {
        struct df_unit *unit = &r->platform.units[r->platform.n_units++];
        *unit = like == DF_NONE ? stated.units[1] : from->units[like];
        snprintf(unit->name, sizeof unit->name, "gpu-more%u", (unsigned)had);
    }
}

static bool has_gpu_times(const struct dfp_problem *problem)
{
    bool any = false;
    for (uint32_t w = 0; problem->times->n_classes > DF_CLASS_GPU && w < problem->times->n_works; w++)
        any |= !isnan(problem->times->time_s[(size_t)DF_CLASS_GPU * problem->times->n_works + w]);
    return any;
}

static void try_gpus(struct search *s)
{
    struct dfp_remedy r;
    const uint32_t now = count_gpus(s->problem->platform), like = last_gpu(s->problem->platform);
    uint32_t n = now < MOST_GPUS && like != DF_NONE && has_gpu_times(s->problem) ? now + 1 : 0;
    begin(s, &r);
    while (n && (set_gpus(s, &r, n), !holds(s, &r)))
        n = n < MOST_GPUS ? n + 1 : 0;
    if (!n) {
        dfp_remedy_free(&r);
        return;
    }
    snprintf(r.what, sizeof r.what, "%u GPUs like %s in place of %u", (unsigned)n, s->problem->platform->units[like].name, (unsigned)now);
    keep(s, &r);
}

static void speed_up(struct df_link *link, double times)
{
    link->bytes_per_s *= times;
    link->latency_s /= times;
}

static void try_links(struct search *s)
{
    struct dfp_remedy r;
    begin(s, &r);
    if (df_platform_on_host(&r.platform) == (1u << r.platform.n_units) - 1)
        return;                         /* there is no link */
    for (int step = 1; step <= LINK_STEPS; step++) {
        r.platform = *s->problem->platform;
        for (uint32_t u = 1; u < r.platform.n_units; u++) {
            speed_up(&r.platform.units[u].h2d, 1 << step);
            speed_up(&r.platform.units[u].d2h, 1 << step);
            speed_up(&r.platform.units[u].peer, 1 << step);
        }
        if (holds(s, &r)) {
            snprintf(r.what, sizeof r.what, "link%s %d times as fast", r.platform.n_units > 2 ? "s" : "", 1 << step);
            keep(s, &r);
            return;
        }
    }
    dfp_remedy_free(&r);
}

/* The kernel of the node that is longest on the way of a wave, on all units. */
static void try_kernel(struct search *s, const struct dfp_derived *d)
{
    const struct df_graph *g = s->problem->graph;
    const struct df_times *times = s->problem->times;
    struct dfp_remedy r;
    if (d->path.longest == DF_NONE)
        return;
    const uint32_t kernel = g->nodes[d->path.longest].kernel;
    begin(s, &r);
    if (dfr_times_copy(times, &r.times, s->error) != DF_OK) {
        s->code = DF_E_MEMORY;
        return;
    }
    for (int step = 1; step <= SPEED_STEPS; step++) {
        const double share = 1 - 0.1 * step;
        for (size_t i = 0; i < (size_t)times->n_classes * times->n_works; i++)
            if (g->works[i % times->n_works].kernel == kernel)
                r.times.time_s[i] = share * times->time_s[i];
        if (holds(s, &r)) {
            snprintf(r.what, sizeof r.what, "kernel %s in %.0f %% of its time", df_graph_string(g, g->kernels[kernel].name), 100 * share);
            keep(s, &r);
            return;
        }
    }
    dfp_remedy_free(&r);
}

int dfp_promise_remedies(const struct dfp_problem *problem, const struct dfp_promise_options *options, const struct dfp_derived *derived, struct dfp_remedy *remedies,
                         unsigned *n, struct df_error *error)
{
    struct search s = { .problem = problem, .options = options, .found = remedies, .error = error };
    const bool memory = refuses(&s, derived, DF_PROMISE_MEMORY), single = dfp_promise_waves(problem->graph) == 1;
    if (!single)
        try_inflight(&s, derived);
    if (!memory) {                      /* a faster machine needs no less */
        try_workers(&s);
        try_gpus(&s);
        try_links(&s);
        try_kernel(&s, derived);
    }
    *n = s.n;
    return s.code;
}

/* ---- machines ---- */

int dfp_promise_machines(const struct dfp_problem *problem, const struct dfp_promise_options *options, uint32_t most_gpus, struct dfp_remedy *machines, unsigned *n,
                         struct df_error *error)
{
    struct search s = { .problem = problem, .options = options, .found = machines, .error = error };
    const uint32_t most = last_gpu(problem->platform) == DF_NONE && !has_gpu_times(problem) ? 0 : most_gpus;
    for (uint32_t gpus = 0; gpus <= most && s.n < DFP_MOST_REMEDIES; gpus++) {
        struct dfp_remedy r;
        begin(&s, &r);
        set_gpus(&s, &r, gpus);
        const uint32_t workers = least(&s, &r, 0, 4 * MOST_TIMES_WORKERS, set_workers);
        if (!workers) {
            dfp_remedy_free(&r);
            continue;
        }
        snprintf(r.what, sizeof r.what, "%u CPU worker%s and %u GPU%s", (unsigned)workers, workers == 1 ? "" : "s", (unsigned)gpus, gpus == 1 ? "" : "s");
        keep(&s, &r);
    }
    *n = s.n;
    return s.code;
}

void dfp_remedy_free(struct dfp_remedy *remedy)
{
    dfp_derived_free(&remedy->derived);
    dfr_times_free(&remedy->times);
}
