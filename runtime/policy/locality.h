/* locality.h - `--dl`, the data-locality-conscious assignment of hierarchical pipelines (Teodoro et al. 2012, IV-C):
 * when a device has finished a job, it prefers one that reads what that job made there to one that does not.
 *
 * Rule:     where the policy knows no speedups the dependent job is always preferred. Where it does, d is the dependent
 *           job with the best speedup S_d and q the job that the policy would give, of speedup S_q: d is preferred
 *           where S_d >= S_q (1 - t). t is the share of q's time on the device that goes into transfer: T / (T + time
 *           of q), with T the copies to the device of q's inputs that are not there.
 * Threads:  done() and find() for one unit from the thread of its worker; a unit with several workers may lose a hint.
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

/* A job on offer that `unit` can run and that reads what its last job left there, the one with the highest speedup. */
bool dfr_locality_find(struct dfr_locality *locality, uint32_t unit, uint64_t *job);

/* The rule for policies that know speedups: is d to be preferred to q on this unit? */
bool dfr_locality_prefers(const struct dfr_locality *locality, uint32_t unit, uint64_t d, uint64_t q);

/* How much faster a unit is than a CPU worker. INFINITY: the CPU cannot run it. */
double dfr_speedup(const struct dfr_view *view, uint32_t node, uint32_t unit);

#endif
