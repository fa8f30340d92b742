/* measure.h - the measuring mode of a program, for `dfc profile`: measures how long each work of the graph takes. Every
 * variant of every work runs until its mean is known, on the data that reaches it in the graph. The program's main()
 * (program/program_main.c) enters this mode if the environment requests it; compiler/commands/cmd_profile.c starts the program so, and
 * reads the results. This room knows the engine's single jobs (engine/single_job.h) and the devices' interface, but it
 * starts no run.
 *
 * Words:    the *flow* is the execution of the graph in this mode: each node fires once in each wave, and its outputs
 *           go to its readers.
 * Flow:     the graph runs once, on the calling thread, node by node in topological order, which is the order of their
 *           numbers. A token is freed after its last reader. When a work occurs for the first time, its variants are
 *           run repeatedly on copies of its inputs; inouts are restored before each run, and outputs go to scratch.
 *           Then the work fires for the flow.
 * Effects:  sources, sinks and `ordered` kernels have side effects that must not be repeated. They run once per wave,
 *           and these runs are their samples (of all nodes of a work together). For their sake the flow continues after
 *           its first wave: as far as a run would (--waves, or until a stream ends; else one wave), but for at most
 *           max_runs waves or max_s. If such a kernel has both a gpu and a cpu variant, they alternate from wave to
 *           wave, and there are at least two waves.
 * Ends:     the first call of such a kernel may open a file, and the last may write it. If a stream has ended, all
 *           calls were seen, and the plain mean is used, because that times the number of waves is what a run spends.
 *           Otherwise the mean is robust (base/sampler.h), so that a long first call is an outlier; among very few calls,
 *           each counts.
 * Load:     if requested, each cpu variant that can be repeated is measured three times, for a third of max_s each:
 *           alone, beside N - 1 threads that run the same variant on their own copies, and beside N - 1 threads that
 *           run STREAM's triad (triad.h). For variants that cannot be repeated, the flow runs a second time with the
 *           same waves, each of their calls beside the triad; they never run beside themselves. N is the number of
 *           workers that compute on the host's cores in a run with these options, emulated GPUs included, and at most
 *           the number of cores. If the second flow cannot start from the same point as the first, it ends early, and
 *           these variants are known only without load.
 * Devices:  --device as in a run. The emulator runs cpu variants, without the times of its links and launches. It
 *           checks memory accesses if a run does (--emu-check), because that is part of a job's time there. The time of
 *           a gpu variant excludes the launch overhead: several launches are enqueued behind a delay and therefore
 *           execute back to back. The model adds the overhead per job (struct df_unit, launch_s).
 * Caches:   a cpu variant is repeated on several copies of its ports in turn, which together take as much memory as the
 *           tokens of a wave, so caches hold as much of its inputs as in a run. Each thread that runs it under load has
 *           as many. The emulator copies as many bytes as other tokens have before each repeated launch.
 * Cold:     if requested, the device's cache is flushed before each repeated launch, by writing as many bytes as it
 *           has. Otherwise a repetition on a real GPU finds its inputs there as far as they fit.
 * Not run:  variants with a cost clause for the class that they would run on, and variants that are known already.
 * Limit:    no call may run longer than --watchdog, or else ten times max_s and at least 5 s, or 60 s with an OpenCL
 *           device, whose driver may compile a kernel at its first launch; in the second flow, ten times the longest
 *           call of the first, if that is more. A watchdog thread enforces that: it writes the samples known so far
 *           and the call in question, and then ends the process through options.expired.
 * Memory:   is freed on all paths, after failures too.
 * Errors:   the kernel's message, with the node's name; DF_E_IO if results cannot be written.
 *
 * Protocol: text lines, with tabs between fields, on a descriptor that the parent has opened:
 *               begin TOTAL KNOWN
 *               try KEY                                         it is about to run for the first time.
 *               sample KEY MEAN_S CI_S RUNS DROPPED DONE        CI_S is "nan" if there was one run.
 *               loaded WORKERS SELF_S TRIAD_S ONE_BYTES_PER_S ALL_BYTES_PER_S    of the sample in the next line.
 *               unloaded KEY REASON                             it is measured only without load.
 *               skip KEY REASON DONE                            it cannot be measured here.
 *               late KERNEL VARIANT NODE WAVE LIMIT_S           a call runs for so long; nothing more follows. KERNEL is
 *                                                               the kernel's number in the graph.
 *               end
 *           KEY is DEVICE VARIANT KERNEL DIMS SCALARS HASH JOB_BYTES (HASH in 16 hex digits). DONE counts the results
 *           so far. On another descriptor the parent passes the keys that it knows, in the same form, one per line; a
 *           key that was also measured under load appears again, followed by a tab and "loaded".
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

/* Returns whether the environment requests the measuring mode instead of a run. */
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
