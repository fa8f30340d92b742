/* buffers.h - the caller's own memory for tokens (struct df_buffer of df.h).
 *
 * dfr_buffers_create() finds the value of each buffer and checks it, before anything else of a run is made. Afterwards
 * the table answers three questions: where a token lies, which nodes are not called, and which values must come to the
 * host at the end of their wave. dfr_buffers_pin() pins the memory.
 *
 * Words:    A value is *lent* memory if a buffer is for this value, or for the last value of the chain of inout values
 *           that it belongs to. A node is *spared* if the caller gives all that the node makes: it is not called then.
 *           A lent value is *kept* if its bytes must be on the host when its wave ends, although perhaps no job reads
 *           them there. A value is kept if three things are true: the run has devices; the value is the last of its
 *           chain; the value is not given as it is.
 * Keeping:  A buffer is one more reader of a kept value, and one more terminal node of its wave (engine.h). When the
 *           value has been made on a device, the run asks this device for it. When it has come to the host, a CPU
 *           worker ends the reader. So a wave ends with its results in the caller's memory.
 * Addresses: The wave in a slot says where the slot's lent tokens lie. space.h asks for the wave when a block gets
 *           memory. Pointers of fixed ports are set when a wave begins (tokens.h).
 * Memory:   dfr_buffers_create() allocates it. dfr_buffers_destroy() frees it, after the devices are closed.
 * Sessions: each call may lend other memory: dfr_buffers_move(). Memory that is not known when the session is opened
 *           is not pinned.
 * Threads:  between these two calls nothing changes but `pinned`, by dfr_buffers_pin(); and a session's memory, between
 *           its calls.
 */
#ifndef DFR_BUFFERS_H
#define DFR_BUFFERS_H

#include "runtime/engine/engine.h"

struct dfr_buffers {
    uint32_t n;
    const struct dfm_lent **lent;       /* by value; NULL: none */
    uint32_t *keeper;                   /* by value: the buffer that keeps it, if there are devices; DF_NONE: none */
    uint8_t *spared;                    /* by node */
    uint32_t *value, *node;             /* by buffer: the value that it is for, and the node that it names */
    uint64_t *span_bytes;               /* by buffer: from data to the end of its last token */
    uint32_t *order;                    /* buffers, sorted by address */
    struct dfm_lent *of;                /* by buffer */
    const struct df_buffer *given;      /* by buffer: as the options, or the session's last call, have it; borrowed */
    struct df_buffer *all;              /* of a session's call: the caller's, and behind them the run's own. NULL: it has none */
    struct dfr_pinned *pinned;          /* n_pinned ranges */
    uint32_t n_pinned;
    uint64_t pinned_bytes;
    uint64_t turn;                      /* the number of waves in flight must divide it; 0: any number will do */
};

struct dfr_pinned {
    unsigned char *memory;
    uint64_t bytes;
};

/* Needs nothing of the run but its options and its limit of waves. run->memory.buffers stays NULL if no buffers are
 * given. DF_E_ARGUMENT, with the node's name, if a buffer cannot be what its fields say. */
int dfr_buffers_create(struct df_run *run, struct df_error *error);
void dfr_buffers_destroy(struct df_run *run);

/* Lends the memory that these buffers have, in place of what was lent, for so many waves. They are those of the run's
 * options but for `data`, without the run's own, which stay. DF_E_ARGUMENT: nothing has changed then. */
int dfr_buffers_move(struct df_run *run, const struct df_buffer *buffers, int64_t waves, struct df_error *error);

/* The following functions take the wave that the engine counts (dfr_job_wave()): in a run of several passes a round, whose wave they find. */

/* The outputs of the job are empty in that wave: writes that where the caller wants to know it. */
void dfr_buffers_empty(const struct df_run *run, uint64_t job, int64_t round);

/* The node has made its outputs of that wave, and their extents differ from wave to wave: writes them where the caller wants
 * to know them. An output with an extent of 0 is empty. */
void dfr_buffers_extents(const struct df_run *run, uint64_t job, int64_t round);

/* Does the caller say that this output of a spared node is empty in that wave? */
bool dfr_buffers_given_empty(const struct df_run *run, uint64_t job, uint32_t value, int64_t round);

/* The dimensions of a spared node's kernel in that wave, as the caller says them; those that the caller does not say stay. */
void dfr_buffers_given_extents(const struct df_run *run, uint64_t job, int64_t round, size_t *dims);

/* The largest number of waves in flight, at most n, with which each wave has places of its own. */
uint32_t dfr_buffers_inflight(const struct df_run *run, uint32_t n);

/* Called before the devices are open, because their caches look at what is pinned. Pins the memory that is lent, if that
 * makes copies faster. What cannot be pinned stays as it is. */
void dfr_buffers_pin(struct df_run *run);
/* --poison; without it both do nothing. Fills the places of the results that are made once a wave (phase 0), before the waves
 * (DFR_N_ONCE) or by their end (DFR_N_PHASE), before anything of that phase begins. */
void dfr_buffers_poison(const struct df_run *run, uint32_t phase, int64_t round);
/* All of the phase has been made. The run fails if a result of it that is not empty has only what its place was filled with. */
void dfr_buffers_find_unwritten(struct df_run *run, uint32_t phase, uint32_t slot, int64_t round);
/* Notes which buffers lie in pinned memory. */
void dfr_buffers_mark_pinned(struct dfr_buffers *buffers);

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
