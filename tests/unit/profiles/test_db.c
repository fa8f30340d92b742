/* test_db.c - the profile database: what is stored comes back, sets are combined robustly, nothing is lost between
 * processes, and what cannot be opened is answered in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiles/db/db_impl.h"
#include "db_rig.h"
#include "temp_folder.h"


static const char *in_folder(const char *name)
{
    static char path[2][256];
    static unsigned turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", temp_folder, name);
    return path[turn];
}

static struct dfw_db *open_new(const char *name)
{
    struct dfw_db *db = NULL;
    struct df_error error = { "" };
    int status = dfw_db_open(in_folder(name), true, &db, &error);
    if (status != DF_OK)
        fail_msg("%s", error.text);
    return db;
}

static void execute(const char *path, const char *sql)
{
    sqlite3 *sqlite;
    assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
    if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(sqlite));
    sqlite3_close(sqlite);
}

static struct dfw_key key_of(const char *kernel, char *dims, uint64_t hash)
{
    static char none[] = "";
    return (
        struct dfw_key){ .device = "cpu",
                         .variant = "cpu",
                         .work = { .kernel = kernel, .dims = dims, .scalars = none, .hash = hash, .job_bytes = 12 } };
}

static void store(struct dfw_db *db, const struct dfw_key *key, double mean_s, uint32_t runs)
{
    struct dfr_sample sample = { .mean_s = mean_s, .ci_s = runs > 1 ? 0.01 * mean_s : NAN, .runs = runs };
    assert_int_equal(dfw_sample_store(db, key, &sample, NULL), DF_OK);
}

static void comes_back(void **state)
{
    (void)state;
    struct dfw_db *db = open_new("back.db");
    char k1[] = "k=1024", k2[] = "k=1025";
    struct dfw_key key = key_of("añadir", k1, UINT64_MAX - 5);
    struct dfr_sample sample = { .mean_s = 2.13e-3, .ci_s = 1e-5, .runs = 14, .dropped = 2 }, loaded = { 0 };
    for (unsigned i = 0; i < DFR_QUANTILES; i++)
        sample.quantile[i] = 0.9f + 0.01f * (float)i;
    assert_int_equal(dfw_sample_store(db, &key, &sample, NULL), DF_OK);
    dfw_db_close(db);

    db = open_new("back.db");
    bool found = false;
    struct dfw_points points;
    assert_int_equal(dfw_points_load(db, key.device, key.variant, key.work.kernel, key.work.hash, &points, NULL), DF_OK);
    assert_int_equal(points.n, 1);
    double above[DFR_QUANTILES];        /* of 14 runs */
    dfr_quantiles_above(sample.quantile, 14, above);
    for (unsigned i = 0; i < DFR_QUANTILES; i++)
        assert_true(fabs((double)points.at[0].spread.quantile[i] - above[i]) < 1e-4);
    assert_true(above[11] > (double)sample.quantile[11] && above[0] == (double)sample.quantile[0] && fabs(above[27] - (double)sample.quantile[27]) < 1e-6);
    dfw_points_free(&points);
    assert_int_equal(load_sample(db, &key, &loaded, &found, NULL), DF_OK);
    assert_true(found);
    assert_true(loaded.mean_s == sample.mean_s && loaded.ci_s == sample.ci_s);
    assert_int_equal(loaded.runs, 14);
    assert_int_equal(loaded.dropped, 2);

    struct dfw_key other = key;
    other.work.hash++;                  /* an edited kernel */
    assert_int_equal(load_sample(db, &other, &loaded, &found, NULL), DF_OK);
    assert_false(found);
    other = key;
    other.work.dims = k2;
    assert_int_equal(load_sample(db, &other, &loaded, &found, NULL), DF_OK);
    assert_false(found);
    other = key;
    other.device = "emu";
    assert_int_equal(load_sample(db, &other, &loaded, &found, NULL), DF_OK);
    assert_false(found);
    bool any = false;
    assert_int_equal(dfw_sample_any(db, "añadir", &any, NULL), DF_OK);
    assert_true(any);
    assert_int_equal(dfw_sample_any(db, "anadir", &any, NULL), DF_OK);
    assert_false(any);
    dfw_db_close(db);
}

