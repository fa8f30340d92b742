/* cmd_check.c - `dfc check GRAPH.df`: says whether the graph keeps what it promises on a platform, from costs and profiles; what prevents a promise, which changes
 * would make all of them hold, and which machines would do (--machines). It runs no kernel. Exit status: 0 if all promises are given, else 1.
 */
#include "compiler/commands/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/show/check_report.h"
#include "compiler/show/explain.h"
#include "compiler/types/program.h"
#include "runtime/base/error.h"

#define MOST_GPUS 8

static const char usage[] =
    "usage: dfc check GRAPH.df [options]\n\n"
    "Derives whether runs keep what graph main promises ('promise { rate >= 41 / s; latency <= 90 ms; }'): simulates runs of\n"
    "its plan in which each job takes another time, drawn from the spread of what was profiled. A promise is given, or\n"
    "refused with what prevents it and the changes that would make all promises hold. Exit status 0: all are given; 1: one\n"
    "is refused, or a kernel has no profile. The same input gives the same output.\n";

struct request {
    struct dfc_common common;
    enum dfr_form form;
    bool machines;
};

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    { "--machines", NULL, "also the least machines on which all promises hold: CPU workers, GPUs like the platform's last one, and their memory",
      DFR_FIELD(FLAG, struct request, machines) },
    DFC_OPTION_FORMAT("text|csv|json", struct request, form, "form of the output (text); csv: a line per promise"),
    DFC_OPTION_OUTPUT("the file for the output; else it goes to standard output"),
    DFC_OPTION_POLICY("POLICY", "the policy that places nodes (gp)"),
    DFC_OPTION_LOCK,
    DFC_OPTION_GRAPH,
    { 0 }
};

/* ---- what is known ---- */

static bool is_known(const struct dfc_loaded *loaded, const struct df_spread *spread, size_t at)
{
    const enum df_time_source source = loaded->times.source[at];
    return source == DF_TIME_COST || (source == DF_TIME_MEASURED && !isnan(spread[at].quantile[0]));
}

static void report_unknown(const struct dfc_common *common, const struct dfc_loaded *loaded, uint32_t node, uint32_t cls)
{
    const struct df_graph *g = loaded->front->graph;
    const char *kernel = df_graph_string(g, g->kernels[g->nodes[node].kernel].name), *name = loaded->platform.class_names[cls];
    const bool measured = loaded->times.source[(size_t)cls * loaded->times.n_works + g->nodes[node].work] == DF_TIME_MEASURED;
    dfl_error(loaded->sink, dfc_node_loc(loaded, &g->nodes[node]), measured ? "kernel '%s' was measured on %s without the spread of its times"
                                                                       : "kernel '%s' has no profile on %s for these sizes", kernel, name);
    if (cls == DF_CLASS_CPU || loaded->known.emulated)
        dfl_hint(loaded->sink, "'dfc profile %s%s' measures it, a cost states it: 'cost %s 2ms'", cls == DF_CLASS_CPU ? "" : "--device=emu ", common->path, name);
    else
        dfl_hint(loaded->sink, "'dfc profile %s' measures it on a machine with that device, a cost states it: 'cost %s 2ms'%s", common->path, name,
                 cls == DF_CLASS_GPU ? "; --device=none leaves the GPU out" : "");
}

/* Each time on a unit on which a node may be placed must be known. false: reported. */
static bool check_known(const struct dfc_common *common, const struct dfc_loaded *loaded, const struct df_spread *spread)
{
    const struct df_graph *g = loaded->front->graph;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        for (uint32_t u = 0; u < loaded->platform.n_units && !(g->nodes[v].flags & DF_NODE_ZERO_COST); u++) {
            const uint32_t cls = loaded->platform.units[u].cls;
            if (g->kernels[g->nodes[v].kernel].flags & DF_KERNEL_COPY || isnan(dfp_node_time_s(&loaded->problem, v, u)) || cls >= loaded->times.n_classes ||
                is_known(loaded, spread, (size_t)cls * loaded->times.n_works + g->nodes[v].work))
                continue;
            report_unknown(common, loaded, v, cls);
            return false;
        }
    return true;
}

/* ---- deriving ---- */

static bool failed(const struct df_error *error)
{
    dfc_error("%s", error->text);
    return false;
}

