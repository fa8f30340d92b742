/* test_platform_text.c - a platform written in the language: exact text, and that the front end reads back what was
 * written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/front/front.h"
#include "profiles/probe/probe_impl.h"

static struct df_platform titan(void)
{
    struct df_platform p = { .name = "titan", .n_units = 2, .n_classes = 2, .class_names = { "cpu", "gpu" } };
    p.units[0] = (struct df_unit){ .name = "host", .workers = 3 };
    p.units[1] = (struct df_unit){ .name = "titan", .cls = 1, .workers = 1, .memory_bytes = 6ull << 30, .engines = 2,
                                   .h2d = { 6e9, 10e-6, 0 }, .d2h = { 5.87654e9, 12.5e-6, 4096 }, .launch_s = 8e-6 };
    return p;
}

static char *text_of(const struct df_platform *p)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(dfw_platform_print_report(out, p, NULL), DF_OK);
    fclose(out);
    return text;
}

static void it_reads_well(void **state)
{
    (void)state;
    struct df_platform p = titan();
    char *text = text_of(&p);
    assert_string_equal(text, "platform titan {\n"
                              "    cpu host { workers = 3; }\n"
                              "    gpu titan { memory = 6 GiB; h2d = 6 GB/s, 10 us; d2h = 5.87654 GB/s, 12.5 us, 4 KiB;"
                              " engines = 2; launch = 8 us; }\n"
                              "}\n");
    free(text);
    p.units[1].registers = DF_REGISTER_YES;
    text = text_of(&p);
    assert_non_null(strstr(text, "launch = 8 us; register = 1; }"));
    free(text);
    p.units[1].handover_s = 41.5e-6;
    text = text_of(&p);
    assert_non_null(strstr(text, "launch = 8 us; handover = 41.5 us; register = 1; }"));
    free(text);
    p.units[1].handover_s = 0;
    p.units[0].memory_bytes_per_s = 2.05e10;
    p.units[0].cores = 4;
    p.units[1].registers = DF_REGISTER_NO;
    text = text_of(&p);
    assert_non_null(strstr(text, "cpu host { workers = 3; bandwidth = 20.5 GB/s; cores = 4; }"));
    assert_non_null(strstr(text, "launch = 8 us; register = 0; }"));
    free(text);
    p.units[0].figures = (struct df_figures){ .bytes_per_s = { 11e9, 20.5e9 }, .flops = { 95.5e9, 48e9 },
                                              .random_s = { 188e-9, 9.5e-9 }, .atomic_s = { 2e-9, 9e-9 } };
    p.units[1].memory_bytes_per_s = 700e9;
    p.units[1].figures.flops[0] = 2e13;
    text = text_of(&p);
    assert_non_null(strstr(text, "bandwidth = 20.5 GB/s, 11 GB/s, 20.5 GB/s; flops = 95.5 / ns, 48 / ns;"
                                 " random = 188 ns, 9.5 ns; atomics = 2 ns, 9 ns; cores = 4; }"));
    assert_non_null(strstr(text, "gpu titan { memory = 6 GiB; bandwidth = 700 GB/s; flops = 20000 / ns; h2d"));
    free(text);
    p.units[1].figures.flops[0] = p.units[1].memory_bytes_per_s = 0;
    df_unit_unify(&p.units[1]);
    text = text_of(&p);
    assert_non_null(strstr(text, "gpu titan { unified = 1; launch = 8 us; }"));
    free(text);
}

static void odd_values_need_no_exponent(void **state)
{
    (void)state;
    struct df_platform p = titan();
    strcpy(p.name, "AMD EPYC(R) 9B14 x2");
    p.units[1].h2d = (struct df_link){ 123.25, 1.5, 1000 };
    p.units[1].d2h = (struct df_link){ 3.2e12, 0, 1ull << 40 };
    p.units[1].memory_bytes = 6000000001;
    p.units[1].launch_s = 1e-20;
    p.units[2] = p.units[1];
    p.units[2].h2d.bytes_per_s = 999999.7e9;
    p.n_units = 3;
    char *text = text_of(&p);
    assert_non_null(strstr(text, "platform AMD_EPYC_R_9B14_x2 {"));
    assert_non_null(strstr(text, "h2d = 123.25 B/s, 1.5 s, 1000 B;"));
    assert_non_null(strstr(text, "d2h = 3200 GB/s, 0 ns, 1024 GiB;"));
    assert_non_null(strstr(text, "memory = 6000000001 B;"));
    assert_non_null(strstr(text, "gpu titan_2 {"));
    assert_non_null(strstr(text, "h2d = 1000000 GB/s, 1.5 s"));
    assert_null(strstr(text, "launch")); /* as if it were 0 */
    assert_null(strstr(text, "e+"));
    assert_null(strstr(text, "e-"));
    free(text);
}

