/* test_stream.c - the two sides of a stream between ranks, by cases that were computed by hand from Anthill's Algorithms 2 to 5, and by random runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/stream/items.h"

enum { CPU, GPU, BOTH = 3 };

static struct df_error error;

static struct dfr_stream_item item(uint64_t id, double cpu_s, double gpu_s)
{
    return (struct dfr_stream_item){ .id = id, .time_s = { cpu_s, gpu_s } };
}

static struct dfr_sender *new_sender(enum dfr_stream_policy policy, uint32_t places)
{
    const struct dfr_sender_options options = { .policy = policy, .n_types = 2, .present = BOTH, .n_receivers = 3, .places = places, .most_requests = 64 };
    struct dfr_sender *s = NULL;
    assert_int_equal(dfr_sender_create(&options, &s, &error), DF_OK);
    return s;
}

static void offer(struct dfr_sender *s, uint64_t id, double cpu_s, double gpu_s)
{
    const struct dfr_stream_item i = item(id, cpu_s, gpu_s);
    assert_int_equal(dfr_sender_offer(s, &i), DF_OK);
}

static void ask(struct dfr_sender *s, uint32_t receiver, uint32_t type, uint64_t ticket)
{
    const struct dfr_stream_request q = { .worker = (uint32_t)ticket, .type = type, .ticket = ticket }; /* each of a worker of its own */
    assert_int_equal(dfr_sender_request(s, receiver, &q), DF_OK);
}

static void gives(struct dfr_sender *s, uint32_t receiver, uint64_t ticket, uint64_t id)
{
    struct dfr_stream_answer a;
    assert_true(dfr_sender_next(s, &a));
    assert_int_equal(a.kind, DFR_STREAM_ITEM);
    assert_int_equal(a.receiver, receiver);
    assert_int_equal(a.ticket, ticket);
    assert_int_equal(a.item.id, id);
}

static void says(struct dfr_sender *s, enum dfr_stream_answers kind, uint32_t receiver, uint64_t ticket)
{
    struct dfr_stream_answer a;
    assert_true(dfr_sender_next(s, &a));
    assert_int_equal(a.kind, kind);
    assert_int_equal(a.receiver, receiver);
    assert_int_equal(a.ticket, ticket);
}

static void is_silent(struct dfr_sender *s)
{
    struct dfr_stream_answer a;
    assert_false(dfr_sender_next(s, &a));
}

/* ---- weights and names ---- */

static void test_weights(void **state)
{
    const struct dfr_stream_item low = item(1, 1, 1), high = item(2, 33, 1), cpu_only = item(3, 1, INFINITY), unknown = item(4, NAN, 1);
    const struct dfr_stream_item three = { .time_s = { 8, 4, 1 } };

    (void)state;
    assert_true(dfr_stream_weight(&low, 2, BOTH, CPU) == 1 && dfr_stream_weight(&low, 2, BOTH, GPU) == 1);
    assert_true(dfr_stream_weight(&high, 2, BOTH, CPU) == 1.0 / 33 && dfr_stream_weight(&high, 2, BOTH, GPU) == 33);
    assert_true(dfr_stream_weight(&cpu_only, 2, BOTH, CPU) == INFINITY && dfr_stream_weight(&cpu_only, 2, BOTH, GPU) == -1);
    assert_true(dfr_stream_weight(&unknown, 2, BOTH, CPU) == 1 && dfr_stream_weight(&unknown, 2, BOTH, GPU) == 1);
    assert_true(dfr_stream_weight(&three, 3, 7, 0) == 0.125 && dfr_stream_weight(&three, 3, 7, 1) == 0.25 && dfr_stream_weight(&three, 3, 7, 2) == 4);
    assert_true(dfr_stream_weight(&three, 3, 5, 2) == 8); /* type 1 is nowhere */
    assert_true(dfr_stream_weight(&three, 3, 1, 0) == 1); /* nor any other */
}

static void test_names(void **state)
{
    enum dfr_stream_policy policy;

    (void)state;
    for (int p = 0; p < DFR_STREAM_POLICIES; p++) {
        assert_true(dfr_stream_policy_find(dfr_stream_policy_name((enum dfr_stream_policy)p), &policy));
        assert_int_equal(policy, p);
        assert_true(strlen(dfr_stream_policy_summary(policy)) > 10);
    }
    assert_false(dfr_stream_policy_find("oddds", &policy));
}

/* ---- the sender ---- */

/* Algorithm 5: each request takes the first of its type's queue, and takes it out of the other. */
static void test_best_item(void **state)
{
    struct dfr_sender *s = new_sender(DFR_STREAM_ODDS, 8);

    (void)state;
    offer(s, 10, 1, 1);
    offer(s, 11, 33, 1);
    offer(s, 12, 8, 1);
    offer(s, 13, 33, 1);
    ask(s, 0, GPU, 1);
    ask(s, 1, CPU, 2);
    ask(s, 0, GPU, 3);
    ask(s, 1, CPU, 4);
    ask(s, 0, GPU, 5);
    gives(s, 0, 1, 11);                 /* the highest speedup, of two the older */
    gives(s, 1, 2, 10);                 /* the lowest */
    gives(s, 0, 3, 13);
    gives(s, 1, 4, 12);                 /* what is left */
    says(s, DFR_STREAM_NONE, 0, 5);
    is_silent(s);
    assert_int_equal(dfr_sender_state(s).n_given, 4);
    assert_int_equal(dfr_sender_state(s).n_requests, 1);
    offer(s, 14, 2, 1);
    gives(s, 0, 5, 14);                 /* the request waited */
    is_silent(s);
    dfr_sender_destroy(s);
}

