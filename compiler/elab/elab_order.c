/* elab_order.c - sorts the items topologically for front/front.c, or reports the cycle that makes that impossible; and
 * numbers the calls that have the same name.
 *
 * A node depends on the producers of its inputs. The entry of a nested graph depends on the producers of its in ports,
 * which determine its dimensions. Items of its body depend on the entry only if they use a dimension or a scalar of the
 * graph. An output of a graph may therefore feed one of its own inputs; that is a cycle only if the nodes themselves
 * form one.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/elab/elab.h"
#include "runtime/graph/builder.h"

/* ---- does a call speak of its graph's dimensions or scalars? ---- */

static bool names_local(const struct dfc_sig *sig, const struct dfl_expr *e)
{
    if (!e)
        return false;
    if (e->kind == DFL_EXPR_NAME) {
        for (unsigned i = 0; i < sig->n_variables; i++)
            if (strcmp(sig->variables[i].name.text, e->s) == 0)
                return true;
        for (unsigned i = 0; i < sig->n_scalars; i++)
            if (strcmp(sig->scalars[i]->name.text, e->s) == 0)
                return true;
        return false;
    }
    if (names_local(sig, e->a) || names_local(sig, e->b))
        return true;
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        if (names_local(sig, arg))
            return true;
    return false;
}

/* Is an output of this call assigned to an out port of the graph, and does that port's format mention the graph's
 * dimensions? The port then annotates the output. */
static bool annotated_by_port(const struct dfc_sig *sig, const struct dfc_item *item)
{
    const struct dfl_target *target = item->callee->sig.needs_annotation ? item->stmt->targets : NULL;
    for (; target; target = target->next)
        for (unsigned p = 0; p < sig->n_out && !target->annotation && !target->indices; p++) {
            const struct dfc_port *port = &sig->ports[sig->out_port[p]];
            if (strcmp(port->ast->name.text, target->name.text) != 0)
                continue;
            for (unsigned i = 0; i < port->rank; i++)
                if (port->dims[i].kind != DFC_DIM_NUMBER)
                    return true;
        }
    return false;
}

static bool needs_entry(const struct dfc_elab *e, const struct dfc_item *item)
{
    const struct dfc_sig *sig = &dfc_frames(e)[item->frame].graph->sig;
    if (dfc_frames(e)[item->frame].item == DF_NONE || (!sig->n_variables && !sig->n_scalars))
        return false;
    if (annotated_by_port(sig, item))
        return true;
    unsigned i = 0;
    for (const struct dfl_actual *actual = item->stmt->actuals; actual; actual = actual->next, i++)
        if (i >= item->callee->sig.n_in && names_local(sig, actual->expr))
            return true;
    for (const struct dfl_hint *hint = item->stmt->hints; hint; hint = hint->next)
        if (names_local(sig, hint->arg))
            return true;
    for (const struct dfl_target *target = item->stmt->targets; target; target = target->next)
        for (const struct dfl_expr *dim = target->annotation ? target->annotation->dims : NULL; dim; dim = dim->next)
            if (names_local(sig, dim))
                return true;
    return false;
}

/* ---- arcs ---- */

struct arcs {
    uint32_t *offsets, *targets;
};

/* Calls visit(from) for every item that `item` needs. */
static void needed(const struct dfc_elab *e, uint32_t id, void (*visit)(struct arcs *, uint32_t from, uint32_t to),
                   struct arcs *arcs)
{
    const struct dfc_item *item = &dfc_items(e)[id];
    for (unsigned i = 0; i < item->callee->sig.n_in; i++) {
        uint32_t value = e->in_values[item->first_in + i];
        if (value != DF_NONE)
            visit(arcs, dfc_outputs(e)[value].item, id);
    }
    if (needs_entry(e, item))
        visit(arcs, dfc_frames(e)[item->frame].item, id);
}

static void count_arc(struct arcs *arcs, uint32_t from, uint32_t to)
{
    (void)to;
    arcs->offsets[from]++;
}

static void put_arc(struct arcs *arcs, uint32_t from, uint32_t to)
{
    arcs->targets[--arcs->offsets[from]] = to;
}

static bool list_arcs(const struct dfc_elab *e, struct arcs *arcs)
{
    uint32_t n = e->items.n;
    arcs->offsets = calloc((size_t)n + 1, sizeof *arcs->offsets);
    if (!arcs->offsets)
        return false;
    for (uint32_t i = 0; i < n; i++)
        needed(e, i, count_arc, arcs);
    for (uint32_t i = 1; i <= n; i++)
        arcs->offsets[i] += arcs->offsets[i - 1];
    arcs->targets = malloc(((size_t)arcs->offsets[n] + 1) * sizeof *arcs->targets);
    if (!arcs->targets)
        return false;
    for (uint32_t i = n; i-- > 0;)
        needed(e, i, put_arc, arcs);
    return true;
}

/* ---- a cycle ---- */

/* The stream by which `to` reads from `from`, as `to` names it. DF_NONE: only dimensions connect them. */
static uint32_t stream_between(const struct dfc_elab *e, uint32_t from, uint32_t to)
{
    const struct dfc_item *item = &dfc_items(e)[to];
    for (unsigned i = 0; i < item->callee->sig.n_in; i++) {
        uint32_t value = e->in_values[item->first_in + i];
        if (value != DF_NONE && dfc_outputs(e)[value].item == from)
            return dfc_in_streams(e)[item->first_in + i];
    }
    return DF_NONE;
}

