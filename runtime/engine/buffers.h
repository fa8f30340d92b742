/* buffers.h - the caller's own memory for tokens (struct df_buffer of df.h): results are written to it, and inputs read
 * from it, without a copy on the host.
 *
 * dfr_buffers_create() finds the value of each buffer and checks it, before anything else of a run is made. Afterwards
 * the table answers three questions: where a token lies, which nodes are not called, and which values must come to the
 * host at the end of their wave. dfr_buffers_pin() pins the memory.
 *
 * Words:     a value is *lent* memory if a buffer is for it, or for the last value of the chain of inout values to
 *            which it belongs. A node is *spared* if the caller provides all its outputs; it is not called then. A lent
 *            value is *kept* if its bytes must be on the host when its wave ends, even if no job reads them there. That
 *            holds if the run has devices, the value is the last of its chain, and the caller does not provide it.
 * Keeping:   a buffer acts as one more reader of a kept value, and as one more terminal node of its wave (engine.h).
 *            When the value has been produced on a device, the run requests a copy to the host; when that has arrived,
 *            a CPU worker ends the reader. So a wave ends with its results in the caller's memory.
 * Addresses: the wave in a slot determines where the slot's lent tokens are. memmgr/space.h asks for the wave when a block
 *            gets memory. Pointers of fixed ports are set when a wave begins (tokens.h).
 * Memory:    dfr_buffers_create() allocates the tables; dfr_buffers_destroy() frees them, after the devices are closed.
 * Sessions:  each call may lend different memory: dfr_buffers_move(). Memory that is not known when the session is
 *            opened is not pinned.
 * Threads:   immutable between these two calls, except for `pinned`, which dfr_buffers_pin() sets, and a session's
 *            memory, which changes between its calls.
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
    struct df_buffer *all;              /* of a session's call: the caller's, followed by the run's own. NULL: it has none */
    struct dfr_pinned *pinned;          /* n_pinned ranges */
    uint32_t n_pinned;
    uint64_t pinned_bytes;
    uint64_t turn;                      /* the number of waves in flight must divide it; 0: any number will do */
};

struct dfr_pinned {
    unsigned char *memory;
    uint64_t bytes;
};

/* Uses only the run's options and its limit of waves. run->memory.buffers stays NULL if there are no buffers. DF_E_ARGUMENT,
 * with the node's name, if the fields of a buffer are invalid. */
int dfr_buffers_create(struct df_run *run, struct df_error *error);
void dfr_buffers_destroy(struct df_run *run);

/* Replaces the lent memory by that of these buffers, for so many waves. They must equal those of the run's options except for
 * `data`; the run's own buffers, which are not among them, stay. DF_E_ARGUMENT: nothing has changed then. */
int dfr_buffers_move(struct df_run *run, const struct df_buffer *buffers, int64_t waves, struct df_error *error);

/* The following functions take the wave that the engine counts (dfr_job_wave()): in a run of several passes a round, whose wave they find. */

/* The outputs of the job are empty in that wave: reports that in the caller's fields. */
void dfr_buffers_empty(const struct df_run *run, uint64_t job, int64_t round);

/* The node has produced its outputs of that wave, whose extents vary: reports the extents in the caller's fields. An output
 * with an extent of 0 is empty. */
void dfr_buffers_extents(const struct df_run *run, uint64_t job, int64_t round);

/* Returns whether the caller declares this output of a spared node empty in that wave. */
bool dfr_buffers_given_empty(const struct df_run *run, uint64_t job, uint32_t value, int64_t round);

/* Writes the dimensions of a spared node's kernel in that wave that the caller states; the others are left unchanged. */
void dfr_buffers_given_extents(const struct df_run *run, uint64_t job, int64_t round, size_t *dims);

/* The largest number of waves in flight, at most n, for which each wave has its own places in the buffers. */
uint32_t dfr_buffers_inflight(const struct df_run *run, uint32_t n);

/* Pins the lent memory, if that makes copies faster; memory that cannot be pinned stays pageable. Called before the devices
 * are opened, because their caches check what is pinned. */
void dfr_buffers_pin(struct df_run *run);
/* --poison; without it both do nothing. Fills the places of the results that are made once a wave (phase 0), before the waves
 * (DFR_N_ONCE) or by their end (DFR_N_PHASE), before anything of that phase begins. */
void dfr_buffers_poison(const struct df_run *run, uint32_t phase, int64_t round);
/* After the phase: the run fails if one of its results is not empty and still has the poison pattern. */
void dfr_buffers_find_unwritten(struct df_run *run, uint32_t phase, uint32_t slot, int64_t round);
/* Records which buffers are in pinned memory. */
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
