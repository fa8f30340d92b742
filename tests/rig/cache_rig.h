/* cache_rig.h - the caches of several devices between which tokens go directly, and what a runtime does with them, on
 * devices that carry out a copy when a test says so: so the steps of all come in whatever order it likes, one device's
 * in the midst of another's. Every token is looked at where it is read.
 */
#ifndef CACHE_RIG_H
#define CACHE_RIG_H

#include "memmgr/cache.h"

enum { MOST_DEVICES = 4, N_VALUES = 20, N_JOBS = 24, N_PIECES = 3, N_STREAMS = 3, N_COPIES = 256, MOST_READERS = 4 };

struct copy {
    void *to;
    const void *from;
    uint64_t bytes;
};

struct dfr_event {
    uint32_t stream;
    uint64_t number;                    /* of copies in its stream before it */
};

struct fake {
    struct dfr_device base;
    unsigned char *pool;
    struct copy copies[N_STREAMS][N_COPIES];
    uint64_t issued[N_STREAMS], done[N_STREAMS];
    uint64_t waited;                    /* copies from the host that a launch waits for */
};

enum job_state { NO_JOB, GIVEN, TAKEN, RESERVED, LAUNCHED, STAGED };

struct job {
    enum job_state state;
    uint32_t unit, n_in, in[2], out;    /* out DFM_NONE: it makes nothing */
    uint32_t n_readers, n_followers;    /* that its output will have; those of them that are jobs already */
    uint32_t follows;                   /* job that makes its input and has not ended; DFM_NONE */
    uint64_t tmp_bytes;
    bool takes;                         /* its output lies where its first input did */
    bool loaded;
    uint64_t waits_for;                 /* copies from the host */
    struct dfm_piece pieces[N_PIECES];
    struct dfm_claim claim;
};

struct token {
    bool used;                          /* some job makes it, or it is there */
    uint32_t life, n_readers, n_left;
    uint32_t n_to_come;                 /* readers that are no jobs yet; n_left counts them too */
    uint8_t unit[MOST_READERS];         /* where each will be */
};

struct world {
    uint32_t n_devices, random;
    uint32_t made, limit, depth;        /* jobs that ended; that are made; steps that are under way */
    uint64_t followed;                  /* jobs that were launched before their inputs were made */
    uint32_t peers[MOST_DEVICES + 1];   /* by memory */
    uint32_t inside;                    /* devices that are in the midst of a call */
    bool follows;                       /* jobs are launched before their inputs are made, as far as may be */
    bool sends_home;                    /* as placed policies do: what the host will need is fetched at once */
    uint64_t bytes[N_VALUES];
    struct dfm_space *space;
    struct fake fakes[MOST_DEVICES + 1];
    struct dfm_cache *caches[MOST_DEVICES + 1];
    struct token tokens[N_VALUES];
    struct job jobs[N_JOBS];
    uint32_t missing[N_JOBS];           /* inputs on their way to the host */
    uint32_t (*intrude)(struct world *w);   /* called in the midst of calls */
    /* Places of blocks on every device, in pages, DFM_NONE: it has none; then what is kept for scratch. planned_pages
     * 0: there are none. */
    uint32_t planned_pages, scratch_pages, place[N_VALUES];
};

/* Value v has 1 + v % most_pages pages, less a few bytes; w is all zero but for what the test has set. */
void world_begin(struct world *w, uint32_t n_devices, uint64_t pool_pages, uint32_t most_pages);
void world_end(struct world *w);        /* nothing may be left, neither on the host nor on a device */

uint32_t world_pick(struct world *w, uint32_t n);
uint32_t world_valid(const struct world *w, uint32_t block);
struct df_memory_stats world_stats(const struct world *w, uint32_t memory);

/* The oldest copy of the stream is carried out; false: there is none. */
bool world_carry_out(struct fake *fake, uint32_t stream);

/* ---- a device's worker ---- */

void world_poll(struct world *w, uint32_t memory);
void world_describe(struct job *j);     /* its claim */
enum dfm_reserved world_reserve(struct world *w, struct job *j);
void world_ask_for_inputs(struct world *w, struct job *j);
void world_load_arrived(struct world *w, struct job *j);
void world_run_on_device(struct world *w, struct job *j);

/* ---- a worker of the host ---- */

void world_ask_home(struct world *w, uint32_t waiter, uint32_t block, uint32_t holders);
void world_run_on_host(struct world *w, struct job *j);

/* A reader of the token has ended, on that memory's unit. */
void world_give_back(struct world *w, uint32_t block, uint32_t memory);

#endif
