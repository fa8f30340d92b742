/* ast.h - the syntax tree of a .df file: what was written, and where. It contains no semantic information.
 *
 * Room:     dsl/ reads text. It knows runtime/base/ and nothing about graphs, devices or programs. The parser makes the
 *           tree, compiler/declare/ and compiler/elab/ read it.
 * Memory:   every node and string lives in the tree's arena and dies with dfl_file_free(). Lists are singly linked in
 *           source order. Strings are NUL-terminated; string literals are decoded (no NUL inside).
 * Threads:  immutable after parsing.
 * Limits:   DFL_MAX_NESTING bounds the depth of expressions and blocks, so functions may recurse over the tree. They
 *           may not recurse over the graph that is elaborated from it, whose depth is not bounded so tightly.
 */
#ifndef DFL_AST_H
#define DFL_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"

#define DFL_MAX_NESTING 200   /* blocks, parentheses and operators on one path; the arms of an else-if chain do not
                               * count */
#define DFL_MAX_RANK 4        /* dimensions of a format */
#define DFL_MAX_PORTS 256     /* ports of one signature */
#define DFL_MAX_NAME 255      /* bytes in a name */
#define DFL_MAX_FILE (64u << 20) /* bytes in one file */

struct dfl_name {
    const char *text;
    struct dfl_loc loc;
};

/* ---- expressions ---- */

enum dfl_expr_kind {
    DFL_EXPR_INT,      /* .i */
    DFL_EXPR_FLOAT,    /* .f */
    DFL_EXPR_STR,      /* .s */
    DFL_EXPR_NAME,     /* .s: param, arg, dimension, loop variable or stream */
    DFL_EXPR_INDEX,    /* .s[args…]: an element of an indexed stream */
    DFL_EXPR_QUANTITY, /* NUMBER unit: .f the number; .is_int and .i if it was an integer; .s the unit */
    DFL_EXPR_UNARY,    /* op, a */
    DFL_EXPR_BINARY,   /* op, a, b */
    DFL_EXPR_CALL,     /* .s(args…): min or max; in a formula a function or conversion */
    DFL_EXPR_CHOICE,   /* a ? b : args; in a formula */
    DFL_EXPR_REDUCE    /* .s(ranges [if b] [: a]): a reduction; in a formula */
};

enum dfl_op {
    DFL_OP_NEG, DFL_OP_NOT,
    DFL_OP_MUL, DFL_OP_DIV, DFL_OP_MOD, DFL_OP_ADD, DFL_OP_SUB,
    DFL_OP_LT, DFL_OP_LE, DFL_OP_GT, DFL_OP_GE, DFL_OP_EQ, DFL_OP_NE,
    DFL_OP_AND, DFL_OP_OR,
    DFL_OP_BITNOT, DFL_OP_BITAND, DFL_OP_BITOR, DFL_OP_BITXOR, DFL_OP_SHL, DFL_OP_SHR /* in formulas alone */
};

struct dfl_range {           /* NAME in FROM .. TO, of a reduction */
    struct dfl_name name;
    struct dfl_expr *from, *to; /* TO is not one of the values */
    struct dfl_loc loc;
    struct dfl_range *next;
};

struct dfl_expr {
    enum dfl_expr_kind kind;
    enum dfl_op op;
    bool is_int;
    bool in_parens;         /* in formulas */
    struct dfl_loc loc;     /* the whole expression if it is on one line, else its first token */
    int64_t i;
    double f;
    const char *s;
    struct dfl_expr *a, *b;
    struct dfl_expr *args;  /* first; further ones by ->next */
    struct dfl_range *ranges; /* REDUCE: first; at least one */
    struct dfl_expr *next;  /* in a list of expressions */
};

/* ---- formats, signatures, kernels ---- */

struct dfl_format {          /* NAME [ "[" expr {"," expr} "]" ] */
    struct dfl_name name;    /* element type or declared type */
    struct dfl_expr *dims;   /* NULL: no brackets */
    unsigned rank;
    struct dfl_loc loc;
};

enum dfl_mode { DFL_IN, DFL_OUT, DFL_INOUT, DFL_TMP, DFL_ACC };

