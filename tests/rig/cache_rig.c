/* cache_rig.c - fake devices whose copies wait until a test carries them out, and the way of a job through their caches
 * (cache_rig.h). It takes the steps that prefetch.c, gpu_worker.c and engine.c take. */
#include "cache_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"

/* ---- devices ---- */

static struct fake *fake_of(struct dfr_device *device)
{
    return (struct fake *)device;
}

static void *fake_pool(struct dfr_device *device)
{
    return fake_of(device)->pool;
}

static int fake_copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t bytes,
                     uint32_t stream, struct df_error *error)
{
    struct fake *f = fake_of(device);
    (void)kind, (void)error;
    assert_true(f->issued[stream] - f->done[stream] < N_COPIES);
    f->copies[stream][f->issued[stream]++ % N_COPIES] = (struct copy){ to, from, bytes };
    return DF_OK;
}

/* The last comes first: the order within a batch is the device's. */
static int fake_copy_batch(struct dfr_device *device, enum dfr_copy kind, const struct dfr_transfer *copies, uint32_t n,
                           uint32_t stream, struct df_error *error)
{
    assert_true(n > 0 && n <= DFR_BATCH);
    fake_of(device)->batches++;
    for (uint32_t i = n; i-- > 0;)
        (void)fake_copy(device, kind, copies[i].to, copies[i].from, copies[i].bytes, stream, error);
    return DF_OK;
}

static int fake_copy_peer(struct dfr_device *device, struct dfr_device *receiver, void *to, const void *from,
                          uint64_t bytes, uint32_t stream, struct df_error *error)
{
    (void)receiver;
    return fake_copy(device, DFR_COPY_PEER, to, from, bytes, stream, error);
}

static int fake_event_create(struct dfr_device *device, struct dfr_event **event, struct df_error *error)
{
    (void)device, (void)error;
    *event = calloc(1, sizeof **event);
    assert_non_null(*event);
    return DF_OK;
}

static void fake_event_destroy(struct dfr_device *device, struct dfr_event *event)
{
    (void)device;
    free(event);
}

static int fake_event_record(struct dfr_device *device, struct dfr_event *event, uint32_t stream,
                             struct df_error *error)
{
    (void)error;
    fake_of(device)->records++;
    *event = (struct dfr_event){ stream, fake_of(device)->issued[stream] };
    return DF_OK;
}

static int fake_event_query(struct dfr_device *device, struct dfr_event *event, bool *complete,
                            struct df_error *error)
{
    (void)error;
    *complete = fake_of(device)->done[event->stream] >= event->number;
    return DF_OK;
}

static int fake_stream_wait(struct dfr_device *device, uint32_t stream, struct dfr_event *event,
                            struct df_error *error)
{
    (void)stream, (void)error;
    fake_of(device)->waited = event->number;
    return DF_OK;
}

uint32_t fake_pinned;
bool fake_refuses;

static void *fake_host_alloc(uint64_t bytes, struct df_error *error)
{
    void *memory = fake_refuses ? NULL : malloc(bytes);
    (void)error;
    fake_pinned += memory != NULL;
    return memory;
}

static void fake_host_free(void *memory, uint64_t bytes)
{
    (void)bytes;
    fake_pinned--;
    free(memory);
}

static const struct dfr_device_ops fake_ops = {
    .name = "fake", .pool = fake_pool, .copy = fake_copy, .copy_batch = fake_copy_batch, .copy_peer = fake_copy_peer,
    .event_create = fake_event_create, .event_destroy = fake_event_destroy, .event_record = fake_event_record,
    .event_query = fake_event_query, .stream_wait = fake_stream_wait, .host_alloc = fake_host_alloc,
    .host_free = fake_host_free,
};

void fake_begin(struct fake *f, uint64_t pool_pages)
{
    *f = (struct fake){ .base.ops = &fake_ops, .pool = aligned_alloc(DFM_PAGE, pool_pages * DFM_PAGE) };
    assert_non_null(f->pool);
    memset(f->pool, 0xdd, pool_pages * DFM_PAGE);
}

