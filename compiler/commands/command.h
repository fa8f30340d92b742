/* command.h - the commands of dfc, and what they share: options that mean the same in all of them.
 *
 * Room:     compiler/commands/ holds main() and the commands. A command is one file (cmd_NAME.c) and one line in the
 *           table of main.c. It reads its command line and calls the other rooms of the compiler; nothing outside dfc
 *           includes this room.
 * Exit:     0; 1 for the user's errors, 2 for a wrong command line (both are reported).
 */
#ifndef DFC_COMMAND_H
#define DFC_COMMAND_H

#include "compiler/build/make_program.h"
#include "compiler/load/load.h"
#include "compiler/tools/messages.h"
#include "compiler/tools/output_file.h"

struct dfc_command {
    const char *name;                   /* NULL: compile */
    const char *about;                  /* one line for `dfc --help` */
    const char *usage;                  /* whole text of `dfc NAME --help` */
    int (*run)(int argc, char **argv);  /* argv[0] is the command's name */
};
extern const struct dfc_command dfc_command_compile, dfc_command_probe, dfc_command_profile, dfc_command_partition,
    dfc_command_compare, dfc_command_simulate, dfc_command_explain;

/* Takes argv[*i], and its value (moving *i), if it is an option that commands for a graph share. 1: taken. 0: it is
 * none of them. -1: it is wrong (reported; the command exits with 2). */
int dfc_common_option(struct dfc_common *common, int argc, char **argv, int *i);
/* The lines about these options for a command's usage text. */
#define DFC_COMMON_USAGE \
    "  -D NAME=VALUE            gives a param another value\n" \
    "  -I DIR                   a folder in which imported files are looked for, after the importing file's own\n" \
    "  -L DIR, -l NAME          a folder and a library for the linker\n" \
    "  --platform=FILE          the machine to plan for, in a file that 'dfc probe' writes; if it is not given, the\n" \
    "                           platform in the .df, else the stored probe, else a stated default\n" \
    "  --policy=NAME            the policy that places nodes (gp if all times are known, else gp-thesis)\n" \
    "  --ratio=total|per-worker            the CPU's share of the work follows from total times, or from times per\n" \
    "                           worker (gp-thesis)\n" \
    "  --vertex-weight=gpu|cpu             the times by which the partition is balanced (gp-thesis)\n" \
    "  --seed=N                 seed of the partitioner\n" \
    "  --objective=latency|throughput      one wave soon, or many waves a second (gp; by default throughput if the\n" \
    "                           graph has streams)\n" \
    "  --budget=N|Nx            plan with N evaluations, or with N times as many as by default (gp)\n" \
    "  --time-cap=SECONDS       plan no longer than that; the plan may then depend on the machine (gp)\n" \
    "  --device=auto|none|emu|cuda|sim     GPUs to use (auto: cuda or none)\n" \
    "  --emu-all                every kernel with a cpu variant may run on the emulated GPU\n" \
    "  --gpu-mem=SIZE           use no more of each GPU's memory (6GiB, 512MiB, …)\n" \
    "  --workers=N, --inflight=N, --gpu-jobs=N    CPU workers, waves in flight, jobs in flight per GPU\n"
/* Takes one option with a value, as --name=VALUE or --name VALUE. Gives 1, 0 and -1 as above. For a command's own
 * options. */
int dfc_option_value(const char *name, int argc, char **argv, int *i, const char **value);
/* Takes --format, for commands that can print in several forms. `json`: JSON is one of them. *form is set only if 1 is
 * given. Gives 1, 0 and -1 as above. */
enum dfc_form { DFC_FORM_TEXT, DFC_FORM_CSV, DFC_FORM_JSON };
int dfc_form_option(bool json, int argc, char **argv, int *i, enum dfc_form *form);
/* Parses a whole number within bounds. false: reported. */
bool dfc_parse_count(const char *name, const char *text, unsigned long least, unsigned long most,
                     unsigned long *count);
/* Does this policy place nodes before the run? NULL is the default one, which does. false: reported. */
bool dfc_policy_places(const char *policy);
/* Reads the whole command line of a command for one graph. Each option is offered to `own` first (which gives 1, 0 and
 * -1 as above), then to the common ones. Gives 0, or 2 for a usage error (reported). */
int dfc_parse_options(const struct dfc_command *command, int argc, char **argv, struct dfc_common *common,
                      int (*own)(void *request, int argc, char **argv, int *i), void *request);
/* Reports an option that the command does not have, and the closest that its usage text names. Gives 2. */
int dfc_unknown_option(const struct dfc_command *command, const char *word);
void dfc_common_free(struct dfc_common *common);

/* Takes -O0 … -O3, -g, --cc, --nvcc, --cflags and --nvcc-flags. Gives 1, 0 and -1 as above. */
int dfc_build_option(struct dfc_build_options *build, int argc, char **argv, int *i);

#endif
