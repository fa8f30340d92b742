/* remapper.c - offers the mapping search of remap.c to runs on ranks, as a member of a program's planner, dfp_planner of partition/planner/make_plan.c
 * (dfr_remapper of runtime/tuning/tuning.h).
 */
#include <stdlib.h>
#include <string.h>

#include "partition/tuning/remap.h"
#include "runtime/base/error.h"

static int open_it(uint32_t n_stages, uint32_t n_processors, const double *time_s, bool by_demand, void **context, struct df_error *error)
{
    struct dfp_remap *remap = calloc(1, sizeof *remap);
    struct dfp_pipeline l = { 0 };
    int code = remap ? dfp_pipeline_new(n_stages, n_processors, &l, error) : dfr_error_memory(error);
    if (code == DF_OK) {
        memcpy(l.time_s, time_s, (size_t)n_stages * n_processors * sizeof *time_s);
        l.speed[0] = 1;
        dfp_pipeline_speeds(&l);
        l.feeding = by_demand ? DFP_BY_DEMAND : DFP_IN_ORDER;
        l.replicate_groups = true;
        code = dfp_remap_new(&l, remap, error);
    }
    dfp_pipeline_free(&l);
    if (code == DF_OK)
        *context = remap;
    else
        free(remap);
    return code;
}

static void close_it(void *context)
{
    dfp_remap_free(context);
    free(context);
}

const struct dfr_remapper dfp_remapper = { open_it, dfp_remap_ask, close_it };
