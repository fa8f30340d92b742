/* starpu_opencl.c - StarPU's tasks on its OpenCL driver beside ours: the shapes of shapes.h as tasks whose data handles tell their dependencies. They are made
 * and submitted in topological order by the thread that then waits; that is in the figure. Kernels are launched
 * asynchronously (STARPU_OPENCL_ASYNC). The last node's value is read back after each wave and checked. The policy is StarPU's default unless STARPU_SCHED names
 * another. PoCL's device is taken if STARPU_OPENCL_ON_CPUS is 1.
 * starpu_opencl SHAPE NODES THREADS TURNS RUNS prints the line of shape_runs_print(). No thread computes on the CPU, whatever THREADS says.
 */
#include <starpu.h>
#include <starpu_opencl.h>

#include <stdio.h>

#include "../shapes.h"
#include "../opencl_node.h"

static struct shape_check graph;
static struct starpu_opencl_program program;
static starpu_data_handle_t *handles;   /* of the nodes' values */
static uint32_t wave;

static void must(int code, const char *what)
{
    if (code) {
        fprintf(stderr, "starpu_opencl: error: %s: %d\n", what, code);
        exit(1);
    }
}

/* Called by the one worker of the device. */
static void run_node(void *buffers[], void *arg)
{
    static cl_kernel kernels[3];
    static cl_command_queue queue;
    const size_t one = 1;
    const cl_long at = 0;
    unsigned n_in = (unsigned)(uintptr_t)arg;
    cl_int status = CL_SUCCESS;
    if (!kernels[n_in])
        must(starpu_opencl_load_kernel(&kernels[n_in], &queue, &program, opencl_node_names[n_in], starpu_worker_get_devid(starpu_worker_get_id())), "kernel");
    status |= clSetKernelArg(kernels[n_in], 0, sizeof wave, &wave);
    for (unsigned i = 0; i <= n_in; i++) {
        cl_mem value = (cl_mem)STARPU_VARIABLE_GET_PTR(buffers[i]);
        status |= clSetKernelArg(kernels[n_in], 1 + 2 * i, sizeof value, &value);
        status |= clSetKernelArg(kernels[n_in], 2 + 2 * i, sizeof at, &at);
    }
    must(status, "clSetKernelArg");
    must(clEnqueueNDRangeKernel(queue, kernels[n_in], 1, NULL, &one, &one, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

#define CODELET(n, ...)                                                                                                                                                   \
    { .opencl_funcs = { run_node }, .opencl_flags = { STARPU_OPENCL_ASYNC }, .nbuffers = (n) + 1, .modes = { __VA_ARGS__ } }
static struct starpu_codelet codelets[] = { CODELET(0, STARPU_W), CODELET(1, STARPU_R, STARPU_W), CODELET(2, STARPU_R, STARPU_R, STARPU_W) };

static void submit(uint32_t v)
{
    struct starpu_task *task = starpu_task_create();
    unsigned n_in = graph.n_in[v];
    task->cl = &codelets[n_in];
    task->cl_arg = (void *)(uintptr_t)n_in;
    for (unsigned i = 0; i <= n_in; i++)
        STARPU_TASK_SET_HANDLE(task, handles[i < n_in ? graph.from[v][i] : v], i);
    must(starpu_task_submit(task), "starpu_task_submit");
}

static void run(void)
{
    const uint32_t last = graph.n - 1;
    for (wave = 1; wave <= SHAPE_WAVES; wave++) {
        for (uint32_t v = 0; v < graph.n; v++)
            submit(v);
        must(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
        must(starpu_data_acquire(handles[last], STARPU_R), "starpu_data_acquire");
        must(*(uint32_t *)starpu_variable_get_local_ptr(handles[last]) != wave * graph.value[last], "a node ran too early, or not at all");
        starpu_data_release(handles[last]);
    }
}

int main(int argc, char **argv)
{
    struct shape_runs found = { .n = 0 };
    struct starpu_conf conf;
    if (argc != 6) {
        fprintf(stderr, "usage: starpu_opencl SHAPE NODES THREADS TURNS RUNS\n");
        return 2;
    }
    int runs = atoi(argv[5]);
    runs = runs < 1 ? 1 : runs > SHAPE_RUNS_MOST ? SHAPE_RUNS_MOST : runs;
    must(!shape_check_build(&graph, argv[1], (uint32_t)strtoul(argv[2], NULL, 10)), "no memory");
    shape_check_sum(&graph);
    starpu_conf_init(&conf);
    conf.ncpus = conf.ncuda = 0;
    conf.nopencl = 1;
    must(starpu_init(&conf), "starpu_init");
    must(starpu_opencl_load_opencl_from_string(opencl_node_text, &program, "-cl-std=CL1.2"), "building the kernels");
    handles = calloc(graph.n, sizeof *handles);
    must(!handles, "no memory");
    for (uint32_t v = 0; v < graph.n; v++)
        starpu_variable_data_register(&handles[v], -1, 0, sizeof(uint32_t));
    for (int r = -2; r < runs; r++) {   /* two to warm up */
        double cpu_begin = shape_seconds(CLOCK_PROCESS_CPUTIME_ID), begin = shape_seconds(CLOCK_MONOTONIC);
        run();
        double s = shape_seconds(CLOCK_MONOTONIC) - begin;
        if (r >= 0)
            shape_runs_add(&found, s * 1e9 / SHAPE_WAVES / graph.n, (shape_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin) / s);
    }
    shape_runs_print(&found, 1, 0);
    putchar('\n');
    for (uint32_t v = 0; v < graph.n; v++)
        starpu_data_unregister(handles[v]);
    starpu_opencl_unload_opencl(&program);
    starpu_shutdown();
    return 0;
}
