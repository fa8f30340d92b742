/* A library that changes the process when it is loaded: decimal commas, upward rounding, no denormal numbers. */
#include <fenv.h>
#include <locale.h>
#include <stdlib.h>

__attribute__((constructor)) static void change(void)
{
    setlocale(LC_NUMERIC, "comma_XX");
    fesetround(FE_UPWARD);
#ifdef __SSE2__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
#endif
}
