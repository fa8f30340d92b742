/* inspect.h - what happens around a kernel's call in a run that is looked into: --check=variants, --dump, --poison,
 * --watchdog. A run with none of these has no struct dfr_inspect, and each of its jobs pays one test of a pointer.
 *
 * Memory:   dfr_inspect_create() makes it where an option asks for it; dfr_inspect_destroy() returns it, before the
 *           devices.
 * Threads:  call by CPU workers, each with its own jobs; launch, finished and freed by a GPU's own worker.
 * Errors:   what goes wrong fails the run, with the node and the wave.
 */
#ifndef DFR_INSPECT_H
#define DFR_INSPECT_H

#include "runtime/device/device.h"
#include "runtime/engine/engine.h"

struct dfr_inspect;

/* Is anything of this asked for? Then a GPU's jobs are launched one by one, each when its inputs are there. */
bool dfr_inspect_wanted(const struct df_run *run);
/* After the admission; the plan for memory exists. *run->watch.inspect stays NULL where nothing was asked for. */
int dfr_inspect_create(struct df_run *run, struct df_error *error);
int dfr_inspect_start(struct df_run *run, struct df_error *error);
void dfr_inspect_end(struct df_run *run, bool well); /* all workers have ended: says what is left to say */
void dfr_inspect_destroy(struct df_run *run);

/* A GPU's job before its launch on call->stream, number `place` of those in flight there; and after its end, with its
 * code. */
int dfr_inspect_launch(struct df_run *run, uint32_t unit, uint32_t place, const struct df_call *call,
                       void *const *ports, struct df_error *error);
int dfr_inspect_finished(struct df_run *run, uint32_t unit, uint32_t place, struct df_call *call, int code,
                         void *const *ports);

/* --poison: what a space fills host memory with, by value (to be freed); NULL: nothing, or there is no memory. */
uint8_t *dfr_inspect_poison(const struct df_run *run);
/* --poison: a GPU's memory was given back, and nobody uses it. */
int dfr_inspect_freed(struct df_run *run, struct dfr_device *device, void *address, uint64_t bytes,
                      struct df_error *error);

#endif
