/* probe_impl.h - what the files of the probe share. */
#ifndef DFW_PROBE_IMPL_H
#define DFW_PROBE_IMPL_H

#include "profiles/profiles.h"

/* ---- probe_link.c: one link ---- */

#define DFW_MAX_COPIES 100              /* of one size */
#define DFW_GIVE_UP_S 20.0              /* on a copy that never ends */

struct dfw_link_bench {
    const char *name;                   /* of the back end, for messages */
    unsigned n_sizes;                   /* 64 B, 128 B, …; at most 32 */
    const struct dfr_sampler_options *sampling; /* max_runs: at most DFW_MAX_COPIES */
    int (*copy)(void *arg, uint64_t bytes, double *seconds, struct df_error *error); /* one, timed */
    void (*progress)(void *arg, double done_of_1); /* NULL: none */
    void *arg;
};
int dfw_link_measure(const struct dfw_link_bench *bench, struct df_link *link, struct df_error *error);

/* What a copy took that began at begin_s (dfr_clock_s()) and of which `event`, right after
 * it, was just found complete. */
double dfw_copy_seconds(struct dfr_device *device, struct dfr_event *event, double begin_s);

/* ---- probe_peer.c: links between devices ---- */

/* devices[u], open, is unit u of the platform, u > 0. Fills pairs and the units' peer links. */
int dfw_probe_peers(const struct dfr_device_ops *ops, struct dfr_device *const *devices, struct df_platform *platform,
                    struct dfw_pairs *pairs, dfw_progress *progress, void *arg, struct df_error *error);

/* ---- platform_text.c ---- */

/* A name of the language made of any text: letters, digits and single underscores, no digit first, never empty. */
void dfw_identifier(char *to, size_t size, const char *from);

#endif
