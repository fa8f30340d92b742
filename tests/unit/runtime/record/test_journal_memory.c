/* test_journal_memory.c - each place of the journal's code and of the record of outputs that allocates fails, one at a time: the call gives DF_E_MEMORY, and
 * nothing leaks or is freed twice.
 */
#include "failing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "runtime/record/journal.h"
#include "runtime/record/recorded.h"
#include "tests/rig/temp_folder.h"

#if FAILING
enum { WAVES = 40 };                    /* so many files that tables grow within the second record */

static int status;
static struct df_error error;

static void write_file(const char *name)
{
    FILE *to = fopen(name, "w");
    assert_non_null(to);
    fprintf(to, "%zu %s", strlen(name), name);
    fclose(to);
}

/* A run with a file of each wave, and one that each wave writes anew. */
static void records(struct dfr_journal *j, int64_t from, int64_t waves)
{
    struct dfr_written whole[2 * WAVES];
    char names[WAVES][24];
    size_t n = 0;
    for (int64_t w = from; w < waves && status == DF_OK; w++) {
        snprintf(names[w], sizeof names[w], "w%lld", (long long)w);
        whole[n++] = (struct dfr_written){ .wave = w, .path = names[w] };
        whole[n++] = (struct dfr_written){ .wave = w, .path = "latest" };
    }
    if (status == DF_OK)
        status = dfr_journal_done(j, waves, &(struct dfr_written_list){ whole, n, n }, &error);
}

static void resume(void *unused)
{
    struct dfr_input input = { "in", 100, 7, false };
    const struct dfr_inputs inputs = { &input, 1, 1 };
    struct dfr_journal j;
    (void)unused;
    status = dfr_journal_open(&j, "j", &(struct dfr_journal_run){ true, false, 1, &inputs, NULL, 0 }, &error);
    if (status != DF_OK)
        return;
    if (j.done == 0) {
        records(&j, 0, 2);
        records(&j, 2, WAVES);
    }
    dfr_journal_close(&j);
}

/* What a journal says that was written in spite of the failure, if there is one. */
static void same_records(const char *name)
{
    static char first[4096];
    char text[sizeof first] = "";
    FILE *from = fopen(name, "r");
    assert_non_null(from);
    assert_in_range(fread(text, 1, sizeof text - 1, from), 100, sizeof text - 2);
    fclose(from);
    if (!first[0])
        memcpy(first, text, sizeof first);
    assert_string_equal(text, first);
}

/* A new journal each time, with two files that are appended to, one of which stays as it was. */
static void begin(void *unused)
{
    struct dfr_input input = { "in", 100, 7, false };
    const struct dfr_inputs inputs = { &input, 1, 1 };
    struct dfr_journal j;
    struct dfr_written files[2] = { { .path = (char[]){ "latest" }, .appended = true, .node = 1, .wave = -1, .tokens = 1, .bytes = 1 },
                                    { .path = (char[]){ "w1" }, .appended = true, .node = 2, .wave = -1, .tokens = 1, .bytes = 1 } };
    const struct dfr_written_list list = { files, 2, 2 };
    (void)unused;
    unlink("new");
    status = dfr_journal_open(&j, "new", &(struct dfr_journal_run){ .program = 1, .inputs = &inputs }, &error);
    if (status != DF_OK)
        return;
    status = dfr_journal_done(&j, 1, &list, &error);
    files[0].tokens = files[0].bytes = 2;
    if (status == DF_OK)
        status = dfr_journal_done(&j, 2, &list, &error);
    dfr_journal_close(&j);
    if (status == DF_OK)
        same_records("new");
}

static void sync_whole(void *unused)
{
    struct dfr_outputs *o = NULL;
    struct dfr_written_list files = { 0 };
    (void)unused;
    status = dfr_outputs_create(NULL, &o, &error);
    for (int64_t w = 0; w < WAVES && status == DF_OK; w++) {
        struct dfr_recorded recorded = { .outputs = o, .file = { .wave = w % 20, .path = "out" } };
        status = dfr_recorded_close(&recorded, &(struct dfr_output){ 0 }, true, &error);
    }
    if (status == DF_OK)
        status = dfr_outputs_sync(o, 10, &files, &error);
    dfr_written_free(&files);
    if (status == DF_OK)
        status = dfr_outputs_sync(o, 20, &files, &error);
    dfr_written_free(&files);
    if (o)
        dfr_outputs_free(o);
}

static void fail_each(void (*does)(void *))
{
    failing_learn(does, NULL);
    assert_int_equal(status, DF_OK);
    const long recorded = failing_n_live;
    for (uint32_t place = 0; place < failing_n; place++)
        for (uint64_t n = 1; n <= failing_places[place].calls; n++) {
            failing_set(place, n);
            does(NULL);
            failing_end();
            if (status != DF_OK && (status != DF_E_MEMORY || !strstr(error.text, "memory")))
                fail_msg("call %llu at %p: status %d, '%s'", (unsigned long long)n, failing_places[place].address, status, error.text);
            assert_int_equal(failing_n_live, recorded);
        }
}
#endif

static void test_journal(void **state)
{
    (void)state;
#if FAILING
    char name[24];
    for (int w = 0; w < WAVES; w++) {
        snprintf(name, sizeof name, "w%d", w);
        write_file(name);
    }
    write_file("latest");
    resume(NULL);
    assert_int_equal(status, DF_OK);
    fail_each(resume);
#else
    skip();
#endif
}

static void test_records(void **state)
{
    (void)state;
#if FAILING
    write_file("w1");
    write_file("latest");
    write_file("latest.part");          /* what the run writes; the other is of the run before */
    fail_each(begin);
    unlink("latest.part");
#else
    skip();
#endif
}

static void test_outputs(void **state)
{
    (void)state;
#if FAILING
    fail_each(sync_whole);
#else
    skip();
#endif
}

static int enter(void **state)
{
    strcpy(temp_folder, "/dev/shm/dfc-test-XXXXXX"); /* syncing costs nothing there */
    return (!mkdtemp(temp_folder) && temp_folder_make(state)) || chdir(temp_folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_journal), cmocka_unit_test(test_records), cmocka_unit_test(test_outputs) };
    return cmocka_run_group_tests(tests, enter, temp_folder_remove);
}
