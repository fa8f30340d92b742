/* test_cache_peers.c - the caches of several devices between which tokens go directly: cases step by step, and random
 * jobs whose steps, messages and copies come in every order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "cache_rig.h"
#include "run_rig.h"

/* ---- one thing each ---- */

static struct job *place_job(struct world *w, uint32_t number, uint32_t unit, uint32_t in, uint32_t out,
                             uint32_t n_readers)
{
    struct job *j = &w->jobs[number];
    *j = (struct job){ .unit = unit, .n_in = in != DFM_NONE, .in = { in }, .out = out, .n_readers = n_readers,
                       .follows = DFM_NONE };
    if (out != DFM_NONE)
        w->tokens[out] = (struct token){ .used = true, .life = w->tokens[out].life + 1 };
    world_describe(j);
    return j;
}

static void make_on(struct world *w, uint32_t unit, uint32_t block, uint32_t n_readers)
{
    struct job *j = place_job(w, N_JOBS - 1, unit, DFM_NONE, block, n_readers);

    assert_int_equal(world_reserve(w, j), DFM_RESERVED);
    world_run_on_device(w, j);
}

static void read_at_home(struct world *w, uint32_t number, uint32_t block)
{
    world_run_on_host(w, place_job(w, number, 0, block, DFM_NONE, 0));
}

static void carry_out_all(struct world *w, uint32_t m)
{
    for (uint32_t stream = 0; stream < N_STREAMS; stream++)
        while (world_carry_out(&w->fakes[m], stream))
            ;
    world_poll(w, m);
}

/* Device 2 has sent a token to device 1 and is copying it to the host when somebody else asks for it, whose lot is
 * device 1: it comes home once, in one piece of memory. */
static void test_home_once(void **state)
{
    static struct world w;
    struct job *j;

    (void)state;
    memset(&w, 0, sizeof w);
    world_begin(&w, 2, 4, 1);
    w.peers[1] = 4;
    w.peers[2] = 2;
    make_on(&w, 2, 0, 3);
    j = place_job(&w, 0, 1, 0, DFM_NONE, 0);
    assert_int_equal(world_reserve(&w, j), DFM_RESERVED);
    world_ask_for_inputs(&w, j);
    world_poll(&w, 2);                 /* it is being sent */
    w.missing[1] = w.missing[2] = 1;
    world_ask_home(&w, 2, 0, world_valid(&w, 0));
    world_poll(&w, 2);                 /* and brought home */
    assert_true(world_carry_out(&w.fakes[2], DFR_STREAM_PEER));
    world_poll(&w, 2);
    world_poll(&w, 1);
    assert_int_equal(world_valid(&w, 0), 6);
    world_ask_home(&w, 4, 0, world_valid(&w, 0));
    world_poll(&w, 1);
    world_poll(&w, 2);
    carry_out_all(&w, 2);
    carry_out_all(&w, 1);
    assert_int_equal(w.missing[1] + w.missing[2], 0);
    read_at_home(&w, 1, 0);
    read_at_home(&w, 2, 0);
    world_load_arrived(&w, j);
    assert_true(j->loaded);
    world_run_on_device(&w, j);
    assert_int_equal(world_stats(&w, 1).d2h_copies + world_stats(&w, 2).d2h_copies, 1);
    world_end(&w);
}

/* Of two tokens that the host asked for before the device looked, the first comes home first. */
static void test_home_in_order(void **state)
{
    static struct world w;

    (void)state;
    memset(&w, 0, sizeof w);
    world_begin(&w, 1, 4, 1);
    make_on(&w, 1, 0, 1);
    make_on(&w, 1, 1, 1);
    w.missing[1] = w.missing[2] = 1;
    world_ask_home(&w, 2, 0, world_valid(&w, 0));
    world_ask_home(&w, 4, 1, world_valid(&w, 1));
    world_poll(&w, 1);
    assert_true(world_carry_out(&w.fakes[1], DFR_STREAM_D2H));
    world_poll(&w, 1);
    assert_int_equal(world_valid(&w, 0), 3);
    assert_int_equal(world_valid(&w, 1), 2);
    carry_out_all(&w, 1);
    read_at_home(&w, 1, 0);
    read_at_home(&w, 2, 1);
    world_end(&w);
}

/* Device 1 gives its copy of token 1 up, in favour of device 2, and at once has memory for it again: it had room for
 * what its job makes only in two pieces. Meanwhile it was asked for it: by the host, or by device 3. */
