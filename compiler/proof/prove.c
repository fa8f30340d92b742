/* prove.c - visits every read of a kernel's formulas with the conditions under which it is evaluated (its site), and
 * proves that its indices are in bounds, for declare/check_kernel.c (proof.h).
 *
 * A read without a border is proved for the present values of dynamic params; the program proves it again at start.
 * Results about reads with a border hold for any values, because code is generated from them.
 *
 * A node may occur in many sites, because equal expressions are one node. Nodes are visited once per site, with an
 * explicit work list in place of recursion. If there are too many sites, further conditions are ignored, which only
 * loses proofs; if there are still too many, the kernel is rejected.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/proof/prover.h"

#define MOST_NARROWED 2000u             /* sites that a condition makes */
#define MOST_DEPTH 200u                 /* conditions of one site */
#define MOST_MET 500000u                /* nodes in sites */
#define BUDGET ((int64_t)20000000)      /* rows of a kernel: a few seconds */
#define BOUND_TRIES 6u

struct met {                            /* a node in a site */
    const struct dff_node *node;
    const struct dff_site *site;
};

struct walk {
    struct dff_prover *p;
    bool *reads;                        /* by node id: reads something, or an argument does */
    bool *narrows;                      /* by node id: a condition that compares integers */
    struct dfr_array sites;            /* const struct dff_site *, by id */
    struct dfr_table site_table;
    struct dfr_array met;
    struct dfr_table met_table;
    struct dfr_array failures;
    struct dff_access **access;
    uint32_t n_narrowed;
    bool has_params;                    /* dynamic ones */
    bool ok;
};

static bool no_memory(struct walk *w)
{
    return w->ok = dfc_no_memory(w->p->u);
}

/* ---- sites ---- */

static bool same_site(const void *context, uint32_t id, const void *key)
{
    const struct dff_site *a = ((const struct dff_site *const *)((const struct walk *)context)->sites.items)[id];
    const struct dff_site *b = key;
    return a->outer == b->outer && a->formula == b->formula && a->range == b->range && a->condition == b->condition &&
           a->wanted == b->wanted;
}

static uint32_t hash_site(const struct dff_site *site)
{
    const void *parts[] = { site->outer, site->formula, site->range, site->condition };
    return dfr_hash_fold(dfr_hash(site->wanted, parts, sizeof parts));
}

static const struct dff_site *intern_site(struct walk *w, const struct dff_site *key)
{
    const uint32_t hash = hash_site(key);
    uint32_t id;
    if (dfr_table_find(&w->site_table, hash, same_site, w, key, &id))
        return ((const struct dff_site **)w->sites.items)[id];
    struct dff_site *site = dfc_alloc(w->p->u, sizeof *site);
    const struct dff_site **item = NULL;
    if (site && dfr_table_reserve(&w->site_table))
        item = dfr_array_add(&w->sites, sizeof *item, 1);
    if (!item) {
        no_memory(w);
        return key->outer;
    }
    *site = *key;
    site->id = w->sites.n - 1;
    *item = site;
    dfr_table_put(&w->site_table, hash, site->id);
    return site;
}

static const struct dff_site *inside_range(struct walk *w, const struct dff_site *outer, const struct dff_range *range)
{
    const struct dff_site key = { .outer = outer, .formula = outer->formula, .range = range,
                                   .n_conditions = outer->n_conditions };
    return intern_site(w, &key);
}

/* The site in which a condition is as wanted. */
static const struct dff_site *given(struct walk *w, const struct dff_site *outer, const struct dff_node *condition,
                                     bool wanted)
{
    if (!condition || !w->narrows[condition->id])
        return outer;
    if (outer->n_conditions == MOST_DEPTH || w->n_narrowed == MOST_NARROWED) {
        w->p->dropped = true;
        return outer;
    }
    for (const struct dff_site *site = outer; site; site = site->outer)
        if (site->condition == condition && site->wanted == wanted)
            return outer;
    const uint32_t before = w->sites.n;
    const struct dff_site key = { .outer = outer, .formula = outer->formula, .condition = condition, .wanted = wanted,
                                   .n_conditions = outer->n_conditions + 1 };
    const struct dff_site *site = intern_site(w, &key);
    w->n_narrowed += w->sites.n - before;
    return site;
}

