/* bind.c - fixing workers to cores with hwloc. What cannot be bound stays where the system puts it.
 *
 * A run binds only where its threads are to have all cores of this process (the default): two runs that each ask for a
 * few workers would otherwise sit on the same first cores. A graph with `threads(e)` nodes is not bound either, for the
 * threads that such a kernel makes inherit its worker's core. A GPU's worker is bound to all the cores that are as near
 * to the GPU as any (closest placement), which takes nothing from anybody: so that is done in every run.
 */
#include <hwloc.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/bind.h"

struct dfr_cores {
    hwloc_topology_t topology;
    hwloc_cpuset_t allowed;
};

void dfr_cores_quiet(void)
{
    setenv("HWLOC_HIDE_ERRORS", "2", 0); /* 2: the critical ones, too; nothing that follows from them is our failure */
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

/* The device's surroundings in the topology; NULL: it is not there, or hwloc cannot say. */
static hwloc_obj_t around(hwloc_topology_t topology, const char *bus_id)
{
    hwloc_obj_t device;
    if (hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_ALL) != 0 ||
        hwloc_topology_load(topology) != 0)
        return NULL;
    device = hwloc_get_pcidev_by_busidstring(topology, bus_id);
    return device ? hwloc_get_non_io_ancestor_obj(topology, device) : NULL;
}

bool dfr_bind_near(const char *bus_id)
{
    hwloc_topology_t topology;
    hwloc_cpuset_t allowed = hwloc_bitmap_alloc(), near = hwloc_bitmap_alloc();
    hwloc_obj_t place = NULL;
    bool bound = false;

    if (allowed && near && hwloc_topology_init(&topology) == 0) {
        place = around(topology, bus_id);
        if (place && place->cpuset && hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_THREAD) == 0) {
            hwloc_bitmap_and(near, place->cpuset, allowed);
            if (!hwloc_bitmap_iszero(near) && !hwloc_bitmap_isequal(near, allowed))
                bound = hwloc_set_cpubind(topology, near, HWLOC_CPUBIND_THREAD) == 0;
        }
        hwloc_topology_destroy(topology);
    }
    hwloc_bitmap_free(near);
    hwloc_bitmap_free(allowed);
    return bound;
}
