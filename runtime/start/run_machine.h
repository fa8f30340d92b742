/* run_machine.h - the steps of df_run_start() that determine the machine, and what can run on it. */
#ifndef DFR_MACHINE_H
#define DFR_MACHINE_H

#include "runtime/engine/engine.h"

/* A run of the graph of which nothing else is known, all zeros. free() it. NULL: no memory. */
struct df_run *dfr_run_new(const struct df_graph *graph);

/* Fills run->devices.ops, run->devices.host, run->devices.limit_bytes, run->machine.n_gpus and run->machine.platform. DF_E_DEVICE if the
 * device that was asked for is not there. */
int dfr_machine_find(struct df_run *run, struct df_error *error);

/* The machine that a run with these options would have, with its workers. It needs no graph of the right sizes: this one's kernels are looked
 * at. If a device that was asked for is not there, it is as described: the run will tell. */
void dfr_machine_describe(const struct df_graph *graph, const struct df_options *options, struct df_platform *platform);

/* Numbers units and workers. run->machine.n_gpus is final by now. */
void dfr_machine_number(struct df_run *run);

/* Will jobs be placed before the run: by the policy that was asked for, or by default? It needs no more than dfr_machine_find(). */
bool dfr_machine_is_placed(const struct df_run *run);

/* Fills run->choice.time_s. Makes run->plan.own if the policy needs a plan and the options' one is not usable. */
int dfr_machine_plan(struct df_run *run, struct df_error *error);

/* The times that are known of the graph's works. The caller frees *own with dfr_times_free(); it is empty if *times is
 * not made for this call. */
int dfr_machine_times(const struct df_run *run, const struct df_times **times, struct df_times *own,
                      struct df_error *error);

/* admit.c. Fills run->choice.able: the units that may run each node, by code, hints and memory. DF_E_REFUSED if a
 * node can run nowhere; the message names it. Sets n_gpus to 0 if the device is auto and no node can use one. */
int dfr_admit(struct df_run *run, struct df_error *error);

/* *plan: the one by which the policy has placed the nodes, or that said which online policy to run by; NULL: there is
 * none. For a policy that places without a plan one is made here, for its memory alone. */
int dfr_machine_places(struct df_run *run, const struct df_plan **plan, struct df_error *error);

#endif
