/* check_variants.h - --check=variants: each job's gpu variant runs on the same inputs as its cpu variant, and what both
 * gave is compared.
 *
 * Flow:     the run is serial and on the host (policy_serial.c), so the first difference is the same each time; values
 *           that flow on are the cpu variant's. A kernel without a cpu variant runs on the device and is not compared.
 *           What neither variant wrote is the same in both: outputs are filled alike before.
 * Left out: kernels that are `ordered` or a `stream` (they may keep a state, which two variants cannot share), sinks,
 *           and what does not fit the device; each with one notice.
 * Device:   one of its own, opened for the largest job, used by the run's one worker.
 */
#ifndef DFR_CHECK_VARIANTS_H
#define DFR_CHECK_VARIANTS_H

#include "runtime/engine/engine.h"

struct dfr_check;

/* Finds the device that the options ask for, and sets the run up to be serial and on the host. Before the machine is
 * looked for. */
int dfr_check_find(struct df_run *run, struct df_error *error);
/* Whether the check's device can run this node, by the code that the variant in question has. */
bool dfr_check_can(const struct df_run *run, uint32_t node);

int dfr_check_create(struct df_run *run, struct dfr_check **check, struct df_error *error); /* after the admission */
void dfr_check_destroy(struct dfr_check *check);

/* Around the call of a job's cpu variant. before: keeps what the job will change. after: runs the gpu variant and
 * compares; where they differ, or the variant fails, the run fails and DF_FAILED is given, else DF_OK. */
void dfr_check_before(struct dfr_check *check, const struct df_call *call, void *const *ports);
int dfr_check_after(struct dfr_check *check, struct df_call *call, void *const *ports);
/* Instead: the job of a kernel without a cpu variant. */
int dfr_check_only(struct dfr_check *check, struct df_call *call, void *const *ports);

/* Says how much was compared. After a run that went well. */
void dfr_check_report(const struct dfr_check *check);

#endif
