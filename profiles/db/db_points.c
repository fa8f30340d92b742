/* db_points.c - loads all samples of one kernel, at every size, for times.c and for the report of `dfc profile`, which
 * also lists everything that was ever measured with it.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "profiles/db/db_impl.h"
#include "runtime/base/array.h"
#include "runtime/base/error.h"

/* ---- points ---- */

struct sets {                           /* the latest first */
    uint32_t n;
    struct dfr_sample at[DFW_SETS_COMBINED];
};

struct reading {                        /* rows come sorted: point after point, of each the latest set first */
    struct dfw_points points;
    size_t capacity;
    double bytes_per_s;                 /* dfw_bandwidth_load(); 0: not known */
    struct sets all, alone, in_runs;    /* of the point at hand: each set is taken alone, or in a run of several workers */
    uint32_t run_workers;               /* the most of these runs */
    uint32_t n_loads;
    struct dfr_load loads[DFW_SETS_COMBINED]; /* of those that were measured under load; self_s and triad_s are */
};                                            /* divided by the time alone */

static void take(struct sets *sets, const struct dfr_sample *sample)
{
    if (sets->n < DFW_SETS_COMBINED)
        sets->at[sets->n++] = *sample;
}

static double mean_of(const struct sets *sets)
{
    struct dfr_sample sample;
    dfw_samples_combine(sets->at, sets->n, &sample);
    return sample.mean_s;
}

/* The mean of the sets' quantiles, weighted by runs. NaN: no set has any. */
static void spread_of(const struct sets *sets, struct df_spread *spread)
{
    double sum[DFR_QUANTILES] = { 0 }, above[DFR_QUANTILES], weight = 0;
    struct dfr_sample all;
    dfw_samples_combine(sets->at, sets->n, &all);
    for (uint32_t i = 0; i < sets->n; i++) {
        const struct dfr_sample *set = &sets->at[i];
        if (!(set->quantile[DFR_QUANTILES - 1] > 0))
            continue;
        dfr_quantiles_above(set->quantile, set->runs, above);
        weight += set->runs;
        for (unsigned q = 0; q < DFR_QUANTILES; q++)
            sum[q] += set->runs * set->mean_s / all.mean_s * above[q];
    }
    for (unsigned q = 0; q < DFR_QUANTILES; q++)
        spread->quantile[q] = (float)(sum[q] / weight);
}

static double median_of(const struct dfr_load *loads, uint32_t n, size_t field)
{
    double values[DFW_SETS_COMBINED];
    for (uint32_t i = 0; i < n; i++)
        values[i] = *(const double *)(const void *)((const char *)&loads[i] + field);
    return dfr_median(values, n);
}

/* The median of what was measured with the most workers. Loads give a share of the bandwidth. The demand is that share of
 * the bandwidth that is in use now, because other programs on the machine change the bandwidth. */
static bool measured_demand(const struct reading *r, struct df_demand *demand)
{
    struct dfr_load loads[DFW_SETS_COMBINED];
    uint32_t n = 0, most = 0;
    for (uint32_t i = 0; i < r->n_loads; i++)
        most = r->loads[i].workers > most ? r->loads[i].workers : most;
    for (uint32_t i = 0; i < r->n_loads; i++)
        if (r->loads[i].workers == most)
            loads[n++] = r->loads[i];
    double one = median_of(loads, n, offsetof(struct dfr_load, one_bytes_per_s));
    double all = median_of(loads, n, offsetof(struct dfr_load, all_bytes_per_s));
    double self = median_of(loads, n, offsetof(struct dfr_load, self_s));
    struct dfw_slowdown slowdown = { most, self > 0 ? self : NAN,
                                     median_of(loads, n, offsetof(struct dfr_load, triad_s)), (most - 1) * one / all };
    return r->bytes_per_s > 0 && dfw_demand_fit(&slowdown, r->bytes_per_s, demand);
}

