/* elab.c - flattens a graph for front/front.c: expands nested graphs, loops, conditions and indices into one list of calls
 * (items) and one table of streams.
 *
 * Before:   dfc_check_graphs() has succeeded, so names, types and numbers of inputs are right; errors found here depend
 *           on values. elab_count.c has counted the nodes, so their number is within limits.
 * Depth:    recursion follows blocks and nested graphs, never streams, and is limited by DFC_MAX_DEPTH.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/elab/elab.h"

static bool elab_block(struct dfc_elab *e, uint32_t frame, const struct dfl_block *block, const struct dfc_env *env);

static bool stop(struct dfc_elab *e)
{
    e->stopped = true;
    return false;
}

/* ---- loop variables ---- */

/* One round of a loop. It lives on the stack: only a round in which a call is made needs memory that lasts (`kept`). */
struct round {
    struct dfc_env env;                 /* first, because a pointer to it is a pointer to the round */
    const struct dfc_env *kept;
};

/* Copies an environment into memory that lasts, once for each round. NULL: no memory. Recursion ends at
 * DFC_MAX_LOOPS. */
static const struct dfc_env *keep_env(struct dfc_elab *e, const struct dfc_env *env)
{
    struct round *round = (struct round *)(uintptr_t)env;
    if (round->kept)
        return round->kept;
    const struct dfc_env *outer = env->outer ? keep_env(e, env->outer) : NULL;
    struct dfc_env *kept = env->outer && !outer ? NULL : dfc_alloc(e->u, sizeof *kept);
    if (!kept)
        return NULL;
    *kept = *env;
    kept->outer = outer;
    return round->kept = kept;
}

/* ---- frames ---- */

static bool add_frame(struct dfc_elab *e, struct dfc_callee *graph, uint32_t parent, uint32_t item, uint32_t *id)
{
    struct dfc_frame *frame = dfr_array_add(&e->frames, sizeof *frame, 1);
    uint64_t *dims = frame ? dfc_alloc(e->u, (graph->sig.n_variables + 1) * sizeof *dims) : NULL;
    if (!dims)
        return dfc_no_memory(e->u);
    *frame = (struct dfc_frame){ .graph = graph, .parent = parent, .item = item, .dims = dims };
    graph->used = true;
    *id = e->frames.n - 1;
    return true;
}

/* ---- streams of a call ---- */

/* An i64 that the graph's structure depends on. After an error, notes say where it happened. */
static bool fold_int(struct dfc_elab *e, uint32_t frame, const struct dfc_env *env, enum dfc_use use,
                     const struct dfl_expr *expr, int64_t *value)
{
    const struct dfc_names names = { .use = use, .env = env };
    bool known;
    if (dfc_fold_int(e->u, &names, expr, value, &known))
        return true;
    dfc_note_context(e, frame, env);
    return false;
}

bool dfc_fold_indices(struct dfc_elab *e, uint32_t frame, const struct dfc_env *env, const struct dfl_expr *list,
                      int64_t *indices, unsigned *n)
{
    for (*n = 0; list; list = list->next, ++*n)
        if (!fold_int(e, frame, env, DFC_USE_INDEX, list, &indices[*n]))
            return false;
    return true;
}

static bool read_inputs(struct dfc_elab *e, const struct dfl_stmt *stmt, const struct dfc_sig *sig, uint32_t frame,
                        const struct dfc_env *env, uint32_t *first)
{
    *first = e->in_streams.n;
    const struct dfl_actual *actual = stmt->actuals;
    if (!dfr_array_add(&e->in_streams, sizeof(uint32_t), sig->n_in))
        return dfc_no_memory(e->u);
    for (unsigned i = 0; i < sig->n_in; i++, actual = actual->next) {
        int64_t indices[DFC_MAX_INDICES];
        unsigned n;
        if (!dfc_fold_indices(e, frame, env, actual->expr->args, indices, &n))
            return false;
        uint32_t id = dfc_stream_get(e, frame, actual->expr->s, indices, n);
        if (id == DF_NONE)
            return false;
        struct dfc_stream *stream = &dfc_streams(e)[id];
        stream->flags |= DFC_STREAM_READ;
        if (!stream->reader) {
            stream->reader = actual->expr;
            stream->reader_env = env;
        }
        dfc_in_streams(e)[*first + i] = id;
        if (e->loop && !dfc_loop_note_read(e, frame, *first + i, actual->expr, env, id))
            return false;
    }
    return true;
}

