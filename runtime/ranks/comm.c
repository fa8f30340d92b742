/* comm.c - the communication thread of a rank: moves messages between the link and the manager or worker, and waves to and from the graph's side (comm.h).
 * rank0.c and replica.c run it; ranks.c and the other files of both sides (rank0_….c, replica_….c) wake it, stop it and send through it. */
#include "runtime/ranks/comm.h"

#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/wake.h"

#define LEAST_SLEEP_S 20e-6
#define MOST_SLEEP_S 20e-3
#define LAST_S 1.0
#define MOST_REPORTS 4                  /* on their way at once */

void dfr_comm_ring(struct dfr_comm *comm)
{
    atomic_fetch_add_explicit(&comm->bell, 1, memory_order_seq_cst);
    dfr_futex_wake(&comm->bell, 1);
}

void dfr_comm_stop(struct dfr_comm *comm)
{
    atomic_store_explicit(&comm->stop, true, memory_order_seq_cst);
    dfr_comm_ring(comm);
}

double dfr_comm_sleep_s(double idle_s)
{
    double sleep_s = idle_s / 16;

    return sleep_s < LEAST_SLEEP_S ? LEAST_SLEEP_S : sleep_s > MOST_SLEEP_S ? MOST_SLEEP_S : sleep_s;
}

/* One rank's loop. */
struct dfr_comm_loop {
    struct dfr_comm *comm;
    struct dfr_manager *manager;        /* one of both */
    struct dfr_worker *worker;
    const struct dfr_manage_side *manage;
    const struct dfr_work_side *work;
    struct dfr_message *waiting;        /* a result or a wave that the graph's side has no room for */
    uint64_t begun_epoch;               /* of the last WELCOME that a worker's graph was told */
    size_t n_sending;                   /* messages on their way */
    double idle_s;                      /* when something was done last */
    int failed;                         /* of the graph's side: it is not called any more */
    int code;                           /* of the link: it can only be closed then */
    struct df_error error;
};

/* options.send of both: the message is held until it has left. */
static void send_by_link(void *arg, int to, struct dfr_message *message)
{
    struct dfr_comm_loop *loop = arg;
    struct dfr_link *link = loop->comm->link;

    if (loop->code != DF_OK)
        return;
    loop->n_sending++;
    /* A BEAT with a flag (stop) must not overtake the WELCOME. */
    const bool urgent = message->head.kind == DFR_BEAT && message->head.flags == 0;
    loop->code = link->send(link, to, message->bytes, message->size, urgent, dfr_message_hold(message), &loop->error);
}

void dfr_comm_send(struct dfr_comm *comm, int to, struct dfr_message *message)
{
    send_by_link(comm->loop, to, message);
    dfr_message_drop(message);
}

const struct dfr_worker *dfr_comm_worker(const struct dfr_comm *comm)
{
    return comm->loop->worker;
}

/* ---- what arrives ---- */

/* A worker's graph is shown what another worker says. */
static void hear_peer(struct dfr_comm_loop *loop, int rank, struct dfr_message *message)
{
    struct df_error error = { "" };

    if (loop->failed == DF_OK && loop->work->peer && (loop->failed = loop->work->peer(loop->work->arg, rank, message, &error)) != DF_OK)
        dfr_worker_failed(loop->worker, dfr_clock_s(), error.text);
    dfr_message_drop(message);
}


static void receive(struct dfr_comm_loop *loop, const struct dfr_link_event *event)
{
    struct dfr_message *message;
    double now_s = dfr_clock_s();
    int code = dfr_message_read(event->bytes, event->size, &message, &loop->error);

    if (code != DF_OK)
        loop->code = code;
    else if (loop->worker && event->rank > 0)
        hear_peer(loop, event->rank, message);
    else if (loop->manager)
        dfr_manager_arrived(loop->manager, now_s, event->rank, message);
    else
        dfr_worker_arrived(loop->worker, now_s, message);
}

static void left(struct dfr_comm_loop *loop, void *cookie)
{
    loop->n_sending--;
    dfr_message_drop(cookie);
}