/* ---- nodes in sites ---- */

static bool same_met(const void *context, uint32_t id, const void *key)
{
    const struct met *a = &((const struct met *)((const struct walk *)context)->met.items)[id], *b = key;
    return a->node == b->node && a->site == b->site;
}

static void too_entangled(struct walk *w)
{
    const struct dfc_callee *callee = w->p->kernel->callee;
    dfl_error(w->p->u->sink, callee->loc, "the formulas of '%s' are too entangled to prove their reads", callee->name);
    dfl_hint(w->p->u->sink, "a 'let' that is used under many conditions counts once for each: make it a kernel");
    w->ok = false;
}

static void meet(struct walk *w, const struct dff_node *node, const struct dff_site *site)
{
    if (!node || !w->reads[node->id] || !w->ok)
        return;
    const struct met key = { node, site };
    const uint32_t hash = dfr_hash_fold(dfr_hash(dfr_hash(0, &node, sizeof node), &site, sizeof site));
    uint32_t id;
    if (dfr_table_find(&w->met_table, hash, same_met, w, &key, &id))
        return;
    if (w->met.n == MOST_MET) {
        too_entangled(w);
        return;
    }
    struct met *item = dfr_table_reserve(&w->met_table) ? dfr_array_add(&w->met, sizeof *item, 1) : NULL;
    if (!item) {
        no_memory(w);
        return;
    }
    *item = key;
    dfr_table_put(&w->met_table, hash, w->met.n - 1);
}

static void meet_reduction(struct walk *w, const struct dff_node *node, const struct dff_site *site)
{
    for (unsigned i = 0; i < node->n_ranges && w->ok; i++) {
        meet(w, node->ranges[i].from, site);
        meet(w, node->ranges[i].to, site);
        site = inside_range(w, site, &node->ranges[i]);
    }
    meet(w, node->args[1], site);
    meet(w, node->args[0], given(w, site, node->args[1], true));
}

static void meet_args(struct walk *w, const struct dff_node *node, const struct dff_site *site)
{
    if (node->kind == DFF_REDUCE) {
        meet_reduction(w, node, site);
        return;
    }
    const bool op = node->kind == DFF_OP, choose = op && node->op == DFF_CHOOSE;
    const bool lazy = op && (node->op == DFF_AND || node->op == DFF_OR);
    for (unsigned i = 0; i < node->n_args; i++)
        if (i > 0 && (choose || lazy))
            meet(w, node->args[i], given(w, site, node->args[0], choose ? i == 1 : node->op == DFF_AND));
        else
            meet(w, node->args[i], site);
}

/* ---- one index ---- */

/* Are its variables indices, dimensions, or what is read? */
static bool is_of_elements(const struct dff_prover *p, const struct dff_form *form)
{
    for (unsigned v = 0; v < p->n_vars; v++)
        if (form->c[v] && (p->vars[v].kind > DFF_VAR_NODE ||
                           (p->vars[v].kind == DFF_VAR_NODE && p->vars[v].node->kind != DFF_READ &&
                            p->vars[v].node->kind != DFF_TABLE)))
            return false;
    return true;
}

static bool has_slots_and_dims_only(const struct dff_prover *p, const struct dff_form *form)
{
    for (unsigned v = 0; v < p->n_vars; v++)
        if (form->c[v] && p->vars[v].kind != DFF_VAR_DIM && p->vars[v].kind != DFF_VAR_SLOT)
            return false;
    return true;
}

static void note_affine(const struct dff_prover *p, const struct dff_form *form, struct dff_access *access)
{
    int64_t *dim = (int64_t *)access->dim;
    access->affine &= has_slots_and_dims_only(p, form); /* wrap_u8(j), say, is j only where j is known to fit */
    if (!access->affine)
        return;
    access->constant = form->k;
    for (unsigned v = 0; v < p->n_vars; v++) {
        if (p->vars[v].kind == DFF_VAR_DIM)
            dim[p->vars[v].number] = form->c[v];
        else if (form->c[v])
            access->slot[p->vars[v].number] = form->c[v];
    }
}

