/* platform.h - describes a machine: its units, memories and links, measured or declared. Planners, policies, the simulator and the emulator use it.
 *
 * Words:    A *unit* is the host with its CPU workers, or one device with its memory, its link to the host in each direction and its copy engines. Unit 0
 *           is the host; unit u > 0 owns memory u. Two units of one class that both have a *peer* link copy to each other directly. A device is *unified*
 *           if its jobs read and write tokens in the host's memory; its memory is then memory 0, and it has no link. The host makes the copies of tokens
 *           before inout ports of such devices: a driver that copies pageable memory may read it before the copy's turn, or block the thread.
 * Memory:   plain values, copied by assignment.
 * Model:    A copy of s bytes takes latency_s if s <= threshold_bytes, else latency_s + (s - threshold_bytes) /
 *           bytes_per_s. This is Wu's thesis's eq. 3.1 but for one thing: beyond the threshold that counts all bytes, so
 *           it jumps by threshold_bytes / bytes_per_s there. Copies do not; without a threshold both are the same. With
 *           engines = 1 both directions share one engine. A peer copy takes the slower of the two units' peer links. It
 *           occupies the sender's peer engine, which serves one copy at a time. What jobs and copies draw from the host's memory at the same time is limited by
 *           memory_bytes_per_s; only the simulator knows that (simulate/simulate.h).
 * Handover: the host's worker and the device's engines learn by a wake-up what the others have completed, which takes time. A copy between host and device,
 *           or between peers, is therefore visible handover_s after its end; its engine is free from its end on. For a copy between peers the sender's
 *           handover_s counts.
 * Cores:    emulated devices compute and copy on the host's cores. For a platform with emulated devices, the host says how many cores they and its workers
 *           share. Only the simulator uses this.
 */
#ifndef DF_PLATFORM_H
#define DF_PLATFORM_H

#include <stdbool.h>

#include "runtime/df.h"

enum { DF_GPU_JOBS = 2 };               /* one computes; for the other all inputs are brought and the kernel is
                                         * launched */

/* Whether copies of a program's own buffers are faster if these have been registered with the driver, which pins them
 * where they lie, or through pinned memory. */
enum { DF_REGISTER_UNKNOWN, DF_REGISTER_YES, DF_REGISTER_NO };

struct df_link {
    double bytes_per_s;                 /* > 0 */
    double latency_s;
    uint64_t threshold_bytes;
};

/* How fast a unit computes and reads, as `dfc probe` measures it. 0: not known. No plan depends on these figures by
 * themselves: times of works that were never measured are made of them (profiles/estimate/roofline.h). */
#define DF_BANDWIDTHS 9                 /* by 1, 2, 4, … 256 threads: DF_MAX_WORKERS */
struct df_figures {
    double bytes_per_s[DF_BANDWIDTHS];  /* the host: what 1, 2, 4, … threads read and write in memory */
    double flops[2];                    /* additions and multiplications per second in f32 and f64: the host's by one
                                         * thread, a device's by all of it */
    double random_s[2];                 /* one read somewhere in memory: if its address follows from the read before;
                                         * and if it does not */
    double atomic_s[2];                 /* one atomic update: of a place of the thread's own; and of one that all share */
};

struct df_unit {
    char name[48];
    uint32_t cls;                       /* index of the class in class_names */
    uint32_t workers;                   /* jobs at once: CPU workers; 1 for a GPU */
    uint64_t memory_bytes;              /* 0: unknown, taken as unlimited */
    double memory_bytes_per_s;          /* of its memory. The host: what all its cores read and write together; a
                                         * device: what its kernels do. 0: not known */
    struct df_figures figures;
    uint32_t cores;                     /* the host: that its workers share with emulated devices; 0: there are none
                                         * of these */
    struct df_link h2d, d2h;            /* units > 0 */
    struct df_link peer;                /* the same; bytes_per_s is 0 if it has none */
    uint32_t engines;                   /* 1 or 2; 0 if it is unified */
    double launch_s;                    /* added to each job */
    double handover_s;                  /* devices: from a copy's end until others act on it, and until it begins */
    uint32_t jobs;                      /* in flight; 0: a run finds the number, the simulator takes one or finds it */
    uint32_t registers;                 /* DF_REGISTER_…; no plan depends on it */
    uint32_t unified;                   /* 1: see above; df_unit_unify() sets the rest */
};

