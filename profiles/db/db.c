/* db.c - the profile database, for the commands that load, profile and probe: opens the SQLite file, stores sample
 * sets, and lists and combines them when they are read. The rest of the room reports errors and runs SQL through it.
 *
 * Sample sets are only ever added, each by a single INSERT. Two programs that profile at the same time therefore block
 * each other for no longer than one insert, and neither loses data.
 */
#include "profiles/profiles.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profiles/db/db_impl.h"
#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/engine/log.h"
#include "runtime/start/learn.h"
#include "runtime/threads/clock.h"

enum { SILENT_WAIT_S = 1, MOST_WAIT_S = 10 }; /* for a lock: without a word; at most */

/* ---- statements ---- */

int dfw_db_fail(struct dfw_db *db, const char *what, struct df_error *error)
{
    int code = db->sqlite ? sqlite3_extended_errcode(db->sqlite) : SQLITE_NOMEM;
    const char *words = db->sqlite ? sqlite3_errmsg(db->sqlite) : "out of memory";
    int primary = code & 0xff;
    const char *hint = "";
    db->failed_code = primary;
    if (primary == SQLITE_NOTADB || primary == SQLITE_CORRUPT)
        hint = "; it is damaged or no profile database: move it away, or name another with DFC_PROFILE";
    else if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED)
        hint = "; another program kept it locked";
    else if (primary == SQLITE_READONLY)
        hint = "; there is no permission to write it or its folder";
    return dfr_error(error, DF_E_IO, "profile database '%s': cannot %s: %s%s", db->path, what, words, hint);
}

static bool is_busy(int code)
{
    return (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
}

/* Called when another program holds a lock that a statement needs. Gives 1 if the statement is to be tried again, after a
 * short time. Waiting ends with the first statement that is not held up. After giving up, statements are tried once. */
static int wait_for_lock(void *arg, int tries)
{
    struct dfw_db *db = arg;
    double now_s = dfr_clock_s();
    (void)tries;
    if (!db->waiting) {
        db->waits_since_s = now_s;
        db->said_waiting = false;
    }
    db->waiting = true;
    double waited_s = now_s - db->waits_since_s;
    if (waited_s >= MOST_WAIT_S)
        return 0;
    if (waited_s >= SILENT_WAIT_S && !db->said_waiting) {
        dfr_say("waiting for the profile database '%s', which another program has locked; for %d s at most", db->path,
                MOST_WAIT_S);
        db->said_waiting = true;
    }
    nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000 * 1000 }, NULL);
    return 1;
}

/* SQLite calls wait_for_lock() where plain waiting helps. But if waiting could be a deadlock, it answers at once: at the
 * switch to the write-ahead log, and at recovery after a crash. For statements outside transactions, trying again is
 * enough. */
static bool tries_again(struct dfw_db *db, int code)
{
    if (is_busy(code))
        return wait_for_lock(db, 0);
    db->waiting = false;
    return false;
}

int dfw_db_step(struct dfw_db *db, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    while (tries_again(db, code)) {
        sqlite3_reset(statement);
        code = sqlite3_step(statement);
    }
    return code;
}

int dfw_db_prepare(struct dfw_db *db, const char *sql, sqlite3_stmt **statement, struct df_error *error)
{
    int code = sqlite3_prepare_v2(db->sqlite, sql, -1, statement, NULL);
    while (tries_again(db, code))
        code = sqlite3_prepare_v2(db->sqlite, sql, -1, statement, NULL);
    return code == SQLITE_OK ? DF_OK : dfw_db_fail(db, "read it", error);
}

int dfw_db_exec(struct dfw_db *db, const char *sql, const char *what, struct df_error *error)
{
    sqlite3_stmt *statement;
    int status = dfw_db_prepare(db, sql, &statement, error);
    if (status != DF_OK)
        return status;
    int code = dfw_db_step(db, statement);
    while (code == SQLITE_ROW)
        code = dfw_db_step(db, statement);
    if (code != SQLITE_DONE)
        status = dfw_db_fail(db, what, error);
    sqlite3_finalize(statement);
    return status;
}

