/* queue.c - Michael & Scott's queue over an array of nodes (PODC 1996, figure 1), with C11 atomics.
 *
 * Words:    a *ref* is one 64-bit word, (index of a node, tag). Every store to `head`, `tail`, `free_top` or a node's
 *           `next` makes a ref with a tag that the place has not had before, so a compare-and-swap that succeeds proves
 *           that the place did not change since it was read (up to 2^32 changes during one thread's pause).
 *
 * States and transitions of a node:
 *     1  free       on the free list, linked by `below`
 *     2  private    taken from the free list by a push: 1 -> 2 by a CAS of free_top
 *     3  linked     the successor of the last node, next = NONE: 2 -> 3 by a CAS of that node's `next` (L, the push's
 *                   linearization point)
 *     4  tail       tail refers to it: 3 -> 4 by a CAS of `tail` (T), by the push or by whoever finds tail lagging
 *     5  inner      another node was linked behind it: 3 or 4 -> 5 by that node's L
 *     6  dummy      head refers to it, its item is taken: 3, 4 or 5 -> 6 by a CAS of `head` (H, the pop's linearization
 *                   point); that T comes before H is what pop's test of tail is for
 *     1  free       6 -> 1 by a CAS of free_top (F), by the pop that moved head past it
 *
 * Who may read what: a slow thread may read `next`, `item` and `below` of a node in any state, because nodes are
 * returned to the system by destroy alone. What it read counts only if a later CAS, or a second reading of head or
 * tail, shows that the node had not moved on. So there is nothing to reclaim, and reading tail->next of a popped node
 * reads valid memory.
 *
 * Orders (each acquire names the release it pairs with; C.x below refers to this list):
 *     C1  load of head   acquires H (and create): the popped node's life up to there, and that tail had left it
 *     C2  load of tail   acquires T: the life of the node that tail refers to
 *     C3  load of next   acquires L, so the item of the node linked there; and the release store of NONE that starts a
 *                        new life, so a thread that reads NONE of a later life also finds head or tail moved at its
 *                        second look
 *     C4  load of free_top acquires F: the node's last reader, and `below`
 *     C5  H releases the reading of item: who recycles the node acquires H (C1) before F, hence writes item after it
 */
#include "runtime/queue.h"

#include <stdatomic.h>
#include <stdlib.h>

#define NONE UINT32_MAX
#define LINE 64

struct node {
    _Atomic uint64_t next;              /* ref of the successor */
    _Atomic uint64_t item;              /* relaxed: a slow pop may read it while a push of a later life writes it */
    _Atomic uint32_t below;             /* index of the next free node */
};

struct dfr_queue {
    _Alignas(LINE) _Atomic uint64_t head;     /* consumers' line */
    _Alignas(LINE) _Atomic uint64_t tail;     /* producers' line */
    _Alignas(LINE) _Atomic uint64_t free_top; /* both */
    _Alignas(LINE) struct node *nodes;        /* never written after create */
};

static uint64_t ref_make(uint32_t index, uint32_t tag)
{
    return (uint64_t)tag << 32 | index;
}

static uint32_t ref_index(uint64_t ref)
{
    return (uint32_t)ref;
}

/* The ref that follows `old` in a place: another node, the next tag. */
static uint64_t ref_after(uint64_t old, uint32_t index)
{
    return ref_make(index, (uint32_t)(old >> 32) + 1);
}

