/* hash.c - hashes what a kernel computes, for caches and the profile database; declare/check_kernel.c calls it for kernels,
 * compiler/fusion for groups. Nodes are numbered by their operands (node.c), so two kernels with equal formulas have
 * equal hashes, whatever their comments, layout, and names of indices and lets.
 */
#include "compiler/formula/formula.h"

static uint64_t hash_ints(uint64_t hash, const int64_t *items, size_t n)
{
    return dfr_hash(hash, items, n * sizeof *items);
}

static int64_t id_of(const struct dff_node *node)
{
    return node ? (int64_t)node->id : -1;
}

static uint64_t hash_node(uint64_t hash, const struct dff_node *n)
{
    const int64_t head[] = { n->kind, n->type, n->op, n->elem, n->order, n->number, n->i, n->n_args, n->n_ranges };
    hash = hash_ints(hash, head, sizeof head / sizeof head[0]);
    hash = dfr_hash(hash, &n->f, sizeof n->f);
    for (uint32_t k = 0; k < n->n_args; k++)
        hash = hash_ints(hash, &(int64_t){ id_of(n->args[k]) }, 1);
    for (uint32_t k = 0; k < n->n_ranges; k++) {
        const int64_t range[] = { n->ranges[k].slot, id_of(n->ranges[k].from), id_of(n->ranges[k].to) };
        hash = hash_ints(hash, range, 3);
    }
    return hash;
}

static uint64_t hash_port(uint64_t hash, const struct dff_port *p)
{
    const int64_t head[] = { p->elem, p->mode, p->rank };
    hash = hash_ints(hash, head, 3);
    for (unsigned d = 0; d < p->rank; d++) {
        const int64_t dim[] = { id_of(p->extents[d]), p->border[d], id_of(p->outside[d]) };
        hash = hash_ints(hash, dim, 3);
    }
    return hash;
}

static uint64_t hash_table(uint64_t hash, const struct dff_table *t)
{
    uint64_t n = 1;
    const int64_t head[] = { t->elem, t->rank };
    hash = hash_ints(hash, head, 2);
    hash = dfr_hash(hash, t->extents, sizeof t->extents);
    for (unsigned d = 0; d < t->rank; d++)
        n *= t->extents[d];
    return t->i ? dfr_hash(hash, t->i, n * sizeof *t->i) : dfr_hash(hash, t->f, n * sizeof *t->f);
}

uint64_t dff_hash(const struct dff_kernel *kernel)
{
    const struct dfc_sig *sig = &kernel->callee->sig;
    uint64_t hash = 0;
    for (unsigned i = 0; i < kernel->n_nodes; i++)
        hash = hash_node(hash, kernel->nodes[i]);
    for (unsigned s = 0; s < sig->n_scalars; s++)
        hash = hash_ints(hash, &(int64_t){ sig->scalars[s]->type }, 1);
    for (unsigned p = 0; p < kernel->n_ports; p++)
        hash = hash_port(hash, &kernel->ports[p]);
    for (unsigned t = 0; t < kernel->n_tables; t++)
        hash = hash_table(hash, kernel->tables[t]);
    for (unsigned i = 0; i < kernel->n_formulas; i++) {
        const struct dff_formula *f = &kernel->formulas[i];
        const int64_t head[] = { f->port, f->rank, id_of(f->value) };
        hash = hash_ints(hash, head, 3);
        for (unsigned d = 0; d < f->rank; d++)
            hash = hash_ints(hash, &(int64_t){ f->is_index[d] ? -1 : f->at[d] }, 1);
    }
    return hash + !hash;
}
