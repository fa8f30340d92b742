/* shim.c - a libOpenCL.so.1 that passes all calls on to the real one, $SHIM_REAL, and changes what the environment says:
 *   SHIM_TELLS      says on stderr when a program is made of source or of a binary
 *   SHIM_NAMES=FILE that file gets the names of a program's kernels, and of those that are launched, behind "has " and "runs "
 *   SHIM_PLATFORM=X the platform's name
 *   SHIM_INEXACT    the device has neither double nor denormals
 *   SHIM_MOST=N     a buffer has at most so many bytes
 *   SHIM_LOST=N     launch number N and all calls after it that enqueue fail with CL_OUT_OF_RESOURCES
 *   SHIM_FAULT=N    the command of launch number N fails with a number of the driver's own
 *   SHIM_FULL       buffers cannot be allocated
 *   SHIM_REFUSES    binaries are refused
 *   SHIM_APART      each block of the pool is a buffer of its own, of exactly its bytes, for Oclgrind, which sees no overrun within a buffer
 */
#include <dlfcn.h>
#include <pthread.h>
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
    if (status == CL_SUCCESS && value && getenv("SHIM_APART") && what == CL_DEVICE_MEM_BASE_ADDR_ALIGN)
        *(cl_uint *)value = 8;
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

static void tell_name(const char *word, const char *name)
{
    FILE *names = fopen(getenv("SHIM_NAMES"), "a");
    if (names) {
        fprintf(names, "%s %s\n", word, name);
        fclose(names);
    }
}

static cl_kernel create_kernel(cl_program program, const char *name, cl_int *status)
{
    static cl_program known;
    char all[1 << 16] = "", *rest = NULL;
    if (program != known && real.GetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof all, all, NULL) == CL_SUCCESS)
        for (const char *one = strtok_r(all, ";", &rest); one; one = strtok_r(NULL, ";", &rest))
            tell_name("has", one);
    known = program;
    tell_name("runs", name);
    return real.CreateKernel(program, name, status);
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

/* ---- blocks as buffers of their own (SHIM_APART) ----
 * The program gets a handle for each sub-buffer. A command that uses it gets the buffer in which it lies; the first one makes that buffer, and a block that is larger
 * than those that lay there takes what they hold. Oclgrind knows of uninitialised bytes only if host code writes whole buffers, by the thread that made the context: so
 * writes of parts become writes of wholes, and that thread runs all commands. */

struct block {
    cl_mem pool, memory;
    size_t from, bytes;
    struct block *next;                 /* made before it */
};
struct handle {
    cl_mem pool, argument;              /* argument: a sub-buffer of `of`, as kernels get it; NULL: the buffer itself, or none yet */
    size_t from, bytes;
    const struct block *of;
    struct handle *next;
};

static struct block *blocks;
static struct handle *handles;
static cl_context apart;
static cl_command_queue last_queue;     /* of a copy: what a larger block takes is read by it */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void (*asked)(void *arg);        /* of the thread; NULL: nothing */
static void *asked_arg;

static void *serve(void *arg)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!asked)
            pthread_cond_wait(&changed, &lock);
        asked(asked_arg);
        asked = NULL;
        pthread_cond_broadcast(&changed);
    }
    return arg;
}

static void ask(void (*what)(void *arg), void *arg)
{
    static pthread_t thread;
    pthread_mutex_lock(&turn);
    pthread_mutex_lock(&lock);
    if (!thread && pthread_create(&thread, NULL, serve, NULL) != 0)
        abort();
    asked = what;
    asked_arg = arg;
    pthread_cond_broadcast(&changed);
    while (asked)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&turn);
}

struct call {
    const cl_context_properties *properties;
    cl_uint n;
    const cl_device_id *devices;
    const cl_event *events;
    cl_program program;
    const char *options;
    cl_command_queue queue;
    cl_int *status, result;
};

static void make_context(void *arg)
{
    struct call *c = arg;
    apart = real.CreateContext(c->properties, c->n, c->devices, NULL, NULL, c->status);
}

