/* no_calls.c - for formula_oracle, which compares with nothing and prints what the oracle gives. */
#include "compare.h"

const struct call calls[1];
const unsigned n_calls = 0;
