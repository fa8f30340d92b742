/* test_bind.c - binding threads near a device, and to cores, and threads that come first. A request for a device that does
 * not exist changes nothing. A thread that is bound may run only on cores on which it could run before. Cores are found
 * without hwloc's plug-ins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/threads/bind.h"
#include "runtime/threads/bind_impl.h"
#include "runtime/threads/host.h"
#include "runtime/threads/prompt.h"

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
    assert_true(cores->n == 1 || CPU_COUNT(&now) == 1 || CPU_COUNT(&now) < CPU_COUNT(&before));
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

/* ---- a machine of two sockets ---- */

static char folder[] = "/tmp/df-bind-XXXXXX";

/* Writes, or removes, what Linux would say of this CPU. */
static void put_cpu(hwloc_topology_t machine, unsigned cpu, bool there)
{
    hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(machine, cpu);
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_CORE, pu), package = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_PACKAGE, pu);
    char path[3][128];

    snprintf(path[0], sizeof path[0], "%s/cpu%u/topology/thread_siblings", folder, cpu);
    snprintf(path[1], sizeof path[1], "%s/cpu%u/topology/physical_package_id", folder, cpu);
    snprintf(path[2], sizeof path[2], "%s/cpu%u", folder, cpu);
    if (there) {
        assert_int_equal(mkdir(path[2], 0700), 0);
        strcat(path[2], "/topology");
        assert_int_equal(mkdir(path[2], 0700), 0);
    }
    FILE *siblings = there ? fopen(path[0], "w") : NULL, *id = there ? fopen(path[1], "w") : NULL;
    if (there) {
        assert_true(siblings && id);
        fprintf(siblings, "%08lx\n", hwloc_bitmap_to_ulong(core->cpuset));
        fprintf(id, "%u\n", package->logical_index);
        fclose(siblings);
        fclose(id);
        return;
    }
    assert_int_equal(unlink(path[0]) || unlink(path[1]), 0);
    char topology[160];
    snprintf(topology, sizeof topology, "%s/topology", path[2]);
    assert_int_equal(rmdir(topology) || rmdir(path[2]), 0);
}

static cpu_set_t set_of(hwloc_const_cpuset_t from)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (hwloc_bitmap_isset(from, (unsigned)cpu))
            CPU_SET(cpu, &set);
    return set;
}

/* The cores of a process that may use these CPUs are n whole ones, each once, and no others; packages follow one another. */
static void check_cores(hwloc_topology_t machine, const cpu_set_t *allowed, size_t n)
{
    struct dfr_cores *cores = dfr_cores_find(folder, allowed);
    cpu_set_t all, core_set;

    assert_non_null(cores);
    assert_int_equal(cores->n, n);
    CPU_ZERO(&all);
    for (size_t i = 0; i < n; i++) {
        hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(machine, (unsigned)cores->core[i].first);
        core_set = set_of(hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_CORE, pu)->cpuset);
        CPU_AND(&core_set, &core_set, allowed);
        assert_true(CPU_EQUAL(&core_set, &cores->core[i].cpus));
        assert_int_equal(cores->core[i].package, hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_PACKAGE, pu)->logical_index);
        assert_true(i == 0 || cores->core[i - 1].package <= cores->core[i].package);
        CPU_OR(&all, &all, &core_set);
    }
    assert_true(CPU_EQUAL(&all, allowed));
    dfr_cores_destroy(cores);
}

