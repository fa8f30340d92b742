/* test_args.c - the command line of a generated program: every option in both forms, every message, --help, and the
 * reports of --stats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/program/args.h"
#include "runtime/graph/builder.h"
#include "runtime/program/run_report.h"
#include "runtime/base/suggest.h"
#include "runtime/base/text.h"

static struct df_graph *graph;

static int setup(void **state)
{
    (void)state;
    struct df_builder *b = df_builder_new("app");
    int rc = df_builder_arg(b, "seed", DF_S_I32, true, (union df_scalar){ .i32 = 1 }, NULL, NULL);
    rc |= df_builder_arg(b, "big", DF_S_I64, true, (union df_scalar){ .i64 = -5 }, "a number", NULL);
    rc |= df_builder_arg(b, "gain", DF_S_F32, true, (union df_scalar){ .f32 = 0.1f }, NULL, NULL);
    rc |= df_builder_arg(b, "eps", DF_S_F64, true, (union df_scalar){ .f64 = 1e-9 }, NULL, NULL);
    rc |= df_builder_arg(b, "mode", DF_S_STR, true, (union df_scalar){ .str = "fast,  then slow" }, "how", NULL);
    rc |= df_builder_arg(b, "input", DF_S_STR, false, (union df_scalar){ .str = NULL },
                         "the picture that is read, with a description so long that it does not fit one line", NULL);
    rc |= df_builder_param(b, "n", 1024, "elements", NULL);
    rc |= df_builder_finish(b, &graph, NULL);
    df_builder_free(b);
    return rc;
}

static int teardown(void **state)
{
    (void)state;
    df_graph_free(graph);
    return 0;
}

#define MAX_WORDS 20

/* Words are separated by '|', so that values may hold spaces. */
static int parse(const char *words, struct dfr_command_line *line, struct df_error *error)
{
    static char buffer[2048];
    char *argv[MAX_WORDS] = { "app" };
    int argc = 1;
    snprintf(buffer, sizeof buffer, "%s", words);
    for (char *word = strtok(buffer, "|"); word; word = strtok(NULL, "|"))
        argv[argc++] = word;
    return dfr_args_parse(graph, (const char *const[]){ "rows", NULL }, argc, argv, line, error);
}

static struct dfr_command_line good(const char *words)
{
    struct dfr_command_line line;
    struct df_error e = { "" };
    if (parse(words, &line, &e) != DF_OK)
        fail_msg("%s: %s", words, e.text);
    return line;
}

