/* memory.c - finds which tokens occupy a unit's memory, and plans that memory in any order (memory_any.c) and for a
 * sequential order; partition/planner/make_plan.c calls it for the plans of programs and for what --emit=plan and
 * `dfc partition --memory` show (memory.h).
 */
#include "partition/memory/memory.h"

#include <stdlib.h>
#include <string.h>

#include "memmgr/layout.h"
#include "memmgr/pool.h"
#include "partition/model/model.h"
#include "runtime/base/error.h"

/* ---- tenants ---- */

static bool is_once(const struct df_graph *g, uint32_t value)
{
    return df_value_is_once(g, value);
}

static bool is_here(const struct df_graph *g, const uint16_t *place, uint32_t unit, uint32_t value)
{
    const struct df_value *v = &g->values[value];
    bool here = !place || place[v->producer] == unit;
    for (uint32_t r = v->first_reader; !here && r < v->first_reader + v->n_readers; r++)
        here = place[g->readers[r].node] == unit;
    return here;
}

/* The tenant of the input that the value takes over, if the node that changes that input runs here; else DF_NONE. */
static uint32_t heir_of(const struct df_graph *g, const uint16_t *place, uint32_t unit, const uint32_t *of_value,
                        uint32_t value)
{
    const struct df_value *v = &g->values[value];
    return v->taken_from != DF_NONE && (!place || place[v->producer] == unit) ? of_value[v->taken_from] : DF_NONE;
}

static bool add_tenant(struct dfp_memory *m, uint32_t value, uint64_t bytes)
{
    struct dfp_tenant *t = &m->tenants[m->n];
    *t = (struct dfp_tenant){ .first = value, .last = value, .bytes = dfm_layout_rounded(bytes, m->alignment) };
    m->of_value[value] = m->n++;
    return t->bytes != UINT64_MAX;
}

/* The value is one more of a tenant that exists. */
static void join_tenant(const struct df_graph *g, struct dfp_memory *m, uint32_t tenant, uint32_t value)
{
    struct dfp_tenant *t = &m->tenants[tenant];
    uint32_t end = dfp_value_end(g, value);
    m->of_value[value] = tenant;
    m->next[value] = t->last != value ? t->last : DF_NONE; /* so `last` begins the list */
    t->last = value;
    t->end = end > t->end ? end : t->end;
}

/* The tenant of which the value is one more; DF_NONE: it has its own. */
static uint32_t tenant_for(const struct df_graph *g, const uint16_t *place, uint32_t unit, struct dfp_memory *m,
                           uint32_t value)
{
    const uint32_t whole = place ? DF_NONE : g->values[value].whole;
    if (whole != DF_NONE && m->of_value[whole] != DF_NONE)
        m->tenants[m->of_value[whole]].shared = true;
    return whole != DF_NONE                 ? m->of_value[whole]
           : m->of_value[value] != DF_NONE ? m->of_value[value] /* a piece of it came first */
                                           : heir_of(g, place, unit, m->of_value, value);
}

static int find_tenants(const struct df_graph *g, const uint16_t *place, uint32_t unit, bool once,
                        struct dfp_memory *m, struct df_error *error)
{
    for (uint32_t v = 0; v < g->n_values; v++) {
        if (is_once(g, v) != once || !is_here(g, place, unit, v))
            continue;
        const uint32_t heir = tenant_for(g, place, unit, m, v), whole = place ? DF_NONE : g->values[v].whole;
        const uint64_t bytes = g->values[whole != DF_NONE ? whole : v].bytes;
        if (heir == DF_NONE && !add_tenant(m, v, bytes))
            return dfr_error(error, DF_E_REFUSED, "a token of %llu bytes is too large to be addressed",
                             (unsigned long long)bytes);
        join_tenant(g, m, heir == DF_NONE ? m->of_value[v] : heir, v);
        if (heir == DF_NONE && whole != DF_NONE) { /* its first piece */
            m->of_value[whole] = m->of_value[v];
            m->tenants[m->of_value[v]].shared = m->tenants[m->of_value[v]].joined = true;
        }
    }
    return DF_OK;
}

