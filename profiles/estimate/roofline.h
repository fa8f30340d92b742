/* roofline.h - applies the roofline model to a work that was never measured. Its estimated time is the longer of the
 * time to compute its operations and the time to move its bytes, at the machine's measured rates (Williams, Waterman,
 * Patterson: Roofline, CACM 2009).
 *
 * Rates:    a kernel in C has no counts. Once its time on the cpu is known, its time on a GPU is estimated from the ratio of
 *           their figures. It may be bound by memory or by computing, so the smaller ratio counts; and the GPU cannot be
 *           faster than its memory.
 * Counts:   struct dfw_operations is of one job on one class: the code for GPUs may compute values again, and keeps others on the
 *           chip. Who counts them decides what an operation is (compiler/count/).
 * Classes:  of operations 0 is the cpu, 1 any device. A job of the cpu has the threads of its work (`threads`), else one.
 * Threads:  pure functions.
 */
#ifndef DFW_ROOFLINE_H
#define DFW_ROOFLINE_H

#include "profiles/estimate/known.h"

#define DFW_FLOPS_A_DIVISION 8.0        /* what a division or a square root is taken for: so many additions */
#define DFW_FLOPS_A_FUNCTION 24.0       /* and exp, sin and their like */

struct dfw_operations {
    bool known;                         /* false: nobody counted, or could */
    bool shared;                        /* of a part of a node: its share of the node's */
    double flops[2], divisions[2], functions[2]; /* in f32, in f64 */
    double integers;                    /* operations on integers and truth values, and reads that caches serve: as many
                                         * take as long as those in f32 */
    double bytes_read, bytes_written;   /* once each: what a stencil reads again is in a cache */
    double random_reads;                /* somewhere in what no cache holds */
    double atomics;                     /* updates */
    double launches;                    /* of kernels, by a job of the GPU; what it takes beyond the first is added. 0: one */
};

/* Adds so many times what another does; known and launches stay. */
void dfw_operations_add(struct dfw_operations *to, const struct dfw_operations *o, double times);

/* Bytes per second that so many threads, 1 or more, read and write together: as measured for 1, 2, 4, … and for all, and on
 * a line between these. 0: not known. */
double dfw_bandwidth_of(const struct dfw_machine *machine, uint32_t threads);

/* Seconds of a job on so many threads. NaN: a figure is missing that the counts need. */
double dfw_roofline_s(const struct dfw_operations *operations, const struct dfw_machine *machine, uint32_t threads);

/* Keeps what a platform says of its classes: of the class of the device that of its first unit with figures. own_gpu false:
 * nothing of gpu, because an emulated one computes on the host. */
void dfw_known_machine(struct dfw_known *known, const struct df_platform *platform, bool own_gpu);

/* Seconds of the work on the GPU by the ratio of the figures, if it takes cpu_s on the cpu. NaN: no figure is known of both. */
double dfw_rates_s(const struct dfw_known *known, const struct df_graph *graph, uint32_t work, double cpu_s);

/* Replaces the stated default by such estimates where it can: for works whose operations are known, for inserted copies on
 * the cpu, and on the GPU for works whose time on the cpu is known. Without figures such a work keeps DF_TIME_DEFAULT on
 * the GPU, as a share 1 / DF_DEFAULT_SPEEDUP of the cpu's time. operations: for each work those on the cpu, then those on the GPU; NULL:
 * none are known. times were made by dfw_known_times(). DF_E_MEMORY. */
int dfw_roofline_times(const struct dfw_known *known, const struct df_graph *graph,
                       const struct dfw_operations *operations, struct df_times *times, struct df_error *error);

#endif