/* The bound, in dimensions, of a form of which dff_can() has just found a point. Each bound is that of one case: it is
 * shown for all, or the next case is taken. */
static bool find_reach(struct dff_prover *p, const struct dff_form *form, bool upper, struct dff_form *reach)
{
    for (unsigned i = 0; i < BOUND_TRIES; i++) {
        if (!dff_bound(&p->linear, form, upper, reach))
            return false;
        const struct dff_fact *further = upper ? dff_at_least(p, form, reach, 1) : dff_at_least(p, reach, form, 1);
        const enum dff_verdict verdict = dff_can(p, further);
        if (verdict != DFF_HOLDS)
            return verdict == DFF_NEVER;
    }
    return false;
}

/* Is the reach what the index comes to, and not only a bound? An affine index does, for all sizes. Of others a number that
 * it has for some sizes is said. */
static bool is_reached(struct dff_prover *p, const struct dff_form *index, const struct dff_form *reach, bool upper)
{
    const struct dff_form number = dff_number(reach->k);
    if (reach->k > DFF_MOST_REACH || reach->k < -DFF_MOST_REACH)
        return false;
    if (is_of_elements(p, index))
        return true;
    return dff_form_is(reach, &number) &&
           dff_can(p, upper ? dff_at_least(p, index, reach, 0) : dff_at_least(p, reach, index, 0)) == DFF_HOLDS;
}

/* The least number that `form` is at most, always; DFF_FAR if none is found. */
static int64_t most_of(struct dff_prover *p, const struct dff_form *form)
{
    const uint64_t last = p->linear.last;
    const struct dff_form none = dff_number(0);
    struct dff_form most;
    int64_t result = DFF_FAR;
    p->linear.last = 0;
    if (dff_can(p, dff_at_least(p, form, &none, 1)) == DFF_HOLDS && find_reach(p, form, true, &most) &&
        most.k <= DFF_MOST_REACH)
        result = most.k;
    p->linear.last = last;
    return result;
}

static bool note_failure(struct walk *w, const struct dff_failure *failure)
{
    struct dff_failure *item = dfr_array_add(&w->failures, sizeof *item, 1);
    if (!item)
        return no_memory(w);
    *item = *failure;
    dff_failure_words(w->p, item);
    return true;
}

/* One side: is high >= low, always? If not, by how much low is more. border: that is no error. */
static int64_t check_side(struct walk *w, const struct met *met, unsigned d, bool upper, const struct dff_form *index,
                          const struct dff_form *end, bool border)
{
    struct dff_prover *p = w->p;
    const struct dff_form *low = upper ? index : end, *high = upper ? end : index;
    const enum dff_verdict verdict = dff_can(p, dff_at_least(p, low, high, 1));
    if (verdict == DFF_NEVER)
        return 0;
    struct dff_failure failure = { .site = met->site, .node = met->node, .dim = d, .upper = upper, .end = *end,
                                   .real = verdict == DFF_HOLDS && p->exact };
    if (failure.real)
        failure.at = dff_form_at(index, p->linear.point);
    struct dff_form beyond = *low;
    int64_t point[DFF_MAX_VARS];
    memcpy(point, p->linear.point, sizeof point);
    if (!border && verdict == DFF_HOLDS)
        failure.bounded = find_reach(p, index, upper, &failure.reach) && is_reached(p, index, &failure.reach, upper);
    failure.real &= failure.bounded || (failure.at < DFF_MOST_REACH && failure.at > -DFF_MOST_REACH);
    failure.beyond = dff_form_add(&beyond, high, -1) ? most_of(p, &beyond) : DFF_FAR;
    memcpy(p->linear.point, point, sizeof point);
    if (!border)
        note_failure(w, &failure);
    return failure.beyond;
}

