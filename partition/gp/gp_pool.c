/* gp_pool.c - the pool of the best distinct placements that the policy gp has found so far, and the admission of starts to it: gp.c owns it, the files that
 * make starts add to it. Annealing (gp_load.c, gp_refine.c) takes its logarithm from here.
 *
 * Distinct: two placements with the same makespan (to a millionth) are considered equal, since refining both would be the same work twice. The better of
 *           them is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/gp/gp.h"
#include "runtime/base/error.h"

int dfp_pool_make(struct dfp_pool *pool, uint32_t n_nodes, struct df_error *error)
{
    size_t n = (size_t)n_nodes + 1;
    *pool = (struct dfp_pool){ .n_nodes = n_nodes };
    pool->block = malloc((DFP_POOL + 1) * n * (sizeof(float) + sizeof(uint16_t)));
    if (!pool->block)
        return dfr_error_memory(error);
    float *bias = pool->block;
    uint16_t *place = (uint16_t *)(bias + (DFP_POOL + 1) * n);
    for (size_t i = 0; i < DFP_POOL; i++) {
        pool->found[i].bias = bias + i * n;
        pool->found[i].place = place + i * n;
    }
    return DF_OK;
}

void dfp_pool_free(struct dfp_pool *pool)
{
    free(pool->block);
    *pool = (struct dfp_pool){ 0 };
}

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-6 * b;
}

/* The index of the placement that a new one replaces; DF_NONE: the new one is not good enough. The only placement of
 * METIS is replaced by nothing but another one of METIS, and the first one of METIS always gets in. */
static uint32_t victim(const struct dfp_pool *pool, double makespan_s, bool from_metis)
{
    uint32_t last = DFP_POOL - 1, of_metis = 0;
    if (pool->n < DFP_POOL)
        return pool->n;
    for (uint32_t i = 0; i < DFP_POOL; i++)
        of_metis += pool->found[i].from_metis;
    if (pool->found[last].from_metis && of_metis == 1 && !from_metis)
        last--;
    if (from_metis && !of_metis)
        return last;
    return makespan_s < pool->found[last].makespan_s ? last : DF_NONE;
}

static void take(const struct dfp_pool *pool, struct dfp_found *found, double makespan_s, const struct dfp_state *state)
{
    found->makespan_s = makespan_s;
    found->rank_weight = state->rank_weight;
    memcpy(found->place, state->place, pool->n_nodes * sizeof *found->place);
    memcpy(found->bias, state->bias, pool->n_nodes * sizeof *found->bias);
}

void dfp_pool_add(struct dfp_pool *pool, double makespan_s, bool from_metis, const struct dfp_state *state)
{
    if (!(makespan_s < INFINITY))
        return;
    for (uint32_t i = 0; i < pool->n; i++)
        if (same(pool->found[i].makespan_s, makespan_s)) { /* it stays in order: those before it are better */
            pool->found[i].from_metis |= from_metis;
            if (makespan_s < pool->found[i].makespan_s)
                take(pool, &pool->found[i], makespan_s, state);
            return;
        }
    uint32_t at = victim(pool, makespan_s, from_metis);
    if (at == DF_NONE)
        return;
    struct dfp_found found = pool->found[at];
    found.from_metis = from_metis;
    take(pool, &found, makespan_s, state);
    if (at < pool->n)                   /* closes the gap, before the new one's place is looked for */
        memmove(&pool->found[at], &pool->found[at + 1], (pool->n - at - 1) * sizeof found);
    else
        pool->n++;
    uint32_t i = pool->n - 1;
    for (; i && pool->found[i - 1].makespan_s > makespan_s; i--)
        pool->found[i] = pool->found[i - 1];
    pool->found[i] = found;
}

static void try_with(struct dfp_search *search, bool from_metis, const float *order)
{
    dfp_state_set(&search->state, search->place, order, order ? 0 : 1);
    dfp_pool_add(&search->pool, dfp_state_run(&search->state, INFINITY), from_metis, &search->state);
}

void dfp_search_try(struct dfp_search *search, bool from_metis)
{
    try_with(search, from_metis, NULL);
}

void dfp_search_try_order(struct dfp_search *search, bool from_metis, const float *order)
{
    try_with(search, from_metis, order);
}

/* x is m · 2^e with m in [√½, √2), and ln m is 2 artanh((m − 1) / (m + 1)). Four terms of its series are enough. */
double dfp_minus_log(double x)
{
    int e;
    double m = frexp(x, &e);            /* exact */
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    double t = (m - 1) / (m + 1), t2 = t * t;
    return -(e * 0.69314718055994531 + 2 * t * (1 + t2 * (1.0 / 3 + t2 * (0.2 + t2 * (1.0 / 7)))));
}
