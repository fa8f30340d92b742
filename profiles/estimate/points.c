/* points.c - arrays of measured sizes of a kernel (struct dfw_points): sorting and freeing them, for the rest of
 * profiles/ and the report of `dfc profile`.
 */
#include <stdlib.h>
#include <string.h>

#include "profiles/estimate/known.h"

int dfw_point_compare(const struct dfw_point *a, const struct dfw_point *b)
{
    int order = strcmp(a->dims, b->dims);
    if (!order)
        order = strcmp(a->scalars, b->scalars);
    return order ? order : (a->job_bytes > b->job_bytes) - (a->job_bytes < b->job_bytes);
}

void dfw_points_free(struct dfw_points *points)
{
    for (uint32_t i = 0; i < points->n; i++) {
        free(points->at[i].dims);
        free(points->at[i].scalars);
    }
    free(points->at);
    *points = (struct dfw_points){ 0 };
}

void dfw_kernel_points_free(struct dfw_kernel_points *points)
{
    free(points->kernel);
    dfw_points_free(&points->of[0]);
    dfw_points_free(&points->of[1]);
    *points = (struct dfw_kernel_points){ 0 };
}
