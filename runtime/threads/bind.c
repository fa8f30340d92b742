/* bind.c - counts this process's cores, finds their caches, and binds threads to them (bind.h), for the workers of CPUs and GPUs, the emulated GPU and
 * measurements; dfc, probes and planners query counts and cache sizes. A thread that cannot be bound stays unbound.
 *
 * A run binds its workers only if it uses all cores of this process, as it does by default: two runs with a few workers each would otherwise share the same
 * first cores. A run of a graph with `threads(e)` nodes does not bind either, because the threads that such a kernel creates inherit their worker's core.
 *
 * An emulated GPU computes on a core and gets one, as a CPU worker does: its worker and its compute engine are bound to it. Its copy engines are unbound, so
 * that copies run on an idle core if there is one.
 *
 * A real GPU's worker is bound in every run, to all cores nearest to the GPU (closest placement); this excludes no other thread from them.
 */
#include <ctype.h>
#include <hwloc.h>
#include <hwloc/linux.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/cgroup.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/bind_impl.h"

#define CPUS "/sys/devices/system/cpu"

void dfr_cores_quiet(void)
{
    setenv("HWLOC_HIDE_ERRORS", "2", 0); /* 2: the critical ones too; no failure of ours follows from them */
}

uint32_t dfr_cores_allowed(void)
{
    cpu_set_t set;
    long n;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (uint32_t)CPU_COUNT(&set);
    n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

/* With a quota of 1.5, two workers get the time of 1.5 cores, and one worker that of 1. */
uint32_t dfr_cores_count(void)
{
    const uint32_t n = dfr_cores_allowed();
    const double quota = dfr_cgroup_own()->cpus;
    return quota > 0 && quota < n ? (uint32_t)ceil(quota) : n;
}

static uint64_t caches_of_level(hwloc_topology_t topology, hwloc_obj_type_t level)
{
    uint64_t bytes = 0;
    for (hwloc_obj_t cache = NULL; (cache = hwloc_get_next_obj_by_type(topology, level, cache));)
        bytes += cache->attr->cache.size;
    return bytes;
}

uint64_t dfr_cache_bytes(void)
{
    hwloc_topology_t topology;
    uint64_t bytes = 0;
    if (hwloc_topology_init(&topology) != 0)
        return 0;
    if (hwloc_topology_load(topology) == 0)
        bytes = caches_of_level(topology, HWLOC_OBJ_L3CACHE);
    if (!bytes)
        bytes = caches_of_level(topology, HWLOC_OBJ_L2CACHE);
    hwloc_topology_destroy(topology);
    return bytes;
}

/* Linux says of each CPU which others are of its core, and which package it belongs to. hwloc would find the same, but a topology loads
 * hwloc's plug-ins and asks every CPU by its instructions: that took 5 ms on two cores, before the first job of every run. */
static void read_core(const char *folder, int cpu, const cpu_set_t *allowed, cpu_set_t *core)
{
    char path[256];
    hwloc_cpuset_t mask = hwloc_bitmap_alloc();

    CPU_ZERO(core);
    snprintf(path, sizeof path, "%s/cpu%d/topology/thread_siblings", folder, cpu);
    if (mask && hwloc_linux_read_path_as_cpumask(path, mask) == 0)
        for (int other = cpu; other < CPU_SETSIZE; other++)
            if (CPU_ISSET(other, allowed) && hwloc_bitmap_isset(mask, (unsigned)other))
                CPU_SET(other, core);
    CPU_SET(cpu, core);                 /* without /sys each CPU is a core */
    hwloc_bitmap_free(mask);
}

static int read_package(const char *folder, int cpu)
{
    char path[256];
    int package = 0;
    snprintf(path, sizeof path, "%s/cpu%d/topology/physical_package_id", folder, cpu);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%d", &package) != 1)
        package = 0;
    fclose(file);
    return package;
}

/* Packages in order, and in each of them its cores by their first CPU. */
static int by_package(const void *a, const void *b)
{
    const struct dfr_core *x = a, *y = b;
    if (x->package != y->package)
        return x->package < y->package ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

struct dfr_cores *dfr_cores_find(const char *folder, const cpu_set_t *allowed)
{
    struct dfr_cores *cores = CPU_COUNT(allowed) > 0 ? calloc(1, sizeof *cores + (size_t)CPU_COUNT(allowed) * sizeof *cores->core) : NULL;
    cpu_set_t left = *allowed;

    if (!cores)
        return NULL;
    cores->allowed = *allowed;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        struct dfr_core *core = &cores->core[cores->n];
        if (!CPU_ISSET(cpu, &left))
            continue;
        read_core(folder, cpu, &left, &core->cpus);
        core->first = cpu;
        core->package = read_package(folder, cpu);
        CPU_XOR(&left, &left, &core->cpus);
        cores->n++;
    }
    qsort(cores->core, cores->n, sizeof *cores->core, by_package);
    return cores;
}

struct dfr_cores *dfr_cores_create(void)
{
    cpu_set_t allowed;
    if (dfr_cores_count() < dfr_cores_allowed()) /* others of the same quota would sit on the same first cores */
        return NULL;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? dfr_cores_find(CPUS, &allowed) : NULL;
}

void dfr_cores_destroy(struct dfr_cores *cores)
{
    free(cores);
}

bool dfr_cores_bind(const struct dfr_cores *cores, uint32_t index)
{
    const struct dfr_core *core = &cores->core[index % cores->n];
    return sched_setaffinity(0, sizeof core->cpus, &core->cpus) == 0;
}

void dfr_cores_release(const struct dfr_cores *cores)
{
    sched_setaffinity(0, sizeof cores->allowed, &cores->allowed);
}

/* Linux says of each PCI device which cores are near it. hwloc would find the same, but a topology with its PCI devices
 * takes tens of milliseconds to load, before the first job of every run. */
static bool read_near(const char *bus_id, hwloc_cpuset_t near)
{
    char path[96];
    int n = snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/local_cpus", bus_id);

    for (char *p = path; *p; p++)       /* some drivers print capitals */
        *p = (char)tolower((unsigned char)*p);
    return n > 0 && (size_t)n < sizeof path && hwloc_linux_read_path_as_cpumask(path, near) == 0;
}

bool dfr_bind_near(const char *bus_id)
{
    hwloc_cpuset_t near = hwloc_bitmap_alloc();
    cpu_set_t allowed, both;
    bool bound = false;

    if (near && read_near(bus_id, near) && sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        CPU_ZERO(&both);
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &allowed) && hwloc_bitmap_isset(near, (unsigned)cpu))
                CPU_SET(cpu, &both);
        if (CPU_COUNT(&both) > 0 && !CPU_EQUAL(&both, &allowed))
            bound = sched_setaffinity(0, sizeof both, &both) == 0;
    }
    hwloc_bitmap_free(near);
    return bound;
}