struct df_platform {
    char name[48];
    uint32_t n_units, n_classes;
    char class_names[DF_MAX_CLASSES][32]; /* [0] "cpu", [1] "gpu" */
    struct df_unit units[DF_MAX_UNITS];
};

/* Limits of what a declaration or a database may say of a machine and its jobs, so that sums of times stay numbers:
 * bytes per second of a link, or of the host's memory; seconds of a latency or a launch; seconds of a job, which must
 * be fewer than DF_LIMIT_JOB_S; bytes of a memory or a threshold, which must be fewer than DF_LIMIT_BYTES. */
#define DF_LEAST_RATE 1.0
#define DF_MOST_RATE 1e18
#define DF_MOST_DELAY_S 1e9
#define DF_LIMIT_JOB_S 1e18
#define DF_LIMIT_BYTES UINT64_C(9200000000000000000)
bool df_link_usable(const struct df_link *link);
/* Returns true if each figure is 0 or plausible: a rate from DF_LEAST_RATE to DF_MOST_RATE, a time above 0 and at most DF_MOST_DELAY_S. */
bool df_figures_usable(const struct df_figures *figures);

/* The stated default if nothing was measured or described: as many workers as this machine has cores, less one (at
 * least 1); and `gpus` GPUs with 12 GB/s and 10 us each way, 2 engines, 5 us launch, memory unknown. */
void df_platform_default(struct df_platform *platform, uint32_t gpus);

/* Returns the class of the first unit that is of neither cpu nor gpu, which stands for OpenCL's first device; DF_CLASS_CPU: there is none. */
uint32_t df_platform_other_class(const struct df_platform *platform);

/* Makes the device unified. Its links take no time, so that sums of copy times need no special case, and its memory size is unknown, so that the host's is not
 * counted twice. */
void df_unit_unify(struct df_unit *unit);
/* The units whose tokens lie in the host's memory, a bit for each: the host, and unified devices. */
uint32_t df_platform_on_host(const struct df_platform *platform);

/* The first returns true if copies and launches take the same time on both units; the second, if the units are equal in all that a plan depends on. */
bool df_unit_links_alike(const struct df_unit *a, const struct df_unit *b);
bool df_unit_alike(const struct df_unit *a, const struct df_unit *b);
/* Returns true if a plan for one platform is valid for the other. */
bool df_platform_alike(const struct df_platform *a, const struct df_platform *b);

/* The units to which `unit` copies directly, as a bit mask. */
uint32_t df_platform_peers(const struct df_platform *platform, uint32_t unit);

static inline double df_link_time_s(const struct df_link *link, uint64_t bytes)
{
    uint64_t beyond = bytes > link->threshold_bytes ? bytes - link->threshold_bytes : 0;
    return beyond ? link->latency_s + (double)beyond / link->bytes_per_s : link->latency_s;
}

/* Time of a direct copy between peers. */
static inline double df_peer_time_s(const struct df_platform *platform, uint32_t from, uint32_t to, uint64_t bytes)
{
    double a_s = df_link_time_s(&platform->units[from].peer, bytes);
    double b_s = df_link_time_s(&platform->units[to].peer, bytes);
    return a_s > b_s ? a_s : b_s;
}

/* The time from the end of a copy until it is visible to others. A copy of no bytes takes no handover. */
static inline double df_handover_s(const struct df_platform *platform, uint32_t from, uint32_t to)
{
    return platform->units[from ? from : to].handover_s;
}

/* Time of a copy from one unit's memory to another's: directly between peers, else through the host. */
double df_platform_copy_s(const struct df_platform *platform, uint32_t from, uint32_t to, uint64_t bytes);

#endif
