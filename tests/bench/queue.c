/* queue.c - the job queue beside Concurrency Kit's ck_fifo_mpmc, which is Michael & Scott's too, in one program:
 *     queue [--csv] [--runs=N] [ROW…]
 * Rows: `pairs` one thread, push then pop; `batch` one thread, fills then drains; `1p1c` one producer, one consumer;
 * `2p2c`. The queues take turns, run by run, so that what else the machine does meets both; a figure is the median of
 * the runs, the ratio the median of the ratios of neighbouring runs.
 *
 * cpu/wall below the number of threads (or of cores, if fewer) says that a core was not ours: a thread that waits
 * spins, and yields now and then. Counted are the neighbours that both had their cores, `clean` of them; if there are
 * none, all.
 *
 * ck_fifo_mpmc leaves its entries to the caller. It is given the cheapest way there is: alone, the entry that a pop
 * frees serves the next push; with several threads, each push has an entry of its own, laid out in order, and none is
 * reused within a run. Our queue has as many nodes, and its own recycling is part of the figure; so are its calls,
 * while ck_fifo_mpmc is inlined. */
#include <ck_fifo.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/threads/queue.h"

#define CLEAN 0.9

enum { N_PAIRS = 20000, N_BATCH = 1000, N_BATCHES = 20, N_CROSSING = 50000, MAX_RUNS = 1001, SPINS = 100 };

struct figure {
    double ns, share;                   /* per item; cpu time / wall time */
};

/* ---- two queues behind the same calls ---- */

struct ck {
    ck_fifo_mpmc_t fifo;
    ck_fifo_mpmc_entry_t *entries;      /* the first is the stub */
    ck_fifo_mpmc_entry_t *freed;
};

static struct dfr_queue *ours;
static struct ck theirs;

static void fail(const char *what)
{
    fprintf(stderr, "queue: error: %s\n", what);
    exit(1);
}

static void ck_start(void)
{
    ck_fifo_mpmc_init(&theirs.fifo, &theirs.entries[0]);
    theirs.freed = &theirs.entries[1];
}

/* ---- one thread ---- */

static uint64_t pairs_ours(void)
{
    uint64_t sum = 0, item;

    for (uint64_t i = 0; i < N_PAIRS; i++) {
        dfr_queue_push(ours, i);
        dfr_queue_pop(ours, &item);
        sum += item;
    }
    return sum;
}

static uint64_t pairs_ck(void)
{
    uint64_t sum = 0;

    ck_start();
    for (uint64_t i = 0; i < N_PAIRS; i++) {
        void *item = NULL;

        ck_fifo_mpmc_enqueue(&theirs.fifo, theirs.freed, (void *)i);
        ck_fifo_mpmc_dequeue(&theirs.fifo, &item, &theirs.freed);
        sum += (uint64_t)item;
    }
    return sum;
}

static uint64_t batch_ours(void)
{
    uint64_t sum = 0, item;

    for (unsigned b = 0; b < N_BATCHES; b++) {
        for (uint64_t i = 0; i < N_BATCH; i++)
            dfr_queue_push(ours, i);
        while (dfr_queue_pop(ours, &item))
            sum += item;
    }
    return sum;
}

static uint64_t batch_ck(void)
{
    ck_fifo_mpmc_entry_t *spare[N_BATCH];
    uint64_t sum = 0;

    ck_start();
    for (unsigned i = 0; i < N_BATCH; i++)
        spare[i] = &theirs.entries[1 + i];
    for (unsigned b = 0; b < N_BATCHES; b++) {
        unsigned n = 0;
        void *item;

        for (uint64_t i = 0; i < N_BATCH; i++)
            ck_fifo_mpmc_enqueue(&theirs.fifo, spare[i], (void *)i);
        while (n < N_BATCH && ck_fifo_mpmc_dequeue(&theirs.fifo, &item, &spare[n])) {
            sum += (uint64_t)item;
            n++;
        }
    }
    return sum;
}

/* ---- several ---- */