static void check_dim(struct walk *w, const struct met *met, unsigned d, struct dff_access *access)
{
    struct dff_prover *p = w->p;
    const struct dff_node *node = met->node;
    const bool read = node->kind == DFF_READ;
    const struct dff_port *port = read ? &p->kernel->ports[node->number] : NULL;
    const struct dff_form zero = dff_number(0), one = dff_number(1);
    const bool border = read && port->border[d] != DFF_NONE;
    struct dff_form end = read ? dff_extent(p, port->extents[d])
                               : dff_number((int64_t)p->kernel->tables[node->number]->extents[d]);
    const struct dff_form index = dff_lower(p, node->args[d]);
    p->failed |= !dff_form_add(&end, &one, -1);
    if (!p->values)
        note_affine(p, &index, access);
    if (p->values == (border || !w->has_params))
        return;
    const int64_t below = check_side(w, met, d, false, &index, &zero, border);
    const int64_t above = check_side(w, met, d, true, &index, &end, border);
    access->below = below > access->below ? below : access->below;
    access->above = above > access->above ? above : access->above;
    access->inside &= below == 0 && above == 0;
}

/* ---- the reads of all sites ---- */

static struct dff_access *access_of(struct walk *w, const struct dff_node *node)
{
    struct dff_access **access = &w->access[node->id];
    const unsigned n_dims = w->p->kernel->callee->sig.n_variables;
    if (*access)
        return *access;
    *access = dfc_alloc(w->p->u, node->n_args * sizeof **access);
    for (unsigned d = 0; *access && d < node->n_args; d++) {
        (*access)[d].inside = (*access)[d].affine = true;
        (*access)[d].dim = dfc_alloc(w->p->u, (n_dims + 1) * sizeof(int64_t));
        if (!(*access)[d].dim)
            return NULL;
    }
    return *access;
}

static void check_read(struct walk *w, const struct met *met)
{
    struct dff_prover *p = w->p;
    struct dff_access *access = access_of(w, met->node);
    if (!access) {
        no_memory(w);
        return;
    }
    const unsigned n_vars = p->n_vars, n_facts = p->n_facts, n_made = p->n_made;
    const uint64_t last = p->linear.last;
    const bool exact = p->exact, failed = p->failed;
    for (unsigned d = 0; d < met->node->n_args && w->ok; d++) {
        p->epoch++;
        check_dim(w, met, d, &access[d]);
        p->n_vars = n_vars;
        p->n_facts = n_facts;
        p->n_made = n_made;
        p->linear.last = last;
        p->exact = exact;
        p->failed = failed;
    }
    if (p->linear.no_memory)
        no_memory(w);
}

static int by_site(const void *a, const void *b)
{
    const struct met *x = a, *y = b;
    if (x->site->id != y->site->id)
        return x->site->id < y->site->id ? -1 : 1;
    return x->node->id < y->node->id ? -1 : x->node->id > y->node->id;
}

static void check_reads(struct walk *w)
{
    const struct met *all = w->met.items;
    const struct dff_site *site = NULL;
    for (uint32_t i = 0; i < w->met.n && w->ok; i++) {
        if (all[i].node->kind != DFF_READ && all[i].node->kind != DFF_TABLE)
            continue;
        if (site != all[i].site) {
            if (site)
                dff_scope_end(w->p);
            site = dff_scope_begin(w->p, all[i].site) ? all[i].site : NULL;
            w->ok &= site != NULL;
        }
        if (w->ok)
            check_read(w, &all[i]);
        if (w->ok && w->p->linear.budget <= 0)
            too_entangled(w);
    }
    if (site)
        dff_scope_end(w->p);
}

/* ---- a kernel ---- */

static bool compares_integers(const struct dff_node *node)
{
    return node->kind == DFF_OP && node->op >= DFF_LT && node->op <= DFF_NE &&
           (node->args[0]->type == DFF_I32 || node->args[0]->type == DFF_I64);
}

static bool is_logic(const struct dff_node *node)
{
    return node->kind == DFF_OP && node->type == DFF_BOOL &&
           (node->op == DFF_NOT || node->op == DFF_AND || node->op == DFF_OR || node->op == DFF_CHOOSE);
}