static cl_context create_context(const cl_context_properties *properties, cl_uint n, const cl_device_id *devices, void (CL_CALLBACK *tell)(const char *, const void *, size_t, void *), void *user,
                                 cl_int *status)
{
    struct call c = { .properties = properties, .n = n, .devices = devices, .status = status };
    (void)tell, (void)user;
    ask(make_context, &c);
    return apart;
}

static void do_build(void *arg)
{
    struct call *c = arg;
    c->result = real.BuildProgram(c->program, c->n, c->devices, c->options, NULL, NULL);
}

static cl_int build_program(cl_program program, cl_uint n, const cl_device_id *devices, const char *options, void (CL_CALLBACK *tell)(cl_program, void *), void *user)
{
    struct call c = { .program = program, .n = n, .devices = devices, .options = options };
    (void)tell, (void)user;
    ask(do_build, &c);
    return c.result;
}

static void do_finish(void *arg)
{
    struct call *c = arg;
    c->result = real.Finish(c->queue);
}

static cl_int finish(cl_command_queue queue)
{
    struct call c = { .queue = queue };
    ask(do_finish, &c);
    return c.result;
}

static void do_wait(void *arg)
{
    struct call *c = arg;
    c->result = real.WaitForEvents(c->n, c->events);
}

static cl_int wait_for_events(cl_uint n, const cl_event *events)
{
    struct call c = { .n = n, .events = events };
    ask(do_wait, &c);
    return c.result;
}

static cl_mem create_sub_buffer(cl_mem pool, cl_mem_flags flags, cl_buffer_create_type type, const void *region, cl_int *status)
{
    const cl_buffer_region *r = region;
    struct handle *made = malloc(sizeof *made);
    (void)flags, (void)type;
    *status = CL_SUCCESS;
    *made = (struct handle){ .pool = pool, .from = r->origin, .bytes = r->size, .next = handles };
    return (cl_mem)(handles = made);
}

static struct handle **find(cl_mem memory)
{
    struct handle **at = &handles;
    while (*at && (cl_mem)*at != memory)
        at = &(*at)->next;
    return at;
}

static cl_int release_memory(cl_mem memory)
{
    struct handle **at = find(memory), *gone = *at;
    if (!gone)
        return real.ReleaseMemObject(memory);
    *at = gone->next;
    free(gone);
    return CL_SUCCESS;
}

/* Puts bytes into a block, in the order of the queue's commands, and waits. */
static cl_int put(cl_command_queue queue, const struct block *b, size_t at, size_t bytes, const void *from, cl_event *event)
{
    unsigned char *whole = malloc(b->bytes);
    cl_event own;
    real.EnqueueReadBuffer(queue, b->memory, CL_FALSE, 0, b->bytes, whole, 0, NULL, NULL);
    finish(queue);
    memcpy(whole + at, from, bytes);
    cl_int status = real.EnqueueWriteBuffer(queue, b->memory, CL_FALSE, 0, b->bytes, whole, 0, NULL, event ? event : &own);
    finish(queue);
    if (!event)
        real.ReleaseEvent(own);
    free(whole);
    return status;
}

static const struct block *block_of(cl_command_queue queue, struct handle *h)
{
    const struct block *b = blocks;
    while (b && (b->pool != h->pool || b->from > h->from || b->from + b->bytes < h->from + h->bytes))
        b = b->next;
    if (b)
        return b;
    struct block *made = malloc(sizeof *made);
    *made = (struct block){ .pool = h->pool, .from = h->from, .bytes = h->bytes, .next = blocks };
    made->memory = real.CreateBuffer(apart, CL_MEM_READ_WRITE, h->bytes, NULL, NULL);
    struct block **at = &made->next;
    while (*at) {
        struct block *old = *at;
        const size_t from = old->from > made->from ? old->from : made->from, to = old->from + old->bytes < made->from + made->bytes ? old->from + old->bytes : made->from + made->bytes;
        if (old->pool != made->pool || from >= to) {
            at = &old->next;
            continue;
        }
        unsigned char *bytes = malloc(to - from);
        if (queue && real.EnqueueReadBuffer(queue, old->memory, CL_FALSE, from - old->from, to - from, bytes, 0, NULL, NULL) == CL_SUCCESS && finish(queue) == CL_SUCCESS)
            put(queue, made, from - made->from, to - from, bytes, NULL);
        free(bytes);
        if (old->from >= made->from && old->from + old->bytes <= made->from + made->bytes)
            *at = old->next;
        else
            at = &old->next;
    }
    return blocks = made;
}

