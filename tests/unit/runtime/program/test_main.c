/* test_main.c - df_main() of a program that is made by hand: what it prints on which stream, its exit status, and
 * sizes that are given at run time.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/graph/builder.h"
#include "runtime/base/error.h"
#include "runtime/graph/image.h"

/* ---- the program: source(out v: i32[n]; seed) -> check(in v); check fails at seed 13 ---- */

static int64_t seen_n, seen_seed, runs;

static int source_cpu(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                      const union df_scalar *scalars)
{
    (void)call, (void)stream;
    for (size_t i = 0; i < dims[0]; i++)
        ((int32_t *)ports[0])[i] = scalars[0].i32;
    return DF_OK;
}

static int check_cpu(struct df_call *call, void *stream, const size_t *dims, void *const *ports,
                     const union df_scalar *scalars)
{
    (void)stream, (void)scalars;
    const int32_t *v = ports[0];
    seen_n = (int64_t)dims[0];
    seen_seed = v[dims[0] - 1];
    runs++;
    return v[0] == 13 ? df_fail(call, "unlucky %d", (int)v[0]) : DF_OK;
}

static const struct df_functions functions[] = { { .cpu = source_cpu }, { .cpu = check_cpu } };

static int build(int64_t n, struct df_graph **graph, struct df_error *error)
{
    static const char *const dims[] = { "n" };
    const struct df_port_desc out = { "v", DF_OUT, DF_I32, 1 }, in = { "v", DF_IN, DF_I32, 1 };
    const struct df_scalar_desc seed = { "seed", DF_S_I32 };
    const struct df_kernel_desc source = { .name = "source", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &out,
                                           .n_scalars = 1, .scalars = &seed };
    const struct df_kernel_desc check = { .name = "check", .n_dims = 1, .dims = dims, .n_ports = 1, .ports = &in,
                                          .traits = DF_ORDERED };
    const struct df_kernel_info info = { .file = "g.df", .line = 1, .code_classes = 1 };
    const uint64_t k = (uint64_t)n, port_dims[1][DF_MAX_RANK] = { { k } }, code[] = { 3, 0 }; /* ARG 0 of expr.h */
    uint32_t k0, k1, u, v, scalar;
    struct df_builder *b = df_builder_new("app");
    int rc = df_builder_arg(b, "seed", DF_S_I32, true, (union df_scalar){ .i32 = 1 }, NULL, error);
    rc |= df_builder_param(b, "n", n, NULL, error);
    rc |= df_builder_kernel(b, &source, &k0, error);
    rc |= df_builder_kernel(b, &check, &k1, error);
    rc |= df_builder_kernel_info(b, k0, &info, error);
    rc |= df_builder_kernel_info(b, k1, &info, error);
    rc |= df_builder_expression(b, DF_S_I32, code, 2, &scalar, error);
    struct df_node_desc desc = {
        .kernel = k0, .dims = &k, .port_dims = port_dims, .scalars = &scalar, .hint_class = -1
    };
    rc |= df_builder_node_desc(b, &desc, &u, error);
    desc.kernel = k1;
    rc |= df_builder_node_desc(b, &desc, &v, error);
    rc |= df_builder_connect(b, u, 0, v, 0, error);
    rc |= df_builder_finish(b, graph, error);
    df_builder_free(b);
    return rc;
}

static int remake(const struct dfr_image *old, const struct df_times *old_times, const int64_t *values,
                  size_t n_values, const struct df_made_for *run, struct df_graph **graph, struct df_times *times, struct df_error *error)
{
    assert_null(run);                   /* without a plan nothing is decided at start */
    assert_int_equal(old_times->n_works, old->graph->n_works);
    assert_int_equal(old->source_bytes, 4);
    assert_memory_equal(old->sources, "text", 4);
    assert_int_equal(n_values, old->graph->n_params);
    if (values[0] < 1)
        return dfr_error(error, DF_E_ARGUMENT, "n is %lld", (long long)values[0]);
    int rc = build(values[0], graph, error);
    return rc == DF_OK ? dfr_times_default(*graph, false, times, error) : rc;
}

static int read_platform(const char *path, struct df_platform *platform, struct df_error *error)
{
    if (strcmp(path, "good.platform"))
        return dfr_error(error, DF_E_IO, "cannot read %s", path);
    df_platform_default(platform, 0);
    return DF_OK;
}

static const struct df_replanner replanner = { .make = remake };
static struct df_program program = { .functions = functions, .n_functions = 2 };

static int setup(void **state)
{
    (void)state;
    program_invocation_short_name = "app";
    struct dfr_image image = { .sources = (const unsigned char *)"text", .source_bytes = 4, .default_waves = -1 };
    unsigned char *bytes, *aligned;
    if (build(100, &image.graph, NULL) != DF_OK ||
        dfr_image_write(&image, &bytes, &program.image_bytes, NULL) != DF_OK ||
        posix_memalign((void **)&aligned, 64, program.image_bytes))
        return -1;
    memcpy(aligned, bytes, program.image_bytes);
    program.image = aligned;
    free(bytes);
    df_graph_free(image.graph);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free((void *)program.image);
    return 0;
}

