/* skips.h - records which tokens of a run are empty. A kernel that returns DF_SKIP makes the outputs of its job empty.
 * A job with an empty input is *left out*: its kernel is not called, and its outputs are empty, too. A select (graph/graph.h)
 * is left out only if all its inputs are empty; else it passes on the first one that is not. A token with an extent of
 * 0 is empty, too, and *has zeros*: its extents are known. A sink with the trait DF_ZERO_EXTENTS is called for it.
 *
 * Room:     runtime/skips/ keeps this record, and counts how often the kernels of a run with empty tokens were called
 *           and left out. It knows the graph, and no job queue, memory or device.
 * Users:    the engine and the workers of GPUs write and read the record; start/ makes passes and late nodes; ranks/ and record/ ask which nodes keep
 *           something from wave to wave, and which fire late.
 * Memory:   create() allocates a byte for each value of each slot, and the counts by node; their pages are not touched
 *           before something is skipped.
 * Threads:  the thread that calls a job's kernel, or leaves it out, writes the bytes of the outputs, before their
 *           readers are released. Readers read them afterwards, but a worker that launches jobs ahead may look earlier,
 *           and then looks again (gpu/gpu_launch.c). So the bytes are atomic, and so are the counts.
 * Cost:     nothing is written before the first DF_SKIP of the run. Readers check dfr_skips_any() first.
 * Order:    `any` may be relaxed. Whoever reads an empty token has acquired what its producer wrote before, and `any` was
 *           written before that. A producer that does not see `any` yet leaves its bytes at 0, which they still are.
 */
#ifndef DFR_SKIPS_H
#define DFR_SKIPS_H

#include <stdatomic.h>

#include "runtime/graph/graph.h"

enum dfr_empty { DFR_FULL, DFR_EMPTY, DFR_ZEROS };

struct dfr_skip_count {                 /* of one node; waves */
    _Atomic uint64_t skipped;           /* its kernel was called, and returned DF_SKIP */
    _Atomic uint64_t left_out;          /* its kernel was not called */
};

/* A run that processes its waves in several passes (start/passes.h). */
struct dfr_passes {
    uint32_t n;
    _Atomic int64_t waves;              /* of a pass. The end of a stream lowers it, before a round behind them begins */
    int64_t most_waves;                 /* what it was at first */
    bool reserved;                      /* it was so many because there is no memory to keep tokens of more. A stream must end before */
    uint64_t kept_bytes;                /* of a wave, in host memory */
    bool overlap;                       /* dfr_passes_overlap() */
    bool apart;                         /* n_slots rounds without a wave end a pass: streams say in them that they end, or not overlap */
    int64_t stride;                     /* from a pass to the next, in rounds; a multiple of n_slots */
    uint32_t *of_node;                  /* the pass in which the node fires; DF_NONE: each */
    uint32_t *kept;                     /* by value: a number from 0 for what comes again; DF_NONE: it does not */
    uint8_t *was_empty;                 /* [number * most_waves + wave]: it was empty in pass 0 */
    _Atomic int64_t *round;             /* by slot */
    uint32_t n_slots;
};

struct dfr_skips {
    const struct df_graph *graph;
    struct dfr_passes *passes;          /* NULL: there is one */
    int64_t *late;                      /* by node: it does not fire before the wave with this number. NULL: all nodes fire in all waves */
    _Atomic int64_t *number;            /* by slot: the number of its wave, 0 in the once slot; if there is `late` */
    _Atomic bool any;                   /* something was skipped in this run */
    uint8_t *empty;                     /* [slot * n_values + value]: enum dfr_empty; once values and accs are never empty */
    struct dfr_skip_count *counts;      /* by node, followed in memory by `empty` */
    size_t bytes;                       /* of both */
};

/* n_slots counts the slot of what is made once, too. */
int dfr_skips_create(struct dfr_skips *skips, const struct df_graph *graph, uint32_t n_slots, struct df_error *error);
void dfr_skips_destroy(struct dfr_skips *skips);

/* kept: by value. of_node is left to be filled. DF_E_MEMORY. */
int dfr_skips_make_passes(struct dfr_skips *skips, const struct df_graph *graph, const bool *kept, uint32_t n, int64_t waves,
                          int64_t stride, struct df_error *error);
/* Returns whether the node has a state that cannot be saved from outside: an acc, or that of an ordered kernel or a stream without
 * DF_RESUME. */
bool dfr_node_keeps(const struct df_graph *graph, uint32_t node);
/* Returns whether the node's whole state can be saved: it has accs, and no other state. */
bool dfr_node_keeps_accs(const struct df_graph *graph, uint32_t node);
/* Before dfr_skips_create(): what the waves before `done` have written is there, and each node is to fire again only if another
 * one needs it that keeps something from wave to wave. accs_first: by node, the first wave in which one whose accs have had the waves before fires;
 * NULL: 0. DF_E_MEMORY. */
