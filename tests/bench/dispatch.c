/* dispatch.c - what a job costs beside its kernel: empty kernels in graphs of known shapes, built by hand through df.h.
 * dispatch [NODES] prints, per shape, policy and number of workers, nanoseconds a node (median of 9 runs, waves in a row so that starting
 * and ending do not count) and cpu time / wall time, which shows a core that was not ours.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <df.h>

enum { RUNS = 9, WAVES = 20 };

static int empty(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_OK;
}

static void must(int status, const struct df_error *error)
{
    if (status != DF_OK) {
        fprintf(stderr, "dispatch: error: %s\n", error->text);
        exit(1);
    }
}

/* Kernel k<i>_<o>: i inputs and o outputs of one i32 each. */
static uint32_t kernel(struct df_builder *b, unsigned n_in, unsigned n_out)
{
    static const char *const names[] = {"p0", "p1", "p2", "p3"};
    struct df_port_desc ports[4];
    struct df_error error;
    char name[16];
    uint32_t id;
    for (unsigned i = 0; i < n_in + n_out; i++)
        ports[i] = (struct df_port_desc){names[i], i < n_in ? DF_IN : DF_OUT, DF_I32, 1};
    snprintf(name, sizeof name, "k%u_%u", n_in, n_out);
    struct df_kernel_desc desc = {.name = name, .n_ports = n_in + n_out, .ports = ports, .functions = {.cpu = empty}};
    must(df_builder_kernel(b, &desc, &id, &error), &error);
    return id;
}

static uint32_t node(struct df_builder *b, uint32_t k)
{
    static const uint64_t one[4][DF_MAX_RANK] = {{1}, {1}, {1}, {1}};
    struct df_error error;
    uint32_t id;
    must(df_builder_node(b, k, NULL, one, NULL, &id, &error), &error);
    return id;
}

static void arc(struct df_builder *b, uint32_t from, uint32_t to, unsigned slot)
{
    struct df_error error;
    must(df_builder_connect(b, from, 0, to, slot, &error), &error);
}

static void build(struct df_builder *b, const char *shape, uint32_t n)
{
    uint32_t k01 = kernel(b, 0, 1), k11 = kernel(b, 1, 1), k21 = kernel(b, 2, 1);
    if (!strcmp(shape, "chain") || !strcmp(shape, "independent")) {
        for (uint32_t v = 0; v < n; v++)
            if (v == 0 || shape[0] == 'i')
                node(b, k01);
            else
                arc(b, v - 1, node(b, k11), 0);
    } else if (!strcmp(shape, "tree")) {
        for (uint32_t v = 0; v < n; v++) {
            uint32_t id = node(b, v == 0 ? k01 : k11);
            if (v > 0)
                arc(b, (v - 1) / 2, id, 0);
        }
    } else if (!strcmp(shape, "wavefront")) {
        uint32_t side = 1;
        while ((side + 1) * (side + 1) <= n)
            side++;
        for (uint32_t i = 0; i < side; i++)
            for (uint32_t j = 0; j < side; j++) {
                uint32_t id = node(b, i && j ? k21 : i || j ? k11 : k01);
                if (i)
                    arc(b, id - side, id, 0);
                if (j)
                    arc(b, id - 1, id, i ? 1 : 0);
            }
    } else { /* random, two inputs */
        uint64_t state = 1;
        for (uint32_t v = 0; v < n; v++) {
            uint32_t id = node(b, v < 2 ? k01 : k21);
            for (unsigned s = 0; s < 2 && v >= 2; s++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                arc(b, (uint32_t)((state >> 33) % v), id, s);
            }
        }
    }
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const char *const shapes[] = {"chain", "independent", "tree", "wavefront", "random"};
    static const char *const policies[] = {"eager", "ws", "dmda"};
    uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
    struct df_error error;
    printf("shape,policy,workers,nodes,ns_per_node,cpu_over_wall\n");
    for (unsigned s = 0; s < 5; s++) {
        struct df_builder *b = df_builder_new(shapes[s]);
        struct df_graph *graph;
        if (!b)
            return 1;
        build(b, shapes[s], n);
        must(df_builder_finish(b, &graph, &error), &error);
        df_builder_free(b);
        for (unsigned p = 0; p < 3; p++)
            for (unsigned workers = 1; workers <= 2; workers++) {
                double ns[RUNS], wall_all = 0, cpu_all = 0;
                for (unsigned r = 0; r < RUNS; r++) {
                    struct df_options options;
                    struct df_stats stats;
                    struct df_run *run;
                    df_options_default(&options);
                    options.policy = policies[p];
                    options.device = DF_DEVICE_NONE;
                    options.workers = workers;
                    options.waves = WAVES;
                    options.inflight = 1;
                    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
                    must(df_run_start(graph, &options, &run, &error), &error);
                    must(df_run_wait(run, &stats, &error), &error);
                    wall_all += seconds(CLOCK_MONOTONIC) - wall;
                    cpu_all += seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
                    ns[r] = stats.makespan_s * 1e9 / (double)stats.jobs;
                }
                qsort(ns, RUNS, sizeof *ns, ascending);
                printf("%s,%s,%u,%u,%.1f,%.2f\n", shapes[s], policies[p], workers, n, ns[RUNS / 2], cpu_all / wall_all);
                fflush(stdout);
            }
        df_graph_free(graph);
    }
    return 0;
}
