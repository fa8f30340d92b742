/* test_protocol.c - manager and workers over a mock of the link that delays, reorders and drops: for each seed another run in
 * virtual time. Ranks are killed, stopped and continued, hang, leave, and get a new manager. As long as one worker lives, each
 * wave's result is taken exactly once and in order. Workers may write files, and find the end of the stream.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link_rig.h"
#include "run_rig.h"
#include "runtime/ranks/manager.h"
#include "runtime/ranks/worker.h"

#define MOST_RANKS 6
#define MOST_HELD 512
#define MOST_WAVES 300
#define HASH 77

static struct df_error error;
static unsigned n_new_managers;         /* of all runs */

/* What may happen in a run. */
struct plan {
    bool kills, stops, hangs, leaves, other_hash, new_managers, ends_early;
    bool stores;                        /* workers write files, which are gone now and then */
    bool finds_end;                     /* the manager does not know how many waves there are */
    double wave_timeout_s;
    unsigned window;
};

/* A wave that a worker runs. */
struct job {
    struct dfr_head head;
    uint64_t input;
    double end_s;                       /* virtual; 1e300: it hangs */
};

struct node {
    struct net *net;
    int rank;
    struct dfr_link *link;
    struct dfr_worker *worker;          /* NULL: rank 0, or dead */
    struct job jobs[MOST_HELD];
    unsigned n_jobs, cores;
    double stopped_until_s;             /* SIGSTOP */
    uint64_t once;                      /* of the WELCOME */
    bool dead, other_hash;
    unsigned n_reports;                 /* that it sent, and that the manager was shown */
    unsigned n_reported;
};

struct net {
    struct link_rig *rig;
    struct dfr_manager *manager;
    struct plan plan;
    struct node nodes[MOST_RANKS];
    int n_ranks;
    uint32_t random;
    double now_s;
    uint64_t epoch;
    int64_t n_waves, n_made, n_taken, n_ended; /* of the stream; n_taken, n_ended: of all managers */
    int64_t n_accepted_told;            /* verdicts of accepted waves */
    unsigned most_held;
    unsigned n_stored[MOST_WAVES];      /* by wave: how often its files got their names */
    bool stopped;
};

static unsigned below(struct net *net, unsigned n)
{
    return rig_rand(&net->random) % n;
}

static uint64_t result_of(uint64_t input, int64_t wave)
{
    return input * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)wave;
}

static void drop(void *cookie)
{
    dfr_message_drop(cookie);
}

static void send(void *arg, int to, struct dfr_message *message)
{
    struct node *node = arg;

    if (message->head.kind == DFR_HELLO)
        assert_int_equal(message->head.wave, node->cores);
    node->link->send(node->link, to, message->bytes, message->size, message->head.kind == DFR_BEAT && !message->head.flags, dfr_message_hold(message), &error);
}

/* The next message that arrived at the node; NULL: none. */
static struct dfr_message *receive(struct node *node, int *from)
{
    struct dfr_link_event event;
    struct dfr_message *message;

    for (;;) {
        if (node->link->poll(node->link, &event, &error) != DF_OK || event.kind == DFR_LINK_NOTHING)
            return NULL;
        if (event.kind == DFR_LINK_SENT) {
            drop(event.cookie);
            continue;
        }
        if (event.kind == DFR_LINK_HEARD) {
            if (node->rank == 0)
                dfr_manager_heard(node->net->manager, node->net->now_s, event.rank);
            else if (event.rank == 0)
                dfr_worker_heard(node->worker, node->net->now_s);
            continue;
        }
        if (event.kind == DFR_LINK_LOST) {
            if (node->rank == 0)
                dfr_manager_lost(node->net->manager, node->net->now_s, event.rank);
            else if (event.rank == 0)
                dfr_worker_lost(node->worker);
            continue;
        }
        *from = event.rank;
        assert_int_equal(dfr_message_read(event.bytes, event.size, &message, &error), DF_OK);
        return message;
    }
}

/* ---- a worker ---- */