static uint32_t ask_meanwhile(struct world *w)
{
    struct job *j = &w->jobs[2];
    w->intrude = NULL;
    if (j->unit == 0) {
        w->missing[2] = 1;
        world_ask_home(w, 4, 1, world_valid(w, 1));
    } else {
        assert_int_equal(world_reserve(w, j), DFM_RESERVED);
        world_ask_for_inputs(w, j);
    }
    return 0;
}

static void test_asked_for_what_comes_again(void **state)
{
    (void)state;
    for (uint32_t unit = 0; unit <= 3; unit += 3) {
        static struct world w;
        struct job *j;

        memset(&w, 0, sizeof w);
        world_begin(&w, 3, 3, 2);       /* values with odd numbers have two pages */
        w.bytes[1] = w.space->bytes[1] = w.bytes[0];
        w.peers[2] = 2;
        w.peers[3] = 2;                 /* device 3 asks device 1 */
        make_on(&w, 1, 0, 1);
        make_on(&w, 1, 1, 3);
        make_on(&w, 1, 2, 1);
        j = place_job(&w, 0, 2, 1, DFM_NONE, 0);
        assert_int_equal(world_reserve(&w, j), DFM_RESERVED);
        world_ask_for_inputs(&w, j);
        world_poll(&w, 1);
        carry_out_all(&w, 1);
        world_poll(&w, 2);
        world_load_arrived(&w, j);
        world_run_on_device(&w, j);
        assert_int_equal(world_valid(&w, 1), 6);
        world_give_back(&w, 0, 1);
        world_give_back(&w, 2, 1);
        place_job(&w, 2, unit, 1, DFM_NONE, 0);
        w.intrude = ask_meanwhile;
        j = place_job(&w, 1, 1, 1, 3, 0);
        assert_int_equal(world_reserve(&w, j), DFM_RESERVED);
        assert_null(w.intrude);
        assert_true(j->pieces[0].awaited);
        world_ask_for_inputs(&w, j);
        for (uint32_t i = 0; i < 4; i++)
            for (uint32_t m = 1; m <= 3; m++) {
                world_poll(&w, m);
                carry_out_all(&w, m);
                if (unit == 3)
                    world_load_arrived(&w, &w.jobs[2]);
                world_load_arrived(&w, j);
            }
        if (unit == 0) {
            assert_int_equal(w.missing[2], 0);
            read_at_home(&w, 2, 1);
        } else {
            assert_true(w.jobs[2].loaded);
            world_run_on_device(&w, &w.jobs[2]);
        }
        assert_true(j->loaded);
        world_run_on_device(&w, j);
        world_end(&w);
    }
}

/* ---- new jobs ---- */

/* A token that is there, with a reader to come at `unit` (DFM_NONE: anywhere); other than `but`. */
static uint32_t readable(struct world *w, uint32_t unit, uint32_t but)
{
    for (uint32_t i = 0, v = world_pick(w, N_VALUES); i < N_VALUES; i++, v = (v + 1) % N_VALUES) {
        const struct token *t = &w->tokens[v];
        if (t->used && t->n_to_come > 0 && world_valid(w, v) && v != but &&
            (unit == DFM_NONE || t->unit[t->n_to_come - 1] == unit))
            return v;
    }
    return DFM_NONE;
}

static uint32_t unused(struct world *w, uint64_t bytes)
{
    for (uint32_t i = 0, v = world_pick(w, N_VALUES); i < N_VALUES; i++, v = (v + 1) % N_VALUES)
        if (!w->tokens[v].used && (bytes == 0 || w->bytes[v] == bytes))
            return v;
    return DFM_NONE;
}

static void stage(struct world *w, struct job *j)
{
    uint32_t number = (uint32_t)(j - w->jobs);

    j->state = j->unit == 0 ? STAGED : GIVEN;
    for (uint32_t k = 0; k < j->n_in; k++) {
        uint32_t holders = world_valid(w, j->in[k]);
        if (j->unit == 0 && !(holders & DFM_HOST)) {
            w->missing[number]++;
            world_ask_home(w, 2 * number + k, j->in[k], holders);
        } else if (j->unit > 0 && holders & DFM_HOST && !(holders >> j->unit & 1) && world_pick(w, 2)) {
            dfm_cache_post_prefetch(w->caches[j->unit], j->in[k]);
        }
    }
}

static struct job *no_job(struct world *w)
{
    for (struct job *j = w->jobs; j < w->jobs + N_JOBS; j++)
        if (j->state == NO_JOB)
            return j;
    return NULL;
}

