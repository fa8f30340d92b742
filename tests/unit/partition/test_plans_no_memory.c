/* test_plans_no_memory.c - each place of the planners' code that allocates fails, one at a time: a plan, a picture or a
 * file for METIS then is not made, DF_E_MEMORY is given, and nothing leaks.
 */
#include "failing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "partition/draw/draw.h"
#include "partition/memory/memory.h"
#include "partition/planner/plan_report.h"
#include "sample_graph.h"

#if FAILING
struct work {
    const struct sample *s;
    const struct dfp_options *options;
    const char *policy;
    const struct df_plan *plan;         /* of this policy, made with memory enough */
    int (*does)(struct work *w, struct df_error *error);
    int status;
    struct df_error error;
};

static int makes_plan(struct work *w, struct df_error *error)
{
    struct df_plan *plan = NULL;
    int status = dfp_plan_make(&w->s->problem, w->policy, w->options, &plan, error);

    if (status != DF_OK)
        assert_null(plan);
    else if (w->plan)
        assert_memory_equal(plan->place, w->plan->place, plan->n_nodes * sizeof *plan->place);
    dfr_plan_free(plan);
    return status;
}

static int makes_plan_of_run(struct work *w, struct df_error *error)
{
    struct df_plan *plan = NULL;
    const struct dfp_result result = { .place = w->plan->place, .priority = w->plan->priority, .run_as = "dmda", .makespan_s = 1e-3 };
    int status = dfp_plan_of_result(&w->s->problem, "dmda", &result, &plan, error);

    if (status != DF_OK)
        assert_null(plan);
    dfr_plan_free(plan);
    return status;
}

static int evaluates(struct work *w, struct df_error *error)
{
    struct dfp_evaluation e;
    return dfp_evaluate(&w->s->problem, w->plan->place, w->plan->priority, &e, error);
}

static int writes_text(struct work *w, struct df_error *error)
{
    char *text = NULL;
    size_t size;
    int status = dfp_metis_text(&w->s->problem, w->options, &text, &size, error);
    free(text);
    return status;
}

static int draws_path(struct work *w, bool waits, struct df_error *error)
{
    char *text = NULL;
    size_t size;
    bool summarised;
    int status = dfp_draw_dot(&w->s->problem, w->plan, &(struct dfp_drawing){ waits, "divided: main/f in 2 parts\n" }, &text, &size, &summarised, error);
    free(text);
    return status;
}

static int draws(struct work *w, struct df_error *error)
{
    return draws_path(w, false, error);
}

static int draws_waits(struct work *w, struct df_error *error)
{
    return draws_path(w, true, error);
}

static int reports(struct work *w, struct df_error *error)
{
    struct dfp_report report;
    return dfp_report_make(&w->s->problem, w->plan, &report, error);
}

static void do_it(void *arg)
{
    struct work *w = arg;
    w->error.text[0] = '\0';
    w->status = w->does(w, &w->error);
}

/* A place's 1st, 2nd, 8th, 32nd, ... call fails. Gives how many times the work was refused. */
static uint32_t fail_each(struct work *w)
{
    uint32_t n_refused = 0;
    long kept;

    failing_learn(do_it, w);
    assert_int_equal(w->status, DF_OK);
    assert_true(failing_n > 0 && failing_n < FAILING_PLACES);
    kept = failing_n_live;
    for (uint32_t place = 0; place < failing_n; place++)
        for (uint64_t n = 1; n <= failing_places[place].calls; n *= n == 1 ? 2 : 4) {
            failing_set(place, n);
            do_it(w);
            failing_end();
            if (w->status != DF_OK && (w->status != DF_E_MEMORY || !strstr(w->error.text, "memory")))
                fail_msg("call %llu at %p: status %d, '%s'", (unsigned long long)n, failing_places[place].address,
                         w->status, w->error.text);
            if (failing_n_live != kept)
                fail_msg("call %llu at %p: %ld allocations are left, else %ld", (unsigned long long)n,
                         failing_places[place].address, failing_n_live, kept);
            n_refused += w->status != DF_OK;
        }
    return n_refused;
}
#endif

static void test_plans(void **state)
{
#if FAILING
    static const char *const policies[] = { "gp", "gp-thesis", "heft", "peft", "all-gpu" };
    struct dfp_options options;
    uint32_t n_refused = 0;

    dfp_options_default(&options);
    options.budget = 30;
    options.threads = 1;
    for (unsigned i = 0; i < 2 * sizeof policies / sizeof *policies; i++) {
        struct sample s;
        struct df_plan *plan;
        struct df_error error;
        struct work w = { .s = &s, .options = &options, .policy = policies[i / 2] };

        sample_random(&s, 3 + i, i % 2 ? 8 : 24, 2, 1 + i % 2, false);
        sample_peers(&s, 4);
        options.objective = i % 2 ? DFP_THROUGHPUT : DFP_LATENCY;
        assert_int_equal(dfp_plan_make(&s.problem, w.policy, &options, &plan, &error), DF_OK);
        w.plan = plan;
        w.does = makes_plan;
        n_refused += fail_each(&w);
        dfr_plan_free(plan);
        sample_free(&s);
    }
    assert_true(n_refused > 100);
#else
    skip();
#endif
    (void)state;
}

static void test_rest(void **state)
{
#if FAILING
    static int (*const does[])(struct work *, struct df_error *) = { makes_plan_of_run, evaluates, writes_text,
                                                                     draws, draws_waits, reports };
    struct dfp_options options;
    struct df_plan *plan;
    struct df_error error;
    struct sample s;

    dfp_options_default(&options);
    sample_random(&s, 5, 24, 2, 1, false);
    assert_int_equal(dfp_plan_make(&s.problem, "heft", &options, &plan, &error), DF_OK);
    for (unsigned i = 0; i < sizeof does / sizeof *does; i++) {
        struct work w = { .s = &s, .options = &options, .plan = plan, .does = does[i] };
        assert_true(fail_each(&w) > 0);
    }
    dfr_plan_free(plan);
    sample_free(&s);
#else
    skip();
#endif
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_plans), cmocka_unit_test(test_rest) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