struct member {
    pthread_t thread;
    unsigned number;
    uint64_t n_items, sum;
};

static pthread_barrier_t start;
static double began_wall, began_cpu;    /* of the run: when its threads are there */

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void begin(void)
{
    began_wall = seconds(CLOCK_MONOTONIC);
    began_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* Each on a core of its own, as far as there are cores, so that threads do not take turns on one. */
static void bind_thread(pthread_t thread, unsigned number)
{
    cpu_set_t allowed, one;
    unsigned n;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    n = number % (unsigned)CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && n-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            pthread_setaffinity_np(thread, sizeof one, &one);
            return;
        }
    }
}

static void wait_a_little(unsigned *n_waits)
{
    if (++*n_waits % SPINS == 0)
        sched_yield();
    else
        ck_pr_stall();
}

static void *produce_ours(void *arg)
{
    struct member *me = arg;
    unsigned n_waits = 0;

    pthread_barrier_wait(&start);
    for (uint64_t i = 0; i < me->n_items; i++)
        while (!dfr_queue_push(ours, i))
            wait_a_little(&n_waits);
    return NULL;
}

static void *consume_ours(void *arg)
{
    struct member *me = arg;
    unsigned n_waits = 0;

    pthread_barrier_wait(&start);
    for (uint64_t i = 0, item; i < me->n_items; i++) {
        while (!dfr_queue_pop(ours, &item))
            wait_a_little(&n_waits);
        me->sum += item;
    }
    return NULL;
}

static void *produce_ck(void *arg)
{
    struct member *me = arg;
    ck_fifo_mpmc_entry_t *own = &theirs.entries[1 + me->number * me->n_items];

    pthread_barrier_wait(&start);
    for (uint64_t i = 0; i < me->n_items; i++)
        ck_fifo_mpmc_enqueue(&theirs.fifo, &own[i], (void *)i);
    return NULL;
}

static void *consume_ck(void *arg)
{
    struct member *me = arg;
    unsigned n_waits = 0;

    pthread_barrier_wait(&start);
    for (uint64_t i = 0; i < me->n_items; i++) {
        ck_fifo_mpmc_entry_t *garbage;
        void *item;

        while (!ck_fifo_mpmc_dequeue(&theirs.fifo, &item, &garbage))
            wait_a_little(&n_waits);
        me->sum += (uint64_t)item;
    }
    return NULL;
}

/* n producers and n consumers pass N_CROSSING items in all. */
static uint64_t cross(unsigned n, void *(*produce)(void *), void *(*consume)(void *))
{
    struct member members[4] = {{0}};
    uint64_t sum = 0;

    pthread_barrier_init(&start, NULL, 2 * n + 1);
    for (unsigned i = 0; i < 2 * n; i++) {
        members[i].number = i;
        members[i].n_items = N_CROSSING / n;
        if (pthread_create(&members[i].thread, NULL, i < n ? produce : consume, &members[i]) != 0)
            fail("no thread");
        bind_thread(members[i].thread, i);
    }
    begin();
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < 2 * n; i++) {
        pthread_join(members[i].thread, NULL);
        sum += members[i].sum;
    }
    pthread_barrier_destroy(&start);
    return sum;
}

static uint64_t one_ours(void)
{
    return cross(1, produce_ours, consume_ours);
}

static uint64_t one_ck(void)
{
    ck_start();
    return cross(1, produce_ck, consume_ck);
}

static uint64_t two_ours(void)
{
    return cross(2, produce_ours, consume_ours);
}

static uint64_t two_ck(void)
{
    ck_start();
    return cross(2, produce_ck, consume_ck);
}

/* ---- rows ---- */

struct row {
    const char *name;
    uint64_t (*ours)(void), (*ck)(void);
    unsigned n_threads;
    uint64_t n_items, sum;              /* what all items of a run add up to */
};

static uint64_t sum_to(uint64_t n)
{
    return n * (n - 1) / 2;
}

static struct figure measure(uint64_t (*run)(void), const struct row *row)
{
    double wall, cpu;
    uint64_t sum;

