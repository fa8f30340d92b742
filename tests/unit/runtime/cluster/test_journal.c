/* test_journal.c - the journal: cut at every byte of its last record, damaged, another program's, of two processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cluster/journal.h"
#include "tests/rig/temp_folder.h"

#define PROGRAM UINT64_C(0x123456789)

static struct dfr_inputs inputs;        /* one file */
static struct dfr_input input = { "in\nput", 100, 7, false };

static int enter(void **state)
{
    inputs = (struct dfr_inputs){ &input, 1, 1 };
    strcpy(temp_folder, "/dev/shm/dfc-test-XXXXXX"); /* syncing costs nothing there */
    return (!mkdtemp(temp_folder) && temp_folder_make(state)) || chdir(temp_folder);
}

static void write_file(const char *path, const char *text, size_t n)
{
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    assert_int_equal(fwrite(text, 1, n, to), n);
    fclose(to);
}

static size_t read_file(const char *path, char *text, size_t room)
{
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    size_t n = fread(text, 1, room, from);
    fclose(from);
    return n;
}

static void opens(struct dfr_journal *j, bool resume)
{
    struct df_error error = { "" };
    if (dfr_journal_open(j, "j", resume, PROGRAM, &inputs, &error) != DF_OK)
        fail_msg("%s", error.text);
}

static void refused(bool resume, uint64_t program, const char *why)
{
    struct dfr_journal j;
    struct df_error error = { "" };
    assert_int_equal(dfr_journal_open(&j, "j", resume, program, &inputs, &error), DF_E_REFUSED);
    assert_non_null(strstr(error.text, why));
}

static void records(struct dfr_journal *j, int64_t waves, int64_t bytes)
{
    struct df_error error = { "" };
    struct dfr_appended file = { 3, 4, waves, bytes, "o\\ut" };
    if (dfr_journal_done(j, waves, &file, 1, &error) != DF_OK)
        fail_msg("%s", error.text);
}

/* Makes a journal of two records in ./j, and gives its bytes and where the second record begins. */
static size_t make(char *text, size_t room, size_t *second)
{
    struct dfr_journal j;
    write_file("o\\ut.part", "0123456789", 10);
    unlink("j");
    opens(&j, false);
    records(&j, 5, 4);
    *second = (size_t)j.size;
    records(&j, 8, 9);
    dfr_journal_close(&j);
    size_t n = read_file("j", text, room - 1);
    text[n] = '\0';
    return n;
}

static void test_goes_on(void **state)
{
    (void)state;
    char text[4096];
    size_t second;
    struct dfr_journal j;
    make(text, sizeof text, &second);
    opens(&j, true);
    assert_int_equal(j.done, 8);
    assert_int_equal(j.epoch, 2);
    assert_int_equal(j.n, 1);
    assert_int_equal(j.files[0].file.node, 3);
    assert_int_equal(j.files[0].file.bytes, 9);
    assert_int_equal(j.files[0].file.tokens, 8);
    assert_int_equal(j.files[0].file.head_bytes, 4);
    assert_int_equal(j.files[0].from, 4);
    assert_string_equal(j.files[0].file.path, "o\\ut");
    assert_int_equal(dfr_journal_check_files(&j, NULL), DF_OK);
    assert_int_equal(dfr_journal_all(&j, NULL), DF_OK);
    assert_int_equal(dfr_journal_end(&j, NULL), DF_OK);
    dfr_journal_close(&j);
    opens(&j, true);
    assert_true(j.all && j.ended);
    dfr_journal_close(&j);
    opens(&j, false);                   /* it has ended, so a new one may take its place */
    assert_int_equal(j.done, 0);
    assert_int_equal(j.epoch, 1);
    assert_int_equal(j.n, 0);
    dfr_journal_close(&j);
}

/* Every cut within the last record gives the one before, and every cut within the first lines begins anew. */
static void test_cut(void **state)
{
    (void)state;
    char text[4096];
    size_t second, n = make(text, sizeof text, &second);
    for (size_t cut = 0; cut <= n; cut++) {
        struct dfr_journal j;
        write_file("j", text, cut);
        opens(&j, true);
        assert_int_equal(j.done, cut == n ? 8 : cut >= second ? 5 : 0);
        assert_int_equal(j.n, cut >= second);
        assert_int_equal(dfr_journal_check_files(&j, NULL), DF_OK);
        if (cut % 16) {
            dfr_journal_close(&j);
            continue;
        }
        records(&j, 9, 10);             /* and it goes on; syncing takes its time */
        dfr_journal_close(&j);
        opens(&j, true);
        assert_int_equal(j.done, 9);
        dfr_journal_close(&j);
    }
}

