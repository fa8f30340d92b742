/* known.c - facts that hold only where a value is printed, for rows.c and the files that print expressions: in an
 * unrolled loop an index is a constant; in code for one residue class of rows, the row's residue is.
 * `y % 2 == 0 ? a : b` then folds to a or b.
 */
#include "compiler/generate/gen.h"

#define MOST_RESIDUES 4                 /* texts of one row function */

/* ---- values ---- */

/* n modulo `modulus`, from 0 on; of a sum or product of indices and numbers that does not wrap. */
static bool residue_of(const struct dfg_gen *g, const struct dff_node *n, int64_t modulus, int64_t *residue)
{
    int64_t a, b = 0;
    if (n->kind == DFF_INDEX) {
        const struct dfg_block *block = dfg_block_of(g, 1u << n->number);
        *residue = (block->is_number ? block->number : block->residue) % modulus;
        *residue += *residue < 0 ? modulus : 0;
        return block->is_number || (block->modulus && block->modulus % modulus == 0);
    }
    if (n->kind == DFF_CONST) {
        *residue = (n->i % modulus + modulus) % modulus;
        return true;
    }
    const struct dfg_fact *f = &g->facts[n->id];
    if (n->kind != DFF_OP || (n->op != DFF_ADD && n->op != DFF_SUB && n->op != DFF_MUL) ||
        (f->low == INT32_MIN && f->high == INT32_MAX) || !residue_of(g, n->args[0], modulus, &a) ||
        !residue_of(g, n->args[1], modulus, &b))
        return false;
    *residue = (n->op == DFF_ADD ? a + b : n->op == DFF_SUB ? a - b + modulus : a * b) % modulus;
    return true;
}

static bool compare(enum dff_op op, int64_t a, int64_t b)
{
    switch (op) {
    case DFF_LT: return a < b;
    case DFF_LE: return a <= b;
    case DFF_GT: return a > b;
    case DFF_GE: return a >= b;
    case DFF_EQ: return a == b;
    default: return a != b;
    }
}

static bool is_remainder(const struct dfg_gen *g, const struct dff_node *n)
{
    return n->kind == DFF_OP && n->op == DFF_MOD && n->type == DFF_I32 && n->args[1]->kind == DFF_CONST && n->args[1]->i > 0 &&
           n->args[1]->i < 1 << 15 && g->facts[n->args[0]->id].low >= 0;
}

static bool known_both(const struct dfg_gen *g, const struct dff_node *n, int64_t *value)
{
    int64_t a, b;
    const bool first = dfg_known(g, n->args[0], &a), second = dfg_known(g, n->args[1], &b);
    if (n->op == DFF_AND || n->op == DFF_OR) {
        const bool ends = n->op == DFF_OR;      /* what one of the two decides alone */
        *value = (first && !!a == ends) || (second && !!b == ends) ? ends : !ends;
        return (first && second) || (*value == ends);
    }
    *value = first && second && compare(n->op, a, b);
    return first && second;
}

/* A sum or product that does not wrap. */
static bool known_sum(const struct dfg_gen *g, const struct dff_node *n, int64_t *value)
{
    int64_t a, b;
    if (n->type != DFF_I32 || (n->op != DFF_ADD && n->op != DFF_SUB && n->op != DFF_MUL) || !dfg_known(g, n->args[0], &a) ||
        !dfg_known(g, n->args[1], &b))
        return false;
    *value = n->op == DFF_ADD ? a + b : n->op == DFF_SUB ? a - b : a * b;
    return *value >= INT32_MIN && *value <= INT32_MAX;
}

bool dfg_known(const struct dfg_gen *g, const struct dff_node *n, int64_t *value)
{
    if (n->type != DFF_BOOL && n->type != DFF_I32)
        return false;
    if (n->kind == DFF_CONST) {
        *value = n->i;
        return true;
    }
    if (n->kind == DFF_INDEX) {
        const struct dfg_block *block = dfg_block_of(g, 1u << n->number);
        *value = block->number;
        return block->is_number;
    }
    if (is_remainder(g, n))
        return residue_of(g, n->args[0], n->args[1]->i, value);
    if (n->kind != DFF_OP)
        return false;
    if (n->op == DFF_NOT && dfg_known(g, n->args[0], value)) {
        *value = !*value;
        return true;
    }
    if (known_sum(g, n, value))
        return true;
    return ((n->op >= DFF_LT && n->op <= DFF_NE) || n->op == DFF_AND || n->op == DFF_OR) && known_both(g, n, value);
}

/* ---- rows ---- */

/* The row slot of which alone n is made by + - *; -1: there is none. */
static int row_slot(const struct dfg_gen *g, const struct dff_node *n)
{
    const uint32_t rows = (1u << (unsigned)g->column) - 1;
    if (!n->slots || n->slots & (n->slots - 1) || n->slots & ~rows)
        return -1;
    return __builtin_ctz(n->slots);
}

/* Does something depend on the value that is worth another text? */
static bool decides(const struct dfg_gen *g, const struct dff_node *remainder)
{
    for (unsigned i = 0; i < g->kernel->n_nodes; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        const bool is_test = n->kind == DFF_TABLE || (n->kind == DFF_OP && n->op >= DFF_LT && n->op <= DFF_NE);
        for (uint32_t k = 0; is_test && g->facts[i].uses && k < n->n_args; k++)
            if (n->args[k] == remainder)
                return true;
    }
    return false;
}

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t m = a;
    while (m % b)
        m += a;
    return m;
}

int dfg_residues(const struct dfg_gen *g, int64_t *modulus)
{
    int slot = -1;
    *modulus = 1;
    for (unsigned i = 0; i < g->kernel->n_nodes && g->column > 0; i++) {
        const struct dff_node *n = g->kernel->nodes[i];
        if (!g->facts[i].uses || !is_remainder(g, n) || n->args[1]->i > MOST_RESIDUES || !decides(g, n))
            continue;
        const int own = row_slot(g, n->args[0]);
        const int64_t both = common_multiple(*modulus, n->args[1]->i);
        if (own < 0 || (slot >= 0 && own != slot) || both > MOST_RESIDUES)
            continue;
        slot = own;
        *modulus = both;
    }
    return *modulus > 1 ? slot : -1;
}

/* ---- columns ---- */

/* Makes *all a multiple of what the column is divided by in an index. */
static void add_divisors(const struct dfg_gen *g, const struct dff_node *index, int64_t *all)
{
    if (index->kind != DFF_OP || !(index->slots >> (unsigned)g->column & 1))
        return;
    const struct dff_node *by = index->op == DFF_DIV ? index->args[1] : NULL;
    if (by && by->kind == DFF_CONST && by->i > 1 && by->i <= MOST_RESIDUES && g->facts[index->args[0]->id].low >= 0)
        *all = common_multiple(*all, by->i);
    for (uint32_t k = 0; k < index->n_args; k++)
        add_divisors(g, index->args[k], all);
}

int64_t dfg_phases(const struct dfg_gen *g)
{
    int64_t all = 1;
    for (unsigned i = 0; i < g->kernel->n_nodes && g->column > 0 && dfg_has_many_columns(g); i++)
        if (g->kernel->nodes[i]->kind == DFF_READ && g->facts[i].uses)
            for (uint32_t d = 0; d < g->kernel->nodes[i]->n_args; d++)
                add_divisors(g, g->kernel->nodes[i]->args[d], &all);
    return all > 1 && all <= MOST_RESIDUES ? all : 0;
}
