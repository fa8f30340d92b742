/* test_times.c - which time of a work counts: its cost, its sample, a stand-in, the stated default. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiles/profiles.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/expr.h"
#include "db_rig.h"
#include "temp_folder.h"

static int never(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                 const union df_scalar *scalars)
{
    (void)stream, (void)dims, (void)ports, (void)scalars;
    return df_fail(call, "not to be run");
}

/* Works in order: "plain" of 64 and of 128, "priced" of 64 (costs on both classes), "seeded" with the scalar 2 *
 * arg. */
static struct df_graph *make_graph(uint64_t plain_hash, bool arg_has_default)
{
    static const struct df_port_desc ports[] = { { "v", DF_OUT, DF_F32, 1 } };
    static const struct df_scalar_desc scalars[] = { { "seed", DF_S_I32 } };
    static const char *const dims[] = { "k" };
    static const double costs[] = { 1e-3, 2e-4 };
    struct df_builder *b = df_builder_new("times");
    uint32_t kernels[3], scalar, node;
    const char *const names[] = { "plain", "priced", "seeded" };
    for (unsigned i = 0; i < 3; i++) {
        struct df_kernel_desc desc = { .name = names[i],
                                       .n_dims = 1,
                                       .dims = dims,
                                       .n_ports = 1,
                                       .ports = ports,
                                       .n_scalars = i == 2,
                                       .scalars = scalars,
                                       .functions = { .cpu = never, .gpu = never } };
        struct df_kernel_info info = { .code_classes = 3,
                                       .cost_classes = i == 1 ? 3 : 0,
                                       .code_hash = { plain_hash, 99 } };
        assert_int_equal(df_builder_kernel(b, &desc, &kernels[i], NULL), DF_OK);
        assert_int_equal(df_builder_kernel_info(b, kernels[i], &info, NULL), DF_OK);
    }
    union df_scalar three = { .i32 = 3 };
    const uint64_t code[] = { DF_X_ARG, 0, DF_X_INT, 2, DF_X_MUL };
    assert_int_equal(df_builder_arg(b, "seed", DF_S_I32, arg_has_default, three, NULL, NULL), DF_OK);
    assert_int_equal(df_builder_expression(b, DF_S_I32, code, 5, &scalar, NULL), DF_OK);
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t size[] = { i == 1 ? 128 : 64 };
        const uint64_t port_dims[1][DF_MAX_RANK] = { { size[0] } };
        struct df_node_desc desc = { .kernel = kernels[i < 2 ? 0 : i - 1],
                                     .dims = size,
                                     .port_dims = port_dims,
                                     .hint_class = -1,
                                     .scalars = &scalar,
                                     .cost_s = i == 2 ? costs : NULL,
                                     .n_cost = i == 2 ? 2 : 0 };
        assert_int_equal(df_builder_node_desc(b, &desc, &node, NULL), DF_OK);
    }
    struct df_graph *graph;
    struct df_error error = { "" };
    if (df_builder_finish(b, &graph, &error) != DF_OK)
        fail_msg("%s", error.text);
    df_builder_free(b);
    return graph;
}

static uint32_t work_of(const struct df_graph *g, const char *kernel, uint64_t size)
{
    for (uint32_t w = 0; w < g->n_works; w++) {
        if (strcmp(df_graph_string(g, g->kernels[g->works[w].kernel].name), kernel) == 0 &&
            g->dims[g->works[w].first_dim] == size)
            return w;
    }
    fail_msg("no work %s", kernel);
    return 0;
}

static void store(struct dfw_db *db, const struct df_graph *g, uint32_t work, uint32_t cls, const char *device,
                  bool emulated, double mean_s)
{
    struct dfw_key key = { .device = device, .variant = cls == DF_CLASS_GPU ? "gpu" : "cpu" };
    struct dfr_sample sample = { .mean_s = mean_s, .ci_s = 1e-3 * mean_s, .runs = 10 };
    assert_int_equal(dfr_work_key_make(g, work, cls, emulated, &key.work, NULL), DF_OK);
    assert_int_equal(dfw_sample_store(db, &key, &sample, NULL), DF_OK);
    dfr_work_key_free(&key.work);
}

static double time_of(const struct df_times *t, uint32_t cls, uint32_t work, uint8_t *source)
{
    *source = t->source[(size_t)cls * t->n_works + work];
    return t->time_s[(size_t)cls * t->n_works + work];
}

