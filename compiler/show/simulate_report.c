/* simulate_report.c - prints the table, the CSV and the JSON of `dfc simulate`. Other programs read the columns and
 * names, so they must not change.
 */
#include "compiler/show/simulate_report.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/show/table.h"
#include "partition/planner/plan_report.h"
#include "runtime/base/message.h"
#include "runtime/base/text.h"

static uint32_t copies_of(const struct dfr_simulation *s)
{
    return s->h2d_copies + s->d2h_copies + s->peer_copies;
}

static void write_json_name(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\": ", key);
    dfr_text_json(out, text);
}

/* For each unit, the seconds that it computes and that its engines copy. */
static void write_json_units(FILE *out, const struct df_platform *platform, const struct dfr_simulation *s)
{
    fputs(",\n     \"units\": [", out);
    for (uint32_t u = 0; u < platform->n_units; u++) {
        fputs(u ? ", {" : "{", out);
        write_json_name(out, "name", platform->units[u].name);
        fprintf(out, ", \"workers\": %u, \"busy_s\": %.9g", (unsigned)platform->units[u].workers, s->busy_s[u]);
        if (u)
            fprintf(out, ", \"h2d_busy_s\": %.9g, \"d2h_busy_s\": %.9g", s->h2d_busy_s[u], s->d2h_busy_s[u]);
        if (df_platform_peers(platform, u))
            fprintf(out, ", \"peer_busy_s\": %.9g", s->peer_busy_s[u]);
        fputc('}', out);
    }
    fputs("]}", out);
}

void dfc_simulate_json(const struct dfc_simulate_report *r, FILE *out)
{
    fputs("{", out);
    write_json_name(out, "graph", r->graph);
    fputs(", ", out);
    write_json_name(out, "platform", r->platform->name);
    fputs(", ", out);
    write_json_name(out, "gpu_times", r->gpu_times);
    fprintf(out, ", \"waves\": %u, \"lower_bound_s\": %.9g,\n \"policies\": [\n", (unsigned)r->waves, r->bound_s);
    for (unsigned i = 0; i < r->n_rows; i++) {
        const struct dfr_simulation *s = &r->rows[i].simulation;
        fputs("    {", out);
        write_json_name(out, "policy", r->rows[i].policy);
        fprintf(out, ", \"makespan_s\": %.9g, \"h2d_bytes\": %" PRIu64 ", \"d2h_bytes\": %" PRIu64
                ", \"h2d_copies\": %u, \"d2h_copies\": %u, \"evictions\": %u, \"plan_ms\": %.3f", s->makespan_s,
                s->h2d_bytes, s->d2h_bytes, (unsigned)s->h2d_copies, (unsigned)s->d2h_copies, (unsigned)s->evictions,
                r->rows[i].plan_ms);
        if (s->passes > 1)
            fprintf(out, ", \"passes\": %u", (unsigned)s->passes);
        if (s->peer_copies)
            fprintf(out, ", \"peer_bytes\": %" PRIu64 ", \"peer_copies\": %u", s->peer_bytes, (unsigned)s->peer_copies);
        if (r->rows[i].load_bound_s > 0)
            fprintf(out, ", \"load_s\": %.9g, \"least_load_s\": %.9g, \"load_bound_s\": %.9g, \"joint_waves\": %u",
                    r->rows[i].load_s, r->rows[i].least_load_s, r->rows[i].load_bound_s, (unsigned)r->rows[i].n_joint);
        write_json_units(out, r->platform, s);
        fputs(i + 1 < r->n_rows ? ",\n" : "\n", out);
    }
    fputs(" ]}\n", out);
}

static double load_of(const struct df_platform *platform, uint32_t first, uint32_t end, const struct dfr_simulation *s)
{
    double busy_s = 0, workers = 0;
    for (uint32_t u = first; u < end; u++) {
        busy_s += s->busy_s[u];
        workers += platform->units[u].workers;
    }
    return workers > 0 && s->makespan_s > 0 ? busy_s / (workers * s->makespan_s) : 0;
}

/* For a plan for many waves, prints what limits it. */
static void write_load(const struct dfc_simulated *row, FILE *out)
{
    char a[32];
    fprintf(out, "\n%s: the busiest unit or copy engine is loaded %s a wave, %.2f %% above the bound", row->policy,
            dfr_text_seconds(row->load_s, a, sizeof a), dfp_percent_above(row->load_s, row->load_bound_s));
    if (row->n_joint > 1)
        fprintf(out, "; %u waves placed jointly", (unsigned)row->n_joint);
    if (row->least_load_s < row->load_s)
        fprintf(out, "; the least found is %.2f %% above, and slower here",
                dfp_percent_above(row->least_load_s, row->load_bound_s));
    fputc('\n', out);
}

