/* next_use.c - predicts when a unit needs a block next (next_use.h), for eviction by GPU workers (runtime/gpu/) and the simulator. It keeps each value's
 * readers on the unit sorted by rank, with a cursor per slot; the reader at the cursor is the next use. A value made once has readers in every slot, which are
 * visited wave after wave. */
#include "runtime/policy/next_use.h"

#include <stdlib.h>

#include "memmgr/victims.h"
#include "runtime/base/error.h"

#define NO_WAVE (-1)
#define AFTER_ALL_WAVES (DFM_NEVER - 1)

struct cursor {
    int64_t wave;                       /* the wave that it is about */
    uint32_t at;                        /* the readers before this one were taken, or run elsewhere */
};

struct dfr_next_use {
    const struct dfr_view *view;
    const struct dfr_policy *policy;
    void *policy_state;
    uint32_t unit, n_nodes, n_values, n_slots;
    uint32_t *first;                    /* by value: where its readers begin in `readers`; n_values + 1 entries */
    uint32_t *readers;                  /* nodes, by rank. For a value that is made once, the readers that fire before
                                         * the waves come first, and final ones last. An acc's node counts as a reader */
    uint32_t *rank;                     /* by node, for nodes that are readers here */
    int64_t *taken;                     /* by job, the slot of what fires once included: the last wave in which it was
                                         * taken */
    int64_t *wave;                      /* by slot: the wave of the last job that was taken */
    struct cursor *cursors;             /* [slot * n_values + value], the slot of what is made once included */
};

static bool is_final(const struct dfr_next_use *n, uint32_t node)
{
    return df_node_is_final(n->view->graph, node);
}

static bool is_once(const struct dfr_next_use *n, uint32_t node)
{
    return n->view->graph->nodes[node].flags & DF_NODE_ONCE && !is_final(n, node);
}

/* ---- asking ---- */

static bool was_taken(const struct dfr_next_use *n, uint32_t slot, uint32_t node, int64_t wave)
{
    return n->taken[(size_t)slot * n->n_nodes + node] == wave;
}

static uint64_t use_number(const struct dfr_next_use *n, int64_t wave, uint32_t node)
{
    return (uint64_t)wave * n->n_nodes + n->rank[node];
}

/* The same, if the node fires in one pass. */
static uint64_t use_in_pass(const struct dfr_next_use *n, int64_t wave, uint32_t node)
{
    const uint32_t *of = n->view->pass_of;
    int64_t begin = of && of[node] != DF_NONE ? (int64_t)of[node] * n->view->pass_stride : 0;

    if (of && of[node] != DF_NONE && wave >= begin + *n->view->pass_waves)
        return DFM_NEVER;
    return use_number(n, wave > begin ? wave : begin, node);
}

/* The first reader in readers[from … end) that this wave has yet to take here, or `end`. */
static uint32_t first_to_come(struct dfr_next_use *n, uint32_t slot, uint32_t value, int64_t wave, uint32_t from,
                              uint32_t end, bool elsewhere_too)
{
    struct cursor *c = &n->cursors[(size_t)slot * n->n_values + value];

    if (c->wave != wave)
        *c = (struct cursor){ wave, from };
    for (; c->at < end; c->at++) {
        uint32_t node = n->readers[c->at];
        bool here = elsewhere_too || n->policy->units(n->policy_state, slot, node) >> n->unit & 1;
        if (here && !was_taken(n, slot, node, wave))
            break;
    }
    return c->at;
}

/* The next use of a value that is made once, by the readers in one slot. The slot's wave may be ending, so this goes by
 * what was taken there, and looks at nothing else. */
static uint64_t next_in_slot(struct dfr_next_use *n, uint32_t slot, uint32_t value, uint32_t from, uint32_t end)
{
    int64_t wave = n->wave[slot] == NO_WAVE ? (int64_t)slot : n->wave[slot];
    uint32_t at = first_to_come(n, slot, value, wave, from, end, true);

    return at < end ? use_in_pass(n, wave, n->readers[at]) : use_in_pass(n, wave + n->n_slots, n->readers[from]);
}

static uint64_t next_of_once(struct dfr_next_use *n, uint32_t value)
{
    uint32_t first = n->first[value], end = n->first[value + 1], waves = first, at;
    uint64_t next = DFM_NEVER;

    for (; end > first && is_final(n, n->readers[end - 1]); end--)
        next = AFTER_ALL_WAVES;

    while (waves < end && is_once(n, n->readers[waves]))
        waves++;
    at = first_to_come(n, n->n_slots, value, 0, first, waves, true);
    if (at < waves)
        return use_number(n, 0, n->readers[at]);
    for (uint32_t slot = 0; waves < end && slot < n->n_slots; slot++) {
        uint64_t use = next_in_slot(n, slot, value, waves, end);
        next = use < next ? use : next;
    }
    return next;
}

uint64_t dfr_next_use_of(struct dfr_next_use *n, uint32_t block)
{
    uint32_t slot = block / n->n_values, value = block % n->n_values, end = n->first[value + 1], at;
    int64_t wave;

    if (n->first[value] == end)
        return DFM_NEVER;
    if (slot == n->n_slots)
        return next_of_once(n, value);
    wave = n->view->wave(n->view->arg, slot);
    at = first_to_come(n, slot, value, wave, n->first[value], end, false);
    return at < end ? use_number(n, wave, n->readers[at]) : DFM_NEVER;
}

