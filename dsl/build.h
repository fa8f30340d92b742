/* build.h - constructors of syntax-tree nodes, one for each rule of the grammar; the parser's actions call them.
 * Private to dsl/.
 *
 * Each constructor checks what a context-free grammar cannot: limits, reserved words used as names, a trait given
 * twice. It reports an error and returns a node nevertheless, so parsing goes on.
 */
#ifndef DFL_BUILD_H
#define DFL_BUILD_H

#include "dsl/reader.h"

/* ---- expressions; trees too deep are reported and end the reading ---- */

/* The depth above trees of depth `a` and `b`. If it is too much, that is reported and the reading ends. */
unsigned dfl_build_depth(struct dfl_reader *r, struct dfl_loc loc, unsigned a, unsigned b);

struct dfl_tree dfl_build_number(struct dfl_reader *r, struct dfl_loc loc, struct dfl_number number);
struct dfl_tree dfl_build_quantity(struct dfl_reader *r, struct dfl_loc loc, struct dfl_number number,
                                   struct dfl_name unit);
struct dfl_tree dfl_build_string(struct dfl_reader *r, struct dfl_loc loc, const char *text);
struct dfl_tree dfl_build_ref(struct dfl_reader *r, struct dfl_name name);
struct dfl_tree dfl_build_index(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name, struct dfl_tree args);
struct dfl_tree dfl_build_function(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                   struct dfl_tree args);
struct dfl_tree dfl_build_binary(struct dfl_reader *r, struct dfl_loc loc, enum dfl_op op, struct dfl_tree a,
                                 struct dfl_tree b);
struct dfl_prefix dfl_build_prefix(struct dfl_reader *r, struct dfl_loc loc, enum dfl_op op);
struct dfl_prefix dfl_build_prefix_more(struct dfl_reader *r, struct dfl_prefix outer, struct dfl_prefix inner);
struct dfl_tree dfl_build_unary(struct dfl_reader *r, struct dfl_prefix prefix, struct dfl_tree operand);
/* An expression without a '-' before it: the number 2^63 is too large here. */
struct dfl_tree dfl_build_plain(struct dfl_reader *r, struct dfl_tree tree);
/* "-" NUMBER as one literal, for defaults */
struct dfl_expr *dfl_build_negative(struct dfl_reader *r, struct dfl_loc loc, struct dfl_number number);
struct dfl_tree dfl_build_list(struct dfl_tree one);
struct dfl_tree dfl_build_list_more(struct dfl_tree list, struct dfl_tree one);
/* Formulas: COND ? VALUE : …, and what follows the last ':' of a ring of those. */
struct dfl_choices dfl_build_choice(struct dfl_reader *r, struct dfl_loc loc, struct dfl_tree cond,
                                    struct dfl_tree value);
struct dfl_choices dfl_build_choice_more(struct dfl_reader *r, struct dfl_choices choices, struct dfl_choices one);
struct dfl_tree dfl_build_choice_last(struct dfl_reader *r, struct dfl_choices choices, struct dfl_tree value);
/* Formulas: a function or conversion; a reduction over a ring of ranges, with its condition and body (.e NULL: none). */
struct dfl_tree dfl_build_formula_call(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                       struct dfl_tree args);
struct dfl_ranges dfl_build_range(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name, struct dfl_tree from,
                                  struct dfl_tree to);
struct dfl_ranges dfl_build_range_more(struct dfl_ranges ranges, struct dfl_ranges one);
struct dfl_tree dfl_build_reduce(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                 struct dfl_ranges ranges, struct dfl_tree cond, struct dfl_tree body);
struct dfl_expr *dfl_build_exprs(struct dfl_tree list); /* `list` is a ring (reader.h); the result is a list of ast.h */

/* ---- formats, signatures, kernels ---- */

struct dfl_format *dfl_build_format(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                    struct dfl_tree dims);
struct dfl_port *dfl_build_port(struct dfl_reader *r, struct dfl_loc loc, enum dfl_mode mode, struct dfl_name name,
                                struct dfl_format *format);
/* The first edge of a port's border, and a further one, if the port that is last in the ring has a border. False: it
 * has none, so the edge's name or number is no edge; that is reported. */
void dfl_build_border(struct dfl_reader *r, struct dfl_port *port, struct dfl_loc loc, struct dfl_tree edge);
bool dfl_build_border_more(struct dfl_reader *r, struct dfl_port *ports, struct dfl_tree edge);
/* What an acc is at first. */
void dfl_build_initial(struct dfl_reader *r, struct dfl_port *port, struct dfl_loc loc, struct dfl_tree value);
struct dfl_sig *dfl_build_sig(struct dfl_reader *r, struct dfl_loc loc, struct dfl_port *ports,
                              struct dfl_scalar_decl *scalars);
