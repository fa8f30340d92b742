/* order.c - a concurrent priority queue over a fixed set of nodes (order.h): a hierarchical bitmap, popped from the most urgent bit. The static policies, dmdas
 * (unit_queue.c) and sorted.c keep their ready jobs in it; the simulator uses only its sort.
 *
 * Jobs are the set bits of a tree of words. Bit i of level 0 stands for the job of rank i / slots in slot i %
 * slots; with `by_wave`, for the job of rank i % nodes in slot i / nodes. A bit of a higher level says that the word
 * below it may not be empty. With `by_wave`, slots are searched in a round that begins at the slot of the oldest wave.
 *
 *     add:  sets the job's bit first, then the bits of its ancestors, if they are not set.
 *     pop:  goes down along the first bits; the job belongs to whoever clears its bit. If a word is found empty, the
 *           bit above it is cleared, and the word is looked at again: if a job came meanwhile, its ancestors are set
 *           again.
 *
 * So either all ancestors of a job's bit are set, or a thread is about to set them: the one that added the job, or one that cleared an ancestor. Both wake
 * workers only afterwards, so a worker that looked in between and found nothing looks again.
 */
#include "runtime/policy/order.h"

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

static void wake_all(const struct dfr_order *o)
{
    const struct dfr_view *view = o->view;
    for (uint32_t w = 0; w < view->n_workers; w++)
        if (o->units >> view->unit_of[w] & 1)
            view->wake(view->arg, view->unit_of[w]);
}

/* Clears the bit that says that a word may not be empty, if the word is empty. */
static void tidy(struct dfr_order *o, unsigned level, uint64_t word)
{
    for (; level < o->top; level++, word /= 64) {
        if (atomic_load_explicit(&o->words[level][word], memory_order_seq_cst) != 0)
            return;
        atomic_fetch_and_explicit(&o->words[level + 1][word / 64], ~(UINT64_C(1) << word % 64), memory_order_seq_cst);
        if (atomic_load_explicit(&o->words[level][word], memory_order_seq_cst) != 0) {
            set_ancestors(o, level, word);
            wake_all(o);
            return;
        }
    }
}

/* The first bit that is set at or after `from`, or NO_BIT. *again: some way down ended in an empty word, which was
 * tidied; so the caller must look again. */
static uint64_t look(struct dfr_order *o, uint64_t from, bool *again)
{
    uint64_t bit = from, word;
    unsigned level = 0;
    *again = false;
    for (;; level++) {                  /* goes up until something follows */
        uint64_t n_bits = 64 * o->words_of[level];
        word = bit < n_bits ? atomic_load_explicit(&o->words[level][bit / 64], memory_order_seq_cst) >> bit % 64 : 0;
        if (word != 0)
            break;
        if (level == o->top)
            return NO_BIT;
        bit = bit / 64 + 1;
    }
    bit += (uint64_t)__builtin_ctzll(word);
    while (level-- > 0) {               /* and then down */
        word = atomic_load_explicit(&o->words[level][bit], memory_order_seq_cst);
        if (word == 0) {
            *again = true;
            tidy(o, level, bit);
            return NO_BIT;
        }
        bit = bit * 64 + (uint64_t)__builtin_ctzll(word);
    }
    return bit;
}

static uint64_t first_from(struct dfr_order *o, uint64_t from)
{
    bool again;
    uint64_t bit;
    do
        bit = look(o, from, &again);
    while (again);
    return bit;
}

/* The first bit of the oldest wave's slot. */
static uint64_t front(struct dfr_order *o)
{
    if (!o->by_wave)
        return 0;
    return (uint64_t)(atomic_load_explicit(&o->newest, memory_order_relaxed) + 1) % o->n_slots * o->n_nodes;
}

static uint64_t first_bit(struct dfr_order *o)
{
    uint64_t from = front(o), bit = first_from(o, from);
    return bit == NO_BIT && from > 0 ? first_from(o, 0) : bit;
}

/* How many bits come before this one in the search. */
static uint64_t turn_of(struct dfr_order *o, uint64_t bit)
{
    uint64_t from = front(o);
    return bit >= from ? bit - from : bit + ((uint64_t)o->n_slots * o->n_nodes - from);
}

