/* demand_command.c - the part of `dfc scale` for --stream-policy=…, with its options: simulates stages that fetch work
 * on demand, under one policy or several. scale_command.c calls it.
 */
#include "compiler/cluster/demand_command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cluster/scale.h"
#include "compiler/tools/messages.h"
#include "compiler/tools/picture_file.h"
#include "dsl/diag.h"
#include "runtime/base/array.h"
#include "runtime/base/error.h"

enum { MOST_ROWS = DFC_MOST_SCALES * DFR_STREAM_POLICIES, LARGEST_TRIED = 256, DEFAULT_PLACES = 256, DEFAULT_MOST = 256 };
#define FIND_BEST UINT32_MAX

/* ---- options ---- */

static int set_policies(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct dfc_demand_options *o = field;
    char *words = strdup(text), *place = NULL;
    bool good = words;
    int status = words ? DF_OK : dfr_error_memory(error);
    for (char *word = good ? strtok_r(words, ", ", &place) : NULL; word && good; word = strtok_r(NULL, ", ", &place)) {
        enum dfr_stream_policy policy = DFR_STREAM_DDFCFS;
        bool all = strcmp(word, "all") == 0;
        good = all || dfr_stream_policy_find(word, &policy);
        for (int p = 0; p < DFR_STREAM_POLICIES; p++)
            o->policies[p] |= good && (all || p == (int)policy);
        o->given = good;
        if (!good)
            status = dfr_error(error, DF_E_ARGUMENT, "%s=%s: there is no such policy; they are ddfcfs, ddwrr, odds, and all for the three", option->name, word);
    }
    if (good && !o->given)
        status = dfr_error(error, DF_E_ARGUMENT, "%s: no policy is given; they are ddfcfs, ddwrr, odds, and all for the three", option->name);
    free(words);
    return status;
}

/* STAGE=PERCENT; whether there is such a stage is seen later. */
static int set_fires(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct dfc_demand_options *o = field;
    const char *equals = strrchr(text, '=');
    char *end = NULL;
    double percent = equals ? strtod(equals + 1, &end) : -1;
    if (!equals || equals == text || end == equals + 1 || *end || !(percent >= 0 && percent <= 100))
        return dfr_error(error, DF_E_ARGUMENT, "%s=%s: a stage and a percentage from 0 to 100 are expected, as --fires=high=8", option->name, text);
    if (o->n_fires == DFC_DEMAND_FIRES)
        return dfr_error(error, DF_E_ARGUMENT, "%s: at most %d stages", option->name, DFC_DEMAND_FIRES);
    o->fires[o->n_fires].stage = text;
    o->fires[o->n_fires].length = (size_t)(equals - text);
    o->fires[o->n_fires].text = text;
    o->fires[o->n_fires++].share = percent / 100;
    return DF_OK;
}

#define DEMAND struct dfc_demand_options
const struct dfr_option dfc_options_demand[] = {
    DFR_HEADING("streams by demand: workers of all nodes ask for stages of waves, and no manager hands them out"),
    { "--stream-policy", "ddfcfs|ddwrr|odds|all", "who gets which: the oldest; the oldest, and the receiver sorts; the best for who asks "
      "(Anthill's). Several with commas", DFR_SET_ALL(set_policies) },
    { "--fires", "STAGE=PERCENT", "a stage fires for such a share of the waves (100); once for each stage", DFR_SET_ALL(set_fires) },
    { "--requests", "N|best", "requests of each worker with ddfcfs and ddwrr (best: of 1, 2, 4, … 256)",
      DFR_COUNT(DEMAND, requests, 1, DFR_STREAM_REQUESTS), .words = "best", .first = FIND_BEST },
    { "--most", "N", "requests of each worker with odds, at most (256)", DFR_COUNT(DEMAND, most, 1, DFR_STREAM_REQUESTS) },
    { "--places", "N", "waves that one home has begun, at most (256)", DFR_COUNT(DEMAND, places, 1, 1000000) },
    { "--homes", "N", "so many nodes read waves and keep their tokens (all)", DFR_COUNT(DEMAND, homes, 1, DFC_DEMAND_NODES) },
    { "--sizes", "FILE.csv", "each change of a worker's requests with odds on the first number of nodes; --plot draws them", DFR_FIELD(NAME, DEMAND, sizes) },
    { 0 }
};

const char *dfc_demand_other(const struct dfc_demand_options *o)
{
    return o->requests ? "--requests" : o->most ? "--most" : o->places ? "--places" : o->homes ? "--homes" : o->n_fires ? "--fires"
         : o->sizes ? "--sizes" : NULL;
}

/* ---- the stages ---- */

