/* count.h - counts the operations that the formulas of a work perform; the roofline estimate of its time is based on
 * that (profiles/estimate/roofline.h).
 *
 * Room:     compiler/count/ knows checked formulas (compiler/formula/) and graphs. Nothing of devices or figures.
 * Rules:    loop-invariant code is assumed hoisted and common subexpressions merged: a node counts once for each
 *           combination of the indices and ranges that it depends on. Affine addresses are free. A read costs as much
 *           as an integer operation; if its address depends on data and the port fits in no cache, it is a random
 *           access.
 * Bytes:    a port that is read counts once in full, or as far as its reads can reach. Outputs are written once.
 * Ranges:   bounds are evaluated with the work's dimensions and constant scalars. Bounds that depend on an index are
 *           taken at the index's middle value; bounds that depend on an arg are unknown.
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
