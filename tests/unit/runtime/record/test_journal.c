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

#include "runtime/base/intern.h"
#include "runtime/record/journal.h"
#include "tests/rig/temp_folder.h"

#define PROGRAM UINT64_C(0x123456789)

static struct dfr_inputs inputs;        /* one file */
static struct dfr_facts facts;
static bool accept;
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

static int open_as(struct dfr_journal *j, bool resume, uint64_t program, struct df_error *error)
{
    return dfr_journal_open(j, "j", &(struct dfr_journal_run){ resume, accept, program, &inputs, &facts, 0 }, error);
}

static void opens(struct dfr_journal *j, bool resume)
{
    struct df_error error = { "" };
    if (open_as(j, resume, PROGRAM, &error) != DF_OK)
        fail_msg("%s", error.text);
}

static void refused(bool resume, uint64_t program, const char *why)
{
    struct dfr_journal j;
    struct df_error error = { "" };
    assert_int_equal(open_as(&j, resume, program, &error), DF_E_REFUSED);
    if (!strstr(error.text, why))
        fail_msg("%s", error.text);
}

static struct dfr_written appended(int64_t tokens, int64_t bytes)
{
    return (struct dfr_written){ .path = "o\\ut", .appended = true, .node = 3, .wave = -1, .head_bytes = 4, .tokens = tokens, .bytes = bytes };
}

static void records(struct dfr_journal *j, int64_t waves, int64_t bytes)
{
    struct df_error error = { "" };
    struct dfr_written file = appended(waves, bytes);
    if (dfr_journal_done(j, waves, &(struct dfr_written_list){ &file, 1, 1 }, &error) != DF_OK)
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
    assert_int_equal(j.files.n, 1);
    assert_int_equal(j.files.items[0].node, 3);
    assert_int_equal(j.files.items[0].bytes, 9);
    assert_int_equal(j.files.items[0].tokens, 8);
    assert_int_equal(j.files.items[0].head_bytes, 4);
    assert_int_equal(j.files.items[0].from, 4);
    assert_string_equal(j.files.items[0].path, "o\\ut");
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
    assert_int_equal(j.files.n, 0);
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
        assert_int_equal(j.files.n, cut >= second);
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
        int status = open_as(&j, true, PROGRAM, &error);
        if (status == DF_OK) {
            assert_true(at >= first_done);
            assert_int_equal(j.done, at >= second ? 5 : 0);
            dfr_journal_close(&j);
        } else {
            assert_true(at < first_done);
            assert_int_equal(status, DF_E_REFUSED);
            assert_non_null(strstr(error.text, at < 22 && at != 12 ? "is no journal" : "is damaged"));
        }
        text[at] ^= 1;
    }
}

/* What differs is named; kinds that nobody knows yet, too. */
static void test_facts(void **state)
{
    struct dfr_journal j;
    struct dfr_facts now = { 0 };
    (void)state;
    unlink("j");
    assert_true(dfr_fact_read(&facts, "arg us 3000") && dfr_fact_read(&facts, "arg name two words\\nand a line") && dfr_fact_read(&facts, "arg empty ") &&
                dfr_fact_read(&facts, "kernel work 0123") && dfr_fact_read(&facts, "kernel gone 1") && dfr_fact_read(&facts, "compiler cc 12"));
    assert_false(dfr_fact_read(&facts, "arg"));
    assert_false(dfr_fact_read(&facts, "arg us"));
    opens(&j, true);
    write_file("o\\ut.part", "0123456789", 10);
    records(&j, 5, 4);
    dfr_journal_close(&j);
    opens(&j, true);                    /* the same facts, and the hash */
    dfr_journal_close(&j);
    refused(true, PROGRAM + 1, "is of another program: its nodes, their order or their constants differ");
    now = facts;
    facts = (struct dfr_facts){ 0 };
    assert_true(dfr_fact_read(&facts, "arg us 1") && dfr_fact_read(&facts, "arg name two words\\nand a line") && dfr_fact_read(&facts, "arg new 0") &&
                dfr_fact_read(&facts, "kernel work 4567") && dfr_fact_read(&facts, "compiler cc 12"));
    refused(true, PROGRAM + 1, "is of another run: --us was '3000', and is '1' now; --empty is not there any more; --new was not there; if");
    dfr_facts_free(&facts);
    for (size_t i = 0; i < 3; i++)
        assert_true(dfr_fact_read(&facts, i == 0 ? "arg us 3000" : i == 1 ? "arg name two words\\nand a line" : "arg empty "));
    assert_true(dfr_fact_read(&facts, "kernel work 4567") && dfr_fact_read(&facts, "compiler cc 13"));
    refused(true, PROGRAM + 1, "is of another run: the code of kernel 'work' has changed; kernel 'gone' is not there any more; if");
    dfr_facts_free(&facts);
    facts = now;
    free(facts.items[5].value);
    facts.items[5].value = strdup("13");
    refused(true, PROGRAM + 1, "is of another run: compiler 'cc' was '12', and is '13' now; if");
    dfr_facts_free(&facts);
}

