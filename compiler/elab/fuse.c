/* fuse.c - replaces nodes by the groups that compiler/fusion/ makes of them, or that a program was built with, and
 * determines the order in which the builder receives the remaining nodes. front/front.c calls it.
 *
 * Before:   dfc_number_items() has succeeded; no size is known yet.
 * Leaves:   one kernel per group among the unit's kernels, and its uses in this graph. Groups with the same wiring
 *           share a kernel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/elab/elab.h"
#include "runtime/graph/builder.h"

#define MOST_MADE 96u                   /* members of all kernels of groups: so their code is compiled in seconds */

/* ---- kernels of groups ---- */

/* In C a name has no '+', and no two kernels have one name. */
static const char *c_name(struct dfc_unit *u, const char *name, uint32_t number)
{
    char *text = (char *)dfc_printf(u, "df_group%u_%s", (unsigned)number, name);
    for (char *at = text; at && *at; at++)
        if (*at == '+' || *at == '.')
            *at = '_';
    return text;
}

/* Another group may have the same members, wired in another way. */
static bool make_name_unique(struct dfc_unit *u, struct dfc_callee *callee)
{
    const struct dfu_group *const *groups = u->groups.items;
    const char *name = callee->name;
    unsigned n = 1;
    for (uint32_t i = 0; i < u->groups.n && callee->name; i++)
        if (strcmp(groups[i]->callee->name, callee->name) == 0) {
            callee->name = dfc_printf(u, "%s_%u", name, ++n);
            i = UINT32_MAX;             /* from the first on */
        }
    ((struct dfl_kernel *)callee->kernel)->name.text = callee->name;
    return callee->name;
}

static bool add_group(struct dfc_unit *u, struct dfu_group *group)
{
    struct dfc_callee *callee = group->callee;
    callee->id = u->kernels.n;
    const char *name = make_name_unique(u, callee) ? c_name(u, callee->name, u->groups.n) : NULL;
    struct dfc_kernel_code *code = name ? dfr_array_add(&u->kernels, sizeof *code, 1) : NULL;
    struct dfu_group **item = code ? dfr_array_add(&u->groups, sizeof *item, 1) : NULL;
    if (!item)
        return dfc_no_memory(u);
    *code = (struct dfc_kernel_code){ .ast = callee->kernel, .kernel = callee->id, .dir = ".", .c_name = name,
                                      .formula = callee->formula, .called = true };
    *item = group;
    return true;
}

bool dfc_fuse_given(struct dfc_unit *u)
{
    const struct dfc_groups *given = u->options->groups;
    for (size_t i = 0; given && i < given->n; i++) {
        struct dfu_wiring wiring;
        struct dfu_group *group = dfu_wiring_read(u, given->texts[i], &wiring) ? dfu_merge(u, &wiring) : NULL;
        if (!group || !add_group(u, group)) {
            dfl_error(u->sink, u->at, "internal error: group '%s' cannot be made again", given->texts[i]);
            return false;
        }
    }
    return true;
}

/* The unit's group with that wiring, a new one if it may be made. NULL: there is none, or no memory. */
static const struct dfu_group *get_group(struct dfc_unit *u, const struct dfu_wiring *wiring)
{
    const char *text = dfu_wiring_print(u, wiring);
    const struct dfu_group *const *groups = u->groups.items;
    unsigned made = 0;
    for (uint32_t i = 0; text && i < u->groups.n; made += groups[i++]->wiring.n)
        if (strcmp(groups[i]->text, text) == 0)
            return groups[i];
    if (!text || u->options->groups || made + wiring->n > MOST_MADE)
        return NULL;
    struct dfu_group *group = dfu_merge(u, wiring);
    return group && add_group(u, group) && dfc_fill_kernel(u, group->callee) ? group : NULL;
}

/* ---- nodes, as groups are found over them ---- */

struct fuser {
    struct dfc_elab *e;
    struct dfu_node *nodes;
    uint32_t *items;                    /* by node */
    uint32_t *node_of;                  /* by item */
    uint32_t *makers;                   /* by value: its node */
    uint8_t *phase;                     /* by value: when it can be read */
    uint32_t *origin;                   /* by value: the node that decides whether it is empty in a wave; DF_NONE: it never is */
    bool *kept;                         /* by value: it is given to the caller of a library */
    bool *may_be_empty;                 /* by node: of formulas, and an extent of an output may be below 1 in a wave */
    struct dfc_forms forms;             /* of extents; `of` is NULL: no kernel decides one */
    uint32_t n_nodes;
    struct dfu_found found;
};

