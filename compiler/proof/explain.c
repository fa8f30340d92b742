/* explain.c - reports for prove.c a read that may be out of bounds: how far it reaches, where the dimension ends, and
 * how to fix it.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/proof/prover.h"

/* ---- in the scope ---- */

static const char *kept(struct dff_prover *p, const struct dff_text *text)
{
    return dfc_printf(p->u, "%s", text->text);
}

/* "h = 1, w = 1": the point's dimensions and scalars. */
static void print_sizes(const struct dff_prover *p, struct dff_text *to)
{
    const struct dfc_sig *sig = &p->kernel->callee->sig;
    for (unsigned v = 0; v < p->n_vars; v++) {
        const struct dff_var *var = &p->vars[v];
        const bool scalar = var->kind == DFF_VAR_NODE && var->node->kind == DFF_SCALAR;
        if (var->kind == DFF_VAR_DIM || scalar)
            dff_text_add(to, "%s%s = %lld", to->n ? ", " : "",
                         scalar ? sig->scalars[var->node->number]->name.text : sig->variables[var->number].name.text,
                         (long long)p->linear.point[v]);
    }
}

/* ---- where it is written ---- */

static bool same_range(const struct dff_range *a, const struct dff_range *b)
{
    return a == b || (a && b && a->slot == b->slot && a->from == b->from && a->to == b->to);
}

static bool holds(const struct dff_given *given, const struct dff_site *site)
{
    for (; given; given = given->outer)
        if (given->condition == site->condition && given->wanted == site->wanted)
            return true;
    return false;
}

/* How well the place agrees with the site: by its formula, then by its range, then by the conditions that hold there. A
 * place with further conditions is another one, whose site was proved. */
static int agreement(const struct dff_written *w, const struct dff_site *at)
{
    const struct dff_range *range = NULL;
    int conditions = 0, further = 0;
    bool all = true;
    for (const struct dff_site *s = at; s; s = s->outer) {
        range = range ? range : s->range;
        conditions += s->condition != NULL;
        all &= !s->condition || holds(w->given, s);
    }
    for (const struct dff_given *given = w->given; given; given = given->outer)
        further++;
    further -= conditions;
    further = further < 0 ? 0 : further > 1000 ? 1000 : further;
    return (w->formula == at->formula) * 16384 + same_range(w->range, range) * 8192 + all * 4096 - further;
}

static struct dfl_loc where(const struct dff_node *node, const struct dff_site *site)
{
    const struct dff_written *best = node->written;
    for (const struct dff_written *w = best; w; w = w->next)
        if (agreement(w, site) > agreement(best, site))
            best = w;
    return best ? best->loc : node->loc;
}

void dff_failure_words(struct dff_prover *p, struct dff_failure *f)
{
    struct dff_text reach = { .n = 0 }, end = { .n = 0 }, at_end = { .n = 0 }, sizes = { .n = 0 };
    if (f->bounded)
        dff_form_print(p, f->site, &f->reach, &reach);
    dff_form_print(p, f->site, &f->end, &end);
    if (f->real) {
        dff_text_add(&at_end, "%lld", (long long)dff_form_at(&f->end, p->linear.point));
        print_sizes(p, &sizes);
    }
    f->loc = where(f->node, f->site);
    f->reach_text = kept(p, &reach);
    f->end_text = kept(p, &end);
    f->at_end_text = kept(p, &at_end);
    f->sizes = kept(p, &sizes);
}

/* ---- the message ---- */

static const char *dimension(const struct dff_failure *f)
{
    static const char *const names[] = { "row", "column", "place", "place" };
    return f->node->n_args == 1 ? "place" : names[f->dim];
}

static const char *name_of_read(const struct dff_prover *p, const struct dff_node *node)
{
    return node->kind == DFF_READ ? p->kernel->ports[node->number].ast->name.text
                                  : p->kernel->tables[node->number]->decl->name.text;
}

/* "rows", or "places of dimension 3". */
static void print_places(const struct dff_failure *f, struct dff_text *to)
{
    dff_text_add(to, "%ss", dimension(f));
    if (f->node->n_args > 1 && f->dim > 1)
        dff_text_add(to, " of dimension %u", f->dim + 1);
}

