/* emit_memory.c - prints the memory plan as text, which is the last part of --emit=plan, for commands/cmd_compile.c. */
#include <inttypes.h>

#include "compiler/show/memory_report.h"
#include "partition/memory/memory.h"
#include "partition/planner/plan_report.h"

static void emit_value(FILE *out, const struct df_graph *g, uint32_t value)
{
    const char *name = df_graph_string(g, g->values[value].name);
    fprintf(out, "v%u%s%s", value, *name ? " " : "", name);
}

/* Prints ` v0 a, v4 b: 64 bytes at 128, in sequence at 0; n0 to n7`. The values of a chain of inout ports are one
 * tenant. */
static void emit_tenant(FILE *out, const struct df_graph *g, const struct dfp_memory *m, uint32_t number, bool host)
{
    const struct dfp_tenant *t = &m->tenants[number];
    fputc(' ', out);
    emit_value(out, g, t->first);
    if (t->last != t->first) {
        fputs(t->last == t->first + 1 ? ", " : " to ", out);
        emit_value(out, g, t->last);
    }
    fprintf(out, ": %" PRIu64 " bytes at %" PRIu64, t->bytes, t->any);
    if (number >= m->n_wave) {
        fprintf(out, ", once; n%u to the end\n", dfp_tenant_writer(g, t));
        return;
    }
    if (host)
        fprintf(out, ", in sequence at %" PRIu64, t->sequence);
    fprintf(out, "; n%u to n%u\n", dfp_tenant_writer(g, t), dfp_tenant_last_end(g, t));
}

static int emit_unit(FILE *out, const struct dfp_problem *problem, const struct df_plan *plan, uint32_t unit,
                     uint32_t inflight, struct df_error *error)
{
    const struct df_memory_need *need = &plan->memory[unit];
    struct dfp_memory m;
    char promise[160];
    int code = dfp_plan_memory(problem, plan, unit, 0, &m, error);
    if (code != DF_OK)
        return code;
    fprintf(out, "memory of u%u %s: %" PRIu64 " bytes for a wave in any order (at least %" PRIu64 ")", unit,
            plan->platform.units[unit].name, need->wave_bytes, need->wave_bound_bytes);
    if (unit == 0)
        fprintf(out, ", %" PRIu64 " in sequence (at least %" PRIu64 ")", need->sequence_bytes,
                need->sequence_bound_bytes);
    fprintf(out, ", %" PRIu64 " once, %" PRIu64 " for scratch", need->once_bytes, need->scratch_bytes);
    dfp_text_promise(promise, plan, unit, inflight);
    fprintf(out, "%s%s\n", *promise ? "; " : "", promise);
    for (uint32_t t = 0; t < m.n; t++)
        emit_tenant(out, problem->graph, &m, t, unit == 0);
    dfp_memory_free(&m);
    return DF_OK;
}

int dfc_emit_memory(FILE *out, const struct dfp_problem *problem, const struct df_plan *plan, uint32_t inflight,
                    struct df_error *error)
{
    int code = DF_OK;
    for (uint32_t u = 0; u < plan->platform.n_units && code == DF_OK; u++) {
        fputc('\n', out);
        code = emit_unit(out, problem, plan, u, inflight, error);
    }
    return code;
}
