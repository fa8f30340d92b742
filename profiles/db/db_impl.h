/* db_impl.h - the inside of the profile database, for the files that hold its tables: db.c (samples), db_points.c
 * (what they say of all sizes of a kernel), db_platform.c, learned.c (samples that programs left behind); and
 * db_schema.c, which makes the tables.
 *
 * Errors:   dfw_db_fail() says what was attempted, the path and SQLite's own words; DF_E_IO.
 * Threads:  a connection belongs to one thread; other processes may write the same file at the same time.
 */
#ifndef DFW_DB_IMPL_H
#define DFW_DB_IMPL_H

#include <sqlite3.h>

#include "profiles/profiles.h"

struct dfw_db {
    sqlite3 *sqlite;
    char *path;
    char machine[512];
    int failed_code;                    /* SQLite's, of the latest failure */
    int64_t version;                    /* which of the versions in db_schema.c its tables are of */
    struct dfw_imported imported;       /* when it was opened */
};

#define DFW_SETS_COMBINED 16            /* the latest sample sets of a key that count */

/* One estimate of 1 … DFW_SETS_COMBINED sample sets, the latest first. With three or more, those beyond 3 scaled
 * median deviations of the median of their means (and more than 2 % off) are from a machine that was busy, or clocked
 * otherwise: left out. */
void dfw_samples_combine(const struct dfr_sample *sets, uint32_t n, struct dfr_sample *sample);

/* Columns `at` … of a row: mean_s, ci_s, runs, dropped. false: that is no time, and is to be passed over: a file may be
 * damaged, or written by other hands, and planners take times as they are. */
bool dfw_db_sample(sqlite3_stmt *s, int at, struct dfr_sample *sample);

/* learned.c. Whether programs left files beside the database at this path; and taking them in: db->imported says what
 * came of it, a failure is no reason not to open the database. */
bool dfw_learned_waits(const char *db_path);
void dfw_learned_import(struct dfw_db *db);

/* db_schema.c, when it was opened: DF_E_IO for a file that is none of ours, or of a newer version. */
int dfw_db_check_schema(struct dfw_db *db, bool create, struct df_error *error);

int dfw_db_fail(struct dfw_db *db, const char *what, struct df_error *error);

/* sqlite3_step(), tried again while another process holds the lock. */
int dfw_db_step(sqlite3_stmt *statement);

/* One statement without a result. */
int dfw_db_exec(struct dfw_db *db, const char *sql, const char *what, struct df_error *error);

int dfw_db_prepare(struct dfw_db *db, const char *sql, sqlite3_stmt **statement, struct df_error *error);

#endif
