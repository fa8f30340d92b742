/* learned.c - imports into the database the sample files that programs run with --learn have left
 * (runtime/start/learn.h); db.c calls it when it opens the database.
 *
 * Once:     one transaction inserts the samples together with the file's name; then the file is removed. A second
 *           command that imports at the same time, or after a crash between the two steps, finds the name and skips the
 *           file.
 * Others:   files of other machines that share the folder are left for the dfc of those machines.
 * Refused:  a file that is not regular, is too large, or has an invalid field is rejected as a whole. It is renamed,
 *           and db->imported.why names the first such file, with the line and the field.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* The columns of a line of JSON. From JOB_BYTES to DROPPED they are the fields that sample_fault() looks at. */
enum { DEVICE, VARIANT, KERNEL, DIMS, SCALARS, HASH, JOB_BYTES, MEDIAN_S, CI_S, RUNS, DROPPED, LEARNED, MACHINE, WORKERS,
       FAULT };

static const char *const names[] = { "device", "variant", "kernel", "dims", "scalars", "hash", "job_bytes", "median_s",
                                     "ci_s", "runs", "dropped" };
static const char fields_sql[] =
    "SELECT device, variant, kernel, dims, scalars, hash, job_bytes, median_s, ci_s, runs, dropped, learned, machine,"
    " workers, sample_fault(job_bytes, median_s, ci_s, runs, dropped) FROM (SELECT json_extract(?1, '$.device') AS device,"
    " json_extract(?1, '$.variant') AS variant, json_extract(?1, '$.kernel') AS kernel,"
    " json_extract(?1, '$.dims') AS dims, json_extract(?1, '$.scalars') AS scalars, json_extract(?1, '$.hash') AS hash,"
    " json_extract(?1, '$.job_bytes') AS job_bytes, json_extract(?1, '$.median_s') AS median_s,"
    " json_extract(?1, '$.ci_s') AS ci_s, json_extract(?1, '$.runs') AS runs, json_extract(?1, '$.dropped') AS dropped,"
    " json_extract(?1, '$.learned') AS learned, json_extract(?1, '$.machine') AS machine,"
    " json_extract(?1, '$.workers') AS workers)";

struct reading {                        /* of one file */
    struct dfw_db *db;
    sqlite3_stmt *s;                    /* fields_sql */
    const char *name;
    enum outcome *outcome;
    uint32_t n_rates;
    uint32_t workers;                   /* that computed on the host's cores in the run; 1: one, or the file says none */
};

static const char *column(sqlite3_stmt *s, int i)
{
    const char *text = (const char *)sqlite3_column_text(s, i);
    return text ? text : "";
}

/* Says why a file cannot be taken in, if it is the first one. Its name comes first. Gives false. */
__attribute__((format(printf, 3, 4)))
static bool refuse(struct reading *r, unsigned line, const char *format, ...)
{
    char *why = r->db->imported.why, place[32] = "";
    size_t size = sizeof r->db->imported.why, used = 0;
    va_list list;
    *r->outcome = NOT_READABLE;
    if (*why)
        return false;
    if (line)
        snprintf(place, sizeof place, ", line %u", line);
    used = (size_t)snprintf(why, size, "'%.200s'%s: ", r->name, place);
    va_start(list, format);
    vsnprintf(why + used, size - used, format, list);
    va_end(list);
    return false;
}

/* Binds a line to the statement. false: it is no JSON. */
static bool read_line(struct reading *r, unsigned number, const char *line)
{
    sqlite3_bind_text(r->s, 1, line, -1, SQLITE_STATIC);
    return sqlite3_step(r->s) == SQLITE_ROW || refuse(r, number, "it is no JSON");
}

static bool is_header(struct reading *r, const char *line)
{
    char machine[224];
    dfr_learn_machine(machine, sizeof machine);
    bool good = read_line(r, 1, line);
    if (good && sqlite3_column_int(r->s, LEARNED) != DFR_LEARN_VERSION)
        good = refuse(r, 1, "'learned' is '%.40s', which this dfc does not know", column(r->s, LEARNED));
    else if (good && strcmp(column(r->s, MACHINE), machine) != 0)
        *r->outcome = NOT_OURS;
    sqlite3_int64 workers = sqlite3_column_int64(r->s, WORKERS);
    r->workers = workers > 1 && workers <= DF_MAX_WORKERS + DF_MAX_UNITS ? (uint32_t)workers : 1;
    sqlite3_reset(r->s);
    return good;
}

/* Samples of the host and of emulated GPUs are loaded ones, if other workers ran. */
static int store(const struct reading *r, const struct dfw_key *key, const struct dfr_sample *sample,
                 struct df_error *error)
{
    const struct dfr_load load = { r->workers, NAN, NAN, NAN, NAN };
    bool on_host = !strcmp(key->device, "cpu") || !strcmp(key->device, DFW_EMULATOR);
    return r->workers > 1 && on_host ? dfw_sample_store_loaded(r->db, key, sample, &load, error)
                                     : dfw_sample_store(r->db, key, sample, error);
}

/* Whether the fields of the line make sense; sample_range.c looks at the numbers. */
static bool check_fields(struct reading *r, unsigned number)
{
    static const int words[] = { DEVICE, VARIANT, KERNEL };
    const char *hash = column(r->s, HASH);
    size_t digits = strspn(hash, "0123456789abcdef");
    int fault = JOB_BYTES + sqlite3_column_int(r->s, FAULT);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!*column(r->s, words[i]))
            return refuse(r, number, "it has no '%s'", names[words[i]]);
    if (digits < 1 || digits > 16 || hash[digits])
        return refuse(r, number, "'hash' is '%.40s', which makes no sense", hash);
    if (sqlite3_column_type(r->s, FAULT) == SQLITE_NULL)
        return true;
    if (sqlite3_column_type(r->s, fault) == SQLITE_NULL)
        return refuse(r, number, "it has no '%s'", names[fault]);
    return refuse(r, number, "'%s' is '%.40s', which makes no sense", names[fault], column(r->s, fault));
}

