/* rates.c - stores firing rates: for each node of a program that did not fire in every wave, the fraction of waves in
 * which it did, as its latest run with --learn saw it; and the number of waves of that run. A node without a row fired
 * in every wave, or as often as its inputs came. learned.c stores them, compiler/load gives them to the graph, and
 * `dfc explain` prints them. Editing a kernel invalidates all rows of its program, because the kernel may now decide
 * differently.
 */
#include <stdlib.h>
#include <string.h>

#include "profiles/db/db_impl.h"
#include "runtime/base/error.h"
#include "runtime/start/learn.h"

#define RATES_SINCE 7                   /* the first version of the tables that has them, */
#define WAVES_SINCE 8                   /* and the one that has the waves */

int dfw_rates_take(struct dfw_db *db, const char *header, uint32_t *n, bool *good, struct df_error *error)
{
    static const char *const sql[] = {
        "SELECT count(*) FROM json_each(?1, '$.rates') WHERE type IS NOT 'integer' OR value < 0 OR json_type(?1, '$.waves')"
        " IS NOT 'integer' OR value > json_extract(?1, '$.waves') OR json_extract(?1, '$.waves') < 1",
        "SELECT json_type(?1, '$.code') IS 'text' AND (json_type(?1, '$.waves') IS NOT 'integer' OR json_extract(?1, '$.waves') < 1)",
        "INSERT OR REPLACE INTO waves (program, code, waves) SELECT json_extract(?1, '$.program'), json_extract(?1, '$.code'),"
        " json_extract(?1, '$.waves') WHERE json_type(?1, '$.code') IS 'text' AND json_type(?1, '$.program') IS 'text'",
        "DELETE FROM rates WHERE program = json_extract(?1, '$.program') AND json_type(?1, '$.code') IS 'text'"
        " AND json_type(?1, '$.rates') IS 'object'",
        "INSERT OR REPLACE INTO rates (program, code, node, fired, waves) SELECT json_extract(?1, '$.program'),"
        " json_extract(?1, '$.code'), key, value, json_extract(?1, '$.waves') FROM json_each(?1, '$.rates')"
        " WHERE json_type(?1, '$.code') IS 'text'",
    };
    int status = DF_OK;
    *good = true;
    for (size_t i = 0; i < sizeof sql / sizeof *sql && status == DF_OK && *good; i++) {
        sqlite3_stmt *s;
        status = dfw_db_prepare(db, sql[i], &s, error);
        if (status != DF_OK)
            return status;
        sqlite3_bind_text(s, 1, header, -1, SQLITE_STATIC);
        int code = dfw_db_step(db, s);
        if (code == SQLITE_ROW)
            *good = sqlite3_column_int64(s, 0) == 0;
        else if (code != SQLITE_DONE)
            status = dfw_db_fail(db, "take in what programs learned", error);
        *n = (uint32_t)sqlite3_changes(db->sqlite); /* of the last statement in the end */
        sqlite3_finalize(s);
    }
    return status;
}

static bool add_rate(struct dfw_rates *rates, sqlite3_stmt *s)
{
    struct dfw_rate *grown = realloc(rates->items, (rates->n + 1) * sizeof *grown);
    const char *text = (const char *)sqlite3_column_text(s, 0); /* NULL: no memory */
    char *node = text ? strdup(text) : NULL;
    if (grown)
        rates->items = grown;
    if (!grown || !node) {
        free(node);
        return false;
    }
    grown[rates->n++] = (struct dfw_rate){ node, (float)sqlite3_column_double(s, 1) };
    return true;
}

static int load_waves(struct dfw_db *db, const char *program, const char *code, uint32_t *waves, struct df_error *error)
{
    sqlite3_stmt *s;
    if (db->version < WAVES_SINCE)
        return DF_OK;
    int status = dfw_db_prepare(db, "SELECT min(waves, 4294967295) FROM waves WHERE program = ?1 AND code = ?2", &s, error);
    if (status != DF_OK)
        return status;
    sqlite3_bind_text(s, 1, program, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, code, -1, SQLITE_STATIC);
    const int row = dfw_db_step(db, s);
    if (row == SQLITE_ROW)
        *waves = (uint32_t)sqlite3_column_int64(s, 0);
    else if (row != SQLITE_DONE)
        status = dfw_db_fail(db, "read it", error);
    sqlite3_finalize(s);
    return status;
}

int dfw_rates_load(struct dfw_db *db, const struct df_graph *graph, struct dfw_rates *rates, struct df_error *error)
{
    sqlite3_stmt *s;
    char code[DFR_CODE_TEXT];
    *rates = (struct dfw_rates){ 0 };
    if (!db || db->version < RATES_SINCE)
        return DF_OK;
    /* Who never fired counts as half a wave, because a rate is above 0. Rows are in strcmp()'s order. */
    int status = dfw_db_prepare(db, "SELECT node, max(fired, 0.5) * 1.0 / waves FROM rates WHERE program = ?1 AND code = ?2"
                                " ORDER BY node COLLATE BINARY", &s, error);
    if (status != DF_OK)
        return status;
    dfr_learn_code(graph, code);
    sqlite3_bind_text(s, 1, graph->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, code, -1, SQLITE_STATIC);
    int row = dfw_db_step(db, s);
    for (; row == SQLITE_ROW && status == DF_OK; row = dfw_db_step(db, s))
        if (!add_rate(rates, s))
            status = dfr_error_memory(error);
    if (status == DF_OK && row != SQLITE_DONE)
        status = dfw_db_fail(db, "read it", error);
    sqlite3_finalize(s);
    if (status == DF_OK)
        status = load_waves(db, graph->name, code, &rates->waves, error);
    if (status != DF_OK)
        dfw_rates_free(rates);
    return status;
}

void dfw_rates_free(struct dfw_rates *rates)
{
    for (size_t i = 0; i < rates->n; i++)
        free(rates->items[i].node);
    free(rates->items);
    *rates = (struct dfw_rates){ 0 };
}

static int compare(const void *name, const void *rate)
{
    return strcmp(name, ((const struct dfw_rate *)rate)->node);
}

float dfw_rate_of(const struct dfw_rates *rates, const struct df_graph *graph, uint32_t node)
{
    char name[512];
    if (!rates->n)
        return 0;
    df_node_name(graph, node, name, sizeof name);
    const struct dfw_rate *found = bsearch(name, rates->items, rates->n, sizeof *rates->items, compare);
    return found ? found->rate : 0;
}

int dfw_rates_give(const struct dfw_rates *rates, struct df_graph *graph, struct df_error *error)
{
    float *learnt = rates->n ? calloc((size_t)graph->n_nodes + 1, sizeof *learnt) : NULL;
    if (!rates->n)
        return DF_OK;
    if (!learnt)
        return dfr_error_memory(error);
    for (uint32_t v = 0; v < graph->n_nodes; v++)
        learnt[v] = dfw_rate_of(rates, graph, v);
    df_graph_find_rates(graph, learnt);
    free(learnt);
    return DF_OK;
}
