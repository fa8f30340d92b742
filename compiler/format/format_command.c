/* format_command.c - `dfc --format FILE…`: files in canonical layout, to standard output or in place. */
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
    unsigned n_changed;
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

static int format_files(struct request *r, const char *const *paths, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        struct dfl_sink *sink = dfl_sink_new(stderr);
        if (!sink) {
            dfc_error("out of memory");
            return 1;
        }
        dfl_sink_program(sink, "dfc");
        good &= format_file(r, sink, paths[i]);
        dfl_sink_summary(sink);
        dfl_sink_free(sink);
    }
    return !good || (r->check && r->n_changed);
}

static int run(int argc, char **argv)
{
    struct request request = { 0 };
    const char **paths = malloc((size_t)argc * sizeof *paths);
    size_t n = 0;
    int status = 0;
    if (!paths) {
        dfc_error("out of memory");
        return 1;
    }
    for (int i = 1; i < argc && status == 0; i++) {
        if (strcmp(argv[i], "-i") == 0 || strcmp(argv[i], "--in-place") == 0)
            request.in_place = true;
        else if (strcmp(argv[i], "--check") == 0)
            request.check = true;
        else if (argv[i][0] == '-')
            status = dfc_option_known(&dfc_command_format, argv[i]) ? 0 : 2;
        else
            paths[n++] = argv[i];
    }
    if (status == 0 && request.in_place && request.check) {
        dfc_error("--check changes nothing, so it does not go together with -i");
        status = 2;
    }
    if (status == 0 && n == 0) {
        dfc_error("a .df file is expected; 'dfc --format --help' says more");
        status = 2;
    }
    if (status == 0)
        status = format_files(&request, paths, n);
    free(paths);
    return status;
}

static const char usage[] =
    "usage: dfc --format FILE.df… [options]\n\n"
    "Prints the files in canonical layout: lines of at most 120 columns, four blanks a level, columns for what stands\n"
    "in consecutive lines. Comments and inline code stay as they are. A file with a syntax error is left alone.\n";

static const struct dfc_option own_options[] = {
    { NULL, NULL, "options" },
    { "-i", NULL, "change the files instead of printing them" },
    { "--in-place", NULL, "the same" },
    { "--check", NULL, "print the names of the files that would change, and exit with 1 if there is one" },
    { NULL, NULL, NULL },
};

const struct dfc_command dfc_command_format = {
    "--format", "print files in canonical layout, or change them (-i)", usage, run, { own_options }
};
