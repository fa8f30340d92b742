/* loops.c - loops with 'while', for elab.c: finds what a round reads of the round before, and adds the two items that stand for the rounds. The body is
 * elaborated once, as the first round. Its indices are evaluated for the second round, too, which tells x[k] and x[k + 1] from what all rounds read alike.
 *
 * Items:    `begin` reads the first x and gives what a round reads as x[k]; `end` reads what the round makes as x[k + 1], the streams of the condition and,
 *           so that it comes after them, all else that the body makes. It gives the last x. Between the two the body's items are ordinary ones, so formats
 *           are found and checked as everywhere; to_builder.c makes one node of all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/elab/elab.h"

static struct dfc_loop *loop_at(const struct dfc_elab *e, uint32_t number) { return &dfc_loops(e)[number - 1]; }

static struct dfc_loop_read *reads_of(const struct dfc_loop *l) { return l->reads.items; }
static struct dfc_loop_write *writes_of(const struct dfc_loop *l) { return l->writes.items; }
static struct dfc_carried *carried_of(const struct dfc_loop *l) { return l->carried.items; }

static const char *variable(const struct dfc_loop *l) { return l->stmt->var.text; }

static bool failed(const struct dfc_elab *e, uint32_t frame, const struct dfc_env *env)
{
    dfc_note_context(e, frame, env);
    return false;
}

/* The stream that these indices name `rounds` later. DF_NONE: reported. */
static uint32_t stream_later(struct dfc_elab *e, const struct dfc_loop *l, const char *name, const struct dfl_expr *list, const struct dfc_env *env,
                             int64_t rounds)
{
    struct dfc_env *counter = (struct dfc_env *)l->env; /* all calls of the body have it around them */
    int64_t indices[DFC_MAX_INDICES];
    unsigned n;
    counter->value += rounds;
    bool ok = dfc_fold_indices(e, l->frame, env, list, indices, &n);
    counter->value -= rounds;
    return ok ? dfc_stream_get(e, l->frame, name, indices, n) : DF_NONE;
}

/* ---- what may stand in a loop ---- */

static const char *why_not(const struct dfc_callee *callee)
{
    const struct dfc_sig *sig = &callee->sig;
    const unsigned traits = callee->kernel ? callee->kernel->traits : 0;
    if (callee->graph)
        return NULL;
    if (callee->built_in)
        return "is built in, and chooses by waves";
    if (traits & (DFL_ORDERED | DFL_STREAM | DFL_RESUME | DFL_ZERO_EXTENTS))
        return "takes part in the order of waves";
    if (traits & (DFL_ONCE | DFL_RESTART))
        return "is a source of its own kind";
    if (traits & DFL_THREADS)
        return "has threads of its own";
    if (callee->uses)
        return "uses a shared resource";
    for (unsigned p = 0; p < sig->n_ports; p++)
        if (sig->ports[p].ast->mode == DFL_ACC)
            return "has an 'acc', which lives from wave to wave";
    for (unsigned v = 0; v < sig->n_variables; v++)
        if (sig->variables[v].bound)
            return "decides an extent in each wave";
    for (const struct dfl_variant *variant = callee->kernel->variants; variant; variant = variant->next)
        if (variant->open.text)
            return "keeps something open";
    return sig->n_out == 0 ? "makes nothing" : NULL;
}

bool dfc_loop_check_call(struct dfc_elab *e, const struct dfl_stmt *stmt, const struct dfc_callee *callee)
{
    const char *why = why_not(callee);
    uint32_t cls;
    if (why) {
        dfl_error(e->u->sink, stmt->call_loc, "'%s' %s, so it cannot be called in a loop with 'while'", callee->name, why);
        if (!callee->built_in)
            dfl_note(e->u->sink, callee->loc, "it is declared here");
        dfl_hint(e->u->sink, "a 'for' without 'while' may have such a call: its rounds are nodes of their own");
        return false;
    }
    for (const struct dfl_hint *hint = stmt->hints; hint; hint = hint->next) {
        const char *name = hint->name.text;
        if (strcmp(name, "quiet") == 0 || strcmp(name, "nofuse") == 0 || (!hint->arg && dfc_index_find(&e->u->classes, name, &cls)))
            continue;
        dfl_error(e->u->sink, hint->loc, "'@%s' in a loop with 'while', which is one node", name);
        dfl_hint(e->u->sink, "only '@cpu', '@gpu' and '@quiet' can stand in its body; where it runs is said of all its calls alike");
        return false;
    }
    return true;
}

