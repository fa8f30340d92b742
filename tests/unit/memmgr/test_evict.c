/* test_evict.c - what leaves a device's memory where room is needed: the heap of victims against a list, cases computed
 * by hand, and Belady's rule beside LRU over many graphs in virtual time, where orders are the same each time.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "memmgr/victims.h"
#include "partition/model/model.h"
#include "runtime/graph/fit.h"
#include "runtime/policy/next_use.h"
#include "runtime/policy/policy.h"
#include "runtime/simulate/simulate.h"
#include "sample_graph.h"

#define MS SAMPLE_MS
#define MB SAMPLE_MB

/* ---- victims ---- */

/* What a walk over all items would choose. */
static uint32_t choose(const bool *in, const uint64_t *next_use, const uint64_t *used, uint32_t n)
{
    uint32_t best = DFM_NO_VICTIM;
    for (uint32_t i = 0; i < n; i++)
        if (in[i] && (best == DFM_NO_VICTIM || next_use[i] > next_use[best] ||
                      (next_use[i] == next_use[best] && used[i] < used[best])))
            best = i;
    return best;
}

static void victims_go_in_their_order(void **state)
{
    (void)state;
    enum { N = 40 };
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct dfm_victims v;
        bool in[N] = { false };
        uint64_t next_use[N], used[N], clock = 0;
        uint32_t random = seed;
        assert_true(dfm_victims_create(&v, N));
        for (uint32_t step = 0; step < 2000; step++) {
            uint32_t item = sample_rand(&random) % N;
            if (in[item]) {
                dfm_victims_remove(&v, item);
            } else {
                next_use[item] = seed % 2 ? sample_rand(&random) % 10 : 0;
                used[item] = clock++;
                dfm_victims_add(&v, item, next_use[item]);
            }
            in[item] = !in[item];
            assert_int_equal(dfm_victims_has(&v, item), in[item]);
            assert_int_equal(dfm_victims_first(&v), choose(in, next_use, used, N));
            assert_true(dfm_victims_check(&v));
        }
        dfm_victims_destroy(&v);
    }
}

/* ---- runs in virtual time ---- */

struct traffic {
    uint64_t bytes;
    uint32_t evictions;
};

static struct traffic run(const struct sample *s, const char *policy, const struct df_plan *plan, int evict,
                          uint32_t waves)
{
    struct dfr_simulate_options options = {
        .policy = policy, .plan = plan, .waves = waves, .inflight = waves < 3 ? waves : 3, .evict = evict,
        .no_guard = true
    };
    struct dfr_simulation r = { 0 };
    struct df_error e = { "" };
    if (dfr_simulate(s->graph, &s->platform, &s->times, &options, &r, &e) != DF_OK)
        fail_msg("%s: %s", policy, e.text);
    return (struct traffic){ r.h2d_bytes + r.d2h_bytes, r.evictions };
}

static uint64_t largest_job(const struct sample *s)
{
    uint64_t most = 0;
    for (uint32_t v = 0; v < s->graph->n_nodes; v++)
        most = dfr_job_bytes(s->graph, v) > most ? dfr_job_bytes(s->graph, v) : most;
    return most;
}

/* In memories from the largest job to twice that. Both sums are printed; no single run moves more, either. gp's monitor is off: it would move other jobs
 * with each rule, because the times are others. */