/* ---- what is made once ---- */

static int place_once(struct dfp_memory *m, struct df_error *error)
{
    for (uint32_t t = m->n_wave; t < m->n; t++) {
        m->tenants[t].any = m->tenants[t].sequence = m->once_bytes;
        if (__builtin_add_overflow(m->once_bytes, m->tenants[t].bytes, &m->once_bytes))
            return dfr_error(error, DF_E_REFUSED, "the tokens that are made once are too large to be addressed");
    }
    return DF_OK;
}

/* ---- a sequence ---- */

/* Tenants by the node that ends them last: of node v they are ends[begin[v]] … ends[begin[v + 1] - 1]. */
struct endings {
    uint32_t *begin, *ends;
};

static void endings_free(struct endings *e)
{
    free(e->begin);
    free(e->ends);
}

static int endings_make(const struct df_graph *g, const struct dfp_memory *m, struct endings *e,
                        struct df_error *error)
{
    e->begin = calloc((size_t)g->n_nodes + 2, sizeof *e->begin);
    e->ends = malloc(((size_t)m->n_wave + 1) * sizeof *e->ends);
    if (!e->begin || !e->ends) {
        endings_free(e);
        return dfr_error_memory(error);
    }
    for (uint32_t t = 0; t < m->n_wave; t++)
        e->begin[dfp_tenant_last_end(g, &m->tenants[t]) + 2]++;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        e->begin[v + 2] += e->begin[v + 1];
    for (uint32_t t = 0; t < m->n_wave; t++) /* this moves begin[v + 1] from the start of v's tenants to their end */
        e->ends[e->begin[dfp_tenant_last_end(g, &m->tenants[t]) + 1]++] = t;
    return DF_OK;
}

/* Gives each tenant its offset in the sequence. Tenants are numbered by their first values, so those that one node
 * writes follow each other. */
static int run_sequence(const struct df_graph *g, const struct endings *e, struct dfm_pool *pool, struct dfp_memory *m)
{
    uint32_t t = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        for (; t < m->n_wave && dfp_tenant_writer(g, &m->tenants[t]) == v; t++) {
            struct dfp_tenant *tenant = &m->tenants[t];
            if (!dfm_pool_alloc(pool, tenant->bytes, &tenant->sequence))
                return DF_E_REFUSED;
            if (tenant->sequence + tenant->bytes > m->sequence_bytes)
                m->sequence_bytes = tenant->sequence + tenant->bytes;
        }
        for (uint32_t i = e->begin[v]; i < e->begin[v + 1]; i++)
            dfm_pool_free(pool, m->tenants[e->ends[i]].sequence);
    }
    return DF_OK;
}

int dfp_memory_sequence(const struct df_graph *g, struct dfp_memory *m, struct df_error *error)
{
    struct endings e = { NULL, NULL };
    struct dfm_pool *pool = dfm_pool_create(UINT64_MAX, m->alignment, m->n_wave);
    int code = pool ? endings_make(g, m, &e, error) : dfr_error_memory(error);
    if (code == DF_OK) {
        code = run_sequence(g, &e, pool, m);
        if (code != DF_OK)
            dfr_error(error, code, "the tokens of a wave are too large to be addressed");
        m->sequence_bound_bytes = dfm_pool_peak(pool);
        endings_free(&e);
    }
    dfm_pool_destroy(pool);
    return code;
}

/* ---- a heap by size, for comparison ---- */

struct size_use {
    uint64_t bytes, live, most;
};

