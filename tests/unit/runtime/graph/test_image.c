/* test_image.c - graph and plan as bytes: the way there and back, byte for byte, and what mutated images do. Default
 * times and platform, which images carry, are tested here too.
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

#include "runtime/graph/builder.h"
#include "runtime/graph/expr.h"
#include "runtime/graph/image.h"

#define OK(call)                                             \
    do {                                                     \
        struct df_error e_ = { "" };                         \
        struct df_error *error = &e_;                        \
        if ((call) != DF_OK)                                 \
            fail_msg("%s: %s", #call, e_.text);              \
    } while (0)

/* ---- a graph with something of everything ---- */

static int nothing(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                   const union df_scalar *scalars)
{
    (void)call, (void)stream, (void)dims, (void)ports, (void)scalars;
    return DF_OK;
}

static const struct df_functions functions[] = { { .cpu = nothing }, { .cpu = nothing, .gpu = nothing } };

static void add_node(struct df_builder *b, struct df_node_desc desc, uint64_t k, uint32_t *node)
{
    const uint64_t port_dims[2][DF_MAX_RANK] = { { k, 2 }, { k, 2 } };
    desc.dims = &k;
    desc.port_dims = port_dims;
    OK(df_builder_node_desc(b, &desc, node, error));
}

static struct df_graph *make_graph(void)
{
    struct df_builder *b = df_builder_new("everything");
    static const char *const dims[] = { "k" };
    const struct df_port_desc out = { "v", DF_OUT, DF_F32, 2 }, bump[] = { { "b", DF_INOUT, DF_F32, 2 },
                                                                          { "t", DF_TMP, DF_U8, 1 } };
    const struct df_scalar_desc scalars[] = { { "seed", DF_S_I32 }, { "how", DF_S_STR } };
    const struct df_kernel_desc source = {
        "source", 1, dims, 1, &out, 2, scalars, 0, { .cpu = nothing }, { 0, 0, 0, 0 }
    };
    const struct df_kernel_desc change = { "change",      1, dims, 2, bump, 0, NULL, DF_ORDERED,
                                           { .cpu = nothing, .gpu = nothing }, { 0, 0, 0, 0 } };
    const struct df_kernel_info info = { "graph.df", 7, 5, 1, { 0x1234, 0 }, 0, NULL, NULL };
    const uint64_t code[] = { DF_X_ARG, 0, DF_X_INT, 1, DF_X_ADD };
    const int32_t index = -3;
    const double cost[] = { 1e-3, NAN, 0.5 };
    const char *const value_names[] = { "a" };
    uint32_t cls, k0, k1, scope, ids[2], u, v, w;
    OK(df_builder_class(b, "npu", &cls, error));
    OK(df_builder_arg(b, "seed", DF_S_I32, true, (union df_scalar){ .i32 = 4 }, "the first seed", error));
    OK(df_builder_arg(b, "path", DF_S_STR, false, (union df_scalar){ .i64 = 0 }, NULL, error));
    OK(df_builder_param(b, "n", 100, "elements", error));
    OK(df_builder_kernel(b, &source, &k0, error));
    OK(df_builder_kernel(b, &change, &k1, error));
    OK(df_builder_kernel_info(b, k0, &info, error));
    OK(df_builder_scope(b, 0, "part", 1, &index, 1, &scope, error));
    OK(df_builder_expression(b, DF_S_I32, code, 5, &ids[0], error));
    OK(df_builder_constant(b, DF_S_STR, (union df_scalar){ .str = "fast" }, &ids[1], error));
    add_node(b,
             (struct df_node_desc){ .kernel = k0,
                                    .scalars = ids,
                                    .threads = 2,
                                    .cost_s = cost,
                                    .n_cost = 3,
                                    .hint_class = 0,
                                    .depth = 2,
                                    .rate = 0.5,
                                    .file = "graph.df",
                                    .line = 9,
                                    .col = 5,
                                    .value_names = value_names },
             100, &u);
    add_node(b, (struct df_node_desc){ .kernel = k1, .scope = scope, .hint_class = -1 }, 100, &v);
    add_node(b,
             (struct df_node_desc){ .kernel = k1, .scope = scope, .indices = &index, .n_indices = 1, .hint_class = -1 },
             100, &w);
    OK(df_builder_connect(b, u, 0, v, 0, error));
    OK(df_builder_connect(b, u, 0, w, 0, error));
    struct df_graph *g = NULL;
    OK(df_builder_finish(b, &g, error));
    df_builder_free(b);
    assert_int_equal(g->n_nodes, 5);
    return g;
}