/* A piece of a message was received from this rank. */
static void hear_piece(struct dfr_comm_loop *loop, int rank)
{
    if (loop->manager)
        dfr_manager_heard(loop->manager, dfr_clock_s(), rank);
    else if (rank == 0)
        dfr_worker_heard(loop->worker, dfr_clock_s());
}

/* The rank has ended. A worker ignores the end of other workers, which rank 0 handles. */
static void lose_rank(struct dfr_comm_loop *loop, int rank)
{
    if (loop->manager)
        dfr_manager_lost(loop->manager, dfr_clock_s(), rank);
    else if (rank == 0)
        dfr_worker_lost(loop->worker);
}

static void note_activity(struct dfr_comm_loop *loop)
{
    loop->idle_s = dfr_clock_s();
    loop->comm->n_active++;
}

/* All that has happened on the link. Gives whether anything has. */
static bool poll_link(struct dfr_comm_loop *loop)
{
    struct dfr_link *link = loop->comm->link;
    struct dfr_link_event event;
    bool any = false;

    while (loop->code == DF_OK) {
        loop->code = link->poll(link, &event, &loop->error);
        if (event.kind == DFR_LINK_MOVING)
            note_activity(loop);
        if (loop->code != DF_OK || event.kind == DFR_LINK_NOTHING || event.kind == DFR_LINK_MOVING)
            return any;
        if (event.kind == DFR_LINK_HEARD) {
            hear_piece(loop, event.rank);
            continue;
        }
        any = true;
        if (event.kind == DFR_LINK_SENT)
            left(loop, event.cookie);
        else if (event.kind == DFR_LINK_LOST)
            lose_rank(loop, event.rank);
        else
            receive(loop, &event);
    }
    return any;
}

/* Sleeps, for longer the longer nothing was done, unless the bell has rung since `seen`. */
static void wait(struct dfr_comm_loop *loop, uint32_t seen, bool any)
{
    if (any || atomic_load_explicit(&loop->comm->bell, memory_order_seq_cst) != seen) {
        note_activity(loop);
        return;
    }
    loop->comm->n_sleeps++;
    dfr_futex_wait(&loop->comm->bell, seen, (int64_t)(1e9 * dfr_comm_sleep_s(dfr_clock_s() - loop->idle_s)));
}

/* At the end: what is on its way to ranks that live leaves within moments. What is on its way to dead ones stays there. */
static void send_last(struct dfr_comm_loop *loop)
{
    double until_s = dfr_clock_s() + LAST_S;
    while (loop->code == DF_OK && loop->n_sending > 0 && dfr_clock_s() < until_s) {
        uint32_t seen = atomic_load_explicit(&loop->comm->bell, memory_order_seq_cst);
        wait(loop, seen, poll_link(loop));
    }
}

/* ---- rank 0 ---- */

static int offer_waves(struct dfr_comm_loop *loop, bool *any, struct df_error *error)
{
    struct dfr_manager *m = loop->manager;

    while (dfr_manager_room(m) > 0) {
        struct dfr_head head = dfr_manager_give_head(m);
        struct dfr_message *give = NULL;
        bool over = false;
        int code = loop->manage->next(loop->manage->arg, &head, &give, &over, error);
        if (code != DF_OK)
            return code;
        if (give)
            dfr_manager_offer(m, dfr_clock_s(), give);
        if (over)
            dfr_manager_no_more(m, dfr_clock_s());
        *any |= give || over;
        if (!give)
            break;
    }
    return DF_OK;
}

static int take_results(struct dfr_comm_loop *loop, bool *any, struct df_error *error)
{
    while (loop->waiting || (loop->waiting = dfr_manager_take(loop->manager)) != NULL) {
        bool taken = false;
        int code = loop->manage->result(loop->manage->arg, loop->waiting, &taken, error);
        if (code != DF_OK || !taken)
            return code;
        dfr_message_drop(loop->waiting);
        loop->waiting = NULL;
        *any = true;
    }
    return DF_OK;
}

static int end_waves(struct dfr_comm_loop *loop, bool *any, struct df_error *error)
{
    const int64_t stored = dfr_manager_stored(loop->manager), ended = dfr_manager_state(loop->manager).n_ended;
    unsigned n = 0;
    int code = loop->manage->ended(loop->manage->arg, (unsigned)(stored - ended), &n, error);

    *any |= n > 0;
    for (; code == DF_OK && n > 0; n--)
        dfr_manager_ended(loop->manager, dfr_clock_s());
    return code;
}