static void sets_are_combined(void **state)
{
    (void)state;
    struct dfw_db *db = open_new("sets.db");
    struct dfr_sample sample;
    bool found;
    char none[] = "";
    struct dfw_key two = key_of("two", none, 1), poisoned = key_of("poisoned", none, 1),
                   single = key_of("single", none, 1);
    store(db, &two, 1.0, 30);
    store(db, &two, 2.0, 10);
    assert_int_equal(load_sample(db, &two, &sample, &found, NULL), DF_OK);
    assert_true(fabs(sample.mean_s - 1.25) < 1e-12); /* weighs by runs */
    assert_int_equal(sample.runs, 40);

    for (int i = 0; i < 5; i++)
        store(db, &poisoned, 1.0 + 0.001 * i, 10);
    store(db, &poisoned, 9.0, 500);
    assert_int_equal(load_sample(db, &poisoned, &sample, &found, NULL), DF_OK);
    assert_true(sample.mean_s > 1.0 && sample.mean_s < 1.005);
    assert_true(sample.dropped >= 500);

    for (int i = 0; i < 9; i++)
        store(db, &single, i == 4 ? 50.0 : 2.0, 1);
    assert_int_equal(load_sample(db, &single, &sample, &found, NULL), DF_OK);
    assert_true(sample.mean_s == 2.0);

    static const struct dfr_sample wrong[] = { { .mean_s = NAN, .runs = 3 }, { .mean_s = 0, .runs = 3 }, { .mean_s = 1 },
                                               { .mean_s = 1, .ci_s = -1, .runs = 3 } };
    struct df_error error = { "" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(dfw_sample_store(db, &two, &wrong[i], &error), DF_E_ARGUMENT);
    assert_string_equal(error.text, "the sample of 'two' makes no sense");
    two.work.job_bytes = UINT64_MAX;
    assert_int_equal(dfw_sample_store(db, &two, &sample, NULL), DF_E_ARGUMENT);
    dfw_db_close(db);
}

static void count_key(void *arg, const struct dfw_key *key)
{
    (void)key;
    ++*(unsigned *)arg;
}

static void keys_are_listed_once(void **state)
{
    (void)state;
    struct dfw_db *db = open_new("each.db");
    char k1[] = "k=1", k2[] = "k=2";
    struct dfw_key a = key_of("f", k1, 1), b = key_of("f", k2, 1);
    unsigned n = 0;
    store(db, &a, 1, 5);
    store(db, &a, 1, 5);
    store(db, &b, 1, 5);
    assert_int_equal(dfw_sample_each(db, count_key, &n, NULL), DF_OK);
    assert_int_equal(n, 2);
    dfw_db_close(db);
}

static int write_two_hundred(const char *path, int who)
{
    struct dfw_db *db;
    char dims[32];
    struct df_error error = { "" };
    if (dfw_db_open(path, true, &db, &error) != DF_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (int i = 0; i < 200; i++) {
        struct dfr_sample sample = { .mean_s = 1e-3, .ci_s = 1e-6, .runs = 5 };
        snprintf(dims, sizeof dims, "k=%d", who * 1000 + i);
        struct dfw_key key = key_of("both", dims, 1);
        if (dfw_sample_store(db, &key, &sample, &error) != DF_OK) {
            fprintf(stderr, "%s\n", error.text);
            return 2;
        }
    }
    dfw_db_close(db);
    return 0;
}

static void two_processes_lose_nothing(void **state)
{
    (void)state;
    const char *path = in_folder("shared.db"); /* made by whoever comes first */
    pid_t children[2];
    for (int who = 0; who < 2; who++) {
        children[who] = fork();
        assert_true(children[who] >= 0);
        if (children[who] == 0)
            _exit(write_two_hundred(path, who));
    }
    for (int who = 0; who < 2; who++) {
        int status;
        assert_int_equal(waitpid(children[who], &status, 0), children[who]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    sqlite3 *raw;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(raw, "SELECT count(*), count(DISTINCT dims) FROM samples", -1, &s, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(s, 0), 400);
    assert_int_equal(sqlite3_column_int(s, 1), 400);
    sqlite3_finalize(s);
    sqlite3_close(raw);
}

static void expect_refused(const char *path, const char *words)
{
    struct dfw_db *db = NULL;
    struct df_error error = { "" };
    assert_int_equal(dfw_db_open(path, true, &db, &error), DF_E_IO);
    assert_null(db);
    if (!strstr(error.text, words) || !strstr(error.text, path))
        fail_msg("'%s' lacks '%s' or '%s'", error.text, words, path);
}

static void what_cannot_be_opened_is_said(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("garbage.db"));
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 3000; i++)
        fputs("no database ", file);
    fclose(file);
    expect_refused(path, "not a database");

    snprintf(path, sizeof path, "%s", in_folder("garbage.db/profile.db"));
    expect_refused(path, "cannot open it");
    expect_refused("/proc/nowhere/profile.db", "cannot open it");

    snprintf(path, sizeof path, "%s", in_folder("other.db"));
    sqlite3 *raw;
    assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
    assert_int_equal(sqlite3_exec(raw, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
    expect_refused(path, "belongs to another program");
    assert_int_equal(sqlite3_exec(raw, "PRAGMA user_version = 1", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
    expect_refused(path, "belongs to another program");

    struct dfw_db *db = open_new("newer.db");
    dfw_db_close(db);
    snprintf(path, sizeof path, "%s", in_folder("newer.db"));
    assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
    assert_int_equal(sqlite3_exec(raw, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
    expect_refused(path, "newer dfc");
}

static void a_damaged_table_is_said(void **state)
{
    (void)state;
    struct dfw_db *db = open_new("damaged.db");
    char dims[16];
    for (int i = 0; i < 300; i++) {
        snprintf(dims, sizeof dims, "k=%d", i);
        struct dfw_key key = key_of("f", dims, 1);
        store(db, &key, 1, 2);
    }
    dfw_db_close(db);
    int fd = open(in_folder("damaged.db"), O_WRONLY);
    char junk[4096];
    memset(junk, 0xa5, sizeof junk);
    struct stat info;
    assert_true(fd >= 0 && fstat(fd, &info) == 0);
    for (off_t at = 4096; at < info.st_size; at += 4096)
        assert_int_equal(pwrite(fd, junk, sizeof junk, at), sizeof junk);
    close(fd);

    struct df_error error = { "" };
    struct dfw_points points;
    int status = dfw_db_open(in_folder("damaged.db"), true, &db, &error);
    if (status == DF_OK) {
        status = dfw_points_load(db, "cpu", "cpu", "f", 1, &points, &error);
        dfw_db_close(db);
    }
    assert_int_equal(status, DF_E_IO);
    assert_non_null(strstr(error.text, "damaged"));
}

static void a_missing_file_is_no_database(void **state)
{
    (void)state;
    struct dfw_db *db = (struct dfw_db *)temp_folder;
    assert_int_equal(dfw_db_open(in_folder("missing.db"), false, &db, NULL), DF_OK);
    assert_null(db);
    assert_int_not_equal(access(in_folder("missing.db"), F_OK), 0);
    FILE *empty = fopen(in_folder("empty.db"), "w"); /* begun, and never written */
    assert_non_null(empty);
    fclose(empty);
    db = (struct dfw_db *)temp_folder;
    assert_int_equal(dfw_db_open(in_folder("empty.db"), false, &db, NULL), DF_OK);
    assert_null(db);
}

static void the_default_place_is_made(void **state)
{
    (void)state;
    char *kept = getenv("DFC_PROFILE") ? strdup(getenv("DFC_PROFILE")) : NULL;
    unsetenv("DFC_PROFILE");
    setenv("XDG_DATA_HOME", in_folder("data/home"), 1);
    struct dfw_db *db = NULL;
    assert_int_equal(dfw_db_open(NULL, true, &db, NULL), DF_OK);
    assert_string_equal(dfw_db_path(db), in_folder("data/home/dfc/profile.db"));
    dfw_db_close(db);
    assert_int_equal(access(in_folder("data/home/dfc/profile.db"), F_OK), 0);
    unsetenv("XDG_DATA_HOME");
    if (kept)
        setenv("DFC_PROFILE", kept, 1);
    free(kept);
}

static void assert_same_platform(const struct df_platform *a, const struct df_platform *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->n_units, b->n_units);
    assert_int_equal(a->n_classes, b->n_classes);
    for (uint32_t u = 0; u < a->n_units; u++) {
        const struct df_unit *x = &a->units[u], *y = &b->units[u];
        assert_string_equal(x->name, y->name);
        assert_string_equal(a->class_names[x->cls], b->class_names[y->cls]);
        assert_int_equal(x->workers, y->workers);
        assert_int_equal(x->memory_bytes, y->memory_bytes);
        assert_true(x->memory_bytes_per_s == y->memory_bytes_per_s);
        assert_int_equal(x->engines, y->engines);
        assert_int_equal(x->jobs, y->jobs);
        assert_int_equal(x->registers, y->registers);
        assert_int_equal(x->unified, y->unified);
        assert_true(x->launch_s == y->launch_s);
        assert_memory_equal(&x->h2d, &y->h2d, sizeof x->h2d);
        assert_memory_equal(&x->d2h, &y->d2h, sizeof x->d2h);
        assert_memory_equal(&x->peer, &y->peer, sizeof x->peer);
    }
}

static void platforms_come_back(void **state)
{
    (void)state;
    struct dfw_db *db = open_new("platform.db");
    struct df_platform p = { .name = "titan", .n_units = 2, .n_classes = 2, .class_names = { "cpu", "gpu" } }, loaded;
    p.units[0] = (struct df_unit){ .name = "host", .workers = 3, .memory_bytes = 1 << 20 };
    p.units[1] = (struct df_unit){ .name = "titan", .cls = 1, .workers = 1, .memory_bytes = 6ull << 30, .engines = 2,
                                   .h2d = { 6e9, 1e-5, 4096 }, .d2h = { 5e9, 2e-5, 0 }, .launch_s = 8e-6, .jobs = 4 };
    bool found = true;
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_false(found);
    assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, true, NULL), DF_OK);
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_false(found);                /* the emulator is not the machine */
    p.units[0].workers = 1;
    assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, false, NULL), DF_OK);
    p.units[0].workers = 3;
    assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, false, NULL), DF_OK);
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_true(found);
    assert_same_platform(&loaded, &p);  /* the latest */
    for (uint32_t registers = DF_REGISTER_YES; registers <= DF_REGISTER_NO; registers++) {
        p.units[1].registers = registers;
        assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, false, NULL), DF_OK);
        assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
        assert_same_platform(&loaded, &p);
    }
    df_unit_unify(&p.units[1]);
    assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, false, NULL), DF_OK);
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_true(loaded.units[1].unified);
    assert_same_platform(&loaded, &p);
    p.units[0].memory_bytes_per_s = 2.5e10;
    p.units[1].handover_s = 41e-6;
    assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, false, NULL), DF_OK);
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_same_platform(&loaded, &p);
    assert_true(loaded.units[1].handover_s == 41e-6);
    dfw_db_close(db);
    execute(in_folder("platform.db"), "UPDATE bandwidths SET bytes_per_s = -1; UPDATE handovers SET seconds = -1");
    p.units[1].handover_s = 0;
    p.units[0].memory_bytes_per_s = 0;  /* no rate, so it is not known */
    db = open_new("platform.db");
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_same_platform(&loaded, &p);
    assert_int_equal(loaded.units[0].cores, 0);
    assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, true, NULL), DF_OK);
    assert_int_equal(dfw_platform_load_for(db, true, &loaded, &found, NULL), DF_OK);
    assert_same_platform(&loaded, &p);
    assert_true(loaded.units[0].cores > 0); /* emulated GPUs share this machine's */
    dfw_db_close(db);
}

