/* walk_share.c - which worker has which job of a phase, by list scheduling with expected times. Each job is taken in
 * the policy's order and given to the worker that has most of what it reads, unless that one has got too far ahead of
 * the others. How far is too far depends on the graph: little slack keeps all busy from the start, much of it keeps
 * together what reads each other. So several are tried, and beside them the earliest finish, which looks at nothing
 * but time, a piece of the order for each, and one worker for everything. What each would take is computed for some
 * waves; of those that take about the least, the one with the fewest waits is kept. All of it is the same in every run.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/walk.h"

#define HANDOVER_S 200e-9               /* from a job's end to the start of what waits for it on another worker */
#define LEAST_TIME_S 1e-9
#define ABOUT 1.03                      /* expected times are no better known than that */
#define FAIR 1.01                       /* what a worker may have, in fair shares */
#define MOST_WAVES 8                    /* of which the time is computed, */
#define FEW_WAVES 3                     /* and where there are many jobs */
#define LONG_RUN 1000                   /* waves, where their number is not known */
#define MANY_JOBS (1u << 15)            /* from here on fewer ways are tried, so that a run begins soon */
#define MOST_FINISHES (UINT64_C(1) << 22) /* of jobs on workers that are looked at for the earliest */

struct sharing {
    struct dfr_phase *phase;
    uint32_t n_workers, n_slots;
    int64_t n_waves;
    double total_s;
    double *finish_s;                   /* by job */
    uint32_t *place;                    /* by job: how many its worker has done with it */
    double *load_s, *free_s;            /* by worker */
    uint32_t *votes;                    /* by worker: inputs of the job that is looked at */
    uint32_t *known;                    /* [worker * n_workers + other]: the furthest place of the other's waited for */
    double *end_s;                      /* of wave, modulo MOST_WAVES */
};

enum { ONE_WORKER, IN_BLOCKS, EARLIEST, BY_SLACK }; /* ways: the last and those after it, ever less slack */

static double time_of(const struct dfr_phase *p, uint32_t i)
{
    return p->time_s[i] > LEAST_TIME_S ? p->time_s[i] : LEAST_TIME_S;
}

/* ---- giving jobs to workers ---- */

static uint32_t least_loaded(const struct sharing *s)
{
    uint32_t least = 0;
    for (uint32_t w = 1; w < s->n_workers; w++)
        if (s->load_s[w] < s->load_s[least])
            least = w;
    return least;
}

/* The worker that has most of what job i reads, of equals the one with less to do; `otherwise`, where it reads
 * nothing. */
static uint32_t nearest(const struct sharing *s, uint32_t i, uint32_t otherwise)
{
    const struct dfr_phase *p = s->phase;
    uint32_t best = otherwise, votes = 0;

    for (uint32_t b = p->first_before[i]; b < p->first_before[i + 1]; b++)
        s->votes[p->worker[p->before[b]]]++;
    for (uint32_t b = p->first_before[i]; b < p->first_before[i + 1]; b++) {
        uint32_t w = p->worker[p->before[b]];
        if (s->votes[w] > votes || (s->votes[w] == votes && s->load_s[w] < s->load_s[best])) {
            best = w;
            votes = s->votes[w];
        }
    }
    for (uint32_t b = p->first_before[i]; b < p->first_before[i + 1]; b++)
        s->votes[p->worker[p->before[b]]] = 0;
    return best;
}

/* Nobody gets much more than a fair share of all. */
static void share_by_slack(const struct sharing *s, double slack_s)
{
    struct dfr_phase *p = s->phase;
    double most_s = s->total_s / s->n_workers * FAIR;
    uint32_t w = 0, least = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        double load_s;
        w = nearest(s, i, w);
        load_s = s->load_s[w] + time_of(p, i);
        if (load_s > s->load_s[least] + slack_s || load_s > most_s)
            w = least;
        p->worker[i] = (uint8_t)w;
        s->load_s[w] += time_of(p, i);
        if (w == least)
            least = least_loaded(s);
    }
}

