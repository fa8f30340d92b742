/* scale_command.c - `dfc scale GRAPH.df --platform=CLUSTER.df`, called by commands/main.c: predicts, in virtual time,
 * how a graph's throughput scales over many machines.
 */
#include "compiler/cluster/scale_command.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cluster/demand_command.h"
#include "compiler/cluster/scale.h"
#include "compiler/cluster/scale_report.h"
#include "compiler/options/common.h"
#include "compiler/tools/messages.h"
#include "compiler/tools/picture_file.h"
#include "runtime/base/error.h"

static const char usage[] =
    "usage: dfc scale GRAPH.df --platform=CLUSTER.df [options]\n\n"
    "Predicts how a graph runs on many machines under './app --cluster': rank 0 reads sources, hands out waves and takes\n"
    "results in order, and the nodes of the platform run what lies between. What a wave takes on a node is simulated as\n"
    "'dfc simulate' does; the manager's own code runs in virtual time over a network that all share. With\n"
    "--stream-policy workers of all nodes ask for stages of waves instead. Runs no kernel. The same input gives the same output.\n";

#define NOT_GIVEN ULONG_MAX

struct request {
    struct dfc_common common;
    enum dfr_form form;
    unsigned long nodes[DFC_MOST_SCALES];
    unsigned n_nodes;
    unsigned long waves, window, vary;  /* vary: NOT_GIVEN is 0 */
    uint64_t read_bytes, write_bytes;
    bool weak;
    enum dfr_share_what share;
    const char *plot;
    struct dfc_demand_options demand;
};

static int set_nodes(void *field, const struct dfr_option *option, const char *text, struct df_error *error)
{
    struct request *r = field;
    char *words = strdup(text), *place = NULL;
    int status = words ? DF_OK : dfr_error_memory(error);
    for (char *word = words ? strtok_r(words, ", ", &place) : NULL; word && status == DF_OK; word = strtok_r(NULL, ", ", &place)) {
        uint64_t n = 0;
        status = r->n_nodes == DFC_MOST_SCALES ? dfr_error(error, DF_E_ARGUMENT, "%s: at most %d numbers of nodes", option->name, DFC_MOST_SCALES)
                                               : dfr_option_count(option->name, word, 1, DFC_MOST_NODES, &n, error);
        if (status == DF_OK)
            r->nodes[r->n_nodes++] = n;
    }
    if (status == DF_OK && !r->n_nodes)
        status = dfr_error(error, DF_E_ARGUMENT, "%s: no number is given", option->name);
    free(words);
    return status;
}

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    { "--nodes", "N,N,…", "how many nodes, for each line of the table (as many as the platform says); of several types, in "
      "the proportion of their counts", DFR_SET_ALL(set_nodes) },
    { "--waves", "N", "waves in all (1000)", DFR_COUNT(struct request, waves, 1, 1000000000) },
    { "--weak", NULL, "so many waves for each node: the work grows with the nodes", DFR_FIELD(FLAG, struct request, weak) },
    { "--window", "N", "waves that a node holds at most (found, by doubling)", DFR_COUNT(struct request, window, 1, 100000) },
    { "--share", "waves|parts", "what nodes share: waves, or parts of accs, of which each node has some and changes them in all waves (as the program: parts "
      "if all waves serve them, and they are larger than what they read)", DFR_FIELD(WORD, struct request, share), .first = DFR_SHARE_WAVES },
    { "--vary", "PERCENT", "a wave takes up to so much longer or shorter, drawn by wave (0)", DFR_COUNT(struct request, vary, 0, 99) },
    { "--read", "SIZE", "what a node reads from the file system for each wave", DFR_FIELD(BYTES, struct request, read_bytes) },
    { "--write", "SIZE", "what it writes there for each wave", DFR_FIELD(BYTES, struct request, write_bytes) },
    DFC_OPTION_FORMAT("text|csv|json", struct request, form, "form of the output (text)"),
    DFC_OPTION_OUTPUT("the file for the figures; else they go to standard output"),
    { "--plot", "FILE.svg", "efficiency over nodes as a picture, PNG if FILE ends in .png", DFR_FIELD(NAME, struct request, plot) },
    { 0 }
};

/* Streams by demand have no manager, and other options have no streams. */
static bool check_demand(const struct request *r)
{
    const struct dfc_demand_options *d = &r->demand;
    const char *manager = r->window ? "--window" : r->vary != NOT_GIVEN ? "--vary" : r->read_bytes ? "--read" : r->write_bytes ? "--write"
                        : r->share != DFR_SHARE_FIND ? "--share" : NULL;
    if (!d->given && dfc_demand_other(d))
        dfc_error("scale: %s goes with --stream-policy", dfc_demand_other(d));
    else if (d->given && manager)
        dfc_error("scale: %s does not go with --stream-policy", manager);
    else if (d->given && r->form == DFR_FORM_JSON)
        dfc_error("scale: --format=json does not go with --stream-policy; --format=csv does");
    else
        return !d->sizes || (dfc_outputs_apart("-o", r->common.output, "--sizes", d->sizes) && dfc_outputs_apart("--plot", r->plot, "--sizes", d->sizes));
    return false;
}

