/* remedies.c - says what would let two kernels be joined that are not, for the list of fused kernels in --emit=plan and
 * `dfc explain` (show/emit_plan.c).
 */
#include <string.h>

#include "compiler/fusion/fusion.h"

static const struct { const char *why, *remedy; } remedies[] = {
    { DFU_NO_ROWS, "all reads of a port have the row y + c, or all 2 * y + c, or all (y + c) / 2, say, with c a number or a range between numbers" },
    { "its border is 'wrap', which leads to the other end", "another border for the first dimension keeps them together" },
    { "it reduces over data", "a range between numbers, as -3..4 is, needs few rows; one up to a dimension needs all of them first" },
    { "it has a variant that is written", "without it the formulas are fused" },
    { "it changes its input", "an 'in' and an 'out' port in place of 'inout' let it be fused" },
    { "a formula of it defines a single row", "one formula for all rows, with a condition on the row, lets it be fused" },
    { "its outputs have unlike numbers of rows", "a kernel for each of them lets these be fused" },
    { "their hints name unlike classes", "the same hints at both calls keep them together" },
    { "their hints are unlike", "the same hints at both calls keep them together" },
    { "something that is not joined stands between them", "if that were formulas too, all could be joined" },
    { DFU_UNLIKE_RATES, "a second kernel like the one that both are made of, for one of the rates, lets each be fused" },
};

const char *dfu_remedy(const char *why)
{
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strcmp(remedies[i].why, why) == 0)
            return remedies[i].remedy;
    return NULL;
}