static bool swap(_Atomic uint64_t *place, uint64_t expected, uint64_t desired)
{
    return atomic_compare_exchange_strong_explicit(place, &expected, desired, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

struct dfr_queue *dfr_queue_create(uint32_t capacity)
{
    struct dfr_queue *queue;
    uint32_t n_nodes = capacity + 1;

    if (capacity >= NONE - 1)
        return NULL;
    queue = aligned_alloc(LINE, sizeof *queue);
    if (queue == NULL)
        return NULL;
    queue->nodes = malloc(n_nodes * sizeof *queue->nodes);
    if (queue->nodes == NULL) {
        free(queue);
        return NULL;
    }
    /* Node 0 is the first dummy; 1 … capacity are free, in order. */
    for (uint32_t i = 0; i < n_nodes; i++) {
        atomic_init(&queue->nodes[i].next, ref_make(NONE, 0));
        atomic_init(&queue->nodes[i].item, 0);
        atomic_init(&queue->nodes[i].below, i == 0 || i == capacity ? NONE : i + 1);
    }
    atomic_init(&queue->head, ref_make(0, 0));
    atomic_init(&queue->tail, ref_make(0, 0));
    atomic_init(&queue->free_top, ref_make(capacity > 0 ? 1 : NONE, 0));
    return queue;
}

void dfr_queue_destroy(struct dfr_queue *queue)
{
    if (queue == NULL)
        return;
    free(queue->nodes);
    free(queue);
}

/* 1 -> 2. `below` may be of a later life of the node, but then free_top has moved and the CAS fails. */
static uint32_t node_take(struct dfr_queue *queue)
{
    for (;;) {
        uint64_t top = atomic_load_explicit(&queue->free_top, memory_order_acquire); /* C4 */
        uint32_t below;

        if (ref_index(top) == NONE)
            return NONE;
        below = atomic_load_explicit(&queue->nodes[ref_index(top)].below, memory_order_relaxed);
        if (swap(&queue->free_top, top, ref_after(top, below)))
            return ref_index(top);
    }
}

/* 6 -> 1 */
static void node_give(struct dfr_queue *queue, uint32_t index)
{
    uint64_t top = atomic_load_explicit(&queue->free_top, memory_order_relaxed);

    do {
        atomic_store_explicit(&queue->nodes[index].below, ref_index(top), memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&queue->free_top, &top, ref_after(top, index), memory_order_release,
                                                    memory_order_relaxed)); /* F */
}

bool dfr_queue_push(struct dfr_queue *queue, uint64_t item)
{
    uint32_t mine = node_take(queue);
    struct node *node;
    uint64_t old;

    if (mine == NONE)
        return false;
    node = &queue->nodes[mine];
    atomic_store_explicit(&node->item, item, memory_order_relaxed); /* published by L */
    old = atomic_load_explicit(&node->next, memory_order_relaxed);  /* nobody else stores to a private node's next */
    atomic_store_explicit(&node->next, ref_after(old, NONE), memory_order_release); /* a new life begins: C3 */

    for (;;) {
        uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire); /* C2 */
        struct node *last = &queue->nodes[ref_index(tail)];
        uint64_t next = atomic_load_explicit(&last->next, memory_order_acquire); /* C3 */

        /* Was `next` read in the life of `last` that tail refers to? Without this look, NONE may be that of a node
         * which another push is still preparing, and the new node would be linked where nobody looks. */
        if (atomic_load_explicit(&queue->tail, memory_order_relaxed) != tail)
            continue;
        if (ref_index(next) != NONE) {
            swap(&queue->tail, tail, ref_after(tail, ref_index(next))); /* T, for a push that was slower */
            continue;
        }
        if (swap(&last->next, next, ref_after(next, mine))) { /* L */
            swap(&queue->tail, tail, ref_after(tail, mine));  /* T; where it fails, another did it */
            return true;
        }
    }
}

bool dfr_queue_pop(struct dfr_queue *queue, uint64_t *item)
{
    for (;;) {
        uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire); /* C1 */
        uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire); /* C2 */
        uint64_t next = atomic_load_explicit(&queue->nodes[ref_index(head)].next, memory_order_acquire); /* C3 */
        uint64_t found;

        /* Was `next` read in the life of the node that head refers to? Without this look, NONE may be that of the same
         * node recycled, now last in a queue that is not empty: a false "empty". */
        if (atomic_load_explicit(&queue->head, memory_order_relaxed) != head)
            continue;
        if (ref_index(next) == NONE) {
            /* The queue was empty when `next` was read. */
            return false;
        }
        if (ref_index(head) == ref_index(tail)) {
            /* Head must not pass tail, or tail would refer to a free node. */
            swap(&queue->tail, tail, ref_after(tail, ref_index(next))); /* T, for a push that was slower */
            continue;
        }
        /* Read before H: afterwards another pop may free this node and a push write it (C5). */
        found = atomic_load_explicit(&queue->nodes[ref_index(next)].item, memory_order_relaxed);
        if (swap(&queue->head, head, ref_after(head, ref_index(next)))) { /* H */
            node_give(queue, ref_index(head));
            *item = found;
            return true;
        }
    }
}

bool dfr_queue_is_empty(const struct dfr_queue *queue)
{
    for (;;) {
        uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire); /* C1 */
        uint64_t next = atomic_load_explicit(&queue->nodes[ref_index(head)].next, memory_order_acquire); /* C3 */

        if (atomic_load_explicit(&queue->head, memory_order_relaxed) == head)
            return ref_index(next) == NONE;
    }
}
