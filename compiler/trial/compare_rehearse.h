/* compare_rehearse.h - `dfc compare --rehearse`: runs of a graph in which kernels are replaced by waits
 * (docs/rehearse.md). They run inside dfc: no program is built, so a graph that has costs but no code suffices.
 * commands/cmd_compare.c calls it.
 *
 * Errors:   functions that return bool return false after they have reported an error.
 */
#ifndef DFC_COMPARE_REHEARSE_H
#define DFC_COMPARE_REHEARSE_H

#include "compiler/trial/compare_stats.h"
#include "compiler/load/load.h"

struct dfc_rehearsal {                  /* of one policy */
    const char *policy;                 /* its name; or DFC_NO_POLICY, whose plan is what dfc would put into a program */
    char ran[24];                       /* the policy that the runs go by; of DFC_NO_POLICY known after the first run */
    struct df_plan *plan;               /* made by the policy; else one that has times and platform alone */
    double scale;                       /* as asked for; after the first run, the one that was taken */
    uint32_t waves, inflight;           /* inflight: after the first run */
    double predicted_s;
};

/* Plans for the policy, on the loaded platform. scale: as in struct df_options. */
bool dfc_rehearsal_make(const struct dfc_common *common, const struct dfc_loaded *loaded, const char *policy,
                        uint32_t waves, double scale, struct dfc_rehearsal *rehearsal);
/* One run. */
bool dfc_rehearsal_run(const struct dfc_common *common, const struct dfc_loaded *loaded,
                       struct dfc_rehearsal *rehearsal, struct dfc_run_stats *stats);
/* Fills predicted_s: the makespan in virtual time. Called after a run. */
bool dfc_rehearsal_predict(const struct dfc_common *common, const struct dfc_loaded *loaded,
                           struct dfc_rehearsal *rehearsal);
void dfc_rehearsal_free(struct dfc_rehearsal *rehearsal);

#endif
