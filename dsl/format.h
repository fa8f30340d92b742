/* format.h - the canonical layout of a .df file: the same tokens and comments, other blanks and line breaks.
 *
 * Layout:   a declaration or statement a line, four blanks a level, at most DFL_FORMAT_WIDTH columns. A block that is
 *           on one line stays there if it fits. At most one empty line is kept between two lines. Columns: words that
 *           begin consecutive params, args, types and links; variants of consecutive kernels; comments behind
 *           consecutive lines. Inline code and comments are never changed, but blanks at the end of a `//` comment go, as does
 *           a byte order mark.
 * Stable:   what was formatted is formatted to itself.
 * Memory:   *formatted is malloc'ed.
 * Errors:   false if the text has errors, which are reported, or if memory ran out. The result is parsed again and
 *           compared with what was given: a layout that lost or changed anything is reported and not given.
 */
#ifndef DFL_FORMAT_H
#define DFL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "dsl/diag.h"

#define DFL_FORMAT_WIDTH 120

bool dfl_format(struct dfl_sink *sink, const char *name, const char *text, size_t length, char **formatted, size_t *n);

#endif
