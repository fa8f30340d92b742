/* cmd_plan.c - `dfc plan GRAPH.df -o FILE.lock`: writes the plan down as a lock file. `dfc plan --check FILE.lock`: makes the plan anew and says what became
 * worse.
 */
#include "compiler/commands/command.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/lock/lock.h"
#include "runtime/base/error.h"

struct options {
    struct dfc_common common;
    const char *check;                  /* --check; NULL: a lock file is written */
    double tolerance;                   /* a share */
    const char *tolerance_text;         /* NULL: it was not given */
    enum dfr_form form;
};

static int set_tolerance(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct options *o = field;
    char *end;
    const double x = strtod(text, &end);
    const bool percent = strcmp(end, "%") == 0;
    if (end == text || (*end && !percent) || !(x >= 0 && x <= 1e6) || strchr("+-", *text))
        return dfr_error(error, DF_E_ARGUMENT, "%s=%s: a share such as 0.05 or 5%% is expected", option->name, text);
    o->tolerance = percent ? x / 100 : x;
    o->tolerance_text = text;
    return DF_OK;
}

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    DFC_OPTION_OUTPUT("the lock file; without it, standard output"),
    { "--check", "FILE", "compare that lock file with the plan that is made now; exit status 1 if a wave, its bound or a unit's memory became worse",
      DFR_FIELD(NAME, struct options, check) },
    { "--tolerance", "SHARE", "how much worse they may become, as 0.05 or 5% (5%)", DFR_SET_ALL(set_tolerance) },
    DFC_OPTION_FORMAT("text|csv|json", struct options, form, "form of the comparison (text)"),
    DFC_OPTION_WAVES,
    { 0 }
};

static bool wrong(const char *message)
{
    dfc_error("%s", message);
    return false;
}

static bool check_options(const struct options *o)
{
    if (!o->check && !o->common.path)
        return wrong("a .df file is expected; 'dfc plan --help' says more");
    if (!o->check && (o->tolerance_text || o->form != DFR_FORM_TEXT))
        return wrong(o->tolerance_text ? "--tolerance is of a comparison: it goes with --check" : "--format is of a comparison: it goes with --check");
    if (o->check && o->common.output)
        return wrong("--check writes no lock file: it does not go with -o");
    return dfc_policy_places(o->common.policy);
}

static int parse(struct options *o, int argc, char **argv)
{
    o->common.path_optional = true;
    const int status = dfc_parse_options(&dfc_command_plan, argc, argv, &o->common);
    return status ? status : check_options(o) ? 0 : 2;
}

/* ---- the plan ---- */

/* Makes the plan, and a lock of it. NULL: reported. */
static struct dfc_lock *make_lock(const struct options *o)
{
    struct dfc_loaded loaded;
    struct df_plan *plan = NULL;
    struct dfc_lock *lock = NULL;
    if (!dfc_load(&o->common, false, &loaded))
        return NULL;
    if (dfc_check_memory(&loaded) && dfc_plan_make(&o->common, &loaded, &plan)) {
        const struct dfc_lock_facts facts = { .problem = &loaded.problem, .plan = plan, .divisions = loaded.divisions, .n_divisions = loaded.n_divisions,
                                              .source = o->common.path, .path = o->common.output,
                                              .throughput = dfp_is_for_rate(loaded.front->graph, &o->common.partition) };
        lock = dfc_lock_make(&facts);
    }
    dfr_plan_free(plan);
    dfc_unload(&loaded);
    return lock;
}

static int write_lock(const struct options *o)
{
    struct dfc_output output;
    struct dfc_lock *lock = make_lock(o);
    bool good = lock && dfc_output_open(&output, o->common.output);
    if (good) {
        dfc_lock_print(output.file, lock);
        good = dfc_output_close(&output, true);
    }
    dfc_lock_free(lock);
    return good ? 0 : 1;
}

/* ---- --check ---- */

/* What the command line does not say is as it was for the lock. */
static void take_options(struct options *o, const struct dfc_lock *lock)
{
    struct dfp_options *partition = &o->common.partition;
    if (!o->common.policy)
        o->common.policy = dfc_lock_policy(lock);
    if (partition->objective == DFP_BY_GRAPH)
        partition->objective = dfc_lock_throughput(lock) ? DFP_THROUGHPUT : DFP_LATENCY;
    if (!partition->inflight)
        partition->inflight = dfc_lock_inflight(lock);
}

static int check(struct options *o)
{
    struct dfc_lock *was = dfc_lock_read(o->check), *is = NULL;
    unsigned worse = 0;
    char *source = was && !o->common.path ? dfc_lock_source(was) : NULL;
    if (source)
        o->common.path = source;
    if (was)
        take_options(o, was);
    bool good = was && o->common.path && dfc_policy_places(o->common.policy) && (is = make_lock(o)) &&
                dfc_lock_compare(stdout, o->form, was, is, o->tolerance, &worse);
    dfc_lock_free(is);
    dfc_lock_free(was);
    free(source);
    return good && !worse ? 0 : 1;
}

static int run(int argc, char **argv)
{
    struct options o = { .tolerance = 0.05 };
    dfp_options_default(&o.common.partition);
    int status = parse(&o, argc, argv);
    if (!status)
        status = o.check ? check(&o) : write_lock(&o);
    dfc_common_free(&o.common);
    return status;
}

static const char usage[] =
    "usage: dfc plan GRAPH.df -o FILE.lock [options]\n"
    "       dfc plan --check FILE.lock [GRAPH.df] [options]\n\n"
    "Writes the plan of a graph to a lock file: the unit and the priority of each node, predictions, and fingerprints of\n"
    "graph, times and platform. 'dfc GRAPH.df --lock=FILE.lock' makes a program that keeps this plan. --check makes the\n"
    "plan anew and prints what has changed, with a verdict for each figure; it compiles and runs nothing and needs no GPU.\n"
    "Its policy, objective and waves in flight are the lock's unless they are given. Give other options again.\n";

const struct dfc_command dfc_command_plan = {
    "plan", "write the plan to a lock file, or check what became worse", usage, run, DFC_OPTIONS({ own_options, 0 }, { dfc_options_common, 0 })
};
