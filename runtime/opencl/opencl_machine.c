/* opencl_machine.c - OpenCL operations that need no open device, for opencl.c's table: loads libOpenCL, lists and describes the devices, builds the program's
 * sources for them, and pins host memory. opencl_work.c and opencl_gauge.c get its kernels.
 *
 * Devices:  of all platforms, those that are available, have a compiler, and give OpenCL 1.2 or later with 64-bit addresses.
 * Signals:  drivers with LLVM in them, such as PoCL, put handlers over the process's when they find their devices; SIGUSR1 then does nothing. So all are put back.
 * Building: OpenCL C is compiled by the driver at start, each source once for a device of this process. A build error is reported with the place that the driver
 *           names, and the rest of its log goes to stderr.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/opencl/opencl_impl.h"
#include "runtime/base/cgroup.h"
#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/base/message.h"

#define MOST_PLATFORMS 16u
#define MOST_DEVICES 32u
#define MOST_SIGNALS 32                 /* those that are not of real time */
#define OTHERS_SHARE 10                 /* a tenth of a GPU is left to contexts and other programs */
#define SHARED_SHARE 4                  /* of memory that a device shares with the host it gets a quarter: tokens lie in the host's, too */
#define MIB_BYTES (UINT64_C(1) << 20)
#define PAGE 4096u

struct dfr_cl_api dfr_cl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* contexts, what was built, pinned memory */
static struct cl_machine machines[MOST_DEVICES];
static uint32_t n_machines;
static struct df_error no_machines;

/* ---- the library ---- */

static bool load_library(void)
{
    static const char *const names[] = {
#define NAME(name) "cl" #name,
        DFR_CL_CALLS(NAME)
#undef NAME
    };
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL), **functions = (void **)&dfr_cl;

    if (!library) {
        dfr_error(&no_machines, DF_E_DEVICE, "libOpenCL.so.1 was not found (Debian: ocl-icd-libopencl1, and a driver such as pocl-opencl-icd)");
        return false;
    }
    _Static_assert(sizeof dfr_cl == sizeof names, "dfr_cl has pointers to functions only");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(functions[i] = dlsym(library, names[i]))) {
            dfr_error(&no_machines, DF_E_DEVICE, "libOpenCL.so.1 lacks %s: it is older than OpenCL 1.2", names[i]);
            return false;
        }
    return true;
}

/* ---- devices ---- */

static uint64_t number(cl_device_id id, cl_device_info what)
{
    cl_ulong value = 0;                 /* the device writes 4 or 8 bytes */
    return dfr_cl.GetDeviceInfo(id, what, sizeof value, &value, NULL) == CL_SUCCESS ? value : 0;
}

static void text(cl_device_id id, cl_device_info what, char *value, size_t size)
{
    char whole[512] = "";
    if (dfr_cl.GetDeviceInfo(id, what, sizeof whole, whole, NULL) != CL_SUCCESS)
        *whole = '\0';
    snprintf(value, size, "%s", whole);
}

/* "OpenCL 1.2 …" */
static bool is_new_enough(cl_device_id id)
{
    unsigned major = 0, minor = 0;
    char version[64];
    text(id, CL_DEVICE_VERSION, version, sizeof version);
    return sscanf(version, "OpenCL %u.%u", &major, &minor) == 2 && (major > 1 || minor >= 2);
}

