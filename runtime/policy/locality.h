/* locality.h - implements `--dl`, the data-locality-conscious assignment of hierarchical pipelines (Teodoro et al. 2012, IV-C): a device that has finished
 * a job prefers a job that reuses data in its memory. policy_eager.c asks for such a job, sorted.c for its lists, and ahead.c takes speedups from here.
 *
 * Rule:     If the policy knows no speedups, a job that reads what the device's last job made is always preferred. If
 *           it does, let q be the job of speedup S_q that the policy would give, and d the job of the highest speedup
 *           S_d of those with an input in the device's memory; of several, the one whose other inputs are copied
 *           soonest. d is preferred if S_d >= S_q (1 - t). t is the share of transfer in q's time on the device:
 *           T / (T + time of q). T is the time to copy those of q's inputs to the device that are not there.
 * Threads:  done() and find() are called by the unit's worker thread. If a unit has several workers, the record of its last job may be
 *           overwritten.
 */
#ifndef DFR_LOCALITY_H
#define DFR_LOCALITY_H

#include "runtime/policy/offer.h"

struct dfr_locality {
    const struct dfr_view *view;
    const struct dfr_offers *offers;
    _Atomic uint64_t last[DF_MAX_UNITS];/* the job that the unit finished last */
};

void dfr_locality_init(struct dfr_locality *locality, const struct dfr_view *view, const struct dfr_offers *offers);
void dfr_locality_done(struct dfr_locality *locality, uint64_t job, uint32_t unit);

/* Finds, among the offered jobs that `unit` can run and that read an output of its last job, the one with the highest speedup. For policies that do not
 * rank jobs by speedup. */
bool dfr_locality_find(struct dfr_locality *locality, uint32_t unit, uint64_t *job);

/* The least speedup that a job needs to be preferred to q on this unit: S_q (1 - t). NaN: no job is. */
double dfr_locality_least(const struct dfr_view *view, uint32_t unit, uint64_t q);
/* Returns true if an input of the job is in the unit's memory. */
bool dfr_locality_reuses(const struct dfr_view *view, uint64_t job, uint32_t unit);
/* The time to copy the job's missing inputs to the unit's memory. */
double dfr_locality_copy_s(const struct dfr_view *view, uint64_t job, uint32_t unit);

/* How much faster a unit is than a CPU worker, for this node. INFINITY: the CPU cannot run it. */
double dfr_speedup(const struct dfr_view *view, uint32_t node, uint32_t unit);

#endif