/* ---- opening ---- */

static int open_with(struct dfw_db *db, const char *name, int flags, bool create, struct df_error *error)
{
    if (sqlite3_open_v2(name, &db->sqlite, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return dfw_db_fail(db, "open it", error);
    sqlite3_extended_result_codes(db->sqlite, 1);
    sqlite3_busy_handler(db->sqlite, wait_for_lock, db);
    int status = dfw_sample_functions(db, error);
    if (status == DF_OK)
        status = dfw_db_check_schema(db, create, error);
    if (status == DF_OK && sqlite3_db_readonly(db->sqlite, "main") == 0) {
        /* If the file system has no shared memory, SQLite keeps its old journal, which is slower and as safe. */
        status = dfw_db_exec(db, "PRAGMA journal_mode = WAL", "open it", error);
        if (status == DF_OK)
            status = dfw_db_exec(db, "PRAGMA synchronous = NORMAL", "open it", error);
    }
    return status;
}

/* Opens a write-ahead database in a folder that must not be written: SQLite reads it only if told that nobody changes
 * it. */
static int open_immutable(struct dfw_db *db, struct df_error *error)
{
    sqlite3_close(db->sqlite);
    db->sqlite = NULL;
    size_t length = strlen(db->path);
    char *uri = malloc(3 * length + 32);
    if (!uri)
        return dfr_error_memory(error);
    char *to = stpcpy(uri, "file:");
    for (const char *from = db->path; *from; from++) {
        if (*from == '%' || *from == '?' || *from == '#')
            to += sprintf(to, "%%%02x", (unsigned char)*from);
        else
            *to++ = *from;
    }
    strcpy(to, "?immutable=1");
    int status = open_with(db, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, false, error);
    free(uri);
    return status;
}

/* Whether there is no file, or one that was created and never written. */
static bool is_nothing(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR;
    return S_ISREG(status.st_mode) && status.st_size == 0;
}

int dfw_db_open(const char *path, bool create, struct dfw_db **result, struct df_error *error)
{
    if (path && !*path)                 /* SQLite would make a temporary database and lose it */
        return dfr_error(error, DF_E_ARGUMENT, "the profile database has no name");
    struct dfw_db *db = calloc(1, sizeof *db);
    if (!db)
        return dfr_error_memory(error);
    int status = path ? DF_OK : dfr_learn_database(&db->path, error);
    if (path && !(db->path = strdup(path)))
        status = dfr_error_memory(error);
    if (status != DF_OK) {
        free(db);
        return status;
    }
    if (!create && dfw_learned_waits(db->path))
        create = true;
    if (!create && is_nothing(db->path)) {
        dfw_db_close(db);
        *result = NULL;
        return DF_OK;
    }
    if (create && !path)
        dfr_make_folders(db->path);
    status = open_with(db, db->path, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), create, error);
    bool no_log = db->failed_code == SQLITE_CANTOPEN || db->failed_code == SQLITE_READONLY;
    if (status != DF_OK && !create && no_log && access(db->path, R_OK) == 0)
        status = open_immutable(db, error);
    if (status != DF_OK) {
        dfw_db_close(db);
        return status;
    }
    dfw_machine_name(db->machine, sizeof db->machine);
    dfw_learned_import(db);
    *result = db;
    return DF_OK;
}

void dfw_db_close(struct dfw_db *db)
{
    if (!db)
        return;
    sqlite3_close(db->sqlite);
    free(db->path);
    free(db);
}

const char *dfw_db_path(const struct dfw_db *db)
{
    return db->path;
}

const struct dfw_imported *dfw_db_imported(const struct dfw_db *db)
{
    return &db->imported;
}

/* ---- samples ---- */

/* Binds the key to the parameters ?1 … ?8. SQLite has only signed integers; that is enough, as the hash is only
 * compared for equality. */
static void bind_key(struct dfw_db *db, sqlite3_stmt *s, const struct dfw_key *key)
{
    sqlite3_bind_text(s, 1, db->machine, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, key->device, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, key->variant, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, key->work.kernel, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, key->work.dims, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 6, key->work.scalars, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 7, (sqlite3_int64)key->work.hash);
    sqlite3_bind_int64(s, 8, (sqlite3_int64)key->work.job_bytes);
}

static void bind_quantiles(sqlite3_stmt *s, int at, const float *quantiles)
{
    char text[16 * DFR_QUANTILES];
    size_t used = 0;
    for (unsigned i = 0; i < DFR_QUANTILES && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.5g", i ? " " : "", (double)quantiles[i]);
    sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

int dfw_sample_store(struct dfw_db *db, const struct dfw_key *key, const struct dfr_sample *sample,
                     struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db,
                                "INSERT INTO samples (machine, device, variant, kernel, dims, scalars, hash, job_bytes,"
                                " mean_s, ci_s, runs, dropped, time, quantiles)"
                                " SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14"
                                " WHERE sample_fault(?8, ?9, ?10, ?11, ?12) IS NULL",
                                &s, error);
    if (status != DF_OK)
        return status;
    bind_key(db, s, key);
    sqlite3_bind_double(s, 9, sample->mean_s);
    sqlite3_bind_double(s, 10, sample->ci_s); /* NaN becomes NULL */
    sqlite3_bind_int64(s, 11, sample->runs);
    sqlite3_bind_int64(s, 12, sample->dropped);
    sqlite3_bind_int64(s, 13, (sqlite3_int64)time(NULL));
    if (sample->quantile[DFR_QUANTILES - 1] > 0)
        bind_quantiles(s, 14, sample->quantile);
    if (dfw_db_step(db, s) != SQLITE_DONE)
        status = dfw_db_fail(db, "store a sample", error);
    else if (sqlite3_changes(db->sqlite) == 0)
        status = dfr_error(error, DF_E_ARGUMENT, "the sample of '%s' makes no sense", key->work.kernel);
    sqlite3_finalize(s);
    return status;
}

/* Stores the load of the sample that was stored last. A number that is not there is NULL in the row. */
static int store_load(struct dfw_db *db, const struct dfr_load *load, struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db, "INSERT INTO loads VALUES (last_insert_rowid(),?1,?2,?3,?4,?5)", &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_int64(s, 1, load->workers);
    sqlite3_bind_double(s, 2, load->self_s);
    sqlite3_bind_double(s, 3, load->triad_s);
    sqlite3_bind_double(s, 4, load->one_bytes_per_s);
    sqlite3_bind_double(s, 5, load->all_bytes_per_s);
    if (dfw_db_step(db, s) != SQLITE_DONE)
        status = dfw_db_fail(db, "store a sample", error);
    sqlite3_finalize(s);
    return status;
}

int dfw_sample_store_loaded(struct dfw_db *db, const struct dfw_key *key, const struct dfr_sample *sample,
                            const struct dfr_load *load, struct df_error *error)
{
    int status = dfw_db_exec(db, "SAVEPOINT loaded", "store a sample", error);
    if (status != DF_OK)
        return status;
    status = dfw_sample_store(db, key, sample, error);
    if (status == DF_OK)
        status = store_load(db, load, error);
    if (status == DF_OK)
        status = dfw_db_exec(db, "RELEASE loaded", "store a sample", error);
    if (status != DF_OK)                /* without its load the sample would count as one that was taken alone */
        sqlite3_exec(db->sqlite, "ROLLBACK TO loaded; RELEASE loaded", NULL, NULL, NULL);
    return status;
}

void dfw_db_sample(sqlite3_stmt *s, int at, struct dfr_sample *sample)
{
    uint32_t runs = (uint32_t)sqlite3_column_int64(s, at + 2), dropped = (uint32_t)sqlite3_column_int64(s, at + 3);
    *sample = (struct dfr_sample){ .mean_s = sqlite3_column_double(s, at), .runs = runs,
                                   .ci_s = sqlite3_column_type(s, at + 1) == SQLITE_NULL
                                               ? NAN : sqlite3_column_double(s, at + 1),
                                   .dropped = dropped < runs ? dropped : 0 };
}

void dfw_samples_combine(const struct dfr_sample *sets, uint32_t n, struct dfr_sample *sample)
{
    double means[DFW_SETS_COMBINED], scratch[2 * DFW_SETS_COMBINED];
    uint64_t runs = 0, dropped = 0;
    if (n == 1) {
        *sample = sets[0];
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        means[i] = scratch[i] = sets[i].mean_s;
        runs += sets[i].runs;
        dropped += sets[i].dropped;
    }
    if (runs == n) {                    /* all sets are single runs, so they are the measurements themselves */
        dfr_sample_of(means, n, scratch, sample);
        return;
    }
    double median = dfr_median(scratch, n);
    for (uint32_t i = 0; i < n; i++)
        scratch[i] = fabs(means[i] - median);
    double limit = n < 3 ? INFINITY : 3 * fmax(1.4826 * dfr_median(scratch, n), median * 0.02 / 3);
    double weight = 0, sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (fabs(means[i] - median) > limit) {
            dropped += sets[i].runs - sets[i].dropped;
            continue;
        }
        double w = sets[i].runs;
        weight += w;
        sum += w * means[i];
        if (!isnan(sets[i].ci_s))
            squares += w * sets[i].ci_s * w * sets[i].ci_s;
    }
    sample->mean_s = sum / weight;
    sample->ci_s = sqrt(squares) / weight;
    sample->runs = runs > UINT32_MAX ? UINT32_MAX : (uint32_t)runs;
    sample->dropped = dropped > UINT32_MAX ? UINT32_MAX : (uint32_t)dropped;
}

int dfw_sample_any(struct dfw_db *db, const char *kernel, bool *any, struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db,
                                "SELECT 1 FROM samples WHERE machine = ?1 AND kernel = ?2 AND" DFW_USABLE " LIMIT 1",
                                &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_text(s, 1, db->machine, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, kernel, -1, SQLITE_STATIC);
    int code = dfw_db_step(db, s);
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        *any = code == SQLITE_ROW;
    else
        status = dfw_db_fail(db, "read samples", error);
    sqlite3_finalize(s);
    return status;
}

int dfw_sample_each(struct dfw_db *db, void (*known)(void *arg, const struct dfw_key *key), void *arg,
                    struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db,
                                db->version >= 4
                                    ? "SELECT device, variant, kernel, dims, scalars, hash, job_bytes,"
                                      " max(self_s IS NOT NULL) FROM samples LEFT JOIN loads ON sample = id"
                                      " WHERE machine = ?1 AND" DFW_USABLE
                                      " GROUP BY device, variant, kernel, dims, scalars, hash, job_bytes"
                                    : "SELECT DISTINCT device, variant, kernel, dims, scalars, hash, job_bytes, 0"
                                      " FROM samples WHERE machine = ?1 AND" DFW_USABLE,
                                &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_text(s, 1, db->machine, -1, SQLITE_STATIC);
    int code = dfw_db_step(db, s);
    for (; code == SQLITE_ROW; code = dfw_db_step(db, s)) {
        struct dfw_key key = { .device = (const char *)sqlite3_column_text(s, 0),
                               .variant = (const char *)sqlite3_column_text(s, 1),
                               .loaded = sqlite3_column_int(s, 7) != 0,
                               .work = { .kernel = (const char *)sqlite3_column_text(s, 2),
                                         .dims = (char *)(uintptr_t)sqlite3_column_text(s, 3),
                                         .scalars = (char *)(uintptr_t)sqlite3_column_text(s, 4),
                                         .hash = (uint64_t)sqlite3_column_int64(s, 5),
                                         .job_bytes = (uint64_t)sqlite3_column_int64(s, 6) } };
        if (!key.device || !key.variant || !key.work.kernel || !key.work.dims || !key.work.scalars) {
            sqlite3_finalize(s);
            return dfr_error_memory(error);
        }
        known(arg, &key);
    }
    if (code != SQLITE_DONE)
        status = dfw_db_fail(db, "read samples", error);
    sqlite3_finalize(s);
    return status;
}
