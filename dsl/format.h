/* format.h - puts a .df file into canonical layout (`dfc --format`): tokens and comments stay the same, spaces and line
 * breaks change. compiler/format/format_command.c calls it.
 *
 * Layout:   one declaration or statement per line, indented by four spaces per level, at most DFL_FORMAT_WIDTH columns.
 *           A block that is on one line stays there if it fits. Runs of empty lines become one. Aligned in columns: the
 *           leading words of consecutive params, args, types and links; the variants of consecutive kernels; trailing
 *           comments of consecutive lines. Inline code and comments are not changed, except that trailing blanks of a
 *           `//` comment and a byte order mark are removed.
 * Stable:   formatting is idempotent.
 * Memory:   *formatted is malloc'ed.
 * Errors:   returns false if the text has syntax errors, which are reported, or if memory runs out. The result is
 *           parsed again and compared with the input; a layout that lost or changed a token is reported as an error and
 *           not returned.
 */
#ifndef DFL_FORMAT_H
#define DFL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "dsl/diag.h"

#define DFL_FORMAT_WIDTH 120

bool dfl_format(struct dfl_sink *sink, const char *name, const char *text, size_t length, char **formatted, size_t *n);

#endif
