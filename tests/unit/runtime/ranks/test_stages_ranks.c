/* test_stages_ranks.c - random graphs whose stages are on several ranks, a thread for each, over the mock of a link that delays and reorders: what
 * reaches the sinks is compared with the sequential reference, also if a rank dies, if the mapping changes, and if the CPU and the GPU of a rank request
 * waves of their own. It is made to be run under TSan.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks_rig.h"
#include "runtime/graph/plan.h"
#include "runtime/subgraph/groups.h"

enum { MOST_RANKS = RANKS_RIG_MOST };

static unsigned n_whole;                /* runs that other ranks took part in */
static unsigned n_divided;              /* runs of ranks whose CPU and GPU requested waves of their own */
static struct dfr_figures *figures;
static struct df_node_stats timed;      /* it is there: jobs are timed */
static char path[] = "/tmp/dfc-stages-XXXXXX";

/* ---- mappings ---- */

/* Cuts the stages that ranks can have into at most n - 1 groups, and gives each of these ranks. */
static void write_map(const struct df_graph *g, int n, bool demand, uint32_t *random)
{
    bool on_first[DFR_MOST_STAGES];
    struct dfr_stages stages;
    struct df_error error;
    FILE *file = fopen(path, "w");
    uint32_t groups = 1 + rig_rand(random) % (uint32_t)(n - 1), ranks = (uint32_t)n - 1 - groups, rank = 1, left = 0, g_now = 0;

    assert_non_null(file);
    assert_int_equal(dfr_stages_find(g, &stages, &error), DF_OK);
    assert_int_equal(dfr_groups_on_first(g, &stages, on_first, &error), DF_OK);
    for (uint32_t s = 0; s < stages.n; s++)
        left += !on_first[s];
    fprintf(file, "# random\nfeeding %s\n", demand ? "demand" : "order");
    for (uint32_t s = 0, here = 0; s < stages.n; s++) {
        if (on_first[s])
            continue;
        fprintf(file, "%s%s", here++ ? " " : "", stages.names[s]);
        left--;
        if (left > 0 && (g_now + 1 == groups || rig_rand(random) % 3))
            continue;
        uint32_t more = g_now + 1 == groups || left == 0 ? ranks : rig_rand(random) % (ranks + 1);
        fputc(':', file);
        for (uint32_t k = 0; k <= more; k++)
            fprintf(file, " p%u", rank++);
        fputc('\n', file);
        ranks -= more;
        here = 0;
        g_now++;
    }
    fclose(file);
    dfr_stages_free(&stages);
}

/* ---- random graphs ---- */

struct change {
    int64_t at;                         /* when so many waves have ended */
    unsigned n;                         /* times that the mapping has changed */
};

/* Moves the boundary between the first two groups by a stage, back and forth; or changes the ranks of two groups. */
static bool change(void *arg, int64_t n, struct dfr_mapping *next)
{
    struct change *c = arg;

    if (n < c->at || next->n_groups < 2)
        return false;
    c->at = n + 5;
    c->n++;
    for (uint32_t rank = 1; rank < next->n_ranks; rank++)
        if (next->group_of_rank[rank] < 2)
            next->group_of_rank[rank] = !next->group_of_rank[rank];
    return true;
}

/* Each wave went once through each stage that other ranks have, and each node has fired once in each wave, or was left out; also if the mapping has
 * changed in between. What a group makes goes to the next one, or to rank 0. */
static void check_figures(const struct df_graph *g, int n, int64_t waves, unsigned seed)
{
    int64_t most = 0;

    assert_non_null(figures);
    assert_true(figures->by_stages && figures->windows.n == 0);
    assert_int_equal(figures->waves, waves);
    for (int i = 0; i < n; i++) {
        const struct dfr_rank_figures *rank = &figures->ranks[i];
        if (!rank->reported || rank->fate != DFR_RANK_WORKED)
            fail_msg("seed %u: rank %d did not report", seed, i);
        for (uint32_t k = 0; k < rank->stages.n; k++) {
            const struct dfr_stage_row *row = &rank->stages.rows[k];
            assert_true(i > 0 && row->names[0] && row->n > 0);
            assert_true(row->waves == 0 || (row->in_bytes > 0 && row->out_bytes > 0 && row->ran_s > 0));
            most += row->first == 0 ? row->waves : 0;
        }
    }
    for (int i = 1; i < n; i++)
        n_divided += strcmp(figures->ranks[i].stats.policy, "by-worker") == 0;
    if (most > waves)
        fail_msg("seed %u: the first stages had %lld waves, and there are %lld", seed, (long long)most, (long long)waves);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const struct df_node_stats *node = &figures->nodes[v];
        uint64_t fired = node->host_jobs + node->device_jobs + figures->skips[v].left_out;
        bool once = g->nodes[v].flags & (DF_NODE_ONCE | DF_NODE_FINAL);
        if (fired != (once ? 1 : (uint64_t)waves) && !(g->kernels[g->nodes[v].kernel].traits & DF_STREAM))
            fail_msg("seed %u: node %u has fired %llu times", seed, v, (unsigned long long)fired);
    }
}

