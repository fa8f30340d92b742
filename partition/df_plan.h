/* df_plan.h - dfc's planner, for C programs that build their graph by hand (df.h). It lets df_run_start() and df_simulate() place the nodes before the run,
 * by the policies gp, gp-thesis, heft and peft. Generated programs (compiler/emit/emit_c.c) and rehearsals (compiler/trial/compare_rehearse.c) have it,
 * too.
 *
 *     #include <df.h>
 *     #include <df_plan.h>
 *     …
 *     options.planner = &dfp_planner;
 *     options.policy = "gp";
 *
 *     cc program.c -o program $(pkg-config --cflags --libs libdfplan)
 *
 * Input:    the times of df_builder_cost(), in seconds for one job. A class without one that has code counts with a
 *           default by the bytes of the job. The machine is options.platform, or this one with a default for its links.
 * Given:    A source whose outputs are provided (struct df_buffer) needs neither a variant nor a time. It costs nothing, and its tokens lie on the host.
 *           (df_simulate() ignores buffers, so there it needs a time.)
 * Cost:     gp searches for about 100 ms of one core's time, the others for much less. Policies that place nodes by
 *           themselves (all-cpu, all-gpu) use the planner, too: it plans where tokens lie in memory.
 * Memory:   The planner is constant and the library's. The options borrow it until df_run_start() or df_simulate() has
 *           returned. The plan is the run's, and df_run_wait() frees it.
 * Threads:  It is called on the thread that starts the run. gp may start threads, which have ended when it returns.
 *           Several threads may start runs at once. The same input gives the same plan on every machine.
 * Errors:   df_run_start() returns DF_E_REFUSED, with a message, if a node fits nowhere, and DF_E_MEMORY.
 */
#ifndef DFP_DF_PLAN_H
#define DFP_DF_PLAN_H

#ifdef __cplusplus
extern "C" {
#endif

struct df_planner;

extern const struct df_planner dfp_planner;

#ifdef __cplusplus
}
#endif

#endif
