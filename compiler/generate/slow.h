/* slow.h - finds what leaves the fast ways of generated code; emit/emit_slow.c reports it to the user. */
#ifndef DFG_SLOW_H
#define DFG_SLOW_H

#include "compiler/formula/formula.h"

enum dfg_slowness {
    DFG_SLOW_FOLD, DFG_SLOW_WINDOW, DFG_SLOW_DIVISION, DFG_SLOW_GATHER, DFG_SLOW_DOWN,
    DFG_SERIAL_FOLD, DFG_SERIAL_INDEX, DFG_SERIAL_INSIDE, /* reductions that a GPU computes term by term */
    DFG_SLOWNESSES
};

struct dfg_slow {
    struct dfl_loc loc;                 /* of what is slow */
    const char *what, *remedy;          /* a sentence, and what would help, NULL if nothing does; what NULL: there is nothing */
    bool on_gpu;                        /* there only */
    bool much;                          /* several times: worth a word when it is compiled */
};

/* Fills in found[DFG_SLOWNESSES] with the first place of each. false: no memory. */
bool dfg_slow_find(const struct dff_kernel *formulas, struct dfg_slow *found);

#endif
