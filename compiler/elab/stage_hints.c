/* stage_hints.c - assigns calls to pipeline stages, as requested by @stage(n) on calls in graph main: front/front.c has them
 * marked, to_builder.c has them checked.
 *
 * Words:    a *stage* is made of all calls with the same number, including everything that they call. Nodes that fire
 *           once belong to none, whatever their call says.
 * Order:    no stage may read what a later one produces in the same wave.
 * Whole:    if any call has a stage, every call needs one, except those that fire once, cost nothing, or can only run
 *           on rank 0 (runtime/subgraph/cut.h). The exceptions run before all stages or after them.
 * Before:   dfc_mark_stages(): dfc_number_items() has succeeded. dfc_check_stages(): costs are known.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/elab/elab.h"

/* The call in main by which the item is there. */
static const struct dfc_item *top_of(const struct dfc_elab *e, const struct dfc_item *item)
{
    while (item->frame != 0)
        item = &dfc_items(e)[dfc_frames(e)[item->frame].item];
    return item;
}

/* ---- numbers ---- */

static bool any_hint(const struct dfc_elab *e)
{
    for (uint32_t i = 0; i < e->items.n; i++)
        if (dfc_items(e)[i].frame == 0 && dfc_call_stage(dfc_items(e)[i].stmt))
            return true;
    return false;
}

/* The item of the lowest stage above this one; DF_NONE: there is none. */
static uint32_t find_next(const struct dfc_elab *e, uint32_t stage)
{
    uint32_t next = DF_NONE;
    for (uint32_t i = 0; i < e->items.n; i++)
        if (e->stage[i] > stage && (next == DF_NONE || e->stage[i] < e->stage[next]))
            next = i;
    return next;
}

/* Warns of the first number that no call has, between two that calls have. */
static void warn_of_gap(const struct dfc_elab *e)
{
    uint32_t last = find_next(e, 0), next;
    for (; last != DF_NONE && (next = find_next(e, e->stage[last])) != DF_NONE; last = next) {
        const unsigned low = e->stage[last] - 1, high = e->stage[next] - 1;
        if (high == low + 1)
            continue;
        dfl_warning(e->u->sink, dfc_call_stage(top_of(e, &dfc_items(e)[next])->stmt)->loc, "no call is in stage %u", low + 1);
        dfl_hint(e->u->sink, "the stage before stage %u is stage %u", high, low);
        return;
    }
}

bool dfc_mark_stages(struct dfc_elab *e)
{
    if (!any_hint(e))
        return true;
    e->stage = calloc((size_t)e->items.n + 1, sizeof *e->stage);
    if (!e->stage)
        return dfc_no_memory(e->u);
    for (uint32_t i = 0; i < e->items.n; i++) {
        const struct dfc_item *item = &dfc_items(e)[i];
        const struct dfc_names names = dfc_frame_names(e, item->frame, item->env, DFC_USE_STAGE);
        struct dfc_hints hints = { .stage = 0 };
        if (item->frame == 0 && dfc_call_stage(item->stmt) && !dfc_call_hints(e->u, item->stmt, item->callee, &names, &hints)) {
            dfc_note_context(e, item->frame, item->env);
            return false;
        }
        e->stage[i] = item->frame == 0 ? hints.stage : e->stage[dfc_frames(e)[item->frame].item]; /* which has a smaller number */
    }
    warn_of_gap(e);
    return true;
}

/* ---- their order, and who has none ---- */

struct check {
    struct dfc_elab *e;
    const bool *costs;
    uint8_t *phases;                    /* by value */
    bool *behind;                       /* by item without a stage: it reads what a stage makes, perhaps by way of others */
    bool *last;                         /* by item: rank 0 alone can run it, as the last of a wave (TAIL) */
};

/* Sees it all waves, in order, or is it a source or a sink that rank 0 has? */
static bool must_run_on_rank0(const struct check *c, uint32_t id)
{
    const struct dfc_callee *callee = dfc_items(c->e)[id].callee;
    return c->last[id] || (callee->sig.n_in == 0 && callee->kernel->traits & (DFL_STREAM | DFL_ORDERED));
}

static bool has_acc(const struct dfc_sig *sig)
{
    for (unsigned i = 0; i < sig->n_out; i++)
        if (sig->ports[sig->out_port[i]].ast->mode == DFL_ACC)
            return true;
    return false;
}

