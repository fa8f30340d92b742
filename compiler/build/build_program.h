/* build_program.h - what the files of the build share: from a loaded graph to a linked program.
 *
 *   build_program.c the way, step by step
 *   build_tools.c   compilers, CUDA toolkit and libraries of this machine
 *   build_units.c   which files are compiled, and with which command
 *   build_link.c    the link line, and what its failures mean
 *   build_deps.c    -MD
 *   emit_*.c        the text that is compiled
 *
 * Memory:   a dfc_list owns its strings; one whose `failed` is set ran out of memory and is not to be used.
 * Output:   the same input gives the same bytes: no temporary path, time or order of completion reaches the program.
 */
#ifndef DFC_BUILD_PROGRAM_H
#define DFC_BUILD_PROGRAM_H

#include <signal.h>
#include <sys/types.h>

#include "compiler/commands/command.h"

/* ---- lists of words: command lines ---- */

struct dfc_list {
    char **items;                       /* NULL-terminated */
    size_t n, capacity;
    bool failed;
};
void dfc_list_add(struct dfc_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dfc_list_add_all(struct dfc_list *list, const struct dfc_list *other);
/* Splits as a shell would: blanks, quotes, backslashes. */
void dfc_list_add_words(struct dfc_list *list, const char *text);
void dfc_list_free(struct dfc_list *list);

/* ---- programs, several at once ---- */

struct dfc_job {
    struct dfc_list argv;
    const char *log;                    /* file that takes its stdout and stderr */
    int status;                         /* as dfc_run_program(); -1 with `error` an errno */
    int error;
    pid_t pid;
};
/* Runs all, at most `parallel` at a time; after a failure no further one is started (status -1, error ECANCELED). */
void dfc_jobs_run(struct dfc_job *jobs, size_t n, unsigned parallel);

/* ---- interruption ---- */

/* Between hold and release dfc_ending_signals end the programs that were started, so that what was begun is cleaned up
 * as after any failure; release lets the signal through then. */
struct dfc_signals {
    struct sigaction actions[DFC_N_SIGNALS];
};
void dfc_signals_hold(struct dfc_signals *before);
void dfc_signals_release(const struct dfc_signals *before);
bool dfc_signals_caught(void);

/* ---- compilers ---- */

struct dfc_tools {
    struct dfc_list cc, cxx, nvcc;      /* command and flags named with it; nvcc empty: none */
    struct dfc_list c_flags;            /* for every C and C++ unit: -O -g --cflags, sanitizers, pkg-config */
    struct dfc_list cu_flags;
    struct dfc_list link_flags;         /* pkg-config and -l */
    const char *include, *lib;          /* dfc_home_… */
    char *cuda;                         /* folder of the toolkit, NULL: none */
    const char *no_cuda;                /* why gpu variants cannot be compiled; NULL: they can */
};
bool dfc_tools_find(struct dfc_tools *tools, const struct dfc_common *common, const struct dfc_build_options *options,
                    const struct dfc_front *front);
void dfc_tools_free(struct dfc_tools *tools);

/* ---- units ---- */

enum dfc_build_kind { DFC_BUILD_C, DFC_BUILD_CXX, DFC_BUILD_CUDA, DFC_BUILD_OBJECT };

struct dfc_build_unit {
    enum dfc_build_kind kind;
    char *path;                         /* the user's file; NULL: wholly generated */
    char *source, *object, *log, *deps; /* in the work folder; an object's `object` is the user's own */
};

struct dfc_program {
    const struct dfc_common *common;
    struct dfc_loaded *loaded;
    const struct dfc_build_options *options;
    const char *output;
    struct dfc_tools tools;
    const char *stem;                   /* "sum" of sum.df */
    struct df_plan *plan;               /* NULL: it carries none */
    char *work;                         /* folder of generated files */
    bool gpu;                           /* gpu variants are compiled */
    bool cuda;                          /* with CUDA; else they are C and C++, for the emulator */
    struct dfc_build_unit *units;
    size_t n_units;
};

/* The stem of a path: no folder, no ".df". malloc'ed, NULL: no memory. */
char *dfc_stem(const char *path);
enum dfc_build_kind dfc_build_kind_of(const char *path);
/* dir/path, or path alone where it is absolute or dir is this folder. malloc'ed, NULL: no memory. */
char *dfc_join_path(const char *dir, const char *path);
bool dfc_units_make(struct dfc_program *p);
bool dfc_units_compile(struct dfc_program *p);
void dfc_units_free(struct dfc_program *p);

bool dfc_link(struct dfc_program *p, const char *path);
bool dfc_write_dependencies(const struct dfc_program *p);

/* ---- text ---- */

/* What a variant is called by: NAME_cpu for a function in a file, df_inline_… and
 * df_target_… for generated ones. */
const char *dfc_variant_prefix(const struct dfl_variant *variant);
/* `int PREFIXNAME_cpu(struct df_call *call, …)`, without the end. mutable_inputs: `in` ports without const. */
void dfc_emit_signature(FILE *out, const struct df_graph *graph, uint32_t kernel, const char *prefix, bool gpu,
                        bool mutable_inputs);
void dfc_emit_unused(FILE *out, const struct df_graph *graph, uint32_t kernel, bool gpu);
/* `#line N "file"`. */
void dfc_emit_line(FILE *out, unsigned line, const char *file);
void dfc_emit_inline(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                     const struct dfl_variant *variant, bool gpu);
/* "const float *" and the like; element and scalar types as C writes them. */
const char *dfc_c_elem(enum df_elem elem);
const char *dfc_c_scalar(enum df_scalar_type type);

void dfc_emit_header(FILE *out, const struct dfc_front *front, const char *stem);
void dfc_emit_c(FILE *out, const struct dfc_front *front, const char *stem, bool gpu, bool emu_gpu_code);
void dfc_emit_cuda(FILE *out, const struct dfc_front *front, const char *stem);
bool dfc_has_inline(const struct dfc_front *front, bool gpu);
/* The unit of a user's file: the header, the file's text, the calls of its functions by `cpu "file": f(…)`.
 * false: reported. */
bool dfc_emit_unit(FILE *out, const struct dfc_front *front, const char *stem, const struct dfc_build_unit *unit,
                   bool gpu);
/* The arguments of a call, as written or as a prototype has them after `first`. */
void dfc_emit_arguments(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                        const struct dfl_variant *variant, const char *first);
/* emit_launch.c: the body of a function that launches a __global__ one, and what such bodies need before them. */
void dfc_emit_launch(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                     const struct dfl_variant *variant);
void dfc_emit_launch_prelude(FILE *out);
/* What the compiler cannot be asked of objects: prototypes by the names of the arguments (in the main unit). */
void dfc_emit_object_target(FILE *out, const struct dfc_front *front, const struct dfc_kernel_code *code,
                            const struct dfl_variant *variant, bool gpu);

void dfc_emit_graph(FILE *out, const struct df_graph *graph);
/* `w2 add[k=1024](3)`: a work's number, kernel, dimensions and scalars. */
void dfc_emit_work_name(FILE *out, const struct df_graph *graph, uint32_t work);
/* e: of the plan, by dfp_evaluate(). */
void dfc_emit_plan(FILE *out, const struct dfc_loaded *loaded, const struct df_plan *plan,
                   const struct dfp_evaluation *e);

#endif