static bool take_line(struct reading *r, unsigned number, const char *line, int *status, struct df_error *error)
{
    bool good = read_line(r, number, line) && check_fields(r, number);
    if (good) {
        struct dfw_key key = { .device = column(r->s, DEVICE), .variant = column(r->s, VARIANT),
                               .work = { .kernel = column(r->s, KERNEL),
                                         .dims = (char *)(uintptr_t)column(r->s, DIMS),
                                         .scalars = (char *)(uintptr_t)column(r->s, SCALARS),
                                         .hash = strtoull(column(r->s, HASH), NULL, 16),
                                         .job_bytes = (uint64_t)sqlite3_column_int64(r->s, JOB_BYTES) } };
        struct dfr_sample sample;
        dfw_db_sample(r->s, MEDIAN_S, &sample);
        *status = store(r, &key, &sample, error);
    }
    sqlite3_reset(r->s);
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
    if (dfw_db_step(db, s) != SQLITE_DONE)
        status = dfw_db_fail(db, "take in what programs learned", error);
    else
        *fresh = sqlite3_changes(db->sqlite) > 0;
    sqlite3_finalize(s);
    return status;
}

static int take_lines(struct reading *r, FILE *file, uint32_t *n, struct df_error *error)
{
    char *line = NULL;
    size_t capacity = 0;
    int status = DF_OK;
    bool good = getline(&line, &capacity, file) > 0 ? is_header(r, line) : refuse(r, 0, "it is empty");
    if (good && *r->outcome == TAKEN) {
        bool sense;
        status = dfw_rates_take(r->db, line, &r->n_rates, &sense, error);
        good = status != DF_OK || sense || refuse(r, 1, "its waves or rates make no sense");
    }
    for (unsigned number = 2; good && *r->outcome == TAKEN && status == DF_OK && getline(&line, &capacity, file) > 0;
         number++) {
        good = take_line(r, number, line, &status, error);
        *n += good;
    }
    free(line);
    return status;
}

/* Opens a file of the folder. It does not follow a link, nor wait for who writes into a pipe. NULL: there is nothing to
 * take, and r->outcome says which. */
static FILE *open_file(struct reading *r, const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == ELOOP || errno == ENXIO)) {
        refuse(r, 0, "it is no regular file");
    } else if (fd < 0 || fstat(fd, &info) != 0) { /* another dfc has just taken it, or we may not read it */
        *r->outcome = NOT_OURS;
    } else if (!S_ISREG(info.st_mode)) {
        refuse(r, 0, "it is no regular file");
    } else if (info.st_size > DFR_LEARN_MOST_BYTES) {
        refuse(r, 0, "it is larger than %d MiB", (int)(DFR_LEARN_MOST_BYTES >> 20));
    } else {
        FILE *file = fdopen(fd, "r");
        *r->outcome = file ? TAKEN : NOT_OURS;
        if (file)
            return file;
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static int take_file(struct reading *r, const char *path, uint32_t *n, struct df_error *error)
{
    bool fresh = true;
    FILE *file = open_file(r, path);
    *n = 0;
    if (!file)
        return DF_OK;
    int status = dfw_db_exec(r->db, "SAVEPOINT file", "write it", error);
    if (status == DF_OK)
        status = remember(r->db, r->name, &fresh, error);
    if (status == DF_OK && !fresh)
        *r->outcome = TAKEN_BEFORE;
    else if (status == DF_OK)
        status = take_lines(r, file, n, error);
    if (status == DF_OK && *r->outcome != TAKEN)
        status = dfw_db_exec(r->db, "ROLLBACK TO file", "write it", error);
    if (status == DF_OK)
        status = dfw_db_exec(r->db, "RELEASE file", "write it", error);
    fclose(file);
    return status;
}

/* ---- all of them ---- */

static int take_all(struct dfw_db *db, const char *folder, struct dirent **entries, int n, enum outcome *outcomes,
                    struct df_error *error)
{
    struct reading r = { .db = db };
    int status = dfw_db_exec(db, "BEGIN IMMEDIATE", "lock it", error);
    if (status != DF_OK)
        return status;
    status = dfw_db_exec(db,
                         "CREATE TABLE IF NOT EXISTS learned (file TEXT PRIMARY KEY, time INTEGER NOT NULL)"
                         " WITHOUT ROWID",
                         "write it", error);
    if (status == DF_OK)
        status = dfw_db_prepare(db, fields_sql, &r.s, error);
    for (int i = 0; i < n && status == DF_OK; i++) {
        char *path = NULL;
        uint32_t samples = 0;
        r.name = entries[i]->d_name;
        r.outcome = &outcomes[i];
        r.n_rates = 0;
        status = asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0
                     ? dfr_error_memory(error)
                     : take_file(&r, path, &samples, error);
        free(path);
        db->imported.files += outcomes[i] == TAKEN;
        db->imported.unreadable += outcomes[i] == NOT_READABLE;
        db->imported.rates += outcomes[i] == TAKEN ? r.n_rates : 0;
        db->imported.samples += outcomes[i] == TAKEN ? samples : 0;
    }
    sqlite3_finalize(r.s);
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
