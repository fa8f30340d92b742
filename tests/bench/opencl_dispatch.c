/* opencl_dispatch.c - plain OpenCL calls beside ours: the nodes of shapes.h, enqueued in topological order on one in-order queue of the first device, without
 * events. The last node's value is read back after each wave and checked.
 * opencl_dispatch SHAPE NODES THREADS TURNS RUNS [finish] prints the line of shape_runs_print(). THREADS and TURNS have no meaning here. With `finish` the host waits for
 * each node before it enqueues the next, as a scheduler must that decides by what has ended.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "shapes.h"
#include "opencl_node.h"

static struct shape_check graph;
static cl_command_queue queue;
static cl_kernel kernels[3];
static cl_mem *values;                  /* of the nodes */
static bool finish;

static void must(cl_int status, const char *what)
{
    if (status != CL_SUCCESS) {
        fprintf(stderr, "opencl_dispatch: error: %s: %d\n", what, status);
        exit(1);
    }
}

static void open_device(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    const char *text = opencl_node_text;
    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    must(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    must(status, "clCreateCommandQueue");
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    must(status, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
    for (unsigned i = 0; i < 3; i++) {
        kernels[i] = clCreateKernel(program, opencl_node_names[i], &status);
        must(status, "clCreateKernel");
    }
    for (uint32_t v = 0; v < graph.n; v++) {
        values[v] = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(uint32_t), NULL, &status);
        must(status, "clCreateBuffer");
    }
}

static void enqueue(uint32_t v, cl_uint wave)
{
    const size_t one = 1;
    const cl_long at = 0;
    const unsigned n_in = graph.n_in[v];
    cl_int status = clSetKernelArg(kernels[n_in], 0, sizeof wave, &wave);
    for (unsigned i = 0; i <= n_in; i++) {
        status |= clSetKernelArg(kernels[n_in], 1 + 2 * i, sizeof(cl_mem), &values[i < n_in ? graph.from[v][i] : v]);
        status |= clSetKernelArg(kernels[n_in], 2 + 2 * i, sizeof at, &at);
    }
    must(status, "clSetKernelArg");
    must(clEnqueueNDRangeKernel(queue, kernels[n_in], 1, NULL, &one, &one, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    if (finish)
        must(clFinish(queue), "clFinish");
}

int main(int argc, char **argv)
{
    struct shape_runs found = { .n = 0 };
    finish = argc == 7 && strcmp(argv[6], "finish") == 0;
    if (argc != 6 + finish) {
        fprintf(stderr, "usage: opencl_dispatch SHAPE NODES THREADS TURNS RUNS [finish]\n");
        return 2;
    }
    if (!shape_check_build(&graph, argv[1], (uint32_t)strtoul(argv[2], NULL, 10)) || !(values = calloc(graph.n, sizeof *values)))
        must(CL_OUT_OF_HOST_MEMORY, "graph");
    int runs = atoi(argv[5]);
    uint32_t last = graph.n - 1, value;
    runs = runs < 1 ? 1 : runs > SHAPE_RUNS_MOST ? SHAPE_RUNS_MOST : runs;
    shape_check_sum(&graph);
    open_device();
    for (int r = -2; r < runs; r++) {   /* two to warm up */
        double cpu_begin = shape_seconds(CLOCK_PROCESS_CPUTIME_ID), begin = shape_seconds(CLOCK_MONOTONIC);
        for (cl_uint wave = 1; wave <= SHAPE_WAVES; wave++) {
            for (uint32_t v = 0; v < graph.n; v++)
                enqueue(v, wave);
            must(clEnqueueReadBuffer(queue, values[last], CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL), "clEnqueueReadBuffer");
            must(value == wave * graph.value[last] ? CL_SUCCESS : CL_INVALID_VALUE, "a node ran too early, or not at all");
        }
        double s = shape_seconds(CLOCK_MONOTONIC) - begin;
        if (r >= 0)
            shape_runs_add(&found, s * 1e9 / SHAPE_WAVES / graph.n, (shape_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin) / s);
    }
    shape_runs_print(&found, 1, 0);
    putchar('\n');
    return 0;
}