void fake_end(struct fake *f)
{
    free(f->pool);
}

bool world_carry_out(struct fake *f, uint32_t stream)
{
    const struct copy *c = &f->copies[stream][f->done[stream] % N_COPIES];
    if (f->done[stream] == f->issued[stream])
        return false;
    memcpy(c->to, c->from, c->bytes);
    f->done[stream]++;
    return true;
}

/* ---- the world ---- */

uint32_t world_pick(struct world *w, uint32_t n)
{
    return rig_rand(&w->random) % n;
}

uint32_t world_valid(const struct world *w, uint32_t block)
{
    return dfm_block_valid(&w->space->blocks[block]);
}

static void arrived(void *arg, uint32_t waiter)
{
    struct world *w = arg;
    assert_true(w->missing[waiter / 2] > 0);
    w->missing[waiter / 2]--;
}

static void answered(void *arg, uint32_t memory)
{
    assert_true(memory > 0 && memory <= ((struct world *)arg)->n_devices);
}

static uint64_t next_use(void *arg, uint32_t block)
{
    struct world *w = arg;
    (void)block;
    return w->intrude ? w->intrude(w) : 0;
}

static uint64_t place(void *arg, uint32_t block)
{
    uint32_t page = ((struct world *)arg)->place[block % N_VALUES];
    return page == DFM_NONE ? UINT64_MAX : (uint64_t)page * DFM_PAGE;
}

void world_begin(struct world *w, uint32_t n_devices, uint64_t pool_pages, uint32_t most_pages)
{
    uint64_t count[N_VALUES];
    struct df_error error;

    w->n_devices = n_devices;
    for (uint32_t v = 0; v < N_VALUES; v++) {
        w->bytes[v] = (1 + v % most_pages) * (uint64_t)DFM_PAGE - 8 * (v % most_pages);
        count[v] = 1;
    }
    assert_int_equal(dfm_space_create(&(struct dfm_space_config){ .n_values = N_VALUES, .n_slots = 2, .bytes = w->bytes,
                                                                  .count = count, .n_waiters = 2 * N_JOBS,
                                                                  .staged = w->staged },
                                      &w->space, &error), DF_OK);
    for (uint32_t m = 1; m <= n_devices; m++) {
        fake_begin(&w->fakes[m], pool_pages);
        assert_int_equal(dfm_cache_create(&(struct dfm_cache_config){ .space = w->space,
                                                                      .memory = m,
                                                                      .device = &w->fakes[m].base,
                                                                      .pool_bytes = pool_pages * DFM_PAGE,
                                                                      .max_pieces = N_PIECES,
                                                                      .max_claims = N_JOBS,
                                                                      .next_use = next_use,
                                                                      .place = w->planned_pages ? place : NULL,
                                                                      .planned_bytes = w->planned_pages * DFM_PAGE,
                                                                      .scratch_bytes = w->scratch_pages * DFM_PAGE,
                                                                      .scratch_of_job_bytes =
                                                                          w->scratch_pages ? DFM_PAGE : 0,
                                                                      .to_batch_bytes = w->batches ? 2 * DFM_PAGE : 0,
                                                                      .from_batch_bytes = w->batches ? 4 * DFM_PAGE : 0,
                                                                      .arrived = arrived,
                                                                      .answered = answered,
                                                                      .arg = w },
                                          &w->caches[m], &error), DF_OK);
        w->space->caches[m] = w->caches[m];
        w->space->n_caches = m;
    }
}

struct df_memory_stats world_stats(const struct world *w, uint32_t memory)
{
    struct df_memory_stats stats;
    dfm_cache_stats(w->caches[memory], &stats);
    return stats;
}

void world_end(struct world *w)
{
    assert_int_equal(dfm_space_left_bytes(w->space), 0);
    for (uint32_t c = 0; c < N_VALUES; c++)
        assert_int_equal(dfm_heap_live(w->space->heap, w->space->cls[c]), 0);
    for (uint32_t m = 1; m <= w->n_devices; m++) {
        assert_true(dfm_cache_check(w->caches[m]));
        dfm_cache_destroy(w->caches[m]);
        fake_end(&w->fakes[m]);
    }
    dfm_space_destroy(w->space);
}