static void read_hints(const struct dfc_elab *e, const struct dfl_stmt *stmt, struct dfu_node *node)
{
    node->hint_class = -1;
    if (dfc_call_is_apart(stmt))
        node->apart = "'@nofuse' keeps it apart";
    for (const struct dfl_hint *hint = stmt->hints; hint; hint = hint->next) {
        const char *name = hint->name.text;
        uint32_t cls;
        if (strcmp(name, "depth") == 0 || strcmp(name, "rate") == 0)
            node->apart = "its hint '@depth' or '@rate' is its own";
        else if (!hint->arg && dfc_index_find(&e->u->classes, name, &cls))
            node->hint_class = (int)cls;
    }
}

/* A written kernel may skip a wave. One of formulas is left out if an input is empty, or an extent of an output below 1. */
static uint32_t origin_of(const struct fuser *f, uint32_t number, enum dfc_phase phase)
{
    const struct dfu_node *node = &f->nodes[number];
    uint32_t origin = DF_NONE;
    if (phase != DFC_EVERY_WAVE)
        return DF_NONE;
    if (!node->callee->formula || f->may_be_empty[number])
        return number;
    for (unsigned i = 0; i < node->callee->sig.n_in; i++) {
        const uint32_t one = f->origin[node->in[i]];
        if (origin != DF_NONE && one != DF_NONE && one != origin)
            return number;              /* either of two: decided here */
        origin = one == DF_NONE ? origin : one;
    }
    return origin;
}

/* A member's extents must follow from what the group reads: nothing compares those of streams inside it. */
static void describe_extents(struct fuser *f, const struct dfc_item *item, struct dfu_node *node)
{
    const struct dfc_varying how = f->forms.of ? dfc_item_varies(f->e, item, &f->forms) : (struct dfc_varying){ 0 };
    f->may_be_empty[f->n_nodes] = how.may_be_empty && item->callee->formula;
    if (how.varies && how.unlike)
        node->apart = "extents of its inputs differ from wave to wave, and need not be equal";
    else if (how.dynamic)
        node->apart = "its extents differ from wave to wave, and follow from a dynamic param, too";
}

static void describe_node(struct fuser *f, uint32_t id)
{
    const struct dfc_elab *e = f->e;
    const struct dfc_item *item = &dfc_items(e)[id];
    struct dfu_node *node = &f->nodes[f->n_nodes];
    *node = (struct dfu_node){ .callee = item->callee, .in = e->in_values + item->first_in,
                               .first_out = item->first_out };
    const enum dfc_phase phase = dfc_item_phase(e, item, f->phase);
    node->once = phase == DFC_BEFORE;
    node->final = phase == DFC_AFTER;
    read_hints(e, item->stmt, node);
    if (item->loop)
        node->apart = "it is called in a loop with 'while'";
    node->stage = e->stage ? e->stage[id] : 0;
    describe_extents(f, item, node);
    for (unsigned i = 0; i < item->callee->sig.n_out; i++) {
        f->makers[item->first_out + i] = f->n_nodes;
        f->origin[item->first_out + i] = origin_of(f, f->n_nodes, phase);
    }
    f->items[f->n_nodes] = id;
    f->node_of[id] = f->n_nodes++;
}

static bool is_called_graph(const struct dfc_elab *e)
{
    return e->u->options->root || e->u->options->exported;
}

static bool list_nodes(struct fuser *f)
{
    struct dfc_elab *e = f->e;
    const size_t n = (size_t)e->items.n + 1, n_values = (size_t)e->values.n + 1;
    f->nodes = malloc(n * sizeof *f->nodes);
    f->items = malloc(n * sizeof *f->items);
    f->node_of = malloc(n * sizeof *f->node_of);
    f->makers = malloc(n_values * sizeof *f->makers);
    f->phase = calloc(n_values, sizeof *f->phase);
    f->origin = malloc(n_values * sizeof *f->origin);
    f->kept = calloc(n_values, sizeof *f->kept);
    f->may_be_empty = calloc(n, sizeof *f->may_be_empty);
    if (!f->nodes || !f->items || !f->node_of || !f->makers || !f->phase || !f->origin || !f->kept || !f->may_be_empty)
        return false;
    if (dfc_has_bounds(e->u) && !dfc_forms_make(e, &f->forms))
        return false;
    for (uint32_t k = 0; k < e->items.n; k++)
        if (dfc_items(e)[e->order[k]].inner == DF_NONE)
            describe_node(f, e->order[k]);
    if (is_called_graph(e)) {
        const struct dfc_sig *sig = &dfc_frames(e)[1].graph->sig;
        for (unsigned p = 0; p < sig->n_ports; p++) {
            uint32_t value = dfc_root_value(e, &sig->ports[p]);
            if (value != DF_NONE)
                f->kept[value] = true;
        }
    }
    return true;
}

