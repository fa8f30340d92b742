/* queue.c - Michael & Scott's queue over an array of nodes (PODC 1996, figure 1), with C11 atomics (queue.h): policies
 * keep ready jobs in it, and the engine jobs whose data has arrived.
 *
 * The chain: all nodes are linked in one chain by `next`, and three places move along it, never backwards:
 *
 *         oldest            head              tail
 *            |                |                 |
 *         o->o->o->o->o->o->(dummy)->o->o->o->o->o     o ...   taken by pushes, not yet linked
 *         `---- free -----'          `- inside --'
 *
 *            push takes the node at oldest and links it behind the last one; pop moves head, and what was the dummy is
 *            free by that alone. So there is no free list to keep, and a node rests as long as possible before it is
 *            used again.
 *
 * Words:     a *ref* is one 64-bit word, (index of a node, its position). The *position* counts the nodes ever linked,
 *            so it is a tag too: it tells the *lives* of a node apart. next of the node at position p is (NONE, p + 1),
 *            then (successor, p + 1) until the node's next life. oldest, head and tail take over whole refs from
 *            `next`, each with a compare-and-swap. So the swap succeeds only if the place did not change since it was
 *            read (up to 2^31 pushes during one thread's pause).
 *
 * States and transitions of a node:
 *     1  free       between oldest and head
 *     2  private    taken by a push: 1 -> 2 by a CAS of oldest (F), if oldest is before head
 *     3  last       the successor of the last node, next = NONE: 2 -> 3 by a CAS of that node's next (L, the push's
 *                   linearization point)
 *     4  inner      another node was linked behind it: 3 -> 4 by that node's L
 *     5  dummy      head refers to it, its item is taken: 3 or 4 -> 5 by a CAS of head (H, the pop's linearization
 *                   point); if it is also the last, the queue is empty
 *     1  free       5 -> 1 by the H of its successor
 *
 * tail      refers to the last node or, between an L and the CAS of tail (T) that follows it, to the one before: a push
 *           links behind the node that it found at tail only. T is made by the push or by whoever finds tail lagging.
 *
 * pop       does not look at tail, as it does in figure 1, and may leave it behind head, at a node that is free or even
 *           private. This is harmless because a push leaves its node's next alone until it has found the last node at
 *           tail: by then tail has passed its own, as tail never goes back. Until then the old next leads on.
 *
 * Three rules keep it right, and the check of tests/model/queue.pml fails without any of them:
 *     the tag       a CAS of an index alone would succeed after the place went elsewhere and came back (ABA).
 *     the recheck   a `next` counts only if it is of the life that the ref to its node is of (is_same_life). Otherwise
 *                   NONE may be that of a node which another push is preparing, and the new one would be linked where
 *                   nobody looks; or of the old dummy, now last in a queue that is not empty: a false "empty". Figure 1
 *                   reads tail (head) again for this; a position says it without another look at a shared line.
 *     the help      who finds tail lagging moves it and does not wait: a push stopped between L and T delays nobody.
 *
 * Reclamation: nodes are returned to the system by destroy alone, so a slow thread may read next and item of a node in
 * any state. What it read counts only if a CAS shows afterwards that the place had not moved on: a pop's item by H
 * (while head stands, the dummy's successor is not free), a push's successor by F. "Empty" and "full" need no CAS: they
 * are so at the last read before they are said. next = (NONE, p + 1) in the life of the dummy: it was last. oldest and
 * then head at one position: oldest never passes head, so no node was free.
 *
 * Orders (each acquire names the release it pairs with; C.x below refers to this list):
 *     C1  load of head   acquires H (and create): the life of the node that head refers to.
 *     C2  load of tail   acquires T: the life of the node that tail refers to.
 *     C3  load of next   acquires L: item and next of the node linked there.
 *     C4  load of oldest acquires F: that head was past it; hence the head read next is not an earlier one ("full").
 *     C5  H releases the reading of item: a push writes it only after it saw head past the node, by C1 or by C6.
 *     C6  load of head_bound acquires the store by one who had seen head there (C1).
 *     A CAS that moves a place along acquires as well as releases, so that what an earlier one released stays visible
 *     through it. A push's first store to next of its node is relaxed: it is published by L, and who reads it sooner
 *     holds a ref of an earlier life and finds by the position that it is not meant.
 *
 * head_bound: a push need not know where head is, but that it is past oldest. The last look at head answers this for
 * many pushes and spares them the consumers' line. It may lag, even go back when a slow thread stores an old one: then
 * head itself is looked at. */
#include "runtime/threads/queue.h"

#include <stdatomic.h>
#include <stdlib.h>

#define NONE UINT32_MAX
#define MAX_CAPACITY (INT32_MAX - 1u)   /* positions of nodes in the chain at one moment differ by less than 2^31 */
#define LINE 64

struct node {
    _Atomic uint64_t next;              /* ref of the successor; index NONE while there is none */
    _Atomic uint64_t item;              /* relaxed: a slow pop may read it while a push of a later life writes it */
};

struct dfr_queue {
    _Alignas(LINE) _Atomic uint64_t head; /* consumers' line */
    _Alignas(LINE) _Atomic uint64_t tail; /* producers' line */
    _Atomic uint64_t oldest;
    _Atomic uint32_t head_bound;          /* head has come to this position */
    _Alignas(LINE) struct node *nodes;    /* never written after create */
};

