/* memory_graphs.h - graphs of plain shapes with tokens of given sizes, for the tests of the memory plan. A graph that
 * cannot be built fails the test.
 */
#ifndef MEMORY_GRAPHS_H
#define MEMORY_GRAPHS_H

#include "runtime/graph/builder.h"

struct shape {
    struct df_builder *builder;
    struct df_graph *graph;
    uint32_t kernel[5][3][2][2];        /* [inputs][outputs][inout][once]: the kernel's number + 1 */
    uint32_t n_nodes;
    uint64_t *bytes;                    /* by node: the size of each of its outputs */
    uint32_t capacity;
};

struct shape_out {
    uint32_t node, slot;
};

void shape_begin(struct shape *s);
/* Adds a node that reads from[0 … n_in) and has n_out outputs of `bytes` each. inout: its first output takes over its
 * first input, and all outputs have that input's size. */
uint32_t shape_node(struct shape *s, uint64_t bytes, uint32_t n_out, bool inout, bool once, uint32_t n_in,
                    const struct shape_out *from);
void shape_end(struct shape *s);
void shape_free(struct shape *s);

void shape_chain(struct shape *s, uint32_t n, uint64_t bytes);
/* side x side nodes in rows. Each node sends one token both right and down; if `two`, it sends two tokens, one each
 * way. */
void shape_wavefront(struct shape *s, uint32_t side, uint64_t bytes, bool two);
/* Every node reads up to two of the `window` nodes before it. Some nodes are inout, and some are once nodes. */
void shape_random(struct shape *s, uint32_t seed, uint32_t n, uint32_t window, uint64_t most_bytes);

#endif
