/* order.c - a set of jobs in the order of their ranks.
 *
 * The jobs are the set bits of a tree of words: bit i of level 0 stands for the job of rank i / slots in slot i %
 * slots; a bit of a higher level says that the word below may not be empty.
 *     add:  the job's bit first, then its ancestors', where they are not set.
 *     pop:  down along the first bits; the job is whose bit one clears. Where a word is found empty, its bit above is
 *           cleared, and the word looked at again: what came meanwhile gets its ancestors back.
 * So the bit of a job has all its ancestors set, or its adder or a popper is about to set them; an adder wakes a worker
 * only afterwards, and a popper looks again.
 */
#include "runtime/order.h"

#include <stdatomic.h>
#include <stdlib.h>

#define NO_BIT UINT64_MAX

/* ---- the tree ---- */

static bool is_set(struct dfr_order *o, unsigned level, uint64_t bit)
{
    return atomic_load_explicit(&o->words[level][bit / 64], memory_order_seq_cst) >> bit % 64 & 1;
}

static void set_ancestors(struct dfr_order *o, unsigned level, uint64_t word)
{
    for (; level < o->top; level++, word /= 64)
        if (!is_set(o, level + 1, word))
            atomic_fetch_or_explicit(&o->words[level + 1][word / 64], UINT64_C(1) << word % 64, memory_order_seq_cst);
}

/* Clears what says that a word may not be empty, where it is. */
static void tidy(struct dfr_order *o, unsigned level, uint64_t word)
{
    for (; level < o->top; level++, word /= 64) {
        if (atomic_load_explicit(&o->words[level][word], memory_order_seq_cst) != 0)
            return;
        atomic_fetch_and_explicit(&o->words[level + 1][word / 64], ~(UINT64_C(1) << word % 64), memory_order_seq_cst);
        if (atomic_load_explicit(&o->words[level][word], memory_order_seq_cst) != 0) {
            set_ancestors(o, level, word);
            return;
        }
    }
}

/* The first bit that is set, or NO_BIT; *again: some way down ended in an empty word, which was tidied: look again. */
static uint64_t look(struct dfr_order *o, bool *again)
{
    uint64_t bit = 0, word;
    *again = false;
    for (unsigned level = o->top + 1; level-- > 0;) {
        word = atomic_load_explicit(&o->words[level][bit], memory_order_seq_cst);
        if (word == 0) {
            *again = level < o->top;
            tidy(o, level, bit);
            return NO_BIT;
        }
        bit = bit * 64 + (uint64_t)__builtin_ctzll(word);
    }
    return bit;
}

static uint64_t first_bit(struct dfr_order *o)
{
    bool again;
    uint64_t bit;
    do
        bit = look(o, &again);
    while (again);
    return bit;
}

/* true: it was set, and this call cleared it. */
static bool clear_bit(struct dfr_order *o, uint64_t bit)
{
    uint64_t mask = UINT64_C(1) << bit % 64;
    if (!(atomic_fetch_and_explicit(&o->words[0][bit / 64], ~mask, memory_order_seq_cst) & mask))
        return false;
    tidy(o, 0, bit / 64);
    return true;
}

/* ---- jobs and bits ---- */

/* What fires once has one job, in a slot of its own: it takes the place of the first slot's. */
static uint64_t bit_of(const struct dfr_order *o, uint64_t job)
{
    uint32_t slot = dfr_job_slot(job) < o->n_slots ? dfr_job_slot(job) : 0;
    return (uint64_t)o->rank[dfr_job_node(job)] * o->n_slots + slot;
}

static uint64_t job_of(const struct dfr_order *o, uint64_t bit)
{
    uint32_t node = o->nodes[bit / o->n_slots];
    return dfr_job(o->graph->nodes[node].flags & DF_NODE_ONCE ? o->n_slots : (uint32_t)(bit % o->n_slots), node);
}

void dfr_order_add(struct dfr_order *o, uint64_t job)
{
    uint64_t bit = bit_of(o, job);
    atomic_fetch_or_explicit(&o->words[0][bit / 64], UINT64_C(1) << bit % 64, memory_order_seq_cst);
    set_ancestors(o, 0, bit / 64);
}

bool dfr_order_remove(struct dfr_order *o, uint64_t job)
{
    return clear_bit(o, bit_of(o, job));
}

bool dfr_order_pop(struct dfr_order *o, uint64_t *job)
{
    for (;;) {
        uint64_t bit = first_bit(o);
        if (bit == NO_BIT)
            return false;
        if (clear_bit(o, bit)) {        /* else somebody was quicker */
            *job = job_of(o, bit);
            return true;
        }
    }
}

bool dfr_order_first(struct dfr_order *o, uint64_t *job)
{
    uint64_t bit = first_bit(o);
    if (bit == NO_BIT)
        return false;
    *job = job_of(o, bit);
    return true;
}

bool dfr_order_next(struct dfr_order *o, uint64_t *place, uint64_t *job)
{
    uint64_t bit = *place;
    while (bit / 64 < o->n_words) {
        uint64_t rest = atomic_load_explicit(&o->words[0][bit / 64], memory_order_seq_cst) >> bit % 64;
        if (rest) {
            bit += (uint64_t)__builtin_ctzll(rest);
            *job = job_of(o, bit);
            *place = bit + 1;
            return true;
        }
        bit = (bit / 64 + 1) * 64;
    }
    return false;
}

bool dfr_order_is_first(struct dfr_order *o, uint64_t job)
{
    return first_bit(o) > bit_of(o, job);
}

/* ---- making ---- */

/* Words of each level for so many bits; gives their number. */
static uint64_t level_words(uint64_t bits, uint64_t *words, unsigned *top)
{
    uint64_t total = 0;
    for (*top = 0;; ++*top) {
        bits = bits > 64 ? (bits + 63) / 64 : 1;
        words[*top] = bits;
        total += bits;
        if (bits == 1)
            return total;
    }
}

bool dfr_order_create(struct dfr_order *o, const struct dfr_view *view, const uint32_t *nodes, uint32_t n_nodes,
                      uint32_t *rank)
{
    uint64_t words[DFR_ORDER_LEVELS], total;

    *o = (struct dfr_order){ .graph = view->graph, .n_slots = view->n_slots ? view->n_slots : 1, .nodes = nodes,
                             .rank = rank };
    total = level_words((uint64_t)n_nodes * o->n_slots, words, &o->top);
    o->n_words = words[0];
    o->words[0] = malloc(total * sizeof *o->words[0]);
    if (!o->words[0])
        return false;
    for (uint64_t i = 0; i < total; i++)
        atomic_init(&o->words[0][i], 0);
    for (unsigned l = 1; l <= o->top; l++)
        o->words[l] = o->words[l - 1] + words[l - 1];
    for (uint32_t i = 0; i < n_nodes; i++)
        rank[nodes[i]] = i;
    return true;
}

void dfr_order_destroy(struct dfr_order *o)
{
    free(o->words[0]);
    o->words[0] = NULL;
}

struct keyed {
    double key;
    uint32_t node;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

bool dfr_order_sort(uint32_t *nodes, uint32_t n_nodes, const double *key_of_node)
{
    struct keyed *list = malloc(((size_t)n_nodes + 1) * sizeof *list);
    if (!list)
        return false;
    for (uint32_t i = 0; i < n_nodes; i++)
        list[i] = (struct keyed){ key_of_node[nodes[i]], nodes[i] };
    qsort(list, n_nodes, sizeof *list, by_key);
    for (uint32_t i = 0; i < n_nodes; i++)
        nodes[i] = list[i].node;
    free(list);
    return true;
}
