/* db_platform.c - stores probed platforms in the profile database for compiler/commands/cmd_probe.c, and loads them for compiler/load and
 * `dfc doctor`: one row per platform, one per unit, and one per pair of devices that send to each other. The latest
 * platform of a machine is used; older ones are kept, because what a machine once measured helps when it becomes
 * slower. db_points.c takes the host's bandwidth from it.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "profiles/db/db_impl.h"
#include "runtime/base/error.h"
#include "runtime/base/text.h"

static void bind_link(sqlite3_stmt *s, int at, const struct df_link *link)
{
    sqlite3_bind_double(s, at, link->bytes_per_s);
    sqlite3_bind_double(s, at + 1, link->latency_s);
    sqlite3_bind_int64(s, at + 2, (sqlite3_int64)link->threshold_bytes);
}

static int store_units(struct dfw_db *db, sqlite3_int64 id, const struct df_platform *p, struct df_error *error)
{
    sqlite3_stmt *s;
    int status =
        dfw_db_prepare(db, "INSERT INTO units VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)", &s, error);
    if (status != DF_OK)
        return status;
    for (uint32_t u = 0; u < p->n_units && status == DF_OK; u++) {
        const struct df_unit *unit = &p->units[u];
        sqlite3_bind_int64(s, 1, id);
        sqlite3_bind_int64(s, 2, u);
        sqlite3_bind_text(s, 3, p->class_names[unit->cls], -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 4, unit->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 5, unit->workers);
        sqlite3_bind_int64(s, 6, (sqlite3_int64)unit->memory_bytes);
        sqlite3_bind_int64(s, 7, unit->engines);
        sqlite3_bind_double(s, 8, unit->launch_s);
        sqlite3_bind_int64(s, 9, unit->jobs);
        bind_link(s, 10, &unit->h2d);
        bind_link(s, 13, &unit->d2h);
        if (dfw_db_step(db, s) != SQLITE_DONE)
            status = dfw_db_fail(db, "store the platform", error);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return status;
}

static int store_pairs(struct dfw_db *db, sqlite3_int64 id, uint32_t n_units, const struct dfw_pairs *pairs,
                       struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db, "INSERT INTO peers VALUES (?1,?2,?3,?4,?5,?6)", &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_int64(s, 1, id);
    for (uint32_t from = 1; from < n_units; from++)
        for (uint32_t to = 1; to < n_units && status == DF_OK; to++) {
            if (!(pairs->link[from][to].bytes_per_s > 0))
                continue;
            sqlite3_bind_int64(s, 2, from);
            sqlite3_bind_int64(s, 3, to);
            bind_link(s, 4, &pairs->link[from][to]);
            if (dfw_db_step(db, s) != SQLITE_DONE)
                status = dfw_db_fail(db, "store the platform", error);
            sqlite3_reset(s);
        }
    sqlite3_finalize(s);
    return status;
}

static int store_registers(struct dfw_db *db, sqlite3_int64 id, const struct df_platform *p, struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db, "INSERT INTO registers VALUES (?1,?2,?3)", &s, error);
    if (status != DF_OK)
        return status;
    for (uint32_t u = 0; u < p->n_units && status == DF_OK; u++) {
        if (p->units[u].registers == DF_REGISTER_UNKNOWN)
            continue;
        sqlite3_bind_int64(s, 1, id);
        sqlite3_bind_int64(s, 2, u);
        sqlite3_bind_int64(s, 3, p->units[u].registers);
        if (dfw_db_step(db, s) != SQLITE_DONE)
            status = dfw_db_fail(db, "store the platform", error);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return status;
}

static int store_handovers(struct dfw_db *db, sqlite3_int64 id, const struct df_platform *p, struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db, "INSERT INTO handovers VALUES (?1,?2,?3)", &s, error);
    if (status != DF_OK)
        return status;
    for (uint32_t u = 1; u < p->n_units && status == DF_OK; u++) {
        sqlite3_bind_int64(s, 1, id);
        sqlite3_bind_int64(s, 2, u);
        sqlite3_bind_double(s, 3, p->units[u].handover_s);
        if (dfw_db_step(db, s) != SQLITE_DONE)
            status = dfw_db_fail(db, "store the platform", error);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return status;
}

static int store_bandwidth(struct dfw_db *db, sqlite3_int64 id, const struct df_platform *p, struct df_error *error)
{
    sqlite3_stmt *s;
    if (!(p->units[0].memory_bytes_per_s > 0))
        return DF_OK;
    int status = dfw_db_prepare(db, "INSERT INTO bandwidths VALUES (?1,?2)", &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_int64(s, 1, id);
    sqlite3_bind_double(s, 2, p->units[0].memory_bytes_per_s);
    if (dfw_db_step(db, s) != SQLITE_DONE)
        status = dfw_db_fail(db, "store the platform", error);
    sqlite3_finalize(s);
    return status;
}

int dfw_platform_store(struct dfw_db *db, const struct df_platform *platform, const struct dfw_pairs *pairs,
                       const struct dfw_figures *figures, enum dfw_devices devices, struct df_error *error)
{
    int status = dfw_db_exec(db, "BEGIN IMMEDIATE", "store the platform", error);
    if (status != DF_OK)
        return status;
    sqlite3_stmt *s;
    status =
        dfw_db_prepare(db, "INSERT INTO platforms (machine, emulated, name, time) VALUES (?1,?2,?3,?4)", &s, error);
    if (status == DF_OK) {
        sqlite3_bind_text(s, 1, db->machine, -1, SQLITE_STATIC);
        sqlite3_bind_int(s, 2, (int)devices);
        sqlite3_bind_text(s, 3, platform->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 4, (sqlite3_int64)time(NULL));
        if (dfw_db_step(db, s) != SQLITE_DONE)
            status = dfw_db_fail(db, "store the platform", error);
        sqlite3_finalize(s);
    }
    sqlite3_int64 id = sqlite3_last_insert_rowid(db->sqlite);
    if (status == DF_OK)
        status = store_units(db, id, platform, error);
    if (status == DF_OK)
        status = store_registers(db, id, platform, error);
    if (status == DF_OK)
        status = store_handovers(db, id, platform, error);
    if (status == DF_OK)
        status = store_bandwidth(db, id, platform, error);
    if (status == DF_OK && pairs)
        status = store_pairs(db, id, platform->n_units, pairs, error);
    if (status == DF_OK && figures)
        status = dfw_figures_store(db, id, platform->n_units, figures, error);
    if (status == DF_OK)
        status = dfw_db_exec(db, "COMMIT", "store the platform", error);
    if (status != DF_OK)
        sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static void column_text(sqlite3_stmt *s, int at, char *to, size_t size)
{
    const char *text = (const char *)sqlite3_column_text(s, at);
    snprintf(to, size, "%s", text ? text : "");
    dfr_text_clean(to);
}

/* What is no number of 32 bits becomes the largest one, which no unit may have. */
static uint32_t column_count(sqlite3_stmt *s, int at)
{
    sqlite3_int64 count = sqlite3_column_int64(s, at);
    return count < 0 || count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static struct df_link column_link(sqlite3_stmt *s, int at)
{
    return (struct df_link){ .bytes_per_s = sqlite3_column_double(s, at),
                             .latency_s = sqlite3_column_double(s, at + 1),
                             .threshold_bytes = (uint64_t)sqlite3_column_int64(s, at + 2) };
}

/* The index of the class; DF_NONE: no machine that was probed has it. */
static uint32_t find_class(const struct df_platform *p, const char *name)
{
    for (uint32_t c = 0; c < p->n_classes; c++) {
        if (strcmp(p->class_names[c], name) == 0)
            return c;
    }
    return DF_NONE;
}

/* Whether a declaration in the language could have such a unit. */
static bool usable(const struct df_unit *unit, bool host)
{
    bool own = host ? unit->launch_s == 0 && unit->jobs == 0
                    : (unit->engines >= 1 || unit->unified) && df_link_usable(&unit->h2d) && df_link_usable(&unit->d2h);
    return unit->cls != DF_NONE && host == (unit->cls == DF_CLASS_CPU) && unit->workers >= 1 &&
           unit->workers <= DF_MAX_WORKERS && unit->memory_bytes < DF_LIMIT_BYTES && unit->engines <= 2 &&
           unit->launch_s >= 0 && unit->launch_s <= DF_MOST_DELAY_S && unit->jobs <= 65535 && own;
}

static int load_unit(struct dfw_db *db, sqlite3_stmt *s, struct df_platform *p, struct df_error *error)
{
    char cls[32];
    struct df_unit unified;
    column_text(s, 0, cls, sizeof cls);
    struct df_unit unit = { .cls = find_class(p, cls),
                            .workers = column_count(s, 2),
                            .memory_bytes = (uint64_t)sqlite3_column_int64(s, 3),
                            .engines = column_count(s, 4),
                            .launch_s = sqlite3_column_double(s, 5),
                            .jobs = column_count(s, 6),
                            .h2d = column_link(s, 7),
                            .d2h = column_link(s, 10) };
    column_text(s, 1, unit.name, sizeof unit.name);
    unified = unit;                     /* such a device has no engine, and the link that df_unit_unify() gives it */
    df_unit_unify(&unified);
    if (p->n_units > 0 && memcmp(&unit.h2d, &unified.h2d, sizeof unit.h2d) == 0 && unit.engines == 0)
        unit = unified;
    if (p->n_units == DF_MAX_UNITS || !usable(&unit, p->n_units == 0))
        return dfr_error(error, DF_E_IO,
                         "profile database '%s': the stored platform '%s' makes no sense; run 'dfc probe' again",
                         db->path, p->name);
    p->units[p->n_units++] = unit;
    return DF_OK;
}

static int load_units(struct dfw_db *db, sqlite3_int64 id, struct df_platform *p, struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db,
                                "SELECT class, name, workers, memory_bytes, engines, launch_s, jobs, h2d_bytes_per_s,"
                                " h2d_latency_s, h2d_threshold_bytes, d2h_bytes_per_s, d2h_latency_s,"
                                " d2h_threshold_bytes FROM units WHERE platform = ?1 ORDER BY unit",
                                &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_int64(s, 1, id);
    int code = dfw_db_step(db, s);
    for (; code == SQLITE_ROW && status == DF_OK; code = dfw_db_step(db, s))
        status = load_unit(db, s, p, error);
    if (status == DF_OK && code != SQLITE_DONE)
        status = dfw_db_fail(db, "read the platform", error);
    sqlite3_finalize(s);
    return status;
}

/* A row that makes no sense is passed over, since a plan can do without it. */
static int load_pairs(struct dfw_db *db, sqlite3_int64 id, struct df_platform *p, struct df_error *error)
{
    struct dfw_pairs pairs = { 0 };
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db,
                                "SELECT sender, receiver, bytes_per_s, latency_s, threshold_bytes FROM peers"
                                " WHERE platform = ?1",
                                &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_int64(s, 1, id);
    int code = dfw_db_step(db, s);
    for (; code == SQLITE_ROW; code = dfw_db_step(db, s)) {
        sqlite3_int64 from = sqlite3_column_int64(s, 0), to = sqlite3_column_int64(s, 1);
        struct df_link link = column_link(s, 2);
        if (from > 0 && from < p->n_units && to > 0 && to < p->n_units && from != to && df_link_usable(&link))
            pairs.link[from][to] = link;
    }
    if (code == SQLITE_DONE)
        dfw_pairs_give(&pairs, p);
    else
        status = dfw_db_fail(db, "read the platform", error);
    sqlite3_finalize(s);
    return status;
}

static int load_registers(struct dfw_db *db, sqlite3_int64 id, struct df_platform *p, struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db, "SELECT unit, registers FROM registers WHERE platform = ?1", &s, error), code;
    if (status != DF_OK)
        return status;
    sqlite3_bind_int64(s, 1, id);
    for (code = dfw_db_step(db, s); code == SQLITE_ROW; code = dfw_db_step(db, s)) {
        sqlite3_int64 unit = sqlite3_column_int64(s, 0), registers = sqlite3_column_int64(s, 1);
        if (unit > 0 && unit < p->n_units && registers >= DF_REGISTER_UNKNOWN && registers <= DF_REGISTER_NO)
            p->units[unit].registers = (uint32_t)registers;
    }
    if (code != SQLITE_DONE)
        status = dfw_db_fail(db, "read the platform", error);
    sqlite3_finalize(s);
    return status;
}