/* Dirt where nothing was set, as in memory that others used before. */
static struct df_plan *make_plan(const struct df_graph *g)
{
    struct df_plan *plan = malloc(sizeof *plan);
    assert_non_null(plan);
    memset(plan, 0xa5, sizeof *plan);
    strcpy(plan->policy, "gp-thesis");
    strcpy(plan->run_as, "static");
    struct df_platform platform;
    df_platform_default(&platform, 1);
    plan->platform.n_units = platform.n_units;
    plan->platform.n_classes = platform.n_classes;
    strcpy(plan->platform.name, platform.name);
    for (unsigned c = 0; c < 2; c++)
        strcpy(plan->platform.class_names[c], platform.class_names[c]);
    plan->platform.units[0] = platform.units[0];
    plan->platform.units[1] = platform.units[1];
    plan->platform.units[0].workers = 3; /* not what this machine has */
    plan->owner = NULL;
    plan->platform.units[0].memory_bytes_per_s = 2e10;
    plan->platform.units[0].cores = 5;
    plan->platform.units[1].handover_s = 4e-5;
    OK(dfr_times_default(g, true, &plan->times, error));
    plan->times.demand = calloc((size_t)g->n_classes * g->n_works, sizeof *plan->times.demand);
    assert_non_null(plan->times.demand);
    plan->times.demand[1] = (struct df_demand){ 5e9, 0.75 };
    plan->n_nodes = g->n_nodes;
    plan->n_waves = 2;
    plan->inflight = 6;
    plan->load_s = 0.75;
    plan->place = calloc(2 * (size_t)g->n_nodes, sizeof *plan->place);
    plan->priority = calloc(g->n_nodes, sizeof *plan->priority);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        plan->place[v] = (uint16_t)(v % 2);
        plan->place[g->n_nodes + v] = (uint16_t)(v % 2 == 0);
        plan->priority[v] = (float)(g->n_nodes - v);
    }
    plan->predicted_s = 2.5;
    plan->best_single_s = 3.5;
    plan->best_single_unit = 1;
    memset(plan->pool_bytes, 0, sizeof plan->pool_bytes);
    memset(plan->largest_job_bytes, 0, sizeof plan->largest_job_bytes);
    plan->pool_bytes[1] = 4096;
    memset(plan->memory, 0, sizeof plan->memory);
    plan->memory[0].wave_bytes = plan->memory[0].sequence_bytes = plan->memory[0].once_bytes = UINT64_C(1) << 30;
    plan->memory[1].scratch_bytes = 8192;
    plan->layout = (struct df_host_layout){ g->n_values, calloc(g->n_values, sizeof(uint32_t)),
                                            calloc(g->n_values, sizeof(uint32_t)), 12345 };
    plan->layout.any_line[1] = 7;
    plan->layout.sequence_line[1] = 9;
    plan->memory[1].wave_bytes = plan->memory[1].once_bytes = UINT64_C(1) << 30;
    plan->devices = (struct df_device_layout){ 2 * (uint64_t)g->n_values, calloc(2 * g->n_values, sizeof(uint32_t)) };
    plan->devices.page[0] = DF_NONE;
    plan->devices.page[g->n_values + 1] = 11;
    return plan;
}

struct bytes {
    unsigned char *at;
    size_t size;
};

