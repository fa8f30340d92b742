/* frontend.h - the data structures that the rooms of the front end share: types/, declare/, elab/ and front/. All other
 * code uses front/front.h.
 *
 * Room:     compiler/types/ defines these structures, and handles names, units, values, formats and paths. It knows
 *           dsl/ and runtime/graph/.
 * Order:    declare/imports.c (files) - declare/decl.c (names, params, types, tables) - declare/sig.c, declare/check_kernel.c, declare/check_graph.c (every
 *           declaration, used or not; formulas by compiler/formula/ and compiler/proof/) - elab/elab.c, elab/elab_streams.c
 *           (flattening) - elab/resolve.c, elab/elab_order.c (who reads whom) - elab/dims.c, elab/to_builder.c (formats, scalars, costs, the
 *           builder). front/front.c is the list of these steps.
 * Words:    a *unit* is one run of the front end, with everything that it has read (not a unit of a platform, nor a
 *           unit of measurement). A *callee* is what a call names: a kernel or a graph. A *signature* is a callee's
 *           ports, dimension variables and scalars, with names and formats resolved. A *use* is the purpose of an
 *           expression: it determines which names the expression may contain. Params, args, ports, hints and the like
 *           are as in docs/language.md.
 * Memory:   everything lives in the unit's arena or arrays and is freed with the unit. If memory runs out, `no_memory`
 *           is set and the functions return false; front/front.c reports it once, at `at`.
 * Errors:   functions that return bool return false after they have reported an error, or if something that they depend
 *           on was reported before.
 */
#ifndef DFC_FRONTEND_H
#define DFC_FRONTEND_H

#include <string.h>

#include "compiler/types/program.h"
#include "dsl/arena.h"
#include "runtime/base/intern.h"
#include "runtime/graph/expr.h"

#define DFC_MAX_NODES 20000000u         /* nodes and nested graphs of one program */
#define DFC_MAX_STREAMS (2 * DFC_MAX_NODES)
#define DFC_MAX_STEPS 200000000u        /* statements and rounds of loops that elaboration goes through */
#define DFC_MAX_DEPTH 1000u             /* blocks and nested graphs inside each other, once elaborated */
#define DFC_MAX_INDICES 8u              /* of one stream */
#define DFC_MAX_LOOPS 32u               /* loops around one node, through all nested graphs of one scope */
#define DFC_MAX_CODE 4096u              /* words in the code of a scalar that depends on args */

/* ---- names.c: tables of names ---- */

struct dfc_index {                      /* names to numbers, from 0 in order of addition */
    struct dfr_table table;
    struct dfr_array names;             /* const char *, borrowed */
};
/* false: no memory. *fresh is false if the name was there already. */
bool dfc_index_add(struct dfc_index *index, const char *name, uint32_t *id, bool *fresh);
bool dfc_index_find(const struct dfc_index *index, const char *name, uint32_t *id);
void dfc_index_free(struct dfc_index *index);
static inline const char *const *dfc_index_names(const struct dfc_index *index) { return index->names.items; }

/* ---- units.c ---- */

enum dfc_unit_kind { DFC_UNIT_TIME, DFC_UNIT_BYTES };
/* false: there is no such unit. factor: seconds or bytes of one. */
bool dfc_unit_find(const char *name, enum dfc_unit_kind *kind, double *factor);
extern const char *const dfc_unit_names[];
extern const size_t dfc_unit_n_names;

/* ---- declarations ---- */

struct dfc_value {                      /* the value of an expression */
    bool known;                         /* false: only its type is known, because names in it have no values yet */
    const char *dynamic;                /* the dynamic param that it depends on, or NULL */
    int seconds;                        /* power of the unit of time, 0 or 1 */
    struct df_number n;                 /* if not known, only its kind counts */
    const uint64_t *code;               /* over args; there is code if the value is not known and the use is a node's
                                         * scalar */
    unsigned n_code, stack;             /* words of the code; depth of the stack that runs it */
};

struct dfc_param {                      /* param or arg */
    const struct dfl_decl *decl;
    bool ready;                         /* param: value is set; false: an error was reported */
    struct dfc_value value;             /* param */
    uint32_t arg;                       /* number of the arg, DF_NONE: a param */
};

struct dfc_format {
    uint64_t dims[DF_MAX_RANK];
    uint8_t elem, rank;
    uint8_t bounded;                    /* bit i: extent i is at most dims[i], and another one in each wave */
};

struct dfc_type {
    const struct dfl_decl *decl;
    bool ready;
    struct dfc_format format;
};

enum dfc_dim_kind { DFC_DIM_NUMBER, DFC_DIM_VARIABLE, DFC_DIM_EXPR };

