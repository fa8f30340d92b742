/* declare.h - files, imports, and every declaration checked, used or not. */
#ifndef DFC_DECLARE_H
#define DFC_DECLARE_H

#include "compiler/types/frontend.h"

/* ---- imports.c ---- */

/* Reads and parses the main file and all it imports. false: errors were reported. */
bool dfc_load_files(struct dfc_unit *u);
/* ---- decl.c, sig.c, check_kernel.c, check_graph.c ---- */

/* Names of all declarations, values of params, formats of types, signatures and kernels. */
bool dfc_declare(struct dfc_unit *u);
/* Orders declarations that refer to each other so that each comes after those it needs. edges: pairs (from, to) of
 * struct dfc_edge: `from` refers to `to` at loc. A cycle is reported as "<what> 'a' refers to itself: a, b, a". */
struct dfc_edge {
    uint32_t from, to;
    struct dfl_loc loc;
};
bool dfc_order_references(struct dfc_unit *u, const char *what, const char *verb, const char *const *names, uint32_t n,
                          const struct dfr_array *edges, uint32_t *order);

bool dfc_sig_check(struct dfc_unit *u, struct dfc_callee *callee, const struct dfl_sig *ast);
bool dfc_kernel_check(struct dfc_unit *u, struct dfc_callee *callee, const char *dir);
bool dfc_cost_check(struct dfc_unit *u, const struct dfl_expr *expr, double seconds);
/* Everything about graphs that does not depend on values. */
bool dfc_check_graphs(struct dfc_unit *u);

/* code_files.c: the variants' files are there (need_code_files), and their hash. */
bool dfc_code_check(struct dfc_unit *u, const struct dfl_variant *variant, const char *dir, uint64_t *hash);

/* call.c: a call against its callee's signature. */
bool dfc_call_check(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                    const struct dfc_names *names);
/* The expression given for a scalar, by position or by name; NULL: none (reported by dfc_call_check). */
const struct dfl_expr *dfc_call_scalar(const struct dfl_stmt *stmt, const struct dfc_sig *sig, unsigned scalar);

struct dfc_hints {
    int cls;                            /* -1: none */
    uint32_t depth;                     /* 0: none */
    double rate;                        /* 1 where none is given */
};
/* Values that depend on what is not known yet are left alone. */
bool dfc_call_hints(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                    const struct dfc_names *names, struct dfc_hints *hints);

/* An `else` that is one `if`: the next arm of a chain of any length. NULL: it is not. */
const struct dfl_stmt *dfc_next_arm(const struct dfl_block *otherwise);

#endif
