/* limits.h - smaller limits of the front end for fuzzing, before all else in each file of compiler/elab/. An input that
 * is refused for its size must be refused in milliseconds.
 */
#include "compiler/types/frontend.h"

#undef DFC_MAX_NODES
#define DFC_MAX_NODES 2000u
#undef DFC_MAX_STEPS
#define DFC_MAX_STEPS 20000u
