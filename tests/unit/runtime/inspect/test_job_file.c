/* test_job_file.c - recorded jobs are read as they were written; files that are damaged are refused, or read within their bytes if their digest was made to fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/bytes.h"
#include "runtime/base/intern.h"
#include "runtime/inspect/job_file.h"
#include "long.h"

#define HEAD 16                         /* the magic number and the digest */

static const float before[6] = { 1, 2, 3, 4, 5, 6 }, after[6] = { 2, 4, 6, 8, 10, 12 };
static char path[] = "/tmp/test_job_file_XXXXXX";
static volatile uint64_t seen;          /* so that what is read is read */

static void write_one(void)
{
    struct dfr_job_port ports[] = {
        { "v", DF_INOUT, DF_F32, 2, { DFR_JOB_THERE, { 2, 3 }, before, sizeof before }, { DFR_JOB_THERE, { 2, 3 }, after, sizeof after } },
        { "u", DF_IN, DF_U8, 1, { DFR_JOB_EMPTY, { 0 }, NULL, 0 }, { DFR_JOB_NONE, { 0 }, NULL, 0 } },
    };
    struct dfr_job_value args[] = { { "path", DF_S_STR, { .str = "in put.png" } }, { "by", DF_S_F32, { .f32 = 0.1f } } }, dims[] = { { "w", DF_S_I64, { .i64 = 3 } } };
    const struct dfr_job job = { .program = "/bin/app", .source = "/src/app.df", .node = "main/bump", .kernel = "bump", .variant = "emu", .wave = 7,
                                 .code = DF_FAILED, .message = "no luck", .code_hash = { 1, UINT64_MAX }, .has_state = true, .state = "abc", .state_bytes = 3,
                                 .lists = { [DFR_JOB_ARGS] = { args, 2 }, [DFR_JOB_DIMS] = { dims, 1 } }, .ports = ports, .n_ports = 2 };
    struct df_error error;
    assert_int_equal(dfr_job_write(&job, path, &error), DF_OK);
}

static size_t read_bytes(unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, size, file);
    fclose(file);
    return n;
}

static int read_changed(const unsigned char *bytes, size_t n, struct df_error *error)
{
    struct dfr_job job;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(bytes, 1, n, file);
    fclose(file);
    const int status = dfr_job_read(path, &job, error);
    for (uint32_t p = 0; status == DF_OK && p < job.n_ports; p++) /* all that is said to be there can be read */
        seen += dfr_hash(dfr_hash(seen, job.ports[p].got.data, job.ports[p].got.bytes), job.ports[p].name, strlen(job.ports[p].name));
    dfr_job_free(&job);
    return status;
}

static void test_round_trip(void **state)
{
    struct dfr_job job;
    struct df_error error;
    (void)state;
    write_one();
    assert_int_equal(dfr_job_read(path, &job, &error), DF_OK);
    assert_string_equal(job.program, "/bin/app");
    assert_string_equal(job.source, "/src/app.df");
    assert_string_equal(job.node, "main/bump");
    assert_string_equal(job.kernel, "bump");
    assert_string_equal(job.variant, "emu");
    assert_string_equal(job.message, "no luck");
    assert_int_equal(job.wave, 7);
    assert_int_equal(job.code, DF_FAILED);
    assert_true(job.code_hash[0] == 1 && job.code_hash[1] == UINT64_MAX);
    assert_int_equal(job.lists[DFR_JOB_ARGS].n, 2);
    assert_string_equal(job.lists[DFR_JOB_ARGS].items[0].value.str, "in put.png");
    assert_true(job.lists[DFR_JOB_ARGS].items[1].value.f32 == 0.1f);
    assert_int_equal(job.lists[DFR_JOB_PARAMS].n, 0);
    assert_int_equal(job.lists[DFR_JOB_DIMS].items[0].value.i64, 3);
    assert_true(job.has_state && job.state_bytes == 3 && memcmp(job.state, "abc", 3) == 0);
    assert_int_equal(job.n_ports, 2);
    assert_true(job.ports[0].mode == DF_INOUT && job.ports[0].elem == DF_F32 && job.ports[0].rank == 2);
    assert_int_equal(job.ports[0].got.extents[1], 3);
    assert_memory_equal(job.ports[0].got.data, before, sizeof before);
    assert_memory_equal(job.ports[0].made.data, after, sizeof after);
    assert_true(job.ports[1].got.is == DFR_JOB_EMPTY && job.ports[1].made.is == DFR_JOB_NONE);
    dfr_job_free(&job);
}

static void test_damaged(void **state)
{
    unsigned char bytes[4096];
    struct df_error error;
    (void)state;
    write_one();
    const size_t n = read_bytes(bytes, sizeof bytes);
    assert_true(n > HEAD && n < sizeof bytes);
    for (size_t cut = 0; cut < n; cut += IN_LONG(1, 7))
        assert_int_equal(read_changed(bytes, cut, &error), DF_E_FORMAT);
    for (size_t at = 0; at < n; at += IN_LONG(1, 7)) {
        bytes[at] ^= 1u << at % 8;
        assert_int_equal(read_changed(bytes, n, &error), DF_E_FORMAT);
        bytes[at] ^= 1u << at % 8;
    }
    bytes[6]++;                         /* the version */
    assert_int_equal(read_changed(bytes, n, &error), DF_E_FORMAT);
    assert_non_null(strstr(error.text, "was written by another version of dfc (format 2, and 1 is expected)"));
}

/* Every byte in turn becomes other bytes, with the digest of what is there then. */
static void test_hostile(void **state)
{
    static const unsigned char values[] = { 0, 1, 2, 3, 4, 5, 127, 128, 255 };
    unsigned char bytes[4096];
    struct df_error error;
    unsigned refused = 0, read = 0;
    (void)state;
    write_one();
    const size_t n = read_bytes(bytes, sizeof bytes);
    for (size_t at = HEAD; at < n; at += IN_LONG(1, 3))
        for (size_t i = 0; i < sizeof values; i += IN_LONG(1, 4)) {
            const unsigned char was = bytes[at];
            struct dfr_bytes_writer digest = { bytes + 8, 0 };
            bytes[at] = values[i];
            dfr_bytes_put_number(&digest, dfr_hash(0, bytes + HEAD, n - HEAD));
            const int status = read_changed(bytes, n, &error);
            assert_true(status == DF_OK || status == DF_E_FORMAT);
            read += status == DF_OK;
            refused += status != DF_OK;
            bytes[at] = was;
        }
    assert_true(refused > 50 && read > 50);
}

static int begin(void **state)
{
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damaged), cmocka_unit_test(test_hostile) };
    return cmocka_run_group_tests(tests, begin, end);
}
