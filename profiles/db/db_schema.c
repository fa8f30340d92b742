/* db_schema.c - creates the tables of the profile database, and migrates files of older versions, for db.c.
 *
 * Versions: 1 has samples, platforms and units. 2 adds links between devices; 3 whether registering (pinning) memory is
 *           faster; 4 the bandwidth of the host's memory, and samples taken under load; 5 hand-over latencies; 6
 *           performance figures of units; 7 firing rates; 8 numbers of waves; 9 the quantiles of a sample set. A writable file of an older version is
 *           migrated when it is opened, by steps that only add tables and columns. A read-only file is read as it is.
 */
#include "profiles/db/db_impl.h"
#include "runtime/base/error.h"

#define SCHEMA_VERSION 9
#define APPLICATION_ID 0x64667077       /* "dfpw" */

static const char *const steps[SCHEMA_VERSION] = { /* [v]: from version v to the next */
    "CREATE TABLE samples (id INTEGER PRIMARY KEY, machine TEXT NOT NULL, device TEXT NOT NULL, variant TEXT NOT NULL,"
    " kernel TEXT NOT NULL, dims TEXT NOT NULL, scalars TEXT NOT NULL, hash INTEGER NOT NULL,"
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
    " d2h_threshold_bytes INTEGER NOT NULL, PRIMARY KEY (platform, unit)) WITHOUT ROWID;",

    "CREATE TABLE peers (platform INTEGER NOT NULL REFERENCES platforms (id), sender INTEGER NOT NULL,"
    " receiver INTEGER NOT NULL, bytes_per_s REAL NOT NULL, latency_s REAL NOT NULL,"
    " threshold_bytes INTEGER NOT NULL, PRIMARY KEY (platform, sender, receiver)) WITHOUT ROWID;",

    /* Some files of version 2 have this table already: it was made outside of these steps at first. */
    "CREATE TABLE IF NOT EXISTS registers (platform INTEGER NOT NULL REFERENCES platforms (id), unit INTEGER NOT NULL,"
    " registers INTEGER NOT NULL);",

    /* loads: a sample set's row says how many workers ran, N. If self_s is there, the set itself was taken alone; self_s
     * and triad_s are the mean times beside N - 1 workers that ran the same kernel, and STREAM's triad; the rates are
     * the triad's on one core and on all cores at that time. self_s is 0 for a kernel that never runs beside itself. If
     * self_s is not there, the set itself was taken in a run of N workers (--learn). */
    "CREATE TABLE bandwidths (platform INTEGER PRIMARY KEY REFERENCES platforms (id), bytes_per_s REAL NOT NULL);"
    "CREATE TABLE loads (sample INTEGER PRIMARY KEY REFERENCES samples (id), workers INTEGER NOT NULL, self_s REAL,"
    " triad_s REAL, one_bytes_per_s REAL, all_bytes_per_s REAL);",

    "CREATE TABLE handovers (platform INTEGER NOT NULL REFERENCES platforms (id), unit INTEGER NOT NULL,"
    " seconds REAL NOT NULL, PRIMARY KEY (platform, unit)) WITHOUT ROWID;",

    "CREATE TABLE figures (platform INTEGER NOT NULL REFERENCES platforms (id), unit INTEGER NOT NULL,"
    " figure TEXT NOT NULL, threads INTEGER NOT NULL, per_s REAL NOT NULL,"
    " PRIMARY KEY (platform, unit, figure, threads)) WITHOUT ROWID;",

    "CREATE TABLE IF NOT EXISTS rates (program TEXT NOT NULL, code TEXT NOT NULL, node TEXT NOT NULL, fired INTEGER NOT NULL,"
    " waves INTEGER NOT NULL, PRIMARY KEY (program, code, node)) WITHOUT ROWID;",

    "CREATE TABLE IF NOT EXISTS waves (program TEXT NOT NULL, code TEXT NOT NULL, waves INTEGER NOT NULL, PRIMARY KEY (program, code)) WITHOUT ROWID;",

    /* quantiles: as dfr_quantiles_read() reads them. */
    "ALTER TABLE samples ADD COLUMN quantiles TEXT;",
};

static int pragma_int(struct dfw_db *db, const char *sql, int64_t *value, struct df_error *error)
{
    sqlite3_stmt *statement;
    int status = dfw_db_prepare(db, sql, &statement, error);
    if (status != DF_OK)
        return status;
    if (dfw_db_step(db, statement) == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    else
        status = dfw_db_fail(db, "read it", error);
    sqlite3_finalize(statement);
    return status;
}

/* Makes in one transaction what the file does not have yet, since several programs may start at the same time. */
static int bring_up(struct dfw_db *db, struct df_error *error)
{
    int status = dfw_db_exec(db, "BEGIN IMMEDIATE", "lock it", error);
    if (status != DF_OK)
        return status;
    int64_t version = 0;
    status = pragma_int(db, "PRAGMA user_version", &version, error);
    for (int64_t v = version; v < SCHEMA_VERSION && status == DF_OK; v++)
        if (sqlite3_exec(db->sqlite, steps[v], NULL, NULL, NULL) != SQLITE_OK)
            status = dfw_db_fail(db, "make its tables", error);
    char mark[96];
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID, SCHEMA_VERSION);
    if (status == DF_OK && version < SCHEMA_VERSION && sqlite3_exec(db->sqlite, mark, NULL, NULL, NULL) != SQLITE_OK)
        status = dfw_db_fail(db, "make its tables", error);
    if (status == DF_OK)
        status = dfw_db_exec(db, "COMMIT", "write it", error);
    if (status != DF_OK)
        sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
    else
        db->version = SCHEMA_VERSION;
    return status;
}

/* Reads in one transaction, as another program may be making the tables at this moment. */
static int read_marks(struct dfw_db *db, int64_t *version, int64_t *application, int64_t *tables,
                      struct df_error *error)
{
    int status = dfw_db_exec(db, "BEGIN", "read it", error);
    if (status != DF_OK)
        return status;
    status = pragma_int(db, "PRAGMA user_version", version, error);
    if (status == DF_OK)
        status = pragma_int(db, "PRAGMA application_id", application, error);
    if (status == DF_OK)
        status = pragma_int(db, "SELECT count(*) FROM sqlite_master", tables, error);
    sqlite3_exec(db->sqlite, status == DF_OK ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL);
    return status;
}

int dfw_db_check_schema(struct dfw_db *db, bool create, struct df_error *error)
{
    int64_t version = 0, application = 0, tables = 0;
    int status = read_marks(db, &version, &application, &tables, error);
    if (status != DF_OK)
        return status;
    bool read_only = sqlite3_db_readonly(db->sqlite, "main") == 1;
    bool ours = version >= 1 && application == APPLICATION_ID;
    db->version = version;
    if (ours && version <= SCHEMA_VERSION)
        return version == SCHEMA_VERSION || read_only ? DF_OK : bring_up(db, error);
    if (ours)
        return dfr_error(error, DF_E_IO, "profile database '%s': made by a newer dfc (schema %lld, this one knows %d)",
                         db->path, (long long)version, SCHEMA_VERSION);
    if (tables > 0 || application != 0)
        return dfr_error(error, DF_E_IO, "profile database '%s': this SQLite file belongs to another program",
                         db->path);
    if (!create || read_only)
        return dfr_error(error, DF_E_IO, "profile database '%s': it is empty and cannot be written", db->path);
    return bring_up(db, error);
}
