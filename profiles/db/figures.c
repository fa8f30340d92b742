/* figures.c - stores and loads performance figures of units (compute rates, memory bandwidths) for db_platform.c, and
 * gives those that probe.c measured to the units of its platform: their names, their rows in the database, and the
 * subset that estimates use. A row is one figure of one unit at one number of threads.
 */
#include <string.h>

#include "profiles/db/db_impl.h"

const char *const dfw_figure_names[DFW_FIGURES] = { "copy", "scale", "add", "triad", "f32", "f64", "dependent", "random",
                                                    "shared", "spread" };

static double time_of(double per_s, uint32_t threads)
{
    return per_s > 0 ? threads / per_s : 0;
}

void dfw_figures_give(const struct dfw_figures *f, struct df_unit *unit)
{
    if (!f->n)
        return;
    const double *one = f->per_s[0], *all = f->per_s[f->n - 1];
    struct df_figures given = { .flops = { one[DFW_FLOPS_F32], one[DFW_FLOPS_F64] },
                                .random_s = { time_of(one[DFW_DEPENDENT], 1), time_of(one[DFW_RANDOM], 1) },
                                .atomic_s = { time_of(one[DFW_SPREAD], 1),
                                              time_of(all[DFW_SHARED], f->threads[f->n - 1]) } };
    unsigned known = 0;
    for (uint32_t i = 0; i < f->n && unit->cls == DF_CLASS_CPU; i++)
        if (known < DF_BANDWIDTHS && f->threads[i] == 1u << known)
            given.bytes_per_s[known++] = f->per_s[i][DFW_TRIAD];
    unit->figures = given;
    if (all[DFW_TRIAD] > 0)
        unit->memory_bytes_per_s = all[DFW_TRIAD];
}

static int store_row(struct dfw_db *db, sqlite3_stmt *s, const char *name, uint32_t threads, double per_s,
                     struct df_error *error)
{
    sqlite3_bind_text(s, 3, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 4, threads);
    sqlite3_bind_double(s, 5, per_s);
    int status = dfw_db_step(db, s) == SQLITE_DONE ? DF_OK : dfw_db_fail(db, "store the platform", error);
    sqlite3_reset(s);
    return status;
}

int dfw_figures_store(struct dfw_db *db, sqlite3_int64 platform, uint32_t n_units, const struct dfw_figures *figures,
                      struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db, "INSERT INTO figures VALUES (?1,?2,?3,?4,?5)", &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_int64(s, 1, platform);
    for (uint32_t u = 0; u < n_units; u++) {
        const struct dfw_figures *f = &figures[u];
        sqlite3_bind_int64(s, 2, u);
        for (uint32_t i = 0; i < f->n * DFW_FIGURES && status == DF_OK; i++) {
            double per_s = f->per_s[i / DFW_FIGURES][i % DFW_FIGURES];
            if (per_s > 0)
                status = store_row(db, s, dfw_figure_names[i % DFW_FIGURES], f->threads[i / DFW_FIGURES], per_s, error);
        }
    }
    sqlite3_finalize(s);
    return status;
}

/* Adds a row; rows come in the order of their numbers of threads. */
static void take_row(sqlite3_stmt *s, struct df_platform *p, struct dfw_figures *figures)
{
    sqlite3_int64 unit = sqlite3_column_int64(s, 0), threads = sqlite3_column_int64(s, 2);
    const char *name = (const char *)sqlite3_column_text(s, 1);
    double per_s = sqlite3_column_double(s, 3);
    unsigned figure = 0;
    while (name && figure < DFW_FIGURES && strcmp(dfw_figure_names[figure], name) != 0)
        figure++;
    if (!name || figure == DFW_FIGURES || unit < 0 || unit >= p->n_units || threads < 1 || threads > DF_MAX_WORKERS ||
        !(per_s >= DF_LEAST_RATE && per_s <= DF_MOST_RATE))
        return;
    struct dfw_figures *f = &figures[unit];
    if (!f->n || f->threads[f->n - 1] != threads) {
        if (f->n == DFW_MOST_COUNTS)
            return;
        f->threads[f->n++] = (uint32_t)threads;
    }
    f->per_s[f->n - 1][figure] = per_s;
}

int dfw_figures_load(struct dfw_db *db, sqlite3_int64 id, struct df_platform *p, struct df_error *error)
{
    struct dfw_figures figures[DF_MAX_UNITS] = { { .n = 0 } };
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db,
                                "SELECT unit, figure, threads, per_s FROM figures WHERE platform = ?1"
                                " ORDER BY unit, threads",
                                &s, error), code;
    if (status != DF_OK)
        return status;
    sqlite3_bind_int64(s, 1, id);
    for (code = dfw_db_step(db, s); code == SQLITE_ROW; code = dfw_db_step(db, s))
        take_row(s, p, figures);
    if (code != SQLITE_DONE)
        status = dfw_db_fail(db, "read the platform", error);
    sqlite3_finalize(s);
    for (uint32_t u = 0; u < p->n_units && status == DF_OK; u++)
        dfw_figures_give(&figures[u], &p->units[u]);
    return status;
}