/* What a host of six cores and a GPU might give. */
static void make_figures(struct dfw_figures figures[2])
{
    static const uint32_t threads[] = { 1, 2, 4, 6 };
    for (uint32_t i = 0; i < 4; i++) {
        figures[0].threads[i] = threads[i];
        for (int f = 0; f < DFW_FIGURES; f++)
            figures[0].per_s[i][f] = 1e9 * (f + 1) * threads[i];
    }
    figures[0].n = 4;
    figures[0].per_s[3][DFW_SHARED] = 2e8;
    figures[1] = (struct dfw_figures){ .n = 1, .threads = { 1 } };
    figures[1].per_s[0][DFW_TRIAD] = 7e11;
    figures[1].per_s[0][DFW_FLOPS_F32] = 2e13;
    figures[1].per_s[0][DFW_SHARED] = 1e9;
}

static void assert_figures(const struct df_platform *p)
{
    const struct df_figures *host = &p->units[0].figures, *gpu = &p->units[1].figures;
    static const double bandwidths[DF_BANDWIDTHS] = { 4e9, 8e9, 16e9 }; /* six is no power of two */
    assert_true(p->units[0].memory_bytes_per_s == 24e9 && p->units[1].memory_bytes_per_s == 7e11);
    assert_memory_equal(host->bytes_per_s, bandwidths, sizeof bandwidths);
    assert_true(host->flops[0] == 5e9 && host->flops[1] == 6e9);
    assert_true(host->random_s[0] == 1 / 7e9 && host->random_s[1] == 1 / 8e9);
    assert_true(host->atomic_s[0] == 1 / 10e9 && host->atomic_s[1] == 6 / 2e8);
    assert_true(gpu->flops[0] == 2e13 && gpu->flops[1] == 0 && gpu->random_s[0] == 0);
    assert_true(gpu->bytes_per_s[0] == 0 && gpu->atomic_s[0] == 0 && gpu->atomic_s[1] == 1e-9);
}

