/* isa.c - determines which x86-64 level (1 to 4 in the psABI) this processor supports and the environment allows (isa.h). dfc compiles for the level and prints
 * code that asks for it; runs and the measuring mode check it at their start.
 *
 * Level 4 is AVX-512. Here it also requires VBMI, which all processors with AVX-512 have except the first: Skylake-X, Cascade Lake and Cooper Lake. These
 * lower the core's clock during and after 512-bit instructions, so they use level 3.
 */
#include "runtime/base/isa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/df.h"

#define MOST 4u

static unsigned of_processor(void)
{
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2"))
        return 1;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") ? 4 : 3;
#else
    return 1;
#endif
}

/* The greatest level that DF_ISA_LEVEL allows. 0: it is no level. */
static unsigned allowed(void)
{
    const char *text = getenv("DF_ISA_LEVEL");
    if (!text || !*text)
        return MOST;
    return strlen(text) == 1 && *text >= '1' && *text <= '0' + (int)MOST ? (unsigned)(*text - '0') : 0;
}

unsigned df_isa_level(void)
{
    static atomic_uint known;           /* every thread finds the same, so none waits */
    unsigned level = atomic_load_explicit(&known, memory_order_relaxed);
    if (level == 0) {
        unsigned has = of_processor(), most = allowed();
        level = has < most ? has : most;
        level = level < 3 ? 1 : level;
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return level;
}

int dfr_isa_check(struct df_error *error)
{
    if (allowed())
        return DF_OK;
    return dfr_error(error, DF_E_ARGUMENT, "DF_ISA_LEVEL is '%s' in the environment: it is the greatest level of x86-64 to use, 1 to %u",
                     getenv("DF_ISA_LEVEL"), MOST);
}
