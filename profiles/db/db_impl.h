/* db_impl.h - internal interface of the profile database, shared by the files of this room: db_schema.c creates and
 * migrates the tables, db.c stores samples, sample_range.c validates them, db_points.c loads them for all sizes of a
 * kernel, memory_demand.c derives a kernel's demand for memory bandwidth, db_platform.c stores and loads platforms,
 * figures.c the performance figures of their units, learned.c imports the samples that programs left behind, rates.c
 * the firing rates of their nodes, and times.c loads what is known of a graph's kernels.
 *
 * This room is the only one that knows SQLite.
 *
 * Errors:   dfw_db_fail() records the attempted operation, the path and SQLite's own message; it returns DF_E_IO.
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
    struct dfw_imported imported;       /* what was taken in when it was opened */
    bool waiting, said_waiting;         /* for a lock, since: */
    double waits_since_s;
    char senseless[224];                /* about the first row that was passed over; "": none was */
};

#define DFW_SETS_COMBINED 16            /* so many of a key's latest sample sets count */

/* Makes one estimate of 1 … DFW_SETS_COMBINED sample sets, the latest first. If there are three or more, sets that are
 * far off are left out: the machine was busy then, or had another clock rate. A set is far off if its mean is more than
 * 3 scaled median deviations, and more than 2 %, from the median of the means. */
void dfw_samples_combine(const struct dfr_sample *sets, uint32_t n, struct dfr_sample *sample);

/* Reads the columns mean_s, ci_s, runs and dropped of a row, from column `at` on. The statement has asked
 * sample_usable() or sample_fault(). */
void dfw_db_sample(sqlite3_stmt *s, int at, struct dfr_sample *sample);

/* sample_range.c: registers the SQL functions that validate samples. */
#define DFW_SAMPLE_FIELDS 5             /* job_bytes, mean_s, ci_s, runs, dropped */
#define DFW_LEAST_JOB_S 1e-12           /* no job takes less: it is less than a cycle */
int dfw_sample_functions(struct dfw_db *db, struct df_error *error);
#define DFW_USABLE " sample_usable(kernel, job_bytes, mean_s, ci_s, runs, dropped)"

/* learned.c. dfw_learned_waits(): whether programs left files beside the database at this path. dfw_learned_import():
 * takes these files in; db->imported says what came of it. If that fails, the database is opened all the same. */
bool dfw_learned_waits(const char *db_path);
void dfw_learned_import(struct dfw_db *db);

/* rates.c: takes in the rates that the first line of a program's file has, in place of those that the program left before.
 * *n: how many. *good: they make sense; else nothing was taken. */
int dfw_rates_take(struct dfw_db *db, const char *header, uint32_t *n, bool *good, struct df_error *error);

/* db_schema.c: called after opening the file. DF_E_IO: the file of another program, or of a newer version. */
int dfw_db_check_schema(struct dfw_db *db, bool create, struct df_error *error);

int dfw_db_fail(struct dfw_db *db, const char *what, struct df_error *error);

/* db_platform.c: the bandwidth of the host's memory, as this machine's latest probe found it, with or without emulated
 * GPUs, or its latest sample under load: the newer of both. 0: not known. */
int dfw_bandwidth_load(struct dfw_db *db, double *bytes_per_s, struct df_error *error);

/* figures.c: of a platform whose units are stored, or loaded: figures are by unit. Rows that make no sense are passed over. */
int dfw_figures_store(struct dfw_db *db, sqlite3_int64 platform, uint32_t n_units, const struct dfw_figures *figures,
                      struct df_error *error);
int dfw_figures_load(struct dfw_db *db, sqlite3_int64 id, struct df_platform *platform, struct df_error *error);

/* sqlite3_step(), retried while another process holds the lock. After 1 s a message says what it waits for; after 10 s the
 * statement fails. */
int dfw_db_step(struct dfw_db *db, sqlite3_stmt *statement);

/* Runs one statement whose rows are not wanted. */
int dfw_db_exec(struct dfw_db *db, const char *sql, const char *what, struct df_error *error);

int dfw_db_prepare(struct dfw_db *db, const char *sql, sqlite3_stmt **statement, struct df_error *error);

#endif
