/* memory.c - bench/memory [NODES]: the memory plan of a small chain of many sizes, and of graphs of about so many nodes.
 * Prints as CSV the plan's bytes, their bounds, what a heap with a stack for each size would touch at least, and how long
 * the plan took. cpu/wall below 1 shows a stolen core.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "memory_graphs.h"
#include "partition/memory/memory.h"

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void row(const char *name, struct shape *s, uint64_t alignment)
{
    struct dfp_memory m;
    struct df_error e;
    uint64_t by_size = 0;
    double wall_s = seconds(CLOCK_MONOTONIC), cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (dfp_memory_make(s->graph, NULL, 0, alignment, &m, &e) != DF_OK) {
        fprintf(stderr, "%s: %s\n", name, e.text);
        exit(1);
    }
    wall_s = seconds(CLOCK_MONOTONIC) - wall_s;
    cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
    if (dfp_memory_by_size(s->graph, &m, &by_size, &e) != DF_OK)
        exit(1);
    printf("%s,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f,%.2f\n", name, s->graph->n_nodes,
           m.any_bytes, m.any_bound_bytes, m.sequence_bytes, m.sequence_bound_bytes, by_size, cpu_s, cpu_s / wall_s);
    fflush(stdout);
    dfp_memory_free(&m);
    shape_free(s);
}

/* Stages of 64 ways of 4 steps, in turn with small and large tokens, each joined by a tree. */
static void stages(struct shape *s, uint32_t n)
{
    struct shape_out last = { 0, 0 };
    shape_begin(s);
    for (uint32_t stage = 0; s->n_nodes < n; stage++) {
        struct shape_out ends[64];
        uint32_t from = shape_node(s, 64, 1, false, false, stage > 0, &last), k = 64;
        for (uint32_t way = 0; way < k; way++) {
            ends[way] = (struct shape_out){ from, 0 };
            for (uint32_t step = 1; step < 5; step++)
                ends[way].node = shape_node(s, (stage % 2 ? 6400 : 640) * step, 1, false, false, 1, &ends[way]);
        }
        for (; k > 1; k /= 4)
            for (uint32_t i = 0; i < k / 4; i++)
                ends[i] = (struct shape_out){ shape_node(s, 64, 1, false, false, 4, &ends[4 * i]), 0 };
        last = ends[0];
    }
    shape_end(s);
}

/* Each token of another size, two of them alive at a time: what is freed fits nobody else's stack in a heap. */
static void all_sizes(struct shape *s)
{
    shape_begin(s);
    struct shape_out last = { shape_node(s, 256 << 10, 1, false, false, 0, NULL), 0 };
    for (uint64_t kib = 256 + 16; kib <= 896; kib += 16)
        last.node = shape_node(s, kib << 10, 1, false, false, 1, &last);
    shape_end(s);
}

int main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000, side = (uint32_t)sqrt(n);
    struct shape s;
    printf(
        "shape,nodes,any_bytes,any_bound_bytes,sequence_bytes,sequence_bound_bytes,by_size_bytes,cpu_s,cpu_per_wall\n");
    all_sizes(&s);
    row("chain of 41 sizes", &s, 64);
    shape_chain(&s, n, 32);
    row("chain", &s, 32);
    shape_wavefront(&s, side, 32, false);
    row("wavefront", &s, 32);
    shape_wavefront(&s, side, 32, true);
    row("wavefront of two tokens", &s, 32);
    stages(&s, n);
    row("stages", &s, 64);
    shape_random(&s, 1, n, 30, 64);
    row("random", &s, 64);
    shape_random(&s, 1, n, 30, 100000);
    row("random of all sizes", &s, 64);
    return 0;
}
