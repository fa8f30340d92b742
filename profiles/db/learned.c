/* learned.c - moves what programs learned (runtime/start/learn.h) into the database.
 *
 * Once:     the samples of a file and the file's name go into the database by one transaction. Then the file is
 *           removed. If two commands come at the same time, the second one finds the name and takes nothing. So does a
 *           command that comes after a crash between the two steps.
 * Others:   files of other machines that share the folder stay for the dfc of those machines. A file that cannot be
 *           read as samples is renamed.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profiles/db/db_impl.h"
#include "runtime/base/error.h"
#include "runtime/start/learn.h"

enum outcome { TAKEN, TAKEN_BEFORE, NOT_READABLE, NOT_OURS };

static bool is_learned(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return entry->d_name[0] != '.' && n > 6 && !strcmp(entry->d_name + n - 6, ".jsonl");
}

static int filter(const struct dirent *entry)
{
    return is_learned(entry);
}

bool dfw_learned_waits(const char *db_path)
{
    char *folder = dfr_learn_folder(db_path);
    DIR *dir = folder ? opendir(folder) : NULL;
    bool found = false;
    if (dir) {
        for (const struct dirent *entry = readdir(dir); entry && !found; entry = readdir(dir))
            found = is_learned(entry);
        closedir(dir);
    }
    free(folder);
    return found;
}

/* ---- one file ---- */

static const char *column(sqlite3_stmt *s, int i)
{
    const char *text = (const char *)sqlite3_column_text(s, i);
    return text ? text : "";
}

static bool is_header(sqlite3_stmt *s, const char *line, enum outcome *outcome)
{
    char machine[224];
    bool good = false;
    dfr_learn_machine(machine, sizeof machine);
    sqlite3_bind_text(s, 1, line, -1, SQLITE_STATIC);
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 11) == DFR_LEARN_VERSION) {
        good = true;
        if (strcmp(column(s, 12), machine) != 0)
            *outcome = NOT_OURS;
    }
    sqlite3_reset(s);
    return good;
}

static bool take_line(struct dfw_db *db, sqlite3_stmt *s, const char *line, int *status, struct df_error *error)
{
    bool good = false;
    sqlite3_bind_text(s, 1, line, -1, SQLITE_STATIC);
    if (sqlite3_step(s) == SQLITE_ROW) {
        struct dfw_key key = { .device = column(s, 0), .variant = column(s, 1),
                               .work = { .kernel = column(s, 2), .dims = (char *)(uintptr_t)column(s, 3),
                                         .scalars = (char *)(uintptr_t)column(s, 4),
                                         .hash = strtoull(column(s, 5), NULL, 16),
                                         .job_bytes = (uint64_t)sqlite3_column_int64(s, 6) } };
        struct dfr_sample sample = { .mean_s = sqlite3_column_double(s, 7), .ci_s = NAN,
                                     .runs = (uint32_t)sqlite3_column_int64(s, 9),
                                     .dropped = (uint32_t)sqlite3_column_int64(s, 10) };
        if (sqlite3_column_type(s, 8) != SQLITE_NULL)
            sample.ci_s = sqlite3_column_double(s, 8);
        good = *key.device && *key.variant && *key.work.kernel && sqlite3_column_type(s, 7) != SQLITE_NULL;
        if (good) {
            int code = dfw_sample_store(db, &key, &sample, error);
            if (code == DF_E_ARGUMENT)
                good = false;           /* it is no time */
            else
                *status = code;
        }
    }
    sqlite3_reset(s);
    return good;
}

/* Whether the samples of this file are in the database already. If not, its name is put there. */
static int remember(struct dfw_db *db, const char *name, bool *fresh, struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db, "INSERT OR IGNORE INTO learned (file, time) VALUES (?1, ?2)", &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, (sqlite3_int64)time(NULL));
    if (dfw_db_step(s) != SQLITE_DONE)
        status = dfw_db_fail(db, "take in what programs learned", error);
    else
        *fresh = sqlite3_changes(db->sqlite) > 0;
    sqlite3_finalize(s);
    return status;
}

static int take_lines(struct dfw_db *db, sqlite3_stmt *s, FILE *file, enum outcome *outcome, uint32_t *n,
                      struct df_error *error)
{
    char *line = NULL;
    size_t capacity = 0;
    int status = DF_OK;
    *n = 0;
    bool good = getline(&line, &capacity, file) > 0 && is_header(s, line, outcome);
    while (good && *outcome == TAKEN && status == DF_OK && getline(&line, &capacity, file) > 0) {
        good = take_line(db, s, line, &status, error);
        *n += good;
    }
    if (!good)
        *outcome = NOT_READABLE;
    free(line);
    return status;
}

