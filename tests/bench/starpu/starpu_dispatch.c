/* starpu_dispatch.c - StarPU's tasks beside ours: the shapes of shapes.h as tasks without data that were told their
 * dependencies once (starpu_task_declare_deps_array) and are submitted again for every run, in topological order, by
 * the thread that then waits; the submission is in the figure, as StarPU's workers begin with the first task. The
 * policy is StarPU's default unless STARPU_SCHED names another.
 * starpu_dispatch SHAPE NODES THREADS TURNS RUNS prints the line of shape_runs_print().
 */
#include <starpu.h>

#include <stdio.h>

#include "../shapes.h"

static struct shape_check graph;        /* also the graph that is run */
static bool checking;
static uint64_t turns;

static void run_node(void *buffers[], void *arg)
{
    (void)buffers;
    if (checking)
        shape_check_run(&graph, (uint32_t)(uintptr_t)arg);
    shape_work(turns);
}

static struct starpu_codelet codelet = { .cpu_funcs = { run_node }, .cpu_funcs_name = { "run_node" }, .nbuffers = 0 };

static void must(int code, const char *what)
{
    if (code) {
        fprintf(stderr, "starpu_dispatch: error: %s: %s\n", what, code < 0 ? strerror(-code) : "wrong");
        exit(1);
    }
}

static struct starpu_task **make_tasks(void)
{
    struct starpu_task **tasks = calloc(graph.n, sizeof *tasks);
    must(tasks ? 0 : -ENOMEM, "tasks");
    for (uint32_t v = 0; v < graph.n; v++) {
        struct starpu_task *read[2];
        tasks[v] = starpu_task_create();
        tasks[v]->cl = &codelet;
        tasks[v]->cl_arg = (void *)(uintptr_t)v;
        tasks[v]->destroy = 0;
        tasks[v]->detach = 1;
        for (uint32_t s = 0; s < graph.n_in[v]; s++)
            read[s] = tasks[graph.from[v][s]];
        if (graph.n_in[v])
            starpu_task_declare_deps_array(tasks[v], graph.n_in[v], read);
    }
    return tasks;
}

static double run(struct starpu_task **tasks)
{
    double begin = shape_seconds(CLOCK_MONOTONIC);
    for (uint32_t v = 0; v < graph.n; v++)
        must(starpu_task_submit(tasks[v]), "starpu_task_submit");
    must(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    return shape_seconds(CLOCK_MONOTONIC) - begin;
}

int main(int argc, char **argv)
{
    struct shape_runs found = { .n = 0 };
    struct starpu_conf conf;
    if (argc != 6) {
        fprintf(stderr, "usage: starpu_dispatch SHAPE NODES THREADS TURNS RUNS\n");
        return 2;
    }
    int runs = atoi(argv[5]);
    runs = runs < 1 ? 1 : runs > SHAPE_RUNS_MOST ? SHAPE_RUNS_MOST : runs;
    turns = strtoull(argv[4], NULL, 10);
    must(shape_check_build(&graph, argv[1], (uint32_t)strtoul(argv[2], NULL, 10)) ? 0 : -ENOMEM, "graph");
    starpu_conf_init(&conf);
    conf.ncpus = atoi(argv[3]);
    conf.ncuda = conf.nopencl = 0;
    must(starpu_init(&conf), "starpu_init");
    struct starpu_task **tasks = make_tasks();
    for (int r = -2; r <= runs; r++) {  /* two to warm up; the first and the one after the last are checked */
        checking = r == -2 || r == runs;
        shape_check_begin(&graph);
        double cpu_begin = shape_seconds(CLOCK_PROCESS_CPUTIME_ID), s = run(tasks);
        must(checking && !shape_check_holds(&graph), "a node ran too early, twice or not at all");
        if (r < 0 || r == runs)
            continue;
        shape_runs_add(&found, s * 1e9 / graph.n, (shape_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin) / s);
    }
    shape_runs_print(&found, atoi(argv[3]), turns);
    putchar('\n');
    for (uint32_t v = 0; v < graph.n; v++)
        starpu_task_destroy(tasks[v]);
    starpu_shutdown();
    free(tasks);
    shape_check_free(&graph);
    return 0;
}
