/* cmd_profile_report.c - prints the table of `dfc profile --report`: for the times, or the speedup, of each kernel on
 * each device, the error of nearest neighbours (knn) and of the best power law in a 10-fold cross-validation, and which
 * of the two is used. cmd_profile.c calls it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/commands/profile_report.h"
#include "profiles/estimate/estimate.h"
#include "runtime/base/report_table.h"

struct group {                          /* a dfw_group with its own copies of the strings */
    char *kernel, *device;
    bool gpu;
    uint64_t hash;
};

struct report {
    const struct df_graph *graph;
    enum dfr_form form;
    FILE *out;
    struct dfr_report_table table;
    struct group *groups;
    size_t n_groups;
    double sum[DFW_N_QUANTITIES][2];    /* of errors: [0] knn, [1] the best power law */
    unsigned n[DFW_N_QUANTITIES][2];
    unsigned rows;
};

/* ---- which kernels ---- */

/* Is this the present source of one of the graph's kernels? The emulator runs the cpu variant's. Without a graph: is
 * it the newest source of its kernel? */
static bool wanted(const struct report *r, const struct dfw_group *g)
{
    bool emulated = !strcmp(g->device, DFW_EMULATOR);
    const struct group *last = r->n_groups ? &r->groups[r->n_groups - 1] : NULL;
    bool gpu = !strcmp(g->variant, "gpu");
    if (!r->graph)                      /* groups come sorted, the newest source first */
        return !last || last->gpu != gpu || strcmp(last->kernel, g->kernel) || strcmp(last->device, g->device);
    for (uint32_t k = 0; k < r->graph->n_kernels; k++)
        if (!strcmp(df_graph_string(r->graph, r->graph->kernels[k].name), g->kernel))
            return r->graph->kernels[k].code_hash[gpu && !emulated] == g->hash;
    return false;
}

static int take_group(void *arg, const struct dfw_group *g, struct df_error *error)
{
    struct report *r = arg;
    (void)error;
    if (!wanted(r, g))
        return DF_OK;
    struct group *groups = realloc(r->groups, (r->n_groups + 1) * sizeof *groups);
    if (!groups)
        return DF_E_MEMORY;
    r->groups = groups;
    groups[r->n_groups++] = (struct group){ strdup(g->kernel), strdup(g->device), !strcmp(g->variant, "gpu"), g->hash };
    return groups[r->n_groups - 1].kernel && groups[r->n_groups - 1].device ? DF_OK : DF_E_MEMORY;
}

/* ---- rows ---- */

static enum dfw_method best_power(const struct dfw_estimator *e)
{
    enum dfw_method best = DFW_POWER_BYTES;
    for (unsigned m = DFW_POWER_BYTES; m < DFW_N_METHODS; m++) {
        double error = dfw_estimator_error(e, (enum dfw_method)m), least = dfw_estimator_error(e, best);
        if (error < least || (isnan(least) && !isnan(error)))
            best = (enum dfw_method)m;
    }
    return best;
}

static const struct dfr_column columns[] = {
    DFR_COLUMN("kernel", "kernel", TEXT), DFR_COLUMN("device", "device", TEXT), DFR_COLUMN("of", "of", TEXT), DFR_COLUMN("sizes", "sizes", COUNT),
    DFR_COLUMN("knn", NULL, SHARE, .digits = 1), DFR_COLUMN("power law", NULL, SHARE, .digits = 1), DFR_COLUMN(NULL, "knn_error_pct", FACTOR),
    DFR_COLUMN(NULL, "power_error_pct", FACTOR), DFR_COLUMN("by", "power_by", TEXT), DFR_COLUMN("used", "used", TEXT),
};

static void put_row(struct report *r, const char *kernel, const char *device, enum dfw_quantity quantity,
                    const struct dfw_estimator *e)
{
    static const char *const what[] = { "time", "time", "speedup" };
    enum dfw_method power = best_power(e);
    double errors[2] = { dfw_estimator_error(e, DFW_KNN), dfw_estimator_error(e, power) };
    bool validated = !isnan(dfw_estimator_score(e));
    r->rows++;
    for (int i = 0; i < 2; i++)
        if (!isnan(errors[i])) {
            r->sum[quantity][i] += errors[i];
            r->n[quantity][i]++;
        }
    dfr_report_table_row(&r->table, (const struct dfr_cell[]){
        DFR_STR(kernel), DFR_STR(device), DFR_STR(what[quantity]), DFR_NUM(dfw_estimator_count(e)), DFR_NUM(errors[0]), DFR_NUM(errors[1]),
        DFR_NUM(100 * errors[0]), DFR_NUM(100 * errors[1]), DFR_STR(isnan(errors[1]) ? NULL : dfw_method_name(power)),
        DFR_STR(validated ? dfw_method_name(dfw_estimator_method(e)) : "scaled") });
}