static void bad(const char *words, const char *want)
{
    struct dfr_command_line line;
    struct df_error e = { "" };
    assert_int_equal(parse(words, &line, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text, want);
}

/* ---- what is accepted ---- */

static void test_defaults(void **state)
{
    (void)state;
    struct dfr_command_line line = good("--input=x");
    assert_int_equal(line.args[0].i32, 1);
    assert_int_equal(line.args[1].i64, -5);
    assert_true(line.args[2].f32 == 0.1f);
    assert_true(line.args[3].f64 == 1e-9);
    assert_string_equal(line.args[4].str, "fast,  then slow");
    assert_string_equal(line.args[5].str, "x");
    assert_int_equal(line.params[0], 1024);
    assert_false(line.params_changed);
    assert_ptr_equal(line.options.args, line.args);
    assert_int_equal(line.options.waves, -1);
    assert_int_equal(line.options.emu_check, 1);
    assert_int_equal(line.stats, DFR_STATS_NONE);
    dfr_args_free(&line);
}

static void test_options(void **state)
{
    (void)state;
    struct dfr_command_line line =
        good("--input|a b|--policy=ws|--device|emu|--emu-all|--emu-check=off|--gpu-mem|64 MiB|--workers=3|--inflight|2|"
             "--gpu-jobs=4|--waves|100|--pin=off");
    assert_string_equal(line.args[5].str, "a b");
    assert_string_equal(line.options.policy, "ws");
    assert_int_equal(line.options.device, DF_DEVICE_EMU);
    assert_int_equal(line.options.emu_all, 1);
    assert_int_equal(line.options.emu_check, 0);
    assert_int_equal(line.options.gpu_mem_bytes, 64 << 20);
    assert_int_equal(line.options.pin, DF_PIN_OFF);
    assert_int_equal(line.options.workers, 3);
    assert_int_equal(line.options.inflight, 2);
    assert_int_equal(line.options.gpu_jobs, 4);
    assert_int_equal(line.options.waves, 100);
    dfr_args_free(&line);
    line = good("--input=|--platform|p.platform|--stats=json|--trace=t.json|--log=debug");
    assert_string_equal(line.args[5].str, "");
    assert_string_equal(line.platform_path, "p.platform");
    assert_int_equal(line.stats, DFR_STATS_JSON);
    assert_string_equal(line.options.trace_path, "t.json");
    assert_int_equal(line.options.log_level, DF_LOG_DEBUG);
    dfr_args_free(&line);
    line = good("--input=x|--device=emu,opencl");
    assert_int_equal(line.options.also, 1u << DF_DEVICE_EMU | 1u << DF_DEVICE_OPENCL);
    assert_true(line.options.device == DF_DEVICE_EMU || line.options.device == DF_DEVICE_OPENCL);
    dfr_args_free(&line);
    line = good("--input=x|--device=emu,opencl|--device=cuda");
    assert_int_equal(line.options.also, 0);
    assert_int_equal(line.options.device, DF_DEVICE_CUDA);
    dfr_args_free(&line);
    line = good("--input=x|--gpus=opencl0,2,emu13");
    assert_string_equal(line.options.gpu_names, "opencl0,2,emu13");
    assert_true(line.options.gpus == 4);
    dfr_args_free(&line);
    line = good("--input=x|--gpus=63,0,2");
    assert_null(line.options.gpu_names);
    assert_true(line.options.gpus == (UINT64_C(1) << 63 | 5));
    dfr_args_free(&line);
    line = good("--input=x|--gpus=1");
    assert_true(line.options.gpus == 2);
    dfr_args_free(&line);
    line = good("--input=x|--stats");
    assert_int_equal(line.stats, DFR_STATS_TEXT);
    dfr_args_free(&line);
    line = good("--help");              /* needs no --input */
    assert_true(line.help);
    dfr_args_free(&line);
    line = good("-h");
    assert_true(line.help);
    dfr_args_free(&line);
    line = good("--version");
    assert_true(line.version);
    dfr_args_free(&line);
}

static void test_args(void **state)
{
    (void)state;
    struct dfr_command_line line =
        good("--seed|-7|--big=9223372036854775807|--gain=3|--eps|-1e300|--mode=a=b|--input=x|--n=500");
    assert_int_equal(line.args[0].i32, -7);
    assert_true(line.args[1].i64 == INT64_MAX);
    assert_true(line.args[2].f32 == 3.0f);
    assert_true(line.args[3].f64 == -1e300);
    assert_string_equal(line.args[4].str, "a=b");
    assert_int_equal(line.params[0], 500);
    assert_true(line.params_changed);
    dfr_args_free(&line);
    line = good("--input=x|--n=500|--n=1024|--seed=5|--seed=6");
    assert_false(line.params_changed);
    assert_int_equal(line.args[0].i32, 6);
    dfr_args_free(&line);
}

/* ---- what is refused ---- */

static void test_messages(void **state)
{
    (void)state;
    bad("", "--input=str must be given: it has no default");
    bad("--sed=3", "unknown option '--sed'; did you mean '--seed'?");
    bad("--polcy=ws", "unknown option '--polcy'; did you mean '--policy'?");
    bad("--rows=5", "--rows: 'rows' is a compile-time param: compile with 'dfc -D rows=5', or declare it dynamic");
    bad("--rows", "--rows: 'rows' is a compile-time param: compile with 'dfc -D rows=VALUE', or declare it dynamic");
    bad("--nowhere", "unknown option '--nowhere'; --help lists the options");
    bad("file", "unexpected argument 'file'; --help lists the options");
    bad("workers=2", "unexpected argument 'workers=2'; did you mean '--workers=2'?");
    bad("-polcy=ws", "unexpected argument '-polcy=ws'; did you mean '--policy=ws'?");
    bad("stats", "unexpected argument 'stats'; did you mean '--stats'?");
    bad("-w", "unexpected argument '-w'; --help lists the options");
    bad("--", "unexpected argument '--'; --help lists the options");
    bad("-n=5", "unexpected argument '-n=5'; did you mean '--n=5'?");
    bad("-Dn=4", "'-D' is an option of dfc: 'dfc -D NAME=VALUE FILE.df' compiles with another value of a param; args and dynamic params are "
                 "'--NAME=VALUE'");
    bad("--workers", "--workers needs a value");
    bad("--workers|--stats", "--workers needs a value");
    bad("--workers=0", "--workers=0: a whole number from 1 to 256 is expected");
    bad("--workers=257", "--workers=257: a whole number from 1 to 256 is expected");
    bad("--workers=two", "--workers=two: a whole number from 1 to 256 is expected");
    bad("--inflight=-1", "--inflight=-1: a whole number from 1 to 1000000 is expected");
    bad("--gpu-jobs=5000", "--gpu-jobs=5000: 'auto' or a whole number from 1 to 1024 is expected");
    bad("--waves=0", "--waves=0: a whole number from 1 to 9223372036854775807 is expected");
    bad("--waves=1.5", "--waves=1.5: a whole number from 1 to 9223372036854775807 is expected");
    bad("--waves=99999999999999999999", "--waves=99999999999999999999: a whole number from 1 to 9223372036854775807 is expected");
    bad("--device=emu,", "--device=: one of emu, cuda, opencl is expected; 'none' uses the CPU alone, 'cuda' a GPU, 'opencl' a device of OpenCL, 'emu' an emulated one");
    bad("--device=emu,none", "--device=none: one of emu, cuda, opencl is expected; 'none' uses the CPU alone, 'cuda' a GPU, 'opencl' a device of OpenCL, 'emu' an emulated one");
    bad("--device=emu,opencl,emu", "--device=emu,opencl,emu: a kind is named twice");
    bad("--device=tpu", "--device=tpu: one of auto, none, emu, cuda, opencl, sim is expected; 'none' uses the CPU alone, 'cuda' a GPU, 'opencl' a device of OpenCL, 'emu' an emulated one");
    bad("--emu-all=yes", "--emu-all takes no value");
    bad("--help=me", "--help takes no value");
    bad("--emu-check=maybe", "--emu-check=maybe: one of on, off is expected");
    bad("--gpu-mem=lots", "--gpu-mem=lots: a size is expected, such as 512MiB or 6GiB; a number without a unit is in bytes, at least 4096");
    bad("--pin=yes", "--pin=yes: one of auto, on, off is expected");
    bad("--pin=atuo", "--pin=atuo: one of auto, on, off is expected; did you mean 'auto'?");
    bad("--watchdog=soon", "--watchdog=soon: a time is expected, such as 500ms, 30s or 2min");
    bad("--gpus=", "--gpus: '' is not a list of devices; write their numbers with commas, as in 0,2, or names, as in opencl0,emu0");
    bad("--gpus=0,,2", "--gpus: '0,,2' is not a list of devices; write their numbers with commas, as in 0,2, or names, as in opencl0,emu0");
    bad("--gpus=0,", "--gpus: '0,' is not a list of devices; write their numbers with commas, as in 0,2, or names, as in opencl0,emu0");
    bad("--gpus=0-2", "--gpus: '0-2' is not a list of devices; write their numbers with commas, as in 0,2, or names, as in opencl0,emu0");
    bad("--gpus=-1", "--gpus: '-1' is not a list of devices; write their numbers with commas, as in 0,2, or names, as in opencl0,emu0");
    bad("--gpus=0,64", "--gpus: 64 is not between 0 and 63");
    bad("--gpus=99999999999999999999", "--gpus: 99999999999999999999 is not between 0 and 63");
    bad("--gpus=1,2,1", "--gpus: device 1 is named twice");
    bad("--gpus=0|--device=none", "--gpus: no device is opened with --device=none");
    bad("--gpus=0|--device=sim", "--gpus: no device is opened with --device=sim");
    bad("--gpus=0|--rehearse", "--gpus: no device is opened with --rehearse");
    bad("--stats=xml", "--stats: no form 'xml'; there are: json, totals");
    bad("--trace=", "--trace needs a name, and this one is empty");
    bad("--log=loud", "--log=loud: one of error, warning, info, debug is expected");
    bad("--seed=2147483648", "--seed: 2147483648 does not fit in i32");
    bad("--seed= 1", "--seed: ' 1' is not an integer");
    bad("--seed=", "--seed: '' is not an integer");
    bad("--big=9223372036854775808", "--big: 9223372036854775808 does not fit in 64 bits");
    bad("--gain=1e39", "--gain: 1e+39 does not fit in f32");
    bad("--eps=1e999", "--eps: 1e999 does not fit in f64");
    bad("--eps=1,5", "--eps: '1,5' is not a number");
    bad("--n=x", "--n: 'x' is not an integer");
}

static void test_policy(void **state)
{
    (void)state;
    struct dfr_command_line line;
    struct df_error e = { "" };
    assert_int_equal(parse("--policy=nosuch", &line, &e), DF_E_ARGUMENT);
    assert_memory_equal(e.text, "--policy: ", 10);
    assert_non_null(strstr(e.text, "'nosuch'"));
}

static void test_long_words(void **state)
{
    (void)state;
    char word[600] = "--";
    memset(word + 2, 'x', 500);
    struct dfr_command_line line;
    struct df_error e;
    assert_int_equal(parse(word, &line, &e), DF_E_ARGUMENT);
    assert_string_equal(e.text,
                        "unknown option '--xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'; --help lists the options");
}

/* ---- help ---- */

static void test_help(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    dfr_args_help(graph, "app", out);
    fclose(out);
    static const char want[] = "Usage: app [--option[=value] ...]\n"
                               "\n"
                               "Arguments of this graph:\n"
                               "  --seed=i32            default 1\n"
                               "  --big=i64             a number (default -5)\n"
                               "  --gain=f32            default 0.1\n"
                               "  --eps=f64             default 1e-09\n"
                               "  --mode=str            how (default \"fast,  then slow\")\n"
                               "  --input=str           the picture that is read, with a description so long that it does not fit\n"
                               "                        one line (must be given)\n"
                               "\n"
                               "Sizes of this graph:\n"
                               "  --n=i64               elements (default 1024)\n"
                               "\n"
                               "Options:\n"
                               "  --policy=NAME         how jobs get a worker: ";
    assert_true(size > sizeof want);
    assert_memory_equal(text, want, sizeof want - 1);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 100)
            fail_msg("longer than 100 columns: %.*s", (int)strcspn(line, "\n"), line);
    assert_non_null(strstr(text, "\n  --gpu-mem=SIZE        memory to use"));
    assert_non_null(strstr(text, "\n  --evict=auto|lru|belady\n                        what leaves"));
    assert_non_null(strstr(text, "\n  --stats[=json]        print afterwards"));
    assert_non_null(strstr(text, "without devices ws"));
    const char *name;
    for (size_t i = 0; (name = dfr_option_name(i)); i++) {
        char option[64];
        snprintf(option, sizeof option, "\n  --%s", name);
        assert_non_null(strstr(text, option));
    }
    free(text);
}

