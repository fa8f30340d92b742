/* format_command.h - `dfc --format FILE…`: files in canonical layout, to standard output or in place.
 *
 * Room:     compiler/format/ reads and writes files for dsl/format.h. It knows options and output files, and no graph.
 */
#ifndef DFC_FORMAT_COMMAND_H
#define DFC_FORMAT_COMMAND_H

#include "compiler/options/option.h"

extern const struct dfc_command dfc_command_format;

#endif