/* Gives whether anything was done. */
static bool serve_graph(struct dfr_comm_loop *loop)
{
    struct df_error error = { "" };
    bool any = false;
    int code = take_results(loop, &any, &error);

    if (code == DF_OK)
        code = end_waves(loop, &any, &error);
    if (code == DF_OK)
        code = offer_waves(loop, &any, &error);
    loop->failed = code;
    if (code != DF_OK)
        dfr_manager_fail(loop->manager, dfr_clock_s(), code, error.text);
    return any;
}

/* Unless at_once is set, HELLOs are received before the first wave is offered, so that all workers get a share of the first waves. */
static void manage_until_over(struct dfr_comm_loop *loop)
{
    if (loop->manage->at_once)
        serve_graph(loop);
    while (loop->code == DF_OK && !dfr_manager_is_over(loop->manager)) {
        uint32_t seen = atomic_load_explicit(&loop->comm->bell, memory_order_seq_cst);
        if (atomic_load_explicit(&loop->comm->stop, memory_order_relaxed))
            dfr_manager_stop(loop->manager, dfr_clock_s());
        bool any = poll_link(loop);
        if (loop->failed == DF_OK)
            any |= serve_graph(loop);
        if (dfr_clock_s() >= dfr_manager_due_s(loop->manager))
            dfr_manager_tick(loop->manager, dfr_clock_s());
        wait(loop, seen, any);
    }
}

/* What both ends do last. `outcome` is of the state machine, with a sentence in *error. */
static int close_loop(struct dfr_comm_loop *loop, bool whole, int outcome, struct df_error *error)
{
    send_last(loop);
    loop->comm->whole = whole && loop->code == DF_OK && loop->n_sending == 0;
    dfr_message_drop(loop->waiting);
    dfr_manager_destroy(loop->manager);
    dfr_worker_destroy(loop->worker);
    if (loop->code != DF_OK && error)
        *error = loop->error;
    return loop->code != DF_OK ? loop->code : outcome;
}

int dfr_comm_manage(struct dfr_comm *comm, const struct dfr_manager_options *options, const struct dfr_manage_side *side,
                    struct dfr_manager_state *state, struct df_error *error)
{
    struct dfr_comm_loop loop = { .comm = comm, .manage = side, .idle_s = dfr_clock_s() };
    struct dfr_manager_options own = *options;
    own.facts = comm->facts;

    *state = (struct dfr_manager_state){ 0 };
    own.send_arg = &loop;
    own.send = send_by_link;
    own.n_ranks = comm->link->size;
    int code = dfr_manager_create(&own, dfr_clock_s(), &loop.manager, error);
    if (code != DF_OK)
        return code;
    comm->loop = &loop;
    manage_until_over(&loop);
    comm->loop = NULL;
    *state = dfr_manager_state(loop.manager);
    if (side->over)
        side->over(side->arg, loop.manager);
    return close_loop(&loop, state->whole, dfr_manager_outcome(loop.manager, error), error);
}

/* ---- a worker ---- */

static int begin_epoch(struct dfr_comm_loop *loop, bool *any, struct df_error *error)
{
    const struct dfr_message *welcome = dfr_worker_welcome(loop->worker);

    if (!welcome || welcome->head.epoch == loop->begun_epoch)
        return DF_OK;
    *any = true;
    dfr_message_drop(loop->waiting);
    loop->waiting = NULL;
    loop->begun_epoch = welcome->head.epoch;
    return loop->work->begin(loop->work->arg, welcome, error);
}

static int start_waves(struct dfr_comm_loop *loop, bool *any, struct df_error *error)
{
    while (loop->waiting || (loop->waiting = dfr_worker_take(loop->worker)) != NULL) {
        struct dfr_head head = dfr_worker_result_head(loop->worker, &loop->waiting->head);
        bool started = false;
        int code = loop->work->start(loop->work->arg, loop->waiting, &head, &started, error);
        if (code != DF_OK || !started)
            return code;
        dfr_message_drop(loop->waiting);
        loop->waiting = NULL;
        *any = true;
    }
    return DF_OK;
}