/* Each has one piece of the order: nobody waits for those after it, so several waves are a pipeline. */
static void share_in_blocks(const struct sharing *s)
{
    double before_s = 0, share_s = s->total_s / s->n_workers;

    for (uint32_t i = 0; i < s->phase->n; i++) {
        uint32_t w = (uint32_t)((before_s + time_of(s->phase, i) / 2) / share_s);
        s->phase->worker[i] = (uint8_t)(w < s->n_workers ? w : s->n_workers - 1);
        before_s += time_of(s->phase, i);
    }
}

static double start_on(const struct sharing *s, uint32_t i, uint32_t w)
{
    const struct dfr_phase *p = s->phase;
    double start_s = s->free_s[w];

    for (uint32_t b = p->first_before[i]; b < p->first_before[i + 1]; b++) {
        uint32_t j = p->before[b];
        double ready_s = s->finish_s[j] + (p->worker[j] != w ? HANDOVER_S : 0);
        start_s = ready_s > start_s ? ready_s : start_s;
    }
    return start_s;
}

/* Where another worker would begin it sooner by no more than a handover, the nearest keeps it. */
static void share_by_finish(const struct sharing *s)
{
    struct dfr_phase *p = s->phase;
    uint32_t last = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t best = nearest(s, i, last);
        double start_s = start_on(s, i, best), least_s = start_s - HANDOVER_S;
        for (uint32_t w = 0; w < s->n_workers; w++) {
            double other_s = start_on(s, i, w);
            if (other_s < least_s) {
                best = w;
                start_s = least_s = other_s;
            }
        }
        p->worker[i] = (uint8_t)best;
        s->finish_s[i] = s->free_s[best] = start_s + time_of(p, i);
        s->load_s[best] += time_of(p, i);
        last = best;
    }
}

static void share(const struct sharing *s, int way)
{
    for (uint32_t w = 0; w < s->n_workers; w++)
        s->load_s[w] = s->free_s[w] = 0;
    if (way == ONE_WORKER)
        memset(s->phase->worker, 0, s->phase->n);
    else if (way == IN_BLOCKS)
        share_in_blocks(s);
    else if (way == EARLIEST)
        share_by_finish(s);
    else
        share_by_slack(s, s->total_s / s->n_workers * FAIR / (double)(1u << 2 * (way - BY_SLACK)));
}

/* ---- what comes of it ---- */

struct outcome {
    double time_s;
    uint64_t n_waits;                   /* in a wave, about */
};

/* Places, and the waits of a wave where nobody knows what others have waited for. */
static uint64_t count_waits(const struct sharing *s)
{
    const struct dfr_phase *p = s->phase;
    uint64_t n = 0;
    uint32_t *done = s->votes;

    memset(s->known, 0, (size_t)s->n_workers * s->n_workers * sizeof *s->known);
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t w = p->worker[i], *known = s->known + (size_t)w * s->n_workers;
        s->place[i] = ++done[w];
        for (uint32_t b = p->first_before[i]; b < p->first_before[i + 1]; b++) {
            uint32_t j = p->before[b], other = p->worker[j];
            if (other == w || s->place[j] <= known[other])
                continue;
            known[other] = s->place[j];
            n++;
        }
    }
    memset(done, 0, s->n_workers * sizeof *done);
    return n;
}

/* Gives the end of a wave; free_s goes from its beginning to its end. */
static double run_wave(const struct sharing *s)
{
    const struct dfr_phase *p = s->phase;
    double gate_s = 0, end_s = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t w = p->worker[i];
        double start_s = start_on(s, i, w);
        if (i >= p->n_streams && start_s < gate_s)
            start_s = gate_s;
        s->finish_s[i] = s->free_s[w] = start_s + time_of(p, i);
        end_s = s->finish_s[i] > end_s ? s->finish_s[i] : end_s;
        if (i < p->n_streams)
            gate_s = end_s;
    }
    return end_s;
}

