/* test_policy_steps.c - policies under several workers, one atomic operation at a time (steps_rig.h): each job is taken
 * once, and no worker sleeps while there is one that it can take.
 *
 * The queues that policies are made of are compiled into this program with atomic operations that first give way; the
 * policies themselves are libdf's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "steps_atomics.h"

#include "runtime/policy/order.c"
#include "runtime/threads/shared_deque.c"
#include "runtime/threads/queue.c"
#include "runtime/policy/sorted.c"
#define job_of job_of_entry             /* another one than order.c's */
#include "runtime/policy/unit_queue.c"
#undef job_of

#include "policy_rig.h"

enum { NODES = 80, MOST_JOBS = 8 };     /* more nodes than a word of an order has bits */

static struct machine machine;
static const char *policy, *const *threads; /* what each does, by letters; threads[0]: before all */
static uint32_t node_of[MOST_JOBS];     /* by job */
static unsigned taken[NODES], added;
static unsigned n_woken[DF_MAX_UNITS];
static uint32_t sleeps_in[STEPS_THREADS]; /* the unit of who sleeps, DF_NONE: nobody does */

/* ---- sleeping ---- */

/* Wakes one, as dfr_wake_one() does. */
static void wake(void *arg, uint32_t unit)
{
    (void)arg;
    n_woken[unit]++;
    for (unsigned i = 0; i < STEPS_THREADS; i++)
        if (sleeps_in[i] == unit) {
            sleeps_in[i] = DF_NONE;
            steps_unblock(i);
            return;
        }
}

static bool pop(uint32_t worker)
{
    int64_t node = machine_pop(&machine, worker);
    if (node < 0)
        return false;
    taken[node]++;
    return true;
}

/* An event count (wake.h): whoever was woken since it began to look does not sleep. */
static void pop_one(uint32_t worker)
{
    uint32_t unit = machine.unit_of[worker];
    for (;;) {
        unsigned key = n_woken[unit];
        if (pop(worker))
            return;
        if (n_woken[unit] != key)
            continue;
        sleeps_in[steps_me()] = unit;
        steps_block();
    }
}

static void push(unsigned job, uint32_t by)
{
    uint32_t units;
    assert_int_equal(machine_push(&machine, node_of[job], by, false, &units), DFR_QUEUED);
    for (uint32_t u = 0; units >> u; u++)
        if (units >> u & 1)
            wake(NULL, u);
}

/* ---- programs ---- */

/* By letters:  0 … 7  pushes that job, and wakes a worker of each unit that can run it
 *              p … w  the same as worker 0, which released the job
 *              a … d  as worker 0 … 3, takes a job, for which it sleeps
 *              A … D  as that worker, takes one if there is one */
static void run_op(char op)
{
    if (op >= 'p')
        push((unsigned)(op - 'p'), 0);
    else if (op >= 'a')
        pop_one((uint32_t)(op - 'a'));
    else if (op >= 'A')
        pop((uint32_t)(op - 'A'));
    else
        push((unsigned)(op - '0'), DFR_NOBODY);
}

static void run_all(const char *ops)
{
    for (; *ops; ops++)
        run_op(*ops);
}

static void run_thread(void *arg, unsigned number)
{
    (void)arg;
    run_all(threads[1 + number]);
}

static void begin(void *arg)
{
    memset(taken, 0, sizeof taken);
    memset(n_woken, 0, sizeof n_woken);
    for (unsigned i = 0; i < STEPS_THREADS; i++)
        sleeps_in[i] = DF_NONE;
    machine_policy(&machine, policy, NULL);
    if (arg)
        ((void (*)(void))arg)();
    run_all(threads[0]);
}

static bool end(void *arg, bool ended)
{
    bool good = ended;

    (void)arg;
    if (!ended)
        print_message("a worker sleeps beside a job\n");
    for (uint32_t w = 0; w < machine.view.n_workers; w++)
        while (pop(w))
            ;
    for (unsigned j = 0; j < added; j++) {
        if (taken[node_of[j]] != 1)
            print_message("job %u was taken %u times\n", j, taken[node_of[j]]);
        good = good && taken[node_of[j]] == 1;
    }
    machine.policy->destroy(machine.state);
    return good;
}

