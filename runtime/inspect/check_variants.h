/* check_variants.h - --check=variants: runs each job's gpu variant on the same inputs as its cpu variant, and compares
 * the outputs. inspect.c calls it around each job; start/run.c calls dfr_check_find(), and start/admit.c asks which
 * nodes the device can run.
 *
 * Flow:     the run is serial and on the host (policy/policy_serial.c), so the first difference is the same in each run.
 *           Readers get the cpu variant's outputs. A kernel without a cpu variant runs on the check's device and is not
 *           compared. Before each variant its outputs are filled with the same pattern, so bytes that neither variant
 *           writes compare equal.
 * Left out: kernels that are `ordered` or a `stream` (they may have a state, which two variants cannot share), sinks,
 *           and jobs that do not fit on the device and have a cpu variant. One notice is printed per reason. A run is
 *           rejected if a job does not fit on the device and has no cpu variant.
 * Device:   opened for the check, with memory for the largest job. The run's only worker uses it.
 */
#ifndef DFR_CHECK_VARIANTS_H
#define DFR_CHECK_VARIANTS_H

#include "runtime/device/devices.h"
#include "runtime/engine/engine.h"

struct dfr_check;

/* Finds the first device of these back ends that can run the program, and makes the run serial and on the host. Call it before
 * dfr_machine_find(). */
int dfr_check_find(struct df_run *run, const struct dfr_back_ends *ends, struct df_error *error);
/* Whether the check's device can run this node, that is, whether the program has device code for it. Copies, and nodes
 * whose output the caller gives (buffers.h), do not run there. */
bool dfr_check_can(const struct df_run *run, uint32_t node);

/* Call it after dfr_admit(). */
int dfr_check_create(struct df_run *run, struct dfr_check **check, struct df_error *error);
void dfr_check_destroy(struct dfr_check *check);

/* Around the call of a job's cpu variant. before: keeps what the job will change. after: runs the gpu variant and
 * compares; if the cpu variant skipped the wave, the gpu variant must, too. If they differ, or if the variant fails, the
 * run fails and DF_FAILED is given; else cpu_code, which is DF_OK or DF_SKIP. */
void dfr_check_before(struct dfr_check *check, const struct df_call *call, void *const *ports);
int dfr_check_after(struct dfr_check *check, struct df_call *call, void *const *ports, int cpu_code);
/* Instead of these two calls: runs the job of a kernel without a cpu variant. */
int dfr_check_only(struct dfr_check *check, struct df_call *call, void *const *ports);

/* Prints how much was compared. Called after a run that went well. */
void dfr_check_report(const struct dfr_check *check);

#endif