/* ---- bytes ---- */

static uint64_t word(uint32_t block, uint32_t life, uint64_t i)
{
    return ((uint64_t)life << 32 | block << 16 | 0x5a5a) * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static void fill(const struct world *w, uint32_t block, void *memory)
{
    uint64_t *words = memory;
    for (uint64_t i = 0; i < w->bytes[block] / 8; i++)
        words[i] = word(block, w->tokens[block].life, i);
}

static void look_at(const struct world *w, uint32_t block, const void *memory)
{
    const uint64_t *words = memory;
    for (uint64_t i = 0; i < w->bytes[block] / 8; i++)
        if (words[i] != word(block, w->tokens[block].life, i))
            fail_msg("block %u, life %u: word %llu is not what was written", block, w->tokens[block].life,
                     (unsigned long long)i);
}

/* ---- calls ---- */

void world_poll(struct world *w, uint32_t m)
{
    struct df_error error = { "" };
    bool progress = false;
    w->inside |= 1u << m;
    if (dfm_cache_poll(w->caches[m], &progress, &error) != DF_OK)
        fail_msg("%s", error.text);
    w->inside &= ~(1u << m);
    assert_true(dfm_cache_check(w->caches[m]));
}

void world_ask_home(struct world *w, uint32_t waiter, uint32_t block, uint32_t holders)
{
    assert_true(holders & ~DFM_HOST);
    w->space->asked[waiter] = block;
    w->space->peer_asks[waiter].receiver = NULL;
    dfm_cache_post_fetch(w->caches[__builtin_ctz(holders & ~DFM_HOST)], waiter);
}

/* These are the steps of gpu_worker.c. */
static bool ask_peer(struct world *w, uint32_t m, const struct dfm_piece *p, uint32_t waiter, uint32_t holders)
{
    if (!(holders & w->peers[m]))
        return dfm_cache_is_coming(w->caches[m], p);
    if (dfm_cache_expect(w->caches[m], p, waiter))
        dfm_cache_post_fetch(w->caches[__builtin_ctz(holders & w->peers[m])], waiter);
    return true;
}

static uint32_t read_by(const struct dfm_piece *p)
{
    return p->use == DFM_TAKE ? p->from : p->block;
}

void world_ask_for_inputs(struct world *w, struct job *j)
{
    uint32_t number = (uint32_t)(j - w->jobs);

    j->loaded = true;
    for (uint32_t k = 0; k < j->n_in; k++) {
        const struct dfm_piece *p = &j->pieces[k];
        uint32_t holders = world_valid(w, read_by(p));
        if (!p->awaited)
            continue;
        j->loaded = false;
        if (holders & DFM_HOST || ask_peer(w, j->unit, p, 2 * number + k, holders))
            continue;
        w->missing[number]++;
        world_ask_home(w, 2 * number + k, read_by(p), holders);
    }
}

void world_load_arrived(struct world *w, struct job *j)
{
    struct dfm_cache *c = w->caches[j->unit];
    bool refused = false;
    struct df_error error;

    if (j->loaded || w->missing[j - w->jobs] > 0)
        return;
    j->loaded = true;
    for (uint32_t k = 0; k < j->n_in; k++) {
        struct dfm_piece *p = &j->pieces[k];
        if (!p->awaited)
            continue;
        assert_int_equal(dfm_cache_load(c, p, &error), DF_OK);
        j->loaded = j->loaded && !p->awaited;
        refused = refused || (p->awaited && !dfm_cache_is_coming(c, p) && !(world_valid(w, read_by(p)) & DFM_HOST));
    }
    if (refused)
        world_ask_for_inputs(w, j);
}

enum dfm_reserved world_reserve(struct world *w, struct job *j)
{
    struct df_error error = { "" };
    enum dfm_reserved r;

    w->inside |= 1u << j->unit;
    r = dfm_cache_reserve(w->caches[j->unit], &j->claim, &error);
    w->inside &= ~(1u << j->unit);
    if (r == DFM_ERROR)
        fail_msg("%s", error.text);
    assert_true(dfm_cache_check(w->caches[j->unit]));
    return r;
}

void world_describe(struct job *j)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < j->n_in; k++)
        j->pieces[n++] = (struct dfm_piece){ .use = DFM_READ, .block = j->in[k] };
    if (j->takes)
        j->pieces[0] = (struct dfm_piece){ .use = DFM_TAKE, .block = j->out, .from = j->in[0] };
    else if (j->out != DFM_NONE)
        j->pieces[n++] = (struct dfm_piece){ .use = DFM_WRITE, .block = j->out };
    j->claim = (struct dfm_claim){ .n = n, .pieces = j->pieces, .tmp_bytes = j->tmp_bytes };
}