static cl_int set_argument(cl_kernel kernel, cl_uint n, size_t bytes, const void *value)
{
    cl_mem memory = NULL;
    if (value && bytes == sizeof memory)
        memcpy(&memory, value, bytes);
    struct handle *h = memory ? *find(memory) : NULL;
    if (!h)
        return real.SetKernelArg(kernel, n, bytes, value);
    const struct block *b = block_of(last_queue, h);
    if (h->of != b) {
        const cl_buffer_region region = { h->from - b->from, h->bytes };
        h->argument = region.size == b->bytes ? b->memory : real.CreateSubBuffer(b->memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
        h->of = b;
    }
    return real.SetKernelArg(kernel, n, bytes, &h->argument);
}

static cl_int enqueue_write(cl_command_queue queue, cl_mem memory, cl_bool blocks_caller, size_t at, size_t bytes, const void *from, cl_uint n, const cl_event *waits, cl_event *event)
{
    struct handle *h = *find(memory);
    const struct block *b = block_of(last_queue = queue, h);
    at += h->from - b->from;
    return bytes == b->bytes ? real.EnqueueWriteBuffer(queue, b->memory, blocks_caller, 0, bytes, from, n, waits, event) : put(queue, b, at, bytes, from, event);
}

static cl_int enqueue_read(cl_command_queue queue, cl_mem memory, cl_bool blocks_caller, size_t at, size_t bytes, void *to, cl_uint n, const cl_event *waits, cl_event *event)
{
    struct handle *h = *find(memory);
    const struct block *b = block_of(last_queue = queue, h);
    return real.EnqueueReadBuffer(queue, b->memory, blocks_caller, at + h->from - b->from, bytes, to, n, waits, event);
}

static cl_int enqueue_copy(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t bytes, cl_uint n, const cl_event *waits, cl_event *event)
{
    unsigned char *between = malloc(bytes);
    cl_int status = enqueue_read(queue, from, CL_FALSE, from_at, bytes, between, n, waits, NULL);
    finish(queue);
    struct handle *h = *find(to);
    const struct block *b = block_of(queue, h);
    if (status == CL_SUCCESS)
        status = put(queue, b, to_at + h->from - b->from, bytes, between, event);
    free(between);
    return status;
}

static void take_apart(void)
{
    shim_CreateContext = (void *)create_context;
    shim_BuildProgram = (void *)build_program;
    shim_Flush = shim_Finish = (void *)finish;
    shim_WaitForEvents = (void *)wait_for_events;
    shim_CreateSubBuffer = (void *)create_sub_buffer;
    shim_ReleaseMemObject = (void *)release_memory;
    shim_SetKernelArg = (void *)set_argument;
    shim_EnqueueWriteBuffer = (void *)enqueue_write;
    shim_EnqueueReadBuffer = (void *)enqueue_read;
    shim_EnqueueCopyBuffer = (void *)enqueue_copy;
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
    if (getenv("SHIM_NAMES"))
        shim_CreateKernel = (void *)create_kernel;
    if (getenv("SHIM_APART"))
        take_apart();
    lost = getenv("SHIM_LOST") ? atoi(getenv("SHIM_LOST")) : 0;
    fault = getenv("SHIM_FAULT") ? atoi(getenv("SHIM_FAULT")) : 0;
}