static int send_results(struct dfr_comm_loop *loop, bool *any, struct df_error *error)
{
    for (;;) {
        struct dfr_message *result = NULL;
        int code = loop->work->finish(loop->work->arg, &result, error);
        if (code != DF_OK || !result)
            return code;
        dfr_worker_result(loop->worker, dfr_clock_s(), result);
        *any = true;
    }
}

static int tell_verdicts(struct dfr_comm_loop *loop, bool *any, struct df_error *error)
{
    int64_t wave;
    bool accepted, stored;

    while (dfr_worker_verdict(loop->worker, &wave, &accepted)) {
        int code = loop->work->verdict ? loop->work->verdict(loop->work->arg, wave, accepted, &stored, error) : DF_OK;
        if (code != DF_OK)
            return code;
        if (loop->work->stores && accepted)
            dfr_worker_stored(loop->worker, dfr_clock_s(), wave, stored);
        *any = true;
    }
    return DF_OK;
}

/* END came, and the manager wants to be told something. A graph that has failed has nothing to tell. */
static bool send_reports(struct dfr_comm_loop *loop)
{
    struct df_error error = { "" };
    bool any = false, last = !loop->work->report || loop->failed != DF_OK;

    while (!last && loop->n_sending < MOST_REPORTS) {
        struct dfr_head head = dfr_worker_report_head(loop->worker);
        struct dfr_message *report = NULL;
        loop->failed = loop->work->report(loop->work->arg, &head, &report, &last, &error);
        last |= loop->failed != DF_OK;
        if (!report)
            break;
        dfr_worker_report(loop->worker, dfr_clock_s(), report, false);
        any = true;
    }
    if (last)
        dfr_worker_report(loop->worker, dfr_clock_s(), NULL, true);
    return any || last;
}

static bool run_waves(struct dfr_comm_loop *loop)
{
    struct df_error error = { "" };
    bool any = false;
    int code = begin_epoch(loop, &any, &error);

    if (code == DF_OK)
        code = tell_verdicts(loop, &any, &error);
    if (code == DF_OK)
        code = start_waves(loop, &any, &error);
    if (code == DF_OK)
        code = send_results(loop, &any, &error);
    loop->failed = code;
    if (code != DF_OK)
        dfr_worker_failed(loop->worker, dfr_clock_s(), error.text);
    return any;
}

/* A worker whose graph failed waits for the manager to end the run. */
static void work_until_over(struct dfr_comm_loop *loop)
{
    while (loop->code == DF_OK && !dfr_worker_is_over(loop->worker)) {
        uint32_t seen = atomic_load_explicit(&loop->comm->bell, memory_order_seq_cst);
        if (atomic_load_explicit(&loop->comm->stop, memory_order_relaxed))
            dfr_worker_leave(loop->worker, dfr_clock_s());
        bool any = poll_link(loop);
        loop->comm->hurries = dfr_worker_hurries(loop->worker);
        if (loop->failed == DF_OK)
            any |= run_waves(loop);
        if (dfr_worker_wanted(loop->worker))
            any |= send_reports(loop);
        if (loop->work->progress)
            dfr_worker_progress(loop->worker, loop->work->progress(loop->work->arg));
        if (dfr_clock_s() >= dfr_worker_due_s(loop->worker))
            dfr_worker_tick(loop->worker, dfr_clock_s());
        wait(loop, seen, any);
    }
}

int dfr_comm_work(struct dfr_comm *comm, const struct dfr_worker_options *options, const struct dfr_work_side *side,
                  struct df_error *error)
{
    struct dfr_comm_loop loop = { .comm = comm, .work = side, .idle_s = dfr_clock_s() };
    struct dfr_worker_options own = *options;
    own.facts = comm->facts;

    own.send_arg = &loop;
    own.send = send_by_link;
    int code = dfr_worker_create(&own, dfr_clock_s(), &loop.worker, error);
    if (code != DF_OK)
        return code;
    comm->loop = &loop;
    work_until_over(&loop);
    comm->loop = NULL;
    comm->done = dfr_worker_is_done(loop.worker);
    return close_loop(&loop, dfr_worker_is_whole(loop.worker), dfr_worker_outcome(loop.worker, error), error);
}
