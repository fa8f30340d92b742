/* work_key.h - a work in words, by which measurements of it are found again: "k=1024 m=3" for its dimensions,
 * "seed=1" for its scalars. The program that measures and the compiler that stores and looks up say the same, so it
 * is written here, once.
 *
 * Scalars:  constants as they are; expressions over args by the args' default values (a measurement under other
 *           values is not told apart: times rarely hang on them); "?" where an arg has no default or the expression
 *           fails under the defaults. A program that learns from its runs says the values that they had.
 * Memory:   dfr_work_key_make() gives strings that dfr_work_key_free() returns; `kernel` borrows from the graph.
 */
#ifndef DFR_WORK_KEY_H
#define DFR_WORK_KEY_H

#include "runtime/graph/graph.h"

struct dfr_work_key {
    const char *kernel;
    char *dims, *scalars;
    uint64_t hash;                      /* of the variant's source, 0: none */
    uint64_t job_bytes;                 /* tells declarations apart whose formats changed while dimensions did not */
};

/* For the variant of class cls; emulated: a GPU that runs the code of the cpu variant, whose hash then counts. */
int dfr_work_key_make(const struct df_graph *graph, uint32_t work, uint32_t cls, bool emulated,
                      struct dfr_work_key *key, struct df_error *error);
/* args: the values of the graph's args, NULL: their defaults. */
int dfr_work_key_make_for(const struct df_graph *graph, uint32_t work, uint32_t cls, bool emulated,
                          const union df_scalar *args, struct dfr_work_key *key, struct df_error *error);
void dfr_work_key_free(struct dfr_work_key *key);

#endif
