/* omp_dispatch.c - OpenMP's tasks beside ours: the shapes of shapes.h, each node a task that depends on the addresses
 * of those that it reads. One thread makes the tasks and takes part in running them; OpenMP learns the graph anew in
 * every run, so making it is in the figure.
 *   omp_dispatch SHAPE NODES THREADS TURNS RUNS    prints the line of shape_runs_print()
 */
#include <stdio.h>
#include <stdlib.h>

#include "shapes.h"

static struct shape_check graph;        /* also the graph that is run */
static bool checking;
static uint64_t turns;

static void node(uint32_t v)
{
    if (checking)
        shape_check_run(&graph, v);
    shape_work(turns);
}

/* The addresses of the values stand for the tokens. */
static void spawn(uint32_t v)
{
    uint32_t *value = graph.value, *from = graph.from[v], a = from[0], b = from[1];
    (void)a, (void)b, (void)value;
    switch (graph.n_in[v]) {
    case 0:
#pragma omp task firstprivate(v) depend(out : value[v])
        node(v);
        break;
    case 1:
#pragma omp task firstprivate(v) depend(in : value[a]) depend(out : value[v])
        node(v);
        break;
    default:
#pragma omp task firstprivate(v) depend(in : value[a], value[b]) depend(out : value[v])
        node(v);
    }
}

static void run(int threads)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (uint32_t v = 0; v < graph.n; v++)
        spawn(v);
}

int main(int argc, char **argv)
{
    struct shape_runs found = { .n = 0 };
    if (argc != 6) {
        fprintf(stderr, "usage: omp_dispatch SHAPE NODES THREADS TURNS RUNS\n");
        return 2;
    }
    int threads = atoi(argv[3]), runs = atoi(argv[5]);
    runs = runs < 1 ? 1 : runs > SHAPE_RUNS_MOST ? SHAPE_RUNS_MOST : runs;
    turns = strtoull(argv[4], NULL, 10);
    if (!shape_check_build(&graph, argv[1], (uint32_t)strtoul(argv[2], NULL, 10))) {
        fprintf(stderr, "omp_dispatch: error: no memory\n");
        return 1;
    }
    for (int r = -2; r <= runs; r++) {  /* two to warm up; the first and the one after the last are checked */
        checking = r == -2 || r == runs;
        shape_check_begin(&graph);
        double cpu_begin = shape_seconds(CLOCK_PROCESS_CPUTIME_ID), begin = shape_seconds(CLOCK_MONOTONIC);
        run(threads);
        double s = shape_seconds(CLOCK_MONOTONIC) - begin;
        if (checking && !shape_check_holds(&graph)) {
            fprintf(stderr, "omp_dispatch: error: a node ran too early, twice or not at all\n");
            return 1;
        }
        if (r < 0 || r == runs)
            continue;
        shape_runs_add(&found, s * 1e9 / graph.n, (shape_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin) / s);
    }
    shape_runs_print(&found, threads, turns);
    putchar('\n');
    shape_check_free(&graph);
    return 0;
}
