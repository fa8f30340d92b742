/* format_command.h - the command `dfc --format FILE…`: formats files, to standard output or in place. commands/main.c
 * calls it.
 *
 * Room:     compiler/format/ reads and writes the files that dsl/format.h formats. It knows options and output files,
 *           and no graph.
 */
#ifndef DFC_FORMAT_COMMAND_H
#define DFC_FORMAT_COMMAND_H

#include "compiler/options/option.h"

extern const struct dfc_command dfc_command_format;

#endif
