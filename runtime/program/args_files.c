/* args_files.c - checks for args.c the files that options write: none may be a file that the run reads, or that another option or a sink writes.
 *
 * The check comes before any file is opened for writing, because a typing error could destroy the only copy of an input. The graph may be rebuilt for other
 * sizes afterwards; the files that its nodes name stay the same.
 */
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/inspect/dump.h"
#include "runtime/record/digest.h"
#include "runtime/record/outputs.h"
#include "runtime/program/args_impl.h"

struct named {
    const char *option, *path;          /* path NULL: it was not given */
};

static int check_options(const struct named *to, const struct named *others, size_t n, const struct dfr_command_line *line, struct df_error *error)
{
    const struct named read[] = { { "platform", line->platform_path }, { "mapping", line->stages.path }, { "play", line->options.play_path } };
    if (dfr_output_is(to->path, "/proc/self/exe"))
        return dfr_error(error, DF_E_ARGUMENT, "--%s=%s: it would replace this program", to->option, to->path);
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i].path && dfr_output_is(to->path, read[i].path))
            return dfr_error(error, DF_E_ARGUMENT, "--%s=%s: it would replace the %s that --%s reads", to->option, to->path, read[i].option, read[i].option);
    for (size_t i = 0; i < n; i++)
        if (others[i].path && dfr_output_is(to->path, others[i].path))
            return dfr_error(error, DF_E_ARGUMENT, "--%s and --%s would both write '%s'", others[i].option, to->option, to->path);
    return DF_OK;
}

static int check_sinks(const struct named *to, const struct df_graph *g, const struct dfr_command_line *line, struct df_error *error)
{
    char name[256];
    uint32_t node;
    int status = dfr_outputs_writer(g, line->args, to->path, &node, error);
    if (status != DF_OK || node == DF_NONE)
        return status;
    df_node_name(g, node, name, sizeof name);
    return dfr_error(error, DF_E_ARGUMENT, "--%s and node '%s' would both write '%s'", to->option, name, to->path);
}

/* A file that does not exist yet is no input. */
static int check_inputs(const struct named *to, const struct df_graph *g, const struct dfr_command_line *line, struct df_error *error)
{
    struct stat own, other;
    struct dfr_inputs inputs;
    if (stat(to->path, &own) != 0 || !S_ISREG(own.st_mode))
        return DF_OK;
    int status = dfr_inputs_find(g, line->args, &inputs, error);
    if (status != DF_OK)
        return status;
    for (size_t i = 0; i < inputs.n && status == DF_OK; i++)
        if (stat(inputs.files[i].path, &other) == 0 && other.st_dev == own.st_dev && other.st_ino == own.st_ino)
            status = dfr_error(error, DF_E_ARGUMENT, "--%s=%s: it would replace '%s', which the run reads: name another file", to->option, to->path,
                               inputs.files[i].path);
    dfr_inputs_free(&inputs);
    return status;
}

/* The files of --dump get their names from nodes, ports and waves. df_run() reports requests that are wrong. */
static int check_dumps(const struct df_graph *g, const struct dfr_command_line *line, struct df_error *error)
{
    const struct df_options *o = &line->options;
    struct dfr_inputs inputs;
    struct dfr_dump *dump;
    if (o->n_dumps == 0 || dfr_dump_create(g, line->dumps, o->n_dumps, o->dump_dir ? o->dump_dir : ".", &dump, NULL) != DF_OK)
        return DF_OK;
    int status = dfr_inputs_find(g, line->args, &inputs, error);
    if (status == DF_OK) {
        for (size_t i = 0; i < inputs.n && status == DF_OK; i++)
            if (dfr_dump_writes_to(dump, inputs.files[i].path))
                status = dfr_error(error, DF_E_ARGUMENT, "--dump would replace '%s', which the run reads: name another folder by --dump-dir",
                                   inputs.files[i].path);
        dfr_inputs_free(&inputs);
    }
    dfr_dump_destroy(dump);
    return status;
}

int dfr_outputs_together(const struct df_graph *g, const struct dfr_command_line *line, struct df_error *error)
{
    const struct named written[] = { { "trace", line->options.trace_path }, { "stats-file", line->stats_path }, { "bad-files", line->bad_files_path },
                                     { "journal", line->resume.journal },   { "out", line->resume.chunk }, { "record", line->options.record_path } };
    int status = DF_OK;
    for (size_t i = 0; i < sizeof written / sizeof *written && status == DF_OK; i++) {
        if (!written[i].path)
            continue;
        status = check_options(&written[i], written, i, line, error);
        if (status == DF_OK)
            status = check_sinks(&written[i], g, line, error);
        if (status == DF_OK)
            status = check_inputs(&written[i], g, line, error);
    }
    if (status == DF_OK)
        status = check_dumps(g, line, error);
    if (status == DF_OK && (line->bad_files_path || line->on_error) && line->cluster)
        return dfr_error(error, DF_E_ARGUMENT, "%s is for a run in one process, and --cluster runs in several", line->on_error ? "--on-error" : "--bad-files");
    if (status == DF_OK && line->bad_files_path && line->on_error == 1)
        return dfr_error(error, DF_E_ARGUMENT, "--bad-files lists what is skipped, and --on-error=stop skips nothing");
    return status;
}
