/* test_output.c - a file that replaces another one is on its way to the disk before it is complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/output.h"
#include "runtime/record/held.h"

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

/* Names that can be guessed, in a folder where another has put links in their places: what the links lead to stays as it is. */
static void test_links(void **state)
{
    char folder[] = "/tmp/test_output-XXXXXX", command[300], path[64], victim[64], room[64];
    struct dfr_output output;
    struct df_error error = { "" };
    struct stat after;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(victim, sizeof victim, "%s/victim/precious", folder);
    snprintf(room, sizeof room, "%s/.dfc-%016x", folder, 7);
    snprintf(command, sizeof command, "cd %s && mkdir victim && echo precious >victim/precious && ln -s victim/precious file.part && ln -s victim .dfc-%016x", folder, 7);
    assert_int_equal(system(command), 0);
    assert_int_equal(dfr_output_continue(&output, path, 0, &error), DF_E_IO);
    assert_non_null(strstr(error.text, "/file.part': it is a link, which may be another's"));
    assert_int_equal(dfr_output_open_in(&output, path, ".dfc-0000000000000007", 3, &error), DF_E_IO);
    assert_non_null(strstr(error.text, "Not a directory"));
    snprintf(path, sizeof path, "%s/", folder);
    dfr_held_sweep(path, 7);
    assert_int_equal(stat(victim, &after), 0);
    assert_int_equal(after.st_size, 9);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_replaced), cmocka_unit_test(test_links) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