    begin();
    sum = run();
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - began_cpu;
    wall = seconds(CLOCK_MONOTONIC) - began_wall;
    if (sum != row->sum)
        fail("an item was lost or came twice");
    return (struct figure){1e9 * wall / (double)row->n_items, cpu / wall};
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, unsigned n)
{
    qsort(values, n, sizeof *values, by_value);
    return values[n / 2];
}

struct samples {
    double our_ns[MAX_RUNS], our_share[MAX_RUNS], ck_ns[MAX_RUNS], ck_share[MAX_RUNS], ratio[MAX_RUNS];
    unsigned n;
};

static void add(struct samples *s, struct figure mine, struct figure ck)
{
    s->our_ns[s->n] = mine.ns;
    s->our_share[s->n] = mine.share;
    s->ck_ns[s->n] = ck.ns;
    s->ck_share[s->n] = ck.share;
    s->ratio[s->n++] = mine.ns / ck.ns;
}

static void print_row(const struct row *row, unsigned n_runs, bool csv)
{
    static struct samples all, clean;
    double cores = (double)sysconf(_SC_NPROCESSORS_ONLN), threads = row->n_threads < cores ? row->n_threads : cores;
    struct samples *s = &clean;

    all.n = clean.n = 0;
    measure(row->ours, row); /* to warm up */
    measure(row->ck, row);
    for (unsigned i = 0; i < n_runs; i++) {
        struct figure mine = measure(row->ours, row), ck = measure(row->ck, row);

        add(&all, mine, ck);
        if (mine.share >= CLEAN * threads && ck.share >= CLEAN * threads)
            add(&clean, mine, ck);
    }
    if (clean.n == 0)
        s = &all;
    printf(csv ? "%s,%.2f,%.2f,%.2f,%.2f,%.3f,%u,%u\n" : "%-8s %10.2f %10.2f %10.2f %10.2f %8.3f %8u %8u\n", row->name,
           median(s->our_ns, s->n), median(s->our_share, s->n), median(s->ck_ns, s->n), median(s->ck_share, s->n),
           median(s->ratio, s->n), n_runs, clean.n);
    fflush(stdout);
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    bool any = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            return true;
        any |= argv[i][0] != '-';
    }
    return !any;
}

int main(int argc, char **argv)
{
    const struct row rows[] = {
        {"pairs", pairs_ours, pairs_ck, 1, N_PAIRS, sum_to(N_PAIRS)},
        {"batch", batch_ours, batch_ck, 1, N_BATCHES * N_BATCH, N_BATCHES * sum_to(N_BATCH)},
        {"1p1c", one_ours, one_ck, 2, N_CROSSING, sum_to(N_CROSSING)},
        {"2p2c", two_ours, two_ck, 4, N_CROSSING, 2 * sum_to(N_CROSSING / 2)},
    };
    unsigned n_runs = 201;
    bool csv = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--csv") == 0)
            csv = true;
        else if (argv[i][0] == '-' && (sscanf(argv[i], "--runs=%u", &n_runs) != 1 || n_runs < 1 || n_runs > MAX_RUNS))
            fail("usage: queue [--csv] [--runs=N] [ROW...], N from 1 to 1001");
    }
    ours = dfr_queue_create(N_CROSSING);
    theirs.entries = aligned_alloc(64, (N_CROSSING + 2) * sizeof *theirs.entries);
    if (ours == NULL || theirs.entries == NULL)
        fail("out of memory");
    memset(theirs.entries, 0, (N_CROSSING + 2) * sizeof *theirs.entries);
    printf(csv ? "%s,%s,%s,%s,%s,%s,%s,%s\n" : "%-8s %10s %10s %10s %10s %8s %8s %8s\n", "row", "ours_ns", "cpu/wall",
           "ck_ns", "cpu/wall", "ratio", "runs", "clean");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_wanted(rows[i].name, argc, argv))
            print_row(&rows[i], n_runs, csv);
    dfr_queue_destroy(ours);
    free(theirs.entries);
    return 0;
}