/* ---- running it with stdout and stderr in files ---- */

static char out_text[8192], err_text[8192];

static void read_back(FILE *file, int fd, int saved, char *text, size_t size)
{
    fflush(fd == 1 ? stdout : stderr);
    dup2(saved, fd);
    close(saved);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static int run(const char *first, const char *second)
{
    char *argv[] = { "app", (char *)first, (char *)second, NULL };
    FILE *out = tmpfile(), *err = tmpfile();
    fflush(stdout);
    int saved_out = dup(1), saved_err = dup(2);
    dup2(fileno(out), 1);
    dup2(fileno(err), 2);
    seen_n = seen_seed = runs = 0;
    int status = df_main(1 + (first != NULL) + (second != NULL), argv, &program);
    read_back(out, 1, saved_out, out_text, sizeof out_text);
    read_back(err, 2, saved_err, err_text, sizeof err_text);
    return status;
}

static void test_run(void **state)
{
    (void)state;
    assert_int_equal(run(NULL, NULL), 0);
    assert_int_equal(runs, 1);
    assert_int_equal(seen_n, 100);
    assert_int_equal(seen_seed, 1);
    assert_string_equal(out_text, "");
    assert_string_equal(err_text, "");
    assert_int_equal(run("--seed=7", "--waves=5"), 0);
    assert_int_equal(runs, 5);
    assert_int_equal(seen_seed, 7);
}

static void test_stats(void **state)
{
    (void)state;
    assert_int_equal(run("--stats", NULL), 0);
    assert_string_equal(out_text, "");
    assert_non_null(strstr(err_text, "makespan"));
    assert_non_null(strstr(err_text, "jobs             2\n"));
    assert_int_equal(run("--stats=json", "--waves=2"), 0);
    assert_non_null(strstr(out_text, "\"waves\": 2, \"jobs\": 4, "));
    assert_string_equal(err_text, "");
}

static void test_help(void **state)
{
    (void)state;
    assert_int_equal(run("--help", NULL), 0);
    assert_non_null(strstr(out_text, "Usage: app "));
    assert_string_equal(err_text, "");
    assert_int_equal(runs, 0);
    assert_int_equal(run("--version", NULL), 0);
    assert_memory_equal(out_text, "app, made by dfc ", 17);
}

static void test_failures(void **state)
{
    (void)state;
    assert_int_equal(run("--seed=x", NULL), 2);
    assert_string_equal(err_text, "app: error: --seed: 'x' is not an integer\n");
    assert_int_equal(run("--sede=1", NULL), 2);
    assert_string_equal(err_text, "app: error: unknown option '--sede'; did you mean '--seed'?\n");
    assert_int_equal(run("--seed=13", NULL), 1);
    assert_memory_equal(err_text, "app: error: ", 12);
    assert_non_null(strstr(err_text, "unlucky 13"));
    assert_non_null(strstr(err_text, "main/check"));
    assert_null(strchr(strchr(err_text, '\n') + 1, '\n')); /* once */
}

static void test_platform(void **state)
{
    (void)state;
    program.read_platform = NULL;
    assert_int_equal(run("--platform=good.platform", NULL), 1);
    assert_string_equal(err_text, "app: error: --platform: this program was linked without the reader of platforms\n");
    program.read_platform = read_platform;
    assert_int_equal(run("--platform=bad.platform", NULL), 1);
    assert_string_equal(err_text, "app: error: cannot read bad.platform\n");
    assert_int_equal(run("--platform=good.platform", NULL), 0);
    assert_int_equal(runs, 1);
}

static void test_sizes(void **state)
{
    (void)state;
    program.replanner = NULL;
    assert_int_equal(run("--n=500", NULL), 1);
    assert_string_equal(err_text,
                        "app: error: this program cannot change its sizes: it was linked without the front end\n");
    assert_int_equal(run("--n=100", NULL), 0); /* the size that it was made with needs no replanner */
    assert_int_equal(seen_n, 100);
    program.replanner = &replanner;
    assert_int_equal(run("--n=500", "--seed=3"), 0);
    assert_int_equal(seen_n, 500);
    assert_int_equal(seen_seed, 3);
    assert_int_equal(run("--n=0", NULL), 1);
    assert_string_equal(err_text, "app: error: n is 0\n");
}

static void test_broken_image(void **state)
{
    (void)state;
    size_t whole = program.image_bytes;
    program.image_bytes /= 2;
    assert_int_equal(run(NULL, NULL), 1);
    assert_string_equal(err_text, "app: error: image: truncated\n");
    program.image_bytes = whole;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run),      cmocka_unit_test(test_stats), cmocka_unit_test(test_help),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_platform), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_broken_image),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
