/* test_output.c - a file that replaces another one is on its way to the disk before it is complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/output.h"

enum { PIECE = 300000, PIECES = 20, MEBIBYTE = 1 << 20 };

/* This is called in place of libc's function: each call goes on where the last one ended. */
static off_t asked;
static int calls;

int sync_file_range(int fd, off_t from, off_t bytes, unsigned flags)
{
    assert_true(fd >= 0);
    assert_int_equal(from, asked);
    assert_int_equal(flags, SYNC_FILE_RANGE_WRITE);
    asked += bytes;
    calls++;
    return 0;
}

static void write_pieces(const char *path)
{
    struct dfr_output output;
    struct df_error error = { "" };
    char *piece = malloc(PIECE);
    assert_non_null(piece);
    memset(piece, 'x', PIECE);
    asked = calls = 0;
    assert_int_equal(dfr_output_open(&output, path, &error), DF_OK);
    for (int i = 0; i < PIECES; i++) {
        assert_int_equal(fwrite(piece, 1, PIECE, output.file), PIECE);
        assert_int_equal(dfr_output_flush(output.file), 0);
        dfr_output_pause(&output);
        dfr_output_resume(&output);
    }
    assert_int_equal(dfr_output_close(&output, true, &error), DF_OK);
    free(piece);
}

static void test_replaced(void **state)
{
    char folder[] = "/tmp/test_output-XXXXXX", path[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    write_pieces(path); /* there was none */
    assert_int_equal(calls, 0);
    write_pieces(path);
    assert_true(asked <= (off_t)PIECE * PIECES && asked > (off_t)PIECE * PIECES - MEBIBYTE);
    assert_true(calls > 1 && calls <= PIECE * PIECES / MEBIBYTE);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* no temporary file is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_replaced) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
