/* make_program.h - builds a program from a loaded graph in one call. The commands compile, run, compare and profile use
 * it.
 *
 * Room:     compiler/build/ runs compilers and the linker on what compiler/emit/ prints. It knows the loaded graph and its
 *           plan. Its own files share build_program.h.
 */
#ifndef DFC_MAKE_PROGRAM_H
#define DFC_MAKE_PROGRAM_H

#include "compiler/load/load.h"

/* Options of dfc_build(), which compiles and links the loaded graph to the program `output`. It returns 0, or 1 after an error was
 * reported. */
struct dfc_build_options {
    const char *cc, *nvcc, *cflags, *nvcc_flags, *optimise; /* NULL: the default; optimise: "-O3" */
    const char *gpu_arch;               /* NULL: this machine's GPUs, or all if there is none; else "all", … (gpu_arch.h) */
    bool debug, keep, dependencies;     /* -g, --keep, -MD */
    bool no_cache;                      /* --no-cache */
    bool no_opencl;                     /* --no-opencl */
    bool timing;                        /* --timing: says how long each step took */
    bool python;                        /* --python: a library gets a Python module, too */
    bool emu_gpu_code;                  /* --emu-gpu-code: no CUDA; the emulator runs gpu variants that are C or C++ */
    const char *policy;
    bool quiet;
    bool runs_here;                     /* on this machine alone: formulas are compiled for no other processor */
};
/* The kind of product, by the extension of its file name. */
enum dfc_product { DFC_PROGRAM, DFC_SHARED, DFC_ARCHIVE };
enum dfc_product dfc_product_of(const char *path);
/* If common->exported is set, `output` is a library, and its header and the like are made beside it. */
int dfc_build(const struct dfc_common *common, struct dfc_loaded *loaded, const struct dfc_build_options *options,
              const char *output);
/* Compiles a single C or C++ file, with debug information, to an object in a temporary folder, calls use() with its path, and returns
 * what use() returns; or 1 if the compilation failed (reported). */
int dfc_build_object(const struct dfc_common *common, const struct dfc_build_options *options, const char *path,
                     int (*use)(void *arg, const char *object), void *arg);

#endif
