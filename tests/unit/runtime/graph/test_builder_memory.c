/* test_builder_memory.c - each allocation of the builder fails, one at a time: a step then gives DF_E_MEMORY, and
 * df_builder_free() gives back all memory.
 */
#include "failing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/graph/builder.h"
#include "runtime/graph/plan.h"

#if FAILING
enum { N = 40 };

/* Failures that the builder need not say. An assert() at its end calls df_graph_check(), which passes without memory. */
#ifdef NDEBUG
enum { SILENT = 0 };
#else
enum { SILENT = 1 };
#endif

struct building {
    int status;
    struct df_error error;
};

/* A chain of N nodes, each with dimensions, a scalar and a cost of its own. Stops at the first step that fails. */
static void build(void *arg)
{
    static const char *const dims[] = { "k" };
    static const struct df_port_desc ports[] = { { "v", DF_IN, DF_F32, 1 }, { "w", DF_OUT, DF_F32, 1 } };
    static const struct df_scalar_desc scalars[] = { { "s", DF_S_I64 } };
    struct building *t = arg;
    struct df_builder *b = df_builder_new("chain");
    struct df_graph *g = NULL;
    uint32_t source = 0, filter = 0, before = 0, node;

    *t = (struct building){ .status = b ? DF_OK : DF_E_MEMORY, .error.text = "out of memory" };
    if (b)
        t->status = df_builder_kernel(b, &(struct df_kernel_desc){ .name = "source", .n_dims = 1, .dims = dims, .n_ports = 1,
                                                                   .ports = ports + 1 }, &source, &t->error);
    if (t->status == DF_OK)
        t->status = df_builder_kernel(b, &(struct df_kernel_desc){ .name = "filter", .n_dims = 1, .dims = dims,
                                                                   .n_ports = 2, .ports = ports, .n_scalars = 1,
                                                                   .scalars = scalars }, &filter, &t->error);
    for (uint64_t i = 0; t->status == DF_OK && i < N; i++) {
        const uint64_t k = 8, port_dims[2][DF_MAX_RANK] = { { k }, { k } };
        const union df_scalar scalar = { .i64 = (int64_t)i };
        t->status = df_builder_cost(b, DF_CLASS_CPU, 1e-6 * (double)(i + 1), &t->error);
        if (t->status == DF_OK)
            t->status = df_builder_node(b, i ? filter : source, &k, port_dims, i ? &scalar : NULL, &node, &t->error);
        if (t->status == DF_OK && i)
            t->status = df_builder_connect(b, before, 0, node, 0, &t->error);
        before = node;
    }
    if (t->status == DF_OK)
        t->status = df_builder_finish(b, &g, &t->error);
    if (t->status == DF_OK)
        assert_int_equal(g->n_nodes, N);
    else
        assert_null(g);
    df_builder_free(b);
    df_graph_free(g);
}
#endif

static void each_allocation_fails(void **state)
{
    (void)state;
#if FAILING
    struct building t;
    uint32_t n_silent = 0;
    long kept;

    failing_learn(build, &t);
    assert_int_equal(t.status, DF_OK);
    assert_true(failing_n > 10 && failing_n < FAILING_PLACES);
    kept = failing_n_live;
    for (uint32_t place = 0; place < failing_n; place++)
        for (uint64_t n = 1; n <= failing_places[place].calls; n++) {
            failing_set(place, n);
            build(&t);
            failing_end();
            if (t.status == DF_OK)
                n_silent++;
            else if (t.status != DF_E_MEMORY || !strstr(t.error.text, "memory"))
                fail_msg("call %llu at %p: status %d, '%s'", (unsigned long long)n, failing_places[place].address,
                         t.status, t.error.text);
            assert_true(n_silent <= SILENT);
            assert_int_equal(failing_n_live, kept);
        }
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_allocation_fails) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