/* ---- the body ---- */

bool dfc_loop_begin(struct dfc_elab *e, uint32_t frame, const struct dfl_stmt *stmt, const struct dfc_env *round, int64_t from, int64_t to)
{
    if (e->loop) {
        dfl_error(e->u->sink, stmt->loc, "a loop with 'while' inside of another one");
        dfl_note(e->u->sink, loop_at(e, e->loop)->stmt->loc, "the other one is here");
        dfl_hint(e->u->sink, "let one of them be a 'for' without 'while', or a loop in a kernel's code");
        return failed(e, frame, round->outer);
    }
    struct dfc_loop *l = dfr_array_add(&e->loops, sizeof *l, 1);
    struct dfc_item *begin = l ? dfr_array_add(&e->items, sizeof *begin, 1) : NULL;
    if (!begin)
        return dfc_no_memory(e->u);
    *l = (struct dfc_loop){ .stmt = stmt, .frame = frame, .begin = e->items.n - 1, .from = from, .to = to, .env = round };
    e->loop = e->loops.n;
    *begin = (struct dfc_item){ .stmt = stmt, .frame = frame, .inner = DF_NONE, .loop = e->loop };
    return true;
}

bool dfc_loop_note_read(struct dfc_elab *e, uint32_t frame, uint32_t in, const struct dfl_expr *expr, const struct dfc_env *env, uint32_t now)
{
    struct dfc_loop *l = loop_at(e, e->loop);
    if (frame != l->frame)              /* of a graph that the body calls: it has no variable of this loop */
        return true;
    const uint32_t next = stream_later(e, l, expr->s, expr->args, env, 1);
    struct dfc_loop_read *read = next == DF_NONE ? NULL : dfr_array_add(&l->reads, sizeof *read, 1);
    if (!read)
        return next == DF_NONE ? false : dfc_no_memory(e->u);
    *read = (struct dfc_loop_read){ in, now, next, expr, env };
    return true;
}

bool dfc_loop_note_write(struct dfc_elab *e, uint32_t frame, const struct dfl_target *target, const struct dfc_env *env, uint32_t now)
{
    struct dfc_loop *l = loop_at(e, e->loop);
    if (frame != l->frame)
        return true;
    const uint32_t next = stream_later(e, l, target->name.text, target->indices, env, 1), before = stream_later(e, l, target->name.text, target->indices, env, -1);
    if (next == DF_NONE || before == DF_NONE)
        return false;
    if (next == now) {
        dfl_error(e->u->sink, target->loc, "'%s' is assigned again in every round of the loop", target->name.text);
        dfl_hint(e->u->sink, "write '%s[%s + 1]' for what the next round reads as '%s[%s]', and '%s[%s]' for what this round alone reads", target->name.text,
                 variable(l), target->name.text, variable(l), target->name.text, variable(l));
        return failed(e, frame, env);
    }
    struct dfc_loop_write *write = dfr_array_add(&l->writes, sizeof *write, 1);
    if (!write)
        return dfc_no_memory(e->u);
    *write = (struct dfc_loop_write){ before, now, next, target, env };
    return true;
}

/* Notes the streams that the condition reads, from left to right. */
static bool note_tokens(struct dfc_elab *e, const struct dfl_expr *x)
{
    struct dfc_loop *l = loop_at(e, e->loop);
    if (!x)
        return true;
    if (dfc_is_stream_read(dfc_frames(e)[l->frame].graph, l->env, e->u, x)) {
        const uint32_t now = stream_later(e, l, x->s, x->args, l->env, 0);
        if (now == DF_NONE || !dfc_loop_note_read(e, l->frame, DF_NONE, x, l->env, now))
            return false;
        l->n_tokens++;
        return true;
    }
    for (const struct dfl_expr *arg = x->kind == DFL_EXPR_CALL ? x->args : NULL; arg; arg = arg->next)
        if (!note_tokens(e, arg))
            return false;
    return note_tokens(e, x->a) && note_tokens(e, x->b);
}

