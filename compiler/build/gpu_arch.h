/* gpu_arch.h - for which architectures CUDA code is made: --gpu-arch.
 *
 *   native     those of the GPUs of this machine. This is the default if there is a GPU that nvcc knows.
 *   all        every major architecture that nvcc knows, and PTX for those to come.
 *   sm_XX,…    these, and PTX of the last
 *
 * Without the option on a machine without a GPU, such as a login node, only PTX of the lowest architecture that nvcc knows is kept. The
 * driver compiles it for the GPU when the program starts for the first time.
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
