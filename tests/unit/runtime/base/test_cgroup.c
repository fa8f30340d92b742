/* test_cgroup.c - limits of control groups, read from recorded files: v1, v2 and both, nested groups, containers, namespaces, and files that say nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/cgroup.h"

static char root[64];

/* Writes ROOT/path, and makes its folders. */
static void put(const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0700);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int begin(void **state)
{
    (void)state;
    strcpy(root, "/tmp/test_cgroup-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void expect(double cpus, uint64_t bytes)
{
    struct dfr_cgroup limits;
    dfr_cgroup_read(root, &limits);
    assert_float_equal(limits.cpus, cpus, 1e-9);
    assert_int_equal(limits.memory_bytes, bytes);
}

#define V2_MOUNT "29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
#define OTHERS "23 28 0:22 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n24 28 0:23 / /proc rw - proc proc rw\n"

/* systemd-run -p CPUQuota=150% -p MemoryMax=2G of a user: the session's slice has a limit, too. */
static void v2_nested(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/user.slice/user-1000.slice/run-r1.scope\n");
    put("/proc/self/mountinfo", OTHERS V2_MOUNT);
    put("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/user.slice/memory.max", "max\n");
    put("/sys/fs/cgroup/user.slice/user-1000.slice/cpu.max", "400000 100000\n");
    put("/sys/fs/cgroup/user.slice/user-1000.slice/memory.max", "1073741824\n");
    put("/sys/fs/cgroup/user.slice/user-1000.slice/run-r1.scope/cpu.max", "150000 100000\n");
    put("/sys/fs/cgroup/user.slice/user-1000.slice/run-r1.scope/memory.max", "2147483648\n");
    expect(1.5, 1073741824);            /* the outer memory limit is the smaller one */
}

/* A container with a cgroup namespace: its own group is the root. */
static void v2_container(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/\n");
    put("/proc/self/mountinfo", OTHERS "612 611 0:26 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw\n");
    put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    put("/sys/fs/cgroup/memory.max", "536870912\n");
    expect(0.5, 536870912);
}

/* docker on v1: /proc/self/cgroup has the host's path, and the mount's root is that path. */
static void v1_docker(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "12:memory:/docker/0123\n5:cpuset:/docker/0123\n4:cpu,cpuacct:/docker/0123\n1:name=systemd:/docker/0123\n");
    put("/proc/self/mountinfo", OTHERS
        "700 699 0:30 /docker/0123 /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:15 - cgroup cgroup rw,cpu,cpuacct\n"
        "701 699 0:31 /docker/0123 /sys/fs/cgroup/cpuset ro,nosuid master:16 - cgroup cgroup rw,cpuset\n"
        "702 699 0:32 /docker/0123 /sys/fs/cgroup/memory ro,nosuid master:17 - cgroup cgroup rw,memory\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpuset/cpu.cfs_quota_us", "1\n"); /* not the controller's folder */
    put("/sys/fs/cgroup/cpuset/cpu.cfs_period_us", "1000000\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3221225472\n");
    expect(2.5, 3221225472);
}

/* Slurm on v1: a step within a job, without limits at the root. */
static void v1_nested(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "9:memory:/slurm/uid_7/job_5/step_0\n3:cpuacct,cpu:/slurm/uid_7/job_5\n");
    put("/proc/self/mountinfo", OTHERS "40 30 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpuacct,cpu\n"
        "41 30 0:34 / /sys/fs/cgroup/my\\040memory rw - cgroup cgroup rw,memory\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu/slurm/uid_7/cpu.cfs_quota_us", "80000\n");
    put("/sys/fs/cgroup/cpu/slurm/uid_7/cpu.cfs_period_us", "20000\n");
    put("/sys/fs/cgroup/cpu/slurm/uid_7/job_5/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/slurm/uid_7/job_5/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/my memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/my memory/slurm/uid_7/job_5/memory.limit_in_bytes", "4294967296\n");
    put("/sys/fs/cgroup/my memory/slurm/uid_7/job_5/step_0/memory.limit_in_bytes", "9223372036854771712\n");
    expect(4, 4294967296);
}

/* Both versions at once, each with its own controllers. */
static void hybrid(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "4:memory:/a\n1:cpu:/\n0::/a\n");
    put("/proc/self/mountinfo", OTHERS "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000000\n");
    put("/sys/fs/cgroup/unified/a/cpu.max", "300000 100000\n");
    expect(3, 1000000);
}

/* A path outside of the namespace: the mounted group is what is known. */
static void other_namespace(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/../other\n");
    put("/proc/self/mountinfo", OTHERS V2_MOUNT);
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    put("/sys/fs/cgroup/other/cpu.max", "1 100000\n");
    expect(2, UINT64_MAX);
}

static void nothing_is_limited(void **state)
{
    (void)state;
    expect(0, UINT64_MAX);              /* no /proc */
    put("/proc/self/cgroup", "0::/a\n");
    put("/proc/self/mountinfo", OTHERS);
    expect(0, UINT64_MAX);              /* nothing is mounted */
    put("/proc/self/mountinfo", OTHERS V2_MOUNT);
    expect(0, UINT64_MAX);              /* the root has no files */
    put("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/memory.max", "max\n");
    expect(0, UINT64_MAX);
    put("/sys/fs/cgroup/a/cpu.max", "\n");
    put("/sys/fs/cgroup/a/memory.max", "many\n");
    expect(0, UINT64_MAX);
    put("/proc/self/cgroup", "what is this\n::\n");
    put("/proc/self/mountinfo", " - cgroup2\n1 2 - cgroup2 x\n\\\n");
    expect(0, UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(v2_nested, begin, end), cmocka_unit_test_setup_teardown(v2_container, begin, end),
        cmocka_unit_test_setup_teardown(v1_docker, begin, end), cmocka_unit_test_setup_teardown(v1_nested, begin, end),
        cmocka_unit_test_setup_teardown(hybrid, begin, end), cmocka_unit_test_setup_teardown(other_namespace, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_limited, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