static bool assigned_twice(struct dfc_elab *e, uint32_t frame, const struct dfc_env *env,
                           const struct dfl_target *target, uint32_t id)
{
    char text[300];
    const struct dfl_target *first = dfc_streams(e)[id].target;
    dfc_stream_print(e, id, text, sizeof text);
    if (first == target) {
        dfl_error(e->u->sink, target->loc, "'%s' is assigned again in every round of the loop", text);
        if (!target->indices && env)
            dfl_hint(e->u->sink, "a stream has one value: give it an index, '%s[%s]'", text, env->name);
    } else {
        dfl_error(e->u->sink, target->loc, "'%s' is assigned twice", text);
        dfl_note(e->u->sink, first->loc, "the first is here");
        if (!target->indices && env)
            dfl_hint(e->u->sink,
                     "a stream has one value: give each round a stream of its own, as in '%s[%s + 1] = f(%s[%s])'",
                     text, env->name, text, env->name);
        else if (!target->indices)
            dfl_hint(e->u->sink, "a stream has one value: give the second one a name of its own, and read that");
    }
    dfc_note_context(e, frame, env);
    return false;
}

/* The stream that a target names, which is assigned now. *id is DF_NONE for `_`. */
static bool assign_target(struct dfc_elab *e, const struct dfl_target *target, uint32_t frame,
                          const struct dfc_env *env, enum dfc_source_kind kind, uint32_t source, uint32_t *id)
{
    int64_t indices[DFC_MAX_INDICES];
    unsigned n;
    *id = DF_NONE;
    if (strcmp(target->name.text, "_") == 0)
        return true;
    if (!dfc_fold_indices(e, frame, env, target->indices, indices, &n))
        return false;
    *id = dfc_stream_get(e, frame, target->name.text, indices, n);
    if (*id == DF_NONE)
        return false;
    struct dfc_stream *stream = &dfc_streams(e)[*id];
    if (stream->source_kind != DFC_SOURCE_NONE)
        return assigned_twice(e, frame, env, target, *id);
    stream->target = target;
    stream->source_kind = (uint8_t)kind;
    stream->source = source;
    stream->loop = e->loop;
    return !e->loop || dfc_loop_note_write(e, frame, target, env, *id);
}

/* ---- calls ---- */

/* Notes that a stream may stay unread if the call says so. DF_NONE: the target is `_`. */
static void hush(struct dfc_elab *e, uint32_t stream, const struct dfl_stmt *stmt)
{
    if (stream != DF_NONE && dfc_call_is_quiet(stmt))
        dfc_streams(e)[stream].flags |= DFC_STREAM_QUIET;
}

static bool node_outputs(struct dfc_elab *e, uint32_t item, const struct dfl_stmt *stmt, uint32_t frame,
                         const struct dfc_env *env)
{
    unsigned n_out = dfc_items(e)[item].callee->sig.n_out;
    uint32_t first = e->values.n;
    struct dfc_output *values = dfr_array_add(&e->values, sizeof *values, n_out);
    if (!values)
        return dfc_no_memory(e->u);
    dfc_items(e)[item].first_out = first;
    const struct dfl_target *target = stmt->targets;
    for (unsigned i = 0; i < n_out; i++, target = target->next) {
        values[i].item = item;
        if (!assign_target(e, target, frame, env, DFC_SOURCE_VALUE, first + i, &values[i].stream))
            return false;
        hush(e, values[i].stream, stmt);
    }
    return true;
}

