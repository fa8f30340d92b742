/* main.c - main() of dfc: the table of commands, and the dispatch to the one that the command line names. It also
 * answers --version, --help, --man and --completion.
 */
#include "compiler/cluster/map_command.h"
#include "compiler/cluster/scale_command.h"
#include "compiler/commands/command.h"
#include "compiler/commands/help_std.h"
#include "compiler/format/format_command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler/tools/spawn.h"
#include "runtime/base/colour.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/host.h"

#ifndef DFC_VERSION
#define DFC_VERSION "unknown"
#endif

static const struct dfc_command *const commands[] = {
    &dfc_command_compile,
    &dfc_command_run,
    &dfc_command_replay,
    &dfc_command_probe,
    &dfc_command_profile,
    &dfc_command_partition,
    &dfc_command_plan,
    &dfc_command_simulate,
    &dfc_command_scale,
    &dfc_command_map,
    &dfc_command_compare,
    &dfc_command_explain,
    &dfc_command_check,
    &dfc_command_gantt,
    &dfc_command_merge,
    &dfc_command_wrap,
    &dfc_command_doctor,
    &dfc_command_format,
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const char about[] = "compiles static dataflow graphs to programs for CPUs and GPUs";
static const char examples[] =
    "  dfc sum.df && ./sum --seed=3             compile, link and run\n"
    "  dfc run sum.df -- --seed=3               the same, and no program stays\n"
    "  dfc sum.df -D n=4096 -o sum              with another value of a param\n"
    "  dfc sum.df --emit=graph                  the elaborated graph as text\n"
    "  dfc partition sum.df -o sum.svg          a picture of where each node will run\n"
    "  dfc simulate sum.df                      predict its time under each policy\n"
    "  dfc explain sum.df --what-if             why nodes are where they are, and what would help\n"
    "  dfc compare sum.df                       run it under several policies and compare\n"
    "  dfc --format -i sum.df                   bring the file into canonical layout\n";

static int help(void)
{
    printf("dfc %s.\n\n", about);
    puts("usage: dfc GRAPH.df [-o PROGRAM] [options]\n"
         "       dfc COMMAND [options]\n\n"
         "commands:");
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("  %-24s %s\n", commands[i]->name ? commands[i]->name : "(none) GRAPH.df", commands[i]->about);
    printf("\nexamples:\n%s\n", examples);
    puts("dfc help COMMAND lists the options of a command, dfc help compile those of compiling, dfc help std/image\n"
         "and std/io what a graph can import. dfc --version prints the version, dfc --completion=bash (or zsh) a script that\n"
         "completes command lines, dfc --man or --man=COMMAND a manual page.");
    return 0;
}

static int version(void)
{
    printf("dfc %s\n", DFC_VERSION);
    return 0;
}

static const struct dfc_command *find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(name, dfc_command_name(commands[i])) == 0)
            return commands[i];
    return NULL;
}

/* Is the first word a mistyped command? It is, if it is no command, no option, no .df and no file. */
static bool looks_like_command(const char *word)
{
    size_t n = strlen(word);
    return word[0] != '-' && !(n > 3 && strcmp(word + n - 3, ".df") == 0) && !strchr(word, '/') &&
           access(word, F_OK) != 0;
}

static int unknown_command(const char *word)
{
    const char *names[N_COMMANDS + 2];
    char file[256];
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = dfc_command_name(commands[i]);
    names[N_COMMANDS] = "--version";
    names[N_COMMANDS + 1] = "help";
    const char *close = dfl_suggest(word, names, N_COMMANDS + 2);
    if (snprintf(file, sizeof file, "%s.df", word) < (int)sizeof file && access(file, F_OK) == 0)
        close = file;
    if (close == file)
        dfc_error("there is no command and no file '%s'; did you mean '%s'?", word, file);
    else if (close)
        dfc_error("there is no command '%s'; did you mean '%s'?", word, close);
    else
        dfc_error("there is no command and no file '%s'; 'dfc --help' lists the commands", word);
    return 2;
}

static int help_of(const char *name)
{
    const struct dfc_command *command = find(name);
    if (strncmp(name, "std/", 4) == 0)
        return dfc_help_std(name);
    if (!command)
        return unknown_command(name);
    fputs(command->usage, stdout);
    dfr_options_help(stdout, command->options);
    return 0;
}

/* name: of a command, NULL for dfc itself. */
static int man(const char *name)
{
    if (!name) {
        dfc_print_man_overview(stdout, DFC_VERSION, about, examples);
        return 0;
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(name, dfc_man_name(commands[i])) == 0) {
            dfc_print_man(stdout, DFC_VERSION, commands[i]);
            return 0;
        }
    return unknown_command(name);
}

/* Answers the options that are the same in every command, else runs the command. */
static int run(const struct dfc_command *command, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return help_of(dfc_command_name(command));
        }
        if (strcmp(argv[i], "--") == 0)
            break;
    }
    return command->run(argc, argv);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        dfc_error("nothing to do: name a .df file or a command; 'dfc --help' lists them");
        return 2;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return strcmp(word, "help") == 0 && argc > 2 ? help_of(argv[2]) : help();
    if (strcmp(word, "--version") == 0)
        return version();
    if (strncmp(word, "--completion=", 13) == 0)
        return dfc_print_completion(stdout, word + 13, commands, N_COMMANDS) ? 0 : 2;
    if (strcmp(word, "--man") == 0 || strncmp(word, "--man=", 6) == 0)
        return man(word[5] ? word + 6 : NULL);
    const struct dfc_command *command = find(word);
    if (command)
        return run(command, argc - 1, argv + 1);
    if (looks_like_command(word))
        return unknown_command(word);
    return run(&dfc_command_compile, argc, argv);
}

int main(int argc, char **argv)
{
    struct dfr_host host;
    dfr_standard_files_hold();
    dfr_unfinished_watch(dfc_programs_end);
    dfr_cores_quiet();
    dfr_colour_set(dfr_colour_wanted());
    dfr_host_enter(&host);              /* a library that was loaded may have changed it */
    signal(SIGCHLD, SIG_DFL);           /* if it is ignored, as a parent may leave it, the status of compilers is lost */
    signal(SIGXFSZ, SIG_IGN);           /* so that writing beyond `ulimit -f` fails with an error that is reported */
    dfc_commands = commands;
    dfc_n_commands = N_COMMANDS;
    int status = dispatch(argc, argv);
    return dfc_stdout_flush() || status != 0 ? status : 1;
}
