/* unified.c - the cache's operations for a unified device, whose jobs read and write the host's memory (cache.h). cache.c calls them in place of its own. */
#include "memmgr/cache_impl.h"
#include "runtime/base/error.h"

static struct dfm_block *block_of(const struct dfm_cache *c, const struct dfm_piece *p)
{
    return &c->space->blocks[dfm_present_as(p)];
}

/* Another device has the input, and not the host. An input that nobody has yet is made by a job in flight here. */
static bool is_elsewhere(const struct dfm_cache *c, const struct dfm_piece *p)
{
    uint32_t holders = p->use == DFM_WRITE ? 0 : dfm_block_valid(block_of(c, p));
    return holders && !(holders & DFM_HOST);
}

static bool take_outputs(struct dfm_cache *c, struct dfm_claim *claim)
{
    for (uint32_t i = 0; i < claim->n; i++) {
        struct dfm_piece *p = &claim->pieces[i];
        if (p->use == DFM_WRITE && !(block_of(c, p)->host = dfm_space_host_take(c->space, p->block)))
            return false;
    }
    return true;
}

static void count_inputs(struct dfm_cache *c, const struct dfm_claim *claim)
{
    for (uint32_t i = 0; i < claim->n; i++) {
        if (claim->pieces[i].use == DFM_WRITE)
            continue;
        c->stats.hits++;
        c->stats.hit_bytes += c->space->bytes[dfm_space_value(c->space, claim->pieces[i].block)];
    }
}

enum dfm_reserved dfm_unified_reserve(struct dfm_cache *c, struct dfm_claim *claim, bool ahead, struct df_error *error)
{
    for (uint32_t i = 0; i < claim->n; i++) {
        claim->pieces[i].entry = DFM_NONE;
        claim->pieces[i].missed = false;
        claim->pieces[i].awaited = is_elsewhere(c, &claim->pieces[i]);
        if (claim->pieces[i].awaited && ahead)
            return DFM_WAIT;
    }
    if (claim->tmp_bytes > 0 && !dfm_pool_alloc(c->pool, claim->tmp_bytes, &claim->tmp_offset))
        return DFM_WAIT;                /* until another job gives its scratch back */
    if (claim->tmp_bytes > 0)
        dfm_scratch_count(c, claim);
    if (!take_outputs(c, claim)) {
        dfr_error(error, DF_E_MEMORY, "internal error: more tokens live than were planned");
        return DFM_ERROR;
    }
    count_inputs(c, claim);
    return DFM_RESERVED;
}

/* The input keeps its address until the engine passes it on to the output, at the job's end. */
void dfm_unified_take_over(struct dfm_cache *c, const struct dfm_claim *claim)
{
    for (uint32_t i = 0; i < claim->n; i++) {
        const struct dfm_piece *p = &claim->pieces[i];
        if (p->use == DFM_TAKE)
            c->space->blocks[p->block].host = block_of(c, p)->host;
    }
}

void dfm_unified_load(struct dfm_cache *c, struct dfm_piece *p)
{
    p->awaited = is_elsewhere(c, p);
}

void *dfm_unified_address(const struct dfm_cache *c, const struct dfm_piece *p)
{
    return block_of(c, p)->host;
}

void dfm_unified_release(struct dfm_cache *c, const struct dfm_claim *claim)
{
    if (claim->tmp_bytes > 0)
        dfm_scratch_free(c, claim);
}