/* ", with reach = 3": what dynamic params are now. */
static const char *with_params(struct dff_prover *p)
{
    const struct dfc_sig *sig = &p->kernel->callee->sig;
    struct dff_text text = { .n = 0 };
    uint32_t id;
    for (unsigned i = 0; i < sig->n_scalars - sig->n_given; i++)
        if (!sig->hidden[i].is_arg && dfc_index_find(&p->u->params, sig->hidden[i].value->s, &id) &&
            dfc_params(p->u)[id].value.n.kind == DF_KIND_I64)
            dff_text_add(&text, "%s%s = %lld", text.n ? ", " : ", with ", sig->hidden[i].value->s,
                         (long long)dfc_params(p->u)[id].value.n.i);
    return kept(p, &text);
}

/* Both sides of one dimension at once. */
static bool report_both(struct dff_prover *p, const struct dff_failure *low, const struct dff_failure *high)
{
    struct dff_text read = { .n = 0 }, places = { .n = 0 };
    if (!low->real || !low->bounded || !high->real || !high->bounded)
        return false;
    if (low->node != high->node || low->site != high->site)
        return false;
    dff_node_print(p, low->site, low->node, &read);
    print_places(low, &places);
    dfl_error(p->u->sink, low->loc, "%s reads from %s %s up to %s, but the %s of '%s' are 0 to %s%s", read.text,
              dimension(low), low->reach_text, high->reach_text, places.text, name_of_read(p, low->node), high->end_text,
              with_params(p));
    return true;
}

static void report(struct dff_prover *p, const struct dff_failure *f)
{
    struct dff_text read = { .n = 0 }, index = { .n = 0 }, places = { .n = 0 };
    struct dfl_sink *sink = p->u->sink;
    dff_node_print(p, f->site, f->node, &read);
    dff_node_print(p, f->site, f->node->args[f->dim], &index);
    print_places(f, &places);
    if (f->real && f->bounded)
        dfl_error(sink, f->loc, f->upper ? "%s reads up to %s %s, but the %s of '%s' end at %s%s"
                                               : "%s reads from %s %s on, but the %s of '%s' begin at %s%s",
                  read.text, dimension(f), f->reach_text, places.text, name_of_read(p, f->node), f->end_text,
                  with_params(p));
    else if (f->real)
        dfl_error(sink, f->loc, "%s reads %s %lld%s%s, but the %s of '%s' %s at %s%s", read.text, dimension(f),
                  (long long)f->at, *f->sizes ? " for " : "", f->sizes, places.text, name_of_read(p, f->node),
                  f->upper ? "end" : "begin", f->at_end_text, with_params(p));
    else
        dfl_error(sink, f->loc, f->upper ? "%s may read behind the %s of '%s': cannot show that %s <= %s%s"
                                               : "%s may read before the %s of '%s': cannot show that %s >= %s%s",
                  read.text, places.text, name_of_read(p, f->node), index.text, f->end_text, with_params(p));
}

/* ---- the hint ---- */

