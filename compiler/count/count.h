/* count.h - counts the operations that the formulas of a work perform; the roofline estimate of its time is based on that
 * (profiles/estimate/roofline.h). front/front.c calls it for each work; what code for GPUs does beyond the formulas comes from
 * generate/generate_gpu.c.
 *
 * Room:     compiler/count/ knows checked formulas (compiler/formula/) and graphs. Nothing of devices or figures.
 * Rules:    loop-invariant code is assumed hoisted and common subexpressions merged: a node counts once for each
 *           combination of the indices and ranges that it depends on. Affine addresses are free. A read costs as much
 *           as an integer operation; if its address depends on data and the port fits in no cache, it is a random
 *           access.
 * Bytes:    a port that is read counts once in full, or as far as its reads can reach. Outputs are written once. Streams inside a
 *           fused group are in a cache, or on the GPU's chip.
 * GPUs:     tiles compute the halos of streams inside a group again, and read the halos of inputs again. A group without tiles
 *           writes its streams to memory, and launches a kernel for each.
 * Ranges:   bounds are evaluated with the work's dimensions and constant scalars. Bounds that depend on an index are
 *           taken at the index's middle value; bounds that depend on an arg are unknown.
 * Threads:  one at a time.
 */
#ifndef DFF_COUNT_H
#define DFF_COUNT_H

#include "compiler/formula/formula.h"
#include "profiles/estimate/roofline.h"

/* What code for GPUs does beyond the formulas: dfg_gpu_code() (compiler/generate/) finds it. */
struct dff_gpu_code {
    double launches;
    bool is_tiled;                      /* streams inside a group are in no memory */
    const double *computed;             /* by formula: how often an element is computed; NULL: once */
    const double *read;                 /* by port of the signature: how often an element is read; NULL: once */
};

/* Of work `work` of the graph, whose kernel that is. gpu NULL: on the cpu. known false: a range has an end that is not known, or memory
 * ran out (which the unit remembers). */
struct dfw_operations dff_count(struct dfc_unit *u, const struct dff_kernel *kernel, const struct df_graph *graph,
                                uint32_t work, const struct dff_gpu_code *gpu);

#endif
