/* simulate_room.c - the memory of a simulated device that cannot hold everything at once: decides which blocks are evicted for which job, as memmgr/cache.c
 * does in a real run. It counts only bytes, so it has no fragmentation. simulate_data.c, simulate_fire.c and simulate.c call it. If everything fits, the
 * device has no room (NULL), and every claim succeeds.
 *
 * Claims:   A job's inputs, outputs and scratch memory are granted together or not at all, and stay pinned until the job has ended. Unpinned blocks are
 *           evicted in the order of memmgr/victims.h: at once if another memory has the block, else after it was written back. At most one job waits for room, and
 *           no other job is granted any meanwhile, except for a claim with `must` (simulate_impl.h), which cannot wait. The waiting job makes progress: the
 *           jobs that hold room end, and each job fits into the empty memory.
 * Prefetch: uses free room only.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/graph/fit.h"
#include "runtime/simulate/simulate_impl.h"

enum { HAS_ROOM = 1, LEAVING = 2 };

/* ---- unpinned blocks: candidates for eviction ---- */

static void unlist(struct sim_room *m, uint32_t b)
{
    if (dfm_victims_has(&m->victims, b))
        dfm_victims_remove(&m->victims, b);
}

/* Makes an unpinned block a candidate. A block that is still being loaded or made becomes one when it has come. */
static void list(const struct sim *s, uint32_t unit, struct sim_room *m, uint32_t b)
{
    if (s->blocks[b].valid >> unit & 1 && !(m->flags[b] & LEAVING) && !dfm_victims_has(&m->victims, b))
        dfm_victims_add(&m->victims, b, m->next_use ? dfr_next_use_of(m->next_use, b) : 0);
}

static uint64_t block_pages(const struct sim *s, uint32_t block)
{
    return dfr_whole_pages(s->graph->values[block % s->graph->n_values].bytes);
}

static void pin(struct sim_room *m, uint32_t block)
{
    unlist(m, block);
    m->pins[block]++;
}

static void unpin(const struct sim *s, uint32_t unit, struct sim_room *m, uint32_t block)
{
    if (m->flags[block] & HAS_ROOM && --m->pins[block] == 0)
        list(s, unit, m, block);
}

static void give_room(const struct sim *s, struct sim_room *m, uint32_t block)
{
    m->flags[block] = HAS_ROOM;
    m->pins[block] = 0;
    m->used += block_pages(s, block);
    m->most = m->used > m->most ? m->used : m->most;
}

static void take_room(const struct sim *s, struct sim_room *m, uint32_t block)
{
    unlist(m, block);
    if (m->flags[block] & LEAVING)
        m->leaving -= block_pages(s, block);
    m->used -= block_pages(s, block);
    m->flags[block] = 0;
    m->pins[block] = 0;
}

/* ---- eviction ---- */

/* Makes room for `need` bytes: now, or when the blocks that are being written back have left. */
static void evict(struct sim *s, uint32_t unit, struct sim_room *m, uint64_t need)
{
    while (m->victims.n > 0 && m->used - m->leaving + need > m->capacity) {
        uint32_t b = dfm_victims_first(&m->victims);
        struct sim_block *block = &s->blocks[b];
        s->result->evictions++;
        unlist(m, b);
        if (block->valid & ~(1u << unit)) {
            block->valid &= ~(1u << unit);
            take_room(s, m, b);
            continue;
        }
        m->flags[b] |= LEAVING;
        m->leaving += block_pages(s, b);
        block->wanted &= ~1u;           /* the write-back comes before what is put off */
        sim_request(s, b, 0);           /* the last valid copy goes back to the host first */
    }
}

/* The write-back of a block has ended. The block leaves; if a job has pinned it meanwhile, it stays. */
static void has_left(struct sim *s, uint32_t unit, struct sim_room *m, uint32_t block)
{
    m->flags[block] &= (uint8_t)~LEAVING;
    m->leaving -= block_pages(s, block);
    if (m->pins[block])
        return;
    take_room(s, m, block);
    s->blocks[block].valid &= ~(1u << unit);
}

void sim_room_arrived(struct sim *s, uint32_t block, uint32_t unit)
{
    if (unit > 0 && s->rooms[unit] && s->rooms[unit]->flags[block] & HAS_ROOM && !s->rooms[unit]->pins[block])
        list(s, unit, s->rooms[unit], block);
    if (unit == 0)
        for (uint32_t u = 1; u < s->n_units; u++)
            if (s->rooms[u] && s->rooms[u]->flags[block] & LEAVING)
                has_left(s, u, s->rooms[u], block);
}

