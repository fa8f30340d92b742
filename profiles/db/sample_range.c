/* sample_range.c - decides whether a sample is plausible. It is the only such check, and covers samples to be stored,
 * rows of the database, and imported files, any of which may be damaged; planners trust whatever passes. db.c registers
 * it in SQL, compiler/load reports what it rejected.
 *
 * SQL:      statements call it as sample_fault(job_bytes, mean_s, ci_s, runs, dropped), which returns the index (from
 *           0) of the first implausible argument, or NULL. sample_usable(kernel, …) returns 1 or 0, and describes the
 *           first row that it rejects in db->senseless.
 */
#include <math.h>

#include "profiles/db/db_impl.h"

static const struct field {
    const char *name;
    bool whole, may_lack;
    double least, most;
} fields[DFW_SAMPLE_FIELDS] = {
    { "job_bytes", true, false, 0, INFINITY },
    { "mean_s", false, false, DFW_LEAST_JOB_S, DF_LIMIT_JOB_S },
    { "ci_s", false, true, 0, DF_LIMIT_JOB_S },
    { "runs", true, false, 1, UINT32_MAX },
    { "dropped", true, false, 0, UINT32_MAX },
};

static bool makes_sense(const struct field *field, sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    double number = sqlite3_value_double(value);
    if (type == SQLITE_NULL)
        return field->may_lack;
    if (type != SQLITE_INTEGER && (field->whole || type != SQLITE_FLOAT))
        return false;
    return number >= field->least && number <= field->most;
}

static int first_fault(sqlite3_value **values)
{
    int i = 0;
    while (i < DFW_SAMPLE_FIELDS && makes_sense(&fields[i], values[i]))
        i++;
    return i;
}

static void sample_fault(sqlite3_context *context, int n, sqlite3_value **values)
{
    (void)n;
    int fault = first_fault(values);
    if (fault < DFW_SAMPLE_FIELDS)
        sqlite3_result_int(context, fault);
}

static void sample_usable(sqlite3_context *context, int n, sqlite3_value **values)
{
    (void)n;
    struct dfw_db *db = sqlite3_user_data(context);
    int fault = first_fault(values + 1);
    sqlite3_result_int(context, fault == DFW_SAMPLE_FIELDS);
    if (fault == DFW_SAMPLE_FIELDS || db->senseless[0])
        return;
    const char *kernel = (const char *)sqlite3_value_text(values[0]);
    const char *value = (const char *)sqlite3_value_text(values[1 + fault]);
    snprintf(db->senseless, sizeof db->senseless, "a sample of kernel '%.100s' has the %s '%.50s'",
             kernel ? kernel : "", fields[fault].name, value ? value : "");
}

int dfw_sample_functions(struct dfw_db *db, struct df_error *error)
{
    int code = sqlite3_create_function_v2(db->sqlite, "sample_fault", DFW_SAMPLE_FIELDS,
                                          SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, sample_fault, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db->sqlite, "sample_usable", 1 + DFW_SAMPLE_FIELDS, SQLITE_UTF8, db,
                                          sample_usable, NULL, NULL, NULL);
    return code == SQLITE_OK ? DF_OK : dfw_db_fail(db, "open it", error);
}

const char *dfw_db_senseless(const struct dfw_db *db)
{
    return db->senseless;
}
