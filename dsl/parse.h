/* parse.h - parses the text of a .df file into a syntax tree, and prints a tree as text. compiler/declare/ parses
 * programs (compiler/declare/imports.c) and platforms (compiler/declare/platform_decl.c) with it, format.c takes the tokens, and compiler/commands/cmd_compile.c
 * prints trees for --emit=ast.
 *
 * Memory:   dfl_parse() returns a tree that dfl_file_free() frees. `text` is borrowed during the call; the sink keeps
 *           its own copy for messages.
 * Threads:  reentrant; one sink per thread.
 * Errors:   all errors of the file are reported to the sink; the parser recovers at ';' and '}'. A tree of whatever
 *           could be parsed is returned even then, so the caller checks whether dfl_sink_errors() grew. NULL is
 *           returned only if memory ran out. Syntax that is reserved for later versions parses into the tree;
 *           dfl_check_supported() reports it as not yet supported.
 */
#ifndef DFL_PARSE_H
#define DFL_PARSE_H

#include "ast.h"

struct dfl_file *dfl_parse(struct dfl_sink *sink, const char *name, const char *text, size_t length);

/* The same, and the positions of all tokens in the text, counted after a byte order mark. The caller frees `items`. no_memory:
 * the list is incomplete. */
struct dfl_token {
    size_t offset, length;
    bool declares; /* a keyword that begins a declaration */
};
struct dfl_tokens {
    struct dfl_token *items;
    size_t n, room;
    bool no_memory;
};
struct dfl_file *dfl_parse_tokens(struct dfl_sink *sink, const char *name, const char *text, size_t length,
                                  struct dfl_tokens *tokens);

void dfl_file_free(struct dfl_file *file);

/* Reports syntax that the grammar accepts but this version does not implement. */
void dfl_check_supported(struct dfl_sink *sink, const struct dfl_file *file);

/* Writes the tree as text in the language itself, normalised: one declaration a line, canonical spacing. Parsing that
 * text gives the same tree. For --emit=ast. */
void dfl_print(FILE *out, const struct dfl_file *file);

/* Writes an expression in the same way. */
void dfl_print_expr(FILE *out, const struct dfl_expr *expr);

/* The names of the enumerations' values, as written in the language. */
const char *dfl_mode_name(enum dfl_mode mode);
const char *dfl_scalar_name(enum dfl_scalar scalar);
const char *dfl_op_name(enum dfl_op op);

#endif