static bool new_job(struct world *w)
{
    struct job *j = no_job(w);
    uint32_t in;

    if (!j)
        return false;
    *j = (struct job){ .out = DFM_NONE, .n_readers = world_pick(w, MOST_READERS + 1), .follows = DFM_NONE,
                       .tmp_bytes = world_pick(w, 3) ? 0 : 1 + world_pick(w, DFM_PAGE) };
    in = readable(w, DFM_NONE, DFM_NONE);
    if (in != DFM_NONE) {
        j->unit = w->tokens[in].unit[w->tokens[in].n_to_come - 1];
        j->in[j->n_in++] = in;
        if (world_pick(w, 2) && (in = readable(w, j->unit, in)) != DFM_NONE)
            j->in[j->n_in++] = in;
    } else if (w->made >= w->limit) {
        return false;
    } else {
        j->unit = world_pick(w, w->n_devices + 1);
    }
    if (w->made < w->limit) {
        j->takes = j->n_in > 0 && w->tokens[j->in[0]].n_readers == 1 && world_pick(w, 2);
        j->out = unused(w, j->takes ? w->bytes[j->in[0]] : 0);
        j->takes = j->takes && j->out != DFM_NONE;
    }
    for (uint32_t k = 0; k < j->n_in; k++)
        w->tokens[j->in[k]].n_to_come--;
    if (j->out != DFM_NONE)
        w->tokens[j->out] = (struct token){ .used = true, .life = w->tokens[j->out].life + 1 };
    stage(w, j);
    return true;
}

/* ---- steps, in any order ---- */

/* Jobs are reserved in the order in which they were taken: one that waits comes first. */
static struct job *to_reserve(struct world *w, uint32_t m)
{
    struct job *given = NULL;
    for (struct job *j = w->jobs; j < w->jobs + N_JOBS; j++)
        if (j->unit == m && j->state == TAKEN)
            return j;
        else if (j->unit == m && j->state == GIVEN)
            given = j;
    if (given) {
        given->state = TAKEN;
        world_describe(given);
    }
    return given;
}

/* As a policy's plan lets it: behind the job that makes its input a reader is launched before that has ended. */
static void follow(struct world *w, struct job *before)
{
    struct job *j = no_job(w);
    struct df_error error;

    if (!j || before->out == DFM_NONE || before->n_followers == before->n_readers || before->state != LAUNCHED)
        return;
    *j = (struct job){ .state = TAKEN, .unit = before->unit, .n_in = 1, .in = { before->out }, .out = DFM_NONE,
                       .n_readers = world_pick(w, MOST_READERS + 1), .follows = (uint32_t)(before - w->jobs) };
    if (w->made < w->limit) {
        j->takes = before->n_readers == 1 && world_pick(w, 2);
        j->out = unused(w, j->takes ? w->bytes[before->out] : 0);
        j->takes = j->takes && j->out != DFM_NONE;
    }
    world_describe(j);
    w->inside |= 1u << j->unit;
    if (j->out != DFM_NONE)
        w->tokens[j->out].used = true;
    if (dfm_cache_reserve_ahead(w->caches[j->unit], &j->claim, &error) == DFM_RESERVED) {
        before->n_followers++;
        if (j->out != DFM_NONE)
            w->tokens[j->out].life++;
        dfm_cache_take_over(w->caches[j->unit], &j->claim);
        j->state = LAUNCHED;
        w->followed++;
    } else {
        if (j->out != DFM_NONE)
            w->tokens[j->out].used = false;
        j->state = NO_JOB;
    }
    w->inside &= ~(1u << before->unit);
    assert_true(dfm_cache_check(w->caches[before->unit]));
}

static void launch(struct world *w, struct job *j)
{
    struct fake *f = &w->fakes[j->unit];

    if (w->follows)
        dfm_cache_take_over(w->caches[j->unit], &j->claim);
    f->waited = 0;
    assert_int_equal(dfm_cache_wait(w->caches[j->unit], &j->claim, 0, NULL), DF_OK);
    j->waits_for = f->waited;
    j->state = LAUNCHED;
}

