/* cuda_nvtx.h - NVTX ranges that cuda_work.c puts around each job's launches, named by its node, for Nsight Systems and
 * similar tools. NVTX is header-only and looks for a tool on the first call; without one, a range costs a call of an
 * empty function. If the toolkit lacks the headers, there are no ranges.
 */
#ifndef DFR_CUDA_NVTX_H
#define DFR_CUDA_NVTX_H

#include <stddef.h>

#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define DFR_NVTX 1
#endif
#endif

static inline void dfr_nvtx_begin(const char *name)
{
#ifdef DFR_NVTX
    (void)nvtxRangePushA(name != NULL ? name : "?");
#else
    (void)name;
#endif
}

static inline void dfr_nvtx_end(void)
{
#ifdef DFR_NVTX
    (void)nvtxRangePop();
#endif
}

#endif