bool dfc_loop_end(struct dfc_elab *e)
{
    struct dfc_loop *l = loop_at(e, e->loop);
    struct dfc_item *end = dfr_array_add(&e->items, sizeof *end, 1);
    if (!end)
        return dfc_no_memory(e->u);
    l->end = e->items.n - 1;
    *end = (struct dfc_item){ .stmt = l->stmt, .frame = l->frame, .inner = DF_NONE, .loop = e->loop, .env = l->env->outer };
    l->first_token = l->reads.n;
    const bool ok = note_tokens(e, l->stmt->cond);
    e->loop = 0;
    return ok;
}

/* ---- y = last(x) ---- */

bool dfc_last_read(struct dfc_elab *e, uint32_t frame, const struct dfl_stmt *stmt, const struct dfc_env *env, uint32_t *stream)
{
    const struct dfl_expr *x = stmt->actuals->expr;
    int64_t indices[DFC_MAX_INDICES];
    unsigned n;
    if (e->loop) {
        dfl_error(e->u->sink, stmt->call_loc, "'last' inside of a loop with 'while': there is no last round yet");
        return failed(e, frame, env);
    }
    const char *name = dfc_printf(e->u, "last(%s)", x->s); /* no name in a source */
    if (!name || !dfc_fold_indices(e, frame, env, x->args, indices, &n) || (*stream = dfc_stream_get(e, frame, name, indices, n)) == DF_NONE)
        return false;
    struct dfc_last *last = dfr_array_add(&e->lasts, sizeof *last, 1);
    if (!last)
        return dfc_no_memory(e->u);
    *last = (struct dfc_last){ stmt, env, frame, *stream };
    dfc_streams(e)[*stream].flags |= DFC_STREAM_READ;
    return true;
}

/* ---- what rounds carry ---- */

static const int64_t *indices_of(const struct dfc_elab *e, uint32_t stream) { return (const int64_t *)e->indices.items + dfc_streams(e)[stream].first_index; }

static const char *name_of(const struct dfc_elab *e, uint32_t stream) { return dfc_index_names(&e->names)[dfc_streams(e)[stream].name]; }

/* "x[k]", "x[2, k]": as a round names it. */
static const char *name_inside(struct dfc_elab *e, const struct dfc_loop *l, uint32_t now, uint32_t next)
{
    const char *text = dfc_printf(e->u, "%s", name_of(e, now));
    for (unsigned i = 0; text && i < dfc_streams(e)[now].n_indices; i++) {
        const bool counts = indices_of(e, now)[i] != indices_of(e, next)[i];
        text = counts ? dfc_printf(e->u, "%s%s%s", text, i ? ", " : "[", variable(l))
                      : dfc_printf(e->u, "%s%s%lld", text, i ? ", " : "[", (long long)indices_of(e, now)[i]);
    }
    return text ? dfc_printf(e->u, "%s]", text) : NULL;
}

/* The number of what is carried from `first` to `made`, added if it is new. DF_NONE: no memory. */
static uint32_t carry(struct dfc_elab *e, struct dfc_loop *l, uint32_t first, uint32_t made)
{
    for (uint32_t i = 0; i < l->carried.n; i++)
        if (carried_of(l)[i].made == made)
            return i;
    const char *name = name_inside(e, l, first, made);
    if (name && l != dfc_loops(e))      /* another loop may change x, too */
        name = dfc_printf(e->u, "%s#%u", name, (unsigned)(l - dfc_loops(e)) + 1);
    const uint32_t inside = name ? dfc_stream_get(e, l->frame, name, NULL, 0) : DF_NONE;
    struct dfc_carried *c = inside == DF_NONE ? NULL : dfr_array_add(&l->carried, sizeof *c, 1);
    if (!c) {
        dfc_no_memory(e->u);
        return DF_NONE;
    }
    *c = (struct dfc_carried){ .first = first, .made = made, .inside = inside, .last = DF_NONE };
    dfc_streams(e)[made].flags |= DFC_STREAM_READ;
    return l->carried.n - 1;
}

/* A stream of before the loop, read because of this expression. */
static void mark_read(struct dfc_elab *e, uint32_t stream, const struct dfl_expr *reader, const struct dfc_env *env)
{
    struct dfc_stream *s = &dfc_streams(e)[stream];
    s->flags |= DFC_STREAM_READ;
    if (!s->reader) {
        s->reader = reader;
        s->reader_env = env;
    }
}