/* A GPU, and random times that are known: ranks can be divided. */
static void add_gpu(struct df_options *o, const struct df_graph *g, struct df_plan *plan, uint32_t *random)
{
    *plan = (struct df_plan){ .times = { .n_classes = 2, .n_works = g->n_works, .time_s = malloc((2 * g->n_works + 1) * sizeof(double)),
                                         .source = malloc(2 * g->n_works + 1) } };
    assert_true(plan->times.time_s && plan->times.source);
    for (uint32_t i = 0; i < 2 * g->n_works; i++) {
        plan->times.time_s[i] = 1e-6 * (1 + rig_rand(random) % 100);
        plan->times.source[i] = DF_TIME_MEASURED;
    }
    df_platform_default(&plan->platform, 1);
    o->plan = plan;
    o->device = DF_DEVICE_EMU;
    o->policy = NULL;
}

static void check_seed(unsigned seed, bool kills, bool changes)
{
    static const char *const policies[] = { "ws", "eager", "dmda", "all-cpu" };
    uint32_t random = seed * 747796405u | 1;
    int64_t waves = 1 + rig_rand(&random) % 40;
    bool streams = rig_rand(&random) % 2;
    int n = 2 + (int)(rig_rand(&random) % (MOST_RANKS - 1)), killed = kills && n > 2 ? 1 + (int)(rig_rand(&random) % (uint32_t)(n - 1)) : 0;
    struct df_options o = rig_options(policies[rig_rand(&random) % 4], DF_DEVICE_NONE, 1);
    struct change when = { .at = 3 };
    const struct dfr_stages_options own = { .path = path, .policy = (enum dfr_stream_policy)(seed % DFR_STREAM_POLICIES),
                                            .change = changes ? change : NULL, .change_arg = &when };
    struct df_plan plan = { 0 };
    struct rig r;

    rig_skips = seed % 2;
    rig_accs = seed % 3 == 0;
    o.waves = streams ? -1 : waves;
    o.inflight = rig_rand(&random) % 5;
    o.node_stats = seed % 3 != 1 ? &timed : NULL;
    rig_random(&r, seed, 4 + rig_rand(&random) % 30, 1 + rig_rand(&random) % 60, streams ? waves : 0);
    rig_expect(&r, waves);
    ranks_rig_number(r.graph);
    write_map(r.graph, n, seed % 4 > 1, &random);
    if (seed % 4 == 2)
        add_gpu(&o, r.graph, &plan, &random);
    const struct dfr_ranks_options ranks = { .stages = &own, .heartbeat_timeout_s = killed ? 6 : 0, .figures = o.node_stats ? &figures : NULL };
    int status = ranks_rig_run(&r, n, &o, &ranks, killed, &random);
    bool none = strstr(ranks_rig[0].error.text, "leaves no stage to other ranks"); /* an acc or an ordered node may be before all others */
    if (status != DF_OK && !none)
        fail_msg("seed %u: %s", seed, ranks_rig[0].error.text);
    for (int i = 1; i < n; i++)
        if (i != killed && ranks_rig[i].status != DF_OK && !none)
            fail_msg("seed %u, rank %d: %s", seed, i, ranks_rig[i].error.text);
    n_whole += !none;
    if (!none && !killed && o.node_stats)
        check_figures(r.graph, n, waves, seed);
    dfr_figures_free(figures);
    figures = NULL;
    if (!none && !rig_same(&r, waves))
        fail_msg("seed %u: %d ranks, rank %d dies", seed, n, killed);
    rig_free(&r);
    free(plan.times.time_s);
    free(plan.times.source);
}

static void check_seeds(bool kills, bool changes, unsigned n)
{
    unsigned first = 1, last = n;

    rig_seeds(&first, &last);
    for (unsigned seed = first; seed <= last; seed++)
        check_seed(seed, kills, changes);
    assert_true(n_whole > (last - first) / 2);
    assert_true(n_divided > 0 || kills);
    n_whole = n_divided = 0;
    rig_skips = rig_accs = false;
}

static void test_random(void **state)
{
    (void)state;
    check_seeds(false, false, 32);
}

static void test_killed(void **state)
{
    (void)state;
    check_seeds(true, false, 3);
}

static void test_changes(void **state)
{
    (void)state;
    check_seeds(false, true, 12);
}

static int make_path(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 || close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_killed), cmocka_unit_test(test_changes) };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
