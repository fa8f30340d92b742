/* launch.h - launch configurations of bare __global__ functions. Used by declare/check_kernel.c, elab/to_builder.c and
 * emit/emit_launch.c.
 */
#ifndef DFC_LAUNCH_H
#define DFC_LAUNCH_H

#include <stdio.h>

#include "compiler/types/frontend.h"

#define DFC_MAX_BLOCK 1024              /* threads of a block */

enum dfc_extent { DFC_GRID_X, DFC_GRID_Y, DFC_GRID_Z, DFC_BLOCK_X, DFC_BLOCK_Y, DFC_BLOCK_Z, DFC_SHARED };

/* Which extent value i is in a launch of n values. */
enum dfc_extent dfc_launch_extent(unsigned n, unsigned i);
/* The extent's name, and the least and most that it may be. */
const char *dfc_launch_limit(enum dfc_extent extent, int64_t *least, int64_t *most);

/* Checks the declaration. If it is right, callee->launch[0] is the variant, or launch[1] of OpenCL. */
bool dfc_launch_check(struct dfc_unit *u, struct dfc_callee *callee, const struct dfl_variant *variant, bool gpu);
/* Checks one use of the kernel, with that use's dimensions. */
bool dfc_launch_check_use(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                          const uint64_t *dims);

/* Prints the values, separated by commas, as C++ over the `df_generated::number`s of emit_launch.c. Returns how many
 * there are. */
unsigned dfc_launch_print(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                          const struct dfl_variant *variant);

#endif
