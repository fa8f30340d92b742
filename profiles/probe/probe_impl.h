/* probe_impl.h - internal interface of this room, which measures this machine through the device interface and prints
 * the result as a platform. It knows the back ends of runtime/ and the database's header. probe.c has the other files
 * measure: probe_….c links and hand-over, figures_….c the performance figures.
 */
#ifndef DFW_PROBE_IMPL_H
#define DFW_PROBE_IMPL_H

#include "profiles/profiles.h"

/* ---- probe_link.c: one link ---- */

#define DFW_MAX_COPIES 100              /* the most copies of one size */
#define DFW_GIVE_UP_S 20.0              /* a copy that takes longer is taken as one that never ends */

struct dfw_link_bench {
    const char *name;                   /* of the back end, for messages */
    unsigned n_sizes;                   /* 64 B, 128 B, …; at most 32 */
    const struct dfr_sampler_options *sampling; /* max_runs: at most DFW_MAX_COPIES */
    int (*copy)(void *arg, uint64_t bytes, double *seconds, struct df_error *error); /* makes one copy and times it */
    void (*progress)(void *arg, double done_of_1); /* NULL: not called */
    void *arg;
};
int dfw_link_measure(const struct dfw_link_bench *bench, struct df_link *link, struct df_error *error);

/* The seconds of a copy that began at begin_s (dfr_clock_s()), when `event`, which follows it, has just been found
 * complete. */
double dfw_copy_seconds(struct dfr_device *device, struct dfr_event *event, double begin_s);

/* How many sizes of copies there are: 64 B, 128 B, … most_bytes, which is a power of two. */
static inline unsigned dfw_link_sizes(uint64_t most_bytes)
{
    unsigned n = 1;
    while ((UINT64_C(64) << (n - 1)) < most_bytes)
        n++;
    return n;
}

/* ---- probe_peer.c: links between devices ---- */

/* Fills *pairs and the units' peer links. devices[u] is unit u of the platform, u > 0, and is open with a pool of so many
 * bytes, a power of two. */
int dfw_probe_peers(const struct dfr_device_ops *ops, struct dfr_device *const *devices, struct df_platform *platform,
                    uint64_t pool_bytes, struct dfw_pairs *pairs, dfw_progress *progress, void *arg, struct df_error *error);

/* ---- figures_host.c ---- */

/* Measures the host in about so many seconds, and at least what touching its arrays takes. array_bytes: of each of
 * STREAM's arrays; 0: by STREAM's rule. Fills *figures only if all was measured. */
int dfw_figures_host(double seconds, uint64_t array_bytes, struct dfw_figures *figures, dfw_progress *progress,
                     void *arg, struct df_error *error);

/* ---- figures_device.c ---- */

/* Measures device `index`, which is such a unit, in about so many seconds. Its back end must support benchmark loops, and the device must not be open.
 * Fills *figures only if all was measured. */
int dfw_figures_device(const struct dfr_device_ops *ops, uint32_t index, const struct df_unit *unit, double seconds,
                       struct dfw_figures *figures, dfw_progress *progress, void *arg, struct df_error *error);

/* ---- probe_handover.c ---- */

/* Fills unit->handover_s, of device `index` of that kind. Its links and launch are known. platform: for the emulator, the
 * units that it stands for; else NULL. The device is opened here, so it must not be open already. */
int dfw_probe_handover(enum df_device_kind kind, uint32_t index, const struct df_platform *platform, bool quick,
                       struct df_unit *unit, struct df_error *error);

/* ---- platform_text.c ---- */

/* Makes a name of the language of any text: letters, digits and single underscores, with no digit first, never
 * empty. */
void dfw_identifier(char *to, size_t size, const char *from);

#endif
