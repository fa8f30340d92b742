/* plan_report.h - describes a plan in figures and words, for the legend of a picture and for `dfc partition`.
 *
 * This room has the table of all planners, makes complete plans, and reports them. It knows all rooms of partition/ except the pictures.
 *
 * Text:     UTF-8, written into the caller's buffer. The functions give the buffer, so that a call can stand in a
 *           printf.
 */
#ifndef DFP_REPORT_H
#define DFP_REPORT_H

#include "partition/partition.h"

struct dfp_report {
    struct dfp_evaluation evaluation;
    uint32_t n_arcs, cut_arcs;          /* there is an arc for each value and each node that reads it */
    double best_single_s;
    uint32_t best_single_unit;
    bool single_is_faster;              /* best_single_s is better by more than 1 %; only in a plan for one wave */
};

int dfp_report_make(const struct dfp_problem *problem, const struct df_plan *plan, struct dfp_report *report,
                    struct df_error *error);

/* partition/draw/critical.c: the chain of jobs that determines the length of the wave, the last one first. `chain` has room for all nodes. */
int dfp_critical_chain(const struct dfp_problem *problem, const uint16_t *place, const float *priority,
                       uint32_t *chain, uint32_t *n_chain, struct df_error *error);

/* Returns true if reader r is the value's first reader of its node. A node may read a value in several slots. */
bool dfp_reader_is_first(const struct df_graph *graph, const struct df_value *value, uint32_t r);

/* "12 ns", "3.4 us", "250 ms", and "512 B", "4 MiB": as runtime/base/text.h writes them, without zeros after the
 * point. */
const char *dfp_text_time(char buffer[32], double time_s);
const char *dfp_text_bytes(char buffer[32], uint64_t bytes);
/* What a run does in the unit's memory; runtime/start/size.c does just that. It is one of
 *     "fits in 6 GiB with 4 waves in flight",
 *     "fits in 1 GiB with 1 wave in flight, not with 4",
 *     "fits in 1 GiB with 1 of the 4 waves in flight asked for",
 *     "one wave needs 80 MiB of 64 MiB: blocks will be evicted", of the host "one wave does not fit in 64 MiB",
 * or "" if the memory's size is not known (0). inflight 0: as many waves as a run has by default. */
const char *dfp_text_promise(char buffer[160], const struct df_plan *plan, uint32_t unit, uint64_t inflight);
/* The percentage by which a load exceeds its bound; 0 if rounding puts it below. */
double dfp_percent_above(double load_s, double bound_s);
/* "" for a plan of one wave, else for example "6.9 ms a wave with 8 in flight; the busiest unit or copy engine is
 * loaded 6.8 ms, 0.1 % above the bound; 2 waves are placed jointly, this is the first". If the plan has an online
 * policy run: "… in flight as dmda decides in the run; …". */
const char *dfp_text_waves(char buffer[200], const struct df_plan *plan);
/* Appends to the first n characters what that text says after the number in flight. */
const char *dfp_text_load(char buffer[200], size_t n, const struct df_plan *plan);
/* "all on gpu0 is predicted 1.4x faster (2.1 ms)", or "" */
const char *dfp_text_remark(char buffer[128], const struct dfp_problem *problem, const struct dfp_report *report);

#endif