/* ---- what is told ---- */

/* Two kernels are told of once for each reason. */
static bool note_refusal(struct fuser *f, uint32_t from, uint32_t to, const char *why, struct dfl_loc read)
{
    struct dfc_unit *u = f->e->u;
    const struct dfc_unfused one = { f->nodes[from].callee->name, f->nodes[to].callee->name, why,
                                     dfc_items(f->e)[f->items[to]].stmt->call_loc, read, 1 };
    struct dfc_unfused *list = u->unfused.items;
    for (uint32_t i = 0; i < u->unfused.n; i++)
        if (list[i].from == one.from && list[i].to == one.to && list[i].why == one.why) {
            list[i].count++;
            return true;
        }
    if (!(list = dfr_array_add(&u->unfused, sizeof *list, 1)))
        return dfc_no_memory(u);
    *list = one;
    return true;
}

static bool note_refusals(struct fuser *f)
{
    const struct dfu_refusal *r = f->found.refusals.items;
    for (uint32_t k = 0; k < f->found.refusals.n; k++)
        if (!note_refusal(f, r[k].from, r[k].to, r[k].why, r[k].loc))
            return false;
    return true;
}

/* ---- the wiring of a group ---- */

/* By value: who reads it. Both may be, and neither. */
enum { READ_INSIDE = 1, READ_OUTSIDE = 2 };

static uint8_t *list_reads(const struct fuser *f)
{
    uint8_t *reads = calloc((size_t)f->e->values.n + 1, 1);
    for (uint32_t v = 0; reads && v < f->n_nodes; v++)
        for (unsigned i = 0; i < f->nodes[v].callee->sig.n_in; i++) {
            const uint32_t value = f->nodes[v].in[i], maker = f->makers[value];
            bool inside = f->found.group[v] != DF_NONE && f->found.group[v] == f->found.group[maker];
            reads[value] |= inside ? READ_INSIDE : READ_OUTSIDE;
        }
    return reads;
}

static struct dfu_source source_of(struct fuser *f, struct dfc_joined *use, struct dfu_wiring *w, uint32_t value)
{
    const uint32_t maker = f->items[f->makers[value]];
    for (unsigned m = 0; m < w->n; m++)
        if (use->items[m] == maker)
            return (struct dfu_source){ (int32_t)m, value - dfc_items(f->e)[maker].first_out };
    uint32_t k = 0;
    while (k < w->n_outside && use->outside[k] != value)
        k++;
    if (k == w->n_outside)
        use->outside[w->n_outside++] = value;
    return (struct dfu_source){ -1, k };
}

static bool add_member(struct fuser *f, struct dfc_joined *use, struct dfu_wiring *w, uint32_t node, const uint8_t *reads)
{
    struct dfc_unit *u = f->e->u;
    const struct dfc_sig *sig = &f->nodes[node].callee->sig;
    struct dfu_source *in = dfc_alloc(u, (sig->n_in + 1u) * sizeof *in);
    bool *leaves = dfc_alloc(u, sig->n_out + 1u);
    if (!in || !leaves)
        return false;
    for (unsigned i = 0; i < sig->n_in; i++)
        in[i] = source_of(f, use, w, f->nodes[node].in[i]);
    for (unsigned i = 0; i < sig->n_out; i++) {
        const uint32_t value = f->nodes[node].first_out + i;
        leaves[i] = reads[value] != READ_INSIDE || f->kept[value];
    }
    use->items[w->n] = f->items[node];
    w->member[w->n++] = (struct dfu_member){ f->nodes[node].callee, in, leaves };
    return true;
}

/* Adds what may leave the stream from outside empty to the list. Gives its bit; 0: nothing may. false in *fits: there are too many. */
static uint64_t origin_bit(uint32_t origin, uint32_t *origins, unsigned *n, bool *fits)
{
    unsigned k = 0;
    if (origin == DF_NONE)
        return 0;
    while (k < *n && origins[k] != origin)
        k++;
    *fits &= k < 64;
    if (k == *n && *fits)
        origins[(*n)++] = origin;
    return *fits ? UINT64_C(1) << k : 0;
}

