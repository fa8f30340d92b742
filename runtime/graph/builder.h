/* builder.h - the parts of the graph builder that only the compiler uses, in addition to df.h: source positions, scopes, hints, costs and scalar
 * expressions. The result is the same kind of graph that a program can build by hand with df.h. */
#ifndef DF_BUILDER_H
#define DF_BUILDER_H

#include "runtime/graph/graph.h"

struct df_kernel_info {                 /* of a kernel that was added already */
    const char *file;
    uint32_t line;
    uint32_t code_classes, cost_classes; /* bit c */
    uint64_t code_hash[2];
    uint64_t uses;                      /* as df_kernel.uses */
    const uint8_t *split;               /* by port: df_kport.split; NULL: none is divided */
    const uint8_t *only;                /* by port: df_kport.only; NULL: all are of all jobs */
};
int df_builder_kernel_info(struct df_builder *b, uint32_t kernel, const struct df_kernel_info *info,
                           struct df_error *error);

struct df_extent_desc {                 /* an extent of a port, as in struct df_extent */
    const uint64_t *code;
    uint32_t n_code;
    bool own;                           /* a variable alone, which the kernel decides; of an out port */
};
/* Says how the extents of a kernel's ports follow from its dimension variables, DF_MAX_RANK for each port. If an extent of
 * some port of the graph is `own`, it is said of every kernel, before its nodes are added. */
int df_builder_extents(struct df_builder *b, uint32_t kernel, const struct df_extent_desc *extents,
                       struct df_error *error);

/* Returns the number of a class in *cls, a new one for a new name ("cpu" is 0, "gpu" is 1). Fails with DF_E_ARGUMENT past DF_MAX_CLASSES. */
int df_builder_class(struct df_builder *b, const char *name, uint32_t *cls, struct df_error *error);

/* Adds a resource that at most n jobs use at a time; they are numbered in this order. DF_E_ARGUMENT: there are DF_MAX_RESOURCES already, or n is out of range. */
int df_builder_resource(struct df_builder *b, const char *name, uint32_t n, struct df_error *error);

/* Adds a promise. unit: whose memory it is of; NULL for the other kinds. DF_E_ARGUMENT: a bound or confidence out of range. */
int df_builder_promise(struct df_builder *b, enum df_promise_kind kind, const char *unit, double bound, double confidence, struct df_error *error);

/* Adds args and dynamic params, in the order of their declaration. `help` is what --help says of it; NULL: nothing. */
int df_builder_arg(struct df_builder *b, const char *name, enum df_scalar_type type, bool has_default,
                   union df_scalar value, const char *help, struct df_error *error);
int df_builder_param(struct df_builder *b, const char *name, int64_t value, const char *help, struct df_error *error);

/* Adds a scope: one instance of a graph of the source. Scope 0 is the main graph, made by df_builder_new(). */
int df_builder_scope(struct df_builder *b, uint32_t parent, const char *graph, uint32_t ordinal,
                     const int32_t *indices, unsigned n_indices, uint32_t *scope, struct df_error *error);

/* Returns the id of a scalar in *id, the same for equal ones. df_node_desc.scalars holds such ids. */
int df_builder_constant(struct df_builder *b, enum df_scalar_type type, union df_scalar value, uint32_t *id,
                        struct df_error *error);
int df_builder_expression(struct df_builder *b, enum df_scalar_type type, const uint64_t *code, unsigned n_code,
                          uint32_t *id, struct df_error *error); /* code as in expr.h; string operands come from
                                                                  * df_builder_string() */
uint32_t df_builder_string(struct df_builder *b, const char *text); /* its offset; DF_NONE: no memory */

struct df_node_desc {
    uint32_t kernel;
    const uint64_t *dims;
    const uint64_t (*port_dims)[DF_MAX_RANK];
    const uint32_t *scalars;            /* ids, one for each scalar of the kernel */
    uint32_t threads;                   /* 0: 1 */
    const double *cost_s;               /* by class, n_cost of them; NaN: none for this class; NULL: none at all */
    uint32_t n_cost;
    uint32_t scope, ordinal;
    const int32_t *indices;
    unsigned n_indices;
    int hint_class;                     /* -1: none */
    uint32_t depth;
    double rate;                        /* 0: none given, it follows from the inputs (rates.c) */
    bool worker;                        /* @worker */
    uint32_t stage;                     /* as df_node.stage */
    struct df_live live;                /* all 0: it is no live source */
    const char *file;
    uint32_t line, col;
    const char *const *value_names;     /* by out slot; an entry may be NULL; NULL: no names */
    const uint8_t *exact;               /* by out slot: as df_value.exact; NULL: none */
    const struct df_part_rows *part;    /* what the node makes of its kernel's rows; first_port is not read. NULL: the
                                         * kernel is not divided */
    const uint64_t *port_rows;          /* by port: the first row that is there; with `part` */
};
int df_builder_node_desc(struct df_builder *b, const struct df_node_desc *desc, uint32_t *node, struct df_error *error);

