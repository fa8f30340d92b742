/* cmd_gantt.c - `dfc gantt TRACE.json`: draws a Gantt chart of a program's run from the trace that it wrote, or of the
 * windows of a run on ranks (--windows).
 */
#include "compiler/commands/command.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/cluster/windows.h"
#include "compiler/show/gantt.h"
#include "compiler/tools/output_file.h"
#include "compiler/tools/picture_file.h"
#include "runtime/base/output.h"

struct request {
    const char *trace, *output;
    bool windows;
};

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    { "--windows", NULL, "draw the windows of ranks over time, or write them as CSV if FILE ends in .csv", DFR_FIELD(FLAG, struct request, windows) },
    { "-o", "FILE.svg|FILE.png", "PNG if FILE ends in .png, else SVG; '-' is standard output", DFR_FIELD(NAME, struct request, output) },
    { 0 }
};

static bool is_csv(const struct request *r)
{
    const char *dot = r->windows && r->output ? strrchr(r->output, '.') : NULL;
    return dot && strcmp(dot, ".csv") == 0;
}

static bool take_trace(void *request, const char *word)
{
    struct request *r = request;
    if (r->trace)
        dfc_error("one trace at a time: '%s' and '%s' are given", r->trace, word);
    else
        r->trace = word;
    return r->trace == word;
}

static int parse(int argc, char **argv, struct request *r)
{
    if (!dfc_options_read(&dfc_command_gantt, argc, argv, r, take_trace))
        return 2;
    if (r->trace && r->output)
        return is_csv(r) || dfc_output_is_picture("-o", r->output, "SVG") ? 0 : 2;
    dfc_error(r->trace ? "-o FILE.svg or -o FILE.png is expected; 'dfc gantt --help' says more"
                       : "a trace is expected, as a program writes it with --trace=FILE; 'dfc gantt --help' says more");
    return 2;
}

static int write_csv(const struct request *r, const struct dfc_trace *trace)
{
    struct dfc_output output;
    if (!dfc_output_open(&output, r->output))
        return 1;
    bool written = dfc_windows_csv(trace, r->trace, output.file);
    return dfc_output_close(&output, written) && written ? 0 : 1;
}

static int draw(const struct request *r, struct dfc_trace *trace)
{
    struct dfc_picture picture;
    if (is_csv(r))
        return write_csv(r, trace);
    if (!dfc_picture_open(&picture, r->output))
        return 1;
    bool drawn = r->windows ? dfc_windows_draw(trace, r->trace, picture.file) : dfc_trace_draw(trace, picture.file);
    if (!drawn && !r->windows)
        dfc_error("out of memory");
    return dfc_picture_close(&picture, drawn) ? 0 : 1;
}

static int run(int argc, char **argv)
{
    struct request r = { 0 };
    int status = parse(argc, argv, &r);
    if (status)
        return status;
    const struct dfc_common inputs = { .path = r.trace };
    struct dfc_trace *trace = dfc_output_check(&inputs, NULL, r.output) ? dfc_trace_read(r.trace) : NULL;
    status = trace ? draw(&r, trace) : 1;
    if (trace)
        dfc_trace_free(trace);
    return status;
}

static const char usage[] =
    "usage: dfc gantt TRACE.json -o FILE.svg|FILE.png\n\n"
    "Draws who did what and when in a run of a program, from the trace that it wrote with --trace=TRACE.json: a row for\n"
    "each worker and copy engine, jobs coloured by kernel. 'dfc simulate --gantt' draws a simulated run. The trace of a run\n"
    "on many ranks (--cluster) has the rows of all of them; --windows draws how many waves each rank held at once.\n";

const struct dfc_command dfc_command_gantt = {
    "gantt", "draw what a program did and when, from its trace", usage, run, DFC_OPTIONS({ own_options, 0 })
};
