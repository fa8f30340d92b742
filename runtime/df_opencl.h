/* df_opencl.h - what the OpenCL variants of kernels call: a program's OpenCL C sources, and launching their kernels. Programs with such variants include it;
 * it needs no header of OpenCL's, and libdf loads libOpenCL when the program runs. compiler/emit/emit_opencl.c prints the calls, and opencl/opencl_work.c
 * executes them.
 */
#ifndef DF_OPENCL_H
#define DF_OPENCL_H

#include "df.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a source needs of a device besides OpenCL 1.2. EXACT: results are to have the same bits as on the CPU, so the device needs denormals, IEEE rounding and
 * correctly rounded division and square root of float. FP64: it computes with double. A device without them is left out; without EXACT's it takes part in runs
 * with --inexact. */
enum { DF_CL_EXACT = 1, DF_CL_FP64 = 2 };

/* A text of OpenCL C, which is built for each device before the run. Names of kernels are unique within a program. */
struct df_cl_source {
    const char *name;                   /* of the file, for the driver's messages */
    const char *text;
    size_t bytes;
    const char *options;                /* further ones for building it; NULL: none */
    unsigned needs;                     /* DF_CL_… */
};

/* One argument of a launch.
 * Value:    `port` is NULL: `bytes` bytes at `value` are copied during the call. If `value` is NULL too, the parameter is a __local pointer to so many bytes.
 * Buffer:   `port` is the address of a port or of a place within one, as the back end gave it: an opaque number. It sets two parameters: a __global pointer, and
 *           a long with the number of elements, of `bytes` bytes each, from there to (port + first). `first` may be negative. If `bytes` is 0, it sets the
 *           pointer alone, to the port itself, and the launch fails if the port does not begin where a pointer may point to. A NULL port, as of an input without
 *           elements, is not given as a buffer. */
struct df_cl_arg {
    const void *value;
    size_t bytes;
    const void *port;
    int64_t first;
};

/* Enqueues a kernel of the program's sources on the job's stream: groups[0] * groups[1] * groups[2] work-groups of items[0] * items[1] * items[2] work-items, as
 * CUDA's <<<groups, items>>>. DF_OK, or DF_FAILED: the failure is recorded in the call. */
int df_cl_launch(struct df_call *call, void *stream, const char *kernel, const uint32_t groups[3], const uint32_t items[3], const struct df_cl_arg *args,
                 unsigned n_args);

#ifdef __cplusplus
}
#endif

#endif
