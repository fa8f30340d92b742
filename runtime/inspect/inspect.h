/* inspect.h - what happens around a kernel's call in a run that is looked into: --check=variants, --dump, --poison and
 * --watchdog. This room knows the engine and the devices' interface. A run with none of these options has no struct
 * dfr_inspect, and each of its jobs pays one test of a pointer.
 *
 * Memory:   dfr_inspect_create() makes struct dfr_inspect if an option asks for it. dfr_inspect_destroy() returns it,
 *           before the devices are closed.
 * Threads:  run->watch.call is called by CPU workers, each with its own jobs; launch, finished and freed by a GPU's own
 *           worker; all else by the thread that makes and ends the run.
 * Errors:   what goes wrong fails the run; the message names the node and the wave.
 */
#ifndef DFR_INSPECT_H
#define DFR_INSPECT_H

#include "runtime/device/device.h"
#include "runtime/engine/engine.h"

struct dfr_inspect;

/* Does an option ask for any of this? Then a GPU's jobs are launched one by one, each when its inputs are there. */
bool dfr_inspect_wanted(const struct df_run *run);
/* Called after the admission, when the plan for memory exists. Fills run->watch.inspect and run->watch.call; both
 * stay NULL if nothing was asked for. */
int dfr_inspect_create(struct df_run *run, struct df_error *error);
int dfr_inspect_start(struct df_run *run, struct df_error *error);
void dfr_inspect_end(struct df_run *run, bool well); /* after all workers have ended: prints the last messages */
void dfr_inspect_destroy(struct df_run *run);

/* Around a GPU's job: before its launch on call->stream, and after its end, with its code. `place` is its number
 * among the jobs that may be in flight there. */
int dfr_inspect_launch(struct df_run *run, uint32_t unit, uint32_t place, const struct df_call *call,
                       void *const *ports, struct df_error *error);
int dfr_inspect_finished(struct df_run *run, uint32_t unit, uint32_t place, struct df_call *call, int code,
                         void *const *ports);

/* --poison: what a space fills host memory with, by value. The caller frees it. NULL: nothing, or there is no
 * memory. */
uint8_t *dfr_inspect_poison(const struct df_run *run);
/* --poison: fills a piece of a GPU's memory that was given back and that nobody uses. */
int dfr_inspect_freed(struct df_run *run, struct dfr_device *device, void *address, uint64_t bytes,
                      struct df_error *error);

#endif
