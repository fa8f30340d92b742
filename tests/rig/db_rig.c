/* db_rig.c - asks the profile database for one key's samples, and for the times of a graph (db_rig.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "db_rig.h"
#include "profiles/db/db_impl.h"
#include "profiles/estimate/roofline.h"

/* The time that dfw_points_load() gives for the key's size; -1: it knows no such size. */
static double point_s(struct dfw_db *db, const struct dfw_key *key)
{
    struct dfw_points points;
    double mean_s = -1;
    assert_int_equal(dfw_points_load(db, key->device, key->variant, key->work.kernel, key->work.hash, &points, NULL),
                     DF_OK);
    for (uint32_t i = 0; i < points.n; i++)
        if (!strcmp(points.at[i].dims, key->work.dims) && !strcmp(points.at[i].scalars, key->work.scalars) &&
            points.at[i].job_bytes == key->work.job_bytes)
            mean_s = points.at[i].mean_s;
    dfw_points_free(&points);
    return mean_s;
}

int load_sample(struct dfw_db *db, const struct dfw_key *key, struct dfr_sample *sample, bool *found,
                struct df_error *error)
{
    struct dfr_sample sets[DFW_SETS_COMBINED];
    uint32_t n = 0;
    int code;
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db,
                                "SELECT mean_s, ci_s, runs, dropped FROM samples WHERE machine = ?1 AND device = ?2"
                                " AND variant = ?3 AND kernel = ?4 AND dims = ?5 AND scalars = ?6"
                                " AND hash = ?7 AND job_bytes = ?8 AND" DFW_USABLE " ORDER BY id DESC LIMIT ?9",
                                &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_text(s, 1, db->machine, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, key->device, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, key->variant, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, key->work.kernel, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 5, key->work.dims, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 6, key->work.scalars, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 7, (sqlite3_int64)key->work.hash);
    sqlite3_bind_int64(s, 8, (sqlite3_int64)key->work.job_bytes);
    sqlite3_bind_int(s, 9, DFW_SETS_COMBINED);
    for (code = dfw_db_step(db, s); code == SQLITE_ROW; code = dfw_db_step(db, s))
        dfw_db_sample(s, 0, &sets[n++]);
    if (code != SQLITE_DONE)
        status = dfw_db_fail(db, "read samples", error);
    sqlite3_finalize(s);
    if (status != DF_OK)
        return status;
    *found = n > 0;
    if (n > 0)
        dfw_samples_combine(sets, n, sample);
    assert_true(point_s(db, key) == (n > 0 ? sample->mean_s : -1));
    return DF_OK;
}

int times_from_db(struct dfw_db *db, const struct df_graph *graph, const char *gpu_device, struct df_times *times)
{
    struct dfw_known known;
    assert_int_equal(dfw_known_load(db, graph, gpu_device, false, &known, NULL), DF_OK);
    int status = dfw_known_times(&known, graph, times, NULL);
    if (status == DF_OK)
        status = dfw_roofline_times(&known, graph, NULL, times, NULL);
    dfw_known_free(&known);
    return status;
}