static void test_oldest_item(void **state)
{
    static const enum dfr_stream_policy unsorted[] = { DFR_STREAM_DDFCFS, DFR_STREAM_DDWRR };

    (void)state;
    for (int p = 0; p < 2; p++) {
        struct dfr_sender *s = new_sender(unsorted[p], 8);
        offer(s, 10, 1, 1);
        offer(s, 11, 33, 1);
        offer(s, 12, 1, INFINITY);
        offer(s, 13, 1, 1);
        ask(s, 0, GPU, 1);
        ask(s, 1, CPU, 2);
        ask(s, 0, GPU, 3);
        ask(s, 1, CPU, 4);
        gives(s, 0, 1, 10);
        gives(s, 1, 2, 11);
        gives(s, 0, 3, 13);             /* the GPU cannot do item 12 */
        gives(s, 1, 4, 12);
        dfr_sender_destroy(s);
    }
}

/* Requests are answered as they came, whatever their types; one that cannot be answered stops no other. */
static void test_order_of_requests(void **state)
{
    struct dfr_sender *s = new_sender(DFR_STREAM_ODDS, 8);

    (void)state;
    ask(s, 0, GPU, 1);
    ask(s, 1, CPU, 2);
    ask(s, 2, CPU, 3);
    says(s, DFR_STREAM_NONE, 1, 2);
    says(s, DFR_STREAM_NONE, 2, 3);
    says(s, DFR_STREAM_NONE, 0, 1);
    is_silent(s);                       /* each is told once */
    offer(s, 10, 1, INFINITY);
    offer(s, 11, 1, INFINITY);
    offer(s, 12, 1, 1);
    gives(s, 0, 1, 12);                 /* it came first */
    gives(s, 1, 2, 10);
    ask(s, 1, CPU, 4);
    gives(s, 2, 3, 11);
    says(s, DFR_STREAM_NONE, 1, 4);
    is_silent(s);
    dfr_sender_destroy(s);
}

/* One request of a worker waits, and others are dropped. */
static void test_one_waits(void **state)
{
    struct dfr_sender *s = new_sender(DFR_STREAM_ODDS, 8);
    const struct dfr_stream_request first = { .type = GPU, .worker = 70, .ticket = 1 }, second = { .type = GPU, .worker = 70, .ticket = 2 },
                                    third = { .type = GPU, .worker = 6, .ticket = 3 };

    (void)state;
    assert_int_equal(dfr_sender_request(s, 0, &first), DF_OK);
    assert_int_equal(dfr_sender_request(s, 0, &second), DF_OK);
    assert_int_equal(dfr_sender_request(s, 0, &third), DF_OK);
    assert_int_equal(dfr_sender_request(s, 1, &first), DF_OK);
    says(s, DFR_STREAM_NONE, 0, 1);
    says(s, DFR_STREAM_DROPPED, 0, 2);
    says(s, DFR_STREAM_NONE, 0, 3);
    says(s, DFR_STREAM_NONE, 1, 1);
    is_silent(s);
    offer(s, 10, 1, 1);
    gives(s, 0, 1, 10);
    assert_int_equal(dfr_sender_request(s, 0, &second), DF_OK);
    says(s, DFR_STREAM_NONE, 0, 2);     /* no other waits now */
    is_silent(s);
    dfr_sender_lost(s, 0);
    assert_int_equal(dfr_sender_request(s, 0, &second), DF_OK);
    offer(s, 11, 1, 1);
    gives(s, 1, 1, 10);                 /* it came back */
    gives(s, 0, 2, 11);
    dfr_sender_destroy(s);
}