/* Connects a nested graph: each in port stands for the stream that was given, each target for the out port inside. */
static bool graph_ports(struct dfc_elab *e, uint32_t item, uint32_t inner, const struct dfl_stmt *stmt, uint32_t frame,
                        const struct dfc_env *env)
{
    const struct dfc_sig *sig = &dfc_items(e)[item].callee->sig;
    uint32_t id, first_in = dfc_items(e)[item].first_in, first_out = e->port_streams.n;
    for (unsigned i = 0; i < sig->n_in; i++) {
        if ((id = dfc_stream_get(e, inner, sig->ports[sig->in_port[i]].ast->name.text, NULL, 0)) == DF_NONE)
            return false;
        dfc_streams(e)[id].flags |= DFC_STREAM_IN_PORT;
        dfc_streams(e)[id].source_kind = DFC_SOURCE_STREAM;
        dfc_streams(e)[id].source = dfc_in_streams(e)[first_in + i];
    }
    if (!dfr_array_add(&e->port_streams, sizeof(uint32_t), sig->n_out))
        return dfc_no_memory(e->u);
    dfc_items(e)[item].first_out = first_out;
    const struct dfl_target *target = stmt->targets;
    for (unsigned i = 0; i < sig->n_out; i++, target = target->next) {
        uint32_t outside;
        if ((id = dfc_stream_get(e, inner, sig->ports[sig->out_port[i]].ast->name.text, NULL, 0)) == DF_NONE ||
            !assign_target(e, target, frame, env, DFC_SOURCE_STREAM, id, &outside))
            return false;
        hush(e, outside, stmt);
        dfc_streams(e)[id].flags |= DFC_STREAM_OUT_PORT | DFC_STREAM_READ;
        dfc_port_streams(e)[first_out + i] = id;
    }
    return true;
}

static bool enter_graph(struct dfc_elab *e, uint32_t item, struct dfc_callee *graph, const struct dfl_stmt *stmt,
                        uint32_t frame, const struct dfc_env *env)
{
    uint32_t inner;
    if (!add_frame(e, graph, frame, item, &inner))
        return false;
    dfc_items(e)[item].inner = inner;
    return graph_ports(e, item, inner, stmt, frame, env) && elab_block(e, inner, graph->graph->body, NULL);
}

static bool elab_call(struct dfc_elab *e, uint32_t frame, const struct dfl_stmt *stmt, const struct dfc_env *round)
{
    uint32_t first_in, item = e->items.n, last, id;
    const struct dfc_env *env = round ? keep_env(e, round) : NULL;
    if (round && !env)
        return false;
    if (dfc_is_last(e->u, stmt))
        return dfc_last_read(e, frame, stmt, env, &last) && assign_target(e, stmt->targets, frame, env, DFC_SOURCE_STREAM, last, &id);
    struct dfc_callee *callee = dfc_callee_called(e->u, stmt);
    if (!callee || (e->loop && !dfc_loop_check_call(e, stmt, callee)))
        return false;
    if (!read_inputs(e, stmt, &callee->sig, frame, env, &first_in))
        return false;
    struct dfc_item *added = dfr_array_add(&e->items, sizeof *added, 1);
    if (!added)
        return dfc_no_memory(e->u);
    *added = (struct dfc_item){ .stmt = stmt, .callee = callee, .env = env, .frame = frame, .inner = DF_NONE,
                                .first_in = first_in, .loop = e->loop };
    return callee->graph ? enter_graph(e, item, callee, stmt, frame, env) : node_outputs(e, item, stmt, frame, env);
}

/* ---- loops and conditions ---- */

static bool loop_bounds(struct dfc_elab *e, uint32_t frame, const struct dfl_stmt *stmt, const struct dfc_env *env,
                        int64_t *from, int64_t *to)
{
    const enum dfc_use use = stmt->cond ? DFC_USE_ROUNDS : DFC_USE_BOUND;
    if (!fold_int(e, frame, env, use, stmt->from, from) || !fold_int(e, frame, env, use, stmt->to, to))
        return false;
    if (*to <= *from)
        return true;
    uint64_t rounds = (uint64_t)*to - (uint64_t)*from;
    if (rounds > DFC_MAX_STEPS && !stmt->cond) {
        dfl_error(e->u->sink, stmt->loc, "this loop has %llu rounds: a program may have at most %u",
                  (unsigned long long)rounds, DFC_MAX_STEPS);
        return stop(e);
    }
    if (*from < INT32_MIN || *to - 1 > INT32_MAX) {
        dfl_error(e->u->sink, stmt->loc, "loop variable '%s' does not fit in 32 bits", stmt->var.text);
        return false;
    }
    return true;
}

/* A loop with 'while' is elaborated once, as its first round. */
static bool elab_while(struct dfc_elab *e, uint32_t frame, const struct dfl_stmt *stmt, const struct dfc_env *outer)
{
    int64_t from, to;
    if (!loop_bounds(e, frame, stmt, outer, &from, &to))
        return false;
    struct round round = { { stmt->var.text, from, outer ? outer->depth + 1 : 1, true, outer, true }, NULL };
    const struct dfc_env *env = keep_env(e, &round.env);
    const uint32_t outer_loop = e->loop;
    bool ok = env && dfc_loop_begin(e, frame, stmt, env, from, to < from ? from : to) && elab_block(e, frame, stmt->body, &round.env) && dfc_loop_end(e);
    e->loop = outer_loop;
    return ok;
}

