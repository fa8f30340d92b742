/* buffers.c - matches the caller's buffers to values, and checks that each can be used (buffers.h). start/ creates the table when a run or a pass begins, and a
 * session's call moves it to other memory; then the engine and the workers of GPUs ask for empty tokens and extents. All messages that reject a buffer are in
 * this file.
 */
#include "runtime/engine/buffers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/base/message.h"
#include "runtime/base/suggest.h"
#include "runtime/extents/extents.h"
#include "runtime/graph/poison.h"

#define NAME_BYTES 1024

struct find {
    struct df_run *run;
    const struct df_graph *g;
    struct dfr_buffers *b;
    const struct df_buffer *buffers;
    uint32_t *order;                    /* those of b: first sorted by the name of their node */
    uint32_t *node;                     /* DF_NONE: not found yet */
    uint64_t *span_bytes;
    uint32_t *taker;                    /* by value: the value that takes its memory over; DF_NONE: none does */
    struct df_error *error;
};

/* Gives an error that begins "buffer of node 'main/blur', output 0: ". */
__attribute__((format(printf, 3, 4)))
static int refuse(const struct find *f, uint32_t i, const char *format, ...)
{
    char why[320];
    va_list list;
    va_start(list, format);
    dfr_message(why, sizeof why, format, list);
    va_end(list);
    return dfr_error(f->error, DF_E_ARGUMENT, "buffer of node '%.160s', output %u: %s", f->buffers[i].node,
                     f->buffers[i].out_slot, why);
}

/* ---- nodes by name ---- */

static int by_name(const void *a, const void *b, void *arg)
{
    const struct df_buffer *buffers = arg;
    return strcmp(buffers[*(const uint32_t *)a].node, buffers[*(const uint32_t *)b].node);
}

