/* lock.h - the lock file: a plan that is written down, so that programs can be built with it (--lock) and a later plan can be compared with it
 * (`dfc plan --check`).
 *
 * Room:     compiler/lock/ reads, writes and compares lock files, and makes plans of them. It knows planners and the front end's paths, and no command line.
 * Format:   JSON, with a line for each unit, each divided node and each node, in the graph's order. Units and nodes are objects by name. The same plan gives
 *           the same bytes. Numbers have nine digits, which give a priority (a float) back exactly, and weights 17. Members that are not known are skipped.
 * Members:  format, dfc, program, source (from the lock's folder); policy, run_as, objective, inflight, joint_waves; graph, times, platform (fingerprints:
 *           16 hex digits); predicted (wave_s, bound_s, and with several waves in flight inflight_wave_s, inflight_bound_s); units (class, workers,
 *           memory_bytes for one wave); divided (weights of the parts); nodes (unit, priority, time_s, from, times by class without
 *           launches, kernel, size, bytes, code).
 * Errors:   functions that return bool or a pointer return false or NULL after they have reported an error, at its place in the lock file if there is one.
 */
#ifndef DFC_LOCK_H
#define DFC_LOCK_H

#include <stdio.h>

#include "compiler/types/program.h"
#include "partition/partition.h"
#include "runtime/base/report_table.h"

struct dfc_lock;

/* What a lock is made of; all is borrowed. */
struct dfc_lock_facts {
    const struct dfp_problem *problem;
    const struct df_plan *plan;
    const struct dfc_division *divisions; /* by which the graph was made */
    size_t n_divisions;
    const char *source;                 /* the .df, and the lock file's path (NULL: standard output), as they are written */
    const char *path;
    bool throughput;                    /* the plan's objective */
};
struct dfc_lock *dfc_lock_make(const struct dfc_lock_facts *facts);
void dfc_lock_free(struct dfc_lock *lock);     /* NULL: does nothing */

struct dfc_lock *dfc_lock_read(const char *path);
/* The caller checks the FILE for errors. */
void dfc_lock_print(FILE *out, const struct dfc_lock *lock);

/* The .df that a lock file names, from the present folder; malloc'ed. */
char *dfc_lock_source(const struct dfc_lock *lock);
const char *dfc_lock_policy(const struct dfc_lock *lock);
bool dfc_lock_throughput(const struct dfc_lock *lock);
uint32_t dfc_lock_inflight(const struct dfc_lock *lock); /* 0: the plan is for one wave */
/* The divisions by which the lock's graph was made; their names are the lock's. Free them with dfc_lock_divisions_free(). */
bool dfc_lock_divisions(const struct dfc_lock *lock, struct dfc_division **divisions, size_t *n);
void dfc_lock_divisions_free(struct dfc_division *divisions, size_t n);

/* Makes the plan that the lock says, for a graph with the same nodes and a platform with its units. Nothing is searched. The plan is locked. */
bool dfc_lock_plan(const struct dfc_lock *lock, const struct dfp_problem *problem, struct df_plan **plan);

/* Prints a table of the differences between a lock and one that was made now. *worse: the number of figures (times of a wave, bounds, memory) that grew by
 * more than the tolerance, a share. */
bool dfc_lock_compare(FILE *out, enum dfr_form form, const struct dfc_lock *was, const struct dfc_lock *is, double tolerance, unsigned *worse);

#endif
