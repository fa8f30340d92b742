// tbb_dispatch.cpp - oneTBB's flow graph beside ours: the same shapes (shapes.h) of empty continue_nodes, built once, run many times (shape_bench.hpp).
#include <deque>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include "shape_bench.hpp"

using namespace oneapi::tbb;
using node = flow::continue_node<flow::continue_msg>;

struct graph_of_nodes {
    shape_bench bench;
    global_control threads;
    flow::graph graph;
    std::deque<node> nodes;
    std::vector<node *> sources;

    explicit graph_of_nodes(size_t n_threads) : threads(global_control::max_allowed_parallelism, n_threads) {}

    void run()
    {
        for (node *source : sources)
            source->try_put(flow::continue_msg());
        graph.wait_for_all();
    }

    static uint32_t add_node(void *arg, unsigned n_in)
    {
        graph_of_nodes *g = static_cast<graph_of_nodes *>(arg);
        shape_bench *const b = &g->bench;
        const uint64_t turns = b->turns;
        const uint32_t id = static_cast<uint32_t>(g->nodes.size());
        g->nodes.emplace_back(g->graph, [b, id, turns](const flow::continue_msg &) {
            shape_bench_node(b, id, turns);
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
};

int main(int argc, char **argv)
{
    return shape_bench_main<graph_of_nodes>("tbb_dispatch", argc, argv);
}
