/* known.h - what was measured of a graph's kernels, apart from the database that it lies in, and the times that follow
 * from it for any graph of these kernels. dfc reads it from the database; a program with dynamic params carries it and
 * times its graph by it when it is started with other values. As the same code does both, both say the same.
 *
 * Times:    of each work by its cost clause; else as it was measured at exactly these sizes; else by the estimators of
 *           its kernel (estimate.h); else, where the emulated GPU runs the cpu variant's code, as on the cpu; else the
 *           stated default.
 * Pack:     all of it as bytes, for an image. Same points, same bytes.
 * Linked:   into programs too, so nothing here knows of SQLite.
 * Memory:   dfw_known_free() returns what dfw_known_load() (profiles.h) or dfw_known_open() gave.
 */
#ifndef DFW_KNOWN_H
#define DFW_KNOWN_H

#include "runtime/graph/plan.h"
#include "runtime/graph/work_key.h"

struct dfw_point {                      /* one measured size of one variant */
    char *dims, *scalars;               /* as in dfr_work_key */
    uint64_t job_bytes;
    double mean_s;                      /* sample sets combined as dfw_points_load() does */
};
struct dfw_points {
    uint32_t n;
    struct dfw_point *at;               /* by dfw_point_compare(), no two alike */
};
int dfw_point_compare(const struct dfw_point *a, const struct dfw_point *b); /* by dims, scalars, bytes */
void dfw_points_free(struct dfw_points *points);

struct dfw_kernel_points {
    char *kernel;
    struct dfw_points of[2];            /* by class: the cpu variant's, and the gpu variant's on one device */
};
void dfw_kernel_points_free(struct dfw_kernel_points *points);

struct dfw_known {
    bool emulated;                      /* the gpu's points are the emulator's */
    bool emu_all;                       /* as for dfr_times_default() */
    uint32_t n_kernels;
    struct dfw_kernel_points *kernels;  /* as a rule by the graph's numbers; those without points too */
};
int dfw_known_times(const struct dfw_known *known, const struct df_graph *graph, struct df_times *times,
                    struct df_error *error);
void dfw_known_free(struct dfw_known *known);

/* The bytes are the caller's to free. */
int dfw_known_pack(const struct dfw_known *known, unsigned char **bytes, size_t *size, struct df_error *error);
/* DF_E_FORMAT: no such pack, cut off, or times that make no sense. Borrows nothing. */
int dfw_known_open(const unsigned char *bytes, size_t size, struct dfw_known *known, struct df_error *error);

#endif