/* A whole image in a block of its own that is aligned and not a byte longer. */
static struct bytes make_image(bool with_plan)
{
    struct df_graph *g = make_graph();
    struct df_plan *plan = with_plan ? make_plan(g) : NULL;
    const struct dfr_image image = { .graph = g,
                                     .plan = plan,
                                     .sources = with_plan ? (const unsigned char *)"sources" : NULL,
                                     .source_bytes = with_plan ? 7 : 0,
                                     .known = with_plan ? (const unsigned char *)"times" : NULL,
                                     .known_bytes = with_plan ? 5 : 0,
                                     .default_waves = -1 };
    struct bytes bytes, aligned;
    OK(dfr_image_write(&image, &bytes.at, &bytes.size, error));
    assert_int_equal(posix_memalign((void **)&aligned.at, 64, bytes.size), 0);
    memcpy(aligned.at, bytes.at, bytes.size);
    aligned.size = bytes.size;
    free(bytes.at);
    dfr_plan_free(plan);
    df_graph_free(g);
    return aligned;
}

static void close_image(struct dfr_image *image)
{
    dfr_plan_free(image->plan);
    df_graph_free(image->graph);
}

/* ---- there and back ---- */

static void test_round_trip(void **state)
{
    (void)state;
    for (int with_plan = 0; with_plan < 2; with_plan++) {
        struct bytes first = make_image(with_plan), same = make_image(with_plan), second;
        struct dfr_image image;
        assert_int_equal(first.size, same.size);
        assert_memory_equal(first.at, same.at, first.size);
        OK(dfr_image_open(first.at, first.size, functions, 2, &image, error));
        OK(dfr_image_write(&image, &second.at, &second.size, error));
        assert_int_equal(first.size, second.size);
        assert_memory_equal(first.at, second.at, first.size);
        assert_true((image.plan != NULL) == with_plan);
        close_image(&image);
        free(first.at);
        free(same.at);
        free(second.at);
    }
}

static void test_content(void **state)
{
    (void)state;
    struct bytes bytes = make_image(true);
    struct dfr_image image;
    char name[64];
    OK(dfr_image_open(bytes.at, bytes.size, functions, 2, &image, error));
    const struct df_graph *g = image.graph;
    assert_string_equal(g->name, "everything");
    df_node_name(g, 4, name, sizeof name);
    assert_string_equal(name, "main/part[-3]#1/change[-3]");
    assert_string_equal(df_graph_string(g, g->class_names[2]), "npu");
    assert_ptr_equal(g->functions[0].cpu, nothing);
    assert_null(g->functions[0].gpu);
    assert_non_null(g->functions[2].cpu); /* the copy brings its own */
    assert_int_equal(g->kernels[0].code_hash[0], 0x1234);
    assert_int_equal(g->params[0].value, 100);
    assert_int_equal(image.source_bytes, 7);
    assert_memory_equal(image.sources, "sources", 7);
    assert_int_equal(image.known_bytes, 5);
    assert_memory_equal(image.known, "times", 5);
    assert_int_equal(image.default_waves, -1);
    assert_string_equal(image.plan->policy, "gp-thesis");
    assert_string_equal(image.plan->run_as, "static");
    assert_int_equal(image.plan->platform.units[0].workers, 3);
    assert_true(image.plan->platform.units[0].memory_bytes_per_s == 2e10);
    assert_int_equal(image.plan->platform.units[0].cores, 5);
    assert_true(image.plan->platform.units[1].handover_s == 4e-5);
    assert_true(image.plan->times.demand[1].bytes_per_s == 5e9 && image.plan->times.demand[1].sensitivity == 0.75);
    assert_true(dfr_times_shared(&image.plan->times, &image.plan->platform));
    assert_true(image.plan->platform.units[1].h2d.bytes_per_s > 11e9);
    assert_int_equal(image.plan->place[3], 1);
    assert_int_equal(image.plan->n_waves, 2);
    assert_int_equal(image.plan->place[image.graph->n_nodes + 3], 0);
    assert_int_equal(image.plan->inflight, 6);
    assert_true(image.plan->load_s == 0.75);
    assert_true(image.plan->priority[0] > 4.5f);
    assert_true(image.plan->predicted_s > 2 && image.plan->best_single_s > 3);
    assert_int_equal(image.plan->pool_bytes[1], 4096);
    assert_int_equal(image.plan->memory[1].scratch_bytes, 8192);
    assert_int_equal(image.plan->layout.by_size_bytes, 12345);
    assert_int_equal(image.plan->layout.any_line[1], 7);
    assert_int_equal(image.plan->layout.sequence_line[1], 9);
    assert_int_equal(image.plan->devices.n, 2 * g->n_values);
    assert_int_equal(image.plan->devices.page[0], DF_NONE);
    assert_int_equal(image.plan->devices.page[g->n_values + 1], 11);
    assert_int_equal((uintptr_t)g->nodes % 64, 0);
    assert_true((const unsigned char *)g->nodes > bytes.at && (const unsigned char *)g->nodes < bytes.at + bytes.size);
    close_image(&image);
    OK(dfr_image_open(bytes.at, bytes.size, NULL, 0, &image, error));
    assert_null(image.graph->functions);
    close_image(&image);
    free(bytes.at);
}

