/* gpu_arch.h - the architectures for which CUDA code is compiled (--gpu-arch):
 *
 *   native     those of this machine's GPUs. This is the default if there is a GPU that nvcc supports.
 *   all        every major architecture that nvcc supports, and PTX for future ones.
 *   sm_XX,…    the listed ones, and PTX of the last.
 *
 * Without the option on a machine without a GPU, such as a login node, only PTX of the lowest architecture that nvcc
 * supports is included. The driver compiles it for the actual GPU when the program first starts. commands/cmd_compile.c checks
 * the option; build_tools.c takes nvcc's flags from here, and whether this machine has a GPU.
 */
#ifndef DFC_GPU_ARCH_H
#define DFC_GPU_ARCH_H

#include <stdbool.h>

#include "compiler/tools/spawn.h"

/* Is it one of the texts above? false: reported. */
bool dfc_gpu_arch_check(const char *text);
/* Returns whether this machine has a GPU for CUDA. */
bool dfc_gpu_is_here(void);
/* Adds the flags of nvcc for it. asked NULL: the default; then a note says what was chosen, unless quiet. false: reported. */
bool dfc_gpu_arch_flags(struct dfc_list *flags, const char *asked, const char *nvcc, bool quiet);

#endif
