/* db_impl.h - the inside of the profile database, for the files that hold its tables: db.c (samples), db_platform.c.
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
    sqlite3_stmt *load;                 /* of dfw_sample_load(), made when first needed */
    char *path;
    char machine[512];
    int failed_code;                    /* SQLite's, of the latest failure */
};

int dfw_db_fail(struct dfw_db *db, const char *what, struct df_error *error);

/* sqlite3_step(), tried again while another process holds the lock. */
int dfw_db_step(sqlite3_stmt *statement);

/* One statement without a result. */
int dfw_db_exec(struct dfw_db *db, const char *sql, const char *what, struct df_error *error);

int dfw_db_prepare(struct dfw_db *db, const char *sql, sqlite3_stmt **statement, struct df_error *error);

#endif
