/* stream_ranks.c - DDFCFS, DDWRR and ODDS for real: stream_ranks [WAVES [SCALE [LATE_MS]]], under mpirun with an even number of ranks. LATE_MS: ranks of
 * odd number wait for so long between the result of an item and their next requests, as a rank does that has no core at that moment.
 *
 * Each rank is a node of Anthill's cluster, home of its share of NBIA's tiles, and receiver of all. Ranks of even number have a core and a GPU, the others two
 * cores. Messages go over MPI with all their bytes. Workers are rehearsed: they wait as long as the paper says that a tile takes, SCALE times
 * longer, and compute nothing. 8 of 100 tiles are analysed again. Rank 0 prints a line for each run: wall time, and how many times as fast as one core that is.
 * A last line compares the best of each policy. By default there are as many tiles as in one of the paper's images: with few of them, the time after the
 * last tile has begun decides, and a large one takes a core 0.285 s. The code that decides is runtime/stream/. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/stream/stream.h"

enum { CPU, GPU, TYPES, WORKERS = 2, PLACES = 256, MOST_RANKS = 64, RATE = 8 };
enum kind { REQUEST, ANSWER, RESULT };
static const double low_s[TYPES] = { 1.12e-3, 1.12e-3 }, high_s[TYPES] = { 0.285, 0.285 / 41 };
enum { LOW_BYTES = 32 * 32 * 3, HIGH_BYTES = 512 * 512 * 3 };

struct message {                        /* the tile follows an answer with an item */
    enum kind kind;
    uint64_t id;                        /* of a result: 2 * wave + stage */
    struct dfr_stream_request request;
    struct dfr_stream_answer answer;
};

struct sent {                           /* a message that MPI has not sent yet */
    MPI_Request request;
    struct message *message;
    struct sent *next;
};

struct node {
    int rank, n;
    long waves, next_wave, begun, done[2][TYPES];
    double scale, late_s;
    struct dfr_sender *sender;
    struct dfr_receiver *receiver;
    uint32_t types[WORKERS];
    struct { bool runs; double end_s; uint64_t id; } workers[WORKERS];
    struct sent *sent;
    long n_sent[MOST_RANKS], n_got;     /* messages: to each rank, and from all */
    char *tile;                         /* for what comes in */
};

static bool again(long wave)
{
    return wave * 7919 % 100 < RATE;
}

static size_t bytes_of(uint64_t id)
{
    return id % 2 ? HIGH_BYTES : LOW_BYTES;
}

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "stream_ranks: %s\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* ---- messages ---- */

static void send_message(struct node *n, int to, const struct message *message)
{
    bool tile = message->kind == ANSWER && message->answer.kind == DFR_STREAM_ITEM;
    size_t size = sizeof *message + (tile ? bytes_of(message->answer.item.id) : 0);
    struct sent *s = malloc(sizeof *s);
    must(s && (s->message = calloc(1, size)), "out of memory");
    *s->message = *message;
    s->next = n->sent;
    n->sent = s;
    n->n_sent[to]++;
    MPI_Isend(s->message, (int)size, MPI_BYTE, to, 0, MPI_COMM_WORLD, &s->request);
}

static void drop_sent(struct node *n)
{
    for (struct sent **at = &n->sent, *s; (s = *at); ) {
        int done = 0;
        MPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        free(s->message);
        free(s);
    }
}

static void flush_answers(struct node *n)
{
    struct message m = { .kind = ANSWER };
    while (dfr_sender_next(n->sender, &m.answer)) {
        int to = (int)m.answer.receiver;
        if (m.answer.kind == DFR_STREAM_ITEM)
            must(dfr_sender_done(n->sender, m.answer.item.id), "an item was not given"); /* nobody dies here */
        send_message(n, to, &m);
    }
}

static void flush_requests(struct node *n)
{
    struct message m = { .kind = REQUEST };
    while (dfr_receiver_ask(n->receiver, MPI_Wtime(), &m.request))
        send_message(n, (int)m.request.sender, &m);
}

/* ---- waves ---- */

static void offer(struct node *n, long wave, int stage)
{
    struct dfr_stream_item item = { .id = 2 * (uint64_t)wave + (uint64_t)stage };
    for (int t = 0; t < TYPES; t++)
        item.time_s[t] = stage ? high_s[t] : low_s[t];
    must(dfr_sender_offer(n->sender, &item) == DF_OK, "no room for an item");
}