/* A rank for each socket, as mpirun binds them, has the four cores of this socket with both threads; two ranks on a socket have two cores each. */
static void test_sockets(void **state)
{
    hwloc_topology_t machine;
    cpu_set_t allowed, first;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(hwloc_topology_init(&machine), 0); /* CPUs alternate between the sockets, as on many servers */
    assert_int_equal(hwloc_topology_set_synthetic(machine, "package:2 core:4 pu:2(indexes=0,8,2,10,4,12,6,14,1,9,3,11,5,13,7,15)"), 0);
    assert_int_equal(hwloc_topology_load(machine), 0);
    for (unsigned cpu = 0; cpu < 16; cpu++)
        put_cpu(machine, cpu, true);
    allowed = set_of(hwloc_get_root_obj(machine)->cpuset);
    check_cores(machine, &allowed, 8);
    for (unsigned socket = 0; socket < 2; socket++) {
        allowed = set_of(hwloc_get_obj_by_type(machine, HWLOC_OBJ_PACKAGE, socket)->cpuset);
        assert_int_equal(CPU_COUNT(&allowed), 8);
        check_cores(machine, &allowed, 4);
        for (unsigned half = 0; half < 2; half++) {
            first = set_of(hwloc_get_obj_by_type(machine, HWLOC_OBJ_CORE, 4 * socket + 2 * half)->cpuset);
            allowed = set_of(hwloc_get_obj_by_type(machine, HWLOC_OBJ_CORE, 4 * socket + 2 * half + 1)->cpuset);
            CPU_OR(&allowed, &allowed, &first);
            check_cores(machine, &allowed, 2);
        }
    }
    for (unsigned cpu = 0; cpu < 16; cpu++)
        put_cpu(machine, cpu, false);
    CPU_ZERO(&allowed);
    assert_null(dfr_cores_find(folder, &allowed));
    assert_int_equal(rmdir(folder), 0);
    hwloc_topology_destroy(machine);
}

/* The kernel's struct sched_attr, which not every libc has. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice_ns, rest[2];
};

struct prompt_thread {
    bool first;
    int slack_ns;
    bool told;                          /* the system tells attributes; a container may forbid it */
    struct attributes before, after;
};

static void *be_prompt(void *arg)
{
    struct prompt_thread *t = arg;
    t->told = syscall(SYS_sched_getattr, 0, &t->before, sizeof t->before, 0) == 0;
    dfr_prompt(t->first);
    t->slack_ns = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
    t->told = t->told && syscall(SYS_sched_getattr, 0, &t->after, sizeof t->after, 0) == 0;
    return NULL;
}

/* A thread that shall come first has the shortest slice that the system gives. Its kind and niceness stay. */
static void test_prompt(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct prompt_thread t = { .first = first };
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, be_prompt, &t), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(t.slack_ns, 1000);
        assert_int_equal(t.after.policy, t.before.policy);
        assert_int_equal(t.after.nice, t.before.nice);
        if (!t.told || t.after.slice_ns == 0)
            skip();                     /* Linux before 6.12 tells no slice */
        assert_int_equal(t.after.slice_ns, first ? 100000 : t.before.slice_ns);
    }
}

static void *see_signals(void *arg)
{
    pthread_sigmask(SIG_SETMASK, NULL, arg);
    return NULL;
}

/* Signals of the process go to threads of the host; a fault reaches the thread that caused it. */
static void test_deaf(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) { /* a helper, a deaf thread, one that is not */
        pthread_t thread;
        sigset_t blocked;
        assert_int_equal(way == 0 ? dfr_helper_create(&thread, see_signals, &blocked)
                                  : dfr_thread_create(&thread, 0, way == 1, see_signals, &blocked), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        for (int i = 0; i < 4; i++)
            assert_int_equal(sigismember(&blocked, (const int[]){ SIGTERM, SIGINT, SIGCHLD, SIGUSR1 }[i]), way < 2);
        for (int i = 0; i < 3; i++)
            assert_int_equal(sigismember(&blocked, (const int[]){ SIGSEGV, SIGFPE, SIGABRT }[i]), 0);
    }
}

static void test_cache(void **state)
{
    (void)state;
    assert_int_equal(dfr_cache_bytes() % 1024, 0); /* 0: the system does not say */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_near), cmocka_unit_test(test_cache), cmocka_unit_test(test_no_plugins), cmocka_unit_test(test_release),
                                        cmocka_unit_test(test_prompt), cmocka_unit_test(test_deaf), cmocka_unit_test(test_cores), cmocka_unit_test(test_sockets) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