static bool look(struct dfc_common *common, const struct dfc_cluster *cluster, const struct dfc_demand_options *o, const struct dfc_demand_asked *asked,
                 struct dfc_demand_input *input)
{
    for (uint32_t t = 0; t < cluster->n_types; t++) {
        struct dfc_loaded loaded;
        struct df_error error = { "" };
        uint32_t wrong = DF_NONE;
        common->machine = &cluster->types[t].platform;
        if (!dfc_load(common, false, &loaded))
            return false;
        bool good = dfc_check_ranks(&loaded) && dfc_output_check(common, &loaded, asked->plot) && dfc_output_check(common, &loaded, o->sizes);
        int code = good ? dfc_demand_add_type(&loaded.problem, cluster, t, input, &wrong, &error) : DF_OK;
        if (code != DF_OK && wrong != DF_NONE)
            dfl_error(loaded.sink, dfc_node_loc(&loaded, &loaded.problem.graph->nodes[wrong]), "%s", error.text);
        else if (code != DF_OK)
            dfc_error("%s on node '%s': %s", common->path, cluster->types[t].name, error.text);
        dfc_unload(&loaded);
        if (!good || code != DF_OK)
            return false;
    }
    return true;
}

static bool find_fires(const struct dfc_demand_options *o, struct dfc_demand_input *input)
{
    for (unsigned i = 0; i < o->n_fires; i++) {
        uint32_t k = 0, n = input->setup.n_stages;
        while (k < n && (strlen(input->stages[k]) != o->fires[i].length || strncmp(input->stages[k], o->fires[i].stage, o->fires[i].length) != 0))
            k++;
        if (k == n) {
            char *name = strndup(o->fires[i].stage, o->fires[i].length);
            const char *close = name ? dfl_suggest(name, (const char *const *)input->stages, n) : NULL;
            if (close)
                dfc_error("--fires=%s: the graph has no stage '%s'; did you mean '%s'?", o->fires[i].text, name, close);
            else
                dfc_error("--fires=%s: the graph has no such stage; its first one is '%s'", o->fires[i].text, input->stages[0]);
            free(name);
            return false;
        }
        input->setup.stages[k].fires = o->fires[i].share;
    }
    return true;
}

static bool all_can_run(const struct dfc_demand_input *input, const struct dfc_cluster *cluster)
{
    for (uint32_t k = 0; k < input->setup.n_stages; k++) {
        uint32_t t = 0;
        while (t < input->setup.n_types && input->setup.stages[k].time_s[t] == INFINITY)
            t++;
        if (t == input->setup.n_types) {
            dfc_error("no worker of platform '%s' can do stage '%s' alone", cluster->name, input->stages[k]);
            return false;
        }
    }
    return true;
}

/* ---- runs ---- */

struct record {                         /* changes of targets */
    struct dfc_demand_change *all;
    size_t n, capacity;
    bool failed;
};

static void note_change(void *arg, double now_s, uint32_t node, uint32_t worker, uint32_t type, uint32_t target)
{
    struct record *r = arg;
    if (DFR_ARRAY_ROOM(r->all, r->n, r->capacity))
        r->all[r->n++] = (struct dfc_demand_change){ now_s, node, worker, type, target };
    else
        r->failed = true;
}

static void set_nodes(const struct dfc_cluster *cluster, uint32_t nodes, struct dfc_demand *s)
{
    uint32_t n[DFC_MOST_NODE_TYPES];
    dfc_scale_share(cluster, nodes, n);
    for (uint32_t t = 0; t < cluster->n_types; t++)
        s->nodes[t].n = n[t];
}

static bool can_do(const struct dfc_demand *s, uint32_t stage)
{
    for (uint32_t t = 0; t < s->n_node_types; t++)
        for (uint32_t type = 0; type < s->n_types; type++)
            if (s->nodes[t].n && s->nodes[t].workers[type] && s->stages[stage].time_s[type] < INFINITY)
                return true;
    return false;
}

/* Some worker of the whole platform can do each stage. Of fewer nodes there may be none. */
static int check_nodes(const struct dfc_demand_input *input, unsigned long nodes, struct df_error *error)
{
    for (uint32_t k = 0; k < input->setup.n_stages; k++)
        if (!can_do(&input->setup, k))
            return dfr_error(error, DF_E_REFUSED, "--nodes=%lu: no worker of %s can do stage '%s' alone", nodes, nodes == 1 ? "this node" : "these nodes",
                             input->stages[k]);
    return DF_OK;
}

/* With a static size, that one, or the best of 1, 2, 4, … */
static int run_row(const struct dfc_demand *setup, unsigned long requests, struct dfc_demand_row *row, struct df_error *error)
{
    struct dfc_demand s = *setup;
    struct dfc_demand_result result;
    bool dynamic = row->policy == DFR_STREAM_ODDS;
    unsigned long last = dynamic ? 1 : requests ? requests : LARGEST_TRIED;
    int code = DF_OK;
    s.policy = row->policy;
    for (unsigned long n = dynamic || !requests ? 1 : requests; n <= last && code == DF_OK; n *= 2) {
        s.requests = (uint32_t)n;
        code = dfc_demand_run(&s, &result, error);
        if (code == DF_OK && (row->result.makespan_s == 0 || result.makespan_s < row->result.makespan_s)) {
            row->result = result;
            row->requests = dynamic ? 0 : (uint32_t)n;
        }
    }
    if (code == DF_OK && !(row->result.makespan_s > 0)) /* then rates are no numbers */
        code = dfr_error(error, DF_E_REFUSED, "the %lld wave%s take%s no time: no stage fires in them, as --fires says", (long long)s.waves,
                         s.waves == 1 ? "" : "s", s.waves == 1 ? "s" : "");
    return code;
}

