/* resolve.c - connects readers to producers for front/front.c, whatever the order of the statements: finds the value of every
 * input and the assignment of every out port, and warns about values that nothing reads.
 *
 * A statement in a loop, or in a graph that is used many times, is reported once, with the number of its occurrences.
 */
#include <stdlib.h>

#include "compiler/elab/elab.h"

/* ---- groups of streams that one place in the source speaks of ---- */

struct group {
    const void *place;                  /* target or reader */
    uint32_t stream, count;             /* the first of them */
};

struct groups {
    struct dfr_array items;             /* struct group */
    struct dfr_table table;
};

static bool same_place(const void *context, uint32_t id, const void *key)
{
    return ((const struct group *)((const struct groups *)context)->items.items)[id].place == key;
}

static bool group_add(struct dfc_elab *e, struct groups *groups, const void *place, uint32_t stream)
{
    uint32_t id, hash = dfr_hash_fold(dfr_hash(0, &place, sizeof place));
    if (dfr_table_find(&groups->table, hash, same_place, groups, place, &id)) {
        ((struct group *)groups->items.items)[id].count++;
        return true;
    }
    struct group *group =
        dfr_table_reserve(&groups->table) ? dfr_array_add(&groups->items, sizeof *group, 1) : NULL;
    if (!group)
        return dfc_no_memory(e->u);
    *group = (struct group){ place, stream, 1 };
    dfr_table_put(&groups->table, hash, groups->items.n - 1);
    return true;
}

static void groups_free(struct groups *groups)
{
    dfr_array_free(&groups->items);
    dfr_table_free(&groups->table);
}

static const char *stream_name(const struct dfc_elab *e, uint32_t stream)
{
    return dfc_index_names(&e->names)[dfc_streams(e)[stream].name];
}

/* ---- read and never assigned ---- */

/* Another element of the same name that is assigned; a note names it. */
static const struct dfl_target *other_element(const struct dfc_elab *e, uint32_t stream)
{
    const struct dfc_stream *s = &dfc_streams(e)[stream];
    for (uint32_t i = 0; i < e->streams.n; i++) {
        const struct dfc_stream *other = &dfc_streams(e)[i];
        if (other->frame == s->frame && other->name == s->name && other->target)
            return other->target;
    }
    return NULL;
}

static void report_unassigned(struct dfc_elab *e, const struct group *group)
{
    const struct dfc_stream *s = &dfc_streams(e)[group->stream];
    char text[300];
    dfc_stream_print(e, group->stream, text, sizeof text);
    if (group->count > 1)
        dfl_error(e->u->sink, s->reader->loc,
                  "'%s' is never assigned, and neither are %u more of '%s' that are read here", text,
                  (unsigned)(group->count - 1), stream_name(e, group->stream));
    else
        dfl_error(e->u->sink, s->reader->loc, "'%s' is never assigned", text);
    const struct dfl_target *other =
        dfl_sink_errors(e->u->sink) <= DFL_MAX_ERRORS ? other_element(e, group->stream) : NULL;
    if (other)
        dfl_note(e->u->sink, other->loc, "other elements of '%s' are assigned here", stream_name(e, group->stream));
    else if (!s->n_indices)
        dfl_hint(e->u->sink,
                 "the statement that assigns it is in an 'if' whose condition is false, or in a loop without rounds");
    dfc_note_context(e, s->frame, s->reader_env);
}

static bool check_assigned(struct dfc_elab *e)
{
    struct groups groups = { 0 };
    bool ok = true;
    for (uint32_t i = 0; i < e->streams.n && ok; i++) {
        const struct dfc_stream *s = &dfc_streams(e)[i];
        if (s->source_kind == DFC_SOURCE_NONE && s->reader && !(s->flags & (DFC_STREAM_IN_PORT | DFC_STREAM_OUT_PORT)))
            ok = group_add(e, &groups, s->reader, i);
    }
    const struct group *items = groups.items.items;
    for (uint32_t i = 0; i < groups.items.n; i++)
        report_unassigned(e, &items[i]);
    ok &= groups.items.n == 0;
    groups_free(&groups);
    return ok;
}

/* ---- out ports ---- */

static bool check_out_ports(struct dfc_elab *e)
{
    struct groups groups = { 0 };
    bool ok = true;
    for (uint32_t i = 0; i < e->streams.n && ok; i++) {
        const struct dfc_stream *s = &dfc_streams(e)[i];
        if (s->source_kind != DFC_SOURCE_NONE || !(s->flags & DFC_STREAM_OUT_PORT))
            continue;
        const struct dfc_sig *sig = &dfc_frames(e)[s->frame].graph->sig;
        uint32_t id;
        for (unsigned p = 0; p < sig->n_out && ok; p++)
            if (dfc_index_find(&e->names, sig->ports[sig->out_port[p]].ast->name.text, &id) && id == s->name)
                ok = group_add(e, &groups, sig->ports[sig->out_port[p]].ast, i);
    }
    const struct group *items = groups.items.items;
    for (uint32_t i = 0; i < groups.items.n; i++) {
        const struct dfl_port *port = items[i].place;
        const struct dfc_stream *s = &dfc_streams(e)[items[i].stream];
        dfl_error(e->u->sink, port->name.loc, "out port '%s' of graph '%s' is never assigned", port->name.text,
                  dfc_frames(e)[s->frame].graph->name);
        dfl_hint(e->u->sink,
                 "the statement that assigns it is in an 'if' whose condition is false, or in a loop without rounds");
        dfc_note_context(e, s->frame, NULL);
    }
    ok &= groups.items.n == 0;
    groups_free(&groups);
    return ok;
}

/* ---- assigned and never read ---- */

static void warn_unread(struct dfc_elab *e, const struct group *group)
{
    const struct dfl_target *target = group->place;
    char text[300];
    dfc_stream_print(e, group->stream, text, sizeof text);
    if (group->count == 1)
        dfl_warning(e->u->sink, target->name.loc, "'%s' is never read", text);
    else
        dfl_warning(e->u->sink, target->name.loc,
                    "'%s' is never read, and neither are %u more of '%s' that are assigned here", text,
                    (unsigned)(group->count - 1), stream_name(e, group->stream));
    dfl_hint(e->u->sink, target->indices ? "'@quiet' after the call says that its outputs may stay unread"
                                         : "'_' in its place discards the output; '@quiet' after the call says that "
                                           "it may stay unread");
}

static bool check_read(struct dfc_elab *e)
{
    struct groups groups = { 0 };
    bool ok = true;
    for (uint32_t i = 0; i < e->streams.n && ok; i++) {
        const struct dfc_stream *s = &dfc_streams(e)[i];
        if (s->target && !(s->flags & (DFC_STREAM_READ | DFC_STREAM_QUIET)))
            ok = group_add(e, &groups, s->target, i);
    }
    for (uint32_t i = 0; i < groups.items.n; i++)
        warn_unread(e, (const struct group *)groups.items.items + i);
    groups_free(&groups);
    return ok;
}

bool dfc_resolve(struct dfc_elab *e)
{
    bool ok = check_assigned(e);
    ok &= check_out_ports(e);
    if (!ok || !check_read(e))
        return false;
    e->in_values = malloc(((size_t)e->in_streams.n + 1) * sizeof *e->in_values);
    if (!e->in_values)
        return dfc_no_memory(e->u);
    for (uint32_t i = 0; i < e->in_streams.n; i++) {
        uint32_t last;
        e->in_values[i] = dfc_stream_value(e, dfc_in_streams(e)[i], &last);
    }
    return dfc_loops_check_readers(e);
}
