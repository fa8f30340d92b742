/* walk_list.c - a phase's lists: from who has which job to what each job waits for, and where others wait.
 *
 * Jobs are taken in the order of the phase. Beside each worker stands its *clock*: for each other, how many of that
 * one's jobs it knows to be done; the clock of a job is its worker's when it ends. A job waits for what it reads only
 * where that is beyond its worker's clock, and beyond the clocks of whatever else it waits for.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/walk.h"

#define MOST_CLOCK_WORDS (UINT64_C(1) << 24) /* beyond, only what a worker has waited for itself counts as known */

struct making {
    const struct dfr_phase *phase;
    uint32_t n_workers;
    uint32_t *place;                    /* by job: how many its worker has done with it */
    bool *is_awaited;                   /* by job */
    uint32_t *known;                    /* [worker * n_workers + other] */
    uint32_t *clock;                    /* [job * n_workers + other]; NULL: too many */
    uint32_t *wanted;                   /* of the job looked at, by worker: the job that it is to wait for, + 1; 0: none */
    uint32_t n_wanted;                  /* workers that it is to wait for */
    bool *is_gated;                     /* by worker: it has waited for the streams */
    uint32_t *first_wait;               /* by job; n + 1 */
    struct dfr_wait *waits;             /* of all jobs */
};

/* ---- what is waited for ---- */

/* Job i waits for job j, of another worker, unless that is known to be done. */
static void want(struct making *m, uint32_t i, uint32_t j)
{
    const uint8_t *worker = m->phase->worker;
    uint32_t other = worker[j];

    if (other != worker[i] && m->place[j] > m->known[worker[i] * m->n_workers + other] &&
        (m->wanted[other] == 0 || m->place[j] > m->place[m->wanted[other] - 1])) {
        m->n_wanted += m->wanted[other] == 0;
        m->wanted[other] = j + 1;
    }
}

/* Is a job that is wanted of worker `other` done where another one is that is wanted? */
static bool is_implied(const struct making *m, uint32_t other)
{
    uint32_t place = m->place[m->wanted[other] - 1];

    for (uint32_t w = 0; m->clock && w < m->n_workers; w++)
        if (w != other && m->wanted[w] > 0 && m->clock[(size_t)(m->wanted[w] - 1) * m->n_workers + other] >= place)
            return true;
    return false;
}

static void wait_for_wanted(struct making *m, uint32_t i, uint32_t *n_waits)
{
    uint32_t *known = m->known + m->phase->worker[i] * m->n_workers, first = *n_waits;

    for (uint32_t w = 0; w < m->n_workers; w++)
        if (m->wanted[w] > 0 && !is_implied(m, w)) {
            m->waits[(*n_waits)++] = (struct dfr_wait){ w, m->place[m->wanted[w] - 1] };
            m->is_awaited[m->wanted[w] - 1] = true;
        }
    for (uint32_t k = first; k < *n_waits; k++) {
        uint32_t w = m->waits[k].worker;
        const uint32_t *clock = m->clock ? m->clock + (size_t)(m->wanted[w] - 1) * m->n_workers : NULL;
        for (uint32_t other = 0; clock && other < m->n_workers; other++)
            known[other] = clock[other] > known[other] ? clock[other] : known[other];
        known[w] = m->waits[k].n_jobs > known[w] ? m->waits[k].n_jobs : known[w];
    }
    memset(m->wanted, 0, m->n_workers * sizeof *m->wanted);
    m->n_wanted = 0;
}

/* A worker's first job behind the streams waits until all have delivered; what follows it knows. */
static void want_streams(struct making *m, uint32_t i)
{
    const struct dfr_phase *p = m->phase;

    if (i < p->n_streams || m->is_gated[p->worker[i]])
        return;
    m->is_gated[p->worker[i]] = true;
    for (uint32_t j = 0; j < p->n_streams; j++)
        want(m, i, j);
}

static void find_waits(struct making *m)
{
    const struct dfr_phase *p = m->phase;
    uint32_t n_waits = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t w = p->worker[i], *known = m->known + w * m->n_workers;
        m->first_wait[i] = n_waits;
        m->place[i] = known[w] + 1;
        want_streams(m, i);
        for (uint32_t b = p->first_before[i]; b < p->first_before[i + 1]; b++)
            want(m, i, p->before[b]);
        if (m->n_wanted > 0)
            wait_for_wanted(m, i, &n_waits);
        known[w]++;
        if (m->clock)
            memcpy(m->clock + (size_t)i * m->n_workers, known, m->n_workers * sizeof *known);
    }
    m->first_wait[p->n] = n_waits;
}

