/* look_machine.c - inspects the machine itself for `dfc doctor` (commands/cmd_doctor.c): operating system, cores and memory, its
 * GPUs as the CUDA driver reports them, and OpenCL's devices. look_build.c asks it whether there is a GPU.
 *
 * CUDA's driver is queried through its own library, which is installed with it, so this works even in a dfc that was built
 * without CUDA.
 */
#include "compiler/doctor/doctor.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/cgroup.h"
#include "runtime/base/text.h"
#include "runtime/start/back_ends.h"
#include "runtime/threads/bind.h"

#define HEADING "this machine"

/* Copies what stands behind `key` in a file of lines, up to `end`. false: there is no such line. */
static bool value_in(const char *path, const char *key, const char *end, char *value, size_t size)
{
    char line[512];
    bool found = false;
    FILE *file = fopen(path, "r");
    while (file && !found && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        const char *text = line + strlen(key);
        text += strspn(text, " \t:=\"");
        snprintf(value, size, "%.*s", (int)strcspn(text, end), text);
        found = *value;
    }
    if (file)
        fclose(file);
    return found;
}

static void look_system(struct dfc_findings *list)
{
    char name[200] = "an unknown distribution";
    struct utsname system;
    value_in("/etc/os-release", "PRETTY_NAME", "\"\n", name, sizeof name);
    if (uname(&system) == 0)
        dfc_found(list, &(struct dfc_look){ HEADING, "system", DFC_WELL, NULL, NULL }, "%s, %s %s, %s", name, system.sysname,
                  system.release, system.machine);
}

static const struct { int number; const char *name; } journal_signals[] = { { SIGUSR1, "SIGUSR1" }, { SIGTERM, "SIGTERM" }, { SIGINT, "SIGINT" } };
enum { N_SIGNALS = sizeof journal_signals / sizeof *journal_signals };

/* Reads the machine by hwloc in a child, and gives a bit for each signal that has a handler afterwards. hwloc's plug-ins load the libraries of GPUs, and those
 * may do as they like. A child that fails says nothing. */
static int signals_taken(void)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        int taken = 0;
        struct sigaction now;
        for (int i = 0; i < N_SIGNALS; i++)
            signal(journal_signals[i].number, SIG_DFL);
        dfr_cache_bytes();
        for (int i = 0; i < N_SIGNALS; i++)
            taken |= (sigaction(journal_signals[i].number, NULL, &now) == 0 && now.sa_handler != SIG_DFL) << i;
        _exit(taken);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static void look_signals(struct dfc_findings *list)
{
    const int taken = signals_taken();
    char names[40] = "";
    struct dfc_look finding = { HEADING, "signals", taken ? DFC_ABSENT : DFC_WELL,
        "a run with --journal may not end in order by such a signal: what reads the machine takes it over",
        "HWLOC_COMPONENTS=-opencl,-gl,-cuda,-nvml,-rsmi,-levelzero leaves hwloc's plug-ins for GPUs out" };

    for (int i = 0; i < N_SIGNALS; i++)
        if (taken >> i & 1)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? ", " : "", journal_signals[i].name);
    if (taken)
        dfc_found(list, &finding, "a plug-in of hwloc takes over %s", names);
    else
        dfc_found(list, &finding, "hwloc and its plug-ins leave SIGUSR1, SIGTERM and SIGINT alone");
}

static void look_cores(struct dfc_findings *list)
{
    char model[200] = "unknown model";
    value_in("/proc/cpuinfo", "model name", "\n", model, sizeof model);
    uint32_t n = dfr_cores_count();
    if (n < dfr_cores_allowed())
        dfc_found(list, &(struct dfc_look){ HEADING, "cores", DFC_WELL, NULL, NULL },
                  "%" PRIu32 " for this process: the control group's CPU quota is %.4g of %" PRIu32 " cores; %s", n, dfr_cgroup_own()->cpus,
                  dfr_cores_allowed(), model);
    else
        dfc_found(list, &(struct dfc_look){ HEADING, "cores", DFC_WELL, NULL, NULL }, "%" PRIu32 " for this process: %s", n, model);

    struct dfr_cores *cores = dfr_cores_create();
    struct dfc_look hwloc = { HEADING, "hwloc", cores || n < dfr_cores_allowed() ? DFC_WELL : DFC_ABSENT,
        "workers are not bound to cores, and a GPU's worker not near its GPU",
        NULL };
    if (cores) {
        char text[16];
        dfc_found(list, &hwloc, "reads the machine: %s of last caches", dfr_text_bytes(dfr_cache_bytes(), text, sizeof text));
    } else if (n < dfr_cores_allowed()) {
        dfc_found(list, &hwloc, "workers are not bound to cores under a CPU quota");
    } else {
        dfc_found(list, &hwloc, "cannot read this machine (is /sys there?)");
    }
    dfr_cores_destroy(cores);
}