static void test_sender_refuses(void **state)
{
    struct dfr_sender *s = new_sender(DFR_STREAM_ODDS, 2);
    const struct dfr_stream_item nowhere = item(1, INFINITY, INFINITY), one = item(10, 1, 1), three = item(12, 1, 1);
    const struct dfr_sender_options none = { .n_types = 2, .present = BOTH, .n_receivers = 1, .places = 0, .most_requests = 1 };
    const struct dfr_sender_options strange = { .n_types = 2, .present = 4, .n_receivers = 1, .places = 1, .most_requests = 1 };
    const struct dfr_stream_request good = { .type = CPU }, no_type = { .type = 2 }, no_worker = { .type = CPU, .worker = DFR_STREAM_WORKERS };
    struct dfr_sender *other = NULL;

    (void)state;
    assert_int_equal(dfr_sender_create(&none, &other, &error), DF_E_ARGUMENT);
    assert_int_equal(dfr_sender_create(&strange, &other, &error), DF_E_ARGUMENT);
    assert_int_equal(dfr_sender_offer(s, &nowhere), DF_E_ARGUMENT);
    offer(s, 10, 1, 1);
    assert_int_equal(dfr_sender_offer(s, &one), DF_E_ARGUMENT);
    assert_int_equal(dfr_sender_room(s), 1);
    offer(s, 11, 1, 1);
    assert_int_equal(dfr_sender_room(s), 0);
    assert_int_equal(dfr_sender_offer(s, &three), DF_E_ARGUMENT);
    assert_int_equal(dfr_sender_request(s, 3, &good), DF_E_ARGUMENT);
    assert_int_equal(dfr_sender_request(s, 0, &no_type), DF_E_ARGUMENT);
    assert_int_equal(dfr_sender_request(s, 0, &no_worker), DF_E_ARGUMENT);
    assert_false(dfr_sender_done(s, 10)); /* it waits */
    assert_false(dfr_sender_done(s, 99));
    for (uint64_t ticket = 0; ticket < 64; ticket++)
        ask(s, 0, CPU, ticket);
    assert_int_equal(dfr_sender_request(s, 0, &good), DF_E_ARGUMENT);
    ask(s, 1, CPU, 64);
    dfr_sender_destroy(s);
}

/* What a dead receiver had goes out again before all others, and its requests are gone. */
static void test_dead_receiver(void **state)
{
    struct dfr_sender *s = new_sender(DFR_STREAM_DDFCFS, 2);

    (void)state;
    offer(s, 10, 1, 1);
    offer(s, 11, 1, 1);
    ask(s, 0, CPU, 1);
    ask(s, 1, CPU, 2);
    ask(s, 0, CPU, 3);
    gives(s, 0, 1, 10);
    gives(s, 1, 2, 11);
    says(s, DFR_STREAM_NONE, 0, 3);
    offer(s, 12, 1, 1);
    offer(s, 13, 1, 1);
    gives(s, 0, 3, 12);
    ask(s, 0, CPU, 4);
    ask(s, 0, GPU, 5);
    dfr_sender_lost(s, 0);
    dfr_sender_no_more(s);
    assert_int_equal(dfr_sender_state(s).n_requests, 0);
    assert_int_equal(dfr_sender_state(s).n_waiting, 3);
    assert_int_equal(dfr_sender_state(s).most_waiting, 3);
    assert_true(dfr_sender_done(s, 11));
    for (uint64_t ticket = 6; ticket < 10; ticket++)
        ask(s, 1, CPU, ticket);
    struct dfr_stream_answer a, b;
    assert_true(dfr_sender_next(s, &a) && dfr_sender_next(s, &b));
    assert_true(a.item.id + b.item.id == 22 && a.item.id != 11); /* 10 and 12, before 13 */
    gives(s, 1, 8, 13);
    says(s, DFR_STREAM_NONE, 1, 9);     /* perhaps one comes back */
    is_silent(s);
    assert_true(dfr_sender_done(s, 10) && dfr_sender_done(s, 12));
    is_silent(s);
    assert_true(dfr_sender_done(s, 13) && dfr_sender_state(s).is_over);
    says(s, DFR_STREAM_OVER, 1, 9);
    is_silent(s);
    ask(s, 1, CPU, 10);
    says(s, DFR_STREAM_OVER, 1, 10);
    dfr_sender_destroy(s);
}

/* ---- the receiver ---- */

static struct dfr_receiver *new_receiver(enum dfr_stream_policy policy, uint32_t n_senders, uint32_t requests, uint32_t most)
{
    static const uint32_t types[] = { CPU, GPU };
    const struct dfr_receiver_options options = { .policy = policy, .n_types = 2, .present = BOTH, .n_senders = n_senders, .n_workers = 2,
                                                  .types = types, .requests = requests, .most = most };
    struct dfr_receiver *r = NULL;
    assert_int_equal(dfr_receiver_create(&options, 0, &r, &error), DF_OK);
    return r;
}

static struct dfr_stream_request asks(struct dfr_receiver *r, double now_s, uint32_t sender, uint32_t type)
{
    struct dfr_stream_request q = { 0 };
    assert_true(dfr_receiver_ask(r, now_s, &q));
    assert_int_equal(q.sender, sender);
    assert_int_equal(q.type, type);
    return q;
}

static void asks_no_more(struct dfr_receiver *r, double now_s)
{
    struct dfr_stream_request q;
    assert_false(dfr_receiver_ask(r, now_s, &q));
}

static int answer(struct dfr_receiver *r, double now_s, const struct dfr_stream_request *q, enum dfr_stream_answers kind, uint64_t id, double cpu_s,
                  double gpu_s)
{
    const struct dfr_stream_answer a = { .kind = kind, .ticket = q->ticket, .item = item(id, cpu_s, gpu_s) };
    return dfr_receiver_answer(r, now_s, &a);
}