/* ---- the lists ---- */

static uint32_t waits_of(const struct making *m, uint32_t i)
{
    return m->first_wait[i + 1] - m->first_wait[i];
}

/* Counts as fill_lists() fills. */
static bool room_for_lists(const struct making *m, struct dfr_list *lists)
{
    const struct dfr_phase *p = m->phase;
    size_t *n_stretches = calloc(m->n_workers, sizeof *n_stretches), *n_waits = calloc(m->n_workers, sizeof *n_waits);
    bool good = n_stretches && n_waits;

    for (uint32_t i = 0; good && i < p->n; i++) {
        uint32_t w = p->worker[i];
        lists[w].n_jobs++;
        n_waits[w] += waits_of(m, i);
        n_stretches[w] += (waits_of(m, i) > 0) + m->is_awaited[i];
    }
    for (uint32_t w = 0; good && w < m->n_workers; w++) {
        struct dfr_list *l = &lists[w];
        if (l->n_jobs == 0)
            continue;
        l->nodes = malloc(l->n_jobs * sizeof *l->nodes);
        l->stretches = malloc((n_stretches[w] + 1) * sizeof *l->stretches);
        l->waits = malloc((n_waits[w] + 1) * sizeof *l->waits);
        l->n_jobs = 0;
        good = l->nodes && l->stretches && l->waits;
    }
    free(n_stretches);
    free(n_waits);
    return good;
}

static void fill_lists(const struct making *m, struct dfr_list *lists)
{
    const struct dfr_phase *p = m->phase;
    uint32_t *n_waits = m->wanted;      /* by worker: in its list so far */

    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t w = p->worker[i], n = waits_of(m, i);
        struct dfr_list *l = &lists[w];
        struct dfr_stretch *last = l->n_stretches > 0 ? &l->stretches[l->n_stretches - 1] : NULL;
        if (!last || last->is_awaited || n > 0) {
            last = &l->stretches[l->n_stretches++];
            *last = (struct dfr_stretch){ .n_waits = (uint16_t)n };
            memcpy(l->waits + n_waits[w], m->waits + m->first_wait[i], n * sizeof *l->waits);
            n_waits[w] += n;
        }
        l->nodes[l->n_jobs++] = p->node[i];
        last->n_jobs++;
        last->is_awaited = m->is_awaited[i];
    }
}

static bool making_create(struct making *m, const struct dfr_phase *phase, uint32_t n_workers)
{
    size_t n = (size_t)phase->n + 1, words = (size_t)phase->n * n_workers;
    size_t most_waits = phase->first_before[phase->n] + (phase->n_streams > 0 ? (size_t)n_workers * n_workers : 0);

    *m = (struct making){ .phase = phase, .n_workers = n_workers };
    m->place = malloc(n * sizeof *m->place);
    m->is_awaited = calloc(n, sizeof *m->is_awaited);
    m->known = calloc((size_t)n_workers * n_workers, sizeof *m->known);
    if (n_workers > 2 && words <= MOST_CLOCK_WORDS) /* of two, each knows what it has waited for */
        m->clock = malloc(words * sizeof *m->clock + 1);
    m->wanted = calloc(n_workers, sizeof *m->wanted);
    m->is_gated = calloc(n_workers, sizeof *m->is_gated);
    m->first_wait = malloc(n * sizeof *m->first_wait);
    m->waits = malloc((most_waits + 1) * sizeof *m->waits);
    return m->place && m->is_awaited && m->known && m->wanted && m->is_gated && m->first_wait &&
           m->waits;
}

bool dfr_phase_lists(const struct dfr_phase *phase, uint32_t n_workers, struct dfr_list *lists)
{
    struct making m;
    bool good = making_create(&m, phase, n_workers);

    if (good)
        find_waits(&m);
    good = good && room_for_lists(&m, lists);
    if (good)
        fill_lists(&m, lists);
    free(m.place);
    free(m.is_awaited);
    free(m.known);
    free(m.clock);
    free(m.wanted);
    free(m.is_gated);
    free(m.first_wait);
    free(m.waits);
    return good;
}

void dfr_list_free(struct dfr_list *list)
{
    free(list->nodes);
    free(list->stretches);
    free(list->waits);
    *list = (struct dfr_list){ 0 };
}