/* A group is left out as one. So all that leaves it must be empty in the same waves as it would be without the group. */
static bool empty_together(const struct fuser *f, const struct dfc_joined *use, const struct dfu_wiring *w)
{
    uint64_t needs[DFU_MOST_MEMBERS] = { 0 }, all = 0;
    uint32_t origins[64];
    unsigned n = 0;
    bool fits = true;
    for (unsigned m = 0; m < w->n; m++) {
        for (unsigned i = 0; i < w->member[m].callee->sig.n_in; i++) {
            const struct dfu_source *from = &w->member[m].in[i];
            needs[m] |= from->member >= 0 ? needs[from->member]
                                          : origin_bit(f->origin[use->outside[from->slot]], origins, &n, &fits);
        }
        const uint32_t node = f->node_of[use->items[m]];
        needs[m] |= f->may_be_empty[node] ? origin_bit(node, origins, &n, &fits) : 0;
        all |= needs[m];
    }
    for (unsigned m = 0; m < w->n; m++)
        for (unsigned i = 0; i < w->member[m].callee->sig.n_out; i++)
            fits &= !w->member[m].leaves[i] || needs[m] == all;
    return fits;
}

/* The wiring of the group that begins with that node. false: no memory. */
static bool wire(struct fuser *f, uint32_t first, const uint8_t *reads, struct dfc_joined *use, struct dfu_wiring *wiring)
{
    unsigned n_in = 0;
    *use = (struct dfc_joined){ .group = NULL };
    wiring->n = wiring->n_outside = 0;
    for (uint32_t v = first; v != DF_NONE; v = f->found.next[v])
        n_in += f->nodes[v].callee->sig.n_in;
    if (!(use->outside = dfc_alloc(f->e->u, (n_in + 1) * sizeof *use->outside)))
        return false;
    for (uint32_t v = first; v != DF_NONE; v = f->found.next[v])
        if (!add_member(f, use, wiring, v, reads))
            return false;
    return true;
}

/* If not all that leaves a group is empty in the same waves, members whose extents may be below 1 stay apart. Without them
 * the others may be a group. false: no memory. */
static bool keep_apart(struct fuser *f, const uint8_t *reads, bool *any)
{
    for (uint32_t g = 0; g < f->found.n_groups; g++) {
        struct dfu_wiring wiring;
        struct dfc_joined use;
        if (!wire(f, f->found.first[g], reads, &use, &wiring))
            return false;
        bool fits = empty_together(f, &use, &wiring);
        for (uint32_t v = f->found.first[g]; !fits && v != DF_NONE; v = f->found.next[v])
            if (f->may_be_empty[v]) {
                f->nodes[v].apart = "its extents may be below 1 in a wave, in which others are not";
                *any = true;
            }
    }
    return true;
}

/* The use of a group in this graph. Its group is NULL if it may not be made. false: no memory. */
static bool add_use(struct fuser *f, uint32_t first, const uint8_t *reads)
{
    static const struct dfl_loc nowhere = { 0 };
    struct dfc_elab *e = f->e;
    struct dfu_wiring wiring;
    struct dfc_joined use;
    if (!wire(f, first, reads, &use, &wiring))
        return false;
    if (!empty_together(f, &use, &wiring))
        return note_refusal(f, first, f->node_of[use.items[wiring.n - 1]],
                            "what leaves them may be empty in unlike waves", nowhere);
    if (!(use.group = get_group(e->u, &wiring))) /* its members stay nodes */
        return !e->u->no_memory && note_refusal(f, first, f->node_of[use.items[wiring.n - 1]],
                                                "the program has as many groups as are compiled in short time", nowhere);
    struct dfc_joined *item = dfr_array_add(&e->uses, sizeof *item, 1);
    if (!item)
        return dfc_no_memory(e->u);
    *item = use;
    for (unsigned m = 0; m < wiring.n; m++)
        e->use[use.items[m]] = e->uses.n - 1;
    return true;
}

/* Uses of one group that share scope and loop indices are numbered from 1; one that shares them with none has 0. */
static void number_uses(struct dfc_elab *e)
{
    struct dfc_joined *uses = e->uses.items;
    for (uint32_t i = 0; i < e->uses.n; i++) {
        const struct dfc_item *last = &dfc_items(e)[uses[i].items[uses[i].group->wiring.n - 1]];
        for (uint32_t k = i; k-- > 0;) {
            const struct dfc_item *other = &dfc_items(e)[uses[k].items[uses[k].group->wiring.n - 1]];
            if (uses[k].group != uses[i].group || other->frame != last->frame || other->env != last->env)
                continue;
            uses[k].ordinal += !uses[k].ordinal;
            uses[i].ordinal = uses[k].ordinal + 1;
            break;
        }
    }
}

