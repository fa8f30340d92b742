/* count.h - how many operations the formulas of a work do, for the estimate of its time (profiles/estimate/roofline.h).
 *
 * Room:     compiler/count/ knows checked formulas (compiler/formula/) and graphs. Nothing of devices or figures.
 * Rules:    a node is computed once for each value of the indices and ranges that it depends on: what does not depend on
 *           a loop is outside it, and equal nodes are one. Addresses that are affine cost nothing. A read costs as much
 *           as an operation on integers; if its address depends on data, and no cache holds the port, it is a random one.
 * Bytes:    of a port that is read, all of it once, or as much as its reads can touch. Outputs are written once.
 * Ranges:   their ends are evaluated for the work's dimensions and its constant scalars. Ends that depend on an index
 *           are taken at its middle value. Scalars over args have no value here.
 * Threads:  one at a time.
 */
#ifndef DFF_COUNT_H
#define DFF_COUNT_H

#include "compiler/formula/formula.h"
#include "profiles/estimate/roofline.h"

/* Of work `work` of the graph, whose kernel that is. known false: a range has an end that is not known, or memory ran out
 * (which the unit remembers). */
struct dfw_operations dff_count(struct dfc_unit *u, const struct dff_kernel *kernel, const struct df_graph *graph,
                                uint32_t work);

#endif