static void add_device(cl_platform_id platform, cl_device_id id)
{
    const uint64_t ieee = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
    struct cl_machine *m = &machines[n_machines];

    if (n_machines == MOST_DEVICES || !number(id, CL_DEVICE_AVAILABLE) || !number(id, CL_DEVICE_COMPILER_AVAILABLE) || !number(id, CL_DEVICE_ENDIAN_LITTLE) ||
        number(id, CL_DEVICE_ADDRESS_BITS) != 64 || !is_new_enough(id))
        return;
    char driver[64] = "";
    *m = (struct cl_machine){ .platform = platform, .id = id };
    dfr_cl.GetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof driver - 1, driver, NULL);
    m->has_cache = strcmp(driver, "Portable Computing Language") == 0;
    snprintf(m->label, sizeof m->label, "opencl%u", n_machines++);
    text(id, CL_DEVICE_NAME, m->name, sizeof m->name);
    m->memory_bytes = number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    m->most_bytes = number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE) & ~(uint64_t)(PAGE - 1);
    m->compute_units = (uint32_t)number(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    m->align = number(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    m->align = m->align ? m->align : 1;
    m->shares_memory = number(id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    m->fp64 = (number(id, CL_DEVICE_DOUBLE_FP_CONFIG) & ieee) == ieee;
    m->exact = !(~number(id, CL_DEVICE_SINGLE_FP_CONFIG) & (ieee | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT));
}

static void find_machines(void)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_device_id ids[MOST_DEVICES];
    struct sigaction before[MOST_SIGNALS], now;
    cl_uint n = 0, n_ids;

    for (int i = 1; i < MOST_SIGNALS; i++)
        sigaction(i, NULL, &before[i]);
    if (!load_library())
        return;
    if (dfr_cl.GetPlatformIDs(MOST_PLATFORMS, platforms, &n) != CL_SUCCESS)
        n = 0;                          /* the loader says so of no platform, too */
    n = n < MOST_PLATFORMS ? n : MOST_PLATFORMS;
    for (cl_uint p = 0; p < n; p++) {
        n_ids = 0;
        if (dfr_cl.GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, ids, &n_ids) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < n_ids && d < MOST_DEVICES; d++)
            add_device(platforms[p], ids[d]);
    }
    for (int i = 1; i < MOST_SIGNALS; i++)
        if (sigaction(i, NULL, &now) == 0 && now.sa_handler != before[i].sa_handler)
            sigaction(i, &before[i], NULL);
    if (n_machines == 0)
        dfr_error(&no_machines, DF_E_DEVICE, n > 0 ? "the OpenCL drivers have no device that runs OpenCL C 1.2"
                                             : getenv("OCL_ICD_VENDORS") ? "libOpenCL finds no driver that works by OCL_ICD_VENDORS, which is set"
                                             : "libOpenCL finds no driver that works (/etc/OpenCL/vendors names them; Debian: pocl-opencl-icd is one)");
}

struct cl_machine *dfr_cl_devices(uint32_t *n, struct df_error *error)
{
    pthread_once(&once, find_machines);
    *n = n_machines;
    if (n_machines == 0 && error)
        *error = no_machines;
    return machines;
}

uint32_t dfr_cl_count(struct df_error *error)
{
    uint32_t n;
    dfr_cl_devices(&n, error);
    return n;
}

int dfr_cl_describe(uint32_t index, struct df_unit *unit, struct df_error *error)
{
    uint32_t n;
    const struct cl_machine *m = dfr_cl_devices(&n, error) + index;

    if (index >= n)
        return n ? dfr_error(error, DF_E_DEVICE, "there is no OpenCL device %u", index) : DF_E_DEVICE;
    snprintf(unit->name, sizeof unit->name, "%s", m->name);
    unit->memory_bytes = m->shares_memory ? dfr_memory_bytes() / SHARED_SHARE : m->memory_bytes - m->memory_bytes / OTHERS_SHARE;
    unit->memory_bytes &= ~(MIB_BYTES - 1);
    return DF_OK;
}

void dfr_cl_about(uint32_t index, char *about, size_t size)
{
    const struct cl_machine *m = &machines[index];
    char driver[64], vendor[64] = "";

    text(m->id, CL_DRIVER_VERSION, driver, sizeof driver);
    dfr_cl.GetPlatformInfo(m->platform, CL_PLATFORM_VENDOR, sizeof vendor - 1, vendor, NULL);
    snprintf(about, size, "driver %s of %s; f32 %s; %s", driver, vendor, m->exact ? "with the CPU's bits" : "without the CPU's bits", m->fp64 ? "f64" : "no f64");
}