/* ---- wrong images ---- */

static void refuses(const unsigned char *at, size_t size, const char *want)
{
    struct dfr_image image = { .default_waves = 99 };
    struct df_error e = { "" };
    assert_int_equal(dfr_image_open(at, size, functions, 2, &image, &e), DF_E_FORMAT);
    assert_string_equal(e.text, want);
    assert_int_equal(image.default_waves, 99);
}

static void test_headers(void **state)
{
    (void)state;
    struct bytes b = make_image(true);
    refuses(b.at, 7, "image: truncated");
    refuses(b.at, b.size - 1, "image: truncated");
    b.at[0] ^= 1;
    refuses(b.at, b.size, "image: not an image");
    b.at[0] ^= 1;
    b.at[8] ^= 2;
    refuses(b.at, b.size, "image: made by another version");
    b.at[8] ^= 2;
    b.at[12] ^= 3;
    refuses(b.at, b.size, "image: made for another machine");
    b.at[12] ^= 3;
    b.at[32] ^= 1;                      /* the tag of the first section */
    refuses(b.at, b.size, "image: made by another version: section strings");
    b.at[32] ^= 1;
    b.at[32 + 31] ^= 0x40;              /* its count */
    refuses(b.at, b.size, "image: out of range: section strings");
    b.at[32 + 31] ^= 0x40;
    b.at[32 + 24] ^= 1;                 /* bytes of strings, one less or more: then they do not end */
    struct df_error e;
    struct dfr_image image;
    assert_int_equal(dfr_image_open(b.at, b.size, NULL, 0, &image, &e), DF_E_FORMAT);
    b.at[32 + 24] ^= 1;
    memset(b.at + 32 + 32, 0, 8);       /* the next section's offset is at 32 + 40 + 32 */
    refuses(b.at, b.size, "image: no section strings");
    free(b.at);
}

static void test_misaligned(void **state)
{
    (void)state;
    struct bytes b = make_image(false);
    unsigned char *shifted = NULL;
    assert_int_equal(posix_memalign((void **)&shifted, 64, b.size + 64), 0);
    memcpy(shifted + 8, b.at, b.size);
    refuses(shifted + 8, b.size, "image: not aligned to 64 bytes");
    free(shifted);
    free(b.at);
}