static void takes(struct dfr_receiver *r, double now_s, uint32_t worker, uint64_t id)
{
    struct dfr_stream_item i;
    assert_true(dfr_receiver_take(r, now_s, worker, &i));
    assert_int_equal(i.id, id);
}

/* Algorithms 2 and 3 with one worker. A latency of 2.5 s and items that take 1 s: the target rises by one after each item, up to 3. */
static void test_target_rises_and_falls(void **state)
{
    static const uint32_t cpu = CPU;
    const struct dfr_receiver_options options = { .policy = DFR_STREAM_ODDS, .n_types = 1, .present = 1, .n_senders = 1, .n_workers = 1, .types = &cpu,
                                                  .most = 8 };
    static const struct { double latency_s, time_s; uint32_t target; } cases[] = {
        { 2.5, 1, 2 }, { 2.5, 1, 3 }, { 2.5, 1, 3 }, { 3, 1, 3 }, { 3.01, 1, 4 }, { 0.1, 1, 3 }, { 0.1, 1, 2 }, { 0.1, 1, 1 }, { 0.1, 1, 1 },
        { 1, 0.01, 2 }, { 1, 0.01, 3 }, { 1, 0.01, 4 }, { 1, 0.01, 5 }, { 1, 0.01, 6 }, { 1, 0.01, 7 }, { 1, 0.01, 8 }, { 1, 0.01, 8 },
        { 1, 0.5, 7 }, { 0, 1, 6 } };
    struct dfr_receiver *r = NULL;
    struct dfr_stream_request q, open[16];
    uint32_t n_open = 0;
    double now_s = 100;

    (void)state;
    assert_int_equal(dfr_receiver_create(&options, now_s, &r, &error), DF_OK);
    assert_int_equal(dfr_receiver_target(r, 0), 1);
    assert_true(isnan(dfr_receiver_latency_s(r, 0)));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        while (dfr_receiver_ask(r, now_s, &q)) /* all but one of them are for nothing */
            open[n_open++] = q;
        assert_int_equal(n_open, dfr_receiver_target(r, 0));
        for (; n_open > 1; n_open--)
            assert_int_equal(answer(r, now_s, &open[n_open - 1], DFR_STREAM_DROPPED, 0, 0, 0), DF_OK);
        now_s += cases[i].latency_s;
        assert_int_equal(answer(r, now_s, &open[0], DFR_STREAM_ITEM, i, 1, 1), DF_OK);
        assert_true(fabs(dfr_receiver_latency_s(r, 0) - cases[i].latency_s) < 1e-9);
        takes(r, now_s, 0, i);
        now_s += cases[i].time_s;
        dfr_receiver_finished(r, now_s, 0);
        assert_int_equal(dfr_receiver_target(r, 0), cases[i].target);
        n_open = 0;
    }
    dfr_receiver_destroy(r);
}

/* What is under way and what is queued counts, and what runs does not. */
static void test_requests(void **state)
{
    struct dfr_receiver *r = new_receiver(DFR_STREAM_DDWRR, 1, 2, 0);

    (void)state;
    struct dfr_stream_request c1 = asks(r, 0, 0, CPU), g1 = asks(r, 0, 0, GPU), c2 = asks(r, 0, 0, CPU), g2 = asks(r, 0, 0, GPU);
    asks_no_more(r, 0);
    assert_int_equal(dfr_receiver_state(r).n_asked, 4);
    assert_int_equal(answer(r, 1, &c1, DFR_STREAM_ITEM, 10, 33, 1), DF_OK);
    assert_int_equal(answer(r, 1, &c1, DFR_STREAM_ITEM, 10, 33, 1), DF_E_ARGUMENT); /* a ticket is good once */
    asks_no_more(r, 1);
    assert_int_equal(answer(r, 1, &g1, DFR_STREAM_ITEM, 11, 1, 1), DF_OK);
    assert_int_equal(answer(r, 1, &c2, DFR_STREAM_ITEM, 12, 1, 1), DF_OK);
    takes(r, 1, GPU, 10);               /* the highest speedup, though it was asked for on behalf of the CPU */
    struct dfr_stream_request c3 = asks(r, 1, 0, CPU);
    asks_no_more(r, 1);
    takes(r, 1, CPU, 11);
    struct dfr_stream_item i;
    assert_false(dfr_receiver_take(r, 1, CPU, &i)); /* it is busy */
    asks(r, 1, 0, GPU);
    dfr_receiver_finished(r, 9, GPU);
    dfr_receiver_finished(r, 9, CPU);
    assert_int_equal(dfr_receiver_target(r, GPU), 2); /* static */
    takes(r, 9, GPU, 12);
    assert_int_equal(answer(r, 9, &c3, DFR_STREAM_ITEM, 13, 33, 1), DF_OK);
    assert_int_equal(answer(r, 9, &g2, DFR_STREAM_ITEM, 14, 2, 1), DF_OK);
    takes(r, 9, CPU, 14);               /* what suits the CPU better of two that suit the GPU */
    assert_int_equal(dfr_receiver_state(r).most_held, 4);
    assert_true(dfr_receiver_state(r).most_held <= dfr_receiver_bound(r));
    dfr_receiver_destroy(r);
}