/* The first wave's time, and that by which each one more lengthens the run. */
static struct outcome judge(const struct sharing *s, int way)
{
    int64_t n = s->n_slots > 1 ? (int64_t)s->n_slots + 2 : 1, more = s->n_waves < LONG_RUN ? s->n_waves - 1 : LONG_RUN;
    int64_t most = s->phase->n < MANY_JOBS ? MOST_WAVES : FEW_WAVES;
    struct outcome o = { 0 };

    if (way == ONE_WORKER)
        return (struct outcome){ .time_s = s->total_s * (double)(more + 1) };
    o.n_waits = count_waits(s);
    n = n < s->n_waves ? n : s->n_waves;
    n = n < most ? n : most;
    for (uint32_t w = 0; w < s->n_workers; w++)
        s->free_s[w] = 0;
    for (int64_t k = 0; k < n; k++) {
        for (uint32_t w = 0; k >= s->n_slots && w < s->n_workers; w++)
            if (s->free_s[w] < s->end_s[k - s->n_slots])
                s->free_s[w] = s->end_s[k - s->n_slots];
        s->end_s[k] = run_wave(s);
    }
    o.time_s = s->end_s[0] + (double)more * (n > 1 ? (s->end_s[n - 1] - s->end_s[0]) / (double)(n - 1) : s->end_s[0]);
    return o;
}

/* ---- the choice ---- */

enum { MOST_WAYS = BY_SLACK + 5, WAY_OF_MANY = BY_SLACK + 3 };

static bool is_tried(const struct sharing *s, int way)
{
    const struct dfr_phase *p = s->phase;
    if (way <= IN_BLOCKS)
        return true;
    if (p->n >= MANY_JOBS)
        return way == WAY_OF_MANY;
    return way != EARLIEST || ((uint64_t)p->n + p->first_before[p->n]) * s->n_workers <= MOST_FINISHES;
}

static void choose(const struct sharing *s)
{
    struct outcome of[MOST_WAYS];
    double least_s = 0;
    int best = ONE_WORKER;

    if (s->phase->n >= MANY_JOBS && s->n_waves <= FEW_WAVES) {
        share(s, WAY_OF_MANY);          /* to compare would take as long as the waves */
        return;
    }
    for (int way = 0; way < MOST_WAYS; way++) {
        if (!is_tried(s, way))
            continue;
        share(s, way);
        of[way] = judge(s, way);
        if (way == ONE_WORKER || of[way].time_s < least_s)
            least_s = of[way].time_s;
    }
    for (int way = MOST_WAYS - 1; way >= 0; way--)
        if (is_tried(s, way) && of[way].time_s <= least_s * ABOUT &&
            (of[best].time_s > least_s * ABOUT || of[way].n_waits <= of[best].n_waits))
            best = way;
    share(s, best);
}

bool dfr_phase_share(struct dfr_phase *phase, uint32_t n_workers, uint32_t n_slots, int64_t n_waves)
{
    size_t n = (size_t)phase->n + 1;
    struct sharing s = { .phase = phase, .n_workers = n_workers, .n_slots = n_slots, .n_waves = n_waves };
    bool good;

    memset(phase->worker, 0, phase->n);
    if (n_workers == 1 || phase->n < 2)
        return true;
    for (uint32_t i = 0; i < phase->n; i++)
        s.total_s += time_of(phase, i);
    s.finish_s = malloc(n * sizeof *s.finish_s);
    s.place = malloc(n * sizeof *s.place);
    s.load_s = malloc(n_workers * sizeof *s.load_s);
    s.free_s = malloc(n_workers * sizeof *s.free_s);
    s.votes = calloc(n_workers, sizeof *s.votes);
    s.known = malloc((size_t)n_workers * n_workers * sizeof *s.known);
    s.end_s = calloc(MOST_WAVES, sizeof *s.end_s);
    good = s.finish_s && s.place && s.load_s && s.free_s && s.votes && s.known && s.end_s;
    if (good)
        choose(&s);
    free(s.finish_s);
    free(s.place);
    free(s.load_s);
    free(s.free_s);
    free(s.votes);
    free(s.known);
    free(s.end_s);
    return good;
}