/* ---- the order of nodes ---- */

static uint32_t unit_of(const struct dfc_elab *e, uint32_t item)
{
    return e->use[item] == DF_NONE ? item : ((const struct dfc_joined *)e->uses.items)[e->use[item]].items[0];
}

static bool order_nodes(struct fuser *f)
{
    struct dfc_elab *e = f->e;
    const uint32_t n = e->items.n;
    uint32_t n_cycle, *offsets = calloc((size_t)n + 2, sizeof *offsets), *order = malloc(((size_t)n + 1) * sizeof *order);
    uint32_t *targets = NULL, *cycle = malloc(((size_t)n + 1) * sizeof *cycle), n_arcs = 0;
    for (uint32_t pass = 0; offsets && pass < 2; pass++) {
        for (uint32_t v = 0; v < f->n_nodes; v++)
            for (unsigned i = 0; i < f->nodes[v].callee->sig.n_in; i++) {
                const uint32_t to = unit_of(e, f->items[v]),
                               from = unit_of(e, f->items[f->makers[f->nodes[v].in[i]]]);
                if (from == to)
                    continue;
                if (pass == 0)
                    offsets[from + 2]++;
                else
                    targets[offsets[from + 1]++] = to;
                n_arcs += pass == 0;
            }
        for (uint32_t v = 0; pass == 0 && v < n; v++)
            offsets[v + 2] += offsets[v + 1];
        if (pass == 0 && !(targets = malloc(((size_t)n_arcs + 1) * sizeof *targets)))
            break;
    }
    bool ok = order && targets && cycle && df_topological_order(n, offsets, targets, order, cycle, &n_cycle) == DF_OK;
    for (uint32_t k = 0; ok && k < n; k++)
        if (dfc_items(e)[order[k]].inner == DF_NONE && unit_of(e, order[k]) == order[k])
            order[e->n_fill++] = order[k];
    free(offsets);
    free(targets);
    free(cycle);
    e->fill_order = order;
    return ok || dfc_no_memory(e->u);
}

/* ---- all of it ---- */

/* Finds the groups; again, if some of their members are to stay apart. */
static bool find_groups(struct fuser *f)
{
    bool again = false;
    if (!list_nodes(f) || !dfu_find(f->nodes, f->n_nodes, f->makers, &f->found))
        return false;
    if (!f->forms.of || !f->found.n_groups)
        return true;
    uint8_t *reads = list_reads(f);
    bool ok = reads && keep_apart(f, reads, &again);
    free(reads);
    if (!ok || !again)
        return ok;
    dfu_found_free(&f->found);
    return dfu_find(f->nodes, f->n_nodes, f->makers, &f->found);
}

static bool fuse(struct fuser *f)
{
    struct dfc_elab *e = f->e;
    if (!find_groups(f))
        return dfc_no_memory(e->u);
    if (!note_refusals(f) || !f->found.n_groups)
        return !e->u->no_memory;
    uint8_t *reads = list_reads(f);
    e->use = malloc(((size_t)e->items.n + 1) * sizeof *e->use);
    bool ok = reads && e->use;
    for (uint32_t i = 0; ok && i < e->items.n; i++)
        e->use[i] = DF_NONE;
    for (uint32_t g = 0; ok && g < f->found.n_groups; g++)
        ok = add_use(f, f->found.first[g], reads);
    free(reads);
    if (!ok)
        return dfc_no_memory(e->u);
    number_uses(e);
    return order_nodes(f);
}

static bool has_formulas(const struct dfc_unit *u)
{
    for (uint32_t i = 0; i < u->callee_items.n; i++)
        if (dfc_callees(u)[i].formula)
            return true;
    return false;
}

bool dfc_fuse(struct dfc_elab *e)
{
    struct fuser f = { .e = e };
    const struct dfc_groups *given = e->u->options->groups;
    if ((given && !given->n) || !has_formulas(e->u))
        return true;
    bool ok = fuse(&f);
    free(f.nodes);
    free(f.items);
    free(f.node_of);
    free(f.makers);
    free(f.phase);
    free(f.origin);
    free(f.may_be_empty);
    free(f.kept);
    dfu_found_free(&f.found);
    return ok;
}