/* With ddfcfs the receiver's queue is not sorted. */
static void test_first_come(void **state)
{
    struct dfr_receiver *r = new_receiver(DFR_STREAM_DDFCFS, 1, 2, 0);

    (void)state;
    struct dfr_stream_request c1 = asks(r, 0, 0, CPU), g1 = asks(r, 0, 0, GPU);
    assert_int_equal(answer(r, 1, &c1, DFR_STREAM_ITEM, 10, 1, 1), DF_OK);
    assert_int_equal(answer(r, 1, &g1, DFR_STREAM_ITEM, 11, 33, 1), DF_OK);
    takes(r, 1, GPU, 10);
    takes(r, 1, CPU, 11);
    dfr_receiver_destroy(r);
}

/* Senders take turns. Who has none is not asked again for that worker until it gives the item, and its end is remembered. */
static void test_senders(void **state)
{
    struct dfr_receiver *r = new_receiver(DFR_STREAM_ODDS, 2, 0, 8);

    (void)state;
    struct dfr_stream_request c0 = asks(r, 0, 0, CPU), g1 = asks(r, 0, 1, GPU);
    asks_no_more(r, 0);
    assert_int_equal(answer(r, 1, &c0, DFR_STREAM_NONE, 0, 0, 0), DF_OK);
    assert_int_equal(dfr_receiver_state(r).n_waiting, 1);
    struct dfr_stream_request c1 = asks(r, 1, 1, CPU);
    assert_int_equal(answer(r, 2, &c1, DFR_STREAM_NONE, 0, 0, 0), DF_OK);
    asks_no_more(r, 2);                 /* it waits at both */
    assert_int_equal(answer(r, 2, &g1, DFR_STREAM_ITEM, 10, 1, INFINITY), DF_OK); /* a sender that does not know better */
    struct dfr_stream_item i;
    assert_false(dfr_receiver_take(r, 2, GPU, &i));
    takes(r, 2, CPU, 10);
    struct dfr_stream_request g0 = asks(r, 2, 0, GPU);
    assert_int_equal(answer(r, 3, &c1, DFR_STREAM_ITEM, 11, 1, 1), DF_OK);
    assert_int_equal(answer(r, 3, &c0, DFR_STREAM_ITEM, 12, 1, 1), DF_OK);
    assert_true(isnan(dfr_receiver_latency_s(r, CPU))); /* they waited for items, not for the network */
    assert_int_equal(dfr_receiver_state(r).n_waiting, 0);
    asks_no_more(r, 3);                 /* more are queued than the target says */
    takes(r, 3, GPU, 11);
    asks_no_more(r, 3);
    dfr_receiver_finished(r, 4, CPU);
    takes(r, 4, CPU, 12);
    struct dfr_stream_request c2 = asks(r, 4, 1, CPU);
    assert_int_equal(answer(r, 5, &c2, DFR_STREAM_OVER, 0, 0, 0), DF_OK);
    struct dfr_stream_request c3 = asks(r, 5, 0, CPU);
    assert_int_equal(answer(r, 5, &g0, DFR_STREAM_OVER, 0, 0, 0), DF_OK);
    assert_int_equal(answer(r, 5, &c3, DFR_STREAM_OVER, 0, 0, 0), DF_OK);
    asks_no_more(r, 5);
    assert_false(dfr_receiver_state(r).is_over); /* two items run */
    dfr_receiver_finished(r, 6, CPU);
    dfr_receiver_finished(r, 6, GPU);
    assert_true(dfr_receiver_state(r).is_over);
    dfr_receiver_destroy(r);
}

/* Which idle worker takes first, and what a worker leaves to another. */
static void test_leaves(void **state)
{
    struct dfr_receiver *r = new_receiver(DFR_STREAM_ODDS, 1, 0, 8);
    struct dfr_stream_item i;
    uint32_t worker = 9;

    (void)state;
    assert_false(dfr_receiver_idle(r, &worker));
    struct dfr_stream_request c = asks(r, 0, 0, CPU), g = asks(r, 0, 0, GPU);
    assert_int_equal(answer(r, 1, &g, DFR_STREAM_ITEM, 10, 33, 1), DF_OK);
    assert_true(dfr_receiver_idle(r, &worker) && worker == GPU);
    assert_false(dfr_receiver_take(r, 1, CPU, &i)); /* its own item is under way */
    assert_int_equal(answer(r, 2, &c, DFR_STREAM_NONE, 0, 0, 0), DF_OK);
    assert_true(dfr_receiver_idle(r, &worker) && worker == GPU);
    takes(r, 2, CPU, 10);               /* it is not */
    assert_false(dfr_receiver_idle(r, &worker));
    g = asks(r, 2, 0, GPU);
    assert_int_equal(answer(r, 3, &c, DFR_STREAM_ITEM, 11, 2, 1), DF_OK);
    takes(r, 3, GPU, 11);               /* it does it better, though it was asked for on behalf of the CPU */
    assert_int_equal(answer(r, 3, &g, DFR_STREAM_ITEM, 12, 1, 1), DF_OK);
    dfr_receiver_finished(r, 4, CPU);
    c = asks(r, 4, 0, CPU);
    assert_true(dfr_receiver_idle(r, &worker) && worker == CPU);
    takes(r, 4, CPU, 12);               /* as well as the GPU */
    dfr_receiver_destroy(r);

    r = new_receiver(DFR_STREAM_DDWRR, 1, 1, 0);
    c = asks(r, 0, 0, CPU);
    g = asks(r, 0, 0, GPU);
    assert_int_equal(answer(r, 1, &g, DFR_STREAM_ITEM, 10, 33, 1), DF_OK);
    takes(r, 1, CPU, 10);               /* with ddwrr a request asks for nothing of its own */
    dfr_receiver_destroy(r);
}