struct dfc_dim {
    enum dfc_dim_kind kind;
    uint32_t variable;
    uint64_t number;
    const struct dfl_expr *expr;        /* as written; NULL: the extent comes from a type */
    bool own;                           /* a variable with its bound, as in 'h <= 4096' */
};

struct dfc_port {
    const struct dfl_port *ast;
    enum df_elem elem;
    unsigned rank;
    struct dfc_dim dims[DF_MAX_RANK];
    int in_slot, out_slot;
    uint64_t initial;                   /* acc: the bits of an element at first */
    bool final;                         /* out port of a graph that is called: it gets one token a call, after the last
                                         * wave; known when the graph was elaborated */
    bool split;                         /* written: parts of a node have ranges of its rows */
    uint32_t halo;                      /* rows that a part reads, besides its own, on each side */
};

struct dfc_variable {                   /* dimension variable */
    struct dfl_name name;               /* the place at which it first stands alone */
    bool from_input;                    /* an input determines it */
    const struct dfl_expr *bound;       /* 'h <= bound': the kernel decides it in each wave; of a graph: so it comes from
                                         * inside, or from an input. NULL: there is none; then an input or an annotation
                                         * determines it */
    uint64_t most;                      /* the bound's value; 0: it is '_', so the annotation of a call says it */
};

struct dfc_hidden {                      /* a scalar whose value is a param or an arg that the formulas name */
    const struct dfl_expr *value;       /* that name; it means the param or arg wherever the kernel is used */
    bool is_arg;
};

struct dfc_sig {
    unsigned n_ports, n_variables, n_scalars, n_in, n_out;
    unsigned n_given;                   /* of the scalars: those of the declaration. Calls give them; hidden ones follow */
    struct dfc_port *ports;
    struct dfc_variable *variables;
    const struct dfl_scalar_decl **scalars;
    const struct dfc_hidden *hidden;    /* n_scalars - n_given */
    uint16_t *in_port, *out_port;       /* by slot */
    bool needs_annotation;              /* some variable comes from no input */
    bool split;                         /* of a kernel: its nodes can be divided, along this variable: */
    uint32_t split_variable;
};

struct dff_table;                       /* compiler/formula/formula.h */
struct dff_proof;                       /* compiler/proof/proof.h */

struct dfc_promise {                    /* of a graph, checked */
    enum df_promise_kind kind;
    const char *unit;                   /* memory: whose; else NULL */
    double bound;                       /* waves per second, seconds, bytes */
    struct dfl_loc loc;
};

struct dfc_resource {
    const struct dfl_decl *decl;
    uint32_t n;                         /* jobs that may use it at a time */
};

struct dfc_table {
    const struct dfl_decl *decl;
    const struct dff_table *table;      /* NULL: an error was reported */
};

struct dfc_tally {                      /* of a graph laid flat; UINT64_MAX: that or more */
    uint64_t nodes;                     /* and nested graphs */
    uint64_t streams;                   /* that are assigned */
    uint64_t steps;                     /* statements and rounds of loops that elaboration goes through */
};

struct dfc_callee {
    const char *name;
    struct dfl_loc loc;                 /* of the name */
    struct dfc_sig sig;
    bool ready;                         /* false: its declaration has errors, so its uses are not checked further */
    bool due;                           /* it comes with dfc, and nothing has called it: its formulas, or the body of the graph, are not checked */
    bool built_in;                      /* `select` (declare/select.c), or of a loop: no declaration in a file, and its ports have no format */
    enum dfc_loop_part { DFC_NO_LOOP, DFC_LOOP_BEGIN, DFC_LOOP_END } loop_part; /* of a loop with 'while' (elab/loops.c) */
    const struct dfl_kernel *kernel;    /* NULL: a graph */
    uint32_t id;                        /* kernel: its number in the graph */
    uint32_t code_classes, cost_classes; /* kernel: bit c */
    const struct dfl_expr *cost[DF_MAX_CLASSES];
    uint64_t code_hash[2];
    struct df_tolerance tolerance;      /* kernel */
    uint64_t uses;                      /* kernel: bit r, it uses resource r */
    const struct dff_kernel *formula;   /* kernel: its formulas, checked; NULL: it has none, or they have errors */
    const struct dff_proof *proof;      /* of `formula`: where it reads; NULL: as there, or a read may be outside */
    const struct dfl_variant *launch[2]; /* kernel: the variants that are a bare __global__ function, or a kernel of OpenCL; NULL: none */
    const struct dfl_graph *graph;      /* NULL: a kernel */
    struct dfc_index streams;           /* graph: names that its body assigns, and in ports */
    const struct dfc_promise *promises; /* graph: n_promises of them */
    uint32_t n_promises;
    double confidence;                  /* of these */
    bool used;                          /* graph: it was elaborated, as a root or inside one */
    bool counted;                       /* graph: `tally` is what one use of it makes (elab_count.c) */
    struct dfc_tally tally;
};

