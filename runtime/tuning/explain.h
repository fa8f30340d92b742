/* explain.h - explains what pairs of stages and processors differ by, with few stages and few processors.
 *
 * Input:    a table [stage * n_processors + processor] of logarithms, and a weight for each; a weight of 0: nothing is known of the pair.
 * Output:   a number for each stage and each processor, most of them 0. What is left of a pair is its value without both.
 * Way:      as in Tukey's median polish, one line of the table after the other loses its median. Here the next line is the one that explains
 *           most, of two equal ones the one that does so for more pairs, or a stage. A line's median is the weighted one, of two equal ones that which is nearer to 0. What
 *           explains less than `least` is left.
 */
#ifndef DFR_TUNING_EXPLAIN_H
#define DFR_TUNING_EXPLAIN_H

#include <stdint.h>

/* table: the values, which are changed to what is left of them. scratch: 2 * (n_stages + n_processors) doubles. */
void dfr_explain(uint32_t n_stages, uint32_t n_processors, double *table, const float *weight, double least, double *of_stage,
                 double *of_processor, double *scratch);

#endif
