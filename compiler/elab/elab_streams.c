/* elab_streams.c - the symbol table of streams, filled by elab.c and read by the rest of the room: a hash table of
 * names with indices, which may hold millions. It also prints streams, and the notes that locate an error inside loops
 * and nested graphs.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/elab/elab.h"

struct key {
    uint32_t frame, name;
    const int64_t *indices;
    unsigned n_indices;
};

static bool same_stream(const void *context, uint32_t id, const void *key)
{
    const struct dfc_elab *e = context;
    const struct dfc_stream *have = &dfc_streams(e)[id];
    const struct key *want = key;
    return have->frame == want->frame && have->name == want->name && have->n_indices == want->n_indices &&
           (!want->n_indices || memcmp((const int64_t *)e->indices.items + have->first_index, want->indices,
                                       want->n_indices * sizeof(int64_t)) == 0);
}

static uint32_t add_stream(struct dfc_elab *e, const struct key *key, uint32_t hash)
{
    uint32_t id = e->streams.n, first = e->indices.n;
    if (id >= DFC_MAX_STREAMS) {        /* of streams that are read and never assigned; the others were counted */
        dfl_error(e->u->sink, e->u->at, "the program has more than %u streams", DFC_MAX_STREAMS);
        e->stopped = true;
        return DF_NONE;
    }
    int64_t *indices = dfr_array_add(&e->indices, sizeof *indices, key->n_indices);
    struct dfc_stream *stream =
        indices && dfr_table_reserve(&e->stream_ids) ? dfr_array_add(&e->streams, sizeof *stream, 1) : NULL;
    if (!stream) {
        dfc_no_memory(e->u);
        return DF_NONE;
    }
    if (key->n_indices)
        memcpy(indices, key->indices, key->n_indices * sizeof *indices);
    stream->frame = key->frame;
    stream->name = key->name;
    stream->first_index = first;
    stream->n_indices = (uint16_t)key->n_indices;
    dfr_table_put(&e->stream_ids, hash, id);
    return id;
}

uint32_t dfc_stream_get(struct dfc_elab *e, uint32_t frame, const char *name, const int64_t *indices,
                        unsigned n_indices)
{
    struct key key = { .frame = frame, .indices = indices, .n_indices = n_indices };
    bool fresh;
    uint32_t id;
    if (!dfc_index_add(&e->names, name, &key.name, &fresh)) {
        dfc_no_memory(e->u);
        return DF_NONE;
    }
    uint64_t hash = dfr_hash((uint64_t)frame << 32 | key.name, indices, n_indices * sizeof *indices);
    if (dfr_table_find(&e->stream_ids, dfr_hash_fold(hash), same_stream, e, &key, &id))
        return id;
    return add_stream(e, &key, dfr_hash_fold(hash));
}

uint32_t dfc_stream_value(const struct dfc_elab *e, uint32_t stream, uint32_t *last)
{
    while (dfc_streams(e)[stream].source_kind == DFC_SOURCE_STREAM)
        stream = dfc_streams(e)[stream].source;
    *last = stream;
    return dfc_streams(e)[stream].source_kind == DFC_SOURCE_VALUE ? dfc_streams(e)[stream].source : DF_NONE;
}

void dfc_stream_print(const struct dfc_elab *e, uint32_t stream, char *text, size_t size)
{
    const struct dfc_stream *s = &dfc_streams(e)[stream];
    const int64_t *indices = (const int64_t *)e->indices.items + s->first_index;
    size_t n = (size_t)snprintf(text, size, "%s", dfc_index_names(&e->names)[s->name]);
    for (unsigned i = 0; i < s->n_indices && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%lld", i ? "," : "[", (long long)indices[i]);
    if (s->n_indices && n < size)
        snprintf(text + n, size - n, "]");
}

/* "i = 1, j = 2", outermost loop first; "" if there is no loop. */
static void print_env(const struct dfc_env *env, char *text, size_t size)
{
    const struct dfc_env *list[DFC_MAX_LOOPS];
    unsigned n = 0;
    size_t at = 0;
    for (; env && n < DFC_MAX_LOOPS; env = env->outer)
        if (!env->rounds)               /* what is told is true of all rounds */
            list[n++] = env;
    text[0] = '\0';
    for (unsigned i = n; i-- > 0 && at < size;)
        at += (size_t)snprintf(text + at, size - at, "%s%s = %lld", i + 1 < n ? ", " : "", list[i]->name,
                               (long long)list[i]->value);
}

void dfc_note_context(const struct dfc_elab *e, uint32_t frame, const struct dfc_env *env)
{
    enum { SHOWN = 6 };
    const struct dfl_loc nowhere = { .file = DFL_NO_FILE };
    char text[400];
    unsigned n = 0;
    if (e->u->no_memory)                /* the error is still to come: front.c reports it */
        return;
    print_env(env, text, sizeof text);
    if (*text)
        dfl_note(e->u->sink, nowhere, "with %s", text);
    /* A root is called by nothing that is written. */
    const uint32_t outermost = e->u->options->root || e->u->options->exported ? 1 : 0;
    for (; frame != outermost && dfc_frames(e)[frame].item != DF_NONE; frame = dfc_frames(e)[frame].parent) {
        if (n++ == SHOWN) {
            dfl_note(e->u->sink, nowhere, "and so on, outwards");
            return;
        }
        const struct dfc_item *item = &dfc_items(e)[dfc_frames(e)[frame].item];
        print_env(item->env, text, sizeof text);
        dfl_note(e->u->sink, item->stmt->call_loc, "in graph '%s', called here%s%s", item->callee->name,
                 *text ? " with " : "", text);
    }
}