static void figures_come_back(void **state)
{
    (void)state;
    struct dfw_db *db = open_new("figures.db");
    struct df_platform p = { .name = "six", .n_units = 2, .n_classes = 2, .class_names = { "cpu", "gpu" } }, loaded;
    struct dfw_figures figures[2] = { { .n = 0 } };
    bool found;
    p.units[0] = (struct df_unit){ .name = "host", .workers = 6 };
    p.units[1] = (struct df_unit){ .name = "g", .cls = 1, .workers = 1, .engines = 2, .h2d = { 6e9, 1e-5, 0 },
                                   .d2h = { 5e9, 2e-5, 0 } };
    assert_int_equal(dfw_platform_store(db, &p, NULL, figures, false, NULL), DF_OK);
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_true(loaded.units[0].figures.flops[0] == 0); /* nothing was measured */
    make_figures(figures);
    dfw_figures_give(&figures[0], &p.units[0]);
    dfw_figures_give(&figures[1], &p.units[1]);
    assert_figures(&p);
    assert_int_equal(dfw_platform_store(db, &p, NULL, figures, false, NULL), DF_OK);
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_figures(&loaded);
    dfw_db_close(db);
    /* Rows that no dfc wrote are passed over: others stay as they were. */
    execute(in_folder("figures.db"), "INSERT INTO figures VALUES (2, 7, 'triad', 1, 1e9), (2, 0, 'speed', 1, 1e9),"
                                     " (2, 0, 'triad', 0, 1e9), (2, 0, 'triad', 3, -1), (2, 1, 'f64', 1, 9e999)");
    db = open_new("figures.db");
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_figures(&loaded);
    dfw_db_close(db);
}