/* A byte of the last record that is wrong goes with that record, and so do the last two if the line before them is wrong: a crash may leave that. One
 * before these is damage. */
static void test_damage(void **state)
{
    (void)state;
    char text[4096];
    size_t second, n = make(text, sizeof text, &second), first_done = (size_t)(strstr(text, "\ndone 5 ") - text);
    for (size_t at = 0; at < n; at++) {
        struct dfr_journal j;
        struct df_error error = { "" };
        text[at] ^= 1;
        write_file("j", text, n);
        int status = dfr_journal_open(&j, "j", true, PROGRAM, &inputs, &error);
        if (status == DF_OK) {
            assert_true(at >= first_done);
            assert_int_equal(j.done, at >= second ? 5 : 0);
            dfr_journal_close(&j);
        } else {
            assert_true(at < first_done);
            assert_int_equal(status, DF_E_REFUSED);
            assert_non_null(strstr(error.text, at < 22 ? "is no journal" : "is damaged"));
        }
        text[at] ^= 1;
    }
}

static void test_refused(void **state)
{
    (void)state;
    char text[4096];
    size_t second;
    struct dfr_input other = { "other", 1, 1, false };
    make(text, sizeof text, &second);
    refused(false, PROGRAM, "has not ended, after 8 waves: --resume goes on");
    refused(true, PROGRAM + 1, "is of another program");
    input.bytes++;
    refused(true, PROGRAM, "has changed since");
    input.bytes--;
    inputs.n = 0;
    refused(true, PROGRAM, "which is not there or not read any more");
    inputs = (struct dfr_inputs){ (struct dfr_input[]){ input, other }, 2, 2 };
    refused(true, PROGRAM, "'other' is read now");
    inputs = (struct dfr_inputs){ &input, 1, 1 };
    write_file("j", "my notes\n", 9);
    refused(true, PROGRAM, "is no journal");
    refused(false, PROGRAM, "is no journal");
}

/* What the journal lists has changed. */
static void test_files(void **state)
{
    (void)state;
    char text[4096];
    size_t second;
    struct df_error error = { "" };
    struct dfr_journal j;
    make(text, sizeof text, &second);
    opens(&j, true);
    write_file("o\\ut.part", "01234567x9", 10);
    assert_int_equal(dfr_journal_check_files(&j, &error), DF_E_REFUSED);
    assert_non_null(strstr(error.text, "is not as the run"));
    write_file("o\\ut.part", "0123", 4);
    assert_int_equal(dfr_journal_check_files(&j, &error), DF_E_REFUSED);
    assert_non_null(strstr(error.text, "is shorter"));
    unlink("o\\ut.part");
    assert_int_equal(dfr_journal_check_files(&j, &error), DF_E_IO);
    write_file("o\\ut", "0123456789", 10); /* the run before had renamed it already */
    assert_int_equal(dfr_journal_check_files(&j, &error), DF_OK);
    dfr_journal_close(&j);
}

/* A lock keeps a second process out. If locks do not hold, the first process is told at its next record, and what it writes is not there. */
static void test_fence(void **state)
{
    (void)state;
    struct dfr_journal old, new;
    struct df_error error = { "" };
    char before[4096], after[4096];
    unlink("j");
    opens(&old, false);
    write_file("o\\ut.part", "0123456789", 10);
    refused(true, PROGRAM, "another process is at work");
    close(old.fd);                      /* the lock goes, as on a file system without locks */
    old.fd = open("j", O_RDWR);
    opens(&new, true);
    assert_int_equal(new.epoch, 2);
    records(&new, 3, 4);
    size_t n = read_file("j", before, sizeof before);
    struct dfr_appended file = { 3, 4, 2, 3, "o\\ut" };
    assert_int_equal(dfr_journal_done(&old, 2, &file, 1, &error), DF_E_REFUSED);
    assert_non_null(strstr(error.text, "another process has gone on"));
    assert_int_equal(dfr_journal_end(&old, &error), DF_E_REFUSED);
    assert_int_equal(read_file("j", after, sizeof after), n);
    assert_memory_equal(before, after, n);
    unlink("j");                        /* who removes it fences, too */
    assert_int_equal(dfr_journal_end(&new, &error), DF_E_REFUSED);
    dfr_journal_close(&old);
    dfr_journal_close(&new);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_goes_on), cmocka_unit_test(test_cut), cmocka_unit_test(test_damage),
                                        cmocka_unit_test(test_refused), cmocka_unit_test(test_files), cmocka_unit_test(test_fence) };
    return cmocka_run_group_tests(tests, enter, temp_folder_remove);
}