static bool report_read(struct dfc_elab *e, const struct dfc_loop *l, const struct dfc_loop_read *read, bool fixed)
{
    char text[300];
    dfc_stream_print(e, read->now, text, sizeof text);
    if (fixed)
        dfl_error(e->u->sink, read->expr->loc, "'%s' is made in the rounds of this loop, and read at an index that is the same in all of them", text);
    else
        dfl_error(e->u->sink, read->expr->loc, "a round of this loop reads '%s', which the round before does not make", text);
    dfl_hint(e->u->sink, "a round reads '%s[%s]' if '%s[%s + 1]' is assigned in it; only the last round is kept, and what is older a kernel has to pass on",
             read->expr->s, variable(l), read->expr->s, variable(l));
    return failed(e, l->frame, read->env);
}

/* What a read in the body or the condition stands for; *stream: the stream to read in its place. */
static bool connect_read(struct dfc_elab *e, struct dfc_loop *l, const struct dfc_loop_read *read, uint32_t *stream)
{
    const uint32_t number = (uint32_t)(l - dfc_loops(e)) + 1;
    *stream = read->now;
    if (dfc_streams(e)[read->now].loop == number) {
        if (read->now == read->next)
            return report_read(e, l, read, true);
        if (read->in != DF_NONE)
            return true;                /* what this round makes */
        dfl_error(e->u->sink, read->expr->loc, "the condition is evaluated before a round, so it cannot read what the round makes");
        dfl_hint(e->u->sink, "'%s[%s]' is what the round before has made, if this one makes '%s[%s + 1]'", read->expr->s, variable(l), read->expr->s, variable(l));
        return failed(e, l->frame, read->env);
    }
    if (read->now == read->next)
        return true;                    /* the same in all rounds */
    if (dfc_streams(e)[read->next].loop != number)
        return report_read(e, l, read, false);
    const uint32_t c = carry(e, l, read->now, read->next);
    if (c == DF_NONE)
        return false;
    mark_read(e, read->now, read->expr, read->env);
    *stream = carried_of(l)[c].inside;
    return true;
}

static bool check_writes(struct dfc_elab *e, const struct dfc_loop *l)
{
    for (uint32_t i = 0; i < l->writes.n; i++)
        for (uint32_t k = 0; k < l->writes.n; k++)
            if (writes_of(l)[i].next == writes_of(l)[k].now) {
                char text[300];
                dfc_stream_print(e, writes_of(l)[i].next, text, sizeof text);
                dfl_error(e->u->sink, writes_of(l)[i].target->loc, "the next round assigns '%s' again, which this round assigns", text);
                dfl_note(e->u->sink, writes_of(l)[k].target->loc, "this round's is here");
                return failed(e, l->frame, writes_of(l)[i].env);
            }
    return true;
}

/* Do the indices of the target, beside the one that counts rounds, agree with those in last(…)? */
static bool is_asked(const struct dfc_elab *e, const struct dfc_last *last, const struct dfc_loop_write *w)
{
    const unsigned n = dfc_streams(e)[w->now].n_indices;
    const int64_t *now = indices_of(e, w->now), *next = indices_of(e, w->next), *asked = indices_of(e, last->stream);
    unsigned k = 0, counting = 0;
    if (strcmp(name_of(e, w->now), last->stmt->actuals->expr->s) != 0 || dfc_streams(e)[last->stream].n_indices + 1u != n)
        return false;
    for (unsigned i = 0; i < n; i++) {
        counting += now[i] != next[i];
        if (now[i] == next[i] && (k + 1 == n || now[i] != asked[k++]))
            return false;
    }
    return counting == 1;
}

static bool connect_last(struct dfc_elab *e, const struct dfc_last *last)
{
    for (uint32_t i = 0; i < e->loops.n; i++) {
        struct dfc_loop *l = &dfc_loops(e)[i];
        for (uint32_t k = 0; l->frame == last->frame && k < l->writes.n; k++) {
            const struct dfc_loop_write w = writes_of(l)[k];
            if (!is_asked(e, last, &w))
                continue;
            const uint32_t c = carry(e, l, w.before, w.now);
            if (c == DF_NONE)
                return false;
            mark_read(e, w.before, last->stmt->actuals->expr, last->env);
            carried_of(l)[c].last = last->stream;
            carried_of(l)[c].is_read = true;
            return true;
        }
    }
    dfl_error(e->u->sink, last->stmt->call_loc, "no loop with 'while' of this graph assigns '%s' in its rounds", last->stmt->actuals->expr->s);
    dfl_hint(e->u->sink, "'last(x)' is the last x that a loop assigns, as in 'for k in 0..100 while r[k] > 0.1 { x[k + 1] = f(x[k]); }'");
    return failed(e, last->frame, last->env);
}

