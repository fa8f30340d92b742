/* tokens.h - host tokens at addresses that are known before the run: then a job's kernel is called with pointers that
 * were made beforehand, and its end has no memory to take, to pass on or to give back.
 *
 * When:     all jobs run on the host, no node is bounded by @depth (whose tokens are counted one by one), nobody looks
 *           into the run (inspect.h), and places are planned with a gain, or tokens take little memory even side by
 *           side. Otherwise tokens are blocks of memmgr/space.h.
 * Memory:   create() allocates: tokens, and a pointer for each port of each job in flight. NULL for tmp ports: they
 *           point into the worker's own scratch.
 * Lent:     tokens in the caller's memory (buffers.h) take none here. Where each lies is another address for each wave:
 *           the pointers to it are set as the wave begins, when no job of its slot is there.
 * Threads:  but for that immutable between create and destroy; the bytes are the jobs'.
 */
#ifndef DFR_TOKENS_H
#define DFR_TOKENS_H

#include "runtime/engine/engine.h"

struct dfr_lent_port {
    uint32_t port;                      /* of a slot */
    const struct dfm_lent *lent;
};

struct dfr_tokens {
    unsigned char *memory;
    uint64_t bytes;
    uint32_t n_ports;                   /* of a wave */
    void **ports;                       /* [slot * n_ports + the node's first_port]; what fires once: slot 0 */
    struct dfr_lent_port *lent;         /* those to be set for each wave */
    uint32_t n_lent;
};

/* The plan whose places tokens of the host take in any order of jobs. NULL: there is none, or a heap takes less memory
 * and the plan takes more than what stays in the caches. */
const struct df_plan *dfr_tokens_plan(const struct df_run *run);

/* *tokens is NULL where addresses are not to be fixed. */
int dfr_tokens_create(const struct df_run *run, struct dfr_tokens **tokens, struct df_error *error);
void dfr_tokens_destroy(struct dfr_tokens *tokens);     /* NULL, too */

/* The wave begins in this slot, before the first job there. */
void dfr_tokens_begin(const struct df_run *run, uint32_t slot, int64_t wave);

/* Where the ports of a slot's nodes begin. */
static inline void *const *dfr_tokens_slot_ports(const struct df_run *run, uint32_t slot)
{
    return run->memory.tokens->ports + (size_t)(slot == dfr_once_slot(run) ? 0 : slot) * run->memory.tokens->n_ports;
}

static inline void *const *dfr_tokens_ports(const struct df_run *run, uint32_t node, uint32_t slot)
{
    return dfr_tokens_slot_ports(run, slot) + run->firing.nodes[node].first_port;
}

#endif
