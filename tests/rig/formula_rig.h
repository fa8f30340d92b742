/* formula_rig.h - kernels of formulas, built node by node, for tests of the rooms above compiler/formula/. */
#ifndef FORMULA_RIG_H
#define FORMULA_RIG_H

#include "compiler/proof/proof.h"

#define FORMULA_MOST 4000u

struct formula_rig {
    struct dfc_unit unit;
    FILE *out;                          /* of messages */
    char *messages;
    size_t n_messages;
    struct dfc_callee callee;
    struct dff_kernel kernel;
    struct dff_port ports[4];           /* the last is the output */
    struct dfl_port port_asts[4];
    struct dff_formula formula;
    const struct dff_node *nodes[FORMULA_MOST];
    const struct dff_table *tables[2];
    unsigned n_ports, n_dims, n_tables, n_nodes;
};

/* One kernel after another: formula_begin() forgets the one before. */
void formula_open(struct formula_rig *rig);
void formula_close(struct formula_rig *rig);
/* dims: "hw", one letter for each dimension variable. */
void formula_begin(struct formula_rig *rig, const char *dims);

const struct dff_node *node_number(struct formula_rig *rig, int64_t value);
const struct dff_node *node_index(struct formula_rig *rig, uint32_t slot);
const struct dff_node *node_dim(struct formula_rig *rig, uint32_t dim);
/* A dynamic param, whose value is now as given. One a kernel. */
const struct dff_node *node_param(struct formula_rig *rig, const char *name, int64_t value);
const struct dff_node *node_op(struct formula_rig *rig, enum dff_op op, const struct dff_node *a,
                               const struct dff_node *b, const struct dff_node *c);
const struct dff_node *node_wrap(struct formula_rig *rig, enum df_elem elem, const struct dff_node *a);
/* rank 1 or 2: b NULL or not. */
const struct dff_node *node_read(struct formula_rig *rig, uint32_t port, const struct dff_node *a,
                                 const struct dff_node *b);
const struct dff_node *node_table(struct formula_rig *rig, uint32_t table, const struct dff_node *a);
/* sum(NAME in from..to if condition: body), with one range. */
const struct dff_node *node_sum(struct formula_rig *rig, uint32_t slot, const char *name, const struct dff_node *from,
                                const struct dff_node *to, const struct dff_node *condition,
                                const struct dff_node *body);

/* Port NAME: ELEM[a, b]; b NULL: rank 1. Gives its number. */
uint32_t formula_port(struct formula_rig *rig, const char *name, enum df_elem elem, const struct dff_node *a,
                      const struct dff_node *b, enum dff_border border);
uint32_t formula_table(struct formula_rig *rig, const char *name, const int64_t *values, uint64_t n);
/* out[indices] = value, where `names` has a letter for each index; the last port is `out`. */
void formula_set(struct formula_rig *rig, const char *names, const struct dff_node *value);

/* Proves. Messages since formula_begin() are in rig->messages. */
const struct dff_proof *formula_prove(struct formula_rig *rig);

#endif
