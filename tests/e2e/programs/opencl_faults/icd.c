/* icd.c - a driver of OpenCL, as libOpenCL loads one that a file in OCL_ICD_VENDORS names. Its one device has no double. It has as much as a program asks before it runs
 * something: it compiles what has no "double" in it, and can make no context's queue.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct _cl_platform_id { cl_icd_dispatch *dispatch; };
struct _cl_device_id { cl_icd_dispatch *dispatch; };
struct _cl_context { cl_icd_dispatch *dispatch; };
struct _cl_program { cl_icd_dispatch *dispatch; bool doubles; };

static cl_icd_dispatch calls;
static struct _cl_platform_id platform = { &calls };
static struct _cl_device_id device = { &calls };
static struct _cl_context context = { &calls };
static struct _cl_program program = { &calls, false };

static cl_int give(const void *from, size_t bytes, size_t size, void *value, size_t *needed)
{
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    if (needed)
        *needed = bytes;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL platform_info(cl_platform_id id, cl_platform_info what, size_t size, void *value, size_t *needed)
{
    const char *text = what == CL_PLATFORM_VERSION ? "OpenCL 1.2 icd.c" : what == CL_PLATFORM_EXTENSIONS ? "cl_khr_icd" : what == CL_PLATFORM_PROFILE ? "FULL_PROFILE" : "Singles";
    (void)id;
    return give(text, strlen(text) + 1, size, value, needed);
}

static cl_int CL_API_CALL device_ids(cl_platform_id id, cl_device_type type, cl_uint n, cl_device_id *ids, cl_uint *found)
{
    (void)id;
    if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)))
        return CL_DEVICE_NOT_FOUND;
    if (ids && n)
        *ids = &device;
    if (found)
        *found = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t size, void *value, size_t *needed)
{
    const cl_device_fp_config single = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    const struct { cl_device_info what; cl_ulong value; size_t bytes; } numbers[] = {
        { CL_DEVICE_AVAILABLE, 1, 4 }, { CL_DEVICE_COMPILER_AVAILABLE, 1, 4 }, { CL_DEVICE_ENDIAN_LITTLE, 1, 4 }, { CL_DEVICE_ADDRESS_BITS, 64, 4 },
        { CL_DEVICE_GLOBAL_MEM_SIZE, 1 << 30, 8 }, { CL_DEVICE_MAX_MEM_ALLOC_SIZE, 1 << 28, 8 }, { CL_DEVICE_MAX_COMPUTE_UNITS, 2, 4 },
        { CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024, 4 }, { CL_DEVICE_SINGLE_FP_CONFIG, single, 8 }, { CL_DEVICE_DOUBLE_FP_CONFIG, 0, 8 },
    };
    const char *text = what == CL_DEVICE_VERSION ? "OpenCL 1.2" : what == CL_DRIVER_VERSION ? "1.0" : "Single";
    (void)id;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].what == what)
            return give(&numbers[i].value, numbers[i].bytes, size, value, needed);
    return what == CL_DEVICE_NAME || what == CL_DEVICE_VENDOR || what == CL_DEVICE_VERSION || what == CL_DRIVER_VERSION ? give(text, strlen(text) + 1, size, value, needed)
                                                                                                                       : CL_INVALID_VALUE;
}

static cl_context CL_API_CALL create_context(const cl_context_properties *p, cl_uint n, const cl_device_id *ids, void (CL_CALLBACK *tell)(const char *, const void *, size_t, void *),
                                             void *user, cl_int *status)
{
    (void)p, (void)n, (void)ids, (void)tell, (void)user;
    *status = CL_SUCCESS;
    return &context;
}

static cl_int CL_API_CALL release_context(cl_context c) { return (void)c, CL_SUCCESS; }

static cl_command_queue CL_API_CALL create_queue(cl_context c, cl_device_id id, cl_command_queue_properties p, cl_int *status)
{
    (void)c, (void)id, (void)p;
    *status = CL_OUT_OF_HOST_MEMORY;
    return NULL;
}

static cl_mem CL_API_CALL create_buffer(cl_context c, cl_mem_flags flags, size_t bytes, void *host, cl_int *status)
{
    (void)c, (void)flags, (void)bytes, (void)host;
    *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

static cl_program CL_API_CALL of_source(cl_context c, cl_uint n, const char **text, const size_t *bytes, cl_int *status)
{
    (void)c, (void)n;
    program.doubles = memmem(*text, *bytes, "double x", 8) != NULL;
    *status = CL_SUCCESS;
    return &program;
}

static cl_int CL_API_CALL build(cl_program p, cl_uint n, const cl_device_id *ids, const char *options, void (CL_CALLBACK *tell)(cl_program, void *), void *user)
{
    (void)n, (void)ids, (void)options, (void)tell, (void)user;
    return p->doubles ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

static cl_int CL_API_CALL build_info(cl_program p, cl_device_id id, cl_program_build_info what, size_t size, void *value, size_t *needed)
{
    static const char log[] = "k.cl:3:5: error: use of type 'double' requires cl_khr_fp64";
    (void)p, (void)id, (void)what;
    return give(log, sizeof log, size, value, needed);
}

static cl_int CL_API_CALL program_info(cl_program p, cl_program_info what, size_t size, void *value, size_t *needed)
{
    (void)p, (void)what, (void)size, (void)value, (void)needed;
    return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL release_program(cl_program p) { return (void)p, CL_SUCCESS; }

CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *ids, cl_uint *found)
{
    calls = (cl_icd_dispatch){ .clGetPlatformInfo = platform_info, .clGetDeviceIDs = device_ids, .clGetDeviceInfo = device_info, .clCreateContext = create_context,
                               .clReleaseContext = release_context, .clCreateCommandQueue = create_queue, .clCreateBuffer = create_buffer,
                               .clCreateProgramWithSource = of_source, .clBuildProgram = build, .clGetProgramBuildInfo = build_info, .clGetProgramInfo = program_info,
                               .clReleaseProgram = release_program };
    if (ids && n)
        *ids = &platform;
    if (found)
        *found = 1;
    return CL_SUCCESS;
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? (void *)clIcdGetPlatformIDsKHR : strcmp(name, "clGetPlatformInfo") == 0 ? (void *)platform_info : NULL;
}
