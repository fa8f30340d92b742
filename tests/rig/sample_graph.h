/* sample_graph.h - small graphs with given costs, for the tests of planners and pictures. A graph that cannot be built
 * is a failed test.
 */
#ifndef SAMPLE_GRAPH_H
#define SAMPLE_GRAPH_H

#include "partition/partition.h"
#include "runtime/graph/builder.h"

#define SAMPLE_MS 1e-3
#define SAMPLE_MB 1000000u              /* takes 2 ms on the sample link: 1 GB/s after 1 ms */

struct sample {
    struct df_builder *builder;
    struct df_graph *graph;
    struct df_platform platform;
    struct df_times times;
    struct dfp_problem problem;
    uint32_t n_nodes;
    uint64_t *out_bytes;                /* of each node's one output; 0: it has none */
    /* for the next nodes */
    int hint;
    uint32_t scope, threads, depth;
    unsigned traits;
    uint64_t tmp_bytes;
    bool inout;                         /* the first input and the output are one port */
};

void sample_begin(struct sample *s, uint32_t workers, uint32_t gpus);
/* A node that reads the outputs of from[0 … n_in). NaN cost: that class cannot run it. Gives its number. */
uint32_t sample_node(struct sample *s, const char *name, double cpu_s, double gpu_s, uint64_t out_bytes, unsigned n_in,
                     const uint32_t *from);
void sample_end(struct sample *s);      /* finishes the graph and sets problem */
void sample_free(struct sample *s);

/* Peer links between two or more GPUs where seed / 4 is odd, each of another speed; the second of three sometimes has
 * none. Times of 0 are among them. */
void sample_peers(struct sample *s, uint32_t seed);

/* A random layered graph of n nodes that cost something, between free sources and sinks. */
void sample_random(struct sample *s, uint32_t seed, uint32_t n, uint32_t workers, uint32_t gpus, bool uniform);

/* A quick plan by a policy that needs one, to be freed; NULL for the others. */
struct df_plan *sample_plan(const struct sample *s, const char *policy);

/* Equal but for rounding; else the test fails. */
void sample_near(double value, double expected);

uint32_t sample_rand(uint32_t *state);

#endif
