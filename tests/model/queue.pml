/* queue.pml - runtime/threads/queue.c for spin: the same steps on the same words, one shared access a step, under every
 * interleaving (of sequentially consistent steps: orders are argued at the head of queue.c, and seen by TSan).
 *
 *     WORKERS workers make OPS operations each, every one freely a push or a pop, on a queue of CAPACITY.
 *
 * What is checked:
 *     linearizable  `truth` is a plain queue to which L appends and from which H takes: H gives what it gives (none
 *                   lost, none twice, first in first out), "empty" and "full" are said where it is so at the read that
 *     says it right node    each transition of queue.c's list finds its node in the state that it starts from
 *     at the end    the chain from head is `truth`, tail refers to its last node, all other nodes are free
 *     lock-free     no run is endless (spin -l, with no progress label anywhere): workers make finitely many
 *                   operations, so a cycle is one in which nobody gets on, as when one waits for another that is not
 *                   running
 *
 * Each of these leaves out one thing and must be found wanting:
 *     NO_TAG           refs are indices alone; what is decided by positions is decided by indices
 *     NO_TAIL_RECHECK  push does not ask whether `next` is of the life of the node that tail refers to
 *     NO_HELP          who finds tail lagging waits for the push that owes the step
 *     NO_HEAD_RECHECK  pop does not ask whether `next` is of the life of the node that head refers to: false "empty"
 */
#ifndef CAPACITY
#define CAPACITY 1
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef OPS
#define OPS 3
#endif

#define NODES (CAPACITY + 1)
#define NONE 7                          /* no index */

#ifdef NO_TAG
#define REF(index, position) (index)
#define POSITION(ref) 0
#define SAME_LIFE(ref, next) (true)
#define IS_FREE(oldest, head) (INDEX(oldest) != INDEX(head))
#else
#define REF(index, position) ((position) * 8 + (index))
#define POSITION(ref) ((ref) / 8)
#define SAME_LIFE(ref, next) (POSITION(next) == POSITION(ref) + 1)
#define IS_FREE(oldest, head) (POSITION(oldest) < POSITION(head))
#endif
#define INDEX(ref) ((ref) % 8)

#ifdef NO_TAIL_RECHECK
#define TAIL_RECHECK(ref, next) (true)
#else
#define TAIL_RECHECK(ref, next) SAME_LIFE(ref, next)
#endif
#ifdef NO_HEAD_RECHECK
#define HEAD_RECHECK(ref, next) (true)
#else
#define HEAD_RECHECK(ref, next) SAME_LIFE(ref, next)
#endif

/* ---- the words of queue.c ---- */

short oldest, head, tail;
byte head_bound;
short next_of[NODES];
byte item_of[NODES];

/* ---- what only the check knows ---- */

mtype = { FREE, PRIVATE, INSIDE, DUMMY }; /* 1, 2, 3 and 4, 5 of queue.c's list */
mtype state_of[NODES];
chan truth = [NODES] of { byte };
byte last;                              /* the node that was linked last */
byte n_private;
byte n_running = WORKERS;

#define MOVE(node, from, to) assert(state_of[node] == from); state_of[node] = to

/* T: whoever gets there first */
inline advance_tail(seen, to)
{
    atomic {
        if
        :: tail == seen -> tail = to; assert(to == REF(last, POSITION(to))) /* never back */
        :: else
        fi
    }
}

#ifdef NO_HELP
#define HELP(seen, to) skip
#else
#define HELP(seen, to) advance_tail(seen, to)
#endif

