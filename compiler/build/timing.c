/* timing.c - --timing: where the time of a build goes.
 *
 * Times:    are CPU times, user's and system's. That of a file is its compiler's, with all that the compiler ran (wait4()). Small kernels share a
 *           file, so they share the time that compiling it takes: the first table says which file a kernel is in.
 */
#include "compiler/build/build_program.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "compiler/emit/emit.h"

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

static int wider(int width, const char *text)
{
    const int own = (int)strlen(text);
    return own > width ? own : width;
}

static void print_kernels(FILE *out, const struct dfc_program *p, bool gpu, int width)
{
    const struct dfc_front *front = p->loaded->front;
    const struct dfg_printed *printed = p->formulas[gpu].kernels;
    for (size_t i = 0; printed && i < front->n_kernels; i++)
        if (dfc_is_formula(&front->kernels[i], gpu)) {
            fprintf(out, "%-*s  %8zu  %9.2f ms  %s\n", width, dfc_emit_name(front, &front->kernels[i]), printed->lines, 1e3 * printed->cpu_s,
                    file_of(p, gpu, printed->part));
            printed++;
        }
}

/* Ends a line: how long it took to make something, or that it came from the cache. */
static void print_source(FILE *out, bool was_cached, double cpu_s, const char *made)
{
    if (was_cached)
        fprintf(out, "%12s  from the cache\n", "");
    else
        fprintf(out, "%9.0f ms  %s\n", 1e3 * cpu_s, made);
}

static void print_unit(FILE *out, const struct dfc_build_unit *unit, const struct dfg_level *here, int width)
{
    const struct dfg_level *level = unit->level && here ? here : unit->level;
    fprintf(out, "%-*s  %-5s  ", width, file_name(unit), level ? level->name : "");
    if (unit->kind == DFC_CODE_OBJECT)
        fputs("             as it is\n", out);
    else
        print_source(out, unit->was_cached, unit->cpu_s, "compiled");
}

void dfc_print_timing(FILE *out, const struct dfc_program *p, struct dfc_moment began)
{
    const struct dfc_moment now = dfc_moment_now();
    const struct dfc_front *front = p->loaded->front;
    int kernels = 6, files = 10;
    for (size_t i = 0; i < front->n_kernels; i++)
        kernels = dfc_is_formula(&front->kernels[i], false) ? wider(kernels, dfc_emit_name(front, &front->kernels[i])) : kernels;
    for (size_t u = 0; u < p->n_units; u++)
        files = wider(files, file_name(&p->units[u]));
    if (dfc_has_formulas(front, false)) {
        fprintf(out, "%-*s  %8s  %12s  %s\n", kernels, "kernel", "lines", "generated", "file");
        for (int gpu = 0; gpu < 2; gpu++)
            print_kernels(out, p, gpu, kernels);
        fputc('\n', out);
    }
    fprintf(out, "%-*s  %-5s  %12s  %s\n", files, "file", "level", "CPU time", "object");
    for (size_t u = 0; u < p->n_units; u++)
        print_unit(out, &p->units[u], p->here, files);
    fprintf(out, "%-*s  %-5s  ", files, "linking", "");
    print_source(out, p->was_cached, p->link_cpu_s, "linked");
    fprintf(out, "%-*s  %-5s  %9.0f ms\n", files, "dfc itself", "", 1e3 * (now.own_s - began.own_s));
    fprintf(out, "%-*s  %-5s  %9.0f ms  in %.0f ms\n", files, "total", "", 1e3 * (now.own_s - began.own_s + now.tools_s - began.tools_s),
            1e3 * (now.elapsed_s - began.elapsed_s));
}