/* ---- ends of jobs ---- */

void world_give_back(struct world *w, uint32_t block, uint32_t memory)
{
    struct token *t = &w->tokens[block];
    if (t->n_left > 0 && --t->n_left > 0)
        return;
    dfm_space_drop(w->space, block, memory);
    t->used = false;
}

/* The units on which its readers will run are drawn at random. */
static void publish(struct world *w, struct job *j)
{
    struct token *t = &w->tokens[j->out];
    bool home = false;

    t->n_readers = t->n_left = j->n_readers;
    t->n_to_come = j->n_readers - j->n_followers;
    for (uint32_t r = 0; r < t->n_to_come; r++) {
        t->unit[r] = (uint8_t)world_pick(w, w->n_devices + 1);
        home = home || t->unit[r] == 0;
    }
    atomic_store(&w->space->blocks[j->out].valid, 1u << j->unit);
    if (t->n_readers == 0)
        world_give_back(w, j->out, j->unit);
    else if (home && j->unit > 0 && w->sends_home)
        assert_int_equal(dfm_cache_to_host(w->caches[j->unit], j->out, NULL), DF_OK);
}

static void end_job(struct world *w, struct job *j)
{
    if (j->out != DFM_NONE)
        publish(w, j);
    for (uint32_t k = 0; k < j->n_in; k++)
        world_give_back(w, j->in[k], j->unit);
    for (struct job *other = w->jobs; other < w->jobs + N_JOBS; other++)
        if (other->follows == (uint32_t)(j - w->jobs))
            other->follows = DFM_NONE;
    w->made++;
    j->state = NO_JOB;
}

void world_run_on_host(struct world *w, struct job *j)
{
    struct dfm_block *blocks = w->space->blocks;

    for (uint32_t k = 0; k < j->n_in; k++) {
        assert_true(world_valid(w, j->in[k]) & DFM_HOST);
        look_at(w, j->in[k], blocks[j->in[k]].host);
    }
    if (j->takes) {
        fill(w, j->out, blocks[j->in[0]].host);
        dfm_space_move_host(w->space, j->in[0], j->out);
    } else if (j->out != DFM_NONE) {
        blocks[j->out].host = dfm_space_host_take(w->space, j->out);
        assert_non_null(blocks[j->out].host);
        fill(w, j->out, blocks[j->out].host);
    }
    end_job(w, j);
}

void world_run_on_device(struct world *w, struct job *j)
{
    struct dfm_cache *c = w->caches[j->unit];

    for (uint32_t k = 0; k < j->n_in; k++)
        look_at(w, j->in[k], dfm_cache_address(c, &j->pieces[k]));
    if (j->out != DFM_NONE)
        fill(w, j->out, dfm_cache_address(c, &j->pieces[j->takes ? 0 : j->n_in]));
    if (j->tmp_bytes > 0)
        memset(dfm_cache_tmp_address(c, &j->claim), 0xee, j->tmp_bytes);
    world_poll(w, j->unit);                   /* finds that its copies are complete */
    w->inside |= 1u << j->unit;
    dfm_cache_release(c, &j->claim);
    w->inside &= ~(1u << j->unit);
    end_job(w, j);
}
