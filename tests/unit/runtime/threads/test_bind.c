/* test_bind.c - binding threads near a device, and to cores. A request for a device that does not exist changes nothing. A thread
 * that is bound may run only on cores on which it could run before. Cores are found without hwloc's plug-ins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/threads/bind.h"

static void check_inside(const cpu_set_t *before, bool bound)
{
    cpu_set_t now, both;
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    CPU_AND(&both, &now, before);
    assert_true(CPU_EQUAL(&both, &now) && CPU_COUNT(&now) > 0);
    assert_int_equal(bound, !CPU_EQUAL(&now, before));
}

static void test_near(void **state)
{
    cpu_set_t before;
    struct dirent *entry;
    DIR *devices = opendir("/sys/bus/pci/devices");
    int n = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_false(dfr_bind_near("ffff:ff:1f.7"));
    assert_false(dfr_bind_near("no device"));
    check_inside(&before, false);
    while (devices && (entry = readdir(devices)) && n < 3) {
        if (entry->d_name[0] == '.')
            continue;
        check_inside(&before, dfr_bind_near(entry->d_name));
        assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
        n++;
    }
    if (devices)
        closedir(devices);
}

/* A thread that was bound to a core may run everywhere again. */
static void test_release(void **state)
{
    cpu_set_t before, now;
    struct dfr_cores *cores = dfr_cores_create();

    (void)state;
    if (!cores)
        skip();                         /* the system cannot say */
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_true(dfr_cores_bind(cores, 1));
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_COUNT(&now) == 1 || CPU_COUNT(&now) < CPU_COUNT(&before));
    dfr_cores_release(cores);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&now, &before));
    dfr_cores_destroy(cores);
}

static bool is_loaded(const char *name)
{
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps))
        found = strstr(line, name) != NULL;
    fclose(maps);
    return found;
}

/* hwloc's plug-ins bring X11 and OpenCL into a program whose workers are to be bound, which took longer than to bind them. */
static void test_no_plugins(void **state)
{
    struct dfr_cores *cores;
    (void)state;
    if (is_loaded("/hwloc_"))
        skip();                         /* by what ran before */
    cores = dfr_cores_create();
    assert_false(is_loaded("/hwloc_"));
    dfr_cores_destroy(cores);
}

static cpu_set_t cpus_of(hwloc_obj_t core, const cpu_set_t *allowed)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed) && hwloc_bitmap_isset(core->cpuset, (unsigned)cpu))
            CPU_SET(cpu, &set);
    return set;
}

/* The cores are those of hwloc's topology, each of them once. */
static void test_cores(void **state)
{
    cpu_set_t before, now, all, set;
    hwloc_topology_t topology;
    hwloc_obj_t core = NULL;
    struct dfr_cores *cores = dfr_cores_create();
    uint32_t n = 0;

    (void)state;
    if (!cores || access("/sys/devices/system/cpu/cpu0/topology/thread_siblings", R_OK) != 0)
        skip();
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(hwloc_topology_init(&topology) || hwloc_topology_load(topology), 0);
    while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core))) {
        set = cpus_of(core, &before);
        n += CPU_COUNT(&set) > 0;
    }
    CPU_ZERO(&all);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(dfr_cores_bind(cores, i));
        assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
        CPU_AND(&set, &now, &all);
        assert_int_equal(CPU_COUNT(&set), 0);
        CPU_OR(&all, &all, &now);
        for (core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));) {
            set = cpus_of(core, &before);
            if (CPU_EQUAL(&set, &now))
                break;
        }
        assert_non_null(core);
    }
    assert_true(CPU_EQUAL(&all, &before));
    dfr_cores_release(cores);
    hwloc_topology_destroy(topology);
    dfr_cores_destroy(cores);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_near), cmocka_unit_test(test_no_plugins), cmocka_unit_test(test_release),
                                        cmocka_unit_test(test_cores) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
