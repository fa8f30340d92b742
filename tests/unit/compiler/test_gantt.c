/* test_gantt.c - the chain of a Gantt chart, on bars made by hand where several end at once: what a bar waited for is
 * what brought its data there, or kept its engine, and not what ended at that moment elsewhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/show/gantt_impl.h"
#include "sample_graph.h"

enum { A = 1, B, C };                   /* units; worker 0 is the host's, worker u of unit u */

/* Nodes 0 and 1 each make a value, node 2 reads both. Three devices, one copy engine each, and peer links. */
static void make_problem(struct sample *s)
{
    uint32_t from[2];
    sample_begin(s, 1, 3);
    for (uint32_t u = A; u <= C; u++) {
        s->platform.units[u].engines = 1;
        s->platform.units[u].peer = (struct df_link){ 1e9, 1e-3, 0 };
    }
    from[0] = sample_node(s, "x", 1, 1, SAMPLE_MB, 0, NULL);
    from[1] = sample_node(s, "y", 1, 1, SAMPLE_MB, 0, NULL);
    sample_node(s, "join", 1, 1, 0, 2, from);
    sample_end(s);
}

static void chain_is(const struct sample *s, struct dfc_gantt_bar *bars, size_t n, const size_t *expected,
                     size_t n_expected)
{
    struct dfc_gantt gantt = { .bars = bars, .n_bars = n };
    size_t *chain, length = dfc_gantt_chain(&gantt, &s->problem, &chain);
    assert_int_equal(length, n_expected);
    for (size_t i = 0; i < n_expected; i++)
        assert_int_equal(chain[i], expected[i]);
    free(chain);
}

/* x goes from A to B while y goes from C to B, and at the same moment another copy of x arrives at C. */
static void a_job_waits_for_what_came_to_it(void **state)
{
    (void)state;
    struct sample s;
    make_problem(&s);
    struct dfc_gantt_bar bars[] = {
        { DFC_BAR_JOB, A, 0, 0, 0, 0, 1, .line = 0 },
        { DFC_BAR_JOB, C, 0, 1, 0, 0, 2, .line = 0 },
        { DFC_BAR_TO_PEER, A, C, 0, 0, 1, 3, .line = 0 }, /* x to C, where nobody waits for it */
        { DFC_BAR_TO_PEER, C, B, 1, 0, 2, 3, .line = 0 },
        { DFC_BAR_JOB, B, 0, 2, 0, 3, 4, .line = 0 },
    };
    chain_is(&s, bars, 5, (size_t[]){ 4, 3, 1 }, 3);
    bars[2].kind = DFC_BAR_FROM_DEVICE; /* nor at the host */
    bars[2].to = 0;
    chain_is(&s, bars, 5, (size_t[]){ 4, 3, 1 }, 3);
    sample_free(&s);
}

/* By way of the host: y comes from there to B once it is there, whatever else has y by then. */
static void a_copy_waits_for_what_it_sends(void **state)
{
    (void)state;
    struct sample s;
    make_problem(&s);
    struct dfc_gantt_bar bars[] = {
        { DFC_BAR_JOB, A, 0, 1, 0, 0, 1, .line = 0 },
        { DFC_BAR_TO_PEER, A, C, 1, 0, 1, 2, .line = 0 },
        { DFC_BAR_FROM_DEVICE, A, 0, 1, 0, 1, 2, .line = 0 },
        { DFC_BAR_TO_DEVICE, B, B, 1, 0, 2, 3, .line = 0 },
        { DFC_BAR_JOB, B, 0, 2, 0, 3, 4, .line = 0 },
    };
    chain_is(&s, bars, 5, (size_t[]){ 4, 3, 2, 0 }, 4);
    sample_free(&s);
}

/* One engine serves both directions, but what goes to peers has its own. */
static void a_copy_waits_for_its_engine(void **state)
{
    (void)state;
    struct sample s;
    make_problem(&s);
    struct dfc_gantt_bar bars[] = {
        { DFC_BAR_TO_PEER, A, B, 0, 0, 0, 2, .line = 0 },
        { DFC_BAR_TO_DEVICE, A, A, 0, 0, 0, 2, .line = 0 },
        { DFC_BAR_FROM_DEVICE, A, 0, 1, 0, 2, 3, .line = 0 },
        { DFC_BAR_JOB, 0, 0, 2, 0, 3, 4, .line = 0 },
    };
    chain_is(&s, bars, 4, (size_t[]){ 3, 2, 1 }, 3);
    bars[2] = (struct dfc_gantt_bar){ DFC_BAR_TO_PEER, A, B, 1, 0, 2, 3, .line = 0 };
    bars[3].row = B;
    chain_is(&s, bars, 4, (size_t[]){ 3, 2, 0 }, 3);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_waits_for_what_came_to_it),
        cmocka_unit_test(a_copy_waits_for_what_it_sends),
        cmocka_unit_test(a_copy_waits_for_its_engine),
    };
    return cmocka_run_group_tests_name("gantt", tests, NULL, NULL);
}
