/* test_scratch.c - scratch of CPU workers (tmp ports): it begins with a huge page if it is as large as one, because kernels
 * that read it at random would wait for page tables else, and dfc profile measures them with huge pages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/pages.h"
#include "runtime/df.h"

static uintptr_t address;               /* of the scratch that the kernel was called with */

/* (tmp t: u8[k]) */
static int touch(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    unsigned char *scratch = ports[0];
    (void)call, (void)stream, (void)scalars;
    address = (uintptr_t)scratch;
    scratch[0] = scratch[dims[0] - 1] = 1;
    return DF_OK;
}

static struct df_graph *make_graph(uint64_t bytes)
{
    static const char *const dims[] = { "k" };
    static const struct df_port_desc tmp = { "t", DF_TMP, DF_U8, 1 };
    struct df_kernel_desc desc = { .name = "touch", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &tmp,
                                   .functions = { .cpu = touch } };
    const uint64_t extents[1][DF_MAX_RANK] = { { bytes } };
    struct df_builder *b = df_builder_new("g");
    struct df_graph *graph;
    uint32_t kernel, node;

    assert_int_equal(df_builder_kernel(b, &desc, &kernel, NULL), DF_OK);
    assert_int_equal(df_builder_node(b, kernel, &bytes, extents, NULL, &node, NULL), DF_OK);
    assert_int_equal(df_builder_finish(b, &graph, NULL), DF_OK);
    df_builder_free(b);
    return graph;
}

static uintptr_t address_in_run(uint64_t bytes, enum df_device_kind device, const char *policy)
{
    struct df_graph *graph = make_graph(bytes);
    struct df_options o;
    struct df_error error = { "" };
    struct df_run *run;

    df_options_default(&o);
    o.log_level = DF_LOG_ERROR;
    o.workers = 1;
    o.device = device;
    o.policy = policy;
    address = 1;
    if (df_run_start(graph, &o, &run, &error) != DF_OK || df_run_wait(run, NULL, &error) != DF_OK)
        fail_msg("%s", error.text);
    df_graph_free(graph);
    return address;
}

static void large_scratch_begins_with_a_huge_page(void **state)
{
    (void)state;
    for (uint64_t pages = 1; pages <= 3; pages++) { /* of small ones, one in 512 does, too */
        assert_int_equal(address_in_run(pages * DFR_HUGE_BYTES + 1, DF_DEVICE_NONE, NULL) % DFR_HUGE_BYTES, 0);
        assert_int_equal(address_in_run(pages * DFR_HUGE_BYTES + 1, DF_DEVICE_EMU, "dmda") % DFR_HUGE_BYTES, 0);
    }
}

static void small_scratch_begins_with_a_page(void **state)
{
    (void)state;
    assert_int_equal(address_in_run(1, DF_DEVICE_NONE, NULL) % 4096, 0);
    assert_int_equal(address_in_run(5000, DF_DEVICE_EMU, "dmda") % 4096, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_scratch_begins_with_a_huge_page),
        cmocka_unit_test(small_scratch_begins_with_a_page),
    };
    return cmocka_run_group_tests_name("scratch", tests, NULL, NULL);
}
