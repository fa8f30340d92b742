/* test_walk_lists.c - the lists that workers walk, without walking them: that what a job reads is done before it in
 * every run that keeps the lists' order and waits, that no wait could be left out, and how jobs are shared out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"
#include "runtime/engine/walk.h"

enum { MOST = 48, WORKERS = 5 };

/* ---- phases ---- */

static struct dfr_phase new_phase(uint32_t n, uint32_t n_streams, uint32_t n_before)
{
    struct dfr_phase p = { .n = n, .n_streams = n_streams };
    p.node = malloc(n * sizeof *p.node + 1);
    p.first_before = calloc(n + 1, sizeof *p.first_before);
    p.before = malloc(n_before * sizeof *p.before + 1);
    p.time_s = malloc(n * sizeof *p.time_s + 1);
    p.worker = calloc(n + 1, 1);
    assert_true(p.node && p.first_before && p.before && p.time_s && p.worker);
    for (uint32_t i = 0; i < n; i++) {
        p.node[i] = 1000 + i;
        p.time_s[i] = 1e-6;
    }
    return p;
}

static void free_phase(struct dfr_phase *p)
{
    free(p->node);
    free(p->first_before);
    free(p->before);
    free(p->time_s);
    free(p->worker);
}

/* Jobs read up to three of the `reach` before them. */
static struct dfr_phase random_phase(uint32_t n, uint32_t n_streams, uint32_t reach, uint32_t *seed)
{
    struct dfr_phase p = new_phase(n, n_streams, 3 * n);
    uint32_t n_before = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t far = i < reach ? i : reach;
        p.first_before[i] = n_before;
        p.time_s[i] = (1 + rig_rand(seed) % 30) * 1e-7;
        for (uint32_t k = i < n_streams || far == 0 ? 0 : rig_rand(seed) % 4; k > 0; k--)
            p.before[n_before++] = i - 1 - rig_rand(seed) % far;
    }
    p.first_before[n] = n_before;
    return p;
}

static struct dfr_phase chain(uint32_t n)
{
    struct dfr_phase p = new_phase(n, 0, n);
    for (uint32_t i = 0; i < n; i++) {
        p.first_before[i + 1] = i;
        p.before[i] = i;                /* of job i + 1 */
    }
    p.first_before[0] = 0;
    return p;
}

/* ---- what lists promise ---- */

struct checked {
    const struct dfr_phase *p;
    uint32_t n_workers;
    struct dfr_list lists[WORKERS];
    uint32_t job[WORKERS][MOST];        /* of a worker's list: its place in the phase */
    uint32_t worker_place[MOST];        /* of a job: its place in its list, from 0 */
    bool after[MOST][MOST];             /* [i][j]: job j is done whenever job i begins */
};

/* Lists are the phase's order, each job in its worker's. */
static void find_jobs(struct checked *c)
{
    uint32_t n[WORKERS] = { 0 };
    for (uint32_t i = 0; i < c->p->n; i++) {
        uint32_t w = c->p->worker[i];
        assert_true(n[w] < c->lists[w].n_jobs);
        assert_int_equal(c->lists[w].nodes[n[w]], c->p->node[i]);
        c->worker_place[i] = n[w];
        c->job[w][n[w]++] = i;
    }
    for (uint32_t w = 0; w < c->n_workers; w++) {
        uint32_t n_jobs = 0;
        assert_int_equal(n[w], c->lists[w].n_jobs);
        for (uint32_t k = 0; k < c->lists[w].n_stretches; k++) {
            assert_true(c->lists[w].stretches[k].n_jobs > 0);
            n_jobs += c->lists[w].stretches[k].n_jobs;
        }
        assert_int_equal(n_jobs, n[w]);
    }
}

static void follow(struct checked *c, uint32_t i, uint32_t j)
{
    assert_true(j < i);                 /* so nobody waits in a circle */
    c->after[i][j] = true;
    for (uint32_t k = 0; k < j; k++)
        c->after[i][k] = c->after[i][k] || c->after[j][k];
}

/* What lists and waits imply. Without the wait number `left_out` of all; gives their number. */
static uint32_t imply(struct checked *c, uint32_t left_out)
{
    uint32_t numbers[MOST], n = 0;      /* numbers: the first wait of the stretch that begins with a job */
    const struct dfr_stretch *begins[MOST] = { NULL };
    const struct dfr_wait *waits[MOST];

    memset(c->after, 0, sizeof c->after);
    for (uint32_t w = 0; w < c->n_workers; w++) {
        uint32_t place = 0;
        const struct dfr_wait *wait = c->lists[w].waits;
        for (uint32_t k = 0; k < c->lists[w].n_stretches; k++) {
            const struct dfr_stretch *s = &c->lists[w].stretches[k];
            uint32_t i = c->job[w][place];
            begins[i] = s;
            waits[i] = wait;
            numbers[i] = n;
            n += s->n_waits;
            wait += s->n_waits;
            place += s->n_jobs;
        }
    }
    for (uint32_t i = 0; i < c->p->n; i++) {
        if (c->worker_place[i] > 0)
            follow(c, i, c->job[c->p->worker[i]][c->worker_place[i] - 1]);
        for (uint32_t k = 0; begins[i] && k < begins[i]->n_waits; k++)
            if (numbers[i] + k != left_out)
                follow(c, i, c->job[waits[i][k].worker][waits[i][k].n_jobs - 1]);
    }
    return n;
}

