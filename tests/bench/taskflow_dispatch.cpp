// taskflow_dispatch.cpp - Taskflow beside ours: the same shapes (shapes.h) of empty tasks, built once, run many times (shape_bench.hpp).
#include <vector>

#include <taskflow/taskflow.hpp>

#include "shape_bench.hpp"

struct graph_of_nodes {
    shape_bench bench;
    tf::Executor executor;
    tf::Taskflow graph;
    std::vector<tf::Task> nodes;

    explicit graph_of_nodes(size_t threads) : executor(threads) {}
    void run() { executor.run(graph).wait(); }

    static uint32_t add_node(void *arg, unsigned)
    {
        graph_of_nodes *g = static_cast<graph_of_nodes *>(arg);
        shape_bench *const b = &g->bench;
        const uint64_t turns = b->turns;
        const uint32_t id = static_cast<uint32_t>(g->nodes.size());
        g->nodes.push_back(g->graph.emplace([b, id, turns]() { shape_bench_node(b, id, turns); }));
        return id;
    }

    static void add_arc(void *arg, uint32_t from, uint32_t to, unsigned)
    {
        graph_of_nodes *g = static_cast<graph_of_nodes *>(arg);
        g->nodes[from].precede(g->nodes[to]);
    }
};

int main(int argc, char **argv)
{
    return shape_bench_main<graph_of_nodes>("taskflow_dispatch", argc, argv);
}