/* The cpu variant of g's kernel; a kernel has at most one. NULL: it was not measured. */
static const struct group *cpu_of(const struct report *r, const struct group *g)
{
    for (size_t i = 0; i < r->n_groups; i++)
        if (!r->groups[i].gpu && !strcmp(r->groups[i].kernel, g->kernel))
            return &r->groups[i];
    return NULL;
}

/* Prints a row for the times of this variant. A gpu variant gets another row, for its speedup. */
static int report_group(struct report *r, struct dfw_db *db, const struct group *g, struct df_error *error)
{
    const struct group *cpu = g->gpu ? cpu_of(r, g) : g;
    struct dfw_kernel_points points = { 0 };
    struct dfw_kernel_times *times = NULL;
    int status = dfw_points_load(db, "cpu", "cpu", g->kernel, cpu ? cpu->hash : 0, &points.of[0], error);
    if (status == DF_OK)
        status = dfw_points_load(db, g->device, "gpu", g->kernel, g->hash, &points.of[1], error);
    if (status == DF_OK)
        status = dfw_kernel_times_new(&points, &times, error);
    if (status != DF_OK) {
        dfw_kernel_points_free(&points);
        return status;
    }
    enum dfw_quantity quantity = g->gpu ? DFW_GPU_TIME : DFW_CPU_TIME;
    const struct dfw_estimator *e = dfw_kernel_estimator(times, quantity);
    if (e)
        put_row(r, g->kernel, g->device, quantity, e);
    if (g->gpu && cpu && (e = dfw_kernel_estimator(times, DFW_SPEEDUP)))
        put_row(r, g->kernel, g->device, DFW_SPEEDUP, e);
    dfw_kernel_times_free(times);
    dfw_kernel_points_free(&points);
    return DF_OK;
}

static void put_means(const struct report *r)
{
    static const char *const names[] = { "cpu times", "gpu times", "speedups" };
    for (unsigned q = 0; q < DFW_N_QUANTITIES; q++) {
        if (!r->n[q][0] && !r->n[q][1])
            continue;
        fprintf(r->out, "mean error of %-9s ", names[q]);
        if (r->n[q][0])
            fprintf(r->out, " knn %.1f %%", 100 * r->sum[q][0] / r->n[q][0]);
        if (r->n[q][1])
            fprintf(r->out, "%s power law %.1f %%", r->n[q][0] ? "," : "", 100 * r->sum[q][1] / r->n[q][1]);
        fputc('\n', r->out);
    }
}

static bool put_all(struct report *r, struct dfw_db *db, struct df_error *error)
{
    dfr_report_table_begin(&r->table, r->out, r->form, DFR_COLUMNS(columns));
    for (size_t i = 0; i < r->n_groups; i++)
        if (report_group(r, db, &r->groups[i], error) != DF_OK)
            return false;
    if (r->form == DFR_FORM_CSV)
        return true;
    if (!r->rows) {
        fputs("nothing was measured yet\n", r->out);
        return true;
    }
    fputs("Error of estimating each size from the others, by 10-fold cross-validation:\n\n", r->out);
    if (!dfr_report_table_end(&r->table)) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return false;
    }
    fputc('\n', r->out);
    put_means(r);
    return true;
}

bool dfc_profile_report(struct dfw_db *db, const struct df_graph *graph, enum dfr_form form, FILE *out)
{
    struct report r = { .graph = graph, .form = form, .out = out };
    struct df_error error = { "out of memory" };
    bool good = dfw_groups_each(db, take_group, &r, &error) == DF_OK && put_all(&r, db, &error);
    if (!good)
        dfc_error("%s", error.text);
    for (size_t i = 0; i < r.n_groups; i++) {
        free(r.groups[i].kernel);
        free(r.groups[i].device);
    }
    free(r.groups);
    dfr_report_table_free(&r.table);
    return good;
}
