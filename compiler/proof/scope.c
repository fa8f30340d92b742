/* scope.c - collects for prove.c what is known at one site: extents, ranges and conditions, as facts about the solver's
 * variables. It also builds facts and asks the solver, for the files that lower nodes and conditions, too.
 */
#include <string.h>

#include "compiler/proof/prover.h"

/* ---- facts ---- */

struct dff_form dff_number(int64_t k)
{
    return (struct dff_form){ .k = k };
}

static struct dff_fact *new_fact(struct dff_prover *p, enum dff_join join)
{
    struct dff_fact *fact = dfl_arena_alloc(p->arena, sizeof *fact);
    fact->join = join;
    p->n_made++;
    return fact;
}

const struct dff_fact *dff_at_least(struct dff_prover *p, const struct dff_form *a, const struct dff_form *b,
                                    int64_t more)
{
    struct dff_fact *fact = new_fact(p, DFF_ROW);
    const struct dff_form shift = dff_number(-more);
    fact->form = *a;
    if (dff_form_add(&fact->form, b, -1) && dff_form_add(&fact->form, &shift, 1))
        return fact;
    p->exact = false;                   /* too large a number: not known is always right */
    return NULL;
}

const struct dff_fact *dff_both(struct dff_prover *p, const struct dff_fact *a, const struct dff_fact *b)
{
    if (!a || !b)
        return a ? a : b;
    struct dff_fact *fact = new_fact(p, DFF_BOTH);
    fact->a = a;
    fact->b = b;
    return fact;
}

const struct dff_fact *dff_either(struct dff_prover *p, const struct dff_fact *a, const struct dff_fact *b)
{
    if (!a || !b)
        return NULL;
    struct dff_fact *fact = new_fact(p, DFF_EITHER);
    fact->a = a;
    fact->b = b;
    return fact;
}

const struct dff_fact *dff_equal(struct dff_prover *p, const struct dff_form *a, const struct dff_form *b)
{
    return dff_both(p, dff_at_least(p, a, b, 0), dff_at_least(p, b, a, 0));
}

void dff_learn(struct dff_prover *p, const struct dff_fact *fact)
{
    if (!fact)
        return;
    if (p->n_facts == DFF_MAX_FACTS - 1)
        p->failed = true;
    else
        p->facts[p->n_facts++] = fact;
}

enum dff_verdict dff_can(struct dff_prover *p, const struct dff_fact *fact)
{
    p->failed |= dfl_arena_failed(p->arena);
    if (p->failed || !fact)
        return DFF_UNDECIDED;
    p->facts[p->n_facts] = fact;
    return dff_decide(&p->linear, p->facts, p->n_facts + 1, p->n_vars);
}

bool dff_shown(struct dff_prover *p, const struct dff_form *a, const struct dff_form *b, int64_t more)
{
    return dff_can(p, dff_at_least(p, b, a, 1 - more)) == DFF_NEVER;
}

/* ---- a site ---- */

struct dff_form dff_extent(struct dff_prover *p, const struct dff_node *node)
{
    p->wide = true;
    p->epoch++;
    const struct dff_form form = dff_lower(p, node);
    p->epoch++;
    p->wide = false;
    return form;
}

static void learn_extents(struct dff_prover *p)
{
    const struct dff_form one = dff_number(1), most = dff_number(p->max_extent);
    for (unsigned i = 0; i < p->kernel->n_ports; i++)
        for (unsigned d = 0; d < p->kernel->ports[i].rank; d++) {
            if (p->n_vars > DFF_MAX_VARS / 2 || p->n_facts > DFF_MAX_FACTS / 2)
                break;
            const struct dff_form extent = dff_extent(p, p->kernel->ports[i].extents[d]);
            dff_learn(p, dff_at_least(p, &extent, &one, 0));
            dff_learn(p, dff_at_least(p, &most, &extent, 0));
        }
}

/* from <= slot < to */
static void learn_slot(struct dff_prover *p, uint32_t slot, const struct dff_form *from, const struct dff_form *to)
{
    const struct dff_span low = dff_form_span(p, from), high = dff_form_span(p, to);
    const struct dff_span i32 = dff_elem_span(DF_I32);
    const struct dff_span span = { dff_clamped(low.low, i32), dff_clamped((__int128)high.high - 1, i32) };
    const struct dff_form form = dff_var_form(p, DFF_VAR_SLOT, slot, NULL, span, NULL);
    dff_learn(p, dff_at_least(p, &form, from, 0));
    dff_learn(p, dff_at_least(p, to, &form, 1));
}

static void learn_indices(struct dff_prover *p, const struct dff_formula *formula)
{
    const struct dff_form zero = dff_number(0);
    for (unsigned d = 0; d < formula->rank; d++)
        if (formula->is_index[d]) {
            const struct dff_form extent = dff_extent(p, p->kernel->ports[formula->port].extents[d]);
            learn_slot(p, d, &zero, &extent);
        }
}

/* A condition that is too much for one scope is left out. */
static void learn_condition(struct dff_prover *p, const struct dff_site *site, uint32_t n_conditions)
{
    const unsigned n_vars = p->n_vars, n_facts = p->n_facts;
    const uint64_t last = p->linear.last;
    if (site->n_conditions + DFF_MAX_CONDITIONS > n_conditions)
        dff_learn(p, dff_lower_condition(p, site->condition, site->wanted));
    else
        p->exact = false;
    if (!p->failed && p->n_vars <= DFF_MAX_VARS - DFF_MAX_VARS / 4)
        return;
    p->n_vars = n_vars;
    p->n_facts = n_facts;
    p->linear.last = last;
    p->epoch++;
    p->failed = p->exact = false;
}

static void learn_site(struct dff_prover *p, const struct dff_site *site, uint32_t n_conditions)
{
    if (site->outer)
        learn_site(p, site->outer, n_conditions);
    else
        learn_indices(p, site->formula);
    if (site->range) {
        const struct dff_form from = dff_lower_exact(p, site->range->from);
        const struct dff_form to = dff_lower_exact(p, site->range->to);
        learn_slot(p, site->range->slot, &from, &to);
    }
    if (site->condition && !p->failed)
        learn_condition(p, site, n_conditions);
}

bool dff_scope_begin(struct dff_prover *p, const struct dff_site *site)
{
    p->arena = dfl_arena_new();
    if (!p->arena)
        return dfc_no_memory(p->u);
    p->site = site;
    p->n_vars = p->n_facts = p->n_made = 0;
    p->linear.last = 0;
    p->exact = !p->dropped;
    p->failed = false;
    p->epoch++;
    learn_extents(p);
    learn_site(p, site, site->n_conditions);
    return true;
}

void dff_scope_end(struct dff_prover *p)
{
    dfl_arena_free(p->arena);
    p->arena = NULL;
}
