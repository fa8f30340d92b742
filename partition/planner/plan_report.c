/* plan_report.c - computes the figures of a plan and formats them, for the commands that show plans and for the legends
 * and nodes of drawings (plan_report.h).
 */
#include "partition/planner/plan_report.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/text.h"

bool dfp_reader_is_first(const struct df_graph *g, const struct df_value *value, uint32_t r)
{
    const struct df_reader *readers = g->readers + value->first_reader;
    uint32_t node = readers[r].node;
    const struct df_node *n = &g->nodes[node];
    uint32_t this_value = (uint32_t)(value - g->values);
    for (uint32_t slot = 0; slot < readers[r].slot; slot++) /* over inputs, which are few: readers may be many */
        if (g->in_value[n->first_in + slot] == this_value)
            return false;
    return true;
}

int dfp_report_make(const struct dfp_problem *problem, const struct df_plan *plan, struct dfp_report *report,
                    struct df_error *error)
{
    const struct df_graph *g = problem->graph;
    struct dfp_report made = { .best_single_s = plan->best_single_s, .best_single_unit = plan->best_single_unit };
    int code = dfp_evaluate(problem, plan->place, plan->priority, &made.evaluation, error);
    if (code)
        return code;
    for (uint32_t v = 0; v < g->n_values; v++)
        for (uint32_t r = 0; r < g->values[v].n_readers; r++) {
            if (!dfp_reader_is_first(g, &g->values[v], r))
                continue;
            made.n_arcs++;
            made.cut_arcs += plan->place[g->values[v].producer] !=
                             plan->place[g->readers[g->values[v].first_reader + r].node];
        }
    made.single_is_faster = !plan->inflight && made.evaluation.makespan_s > 1.01 * made.best_single_s;
    *report = made;
    return DF_OK;
}

/* Makes "1.5 ms" of "1.50 ms", and "4 MiB" of "4.00 MiB". */
static const char *without_zeros(char buffer[32])
{
    char *unit = strchr(buffer, ' '), *end = unit;
    if (!unit || !memchr(buffer, '.', (size_t)(unit - buffer)))
        return buffer;
    while (end[-1] == '0')
        end--;
    if (end[-1] == '.')
        end--;
    memmove(end, unit, strlen(unit) + 1);
    return buffer;
}

const char *dfp_text_time(char buffer[32], double time_s)
{
    dfr_text_seconds(time_s, buffer, 32);
    return without_zeros(buffer);
}

const char *dfp_text_bytes(char buffer[32], uint64_t bytes)
{
    dfr_text_bytes(bytes, buffer, 32);
    return without_zeros(buffer);
}

const char *dfp_text_promise(char buffer[160], const struct df_plan *plan, uint32_t unit, uint64_t inflight)
{
    const struct df_memory_need *need = &plan->memory[unit];
    uint64_t memory_bytes = plan->platform.units[unit].memory_bytes;
    unsigned long long planned = plan->inflight ? plan->inflight : DF_DEFAULT_INFLIGHT, fit;
    unsigned long long wanted = inflight ? inflight : planned;
    char size[32], one[32];
    buffer[0] = '\0';
    if (!memory_bytes)
        return buffer;
    dfp_text_bytes(size, memory_bytes);
    fit = dfr_need_waves(need, memory_bytes, wanted);
    if (fit == wanted)
        snprintf(buffer, 160, "fits in %s with %llu wave%s in flight", size, fit, fit == 1 ? "" : "s");
    else if (fit > 0 && inflight)
        snprintf(buffer, 160, "fits in %s with %llu of the %llu waves in flight asked for", size, fit, wanted);
    else if (fit > 0)
        snprintf(buffer, 160, "fits in %s with %llu wave%s in flight, not with %llu", size, fit, fit == 1 ? "" : "s",
                 wanted);
    else if (unit == 0)
        snprintf(buffer, 160, "one wave does not fit in %s", size);
    else if (!strcmp(dfp_text_bytes(one, dfr_need_bytes(need, 1)), size))
        snprintf(buffer, 160, "one wave needs %llu bytes of %llu: blocks will be evicted",
                 (unsigned long long)dfr_need_bytes(need, 1), (unsigned long long)memory_bytes);
    else
        snprintf(buffer, 160, "one wave needs %s of %s: blocks will be evicted", one, size);
    return buffer;
}

double dfp_percent_above(double load_s, double bound_s)
{
    return load_s > bound_s ? 100 * (load_s / bound_s - 1) : 0;
}

const char *dfp_text_waves(char buffer[200], const struct df_plan *plan)
{
    bool online = plan->run_as[0] && strcmp(plan->run_as, DFP_RUN_PLACED);
    char wave[32];
    buffer[0] = '\0';
    if (!(plan->wave_s > 0))
        return buffer;
    int n = snprintf(buffer, 200, "%s a wave with %u in flight%s%s%s", dfp_text_time(wave, plan->wave_s),
                     (unsigned)plan->inflight, online ? " as " : "", online ? plan->run_as : "",
                     online ? " decides in the run" : "");
    return dfp_text_load(buffer, (size_t)n, plan);
}

const char *dfp_text_load(char buffer[200], size_t n, const struct df_plan *plan)
{
    char load[32];
    if (plan->wave_s > 0 && plan->load_bound_s > 0)
        n += (size_t)snprintf(buffer + n, 200 - n,
                              "; the busiest unit or copy engine is loaded %s, %.1f %% above the bound",
                              dfp_text_time(load, plan->load_s), dfp_percent_above(plan->load_s, plan->load_bound_s));
    if (plan->n_waves > 1)
        snprintf(buffer + n, 200 - n, "; %u waves are placed jointly, this is the first", (unsigned)plan->n_waves);
    return buffer;
}

const char *dfp_text_remark(char buffer[128], const struct dfp_problem *problem, const struct dfp_report *report)
{
    char time[32];
    buffer[0] = '\0';
    if (report->single_is_faster)
        snprintf(buffer, 128, "all on %s is predicted %.3gx faster (%s)",
                 problem->platform->units[report->best_single_unit].name,
                 report->evaluation.makespan_s / report->best_single_s, dfp_text_time(time, report->best_single_s));
    return buffer;
}