struct dfc_loaded_file {
    struct dfl_file *ast;
    const char *path;                   /* as opened */
    const char *dir;                    /* its folder; "." if the path names none */
    bool own;                           /* it comes with dfc: its formulas and graphs are checked only if something calls them */
};

struct dfc_unit {
    struct dfl_sink *sink;
    const struct dfc_front_options *options;
    struct dfl_arena *arena;
    bool no_memory;
    struct dfl_loc at;                  /* what is worked on, for the message that memory ran out */
    struct dfr_array files;             /* struct dfc_loaded_file, main first */
    struct dfr_array sources;           /* struct dfc_source, same order */
    struct dfc_index params, types, tables, resources, callees; /* names of the records below */
    struct dfr_array param_items, type_items, table_items, resource_items, callee_items;
    struct dfr_array selects;           /* struct dfc_callee *: `select`, by number of inputs; not among the callees */
    struct dfr_array kernels;           /* struct dfc_kernel_code: kernels without errors */
    uint32_t n_args;
    struct dfc_index classes;           /* same numbers as in the builder */
    uint32_t opencl_classes;            /* bit c: kernels with OpenCL code can run on class c, which is neither cpu nor gpu */
    struct dfr_array links;             /* struct dfl_name */
    struct dfr_array platforms;         /* struct df_platform */
    struct dfr_array import_dirs;       /* const char * */
    const char *own_dir;                /* NULL: none */
    struct dfc_index code_paths;        /* files of variants, and the hashes of what is in them (0: not readable) */
    struct dfr_array code_hashes;
    struct dfr_array code_uses;         /* the first use of each (code_flags.c) */
    struct dfc_index state_names;       /* functions named by `open` and `close`, and the first use of each (state.c) */
    struct dfr_array state_uses;
    bool has_dynamic;
    struct dfr_function_port *ports;    /* of options->root, n_ports of them */
    uint32_t n_ports;
    struct dfr_array groups;            /* struct dfu_group *, of compiler/fusion/ */
    struct dfr_array fused, unfused;    /* struct dfc_fused, struct dfc_unfused */
    struct dfr_array exports;           /* uint32_t: the graphs of a library, by number of callee */
    struct df_builder *builder;
    struct df_graph *graph;
};

static inline struct dfc_param *dfc_params(const struct dfc_unit *u) { return u->param_items.items; }
static inline struct dfc_type *dfc_types(const struct dfc_unit *u) { return u->type_items.items; }
static inline struct dfc_resource *dfc_resources(const struct dfc_unit *u) { return u->resource_items.items; }
static inline struct dfc_callee *dfc_callees(const struct dfc_unit *u) { return u->callee_items.items; }