/* A round with an error is the last, because the next would only repeat it. */
static bool elab_for(struct dfc_elab *e, uint32_t frame, const struct dfl_stmt *stmt, const struct dfc_env *outer)
{
    int64_t from, to;
    if (!loop_bounds(e, frame, stmt, outer, &from, &to))
        return false;
    for (int64_t i = from; i < to; i++) {
        struct round round = { { stmt->var.text, i, outer ? outer->depth + 1 : 1, true, outer, false }, NULL };
        if (!elab_block(e, frame, stmt->body, &round.env))
            return false;
    }
    return true;
}

static bool elab_if(struct dfc_elab *e, uint32_t frame, const struct dfl_stmt *stmt, const struct dfc_env *env)
{
    for (const struct dfl_stmt *arm = stmt; arm;) {
        int64_t value;
        if (!fold_int(e, frame, env, DFC_USE_CONDITION, arm->cond, &value))
            return false;
        if (value)
            return elab_block(e, frame, arm->body, env);
        const struct dfl_stmt *next = dfc_next_arm(arm->otherwise);
        if (!next && arm->otherwise)
            return elab_block(e, frame, arm->otherwise, env);
        arm = next;
    }
    return true;
}

/* Goes on after an error, to find those of other statements. Gives false at the end then. */
static bool elab_block(struct dfc_elab *e, uint32_t frame, const struct dfl_block *block, const struct dfc_env *env)
{
    bool ok = true;
    if (e->depth == DFC_MAX_DEPTH) {
        dfl_error(e->u->sink, block->loc, "blocks and graphs are nested more than %u deep", DFC_MAX_DEPTH);
        return stop(e);
    }
    e->depth++;
    for (const struct dfl_stmt *stmt = block->stmts; stmt; stmt = stmt->next) {
        if (e->stopped || e->u->no_memory)
            break;
        e->u->at = stmt->kind == DFL_STMT_CALL ? stmt->call_loc : stmt->loc;
        switch (stmt->kind) {
        case DFL_STMT_CALL: ok &= elab_call(e, frame, stmt, env); break;
        case DFL_STMT_FOR: ok &= stmt->cond ? elab_while(e, frame, stmt, env) : elab_for(e, frame, stmt, env); break;
        case DFL_STMT_IF: ok &= elab_if(e, frame, stmt, env); break;
        }
    }
    e->depth--;
    return ok && !e->stopped && !e->u->no_memory;
}

/* ---- the whole ---- */

bool dfc_elab_run(struct dfc_elab *e, struct dfc_unit *u, struct dfc_callee *root)
{
    struct dfc_tally tally;
    uint32_t frame, id;
    *e = (struct dfc_elab){ .u = u };
    u->at = root->loc;
    if (!dfc_elab_count(u, root, &tally) || !add_frame(e, root, DF_NONE, DF_NONE, &frame))
        return false;
    for (unsigned p = 0; p < root->sig.n_ports; p++) {
        const struct dfl_port *port = root->sig.ports[p].ast;
        if ((id = dfc_stream_get(e, frame, port->name.text, NULL, 0)) == DF_NONE)
            return false;
        dfc_streams(e)[id].flags |= port->mode == DFL_IN ? DFC_STREAM_IN_PORT : DFC_STREAM_OUT_PORT | DFC_STREAM_READ;
    }
    bool ok = elab_block(e, frame, root->graph->body, NULL) && dfc_loops_connect(e);
    assert(!ok || e->items.n == tally.nodes);
    return ok;
}

void dfc_elab_free(struct dfc_elab *e)
{
    dfc_index_free(&e->names);
    dfr_array_free(&e->frames);
    dfr_array_free(&e->items);
    dfr_array_free(&e->in_streams);
    dfr_array_free(&e->port_streams);
    dfr_array_free(&e->values);
    dfr_array_free(&e->streams);
    dfr_array_free(&e->indices);
    dfr_table_free(&e->stream_ids);
    free(e->in_values);
    free(e->order);
    dfr_array_free(&e->uses);
    free(e->stage);
    free(e->use);
    free(e->fill_order);
    dfc_loops_free(e);
    *e = (struct dfc_elab){ 0 };
}
