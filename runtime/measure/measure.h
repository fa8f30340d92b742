/* measure.h - the measuring mode of a program, by which `dfc profile` learns how long its works take: runs every
 * variant of every work until its mean is known, on the data that really flows there.
 *
 * Flow:     the graph runs once, node after node in topological order (numbers are that), on the calling thread;
 *           tokens are freed as soon as their last reader is done. When a work comes by for the first time its
 *           variants are run again and again on copies of its inputs (an inout is restored before each run, outputs
 *           are scratch), then it fires for the flow. Sources, sinks and `ordered` kernels have effects that must
 *           not be repeated: they run once a wave, and those are their samples (all nodes of a work together).
 *           For their sake alone the flow goes on after its first wave: as far as a run would (--waves, or until a
 *           stream ends; one wave otherwise), max_runs waves or max_s at most. Where such a kernel has a gpu variant
 *           beside the cpu one every second wave fires it, and there are two at least.
 * Ends:     the first call of such a kernel may open a file, the last one write it. When a stream ended, all its calls
 *           were seen, and their plain mean, times the waves, is what such a run spends there. Else the mean is robust
 *           (sampler.h), so a long first call does not count; but of very few calls each does.
 * Devices:  --device as in a run. The emulator runs cpu variants, without its links' and launches' times.
 * Not run:  variants with a cost clause; variants that are known already.
 * Memory:   all is returned, also after failures.
 * Errors:   what a kernel said, with the node's name; DF_E_IO where results cannot be written.
 *
 * Protocol: text lines, fields between tabs, on a descriptor that the parent has opened:
 *               begin TOTAL KNOWN
 *               try KEY                                         it runs now, for the first time
 *               sample KEY MEAN_S CI_S RUNS DROPPED DONE        CI_S is "nan" where there was one run
 *               skip KEY REASON DONE                            it cannot be measured here
 *               end
 *           KEY is DEVICE VARIANT KERNEL DIMS SCALARS HASH JOB_BYTES (hash in 16 hex digits). The parent gives the
 *           keys it knows in the same form, one a line, on another descriptor. Environment: DF_MEASURE="out=3
 *           known=4 goal=0.01 max_runs=1000 max_s=2".
 */
#ifndef DFR_MEASURE_H
#define DFR_MEASURE_H

#include <stdio.h>

#include "runtime/graph/graph.h"
#include "runtime/base/sampler.h"
#include "runtime/graph/work_key.h"

#define DFR_MEASURE_VARIABLE "DF_MEASURE"

/* Whether this process was asked to measure instead of to run. */
bool dfr_measure_asked(void);

/* As the environment says. options: device, emu_all, gpu_mem_bytes, args, log_level count. */
int dfr_measure(const struct df_graph *graph, const struct df_options *options, struct df_error *error);

/* The same with all of it given. known may be NULL. */
int dfr_measure_to(const struct df_graph *graph, const struct df_options *options,
                   const struct dfr_sampler_options *sampler, FILE *out, FILE *known, struct df_error *error);

/* Writes KEY, without an end of line. */
void dfr_measure_print_key(FILE *out, const char *device, const char *variant, const struct dfr_work_key *key);

#endif
