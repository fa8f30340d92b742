/* conditions.c - translates conditions of formulas into facts for the solver, for scope.c and lower.c (prover.h). A
 * condition that does not compare integers becomes a truth value about which nothing is known.
 */
#include "compiler/proof/prover.h"

#define MOST_MADE 4000u                 /* facts of one scope; further conditions are not used */

static const struct dff_fact *compared(struct dff_prover *p, const struct dff_node *node, enum dff_op op)
{
    const struct dff_form a = dff_lower_exact(p, node->args[0]), b = dff_lower_exact(p, node->args[1]);
    switch (op) {
    case DFF_LT: return dff_at_least(p, &b, &a, 1);
    case DFF_LE: return dff_at_least(p, &b, &a, 0);
    case DFF_GT: return dff_at_least(p, &a, &b, 1);
    case DFF_GE: return dff_at_least(p, &a, &b, 0);
    case DFF_EQ: return dff_equal(p, &a, &b);
    default: return dff_either(p, dff_at_least(p, &a, &b, 1), dff_at_least(p, &b, &a, 1));
    }
}

static enum dff_op opposite(enum dff_op op)
{
    switch (op) {
    case DFF_LT: return DFF_GE;
    case DFF_LE: return DFF_GT;
    case DFF_GT: return DFF_LE;
    case DFF_GE: return DFF_LT;
    case DFF_EQ: return DFF_NE;
    default: return DFF_EQ;
    }
}

/* A truth value of which nothing is known, but that it is the same wherever it stands. */
static const struct dff_fact *truth(struct dff_prover *p, const struct dff_node *node, bool wanted)
{
    const struct dff_form v = dff_var_form(p, DFF_VAR_NODE, 0, node, (struct dff_span){ 0, 1 }, NULL);
    const struct dff_form value = dff_number(wanted);
    return dff_equal(p, &v, &value);
}

static const struct dff_fact *choice(struct dff_prover *p, const struct dff_node *node, bool wanted)
{
    return dff_either(p,
                      dff_both(p, dff_lower_condition(p, node->args[0], true),
                               dff_lower_condition(p, node->args[1], wanted)),
                      dff_both(p, dff_lower_condition(p, node->args[0], false),
                               dff_lower_condition(p, node->args[2], wanted)));
}

static const struct dff_fact *condition(struct dff_prover *p, const struct dff_node *node, bool wanted)
{
    if (node->kind == DFF_CONST)
        return (node->i != 0) == wanted ? NULL : dff_at_least(p, &(struct dff_form){ 0 }, &(struct dff_form){ 0 }, 1);
    if (node->kind != DFF_OP)
        return truth(p, node, wanted);
    switch (node->op) {
    case DFF_LT: case DFF_LE: case DFF_GT: case DFF_GE: case DFF_EQ: case DFF_NE:
        return dff_is_integer(node->args[0]) ? compared(p, node, wanted ? node->op : opposite(node->op))
                                         : truth(p, node, wanted);
    case DFF_NOT: return dff_lower_condition(p, node->args[0], !wanted);
    case DFF_AND: case DFF_OR: {
        const struct dff_fact *a = dff_lower_condition(p, node->args[0], wanted);
        const struct dff_fact *b = dff_lower_condition(p, node->args[1], wanted);
        return (node->op == DFF_AND) == wanted ? dff_both(p, a, b) : dff_either(p, a, b);
    }
    case DFF_CHOOSE: return choice(p, node, wanted);
    default: return truth(p, node, wanted);
    }
}

const struct dff_fact *dff_lower_condition(struct dff_prover *p, const struct dff_node *node, bool wanted)
{
    if (p->depth == DFF_MOST_LOWERED || p->n_made > MOST_MADE) {
        p->exact = false;
        return NULL;
    }
    p->depth++;
    const struct dff_fact *fact = condition(p, node, wanted);
    p->depth--;
    return fact;
}
