/* format_command.c - the command `dfc --format FILE…`, called by commands/main.c: formats files with dsl/format.c, to
 * standard output or in place.
 */
#include "compiler/format/format_command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/tools/messages.h"
#include "compiler/tools/output_file.h"
#include "compiler/types/paths.h"
#include "dsl/format.h"

struct request {
    bool in_place, check;
    const char **paths;
    size_t n_paths;
    unsigned n_changed;
};

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    { "-i", NULL, "change the files instead of printing them", DFR_FIELD(FLAG, struct request, in_place) },
    { "--in-place", NULL, "the same", DFR_FIELD(FLAG, struct request, in_place) },
    { "--check", NULL, "print the names of the files that would change, and exit with 1 if there is one", DFR_FIELD(FLAG, struct request, check) },
    { 0 }
};

/* Writes what differs. false: reported. */
static bool hand_out(struct request *r, const char *path, const char *text, size_t length, bool changed)
{
    struct dfc_output output;
    r->n_changed += changed;
    if (r->check) {
        if (changed)
            printf("%s\n", path);
        return true;
    }
    if (r->in_place && !changed)
        return true;
    struct stat before;
    if (!dfc_output_open(&output, r->in_place ? path : NULL))
        return false;
    if (r->in_place && stat(path, &before) == 0)
        fchmod(fileno(output.file), before.st_mode & 07777);
    fwrite(text, 1, length, output.file);
    return dfc_output_close(&output, true);
}

static bool format_file(struct request *r, struct dfl_sink *sink, const char *path)
{
    static const struct dfc_front_options options;
    char *text = NULL, *formatted = NULL;
    size_t length, n;
    const char *why;
    if (!dfc_read_file(&options, path, &text, &length, &why)) {
        dfc_error("cannot read '%s': %s", path, why);
        return false;
    }
    bool good = dfl_format(sink, path, text, length, &formatted, &n) &&
                hand_out(r, path, formatted, n, n != length || memcmp(text, formatted, n) != 0);
    free(text);
    free(formatted);
    return good;
}

static int format_files(struct request *r)
{
    bool good = true;
    for (size_t i = 0; i < r->n_paths; i++) {
        struct dfl_sink *sink = dfl_sink_new(stderr);
        if (!sink) {
            dfc_error("out of memory");
            return 1;
        }
        dfl_sink_program(sink, "dfc");
        good &= format_file(r, sink, r->paths[i]);
        dfl_sink_summary(sink);
        dfl_sink_free(sink);
    }
    return !good || (r->check && r->n_changed);
}

static bool take_path(void *request, const char *word)
{
    struct request *r = request;
    r->paths[r->n_paths++] = word;
    return true;
}

static int run(int argc, char **argv)
{
    struct request r = { .paths = malloc((size_t)argc * sizeof *r.paths) };
    int status = 2;
    if (!r.paths) {
        dfc_error("out of memory");
        return 1;
    }
    if (dfc_options_read(&dfc_command_format, argc, argv, &r, take_path)) {
        if (r.in_place && r.check)
            dfc_error("--check changes nothing, so it does not go together with -i");
        else if (r.n_paths == 0)
            dfc_error("a .df file is expected; 'dfc --format --help' says more");
        else
            status = format_files(&r);
    }
    free(r.paths);
    return status;
}

static const char usage[] =
    "usage: dfc --format FILE.df… [options]\n\n"
    "Prints the files in canonical layout: lines of at most 120 columns, four blanks a level, columns for what stands\n"
    "in consecutive lines. Comments and inline code stay as they are. A file with a syntax error is left alone.\n";

const struct dfc_command dfc_command_format = {
    "--format", "print files in canonical layout, or change them (-i)", usage, run, DFC_OPTIONS({ own_options, 0 })
};
