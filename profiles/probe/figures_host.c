/* figures_host.c - measures for probe.c how fast the host's cores compute and reach memory: runs each loop of
 * figures_loops.h on 1, 2, 4, … and all cores at the same time.
 *
 * Arrays:   STREAM's rule: each of its three arrays is at least four times as large as all last-level caches together,
 *           but all three take no more than an eighth of the machine's memory.
 * Rates:    a thread's rate is computed from the median time of its calls, so that interruptions by other programs do
 *           not count. The rate of several threads is the sum of theirs. While another program occupies one of their
 *           cores, the remaining threads run faster than all would together; with several threads the 80th percentile
 *           of the call times is therefore used, not the median.
 * Time:     the budget is divided among all measurements. Those that need array a to hold zeros come first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profiles/probe/figures_loops.h"
#include "profiles/probe/probe_impl.h"
#include "runtime/base/error.h"
#include "runtime/engine/host_memory.h"
#include "runtime/measure/load_threads.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/large.h"

#define TIMES_CACHE 4                   /* STREAM's rule */
#define SHARE_OF_MEMORY 8
#define LIKELY_CACHE (UINT64_C(32) << 20) /* if the system does not say */
#define TIMED 4096                      /* calls of which a thread remembers the time: the last ones */

struct timed {                          /* a thread's */
    struct dfw_lane lane;
    double each;                        /* what a call does */
    uint64_t calls;
    double seconds[TIMED];              /* of call n at [n % TIMED] */
};

struct crew {
    enum dfw_figure figure;
    uint32_t n;                         /* threads that work now */
    struct dfw_arrays arrays;
    struct timed *timed;                /* by thread */
    _Alignas(128) _Atomic uint64_t shared;
};

/* A function of dfr_load_threads_start(). */
static int work(void *arg, uint32_t thread, struct df_error *error)
{
    struct crew *c = arg;
    struct timed *t = &c->timed[thread];
    double begin_s = dfr_clock_s();
    (void)error;
    t->each = dfw_loop(c->figure, &c->arrays, &t->lane, &c->shared);
    t->seconds[t->calls++ % TIMED] = dfr_clock_s() - begin_s;
    return DF_OK;
}

/* Also a function of dfr_load_threads_start(): a thread touches what it will work on, so that lies in the memory nearest to it. */
static int touch(void *arg, uint32_t thread, struct df_error *error)
{
    struct crew *c = arg;
    struct dfw_lane *lane = &c->timed[thread].lane;
    (void)error;
    for (; lane->at < lane->end; lane->at++)
        for (int i = 0; i < 3; i++)
            c->arrays.of[i][lane->at] = 0;
    return DF_OK;
}

static void divide(struct crew *c, uint32_t n)
{
    uint64_t blocks = c->arrays.length / DFW_STREAM_BLOCK;
    c->n = n;
    for (uint32_t i = 0; i < n; i++) {
        struct dfw_lane *lane = &c->timed[i].lane;
        lane->first = lane->at = blocks * i / n * DFW_STREAM_BLOCK;
        lane->end = blocks * (i + 1) / n * DFW_STREAM_BLOCK;
        lane->place = i;
        lane->keeps = 0.5;
        c->timed[i].calls = 0;
    }
}

/* Lets the threads work for some time. */
static int run(struct crew *c, int (*once)(void *, uint32_t, struct df_error *), double seconds, struct df_error *error)
{
    struct dfr_load_threads *beside;
    int status = dfr_load_threads_start(c->n, once, c, &beside, error);
    if (status != DF_OK)
        return status;
    nanosleep(&(struct timespec){ .tv_nsec = (long)(1e9 * fmin(seconds, 0.9)) }, NULL);
    return dfr_load_threads_stop(beside, error);
}

static int measure(struct crew *c, enum dfw_figure figure, uint32_t n, double seconds, double *per_s,
                   struct df_error *error)
{
    divide(c, n);
    c->figure = figure;
    int status = run(c, work, seconds, error);
    *per_s = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct timed *t = &c->timed[i];
        uint32_t calls = t->calls < TIMED ? (uint32_t)t->calls : TIMED;
        double usual_s = dfr_median(t->seconds, calls); /* which sorts them */
        *per_s += t->each / fmax(n > 1 ? t->seconds[calls * 4 / 5] : usual_s, 1e-9);
    }
    return status;
}

static int crew_make(struct crew *c, uint32_t n, uint64_t array_bytes, struct df_error *error)
{
    uint64_t blocks = array_bytes / sizeof(double) / DFW_STREAM_BLOCK;
    c->arrays.length = (blocks > n ? blocks : n) * DFW_STREAM_BLOCK;
    c->timed = aligned_alloc(_Alignof(struct timed), n * sizeof *c->timed);
    bool good = c->timed;
    for (int i = 0; i < 3; i++)
        good = (c->arrays.of[i] = dfr_large_alloc(c->arrays.length * sizeof(double))) && good;
    if (!good)
        return dfr_error_memory(error);
    memset(c->timed, 0, n * sizeof *c->timed);
    divide(c, n);
    return run(c, touch, 0, error);
}

static void crew_free(struct crew *c)
{
    for (int i = 0; i < 3; i++)
        free(c->arrays.of[i]);
    free(c->timed);
}

/* 1, 2, 4, … and all. */
static void choose_counts(uint32_t cores, struct dfw_figures *f)
{
    for (uint32_t n = 1; n < cores && f->n < DFW_MOST_COUNTS - 1; n *= 2)
        f->threads[f->n++] = n;
    f->threads[f->n++] = cores;
}

static uint64_t choose_bytes(uint64_t cache_bytes)
{
    uint64_t wanted = TIMES_CACHE * (cache_bytes ? cache_bytes : LIKELY_CACHE);
    uint64_t most = dfr_host_bytes() / SHARE_OF_MEMORY / 3;
    return wanted < most ? wanted : most;
}

int dfw_figures_host(double seconds, uint64_t array_bytes, struct dfw_figures *figures, dfw_progress *progress,
                     void *arg, struct df_error *error)
{
    static const enum dfw_figure order[DFW_FIGURES] = { DFW_DEPENDENT, DFW_RANDOM, DFW_COPY, DFW_SCALE, DFW_ADD, DFW_TRIAD,
                                                        DFW_FLOPS_F32, DFW_FLOPS_F64, DFW_SHARED, DFW_SPREAD };
    struct dfw_figures f = { .cache_bytes = dfr_cache_bytes() };
    struct crew crew = { 0 };
    double begin_s = dfr_clock_s();
    choose_counts(dfr_cores_count() < DF_MAX_WORKERS ? dfr_cores_count() : DF_MAX_WORKERS, &f);
    int status = crew_make(&crew, f.threads[f.n - 1], array_bytes ? array_bytes : choose_bytes(f.cache_bytes),
                           error);
    f.array_bytes = crew.arrays.length * sizeof(double);
    seconds = fmax(seconds - (dfr_clock_s() - begin_s), seconds / 2) / (f.n * DFW_FIGURES);
    for (uint32_t i = 0; i < DFW_FIGURES * f.n && status == DF_OK; i++) {
        uint32_t count = i % f.n;
        enum dfw_figure figure = order[i / f.n];
        if (progress)
            progress(arg, dfw_figure_names[figure], 0);
        status = measure(&crew, figure, f.threads[count], seconds, &f.per_s[count][figure], error);
    }
    crew_free(&crew);
    if (status == DF_OK)
        *figures = f;
    return status;
}
