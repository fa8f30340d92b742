// tbb_dispatch.cpp - oneTBB's flow graph beside ours: the same shapes (shapes.h) of empty continue_nodes, built once, run many times.
// tbb_dispatch SHAPE NODES THREADS TURNS RUNS prints the line of shape_runs_print().
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include "shapes.h"

using namespace oneapi::tbb;
using node = flow::continue_node<flow::continue_msg>;

struct graph_of_nodes {
    flow::graph graph;
    std::deque<node> nodes;
    std::vector<node *> sources;
    uint64_t turns;
    bool checking;
    shape_check check;
};

static uint32_t add_node(void *arg, unsigned n_in)
{
    graph_of_nodes *g = static_cast<graph_of_nodes *>(arg);
    const uint64_t turns = g->turns;
    const uint32_t id = static_cast<uint32_t>(g->nodes.size());
    g->nodes.emplace_back(g->graph, [g, id, turns](const flow::continue_msg &) {
        if (g->checking)
            shape_check_run(&g->check, id);
        shape_work(turns);
        return flow::continue_msg();
    });
    if (n_in == 0)
        g->sources.push_back(&g->nodes.back());
    return id;
}

static void add_arc(void *arg, uint32_t from, uint32_t to, unsigned)
{
    graph_of_nodes *g = static_cast<graph_of_nodes *>(arg);
    flow::make_edge(g->nodes[from], g->nodes[to]);
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        std::fprintf(stderr, "usage: tbb_dispatch SHAPE NODES THREADS TURNS RUNS\n");
        return 2;
    }
    const uint32_t n = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
    const int runs = std::atoi(argv[5]);
    global_control threads(global_control::max_allowed_parallelism, std::strtoul(argv[3], nullptr, 10));
    graph_of_nodes g;
    g.turns = std::strtoul(argv[4], nullptr, 10);
    shape_build(argv[1], n, add_node, add_arc, &g);
    if (!shape_check_build(&g.check, argv[1], n)) {
        std::fprintf(stderr, "tbb_dispatch: error: no memory\n");
        return 1;
    }
    shape_runs found;
    found.n = 0;
    for (int r = -2; r <= runs; r++) { // two to warm up; the first and the one after the last are checked
        g.checking = r == -2 || r == runs;
        shape_check_begin(&g.check);
        double cpu_begin = shape_seconds(CLOCK_PROCESS_CPUTIME_ID), begin = shape_seconds(CLOCK_MONOTONIC);
        const int calls = g.checking ? 1 : shape_calls(n, g.turns);
        for (int c = 0; c < calls; c++) {
            for (node *source : g.sources)
                source->try_put(flow::continue_msg());
            g.graph.wait_for_all();
        }
        double end = shape_seconds(CLOCK_MONOTONIC);
        if (g.checking && !shape_check_holds(&g.check)) {
            std::fprintf(stderr, "tbb_dispatch: error: a node ran too early, twice or not at all\n");
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