/* names.c: zeroed memory of any size that dies with the unit. NULL: memory ran out (no_memory is set). */
void *dfc_alloc(struct dfc_unit *u, size_t size);
const char *dfc_printf(struct dfc_unit *u, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Records that memory ran out. Returns false. */
bool dfc_no_memory(struct dfc_unit *u);
/* Prints the hint "did you mean …" if a name of the list is close; returns whether it did. */
bool dfc_hint_name(struct dfc_unit *u, const char *name, const char *const *names, size_t n);

/* Kernels whose names differ by the element type, as load_npy_u8_2d and load_npy_f32_2d do. Of pictures that of u8 has no suffix: write_png, write_png_f32. */
#define DFC_OTHER_NAME 80
enum df_elem dfc_element_in(const char *name); /* the last type that is a word of the name; DF_N_ELEMS: there is none */
/* Writes the name of the kernel of that element. false: there is no such kernel. */
bool dfc_name_for_element(const struct dfc_unit *u, const char *name, enum df_elem elem, char other[DFC_OTHER_NAME]);
#define DFC_WHY_RESERVED_BYTES 80
/* Returns whether the name is reserved, so that no port, dimension or scalar may have it; `why` gets the reason. */
bool dfc_name_is_reserved(const char *name, char why[DFC_WHY_RESERVED_BYTES]);
/* The same, and reports it: C and C++ keywords, `call`, `stream`, df_*, DF_*, and names of C's headers are reserved.
 * what: "port", "scalar", … */
bool dfc_name_reserved(struct dfc_unit *u, const char *what, const struct dfl_name *name);

/* ---- fold.c, fold_names.c, value.c ---- */

enum dfc_use { DFC_USE_PARAM, DFC_USE_TYPE, DFC_USE_PORT, DFC_USE_ANNOTATION, DFC_USE_BOUND, DFC_USE_INDEX, DFC_USE_STAGE,
               DFC_USE_CONDITION, DFC_USE_SCALAR, DFC_USE_HINT, DFC_USE_COST, DFC_USE_THREADS,
               DFC_USE_TOLERANCE, DFC_USE_HALO, DFC_USE_LAUNCH, DFC_USE_ARGUMENT,
               DFC_USE_PLATFORM, DFC_USE_TABLE, DFC_USE_RESOURCE, DFC_USE_PROMISE, DFC_USE_MOST, DFC_USE_ROUNDS, DFC_USE_WHILE };

struct dfc_env {                        /* a loop variable, and those of the loops around it */
    const char *name;
    int64_t value;
    unsigned depth;                     /* how many there are, this one included */
    bool known;                         /* false: the expression is checked for any value */
    const struct dfc_env *outer;
    bool rounds;                        /* it counts the rounds of a loop with 'while', so only indices of streams may have it */
};

struct dfc_token {                      /* a stream in the condition of a loop with 'while' */
    const struct dfl_expr *expr;
    enum df_kind kind;
    uint32_t arg;                       /* its number in code, as an arg's (DF_X_ARG) */
};

struct dfc_names {                      /* what the names of an expression stand for */
    enum dfc_use use;
    const struct dfc_callee *callee;    /* its dimensions and scalars are in scope; NULL: none are */
    const uint64_t *dims;               /* values of its variables, 0: not known; NULL: any value */
    const bool *bounded;                /* by variable: it may differ from wave to wave, so it is no number; NULL: none */
    const struct dfc_value *scalars;    /* values of its scalars; NULL: any value */
    const struct dfc_env *env;
    const struct dfc_token *tokens;     /* n_tokens of them */
    unsigned n_tokens;
    bool kinds_only;                    /* numbers and params, too, count by their kind alone */
};

/* The operator in the code of scalars. DF_X_INT, which is none: it works on bits, so only formulas have it. */
enum df_x dfc_operator(enum dfl_op op);
bool dfc_fold(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value);
/* The same for an i64; any other type is reported. If only the type is known, *value is 0 and *known is false. */
bool dfc_fold_int(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, int64_t *value,
                  bool *known);
/* One extent of a format: an i64 of at least 1, without a bound. */
bool dfc_fold_extent(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, uint64_t *value,
                     bool *known);
/* Converts a value to a scalar's type. An error is reported at `loc`; `what` says what the value is for: "scalar 'n' of
 * 'f'". */
bool dfc_convert(struct dfc_unit *u, struct dfl_loc loc, const char *what, enum dfl_scalar type,
                 struct dfc_value *value);
const char *dfc_use_words(enum dfc_use use);
enum df_kind dfc_scalar_kind(enum dfl_scalar type);
enum df_scalar_type dfc_scalar_type(enum dfl_scalar type);

/* ---- format.c ---- */

#define DFC_BOUND_NEEDS_NAME "a bound needs a dimension variable before '<=', a name: 'n <= 100'"
#define DFC_ELEM_TYPES "element types are u8 (or bytes), u16, i32, i64, f16, f32 and f64"

bool dfc_elem_find(const char *name, enum df_elem *elem);
/* The same, or the element type that a declared type without extents stands for, which -D may have replaced. */
bool dfc_elem_of(const struct dfc_unit *u, const char *name, enum df_elem *elem);
/* Evaluates a format's extents. An extent without a value in `names` is 0. */
bool dfc_format_fold(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_format *ast,
                     struct dfc_format *format);
/* Is one of the signature's variables for which `bounded` says so in the expression? */
bool dfc_extent_is_bounded(const struct dfc_sig *sig, const struct dfl_expr *e, const bool *bounded);
/* A bit for each extent of the port that has a bound by the signature alone, as in struct dfc_format. */
uint8_t dfc_port_varies(const struct dfc_sig *sig, const struct dfc_port *port);
/* Is it 'a <= b', an extent with a bound? */
static inline bool dfc_extent_has_bound(const struct dfl_expr *e)
{
    return e->kind == DFL_EXPR_BINARY && e->op == DFL_OP_LE;
}
/* Returns whether the bound is '_', which the annotation of each call must state. */
static inline bool dfc_bound_is_open(const struct dfl_expr *bound)
{
    return bound && bound->kind == DFL_EXPR_NAME && strcmp(bound->s, "_") == 0;
}
void dfc_format_print(const struct dfc_format *format, char *text, size_t size);
/* Bytes of a token. false: they are more than 2^63 - 1. */
bool dfc_format_bytes(const struct dfc_format *format, uint64_t *bytes);

#endif