static bool is_enough(const struct checked *c)
{
    const struct dfr_phase *p = c->p;
    for (uint32_t i = 0; i < p->n; i++) {
        for (uint32_t b = p->first_before[i]; b < p->first_before[i + 1]; b++)
            if (!c->after[i][p->before[b]])
                return false;
        for (uint32_t j = 0; i >= p->n_streams && j < p->n_streams; j++)
            if (!c->after[i][j])
                return false;
    }
    return true;
}

static bool ends_a_stretch(const struct dfr_list *l, uint32_t n_jobs, bool awaited)
{
    uint32_t done = 0;
    for (uint32_t k = 0; k < l->n_stretches; k++) {
        done += l->stretches[k].n_jobs;
        if (done == n_jobs)
            return l->stretches[k].is_awaited == awaited;
    }
    return false;
}

/* Progress is told where somebody waits for it, and nowhere else. */
static void check_tells(const struct checked *c)
{
    bool awaited[WORKERS][MOST + 1] = { { false } };
    for (uint32_t w = 0; w < c->n_workers; w++)
        for (uint32_t k = 0, first = 0; k < c->lists[w].n_stretches; k++)
            for (uint32_t i = 0; i < c->lists[w].stretches[k].n_waits; i++, first++) {
                const struct dfr_wait *wait = &c->lists[w].waits[first];
                assert_true(wait->worker != w);
                assert_true(ends_a_stretch(&c->lists[wait->worker], wait->n_jobs, true));
                awaited[wait->worker][wait->n_jobs] = true;
            }
    for (uint32_t w = 0; w < c->n_workers; w++)
        for (uint32_t n = 1; n <= c->lists[w].n_jobs; n++)
            assert_true(awaited[w][n] || !ends_a_stretch(&c->lists[w], n, true));
}

/* Gives how many waits there are. */
static uint32_t check(const struct dfr_phase *p, uint32_t n_workers)
{
    static struct checked c;
    uint32_t n_waits;

    memset(&c, 0, sizeof c);
    c.p = p;
    c.n_workers = n_workers;
    assert_true(dfr_phase_lists(p, n_workers, c.lists));
    find_jobs(&c);
    check_tells(&c);
    n_waits = imply(&c, UINT32_MAX);
    assert_true(is_enough(&c));
    for (uint32_t k = 0; k < n_waits; k++) {
        imply(&c, k);
        assert_false(is_enough(&c));
    }
    for (uint32_t w = 0; w < n_workers; w++)
        dfr_list_free(&c.lists[w]);
    return n_waits;
}

/* Jobs anywhere. */
static void test_any_sharing(void **state)
{
    uint32_t seed = 5;

    (void)state;
    for (int turn = 0; turn < 300; turn++) {
        uint32_t n = rig_rand(&seed) % (MOST + 1), n_streams = turn % 3 == 0 && n > 3 ? 1 + rig_rand(&seed) % 3 : 0;
        struct dfr_phase p = random_phase(n, n_streams, turn % 2 ? 6 : MOST, &seed);
        uint32_t n_workers = 1 + rig_rand(&seed) % WORKERS;
        for (uint32_t i = 0; i < n; i++)
            p.worker[i] = (uint8_t)(rig_rand(&seed) % n_workers);
        check(&p, n_workers);
        free_phase(&p);
    }
}

/* Jobs where they are put; in every run the same. */
static void test_sharing(void **state)
{
    uint32_t seed = 11;

    (void)state;
    for (int turn = 0; turn < 200; turn++) {
        uint32_t n = rig_rand(&seed) % (MOST + 1), n_streams = turn % 4 == 0 && n > 2 ? 1 + rig_rand(&seed) % 2 : 0;
        struct dfr_phase p = random_phase(n, n_streams, turn % 2 ? 4 : MOST, &seed);
        uint32_t n_workers = 1 + rig_rand(&seed) % WORKERS, n_slots = 1 + rig_rand(&seed) % 4;
        uint8_t first[MOST];
        assert_true(dfr_phase_share(&p, n_workers, n_slots, 1 + turn % 20));
        memcpy(first, p.worker, n);
        memset(p.worker, 99, n);
        assert_true(dfr_phase_share(&p, n_workers, n_slots, 1 + turn % 20));
        assert_memory_equal(first, p.worker, n);
        check(&p, n_workers);
        free_phase(&p);
    }
}