struct shrink {                         /* of the output's dimensions */
    int64_t before[DF_MAX_RANK], behind[DF_MAX_RANK];
    bool possible;
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The index of the left side that this index is, but for a constant and ranges. false: there is none. */
static bool follows(const struct dff_failure *f, unsigned *slot)
{
    const struct dff_node *index = f->node->args[f->dim];
    while (index->kind == DFF_OP && (index->op == DFF_ADD || index->op == DFF_SUB) && index->n_args == 2)
        index = index->args[index->op == DFF_ADD && !(index->args[0]->slots & ((1u << f->site->formula->rank) - 1))];
    *slot = index->number;
    return index->kind == DFF_INDEX && index->number < f->site->formula->rank;
}

static void shrink_for(const struct dff_failure *f, struct shrink *s)
{
    unsigned slot;
    if (!f->real || f->beyond == DFF_FAR || !follows(f, &slot)) {
        s->possible = false;
        return;
    }
    int64_t *by = f->upper ? &s->behind[slot] : &s->before[slot];
    *by = larger(*by, f->beyond);
}

/* extent - less */
static void print_less(const struct dff_prover *p, const struct dff_site *site, const struct dff_node *extent,
                       int64_t less, struct dff_text *to)
{
    const bool sum = extent->kind == DFF_OP && (extent->op == DFF_ADD || extent->op == DFF_SUB);
    if (sum && extent->args[1]->kind == DFF_CONST) {
        less -= extent->op == DFF_ADD ? extent->args[1]->i : -extent->args[1]->i;
        extent = extent->args[0];
    }
    dff_node_print(p, site, extent, to);
    if (less)
        dff_text_add(to, less > 0 ? " - %lld" : " + %lld", (long long)llabs(less));
}

/* "u8[h - 2, w - 2]" of the output, whose extents lose what is read too far. false: none is left of one. */
static bool print_smaller(const struct dff_prover *p, const struct dff_site *site, const struct shrink *s,
                          struct dff_text *to)
{
    const struct dff_port *port = &p->kernel->ports[site->formula->port];
    dff_text_add(to, "'%s: %s[", port->ast->name.text, df_elem_name(port->elem));
    for (unsigned d = 0; d < port->rank; d++) {
        const int64_t less = s->before[d] + s->behind[d];
        const struct dff_node *extent = port->extents[d];
        dff_text_add(to, d ? ", " : "");
        if (extent->kind == DFF_CONST) {
            if (extent->i <= less)
                return false;
            dff_text_add(to, "%lld", (long long)(extent->i - less));
            continue;
        }
        print_less(p, site, extent, less, to);
    }
    dff_text_add(to, "]'");
    return true;
}

/* ", and write y + 1 for y and x + 1 for x" */
static void print_shift(const struct dff_site *site, const struct shrink *s, struct dff_text *to)
{
    const char *before = ", and read at ";
    for (unsigned d = 0; d < site->formula->rank; d++)
        if (s->before[d]) {
            dff_text_add(to, "%s%s + %lld instead of %s", before, site->formula->names[d], (long long)s->before[d],
                         site->formula->names[d]);
            before = ", at ";
        }
}

static void hint(struct dff_prover *p, const struct dff_failure *f, const struct shrink *s)
{
    struct dff_text smaller = { .n = 0 };
    const char *name = name_of_read(p, f->node);
    if (f->node->kind == DFF_TABLE) {
        dfl_hint(p->u->sink, "keep the index inside, as 'clamp(index, 0, %llu)' does",
                 (unsigned long long)p->kernel->tables[f->node->number]->extents[f->dim] - 1);
        return;
    }
    const bool possible = s->possible && print_smaller(p, f->site, s, &smaller);
    if (possible)
        print_shift(f->site, s, &smaller);
    dfl_hint(p->u->sink, "give '%s' a border, such as 'border clamp'%s%s", name,
             possible ? ", or make the output smaller: " : ", or keep the index inside with a condition or clamp()",
             possible ? smaller.text : "");
}

/* ---- all of a kernel ---- */

static int by_loc(const void *a, const void *b)
{
    const struct dff_failure *x = a, *y = b;
    if (x->loc.line != y->loc.line)
        return x->loc.line < y->loc.line ? -1 : 1;
    if (x->loc.col != y->loc.col)
        return x->loc.col < y->loc.col ? -1 : 1;
    if (x->dim != y->dim)
        return x->dim < y->dim ? -1 : 1;
    return x->upper - y->upper;
}

/* The same array, in the same formula. */
static bool same_group(const struct dff_failure *a, const struct dff_failure *b)
{
    return a->site->formula == b->site->formula && a->node->kind == b->node->kind && a->node->number == b->node->number;
}

/* The failure that goes furthest of those of its side; they are done. NULL: there is none on that side. */
static const struct dff_failure *worst(struct dff_failure *failures, unsigned n, const struct dff_failure *like,
                                       bool upper, struct shrink *shrink, bool *done)
{
    const struct dff_failure *found = NULL;
    for (unsigned i = 0; i < n; i++)
        if (same_group(&failures[i], like) && failures[i].dim == like->dim && failures[i].upper == upper) {
            done[i] = true;
            shrink_for(&failures[i], shrink);
            if (!found || failures[i].beyond > found->beyond)
                found = &failures[i];
        }
    return found;
}

/* Reports what goes furthest in each dimension, and one hint for all. */
static void report_group(struct dff_prover *p, struct dff_failure *failures, unsigned n, unsigned first, bool *done)
{
    struct shrink shrink = { .possible = true };
    for (unsigned i = first; i < n; i++) {
        if (done[i] || !same_group(&failures[i], &failures[first]))
            continue;
        const struct dff_failure *low = worst(failures, n, &failures[i], false, &shrink, done);
        const struct dff_failure *high = worst(failures, n, &failures[i], true, &shrink, done);
        if (low && high && report_both(p, low, high))
            continue;
        if (low)
            report(p, low);
        if (high)
            report(p, high);
    }
    hint(p, &failures[first], &shrink);
}

void dff_failures_report(struct dff_prover *p, struct dff_failure *failures, unsigned n)
{
    bool *done = dfc_alloc(p->u, n);
    if (!done)
        return;
    qsort(failures, n, sizeof *failures, by_loc);
    for (unsigned i = 0; i < n; i++)
        if (!done[i])
            report_group(p, failures, n, i, done);
}
