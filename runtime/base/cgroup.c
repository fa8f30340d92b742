/* cgroup.c - reads the limits of control groups (cgroup.h): the CPU quota for threads/bind.c, the memory limit for engine/host_memory.c and the back ends' host
 * memory, and both for `dfc doctor`. */
#include "runtime/base/cgroup.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- one group ---- */

/* A file of the group begins with these numbers. Gives how many of them were read; "max" and -1 are none. */
static int read_numbers(const char *folder, const char *name, double *a, double *b)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    int n = file ? fscanf(file, "%lf %lf", a, b) : 0;
    if (file)
        fclose(file);
    return n < 0 ? 0 : n;
}

static void lower_cpus(struct dfr_cgroup *limits, double quota, double period)
{
    if (quota > 0 && period > 0 && (limits->cpus <= 0 || quota / period < limits->cpus))
        limits->cpus = quota / period;
}

/* v1 says 2^63 less a page if there is no limit. */
static void lower_memory(struct dfr_cgroup *limits, double bytes)
{
    if (bytes > 0 && bytes < 0x1p62 && (uint64_t)bytes < limits->memory_bytes)
        limits->memory_bytes = (uint64_t)bytes;
}

static void read_group(const char *folder, bool v2, struct dfr_cgroup *limits)
{
    double a = 0, b = 0;
    if (v2) {
        if (read_numbers(folder, "cpu.max", &a, &b) == 2)
            lower_cpus(limits, a, b);
        if (read_numbers(folder, "memory.max", &a, &b) >= 1)
            lower_memory(limits, a);
        return;
    }
    double quota = 0, period = 0;
    if (read_numbers(folder, "cpu.cfs_quota_us", &quota, &b) >= 1 && read_numbers(folder, "cpu.cfs_period_us", &period, &b) >= 1)
        lower_cpus(limits, quota, period);
    if (read_numbers(folder, "memory.limit_in_bytes", &a, &b) >= 1)
        lower_memory(limits, a);
}

/* ---- the groups of this process ---- */

/* Is the word one of those that commas divide? */
static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ',') && (at[n] == '\0' || at[n] == ','))
            return true;
    return false;
}

/* The path of the process's group in the hierarchy that has this controller; "" is v2's. false: there is none. */
static bool find_path(const char *root, const char *controller, char *path, size_t size)
{
    char name[PATH_MAX + 64], line[PATH_MAX + 256];
    bool found = false;
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    FILE *file = fopen(name, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *at = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!at)
            continue;
        *at++ = '\0';
        at[strcspn(at, "\n")] = '\0';
        found = *controller ? has_word(controllers + 1, controller) : controllers[1] == '\0';
        snprintf(path, size, "%s", at);
    }
    if (file)
        fclose(file);
    return found;
}

/* mountinfo writes blanks as \040, and so on. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        unsigned byte;
        int digits = 0;
        if (*from == '\\' && sscanf(from + 1, "%3o%n", &byte, &digits) == 1 && digits == 3) {
            *to = (char)byte;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* The part of the path below what is mounted. A path that is not inside lies in another namespace: then the mounted group is the best that is known. */
static const char *inside(const char *path, const char *mounted)
{
    const size_t n = strcmp(mounted, "/") ? strlen(mounted) : 0;
    if (strncmp(path, mounted, n) != 0 || (path[n] != '/' && path[n] != '\0') || strstr(path, "/.."))
        return "";
    return path + n;
}

/* The group and those around it, up to the folder of the mount. */
static void read_along(const char *root, const char *mount, const char *path, bool v2, struct dfr_cgroup *limits)
{
    char folder[2 * PATH_MAX + 64];
    const size_t base = (size_t)snprintf(folder, sizeof folder, "%s%s", root, mount);
    if (base >= PATH_MAX)
        return;
    snprintf(folder + base, PATH_MAX, "%s", path);
    for (;;) {
        read_group(folder, v2, limits);
        char *slash = strrchr(folder + base, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

/* A line of mountinfo: ID PARENT DEVICE ROOT MOUNT OPTIONS [TAGS] - TYPE SOURCE SUPER-OPTIONS. */
static void read_mount(const char *root, char *line, struct dfr_cgroup *limits)
{
    static const char *const controllers[] = { "cpu", "memory" };
    char mounted[PATH_MAX], mount[PATH_MAX], type[32], options[512], path[PATH_MAX];
    char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", mounted, mount) != 2 || sscanf(rest, " - %31s %*s %511s", type, options) != 2)
        return;
    unescape(mounted);
    unescape(mount);
    if (!strcmp(type, "cgroup2") && find_path(root, "", path, sizeof path))
        read_along(root, mount, inside(path, mounted), true, limits);
    for (unsigned i = 0; !strcmp(type, "cgroup") && i < 2; i++)
        if (has_word(options, controllers[i]) && find_path(root, controllers[i], path, sizeof path))
            read_along(root, mount, inside(path, mounted), false, limits);
}

void dfr_cgroup_read(const char *root, struct dfr_cgroup *limits)
{
    char name[PATH_MAX + 64], *line = NULL;
    size_t room = 0;
    *limits = (struct dfr_cgroup){ 0, UINT64_MAX };
    snprintf(name, sizeof name, "%s/proc/self/mountinfo", root);
    FILE *file = fopen(name, "re");
    while (file && getline(&line, &room, file) > 0)
        if (strstr(line, " - cgroup"))
            read_mount(root, line, limits);
    free(line);
    if (file)
        fclose(file);
}

/* ---- this process ---- */

static struct dfr_cgroup own;

static void read_own(void)
{
    dfr_cgroup_read("", &own);
}

const struct dfr_cgroup *dfr_cgroup_own(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_own);
    return &own;
}

uint64_t dfr_memory_bytes(void)
{
    const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), limit = dfr_cgroup_own()->memory_bytes;
    return machine < limit ? machine : limit;
}