static void loads(const struct dfr_phase *p, uint32_t n_workers, uint32_t *n_jobs)
{
    memset(n_jobs, 0, n_workers * sizeof *n_jobs);
    for (uint32_t i = 0; i < p->n; i++)
        n_jobs[p->worker[i]]++;
}

static void test_chain(void **state)
{
    struct dfr_phase p = chain(40);
    uint32_t n_jobs[4];

    (void)state;
    assert_true(dfr_phase_share(&p, 4, 1, 100)); /* one wave after the other: nothing to gain */
    loads(&p, 4, n_jobs);
    assert_int_equal(n_jobs[0], 40);
    assert_int_equal(check(&p, 4), 0);
    assert_true(dfr_phase_share(&p, 4, 4, 1));
    loads(&p, 4, n_jobs);
    assert_int_equal(n_jobs[0], 40);
    assert_true(dfr_phase_share(&p, 4, 8, 100)); /* a pipeline */
    loads(&p, 4, n_jobs);
    for (int w = 0; w < 4; w++)
        assert_int_equal(n_jobs[w], 10);
    assert_int_equal(check(&p, 4), 3);
    free_phase(&p);
}

static void test_independent(void **state)
{
    struct dfr_phase p = new_phase(40, 0, 0);
    uint32_t n_jobs[5];

    (void)state;
    assert_true(dfr_phase_share(&p, 5, 1, 1));
    loads(&p, 5, n_jobs);
    for (int w = 0; w < 5; w++)
        assert_int_equal(n_jobs[w], 8);
    assert_int_equal(check(&p, 5), 0);
    p.time_s[0] = 100e-6;               /* longer than all others together */
    assert_true(dfr_phase_share(&p, 2, 1, 1));
    loads(&p, 2, n_jobs);
    assert_int_equal(n_jobs[p.worker[0]], 1);
    free_phase(&p);
}

/* Lists of a wave are walked to their ends, so what goes forth and back between workers takes turns in every wave. */
static void test_pipeline(void **state)
{
    struct dfr_phase p = chain(5);
    static const double times_s[] = { 53e-6, 70e-6, 35e-6, 33e-6, 17e-6 };

    (void)state;
    memcpy(p.time_s, times_s, sizeof times_s);
    p.n_streams = 1;
    assert_true(dfr_phase_share(&p, 2, 4, INT64_MAX));
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(p.worker[i], i >= 2);
    assert_int_equal(check(&p, 2), 1);
    free_phase(&p);
}

/* Of many jobs fewer ways are tried: for a few waves one alone. */
static void test_many(void **state)
{
    enum { N = 40000 };
    uint32_t seed = 9, n_jobs[3];
    struct dfr_phase p = random_phase(N, 0, 100, &seed);

    (void)state;
    for (int64_t waves = 1; waves <= 20; waves += 19) {
        struct dfr_list lists[3] = { { 0 } };
        assert_true(dfr_phase_share(&p, 3, 4, waves));
        loads(&p, 3, n_jobs);
        for (int w = 0; w < 3; w++)     /* times differ, not so much in all */
            assert_in_range(n_jobs[w], N / 3 - N / 12, N / 3 + N / 12);
        assert_true(dfr_phase_lists(&p, 3, lists));
        for (int w = 0; w < 3; w++) {
            assert_int_equal(lists[w].n_jobs, n_jobs[w]);
            dfr_list_free(&lists[w]);
        }
    }
    free_phase(&p);
}

/* Too short to be worth any waiting. */
static void test_short_jobs(void **state)
{
    uint32_t seed = 3, n_jobs[2];
    struct dfr_phase p = random_phase(MOST, 0, 4, &seed);

    (void)state;
    for (uint32_t i = 0; i < p.n; i++)
        p.time_s[i] = 1e-9;
    assert_true(dfr_phase_share(&p, 2, 1, 10));
    loads(&p, 2, n_jobs);
    assert_int_equal(n_jobs[0], MOST);
    free_phase(&p);
}

/* What comes of job 0 and 1 meets in 2 on the third worker, which then knows both; 3 is on the second. */
static void test_known(void **state)
{
    static const uint8_t workers[] = { 0, 1, 2, 1, 2 };
    static const uint32_t first[] = { 0, 0, 1, 3, 4, 6 }, before[] = { 0, 0, 1, 2, 0, 3 };
    struct dfr_phase p = new_phase(5, 0, 6);

    (void)state;
    memcpy(p.worker, workers, sizeof workers);
    memcpy(p.first_before, first, sizeof first);
    memcpy(p.before, before, sizeof before);
    /* 1 waits for 0, 2 for 1 alone, 3 for 2, 4 for 3 alone */
    assert_int_equal(check(&p, 3), 4);
    free_phase(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_sharing),
        cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_independent),
        cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_short_jobs),
        cmocka_unit_test(test_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
