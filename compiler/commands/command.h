/* command.h - the commands of dfc and what they share: options that mean the same everywhere, loading a graph with its
 * times and platform, files that appear whole or not at all.
 *
 * A command is one file (cmd_NAME.c) and one line in the table of main.c.
 * Exit:     0, 1 for the user's errors (reported), 2 for usage.
 */
#ifndef DFC_COMMAND_H
#define DFC_COMMAND_H

#include <signal.h>

#include "compiler/front/front.h"
#include "partition/partition.h"
#include "profiles/profiles.h"
#include "runtime/base/output.h"

struct dfc_command {
    const char *name;                   /* NULL: compile */
    const char *about;                  /* one line for `dfc --help` */
    const char *usage;                  /* whole text of `dfc NAME --help` */
    int (*run)(int argc, char **argv);  /* argv[0] is the command's name */
};
extern const struct dfc_command dfc_command_compile, dfc_command_probe, dfc_command_profile, dfc_command_partition,
    dfc_command_compare, dfc_command_simulate, dfc_command_explain;

/* Options common to commands that read a graph. dfc_common_option() takes argv[*i] (and its value, moving *i) where it
 * is one of them: 1 taken, 0 not one of them, -1 wrong (reported; exit 2). */
struct dfc_common {
    const char *path;                   /* the .df, the only positional argument */
    bool path_optional;                 /* set by a command that can do without it */
    struct dfc_define *defines;
    size_t n_defines;
    const char **import_dirs, **lib_dirs, **lib_names; /* -I -L -l */
    size_t n_import_dirs, n_lib_dirs, n_lib_names;
    const char *output;                 /* -o */
    const char *platform;               /* --platform FILE */
    const char *policy;                 /* --policy */
    const char *device;                 /* --device, as written; NULL: auto */
    bool emu_all;
    uint64_t gpu_mem_bytes;
    unsigned workers, inflight, gpu_jobs;
    struct dfp_options partition;       /* --ratio, --vertex-weight, --seed, --objective, --budget, --time-cap */
};
int dfc_common_option(struct dfc_common *common, int argc, char **argv, int *i);
/* Their lines for a command's usage text. */
#define DFC_COMMON_USAGE \
    "  -D NAME=VALUE            value of a param\n" \
    "  -I DIR                   where imported files are looked for, after the importing file's folder\n" \
    "  -L DIR, -l NAME          folders and libraries for the linker\n" \
    "  --platform=FILE          machine to plan for (what 'dfc probe' writes); else the platform in the .df,\n" \
    "                           else the stored probe, else a stated default\n" \
    "  --policy=NAME            policy that places nodes (gp where times are known, else gp-thesis)\n" \
    "  --ratio=total|per-worker            share of the CPU from total times, or per worker (gp-thesis)\n" \
    "  --vertex-weight=gpu|cpu             times that balance the partition (gp-thesis)\n" \
    "  --seed=N                            of the partitioner\n" \
    "  --objective=latency|throughput      one wave soon, or many waves a second (gp; else throughput for streams)\n" \
    "  --budget=N|Nx            evaluations to plan with, or N times as many as by default (gp)\n" \
    "  --time-cap=SECONDS       plan no longer; the plan then depends on the machine (gp)\n" \
    "  --device=auto|none|emu|cuda|sim     GPUs to use (auto: cuda or none)\n" \
    "  --emu-all                every kernel with a cpu variant may run on the emulated GPU\n" \
    "  --gpu-mem=SIZE           use no more of each GPU's memory (6GiB, 512MiB, …)\n" \
    "  --workers=N, --inflight=N, --gpu-jobs=N    CPU workers, waves in flight, jobs in flight per GPU\n"
/* One option with a value, as --name=VALUE or --name VALUE: 1, 0 and -1 as above. For a command's own options. */
int dfc_option_value(const char *name, int argc, char **argv, int *i, const char **value);
/* A whole number within bounds. false: reported. */
bool dfc_parse_count(const char *name, const char *text, unsigned long least, unsigned long most,
                     unsigned long *count);
/* A policy that places nodes before the run; NULL is the default one. false: reported. */
bool dfc_policy_places(const char *policy);
/* Reads the whole command line of a command for one graph: its own options by `own` (1, 0 and -1 as above), else the
 * common ones. 0, or 2 for a usage error (reported). */
int dfc_parse_options(const struct dfc_command *command, int argc, char **argv, struct dfc_common *common,
                      int (*own)(void *request, int argc, char **argv, int *i), void *request);
