/* progress.c - draws the progress line of --progress, in a thread of its own (progress.h), for program_main.c. */
#include "runtime/program/progress.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/status_line.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/log.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/host.h"

#define PERIOD_S 0.1
#define DELAY_S 0.5                     /* AUTO: a run that ends before needs no line */

struct dfr_progress {
    const struct df_run *run;
    double started_s;
    bool drawn;                         /* the thread's, until it has ended */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool ending;
    double delay_s;
};

/* ---- the text ---- */

/* "42 s", "3 min 05 s", "2 h 10 min" */
static void put_time(char *text, size_t size, double seconds)
{
    long long s = seconds < 1e15 ? llround(seconds) : 1000000000000000;
    if (s < 60)
        snprintf(text, size, "%lld s", s);
    else if (s < 3600)
        snprintf(text, size, "%lld min %02lld s", s / 60, s % 60);
    else
        snprintf(text, size, "%lld h %02lld min", s / 3600, s / 60 % 60);
}

void dfr_progress_text(char *text, unsigned size, int64_t done, int64_t total, double seconds)
{
    char rate_text[32], of[32] = "", rest[48] = "", time[32];
    double rate = seconds > 0 ? (double)done / seconds : 0;
    snprintf(rate_text, sizeof rate_text, rate < 9.95 ? "%.2g/s" : "%.0f/s", rate);
    if (total > 0 && done <= total) {
        snprintf(of, sizeof of, " of %lld", (long long)total);
        put_time(time, sizeof time, done == total ? seconds : (double)(total - done) / rate);
        if (done > 0)
            snprintf(rest, sizeof rest, ", %s%s", time, done == total ? "" : " left");
    }
    snprintf(text, size, "%lld%s waves, %s%s", (long long)done, of, rate_text, rest);
}

/* How many waves there will be; 0: not known. */
static int64_t total_of(const struct df_run *run)
{
    struct df_run *r = (struct df_run *)run; /* atomics of a const run can be read */
    const struct dfr_passes *p = run->skips.passes;
    int64_t limit = atomic_load(&r->firing.limit), expected = atomic_load(&r->states.expected_waves), most = atomic_load(&r->states.most_waves);
    if (p)                              /* those of each pass count */
        return p->reserved && dfr_passes_waves(p) == p->most_waves ? 0 : dfr_passes_waves(p) * p->n;
    if (most > 0 && (expected == 0 || most < expected))
        expected = most;
    if (expected > 0)                   /* those that this run is to do */
        expected -= atomic_load_explicit(&r->feed.first, memory_order_relaxed);
    if (limit == INT64_MAX)
        return expected;
    return expected > 0 && expected < limit ? expected : limit;
}

void dfr_progress_ranks(char *text, unsigned size, int n_live, int n_dead)
{
    int n = n_live + n_dead > 0 ? snprintf(text, size, ", %d rank%s", n_live, n_live == 1 ? "" : "s") : 0;
    if (n == 0)
        *text = '\0';
    if (n_dead > 0 && n < (int)size)
        snprintf(text + n, size - (unsigned)n, ", %d lost", n_dead);
}

static void draw_line(int64_t done, int64_t total, double seconds, int n_live, int n_dead)
{
    char text[160], ranks[64], line[480];
    dfr_progress_text(text, sizeof text, done, total, seconds);
    dfr_progress_ranks(ranks, sizeof ranks, n_live, n_dead);
    snprintf(line, sizeof line, "%s: %s%s", dfr_program_name(), text, ranks);
    dfr_status_draw(line);
}

static void draw(struct dfr_progress *p)
{
    int64_t done = atomic_load(&((struct df_run *)p->run)->firing.waves_done);
    if (p->run->skips.passes)
        done = dfr_passes_done(p->run->skips.passes, done);
    draw_line(done, total_of(p->run), dfr_clock_s() - p->started_s, 0, 0);
    p->drawn = true;
}

/* ---- the thread ---- */

/* Waits that long. false: it is to end. */
static bool wait_for(struct dfr_progress *p, double seconds)
{
    struct timespec until;
    int64_t ns;
    clock_gettime(CLOCK_MONOTONIC, &until);
    ns = until.tv_nsec + (int64_t)(seconds * 1e9);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_mutex_lock(&p->lock);
    while (!p->ending && pthread_cond_timedwait(&p->end, &p->lock, &until) == 0)
        ;
    bool goes_on = !p->ending;
    pthread_mutex_unlock(&p->lock);
    return goes_on;
}

static void *draw_again_and_again(void *arg)
{
    struct dfr_progress *p = arg;
    for (bool goes_on = wait_for(p, p->delay_s); goes_on; goes_on = wait_for(p, PERIOD_S))
        draw(p);
    return NULL;
}

static bool is_wanted(enum dfr_progress_form form)
{
    return form == DFR_PROGRESS_ON || (form == DFR_PROGRESS_AUTO && isatty(STDERR_FILENO));
}

struct dfr_progress *dfr_progress_begin(const struct df_run *run, enum dfr_progress_form form)
{
    pthread_condattr_t attributes;
    struct dfr_progress *p;
    if (!is_wanted(form) || total_of(run) == 1)
        return NULL;
    p = calloc(1, sizeof *p);
    if (!p || pthread_condattr_init(&attributes) != 0) {
        free(p);
        return NULL;
    }
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&p->end, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&p->lock, NULL);
    p->run = run;
    p->started_s = dfr_clock_s();
    p->delay_s = form == DFR_PROGRESS_AUTO ? DELAY_S : PERIOD_S;
    p->drawn = form == DFR_PROGRESS_ON;
    if (dfr_helper_create(&p->thread, draw_again_and_again, p) == 0)
        return p;
    pthread_cond_destroy(&p->end);
    pthread_mutex_destroy(&p->lock);
    free(p);
    return NULL;
}

void dfr_progress_end(struct dfr_progress *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_signal(&p->end);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    if (p->drawn && atomic_load(&((struct df_run *)p->run)->outcome.stop) != DFR_RUN_FAILED) {
        draw(p);
        dfr_status_end();
    }
    dfr_status_clear();
    pthread_cond_destroy(&p->end);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ---- without a run ---- */

void dfr_progress_count_begin(struct dfr_progress_count *p, enum dfr_progress_form form)
{
    const double now_s = dfr_clock_s();
    *p = (struct dfr_progress_count){ .form = is_wanted(form) ? form : DFR_PROGRESS_OFF, .started_s = now_s, .drawn_s = now_s };
    p->drawn_s += form == DFR_PROGRESS_AUTO ? DELAY_S - PERIOD_S : 0;
}

void dfr_progress_show(void *progress, int64_t done, int64_t total, int n_live, int n_dead)
{
    struct dfr_progress_count *p = progress;
    const double now_s = dfr_clock_s();
    p->done = done;
    p->total = total;
    p->n_live = n_live;
    p->n_dead = n_dead;
    p->drawn |= p->form == DFR_PROGRESS_ON;
    if (p->form == DFR_PROGRESS_OFF || total == 1 || now_s - p->drawn_s < PERIOD_S)
        return;
    draw_line(done, total, now_s - p->started_s, n_live, n_dead);
    p->drawn_s = now_s;
    p->drawn = true;
}

void dfr_progress_count_end(struct dfr_progress_count *p, bool well)
{
    if (p->drawn && well && p->total != 1) {
        draw_line(p->done, p->total, dfr_clock_s() - p->started_s, p->n_live, p->n_dead);
        dfr_status_end();
    }
    dfr_status_clear();
}