/* A worker has one request at a time at a sender that had nothing for it, until one is answered by an item at once. */
static void test_dry_sender(void **state)
{
    static const uint32_t cpu = CPU;
    const struct dfr_receiver_options options = { .policy = DFR_STREAM_DDWRR, .n_types = 1, .present = 1, .n_senders = 1, .n_workers = 1, .types = &cpu,
                                                  .requests = 3 };
    struct dfr_receiver *r = NULL;

    (void)state;
    assert_int_equal(dfr_receiver_create(&options, 0, &r, &error), DF_OK);
    struct dfr_stream_request a = asks(r, 0, 0, CPU), b = asks(r, 0, 0, CPU), c = asks(r, 0, 0, CPU);
    assert_int_equal(answer(r, 1, &a, DFR_STREAM_NONE, 0, 0, 0), DF_OK);
    assert_int_equal(answer(r, 1, &b, DFR_STREAM_DROPPED, 0, 0, 0), DF_OK);
    asks_no_more(r, 1);
    assert_int_equal(answer(r, 2, &c, DFR_STREAM_DROPPED, 0, 0, 0), DF_OK);
    asks_no_more(r, 2);
    assert_int_equal(answer(r, 3, &a, DFR_STREAM_ITEM, 10, 1, 1), DF_OK);
    a = asks(r, 3, 0, CPU);
    asks_no_more(r, 3);                 /* one alone */
    assert_int_equal(answer(r, 4, &a, DFR_STREAM_ITEM, 11, 1, 1), DF_OK);
    takes(r, 4, CPU, 10);
    asks(r, 4, 0, CPU);
    asks(r, 4, 0, CPU);                 /* it has items again */
    asks_no_more(r, 4);
    dfr_receiver_destroy(r);
}

/* A dead sender's answers come too late, and the others are asked. */
static void test_dead_sender(void **state)
{
    struct dfr_receiver *r = new_receiver(DFR_STREAM_ODDS, 2, 0, 8);

    (void)state;
    struct dfr_stream_request c0 = asks(r, 0, 0, CPU), g1 = asks(r, 0, 1, GPU);
    assert_int_equal(answer(r, 1, &g1, DFR_STREAM_NONE, 0, 0, 0), DF_OK);
    struct dfr_stream_request g0 = asks(r, 1, 0, GPU);
    dfr_receiver_lost(r, 0);
    assert_int_equal(dfr_receiver_state(r).n_asked, 0);
    assert_int_equal(answer(r, 1, &g0, DFR_STREAM_ITEM, 10, 1, 1), DF_E_ARGUMENT);
    asks(r, 1, 1, CPU);
    assert_int_equal(answer(r, 1, &c0, DFR_STREAM_ITEM, 10, 1, 1), DF_E_ARGUMENT); /* its place has another request now */
    asks_no_more(r, 1);
    dfr_receiver_back(r, 0);
    asks(r, 1, 0, GPU);
    dfr_receiver_destroy(r);
}

static void test_receiver_refuses(void **state)
{
    static const uint32_t types[] = { CPU, GPU, 2 };
    const struct dfr_receiver_options good = { .policy = DFR_STREAM_DDWRR, .n_types = 2, .present = BOTH, .n_senders = 1, .n_workers = 2, .types = types,
                                               .requests = 1 };
    struct dfr_receiver_options all[7];
    struct dfr_receiver *r = NULL;

    (void)state;
    for (int i = 0; i < 7; i++)
        all[i] = good;
    all[0].n_types = 0;
    all[1].n_senders = 0;
    all[2].n_workers = 3;               /* the third is of a type that there is not */
    all[3].requests = 0;
    all[4].requests = DFR_STREAM_REQUESTS + 1;
    all[5].present = 1;
    all[6].most = DFR_STREAM_REQUESTS + 1;
    for (int i = 0; i < 7; i++)
        assert_int_equal(dfr_receiver_create(&all[i], 0, &r, &error), DF_E_ARGUMENT);
    assert_null(r);
}

/* ---- random runs ---- */

static uint64_t seed = 1;

