/* test_buffers_memory.c - a run with the caller's buffers whose n-th allocation fails, n = 1, 2, ... until none does:
 * each start says that there is no memory, and crashes nowhere. Allocation is stood in for here,
 * which a sanitizer does itself: under one the test is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/graph/builder.h"
#include "runtime/graph/graph.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define REPLACED 0
#else
#define REPLACED 1

static bool watching;
static long until_failure;

/* glibc's own, under the names that it keeps for such replacements */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

/* Only the program's own calls fail: not those of hwloc and other shared libraries. */
static bool fails(const void *caller)
{
    extern const char __executable_start[], etext[];
    return watching && (const char *)caller >= __executable_start && (const char *)caller < etext && --until_failure == 0;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

enum { K = 8, WAVES = 2 };

static int make(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                const union df_scalar *scalars)
{
    (void)stream, (void)scalars;
    for (size_t i = 0; i < dims[0]; i++)
        ((int64_t *)ports[0])[i] = df_wave(call) * 100 + (int64_t)i;
    return DF_OK;
}

static struct df_graph *make_graph(void)
{
    static const struct df_port_desc port = { "a", DF_OUT, DF_I64, 1 };
    static const char *const dims[] = { "k" };
    static const uint64_t extents[] = { K }, port_extents[1][DF_MAX_RANK] = { { K } };
    const struct df_kernel_desc desc = { .name = "make", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &port,
                                         .functions = { make } };
    struct df_builder *builder = df_builder_new("g");
    struct df_graph *graph;
    struct df_error error;
    uint32_t kernel, node;
    assert_int_equal(df_builder_kernel(builder, &desc, &kernel, &error), DF_OK);
    assert_int_equal(df_builder_node(builder, kernel, extents, port_extents, NULL, &node, &error), DF_OK);
    assert_int_equal(df_builder_finish(builder, &graph, &error), DF_OK);
    df_builder_free(builder);
    return graph;
}
#endif

static void each_allocation_may_fail(void **state)
{
    (void)state;
#if REPLACED
    struct df_graph *graph = make_graph();
    int64_t tokens[WAVES * K];
    const struct df_buffer buffer = { .node = "main/make", .data = tokens, .bytes = sizeof tokens };
    struct df_options o;
    long n = 0;
    int status;
    df_options_default(&o);
    o.policy = "ws";
    o.device = DF_DEVICE_NONE;
    o.workers = 1;
    o.waves = WAVES;
    o.log_level = DF_LOG_ERROR;
    o.buffers = &buffer;
    o.n_buffers = 1;
    do {
        static struct df_stats stats;
        struct df_error error = { "" };
        struct df_run *run;
        memset(tokens, 0, sizeof tokens);
        until_failure = ++n;
        watching = true;
        status = df_run_start(graph, &o, &run, &error);
        watching = false;
        if (status == DF_OK)
            status = df_run_wait(run, &stats, &error);
        if (status != DF_OK && (status != DF_E_MEMORY || !strstr(error.text, "memory")))
            fail_msg("allocation %ld: %d: %s", n, status, error.text);
    } while (until_failure <= 0);
    assert_int_equal(status, DF_OK);
    assert_true(n > 20);
    assert_int_equal(tokens[WAVES * K - 1], (WAVES - 1) * 100 + K - 1);
    df_graph_free(graph);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_allocation_may_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