static int load_handovers(struct dfw_db *db, sqlite3_int64 id, struct df_platform *p, struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db, "SELECT unit, seconds FROM handovers WHERE platform = ?1", &s, error), code;
    if (status != DF_OK)
        return status;
    sqlite3_bind_int64(s, 1, id);
    for (code = dfw_db_step(db, s); code == SQLITE_ROW; code = dfw_db_step(db, s)) {
        sqlite3_int64 unit = sqlite3_column_int64(s, 0);
        double seconds = sqlite3_column_double(s, 1);
        if (unit > 0 && unit < p->n_units && seconds >= 0 && seconds <= DF_MOST_DELAY_S)
            p->units[unit].handover_s = seconds;
    }
    if (code != SQLITE_DONE)
        status = dfw_db_fail(db, "read the platform", error);
    sqlite3_finalize(s);
    return status;
}

/* Of the platform with this id, or of this machine's latest if id is 0; or what samples under load found, if they are newer: the
 * latest of both. 0: not known. */
static int load_bandwidth(struct dfw_db *db, sqlite3_int64 id, double *bytes_per_s, struct df_error *error)
{
    sqlite3_stmt *s;
    *bytes_per_s = 0;
    if (db->version < 4)
        return DF_OK;
    int status = dfw_db_prepare(db,
                                "SELECT rate FROM (SELECT * FROM (SELECT bytes_per_s AS rate, time, 0 AS loaded FROM bandwidths"
                                " JOIN platforms ON platforms.id = platform WHERE machine = ?1 AND ?2 IN (0, platform)"
                                " AND bytes_per_s BETWEEN ?3 AND ?4 ORDER BY platform DESC LIMIT 1)"
                                " UNION ALL SELECT * FROM (SELECT all_bytes_per_s, time, 1 FROM loads"
                                " CROSS JOIN samples ON samples.id = sample WHERE all_bytes_per_s BETWEEN ?3 AND ?4"
                                " AND machine = ?1 ORDER BY sample DESC LIMIT 1)) ORDER BY time DESC, loaded DESC LIMIT 1",
                                &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_text(s, 1, db->machine, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, id);
    sqlite3_bind_double(s, 3, DF_LEAST_RATE);
    sqlite3_bind_double(s, 4, DF_MOST_RATE);
    int code = dfw_db_step(db, s);
    if (code == SQLITE_ROW)
        *bytes_per_s = sqlite3_column_double(s, 0);
    else if (code != SQLITE_DONE)
        status = dfw_db_fail(db, "read the platform", error);
    sqlite3_finalize(s);
    return status;
}

int dfw_bandwidth_load(struct dfw_db *db, double *bytes_per_s, struct df_error *error)
{
    return load_bandwidth(db, 0, bytes_per_s, error);
}

/* A rate of 0 changes nothing. Threads are not faster than all of them are. */
static void set_bandwidth(struct df_unit *host, double bytes_per_s)
{
    if (!(bytes_per_s > 0))
        return;
    host->memory_bytes_per_s = bytes_per_s;
    for (unsigned i = 0; i < DF_BANDWIDTHS; i++)
        if (host->figures.bytes_per_s[i] > bytes_per_s)
            host->figures.bytes_per_s[i] = bytes_per_s;
}

/* They are no column: rows are of this machine. */
static void set_cores(struct df_platform *p)
{
    char model[128];
    uint64_t memory_bytes;
    unsigned cores;
    dfw_machine_cpu(model, sizeof model, &cores, &memory_bytes);
    p->units[0].cores = cores < DF_MAX_WORKERS ? cores : DF_MAX_WORKERS;
}

int dfw_platform_load_for(struct dfw_db *db, enum dfw_devices devices, struct df_platform *platform, bool *found,
                          struct df_error *error)
{
    sqlite3_stmt *s;
    int status = dfw_db_prepare(db,
                                "SELECT id, name FROM platforms WHERE machine = ?1 AND emulated = ?2"
                                " ORDER BY id DESC LIMIT 1",
                                &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_text(s, 1, db->machine, -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 2, (int)devices);
    int code = dfw_db_step(db, s);
    struct df_platform p = { .n_classes = 2, .class_names = { "cpu", "gpu" } };
    double bytes_per_s = 0;
    if (code == SQLITE_ROW) {
        sqlite3_int64 id = sqlite3_column_int64(s, 0);
        column_text(s, 1, p.name, sizeof p.name);
        status = load_units(db, id, &p, error);
        if (status == DF_OK && db->version >= 3)
            status = load_registers(db, id, &p, error);
        if (status == DF_OK && db->version >= 5)
            status = load_handovers(db, id, &p, error);
        if (status == DF_OK && db->version >= 6)
            status = dfw_figures_load(db, id, &p, error);
        if (status == DF_OK)
            status = load_bandwidth(db, id, &bytes_per_s, error);
        set_bandwidth(&p.units[0], bytes_per_s);
        if (status == DF_OK && db->version >= 2)
            status = load_pairs(db, id, &p, error);
        if (devices == DFW_EMULATED)
            set_cores(&p);
    } else if (code != SQLITE_DONE) {
        status = dfw_db_fail(db, "read the platform", error);
    }
    sqlite3_finalize(s);
    if (status != DF_OK)
        return status;
    *found = p.n_units > 0;
    if (*found)
        *platform = p;
    return DF_OK;
}