/* ---- quantities ---- */

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;                 /* 0: refused */
    } cases[] = { { "1", 0 },           { "4096", 4096 },       { "64MiB", 64 << 20 }, { "64 MiB", 64 << 20 },
                  { "1GB", 1000000000 }, { "1.5KiB", 1536 },     { "2kB", 2000 },       { "3B", 3 },
                  { "1TiB", UINT64_C(1) << 40 },                 { "9223372036854775807", INT64_MAX },
                  { "0", 0 },           { "", 0 },              { "MiB", 0 },          { "-1", 0 },
                  { "1.MiB", 0 },       { "1KB", 0 },           { "1 MiB ", 0 },       { "9223372036854775808", 0 },
                  { "99999999999GiB", 0 }, { "99999999999999999999", 0 }, { "0.1", 0 }, { "1e3", 0 },
                  { "12", 0 }, { "4095", 0 }, { "12B", 12 }, { "12 B", 12 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 0;
        assert_int_equal(dfr_parse_size(cases[i].text, &bytes), cases[i].bytes != 0);
        assert_true(bytes == cases[i].bytes);
    }
}

static void test_suggest(void **state)
{
    (void)state;
    struct dfr_suggestion s = { .name = "waces" };
    dfr_suggest(&s, "workers");
    assert_null(s.closest);
    dfr_suggest(&s, "faces");
    dfr_suggest(&s, "waves");           /* it is as close as the first, so the first stays */
    assert_string_equal(s.closest, "faces");
    s = (struct dfr_suggestion){ .name = "WAVES" };
    dfr_suggest(&s, "WAXES");
    dfr_suggest(&s, "waves");           /* letters in the wrong case are one distance: the first stays */
    assert_string_equal(s.closest, "WAXES");
    dfr_suggest(&s, "WAVES");
    assert_string_equal(s.closest, "WAVES");
    s = (struct dfr_suggestion){ .name = "V" };
    dfr_suggest(&s, "w");
    assert_null(s.closest);
    dfr_suggest(&s, "v");
    assert_string_equal(s.closest, "v");
    s = (struct dfr_suggestion){ .name = "x" };
    dfr_suggest(&s, "n");
    assert_null(s.closest);
}