/* ---- the items that begin and end the loop ---- */

/* A callee with so many inputs and outputs, whose ports are named after streams. NULL: no memory. */
static struct dfc_callee *make_callee(struct dfc_elab *e, const char *name, enum dfc_loop_part part, const uint32_t *in, unsigned n_in, const uint32_t *out, unsigned n_out)
{
    struct dfc_unit *u = e->u;
    struct dfc_callee *callee = dfc_alloc(u, sizeof *callee);
    struct dfl_kernel *kernel = dfc_alloc(u, sizeof *kernel);
    struct dfc_port *ports = dfc_alloc(u, (n_in + n_out + 1u) * sizeof *ports);
    struct dfl_port *texts = dfc_alloc(u, (n_in + n_out + 1u) * sizeof *texts);
    uint16_t *in_port = dfc_alloc(u, (n_in + 1u) * sizeof *in_port), *out_port = dfc_alloc(u, (n_out + 1u) * sizeof *out_port);
    if (!callee || !kernel || !ports || !texts || !in_port || !out_port)
        return NULL;
    for (unsigned p = 0; p < n_in + n_out; p++) {
        const bool is_in = p < n_in;
        texts[p].mode = is_in ? DFL_IN : DFL_OUT;
        texts[p].name.text = name_of(e, is_in ? in[p] : out[p - n_in]);
        ports[p] = (struct dfc_port){ .ast = &texts[p], .in_slot = is_in ? (int)p : -1, .out_slot = is_in ? -1 : (int)(p - n_in) };
        *(is_in ? &in_port[p] : &out_port[p - n_in]) = (uint16_t)p;
    }
    kernel->name.text = callee->name = name;
    *callee = (struct dfc_callee){ .name = name, .loc = { .file = DFL_NO_FILE }, .kernel = kernel, .id = DF_NONE, .code_classes = UINT32_MAX, .ready = true,
                                   .built_in = true, .loop_part = part,
                                   .sig = { .n_ports = n_in + n_out, .n_in = n_in, .n_out = n_out, .ports = ports, .in_port = in_port, .out_port = out_port } };
    return callee;
}

/* A statement for messages and targets without annotations. NULL: no memory. */
static const struct dfl_stmt *make_stmt(struct dfc_elab *e, const struct dfc_loop *l, unsigned n_out)
{
    struct dfl_stmt *stmt = dfc_alloc(e->u, sizeof *stmt);
    struct dfl_target *targets = dfc_alloc(e->u, (n_out + 1u) * sizeof *targets);
    if (!stmt || !targets)
        return NULL;
    for (unsigned i = 0; i < n_out; i++) {
        targets[i].name.text = "_";
        targets[i].loc = l->stmt->loc;
        targets[i].next = i + 1 < n_out ? &targets[i + 1] : NULL;
    }
    *stmt = (struct dfl_stmt){ .kind = DFL_STMT_CALL, .loc = l->stmt->loc, .call_loc = l->stmt->loc, .targets = n_out ? targets : NULL };
    return stmt;
}

static bool set_item(struct dfc_elab *e, struct dfc_loop *l, uint32_t id, const char *name, enum dfc_loop_part part, const struct dfr_array *in, const struct dfr_array *out)
{
    struct dfc_item *item = &dfc_items(e)[id];
    struct dfc_callee *callee = make_callee(e, name, part, in->items, in->n, out->items, out->n);
    const struct dfl_stmt *stmt = make_stmt(e, l, out->n);
    const uint32_t first_in = e->in_streams.n, first_out = e->values.n;
    uint32_t *streams = dfr_array_add(&e->in_streams, sizeof *streams, in->n);
    struct dfc_output *values = streams ? dfr_array_add(&e->values, sizeof *values, out->n) : NULL;
    if (!name || !callee || !stmt || !values)
        return dfc_no_memory(e->u);
    memcpy(streams, in->items, in->n * sizeof *streams);
    for (uint32_t i = 0; i < out->n; i++) {
        const uint32_t stream = ((const uint32_t *)out->items)[i];
        values[i] = (struct dfc_output){ id, stream };
        dfc_streams(e)[stream].source_kind = DFC_SOURCE_VALUE;
        dfc_streams(e)[stream].source = first_out + i;
        dfc_streams(e)[stream].flags |= DFC_STREAM_READ;
    }
    item->callee = callee;
    item->stmt = stmt;
    item->first_in = first_in;
    item->first_out = first_out;
    return true;
}