uint64_t dfr_cl_segment_bytes(uint32_t index)
{
    uint32_t n;
    const struct cl_machine *m = dfr_cl_devices(&n, NULL) + index;
    return index < n ? m->most_bytes : 0;
}

uint64_t dfr_cl_cache_bytes(uint32_t index)
{
    uint32_t n;
    const struct cl_machine *m = dfr_cl_devices(&n, NULL) + index;
    return index < n ? number(m->id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE) : 0;
}

/* By an extension of OpenCL, or by NVIDIA's or AMD's own, which older drivers have. */
int dfr_cl_bus_id(uint32_t index, char *place, size_t size, struct df_error *error)
{
    enum { PCI_BUS_INFO = 0x410f, BUS_ID_NV = 0x4008, SLOT_ID_NV = 0x4009, TOPOLOGY_AMD = 0x4037 };
    const struct cl_machine *m = &machines[index];
    cl_uint pci[4] = { 0 };             /* domain, bus, device, function */
    unsigned char amd[24] = { 0 };
    size_t n = 0;

    if (dfr_cl.GetDeviceInfo(m->id, PCI_BUS_INFO, sizeof pci, pci, NULL) == CL_SUCCESS) {
        n = sizeof pci;
    } else if (dfr_cl.GetDeviceInfo(m->id, BUS_ID_NV, sizeof pci[1], &pci[1], &n) == CL_SUCCESS) {
        dfr_cl.GetDeviceInfo(m->id, SLOT_ID_NV, sizeof pci[2], &pci[2], NULL);
    } else if (dfr_cl.GetDeviceInfo(m->id, TOPOLOGY_AMD, sizeof amd, amd, &n) == CL_SUCCESS) {
        for (int i = 0; i < 3; i++)
            pci[1 + i] = amd[21 + i];
    }
    if (n == 0)
        return dfr_error(error, DF_E_DEVICE, "%s: its driver does not say where it is plugged in", m->label);
    snprintf(place, size, "%04x:%02x:%02x.%x", pci[0], pci[1], pci[2], pci[3]);
    return DF_OK;
}

static int make_context(struct cl_machine *m, struct df_error *error)
{
    const cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)m->platform, 0 };
    cl_int status = CL_SUCCESS;

    if (!m->context)
        m->context = dfr_cl.CreateContext(properties, 1, &m->id, NULL, NULL, &status);
    return m->context ? DF_OK : dfr_cl_failed(error, m->label, "making a context", status);
}

int dfr_cl_context(struct cl_machine *m, struct df_error *error)
{
    pthread_mutex_lock(&lock);
    int status = make_context(m, error);
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- the program's code ---- */

static void options_of(const struct cl_machine *m, const struct df_cl_source *source, char *options, size_t size)
{
    snprintf(options, size, "-cl-std=CL1.2%s%s%s", m->exact ? " -cl-fp32-correctly-rounded-divide-sqrt" : "", source->options ? " " : "",
             source->options ? source->options : "");
}

static uint64_t key_of(const struct df_cl_source *source, const char *options)
{
    return dfr_hash(dfr_hash(0, options, strlen(options) + 1), source->text, source->bytes);
}

/* What a binary depends on besides its source and options, as a hash that goes on. */
static uint64_t hash_driver(const struct cl_machine *m, uint64_t hash)
{
    static const cl_device_info what[] = { CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION };
    char value[512];
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        text(m->id, what[i], value, sizeof value);
        hash = dfr_hash(hash, value, strlen(value) + 1);
    }
    memset(value, 0, sizeof value);
    dfr_cl.GetPlatformInfo(m->platform, CL_PLATFORM_VERSION, sizeof value - 1, value, NULL);
    return dfr_hash(hash, value, strlen(value) + 1);
}

/* The first line of the driver's log that tells of an error, or the first at all. */
static const char *first_error(const char *log)
{
    for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (memmem(line, strcspn(line, "\n"), "error", 5))
            return line;
    return log;
}

