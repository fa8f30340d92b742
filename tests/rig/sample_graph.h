/* sample_graph.h - small graphs with given costs, for the tests of planners and pictures. A graph that cannot be built
 * fails the test.
 */
#ifndef SAMPLE_GRAPH_H
#define SAMPLE_GRAPH_H

#include "partition/partition.h"
#include "runtime/graph/builder.h"

#define SAMPLE_MS 1e-3
#define SAMPLE_MB 1000000u              /* its copy takes 2 ms on the sample link: 1 ms, then 1 GB/s */

struct sample {
    struct df_builder *builder;
    struct df_graph *graph;
    struct df_platform platform;
    struct df_times times;
    struct dfp_problem problem;
    uint32_t n_nodes;
    uint64_t *out_bytes;                /* by node: the size of its one output; 0: it has none */
    /* for the next nodes */
    int hint;
    uint32_t scope, threads, depth;
    unsigned traits;
    uint64_t tmp_bytes;
    bool inout;                         /* the first input and the output are one port */
};

void sample_begin(struct sample *s, uint32_t workers, uint32_t gpus);
/* Adds a node that reads the outputs of from[0 … n_in), and gives its number. If a cost is NaN, that class cannot run
 * the node. */
uint32_t sample_node(struct sample *s, const char *name, double cpu_s, double gpu_s, uint64_t out_bytes, unsigned n_in,
                     const uint32_t *from);
void sample_end(struct sample *s);      /* finishes the graph and sets problem */
void sample_free(struct sample *s);

/* If seed / 4 is odd: adds links between two or more GPUs, each of another speed. Some of their latencies are 0. The
 * second of three GPUs sometimes has no link. */
void sample_peers(struct sample *s, uint32_t seed);

/* Makes a random graph of layers. n nodes have costs; sources before them and sinks after them cost nothing. */
void sample_random(struct sample *s, uint32_t seed, uint32_t n, uint32_t workers, uint32_t gpus, bool uniform);

/* Gives a quick plan if the policy needs one; the caller frees it. NULL: the policy needs none. */
struct df_plan *sample_plan(const struct sample *s, const char *policy);

/* Fails the test unless the two are equal, apart from rounding. */
void sample_near(double value, double expected);

uint32_t sample_rand(uint32_t *state);

#endif
