/* test_default_cost.c - what users get without asking for a policy is not slower than what they could ask for: for graphs of
 * empty kernels, of known shapes (tests/bench/shapes.h), the time of a node under the default is compared with the time under
 * each policy. The policies take turns, and the shortest run of each counts. On a machine with other work to do there are more
 * turns, until each policy has had a run that was not disturbed. If that never comes and others took the cores again and again
 * meanwhile, the test is skipped: then the shortest runs are a matter of luck.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "run_rig.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "tests/bench/shapes.h"

enum { NODES = 10000, TURNS = 10, MOST_TURNS = 300, WAVES = 5 };
static const char *const policies[] = { NULL, "ws", "all-cpu", "eager", "dmda", "dmdas" };
enum { N_POLICIES = sizeof policies / sizeof policies[0] };

/* The default may take so many times as long as the best policy; what is left is what a clock cannot tell. */
#define MOST_TIMES 1.2
#define MOST_NS 1.0
#define BUSY_PER_S 20                   /* a process that has the cores for itself is preempted a few times a second */

static int nothing(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                   const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_OK;
}

struct making {
    struct df_builder *builder;
    uint32_t kernels[3];                /* by number of inputs; one output each */
};

static uint32_t add_node(void *arg, unsigned n_in)
{
    static const uint64_t one[3][DF_MAX_RANK] = { { 1 }, { 1 }, { 1 } };
    struct making *m = arg;
    struct df_error error;
    uint32_t id;
    if (df_builder_node(m->builder, m->kernels[n_in], NULL, one, NULL, &id, &error) != DF_OK)
        fail_msg("%s", error.text);
    return id;
}

static void add_arc(void *arg, uint32_t from, uint32_t to, unsigned slot)
{
    struct making *m = arg;
    struct df_error error;
    if (df_builder_connect(m->builder, from, 0, to, slot, &error) != DF_OK)
        fail_msg("%s", error.text);
}

static struct df_graph *build(const char *shape)
{
    static const char *const names[] = { "p0", "p1", "p2" };
    struct making m = { .builder = df_builder_new(shape) };
    struct df_graph *graph;
    struct df_error error;

    for (unsigned k = 0; k < 3; k++) {
        struct df_port_desc ports[3];
        struct df_kernel_desc desc = { .name = names[k], .n_ports = k + 1, .ports = ports, .functions = { .cpu = nothing } };
        for (unsigned p = 0; p <= k; p++)
            ports[p] = (struct df_port_desc){ names[p], p < k ? DF_IN : DF_OUT, DF_I32, 1 };
        if (df_builder_kernel(m.builder, &desc, &m.kernels[k], &error) != DF_OK)
            fail_msg("%s", error.text);
    }
    shape_build(shape, NODES, add_node, add_arc, &m);
    if (df_builder_finish(m.builder, &graph, &error) != DF_OK)
        fail_msg("%s", error.text);
    df_builder_free(m.builder);
    return graph;
}

static double ns_of(const struct df_graph *graph, const char *policy, unsigned workers)
{
    static struct df_stats stats;
    struct df_options o = rig_options(policy, DF_DEVICE_NONE, workers);
    struct df_error error;
    struct df_run *run;

    o.waves = WAVES;
    o.inflight = 1;
    if (df_run_start(graph, &o, &run, &error) != DF_OK || df_run_wait(run, &stats, &error) != DF_OK)
        fail_msg("%s", error.text);
    return stats.makespan_s * 1e9 / (double)stats.jobs;
}

/* How often others took a core from this process. */
static long n_preempted(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

static void compare(unsigned workers)
{
    const double began_s = dfr_clock_s();
    const long before = n_preempted();

    for (int s = 0; s < N_SHAPES; s++) {
        struct df_graph *graph = build(shape_names[s]);
        double least[N_POLICIES], best = 1e9;
        bool good = false;
        for (int p = 0; p < N_POLICIES; p++)
            least[p] = 1e9;
        for (int turn = 0; turn < MOST_TURNS && !(good && turn >= TURNS); turn++) {
            for (int p = 0; p < N_POLICIES; p++) {
                double ns = ns_of(graph, policies[p], workers);
                least[p] = ns < least[p] ? ns : least[p];
                best = p > 0 && least[p] < best ? least[p] : best;
            }
            good = least[0] <= MOST_TIMES * best + MOST_NS;
        }
        if (!good && (double)(n_preempted() - before) > BUSY_PER_S * (dfr_clock_s() - began_s)) {
            print_message("%s: other programs took the cores\n", shape_names[s]);
            df_graph_free(graph);
            skip();
        }
        if (!good)
            fail_msg("%s, %u workers: %.2f ns a node by default, %.2f under the best policy", shape_names[s], workers, least[0], best);
        df_graph_free(graph);
    }
}

static void skip_if_slowed(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_UNDEFINED__) || !defined(__OPTIMIZE__)
    skip();                             /* a sanitizer decides what takes long */
#endif
}

static void test_one_worker(void **state)
{
    (void)state;
    skip_if_slowed();
    compare(1);
}

static void test_two_workers(void **state)
{
    (void)state;
    skip_if_slowed();
    if (dfr_cores_count() < 2)
        skip();
    compare(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_one_worker), cmocka_unit_test(test_two_workers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