static void the_best_known_time_counts(void **state)
{
    (void)state;
    struct df_graph *g = make_graph(7, true), *edited = make_graph(8, true);
    uint32_t small = work_of(g, "plain", 64), large = work_of(g, "plain", 128), priced = work_of(g, "priced", 64);
    struct df_times t;
    struct dfw_db *db;
    uint8_t source;
    assert_int_equal(dfw_db_open(temp_file, true, &db, NULL), DF_OK);
    store(db, g, small, DF_CLASS_CPU, "cpu", false, 5e-3);
    store(db, g, small, DF_CLASS_GPU, "Some GPU", false, 6e-4);
    store(db, g, large, DF_CLASS_GPU, DFW_EMULATOR, true, 7e-3);
    store(db, g, priced, DF_CLASS_CPU, "cpu", false, 0.5); /* a cost overrides it */

    assert_int_equal(times_from_db(db, g, "Some GPU", &t), DF_OK);
    assert_true(time_of(&t, 0, small, &source) == 5e-3 && source == DF_TIME_MEASURED);
    assert_true(time_of(&t, 1, small, &source) == 6e-4 && source == DF_TIME_MEASURED);
    assert_true(time_of(&t, 0, priced, &source) == 1e-3 && source == DF_TIME_COST);
    assert_true(time_of(&t, 1, priced, &source) == 2e-4 && source == DF_TIME_COST);
    /* twice the bytes of the small one; what the emulator took says nothing about this device */
    assert_true(fabs(time_of(&t, 0, large, &source) - 1e-2) < 1e-4 && source == DF_TIME_ESTIMATED);
    assert_true(fabs(time_of(&t, 1, large, &source) - 1.2e-3) < 1e-5 && source == DF_TIME_ESTIMATED);
    dfr_times_free(&t);

    assert_int_equal(times_from_db(db, g, DFW_EMULATOR, &t), DF_OK);
    assert_true(time_of(&t, 1, large, &source) == 7e-3 && source == DF_TIME_MEASURED);
    /* it would run the cpu's code */
    assert_true(time_of(&t, 1, small, &source) == 5e-3 && source == DF_TIME_ESTIMATED);
    dfr_times_free(&t);

    assert_int_equal(times_from_db(db, edited, "Some GPU", &t), DF_OK);
    time_of(&t, 0, work_of(edited, "plain", 64), &source);
    assert_int_equal(source, DF_TIME_DEFAULT); /* an edited kernel: the hash of its cpu variant is another */
    time_of(&t, 1, work_of(edited, "plain", 64), &source);
    assert_int_equal(source, DF_TIME_MEASURED); /* its gpu variant is the same */
    time_of(&t, 0, work_of(edited, "plain", 128), &source);
    assert_int_equal(source, DF_TIME_DEFAULT);
    time_of(&t, 1, work_of(edited, "seeded", 64), &source);
    assert_int_equal(source, DF_TIME_DEFAULT); /* a kernel that nobody measured */
    dfr_times_free(&t);
    dfw_db_close(db);
    df_graph_free(g);
    df_graph_free(edited);
}

/* On a machine without a GPU the cpu's time says how long a GPU takes only by the stated ratio, and that is a default. Samples of the
 * emulator count for nobody who does not ask for it. */
static void a_profile_of_the_cpu_leaves_the_gpu_unknown(void **state)
{
    (void)state;
    struct df_graph *g = make_graph(7, true);
    uint32_t small = work_of(g, "plain", 64), large = work_of(g, "plain", 128);
    struct df_times t;
    struct dfw_db *db;
    uint8_t source;
    if (dfw_machine_gpu())
        skip();
    assert_int_equal(unlink(temp_file), 0);
    assert_int_equal(dfw_db_open(temp_file, true, &db, NULL), DF_OK);
    store(db, g, small, DF_CLASS_CPU, "cpu", false, 8e-3);
    store(db, g, small, DF_CLASS_GPU, DFW_EMULATOR, true, 9e-3);
    assert_int_equal(times_from_db(db, g, NULL, &t), DF_OK);
    assert_true(time_of(&t, 0, small, &source) == 8e-3 && source == DF_TIME_MEASURED);
    assert_true(time_of(&t, 1, small, &source) == 1e-3 && source == DF_TIME_DEFAULT);
    assert_true(fabs(time_of(&t, 1, large, &source) - 2e-3) < 1e-5 && source == DF_TIME_DEFAULT);
    dfr_times_free(&t);
    assert_int_equal(times_from_db(db, g, DFW_EMULATOR, &t), DF_OK);
    assert_true(time_of(&t, 1, small, &source) == 9e-3 && source == DF_TIME_MEASURED);
    dfr_times_free(&t);
    dfw_db_close(db);
    df_graph_free(g);
}

static void no_database_gives_defaults(void **state)
{
    (void)state;
    struct df_graph *g = make_graph(7, true);
    struct df_times t;
    uint8_t source;
    assert_int_equal(times_from_db(NULL, g, NULL, &t), DF_OK);
    assert_true(time_of(&t, 0, work_of(g, "plain", 64), &source) > 0);
    assert_int_equal(source, DF_TIME_DEFAULT);
    assert_true(time_of(&t, 0, work_of(g, "priced", 64), &source) == 1e-3);
    dfr_times_free(&t);
    df_graph_free(g);
}

static void keys_say_what_was_measured(void **state)
{
    (void)state;
    struct df_graph *g = make_graph(7, true), *open = make_graph(7, false);
    struct dfr_work_key key;
    assert_int_equal(dfr_work_key_make(g, work_of(g, "seeded", 64), DF_CLASS_CPU, false, &key, NULL), DF_OK);
    assert_string_equal(key.kernel, "seeded");
    assert_string_equal(key.dims, "k=64");
    assert_string_equal(key.scalars, "seed=6"); /* the arg's default is 3 */
    assert_int_equal(key.hash, 7);
    assert_int_equal(key.job_bytes, 256);
    dfr_work_key_free(&key);
    assert_int_equal(dfr_work_key_make(g, work_of(g, "seeded", 64), DF_CLASS_GPU, false, &key, NULL), DF_OK);
    assert_int_equal(key.hash, 99);
    dfr_work_key_free(&key);
    assert_int_equal(dfr_work_key_make(open, work_of(open, "seeded", 64), DF_CLASS_GPU, true, &key, NULL), DF_OK);
    assert_string_equal(key.scalars, "seed=?");
    assert_int_equal(key.hash, 7);
    dfr_work_key_free(&key);
    df_graph_free(g);
    df_graph_free(open);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_known_time_counts),
        cmocka_unit_test(a_profile_of_the_cpu_leaves_the_gpu_unknown),
        cmocka_unit_test(no_database_gives_defaults),
        cmocka_unit_test(keys_say_what_was_measured),
    };
    return cmocka_run_group_tests_name("times", tests, temp_folder_make, temp_folder_remove);
}