static void names_become_identifiers(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "NVIDIA H200", "NVIDIA_H200" }, { "3090 Ti", "_3090_Ti" }, { "", "x" }, { "---", "x" }, { "a  (b)  ", "a_b" },
        { "\xc3\xa9t\xc3\xa9", "t" }
    };
    char name[48];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dfw_identifier(name, sizeof name, cases[i][0]);
        assert_string_equal(name, cases[i][1]);
    }
    char small[5];
    dfw_identifier(small, sizeof small, "abcdefgh");
    assert_string_equal(small, "abcd");
}

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) <= 1e-5 * fabs(expected));
}

static void read_back(const struct df_platform *p, const struct dfw_probe_report *report)
{
    char path[] = "/tmp/dfc-test-platform-XXXXXX";
    int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");
    assert_int_equal(dfw_platform_print_report(out, p, report), DF_OK);
    fclose(out);
    struct dfl_sink *sink = dfl_sink_new(stderr);
    struct df_platform got;
    bool good = dfc_platform_read(sink, path, NULL, 0, &got);
    dfl_sink_free(sink);
    unlink(path);
    assert_true(good);
    assert_int_equal(got.n_units, p->n_units);
    for (uint32_t u = 0; u < p->n_units; u++) {
        const struct df_unit *a = &got.units[u], *b = &p->units[u];
        for (int i = 0; i < DF_BANDWIDTHS; i++)
            assert_near(a->figures.bytes_per_s[i], b->figures.bytes_per_s[i]);
        for (int i = 0; i < 2; i++) {
            assert_near(a->figures.flops[i], b->figures.flops[i]);
            assert_near(a->figures.random_s[i], b->figures.random_s[i]);
            assert_near(a->figures.atomic_s[i], b->figures.atomic_s[i]);
        }
        assert_near(a->memory_bytes_per_s, b->memory_bytes_per_s);
        assert_int_equal(a->cls, b->cls);
        assert_near(a->peer.bytes_per_s, b->peer.bytes_per_s);
        assert_near(a->peer.latency_s, b->peer.latency_s);
        assert_int_equal(a->workers, b->workers);
        assert_int_equal(a->memory_bytes, b->memory_bytes);
        if (u == 0)
            continue;
        assert_int_equal(a->engines, b->engines);
        assert_int_equal(a->registers, b->registers);
        assert_near(a->launch_s, b->launch_s);
        assert_near(a->h2d.bytes_per_s, b->h2d.bytes_per_s);
        assert_near(a->h2d.latency_s, b->h2d.latency_s);
        assert_int_equal(a->h2d.threshold_bytes, b->h2d.threshold_bytes);
        assert_near(a->d2h.bytes_per_s, b->d2h.bytes_per_s);
        assert_near(a->d2h.latency_s, b->d2h.latency_s);
        assert_int_equal(a->d2h.threshold_bytes, b->d2h.threshold_bytes);
    }
}

