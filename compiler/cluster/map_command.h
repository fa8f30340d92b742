/* map_command.h - describes the command `dfc map` (name, usage, options, handler) for the table in commands/main.c. The command maps the stages of a pipeline to
 * unlike machines, in virtual time.
 */
#ifndef DFC_MAP_COMMAND_H
#define DFC_MAP_COMMAND_H

#include "compiler/options/option.h"

extern const struct dfc_command dfc_command_map;

#endif
