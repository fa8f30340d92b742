/* shapes.h - the graphs of the dispatch benchmark, for whoever has a way to add a node and an arc, in C and C++. Nodes
 * are added in topological order; a node's arcs come after it, slot by slot. Each node has one output.
 *
 *   chain         each reads the one before
 *   independent   none reads any
 *   pair          two chains, with a node of each in turn
 *   tree          node v reads node (v - 1) / 2
 *   wavefront     a square; each reads its upper and its left neighbour
 *   random        each reads two that came before, drawn with a fixed seed
 *
 * And a check that a run was one: each node's value is one more than the sum of those that it reads, modulo 2^32. A
 * node that ran too early, twice or not at all shows in the values or in their number.
 */
#ifndef SHAPES_H
#define SHAPES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const shape_names[] = { "chain", "tree", "wavefront", "independent", "random", "pair" };
enum { N_SHAPES = sizeof shape_names / sizeof *shape_names };

typedef uint32_t shape_add_node(void *arg, unsigned n_in);
typedef void shape_add_arc(void *arg, uint32_t from, uint32_t to, unsigned slot);

static inline uint32_t shape_side(uint32_t n)
{
    uint32_t side = 1;
    while ((side + 1) * (side + 1) <= n)
        side++;
    return side;
}

/* Of a graph of about n. */
static inline uint32_t shape_nodes(const char *shape, uint32_t n)
{
    return strcmp(shape, "wavefront") == 0 ? shape_side(n) * shape_side(n) : n;
}

static inline void shape_wavefront(uint32_t n, shape_add_node *node, shape_add_arc *arc, void *arg)
{
    uint32_t side = shape_side(n);
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
        unsigned n_in = shape[0] == 'i' ? 0 : shape[0] == 'r' ? (v < 2 ? 0 : 2) : shape[0] == 'p' ? v > 1 : v > 0;
        uint32_t id = node(arg, n_in);
        for (unsigned s = 0; s < n_in; s++) {
            uint32_t from = shape[0] == 'c' ? v - 1 : shape[0] == 'p' ? v - 2 : (v - 1) / 2;
            if (shape[0] == 'r') {
                state = state * 6364136223846793005u + 1442695040888963407u;
                from = (uint32_t)((state >> 33) % v);
            }
            arc(arg, from, id, s);
        }
    }
}

/* Waves of a run: as long as a wave of a slower system, so a core is lost less often, and starting counts less. */
enum { SHAPE_WAVES = 5 };

/* A small graph runs so many times between two looks at the clock. */
static inline int shape_calls(uint32_t n, uint64_t turns)
{
    return n > 1000 ? 1 : turns ? 20 : 1000;
}

/* ---- the check ---- */

struct shape_check {
    uint32_t n;
    uint32_t *n_in, (*from)[2], *value; /* value 0: has not run */
    uint32_t n_ran;
};

static inline uint32_t shape_check_add_node(void *arg, unsigned n_in)
{
    struct shape_check *c = (struct shape_check *)arg;
    c->n_in[c->n] = n_in;
    return c->n++;
}

static inline void shape_check_add_arc(void *arg, uint32_t from, uint32_t to, unsigned slot)
{
    ((struct shape_check *)arg)->from[to][slot] = from;
}

/* false: no memory. */
static inline bool shape_check_build(struct shape_check *c, const char *shape, uint32_t n)
{
    memset(c, 0, sizeof *c);
    c->n_in = (uint32_t *)calloc(n, sizeof *c->n_in);
    c->from = (uint32_t(*)[2])calloc(n, sizeof *c->from);
    c->value = (uint32_t *)calloc(n, sizeof *c->value);
    if (!c->n_in || !c->from || !c->value)
        return false;
    shape_build(shape, n, shape_check_add_node, shape_check_add_arc, c);
    return true;
}

static inline void shape_check_free(struct shape_check *c)
{
    free(c->n_in);
    free(c->from);
    free(c->value);
}

static inline void shape_check_begin(struct shape_check *c)
{
    memset(c->value, 0, c->n * sizeof *c->value);
    c->n_ran = 0;
}

/* From any thread; what orders the nodes is the system under test. */
static inline void shape_check_run(struct shape_check *c, uint32_t node)
{
    uint32_t value = 1;
    for (uint32_t s = 0; s < c->n_in[node]; s++)
        value += __atomic_load_n(&c->value[c->from[node][s]], __ATOMIC_RELAXED);
    __atomic_store_n(&c->value[node], value, __ATOMIC_RELAXED);
    __atomic_fetch_add(&c->n_ran, 1, __ATOMIC_RELAXED);
}

/* What node `node` must come to where the nodes before it have theirs. */
static inline uint32_t shape_check_wanted(const struct shape_check *c, const uint32_t *wanted, uint32_t node)
{
    uint32_t value = 1;
    for (uint32_t s = 0; s < c->n_in[node]; s++)
        value += wanted[c->from[node][s]];
    return value;
}

/* Since shape_check_begin() each node ran once, after those that it reads. */
static inline bool shape_check_holds(const struct shape_check *c)
{
    bool holds = c->n_ran == c->n;
    for (uint32_t v = 0; v < c->n; v++)  /* by induction: all before v have what they must */
        holds = holds && c->value[v] == shape_check_wanted(c, c->value, v);
    return holds;
}

/* The sum of all values, as shape_check_holds() wants them. */
static inline uint32_t shape_check_sum(struct shape_check *c)
{
    uint32_t sum = 0;
    for (uint32_t v = 0; v < c->n; v++)
        sum += c->value[v] = shape_check_wanted(c, c->value, v);
    return sum;
}

/* ---- time ---- */

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

/* ---- figures ---- */

/* A run had its cores where its threads computed for most of its time: all of them where nodes have work; where they
 * have none, threads that find nothing to do sleep or poll, and all that can be said is that one core was there. */
#define SHAPE_CLEAN 0.85

enum { SHAPE_RUNS_MOST = 99 };

struct shape_runs {
    double ns[SHAPE_RUNS_MOST], share[SHAPE_RUNS_MOST]; /* a node; cpu time / wall time */
    int n;
};

static inline int shape_runs_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void shape_runs_add(struct shape_runs *r, double ns, double share)
{
    if (r->n < SHAPE_RUNS_MOST) {
        r->ns[r->n] = ns;
        r->share[r->n++] = share;
    }
}

/* NS LEAST_NS SHARE CLEAN RUNS, without a newline: medians of the clean runs, or of all where none is. */
static inline void shape_runs_print(const struct shape_runs *r, int threads, uint64_t turns)
{
    double least = SHAPE_CLEAN * (turns ? threads : 1);
    struct shape_runs clean;
    clean.n = 0;
    for (int i = 0; i < r->n; i++)
        if (r->share[i] >= least)
            shape_runs_add(&clean, r->ns[i], r->share[i]);
    struct shape_runs used = clean.n ? clean : *r;
    qsort(used.ns, (size_t)used.n, sizeof *used.ns, shape_runs_ascending);
    qsort(used.share, (size_t)used.n, sizeof *used.share, shape_runs_ascending);
    printf("%.2f %.2f %.2f %d %d", used.ns[used.n / 2], used.ns[0], used.share[used.n / 2], clean.n, r->n);
}

#endif
