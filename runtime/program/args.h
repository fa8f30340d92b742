/* args.h - the command line of a generated program: the options of libdf, the graph's args and its dynamic params.
 *
 * Forms:    --name=VALUE, --name VALUE, --flag. The last of several counts. Nothing else is accepted.
 * Memory:   dfr_args_parse() gives arrays that dfr_args_free() returns; strings borrow from argv and the graph.
 * Errors:   DF_E_ARGUMENT with the sentence that the user sees (exit 2).
 */
#ifndef DF_ARGS_H
#define DF_ARGS_H

#include <stdio.h>

#include "runtime/graph/graph.h"

/* The most that --inflight and --gpu-jobs take, for dfc's commands too. */
enum { DFR_MAX_INFLIGHT = 1000000, DFR_MAX_GPU_JOBS = 1024 };

enum dfr_stats_form { DFR_STATS_NONE, DFR_STATS_TEXT, DFR_STATS_JSON };

struct dfr_command_line {
    struct df_options options;          /* args point to the array below; platform, plan and planner are the caller's */
    union df_scalar *args;              /* by arg of the graph */
    int64_t *params;                    /* by dynamic param */
    const char **dumps;                 /* options.dumps: one for each --dump */
    bool params_changed;                /* one of them differs from what the graph was made with */
    enum dfr_stats_form stats;
    const char *platform_path;          /* NULL: none given */
    bool help, version;                 /* asked for: then args need no values */
};

int dfr_args_parse(const struct df_graph *g, int argc, char **argv, struct dfr_command_line *line,
                   struct df_error *error);
void dfr_args_free(struct dfr_command_line *line);

/* Text of --help. */
void dfr_args_help(const struct df_graph *g, const char *program, FILE *out);

/* The names of libdf's own options, without dashes, from 0 on; NULL behind the last: no arg or dynamic param may be
 * called so. */
const char *dfr_option_name(size_t i);

/* args_values.c. The name behind --device=; false: none of auto, none, emu, cuda, sim. */
bool dfr_parse_device(const char *text, enum df_device_kind *device);
bool dfr_parse_evict(const char *text, int *evict); /* DF_EVICT_… */

#endif