struct dfl_port {
    enum dfl_mode mode;
    struct dfl_name name;
    struct dfl_format *format;
    struct dfl_name split;       /* .text NULL: none */
    struct dfl_expr *halo;       /* NULL: none */
    struct dfl_expr *border;     /* edges, one or one for each dimension: a name or a number each; NULL: none written */
    struct dfl_expr *initial;    /* of an acc: what each element is at first, a number; NULL: none written */
    struct dfl_loc loc;
    struct dfl_port *next;
};

enum dfl_scalar { DFL_I32, DFL_I64, DFL_F32, DFL_F64, DFL_STRING };

struct dfl_scalar_decl {
    struct dfl_name name;
    enum dfl_scalar type;
    struct dfl_loc loc;
    struct dfl_scalar_decl *next;
};

struct dfl_sig {
    struct dfl_port *ports;
    struct dfl_scalar_decl *scalars;
    unsigned n_ports, n_scalars;
    struct dfl_loc loc;
};

#define TRAIT(NAME, word) DFL_TRAIT_##NAME,
enum dfl_trait {
#include "traits.def"
    DFL_N_TRAITS
};
#undef TRAIT
#define TRAIT(NAME, word) DFL_##NAME = 1 << DFL_TRAIT_##NAME,
enum {                                 /* bits of dfl_kernel.traits */
#include "traits.def"
};
#undef TRAIT
extern const char *const dfl_trait_words[DFL_N_TRAITS + 1]; /* NULL at the end; in print.c */

struct dfl_variant {
    struct dfl_name cls;               /* cpu, gpu or another class */
    const char *path;                  /* as written; NULL: inline code and no file */
    struct dfl_loc path_loc;
    struct dfl_expr *flags;            /* DFL_EXPR_STR: how that file is compiled, as written; NULL: nothing is */
    struct dfl_expr *more_files;       /* DFL_EXPR_STR each: files written after that one; `args`: their flags */
    const char *code;                  /* between {{ and }}; NULL: none */
    struct dfl_loc code_loc;           /* first character after {{, for #line */
    bool has_target;                   /* STRING ":" target-call */
    struct dfl_name target;
    bool has_launch;                   /* <<< >>> */
    struct dfl_expr *launch;           /* list inside <<< >>> */
    struct dfl_loc launch_loc;
    bool has_args;                     /* "(" … ")" was written */
    struct dfl_expr *args;             /* names of the signature, and expressions */
    struct dfl_name result;            /* "->" NAME; .text NULL: none, so the function's value is its status */
    struct dfl_name open, close;       /* functions that make and end what it keeps; .text NULL: none */
    struct dfl_loc loc;
    struct dfl_variant *next;
};

struct dfl_price {
    struct dfl_name cls;
    struct dfl_expr *expr;             /* DFL_EXPR_QUANTITY or any expression (inside parentheses) */
    struct dfl_loc loc;
    struct dfl_price *next;
};

enum dfl_assign { DFL_SET, DFL_ADD, DFL_LEAST, DFL_MOST }; /* = += min= max= */

struct dfl_formula {                   /* ["let"] NAME ["[" index {"," index} "]"] ASSIGN expr ";" */
    bool is_let;
    struct dfl_name name;
    struct dfl_expr *indices;          /* DFL_EXPR_NAME or DFL_EXPR_INT each; NULL: no brackets */
    enum dfl_assign assign;
    struct dfl_expr *value;
    struct dfl_loc loc;
    struct dfl_formula *next;
};

struct dfl_kernel {
    struct dfl_name name;
    struct dfl_sig *sig;
    unsigned traits;
    struct dfl_loc trait_loc[DFL_N_TRAITS]; /* of the word */
    struct dfl_expr *threads;          /* NULL unless DFL_THREADS */
    struct dfl_expr *uses;             /* DFL_EXPR_NAME each; NULL unless DFL_USES */
    struct dfl_expr *tolerance;        /* relative, then absolute if that was given; NULL unless DFL_TOLERANCE */
    bool has_formulas;                 /* "{" … "}" was written, if with nothing in it */
    struct dfl_formula *formulas;
    struct dfl_loc formulas_loc;       /* of "{" */
    struct dfl_variant *variants;
    struct dfl_price *prices;
    struct dfl_loc loc;
};