static uint32_t draw(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

static double draw_time(void)
{
    static const double times[] = { 1, 2, 8, 33, INFINITY, NAN };
    return times[draw(6)];
}

/* Items are added, taken, put back and dropped in any order: the heaps stay in order, and the first of each is that of a search. */
static void test_random_items(void **state)
{
    struct dfr_items items;
    uint32_t used[200], n_used = 0;

    (void)state;
    for (uint32_t round = 0; round < 40; round++) {
        dfr_items_init(&items, 3, round % 3 ? 7 : 5, round % 2);
        n_used = 0;
        for (uint32_t step = 0; step < 500; step++) {
            uint32_t k = n_used ? draw(n_used) : 0, what = draw(4);
            if (!n_used || (what < 2 && n_used < 200)) {
                const struct dfr_stream_item i = { .id = (uint64_t)step << 20, .time_s = { draw_time(), draw_time(), draw_time() } };
                used[n_used] = dfr_items_add(&items, &i, step);
                assert_int_equal(dfr_items_find(&items, i.id), used[n_used++]);
            } else if (items.slots[used[k]].waits) {
                dfr_items_out(&items, used[k]);
            } else if (what == 2) {
                dfr_items_back(&items, used[k]);
            } else {
                dfr_items_drop(&items, used[k]);
                used[k] = used[--n_used];
            }
            if (step % 16 == 0)
                assert_true(dfr_items_check(&items));
        }
        assert_true(dfr_items_check(&items));
        dfr_items_free(&items);
    }
}

/* Messages between random senders and receivers, delivered in the order of each pair, but else at any time. */
enum { SENDERS = 3, RECEIVERS = 4, ITEMS = 300, MOST_LETTERS = 4096 };

struct letter {
    bool answers;
    uint32_t sender, receiver;
    struct dfr_stream_request request;
    struct dfr_stream_answer answer;
};

struct play {
    struct dfr_sender *senders[SENDERS];
    struct dfr_receiver *receivers[RECEIVERS];
    struct letter letters[MOST_LETTERS];
    uint32_t n_letters, n_offered, n_done;
    uint8_t done[ITEMS];
    double now_s;
    uint64_t runs[RECEIVERS][3];        /* 1 + the item; 0: the worker is idle */
    uint32_t slow;                      /* a receiver that never finishes; RECEIVERS: none */
};

static const uint32_t play_types[RECEIVERS][3] = { { CPU, CPU, GPU }, { CPU, CPU, CPU }, { GPU, CPU, CPU }, { CPU, GPU, GPU } };

static void flush(struct play *p)
{
    struct dfr_stream_request q;
    struct letter l = { 0 };
    for (uint32_t s = 0; s < SENDERS; s++)
        while (dfr_sender_next(p->senders[s], &l.answer)) {
            l.answers = true;
            l.sender = s;
            l.receiver = l.answer.receiver;
            assert_true(p->n_letters < MOST_LETTERS);
            p->letters[p->n_letters++] = l;
        }
    for (uint32_t r = 0; r < RECEIVERS; r++)
        while (dfr_receiver_ask(p->receivers[r], p->now_s, &q)) {
            assert_true(p->n_letters < MOST_LETTERS);
            p->letters[p->n_letters++] = (struct letter){ .sender = q.sender, .receiver = r, .request = q };
        }
}

static void deliver(struct play *p)
{
    uint32_t k = draw(p->n_letters);
    for (uint32_t i = 0; i < k; i++)    /* the first between those two */
        if (p->letters[i].answers == p->letters[k].answers && p->letters[i].sender == p->letters[k].sender && p->letters[i].receiver == p->letters[k].receiver)
            k = i;
    struct letter l = p->letters[k];
    memmove(&p->letters[k], &p->letters[k + 1], (--p->n_letters - k) * sizeof l);
    if (l.answers)
        assert_int_equal(dfr_receiver_answer(p->receivers[l.receiver], p->now_s, &l.answer), DF_OK);
    else
        assert_int_equal(dfr_sender_request(p->senders[l.sender], l.receiver, &l.request), DF_OK);
}

static void work(struct play *p)
{
    uint32_t r = draw(RECEIVERS), w = draw(3);
    struct dfr_stream_item i;
    if (p->runs[r][w] && r != p->slow) {
        uint64_t id = p->runs[r][w] - 1;
        dfr_receiver_finished(p->receivers[r], p->now_s, w);
        assert_true(dfr_sender_done(p->senders[id % SENDERS], id));
        assert_int_equal(p->done[id]++, 0); /* each once */
        p->n_done++;
        p->runs[r][w] = 0;
    } else if (!p->runs[r][w] && dfr_receiver_take(p->receivers[r], p->now_s, w, &i)) {
        assert_true(i.time_s[play_types[r][w]] != INFINITY);
        p->runs[r][w] = i.id + 1;
    }
}

static void offer_next(struct play *p)
{
    struct dfr_sender *s = p->senders[p->n_offered % SENDERS];
    const struct dfr_stream_item i = { .id = p->n_offered, .time_s = { 1 + draw(9), draw(3) ? 1 : draw_time() } };
    if (p->n_offered < ITEMS && dfr_sender_room(s)) {
        assert_int_equal(dfr_sender_offer(s, &i), DF_OK);
        p->n_offered++;
        for (uint32_t k = 0; p->n_offered == ITEMS && k < SENDERS; k++)
            dfr_sender_no_more(p->senders[k]);
    }
}

static void check_bounds(const struct play *p, uint32_t places)
{
    uint32_t held = 0, given = 0, all = 0;
    for (uint32_t r = 0; r < RECEIVERS; r++) {
        struct dfr_receiver_state state = dfr_receiver_state(p->receivers[r]);
        assert_true(state.n_asked + state.n_queued <= dfr_receiver_bound(p->receivers[r]) && state.most_held <= dfr_receiver_bound(p->receivers[r]));
        held += state.n_queued + state.n_running;
        all += dfr_receiver_bound(p->receivers[r]) + 3;
    }
    for (uint32_t s = 0; s < SENDERS; s++) {
        assert_true(dfr_sender_state(p->senders[s]).n_waiting <= places);
        given += dfr_sender_state(p->senders[s]).n_given;
    }
    assert_true(held <= given && given <= all);
}

static void begin_play(struct play *p, enum dfr_stream_policy policy, uint32_t places, uint32_t requests)
{
    *p = (struct play){ .slow = RECEIVERS };
    for (uint32_t r = 0; r < RECEIVERS; r++) {
        const struct dfr_receiver_options o = { .policy = policy, .n_types = 2, .present = BOTH, .n_senders = SENDERS, .first_sender = r, .n_workers = 3,
                                                .types = play_types[r], .requests = requests, .most = requests };
        assert_int_equal(dfr_receiver_create(&o, 0, &p->receivers[r], &error), DF_OK);
    }
    for (uint32_t s = 0; s < SENDERS; s++) {
        const struct dfr_sender_options o = { .policy = policy, .n_types = 2, .present = BOTH, .n_receivers = RECEIVERS, .places = places,
                                              .most_requests = dfr_receiver_bound(p->receivers[0]) };
        assert_int_equal(dfr_sender_create(&o, &p->senders[s], &error), DF_OK);
    }
}

static void end_play(struct play *p)
{
    for (uint32_t r = 0; r < RECEIVERS; r++)
        dfr_receiver_destroy(p->receivers[r]);
    for (uint32_t s = 0; s < SENDERS; s++)
        dfr_sender_destroy(p->senders[s]);
}

static void play_on(struct play *p, uint32_t places, uint32_t steps)
{
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t what = draw(4);
        p->now_s += 0.01 * draw(100);
        if (what == 0)
            offer_next(p);
        else if (what == 1)
            work(p);
        else if (p->n_letters)
            deliver(p);
        flush(p);
        check_bounds(p, places);
    }
}