static void begin_jobs(struct net *net, struct node *node)
{
    struct dfr_message *give;

    while (node->n_jobs < node->cores && (give = dfr_worker_take(node->worker)) != NULL) {
        struct job *job = &node->jobs[node->n_jobs++];
        job->head = dfr_worker_result_head(node->worker, &give->head);
        assert_int_equal(give->n_values, 1);
        memcpy(&job->input, give->values[0].data, sizeof job->input);
        job->end_s = net->now_s + 1e-3 * (1 + below(net, 50));
        if (net->plan.hangs && node->rank > 1 && below(net, 30) == 0)
            job->end_s = 1e300;
        dfr_message_drop(give);
    }
}

static void end_jobs(struct net *net, struct node *node)
{
    for (unsigned i = 0; i < node->n_jobs;) {
        struct job job = node->jobs[i];
        if (job.end_s > net->now_s) {
            i++;
            continue;
        }
        node->jobs[i] = node->jobs[--node->n_jobs];
        if (net->plan.finds_end && job.head.wave >= net->n_waves)
            job.head.flags = DFR_NO_WAVE;
        uint64_t result = result_of(job.input, job.head.wave) ^ node->once;
        struct dfr_value value = { .data = &result, .bytes = sizeof result };
        dfr_worker_result(node->worker, net->now_s, dfr_message_make(&job.head, &value, 1));
    }
}

static void kill_rank(struct net *net, int rank);

/* Its files get their names, or are gone; the worker may die before it can say so. */
static void store(struct net *net, struct node *node, int64_t wave)
{
    bool gone = below(net, 20) == 0;

    net->n_stored[wave] += !gone;
    if (net->plan.kills && node->rank > 1 && below(net, 100) == 0)
        kill_rank(net, node->rank);
    else
        dfr_worker_stored(node->worker, net->now_s, wave, !gone);
}

static void read_verdicts(struct net *net, struct node *node)
{
    int64_t wave;
    bool accepted;

    while (!node->dead && dfr_worker_verdict(node->worker, &wave, &accepted)) {
        net->n_accepted_told += accepted;
        if (accepted && net->plan.stores)
            store(net, node, wave);
    }
}

static void step_worker(struct net *net, struct node *node)
{
    struct dfr_message *message;
    int from;

    while ((message = receive(node, &from)) != NULL) {
        assert_int_equal(from, 0);
        dfr_worker_arrived(node->worker, net->now_s, message);
    }
    if (dfr_worker_welcome(node->worker))
        memcpy(&node->once, dfr_worker_welcome(node->worker)->values[0].data, sizeof node->once);
    read_verdicts(net, node);
    if (node->dead)
        return;
    begin_jobs(net, node);
    end_jobs(net, node);
    if (dfr_worker_wanted(node->worker) && node->n_jobs == 0) {
        struct dfr_head head = dfr_worker_report_head(node->worker);
        node->n_reports++;
        dfr_worker_report(node->worker, net->now_s, dfr_message_make_text(&head, "done"), below(net, 3) == 0);
    }
    if (net->now_s >= dfr_worker_due_s(node->worker))
        dfr_worker_tick(node->worker, net->now_s);
}

static void begin_worker(struct net *net, int rank)
{
    struct node *node = &net->nodes[rank];
    struct dfr_worker_options options = { .hash = node->other_hash ? HASH + 1 : HASH, .host = "here", .beat_s = 0.1,
                                          .beat_timeout_s = 1, .welcome_timeout_s = 50, .send = send, .send_arg = node };

    options.inflight = node->cores = 1 + below(net, 3);
    assert_int_equal(dfr_worker_create(&options, net->now_s, &node->worker, &error), DF_OK);
}

/* ---- rank 0 ---- */

static void take_report(void *arg, int rank, const struct dfr_message *report)
{
    struct net *net = arg;
    assert_int_equal(report->values[0].bytes, 4);
    net->nodes[rank].n_reported++;
}