static void read_waves(struct node *n)
{
    for (; n->begun < PLACES && n->next_wave < n->waves; n->next_wave += n->n, n->begun++)
        offer(n, n->next_wave, 0);
    if (n->next_wave >= n->waves && !n->begun)
        dfr_sender_no_more(n->sender);
}

static void take_result(struct node *n, uint64_t id)
{
    long wave = (long)(id / 2);
    if (id % 2 == 0 && again(wave)) {
        offer(n, wave, 1);
        return;
    }
    n->begun--;
    read_waves(n);
}

/* ---- workers ---- */

static void work(struct node *n)
{
    struct dfr_stream_item item;
    uint32_t w;
    double now_s = MPI_Wtime();
    for (w = 0; w < WORKERS; w++)
        if (n->workers[w].runs && now_s >= n->workers[w].end_s) {
            const struct message m = { .kind = RESULT, .id = n->workers[w].id };
            n->workers[w].runs = false;
            dfr_receiver_finished(n->receiver, now_s, w);
            send_message(n, (int)(m.id / 2 % (uint64_t)n->n), &m);
            if (n->rank % 2 && n->late_s > 0)
                nanosleep(&(struct timespec){ .tv_nsec = (long)(1e9 * n->late_s) }, NULL);
        }
    while (dfr_receiver_idle(n->receiver, &w) && dfr_receiver_take(n->receiver, now_s, w, &item)) {
        uint32_t type = n->types[w];
        n->workers[w].runs = true;
        n->workers[w].id = item.id;
        n->workers[w].end_s = now_s + n->scale * item.time_s[type];
        n->done[item.id % 2][type]++;
    }
}

/* The next message, in n->tile. NULL: none is there. */
static const struct message *next_message(struct node *n, int *from)
{
    MPI_Status status;
    int there = 0, size = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status);
    if (!there)
        return NULL;
    MPI_Get_count(&status, MPI_BYTE, &size);
    MPI_Recv(n->tile, size, MPI_BYTE, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    n->n_got++;
    *from = status.MPI_SOURCE;
    return (const struct message *)n->tile;
}

static bool receive(struct node *n)
{
    int from;
    const struct message *m = next_message(n, &from);
    if (!m)
        return false;
    if (m->kind == REQUEST)
        must(dfr_sender_request(n->sender, (uint32_t)from, &m->request) == DF_OK, "a request was refused");
    else if (m->kind == ANSWER)
        must(dfr_receiver_answer(n->receiver, MPI_Wtime(), &m->answer) == DF_OK, "an answer was refused");
    else
        take_result(n, m->id);
    return true;
}

/* When all is done, answers that say so may still be under way. They belong to this run, not to the next one. */
static void receive_rest(struct node *n)
{
    long to_here[MOST_RANKS], wanted = 0;
    int from;
    MPI_Alltoall(n->n_sent, 1, MPI_LONG, to_here, 1, MPI_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < n->n; r++)
        wanted += to_here[r];
    while (n->n_got < wanted) {
        const struct message *m = next_message(n, &from);
        must(!m || m->kind == REQUEST || (m->kind == ANSWER && m->answer.kind != DFR_STREAM_ITEM), "a tile came behind the end");
    }
}

/* ---- a run ---- */

static void open_node(struct node *n, enum dfr_stream_policy policy, uint32_t requests)
{
    struct df_error error = { "" };
    n->types[0] = CPU;
    n->types[1] = n->rank % 2 ? CPU : GPU;
    const struct dfr_receiver_options receiver = { .policy = policy, .n_types = TYPES, .present = 3, .n_senders = (uint32_t)n->n,
                                                   .first_sender = (uint32_t)n->rank, .n_workers = WORKERS, .types = n->types, .requests = requests,
                                                   .most = 64 };
    must(dfr_receiver_create(&receiver, MPI_Wtime(), &n->receiver, &error) == DF_OK, error.text);
    const struct dfr_sender_options sender = { .policy = policy, .n_types = TYPES, .present = 3, .n_receivers = (uint32_t)n->n, .places = PLACES,
                                               .most_requests = dfr_receiver_bound(n->receiver) };
    must(dfr_sender_create(&sender, &n->sender, &error) == DF_OK, error.text);
    n->next_wave = n->rank;
    n->begun = 0;
    memset(n->done, 0, sizeof n->done);
}