/* A size all of whose rows are passed over is not known, so that it is measured again. Leaves no sample. */
static void only_senseless_samples_are_none(struct dfw_db *db)
{
    unsigned n = 0;
    bool any = true;
    assert_int_equal(dfw_db_exec(db, "DELETE FROM samples WHERE mean_s = 2", "change it", NULL), DF_OK);
    assert_int_equal(dfw_sample_each(db, count_key, &n, NULL), DF_OK);
    assert_int_equal(n, 0);
    assert_int_equal(dfw_sample_any(db, "f", &any, NULL), DF_OK);
    assert_false(any);
    assert_int_equal(dfw_db_exec(db, "DELETE FROM samples", "change it", NULL), DF_OK);
}

/* Planners take numbers as they are, so rows that no dfc wrote are no samples, or no platform. */
static void what_makes_no_sense_is_passed_over(void **state)
{
    static const char *const samples[][2] = {
        { "mean_s = -1", "mean_s '-1.0'" }, { "mean_s = 9e999", "mean_s 'Inf'" }, { "mean_s = 1e308", "mean_s '1.0e+308'" },
        { "mean_s = 'x'", "mean_s 'x'" }, { "mean_s = 0", "mean_s '0.0'" }, { "mean_s = 1e-320", "mean_s '" },
        { "runs = 0", "runs '0'" }, { "runs = -3", "runs '-3'" }, { "runs = 4294967296", "runs '4294967296'" },
        { "runs = 2.5", "runs '2.5'" }, { "dropped = -1", "dropped '-1'" }, { "job_bytes = -1", "job_bytes '-1'" },
        { "job_bytes = 'x'", "job_bytes 'x'" }, { "ci_s = -1", "ci_s '-1.0'" }, { "ci_s = 9e999", "ci_s 'Inf'" } };
    static const char *const units[] = { "launch_s = -1", "launch_s = 9e999", "launch_s = 1e308", "jobs = -1",
                                         "engines = 3", "h2d_latency_s = -1", "d2h_latency_s = 1e308",
                                         "h2d_bytes_per_s = 1e-320", "d2h_bytes_per_s = 9e999",
                                         "h2d_threshold_bytes = -1", "memory_bytes = -1", "workers = 4294967297",
                                         "engines = 4294967297", "jobs = 4294967297", "class = 'g' || char(10)",
                                         "class = 'npu'", "engines = 0", "memory_bytes = 9200000000000000000",
                                         "d2h_threshold_bytes = 9200000000000000000" };
    static const char *const hosts[] = { "launch_s = 1", "jobs = 2", "class = 'gpu'", "workers = 0" };
    const size_t n_units = sizeof units / sizeof *units, n_hosts = sizeof hosts / sizeof *hosts;
    struct dfw_db *db = open_new("senseless.db");
    struct df_platform p = { .name = "titan", .n_units = 2, .n_classes = 2, .class_names = { "cpu", "gpu" } }, loaded;
    char k4[] = "k=4", sql[160];
    struct dfw_key key = key_of("f", k4, 1);
    struct dfr_sample sample;
    struct dfw_points points;
    bool found;
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        store(db, &key, 2, 3);
        store(db, &key, 1, 3);
        snprintf(sql, sizeof sql, "UPDATE samples SET %s WHERE mean_s = 1", samples[i][0]);
        assert_int_equal(dfw_db_exec(db, sql, "change it", NULL), DF_OK);
        db->senseless[0] = '\0';
        assert_int_equal(load_sample(db, &key, &sample, &found, NULL), DF_OK);
        assert_true(found && sample.mean_s == 2);
        assert_int_equal(dfw_points_load(db, "cpu", "cpu", "f", 1, &points, NULL), DF_OK);
        assert_true(points.n == 1 && points.at[0].mean_s == 2);
        dfw_points_free(&points);
        if (!strstr(dfw_db_senseless(db), "a sample of kernel 'f' has the ") ||
            !strstr(dfw_db_senseless(db), samples[i][1]))
            fail_msg("%s: '%s'", samples[i][0], dfw_db_senseless(db));
        only_senseless_samples_are_none(db);
    }
    p.units[0] = (struct df_unit){ .name = "host", .workers = 3 };
    p.units[1] = (struct df_unit){ .name = "g", .cls = 1, .workers = 1, .engines = 2, .h2d = { 6e9, 1e-5, 4096 },
                                   .d2h = { 5e9, 2e-5, 0 } };
    for (size_t i = 0; i < n_units + n_hosts; i++) {
        struct df_error error = { "" };
        assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, false, NULL), DF_OK);
        snprintf(sql, sizeof sql, "UPDATE units SET %s WHERE unit = %d", i < n_units ? units[i] : hosts[i - n_units],
                 i < n_units);
        assert_int_equal(dfw_db_exec(db, sql, "change it", NULL), DF_OK);
        assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, &error), DF_E_IO);
        assert_non_null(strstr(error.text, "makes no sense"));
    }
    dfw_db_close(db);
}

