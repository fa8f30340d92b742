/* machine.h - the steps of df_run_start() that find out about the machine. */
#ifndef DFR_MACHINE_H
#define DFR_MACHINE_H

#include "runtime/engine/engine.h"

/* Fills run->devices.ops, n_gpus, platform and gpu_limit. DF_E_DEVICE where the device asked for is not there. */
int dfr_machine_find(struct df_run *run, struct df_error *error);

/* Numbers units and workers by n_gpus. */
void dfr_machine_number(struct df_run *run);

/* Fills time_s; makes own_plan where the policy needs a plan that the options' is not. */
int dfr_machine_plan(struct df_run *run, struct df_error *error);

/* admit.c. Fills run->choice.able: the units that may run each node, by code, hints and memory. DF_E_REFUSED names the node
 * that can run nowhere. May set n_gpus to 0 where device is auto and no node can use one. */
int dfr_admit(struct df_run *run, struct df_error *error);

/* The plan by which the policy has placed the nodes, or that said which online policy to run by; NULL: there is none.
 * Policies that place without a plan get one made, for its memory alone. */
int dfr_machine_places(struct df_run *run, const struct df_plan **plan, struct df_error *error);

#endif