static bool has_peers(const struct df_platform *platform)
{
    uint32_t peers = 0;
    for (uint32_t u = 1; u < platform->n_units; u++)
        peers |= df_platform_peers(platform, u);
    return peers;
}

static bool print_rows(const struct dfc_simulate_report *r, enum dfc_table_form form, FILE *out)
{
    static const struct dfc_column columns[] = {
        DFC_COLUMN(NULL, "graph", DFC_TEXT), DFC_COLUMN(NULL, "platform", DFC_TEXT), DFC_COLUMN("policy", "policy", DFC_TEXT),
        DFC_COLUMN("makespan", "makespan_s", DFC_SECONDS), DFC_COLUMN("ratio", NULL, DFC_FACTOR, .digits = 3),
        DFC_COLUMN("/ bound", NULL, DFC_FACTOR, .digits = 3), DFC_COLUMN(NULL, "lower_bound_s", DFC_SECONDS), DFC_COLUMN(NULL, "h2d_bytes", DFC_BYTES),
        DFC_COLUMN(NULL, "d2h_bytes", DFC_BYTES), DFC_COLUMN("cpu busy", NULL, DFC_SHARE, .digits = 1),
        DFC_COLUMN("gpu busy", NULL, DFC_SHARE, .digits = 1), DFC_COLUMN("copies", "copies", DFC_COUNT), DFC_COLUMN("to gpu", NULL, DFC_BYTES),
        DFC_COLUMN("from gpu", NULL, DFC_BYTES), DFC_COLUMN("to peers", NULL, DFC_BYTES), DFC_COLUMN("evictions", "evictions", DFC_COUNT),
        DFC_COLUMN(NULL, "cpu_busy_s", DFC_SECONDS), DFC_COLUMN(NULL, "gpu_busy_s", DFC_SECONDS), DFC_COLUMN("planning", "plan_ms", DFC_MILLISECONDS),
    };
    enum { N = sizeof columns / sizeof *columns, TO_PEERS = 14 };
    struct dfc_column shown[N];
    struct dfc_table table = { 0 };
    double best_s = r->rows[0].simulation.makespan_s;
    memcpy(shown, columns, sizeof shown);
    if (!has_peers(r->platform))
        shown[TO_PEERS].head = NULL;
    for (unsigned i = 1; i < r->n_rows; i++)
        best_s = r->rows[i].simulation.makespan_s < best_s ? r->rows[i].simulation.makespan_s : best_s;
    dfc_table_begin(&table, out, form, shown, N);
    for (unsigned i = 0; i < r->n_rows; i++) {
        const struct dfc_simulated *row = &r->rows[i];
        const struct dfr_simulation *s = &row->simulation;
        dfc_table_row(&table, (const struct dfc_value[N]){
            DFC_WORD(r->graph), DFC_WORD(r->platform->name), DFC_WORD(row->policy), DFC_NUMBER(s->makespan_s),
            DFC_NUMBER(best_s > 0 ? s->makespan_s / best_s : 1), DFC_NUMBER(r->bound_s > 0 ? s->makespan_s / r->bound_s : 1), DFC_NUMBER(r->bound_s),
            DFC_NUMBER(s->h2d_bytes), DFC_NUMBER(s->d2h_bytes), DFC_NUMBER(load_of(r->platform, 0, 1, s)),
            DFC_NUMBER(load_of(r->platform, 1, r->platform->n_units, s)), DFC_NUMBER(copies_of(s)), DFC_NUMBER(s->h2d_bytes),
            DFC_NUMBER(s->d2h_bytes), DFC_NUMBER(s->peer_bytes), DFC_NUMBER(s->evictions), DFC_NUMBER(row->cpu_busy_s),
            DFC_NUMBER(row->gpu_busy_s), DFC_NUMBER(row->plan_ms) });
    }
    return dfc_table_end(&table);
}

void dfc_simulate_csv(const struct dfc_simulate_report *r, FILE *out)
{
    print_rows(r, DFC_TABLE_CSV, out);
}

bool dfc_simulate_text(const struct dfc_simulate_report *r, FILE *out)
{
    char a[32];
    dfr_message_name(out, r->path);
    fprintf(out, " on %s: %u node%s, %u wave%s; no schedule is faster than %s\n\n", r->platform->name,
            (unsigned)r->n_nodes, r->n_nodes == 1 ? "" : "s", (unsigned)r->waves, r->waves == 1 ? "" : "s",
            dfr_text_seconds(r->bound_s, a, sizeof a));
    bool good = print_rows(r, DFC_TABLE_TEXT, out);
    for (unsigned i = 0; i < r->n_rows; i++)
        if (r->rows[i].least_load_s > 0 && r->rows[i].load_bound_s > 0)
            write_load(&r->rows[i], out);
    return good;
}