static bool push(struct dfr_array *list, uint32_t stream)
{
    uint32_t *item = dfr_array_add(list, sizeof *item, 1);
    if (item)
        *item = stream;
    return item;
}

/* "loop-step+residual" */
static const char *loop_name(struct dfc_elab *e, const struct dfc_loop *l)
{
    enum { MOST = 80 };
    const char *name = "loop";
    for (uint32_t i = l->begin + 1; name && i < l->end; i++) {
        const struct dfc_item *item = &dfc_items(e)[i];
        if (item->inner != DF_NONE)
            continue;
        const bool more = strlen(name) + strlen(item->callee->name) > MOST;
        name = dfc_printf(e->u, "%s%c%s", name, strcmp(name, "loop") == 0 ? '-' : '+', more ? "more" : item->callee->name);
        if (more)
            break;
    }
    uint32_t id;
    bool fresh;
    return name && dfc_index_add(&e->names, name, &id, &fresh) ? dfc_index_names(&e->names)[id] : NULL; /* calls are told apart by the text's address */
}

/* What the body makes, a stream of each item, so that the end comes after all of them. */
static bool list_body(struct dfc_elab *e, const struct dfc_loop *l, struct dfr_array *in)
{
    for (uint32_t i = l->begin + 1; i < l->end; i++) {
        const struct dfc_item *item = &dfc_items(e)[i];
        uint32_t stream = DF_NONE;
        for (unsigned k = 0; item->inner == DF_NONE && k < item->callee->sig.n_out && stream == DF_NONE; k++)
            stream = dfc_outputs(e)[item->first_out + k].stream;
        if (item->inner == DF_NONE && stream == DF_NONE) {
            dfl_error(e->u->sink, item->stmt->call_loc, "nothing reads what '%s' makes in the rounds of this loop", item->callee->name);
            return failed(e, item->frame, item->env);
        }
        if (item->inner == DF_NONE && !push(in, stream))
            return dfc_no_memory(e->u);
    }
    return true;
}

static bool make_items(struct dfc_elab *e, struct dfc_loop *l, const uint32_t *tokens)
{
    struct dfr_array first = { 0 }, inside = { 0 }, made = { 0 }, last = { 0 };
    bool ok = true;
    for (uint32_t i = 0; i < l->carried.n; i++) {
        struct dfc_carried *c = &carried_of(l)[i];
        const char *name = c->last == DF_NONE ? dfc_printf(e->u, "last(%s)", name_of(e, c->inside)) : NULL;
        if (name)
            c->last = dfc_stream_get(e, l->frame, name, NULL, 0);
        ok = ok && c->last != DF_NONE && push(&first, c->first) && push(&inside, c->inside) && push(&made, c->made) && push(&last, c->last);
    }
    for (uint32_t i = 0; i < l->n_tokens; i++)
        ok = ok && push(&made, tokens[i]);
    if (!ok)
        dfc_no_memory(e->u);
    const char *name = loop_name(e, l);
    ok = ok && name && list_body(e, l, &made) && set_item(e, l, l->begin, dfc_printf(e->u, "begin of %s", name), DFC_LOOP_BEGIN, &first, &inside) &&
         set_item(e, l, l->end, name, DFC_LOOP_END, &made, &last);
    dfr_array_free(&first);
    dfr_array_free(&inside);
    dfr_array_free(&made);
    dfr_array_free(&last);
    return ok;
}

/* The in ports of graphs that the body calls stand for what these read now. */
static bool connect_graphs(struct dfc_elab *e, const struct dfc_loop *l)
{
    for (uint32_t id = l->begin + 1; id < l->end; id++) {
        const struct dfc_item item = dfc_items(e)[id];
        for (unsigned i = 0; item.inner != DF_NONE && item.frame == l->frame && i < item.callee->sig.n_in; i++) {
            const uint32_t port = dfc_stream_get(e, item.inner, item.callee->sig.ports[item.callee->sig.in_port[i]].ast->name.text, NULL, 0);
            if (port == DF_NONE)
                return false;
            dfc_streams(e)[port].source = dfc_in_streams(e)[item.first_in + i];
        }
    }
    return true;
}

