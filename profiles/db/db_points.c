/* db_points.c - reads the samples of one kernel at all sizes, for estimators; and lists what was ever measured, for
 * reports.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/db/db_impl.h"
#include "runtime/base/error.h"

/* ---- points ---- */

struct reading {                        /* rows come sorted: point after point, of each the latest set first */
    struct dfw_points points;
    uint32_t capacity, n_sets;
    struct dfr_sample sets[DFW_SETS_COMBINED];
};

static void end_point(struct reading *r)
{
    struct dfr_sample sample;
    if (r->n_sets > 0) {
        dfw_samples_combine(r->sets, r->n_sets, &sample);
        r->points.at[r->points.n - 1].mean_s = sample.mean_s;
    }
    r->n_sets = 0;
}

static bool begin_point(struct reading *r, const char *dims, const char *scalars, uint64_t job_bytes)
{
    if (r->points.n == r->capacity) {
        uint32_t capacity = r->capacity ? 2 * r->capacity : 16;
        struct dfw_point *at = realloc(r->points.at, capacity * sizeof *at);
        if (!at)
            return false;
        r->points.at = at;
        r->capacity = capacity;
    }
    struct dfw_point *p = &r->points.at[r->points.n++];
    *p = (struct dfw_point){ .dims = strdup(dims), .scalars = strdup(scalars), .job_bytes = job_bytes };
    return p->dims && p->scalars;
}

static bool take_row(struct reading *r, sqlite3_stmt *s)
{
    const char *dims = (const char *)sqlite3_column_text(s, 0), *scalars = (const char *)sqlite3_column_text(s, 1);
    uint64_t job_bytes = (uint64_t)sqlite3_column_int64(s, 2);
    const struct dfw_point *last = r->points.n ? &r->points.at[r->points.n - 1] : NULL;
    struct dfr_sample sample;
    if (!dims || !scalars)
        return false;
    dfw_db_sample(s, 3, &sample);
    if (!last || strcmp(last->dims, dims) || strcmp(last->scalars, scalars) || last->job_bytes != job_bytes) {
        end_point(r);
        if (!begin_point(r, dims, scalars, job_bytes))
            return false;
    }
    if (r->n_sets < DFW_SETS_COMBINED)
        r->sets[r->n_sets++] = sample;
    return true;
}

int dfw_points_load(struct dfw_db *db, const char *device, const char *variant, const char *kernel, uint64_t hash,
                    struct dfw_points *points, struct df_error *error)
{
    struct reading r = { .n_sets = 0 };
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db,
                                "SELECT dims, scalars, job_bytes, mean_s, ci_s, runs, dropped FROM samples"
                                " WHERE machine = ?1 AND kernel = ?2 AND device = ?3 AND variant = ?4 AND hash = ?5"
                                " AND" DFW_USABLE " ORDER BY dims, scalars, job_bytes, id DESC",
                                &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_text(s, 1, db->machine, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, kernel, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, device, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, variant, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 5, (sqlite3_int64)hash);
    int code = dfw_db_step(db, s);
    for (; code == SQLITE_ROW && status == DF_OK; code = status == DF_OK ? dfw_db_step(db, s) : code)
        if (!take_row(&r, s))
            status = dfr_error_memory(error);
    if (status == DF_OK && code != SQLITE_DONE)
        status = dfw_db_fail(db, "read samples", error);
    sqlite3_finalize(s);
    if (status != DF_OK) {
        dfw_points_free(&r.points);
        return status;
    }
    end_point(&r);
    *points = r.points;
    return DF_OK;
}

/* ---- what was ever measured ---- */

int dfw_groups_each(struct dfw_db *db, int (*found)(void *arg, const struct dfw_group *group, struct df_error *error),
                    void *arg, struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db,
                                "SELECT kernel, device, variant, hash FROM samples WHERE machine = ?1 AND" DFW_USABLE
                                " GROUP BY kernel, variant, device, hash"
                                " ORDER BY kernel, variant, device, max(id) DESC",
                                &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_text(s, 1, db->machine, -1, SQLITE_STATIC);
    int code = dfw_db_step(db, s);
    for (; code == SQLITE_ROW && status == DF_OK; code = status == DF_OK ? dfw_db_step(db, s) : code) {
        struct dfw_group group = { .kernel = (const char *)sqlite3_column_text(s, 0),
                                   .device = (const char *)sqlite3_column_text(s, 1),
                                   .variant = (const char *)sqlite3_column_text(s, 2),
                                   .hash = (uint64_t)sqlite3_column_int64(s, 3) };
        status = group.kernel && group.device && group.variant ? found(arg, &group, error) : dfr_error_memory(error);
    }
    if (status == DF_OK && code != SQLITE_DONE)
        status = dfw_db_fail(db, "read samples", error);
    sqlite3_finalize(s);
    return status;
}
