/* command.h - the commands of dfc. The options that they share are in compiler/options/common.h.
 *
 * Room:     compiler/commands/ holds main() and the commands. A command is one file (cmd_NAME.c) and one line in the
 *           table of main.c. It reads its command line and calls the other rooms of the compiler; nothing outside dfc
 *           includes this room.
 * Exit:     0; 1 for the user's errors, 2 for a wrong command line (both are reported).
 */
#ifndef DFC_COMMAND_H
#define DFC_COMMAND_H

#include "compiler/build/make_program.h"
#include "compiler/options/common.h"
#include "compiler/tools/messages.h"
#include "compiler/tools/output_file.h"

extern const struct dfc_command
    dfc_command_compile,
    dfc_command_run,
    dfc_command_replay,
    dfc_command_probe,
    dfc_command_profile,
    dfc_command_partition,
    dfc_command_plan,
    dfc_command_simulate,
    dfc_command_compare,
    dfc_command_explain,
    dfc_command_check,
    dfc_command_gantt,
    dfc_command_merge,
    dfc_command_wrap,
    dfc_command_doctor;

/* The table of options about compiling, which fills a struct dfc_build_options. */
extern const struct dfr_option dfc_options_build[];

#endif