static uint64_t ref_make(uint32_t index, uint32_t position)
{
    return (uint64_t)position << 32 | index;
}

static uint32_t ref_index(uint64_t ref)
{
    return (uint32_t)ref;
}

static uint32_t ref_position(uint64_t ref)
{
    return (uint32_t)(ref >> 32);
}

/* Positions wrap around. */
static bool is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

static bool swap(_Atomic uint64_t *place, uint64_t expected, uint64_t desired)
{
    return atomic_compare_exchange_strong_explicit(place, &expected, desired, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* Was `next` read in the life of its node that `ref` is of? */
static bool is_same_life(uint64_t ref, uint64_t next)
{
    return ref_position(next) == ref_position(ref) + 1;
}

struct dfr_queue *dfr_queue_create(uint32_t capacity)
{
    struct dfr_queue *queue;
    size_t size_bytes = ((size_t)capacity + 1) * sizeof(struct node);

    if (capacity > MAX_CAPACITY)
        return NULL;
    queue = aligned_alloc(LINE, sizeof *queue);
    if (queue == NULL)
        return NULL;
    queue->nodes = aligned_alloc(LINE, (size_bytes + LINE - 1) / LINE * LINE);
    if (queue->nodes == NULL) {
        free(queue);
        return NULL;
    }
    /* Nodes 0 … capacity-1 are free, the last is the first dummy, each at the position of its number. */
    for (uint32_t i = 0; i <= capacity; i++) {
        atomic_init(&queue->nodes[i].next, ref_make(i == capacity ? NONE : i + 1, i + 1));
        atomic_init(&queue->nodes[i].item, 0);
    }
    atomic_init(&queue->oldest, ref_make(0, 0));
    atomic_init(&queue->head, ref_make(capacity, capacity));
    atomic_init(&queue->tail, ref_make(capacity, capacity));
    atomic_init(&queue->head_bound, capacity);
    return queue;
}

void dfr_queue_destroy(struct dfr_queue *queue)
{
    if (queue == NULL)
        return;
    free(queue->nodes);
    free(queue);
}

/* Is the node that `oldest` refers to free? */
static bool is_free(struct dfr_queue *queue, uint64_t oldest)
{
    uint32_t bound = atomic_load_explicit(&queue->head_bound, memory_order_acquire); /* C6 */

    if (is_before(ref_position(oldest), bound))
        return true;
    bound = ref_position(atomic_load_explicit(&queue->head, memory_order_acquire)); /* C1 */
    if (!is_before(ref_position(oldest), bound))
        return false;
    atomic_store_explicit(&queue->head_bound, bound, memory_order_release);
    return true;
}

/* 1 -> 2 */
static uint32_t node_take(struct dfr_queue *queue)
{
    for (;;) {
        uint64_t oldest = atomic_load_explicit(&queue->oldest, memory_order_acquire); /* C4 */
        uint64_t next;

        if (!is_free(queue, oldest))
            return NONE;
        next = atomic_load_explicit(&queue->nodes[ref_index(oldest)].next, memory_order_relaxed);
        if (swap(&queue->oldest, oldest, next)) /* F: and the node was free all the while, so next is of this life */
            return ref_index(oldest);
    }
}

bool dfr_queue_push(struct dfr_queue *queue, uint64_t item)
{
    uint32_t mine = node_take(queue);
    struct node *node;

    if (mine == NONE)
        return false;
    node = &queue->nodes[mine];
    atomic_store_explicit(&node->item, item, memory_order_relaxed); /* published by L */

    for (;;) {
        uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire); /* C2 */
        struct node *last = &queue->nodes[ref_index(tail)];
        uint64_t next = atomic_load_explicit(&last->next, memory_order_acquire); /* C3 */
        uint64_t linked = ref_make(mine, ref_position(next));

        if (!is_same_life(tail, next))
            continue; /* tail has moved */
        if (ref_index(next) != NONE) {
            swap(&queue->tail, tail, next); /* T, for a push that was slower */
            continue;
        }
        atomic_store_explicit(&node->next, ref_make(NONE, ref_position(linked) + 1), memory_order_relaxed);
        if (swap(&last->next, next, linked)) { /* L */
            swap(&queue->tail, tail, linked);  /* T; if it fails, another did it */
            return true;
        }
    }
}

bool dfr_queue_pop(struct dfr_queue *queue, uint64_t *item)
{
    for (;;) {
        uint64_t head = atomic_load_explicit(&queue->head, memory_order_acquire); /* C1 */
        uint64_t next = atomic_load_explicit(&queue->nodes[ref_index(head)].next, memory_order_acquire); /* C3 */
        uint64_t found;

        if (!is_same_life(head, next))
            continue; /* head has moved */
        if (ref_index(next) == NONE)
            return false;
        /* Read before H: afterwards another pop may free this node and a push write it (C5). */
        found = atomic_load_explicit(&queue->nodes[ref_index(next)].item, memory_order_relaxed);
        if (swap(&queue->head, head, next)) { /* H */
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

        if (is_same_life(head, next))
            return ref_index(next) == NONE;
    }
}
