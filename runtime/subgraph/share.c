/* share.c - which parts of accs a graph has, whether sharing them pays, and the graph of some of them (share.h): for ranks/ranks.c, ranks/replica_parts.c and the
 * study of shares in compiler/cluster/. */
#include "runtime/subgraph/share.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/scalars.h"
#include "runtime/io/files.h"

static const struct df_kernel *kernel_of(const struct df_graph *g, uint32_t v)
{
    return &g->kernels[g->nodes[v].kernel];
}

/* ---- can it be shared? ---- */

/* A device is another one for each rank, /dev/stdin above all. So all ranks find the same. */
static bool is_pipe(const char *path)
{
    return !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6) || !dfr_files_again(path);
}

static bool reads_pipe(const struct df_graph *g, uint32_t v, const union df_scalar *scalars)
{
    const struct df_kernel *k = kernel_of(g, v);
    for (uint32_t s = 0; s < k->n_scalars; s++)
        if (g->kscalars[k->first_scalar + s].type == DF_S_STR && is_pipe(scalars[g->works[g->nodes[v].work].first_scalar + s].str))
            return true;
    return false;
}

/* Which sources make on each rank what they make here? */
static int find_again(const struct df_graph *g, const union df_scalar *args, struct dfr_again *again, struct df_error *error)
{
    union df_scalar *scalars = NULL;
    uint8_t *sources = calloc((size_t)g->n_nodes + 1, sizeof *sources);
    int status = sources ? dfr_scalars_create(g, args, &scalars, error) : dfr_error_memory(error);

    *again = (struct dfr_again){ 0 };
    for (uint32_t v = 0; v < g->n_nodes && status == DF_OK; v++)
        sources[v] = df_node_n_in(g, v) > 0       ? DFR_SOURCE_BY_TRAIT
                     : reads_pipe(g, v, scalars)  ? DFR_SOURCE_ONCE
                     : kernel_of(g, v)->traits & (DF_STREAM | DF_ORDERED) ? DFR_SOURCE_BY_TRAIT
                                                                          : DFR_SOURCE_GIVEN;
    if (status == DF_OK)
        status = dfr_again_find(g, sources, again, error);
    free(scalars);
    free(sources);
    return status;
}

static int refuse(const struct df_graph *g, uint32_t v, const char *why, struct df_error *error)
{
    char name[256];
    df_node_name(g, v, name, sizeof name);
    return dfr_error(error, DF_E_REFUSED, "node '%s' %s", name, why);
}

static int check(const struct dfr_shared *s, const struct dfr_again *again, struct df_error *error)
{
    const struct df_graph *g = s->graph;

    if (s->n_parts < 2)
        return dfr_error(error, DF_E_REFUSED, "no acc is divided, or its kernel makes something else in each wave");
    for (uint32_t x = 0; x < g->n_values; x++)
        if (again->kept[x])
            return refuse(g, g->values[x].producer, "makes what parts of an acc read, and cannot be called on each rank: it, or what it reads, is ordered, has "
                          "an acc, reads a pipe, or is a stream without 'restart'", error);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (!(g->nodes[v].flags & DF_NODE_ONCE) && !dfr_is_part_of_acc(g, v) && !df_node_is_ranges(g, v) && !again->called[v])
            return refuse(g, v, "fires in each wave, and parts of accs do not need it", error);
    return DF_OK;
}

static void add_part(struct dfr_shared *s, uint32_t v)
{
    s->parts[s->n_parts++] = v;
    for (uint32_t i = 0; i < df_node_n_acc(s->graph, v); i++)
        s->acc_bytes += s->graph->values[df_node_acc(s->graph, v, i)].bytes;
}

int dfr_shared_find(const struct df_graph *g, const union df_scalar *args, struct dfr_shared *s, struct df_error *error)
{
    struct dfr_again again;
    int status = find_again(g, args, &again, error);

    *s = (struct dfr_shared){ .graph = g, .parts = malloc(((size_t)g->n_nodes + 1) * sizeof *s->parts), .read_bytes = again.read_bytes };
    if (status == DF_OK && !s->parts)
        status = dfr_error_memory(error);
    for (uint32_t v = 0; v < g->n_nodes && status == DF_OK; v++)
        if (dfr_is_part_of_acc(g, v))
            add_part(s, v);
    if (status == DF_OK)
        status = check(s, &again, error);
    dfr_again_free(&again);
    return status;
}

void dfr_shared_free(struct dfr_shared *s)
{
    free(s->parts);
    *s = (struct dfr_shared){ 0 };
}

bool dfr_shared_pays(const struct dfr_shared *s, int n_ranks, bool kept)
{
    return n_ranks >= (kept ? 1 : 2) && s->acc_bytes > s->read_bytes;
}

int dfr_shared_choose(const struct df_graph *g, const union df_scalar *args, int n_ranks, bool kept, enum dfr_share_what what, struct dfr_shared *s,
                      bool *parts, struct df_error *error)
{
    struct df_error why = { "" };
    int status = DF_OK;

    *s = (struct dfr_shared){ 0 };
    *parts = false;
    if (what == DFR_SHARE_WAVES)
        return DF_OK;
    if ((status = dfr_shared_find(g, args, s, &why)) == DF_OK) {
        *parts = what == DFR_SHARE_PARTS || dfr_shared_pays(s, n_ranks - 1, kept);
        return DF_OK;
    }
    dfr_shared_free(s);
    return status == DF_E_REFUSED && what == DFR_SHARE_FIND ? DF_OK : dfr_error(error, status, status == DF_E_REFUSED ? "--share=parts: %s" : "%s", why.text);
}

/* ---- the graph of a share ---- */

/* Does it fire once, on the first rank? A copy is where its reader is. What a share does not need is at no place. */
static bool is_given(const struct df_graph *g, uint32_t v)
{
    return (g->nodes[v].flags & (DF_NODE_ONCE | DF_NODE_FINAL | DF_NODE_INSERTED)) == DF_NODE_ONCE && !df_node_is_ranges(g, v);
}

/* Nodes are in topological order. Streams say how many waves there are, so each share has them all. */
static void place_needed(const struct df_graph *g, uint8_t *place)
{
    for (uint32_t v = g->n_nodes; v-- > 0;) {
        if (kernel_of(g, v)->traits & DF_STREAM)
            place[v] = DFR_BODY;
        for (uint32_t i = 0; place[v] == DFR_BODY && i < df_node_n_in(g, v); i++) {
            uint32_t producer = g->values[g->in_value[g->nodes[v].first_in + i]].producer;
            place[producer] = is_given(g, producer) ? DFR_HEAD : DFR_BODY;
        }
    }
}

int dfr_share_make(const struct dfr_shared *s, uint32_t first, uint32_t end, struct dfr_parts *parts, struct df_error *error)
{
    const struct df_graph *g = s->graph;
    uint8_t *place = malloc((size_t)g->n_nodes + 1);

    *parts = (struct dfr_parts){ 0 };
    if (!place)
        return dfr_error_memory(error);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        place[v] = is_given(g, v) ? DFR_HEAD : DFR_PLACES;
    for (uint32_t i = first; i < end; i++)
        place[s->parts[i]] = DFR_BODY;
    place_needed(g, place);
    return dfr_parts_make_at(g, place, parts, error);
}