/* A record of so many waves, with a file of its own for each wave since `from`, and one file that each wave writes anew. */
static void records_whole(struct dfr_journal *j, int64_t from, int64_t waves)
{
    struct df_error error = { "" };
    struct dfr_written files[17] = { appended(waves, waves) };
    char names[16][24];
    size_t n = 0;
    for (int64_t w = from; w < waves; w++) {
        snprintf(names[n], sizeof names[n], "w%lld", (long long)w);
        write_file(names[n], names[n], strlen(names[n]));
        files[n + 1] = (struct dfr_written){ .wave = w, .path = names[n] };
        n++;
        write_file("latest", names[n - 1], strlen(names[n - 1]));
        files[n + 1] = (struct dfr_written){ .wave = w, .path = "latest" };
        strcpy(names[n++], "latest");
    }
    files[++n] = (struct dfr_written){ .wave = waves - 1, .path = "moved away" };
    files[++n] = (struct dfr_written){ .wave = waves - 1, .path = "/dev/null" };
    if (dfr_journal_done(j, waves, &(struct dfr_written_list){ files, n + 1, n + 1 }, &error) != DF_OK)
        fail_msg("%s", error.text);
}

static void goes_on_at(int64_t done, const char *redone)
{
    struct dfr_journal j;
    struct df_error error;
    opens(&j, true);
    assert_int_equal(j.done, done);
    if (redone)
        assert_string_equal(j.redone, redone);
    else
        assert_null(j.redone);
    assert_int_equal(j.files.n, done > 0);
    if (done > 0)
        assert_int_equal(j.files.items[0].bytes, done);
    assert_int_equal(dfr_journal_check_files(&j, &error), DF_OK);
    dfr_journal_close(&j);
}

/* A whole file that is missing or another takes the run back to the record before its wave; one that was copied, or written anew by several waves, does not. */
static void test_whole(void **state)
{
    struct dfr_journal j;
    (void)state;
    unlink("j");
    write_file("o\\ut.part", "0123456789", 10);
    opens(&j, true);
    records_whole(&j, 0, 3);
    records_whole(&j, 3, 6);
    dfr_journal_close(&j);
    goes_on_at(6, NULL);
    write_file("w1", "w1", 2);          /* written again: another time, the same bytes */
    write_file("latest", "x", 1);
    goes_on_at(6, NULL);
    unlink("w4");
    accept = true;
    goes_on_at(6, NULL);
    accept = false;
    goes_on_at(3, "'w4', which wave 4 has written, is missing or has changed");
    goes_on_at(3, NULL);                /* it is written down */
    opens(&j, true);
    records_whole(&j, 3, 6);
    records_whole(&j, 6, 8);
    dfr_journal_close(&j);
    goes_on_at(8, NULL);
    write_file("w5", "other", 5);
    unlink("w7");
    write_file("w3", "x3", 2);
    goes_on_at(3, "'w3', which wave 3 has written, is missing or has changed, and so are 2 more");
    opens(&j, true);
    records_whole(&j, 3, 4);
    assert_int_equal(dfr_journal_all(&j, &(struct df_error){ "" }), DF_OK);
    dfr_journal_close(&j);
    unlink("w0");
    opens(&j, true);                    /* all waves were done, and are not any more */
    assert_int_equal(j.done, 0);
    assert_false(j.all);
    records_whole(&j, 0, 4);
    assert_int_equal(dfr_journal_all(&j, &(struct df_error){ "" }), DF_OK);
    assert_int_equal(dfr_journal_end(&j, &(struct df_error){ "" }), DF_OK);
    dfr_journal_close(&j);
    unlink("w1");                       /* after the end the files are the user's */
    opens(&j, true);
    assert_true(j.ended);
    assert_int_equal(j.done, 4);
    dfr_journal_close(&j);
    unlink("j");
}

/* A journal of a newer version is named so, and stays as it is. */
static void test_newer(void **state)
{
    static const char text[] = "dfc journal 4 program 0000000000000001 x #0123456789abcdef\nwhat comes then\n";
    char after[200];
    (void)state;
    write_file("j", text, sizeof text - 1);
    refused(true, PROGRAM, "the journal 'j' is of version 4, which a newer dfc writes; this program, made by dfc ");
    refused(false, PROGRAM, "reads versions up to 3: make the program again with that dfc");
    assert_int_equal(read_file("j", after, sizeof after), sizeof text - 1);
    assert_memory_equal(after, text, sizeof text - 1);
    write_file("j", "dfc journal x", 13);
    refused(true, PROGRAM, "'j' is no journal");
    write_file("j", "dfc journal 3 prog", 18);
    struct dfr_journal j;
    opens(&j, true);                    /* its first line was not written to the end */
    dfr_journal_close(&j);
    unlink("j");
}

