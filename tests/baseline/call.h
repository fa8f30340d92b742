/* call.h - what kernels of examples/ct and examples/matrix ask of dfc, for programs without it: which slab of the volume, what is open, the stream of
 * cuBLAS, and why it failed. */
#ifndef CALL_H
#define CALL_H

#include <df.h>

#ifndef __CUDACC__
#include "emulated.h"
#endif

struct df_call {
    struct df_part part;
    void *opened;
    cudaStream_t stream;
    char message[256];
};

#endif