/* ---- builder_loop.c: loops ---- */

struct df_step_desc {
    uint32_t kernel;
    const uint64_t *dims;
    const uint64_t (*port_dims)[DF_MAX_RANK];
    const uint32_t *scalars;            /* ids */
    uint64_t rows;                      /* as df_step.rows */
    bool by_rows;                       /* as df_step.by_rows */
    const uint32_t *reads, *writes;     /* by port: tokens; DF_NONE. Not read for tmp ports */
    const bool *next;                   /* by port: it reads what this round has made of a carried token */
};

struct df_loop_port_desc {              /* a token inside the loop */
    const char *name;
    enum df_elem elem;
    unsigned rank;
    const uint64_t *dims;
    bool is_in, carried, is_out;        /* an in port has it; rounds change it (an in port has the first); its last token is read, too */
};

struct df_loop_desc {
    const char *name;
    uint64_t most;
    uint32_t n_steps, n_tokens, n_reads, n_scalars;
    const struct df_step_desc *steps;
    const struct df_loop_port_desc *tokens;
    const uint32_t *reads;              /* tokens of the condition, which follow its scalars in its code */
    const uint32_t *scalars;            /* ids: those of the condition */
    const enum df_scalar_type *scalar_types;
    const uint64_t *code;
    uint32_t n_code;
    bool keep_extents;                  /* other kernels have extents that they decide */
};
/* Adds the kernel of a loop and the node that calls it, which `node` describes: its place, hints and costs; kernel, dims, port_dims and
 * scalars are set here. In slots are the tokens with `is_in`, in order, and out slots those with `is_out`. */
int df_builder_loop(struct df_builder *b, const struct df_loop_desc *desc, const struct df_node_desc *at, uint32_t *node,
                    struct df_error *error);

/* ---- views_and_joins.c: views and joins ---- */

#define DF_MAX_PARTS 512u               /* of one node */

struct df_ranges {                      /* n ranges of rows of one array */
    const char *name;                   /* of the built-in kernel */
    enum df_elem elem;
    unsigned rank, n;
    const uint64_t *dims;               /* of the whole */
    const uint64_t *first, *rows;       /* by range */
    const struct df_node_desc *of;      /* the node whose part they are: its scope, ordinal, indices and place */
};
/* Adds a node that gives n ranges of a value; range i is its out slot i. Ranges may overlap. */
int df_builder_view(struct df_builder *b, const struct df_ranges *ranges, uint32_t from, unsigned from_slot,
                    uint32_t *node, struct df_error *error);
/* Adds a node that makes a value of n parts: slots[i] of node from[i] is range i. The ranges follow each other, from row 0
 * to the last one. value_name: what the outcome is called, or NULL. */
int df_builder_join(struct df_builder *b, const struct df_ranges *ranges, const uint32_t *from, unsigned from_slot,
                    const char *value_name, uint32_t *node, struct df_error *error);

/* Declares that the values of this out slot are also read outside the graph. Inout ports then never change them: a copy is inserted in front of such a port. */
int df_builder_keep(struct df_builder *b, uint32_t node, unsigned out_slot, struct df_error *error);

/* The name that df_node_name() will give this node. Gives the length of the whole name. */
size_t df_builder_node_name(const struct df_builder *b, uint32_t node, char *buffer, size_t size);
/* The name that a node of this description would have, if it is not divided. */
size_t df_builder_desc_name(const struct df_builder *b, const struct df_node_desc *desc, char *buffer, size_t size);

/* ---- shared by the builder and by whoever sorts before there is a graph ---- */

/* Topological order of n items. The successors of item v are targets[offsets[v] … offsets[v+1]). order[k] is the k-th
 * item. Of the items that are ready, the one with the smallest number comes first, so an order that is already right
 * stays. There is no recursion; the time is O((n + m) log n). Returns DF_OK, DF_E_MEMORY or DF_E_CYCLE. With
 * DF_E_CYCLE, cycle[0 … *n_cycle) has one cycle in order (it needs room for n items), as short as a breadth-first
 * search from its first item finds it. */
int df_topological_order(uint32_t n, const uint32_t *offsets, const uint32_t *targets, uint32_t *order,
                         uint32_t *cycle, uint32_t *n_cycle);

#endif
