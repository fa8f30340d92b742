/* gpu_arch.h - for which architectures CUDA code is made: --gpu-arch.
 *
 *   native     those of the GPUs of this machine. This is the default if there is a GPU that nvcc knows.
 *   all        every major architecture that nvcc knows, and PTX for those to come. This is the default if there is none.
 *   sm_XX,…    these, and PTX of the last
 */
#ifndef DFC_GPU_ARCH_H
#define DFC_GPU_ARCH_H

#include <stdbool.h>

#include "compiler/tools/spawn.h"

/* Is it one of the texts above? false: reported. */
bool dfc_gpu_arch_check(const char *text);
/* Adds the flags of nvcc for it. asked NULL: the default; then a note says what was chosen, unless quiet. false: reported. */
bool dfc_gpu_arch_flags(struct dfc_list *flags, const char *asked, const char *nvcc, bool quiet);

#endif
