/* shapes.h - the graphs of the dispatch benchmark, for whoever has a way to add a node and an arc, in C and C++. Nodes
 * are added in topological order; a node's arcs come after it, slot by slot. Each node has one output.
 *
 *   chain         each reads the one before
 *   independent   none reads any
 *   tree          node v reads node (v - 1) / 2
 *   wavefront     a square; each reads its upper and its left neighbour
 *   random        each reads two that came before, drawn with a fixed seed
 */
#ifndef SHAPES_H
#define SHAPES_H

#include <stdint.h>
#include <string.h>
#include <time.h>

static const char *const shape_names[] = { "chain", "tree", "wavefront", "independent", "random" };
enum { N_SHAPES = sizeof shape_names / sizeof *shape_names };

typedef uint32_t shape_add_node(void *arg, unsigned n_in);
typedef void shape_add_arc(void *arg, uint32_t from, uint32_t to, unsigned slot);

static inline void shape_wavefront(uint32_t n, shape_add_node *node, shape_add_arc *arc, void *arg)
{
    uint32_t side = 1;
    while ((side + 1) * (side + 1) <= n)
        side++;
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t j = 0; j < side; j++) {
            uint32_t id = node(arg, (i > 0) + (j > 0));
            if (i)
                arc(arg, id - side, id, 0);
            if (j)
                arc(arg, id - 1, id, i > 0);
        }
}

static inline void shape_build(const char *shape, uint32_t n, shape_add_node *node, shape_add_arc *arc, void *arg)
{
    uint64_t state = 1;
    if (strcmp(shape, "wavefront") == 0) {
        shape_wavefront(n, node, arc, arg);
        return;
    }
    for (uint32_t v = 0; v < n; v++) {
        unsigned n_in = shape[0] == 'i' ? 0 : shape[0] == 'r' ? (v < 2 ? 0 : 2) : v > 0;
        uint32_t id = node(arg, n_in);
        for (unsigned s = 0; s < n_in; s++) {
            uint32_t from = shape[0] == 'c' ? v - 1 : (v - 1) / 2;
            if (shape[0] == 'r') {
                state = state * 6364136223846793005u + 1442695040888963407u;
                from = (uint32_t)((state >> 33) % v);
            }
            arc(arg, from, id, s);
        }
    }
}

static inline double shape_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Keeps the core for so many turns: by instructions, not by the clock, so that a lost core shows in the figure. */
static inline void shape_work(uint64_t turns)
{
    for (; turns > 0; turns--)
        __asm__ volatile("");
}

#endif