/* The place in `order` of the first buffer whose name is not before this one. */
static uint32_t first_of_name(const struct find *f, const char *name)
{
    uint32_t low = 0, high = f->b->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(f->buffers[f->order[middle]].node, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int unknown_node(const struct find *f, uint32_t i)
{
    char name[NAME_BYTES], closest[NAME_BYTES];
    struct dfr_suggestion suggestion = { .name = f->buffers[i].node };
    for (uint32_t v = 0; v < f->g->n_nodes; v++) {
        const char *before = suggestion.closest;
        df_node_name(f->g, v, name, sizeof name);
        dfr_suggest(&suggestion, name);
        if (suggestion.closest != before) {     /* a copy, because `name` is overwritten */
            memcpy(closest, name, sizeof closest);
            suggestion.closest = closest;
        }
    }
    if (suggestion.closest)
        return refuse(f, i, "there is no such node; did you mean '%.200s'?", closest);
    return refuse(f, i, "there is no such node");
}

static int find_nodes(struct find *f)
{
    char name[NAME_BYTES];

    for (uint32_t i = 0; i < f->b->n; i++) {
        f->order[i] = i;
        f->node[i] = DF_NONE;
        if (!f->buffers[i].node)
            return dfr_error(f->error, DF_E_ARGUMENT, "buffer %u names no node", i);
    }
    qsort_r(f->order, f->b->n, sizeof *f->order, by_name, (void *)f->buffers);
    for (uint32_t v = 0; v < f->g->n_nodes; v++) {
        df_node_name(f->g, v, name, sizeof name);
        for (uint32_t k = first_of_name(f, name); k < f->b->n && !strcmp(f->buffers[f->order[k]].node, name); k++) {
            if (f->node[f->order[k]] != DF_NONE)
                return refuse(f, f->order[k], "several nodes have this name");
            f->node[f->order[k]] = v;
        }
    }
    for (uint32_t i = 0; i < f->b->n; i++)
        if (f->node[i] == DF_NONE)
            return unknown_node(f, i);
    return DF_OK;
}

/* ---- values ---- */

static void find_takers(struct find *f)
{
    for (uint32_t y = 0; y < f->g->n_values; y++)
        f->taker[y] = DF_NONE;
    for (uint32_t y = 0; y < f->g->n_values; y++)
        if (f->g->values[y].taken_from != DF_NONE)
            f->taker[f->g->values[y].taken_from] = y;
}

static uint32_t first_of_chain(const struct df_graph *g, uint32_t value)
{
    while (g->values[value].taken_from != DF_NONE)
        value = g->values[value].taken_from;
    return value;
}

/* Notes the buffer's value, or refuses the buffer if there is none. */
static int find_value(struct find *f, uint32_t i)
{
    uint32_t v = f->node[i], n_out = df_node_n_out(f->g, v), y = f->g->nodes[v].first_out + f->buffers[i].out_slot;
    char name[160];

    if (f->buffers[i].out_slot >= n_out)
        return refuse(f, i, "it has %u output%s", n_out, n_out == 1 ? "" : "s");
    if (f->taker[y] != DF_NONE) {
        while (f->taker[y] != DF_NONE)
            y = f->taker[y];
        df_node_name(f->g, f->g->values[y].producer, name, sizeof name);
        return refuse(f, i, "its memory goes on to node '%s', which changes it in place (inout): the buffer is to name "
                            "that one's output %u", name, f->g->values[y].slot);
    }
    if (f->b->lent[y])
        return refuse(f, i, "it has two buffers");
    f->b->value[i] = y;
    return DF_OK;
}

/* Is it the run's own memory, in which tokens lie for later passes? */
static bool is_own(const struct find *f, uint32_t i)
{
    return i >= f->b->n - f->run->memory.n_own_buffers;
}

/* The waves of the run; for its own memory, the rounds of all passes. INT64_MAX: nobody knows. */
static int64_t limit_of(const struct find *f, uint32_t i)
{
    const struct dfr_passes *p = f->run->skips.passes;
    return p && !is_own(f, i) ? dfr_passes_waves(p) : atomic_load(&f->run->firing.limit);
}

/* The number of tokens that need places. INT64_MAX: nobody knows. */
static int64_t count_waves(const struct find *f, uint32_t i)
{
    return df_value_is_once(f->g, f->b->value[i]) ? 1 : limit_of(f, i);
}

/* A call of a session says where the memory is. What fires before the waves makes its value in the first call, for all. */
static bool comes_later(const struct find *f, uint32_t i)
{
    return f->run->calls.on && !is_own(f, i) && (f->g->nodes[f->node[i]].flags & (DF_NODE_ONCE | DF_NODE_FINAL)) != DF_NODE_ONCE;
}

/* Bytes from the first to the end of the last of n tokens. */
static uint64_t span_of(uint64_t n, uint64_t stride, uint64_t bytes)
{
    uint64_t span = 0;                  /* if there is no wave, there is no token */
    if (n > 0 && (__builtin_mul_overflow(n - 1, stride, &span) || __builtin_add_overflow(span, bytes, &span)))
        span = UINT64_MAX;
    return span;
}

static int check_room(struct find *f, uint32_t i)
{
    const struct df_buffer *from = &f->buffers[i];
    uint64_t bytes = f->g->values[f->b->value[i]].bytes, stride = from->stride_bytes ? from->stride_bytes : bytes;
    int64_t waves = count_waves(f, i);
    uint64_t n = from->n_tokens ? from->n_tokens : (uint64_t)waves, span = span_of(n, stride, bytes);

    if (!from->data && !comes_later(f, i))
        return refuse(f, i, "its data is NULL");
    if (!from->n_tokens && waves == INT64_MAX)
        return refuse(f, i, "nobody knows how many waves there will be: say how many the run has, or use places in "
                            "turn (n_tokens)");
    if (stride < bytes && n > 1)
        return refuse(f, i, "tokens of %llu bytes cannot lie %llu bytes apart", (unsigned long long)bytes,
                      (unsigned long long)stride);
    if (span > from->bytes)
        return refuse(f, i, "it has %llu bytes, and %llu token%s of %llu, %llu bytes from one to the next, take %llu",
                      (unsigned long long)from->bytes, (unsigned long long)n, n == 1 ? "" : "s",
                      (unsigned long long)bytes, (unsigned long long)stride, (unsigned long long)span);
    f->span_bytes[i] = span;
    f->b->of[i] = (struct dfm_lent){ .data = from->data, .stride_bytes = stride, .n_tokens = n ? n : 1,
                                     .given = from->given, .moves = comes_later(f, i) };
    return DF_OK;
}

static int check_alignment(struct find *f, uint32_t i)
{
    const struct df_value *y = &f->g->values[f->b->value[i]];
    size_t elem_bytes = df_elem_bytes((enum df_elem)dfr_out_port(f->g, y->producer, y->slot)->elem);

    if ((uintptr_t)f->buffers[i].data % elem_bytes ||
        (f->b->of[i].n_tokens > 1 && f->b->of[i].stride_bytes % elem_bytes))
        return refuse(f, i, "each token must begin at a multiple of %zu bytes, for its elements", elem_bytes);
    return DF_OK;
}

static bool is_changed(const struct find *f, uint32_t i)
{
    return !f->buffers[i].given || f->g->values[f->b->value[i]].taken_from != DF_NONE;
}

/* ---- given ---- */

static int check_given(struct find *f, uint32_t i)
{
    uint32_t v = f->g->values[first_of_chain(f->g, f->b->value[i])].producer;
    char name[160];

    if (!f->buffers[i].given)
        return DF_OK;
    df_node_name(f->g, v, name, sizeof name);
    if (df_node_n_in(f->g, v) > 0)
        return refuse(f, i, "what is given is made by a source, and node '%s' has inputs", name);
    f->b->spared[v] = 1;
    return DF_OK;
}

/* All outputs of a spared node must be given, because it is not called. */
static int check_spared(struct find *f, uint32_t i)
{
    uint32_t v = f->g->values[first_of_chain(f->g, f->b->value[i])].producer, first = f->g->nodes[v].first_out;
    char name[160];

    if (!f->buffers[i].given)
        return DF_OK;
    df_node_name(f->g, v, name, sizeof name);
    for (uint32_t y = first; y < first + df_node_n_out(f->g, v); y++) {
        const struct dfm_lent *lent = f->b->lent[y];
        if (!(lent && lent->given) && f->g->values[y].bytes > 0)
            return refuse(f, i, "it is given, but output %u of node '%s' is not: a node is called for all it makes or "
                                "for nothing", f->g->values[y].slot, name);
    }
    return DF_OK;
}

/* The port of what is given: of the chain's first value. */
static const struct df_kport *port_of(const struct find *f, uint32_t i)
{
    const struct df_value *y = &f->g->values[first_of_chain(f->g, f->b->value[i])];
    return dfr_out_port(f->g, y->producer, y->slot);
}

static const uint64_t *largest_of(const struct find *f, uint32_t i)
{
    const struct df_node *node = &f->g->nodes[f->g->values[first_of_chain(f->g, f->b->value[i])].producer];
    uint32_t port = (uint32_t)(port_of(f, i) - &f->g->kports[f->g->kernels[node->kernel].first_port]);
    return f->g->port_dims + (f->g->works[node->work].first_port + port) * (size_t)DF_MAX_RANK;
}

/* How large n tokens are that are given, if the caller says it. */
static int check_given_extents(struct find *f, uint32_t i, uint64_t n)
{
    const struct df_kport *port = port_of(f, i);
    const size_t *extents = f->buffers[i].given && port->own ? f->buffers[i].extents : NULL;

    for (uint64_t k = 0; extents && k < n * DF_MAX_RANK; k++) {
        uint64_t most = largest_of(f, i)[k % DF_MAX_RANK];
        if (port->own >> k % DF_MAX_RANK & 1 ? extents[k] < 1 || extents[k] > most : extents[k] != most)
            return refuse(f, i, "extent %u of token %llu is %zu, and it may be %s%llu", (unsigned)(k % DF_MAX_RANK) + 1,
                          (unsigned long long)(k / DF_MAX_RANK), extents[k],
                          port->own >> k % DF_MAX_RANK & 1 ? "from 1 to " : "", (unsigned long long)most);
    }
    return DF_OK;
}

static int check_extents(struct find *f, uint32_t i)
{
    return check_given_extents(f, i, f->b->of[i].n_tokens);
}

/* ---- common bytes ---- */

static int by_address(const void *a, const void *b, void *arg)
{
    const struct df_buffer *buffers = arg;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    uintptr_t x = (uintptr_t)buffers[i].data, y = (uintptr_t)buffers[j].data;
    return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

/* Do tokens of the two buffers lie in turn, as in an array of records? `first` begins first. */
static bool interleave(const struct find *f, uint32_t first, uint32_t second)
{
    const struct dfm_lent *a = &f->b->of[first], *b = &f->b->of[second];
    uint64_t a_bytes = f->g->values[f->b->value[first]].bytes, b_bytes = f->g->values[f->b->value[second]].bytes;
    uint64_t offset;

    if (a->stride_bytes != b->stride_bytes || a->stride_bytes == 0)
        return false;
    offset = (uint64_t)((uintptr_t)f->buffers[second].data - (uintptr_t)f->buffers[first].data) % a->stride_bytes;
    return offset >= a_bytes && b_bytes <= a->stride_bytes - offset;
}

/* Whether the buffers are still in the order of the call before, as they are if a caller uses the same arrays again. */
static bool is_ordered(const struct find *f)
{
    for (uint32_t k = 1; k < f->b->n; k++)
        if (by_address(&f->order[k - 1], &f->order[k], (void *)f->buffers) > 0)
            return false;
    return true;
}

static int check_apart(struct find *f)
{
    if (!is_ordered(f))
        qsort_r(f->order, f->b->n, sizeof *f->order, by_address, (void *)f->buffers);
    for (uint32_t k = 0; k < f->b->n; k++)
        for (uint32_t m = k + 1; m < f->b->n; m++) {
            uint32_t i = f->order[k], j = f->order[m];
            if (!f->buffers[i].data ||  /* a session's that is not known yet */
                (uintptr_t)f->buffers[j].data - (uintptr_t)f->buffers[i].data >= f->span_bytes[i])
                break;
            if (f->span_bytes[j] > 0 && (is_changed(f, i) || is_changed(f, j)) && !interleave(f, i, j))
                return refuse(f, j, "it has bytes in common with that of node '%.120s', output %u", f->buffers[i].node,
                              f->buffers[i].out_slot);
        }
    return DF_OK;
}

/* ---- waves in flight ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Each slot takes every inflight-th wave, and slots do not wait for each other. So only waves of one slot may share a
 * place. */
static int check_turn(struct find *f, uint32_t i)
{
    int64_t limit = limit_of(f, i);
    uint64_t n = f->b->of[i].n_tokens, asked = f->run->options.inflight;

    if (count_waves(f, i) <= 1 || n >= (uint64_t)limit || !is_changed(f, i))
        return DF_OK;
    asked = asked < (uint64_t)limit ? asked : (uint64_t)limit;
    if (asked > 0 && n % asked != 0)
        return refuse(f, i, "%llu places in turn are not enough for %llu waves in flight: a multiple of that is",
                      (unsigned long long)n, (unsigned long long)asked);
    f->b->turn = common_divisor(n, f->b->turn);
    return DF_OK;
}

uint32_t dfr_buffers_inflight(const struct df_run *run, uint32_t n)
{
    if (!run->memory.buffers || run->memory.buffers->turn == 0)
        return n;
    while (run->memory.buffers->turn % n != 0)
        n--;
    return n;
}

/* ---- all of them ---- */

/* A value without bytes gets no lent memory, because every block has at least one byte. */
static void lend(struct find *f, uint32_t i)
{
    uint32_t y = f->b->value[i];

    if (f->g->values[y].bytes == 0)
        return;
    if (is_changed(f, i))
        f->b->keeper[y] = i;
    for (; y != DF_NONE; y = f->g->values[y].taken_from)
        f->b->lent[y] = &f->b->of[i];
}

static int find_all(struct find *f)
{
    int (*const checks[])(struct find *f, uint32_t i) = { find_value, check_room, check_alignment, check_given,
                                                          check_extents, check_turn };
    int status = find_nodes(f);

    find_takers(f);
    for (uint32_t i = 0; i < f->b->n && status == DF_OK; i++) {
        for (unsigned k = 0; k < sizeof checks / sizeof checks[0] && status == DF_OK; k++)
            status = checks[k](f, i);
        if (status == DF_OK)
            lend(f, i);
    }
    for (uint32_t i = 0; i < f->b->n && status == DF_OK; i++)
        status = check_spared(f, i);
    return status == DF_OK ? check_apart(f) : status;
}

static struct dfr_buffers *make(const struct df_graph *g, uint32_t n)
{
    struct dfr_buffers *b = calloc(1, sizeof *b);

    if (!b)
        return NULL;
    b->n = n;
    b->lent = calloc((size_t)g->n_values + 1, sizeof *b->lent);
    b->keeper = malloc(((size_t)g->n_values + 1) * sizeof *b->keeper);
    b->spared = calloc((size_t)g->n_nodes + 1, 1);
    b->value = malloc(n * sizeof *b->value);
    b->node = malloc(n * sizeof *b->node);
    b->order = malloc(n * sizeof *b->order);
    b->span_bytes = calloc(n, sizeof *b->span_bytes);
    b->of = calloc(n, sizeof *b->of);
    b->pinned = calloc(n, sizeof *b->pinned);
    for (uint32_t y = 0; b->keeper && y < g->n_values; y++)
        b->keeper[y] = DF_NONE;
    return b;
}

int dfr_buffers_create(struct df_run *run, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    uint32_t n = run->options.n_buffers;
    struct find f = { .run = run, .g = g, .buffers = run->options.buffers, .error = error };
    int status;

    if (n == 0)
        return DF_OK;
    if (!run->options.buffers)
        return dfr_error(error, DF_E_ARGUMENT, "%u buffers are said to be given, and none are", n);
    f.b = run->memory.buffers = make(g, n);
    f.taker = malloc(((size_t)g->n_values + 1) * sizeof *f.taker);
    if (!f.b || !f.b->lent || !f.b->keeper || !f.b->spared || !f.b->value || !f.b->of || !f.b->pinned || !f.b->order ||
        !f.b->node || !f.b->span_bytes || !f.taker) {
        free(f.taker);
        return dfr_error_memory(error);
    }
    f.b->given = run->options.buffers;
    if (run->calls.on && run->memory.n_own_buffers > 0) {
        if (!(f.b->all = malloc(n * sizeof *f.b->all))) {
            free(f.taker);
            return dfr_error_memory(error);
        }
        memcpy(f.b->all, run->options.buffers, n * sizeof *f.b->all);
    }
    f.order = f.b->order;
    f.node = f.b->node;
    f.span_bytes = f.b->span_bytes;
    status = find_all(&f);
    free(f.taker);
    return status;
}

/* The memory that these waves of a call use, of which there may be fewer than the session was opened for. */
static void span_call(struct find *f, uint32_t i, int64_t waves)
{
    const struct dfm_lent *of = &f->b->of[i];
    const size_t *extents = f->buffers[i].given && port_of(f, i)->own ? f->buffers[i].extents : NULL;
    uint64_t bytes = f->g->values[f->b->value[i]].bytes;
    if (f->buffers[i].n_tokens || !comes_later(f, i) || df_value_is_once(f->g, f->b->value[i]))
        return;
    if (extents && waves > 0) {         /* the last token ends where its own extents end */
        bytes = df_elem_bytes((enum df_elem)port_of(f, i)->elem);
        for (unsigned k = 0; k < DF_MAX_RANK; k++)
            bytes *= extents[(waves - 1) * DF_MAX_RANK + k];
    }
    f->span_bytes[i] = span_of((uint64_t)waves, of->stride_bytes, bytes);
}

int dfr_buffers_move(struct df_run *run, const struct df_buffer *buffers, int64_t waves, struct df_error *error)
{
    struct dfr_buffers *b = run->memory.buffers;
    if (b->all) {
        memcpy(b->all, buffers, (b->n - run->memory.n_own_buffers) * sizeof *b->all);
        buffers = b->all;
    }
    struct find f = { .run = run, .g = run->graph, .b = b, .buffers = buffers, .error = error, .order = b->order,
                      .node = b->node, .span_bytes = b->span_bytes };
    int status = DF_OK;

    for (uint32_t i = 0; i < b->n && status == DF_OK; i++)
        if (!buffers[i].data)
            status = refuse(&f, i, "its data is NULL, and no call before has said where it lies");
        else if (buffers[i].data != b->of[i].data && !comes_later(&f, i))
            status = refuse(&f, i, "its node fires once, so it stays where it was when the session was opened");
        else if ((status = check_alignment(&f, i)) == DF_OK)
            status = check_given_extents(&f, i, buffers[i].n_tokens ? buffers[i].n_tokens : (uint64_t)waves);
    for (uint32_t i = 0; i < b->n; i++)
        span_call(&f, i, waves);
    if (status == DF_OK)
        status = check_apart(&f);
    for (uint32_t i = 0; i < b->n && status == DF_OK; i++)
        b->of[i].data = buffers[i].data;
    if (status == DF_OK) {
        b->given = buffers;
        dfr_buffers_mark_pinned(b);
    }
    return status;
}

/* The buffer's place for a token of that round. All passes use the place of the wave. What is final has one token. */
static uint64_t place_of(const struct df_run *run, const struct df_buffer *buffer, uint64_t job, int64_t round)
{
    int64_t wave = dfr_skips_wave(&run->skips, round);

    if (run->graph->nodes[dfr_job_node(job)].flags & DF_NODE_FINAL)
        return 0;
    return buffer->n_tokens ? (uint64_t)wave % buffer->n_tokens : (uint64_t)wave;
}

void dfr_buffers_empty(const struct df_run *run, uint64_t job, int64_t round)
{
    const struct dfr_buffers *b = run->memory.buffers;

    for (uint32_t i = 0; b && i < b->n; i++) {
        const struct df_buffer *buffer = &b->given[i];
        uint32_t value = b->value[i];
        if (buffer->empty && run->graph->values[value].producer == dfr_job_node(job) && !df_value_is_acc(run->graph, value))
            buffer->empty[place_of(run, buffer, job, round)] = 1;
    }
}

bool dfr_buffers_given_empty(const struct df_run *run, uint64_t job, uint32_t value, int64_t round)
{
    const struct dfr_buffers *b = run->memory.buffers;
    const struct df_buffer *buffer = b->lent[value] ? &b->given[b->lent[value] - b->of] : NULL;

    return buffer && buffer->empty && buffer->empty[place_of(run, buffer, job, round)];
}

void dfr_buffers_given_extents(const struct df_run *run, uint64_t job, int64_t round, size_t *dims)
{
    const struct dfr_buffers *b = run->memory.buffers;
    const struct df_graph *g = run->graph;
    const struct df_node *node = &g->nodes[dfr_job_node(job)];

    for (uint32_t y = node->first_out; y < node->first_out + df_node_n_out(g, dfr_job_node(job)); y++) {
        const struct df_buffer *buffer = b->lent[y] ? &b->given[b->lent[y] - b->of] : NULL;
        const struct df_kernel *kernel = &g->kernels[node->kernel];
        const struct df_kport *port = dfr_out_port(g, dfr_job_node(job), g->values[y].slot);
        uint32_t p = (uint32_t)(port - &g->kports[kernel->first_port]);
        for (unsigned k = 0; buffer && buffer->extents && k < port->rank; k++)
            if (port->own >> k & 1)
                dims[df_extent_variable(g, kernel, p, k)] = buffer->extents[place_of(run, buffer, job, round) * DF_MAX_RANK + k];
    }
}

void dfr_buffers_extents(const struct df_run *run, uint64_t job, int64_t round)
{
    const struct dfr_buffers *b = run->memory.buffers;

    for (uint32_t i = 0; b && i < b->n; i++) {
        const struct df_buffer *buffer = &b->given[i];
        uint32_t value = b->value[i], slot = dfr_job_slot(job);
        if (run->graph->values[value].producer != dfr_job_node(job) || !dfr_extents_value_varies(run->extents, value))
            continue;
        uint64_t place = place_of(run, buffer, job, round);
        bool empty = dfr_extents_bytes(run->extents, value, slot) == 0;
        if (empty && buffer->empty)
            buffer->empty[place] = 1;
        for (unsigned k = 0; k < DF_MAX_RANK && buffer->extents && !empty; k++)
            buffer->extents[place * DF_MAX_RANK + k] = (size_t)dfr_extents_of(run->extents, value, slot)[k];
    }
}