static void test_random_runs(void **state)
{
    static struct play p;

    (void)state;
    for (uint32_t round = 0; round < 60; round++) {
        uint32_t places = 1 + draw(9);
        begin_play(&p, (enum dfr_stream_policy)(round % DFR_STREAM_POLICIES), places, 1 + draw(6));
        flush(&p);
        while (p.n_done < ITEMS)
            play_on(&p, places, 100);
        while (p.n_letters) {           /* all hear of the end */
            deliver(&p);
            flush(&p);
        }
        for (uint32_t r = 0; r < RECEIVERS; r++)
            assert_true(dfr_receiver_state(p.receivers[r]).is_over);
        end_play(&p);
    }
}

/* A receiver that never finishes holds what it asked for, and no other waits for it. */
static void test_random_stuck(void **state)
{
    static struct play p;

    (void)state;
    for (uint32_t round = 0; round < 30; round++) {
        uint32_t held = 0;
        begin_play(&p, (enum dfr_stream_policy)(round % DFR_STREAM_POLICIES), 2, 1 + draw(4));
        p.slow = draw(RECEIVERS);
        flush(&p);
        play_on(&p, 2, 20000);          /* far more than the others need */
        const struct dfr_receiver_state slow = dfr_receiver_state(p.receivers[p.slow]);
        held = slow.n_queued + slow.n_running;
        assert_true(held <= dfr_receiver_bound(p.receivers[p.slow]) + 3);
        assert_int_equal(p.n_offered, ITEMS);
        assert_int_equal(p.n_done, ITEMS - held);
        end_play(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights), cmocka_unit_test(test_names), cmocka_unit_test(test_best_item), cmocka_unit_test(test_oldest_item),
        cmocka_unit_test(test_order_of_requests), cmocka_unit_test(test_one_waits), cmocka_unit_test(test_sender_refuses), cmocka_unit_test(test_dead_receiver),
        cmocka_unit_test(test_target_rises_and_falls), cmocka_unit_test(test_requests), cmocka_unit_test(test_first_come),
        cmocka_unit_test(test_senders), cmocka_unit_test(test_leaves), cmocka_unit_test(test_dry_sender), cmocka_unit_test(test_dead_sender), cmocka_unit_test(test_receiver_refuses),
        cmocka_unit_test(test_random_items), cmocka_unit_test(test_random_runs), cmocka_unit_test(test_random_stuck) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