/* A journal of version 1 has no facts, and goes on. */
static void test_version_1(void **state)
{
    struct dfr_journal j;
    char text[4096];
    (void)state;
    unlink("j");
    opens(&j, true);
    dfr_journal_close(&j);
    size_t n = read_file("j", text, sizeof text), first = (size_t)(strchr(text, '\n') - text);
    text[12] = '1';
    char check[17];
    snprintf(check, sizeof check, "%016llx", (unsigned long long)dfr_hash(1, text, first - 18));
    memcpy(text + first - 16, check, 16);
    write_file("j", text, n);
    opens(&j, true);
    write_file("o\\ut.part", "0123456789", 10);
    records(&j, 5, 4);
    dfr_journal_close(&j);
    opens(&j, true);
    assert_int_equal(j.done, 5);
    dfr_journal_close(&j);
    refused(true, PROGRAM + 1, "is of another program, or of other arguments or sizes (it does not say which)");
}

/* Writes lines with their check numbers behind the journal's own. */
static void append_lines(const char *lines)
{
    FILE *to = fopen("j", "a");
    assert_non_null(to);
    for (size_t n; *lines; lines += n + 1) {
        n = strcspn(lines, "\n");
        fprintf(to, "%.*s #%016llx\n", (int)n, lines, (unsigned long long)dfr_hash(1, lines, n));
    }
    fclose(to);
}

/* Lines that are whole, and say what no run has written. */
static void test_forged(void **state)
{
    static const char *const forged[] = {
        "done -5 1\n", "out 3 4 5 4 0 0 o\ndone 8 1\ndone 7 1\n", "run 9223372036854775807 0\n", "run 0 0\n", "out 3 -4 5 4 0 0 o\ndone 8 1\n",
        "out 3 4 -5 4 0 0 o\ndone 8 1\n", "out 3 4 5 -4 -8 0 o\ndone 8 1\n", "out 3 4 5 4 8 0 o\ndone 8 1\n",
    };
    struct dfr_journal j;
    struct df_error error = { "" };
    (void)state;
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        unlink("j");
        opens(&j, true);
        dfr_journal_close(&j);
        append_lines(forged[i]);
        refused(true, PROGRAM, "is damaged");
    }
    unlink("j");
    opens(&j, true);
    dfr_journal_close(&j);
    append_lines("out 3 4 5 9223372036854775807 0 0 /dev/zero\ndone 5 1\n");
    opens(&j, true);
    assert_int_equal(dfr_journal_check_files(&j, &error), DF_E_IO); /* and does not read for ever */
    assert_non_null(strstr(error.text, "cannot read '/dev/zero', which the run has written: it is no regular file"));
    dfr_journal_close(&j);
}

/* Inputs that have changed are accepted if that is asked for, and are those of the runs that follow. */
static void test_accepted(void **state)
{
    struct dfr_journal j;
    const struct dfr_inputs before = inputs;
    struct dfr_input two[] = { { "in\nput", 90, 8, false }, { "second", 5, 5, false } };
    (void)state;
    unlink("j");
    opens(&j, true);
    const uint64_t digest = j.inputs_digest;
    write_file("o\\ut.part", "0123456789", 10);
    records(&j, 5, 4);
    dfr_journal_close(&j);
    inputs = (struct dfr_inputs){ two, 2, 2 };
    refused(true, PROGRAM, "--accept-changed goes on with the inputs as they are now");
    accept = true;
    opens(&j, true);
    assert_int_equal(j.done, 5);
    assert_non_null(strstr(j.accepted, "has changed (100 bytes then, 90 now)\n'second' is read now\n"));
    assert_true(j.inputs_digest == digest);
    dfr_journal_close(&j);
    opens(&j, true);
    assert_null(j.accepted);
    dfr_journal_close(&j);
    accept = false;
    opens(&j, true);
    assert_true(j.inputs_digest == digest);
    dfr_journal_close(&j);
    inputs = before;
    refused(true, PROGRAM, "has changed since");
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
    struct dfr_written file = appended(2, 3);
    assert_int_equal(dfr_journal_done(&old, 2, &(struct dfr_written_list){ &file, 1, 1 }, &error), DF_E_REFUSED);
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
                                        cmocka_unit_test(test_facts), cmocka_unit_test(test_version_1), cmocka_unit_test(test_forged), cmocka_unit_test(test_whole), cmocka_unit_test(test_newer), cmocka_unit_test(test_accepted),
                                        cmocka_unit_test(test_refused), cmocka_unit_test(test_files), cmocka_unit_test(test_fence) };
    return cmocka_run_group_tests(tests, enter, temp_folder_remove);
}
