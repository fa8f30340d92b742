/* test_learned.c - the files that programs leave with --learn: taken in once, and refused if they are no such file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db_rig.h"
#include "profiles/profiles.h"
#include "runtime/start/learn.h"
#include "temp_folder.h"

static void write_learned(const char *database, const char *name, const char *text)
{
    char file_path[256], *where = dfr_learn_folder(database);
    assert_true(mkdir(where, 0777) == 0 || access(where, F_OK) == 0);
    snprintf(file_path, sizeof file_path, "%s/%s", where, name);
    FILE *file = fopen(file_path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(where);
}

static unsigned count_files(const char *database, const char *suffix)
{
    char *where = dfr_learn_folder(database);
    DIR *dir = opendir(where);
    unsigned n = 0;
    assert_non_null(dir);
    for (const struct dirent *d = readdir(dir); d; d = readdir(dir)) {
        size_t length = strlen(d->d_name), tail = strlen(suffix);
        n += length > tail && !strcmp(d->d_name + length - tail, suffix);
    }
    closedir(dir);
    free(where);
    return n;
}

static void learned_files_are_taken_once(void **unused)
{
    (void)unused;
    char database[128], machine[224], text[1024], cut[1100];
    snprintf(database, sizeof database, "%s/learned.db", temp_folder);
    dfr_learn_machine(machine, sizeof machine);
    snprintf(text, sizeof text,
             "{\"learned\": 1, \"machine\": \"%s\", \"program\": \"p\"}\n"
             "{\"device\": \"cpu\", \"variant\": \"cpu\", \"kernel\": \"f\", \"dims\": \"n=8\", \"scalars\": "
             "\"s=\\\"a\\\\\\\\b\\\"\", \"hash\": \"fffffffffffffff0\", \"job_bytes\": 32, \"median_s\": 0.25, "
             "\"ci_s\": null, \"runs\": 7, \"dropped\": 1}\n", machine);
    write_learned(database, "a.jsonl", text);
    write_learned(database, "garbage.jsonl", "{\"learned\": 1");
    snprintf(cut, sizeof cut, "%s{\"device\": \"cpu\"}\n", text);
    write_learned(database, "cut.jsonl", cut); /* its first sample must not count either */
    write_learned(database, "other.jsonl", "{\"learned\": 1, \"machine\": \"another\", \"program\": \"p\"}\n");
    struct dfw_db *db = NULL;
    assert_int_equal(dfw_db_open(database, false, &db, NULL), DF_OK); /* there was none, but there was what to put in */
    assert_non_null(db);
    assert_string_equal(dfw_db_imported(db)->failure, "");
    assert_int_equal(dfw_db_imported(db)->files, 1);
    assert_int_equal(dfw_db_imported(db)->samples, 1);
    assert_int_equal(dfw_db_imported(db)->unreadable, 2);
    assert_int_equal(count_files(database, ".jsonl"), 1);  /* the other machine's */
    assert_int_equal(count_files(database, ".bad"), 2);
    char dims[] = "n=8", scalars[] = "s=\"a\\\\b\"";
    struct dfw_key key = { .device = "cpu", .variant = "cpu",
                           .work = { .kernel = "f", .dims = dims, .scalars = scalars, .hash = 0xfffffffffffffff0u,
                                     .job_bytes = 32 } };
    struct dfr_sample sample;
    bool found = false;
    assert_int_equal(load_sample(db, &key, &sample, &found, NULL), DF_OK);
    assert_true(found && sample.mean_s == 0.25 && sample.runs == 7 && sample.dropped == 1 && isnan(sample.ci_s));
    dfw_db_close(db);

    write_learned(database, "a.jsonl", text);  /* as after a crash between the database and the file */
    assert_int_equal(dfw_db_open(database, false, &db, NULL), DF_OK);
    assert_int_equal(dfw_db_imported(db)->files, 0);
    assert_int_equal(count_files(database, ".jsonl"), 1);
    assert_int_equal(load_sample(db, &key, &sample, &found, NULL), DF_OK);
    assert_int_equal(sample.runs, 7);
    dfw_db_close(db);
}

/* ---- what is refused ---- */

#define LINE(hash, bytes, median, ci, runs, dropped)                                                                   \
    "{\"device\": \"cpu\", \"variant\": \"cpu\", \"kernel\": \"f\", \"dims\": \"n=8\", \"scalars\": \"\", "               \
    "\"hash\": \"" hash "\", \"job_bytes\": " bytes ", \"median_s\": " median ", \"ci_s\": " ci ", \"runs\": " runs     \
    ", \"dropped\": " dropped "}"

