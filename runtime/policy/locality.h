/* locality.h - `--dl`, the data-locality-conscious assignment of hierarchical pipelines (Teodoro et al. 2012, IV-C):
 * when a device has finished a job, it prefers a job that reads what the first one made there to a job that does not.
 *
 * Rule:     If the policy knows no speedups, the dependent job is always preferred. If it does, let d be the dependent
 *           job with the best speedup S_d, and q the job of speedup S_q that the policy would give. d is preferred if
 *           S_d >= S_q (1 - t). t is the share of transfer in q's time on the device: T / (T + time of q). T is the
 *           time to copy those of q's inputs to the device that are not there.
 * Threads:  The thread of a unit's worker calls done() and find() for that unit. If a unit has several workers, a hint
 *           may get lost.
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

/* Finds an offered job that `unit` can run and that reads what its last job left there: the one with the highest
 * speedup. */
bool dfr_locality_find(struct dfr_locality *locality, uint32_t unit, uint64_t *job);

/* The rule for policies that know speedups: is d to be preferred to q on this unit? */
bool dfr_locality_prefers(const struct dfr_locality *locality, uint32_t unit, uint64_t d, uint64_t q);

/* How much faster a unit is than a CPU worker, for this node. INFINITY: the CPU cannot run it. */
double dfr_speedup(const struct dfr_view *view, uint32_t node, uint32_t unit);

#endif
