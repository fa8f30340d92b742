/* cgroup.h - reads the CPU quota and the memory limit that Linux's control groups set for this process: a container, a batch job or a systemd unit may use
 * less than the machine has, and sched_getaffinity() and sysinfo() do not show that. threads/bind.c asks for the quota; engine/host_memory.c, pages.h and
 * the back ends ask for the memory; `dfc doctor` shows both.
 *
 * Versions: v2 (cpu.max, memory.max), v1 (cpu.cfs_quota_us over cpu.cfs_period_us, memory.limit_in_bytes), and both at once. /proc/self/cgroup names the
 *           group, /proc/self/mountinfo the folder where its hierarchy is mounted. A limit of an outer group holds for the inner ones, so the least along
 *           the path counts.
 * Unseen:   groups outside of what is mounted here. A container often sees its own group as the root; that is the one with its limits.
 * Errors:   none. An unreadable limit counts as no limit.
 * Threads:  any.
 */
#ifndef DFR_CGROUP_H
#define DFR_CGROUP_H

#include <stdint.h>

struct dfr_cgroup {
    double cpus;                        /* so many CPUs' time at most: 1.5; 0: no quota */
    uint64_t memory_bytes;              /* UINT64_MAX: no limit */
};

/* Reads ROOT/proc/self/… and the folders that mountinfo names, prefixed by ROOT; "" reads those of the system. */
void dfr_cgroup_read(const char *root, struct dfr_cgroup *limits);

/* Returns the limits of this process, read once. */
const struct dfr_cgroup *dfr_cgroup_own(void);

/* The memory that this process may use, without swap: the machine's, or the limit if that is less. */
uint64_t dfr_memory_bytes(void);

#endif
