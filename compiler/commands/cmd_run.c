/* cmd_run.c - `dfc run GRAPH.df -- ARGS`: builds the graph's program in a temporary folder, runs it there, and removes it. */
#include "compiler/commands/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/trial/temporary_program.h"
#include "runtime/base/text.h"
#include "runtime/policy/policy.h"

static const char usage[] =
    "usage: dfc run GRAPH.df [options] [-- PROGRAM'S OPTIONS]\n\n"
    "Compiles a graph, runs its program, and keeps no file. The program has the standard input and outputs, and its\n"
    "exit status is that of the command. Without '--' it runs with the options that it shares with dfc.\n";

struct request {
    struct dfc_common common;
    struct dfc_build_options build;
    char **own, **rest;                 /* options before "--"; after it, for the program */
    int n_own, n_rest;
};

static const struct dfr_option own_options[] = {
    DFR_HEADING("options"),
    DFC_OPTION_POLICY("POLICY", "the policy of the run; if it places nodes before a run, the program's plan is its, too"),
    DFC_OPTION_LOCK,
    DFC_OPTION_OUTPUT(NULL),            /* refused with a sentence */
    DFC_OPTION_REST,
    { 0 }
};

static int parse(struct request *r, int argc, char **argv)
{
    struct df_error error = { "" };
    int end = dfc_trial_split(argc, argv);
    if (dfc_parse_options(&dfc_command_run, end, argv, &r->common) != 0)
        return 2;
    r->own = argv + 1;
    r->n_own = end - 1;
    r->rest = argv + end + (end < argc);
    r->n_rest = argc - end - (end < argc);
    if (r->common.output)
        dfc_error("-o: run keeps no program; 'dfc %s -o %s' makes one", r->common.path, r->common.output);
    else if (r->common.policy && !dfr_policy_find(r->common.policy, &error))
        dfc_error("--policy: %s", error.text);
    else if (dfc_policy_or_lock(&r->common))
        return 0;
    return 2;
}

/* The program names this command where it names its own command line: interrupted.h. */
static void tell_command(const struct request *r, const struct dfc_trial *trial)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    fputs("dfc run", out);
    for (int i = 0; i < r->n_own; i++) {
        fputc(' ', out);
        dfr_shell_word(out, r->own[i]);
    }
    fputs(" --", out);
    if (dfr_text_close(out, &text)) {
        setenv("DFC_RUN_PROGRAM", trial->path, 1);
        setenv("DFC_RUN_COMMAND", text, 1);
    }
    free(text);
}

/* Gives the program's exit status, or 128 + the number of the signal that ended it. *passed: as of dfc_run_passing(). */
static int run_program(const struct request *r, const struct dfc_trial *trial, int *passed)
{
    struct dfc_list argv = { 0 };
    int status = -1;
    dfc_trial_arguments(trial, &r->common, &argv);
    if (r->common.policy)
        dfc_list_add(&argv, "--policy=%s", r->common.policy);
    for (int i = 0; i < r->n_rest; i++)
        dfc_list_add(&argv, "%s", r->rest[i]);
    if (argv.failed)
        dfc_error("out of memory");
    else if ((status = dfc_run_passing(argv.items, passed)) < 0)
        dfc_trial_cannot_run(argv.items[0], errno);
    dfc_list_free(&argv);
    return status < 0 ? 1 : status;
}

/* The program's number of waves, if its options say one; the program itself checks them. */
static void note_waves(struct request *r)
{
    for (int i = 0; i < r->n_rest; i++) {
        const char *text = strncmp(r->rest[i], "--waves=", 8) == 0 ? r->rest[i] + 8
                           : strcmp(r->rest[i], "--waves") == 0 && i + 1 < r->n_rest ? r->rest[i + 1] : "0";
        const unsigned long n = strtoul(text, NULL, 10);
        if (n > 0 && n <= UINT32_MAX)
            r->common.waves = (uint32_t)n;
    }
}

static int build_and_run(struct request *r)
{
    struct dfc_loaded loaded;
    struct dfc_trial trial;
    note_waves(r);
    if (!dfc_load(&r->common, true, &loaded))
        return 1;
    if (r->common.policy && dfp_partitioner_find(r->common.policy))
        r->build.policy = r->common.policy;
    dfc_trial_warn_taken(loaded.front->graph, r->own, r->n_own);
    bool built = dfc_trial_args(loaded.front->graph, r->rest, r->n_rest) &&
                 dfc_trial_build(&r->common, &loaded, &r->build, &trial);
    dfc_unload(&loaded);
    if (!built)
        return 1;
    int passed = 0;
    tell_command(r, &trial);
    int status = run_program(r, &trial, &passed);
    dfc_trial_remove(&trial);
    if (passed && status == 128 + passed)
        dfr_unfinished_end(passed);     /* a shell is to see what has ended the program */
    return status;
}

static int run(int argc, char **argv)
{
    struct request r = { .build = { .quiet = true } };
    dfp_options_default(&r.common.partition);
    int status = parse(&r, argc, argv);
    if (status == 0)
        status = build_and_run(&r);
    dfc_common_free(&r.common);
    return status;
}

const struct dfc_command dfc_command_run = { "run", "compile it, run it, and keep no program", usage, run,
                                             DFC_OPTIONS({ own_options, 0 }, { dfc_options_build, offsetof(struct request, build) },
                                                         { dfc_options_common, 0 }) };