/* The other workers of a run are taken for the same kernel. */
static bool learned_demand(const struct reading *r, struct df_demand *demand)
{
    if (!r->alone.n || !r->in_runs.n || !(r->bytes_per_s > 0) || !(mean_of(&r->alone) > 0))
        return false;
    struct dfw_slowdown slowdown = { r->run_workers, mean_of(&r->in_runs) / mean_of(&r->alone), NAN, 0 };
    return dfw_demand_fit(&slowdown, r->bytes_per_s, demand);
}

static void end_point(struct reading *r)
{
    if (r->all.n > 0) {
        struct dfw_point *point = &r->points.at[r->points.n - 1];
        bool demands = r->n_loads ? measured_demand(r, &point->demand) : learned_demand(r, &point->demand);
        point->mean_s = mean_of(demands ? &r->alone : &r->all);
        spread_of(demands ? &r->alone : &r->all, &point->spread);
    }
    r->all.n = r->alone.n = r->in_runs.n = r->n_loads = r->run_workers = 0;
}

/* Takes a set to the others of its point. A row of loads that makes no sense is passed over. */
static void take_set(struct reading *r, sqlite3_stmt *s, const struct dfr_sample *sample)
{
    sqlite3_int64 workers = sqlite3_column_int64(s, 7);
    bool loaded = sqlite3_column_type(s, 7) == SQLITE_INTEGER && workers >= 2 && workers <= UINT32_MAX;
    struct dfr_load load = { (uint32_t)workers, sqlite3_column_double(s, 8) / sample->mean_s,
                             sqlite3_column_double(s, 9) / sample->mean_s, sqlite3_column_double(s, 10),
                             sqlite3_column_double(s, 11) };
    bool in_run = loaded && sqlite3_column_type(s, 8) == SQLITE_NULL;
    take(&r->all, sample);
    take(in_run ? &r->in_runs : &r->alone, sample);
    if (in_run && load.workers > r->run_workers)
        r->run_workers = load.workers;
    if (loaded && !in_run && r->n_loads < DFW_SETS_COMBINED && load.self_s >= 0 && load.self_s < DF_LIMIT_JOB_S &&
        load.triad_s > 0 && load.triad_s < DF_LIMIT_JOB_S && load.one_bytes_per_s >= DF_LEAST_RATE &&
        load.one_bytes_per_s <= DF_MOST_RATE && load.all_bytes_per_s >= DF_LEAST_RATE &&
        load.all_bytes_per_s <= DF_MOST_RATE)
        r->loads[r->n_loads++] = load;
}

static bool begin_point(struct reading *r, const char *dims, const char *scalars, uint64_t job_bytes)
{
    if (!DFR_ARRAY_ROOM(r->points.at, r->points.n, r->capacity))
        return false;
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
    dfr_quantiles_read((const char *)sqlite3_column_text(s, 12), sample.quantile);
    if (!last || strcmp(last->dims, dims) || strcmp(last->scalars, scalars) || last->job_bytes != job_bytes) {
        end_point(r);
        if (!begin_point(r, dims, scalars, job_bytes))
            return false;
    }
    take_set(r, s, &sample);
    return true;
}

int dfw_points_load(struct dfw_db *db, const char *device, const char *variant, const char *kernel, uint64_t hash,
                    struct dfw_points *points, struct df_error *error)
{
    struct reading r = { .capacity = 0 };
    sqlite3_stmt *s;
    char sql[640];
    int status = dfw_bandwidth_load(db, &r.bytes_per_s, error);
    snprintf(sql, sizeof sql, "SELECT dims, scalars, job_bytes, mean_s, ci_s, runs, dropped, %s, %s"
             " FROM samples%s WHERE machine = ?1 AND kernel = ?2 AND device = ?3 AND variant = ?4 AND hash = ?5 AND" DFW_USABLE
             " ORDER BY dims, scalars, job_bytes, id DESC",
             db->version < 4 ? "NULL, NULL, NULL, NULL, NULL" : "workers, self_s, triad_s, one_bytes_per_s, all_bytes_per_s",
             db->version < 9 ? "NULL" : "quantiles", db->version < 4 ? "" : " LEFT JOIN loads ON sample = id");
    if (status == DF_OK)
        status = dfw_db_prepare(db, sql, &s, error);
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