static bool connect_loop(struct dfc_elab *e, struct dfc_loop *l, uint32_t *tokens)
{
    if (!check_writes(e, l))
        return false;
    for (uint32_t i = 0; i < l->reads.n; i++) {
        const struct dfc_loop_read *read = &reads_of(l)[i];
        uint32_t stream;
        if (!connect_read(e, l, read, &stream))
            return false;
        if (read->in != DF_NONE) {
            dfc_in_streams(e)[read->in] = stream;
            continue;
        }
        tokens[i - l->first_token] = stream;
        if (stream == read->now)
            mark_read(e, stream, read->expr, read->env);
    }
    return connect_graphs(e, l);
}

static bool check_carried(struct dfc_elab *e, const struct dfc_loop *l)
{
    if (l->carried.n)
        return true;
    dfl_error(e->u->sink, l->stmt->loc, "no round of this loop reads what the round before makes");
    dfl_hint(e->u->sink, "a loop with 'while' changes streams from round to round: 'x[%s + 1] = f(x[%s]);'", variable(l), variable(l));
    return failed(e, l->frame, l->env->outer);
}

bool dfc_loops_connect(struct dfc_elab *e)
{
    uint32_t **tokens = dfc_alloc(e->u, (e->loops.n + 1u) * sizeof *tokens);
    bool ok = tokens;
    for (uint32_t i = 0; ok && i < e->loops.n; i++) {
        tokens[i] = dfc_alloc(e->u, (dfc_loops(e)[i].n_tokens + 1u) * sizeof **tokens);
        ok = tokens[i] && connect_loop(e, &dfc_loops(e)[i], tokens[i]);
    }
    for (uint32_t i = 0; ok && i < e->lasts.n; i++)
        ok = connect_last(e, (const struct dfc_last *)e->lasts.items + i);
    for (uint32_t i = 0; ok && i < e->loops.n; i++)
        ok = check_carried(e, &dfc_loops(e)[i]) && make_items(e, &dfc_loops(e)[i], tokens[i]);
    return ok;
}

/* ---- who reads it ---- */

bool dfc_loops_check_readers(struct dfc_elab *e)
{
    for (uint32_t id = 0; e->loops.n && id < e->items.n; id++) {
        const struct dfc_item *item = &dfc_items(e)[id];
        for (unsigned i = 0; item->inner == DF_NONE && i < item->callee->sig.n_in; i++) {
            const uint32_t value = e->in_values[item->first_in + i];
            const uint32_t from = value == DF_NONE ? DF_NONE : dfc_outputs(e)[value].item;
            if (from == DF_NONE || !dfc_items(e)[from].loop || dfc_items(e)[from].loop == item->loop || dfc_items(e)[from].callee->loop_part == DFC_LOOP_END)
                continue;
            const struct dfc_stream *s = &dfc_streams(e)[dfc_in_streams(e)[item->first_in + i]];
            const struct dfl_actual *actual = item->stmt->actuals;
            char text[300];
            for (unsigned k = 0; actual && k < i; k++)
                actual = actual->next;
            dfc_stream_print(e, dfc_in_streams(e)[item->first_in + i], text, sizeof text);
            dfl_error(e->u->sink, actual ? actual->expr->loc : item->stmt->call_loc, "'%s' is made in the rounds of a loop with 'while', and read outside", text);
            dfl_hint(e->u->sink, "outside there is what the last round made: 'y = last(%s);'", dfc_index_names(&e->names)[s->name]);
            return failed(e, item->frame, item->env);
        }
    }
    return true;
}

void dfc_loops_free(struct dfc_elab *e)
{
    for (uint32_t i = 0; i < e->loops.n; i++) {
        dfr_array_free(&dfc_loops(e)[i].reads);
        dfr_array_free(&dfc_loops(e)[i].writes);
        dfr_array_free(&dfc_loops(e)[i].carried);
    }
    dfr_array_free(&e->loops);
    dfr_array_free(&e->lasts);
}