static int parse(struct request *r, int argc, char **argv)
{
    int status = dfc_parse_options(&dfc_command_scale, argc, argv, &r->common);
    if (status)
        return status;
    if (!r->common.platform) {
        dfc_error("scale: which machines? --platform=FILE names a platform with nodes");
        return 2;
    }
    if (r->plot && !(dfc_output_is_picture("--plot", r->plot, "SVG") && dfc_outputs_apart("-o", r->common.output, "--plot", r->plot)))
        return 2;
    return check_demand(r) ? 0 : 2;
}

static bool read_cluster(const struct request *r, struct dfc_cluster *cluster)
{
    struct dfl_sink *sink = dfl_sink_new(stderr);
    if (!sink) {
        dfc_error("out of memory");
        return false;
    }
    dfl_sink_program(sink, "dfc");
    bool good = dfc_cluster_read(sink, r->common.platform, r->common.defines, r->common.n_defines, cluster);
    if (!good)
        dfl_sink_summary(sink);
    dfl_sink_free(sink);
    return good;
}

/* What a wave takes on each type of node, and what of it passes through rank 0. */
static bool look_at_types(struct request *r, const struct dfc_cluster *cluster, struct dfc_scale *scale)
{
    for (uint32_t t = 0; t < cluster->n_types; t++) {
        struct dfc_loaded loaded;
        r->common.machine = &cluster->types[t].platform;
        if (!dfc_load(&r->common, false, &loaded))
            return false;
        if (!dfc_check_ranks(&loaded)) {
            dfc_unload(&loaded);
            return false;
        }
        struct df_error error = { "" };
        const char *policy = r->common.policy ? r->common.policy : dfc_default_placer(&loaded);
        int code = dfc_scale_look(&loaded.problem, policy, &r->common.partition, r->common.inflight, t, scale, &error);
        if (code == DF_OK)
            code = dfc_scale_shares_look(&loaded.problem, policy, &r->common.partition, r->common.inflight, t, cluster->types[t].speed, r->share, r->nodes,
                                         r->n_nodes, &scale->shares, &error);
        if (code != DF_OK)
            dfc_error("node '%s': %s", cluster->types[t].name, error.text);
        dfc_unload(&loaded);
        if (code != DF_OK)
            return false;
    }
    return true;
}

static bool write_all(const struct request *r, const struct dfc_scale_report *report)
{
    struct dfc_output output;
    struct dfc_picture picture;
    if (!dfc_output_open(&output, r->common.output))
        return false;
    bool good = true;
    if (r->form == DFR_FORM_CSV)
        dfc_scale_csv(report, output.file);
    else if (r->form == DFR_FORM_JSON)
        dfc_scale_json(report, output.file);
    else if (!(good = dfc_scale_text(report, output.file)))
        dfc_error("out of memory");
    good = dfc_output_close(&output, good) && good;
    if (!good || !r->plot)
        return good;
    if (!dfc_picture_open(&picture, r->plot))
        return false;
    dfc_scale_draw(report, picture.file);
    return dfc_picture_close(&picture, true);
}

static int run_scale(struct request *r)
{
    static struct dfc_cluster cluster;  /* it is large */
    struct dfc_scale scale = { .cluster = &cluster, .waves = (int64_t)r->waves, .weak = r->weak, .window = (unsigned)r->window, .inflight = (unsigned)r->common.inflight,
                               .vary = r->vary == NOT_GIVEN ? 0 : (double)r->vary / 100, .seed = (uint32_t)r->common.partition.seed,
                               .read_bytes = (double)r->read_bytes, .write_bytes = (double)r->write_bytes };
    struct dfc_scale_row rows[DFC_MOST_SCALES];
    struct df_error error = { "" };
    if (!read_cluster(r, &cluster))
        return 1;
    if (!r->n_nodes)
        r->nodes[r->n_nodes++] = dfc_scale_declared(&cluster);
    if (r->demand.given) {
        const struct dfc_demand_asked asked = { r->nodes, r->n_nodes, r->waves, r->weak, r->form, r->plot };
        return dfc_demand_command(&r->demand, &asked, &r->common, &cluster);
    }
    bool good = look_at_types(r, &cluster, &scale);
    for (unsigned i = 0; i < r->n_nodes && good; i++)
        if (!(good = dfc_scale_run(&scale, i, (uint32_t)r->nodes[i], &rows[i], &error) == DF_OK))
            dfc_error("%lu nodes: %s", r->nodes[i], error.text);
    const struct dfc_scale_report report = { .path = r->common.path, .scale = &scale, .rows = rows, .n_rows = r->n_nodes };
    good = good && write_all(r, &report);
    dfc_scale_shares_free(&scale.shares);
    return good ? 0 : 1;
}

static int run(int argc, char **argv)
{
    struct request r = { .waves = 1000, .vary = NOT_GIVEN };
    dfp_options_default(&r.common.partition);
    int status = parse(&r, argc, argv);
    r.common.partition.objective = DFP_THROUGHPUT;
    r.common.partition.no_memory = true;
    if (!r.common.inflight)
        r.common.inflight = DFP_DEFAULT_INFLIGHT;
    r.common.partition.inflight = r.common.inflight;
    if (status == 0)
        status = run_scale(&r);
    dfc_common_free(&r.common);
    return status;
}

const struct dfc_command dfc_command_scale = { "scale", "predict how it runs on many machines, in virtual time", usage, run,
                                               DFC_OPTIONS({ own_options, 0 }, { dfc_options_demand, offsetof(struct request, demand) },
                                                           { dfc_options_common, 0 }) };
