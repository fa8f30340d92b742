// taskflow_dispatch.cpp - Taskflow beside ours: the same shapes (shapes.h) of empty tasks, built once, run many times.
// taskflow_dispatch SHAPE NODES THREADS TURNS RUNS prints the line of shape_runs_print().
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <taskflow/taskflow.hpp>

#include "shapes.h"

struct graph_of_nodes {
    tf::Taskflow graph;
    std::vector<tf::Task> nodes;
    uint64_t turns;
    bool checking;
    shape_check check;
};

static uint32_t add_node(void *arg, unsigned)
{
    graph_of_nodes *g = static_cast<graph_of_nodes *>(arg);
    const uint64_t turns = g->turns;
    const uint32_t id = static_cast<uint32_t>(g->nodes.size());
    g->nodes.push_back(g->graph.emplace([g, id, turns]() {
        if (g->checking)
            shape_check_run(&g->check, id);
        shape_work(turns);
    }));
    return id;
}

static void add_arc(void *arg, uint32_t from, uint32_t to, unsigned)
{
    graph_of_nodes *g = static_cast<graph_of_nodes *>(arg);
    g->nodes[from].precede(g->nodes[to]);
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        std::fprintf(stderr, "usage: taskflow_dispatch SHAPE NODES THREADS TURNS RUNS\n");
        return 2;
    }
    const uint32_t n = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
    const int runs = std::atoi(argv[5]);
    tf::Executor executor(std::strtoul(argv[3], nullptr, 10));
    graph_of_nodes g;
    g.turns = std::strtoul(argv[4], nullptr, 10);
    shape_build(argv[1], n, add_node, add_arc, &g);
    if (!shape_check_build(&g.check, argv[1], n)) {
        std::fprintf(stderr, "taskflow_dispatch: error: no memory\n");
        return 1;
    }
    shape_runs found;
    found.n = 0;
    for (int r = -2; r <= runs; r++) { // two to warm up; the first and the one after the last are checked
        g.checking = r == -2 || r == runs;
        shape_check_begin(&g.check);
        double cpu_begin = shape_seconds(CLOCK_PROCESS_CPUTIME_ID), begin = shape_seconds(CLOCK_MONOTONIC);
        const int calls = g.checking ? 1 : shape_calls(n, g.turns);
        for (int c = 0; c < calls; c++)
            executor.run(g.graph).wait();
        double end = shape_seconds(CLOCK_MONOTONIC);
        if (g.checking && !shape_check_holds(&g.check)) {
            std::fprintf(stderr, "taskflow_dispatch: error: a node ran too early, twice or not at all\n");
            return 1;
        }
        if (r < 0 || r == runs)
            continue;
        shape_runs_add(&found, (end - begin) * 1e9 / static_cast<double>(g.nodes.size()) / calls,
                       (shape_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin) / (end - begin));
    }
    shape_runs_print(&found, std::atoi(argv[3]), g.turns);
    std::printf("\n");
    return 0;
}
