/* oracle.h - an interpreter of formulas: what a kernel or a graph of formulas must give, to the bit.
 *
 * It is written apart from the compiler, so that two readings of docs/language.md meet in the tests: it knows the parser (dsl/) and nothing of
 * compiler/. It is lenient: what the compiler refuses it may take. It is plain: each element is computed for itself, a let where it is
 * named, a border by its rule, a reduction in its order. It checks that no read goes outside, and that each element is written once.
 *
 * Graphs:   calls of kernels and of graphs, each target a name of its own. No blocks, no indexed streams.
 * Waves:    an acc lives over those of one call. What reads its result runs after the last one.
 * Memory:   the caller owns the arrays of a call. oracle_close() frees all else.
 * Threads:  one at a time.
 * Errors:   false; oracle_error() says why, until the next call.
 */
#ifndef FORMULA_ORACLE_H
#define FORMULA_ORACLE_H

#include <stddef.h>

#include "number.h"

struct oracle;

struct oracle_array {
    enum element element;
    unsigned rank;
    int64_t extents[DFL_MAX_RANK];
    void *data;
};

/* Parses a text. NULL: errors were reported on stderr. */
struct oracle *oracle_open(const char *name, const char *text, size_t length);
void oracle_close(struct oracle *o);
const char *oracle_error(const struct oracle *o);

/* Another value for a param or an arg of the file. */
bool oracle_define(struct oracle *o, const char *name, struct number value);

/* The signature of a kernel or graph. NULL: there is none of that name. */
const struct dfl_sig *oracle_signature(struct oracle *o, const char *name);

/* Its dimension variables, in the order of first appearance: how many; at most `room` names are written. */
#define ORACLE_MAX_DIMS 64
unsigned oracle_dims(const struct dfl_sig *sig, const char *names[ORACLE_MAX_DIMS]);

/* The element and extents of each port, for these dimensions. `ports` has sig->n_ports entries; their data becomes NULL. */
bool oracle_shapes(struct oracle *o, const struct dfl_sig *sig, const int64_t *dims, struct oracle_array *ports);

/* Runs some waves, one or more. data[p] is the array of port p: inputs are read, outputs written, inout both. The tokens of the waves lie one behind
 * the other. A result of an acc is one token, and so is what is made of such results alone: tokens[p] says how many port p has. One scalar for each
 * in the signature, of its type. */
bool oracle_run(struct oracle *o, const char *name, unsigned waves, const int64_t *dims, const struct number *scalars, void *const *data,
                unsigned *tokens);

#endif
