/* shared.h - whether jobs share the bandwidth of the host's memory in what is shown. */
#ifndef DFC_SHARED_H
#define DFC_SHARED_H

#include <stdio.h>

#include "partition/partition.h"

/* Prints one line between empty ones if a demand is known: what is shared, or why it is not. Else prints nothing. */
void dfc_print_shared(FILE *out, const struct dfp_problem *problem);

#endif
