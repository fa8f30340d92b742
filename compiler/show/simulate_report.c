/* simulate_report.c - prints the results of `dfc simulate` as a table, CSV and JSON, for commands/cmd_simulate.c. Other programs
 * rely on the columns and names, so these must not change.
 */
#include "compiler/show/simulate_report.h"

#include <inttypes.h>

#include "partition/planner/plan_report.h"
#include "runtime/base/message.h"
#include "runtime/base/report_table.h"
#include "runtime/base/text.h"
#include "runtime/program/node_report.h"

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
        dfr_report_live(r->nodes, s->live, s->n_live, DFR_FORM_JSON, out);
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

static bool print_rows(const struct dfc_simulate_report *r, enum dfr_form form, FILE *out)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN(NULL, "graph", TEXT), DFR_COLUMN(NULL, "platform", TEXT), DFR_COLUMN("policy", "policy", TEXT),
        DFR_COLUMN("makespan", "makespan_s", SECONDS), DFR_COLUMN("ratio", NULL, FACTOR, .digits = 3),
        DFR_COLUMN("/ bound", NULL, FACTOR, .digits = 3), DFR_COLUMN(NULL, "lower_bound_s", SECONDS), DFR_COLUMN(NULL, "h2d_bytes", BYTES),
        DFR_COLUMN(NULL, "d2h_bytes", BYTES), DFR_COLUMN("cpu busy", NULL, SHARE, .digits = 1),
        DFR_COLUMN("gpu busy", NULL, SHARE, .digits = 1), DFR_COLUMN("copies", "copies", COUNT), DFR_COLUMN("to gpu", NULL, BYTES),
        DFR_COLUMN("from gpu", NULL, BYTES), DFR_COLUMN("to peers", NULL, BYTES, .only = DFR_ONLY_OWN), DFR_COLUMN("evictions", "evictions", COUNT),
        DFR_COLUMN(NULL, "cpu_busy_s", SECONDS), DFR_COLUMN(NULL, "gpu_busy_s", SECONDS), DFR_COLUMN("planning", "plan_ms", MILLISECONDS, .digits = 1),
    };
    struct dfr_report_table table = { .shown = has_peers(r->platform) ? DFR_ONLY_OWN : 0 };
    double best_s = r->rows[0].simulation.makespan_s;
    for (unsigned i = 1; i < r->n_rows; i++)
        best_s = r->rows[i].simulation.makespan_s < best_s ? r->rows[i].simulation.makespan_s : best_s;
    dfr_report_table_begin(&table, out, form, DFR_COLUMNS(columns));
    for (unsigned i = 0; i < r->n_rows; i++) {
        const struct dfc_simulated *row = &r->rows[i];
        const struct dfr_simulation *s = &row->simulation;
        dfr_report_table_row(&table, (const struct dfr_cell[]){
            DFR_STR(r->graph), DFR_STR(r->platform->name), DFR_STR(row->policy), DFR_NUM(s->makespan_s),
            DFR_NUM(best_s > 0 ? s->makespan_s / best_s : 1), DFR_NUM(r->bound_s > 0 ? s->makespan_s / r->bound_s : 1), DFR_NUM(r->bound_s),
            DFR_NUM(s->h2d_bytes), DFR_NUM(s->d2h_bytes), DFR_NUM(load_of(r->platform, 0, 1, s)),
            DFR_NUM(load_of(r->platform, 1, r->platform->n_units, s)), DFR_NUM(copies_of(s)), DFR_NUM(s->h2d_bytes),
            DFR_NUM(s->d2h_bytes), DFR_NUM(s->peer_bytes), DFR_NUM(s->evictions), DFR_NUM(row->cpu_busy_s),
            DFR_NUM(row->gpu_busy_s), DFR_NUM(row->plan_ms) });
    }
    return dfr_report_table_end(&table);
}

void dfc_simulate_csv(const struct dfc_simulate_report *r, FILE *out)
{
    print_rows(r, DFR_FORM_CSV, out);
}

bool dfc_simulate_text(const struct dfc_simulate_report *r, FILE *out)
{
    char a[32];
    dfr_message_name(out, r->path);
    fprintf(out, " on %s: %u node%s, %u wave%s; no schedule is faster than %s\n\n", r->platform->name,
            (unsigned)r->n_nodes, r->n_nodes == 1 ? "" : "s", (unsigned)r->waves, r->waves == 1 ? "" : "s",
            dfr_text_seconds(r->bound_s, a, sizeof a));
    bool good = print_rows(r, DFR_FORM_TEXT, out);
    for (unsigned i = 0; i < r->n_rows; i++)
        if (r->rows[i].least_load_s > 0 && r->rows[i].load_bound_s > 0)
            write_load(&r->rows[i], out);
    for (unsigned i = 0; i < r->n_rows; i++)
        if (r->rows[i].simulation.n_live > 0) {
            fprintf(out, "\n%s:", r->rows[i].policy);
            dfr_report_live(r->nodes, r->rows[i].simulation.live, r->rows[i].simulation.n_live, DFR_FORM_TEXT, out);
        }
    return good;
}
