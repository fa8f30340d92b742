/* scale_command.h - describes the command `dfc scale` (name, usage, options, handler) for the table in commands/main.c. The command predicts in virtual time
 * how fast a graph runs on many machines.
 */
#ifndef DFC_SCALE_COMMAND_H
#define DFC_SCALE_COMMAND_H

#include "compiler/options/option.h"

extern const struct dfc_command dfc_command_scale;

#endif