static void note_node(struct walk *w, const struct dff_node *node)
{
    bool reads = (node->kind == DFF_READ || node->kind == DFF_TABLE), narrows = compares_integers(node);
    for (unsigned i = 0; i < node->n_args; i++)
        if (node->args[i]) {
            reads |= w->reads[node->args[i]->id];
            narrows |= is_logic(node) && w->narrows[node->args[i]->id];
        }
    for (unsigned i = 0; i < node->n_ranges; i++)
        reads |= w->reads[node->ranges[i].from->id] || w->reads[node->ranges[i].to->id];
    w->reads[node->id] = reads;
    w->narrows[node->id] = narrows;
}

static bool begin_walk(struct walk *w)
{
    const struct dfc_sig *sig = &w->p->kernel->callee->sig;
    const uint32_t n = w->p->kernel->n_nodes;
    w->reads = dfc_alloc(w->p->u, n + 1);
    w->narrows = dfc_alloc(w->p->u, n + 1);
    w->access = dfc_alloc(w->p->u, (n + 1) * sizeof(void *));
    w->p->memo = dfc_alloc(w->p->u, (n + 1) * sizeof *w->p->memo);
    if (!w->reads || !w->narrows || !w->access || !w->p->memo || !dff_spans_find(w->p))
        return false;
    for (uint32_t i = 0; i < n; i++)
        note_node(w, w->p->kernel->nodes[i]);
    for (unsigned i = 0; i < sig->n_scalars - sig->n_given; i++)
        w->has_params |= !sig->hidden[i].is_arg;
    return true;
}

static void walk_formulas(struct walk *w)
{
    const struct dff_kernel *kernel = w->p->kernel;
    for (unsigned i = 0; i < kernel->n_formulas; i++) {
        const struct dff_site whole = { .formula = &kernel->formulas[i] };
        const struct dff_site *site = intern_site(w, &whole);
        if (w->ok)
            meet(w, kernel->formulas[i].value, site);
    }
    for (uint32_t i = 0; i < w->met.n && w->ok; i++) {
        const struct met met = ((const struct met *)w->met.items)[i];
        meet_args(w, met.node, met.site);
    }
}

static void end_walk(struct walk *w)
{
    dfr_array_free(&w->sites);
    dfr_table_free(&w->site_table);
    dfr_array_free(&w->met);
    dfr_table_free(&w->met_table);
    dfr_array_free(&w->failures);
    dff_linear_free(&w->p->linear);
}

/* Tries for extents up to p->max_extent. last: failures are reported. NULL, but p->u->no_memory: none were found. */
static struct dff_access **try(struct dff_prover *p, bool last, bool *ok)
{
    struct walk w = { .p = p, .ok = true };
    p->linear = (struct dff_linear){ .budget = BUDGET };
    w.ok = begin_walk(&w);
    if (w.ok)
        walk_formulas(&w);
    if (w.ok && w.met.n) {
        qsort(w.met.items, w.met.n, sizeof(struct met), by_site);
        check_reads(&w);
        p->values = w.has_params;
        if (w.has_params)
            check_reads(&w);
        p->values = false;
    }
    if (w.ok && w.failures.n && last)
        dff_failures_report(p, w.failures.items, w.failures.n);
    *ok = w.ok && w.failures.n == 0;
    end_walk(&w);
    return w.ok ? w.access : NULL;
}

const struct dff_proof *dff_prove(struct dfc_unit *u, const struct dff_kernel *kernel)
{
    struct dff_prover p = { .u = u, .kernel = kernel, .max_extent = DFF_MOST_EXTENT };
    bool ok;
    struct dff_access **access = try(&p, false, &ok);
    if (access && !ok) {
        p.max_extent = DFF_SMALL_EXTENT;
        access = try(&p, true, &ok);
    }
    struct dff_proof *proof = ok ? dfc_alloc(u, sizeof *proof) : NULL;
    if (!proof)
        return NULL;
    proof->access = (const struct dff_access *const *)access;
    proof->max_extent = p.max_extent;
    return proof;
}