static void test_wrong_plan(void **state)
{
    (void)state;
    struct df_graph *g = make_graph();
    struct df_plan *plan = make_plan(g);
    const struct dfr_image image = { .graph = g, .plan = plan, .default_waves = -1 };
    unsigned char *at;
    size_t size;
    struct df_error e;
    plan->place[g->n_nodes + 1] = 7;
    assert_int_equal(dfr_image_write(&image, &at, &size, &e), DF_E_FORMAT);
    assert_string_equal(e.text, "image: the plan is wrong: a node is placed nowhere");
    plan->place[g->n_nodes + 1] = 0;
    plan->times.time_s[0] = -1;
    assert_int_equal(dfr_image_write(&image, &at, &size, &e), DF_E_FORMAT);
    assert_string_equal(e.text, "image: the plan is wrong: a time makes no sense");
    plan->times.time_s[0] = 1;
    for (int i = 0; i < 4; i++) {
        plan->times.demand[0] = (struct df_demand[]){ { -1, 0 }, { INFINITY, 0 }, { 0, 1.5 }, { 0, NAN } }[i];
        assert_int_equal(dfr_image_write(&image, &at, &size, &e), DF_E_FORMAT);
        assert_string_equal(e.text, "image: the plan is wrong: a demand makes no sense");
    }
    plan->times.demand[0] = (struct df_demand){ 0, 0 };
    plan->platform.units[0].memory_bytes_per_s = -1;
    assert_int_equal(dfr_image_write(&image, &at, &size, &e), DF_E_FORMAT);
    assert_string_equal(e.text, "image: the plan is wrong: its platform makes no sense");
    plan->platform.units[0].memory_bytes_per_s = 2e10;
    plan->layout.any_line[1] = (1u << 30) / DF_LINE_BYTES;
    assert_int_equal(dfr_image_write(&image, &at, &size, &e), DF_E_FORMAT);
    assert_string_equal(e.text, "image: the plan is wrong: a token lies outside its memory");
    plan->layout.any_line[1] = 0;
    plan->layout.n_values--;
    assert_int_equal(dfr_image_write(&image, &at, &size, &e), DF_E_FORMAT);
    plan->layout.n_values++;
    plan->devices.page[2] = (1u << 30) / DF_PAGE_BYTES;
    assert_int_equal(dfr_image_write(&image, &at, &size, &e), DF_E_FORMAT);
    assert_string_equal(e.text, "image: the plan is wrong: a token lies outside its memory");
    plan->devices.page[2] = 0;
    plan->devices.n--;
    assert_int_equal(dfr_image_write(&image, &at, &size, &e), DF_E_FORMAT);
    plan->devices.n++;
    plan->n_nodes--;
    assert_int_equal(dfr_image_write(&image, &at, &size, &e), DF_E_FORMAT);
    assert_string_equal(e.text, "image: the plan is wrong: it was made for another graph");
    dfr_plan_free(plan);
    df_graph_free(g);
}

/* Opens what may be anything. What is accepted must be safe to walk: names of all nodes, all strings of the plan. */
static bool try_open(struct bytes b)
{
    struct dfr_image image;
    struct df_error e = { "" };
    char name[256];
    int rc = dfr_image_open(b.at, b.size, functions, 2, &image, &e);
    if (rc != DF_OK) {
        assert_true(rc == DF_E_FORMAT && e.text[0]);
        return false;
    }
    if (!df_graph_check(image.graph, &e))
        fail_msg("%s", e.text);
    size_t length = strlen(image.graph->name);
    for (uint32_t v = 0; v < image.graph->n_nodes; v++)
        length += df_node_name(image.graph, v, name, sizeof name);
    if (image.plan)
        for (uint64_t i = 0; i < (uint64_t)image.graph->n_nodes * image.plan->n_waves; i++)
            length += strlen(image.plan->platform.units[image.plan->place[i]].name);
    assert_true(length > 0);
    close_image(&image);
    return true;
}

static void test_each_byte(void **state)
{
    (void)state;
    static const unsigned char flips[] = { 0x01, 0x80, 0xff };
    struct bytes b = make_image(true);
    unsigned accepted = 0, refused = 0;
    for (size_t i = 0; i < b.size; i++)
        for (unsigned f = 0; f < 3; f++) {
            b.at[i] ^= flips[f];
            if (try_open(b))
                accepted++;
            else
                refused++;
            b.at[i] ^= flips[f];
        }
    print_message("%zu bytes: %u mutations refused, %u harmless\n", b.size, refused, accepted);
    assert_true(refused > 1000);
    assert_true(try_open(b));
    free(b.at);
}

