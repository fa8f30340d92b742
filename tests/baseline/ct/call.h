/* call.h - what kernels of examples/ct ask of dfc, for a program without it: which slab of the volume, what is open, and why it failed. */
#ifndef CALL_H
#define CALL_H

#include <df.h>

struct df_call {
    struct df_part part;
    void *opened;
    char message[256];
};

#endif