static void the_front_end_reads_it_back(void **state)
{
    (void)state;
    struct df_platform p = titan();
    struct dfw_probe_report report = { .n_units = 2,
                                       .h2d = { [1] = { .pinned = 6e9, .staged = 3e9, .registered = 5e9 } },
                                       .d2h = { [1] = { .pinned = 6e9, .staged = 3e9 } } };
    read_back(&p, NULL);
    p.units[1].registers = DF_REGISTER_NO;
    read_back(&p, &report);
    p.units[1].registers = DF_REGISTER_YES;
    p.units[0].memory_bytes = 24105ull << 20;
    p.units[1].h2d.threshold_bytes = 1579;
    p.units[1].memory_bytes = 150754820096;
    read_back(&p, &report);
    p.units[0].memory_bytes_per_s = 24.321e9;
    p.units[0].figures = (struct df_figures){ .bytes_per_s = { 11.5e9, 20.5e9, 24e9 }, .flops = { 95.5e9, 0.5 * 1e9 },
                                              .random_s = { 188.4e-9 }, .atomic_s = { 2e-9, 9.25e-9 } };
    p.units[1].memory_bytes_per_s = 700e9;
    p.units[1].figures = (struct df_figures){ .flops = { 2e13, 4e11 }, .random_s = { 1.5e-6, 1e-10 } };
    read_back(&p, &report);
    p.units[2] = p.units[1];
    p.n_units = 3;
    p.units[1].peer = p.units[2].peer = (struct df_link){ 50e9, 5e-6, 0 };
    read_back(&p, NULL);
    report.n_units = 3;
    report.pairs.link[1][2] = p.units[1].peer;
    read_back(&p, &report);
}

static void pairs_are_reported(void **state)
{
    (void)state;
    struct df_platform p = titan();
    struct dfw_probe_report report = { .n_units = 3 };
    char *text;
    size_t size;
    p.units[2] = p.units[1];
    p.n_units = 3;
    report.pairs.link[2][1] = (struct df_link){ 48.25e9, 9.5e-6, 0 };
    p.units[1].peer = p.units[2].peer = report.pairs.link[2][1];
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(dfw_platform_print_report(out, &p, &report), DF_OK);
    fclose(out);
    assert_non_null(strstr(text, "\n// titan to titan_2: by way of the host\n"
                                 "// titan_2 to titan: 48.25 GB/s, 9.5 us directly\n"));
    free(text);
    for (int i = 0; i < 3; i++) {
        static const char *const words[] = { ", slower than the platform says\n", ", faster than the platform says\n",
                                             ", which the platform leaves out\n" };
        p.units[1].peer = p.units[2].peer = (struct df_link){ i == 0 ? 90e9 : i == 1 ? 30e9 : 0, 9.5e-6, 0 };
        out = open_memstream(&text, &size);
        assert_int_equal(dfw_platform_print_report(out, &p, &report), DF_OK);
        fclose(out);
        assert_non_null(strstr(text, words[i]));
        free(text);
    }
}

static void paths_are_reported(void **state)
{
    (void)state;
    struct df_platform p = titan();
    struct dfw_probe_report report = { .n_units = 2 };
    char *text;
    size_t size;
    report.h2d[1] = (struct dfw_paths){ .pinned = 12e9, .staged = 7e9, .registered = 11.5e9, .pinning = 4e9, .bytes = 16 << 20 };
    report.d2h[1] = (struct dfw_paths){ .pinned = 13e9, .staged = 6.5e9, .bytes = 16 << 20 };
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(dfw_platform_print_report(out, &p, &report), DF_OK);
    fclose(out);
    assert_non_null(strstr(text, "\n// titan h2d of 16 MiB: pinned memory 12 GB/s, pageable memory staged 7 GB/s, "
                                 "registered 11.5 GB/s (registered is faster; registering, once, 4 GB/s)\n"
                                 "// titan d2h of 16 MiB: pinned memory 13 GB/s, pageable memory staged 6.5 GB/s, "
                                 "registering not supported\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_reads_well),
        cmocka_unit_test(odd_values_need_no_exponent),
        cmocka_unit_test(names_become_identifiers),
        cmocka_unit_test(the_front_end_reads_it_back),
        cmocka_unit_test(pairs_are_reported),
        cmocka_unit_test(paths_are_reported),
    };
    return cmocka_run_group_tests_name("platform_text", tests, NULL, NULL);
}