static bool find_limit(const struct dfc_loaded *loaded, const struct df_plan *plan, const struct dfp_options *options, struct dfc_check_report *report)
{
    struct dfc_explained explained;
    struct dfp_options for_rate = *options;
    for_rate.inflight = report->derived->inflight;
    if (!dfc_explain(&loaded->problem, plan, &for_rate, &loaded->known, &explained))
        return false;
    dfc_explain_bottleneck(&explained, report->limit, sizeof report->limit);
    dfc_explained_free(&explained);
    return true;
}

static bool refuses_rate(const struct df_graph *g, const struct dfp_derived *d)
{
    bool any = false;
    for (uint32_t p = 0; p < d->n; p++)
        any |= g->promises[p].kind == DF_PROMISE_RATE && !d->promised[p].given;
    return any;
}

static bool print(const struct request *r, const struct dfc_check_report *report)
{
    struct dfc_output output;
    if (!dfc_output_open(&output, r->common.output))
        return false;
    bool good = dfc_check_print(report, r->form, output.file);
    if (!good)
        dfc_error("out of memory");
    return dfc_output_close(&output, good) && good;
}

/* *given: all promises are. false: reported. */
static bool derive(const struct request *r, const struct dfc_loaded *loaded, const struct df_plan *plan, const struct df_spread *spread, bool *given)
{
    const struct dfp_promise_options options = { .policy = plan->policy, .partition = r->common.partition, .spread = spread };
    struct dfp_remedy remedies[DFP_MOST_REMEDIES], machines[DFP_MOST_REMEDIES];
    struct dfp_derived derived;
    struct dfc_check_report report = { .path = r->common.path, .problem = &loaded->problem, .policy = plan->policy, .derived = &derived, .remedies = remedies,
                                       .machines = machines, .asked_machines = r->machines };
    struct df_error error = { "" };
    if (dfp_promises_derive(&loaded->problem, plan, &options, &derived, &error) != DF_OK)
        return failed(&error);
    bool good = true;
    if (!derived.given)
        good = dfp_promise_remedies(&loaded->problem, &options, &derived, remedies, &report.n_remedies, &error) == DF_OK || failed(&error);
    if (good && r->machines)
        good = dfp_promise_machines(&loaded->problem, &options, MOST_GPUS, machines, &report.n_machines, &error) == DF_OK || failed(&error);
    good = good && (!refuses_rate(loaded->problem.graph, &derived) || find_limit(loaded, plan, &r->common.partition, &report)) && print(r, &report);
    *given = derived.given;
    for (unsigned i = 0; i < report.n_remedies; i++)
        dfp_remedy_free(&remedies[i]);
    for (unsigned i = 0; i < report.n_machines; i++)
        dfp_remedy_free(&machines[i]);
    dfp_derived_free(&derived);
    return good;
}

static int check(const struct request *r, struct dfc_loaded *loaded)
{
    struct df_plan *plan = NULL;
    struct df_spread *spread = NULL;
    struct df_error error = { "" };
    bool given = false;
    if (loaded->problem.graph->n_promises == 0) {
        dfc_error("%s: the graph promises nothing", r->common.path);
        dfc_note("a promise stands in the graph that is run: 'graph main { promise { rate >= 41 / s; latency <= 90 ms; } ... }'");
        return 1;
    }
    bool good = dfw_known_spread(&loaded->known, loaded->problem.graph, &loaded->times, &spread, &error) == DF_OK || failed(&error);
    good = good && check_known(&r->common, loaded, spread) && dfc_check_memory(loaded) && dfc_plan_make(&r->common, loaded, &plan) &&
           derive(r, loaded, plan, spread, &given);
    dfr_plan_free(plan);
    free(spread);
    return good && given ? 0 : 1;
}

static int run(int argc, char **argv)
{
    struct request r = { 0 };
    struct dfc_loaded loaded;
    dfp_options_default(&r.common.partition);
    int status = dfc_parse_options(&dfc_command_check, argc, argv, &r.common);
    if (!status && (!dfc_policy_places(r.common.policy) || !dfc_policy_or_lock(&r.common)))
        status = 2;
    if (!status && !dfc_load(&r.common, false, &loaded)) {
        status = 1;
    } else if (!status) {
        status = check(&r, &loaded);
        dfc_unload(&loaded);
    }
    dfc_common_free(&r.common);
    return status;
}

const struct dfc_command dfc_command_check = { "check", "say whether a graph keeps what it promises, and what would make it", usage, run,
                                               DFC_OPTIONS({ own_options, 0 }, { dfc_options_common, 0 }) };
