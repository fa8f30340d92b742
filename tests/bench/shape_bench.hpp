// shape_bench.hpp - what the dispatch benchmarks of the C++ peers share: arguments, a checked run before and after, timed runs between.
#ifndef SHAPE_BENCH_HPP
#define SHAPE_BENCH_HPP

#include <cstdio>
#include <cstdlib>

#include "shapes.h"

struct shape_bench {
    uint64_t turns;
    bool checking;
    shape_check check;
};

// What node `id` of the graph does in a run.
static inline void shape_bench_node(shape_bench *b, uint32_t id, uint64_t turns)
{
    if (b->checking)
        shape_check_run(&b->check, id);
    shape_work(turns);
}

// The peer's main(): NAME SHAPE NODES THREADS TURNS RUNS prints the line of shape_runs_print(). Graph has a shape_bench `bench`, is made with the
// number of threads, and has add_node() and add_arc() as shape_build() calls them, and run(), which runs the whole graph once. Returns main()'s status.
template <typename Graph> int shape_bench_main(const char *name, int argc, char **argv)
{
    if (argc != 6) {
        std::fprintf(stderr, "usage: %s SHAPE NODES THREADS TURNS RUNS\n", name);
        return 2;
    }
    const uint32_t n = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
    const int runs = std::atoi(argv[5]);
    Graph g(std::strtoul(argv[3], nullptr, 10));
    shape_bench *const b = &g.bench;
    b->turns = std::strtoul(argv[4], nullptr, 10);
    shape_build(argv[1], n, Graph::add_node, Graph::add_arc, &g);
    if (!shape_check_build(&b->check, argv[1], n)) {
        std::fprintf(stderr, "%s: error: no memory\n", name);
        return 1;
    }
    shape_runs found;
    found.n = 0;
    for (int r = -2; r <= runs; r++) { // two to warm up; the first and the one after the last are checked
        b->checking = r == -2 || r == runs;
        shape_check_begin(&b->check);
        const double cpu_begin = shape_seconds(CLOCK_PROCESS_CPUTIME_ID), begin = shape_seconds(CLOCK_MONOTONIC);
        const int calls = b->checking ? 1 : shape_calls(n, b->turns);
        for (int c = 0; c < calls; c++)
            g.run();
        const double end = shape_seconds(CLOCK_MONOTONIC);
        if (b->checking && !shape_check_holds(&b->check)) {
            std::fprintf(stderr, "%s: error: a node ran too early, twice or not at all\n", name);
            return 1;
        }
        if (r < 0 || r == runs)
            continue;
        shape_runs_add(&found, (end - begin) * 1e9 / static_cast<double>(g.nodes.size()) / calls,
                       (shape_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin) / (end - begin));
    }
    shape_runs_print(&found, std::atoi(argv[3]), b->turns);
    std::printf("\n");
    return 0;
}

#endif
