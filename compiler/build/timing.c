/* timing.c - prints the CPU time of each step of a build, for build_program.c with --timing.
 *
 * Times:    user plus system CPU time, for a file that of its compiler with all its children (wait4()). Small kernels
 *           share a file and therefore its compile time; the first table says which kernel is in which file.
 */
#include "compiler/build/build_program.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "compiler/emit/emit.h"
#include "runtime/base/report_table.h"

struct dfc_moment dfc_moment_now(void)
{
    struct timespec now;
    struct rusage own, tools;
    clock_gettime(CLOCK_MONOTONIC, &now);
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &tools);
    return (struct dfc_moment){ (double)now.tv_sec + 1e-9 * (double)now.tv_nsec, dfc_cpu_s(&own), dfc_cpu_s(&tools) };
}

static const char *file_name(const struct dfc_build_unit *unit)
{
    const char *path = unit->source ? unit->source : unit->object, *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The file in which these formulas are. "": it was not compiled. */
static const char *file_of(const struct dfc_program *p, bool gpu, size_t part)
{
    for (size_t u = 0; u < p->n_units; u++)
        if (gpu ? p->units[u].gpu_formulas : p->units[u].level == dfg_level(0) && p->units[u].part == part)
            return file_name(&p->units[u]);
    return "";
}

static void print_kernels(FILE *out, const struct dfc_program *p)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("kernel", NULL, TEXT), DFR_COLUMN("lines", NULL, COUNT, .width = 8), DFR_COLUMN("generated", NULL, MILLISECONDS, .digits = 2, .width = 12),
        DFR_COLUMN("file", NULL, TEXT, .width = -4),
    };
    const struct dfc_front *front = p->loaded->front;
    struct dfr_report_table table = { 0 };
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (int gpu = 0; gpu < 2; gpu++) {
        const struct dfg_printed *printed = p->formulas[gpu].kernels;
        for (size_t i = 0; printed && i < front->n_kernels; i++)
            if (dfc_is_formula(&front->kernels[i], gpu)) {
                dfr_report_table_row(&table, (const struct dfr_cell[]){ DFR_STR(dfc_emit_name(front, &front->kernels[i])), DFR_NUM(printed->lines),
                                                                        DFR_NUM(1e3 * printed->cpu_s), DFR_STR(file_of(p, gpu, printed->part)) });
                printed++;
            }
    }
    dfr_report_table_end(&table);
    fputc('\n', out);
}

/* cpu_s: < 0: it took none. */
static void add_file(struct dfr_report_table *table, const char *file, const char *level, double cpu_s, const char *made)
{
    dfr_report_table_row(table, (const struct dfr_cell[]){ DFR_STR(file), DFR_STR(level), DFR_NUM_AS(1e3 * cpu_s, cpu_s < 0 ? "" : NULL), DFR_STR(made) });
}

static void add_unit(struct dfr_report_table *table, const struct dfc_build_unit *unit, const struct dfg_level *here)
{
    const struct dfg_level *level = unit->level && here ? here : unit->level;
    const bool object = unit->kind == DFC_CODE_OBJECT;
    add_file(table, file_name(unit), level ? level->name : "", object || unit->was_cached ? -1 : unit->cpu_s,
             object ? "as it is" : unit->was_cached ? "from the cache" : "compiled");
}

void dfc_print_timing(FILE *out, const struct dfc_program *p, struct dfc_moment began)
{
    static const struct dfr_column columns[] = {
        DFR_COLUMN("file", NULL, TEXT, .width = -10), DFR_COLUMN("level", NULL, TEXT, .width = -5), DFR_COLUMN("CPU time", NULL, MILLISECONDS, .width = 12),
        DFR_COLUMN("object", NULL, TEXT, .width = -6),
    };
    const struct dfc_moment now = dfc_moment_now();
    struct dfr_report_table table = { 0 };
    char elapsed[32];
    if (dfc_has_formulas(p->loaded->front, false))
        print_kernels(out, p);
    dfr_report_table_begin(&table, out, DFR_FORM_TEXT, DFR_COLUMNS(columns));
    for (size_t u = 0; u < p->n_units; u++)
        add_unit(&table, &p->units[u], p->here);
    add_file(&table, "linking", "", p->was_cached ? -1 : p->link_cpu_s, p->was_cached ? "from the cache" : "linked");
    add_file(&table, "dfc itself", "", now.own_s - began.own_s, "");
    snprintf(elapsed, sizeof elapsed, "in %.0f ms", 1e3 * (now.elapsed_s - began.elapsed_s));
    add_file(&table, "total", "", now.own_s - began.own_s + now.tools_s - began.tools_s, elapsed);
    dfr_report_table_end(&table);
}