enum dfl_scalar dfl_build_scalar_type(struct dfl_reader *r, struct dfl_name name);
struct dfl_scalar_decl *dfl_build_scalar(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                         enum dfl_scalar type);
struct dfl_kernel *dfl_build_kernel(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                    struct dfl_sig *sig);
void dfl_build_trait(struct dfl_reader *r, struct dfl_kernel *kernel, struct dfl_loc loc, enum dfl_trait trait,
                     struct dfl_expr *args);
struct dfl_variant *dfl_build_variant(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name cls);
void dfl_build_kernel_variant(struct dfl_kernel *kernel, struct dfl_variant *variant); /* the kernel's are a ring */
/* Makes lists of the rings; prices: a ring, or NULL. */
struct dfl_kernel *dfl_build_kernel_end(struct dfl_kernel *kernel, struct dfl_price *prices);
/* Sets the files of a variant: the first, and a ring of those after it. Each is a string whose `args` are its flags. */
struct dfl_variant *dfl_build_files(struct dfl_variant *variant, struct dfl_tree first, struct dfl_tree more);
/* The function named by 'open' or 'close' (`word`) of a variant. */
void dfl_build_state_function(struct dfl_reader *r, struct dfl_name word, struct dfl_name *place,
                              struct dfl_name name);
struct dfl_price *dfl_build_price(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name cls, struct dfl_expr *expr);

/* ---- formulas ---- */

/* assign: what stands before '=', min or max, '+' or "". `formulas`: a ring, or NULL; block: from the '{' on */
void dfl_build_formulas(struct dfl_kernel *kernel, struct dfl_loc block, struct dfl_formula *formulas);
struct dfl_formula *dfl_build_let(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                  struct dfl_tree indices, struct dfl_expr *value);
struct dfl_formula *dfl_build_formula(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                      struct dfl_tree indices, struct dfl_name assign, struct dfl_expr *value);

/* ---- graphs ---- */

struct dfl_target *dfl_build_target(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                    struct dfl_tree indices, struct dfl_format *annotation);
struct dfl_actual *dfl_build_actual(struct dfl_reader *r, struct dfl_name keyword, struct dfl_expr *expr);
struct dfl_hint *dfl_build_hint(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name, struct dfl_expr *arg);
struct dfl_stmt *dfl_build_stmt(struct dfl_reader *r, struct dfl_loc loc, enum dfl_stmt_kind kind);
struct dfl_stmt *dfl_build_call(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name callee,
                                struct dfl_actual *actuals);
struct dfl_block *dfl_build_block(struct dfl_reader *r, struct dfl_loc open, struct dfl_stmt *stmts);
struct dfl_chain dfl_build_if(struct dfl_reader *r, struct dfl_loc loc, struct dfl_expr *cond, struct dfl_block *body);
struct dfl_chain dfl_build_else_if(struct dfl_reader *r, struct dfl_chain chain, struct dfl_chain more);
struct dfl_promise *dfl_build_promise(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name what, struct dfl_name unit, enum dfl_op op, struct dfl_expr *bound);
/* 'WHAT >= bound' that was read as one expression; one that is no comparison of a name has op DFL_OP_NOT and no `what`. */
struct dfl_promise *dfl_build_promise_of(struct dfl_reader *r, struct dfl_loc loc, struct dfl_tree tree);
void dfl_build_promises(struct dfl_reader *r, struct dfl_promise *promises); /* a ring, for the graph that is being read */
struct dfl_graph *dfl_build_graph(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name, struct dfl_sig *sig,
                                  struct dfl_block *body);

/* ---- platforms and declarations ---- */

struct dfl_property *dfl_build_property(struct dfl_reader *r, struct dfl_name name, struct dfl_tree values);
struct dfl_property *dfl_build_device_inside(struct dfl_reader *r, struct dfl_device *device);
struct dfl_device *dfl_build_device(struct dfl_reader *r, struct dfl_name cls, struct dfl_name name,
                                    struct dfl_property *properties);
struct dfl_platform *dfl_build_platform(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                        struct dfl_device *devices);
struct dfl_decl *dfl_build_decl(struct dfl_reader *r, struct dfl_loc loc, enum dfl_decl_kind kind,
                                struct dfl_name name);

#endif
