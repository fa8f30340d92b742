/* emit_slow.h - reports the formulas that leave the fast ways of generated code: `dfc explain` (commands/cmd_explain.c) prints
 * all of them, a build (build/build_units.c) those that are several times slower.
 */
#ifndef DFC_EMIT_SLOW_H
#define DFC_EMIT_SLOW_H

#include <stdbool.h>
#include <stdio.h>

struct dfc_front;

/* A line for each formula of the graph that leaves the fast ways, and an empty one behind them. has_gpus: also of those that GPUs have. false: no memory. */
bool dfc_emit_slow(FILE *out, const struct dfc_front *front, bool has_gpus);
/* A note, with a hint, of each kernel that is several times slower than it need be. false: no memory. */
bool dfc_note_slow(const struct dfc_front *front);

#endif
