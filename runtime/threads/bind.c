/* bind.c - binding workers to cores with hwloc. A thread that cannot be bound stays where the system puts it.
 *
 * A run binds its workers only if it may use all cores of this process, as it does by default: two runs that each ask
 * for a few workers would otherwise sit on the same first cores. A run of a graph with `threads(e)` nodes does not bind
 * either, because the threads that such a kernel makes inherit their worker's core.
 *
 * A GPU's worker is bound in every run. It gets all the cores that are nearest to the GPU (closest placement), which
 * takes nothing from anybody.
 */
#include <ctype.h>
#include <hwloc.h>
#include <hwloc/linux.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/threads/bind.h"

struct dfr_cores {
    hwloc_topology_t topology;
    hwloc_cpuset_t allowed;
};

void dfr_cores_quiet(void)
{
    setenv("HWLOC_HIDE_ERRORS", "2", 0); /* 2: the critical ones too; no failure of ours follows from them */
}

uint32_t dfr_cores_count(void)
{
    cpu_set_t set;
    long n;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (uint32_t)CPU_COUNT(&set);
    n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
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

struct dfr_cores *dfr_cores_create(void)
{
    struct dfr_cores *cores = calloc(1, sizeof *cores);

    if (!cores)
        return NULL;
    cores->allowed = hwloc_bitmap_alloc();
    if (!cores->allowed || hwloc_topology_init(&cores->topology) != 0) {
        hwloc_bitmap_free(cores->allowed);
        free(cores);
        return NULL;
    }
    hwloc_topology_set_all_types_filter(cores->topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(cores->topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(cores->topology) != 0 ||
        hwloc_get_cpubind(cores->topology, cores->allowed, HWLOC_CPUBIND_THREAD) != 0) {
        dfr_cores_destroy(cores);
        return NULL;
    }
    return cores;
}

void dfr_cores_destroy(struct dfr_cores *cores)
{
    if (!cores)
        return;
    hwloc_topology_destroy(cores->topology);
    hwloc_bitmap_free(cores->allowed);
    free(cores);
}

bool dfr_cores_bind(const struct dfr_cores *cores, uint32_t index)
{
    int n = hwloc_get_nbobjs_inside_cpuset_by_type(cores->topology, cores->allowed, HWLOC_OBJ_CORE);
    hwloc_obj_t core;
    hwloc_cpuset_t set;
    bool bound;

    if (n <= 0)
        return false;
    core = hwloc_get_obj_inside_cpuset_by_type(cores->topology, cores->allowed, HWLOC_OBJ_CORE, index % (uint32_t)n);
    set = core ? hwloc_bitmap_dup(core->cpuset) : NULL;
    if (!set)
        return false;
    hwloc_bitmap_and(set, set, cores->allowed);
    bound = hwloc_set_cpubind(cores->topology, set, HWLOC_CPUBIND_THREAD) == 0;
    hwloc_bitmap_free(set);
    return bound;
}

void dfr_cores_release(const struct dfr_cores *cores)
{
    hwloc_set_cpubind(cores->topology, cores->allowed, HWLOC_CPUBIND_THREAD);
}

/* Linux says of each PCI device which cores are near it. hwloc would find the same, but a topology with its PCI devices
 * takes tens of milliseconds to load, before the first job of every run. */
static bool read_near(const char *bus_id, hwloc_cpuset_t near)
{
    char path[96];
    int n = snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/local_cpus", bus_id);

    for (char *p = path; *p; p++)       /* CUDA prints capitals */
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