/* true: the bit was set, and this call cleared it. */
static bool clear_bit(struct dfr_order *o, uint64_t bit)
{
    uint64_t mask = UINT64_C(1) << bit % 64;
    if (!(atomic_fetch_and_explicit(&o->words[0][bit / 64], ~mask, memory_order_seq_cst) & mask))
        return false;
    tidy(o, 0, bit / 64);
    return true;
}

/* ---- jobs and bits ---- */

/* A node that fires once has one job, in a slot of its own. The job takes the bit of the first slot. */
static uint64_t bit_of(const struct dfr_order *o, uint64_t job)
{
    uint32_t slot = dfr_job_slot(job) < o->n_slots ? dfr_job_slot(job) : 0;
    uint64_t rank = o->rank[dfr_job_node(job)];
    return o->by_wave ? (uint64_t)slot * o->n_nodes + rank : rank * o->n_slots + slot;
}

static uint64_t job_of(const struct dfr_order *o, uint64_t bit)
{
    uint32_t node = o->nodes[o->by_wave ? bit % o->n_nodes : bit / o->n_slots];
    uint32_t slot = (uint32_t)(o->by_wave ? bit / o->n_nodes : bit % o->n_slots);
    return dfr_job(o->graph->nodes[node].flags & DF_NODE_ONCE ? o->n_slots : slot, node);
}

static void note_wave(struct dfr_order *o, uint64_t job)
{
    if (!o->by_wave || dfr_job_slot(job) >= o->n_slots)
        return;
    int64_t wave = o->view->wave(o->view->arg, dfr_job_slot(job));
    int64_t newest = atomic_load_explicit(&o->newest, memory_order_relaxed);
    while (wave > newest && !atomic_compare_exchange_weak_explicit(&o->newest, &newest, wave, memory_order_relaxed,
                                                                   memory_order_relaxed))
        ;
}

void dfr_order_add(struct dfr_order *o, uint64_t job)
{
    uint64_t bit = bit_of(o, job);
    note_wave(o, job);
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

/* The bit that is searched after this one, in a search that began at `from`. */
static uint64_t bit_after(struct dfr_order *o, uint64_t bit, uint64_t from)
{
    uint64_t next = first_from(o, bit + 1);
    if (bit < from)
        return next < from ? next : NO_BIT;
    return next == NO_BIT && from > 0 && (next = first_from(o, 0)) >= from ? NO_BIT : next;
}

bool dfr_order_pop_where(struct dfr_order *o, bool (*may_take)(void *arg, uint64_t job), void *arg, uint64_t *job)
{
    uint64_t from = front(o), bit = first_from(o, from);
    if (bit == NO_BIT && from > 0)
        bit = first_from(o, 0);
    for (int i = 0; i < DFR_ORDER_LOOKS && bit != NO_BIT; i++, bit = bit_after(o, bit, from)) {
        *job = job_of(o, bit);
        if (may_take(arg, *job) && clear_bit(o, bit)) /* else somebody was quicker */
            return true;
    }
    return false;
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
    while (bit / 64 < o->words_of[0]) {
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
    uint64_t first = first_bit(o);
    return first == NO_BIT || turn_of(o, first) > turn_of(o, bit_of(o, job));
}

/* ---- making ---- */

/* Computes the words of each level for so many bits, and gives their total. */
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

bool dfr_order_create(struct dfr_order *o, const struct dfr_view *view, uint32_t units, bool by_wave,
                      const uint32_t *nodes, uint32_t n_nodes, uint32_t *rank)
{
    uint64_t words[DFR_ORDER_LEVELS], total;

    *o = (struct dfr_order){ .graph = view->graph, .view = view,
                             .n_slots = view->n_slots ? view->n_slots : 1, .n_nodes = n_nodes, .nodes = nodes,
                             .by_wave = by_wave && view->n_slots > 1, .units = units,
                             .rank = rank };
    atomic_init(&o->newest, -1);
    total = level_words((uint64_t)n_nodes * o->n_slots, words, &o->top);
    for (unsigned l = 0; l <= o->top; l++)
        o->words_of[l] = words[l];
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
