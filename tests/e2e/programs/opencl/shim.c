/* shim.c - a libOpenCL.so.1 that passes all calls on to the real one, $SHIM_REAL, and changes what the environment says:
 *   SHIM_TELLS      says on stderr when a program is made of source or of a binary
 *   SHIM_PLATFORM=X the platform's name
 *   SHIM_INEXACT    the device has neither double nor denormals
 *   SHIM_MOST=N     a buffer has at most so many bytes
 *   SHIM_LOST=N     launch number N and all calls after it that enqueue fail with CL_OUT_OF_RESOURCES
 *   SHIM_FAULT=N    the command of launch number N fails with a number of the driver's own
 *   SHIM_FULL       buffers cannot be allocated
 *   SHIM_REFUSES    binaries are refused
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/opencl/opencl_impl.h"

/* Each call jumps to where its pointer says. */
#define POINTER(name) void *shim_##name;
DFR_CL_CALLS(POINTER)
#define JUMP(name) __asm__(".text\n.globl cl" #name "\n.type cl" #name ", @function\ncl" #name ":\n    movq shim_" #name "@GOTPCREL(%rip), %rax\n    jmp *(%rax)\n");
DFR_CL_CALLS(JUMP)

static struct dfr_cl_api real;
static int launches, lost, fault;
static cl_event faulty;

static cl_int get_platform_info(cl_platform_id id, cl_platform_info what, size_t size, void *value, size_t *needed)
{
    const char *name = getenv("SHIM_PLATFORM");
    if (name && what == CL_PLATFORM_NAME && value) {
        snprintf(value, size, "%s", name);
        return CL_SUCCESS;
    }
    return real.GetPlatformInfo(id, what, size, value, needed);
}

static cl_int get_device_info(cl_device_id id, cl_device_info what, size_t size, void *value, size_t *needed)
{
    cl_int status = real.GetDeviceInfo(id, what, size, value, needed);
    const char *most = getenv("SHIM_MOST");
    if (status == CL_SUCCESS && value && getenv("SHIM_INEXACT") && (what == CL_DEVICE_DOUBLE_FP_CONFIG || what == CL_DEVICE_SINGLE_FP_CONFIG))
        memset(value, 0, size);
    if (status == CL_SUCCESS && value && most && what == CL_DEVICE_MAX_MEM_ALLOC_SIZE)
        *(cl_ulong *)value = strtoull(most, NULL, 10);
    return status;
}

static cl_int enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint n, const size_t *offset, const size_t *global, const size_t *local, cl_uint n_waits,
                             const cl_event *waits, cl_event *event)
{
    launches++;
    if (lost && launches >= lost)
        return CL_OUT_OF_RESOURCES;
    cl_int status = real.EnqueueNDRangeKernel(queue, kernel, n, offset, global, local, n_waits, waits, event);
    if (launches == fault)
        faulty = *event;
    return status;
}

static cl_int get_event_info(cl_event event, cl_event_info what, size_t size, void *value, size_t *needed)
{
    cl_int status = real.GetEventInfo(event, what, size, value, needed);
    if (event == faulty && faulty)
        *(cl_int *)value = -9999;
    return status;
}

static cl_mem create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *status)
{
    if (!getenv("SHIM_FULL") || flags & CL_MEM_ALLOC_HOST_PTR)
        return real.CreateBuffer(context, flags, bytes, host, status);
    *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

static cl_program of_source(cl_context context, cl_uint n, const char **text, const size_t *bytes, cl_int *status)
{
    if (getenv("SHIM_TELLS"))
        fputs("shim: source\n", stderr);
    return real.CreateProgramWithSource(context, n, text, bytes, status);
}

static cl_program of_binary(cl_context context, cl_uint n, const cl_device_id *ids, const size_t *bytes, const unsigned char **binary, cl_int *each, cl_int *status)
{
    if (getenv("SHIM_TELLS"))
        fputs("shim: binary\n", stderr);
    if (!getenv("SHIM_REFUSES"))
        return real.CreateProgramWithBinary(context, n, ids, bytes, binary, each, status);
    *status = CL_INVALID_BINARY;
    return NULL;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("SHIM_REAL");
    void *library = dlopen(path ? path : "", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "shim: SHIM_REAL: %s\n", dlerror());
        exit(1);
    }
#define FIND(name) shim_##name = dlsym(library, "cl" #name), memcpy(&real.name, &shim_##name, sizeof real.name);
    DFR_CL_CALLS(FIND)
    shim_GetPlatformInfo = (void *)get_platform_info;
    shim_GetDeviceInfo = (void *)get_device_info;
    shim_EnqueueNDRangeKernel = (void *)enqueue_kernel;
    shim_GetEventInfo = (void *)get_event_info;
    shim_CreateBuffer = (void *)create_buffer;
    shim_CreateProgramWithSource = (void *)of_source;
    shim_CreateProgramWithBinary = (void *)of_binary;
    lost = getenv("SHIM_LOST") ? atoi(getenv("SHIM_LOST")) : 0;
    fault = getenv("SHIM_FAULT") ? atoi(getenv("SHIM_FAULT")) : 0;
}