static int build_failed(const struct cl_machine *m, const struct df_cl_source *source, cl_program program, cl_int status, struct df_error *error)
{
    char doing[96], *log = NULL;
    size_t bytes = 0;

    if (dfr_cl.GetProgramBuildInfo(program, m->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) == CL_SUCCESS && (log = calloc(bytes + 1, 1)))
        dfr_cl.GetProgramBuildInfo(program, m->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    if (!log || !log[strspn(log, " \n")]) {
        snprintf(doing, sizeof doing, "compiling %.60s", source->name);
        dfr_cl_failed(error, m->label, doing, status);
    } else {
        const char *line = first_error(log);
        dfr_message_lines(stderr, log, strlen(log));
        dfr_error(error, DF_E_DEVICE, "%s: its driver cannot compile %s: %.*s", m->label, source->name, (int)strcspn(line, "\n"), line);
    }
    free(log);
    return DF_E_DEVICE;
}

static int compile(struct cl_machine *m, const struct df_cl_source *source, const char *options, cl_program *program, struct df_error *error)
{
    const char *part = source->text;
    cl_int status;

    *program = dfr_cl.CreateProgramWithSource(m->context, 1, &part, &source->bytes, &status);
    if (!*program)
        return dfr_cl_failed(error, m->label, "making a program", status);
    status = dfr_cl.BuildProgram(*program, 1, &m->id, options, NULL, NULL);
    if (status == CL_SUCCESS)
        return DF_OK;
    int result = build_failed(m, source, *program, status, error);
    dfr_cl.ReleaseProgram(*program);
    return result;
}

static const struct cl_built *find_built(const struct cl_machine *m, uint64_t key)
{
    const struct cl_built *built = m->built.items;
    for (uint32_t i = 0; i < m->built.n; i++)
        if (built[i].key == key)
            return &built[i];
    return NULL;
}

static int build(struct cl_machine *m, const struct df_cl_source *source, struct df_error *error)
{
    char options[1024];
    struct cl_built *built;
    cl_program program;

    options_of(m, source, options, sizeof options);
    const uint64_t key = key_of(source, options);
    if (find_built(m, key))
        return DF_OK;
    const uint64_t driver = hash_driver(m, 0), on_disk = dfr_hash(driver, &key, sizeof key), check = dfr_hash(driver, source->text, source->bytes);
    program = m->has_cache ? NULL : dfr_cl_cached(m, on_disk, check, options);
    if (!program) {
        int status = compile(m, source, options, &program, error);
        if (status != DF_OK)
            return status;
        if (!m->has_cache)
            dfr_cl_keep(on_disk, check, program);
    }
    built = dfr_array_add(&m->built, sizeof *built, 1);
    if (!built) {
        dfr_cl.ReleaseProgram(program);
        return dfr_error_memory(error);
    }
    *built = (struct cl_built){ key, program };
    return DF_OK;
}

/* What the source needs and the device lacks; NULL: nothing. */
static const char *lacks(const struct cl_machine *m, const struct df_cl_source *source, bool inexact)
{
    if (source->needs & DF_CL_FP64 && !m->fp64)
        return "double, with denormals";
    if (source->needs & DF_CL_EXACT && !m->exact && !inexact)
        return "denormals or correctly rounded division of float: results would differ from the CPU's (--inexact allows it)";
    return NULL;
}

int dfr_cl_load(uint32_t index, const struct df_functions *functions, uint32_t n, bool inexact, struct df_error *error)
{
    uint32_t present;
    struct cl_machine *m = dfr_cl_devices(&present, error) + index;
    int status = dfr_cl_context(m, error);

    pthread_mutex_lock(&lock);
    for (uint32_t k = 0; k < n && status == DF_OK; k++) {
        const struct df_cl_source *source = functions[k].opencl_source;
        if (!source)
            continue;
        const char *missing = lacks(m, source, inexact);
        status = missing ? dfr_error(error, DF_E_DEVICE, "%s (%s) lacks %s", m->label, m->name, missing) : build(m, source, error);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

int dfr_cl_kernel(struct cl_machine *m, const struct df_cl_source *source, const char *name, cl_kernel *kernel, struct df_error *error)
{
    char options[1024], doing[96];
    cl_int status = CL_INVALID_PROGRAM;

    options_of(m, source, options, sizeof options);
    pthread_mutex_lock(&lock);
    const struct cl_built *built = find_built(m, key_of(source, options));
    *kernel = built ? dfr_cl.CreateKernel(built->program, name, &status) : NULL;
    pthread_mutex_unlock(&lock);
    if (*kernel)
        return DF_OK;
    if (status == CL_INVALID_KERNEL_NAME)
        return dfr_error(error, DF_E_DEVICE, "%s: there is no kernel '%s' in %s", m->label, name, source->name);
    snprintf(doing, sizeof doing, "making kernel '%.40s'", name);
    return dfr_cl_failed(error, m->label, doing, status);
}

/* ---- host memory ---- */

/* A buffer that the driver has allocated where the device copies fast from, mapped for as long as it lives. */
struct pinned {
    void *address;
    cl_mem memory;
    cl_command_queue queue;
};

static struct dfr_array pinned;

/* The device whose driver pins: the first with a context, or the first of all. */
static struct cl_machine *pinning_machine(struct df_error *error)
{
    uint32_t n;
    dfr_cl_devices(&n, error);
    for (uint32_t i = 0; i < n; i++)
        if (machines[i].context)
            return &machines[i];
    return n > 0 && make_context(&machines[0], error) == DF_OK ? &machines[0] : NULL;
}

static cl_int map(const struct cl_machine *m, uint64_t bytes, struct pinned *p)
{
    cl_int status;
    p->memory = dfr_cl.CreateBuffer(m->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &status);
    if (!p->memory)
        return status;
    p->queue = dfr_cl.CreateCommandQueue(m->context, m->id, 0, &status);
    if (p->queue)
        p->address = dfr_cl.EnqueueMapBuffer(p->queue, p->memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &status);
    if (p->address)
        return CL_SUCCESS;
    if (p->queue)
        dfr_cl.ReleaseCommandQueue(p->queue);
    dfr_cl.ReleaseMemObject(p->memory);
    return status;
}

/* The driver aligns to less than a page, so the memory begins within what it maps. */
void *dfr_cl_host_alloc(uint64_t bytes, struct df_error *error)
{
    struct pinned p = { 0 }, *kept;
    void *memory = NULL;
    char doing[96];
    cl_int status;

    pthread_mutex_lock(&lock);
    const struct cl_machine *m = pinning_machine(error);
    if (m && (status = map(m, bytes + PAGE, &p)) != CL_SUCCESS) {
        snprintf(doing, sizeof doing, "allocating %.1f MiB of pinned host memory", (double)bytes / (double)MIB_BYTES);
        dfr_cl_failed(error, m->label, doing, status);
    } else if (m && !(kept = dfr_array_add(&pinned, sizeof *kept, 1))) {
        dfr_cl.ReleaseCommandQueue(p.queue);
        dfr_cl.ReleaseMemObject(p.memory);
        dfr_error_memory(error);
    } else if (m) {
        *kept = p;
        memory = (void *)(((uintptr_t)p.address + PAGE - 1) / PAGE * PAGE);
    }
    pthread_mutex_unlock(&lock);
    return memory;
}

void dfr_cl_host_free(void *memory, uint64_t bytes)
{
    (void)bytes;
    pthread_mutex_lock(&lock);
    struct pinned *all = pinned.items;
    for (uint32_t i = 0; memory && i < pinned.n; i++)
        if ((uintptr_t)memory - (uintptr_t)all[i].address < PAGE) {
            dfr_cl.EnqueueUnmapMemObject(all[i].queue, all[i].memory, all[i].address, 0, NULL, NULL);
            dfr_cl.Finish(all[i].queue);
            dfr_cl.ReleaseCommandQueue(all[i].queue);
            dfr_cl.ReleaseMemObject(all[i].memory);
            all[i] = all[--pinned.n];
            break;
        }
    pthread_mutex_unlock(&lock);
}