static bool write_figures(const struct dfc_demand_asked *asked, const char *path, const struct dfc_demand_report *report)
{
    struct dfc_output output;
    if (!dfc_output_open(&output, path))
        return false;
    bool good = true;
    if (asked->form == DFR_FORM_CSV)
        dfc_demand_csv(report, output.file);
    else if (!(good = dfc_demand_text(report, output.file)))
        dfc_error("out of memory");
    return dfc_output_close(&output, good) && good;
}

static bool write_sizes(const struct dfc_demand_options *o, const struct dfc_demand_asked *asked, const struct dfc_demand_report *report)
{
    struct dfc_picture picture;
    struct dfc_output output;
    if (o->sizes) {
        if (!dfc_output_open(&output, o->sizes))
            return false;
        dfc_demand_sizes_csv(report, output.file);
        if (!dfc_output_close(&output, true))
            return false;
    }
    if (!asked->plot)
        return true;
    if (!dfc_picture_open(&picture, asked->plot))
        return false;
    bool good = dfc_demand_draw(report, picture.file);
    if (!good)
        dfc_error("out of memory");
    return dfc_picture_close(&picture, good) && good;
}

/* One more run with odds, on the first number of nodes, whose targets are noted. */
static int run_noted(const struct dfc_demand *setup, struct record *record, struct dfc_demand_report *report, struct df_error *error)
{
    struct dfc_demand s = *setup;
    struct dfc_demand_result result;
    s.policy = DFR_STREAM_ODDS;
    s.target_changed = note_change;
    s.arg = record;
    int code = dfc_demand_run(&s, &result, error);
    if (code == DF_OK && record->failed) {
        snprintf(error->text, sizeof error->text, "out of memory");
        code = DF_E_MEMORY;
    }
    report->changes = record->all;
    report->n_changes = record->n;
    report->end_s = result.makespan_s;
    return code;
}

static int run_all(const struct dfc_demand_options *o, const struct dfc_demand_asked *asked, const struct dfc_cluster *cluster,
                   struct dfc_demand_input *input, struct dfc_demand_row *rows, struct record *record, struct dfc_demand_report *report,
                   struct df_error *error)
{
    int code = DF_OK;
    input->setup.places = o->places ? (uint32_t)o->places : DEFAULT_PLACES;
    input->setup.homes = (uint32_t)o->homes;
    input->setup.most = o->most ? (uint32_t)o->most : DEFAULT_MOST;
    for (unsigned i = 0; i < asked->n_nodes && code == DF_OK; i++) {
        set_nodes(cluster, (uint32_t)asked->nodes[i], &input->setup);
        input->setup.waves = (int64_t)(asked->weak ? asked->waves * asked->nodes[i] : asked->waves);
        code = check_nodes(input, asked->nodes[i], error);
        for (int p = 0; p < DFR_STREAM_POLICIES && code == DF_OK; p++)
            if (o->policies[p]) {
                struct dfc_demand_row *row = &rows[report->n_rows++];
                *row = (struct dfc_demand_row){ .nodes = (uint32_t)asked->nodes[i], .policy = (enum dfr_stream_policy)p, .waves = input->setup.waves };
                code = run_row(&input->setup, o->requests == FIND_BEST ? 0 : o->requests, row, error);
            }
        if (i == 0 && code == DF_OK && (asked->plot || o->sizes)) {
            report->nodes = (uint32_t)asked->nodes[0];
            code = run_noted(&input->setup, record, report, error);
        }
    }
    return code;
}

int dfc_demand_command(const struct dfc_demand_options *o, const struct dfc_demand_asked *asked, struct dfc_common *common,
                       const struct dfc_cluster *cluster)
{
    static struct dfc_demand_row rows[MOST_ROWS]; /* large */
    static struct dfc_demand_input input;
    struct dfc_demand_report report = { .path = common->path, .input = &input, .rows = rows };
    struct record record = { 0 };
    struct df_error error = { "" };
    bool good = look(common, cluster, o, asked, &input) && all_can_run(&input, cluster) && find_fires(o, &input);
    if (good) {
        input.setup.seed = (uint32_t)common->partition.seed;
        good = run_all(o, asked, cluster, &input, rows, &record, &report, &error) == DF_OK;
        if (!good)
            dfc_error("%s", error.text);
    }
    good = good && write_figures(asked, common->output, &report) && write_sizes(o, asked, &report);
    dfc_demand_input_free(&input);
    free(record.all);
    return good ? 0 : 1;
}
