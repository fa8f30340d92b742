/* cmd_replay.c - `dfc replay FILE.job -- ARGS`: starts the program that recorded a job, to run that job alone, perhaps under gdb. */
#include "compiler/commands/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/build/build_program.h"
#include "compiler/tools/spawn.h"
#include "compiler/trial/temporary_program.h"
#include "runtime/base/unfinished.h"
#include "runtime/inspect/job_file.h"

static const char usage[] =
    "usage: dfc replay FILE.job [options] [-- PROGRAM'S OPTIONS]\n\n"
    "Runs one job again, which a program has recorded with --record-job, and compares its outputs with the recorded ones: to\n"
    "the bit, or within its kernel's tolerance. It runs where it was recorded, or as the program's options --device and --policy\n"
    "say. The exit status is 0 if they are the same, and 1 if they differ or it fails.\n";

struct request {
    const char *file, *program;
    bool debug;
    char **rest;                        /* after "--" */
    int n_rest;
};

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    { "--program", "PATH", "start this program; default: the one that recorded the job", DFR_FIELD(NAME, struct request, program) },
    { "--debug", NULL, "start it under gdb, which stops where the kernel is called", DFR_FIELD(FLAG, struct request, debug) },
    DFC_OPTION_REST,
    { 0 }
};

static bool take_file(void *request, const char *word)
{
    struct request *r = request;
    if (r->file)
        dfc_error("one job at a time: '%s' and '%s' are given", r->file, word);
    else
        r->file = word;
    return r->file == word;
}

static int parse(int argc, char **argv, struct request *r)
{
    const int end = dfc_trial_split(argc, argv);
    if (!dfc_options_read(&dfc_command_replay, end, argv, r, take_file))
        return 2;
    r->rest = argv + end + (end < argc);
    r->n_rest = argc - end - (end < argc);
    if (r->file)
        return 0;
    dfc_error("a job is expected, as a program writes it with --record-job=NODE:WAVE; 'dfc replay --help' says more");
    return 2;
}

/* gdb's regular expression for the functions of a kernel: its own, those that dfc makes around it, and those of its formulas. The kernel of a fused group is
 * "grey+blur", and its functions have "df_group0_grey_blur" in their names. */
static void add_breakpoint(struct dfc_list *argv, const char *kernel)
{
    char *name = strdup(kernel);
    const char *group = strchr(kernel, '+') ? "df_group[0-9]*_" : "";

    for (char *p = name; p && (p = strchr(p, '+')); p++)
        *p = '_';
    dfc_list_add(argv, "-ex");
    dfc_list_add(argv, "rbreak ^\\(df_run_\\|df_formula_\\|\\)%s%s\\(_cpu\\|_gpu\\|_opencl\\|_v[0-9]\\|\\)$", group, name ? name : "");
    dfc_list_add(argv, "-ex");
    dfc_list_add(argv, "run");
    argv->failed = argv->failed || !name;
    free(name);
}

static int start(const struct request *r, const struct dfr_job *job, const char *program)
{
    struct dfc_list argv = { 0 };
    int status = -1, passed = 0;

    if (r->debug) {
        dfc_list_add(&argv, "gdb");
        add_breakpoint(&argv, job->kernel);
        dfc_list_add(&argv, "--args");
    }
    dfc_list_add(&argv, strchr(program, '/') ? "%s" : "./%s", program);
    dfc_list_add(&argv, "--replay=%s", r->file);
    for (int i = 0; i < r->n_rest; i++)
        dfc_list_add(&argv, "%s", r->rest[i]);
    if (argv.failed)
        dfc_error("out of memory");
    else if ((status = dfc_run_passing(argv.items, &passed)) < 0)
        dfc_error("cannot start '%s': %s", argv.items[0], strerror(errno));
    dfc_list_free(&argv);
    if (passed && status == 128 + passed)
        dfr_unfinished_end(passed);     /* a shell is to see what has ended the program */
    return status < 0 ? 1 : status;
}

static int replay(const struct request *r, const struct dfr_job *job)
{
    const char *program = r->program ? r->program : job->program;

    if (access(program, X_OK) != 0) {
        if (r->program)
            dfc_error("--program: cannot start '%s': %s", program, strerror(errno));
        else
            dfc_error("the program that recorded the job, '%s', is not there: 'dfc %s -o PATH' makes it, and --program=PATH names it", program,
                      job->source);
        return 1;
    }
    char *gdb = r->debug ? dfc_find_program("gdb") : NULL;
    if (r->debug && !gdb) {
        dfc_error("--debug: gdb is not installed; without it, the command is: %s --replay=%s", program, r->file);
        return 1;
    }
    free(gdb);
    return start(r, job, program);
}

static int run(int argc, char **argv)
{
    struct request r = { 0 };
    struct dfr_job job = { 0 };
    struct df_error error;
    int status = parse(argc, argv, &r);

    if (status)
        return status;
    if (dfr_job_read(r.file, &job, &error) != DF_OK) {
        dfc_error("%s", error.text);
        status = 1;
    } else {
        status = replay(&r, &job);
    }
    dfr_job_free(&job);
    return status;
}

const struct dfc_command dfc_command_replay = { "replay", "run one recorded job again, and compare its outputs", usage, run, DFC_OPTIONS({ own_options, 0 }) };
