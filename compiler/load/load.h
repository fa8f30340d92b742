/* load.h - loads everything that planners need, as a command's options say: graph, platform and times. It also checks
 * the paths of a command's outputs against the files of that graph.
 *
 * Room:     compiler/load/ knows the front end, the planners' model and the profiles. It knows no command line: a
 *           command fills struct dfc_common.
 * Errors:   functions that return bool return false after they have reported an error.
 */
#ifndef DFC_LOAD_H
#define DFC_LOAD_H

#include "compiler/divide/divide.h"
#include "compiler/front/front.h"
#include "compiler/lock/lock.h"
#include "partition/partition.h"
#include "profiles/profiles.h"

/* What the user asked for, by the options that all commands for one graph share. */
struct dfc_common {
    const char *path;                   /* the .df, the only positional argument */
    bool json;                          /* diagnostics go to stdout as JSON (dsl/diag.h) */
    bool path_optional;                 /* true: the command can do without a .df */
    struct dfc_define *defines;
    size_t n_defines;
    const char **import_dirs, **lib_dirs, **lib_names; /* -I -L -l */
    size_t n_import_dirs, n_lib_dirs, n_lib_names;
    const struct dfc_library *exported; /* --lib; NULL: a program */
    const char *graph;                  /* --graph=NAME:DIM=SIZE,… of what shows a graph in place of main; NULL: main */
    const char *output;                 /* -o */
    const char *platform;               /* --platform FILE */
    const struct df_platform *machine;  /* in place of a file: one machine of a cluster; NULL: none */
    const char *policy;                 /* --policy */
    const char *lock;                   /* --lock FILE: its plan is kept; NULL: a plan is made */
    const char *device;                 /* --device, as written; NULL: auto */
    bool untrusted;                     /* --untrusted */
    bool emu_all;
    bool no_fuse;                       /* --no-fuse */
    struct dfc_tile gpu_tile;           /* --gpu-tile; rows 0: each group's own */
    bool no_warnings;                   /* -w */
    uint64_t gpu_mem_bytes;
    unsigned workers, inflight, gpu_jobs;
    unsigned parts;                     /* --parts; 0: dfc decides */
    uint32_t waves, passes;             /* that runs have; 0: not known, dfc decides */
    struct dfp_options partition;       /* --ratio, --vertex-weight, --seed, --objective, --budget, --time-cap */
};

/* A graph with everything that planners need. The platform is that of --platform; else the first one declared in the
 * .df; else the stored probe; else the stated default, with one GPU if some kernel has a gpu variant or cost, or if
 * --emu-all is given. */
struct dfc_loaded {
    struct dfl_sink *sink;
    struct dfc_front *front;
    struct df_platform platform;
    const char *opencl_class;           /* as in struct dfc_front_options */
    const char *platform_source;        /* "file", "graph", "probe" or "default" */
    struct dfw_known known;             /* the measurements behind `times` */
    struct dfw_rates rates;             /* that the program learnt */
    struct df_times times;
    struct dfp_problem problem;
    struct dfc_division *divisions;     /* that dfc decided by itself */
    size_t n_divisions;
    struct dfc_division *declined;      /* that were tried and would not pay: after_s is what a wave would take */
    size_t n_declined;
    uint32_t waves;                     /* the number for which accs are divided and passes chosen */
    bool waves_guessed;                 /* their number was neither given */
    bool waves_learnt;                  /* or the latest run with --learn did */
    struct dfp_passes passes;           /* n is 0: there is no acc, or nothing to choose */
    struct dfc_lock *lock;              /* --lock; NULL: none */
};
/* Loads the graph, its platform and its times. -o is checked by dfc_output_check(); a command checks its other outputs
 * itself. need_code: every kernel that is used must have code, and its files must exist. false: reported. */
bool dfc_load(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded);
/* Loads only the graph: no platform, no times, no problem. false: reported. */
bool dfc_load_graph(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded);
void dfc_unload(struct dfc_loaded *loaded);
/* The front end, with a graph in which these nodes are divided. opencl_class: that of a struct dfc_loaded. false: reported. */
bool dfc_run_front(const struct dfc_common *common, const char *opencl_class, bool need_code, const struct dfc_division *divisions,
                   size_t n_divisions, struct dfl_sink *sink, struct dfc_front **front);
/* Loads what was measured of the graph's kernels on the classes of --device: on the cpu and on GPUs; and on OpenCL's devices, if the platform has units
 * of another class for them. db NULL: nothing was. */
int dfc_known_load(const struct dfc_common *common, const struct df_platform *platform, struct dfw_db *db, const struct df_graph *graph,
                   struct dfw_known *known, struct df_error *error);

/* load_divided.c: divides nodes if that is predicted to be faster (compiler/divide/): `divisions`, and a new graph with its times. dfc_load()
 * calls it. With a lock file the nodes are divided as it says. false: they cannot be (reported). */
bool dfc_load_divided(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded);

/* Renumbers the platform's device classes to match the graph's, because planners compare the numbers: the graph's classes come first, in the
 * graph's order, then those that it does not know. false: too many classes (reported). */
bool dfc_align_classes(struct df_platform *platform, const struct df_graph *graph);

/* The place of the node's call, for loaded->sink. */
struct dfl_loc dfc_node_loc(const struct dfc_loaded *loaded, const struct df_node *node);

/* Checks that some unit of the platform has enough memory for each node's job. false: reported at the call. */
bool dfc_check_memory(const struct dfc_loaded *loaded);
/* Checks that the graph can run on ranks: it has no live source. false: reported at the call. */
bool dfc_check_ranks(const struct dfc_loaded *loaded);
/* Warns of the first node whose job needs more memory than this machine has and can run on the host alone, unless the
 * platform says that its host has as much. */
void dfc_warn_memory(const struct dfc_loaded *loaded);
/* Reports what opening the database took over from the files that programs wrote with --learn. NULL: does nothing. */
void dfc_report_learned(const struct dfw_db *db);
/* Warns if implausible rows of the database were skipped. db NULL allowed. */
void dfc_report_senseless(const struct dfw_db *db);

/* The policy that places the nodes if none is named: "gp" if all times are known, else "gp-thesis". */
const char *dfc_default_placer(const struct dfc_loaded *loaded);

/* Makes the plan: that of the lock file if there is one, else by the policy that is named, or the default one. false: reported. */
bool dfc_plan_make(const struct dfc_common *common, const struct dfc_loaded *loaded, struct df_plan **plan);

/* ---- outputs ---- */

/* Checks an output's path before any work is done. Rejects a path that cannot be written, or that is one of the
 * inputs: the .df, its imports, its kernels' code, the platform's file, the lock file, the profile database. If
 * loaded is NULL, only the .df, the platform's file and the lock file count. NULL and "-" are good. false: reported. */
bool dfc_output_check(const struct dfc_common *common, const struct dfc_loaded *loaded, const char *path);
/* Rejects two outputs of one command that are the same file. A path may be NULL. false: reported; the command exits with 2. */
bool dfc_outputs_apart(const char *a_option, const char *a, const char *b_option, const char *b);
/* Rejects an output that is the profile database: `db`, or the default one if it is NULL. Otherwise as above. */
bool dfc_output_is_no_database(const char *db, const char *path);
/* Rejects a file name whose extension contradicts `form` ("SVG" or "DOT"), such as g.png. Unknown extensions are accepted. false: reported;
 * the command exits with 2. */
bool dfc_output_is_picture(const char *option, const char *path, const char *form);

#endif