static bool is_done(const struct node *n)
{
    return dfr_sender_state(n->sender).is_over && dfr_receiver_state(n->receiver).is_over && !n->sent;
}

/* A rank that is done still answers: another one may ask it only now, and is not done before it hears that the stream has ended here, too. So all stay until all
 * are done. Each has had its answers then, and asks for nothing more. */
static void run(struct node *n)
{
    MPI_Request all_done = MPI_REQUEST_NULL;
    bool done = false;
    int left = 0;
    read_waves(n);
    while (!left) {
        bool got = false;
        while (receive(n))
            got = true;
        work(n);
        flush_answers(n);
        flush_requests(n);
        drop_sent(n);
        if (!done && is_done(n)) {
            done = true;
            MPI_Ibarrier(MPI_COMM_WORLD, &all_done);
        }
        if (done)
            MPI_Test(&all_done, &left, MPI_STATUS_IGNORE);
        if (!got)
            nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    }
}

/* Runs all waves. Returns how many times as fast as one core the run was, on rank 0. */
static double compare(struct node *n, enum dfr_stream_policy policy, uint32_t requests)
{
    long all[2][TYPES], of[2] = { n->waves, 0 };
    double alone_s = 0;
    open_node(n, policy, requests);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    run(n);
    double took_s = MPI_Wtime() - begin_s;
    receive_rest(n);
    const struct dfr_sender_state sender = dfr_sender_state(n->sender);
    const struct dfr_receiver_state receiver = dfr_receiver_state(n->receiver);
    must(sender.most_waiting <= PLACES && receiver.most_held <= dfr_receiver_bound(n->receiver), "a buffer was above its bound");
    MPI_Reduce(n->done, all, 2 * TYPES, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    for (long wave = 0; wave < n->waves; wave++)
        of[1] += again(wave);
    alone_s = n->scale * ((double)of[0] * low_s[CPU] + (double)of[1] * high_s[CPU]);
    if (n->rank == 0) {
        must(all[0][0] + all[0][1] == of[0] && all[1][0] + all[1][1] == of[1], "not every tile was done once");
        printf("| %s | %s%.0u | %.2f s | %.1f | %.2f %% | %.2f %% |\n", dfr_stream_policy_name(policy), requests ? "" : "by DQAA", (unsigned)requests,
               took_s, alone_s / took_s, 100.0 * (double)all[0][GPU] / (double)of[0], 100.0 * (double)all[1][GPU] / (double)of[1]);
        fflush(stdout);
    }
    dfr_sender_destroy(n->sender);
    dfr_receiver_destroy(n->receiver);
    return alone_s / took_s;
}

/* The best of several numbers of requests, as the paper took it. */
static double best_of(struct node *n, enum dfr_stream_policy policy)
{
    double best = 0;
    for (uint32_t requests = 1; requests <= 16; requests *= 4)
        best = fmax(best, compare(n, policy, requests));
    return best;
}

int main(int argc, char **argv)
{
    struct node n = { .waves = argc > 1 ? atol(argv[1]) : 26742, .scale = argc > 2 ? atof(argv[2]) : 1,
                      .late_s = argc > 3 ? atof(argv[3]) / 1e3 : 0 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &n.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n.n);
    must(n.n >= 2 && n.n % 2 == 0 && n.n <= MOST_RANKS && n.waves > 0 && n.scale > 0, "usage: mpirun -n RANKS stream_ranks [WAVES [SCALE [LATE_MS]]], an even number of ranks");
    must((n.tile = malloc(sizeof(struct message) + HIGH_BYTES)), "out of memory");
    if (n.rank == 0)
        printf("| policy | requests | time | over one core | small tiles on GPUs | large tiles on GPUs |\n|---|---|---|---|---|---|\n");
    double ddfcfs = best_of(&n, DFR_STREAM_DDFCFS), ddwrr = best_of(&n, DFR_STREAM_DDWRR), odds = compare(&n, DFR_STREAM_ODDS, 0);
    if (n.rank == 0)
        printf("\nbest: DDFCFS %.1f, DDWRR %.1f, ODDS %.1f, %s order of the paper; ODDS is %.2f times as fast as DDWRR\n", ddfcfs, ddwrr, odds,
               ddfcfs < ddwrr && ddwrr < odds ? "the" : "not the", odds / ddwrr);
    free(n.tile);
    MPI_Finalize();
    return 0;
}