static void belady_moves_no_more_than_lru(void **state)
{
    (void)state;
    static const char *const policies[] = { "all-gpu", "heft", "peft", "gp" };
    struct traffic sums[2] = { { 0, 0 }, { 0, 0 } };
    for (uint32_t p = 0; p < 4; p++)
        for (uint32_t seed = 1; seed <= 30; seed++) {
            struct sample s;
            struct df_plan *plan;
            sample_random(&s, seed, 100, 2, 1 + seed % 2, false);
            plan = sample_plan(&s, policies[p]);
            for (uint32_t i = 0; i < 6; i++) {
                struct traffic of[2];
                for (uint32_t u = 1; u < s.platform.n_units; u++)
                    s.platform.units[u].memory_bytes = largest_job(&s) * (4 + 2 * (i / 2)) / 4;
                for (int k = 0; k < 2; k++) {
                    of[k] = run(&s, policies[p], plan, k ? DF_EVICT_BELADY : DF_EVICT_LRU, i % 2 ? 5 : 1);
                    sums[k].bytes += of[k].bytes;
                    sums[k].evictions += of[k].evictions;
                }
                if (of[1].bytes > of[0].bytes)
                    fail_msg("%s, seed %u: %llu bytes, with LRU %llu", policies[p], seed,
                             (unsigned long long)of[1].bytes, (unsigned long long)of[0].bytes);
            }
            dfr_plan_free(plan);
            sample_free(&s);
        }
    printf("figure 720 simulated runs: LRU %.1f MB in copies, %u evictions; Belady %.1f MB, %u\n",
           (double)sums[0].bytes / 1e6, sums[0].evictions, (double)sums[1].bytes / 1e6, sums[1].evictions);
    assert_true(sums[1].bytes < sums[0].bytes);
    assert_true(sums[1].evictions > 0);
}

/* Four values are made, then read in turn, twice, and there is room for three. LRU always gives up the one that is read
 * next: all four are written back, and six times one comes again. What is needed last is c when d is made, and then b
 * for c: these two are written back, and come again once. */
static void what_is_needed_last_goes(void **state)
{
    (void)state;
    struct sample s;
    uint32_t value[4];
    sample_begin(&s, 1, 1);
    for (uint32_t i = 0; i < 4; i++)
        value[i] = sample_node(&s, "make", NAN, 1 * MS, MB, 0, NULL);
    for (uint32_t i = 0; i < 8; i++)
        sample_node(&s, "read", NAN, 1 * MS, 0, 1, &value[i % 4]);
    sample_end(&s);
    s.platform.units[1].memory_bytes = 3 * dfr_whole_pages(MB);
    assert_int_equal(run(&s, "all-gpu", NULL, DF_EVICT_LRU, 1).bytes, 10 * MB);
    assert_int_equal(run(&s, "all-gpu", NULL, DF_EVICT_BELADY, 1).bytes, 4 * MB);
    assert_int_equal(run(&s, "all-gpu", NULL, DF_EVICT_AUTO, 1).bytes, 4 * MB);
    s.platform.units[1].memory_bytes = 4 * dfr_whole_pages(MB);
    assert_int_equal(run(&s, "all-gpu", NULL, DF_EVICT_AUTO, 1).bytes, 0);
    sample_free(&s);
}

/* A policy that decides as it runs knows no next use. */
static void not_every_policy_knows(void **state)
{
    (void)state;
    struct df_error e = { "" };
    bool wanted;
    assert_int_equal(dfr_next_use_wanted(DF_EVICT_BELADY, &dfr_policy_eager, &wanted, &e), DF_E_REFUSED);
    assert_string_equal(e.text, "--evict=belady needs a policy that orders jobs before the run: 'eager' does not");
    assert_int_equal(dfr_next_use_wanted(DF_EVICT_AUTO, &dfr_policy_eager, &wanted, &e), DF_OK);
    assert_false(wanted);
    assert_int_equal(dfr_next_use_wanted(DF_EVICT_LRU, &dfr_policy_gp, &wanted, &e), DF_OK);
    assert_false(wanted);
    assert_int_equal(dfr_next_use_wanted(DF_EVICT_AUTO, &dfr_policy_gp, &wanted, &e), DF_OK);
    assert_true(wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(victims_go_in_their_order),
        cmocka_unit_test(what_is_needed_last_goes),
        cmocka_unit_test(not_every_policy_knows),
        cmocka_unit_test(belady_moves_no_more_than_lru),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