static void links_between_devices_come_back(void **state)
{
    (void)state;
    struct dfw_db *db = open_new("peers.db");
    struct df_platform p = { .name = "pair", .n_units = 3, .n_classes = 2, .class_names = { "cpu", "gpu" } }, loaded;
    p.units[0] = (struct df_unit){ .name = "host", .workers = 3 };
    p.units[1] = p.units[2] = (struct df_unit){ .name = "g", .cls = 1, .workers = 1, .engines = 2,
                                                .h2d = { 6e9, 1e-5, 4096 }, .d2h = { 5e9, 2e-5, 0 } };
    static struct dfw_pairs pairs;
    pairs.link[1][2] = (struct df_link){ 50e9, 5e-6, 4096 };
    pairs.link[2][1] = (struct df_link){ 49e9, 5e-6, 2048 };
    bool found;
    assert_int_equal(dfw_platform_store(db, &p, &pairs, NULL, true, NULL), DF_OK);
    assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, false, NULL), DF_OK);
    assert_int_equal(dfw_platform_load_for(db, true, &loaded, &found, NULL), DF_OK);
    p.units[1].peer = p.units[2].peer = pairs.link[2][1];
    assert_same_platform(&loaded, &p);
    p.units[1].peer = p.units[2].peer = (struct df_link){ 0 };
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_same_platform(&loaded, &p);
    dfw_db_close(db);
}

/* ---- versions ---- */