static void look_memory(struct dfc_findings *list)
{
    char total[64] = "", available[64] = "", pages[200] = "not known", text[2][16];
    value_in("/proc/meminfo", "MemTotal", "\n", total, sizeof total);
    value_in("/proc/meminfo", "MemAvailable", "\n", available, sizeof available);
    value_in("/sys/kernel/mm/transparent_hugepage/enabled", "", "\n", pages, sizeof pages);
    dfc_found(list, &(struct dfc_look){ HEADING, "memory", DFC_WELL, NULL, NULL }, "%s, %s of it available",
              dfr_text_bytes(strtoull(total, NULL, 10) * 1024, text[0], sizeof text[0]),
              dfr_text_bytes(strtoull(available, NULL, 10) * 1024, text[1], sizeof text[1]));
    if (dfr_memory_bytes() < strtoull(total, NULL, 10) * 1024)
        dfc_found(list, &(struct dfc_look){ HEADING, "memory limit", DFC_WELL, NULL, NULL }, "the control group may use %s",
                  dfr_text_bytes(dfr_memory_bytes(), text[0], sizeof text[0]));
    bool never = strstr(pages, "[never]") != NULL;
    struct dfc_look huge = { HEADING, "huge pages", never ? DFC_ABSENT : DFC_WELL,
        "tokens lie in small pages, which makes kernels over large tokens slower",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled" };
    dfc_found(list, &huge, "transparent huge pages: %s", pages);
}

/* ---- GPUs ---- */

/* CUDA's driver interface, as its public documentation gives it; CUdevice and CUresult are int. */
struct driver {
    void *handle;
    int (*init)(unsigned flags);
    int (*version)(int *version);
    int (*count)(int *n);
    int (*name)(char *name, int size, int device);
    int (*memory)(size_t *bytes, int device);
    int (*attribute)(int *value, int attribute, int device);
};
enum { ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_… */

static bool find(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol;
}

static bool open_driver(struct driver *d)
{
    d->handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return d->handle && find(d->handle, "cuInit", &d->init) && find(d->handle, "cuDriverGetVersion", &d->version) &&
           find(d->handle, "cuDeviceGetCount", &d->count) && find(d->handle, "cuDeviceGetName", &d->name) &&
           find(d->handle, "cuDeviceTotalMem_v2", &d->memory) && find(d->handle, "cuDeviceGetAttribute", &d->attribute);
}

/* Gives how many GPUs the driver shows; -1: it does not answer, and *result is why, or 0 if it is not there at all. */
static int query_driver(struct driver *d, int *supports, int *result)
{
    int n = 0;
    *supports = *result = 0;
    if (!open_driver(d))
        return -1;
    *result = d->init(0);
    if (*result == 100)                 /* CUDA_ERROR_NO_DEVICE */
        return d->version(supports) == 0 ? 0 : -1;
    if (*result != 0 || d->version(supports) != 0 || d->count(&n) != 0)
        return -1;
    return n;
}

int dfc_doctor_gpus(int *supports)
{
    struct driver d = { 0 };            /* the library stays open: CUDA's cannot be unloaded safely */
    int result;
    return query_driver(&d, supports, &result);
}

static void look_gpu(struct dfc_findings *list, const struct driver *d, int number)
{
    char name[200] = "unknown", text[16];
    size_t bytes = 0;
    int major = 0, minor = 0;
    d->name(name, sizeof name, number);
    d->memory(&bytes, number);
    d->attribute(&major, ATTRIBUTE_MAJOR, number);
    d->attribute(&minor, ATTRIBUTE_MINOR, number);
    dfc_found(list, &(struct dfc_look){ HEADING, "GPU", DFC_WELL, NULL, NULL }, "%d: %s, %s, compute capability %d.%d", number, name,
              dfr_text_bytes(bytes, text, sizeof text), major, minor);
}

static const char no_gpu[] = "gpu variants run on no GPU here; --device=emu runs them on an emulated one";

static void look_gpus(struct dfc_findings *list)
{
    struct driver d = { 0 };
    int supports, result, n = query_driver(&d, &supports, &result);
    struct dfc_look driver = { HEADING, "GPU driver", DFC_WELL, no_gpu, NULL };
    if (n < 0) {
        driver.health = d.handle ? DFC_BROKEN : DFC_ABSENT;
        driver.remedy = d.handle ? "nvidia-smi says more; does the kernel's module have the version of the library?"
                                  : "if there is an NVIDIA GPU, install its driver (Debian: nvidia-driver)";
        if (d.handle)
            dfc_found(list, &driver, "libcuda.so.1 is there, and cuInit() fails with %d", result);
        else
            dfc_found(list, &driver, "no libcuda.so.1, so no driver of NVIDIA's");
        return;
    }
    dfc_found(list, &driver, "supports CUDA %d.%d", supports / 1000, supports % 1000 / 10);
    for (int i = 0; i < n; i++)
        look_gpu(list, &d, i);
    if (n == 0) {
        dfc_found(list, &(struct dfc_look){ HEADING, "GPU", DFC_ABSENT, no_gpu,
                                            "is CUDA_VISIBLE_DEVICES empty, or the GPU given to another container?" },
                  "the driver shows none");
    }
}

static void look_opencl(struct dfc_findings *list)
{
    const struct dfr_device_ops *ops = dfr_back_end_of(DF_DEVICE_OPENCL);
    struct df_error why = { "" };
    struct dfc_look look = { HEADING, "OpenCL", DFC_ABSENT, "--device=opencl runs nothing here", "sudo apt-get install -y pocl-opencl-icd (it runs on the CPU)" };
    const uint32_t n = ops ? ops->count(&why) : 0;
    char about[160], text[16];
    if (!ops)
        look.remedy = "sudo apt-get install -y opencl-headers, and make dfc again";
    if (n == 0)
        dfc_found(list, &look, "%s", ops ? why.text : "this dfc was built without OpenCL's headers");
    look.health = DFC_WELL;
    for (uint32_t i = 0; i < n; i++) {
        struct df_unit unit = { .name = "" };
        if (ops->describe(i, &unit, NULL) != DF_OK)
            continue;
        ops->about(i, about, sizeof about);
        dfc_found(list, &look, "%u: %s, %s for a run; %s", i, unit.name, dfr_text_bytes(unit.memory_bytes, text, sizeof text), about);
    }
}

void dfc_look_machine(struct dfc_findings *list)
{
    look_system(list);
    look_signals(list);                 /* before this process itself has loaded the plug-ins */
    look_cores(list);
    look_memory(list);
    look_gpus(list);
    look_opencl(list);
}