/* ---- graphs ---- */

struct dfl_target {                    /* left-hand side; name "_" discards */
    struct dfl_name name;
    struct dfl_expr *indices;          /* NULL: none */
    struct dfl_format *annotation;     /* NULL: none */
    struct dfl_loc loc;
    struct dfl_target *next;
};

struct dfl_actual {
    struct dfl_name keyword;           /* .text NULL: positional; else NAME "=" expr */
    struct dfl_expr *expr;
    struct dfl_actual *next;
};

struct dfl_hint {                      /* "@" (class | NAME "(" expr ")") */
    struct dfl_name name;
    struct dfl_expr *arg;              /* NULL: @class */
    struct dfl_loc loc;
    struct dfl_hint *next;
};

struct dfl_block {
    struct dfl_stmt *stmts;
    struct dfl_loc loc;                /* of "{" */
};

enum dfl_stmt_kind { DFL_STMT_CALL, DFL_STMT_FOR, DFL_STMT_IF };

struct dfl_stmt {
    enum dfl_stmt_kind kind;
    struct dfl_loc loc;
    struct dfl_stmt *next;
    /* CALL */
    struct dfl_target *targets;        /* NULL: none written */
    struct dfl_name callee;
    struct dfl_actual *actuals;
    struct dfl_hint *hints;
    struct dfl_loc call_loc;           /* NAME "(" … ")" */
    /* FOR */
    struct dfl_name var;
    struct dfl_expr *from, *to;
    /* IF; FOR: before each round, whether it takes place. NULL: it always does */
    struct dfl_expr *cond;
    struct dfl_block *otherwise;       /* NULL: no else; "else if" is a block of one IF */
    /* FOR, IF */
    struct dfl_block *body;
};

struct dfl_promise {                   /* WHAT [UNIT] (">=" | "<=") bound ";", or "confidence" bound ";" */
    struct dfl_name what;
    struct dfl_name unit;              /* .text NULL: none */
    enum dfl_op op;                    /* DFL_OP_NOT: none */
    struct dfl_expr *bound;
    struct dfl_loc loc;
    struct dfl_promise *next;
};

struct dfl_graph {
    struct dfl_name name;
    struct dfl_sig *sig;               /* NULL: none written */
    struct dfl_promise *promises;      /* of all its promise blocks */
    struct dfl_block *body;
    struct dfl_loc loc;
};

/* ---- platforms ---- */

struct dfl_property {
    struct dfl_name name;              /* of a device in a node: that device's */
    struct dfl_expr *values;           /* 6 GB/s is (6 GB) / s; NULL: it is a device */
    struct dfl_device *device;         /* in a node; NULL: it is a property */
    struct dfl_property *next;
};

struct dfl_device {                    /* class NAME "{" … "}" */
    struct dfl_name cls, name;
    struct dfl_property *properties;
    struct dfl_device *next;
};

struct dfl_platform {
    struct dfl_name name;
    struct dfl_device *devices;
    struct dfl_loc loc;
};

/* ---- declarations ---- */

enum dfl_decl_kind { DFL_PARAM, DFL_ARG, DFL_TYPE, DFL_IMPORT, DFL_LINK, DFL_KERNEL, DFL_GRAPH, DFL_PLATFORM,
                     DFL_TABLE, DFL_RESOURCE };

struct dfl_decl {
    enum dfl_decl_kind kind;
    struct dfl_loc loc;
    struct dfl_name name;              /* param, arg, type, kernel, graph, platform, table, resource; import and link: the string */
    bool dynamic;                      /* param */
    struct dfl_expr *value;            /* param: its value; arg: its default or NULL; table: the first of its numbers; resource: how many there are */
    struct dfl_expr *help;             /* arg, dynamic param: its description, a string; or NULL */
    enum dfl_scalar scalar;            /* arg */
    struct dfl_format *format;         /* type, table */
    struct dfl_kernel *kernel;
    struct dfl_graph *graph;
    struct dfl_platform *platform;
    struct dfl_decl *next;
};

/* One parsed file. */
struct dfl_file {
    uint32_t file;                     /* index in the sink */
    struct dfl_decl *decls;
    struct dfl_arena *arena;           /* owns everything above */
};

#endif
