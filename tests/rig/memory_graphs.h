/* memory_graphs.h - graphs of plain shapes with tokens of given sizes, for the tests of the memory plan. A graph that
 * cannot be built is a failed test.
 */
#ifndef MEMORY_GRAPHS_H
#define MEMORY_GRAPHS_H

#include "runtime/graph/builder.h"

struct shape {
    struct df_builder *builder;
    struct df_graph *graph;
    uint32_t kernel[5][3][2][2];        /* by inputs, outputs, inout, once: number + 1 */
    uint32_t n_nodes;
    uint64_t *bytes;                    /* of each node's outputs: the same for all of one node */
    uint32_t capacity;
};

struct shape_out {
    uint32_t node, slot;
};

void shape_begin(struct shape *s);
/* A node that reads from[0 … n_in) and has n_out outputs of `bytes`; inout: its first output takes its first input
 * over, and all have that one's size. */
uint32_t shape_node(struct shape *s, uint64_t bytes, uint32_t n_out, bool inout, bool once, uint32_t n_in,
                    const struct shape_out *from);
void shape_end(struct shape *s);
void shape_free(struct shape *s);

void shape_chain(struct shape *s, uint32_t n, uint64_t bytes);
/* side x side nodes in rows; each sends one token right and down, or (two) one each. */
void shape_wavefront(struct shape *s, uint32_t side, uint64_t bytes, bool two);
/* Every node reads up to two of the `window` before it; inout and once nodes among them. */
void shape_random(struct shape *s, uint32_t seed, uint32_t n, uint32_t window, uint64_t most_bytes);

#endif
