/* explain.h - explains the deviations of stage-processor pairs by as few slow stages and slow processors as possible: a
 * sparse variant of Tukey's median polish. tuning.c calls it.
 *
 * Input:    a table [stage * n_processors + processor] of logarithms, and a weight for each entry; weight 0 means that
 *           nothing is known about the pair.
 * Output:   one number for each stage and each processor, most of them 0. The residual of a pair is its value minus
 *           both.
 * Way:      median polish subtracts the median from one line of the table after another. Here the next line is the one
 *           that explains most; among equal ones the one that explains more pairs, else a stage. A line's median is
 *           weighted; of two candidates the one nearer to 0 is taken. Lines that explain less than `least` are left.
 */
#ifndef DFR_TUNING_EXPLAIN_H
#define DFR_TUNING_EXPLAIN_H

#include <stdint.h>

/* table: the values, which are changed to what is left of them. scratch: 2 * (n_stages + n_processors) doubles. */
void dfr_explain(uint32_t n_stages, uint32_t n_processors, double *table, const float *weight, double least, double *of_stage,
                 double *of_processor, double *scratch);

#endif
