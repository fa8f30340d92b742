/* args.h - the command line of a generated program: libdf's options, the graph's args and its dynamic params. df_main()
 * (program_main.c) parses it; dfc's commands use its limits. This room implements the main program that dfc generates.
 * It knows all of the runtime, and no planner and no compiler.
 *
 * Words:    an *arg* is a scalar of the graph that is given at each start. A *dynamic param* is a size that may be
 *           given at the start; graph and plan are then rebuilt.
 * Forms:    those of base/option.h, with long names; and -h for --help. Nothing else is accepted.
 * Memory:   dfr_args_free() frees the arrays of dfr_args_parse(). Strings are borrowed from argv and the graph.
 * Errors:   DF_E_ARGUMENT with the message for the user (exit status 2).
 */
#ifndef DF_ARGS_H
#define DF_ARGS_H

#include "runtime/base/option.h"
#include "runtime/ranks/ranks.h"
#include "runtime/record/resumable.h"
#include "runtime/graph/graph.h"
#include "runtime/program/progress.h"

/* The most that --inflight and --gpu-jobs take, for dfc's commands too. */
enum { DFR_MAX_INFLIGHT = 1000000, DFR_MAX_GPU_JOBS = 1024, DFR_MAX_GPU_NUMBER = 63 };

enum dfr_stats_form { DFR_STATS_NONE, DFR_STATS_TEXT, DFR_STATS_JSON };

struct dfr_command_line {
    struct df_options options;          /* its args point to the array below; platform, plan and planner are filled by
                                         * the caller */
    union df_scalar *args;              /* by number of the graph's arg */
    int64_t *params;                    /* by dynamic param */
    const char **dumps;                 /* options.dumps: one for each --dump */
    const char **record_jobs;           /* options.record_jobs, in the same way */
    const char *replay;                 /* a recorded job, which gives args and params; NULL: the graph runs */
    bool params_changed;                /* a param differs from what the graph was made with */
    enum dfr_stats_form stats;
    bool stats_totals;                  /* nothing is said of kernels and nodes, and no job is timed by itself */
    unsigned on_error;                  /* 1: stop, 2: skip; 0: neither was given */
    const char *bad_files_path;         /* a file that cannot be read is listed there, and skipped; NULL: no file has the list */
    uint32_t n_bad_files;               /* of a run that has ended otherwise well */
    const char *stats_path;             /* NULL: stderr for text, stdout for JSON */
    enum dfr_progress_form progress;
    const char *platform_path;          /* NULL: none given */
    struct dfr_resumable_options resume; /* neither journal nor chunk: the run is none of these */
    bool journal;                       /* one is written */
    char *own_journal;                  /* its name, if none was given */
    char *resume_command, *journal_command; /* this command line with --resume, and with --journal; NULL: no memory */
    bool range;                         /* --waves gave the first wave, too */
    bool cluster;                       /* the graph runs on all ranks of an mpirun */
    struct dfr_ranks_options ranks;
    struct dfr_stages_options stages;   /* stages on ranks; path NULL: as the graph says by @stage */
    bool staged;                        /* ranks share neither waves nor parts: they have stages */
    unsigned stream_policy;             /* one more than that of --stream-policy; 0: none was given */
    bool help, version;                 /* one of them was asked for: then args need no values */
};

/* `params`: NULL-terminated names of compile-time params, which are rejected as options with an explanation. NULL: there are none. */
int dfr_args_parse(const struct df_graph *g, const char *const *params, int argc, char **argv, struct dfr_command_line *line,
                   struct df_error *error);
void dfr_args_free(struct dfr_command_line *line);

/* Prints the text of --help. */
void dfr_args_help(const struct df_graph *g, const char *program, FILE *out);

/* The name of option i of libdf's own, without dashes; NULL if there are not so many. No arg and no dynamic param may
 * have such a name. */
const char *dfr_option_name(size_t i);

/* Those options. */
extern const struct dfr_options dfr_program_options[];

/* Parses the value of --rehearse, "10x" or nothing, into df_options.rehearse, a double. */
dfr_set_option dfr_set_rehearse;

#endif
