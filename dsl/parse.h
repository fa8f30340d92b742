/* parse.h - text to syntax tree.
 *
 * Memory:   dfl_parse() gives a tree that dfl_file_free() returns; `text` is borrowed for the call (the sink keeps
 *           its own copy for messages).
 * Threads:  reentrant; one sink per thread.
 * Errors:   all errors of the file are reported to the sink, recovering at ';' and '}'. A tree is given even then
 *           (what could be read); callers stop where dfl_sink_errors() grew. NULL only where memory ran out.
 *           What the language keeps for later (acc, split, map/stencil/reduce…) parses into the tree; the
 *           check that answers "not yet supported" is dfl_check_supported().
 */
#ifndef DFL_PARSE_H
#define DFL_PARSE_H

#include "ast.h"

struct dfl_file *dfl_parse(struct dfl_sink *sink, const char *name, const char *text, size_t length);
void dfl_file_free(struct dfl_file *file);

/* Reports what the grammar has and this version does not do yet, each at its place. */
void dfl_check_supported(struct dfl_sink *sink, const struct dfl_file *file);

/* Writes the tree as text in the language itself, normalised (one declaration a line, canonical spacing): parsing
 * that text gives the same tree. For --emit=ast. */
void dfl_print(FILE *out, const struct dfl_file *file);

/* Names of the enumerations, as written in the language. */
const char *dfl_mode_name(enum dfl_mode mode);
const char *dfl_scalar_name(enum dfl_scalar scalar);
const char *dfl_op_name(enum dfl_op op);

#endif