static int64_t version_of(const char *path)
{
    sqlite3 *sqlite;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite, "PRAGMA user_version", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t version = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(sqlite);
    return version;
}

/* A database as it was before links between devices, word for word, with a platform and a sample of this machine. */
static void make_version_1(const char *path)
{
    char machine[512], *sql;
    dfw_machine_name(machine, sizeof machine);
    execute(
        path,
        "PRAGMA journal_mode = WAL;"
        "CREATE TABLE samples (id INTEGER PRIMARY KEY, machine TEXT NOT NULL, device TEXT NOT NULL, variant TEXT NOT"
        " NULL, kernel TEXT NOT NULL, dims TEXT NOT NULL, scalars TEXT NOT NULL, hash INTEGER NOT NULL,"
        " job_bytes INTEGER NOT NULL, mean_s REAL NOT NULL, ci_s REAL, runs INTEGER NOT NULL,"
        " dropped INTEGER NOT NULL, time INTEGER NOT NULL);"
        "CREATE INDEX samples_key ON samples (machine, kernel, dims, scalars, device, variant);"
        "CREATE TABLE platforms (id INTEGER PRIMARY KEY, machine TEXT NOT NULL, emulated INTEGER NOT NULL,"
        " name TEXT NOT NULL, time INTEGER NOT NULL);"
        "CREATE TABLE units (platform INTEGER NOT NULL REFERENCES platforms (id), unit INTEGER NOT NULL,"
        " class TEXT NOT NULL, name TEXT NOT NULL, workers INTEGER NOT NULL, memory_bytes INTEGER NOT NULL,"
        " engines INTEGER NOT NULL,"
        " launch_s REAL NOT NULL, jobs INTEGER NOT NULL, h2d_bytes_per_s REAL NOT NULL, h2d_latency_s REAL NOT NULL,"
        " h2d_threshold_bytes INTEGER NOT NULL, d2h_bytes_per_s REAL NOT NULL, d2h_latency_s REAL NOT NULL,"
        " d2h_threshold_bytes INTEGER NOT NULL, PRIMARY KEY (platform, unit)) WITHOUT ROWID;"
        "PRAGMA application_id = 1684435063; PRAGMA user_version = 1");
    sql = sqlite3_mprintf(
        "INSERT INTO platforms VALUES (1, %Q, 0, 'old', 1);"
        "INSERT INTO units VALUES (1, 0, 'cpu', 'host', 3, 1048576, 0, 0, 0, 0, 0, 0, 0, 0, 0);"
        "INSERT INTO units VALUES (1, 1, 'gpu', 'g', 1, 4096, 2, 8e-6, 4, 6e9, 1e-5, 4096, 5e9, 2e-5, 0);"
        "INSERT INTO samples VALUES (1, %Q, 'cpu', 'cpu', 'k', '', '', 7, 12, 0.25, 0.01, 5, 1, 1)",
        machine, machine);
    execute(path, sql);
    sqlite3_free(sql);
}

static void holds_what_version_1_held(struct dfw_db *db)
{
    char none[] = "";
    struct dfw_key key = key_of("k", none, 7);
    struct dfr_sample sample = { 0 };
    struct df_platform p = { .name = "old", .n_units = 2, .n_classes = 2, .class_names = { "cpu", "gpu" } }, loaded;
    p.units[0] = (struct df_unit){ .name = "host", .workers = 3, .memory_bytes = 1 << 20 };
    p.units[1] = (struct df_unit){ .name = "g", .cls = 1, .workers = 1, .memory_bytes = 4096, .engines = 2,
                                   .h2d = { 6e9, 1e-5, 4096 }, .d2h = { 5e9, 2e-5, 0 }, .launch_s = 8e-6, .jobs = 4 };
    bool found = false;
    assert_int_equal(load_sample(db, &key, &sample, &found, NULL), DF_OK);
    assert_true(found && sample.mean_s == 0.25 && sample.runs == 5 && sample.dropped == 1);
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_true(found);
    assert_same_platform(&loaded, &p);
}

