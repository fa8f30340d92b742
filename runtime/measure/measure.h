/* measure.h - the measuring mode of a program, by which `dfc profile` learns how long the program's works take. Every
 * variant of every work runs until its mean is known, on the data that really flows there. The program's main() calls
 * it if the environment asks for it. This room knows the engine's single jobs (engine/single_job.h) and the devices'
 * interface, but it starts no run.
 *
 * Words:    the *flow* is the graph's run in this mode: each node fires once in each wave, and its outputs go to its
 *           readers.
 * Flow:     the graph runs once, on the calling thread, node after node in topological order, which is the order of
 *           their numbers. A token is freed as soon as its last reader is done. When a work comes by for the first
 *           time, its variants are run again and again on copies of its inputs; an inout is restored before each run,
 *           and outputs are scratch. Then the work fires for the flow.
 * Effects:  sources, sinks and `ordered` kernels have effects that must not be repeated. They run once a wave, and
 *           these runs are their samples (of all nodes of a work together). For their sake alone the flow goes on
 *           after its first wave: as far as a run would (--waves, or until a stream ends; else one wave), but for
 *           max_runs waves or max_s at most. If such a kernel has a gpu variant beside the cpu one, every second wave
 *           fires that, and there are at least two waves.
 * Ends:     the first call of such a kernel may open a file, and the last may write it. If a stream has ended, all
 *           calls were seen; then their plain mean, times the waves, is what such a run spends there. Else the mean
 *           is robust (sampler.h), so a long first call does not count; but among very few calls, each does.
 * Load:     if asked for, each cpu variant that is repeated is measured three times, each for a third of max_s: alone,
 *           beside N - 1 threads that run the same variant on copies of their own, and beside N - 1 that run STREAM's
 *           triad (triad.h). For those that are not repeated the flow runs a second time, with the same waves: each of
 *           their calls is beside the triad then. They never run beside themselves. N is the number of workers that compute on the host's cores in a run with these options;
 *           emulated GPUs count. It is at most the number of cores. If the second flow cannot begin again where the
 *           first one did, it ends early, and these variants are known alone only.
 * Devices:  --device as in a run. The emulator runs cpu variants, without the times of its links and launches. It checks
 *           what they touch if a run does (--emu-check), which is a part of what a job takes there. A gpu variant's time
 *           is its own: several launches wait behind a delay until all of them are enqueued, so what a launch costs the
 *           host is not in it. The model adds that for each job (struct df_unit, launch_s).
 * Caches:   a cpu variant is repeated on several copies of its ports in turns, which take as much memory as the tokens
 *           of a wave. So the caches hold as much of its inputs as in a run. Each thread that runs it beside the
 *           measurement has as many. The emulator copies as many bytes as other
 *           tokens have before each repeated launch.
 * Cold:     if asked for, as many bytes as the device's cache has are written before each repeated launch. Otherwise a
 *           repetition on a real GPU finds its inputs there as far as they fit.
 * Not run:  variants with a cost clause; variants that are known already.
 * Limit:    no call may run longer than --watchdog, or else ten times max_s and at least 5 s. When the flow
 *           runs a second time, ten times the longest call that was measured in the first one, if that is more. A thread of its own looks
 *           at that. It writes the samples that are known, and which call it is. Then it ends the process by
 *           options.expired.
 * Memory:   all of it is returned, after failures too.
 * Errors:   what a kernel said, with the node's name; DF_E_IO if results cannot be written.
 *
 * Protocol: text lines, with tabs between fields, on a descriptor that the parent has opened:
 *               begin TOTAL KNOWN
 *               try KEY                                         it runs now, for the first time.
 *               sample KEY MEAN_S CI_S RUNS DROPPED DONE        CI_S is "nan" if there was one run.
 *               loaded WORKERS SELF_S TRIAD_S ONE_BYTES_PER_S ALL_BYTES_PER_S    of the sample in the next line.
 *               unloaded KEY REASON                             it is measured alone only.
 *               skip KEY REASON DONE                            it cannot be measured here.
 *               late KERNEL VARIANT NODE WAVE LIMIT_S           a call runs for so long; nothing more follows. KERNEL is
 *                                                               the kernel's number in the graph.
 *               end
 *           KEY is DEVICE VARIANT KERNEL DIMS SCALARS HASH JOB_BYTES (HASH in 16 hex digits). DONE counts the results
 *           so far. On another descriptor the parent gives the keys that it knows, in the same form, one a line; and
 *           once more with a tab and "loaded" behind it, if it was measured under load.
 *           Environment: DF_MEASURE="out=3 known=4 goal=0.01 max_runs=1000 max_s=2 loaded=0 cold=0".
 */
#ifndef DFR_MEASURE_H
#define DFR_MEASURE_H

#include <stdio.h>

#include "runtime/graph/graph.h"
#include "runtime/base/sampler.h"
#include "runtime/graph/work_key.h"

#define DFR_MEASURE_VARIABLE "DF_MEASURE"

/* What the time of a kernel becomes while other workers run, and what was measured to judge it by. */
struct dfr_load {
    uint32_t workers;                   /* N: all that run, this one included */
    double self_s, triad_s;             /* mean times beside N - 1 workers that run the same kernel (0: it never runs
                                         * beside itself); STREAM's triad */
    double one_bytes_per_s, all_bytes_per_s; /* STREAM's triad on one core; on all cores */
};

/* Whether this process was asked to measure instead of to run. */
bool dfr_measure_asked(void);

/* Measures as the environment says. Of the options, device, emu_all, gpu_mem_bytes, workers, waves, args, log_level,
 * watchdog_s and expired count. */
int dfr_measure(const struct df_graph *graph, const struct df_options *options, struct df_error *error);

/* The same, with all of that given by the caller. known may be NULL. */
int dfr_measure_to(const struct df_graph *graph, const struct df_options *options,
                   const struct dfr_sampler_options *sampler, bool loaded, bool cold, FILE *out,
                   FILE *known, struct df_error *error);

/* Writes KEY, without an end of line. */
void dfr_measure_print_key(FILE *out, const char *device, const char *variant, const struct dfr_work_key *key);

#endif
