/* program.h - the input and the result of the front end as plain data. compiler/front/front.h declares the calls; all
 * rooms of the compiler read these structs.
 */
#ifndef DFC_PROGRAM_H
#define DFC_PROGRAM_H

#include <stdbool.h>

#include "dsl/parse.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/plan.h"

struct dfc_define {                     /* -D name=value; or a dynamic param's value */
    const char *name;
    const char *value;                  /* text of an i64 or f64 */
};

struct dfc_root {                       /* a graph with ports that is called, in place of main */
    const char *graph;                  /* its name; if `dims` is NULL, with the sizes: "edges:h=480,w=640" */
    const uint64_t *dims;               /* by dimension variable without a bound, n_dims of them */
    size_t n_dims;
};

struct dfc_library {                    /* exported graphs with ports, for sizes that are not known yet */
    const char *const *graphs;          /* n_graphs of them; none: those of the main file that have ports */
    size_t n_graphs;
};

struct dfc_groups {                     /* by the text of their wiring (compiler/fusion/) */
    const char *const *texts;
    size_t n;
};

struct dfc_division {                   /* a node that is divided into parts */
    const char *node;                   /* its name without division */
    uint32_t n;
    const double *weights;              /* by part, of its rows; NULL: they are equal */
    const char *why;                    /* the reason, with the predicted time of a wave before and after */
    double before_s, after_s;
    uint32_t waves, passes;             /* 0; or so many waves took that, and take it now in so many passes */
    bool acc;                           /* of a node with an acc, for memory or by the times of a wave */
};

struct dfc_tile { unsigned rows, columns; }; /* outputs that a work-group of a GPU computes of fused kernels; rows 0: dfc chooses for each group */

struct dff_kernel;                      /* compiler/formula/formula.h */
struct dff_gpu_code;                    /* compiler/count/count.h */
struct dfc_front_options {
    const char *path;                   /* the .df file */
    const struct dfc_define *defines;   /* each must name a param or a type of the files; if not, an error suggests the closest */
    size_t n_defines;
    const char *platform;               /* --platform; a define may name a param of that file instead. NULL: none */
    /* Reads a whole file, malloc'ed into *text. Relative paths are resolved already, against the importing file. NULL:
     * the file system is read. false: it cannot be read, and *why says why (a static string). */
    bool (*read)(void *arg, const char *path, char **text, size_t *length, const char **why);
    void *read_arg;
    const char *const *import_dirs;     /* -I, searched after the importing file's own folder */
    size_t n_import_dirs;
    const char *own_dir;                /* dfc's own folder of imports, searched last; NULL: none */
    bool untrusted;                     /* no file outside the program's folder is read */
    const char *opencl_class;           /* the class of OpenCL's devices: kernels with OpenCL code can run on it. "": they are GPUs. NULL: none take part */
    bool opencl_declared;               /* the platform that the files declare says it instead, if they declare one */
    bool emu_all;                       /* the emulated GPU runs cpu variants too, so a gpu has work without gpu code */
    const struct dfc_root *root;        /* NULL: the root is main */
    const struct dfc_library *exported; /* not NULL: the result has `exports`, and its graph has kernels and no nodes */
    struct dfc_tile gpu_tile;           /* --gpu-tile */
    /* dfg_gpu_code() (compiler/generate/), which programs do not have. NULL: tiles are taken to compute nothing again. */
    bool (*gpu_code)(const struct dff_kernel *kernel, double *computed, double *read, struct dff_gpu_code *code);
    const struct dfc_groups *groups;    /* of kernels of formulas: these and no others; NULL: those that are found */
    uint32_t parts;                     /* so many of each node that can be divided and that nothing else says it of; 0:
                                         * one, unless `divisions` says otherwise */
    const struct dfc_division *divisions;
    size_t n_divisions;
    bool need_code_files;               /* check that variants' files exist (for -o; --emit=graph does not need them) */
};

struct dfc_source {                     /* a source file; the main file is first */
    char *path;
    char *text;
    size_t length;
};


/* One variant of one kernel, for the rooms that compile it. Strings live in the syntax tree. */
struct dfc_kernel_code {
    const struct dfl_kernel *ast;
    uint32_t kernel;                    /* id in the graph; ids are the order of this array */
    const char *dir;                    /* folder of the .df that declared it: variant paths are relative to it */
    const struct dfl_variant *cpu, *gpu, *opencl; /* as written; NULL: none. opencl: the gpu variant in a .cl file */
    const char *c_name;                 /* what C calls it; NULL: its own name */
    const struct dff_kernel *formula;   /* the source of cpu and gpu code where no variant is written; NULL: none */
    bool called;                        /* by a graph, used or not */
};

struct dfc_callee;
struct dfw_operations;                  /* profiles/estimate/roofline.h */

struct dfu_group;                       /* compiler/fusion/fusion.h */

struct dfc_fused {                      /* a group in the graph */
    const struct dfu_group *group;
    uint32_t node;                      /* DF_NONE: its rings would be too large, so its members are nodes */
    uint64_t strip_rows, ring_bytes;
    uint64_t saved_bytes;               /* of streams that are not in memory in a wave */
};

struct dfc_unfused {                    /* a kernel of formulas that reads another, and is not fused with it */
    const char *from, *to, *why;        /* kernels; a sentence */
    struct dfl_loc loc;                 /* of the call that reads */
    struct dfl_loc read;                /* of the read in its formula that is why; line 0: none is */
    uint32_t count;                     /* calls for which that is said */
};

struct dfc_front {
    struct df_graph *graph;
    struct dfw_operations *operations;  /* for each work what its formulas do on the cpu, then on the GPU; NULL: no kernel has formulas */
    struct dfc_kernel_code *kernels; /* every declared kernel with code or cost, used or not, in order of declaration */
    size_t n_kernels;
    struct dfc_source *sources;         /* every file read */
    size_t n_sources;
    const struct dfl_name *links;       /* link "…"; in order, each once a file */
    size_t n_links;
    struct df_platform *platforms;      /* declared platforms, in order */
    size_t n_platforms;
    bool has_dynamic;
    uint32_t parts;                     /* as given in the options, for dfc_sources_pack() */
    struct dfc_tile gpu_tile;           /* this, too */
    const struct dfr_function_port *ports; /* of options.root, as declared */
    uint32_t n_ports;
    const struct dfc_callee **exports;  /* of options.exported: the graphs, in order of declaration or as named */
    size_t n_exports;
    struct dfu_group *const *groups;    /* of kernels of formulas, in the order of their numbers as kernels */
    size_t n_groups;
    const struct dfc_fused *fused;      /* n_fused of them, as they are in the graph */
    size_t n_fused;
    const struct dfc_unfused *unfused;
    size_t n_unfused;
    const char **params;                /* names of the compile-time params */
    size_t n_params;
    const char **import_dirs;           /* as given, for dfc_sources_pack() */
    size_t n_import_dirs;
    const char *own_dir;                /* likewise */
    struct dfl_sink *sink;              /* borrowed from the caller */
    void *owner;                        /* syntax trees and strings */
};

#endif