void sim_room_dropped(struct sim *s, uint32_t block)
{
    for (uint32_t u = 1; u < s->n_units; u++)
        if (s->rooms[u] && s->rooms[u]->flags[block] & HAS_ROOM)
            take_room(s, s->rooms[u], block);
}

/* A write-back of what the block was before is of no use any more. */
void sim_room_changed(struct sim *s, uint32_t block, uint32_t unit)
{
    for (uint32_t u = 1; u < s->n_units; u++) {
        struct sim_room *m = s->rooms[u];
        if (!m || !(m->flags[block] & HAS_ROOM))
            continue;
        if (u != unit) {
            take_room(s, m, block);
        } else if (m->flags[block] & LEAVING) {
            m->flags[block] &= (uint8_t)~LEAVING;
            m->leaving -= block_pages(s, block);
            list(s, u, m, block);
        }
    }
}

/* ---- claims ---- */

/* The blocks that a job needs in a memory: its inputs, its accs, and those outputs that take nothing over. */
static uint32_t claimed_block(const struct sim *s, uint64_t job, uint32_t i)
{
    const struct df_graph *g = s->graph;
    uint32_t node = dfr_job_node(job), slot = dfr_job_slot(job), n_needs = df_node_n_needs(g, node), y;
    if (i < n_needs)
        return sim_block_of(s, df_node_need(g, node, i), slot);
    y = g->nodes[node].first_out + i - n_needs;
    return g->values[y].taken_from == DF_NONE && !df_value_is_acc(g, y) ? slot * g->n_values + y : DF_NONE;
}

static uint32_t n_claimed(const struct sim *s, uint64_t job)
{
    return df_node_n_needs(s->graph, dfr_job_node(job)) + df_node_n_out(s->graph, dfr_job_node(job));
}

static uint64_t scratch(const struct sim *s, uint64_t job)
{
    return dfr_whole_pages(df_node_tmp_bytes(s->graph, dfr_job_node(job), DF_ON_DEVICE));
}

/* Gives the bytes that are missing, and pins what is there, so that it is not evicted for the rest. */
static uint64_t pin_present(struct sim *s, struct sim_room *m, uint64_t job)
{
    uint64_t need = scratch(s, job);
    for (uint32_t i = 0; i < n_claimed(s, job); i++) {
        uint32_t b = claimed_block(s, job, i), k = 0;
        if (b == DF_NONE)
            continue;
        if (m->flags[b] & HAS_ROOM) {
            pin(m, b);
            continue;
        }
        while (claimed_block(s, job, k) != b)
            k++;
        need += k == i ? block_pages(s, b) : 0;
    }
    return need;
}

static void unpin_present(struct sim *s, uint32_t unit, struct sim_room *m, uint64_t job)
{
    for (uint32_t i = 0; i < n_claimed(s, job); i++) {
        uint32_t b = claimed_block(s, job, i);
        if (b != DF_NONE && m->flags[b] & HAS_ROOM)
            unpin(s, unit, m, b);
    }
}

static void give_rest(struct sim *s, struct sim_room *m, uint64_t job)
{
    uint32_t n = n_claimed(s, job);
    m->used += scratch(s, job);
    m->most = m->used > m->most ? m->used : m->most;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t b = claimed_block(s, job, i);
        if (b == DF_NONE || m->flags[b] & HAS_ROOM)
            continue;
        give_room(s, m, b);
        for (uint32_t k = 0; k < n; k++)
            m->pins[b] += claimed_block(s, job, k) == b;
    }
}

bool sim_room_claim(struct sim *s, uint32_t unit, uint64_t job, bool must)
{
    struct sim_room *m = s->rooms[unit];
    if (!m)
        return true;
    if (m->claims && m->claimant != job && !must)
        return false;
    uint64_t need = pin_present(s, m, job);
    evict(s, unit, m, need);
    if (m->used + need > m->capacity && !must) {
        m->claims = true;
        m->claimant = job;
        unpin_present(s, unit, m, job);
        return false;
    }
    m->overdrawn |= m->used + need > m->capacity;
    if (!must)
        m->claims = false;
    give_rest(s, m, job);
    if (m->next_use)
        dfr_next_use_taken(m->next_use, job);
    return true;
}

