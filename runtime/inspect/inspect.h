/* inspect.h - the hooks around kernel calls in an inspected run: --check=variants, --dump, --record-job, --replay, --poison and --watchdog.
 * start/ creates them; CPU workers call them through the run, GPU workers (gpu/) directly. This room knows the engine and the devices'
 * interface. Without any of these options there is no struct dfr_inspect, and each job pays for testing one pointer.
 *
 * Memory:   dfr_inspect_create() allocates struct dfr_inspect if an option needs it. dfr_inspect_destroy() frees it,
 *           before the devices are closed.
 * Threads:  CPU workers call run->watch.call for their own jobs; a GPU's worker calls launch, finished and freed;
 *           everything else is called by the thread that creates and ends the run.
 * Errors:   any error fails the run; the message names the node and the wave.
 */
#ifndef DFR_INSPECT_H
#define DFR_INSPECT_H

#include "runtime/device/device.h"
#include "runtime/engine/engine.h"

struct dfr_inspect;

/* Returns whether an option requests inspection. If so, a GPU's jobs are launched one by one, each when its inputs are there. */
bool dfr_inspect_wanted(const struct df_run *run);
/* Called after the admission, when the plan for memory exists. Fills run->watch.inspect and run->watch.call; both
 * stay NULL if nothing was asked for. */
int dfr_inspect_create(struct df_run *run, struct df_error *error);
int dfr_inspect_start(struct df_run *run, struct df_error *error);
void dfr_inspect_end(struct df_run *run, bool well); /* after all workers have ended: prints the last messages */
void dfr_inspect_destroy(struct df_run *run);

/* Around a GPU's job: before its launch on call->stream, and after its end, with its code. `place` is its number
 * among the jobs that may be in flight there. */
int dfr_inspect_launch(struct df_run *run, uint32_t unit, uint32_t place, struct df_call *call,
                       void *const *ports, struct df_error *error);
int dfr_inspect_finished(struct df_run *run, uint32_t unit, uint32_t place, struct df_call *call, int code,
                         void *const *ports);

/* --poison: the byte that fills host memory, by value. The caller frees the array. NULL: no filling, or out of memory. */
uint8_t *dfr_inspect_poison(const struct df_run *run);
/* --poison: fills a freed range of a GPU's memory. */
int dfr_inspect_freed(struct df_run *run, struct dfr_device *device, void *address, uint64_t bytes,
                      struct df_error *error);

#endif