static void step_device(struct world *w, uint32_t m)
{
    struct job *j;

    if (w->inside >> m & 1)
        return;
    world_poll(w, m);
    if (world_pick(w, 2) && (j = to_reserve(w, m)) && world_reserve(w, j) == DFM_RESERVED) {
        j->state = RESERVED;
        world_ask_for_inputs(w, j);
    }
    for (j = w->jobs; j < w->jobs + N_JOBS; j++)
        if (j->unit == m && j->state == RESERVED && world_pick(w, 2)) {
            world_load_arrived(w, j);
            if (j->loaded)
                launch(w, j);
        } else if (j->unit == m && j->state == LAUNCHED && w->follows && world_pick(w, 3) == 0) {
            follow(w, j);
        } else if (j->unit == m && j->state == LAUNCHED && j->follows == DFM_NONE &&
                   w->fakes[m].done[DFR_STREAM_H2D] >= j->waits_for && world_pick(w, 2)) {
            world_run_on_device(w, j);
        }
}

static void step_host(struct world *w)
{
    struct job *j = &w->jobs[world_pick(w, N_JOBS)];
    if (world_pick(w, 3) == 0)
        new_job(w);
    else if (j->state == STAGED && w->missing[j - w->jobs] == 0)
        world_run_on_host(w, j);
}

static uint32_t step(struct world *w)
{
    uint32_t m = 1 + world_pick(w, w->n_devices), what = world_pick(w, 8);

    if (w->depth > 3)
        return 0;
    w->depth++;
    if (what < 2)
        step_host(w);
    else if (what < 5)
        step_device(w, m);
    else
        world_carry_out(&w->fakes[m], world_pick(w, N_STREAMS));
    w->depth--;
    return what;
}

/* Between what others do at this moment: of blocks the next use is as good as any. */
static uint32_t steps_between(struct world *w)
{
    return world_pick(w, 2) ? step(w) : world_pick(w, 6);
}

static bool is_idle(const struct world *w)
{
    for (uint32_t i = 0; i < N_JOBS; i++)
        if (w->jobs[i].state != NO_JOB)
            return false;
    for (uint32_t v = 0; v < N_VALUES; v++)
        if (w->tokens[v].used)
            return false;
    return true;
}

static void test_random_jobs(void **state)
{
    unsigned first = 1, last = 40;
    uint64_t sent = 0, evictions = 0, followed = 0, staged = 0, batched = 0, joined = 0;

    (void)state;
    rig_seeds(&first, &last);
    for (uint32_t seed = first; seed <= last; seed++) {
        static struct world w;
        uint32_t n, pages = 1 + seed % 3, room;

        memset(&w, 0, sizeof w);
        w.random = seed * 2654435761u | 1;
        n = 2 + world_pick(&w, MOST_DEVICES - 1);
        for (uint32_t m = 1; m <= n; m++)
            for (uint32_t p = 1; p < m; p++)
                if (seed % 3 || world_pick(&w, 3)) {
                    w.peers[m] |= 1u << p;
                    w.peers[p] |= 1u << m;
                }
        w.sends_home = seed % 2;
        w.staged = seed % 4 < 2;
        w.batches = seed % 3 < 2;
        w.limit = 400;
        w.follows = world_pick(&w, 2);
        room = N_PIECES * pages + 1;    /* for the largest job */
        if (world_pick(&w, 2)) {
            w.planned_pages = pages + world_pick(&w, 2 * room);
            w.scratch_pages = world_pick(&w, 3);
            for (uint32_t v = 0; v < N_VALUES; v++)
                w.place[v] = world_pick(&w, 4) ? world_pick(&w, w.planned_pages - v % pages) : DFM_NONE;
            room = w.planned_pages + w.scratch_pages > room ? w.planned_pages + w.scratch_pages : room;
        }
        world_begin(&w, n, room + world_pick(&w, 8), pages);
        w.intrude = steps_between;
        for (uint32_t i = 0; !(w.made >= w.limit && is_idle(&w)); i++) {
            if (i == 1000000)
                fail_msg("seed %u: no end after %u jobs", seed, w.made);
            step(&w);
        }
        for (uint32_t m = 1; m <= n; m++) {
            world_poll(&w, m);
            sent += world_stats(&w, m).peer_copies;
            evictions += world_stats(&w, m).evictions;
            staged += world_stats(&w, m).staged_copies;
            batched += world_stats(&w, m).batched_copies;
            joined += world_stats(&w, m).joined_copies;
        }
        followed += w.followed;
        world_end(&w);
    }
    assert_true(sent > 0 && evictions > 0 && followed > 0 && staged > 0 && batched > 0 && joined > 0);
    assert_int_equal(fake_pinned, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_home_once),
                                        cmocka_unit_test(test_home_in_order),
                                        cmocka_unit_test(test_asked_for_what_comes_again),
                                        cmocka_unit_test(test_random_jobs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