int dfr_skips_make_late(struct dfr_skips *skips, const struct df_graph *graph, int64_t done, const int64_t *accs_first, struct df_error *error);
/* The same without a run: writes by node the first wave in which it fires. If another node needs what one makes in waves that its accs have had, these are to
 * begin as declared: accs_first is 0 there then. accs_first may be NULL. */
void dfr_find_late(const struct df_graph *graph, int64_t done, int64_t *accs_first, int64_t *late);
/* The round begins in the slot. `number` is its wave in a run that is fed. */
static inline void dfr_skips_begin(struct dfr_skips *s, uint32_t slot, int64_t round, int64_t number)
{
    if (s->late)
        atomic_store_explicit(&s->number[slot], number, memory_order_relaxed); /* as below */
    if (s->passes)
        atomic_store_explicit(&s->passes->round[slot], round, memory_order_relaxed); /* the wave's first release orders it */
}

/* The wave of a round, which kernels see. */
static inline int64_t dfr_skips_wave(const struct dfr_skips *s, int64_t round)
{
    return s->passes ? round % s->passes->stride : round;
}

/* The waves of a pass. Relaxed: until a stream has ended, no round behind its waves can end; afterwards its release orders it. */
static inline int64_t dfr_passes_waves(const struct dfr_passes *p)
{
    return atomic_load_explicit(&((struct dfr_passes *)p)->waves, memory_order_relaxed);
}

/* Of so many rounds that are done: the waves, those of each pass counted. */
static inline int64_t dfr_passes_done(const struct dfr_passes *p, int64_t rounds)
{
    int64_t waves = dfr_passes_waves(p), in_pass = rounds % p->stride;

    return rounds / p->stride * waves + (in_pass < waves ? in_pass : waves);
}

/* The round that follows in the slot: in its pass while there are waves, or until at least n_slots rounds have had none; then in the next
 * pass. All slots go there after the same turn. */
static inline int64_t dfr_skips_next(const struct dfr_skips *s, int64_t round, uint32_t n_slots)
{
    const struct dfr_passes *p = s->passes;
    const bool last = !p || round / p->stride == p->n - 1;

    round += n_slots;
    if (!last && round % p->stride >= (dfr_passes_waves(p) + (p->apart ? 2 : 1) * (int64_t)n_slots - 1) / n_slots * n_slots)
        round = (round / p->stride + 1) * p->stride + round % n_slots;
    return round;
}

/* A stream has no wave `wave`: no pass has it. */
void dfr_skips_end(struct dfr_skips *skips, int64_t wave);
/* Does the node not fire in this round, because that is of another pass, has no wave, or was done by a run before this one? */
bool dfr_skips_passes_over(const struct dfr_skips *skips, uint32_t slot, uint32_t node);
/* Is this a token of a wave of pass 0, which comes again in the slot's round? */
bool dfr_skips_comes_again(const struct dfr_skips *skips, uint32_t slot, uint32_t value);

static inline bool dfr_skips_any(const struct dfr_skips *s)
{
    return __builtin_expect(atomic_load_explicit(&((struct dfr_skips *)s)->any, memory_order_relaxed), 0);
}

/* Is the token of this value empty, in the wave that is in the slot? */
static inline bool dfr_skips_empty(const struct dfr_skips *s, uint32_t slot, uint32_t value)
{
    return dfr_skips_any(s) && __atomic_load_n(&s->empty[(size_t)slot * s->graph->n_values + value], __ATOMIC_RELAXED);
}

/* The in slot of the first input of the job that is not empty. DF_NONE: all are. */
uint32_t dfr_skips_first(const struct dfr_skips *skips, uint32_t slot, uint32_t node);
/* Returns whether the job is to be left out. All its inputs must have been produced. */
bool dfr_skips_some_are_empty(const struct dfr_skips *skips, uint32_t slot, uint32_t node);
static inline bool dfr_skips_leaves_out(const struct dfr_skips *skips, uint32_t slot, uint32_t node)
{
    return dfr_skips_any(skips) && dfr_skips_some_are_empty(skips, slot, node);
}
/* Returns whether that is only because of inputs that have zeros. */
bool dfr_skips_has_zeros(const struct dfr_skips *skips, uint32_t slot, uint32_t node);
/* Record whether the outputs of the job are empty. For a job that was called, outputs that have zeros keep that; for one that is left out,
 * the outputs in the bit set `zeros` have zeros. */
void dfr_skips_set(struct dfr_skips *skips, uint32_t slot, uint32_t node, bool empty);
void dfr_skips_set_left_out(struct dfr_skips *skips, uint32_t slot, uint32_t node, uint64_t zeros);
/* Adds what was counted, by node. */
void dfr_skips_add(const struct dfr_skips *skips, struct df_node_skips *sums);
/* Marks a single output of a job as empty, in this way. */
void dfr_skips_set_one(struct dfr_skips *skips, uint32_t slot, uint32_t value, enum dfr_empty how);
/* Counts a job whose outputs are empty. Call it once per job. */
void dfr_skips_count(struct dfr_skips *skips, uint32_t node, bool left_out);

#endif