static void test_many_bytes(void **state)
{
    (void)state;
    struct bytes b = make_image(true);
    unsigned char *copy = malloc(b.size);
    memcpy(copy, b.at, b.size);
    uint64_t seed = 12345;
    for (unsigned round = 0; round < 5000; round++) {
        for (unsigned i = 0; i < 2 + round % 7; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            static const unsigned char values[] = { 0, 1, 2, 0x7f, 0xff, 0x40, 3, 5 };
            b.at[32 + (seed >> 20) % (b.size - 32)] = values[seed >> 60 & 7];
        }
        try_open(b);
        memcpy(b.at, copy, b.size);
    }
    free(copy);
    free(b.at);
}

static void test_truncations(void **state)
{
    (void)state;
    struct bytes b = make_image(true);
    for (size_t size = 0; size < b.size; size += size < 4096 ? 1 : 97) {
        struct bytes cut = { NULL, size };
        assert_int_equal(posix_memalign((void **)&cut.at, 64, size ? size : 1), 0);
        memcpy(cut.at, b.at, size);
        assert_false(try_open(cut));
        free(cut.at);
    }
    free(b.at);
}

/* ---- times and platform ---- */

static void test_times(void **state)
{
    (void)state;
    struct df_graph *g = make_graph();
    struct df_times times;
    uint32_t n = g->n_works, source = g->nodes[0].work, copy = g->nodes[1].work, change = g->nodes[2].work;
    OK(dfr_times_default(g, false, &times, error));
    assert_int_equal(times.n_classes, 3);
    assert_true(times.time_s[source] > 0.9e-3 && times.time_s[source] < 1.1e-3);
    assert_int_equal(times.source[source], DF_TIME_COST);
    assert_true(isnan(times.time_s[n + source]));
    assert_int_equal(times.source[n + source], DF_TIME_NONE);
    assert_true(times.time_s[2 * n + source] > 0.4);
    double want = 2e-6 + (800 + 800) / 4e9; /* read and written */
    assert_true(fabs(times.time_s[change] - want) < 1e-12 && fabs(times.time_s[n + change] - want / 8) < 1e-12);
    assert_int_equal(times.source[change], DF_TIME_DEFAULT);
    assert_true(isnan(times.time_s[2 * n + change]));
    assert_true(fabs(times.time_s[2 * n + copy] - want / 8) < 1e-12);
    dfr_times_free(&times);
    assert_int_equal(dfr_work_classes(g, source, false), 5);
    assert_int_equal(dfr_work_classes(g, source, true), 7);
    assert_int_equal(dfr_work_classes(g, change, false), 3);
    assert_int_equal(dfr_work_classes(g, copy, false), 7);
    OK(dfr_times_default(g, true, &times, error));
    assert_true(times.time_s[n + source] > 0.9e-3 && times.time_s[n + source] < 1.1e-3);
    assert_int_equal(times.source[n + source], DF_TIME_COST);
    dfr_times_free(&times);
    df_graph_free(g);
}

static void test_platform(void **state)
{
    (void)state;
    struct df_platform p;
    df_platform_default(&p, 2);
    assert_int_equal(p.n_units, 3);
    assert_true(p.units[0].workers >= 1);
    assert_string_equal(p.units[2].name, "gpu1");
    assert_int_equal(p.units[2].cls, DF_CLASS_GPU);
    assert_true(fabs(df_link_time_s(&p.units[1].h2d, 12000000) - 1010e-6) < 1e-9);
    df_platform_default(&p, 1000);
    assert_int_equal(p.n_units, DF_MAX_UNITS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_content),    cmocka_unit_test(test_headers),
        cmocka_unit_test(test_misaligned), cmocka_unit_test(test_wrong_plan), cmocka_unit_test(test_each_byte),
        cmocka_unit_test(test_many_bytes), cmocka_unit_test(test_truncations), cmocka_unit_test(test_times),
        cmocka_unit_test(test_platform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
