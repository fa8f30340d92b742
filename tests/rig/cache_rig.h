/* cache_rig.h - the caches of several devices that copy tokens directly to each other, and a small runtime that uses
 * them. It is for the tests of memmgr/. The devices are fakes, which carry out a copy when a test says so. So a test
 * can choose the order of all steps, and one device's steps can come in the midst of another's. Every job checks the
 * bytes of each token that it reads.
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
    uint64_t number;                    /* copies in its stream that come before it */
};

struct fake {
    struct dfr_device base;
    unsigned char *pool;
    struct copy copies[N_STREAMS][N_COPIES];
    uint64_t issued[N_STREAMS], done[N_STREAMS];
    uint64_t records, batches;          /* calls */
    uint64_t waited;                    /* the number of copies from the host that a launch waits for */
};

enum job_state { NO_JOB, GIVEN, TAKEN, RESERVED, LAUNCHED, STAGED };

struct job {
    enum job_state state;
    uint32_t unit, n_in, in[2], out;    /* out = DFM_NONE: it makes nothing */
    uint32_t n_readers, n_followers;    /* readers that its output will have; those of them that are jobs already */
    uint32_t follows;                   /* the job that makes its input and has not ended; DFM_NONE: there is none */
    uint64_t tmp_bytes;
    bool takes;                         /* its output lies where its first input did */
    bool loaded;
    uint64_t waits_for;                 /* the number of copies from the host that must be complete */
    struct dfm_piece pieces[N_PIECES];
    struct dfm_claim claim;
};

struct token {
    bool used;                          /* some job will make it, or has made it */
    uint32_t life, n_readers, n_left;
    uint32_t n_to_come;                 /* readers that are not jobs yet; n_left counts them, too */
    uint8_t unit[MOST_READERS];         /* the unit on which each of them will run */
};

struct world {
    uint32_t n_devices, random;
    uint32_t made, limit, depth;        /* jobs that have ended; jobs to make in all; steps that are under way */
    uint64_t followed;                  /* jobs that were launched before their inputs were made */
    uint32_t peers[MOST_DEVICES + 1];   /* by memory */
    uint32_t inside;                    /* devices that are in the midst of a call, a bit each */
    bool follows;                       /* jobs are launched before their inputs are made, if that is possible */
    bool sends_home;                    /* what the host will need is fetched at once, as policies with a plan do */
    bool batches;                       /* small copies are given together */
    bool staged;                        /* copies of the host's memory go through pinned memory */
    uint64_t bytes[N_VALUES];
    struct dfm_space *space;
    struct fake fakes[MOST_DEVICES + 1];
    struct dfm_cache *caches[MOST_DEVICES + 1];
    struct token tokens[N_VALUES];
    struct job jobs[N_JOBS];
    uint32_t missing[N_JOBS];           /* inputs on their way to the host */
    uint32_t (*intrude)(struct world *w);   /* called in the midst of calls */
    /* place: of each block on every device, in pages; DFM_NONE: it has none. scratch_pages: what is reserved for
     * scratch. planned_pages = 0: no block has a place. */
    uint32_t planned_pages, scratch_pages, place[N_VALUES];
};

/* Value v has 1 + v % most_pages pages, less a few bytes. The test has set some members of *w; the others are zero. */
void world_begin(struct world *w, uint32_t n_devices, uint64_t pool_pages, uint32_t most_pages);
void world_end(struct world *w);        /* fails the test if the host or a device still has a token */

uint32_t world_pick(struct world *w, uint32_t n);
uint32_t world_valid(const struct world *w, uint32_t block);
struct df_memory_stats world_stats(const struct world *w, uint32_t memory);

/* Carries out the oldest copy of the stream. false: there is none. */
bool world_carry_out(struct fake *fake, uint32_t stream);

/* A fake device by itself, with a pool that has nothing of use in it. */
void fake_begin(struct fake *fake, uint64_t pool_pages);
void fake_end(struct fake *fake);
extern uint32_t fake_pinned;            /* pieces of pinned memory that nobody has returned */
extern bool fake_refuses;               /* there is no pinned memory */

/* ---- a device's worker ---- */

void world_poll(struct world *w, uint32_t memory);
void world_describe(struct job *j);     /* makes the job's claim */
enum dfm_reserved world_reserve(struct world *w, struct job *j);
void world_ask_for_inputs(struct world *w, struct job *j);
void world_load_arrived(struct world *w, struct job *j);
void world_run_on_device(struct world *w, struct job *j);

/* ---- a worker of the host ---- */

void world_ask_home(struct world *w, uint32_t waiter, uint32_t block, uint32_t holders);
void world_run_on_host(struct world *w, struct job *j);

/* A reader of the token has ended, on the unit that has this memory. */
void world_give_back(struct world *w, uint32_t block, uint32_t memory);

#endif