/* Opens the database and expects that its one file was refused for this reason, whatever it is. */
static void expect_refused(const char *database, const char *why)
{
    struct dfw_db *db = NULL;
    assert_int_equal(dfw_db_open(database, false, &db, NULL), DF_OK);
    const struct dfw_imported *i = dfw_db_imported(db);
    assert_string_equal(i->failure, "");
    if (i->files != 0 || i->samples != 0 || i->unreadable != 1 || strcmp(i->why, why) != 0)
        fail_msg("%u files, %u refused: '%s' instead of '%s'", i->files, i->unreadable, i->why, why);
    bool any = true;
    assert_int_equal(dfw_sample_any(db, "f", &any, NULL), DF_OK);
    assert_false(any);
    dfw_db_close(db);
    assert_int_equal(count_files(database, ".jsonl"), 0);
}

static void a_field_that_makes_no_sense_is_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *line, *why;
    } cases[] = {
        { LINE("0f", "32", "\"x\"", "null", "7", "0"), "'median_s' is 'x', which makes no sense" },
        { LINE("0f", "32", "0", "null", "7", "0"), "'median_s' is '0', which makes no sense" },
        { LINE("0f", "32", "-0.5", "null", "7", "0"), "'median_s' is '-0.5', which makes no sense" },
        { LINE("0f", "32", "1e-13", "null", "7", "0"), "'median_s' is '1.0e-13', which makes no sense" },
        { LINE("0f", "32", "1e300", "null", "7", "0"), "'median_s' is '1.0e+300', which makes no sense" },
        { LINE("0f", "32", "null", "null", "7", "0"), "it has no 'median_s'" },
        { LINE("0f", "32", "0.5", "-1", "7", "0"), "'ci_s' is '-1', which makes no sense" },
        { LINE("0f", "32", "0.5", "null", "-1", "0"), "'runs' is '-1', which makes no sense" },
        { LINE("0f", "32", "0.5", "null", "0", "0"), "'runs' is '0', which makes no sense" },
        { LINE("0f", "32", "0.5", "null", "4294967296", "0"), "'runs' is '4294967296', which makes no sense" },
        { LINE("0f", "32", "0.5", "null", "7", "-1"), "'dropped' is '-1', which makes no sense" },
        { LINE("0f", "-1", "0.5", "null", "7", "0"), "'job_bytes' is '-1', which makes no sense" },
        { LINE("0f", "1.5", "0.5", "null", "7", "0"), "'job_bytes' is '1.5', which makes no sense" },
        { LINE("0f", "1e30", "0.5", "null", "7", "0"),
          "'job_bytes' is '1.0e+30', which makes no sense" },
        { LINE("xyz", "32", "0.5", "null", "7", "0"), "'hash' is 'xyz', which makes no sense" },
        { LINE("00000000000000000", "32", "0.5", "null", "7", "0"), "'hash' is '00000000000000000', which makes no sense" },
        { "{\"device\": \"cpu\", \"variant\": \"cpu\"}", "it has no 'kernel'" },
        { "{\"device\": \"cpu\"", "it is no JSON" },
    };
    char database[128], machine[224], text[1024], why[160];
    snprintf(database, sizeof database, "%s/fields.db", temp_folder);
    dfr_learn_machine(machine, sizeof machine);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "{\"learned\": 1, \"machine\": \"%s\"}\n%s\n%s\n", machine,
                 LINE("0f", "32", "1", "0", "7", "0"), cases[i].line);
        write_learned(database, "f.jsonl", text);
        snprintf(why, sizeof why, "'f.jsonl', line 3: %s", cases[i].why);
        expect_refused(database, why);
    }
    write_learned(database, "f.jsonl", "");
    expect_refused(database, "'f.jsonl': it is empty");
    write_learned(database, "f.jsonl", "{\"learned\": 2}\n");
    expect_refused(database, "'f.jsonl', line 1: 'learned' is '2', which this dfc does not know");
}

/* Neither waits for a writer, nor reads without end, nor follows a link. */
static void only_regular_files_are_read(void **unused)
{
    (void)unused;
    char database[128], file[256];
    snprintf(database, sizeof database, "%s/kinds.db", temp_folder);
    snprintf(file, sizeof file, "%s.learned/k.jsonl", database);
    write_learned(database, "target", "{\"learned\": 1}\n");
    assert_int_equal(mkfifo(file, 0666), 0);
    expect_refused(database, "'k.jsonl': it is no regular file");
    assert_int_equal(symlink("/dev/zero", file), 0);
    expect_refused(database, "'k.jsonl': it is no regular file");
    assert_int_equal(symlink("target", file), 0);
    expect_refused(database, "'k.jsonl': it is no regular file");
    write_learned(database, "k.jsonl", "");
    assert_int_equal(truncate(file, DFR_LEARN_MOST_BYTES + 1), 0); /* takes no space */
    expect_refused(database, "'k.jsonl': it is larger than 256 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learned_files_are_taken_once),
        cmocka_unit_test(a_field_that_makes_no_sense_is_named),
        cmocka_unit_test(only_regular_files_are_read),
    };
    return cmocka_run_group_tests_name("learned", tests, temp_folder_make, temp_folder_remove);
}
