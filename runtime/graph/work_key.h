/* work_key.h - the text key under which measurements of a work are stored: "k=1024 m=3" for its dimensions, "seed=1" for its scalars. The program that
 * measures (measure/, and start/learn.c for --learn) and the compiler that looks up times (profiles/estimate/known.c) both call this, so that the keys
 * agree. Lock files name works by it, too (compiler/lock/).
 *
 * Scalars:  Constants are written as they are. An expression over args is written with its value under the args' defaults, so measurements under other
 *           values share a key, since times rarely depend on them. "?" stands for an arg without default, or an expression that fails under the defaults. A
 *           program that learns from its runs writes the values that the args had.
 * Memory:   dfr_work_key_make() gives strings that dfr_work_key_free() returns. `kernel` borrows from the graph.
 */
#ifndef DFR_WORK_KEY_H
#define DFR_WORK_KEY_H

#include "runtime/graph/graph.h"

/* The device of a measurement is named beside its key: a GPU has its own name, the host is "cpu", and the emulated GPU: */
#define DFR_KEY_EMULATOR "emu"

struct dfr_work_key {
    const char *kernel;
    char *dims, *scalars;
    uint64_t hash;                      /* of the variant's source; 0: none */
    uint64_t job_bytes;                 /* tells declarations apart whose formats changed while the dimensions did
                                         * not */
};

/* The key of the variant of class `cls`, which is the gpu variant for any class but cpu. `emulated`: a GPU runs the code of the cpu variant, so that variant's hash
 * counts. */
int dfr_work_key_make(const struct df_graph *graph, uint32_t work, uint32_t cls, bool emulated,
                      struct dfr_work_key *key, struct df_error *error);
/* args: the values of the graph's args; NULL: their defaults. */
int dfr_work_key_make_for(const struct df_graph *graph, uint32_t work, uint32_t cls, bool emulated,
                          const union df_scalar *args, struct dfr_work_key *key, struct df_error *error);
void dfr_work_key_free(struct dfr_work_key *key);

#endif