static void begin_manager(struct net *net)
{
    static const uint64_t once = 99;
    struct dfr_value value = { .data = &once, .bytes = sizeof once };
    struct dfr_manager_options options = { .n_ranks = net->n_ranks, .epoch = ++net->epoch, .hash = HASH, .first_wave = net->n_ended,
                                           .window = net->plan.window, .beat_s = 0.1, .beat_timeout_s = 1,
                                           .wave_timeout_s = net->plan.wave_timeout_s, .lost_s = 30, .once = &value, .n_once = 1,
                                           .stores = net->plan.stores, .send = send, .send_arg = &net->nodes[0] };

    options.wants = below(net, 2) ? DFR_WANTS_REPORT | (below(net, 2) ? DFR_WANTS_TRACE : 0) : 0;
    options.report = take_report;
    options.arg = net;
    options.places = below(net, 4) ? 0 : 1 + below(net, 20);
    options.memory_bytes = below(net, 4) ? 0 : 2000 + below(net, 4000);
    net->n_made = net->n_taken = net->n_ended;
    assert_int_equal(dfr_manager_create(&options, net->now_s, &net->manager, &error), DF_OK);
}

static void offer_waves(struct net *net)
{
    while ((net->n_made < net->n_waves || net->plan.finds_end) && dfr_manager_room(net->manager) > 0 && below(net, 4)) {
        uint64_t input = (uint64_t)net->n_made * 3 + 1;
        struct dfr_value value = { .port = 5, .data = &input, .bytes = sizeof input };
        struct dfr_head head = dfr_manager_give_head(net->manager);
        assert_int_equal(head.wave, net->n_made);
        dfr_manager_offer(net->manager, net->now_s, dfr_message_make(&head, &value, 1));
        net->n_made++;
    }
    if (net->n_made == net->n_waves && !net->plan.finds_end)
        dfr_manager_no_more(net->manager, net->now_s);
}

/* The results: each wave's once, in order, and right. */
static void take_results(struct net *net)
{
    struct dfr_message *result;
    uint64_t got;

    while (below(net, 4) && (result = dfr_manager_take(net->manager)) != NULL) {
        assert_int_equal(result->head.wave, net->n_taken);
        assert_int_equal(result->values[0].bytes, sizeof got);
        memcpy(&got, result->values[0].data, sizeof got);
        assert_true(got == (result_of((uint64_t)net->n_taken * 3 + 1, net->n_taken) ^ 99));
        net->n_taken++;
        dfr_message_drop(result);
    }
    while (net->n_ended < dfr_manager_stored(net->manager) && below(net, 4)) {
        assert_true(!net->plan.stores || net->n_stored[net->n_ended] > 0);
        dfr_manager_ended(net->manager, net->now_s);
        net->n_ended++;
    }
}

static void step_manager(struct net *net)
{
    struct dfr_message *message;
    int from;

    while ((message = receive(&net->nodes[0], &from)) != NULL)
        dfr_manager_arrived(net->manager, net->now_s, from, message);
    offer_waves(net);
    take_results(net);
    if (net->now_s >= dfr_manager_due_s(net->manager))
        dfr_manager_tick(net->manager, net->now_s);
}

/* ---- what happens from outside ---- */

static bool may_harm(const struct net *net, int rank)
{
    return rank > 1 && !net->nodes[rank].dead;
}

static void kill_rank(struct net *net, int rank)
{
    link_rig_kill(net->rig, rank);
    net->nodes[rank].dead = true;
}

static void do_harm(struct net *net)
{
    int rank = (int)below(net, (unsigned)net->n_ranks);

    if (below(net, 400) || !may_harm(net, rank))
        return;
    if (net->plan.kills && below(net, 2))
        kill_rank(net, rank);
    else if (net->plan.stops)
        net->nodes[rank].stopped_until_s = net->now_s + 1e-3 * below(net, 5000);
    else if (net->plan.leaves)
        dfr_worker_leave(net->nodes[rank].worker, net->now_s);
}

static void change_manager(struct net *net)
{
    if (!net->plan.new_managers || net->epoch > 3 || below(net, 600) || net->n_ended == net->n_waves)
        return;
    dfr_manager_destroy(net->manager);
    begin_manager(net);
    n_new_managers++;
}

/* ---- a run ---- */

static void step(struct net *net)
{
    int rank = (int)below(net, (unsigned)net->n_ranks);
    struct node *node = &net->nodes[rank];

    net->now_s += 1e-4 * below(net, 20);
    if (rank == 0) {
        step_manager(net);
        change_manager(net);
    } else if (!node->dead && node->stopped_until_s <= net->now_s && !dfr_worker_is_over(node->worker)) {
        step_worker(net, node);
    }
    do_harm(net);
    if (net->plan.ends_early && !net->stopped && net->n_ended > net->n_waves / 2) {
        net->stopped = true;
        dfr_manager_stop(net->manager, net->now_s);
    }
}