/* Reports one arc of a cycle. The first arc is never one of dimensions: it leads to the smallest item of the cycle, and
 * an arc of dimensions comes from the entry of the item's graph, which has a smaller number. */
static void report_arc(const struct dfc_elab *e, uint32_t from, uint32_t to, bool first)
{
    char text[300];
    uint32_t stream = stream_between(e, from, to);
    const struct dfc_item *item = &dfc_items(e)[to];
    const char *name = item->callee->name, *maker = dfc_items(e)[from].callee->name;
    struct dfl_loc loc = item->stmt->call_loc;
    if (stream != DF_NONE)
        dfc_stream_print(e, stream, text, sizeof text);
    if (first && from == to)
        dfl_error(e->u->sink, loc, "'%s' reads '%s', which it makes itself: the graph has a cycle", name, text);
    else if (first)
        dfl_error(e->u->sink, loc, "'%s' reads '%s', which depends on what it makes: the graph has a cycle", name,
                  text);
    else if (stream == DF_NONE)
        dfl_note(e->u->sink, loc, "'%s' needs the dimensions of graph '%s'", name, maker);
    else
        dfl_note(e->u->sink, loc, "'%s' reads '%s' from '%s'", name, text, maker);
    if (first)
        dfc_note_context(e, item->frame, item->env);
}

static void report_cycle(const struct dfc_elab *e, const uint32_t *cycle, uint32_t n)
{
    enum { SHOWN = 10 };
    report_arc(e, cycle[n - 1], cycle[0], true);
    for (uint32_t k = 1; k < n; k++) {
        if (k < SHOWN || k + 1 == n)
            report_arc(e, cycle[k - 1], cycle[k], false);
        else if (k == SHOWN)
            dfl_note(e->u->sink, (struct dfl_loc){ .file = DFL_NO_FILE }, "and so on: %u more",
                     (unsigned)(n - SHOWN - 1));
    }
    dfl_hint(e->u->sink, "a graph has no way back: write rounds within a wave as a loop, 'x[i + 1] = f(x[i])'; keep "
                         "what one wave leaves to the next in the code of an 'ordered' kernel");
}

bool dfc_order_items(struct dfc_elab *e)
{
    uint32_t n = e->items.n, n_cycle = 0;
    struct arcs arcs = { NULL, NULL };
    uint32_t *cycle = malloc(((size_t)n + 1) * sizeof *cycle);
    e->order = malloc(((size_t)n + 1) * sizeof *e->order);
    int rc = cycle && e->order && list_arcs(e, &arcs)
                 ? df_topological_order(n, arcs.offsets, arcs.targets, e->order, cycle, &n_cycle) : DF_E_MEMORY;
    if (rc == DF_E_CYCLE)
        report_cycle(e, cycle, n_cycle);
    else if (rc != DF_OK)
        dfc_no_memory(e->u);
    free(arcs.offsets);
    free(arcs.targets);
    free(cycle);
    return rc == DF_OK;
}

/* ---- numbers of calls ---- */

static bool same_call(const void *context, uint32_t id, const void *key)
{
    const struct dfc_item *a = &dfc_items((const struct dfc_elab *)context)[id], *b = key;
    if (a->frame != b->frame || a->callee->name != b->callee->name || !a->env != !b->env ||
        (a->env && a->env->depth != b->env->depth))
        return false;
    const struct dfc_env *x = a->env, *y = b->env;
    for (; x && x != y; x = x->outer, y = y->outer)
        if (x->value != y->value)
            return false;
    return true;
}

static uint32_t hash_call(const struct dfc_item *item)
{
    uint64_t hash = dfr_hash(item->frame, &item->callee->name, sizeof item->callee->name);
    for (const struct dfc_env *env = item->env; env; env = env->outer)
        hash = dfr_hash(hash, &env->value, sizeof env->value);
    return dfr_hash_fold(hash);
}

/* Calls that share scope, loop indices and name are numbered from 1; a call that shares them with none has 0. While
 * counting, the first of a group holds how many there are. */
bool dfc_number_items(struct dfc_elab *e)
{
    struct dfr_table table = { 0 };
    uint32_t first;
    for (uint32_t i = 0; i < e->items.n; i++) {
        struct dfc_item *item = &dfc_items(e)[i];
        uint32_t hash = hash_call(item);
        if (dfr_table_find(&table, hash, same_call, e, item, &first)) {
            struct dfc_item *group = &dfc_items(e)[first];
            group->ordinal += group->ordinal ? 1 : 2;
            item->ordinal = group->ordinal;
        } else if (dfr_table_reserve(&table)) {
            dfr_table_put(&table, hash, i);
        } else {
            dfr_table_free(&table);
            return dfc_no_memory(e->u);
        }
    }
    for (uint32_t slot = 0; slot < table.capacity; slot++)
        if (table.slots[slot].item && dfc_items(e)[table.slots[slot].item - 1].ordinal)
            dfc_items(e)[table.slots[slot].item - 1].ordinal = 1;
    dfr_table_free(&table);
    return true;
}
