/* tokens.h - host tokens at addresses that are fixed before the run. Kernels are called with precomputed pointers, and
 * the end of a job allocates, passes on and frees no memory.
 *
 * When:     all jobs run on the host; no node is bounded by @depth, because such a node's tokens are counted
 *           individually; no option inspects the run (inspect/inspect.h); and there is a plan whose layout saves memory, or the
 *           tokens take little memory even without overlap. Otherwise tokens are blocks of memmgr/space.h.
 * Memory:   create() allocates the tokens, and a pointer for each port of each job in flight. The pointers of tmp ports
 *           are NULL here; when the job is called, they are set to the worker's own scratch (ports.h).
 * Lent:     tokens in the caller's memory (buffers.h) take none here. Their address differs from wave to wave, so the
 *           pointers to them are set when the wave begins, when its slot has no jobs.
 * Threads:  between create and destroy only the pointers to lent tokens change. The bytes of the tokens belong to the
 *           jobs.
 */
#ifndef DFR_TOKENS_H
#define DFR_TOKENS_H

#include "runtime/engine/engine.h"

struct dfr_lent_port {
    uint32_t port;                      /* its number among the ports of a slot */
    bool final;                         /* of a final node: it is set when the waves have ended */
    const struct dfm_lent *lent;
    uint64_t offset;                    /* of a range: bytes from the beginning of the lent token */
};

struct dfr_tokens {
    unsigned char *memory;
    uint64_t bytes;
    uint32_t n_ports;                   /* of all nodes of a wave */
    void **ports;                       /* [slot * n_ports + the node's first_port + port]; once nodes use slot 0's */
    struct dfr_lent_port *lent;         /* the ports that are set for each wave */
    uint32_t n_lent;
};

/* The plan whose places are valid for host tokens in any order of jobs. NULL: there is none, or it takes both more memory
 * than a heap would and more than the caches hold. */
const struct df_plan *dfr_tokens_plan(const struct df_run *run);

/* Lays out values without overlap, in whole cache lines: writes their offsets in a slot (once: those of once values, in the once
 * slot), and returns the total size in bytes. An inout output has the offset of its input. Lent values have none. */
uint64_t dfr_tokens_lay_out(const struct df_run *run, uint64_t *offset, bool once);

/* Leaves *tokens unchanged if addresses are not to be fixed. */
int dfr_tokens_create(const struct df_run *run, struct dfr_tokens **tokens, struct df_error *error);
void dfr_tokens_destroy(struct dfr_tokens *tokens);     /* NULL is allowed */

/* Called when the wave begins in this slot, before its first job. */
void dfr_tokens_begin(const struct df_run *run, uint32_t slot, int64_t wave);
void dfr_tokens_begin_final(const struct df_run *run);  /* the same for final nodes */
void *dfr_tokens_acc(const struct df_run *run, uint32_t value); /* the memory of an acc */

/* The first of the pointers of a slot. */
static inline void *const *dfr_tokens_slot_ports(const struct df_run *run, uint32_t slot)
{
    return run->memory.tokens->ports + (size_t)(slot == dfr_once_slot(run) ? 0 : slot) * run->memory.tokens->n_ports;
}

static inline void *const *dfr_tokens_ports(const struct df_run *run, uint32_t node, uint32_t slot)
{
    return dfr_tokens_slot_ports(run, slot) + run->firing.nodes[node].first_port;
}

#endif