void dfr_next_use_taken(struct dfr_next_use *n, uint64_t job)
{
    uint32_t slot = dfr_job_slot(job);
    int64_t wave = slot < n->n_slots ? n->view->wave(n->view->arg, slot) : 0;

    n->taken[(size_t)slot * n->n_nodes + dfr_job_node(job)] = wave;
    if (slot < n->n_slots)
        n->wave[slot] = wave;
}

/* ---- making ---- */

static bool is_here(const struct dfr_next_use *n, uint32_t node)
{
    return n->policy->units(n->policy_state, n->n_slots, node) >> n->unit & 1;
}

struct ranked {
    uint32_t later;                     /* 1: it fires in each wave; 2: after the last one */
    uint32_t rank, node;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->later != y->later)
        return x->later < y->later ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void add_reader(struct dfr_next_use *n, uint32_t node, struct ranked *list, uint32_t *n_here)
{
    if (!is_here(n, node))
        return;
    n->rank[node] = n->policy->rank(n->policy_state, n->unit, node);
    list[(*n_here)++] = (struct ranked){ is_once(n, node) ? 0 : is_final(n, node) ? 2 : 1, n->rank[node], node };
}

/* Lists the readers of all values here. `list` has room for those of the value that has most. */
static void list_readers(struct dfr_next_use *n, struct ranked *list)
{
    const struct df_graph *g = n->view->graph;
    uint32_t total = 0;

    for (uint32_t value = 0; value < n->n_values; value++) {
        const struct df_value *y = &g->values[value];
        uint32_t n_here = 0;
        for (uint32_t r = y->first_reader; r < y->first_reader + y->n_readers; r++)
            add_reader(n, g->readers[r].node, list, &n_here);
        if (y->flags & DF_VALUE_ACC)
            add_reader(n, y->producer, list, &n_here);
        qsort(list, n_here, sizeof *list, by_rank);
        n->first[value] = total;
        for (uint32_t i = 0; i < n_here; i++)
            n->readers[total++] = list[i].node;
    }
    n->first[n->n_values] = total;
}

static bool allocate(struct dfr_next_use *n, uint32_t n_readers)
{
    size_t n_jobs = (size_t)n->n_nodes * (n->n_slots + 1) + 1, n_cursors = (size_t)n->n_values * (n->n_slots + 1) + 1;

    n->first = malloc(((size_t)n->n_values + 1) * sizeof *n->first);
    n->readers = malloc(((size_t)n_readers + 1) * sizeof *n->readers);
    n->rank = calloc((size_t)n->n_nodes + 1, sizeof *n->rank);
    n->taken = malloc(n_jobs * sizeof *n->taken);
    n->wave = malloc(((size_t)n->n_slots + 1) * sizeof *n->wave);
    n->cursors = malloc(n_cursors * sizeof *n->cursors);
    if (!n->first || !n->readers || !n->rank || !n->taken || !n->wave || !n->cursors)
        return false;
    for (size_t i = 0; i < n_jobs; i++)
        n->taken[i] = NO_WAVE;
    for (size_t i = 0; i < n_cursors; i++)
        n->cursors[i] = (struct cursor){ NO_WAVE, 0 };
    for (uint32_t slot = 0; slot <= n->n_slots; slot++)
        n->wave[slot] = NO_WAVE;
    return true;
}

struct dfr_next_use *dfr_next_use_create(const struct dfr_view *view, const struct dfr_policy *policy,
                                         void *policy_state, uint32_t unit)
{
    const struct df_graph *g = view->graph;
    struct dfr_next_use *n = calloc(1, sizeof *n);
    struct ranked *list;
    uint32_t n_readers = 0, most = 1;

    if (!n)
        return NULL;
    *n = (struct dfr_next_use){ .view = view, .policy = policy, .policy_state = policy_state, .unit = unit,
                                .n_nodes = g->n_nodes, .n_values = g->n_values, .n_slots = view->n_slots };
    for (uint32_t value = 0; value < g->n_values; value++) {
        uint32_t n_here = g->values[value].n_readers + df_value_is_acc(g, value);
        n_readers += n_here;
        most = n_here > most ? n_here : most;
    }
    list = malloc(most * sizeof *list);
    if (!list || !allocate(n, n_readers)) {
        free(list);
        dfr_next_use_destroy(n);
        return NULL;
    }
    list_readers(n, list);
    free(list);
    return n;
}

void dfr_next_use_destroy(struct dfr_next_use *n)
{
    if (!n)
        return;
    free(n->first);
    free(n->readers);
    free(n->rank);
    free(n->taken);
    free(n->wave);
    free(n->cursors);
    free(n);
}

int dfr_next_use_wanted(int evict, const struct dfr_policy *policy, bool *wanted, struct df_error *error)
{
    *wanted = evict != DF_EVICT_LRU && policy->units && policy->rank;
    if (evict == DF_EVICT_BELADY && !*wanted)
        return dfr_error(error, DF_E_REFUSED,
                         "--evict=belady needs a policy that orders jobs before the run: '%s' does not", policy->name);
    return DF_OK;
}