static bool begins_last(const struct dfc_callee *callee)
{
    return callee->sig.n_out == 0 || has_acc(&callee->sig) || (callee->sig.n_in > 0 && callee->kernel->traits & (DFL_STREAM | DFL_ORDERED));
}

static bool refuse_order(const struct check *c, uint32_t from, uint32_t to)
{
    const struct dfc_elab *e = c->e;
    const struct dfc_item *maker = top_of(e, &dfc_items(e)[from]), *reader = top_of(e, &dfc_items(e)[to]);
    dfl_error(e->u->sink, dfc_call_stage(reader->stmt)->loc, "'%s' in stage %u reads what '%s' in stage %u makes", reader->callee->name,
              (unsigned)e->stage[to] - 1, maker->callee->name, (unsigned)e->stage[from] - 1);
    if (maker->stmt != reader->stmt)
        dfl_note(e->u->sink, dfc_call_stage(maker->stmt)->loc, "stage %u is here", (unsigned)e->stage[from] - 1);
    dfc_note_context(e, 0, reader->env);
    dfl_hint(e->u->sink, "a wave goes through the stages in the order of their numbers, and never back");
    return false;
}

static bool refuse_missing(const struct check *c, uint32_t id, const char *why)
{
    const struct dfc_elab *e = c->e;
    const struct dfc_item *call = top_of(e, &dfc_items(e)[id]), *other = top_of(e, &dfc_items(e)[find_next(e, 0)]);
    dfl_error(e->u->sink, call->stmt->call_loc, "'%s' has no '@stage', and %s", call->callee->name, why);
    dfl_note(e->u->sink, dfc_call_stage(other->stmt)->loc, "the first stage is here");
    dfc_note_context(e, 0, call->env);
    dfl_hint(e->u->sink, "before the first stage and behind the last one, calls need none if they cost nothing, or rank 0 alone can run them: streams, sinks, "
                         "'ordered' kernels, accs");
    return false;
}

static bool refuse_worker(const struct check *c, const struct dfl_hint *worker)
{
    dfl_error(c->e->u->sink, worker->loc, "'@worker' on a sink in a graph with '@stage'");
    dfl_hint(c->e->u->sink, "if ranks have stages, rank 0 alone writes; a source may be '@worker'");
    return false;
}

static bool check_input(struct check *c, uint32_t id, uint32_t value)
{
    const uint32_t *stage = c->e->stage, from = dfc_outputs(c->e)[value].item;
    if (c->phases[value] != DFC_EVERY_WAVE)
        return true;
    c->last[id] |= c->last[from];
    c->behind[id] |= !stage[id] && (stage[from] || c->behind[from]);
    if (stage[id] && stage[from] > stage[id])
        return refuse_order(c, from, id);
    return !stage[id] || stage[from] || !c->behind[from] || refuse_missing(c, from, "stands between calls that have one");
}

static bool check_item(struct check *c, uint32_t id)
{
    const struct dfc_elab *e = c->e;
    const struct dfc_item *item = &dfc_items(e)[id];
    const struct dfl_hint *worker = dfc_call_worker(item->stmt);
    if (worker && item->callee->sig.n_out == 0)
        return refuse_worker(c, worker);
    if (dfc_item_phase(e, item, c->phases) != DFC_EVERY_WAVE)
        return true;
    c->last[id] = begins_last(item->callee);
    for (unsigned i = 0; i < item->callee->sig.n_in; i++)
        if (!check_input(c, id, e->in_values[item->first_in + i]))
            return false;
    return e->stage[id] || !c->costs[id] || must_run_on_rank0(c, id) || refuse_missing(c, id, "other calls in graph 'main' have one");
}

bool dfc_check_stages(struct dfc_elab *e, const bool *costs)
{
    struct check c = { .e = e, .costs = costs, .phases = calloc((size_t)e->values.n + 1, 1), .behind = calloc((size_t)e->items.n + 1, 1),
                       .last = calloc((size_t)e->items.n + 1, 1) };
    bool ok = true;
    if (!c.phases || !c.behind || !c.last)
        ok = dfc_no_memory(e->u);
    for (uint32_t k = 0; e->stage && ok && k < e->items.n; k++)
        if (dfc_items(e)[e->order[k]].inner == DF_NONE)
            ok = check_item(&c, e->order[k]);
    free(c.phases);
    free(c.behind);
    free(c.last);
    return ok;
}