static void an_older_database_keeps_what_it_has(void **state)
{
    (void)state;
    struct dfw_db *db;
    const char *path = in_folder("old.db");
    make_version_1(path);
    assert_int_equal(dfw_db_open(path, false, &db, NULL), DF_OK);
    holds_what_version_1_held(db);
    dfw_db_close(db);
    assert_int_equal(version_of(path), 9);
    db = open_new("old.db");            /* and takes what is new */
    holds_what_version_1_held(db);
    struct df_platform p = { .n_units = 3, .n_classes = 2, .class_names = { "cpu", "gpu" } }, loaded;
    static struct dfw_pairs pairs;
    bool found;
    p.units[0].workers = 1;
    p.units[1] = p.units[2] = (struct df_unit){ .cls = 1, .workers = 1, .engines = 2, .h2d = { 1, 0, 0 },
                                                .d2h = { 1, 0, 0 } };
    pairs.link[1][2] = pairs.link[2][1] = (struct df_link){ 50e9, 5e-6, 0 };
    assert_int_equal(dfw_platform_store(db, &p, &pairs, NULL, false, NULL), DF_OK);
    assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
    assert_true(loaded.units[1].peer.bytes_per_s == 50e9);
    dfw_db_close(db);
}

/* Version 2 had no table for whether registering is faster; later files of it had one that was made when needed. */
static void version_2_with_and_without_registers(void **state)
{
    (void)state;
    struct df_platform p = { .n_units = 2, .n_classes = 2, .class_names = { "cpu", "gpu" } }, loaded;
    p.units[0].workers = 1;
    p.units[1] = (struct df_unit){ .cls = 1, .workers = 1, .engines = 2, .h2d = { 1, 0, 0 }, .d2h = { 1, 0, 0 },
                                   .registers = DF_REGISTER_NO };
    for (int with = 0; with < 2; with++) {
        const char *name = with ? "with.db" : "without.db";
        struct dfw_db *db = open_new(name);
        bool found;
        assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, false, NULL), DF_OK);
        dfw_db_close(db);
        if (!with)
            execute(in_folder(name), "DROP TABLE registers");
        execute(in_folder(name), "DROP TABLE bandwidths; DROP TABLE loads; DROP TABLE handovers; DROP TABLE figures; ALTER TABLE samples DROP COLUMN quantiles; PRAGMA user_version = 2");
        db = open_new(name);
        assert_int_equal(version_of(in_folder(name)), 9);
        assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
        assert_true(found && loaded.units[1].registers == (with ? DF_REGISTER_NO : DF_REGISTER_UNKNOWN));
        assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, false, NULL), DF_OK);
        assert_int_equal(dfw_platform_load_for(db, false, &loaded, &found, NULL), DF_OK);
        assert_true(found && loaded.units[1].registers == DF_REGISTER_NO);
        dfw_db_close(db);
    }
}

/* A file that cannot be written is read as it is. */
static void an_older_database_may_be_read_only(void **state)
{
    (void)state;
    struct dfw_db *db;
    const char *path = in_folder("old-read-only.db");
    make_version_1(path);
    execute(path, "PRAGMA journal_mode = DELETE");
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(temp_folder, 0755), 0);
    uid_t was = geteuid();
    if (was == 0)                       /* the superuser writes what he likes */
        assert_int_equal(seteuid(65534), 0);
    assert_int_equal(dfw_db_open(path, false, &db, NULL), DF_OK);
    holds_what_version_1_held(db);
    struct df_platform p = { .n_units = 1, .n_classes = 1, .class_names = { "cpu" } };
    assert_int_equal(dfw_platform_store(db, &p, NULL, NULL, false, NULL), DF_E_IO);
    dfw_db_close(db);
    assert_int_equal(seteuid(was), 0);
    assert_int_equal(version_of(path), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(sets_are_combined),
        cmocka_unit_test(keys_are_listed_once),
        cmocka_unit_test(two_processes_lose_nothing),
        cmocka_unit_test(what_cannot_be_opened_is_said),
        cmocka_unit_test(a_damaged_table_is_said),
        cmocka_unit_test(a_missing_file_is_no_database),
        cmocka_unit_test(the_default_place_is_made),
        cmocka_unit_test(platforms_come_back),
        cmocka_unit_test(figures_come_back),
        cmocka_unit_test(what_makes_no_sense_is_passed_over),
        cmocka_unit_test(links_between_devices_come_back),
        cmocka_unit_test(an_older_database_keeps_what_it_has),
        cmocka_unit_test(version_2_with_and_without_registers),
        cmocka_unit_test(an_older_database_may_be_read_only),
    };
    return cmocka_run_group_tests_name("db", tests, temp_folder_make, temp_folder_remove);
}