static int take_file(struct dfw_db *db, sqlite3_stmt *s, const char *path, const char *name, enum outcome *outcome,
                     uint32_t *n, struct df_error *error)
{
    bool fresh = true;
    FILE *file = fopen(path, "r");
    *n = 0;
    *outcome = TAKEN;
    if (!file) {                        /* another dfc has just taken it, or we may not read it */
        *outcome = NOT_OURS;
        return DF_OK;
    }
    int status = dfw_db_exec(db, "SAVEPOINT file", "write it", error);
    if (status == DF_OK)
        status = remember(db, name, &fresh, error);
    if (status == DF_OK && !fresh)
        *outcome = TAKEN_BEFORE;
    else if (status == DF_OK)
        status = take_lines(db, s, file, outcome, n, error);
    if (status == DF_OK && *outcome != TAKEN)
        status = dfw_db_exec(db, "ROLLBACK TO file", "write it", error);
    if (status == DF_OK)
        status = dfw_db_exec(db, "RELEASE file", "write it", error);
    fclose(file);
    return status;
}

/* ---- all of them ---- */

static int take_all(struct dfw_db *db, const char *folder, struct dirent **entries, int n, enum outcome *outcomes,
                    struct df_error *error)
{
    sqlite3_stmt *s = NULL;
    int status = dfw_db_exec(db, "BEGIN IMMEDIATE", "lock it", error);
    if (status != DF_OK)
        return status;
    status = dfw_db_exec(db,
                         "CREATE TABLE IF NOT EXISTS learned (file TEXT PRIMARY KEY, time INTEGER NOT NULL)"
                         " WITHOUT ROWID",
                         "write it", error);
    if (status == DF_OK)
        status = dfw_db_prepare(db,
                                "SELECT json_extract(?1, '$.device'), json_extract(?1, '$.variant'),"
                                " json_extract(?1, '$.kernel'), json_extract(?1, '$.dims'),"
                                " json_extract(?1, '$.scalars'), json_extract(?1, '$.hash'),"
                                " json_extract(?1, '$.job_bytes'), json_extract(?1, '$.median_s'),"
                                " json_extract(?1, '$.ci_s'), json_extract(?1, '$.runs'),"
                                " json_extract(?1, '$.dropped'), json_extract(?1, '$.learned'),"
                                " json_extract(?1, '$.machine')",
                                &s, error);
    for (int i = 0; i < n && status == DF_OK; i++) {
        char *path = NULL;
        uint32_t samples = 0;
        status = asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0
                     ? dfr_error_memory(error)
                     : take_file(db, s, path, entries[i]->d_name, &outcomes[i], &samples, error);
        free(path);
        db->imported.files += outcomes[i] == TAKEN;
        db->imported.unreadable += outcomes[i] == NOT_READABLE;
        db->imported.samples += outcomes[i] == TAKEN ? samples : 0;
    }
    sqlite3_finalize(s);
    if (status == DF_OK)
        status = dfw_db_exec(db, "COMMIT", "write it", error);
    if (status != DF_OK)
        sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* Removes files whose samples are in the database now. If a file cannot be removed, it is met again next time, which
 * does no harm. */
static void put_away(const char *folder, const char *name, enum outcome outcome)
{
    char *path = NULL, *bad = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return;
    if (outcome == TAKEN || outcome == TAKEN_BEFORE) {
        unlink(path);
    } else if (outcome == NOT_READABLE && asprintf(&bad, "%s.bad", path) >= 0) {
        rename(path, bad);
        free(bad);
    }
    free(path);
}

static void take_folder(struct dfw_db *db, const char *folder)
{
    struct dirent **entries;
    struct df_error error = { "" };
    int n = scandir(folder, &entries, filter, alphasort);
    if (n < 0)
        return;
    enum outcome *outcomes = calloc((size_t)n + 1, sizeof *outcomes);
    for (int i = 0; outcomes && i < n; i++)
        outcomes[i] = NOT_OURS;
    int status = outcomes ? take_all(db, folder, entries, n, outcomes, &error) : dfr_error_memory(&error);
    if (status != DF_OK) {
        db->imported = (struct dfw_imported){ 0 };
        snprintf(db->imported.failure, sizeof db->imported.failure, "%s", error.text);
    }
    for (int i = 0; i < n; i++) {
        if (status == DF_OK)
            put_away(folder, entries[i]->d_name, outcomes[i]);
        free(entries[i]);
    }
    free(outcomes);
    free(entries);
}

void dfw_learned_import(struct dfw_db *db)
{
    char *folder;
    if (!dfw_learned_waits(db->path))
        return;
    if (sqlite3_db_readonly(db->sqlite, "main") != 0)
        return;                         /* the files stay until a dfc comes that may write */
    folder = dfr_learn_folder(db->path);
    if (folder)
        take_folder(db, folder);
    free(folder);
}