/* An output that takes over an input's storage gets its room too. */
static void take_over(struct sim *s, struct sim_room *m, uint32_t from, uint32_t to)
{
    if (!(m->flags[from] & HAS_ROOM))
        return;
    take_room(s, m, from);
    give_room(s, m, to);
}

void sim_room_release(struct sim *s, uint32_t unit, uint64_t job)
{
    struct sim_room *m = s->rooms[unit];
    const struct df_graph *g = s->graph;
    uint32_t node = dfr_job_node(job), slot = dfr_job_slot(job), first = g->nodes[node].first_out;
    if (!m)
        return;
    unpin_present(s, unit, m, job);
    m->used -= scratch(s, job);
    for (uint32_t y = first; y < first + df_node_n_out(g, node); y++)
        if (g->values[y].taken_from != DF_NONE)
            take_over(s, m, sim_block_of(s, g->values[y].taken_from, slot), slot * g->n_values + y);
}

bool sim_room_prefetch(struct sim *s, uint32_t unit, uint32_t block)
{
    struct sim_room *m = s->rooms[unit];
    if (!m || m->flags[block] & HAS_ROOM)
        return true;
    if (m->claims || m->used + block_pages(s, block) > m->capacity)
        return false;
    give_room(s, m, block);             /* it may leave as soon as it has come */
    return true;
}

/* Room given and room counted must agree, and a memory may be overdrawn only by a job that had no choice. */
bool sim_room_check(const struct sim *s)
{
    for (uint32_t u = 1; u < s->n_units; u++) {
        const struct sim_room *m = s->rooms[u];
        uint64_t used = 0, leaving = 0;
        for (uint32_t b = 0; m && b < s->n_blocks; b++) {
            used += m->flags[b] & HAS_ROOM ? block_pages(s, b) : 0;
            leaving += m->flags[b] & LEAVING ? block_pages(s, b) : 0;
            if (m->pins[b] && m->flags[b] & HAS_ROOM)
                return false;           /* no job is left that could pin it */
        }
        if (m && (used != m->used || leaving != m->leaving || (m->most > m->capacity && !m->overdrawn)))
            return false;
    }
    return true;
}

/* ---- memories ---- */

/* Can all values, and the scratch memory of all jobs that may run at once, be there together? */
static bool everything_fits(const struct sim *s, uint32_t unit)
{
    uint64_t capacity = s->platform->units[unit].memory_bytes, jobs = 0;
    for (uint32_t w = s->first_worker[unit]; w < s->first_worker[unit + 1]; w++)
        jobs += s->workers[w].window;
    return unit == 0 || !capacity || dfr_everything_fits(s->graph, capacity, s->inflight, jobs);
}

static void room_free(struct sim_room *m)
{
    if (!m)
        return;
    dfr_next_use_destroy(m->next_use);
    dfm_victims_destroy(&m->victims);
    free(m->pins);
    free(m->flags);
    free(m);
}

static struct sim_room *room_new(uint64_t capacity, uint32_t n_blocks)
{
    struct sim_room *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->capacity = capacity;
    m->pins = calloc(n_blocks, sizeof *m->pins);
    m->flags = calloc(n_blocks, 1);
    if (!dfm_victims_create(&m->victims, n_blocks) || !m->pins || !m->flags) {
        room_free(m);
        return NULL;
    }
    return m;
}

int sim_room_create(struct sim *s, struct df_error *error)
{
    for (uint32_t u = 1; u < s->n_units; u++) {
        if (everything_fits(s, u))
            continue;
        s->rooms[u] = room_new(s->platform->units[u].memory_bytes, s->n_blocks ? s->n_blocks : 1);
        if (!s->rooms[u])
            return dfr_error_memory(error);
    }
    return DF_OK;
}

int sim_room_know_order(struct sim *s, struct df_error *error)
{
    bool wanted;
    int status = dfr_next_use_wanted(s->options->evict, s->policy, &wanted, error);

    for (uint32_t u = 1; status == DF_OK && wanted && u < s->n_units; u++) {
        if (!s->rooms[u])
            continue;
        s->rooms[u]->next_use = dfr_next_use_create(&s->view, s->policy, s->policy_state, u);
        if (!s->rooms[u]->next_use)
            return dfr_error_memory(error);
    }
    return status;
}

void sim_room_destroy(struct sim *s)
{
    for (uint32_t u = 1; u < s->n_units; u++)
        room_free(s->rooms[u]);
}