/* Reports an option that the command does not have, with the closest that its usage text names; gives 2. */
int dfc_unknown_option(const struct dfc_command *command, const char *word);
void dfc_common_free(struct dfc_common *common);

/* A graph with everything planners need: front end, platform (--platform, else declared in the .df, else the stored
 * probe, else the stated default with one GPU where a kernel has a gpu variant or cost), times. false: reported. */
struct dfc_loaded {
    struct dfl_sink *sink;
    struct dfc_front *front;
    struct df_platform platform;
    const char *platform_source;        /* "file", "graph", "probe" or "default" */
    struct dfw_known known;             /* what the times were made of */
    struct df_times times;
    struct dfp_problem problem;
};
/* -o is checked as by dfc_output_check(); a command's other outputs are its own to check. */
bool dfc_load(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded);
/* The graph alone: no platform, no times, no problem. */
bool dfc_load_graph(const struct dfc_common *common, bool need_code, struct dfc_loaded *loaded);
void dfc_unload(struct dfc_loaded *loaded);

/* Has some unit of the platform the memory for each node's job? false: reported, with the call's place. */
bool dfc_check_room(const struct dfc_loaded *loaded);
/* Says what opening the database took in of what programs had learned. NULL: nothing. */
void dfc_report_learned(const struct dfw_db *db);

/* The policy that places the nodes where none is named: "gp" where all times are known, else "gp-thesis". */
const char *dfc_default_placer(const struct dfc_loaded *loaded);

/* Compiles and links the loaded graph to the program `output`. What cmd_compile does with -o; profile and compare build
 * with it too. 0 or 1 (reported). */
struct dfc_build_options {
    const char *cc, *nvcc, *cflags, *nvcc_flags, *optimise; /* NULL: defaults; optimise: "-O3" */
    bool debug, keep, dependencies;     /* -g, --keep, -MD */
    bool emu_gpu_code;                  /* --emu-gpu-code: no CUDA; gpu variants in C and C++ are for the emulator */
    const char *policy;
    bool quiet;
};
/* -O0 … -O3, -g, --cc, --nvcc, --cflags, --nvcc-flags: 1, 0 and -1 as with dfc_common_option(). */
int dfc_build_option(struct dfc_build_options *build, int argc, char **argv, int *i);
int dfc_build(const struct dfc_common *common, struct dfc_loaded *loaded, const struct dfc_build_options *options,
              const char *output);

/* A file that is written beside its final name and renamed when whole; "-" or NULL is stdout. false: reported with the
 * reason. */
struct dfc_output {
    FILE *file;                         /* stdout or to.file */
    struct dfr_output to;
};
bool dfc_output_open(struct dfc_output *output, const char *path);
bool dfc_output_close(struct dfc_output *output, bool keep); /* keep false: removed */
/* Before the work that it would be for: a path that cannot be written, or that is one of the files the graph is made of
 * (the .df, its imports, its kernels' code, the platform's file; the .df alone where loaded is NULL). NULL and "-" are
 * good. false: reported. */
bool dfc_output_check(const struct dfc_common *common, const struct dfc_loaded *loaded, const char *path);
/* What ends dfc from outside; temporary files go first, everywhere. A closed pipe is one: `dfc … 2>&1 | head`. */
enum { DFC_N_SIGNALS = 4 };
extern const int dfc_ending_signals[DFC_N_SIGNALS];
/* A name that promises another form than `form` ("SVG" or "DOT"), such as g.png; one that promises nothing is good.
 * false: reported; exit 2. */
bool dfc_output_is_picture(const char *option, const char *path, const char *form);
/* Whether all that was printed went out; reported where not. */
bool dfc_stdout_flush(void);

/* Runs a program (argv NULL-terminated) and waits. Captured stderr/stdout where the pointers are given (malloc'ed).
 * Gives its exit status, 128 + the number of the signal that ended it, or -1 with errno where it could not be run. */
int dfc_run_program(char *const *argv, char **out_text, char **err_text);
extern char *dfc_discard;               /* &dfc_discard in place of such a pointer: to /dev/null */
extern volatile sig_atomic_t dfc_running; /* its process while it runs, else 0: for signal handlers */

/* Where dfc's own headers and libraries are: beside the executable (build tree, bundle, installation) or $DFC_HOME. */
const char *dfc_home_include(void);
const char *dfc_home_lib(void);
/* Points Graphviz at the plugins of a bundle, where this dfc is one. Before the first picture. */
void dfc_home_graphviz(void);

void dfc_error(const char *format, ...) __attribute__((format(printf, 1, 2)));   /* "dfc: error: …" */
void dfc_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void dfc_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
