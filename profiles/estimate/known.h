/* known.h - the measurements of a graph's kernels, independent of the database, and the execution times derived from
 * them for any graph of these kernels.
 *
 * dfc loads it from the database. A program with dynamic params carries it, and times its graph by it when it is
 * started with other values. The same code does both, so both say the same. This room is linked into programs, so it
 * does not know SQLite; it knows runtime/ alone.
 *
 * Times:    the first of these that exists gives the time of a work:
 *             its cost clause;
 *             what was measured at exactly these sizes;
 *             the estimators of its kernel (estimate.h);
 *             the time on the cpu, for an emulated GPU that runs the cpu variant's code;
 *             its operations and the machine's figures (roofline.h);
 *             on a GPU: its time on the cpu and the ratio of the machine's figures (roofline.h);
 *             the stated default, which on a GPU is a fixed share of the cpu's time.
 * Demand:   that of the point at exactly these sizes; for an estimated time that of the kernel's point with the nearest
 *           number of bytes; for an emulated GPU that of the cpu, whose code it runs in the host's memory.
 * Classes:  points are of the cpu and of one device, which is of class gpu, or of the class that dfw_known.cls names. `other` has those of a device of a
 *           further class.
 * Pack:     all of it as bytes, for an image. The same points give the same bytes.
 * Memory:   dfw_known_free() returns what dfw_known_load() (profiles/profiles.h) or dfw_known_open() gave.
 */
#ifndef DFW_KNOWN_H
#define DFW_KNOWN_H

#include "runtime/graph/plan.h"
#include "runtime/graph/work_key.h"

struct dfw_point {                      /* one measured size of one variant */
    char *dims, *scalars;               /* as in dfr_work_key */
    uint64_t job_bytes;
    double mean_s;                      /* of all its sample sets, combined as by dfw_points_load() */
    struct df_demand demand;            /* both 0: nothing is known */
    struct df_spread spread;            /* all 0 in a pack, which has none */
};
struct dfw_points {
    uint32_t n;
    struct dfw_point *at;               /* sorted by dfw_point_compare(); no two are equal */
};
int dfw_point_compare(const struct dfw_point *a, const struct dfw_point *b); /* by dims, then scalars, then bytes */
void dfw_points_free(struct dfw_points *points);

struct dfw_kernel_points {
    char *kernel;
    struct dfw_points of[2];            /* those of the cpu variant; those of the gpu variant on one device */
};
void dfw_kernel_points_free(struct dfw_kernel_points *points);

struct dfw_machine {                    /* what is known of the machine's units of one class */
    struct df_figures figures;          /* of one thread; of a whole device */
    double bytes_per_s;                 /* of its memory, by all threads; 0: not known */
    double launch_s;                    /* of a GPU; a pack does not have it, since a program has no operations */
};

struct dfw_known {
    char cls[32];                       /* the class of the device whose points are of[1], and machine[1]; "": gpu */
    struct dfw_known *other;            /* of the same kernels on a device of another class; NULL: there is none */
    bool emulated;                      /* the gpu is the emulated one: somebody asked for it */
    bool emu_all;                       /* as for dfr_times_default() */
    struct dfw_machine machine[2];      /* of the cpu, of the device; roofline.h fills it */
    uint32_t n_kernels;
    struct dfw_kernel_points *kernels;  /* mostly in the order of the graph's kernels; some may have no points */
};
/* The number of known->cls in the graph; DF_NONE: it has no such class. */
uint32_t dfw_known_class(const struct dfw_known *known, const struct df_graph *graph);
int dfw_known_times(const struct dfw_known *known, const struct df_graph *graph, struct df_times *times,
                    struct df_error *error);
/* *spread: [class * n_works + work], as in `times`, which came of `known`; the caller frees it. Of works that were not measured it is 0. DF_E_MEMORY. */
int dfw_known_spread(const struct dfw_known *known, const struct df_graph *graph, struct df_times *times, struct df_spread **spread, struct df_error *error);
void dfw_known_free(struct dfw_known *known);

/* Serialises it; the caller frees the bytes. */
int dfw_known_pack(const struct dfw_known *known, unsigned char **bytes, size_t *size, struct df_error *error);
/* Reads a pack; *known borrows nothing of it. DF_E_FORMAT: it is no pack, or is cut off, or has times that make no
 * sense. */
int dfw_known_open(const unsigned char *bytes, size_t size, struct dfw_known *known, struct df_error *error);

#endif
