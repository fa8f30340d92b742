/* buffers.h - memory of the caller's for tokens (struct df_buffer of df.h): found and checked before anything else of a
 * run is made; then where a token lies, which nodes are not called, what is to come to the host at last; and pinning.
 *
 * Words:    a value is *lent* memory where a buffer is for it, or for the last of the chain of inout values that it
 *           is in. A node is *spared* where all it makes is given. A lent value is *kept* where its bytes have to be on
 *           the host in the end though no job may read them there: that is where there are devices, and it is the last
 *           of its chain, and not given as it is.
 * Keeping:  a buffer is one more reader of a kept value, and one more terminal node of its wave (engine.h): once the
 *           value is made, on whatever device, its owner is asked for it; when it has come a CPU worker ends that
 *           reader. So a wave ends with its results in the caller's memory.
 * Addresses: a slot's wave says where its lent tokens lie: space.h asks it when a block gets memory; pointers of fixed
 *           ports are set when a wave begins (tokens.h).
 * Memory:   made by dfr_buffers_create(), returned by dfr_buffers_destroy(), after the devices are closed.
 * Threads:  immutable between the two.
 */
#ifndef DFR_BUFFERS_H
#define DFR_BUFFERS_H

#include "runtime/engine/engine.h"

struct dfr_buffers {
    uint32_t n;
    const struct dfm_lent **lent;       /* by value; NULL: none */
    uint32_t *keeper;                   /* by value: number of the buffer that keeps it, with devices; DF_NONE */
    uint8_t *spared;                    /* by node */
    uint32_t *value;                    /* by buffer: what it keeps */
    struct dfm_lent *of;                /* by buffer */
    struct dfr_pinned *pinned;          /* ranges, n_pinned */
    uint32_t n_pinned;
    uint64_t pinned_bytes;
    uint64_t turn;                      /* waves in flight divide it; 0: as many as there are */
};

struct dfr_pinned {
    unsigned char *memory;
    uint64_t bytes;
};

/* Needs options and limit of waves alone. run->memory.buffers stays NULL where no buffers are given. DF_E_ARGUMENT, with the
 * node's name, where one cannot be as it is said. */
int dfr_buffers_create(struct df_run *run, struct df_error *error);
void dfr_buffers_destroy(struct df_run *run);

/* At most n waves in flight, as many as have places of their own. */
uint32_t dfr_buffers_inflight(const struct df_run *run, uint32_t n);

/* With the devices open: pins what is lent, if that makes copies faster. What cannot be pinned stays as it is. */
void dfr_buffers_pin(struct df_run *run);

static inline const struct dfm_lent *dfr_buffers_lent(const struct df_run *run, uint32_t value)
{
    return run->memory.buffers ? run->memory.buffers->lent[value] : NULL;
}

static inline bool dfr_buffers_spare(const struct df_run *run, uint32_t node)
{
    return run->memory.buffers && run->memory.buffers->spared[node];
}

static inline bool dfr_buffers_keep(const struct df_run *run, uint32_t value)
{
    return run->memory.buffers && run->machine.n_gpus > 0 && run->memory.buffers->keeper[value] != DF_NONE;
}

static inline uint32_t dfr_buffers_count(const struct df_run *run)
{
    return run->memory.buffers ? run->memory.buffers->n : 0;
}

#endif