static bool all_are_over(const struct net *net)
{
    for (int rank = 1; rank < net->n_ranks; rank++)
        if (!net->nodes[rank].dead && !dfr_worker_is_over(net->nodes[rank].worker))
            return false;
    return dfr_manager_is_over(net->manager);
}

static struct net *begin_net(uint32_t seed, const struct plan *plan)
{
    struct net *net = calloc(1, sizeof *net);

    net->random = seed * 2654435761u | 1;
    net->plan = *plan;
    net->n_ranks = 2 + (int)below(net, MOST_RANKS - 1);
    net->n_waves = 20 + (int)below(net, 200);
    net->rig = link_rig_create(net->n_ranks, seed, below(net, 8));
    for (int rank = 0; rank < net->n_ranks; rank++) {
        net->nodes[rank] = (struct node){ .net = net, .rank = rank, .link = link_rig_link(net->rig, rank) };
        net->nodes[rank].other_hash = plan->other_hash && rank > 1 && below(net, 2);
    }
    begin_manager(net);
    for (int rank = 1; rank < net->n_ranks; rank++)
        begin_worker(net, rank);
    return net;
}

static void end_net(struct net *net)
{
    dfr_manager_destroy(net->manager);
    for (int rank = 1; rank < net->n_ranks; rank++)
        dfr_worker_destroy(net->nodes[rank].worker);
    link_rig_destroy(net->rig, drop);
    free(net);
}

static void check_workers(const struct net *net, uint32_t seed)
{
    struct dfr_manager_state state = dfr_manager_state(net->manager);
    bool whole = true;

    for (int rank = 1; rank < net->n_ranks; rank++) {
        const struct node *node = &net->nodes[rank];
        int outcome = node->dead ? DF_OK : dfr_worker_outcome(node->worker, &error);
        bool was_stopped = node->stopped_until_s > 0;
        whole = whole && !node->dead;
        if (node->other_hash && !node->dead && !was_stopped)
            assert_int_equal(outcome, DF_E_REFUSED);
        else if (outcome != DF_OK && !was_stopped)
            fail_msg("seed %u, rank %d: %s", seed, rank, error.text);
        if (state.whole && !node->dead)
            assert_true(dfr_worker_is_whole(node->worker));
        if (state.whole && net->epoch == 1) /* BYE comes behind all reports */
            assert_int_equal(node->n_reported, node->n_reports);
    }
    if (whole && !net->plan.stops && !net->plan.hangs) /* a wave that hangs may be held to the end, which is not whole then */
        assert_true(state.whole);
}

static struct dfr_manager_state run(uint32_t seed, const struct plan *plan)
{
    struct net *net = begin_net(seed, plan);

    for (long n = 0; !all_are_over(net); n++) {
        if (n > 3000000)
            fail_msg("seed %u: at %.1f s %lld of %lld waves have ended", seed, net->now_s, (long long)net->n_ended,
                     (long long)net->n_waves);
        step(net);
    }
    struct dfr_manager_state state = dfr_manager_state(net->manager);
    int outcome = dfr_manager_outcome(net->manager, &error);
    if (!net->stopped || state.n_ended == net->n_waves) {
        if (outcome != DF_OK)
            fail_msg("seed %u: %s", seed, error.text);
        assert_int_equal(net->n_ended, net->n_waves);
    } else {
        assert_int_equal(outcome, DF_E_STOPPED);
    }
    assert_int_equal(state.n_ended, net->n_ended);
    if (net->epoch == 1 && !net->plan.stores) /* else a wave may be accepted again for its files */
        assert_in_range(net->n_accepted_told, 0, state.n_accepted);
    check_workers(net, seed);
    end_net(net);
    return state;
}

/* Runs the seeds; gives what happened in all of them. */
static struct dfr_manager_state run_all(const struct plan *plan)
{
    struct dfr_manager_state all = { 0 };
    unsigned first = 1, last = 60;

