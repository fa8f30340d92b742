/* fingerprint.c - hashes of the graph, the times and the platform of a plan, which lock.c writes into a lock and obey.c checks for the graph. They leave out
 * what no plan depends on, such as the lines of declarations.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/lock/lock_impl.h"
#include "runtime/base/intern.h"
#include "runtime/graph/work_key.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return dfr_hash(hash, text, strlen(text) + 1);
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    return dfr_hash(hash, &number, sizeof number);
}

/* All NaNs are alike, and so are the two zeros. */
static uint64_t hash_real(uint64_t hash, double x)
{
    const double same = isnan(x) ? -1 : x + 0;
    return dfr_hash(hash, &same, sizeof same);
}

static void print(uint64_t hash, char *text)
{
    snprintf(text, 17, "%016" PRIx64, hash);
}

/* ---- the graph ---- */

/* A work: its kernel with its code, its dimensions and scalars. false: no memory. */
static bool hash_work(uint64_t *hash, const struct df_graph *g, uint32_t work)
{
    const struct df_work *w = &g->works[work];
    const struct df_kernel *kernel = &g->kernels[w->kernel];
    struct dfr_work_key key;
    struct df_error error;
    if (dfr_work_key_make(g, work, DF_CLASS_CPU, false, &key, &error) != DF_OK)
        return false;
    *hash = hash_text(hash_text(hash_text(*hash, key.kernel), key.dims), key.scalars);
    dfr_work_key_free(&key);
    *hash = dfr_hash(*hash, kernel->code_hash, sizeof kernel->code_hash);
    *hash = hash_number(hash_number(*hash, kernel->traits), kernel->uses);
    *hash = hash_number(hash_number(*hash, kernel->code_classes), kernel->cost_classes);
    *hash = hash_number(hash_number(*hash, w->threads), w->job_bytes);
    *hash = hash_number(hash_number(*hash, w->tmp_bytes[DF_ON_HOST]), w->tmp_bytes[DF_ON_DEVICE]);
    return true;
}

static uint64_t hash_node(uint64_t hash, const struct df_graph *g, uint32_t v, const char *name)
{
    const struct df_node *node = &g->nodes[v];
    hash = hash_number(hash_text(hash, name), node->work);
    hash = hash_number(hash_number(hash, (uint64_t)node->hint_class), node->flags);
    hash = hash_number(hash_number(hash, node->depth), node->stage);
    if (node->live)
        hash = dfr_hash(hash, df_node_live(g, v), sizeof(struct df_live));
    for (uint32_t i = 0; i < df_node_n_in(g, v); i++)
        hash = hash_number(hash, g->in_value[node->first_in + i]);
    for (uint32_t y = node->first_out; y < node->first_out + df_node_n_out(g, v); y++)
        hash = hash_number(hash_number(hash, g->values[y].bytes), g->values[y].flags);
    return hash;
}

bool dfc_lock_graph_hash(const struct df_graph *g, char *text)
{
    uint64_t hash = 0;
    for (uint32_t w = 0; w < g->n_works; w++)
        if (!hash_work(&hash, g, w))
            return false;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        char *name = dfc_lock_node_name(g, v);
        if (!name)
            return false;
        hash = hash_node(hash, g, v, name);
        free(name);
    }
    for (uint32_t r = 0; r < g->n_resources; r++)
        hash = hash_number(hash, g->resources[r].n);
    print(hash, text);
    return true;
}

/* ---- the profile ---- */

void dfc_lock_times_hash(const struct dfp_problem *problem, char *text)
{
    const struct df_times *times = problem->times;
    uint64_t hash = 0;
    for (size_t i = 0; i < (size_t)times->n_classes * times->n_works; i++) {
        hash = hash_number(hash_real(hash, times->time_s[i]), times->source[i]);
        if (times->demand)
            hash = hash_real(hash_real(hash, times->demand[i].bytes_per_s), times->demand[i].sensitivity);
    }
    for (uint32_t v = 0; v < problem->graph->n_nodes; v++)
        hash = hash_real(hash, (double)problem->graph->nodes[v].rate);
    print(hash, text);
}

/* ---- the platform ---- */

static uint64_t hash_link(uint64_t hash, const struct df_link *link)
{
    return hash_number(hash_real(hash_real(hash, link->bytes_per_s), link->latency_s), link->threshold_bytes);
}

void dfc_lock_platform_hash(const struct df_platform *platform, char *text)
{
    uint64_t hash = 0;
    for (uint32_t u = 0; u < platform->n_units; u++) {
        const struct df_unit *unit = &platform->units[u];
        hash = hash_text(hash_text(hash, platform->class_names[unit->cls]), unit->name);
        hash = hash_number(hash_number(hash, unit->workers), unit->memory_bytes);
        hash = hash_number(hash_real(hash, unit->memory_bytes_per_s), unit->cores);
        hash = hash_link(hash_link(hash_link(hash, &unit->h2d), &unit->d2h), &unit->peer);
        hash = hash_number(hash_number(hash_number(hash, unit->engines), unit->jobs), unit->unified);
        hash = hash_real(hash_real(hash, unit->launch_s), unit->handover_s);
    }
    print(hash, text);
}