static int compare_sizes(const void *a, const void *b)
{
    const struct size_use *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static uint32_t list_sizes(const struct dfp_memory *m, struct size_use *sizes)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < m->n_wave; t++)
        sizes[t] = (struct size_use){ .bytes = m->tenants[t].bytes };
    qsort(sizes, m->n_wave, sizeof *sizes, compare_sizes);
    for (uint32_t t = 0; t < m->n_wave; t++)
        if (n == 0 || sizes[n - 1].bytes != sizes[t].bytes)
            sizes[n++] = sizes[t];
    return n;
}

static struct size_use *size_of(struct size_use *sizes, uint32_t n, const struct dfp_tenant *t)
{
    struct size_use key = { .bytes = t->bytes };
    return bsearch(&key, sizes, n, sizeof *sizes, compare_sizes);
}

int dfp_memory_by_size(const struct df_graph *g, const struct dfp_memory *m, uint64_t *bytes, struct df_error *error)
{
    struct size_use *sizes = calloc((size_t)m->n_wave + 1, sizeof *sizes);
    struct endings e = { NULL, NULL };
    int code = sizes ? endings_make(g, m, &e, error) : dfr_error_memory(error);

    if (code == DF_OK) {
        uint32_t n = list_sizes(m, sizes), t = 0;
        *bytes = 0;
        for (uint32_t v = 0; v < g->n_nodes; v++) {
            for (; t < m->n_wave && dfp_tenant_writer(g, &m->tenants[t]) == v; t++) {
                struct size_use *use = size_of(sizes, n, &m->tenants[t]);
                use->live++;
                use->most = use->live > use->most ? use->live : use->most;
            }
            for (uint32_t i = e.begin[v]; i < e.begin[v + 1]; i++)
                size_of(sizes, n, &m->tenants[e.ends[i]])->live--;
        }
        for (uint32_t s = 0; s < n; s++) {  /* a size's buffers stay, even if its most are not live with another's */
            uint64_t all;
            if (__builtin_mul_overflow(sizes[s].bytes, sizes[s].most, &all) ||
                __builtin_add_overflow(*bytes, all, bytes))
                *bytes = UINT64_MAX;
        }
        endings_free(&e);
    }
    free(sizes);
    return code;
}

/* ---- the plan ---- */

int dfp_memory_of_unit(const struct df_graph *g, const uint16_t *place, uint32_t unit, struct dfp_memory *memory,
                       struct df_error *error)
{
    return dfp_memory_make(g, unit ? place : NULL, unit, unit ? DF_PAGE_BYTES : DF_LINE_BYTES, memory, error);
}

int dfp_memory_make(const struct df_graph *g, const uint16_t *place, uint32_t unit, uint64_t alignment,
                    struct dfp_memory *memory, struct df_error *error)
{
    struct dfp_memory m = { .alignment = alignment };
    int code;

    m.of_value = malloc(((size_t)g->n_values + 1) * sizeof *m.of_value);
    m.tenants = malloc(((size_t)g->n_values + 1) * sizeof *m.tenants);
    m.next = malloc(((size_t)g->n_values + 1) * sizeof *m.next);
    if (!m.of_value || !m.tenants || !m.next) {
        dfp_memory_free(&m);
        return dfr_error_memory(error);
    }
    memset(m.of_value, 0xff, g->n_values * sizeof *m.of_value);
    code = find_tenants(g, place, unit, false, &m, error);
    m.n_wave = m.n;
    if (code == DF_OK)
        code = find_tenants(g, place, unit, true, &m, error);
    if (code == DF_OK)
        code = place_once(&m, error);
    if (code == DF_OK)
        code = dfp_memory_sequence(g, &m, error);
    if (code == DF_OK)
        code = dfp_memory_any(g, &m, error);
    if (code == DF_OK)
        code = dfp_memory_bound(g, &m, error);
    if (code != DF_OK)
        dfp_memory_free(&m);
    else
        *memory = m;
    return code;
}

void dfp_memory_free(struct dfp_memory *m)
{
    free(m->of_value);
    free(m->next);
    free(m->tenants);
    *m = (struct dfp_memory){ 0 };
}
