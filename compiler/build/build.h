/* build.h - from a loaded graph to a linked program, as one call.
 *
 * Room:     compiler/build/ prints C and CUDA C, runs compilers and the linker. It knows the loaded graph and its plan. It
 *           takes no decision about the graph: what it prints is all in there. Its own files share build_program.h and
 *           emit.h.
 */
#ifndef DFC_BUILD_H
#define DFC_BUILD_H

#include "compiler/load/load.h"

/* Compiles and links the loaded graph to the program `output`. What cmd_compile does with -o; profile and compare build
 * with it too. 0 or 1 (reported). */
struct dfc_build_options {
    const char *cc, *nvcc, *cflags, *nvcc_flags, *optimise; /* NULL: defaults; optimise: "-O3" */
    bool debug, keep, dependencies;     /* -g, --keep, -MD */
    bool emu_gpu_code;                  /* --emu-gpu-code: no CUDA; gpu variants in C and C++ are for the emulator */
    const char *policy;
    bool quiet;
};
int dfc_build(const struct dfc_common *common, struct dfc_loaded *loaded, const struct dfc_build_options *options,
              const char *output);

#endif