/* ---- reports ---- */

static struct df_stats *make_stats(void)
{
    struct df_stats *s = calloc(1, sizeof *s);
    s->makespan_s = 0.002;
    s->waves = 3;
    s->jobs = 12;
    s->inflight = 2;
    s->passes = 1;
    s->n_workers = 2;
    strcpy(s->workers[0].name, "cpu0");
    s->workers[0].jobs = 9;
    s->workers[0].busy_s = 0.001;
    strcpy(s->workers[1].name, "gpu \"0\"");
    s->workers[1].jobs = 3;
    s->workers[1].busy_s = 0.0005;
    s->n_memories = 1;
    s->memories[0] = (struct df_memory_stats){
        .name = "gpu0", .capacity_bytes = 64 << 20, .peak_bytes = 12 << 20, .scratch_peak_bytes = 8192, .h2d_copies = 6, .h2d_bytes = 3 << 20,
        .d2h_copies = 2, .d2h_bytes = 1024, .hits = 7, .hit_bytes = 7 << 20, .misses = 4, .miss_bytes = 2 << 20,
        .prefetches = 2, .prefetch_bytes = 1 << 20, .evictions = 4, .evicted_bytes = 4 << 20, .writebacks = 1,
        .writeback_bytes = 1 << 20, .evict = "belady", .jobs = 5, .inexact = 1, .replayed = 9,
        .peer_copies = 7, .peer_bytes = 2048, .staged_copies = 3, .staged_bytes = 3 << 10,
        .batches = 2, .batched_copies = 4, .joined_copies = 1 };
    return s;
}

