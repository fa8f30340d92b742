/* min_cut.c - computes minimum cuts by Dinic's algorithm, for the bound of gp/gp_rate.c (min_cut.h): a breadth-first search assigns levels, flow is sent along
 * paths of increasing levels until none is left, and both are repeated until the sink is unreachable. */
#include "partition/cut/min_cut.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

#define NO_ARC UINT32_MAX
#define FAR UINT32_MAX

int dfp_cut_make(struct dfp_cut *cut, uint32_t n_vertices, uint32_t most_arcs, uint32_t source, uint32_t sink,
                 struct df_error *error)
{
    size_t n = n_vertices, m = 2 * (size_t)most_arcs;
    *cut = (struct dfp_cut){ .n_vertices = n_vertices, .source = source, .sink = sink };
    char *at = malloc(m * 2 * sizeof(int64_t) + m * 2 * sizeof(uint32_t) + n * 5 * sizeof(uint32_t) + n + 1);
    if (!at)
        return dfr_error_memory(error);
    cut->block = at;
    cut->capacity = (int64_t *)(void *)at;
    cut->rest = cut->capacity + m;
    cut->to = (uint32_t *)(void *)(cut->rest + m);
    cut->next = cut->to + m;
    cut->first = cut->next + m;
    cut->current = cut->first + n;
    cut->level = cut->current + n;
    cut->queue = cut->level + n;
    cut->path = cut->queue + n;
    cut->on_source_side = (uint8_t *)(cut->path + n);
    memset(cut->first, 0xff, n * sizeof *cut->first);
    return DF_OK;
}

void dfp_cut_free(struct dfp_cut *cut)
{
    free(cut->block);
    *cut = (struct dfp_cut){ 0 };
}

uint32_t dfp_cut_arc(struct dfp_cut *cut, uint32_t from, uint32_t to)
{
    uint32_t arc = cut->n_arcs;
    cut->n_arcs += 2;
    cut->to[arc] = to;
    cut->next[arc] = cut->first[from];
    cut->first[from] = arc;
    cut->to[arc + 1] = from;
    cut->next[arc + 1] = cut->first[to];
    cut->first[to] = arc + 1;
    cut->capacity[arc] = cut->capacity[arc + 1] = 0;
    return arc;
}

void dfp_cut_set(struct dfp_cut *cut, uint32_t arc, int64_t capacity, int64_t back)
{
    cut->capacity[arc] = capacity;
    cut->capacity[arc + 1] = back;
}

/* Finds distances from the source along arcs that have capacity left. false: the sink cannot be reached. */
static bool find_levels(struct dfp_cut *cut)
{
    uint32_t head = 0, tail = 0;
    memset(cut->level, 0xff, cut->n_vertices * sizeof *cut->level);
    cut->level[cut->source] = 0;
    cut->queue[tail++] = cut->source;
    while (head < tail) {
        uint32_t v = cut->queue[head++];
        for (uint32_t a = cut->first[v]; a != NO_ARC; a = cut->next[a], cut->steps++)
            if (cut->rest[a] > 0 && cut->level[cut->to[a]] == FAR) {
                cut->level[cut->to[a]] = cut->level[v] + 1;
                cut->queue[tail++] = cut->to[a];
            }
    }
    return cut->level[cut->sink] != FAR;
}

/* Sends as much as the path of n arcs can take. Gives how many arcs from the source on come before the first full
 * one. */
static uint32_t send(struct dfp_cut *cut, uint32_t n, int64_t *flow)
{
    int64_t least = INT64_MAX;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        least = cut->rest[cut->path[i]] < least ? cut->rest[cut->path[i]] : least;
    for (uint32_t i = n; i-- > 0;) {
        cut->rest[cut->path[i]] -= least;
        cut->rest[cut->path[i] ^ 1] += least;
        if (!cut->rest[cut->path[i]])
            kept = i;
    }
    *flow += least;
    cut->steps += n;
    return kept;
}

/* Sends flow along all paths of rising levels, depth first. */
static int64_t send_all(struct dfp_cut *cut)
{
    int64_t flow = 0;
    uint32_t n = 0, v = cut->source;
    memcpy(cut->current, cut->first, cut->n_vertices * sizeof *cut->current);
    for (;;) {
        uint32_t a = cut->current[v];
        if (v == cut->sink) {
            n = send(cut, n, &flow);
            v = cut->to[cut->path[n] ^ 1];
        } else if (a == NO_ARC) {       /* a dead end */
            if (!n)
                return flow;
            v = cut->to[cut->path[--n] ^ 1];
            cut->current[v] = cut->next[cut->current[v]];
        } else if (cut->rest[a] > 0 && cut->level[cut->to[a]] == cut->level[v] + 1) {
            cut->path[n++] = a;
            v = cut->to[a];
        } else {
            cut->current[v] = cut->next[a];
        }
        cut->steps++;
    }
}

int64_t dfp_cut_solve(struct dfp_cut *cut, uint64_t most_steps)
{
    int64_t flow = 0;
    uint64_t last = cut->steps + most_steps;
    memcpy(cut->rest, cut->capacity, cut->n_arcs * sizeof *cut->rest);
    while (find_levels(cut)) {
        if (cut->steps > last)
            return -1;
        flow += send_all(cut);
    }
    for (uint32_t v = 0; v < cut->n_vertices; v++)
        cut->on_source_side[v] = cut->level[v] != FAR;
    return flow;
}
