/* machine_name.c - builds the name that identifies this machine in the keys of samples, so that measurements of
 * different machines are kept apart, and names its CPU, GPU and kinds of devices, for the rest of profiles/ and the
 * commands that load and profile.
 */
#include <hwloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profiles/profiles.h"
#include "runtime/base/option.h"
#include "runtime/start/back_ends.h"

struct machine {
    char cpu[128];
    unsigned cores;
    uint64_t memory_bytes;
    char gpus[256];                     /* for example " + NVIDIA H200 x2"; "": no GPU */
    char gpu[48];                       /* the first GPU */
};

static struct machine machine;
static pthread_once_t found = PTHREAD_ONCE_INIT;

/* Copies the text without leading, trailing and doubled blanks, since vendors pad names of models. */
static void squeeze(char *to, size_t size, const char *from)
{
    size_t n = 0;
    for (; *from && n + 1 < size; from++) {
        bool blank = *from == ' ' || *from == '\t' || *from == '\n';
        if (blank && (n == 0 || to[n - 1] == ' '))
            continue;
        to[n++] = blank ? ' ' : *from;
    }
    while (n > 0 && to[n - 1] == ' ')
        n--;
    to[n] = 0;
}

static uint64_t memory_from_proc(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    if (!file)
        return 0;
    char line[256];
    unsigned long long kib = 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemTotal: %llu kB", &kib) == 1)
            break;
    }
    fclose(file);
    return (uint64_t)kib * 1024;
}

static void find_cpu(void)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) == 0) {
        if (hwloc_topology_load(topology) == 0) {
            int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
            machine.cores = cores > 0 ? (unsigned)cores : 0;
            hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
            const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
            if (!model)
                model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "CPUModel");
            squeeze(machine.cpu, sizeof machine.cpu, model ? model : "");
        }
        hwloc_topology_destroy(topology);
    }
    if (machine.cores == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        machine.cores = online > 0 ? (unsigned)online : 1;
    }
    if (!machine.cpu[0])
        strcpy(machine.cpu, "CPU");
    machine.memory_bytes = memory_from_proc();
}

/* GPUs of the same name are counted; different names are listed. */
static void find_gpus(void)
{
    const struct dfr_device_ops *ops = dfr_back_end_of(DF_DEVICE_AUTO);
    uint32_t n = ops ? ops->count(NULL) : 0;
    char last[48] = "";
    unsigned same = 0;
    for (uint32_t i = 0; i <= n && i <= DF_MAX_UNITS; i++) {
        struct df_unit unit = { .name = "" };
        bool described = i < n && ops->describe(i, &unit, NULL) == DF_OK;
        char name[48];
        squeeze(name, sizeof name, described ? unit.name : "");
        if (described && i == 0)
            strcpy(machine.gpu, unit.name); /* programs store samples under this name */
        if (same > 0 && strcmp(name, last) == 0) {
            same++;
            continue;
        }
        size_t used = strlen(machine.gpus);
        if (same > 1)
            snprintf(machine.gpus + used, sizeof machine.gpus - used, " + %s x%u", last, same);
        else if (same == 1)
            snprintf(machine.gpus + used, sizeof machine.gpus - used, " + %s", last);
        strcpy(last, name);
        same = described ? 1 : 0;
    }
}

static void find(void)
{
    find_cpu();
    find_gpus();
}

void dfw_machine_name(char *buffer, size_t size)
{
    pthread_once(&found, find);
    snprintf(buffer, size, "%s x%u%s", machine.cpu, machine.cores, machine.gpus);
}

const char *dfw_machine_gpu(void)
{
    pthread_once(&found, find);
    return machine.gpu[0] ? machine.gpu : NULL;
}

uint32_t dfw_devices_of(const char *device)
{
    const uint32_t emulated = device && dfr_option_lists(device, "emu") ? 1u << DFW_EMULATED : 0;
    const uint32_t opencl = device && dfr_option_lists(device, "opencl") ? 1u << DFW_OPENCL : 0;
    const bool own = !(emulated | opencl) || dfr_option_lists(device, "cuda");
    return emulated | opencl | (own ? 1u << DFW_OWN : 0);
}

const char *dfw_devices_name(enum dfw_devices devices)
{
    static struct df_unit unit;         /* of OpenCL's first device, which stays the same */
    const struct dfr_device_ops *ops = devices == DFW_OPENCL ? dfr_back_end_of(DF_DEVICE_OPENCL) : NULL;
    if (devices == DFW_EMULATED)
        return DFW_EMULATOR;
    return ops && (unit.name[0] || (ops->count(NULL) && ops->describe(0, &unit, NULL) == DF_OK)) ? unit.name : NULL;
}

void dfw_machine_cpu(char *name, size_t size, unsigned *cores, uint64_t *memory_bytes)
{
    pthread_once(&found, find);
    snprintf(name, size, "%s", machine.cpu);
    *cores = machine.cores;
    *memory_bytes = machine.memory_bytes;
}