static void report_is(void (*report)(const struct df_stats *, const struct df_graph *, const struct df_node_stats *,
                                     const struct df_node_skips *, FILE *),
                      const struct df_stats *s, const char *want)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    report(s, NULL, NULL, NULL, out);
    fclose(out);
    assert_string_equal(text, want);
    free(text);
}

static void test_report(void **state)
{
    (void)state;
    struct df_stats *s = make_stats();
    report_is(dfr_report_text, s,
              "makespan         2.00 ms\n"
              "waves            3\n"
              "jobs             12\n"
              "waves in flight  2\n"
              "\n"
              "worker         jobs        busy  busy %\n"
              "cpu0              9     1.00 ms    50.0\n"
              "gpu \"0\"           3      500 us    25.0\n"
              "\n"
              "memory       pool       peak     to it      bytes   from it      bytes  jobs  replayed\n"
              "gpu0     64.0 MiB   12.0 MiB         6   3.00 MiB         2   1.00 KiB     5         9\n"
              "gpu0: results of formulas may differ from the CPU's in the last bits (--inexact)\n"
              "gpu0: 3 copies (3.00 KiB) went through pinned memory, because the host's is not pinned\n"
              "gpu0: 4 copies went in 2 batches (1 joined to a neighbour)\n"
              "gpu0 sent 7 tokens (2.00 KiB) to other devices directly\n"
              "\n"
              "memory   evict       hits      bytes     misses      bytes      ahead      bytes  evictions      bytes  "
              "write-backs      bytes\n"
              "gpu0    belady          7   7.00 MiB          4   2.00 MiB          2   1.00 MiB          4   4.00 MiB  "
              "          1   1.00 MiB\n");
    report_is(dfr_report_json, s,
              "{\"makespan_s\": 0.002, \"waves\": 3, \"jobs\": 12, \"inflight\": 2, \"passes\": 1, \"workers\": ["
              "{\"name\": \"cpu0\", \"jobs\": 9, \"busy_s\": 0.001}, "
              "{\"name\": \"gpu \\\"0\\\"\", \"jobs\": 3, \"busy_s\": 0.0005}], \"memories\": ["
              "{\"name\": \"gpu0\", \"capacity_bytes\": 67108864, \"peak_bytes\": 12582912, \"scratch_peak_bytes\": 8192, "
              "\"h2d_copies\": 6, \"h2d_bytes\": 3145728, \"d2h_copies\": 2, \"d2h_bytes\": 1024, "
              "\"peer_copies\": 7, \"peer_bytes\": 2048, \"staged_copies\": 3, \"staged_bytes\": 3072, \"batches\": 2, \"batched_copies\": 4, "
              "\"joined_copies\": 1, \"evictions\": 4, "
              "\"writebacks\": 1, \"jobs\": 5, \"replayed\": 9, \"inexact\": 1, \"evict\": \"belady\", "
              "\"hits\": 7, \"hit_bytes\": 7340032, \"misses\": 4, \"miss_bytes\": 2097152, \"prefetches\": 2, "
              "\"prefetch_bytes\": 1048576, \"evicted_bytes\": 4194304, \"writeback_bytes\": 1048576}]}\n");
    s->n_memories = s->n_workers = 0;
    report_is(dfr_report_json, s,
              "{\"makespan_s\": 0.002, \"waves\": 3, \"jobs\": 12, \"inflight\": 2, \"passes\": 1, \"workers\": [], "
              "\"memories\": []}\n");
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_options),    cmocka_unit_test(test_args),
        cmocka_unit_test(test_messages), cmocka_unit_test(test_policy),     cmocka_unit_test(test_long_words),
        cmocka_unit_test(test_help),     cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_suggest),  cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