    rig_seeds(&first, &last);
    for (unsigned seed = first; seed <= last; seed++) {
        struct plan own = *plan;
        own.window = seed % 3 == 0 ? 1 + seed % 5 : 0;
        struct dfr_manager_state state = run(seed, &own);
        all.n_given += state.n_given;
        all.n_given_again += state.n_given_again;
        all.n_accepted += state.n_accepted;
        all.n_dropped += state.n_dropped;
        all.n_deaths += state.n_deaths;
    }
    return all;
}

static void test_nothing_happens(void **state)
{
    struct dfr_manager_state all = run_all(&(struct plan){ 0 });

    (void)state;
    assert_int_equal(all.n_given, all.n_accepted);
    assert_int_equal(all.n_dropped, 0);
    assert_int_equal(all.n_deaths, 0);
}

static void test_killed(void **state)
{
    struct dfr_manager_state all = run_all(&(struct plan){ .kills = true });

    (void)state;
    assert_true(all.n_deaths > 10 && all.n_given > all.n_accepted);
}

static void test_stopped_and_continued(void **state)
{
    struct dfr_manager_state all = run_all(&(struct plan){ .stops = true });

    (void)state;
    assert_true(all.n_deaths > 10 && all.n_dropped > 10);
}

static void test_hanging_waves(void **state)
{
    struct dfr_manager_state all = run_all(&(struct plan){ .hangs = true, .wave_timeout_s = 2 });

    (void)state;
    assert_true(all.n_deaths > 10);
}

static void test_leaving(void **state)
{
    struct dfr_manager_state all = run_all(&(struct plan){ .leaves = true });

    (void)state;
    assert_int_equal(all.n_given, all.n_accepted);
    assert_int_equal(all.n_deaths, 0);
}

static void test_other_programs_are_refused(void **state)
{
    (void)state;
    run_all(&(struct plan){ .other_hash = true });
}

static void test_new_managers(void **state)
{
    (void)state;
    n_new_managers = 0;
    run_all(&(struct plan){ .new_managers = true, .kills = true, .stops = true });
    assert_true(n_new_managers > 20);
}

static void test_ended_early(void **state)
{
    (void)state;
    run_all(&(struct plan){ .ends_early = true, .kills = true, .stops = true });
}

/* The files of each wave get their names, once if nobody dies; and a wave is given out again for files that are gone. */
static void test_stores(void **state)
{
    struct dfr_manager_state all = run_all(&(struct plan){ .stores = true });

    (void)state;
    assert_int_equal(all.n_given, all.n_accepted + all.n_given_again);
    assert_true(all.n_given_again > 10);
    assert_int_equal(all.n_deaths, 0);
    run_all(&(struct plan){ .stores = true, .leaves = true });
    run_all(&(struct plan){ .stores = true, .kills = true, .stops = true, .hangs = true, .wave_timeout_s = 2 });
    run_all(&(struct plan){ .stores = true, .kills = true, .stops = true, .new_managers = true });
    run_all(&(struct plan){ .stores = true, .kills = true, .stops = true, .ends_early = true });
}

static void test_end_is_found(void **state)
{
    struct dfr_manager_state all = run_all(&(struct plan){ .finds_end = true });

    (void)state;
    assert_true(all.n_given > all.n_accepted);
    assert_int_equal(all.n_dropped, 0);
    run_all(&(struct plan){ .finds_end = true, .stores = true, .kills = true, .stops = true });
    run_all(&(struct plan){ .finds_end = true, .stores = true, .kills = true, .stops = true, .new_managers = true, .leaves = true });
    run_all(&(struct plan){ .finds_end = true, .kills = true, .hangs = true, .wave_timeout_s = 2 });
}

static void test_all_at_once(void **state)
{
    (void)state;
    run_all(&(struct plan){ .kills = true, .stops = true, .hangs = true, .leaves = true, .other_hash = true, .wave_timeout_s = 2, .stores = true,
                            .finds_end = true });
    run_all(&(struct plan){ .kills = true, .stops = true, .hangs = true, .leaves = true, .other_hash = true, .wave_timeout_s = 2 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_happens),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_stopped_and_continued),
        cmocka_unit_test(test_hanging_waves),
        cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_other_programs_are_refused),
        cmocka_unit_test(test_new_managers),
        cmocka_unit_test(test_ended_early),
        cmocka_unit_test(test_stores),
        cmocka_unit_test(test_end_is_found),
        cmocka_unit_test(test_all_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
