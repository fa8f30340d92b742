/* cmd_probe.c - `dfc probe`: measures this machine and prints a platform description, as --platform reads it. It also
 * stores the platform in the profile database, where the other commands find it.
 */
#include "compiler/commands/command.h"

#include <string.h>
#include <unistd.h>

#include "runtime/base/message.h"

static const char usage[] =
    "usage: dfc probe [options]\n\n"
    "Measures this machine: its CPU cores and memories, and how many bytes per second all cores together read and\n"
    "write in memory (STREAM's triad); for each GPU the latency, bandwidth and threshold of its link in each\n"
    "direction, whether copies overlap, and what a launch costs; and the link from each GPU to each other that it\n"
    "sends to directly. For the cores, by 1, 2, 4, ... of them, and for each GPU as a whole: STREAM's four bandwidths,\n"
    "additions and multiplications per second, random reads and atomic updates. Writes a platform declaration, with\n"
    "the figures as a table in comments, and stores all of it, so that later commands use it.\n";

struct request {
    struct dfc_common common;
    const char *db;
    enum dfr_form form;
    bool quick;
};

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    DFC_OPTION_OUTPUT("the file for the platform; else it goes to standard output"),
    { "--device", "auto|none|emu|cuda|opencl", "GPUs to measure (auto: cuda or none). The platforms of emu, emulated GPUs, and of opencl are "
      "stored apart and used with that --device alone", DFR_DEVICES(struct request, common.device, ONE_OF) },
    DFC_OPTION_PLATFORM("with emu: the platform whose GPUs are emulated (else a stated default)"),
    DFC_OPTION_FORMAT("text|csv|json", struct request, form, "form of the output (text): a platform declaration; csv, json: the table of figures alone"),
    { "--quick", NULL, "measure each thing for a quarter of the time, less exactly", DFR_FIELD(FLAG, struct request, quick) },
    { "--db", "FILE", "profile database to store it in ($DFC_PROFILE, else ~/.local/share/dfc/profile.db)", DFR_FIELD(TEXT, struct request, db) },
    { 0 }
};

static int parse(int argc, char **argv, struct request *r)
{
    if (dfc_parse_options(&dfc_command_probe, argc, argv, &r->common) != 0)
        return 2;
    if (r->common.path) {
        dfc_error("probe: '%s' is one argument too many: it measures the machine and reads no graph", r->common.path);
        return 2;
    }
    if (r->common.device && strcmp(r->common.device, "sim") == 0) {
        dfc_error("probe: a simulated device has nothing to measure");
        return 2;
    }
    return 0;
}

static void show_progress(void *arg, const char *what, double done_of_1)
{
    (void)arg;
    fprintf(stderr, "\r\033[K[%3.0f %%] %s", 100 * done_of_1, what);
}

static bool read_emulated(const struct dfc_common *common, struct df_platform *platform)
{
    struct dfl_sink *sink = dfl_sink_new(stderr);
    if (!sink) {
        dfc_error("out of memory");
        return false;
    }
    dfl_sink_program(sink, "dfc");
    bool good = dfc_platform_read(sink, common->platform, common->defines, common->n_defines, platform);
    if (!good)
        dfl_sink_summary(sink);
    dfl_sink_free(sink);
    return good;
}

static bool store(struct dfw_db *db, const struct df_platform *platform, const struct dfw_probe_report *report,
                  enum dfw_devices devices)
{
    struct df_error error = { "" };
    if (dfw_platform_store(db, platform, &report->pairs, report->figures, devices, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return false;
    }
    if (isatty(STDERR_FILENO))
        dfr_message_print(stderr, "stored in %s", dfw_db_path(db));
    return true;
}

/* Whether writing failed is seen when the file is closed. */
static void print(FILE *out, enum dfr_form form, const struct df_platform *platform, const struct dfw_probe_report *report)
{
    if (form == DFR_FORM_CSV) {
        dfw_figures_print_csv(out, platform, report);
    } else if (form == DFR_FORM_JSON) {
        dfw_figures_print_json(out, platform, report);
    } else {
        dfw_figures_print_text(out, platform, report);
        dfw_platform_print_report(out, platform, report);
    }
}

static int probe(const struct request *r, struct dfw_db *db)
{
    struct df_error error = { "" };
    struct df_platform emulated, platform;
    struct dfw_probe_report report;
    struct dfc_output output;
    struct dfw_probe_options options = { .device = DF_DEVICE_AUTO, .quick = r->quick };
    const char *device = r->common.device ? r->common.device : "auto";
    bool tty = isatty(STDERR_FILENO);

    if (strcmp(device, "none") == 0)
        options.device = DF_DEVICE_NONE;
    else if (strcmp(device, "cuda") == 0)
        options.device = DF_DEVICE_CUDA;
    else if (strcmp(device, "opencl") == 0)
        options.device = DF_DEVICE_OPENCL;
    else if (strcmp(device, "emu") == 0)
        options.device = DF_DEVICE_EMU;
    if (r->common.platform) {
        if (!read_emulated(&r->common, &emulated))
            return 1;
        options.emulated = &emulated;
    }
    if (!dfc_output_check(&r->common, NULL, r->common.output) ||
        !dfc_output_open(&output, r->common.output)) /* opened before measuring, so that a wrong path costs no time */
        return 1;
    int status = dfw_probe_with(&options, &platform, &report, tty ? show_progress : NULL, NULL, &error);
    if (tty)
        fputs("\r\033[K", stderr);
    if (status != DF_OK) {
        dfc_error("%s", error.text);
        dfc_output_close(&output, false);
        return 1;
    }
    if (options.device == DF_DEVICE_AUTO && platform.n_units == 1)
        dfc_note("no GPU: %s", report.no_device);
    print(output.file, r->form, &platform, &report);
    bool stored = store(db, &platform, &report, (enum dfw_devices)__builtin_ctz(dfw_devices_of(device)));
    return dfc_output_close(&output, stored) && stored ? 0 : 1;
}

/* Opens the database, too, before measuring. */
static int probe_into(const struct request *r)
{
    struct df_error error = { "" };
    struct dfw_db *db;
    if (dfw_db_open(r->db, true, &db, &error) != DF_OK) {
        dfc_error("%s", error.text);
        return 1;
    }
    int status = probe(r, db);
    dfw_db_close(db);
    return status;
}

static int run(int argc, char **argv)
{
    struct request r = { .common.path_optional = true };
    dfp_options_default(&r.common.partition);
    int status = parse(argc, argv, &r);
    if (status == 0 && !dfc_output_is_no_database(r.db, r.common.output))
        status = 2;
    if (status == 0)
        status = probe_into(&r);
    dfc_common_free(&r.common);
    return status;
}

const struct dfc_command dfc_command_probe = { "probe", "measure this machine and write it as a platform", usage, run,
                                               DFC_OPTIONS({ own_options, 0 }) };