/* Jobs 0 … n - 1 are of these nodes. */
static void explore(const char *name, const uint32_t *of, unsigned n, const char *const *programs, unsigned preemptions,
                    void (*prepare)(void))
{
    unsigned n_threads = 0;

    steps_skip_under_tsan();
    policy = name;
    memcpy(node_of, of, n * sizeof *of);
    added = n;
    threads = programs;
    machine.view.wake = wake;
    while (programs[1 + n_threads])
        n_threads++;
    if (steps_explore(&(struct steps){ n_threads, begin, run_thread, end, (void *)prepare }, preemptions) < 20)
        fail_msg("policy %s: before \"%s\", threads \"%s\" \"%s\" \"%s\"", name, programs[0], programs[1], programs[2],
                 n_threads > 2 ? programs[3] : "");
}

#define EXPLORE(name, of, n, preemptions, ...) \
    explore(name, of, n, (const char *const[]){ __VA_ARGS__, NULL }, preemptions, NULL)

static void finish(void)
{
    machine_policy(&machine, "eager", NULL); /* machine_end() destroys one */
    machine_end(&machine);
}

/* ---- */

/* Two workers of the host, and no device. */
static void test_on_the_host(void **state)
{
    static const char *const names[] = { "eager", "ddfcfs", "ddwrr", "random", "ws", "dmda", "dmdas", "dmdar", "pats",
                                         "padas", "pams", "all-cpu" };
    static const uint32_t of[] = { 70, 72, 75 };

    (void)state;
    machine_begin(&machine, NODES, 2, 0);
    for (unsigned p = 0; p < sizeof names / sizeof names[0]; p++) {
        EXPLORE(names[p], of, 2, 2, "0", "A", "1", "b");
        EXPLORE(names[p], of, 3, 1, "0", "A", "1b", "2a");
    }
    finish();
}

/* A worker of the host and two devices that are alike: what one takes leaves the others' lists. */
static void test_beside_devices(void **state)
{
    static const char *const names[] = { "eager", "ddfcfs", "ddwrr", "ws", "pats", "padas", "pams" };
    static const uint32_t of[] = { 70, 72, 75 };

    (void)state;
    machine_begin(&machine, NODES, 1, 2);
    for (uint32_t v = 1; v < 70; v++)
        machine.able[v] = 1;            /* those come first on the host, so jobs 0 and 1 have a word of their own */
    machine.able[72] = 1;
    machine.able[75] = 6;
    for (unsigned p = 0; p < sizeof names / sizeof names[0]; p++) {
        EXPLORE(names[p], of, 2, 2, "0", "B", "1", "a"); /* the device takes what both can run */
        EXPLORE(names[p], of, 3, 1, "0", "B", "12", "a");
    }
    finish();
}

/* A worker takes the newest of its jobs while others steal the older half of them. */
static void test_stealing(void **state)
{
    static const uint32_t of[] = { 70, 71, 72, 73 };

    (void)state;
    machine_begin(&machine, NODES, 3, 0);
    EXPLORE("ws", of, 2, 3, "", "pqA", "b");
    EXPLORE("ws", of, 2, 3, "p", "qA", "b");
    EXPLORE("ws", of, 3, 2, "pq", "rA", "b", "c"); /* b has two in its hand, c may look just then */
    EXPLORE("ws", of, 4, 2, "pqr", "AsA", "b", "c");
    finish();
}

/* An entry of job 0 was left behind by one who was slow to list it (sorted.h). */
static void leave_entry(void)
{
    struct dfr_sorted *s = machine.state;
    dfr_order_add(list_with(s, 1, node_of[0]), dfr_job(0, node_of[0]));
}

/* Who takes such an entry out just as the job is offered again hides it meanwhile, and then takes it itself. */
static void test_entry_left_behind(void **state)
{
    static const char *const names[] = { "pats", "pams", "ddwrr" };
    static const uint32_t of[] = { 70, 72 };

    (void)state;
    machine_begin(&machine, NODES, 1, 2);
    machine.able[70] = machine.able[72] = 6;
    for (unsigned p = 0; p < sizeof names / sizeof names[0]; p++)
        explore(names[p], of, 2, (const char *const[]){ "1", "B", "0", "c", NULL }, 2, leave_entry);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on_the_host),
        cmocka_unit_test(test_beside_devices),
        cmocka_unit_test(test_stealing),
        cmocka_unit_test(test_entry_left_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