/* 1 -> 2; mine = NONE where the queue is full */
inline node_take()
{
    do
    :: first = oldest;
#ifndef NO_TAG
       bound = head_bound;
       if
       :: POSITION(first) < bound
       :: else ->
#endif
          atomic {
              seen = head;
              /* "full" is true */
              assert(IS_FREE(first, seen) || (oldest == first && len(truth) + n_private == CAPACITY))
          };
          if
          :: !IS_FREE(first, seen) -> mine = NONE; break
          :: else
          fi;
#ifndef NO_TAG
          head_bound = POSITION(seen)
       fi;
#endif
       after = next_of[INDEX(first)];
       atomic { /* F */
           if
           :: oldest == first ->
              oldest = after;
              mine = INDEX(first);
              MOVE(mine, FREE, PRIVATE);
              n_private++;
              ok = true
           :: else -> ok = false
           fi
       };
       if
       :: ok -> break
       :: else
       fi
    od
}

inline push()
{
    node_take();
    if
    :: mine == NONE
    :: else ->
       item_of[mine] = item;
       do
       :: seen = tail;
          after = next_of[INDEX(seen)];
          if
          :: !TAIL_RECHECK(seen, after)
          :: else ->
             if
             :: INDEX(after) != NONE -> HELP(seen, after)
             :: else ->
                next_of[mine] = REF(NONE, POSITION(after) + 1);
                atomic { /* L */
                    if
                    :: next_of[INDEX(seen)] == after ->
                       next_of[INDEX(seen)] = REF(mine, POSITION(after));
                       assert(INDEX(seen) == last);
                       last = mine;
                       MOVE(mine, PRIVATE, INSIDE);
                       n_private--;
                       assert(len(truth) < CAPACITY);
                       truth!item;
                       ok = true
                    :: else -> ok = false
                    fi
                };
                if
                :: ok -> advance_tail(seen, REF(mine, POSITION(after))); break
                :: else
                fi
             fi
          fi
       od
    fi
}

inline pop()
{
    do
    :: seen = head;
       atomic {
           after = next_of[INDEX(seen)];
           assert(!HEAD_RECHECK(seen, after) || INDEX(after) != NONE || len(truth) == 0) /* "empty" is true */
       };
       if
       :: !HEAD_RECHECK(seen, after)
       :: else ->
          if
          :: INDEX(after) == NONE -> break
          :: else
          fi;
          found = item_of[INDEX(after)];
          atomic { /* H */
              if
              :: head == seen ->
                 head = after;
                 assert(len(truth) > 0);
                 truth?item;
                 assert(item == found);
                 MOVE(INDEX(seen), DUMMY, FREE);
                 MOVE(INDEX(after), INSIDE, DUMMY);
                 ok = true
              :: else -> ok = false
              fi
          };
          if
          :: ok -> break
          :: else
          fi
       fi
    od
}

proctype worker(byte number)
{
    short first, seen, after;
    byte n_done, item, found, mine, bound;
    bool ok;

    do
    :: n_done < OPS ->
       n_done++;
       if
       :: item = number * OPS + n_done; push()
       :: pop()
       fi;
       atomic { first = 0; seen = 0; after = 0; item = 0; found = 0; mine = 0; bound = 0; ok = false }
    :: else -> break
    od;
    n_running--
}

init
{
    byte i;

    d_step {
        do
        :: i < NODES ->
           next_of[i] = REF((i == CAPACITY -> NONE : i + 1), i + 1);
           state_of[i] = (i == CAPACITY -> DUMMY : FREE);
           i++
        :: else -> break
        od;
        oldest = REF(0, 0);
        head = REF(CAPACITY, CAPACITY);
        tail = head;
        head_bound = CAPACITY;
        last = CAPACITY;
        i = 0
    };
    atomic {
        do
        :: i < WORKERS -> run worker(i); i++
        :: else -> break
        od
    };
    n_running == 0;
    d_step {
        byte node, found;

        assert(tail == REF(last, POSITION(tail)) && next_of[last] == REF(NONE, POSITION(tail) + 1));
        node = INDEX(head);
        assert(state_of[node] == DUMMY);
        do
        :: len(truth) > 0 ->
           node = INDEX(next_of[node]);
           truth?found;
           assert(state_of[node] == INSIDE && item_of[node] == found);
           state_of[node] = FREE
        :: else -> break
        od;
        assert(node == last && n_private == 0)
    }
}
