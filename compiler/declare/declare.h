/* declare.h - reads the main file and its imports, enters every name, and checks every declaration, used or not.
 * front/front.c calls these steps; compiler/elab/ asks about calls.
 *
 * Room:     compiler/declare/ knows the syntax tree and compiler/types/. It knows nothing about elaborated graphs.
 * Errors:   functions that return bool return false after they have reported an error. dfc_declare() returns false only
 *           if memory ran out, so its caller counts the reported errors.
 */
#ifndef DFC_DECLARE_H
#define DFC_DECLARE_H

#include "compiler/types/frontend.h"

/* ---- imports.c ---- */

/* Reads and parses the main file and all it imports. false: errors were reported. */
bool dfc_load_files(struct dfc_unit *u);

/* ---- decl.c, sig.c, check_kernel.c, check_graph.c ---- */

/* Enters the names of all declarations; finds the values of params, the formats of types, the signatures and the
 * kernels. */
bool dfc_declare(struct dfc_unit *u);
/* Enters and evaluates the params of one file, and nothing else of it. */
bool dfc_declare_params(struct dfc_unit *u, const struct dfl_file *file);
/* Orders declarations that refer to each other, so that each comes after those it needs. `edges` holds struct dfc_edge:
 * `from` refers to `to` at loc. A cycle is reported at its first reference: "<what> 'a' <verb> itself by way of 'b'".
 * Notes name the other references. */
struct dfc_edge {
    uint32_t from, to;
    struct dfl_loc loc;
};
bool dfc_order_references(struct dfc_unit *u, const char *what, const char *verb, const char *const *names, uint32_t n,
                          const struct dfr_array *edges, uint32_t *order);

/* Makes a callee's signature. false: reported. */
bool dfc_sig_check(struct dfc_unit *u, struct dfc_callee *callee, const struct dfl_sig *ast);
/* split.c: checks the words 'split' and 'halo' of a signature whose ports are known. false: reported. */
bool dfc_split_check(struct dfc_unit *u, struct dfc_callee *callee);
/* Checks a kernel's traits, variants and costs, and its formulas if asked for; dir: the folder of its .df. false: reported. */
bool dfc_kernel_check(struct dfc_unit *u, struct dfc_callee *callee, const char *dir, bool formulas);
/* Checks a kernel's formulas, and proves that what they read is there. false: reported. */
bool dfc_formulas_check(struct dfc_unit *u, struct dfc_callee *callee);
/* Checks that a time is valid as a cost. false: reported at the expression. */
bool dfc_cost_check(struct dfc_unit *u, const struct dfl_expr *expr, double seconds);
/* Checks everything about graphs that does not depend on values. */
bool dfc_check_graphs(struct dfc_unit *u);

/* promises.c: checks what a graph promises. false: reported. */
bool dfc_promises_check(struct dfc_unit *u, struct dfc_callee *graph);

/* code_files.c: checks that a variant's file can be read (if need_code_files is set) and hashes the variant's code.
 * *hash is 0 if there is nothing to read. */
bool dfc_code_check(struct dfc_unit *u, const struct dfl_variant *variant, const char *dir, uint64_t *hash);
/* code_flags.c: checks the flags that are written with a variant's file, at loc. `file_id` is the file's number in
 * code_paths. flags NULL: none are written. */
bool dfc_flags_check(struct dfc_unit *u, uint32_t file_id, const char *file, bool is_object, struct dfl_loc loc,
                     const struct dfl_expr *flags);

/* state.c: checks the functions named by `open` and `close` of a variant against those of all other variants. */
bool dfc_state_check(struct dfc_unit *u, const struct dfc_callee *callee, const struct dfl_variant *variant);
/* select.c: what a call calls. A `select` has a callee for each number of inputs. NULL: there is none, or no memory. */
struct dfc_callee *dfc_callee_called(struct dfc_unit *u, const struct dfl_stmt *stmt);
/* Reports a call of `select` that has no callee. */
void dfc_select_refused(struct dfc_unit *u, const struct dfl_stmt *stmt);
/* true: the name of a kernel or graph is that of the built-in `select`. That is reported. */
bool dfc_select_declared(struct dfc_unit *u, const struct dfl_name *name);

/* select.c: is it 'last(x)', which gives the last token of what a loop with 'while' changes? A kernel or graph of the name `last` hides it. */
bool dfc_is_last(const struct dfc_unit *u, const struct dfl_stmt *stmt);

/* select.c: does this part of a loop's condition read a stream of the graph? A name that is also a param, a dimension, a scalar or a loop variable does not. */
bool dfc_is_stream_read(const struct dfc_callee *graph, const struct dfc_env *env, const struct dfc_unit *u, const struct dfl_expr *e);

/* call_check.c: checks a call against its callee's signature. */
bool dfc_call_check(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                    const struct dfc_names *names);

/* Hints at the order of a call's arguments, with the names of this callee's: 'mask(image, threshold)'. */
void dfc_call_hint_order(struct dfc_unit *u, const struct dfc_callee *callee);
/* The expression given for a scalar, by position or by name; of a hidden scalar the name of its param or arg, which no
 * loop variable, dimension or scalar around the call hides. NULL: none was given (dfc_call_check() has reported it). */
const struct dfl_expr *dfc_call_scalar(const struct dfl_stmt *stmt, const struct dfc_sig *sig, unsigned scalar);

struct dfc_hints {
    int cls;                            /* -1: none */
    uint32_t depth;                     /* 0: none */
    double rate;                        /* 0 if none is given */
    uint32_t parts;                     /* 0: none */
    uint32_t passes;                    /* 0: none */
    struct dfl_loc passes_loc;
    const struct dfl_hint *worker;      /* NULL: none */
    uint32_t stage;                     /* as df_node.stage: @stage(n) is n + 1; 0: none */
    struct df_live live;                /* all 0: neither @newest nor @every */
};
/* Reads a call's hints. One whose value depends on something unknown keeps its default. */
bool dfc_call_hints(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                    const struct dfc_names *names, struct dfc_hints *hints);

/* Returns whether the call has `@quiet`, so that unread outputs cause no warning. */
bool dfc_call_is_quiet(const struct dfl_stmt *stmt);
/* The hint `@worker` on the call; NULL: none. */
const struct dfl_hint *dfc_call_worker(const struct dfl_stmt *stmt);
/* The hint `@stage` on the call; NULL: none. */
const struct dfl_hint *dfc_call_stage(const struct dfl_stmt *stmt);
/* Returns whether the call has `@nofuse`, so that it stays a separate node. */
bool dfc_call_is_apart(const struct dfl_stmt *stmt);

/* check_graph.c: the next arm of an else-if chain: the `if` that is the only statement of this `else`. NULL: there is none. */
const struct dfl_stmt *dfc_next_arm(const struct dfl_block *otherwise);

#endif
