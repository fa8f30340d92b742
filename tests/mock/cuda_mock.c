/* cuda_mock.c - objects of the stand-in for CUDA, and doing what was enqueued (see cuda_mock.h). */
#include "tests/mock/cuda_mock_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct mock mock = { .lock = PTHREAD_MUTEX_INITIALIZER, .driver = 13000 };

/* ---- objects ---- */

void *mock_new(int kind, size_t bytes, int device)
{
    struct object *o = calloc(1, bytes);
    if (!o)
        abort();
    o->kind = kind;
    o->device = device;
    o->next = mock.objects;
    mock.objects = o;
    return o;
}

bool mock_is(const void *object, int kind)
{
    for (const struct object *o = mock.objects; o; o = o->next)
        if (o == object)
            return (int)o->kind == kind && !o->ended;
    return false;
}

void mock_add(struct ops *ops, struct op op)
{
    if (ops->n == ops->capacity) {
        ops->capacity = ops->capacity ? 2 * ops->capacity : 16;
        ops->items = realloc(ops->items, ops->capacity * sizeof *ops->items);
        if (!ops->items)
            abort();
    }
    ops->items[ops->n++] = op;
}

void mock_add_copy(struct ops *to, const struct op *op)
{
    struct op copy = *op;
    if (copy.own) {
        copy.own = malloc(copy.bytes);
        if (!copy.own)
            abort();
        memcpy(copy.own, op->own, copy.bytes);
    }
    mock_add(to, copy);
}

void mock_copy_ops(struct ops *to, const struct ops *from)
{
    for (size_t i = 0; i < from->n; i++)
        mock_add_copy(to, &from->items[i]);
}

/* ---- graphs ---- */

bool mock_in(const struct nodes *nodes, size_t node)
{
    return nodes->bits[node / 64] >> node % 64 & 1;
}

void mock_put(struct nodes *nodes, size_t node)
{
    if (node >= 256)
        abort();
    nodes->bits[node / 64] |= UINT64_C(1) << node % 64;
}

static bool may_follow(const struct op *op, const struct nodes *done)
{
    for (size_t k = 0; k < 4; k++)
        if (op->after.bits[k] & ~done->bits[k])
            return false;
    return true;
}

static uint32_t next_random(void)
{
    mock.random = mock.random * 1664525u + 1013904223u;
    return mock.random >> 8;
}

void mock_copy_graph(struct ops *to, const struct ops *graph)
{
    struct nodes done = { { 0 } };
    mock.graph_edges = 0;
    for (size_t n = 0; n < graph->n; n++) {
        size_t chosen = 0, n_able = 0;
        for (size_t k = 0; k < 4; k++)
            mock.graph_edges += (unsigned)__builtin_popcountll(graph->items[n].after.bits[k]);
        for (size_t i = 0; i < graph->n; i++)
            if (!mock_in(&done, i) && may_follow(&graph->items[i], &done) && next_random() % ++n_able == 0)
                chosen = i;
        mock_put(&done, chosen);
        mock_add_copy(to, &graph->items[chosen]);
    }
}

void mock_free_ops(struct ops *ops)
{
    for (size_t i = ops->done; i < ops->n; i++)
        free(ops->items[i].own);
    free(ops->items);
    *ops = (struct ops){ 0 };
}

static void free_object(struct object *o)
{
    if (o->kind == STREAM) {
        struct capture *capture = ((cudaStream_t)o)->capture;
        mock_free_ops(&((cudaStream_t)o)->queue);
        if (capture)
            mock_free_ops(&capture->ops);
        free(capture);
    } else if (o->kind == GRAPH) {
        mock_free_ops(&((cudaGraph_t)o)->ops);
    } else if (o->kind == EXEC) {
        mock_free_ops(&((cudaGraphExec_t)o)->ops);
    }
    free(o);
}

/* ---- memory ---- */

struct range *mock_range_at(const void *address, size_t bytes)
{
    uintptr_t a = (uintptr_t)address;
    for (struct range *r = mock.ranges; r; r = r->next)
        if (a >= (uintptr_t)r->base && a - (uintptr_t)r->base < r->bytes)
            return bytes <= r->bytes - (a - (uintptr_t)r->base) ? r : NULL;
    return NULL;
}

bool mock_touches_device(const void *address, size_t bytes)
{
    uintptr_t a = (uintptr_t)address;
    for (const struct range *r = mock.ranges; r; r = r->next)
        if (r->device != HOST && a < (uintptr_t)r->base + r->bytes && a + bytes > (uintptr_t)r->base)
            return true;
    return false;
}

bool mock_touches_pinned(const void *address, size_t bytes)
{
    uintptr_t first = (uintptr_t)address / PAGE, last = ((uintptr_t)address + bytes - 1) / PAGE;
    for (const struct range *r = mock.ranges; r; r = r->next)
        if (r->device == HOST && first <= ((uintptr_t)r->base + r->bytes - 1) / PAGE &&
            last >= (uintptr_t)r->base / PAGE)
            return true;
    return false;
}

void mock_range_free(struct range *range)
{
    for (struct range **at = &mock.ranges; *at; at = &(*at)->next)
        if (*at == range) {
            *at = range->next;
            break;
        }
    if (range->map)
        munmap(range->map, range->mapped);
    else if (!range->registered)
        free(range->base);
    free(range);
}

static void protect_memory(int device, int protection)
{
    for (const struct range *r = mock.ranges; r; r = r->next)
        if (r->device == device || (r->device != HOST && mock.peers[device][r->device]))
            mprotect(r->map, r->mapped, protection);
}

/* A device's memory, and that of its peers, is open for the kernels it runs one after the other. HOST: none is open. */
static void open_memory(int device)
{
    static int opened = HOST;
    if (device == opened)
        return;
    if (opened != HOST)
        protect_memory(opened, PROT_NONE);
    if (device != HOST)
        protect_memory(device, PROT_READ | PROT_WRITE);
    opened = device;
}

/* ---- doing ---- */

static bool may_go(const struct CUstream_st *s)
{
    const struct op *op = &s->queue.items[s->queue.done];
    return s->queue.done < s->queue.n && !mock.lost[s->object.device] &&
           (op->kind != OP_WAIT || op->event->done >= op->number || mock.lost[op->event->object.device]);
}

/* Of a device's memory, those pages that hold the bytes. */
static void protect_pages(const void *place, uint64_t bytes, int protection)
{
    const struct range *r = mock_range_at(place, bytes);
    uintptr_t first = (uintptr_t)place / PAGE * PAGE;
    if (r && r->map && bytes > 0)
        mprotect((void *)first, (uintptr_t)place + bytes - first, protection);
}

static void copy(const struct op *op)
{
    protect_pages(op->to, op->bytes, PROT_READ | PROT_WRITE);
    protect_pages(op->from, op->bytes, PROT_READ | PROT_WRITE);
    memmove(op->to, op->own ? op->own : op->from, op->bytes);
    protect_pages(op->to, op->bytes, PROT_NONE);
    protect_pages(op->from, op->bytes, PROT_NONE);
}

static void do_head(struct CUstream_st *s)
{
    struct op op = s->queue.items[s->queue.done++];
    mock.now_ms = (mock.now_ms > op.at_ms ? mock.now_ms : op.at_ms) + 1e-3;
    switch (op.kind) {
    case OP_COPY:
        open_memory(HOST);
        copy(&op);
        mock.copied_bytes += op.bytes;
        mock.now_ms += 1e-6 * (double)op.bytes;
        break;
    case OP_KERNEL:
        open_memory(s->object.device);
        op.fn(op.own);
        mock.now_ms += mock.copied_bytes < mock.cache_bytes ? mock.kernel_ms : mock.cold_ms;
        mock.copied_bytes = 0;
        break;
    case OP_RECORD:
        op.event->done = op.number;
        op.event->at_ms = mock.now_ms;
        break;
    case OP_WAIT:
        break;
    case OP_FAULT:
        mock.lost[s->object.device] = cudaErrorIllegalAddress;
        break;
    }
    free(op.own);
    if (s->queue.done == s->queue.n)
        s->queue.n = s->queue.done = 0;
}

/* One head that may go; false: there is none. */
static bool do_one(void)
{
    struct CUstream_st *ready[256];
    size_t n = 0;
    for (struct object *o = mock.objects; o && n < 256; o = o->next)
        if (o->kind == STREAM && may_go((struct CUstream_st *)o))
            ready[n++] = (struct CUstream_st *)o;
    if (n)
        do_head(ready[next_random() % n]);
    return n > 0;
}

void mock_some(unsigned at_most)
{
    for (unsigned n = next_random() % (at_most + 1); n > 0 && do_one(); n--)
        ;
    open_memory(HOST);
}

void mock_until_empty(cudaStream_t stream)
{
    while ((!stream || (stream->queue.done < stream->queue.n && !mock.lost[stream->object.device])) && do_one())
        ;
    open_memory(HOST);
}

/* ---- the tests' side ---- */

void mock_begin(unsigned devices, uint64_t memory_bytes, uint32_t seed)
{
    pthread_mutex_lock(&mock.lock);
    while (mock.ranges)
        mock_range_free(mock.ranges);
    for (struct object *o = mock.objects, *next; o; o = next) {
        next = o->next;
        free_object(o);
    }
    mock.objects = NULL;
    mock.devices = devices;
    mock.memory_bytes = memory_bytes;
    mock.random = seed;
    mock.records = mock.timed_events = mock.batches = 0;
    mock.calls = mock.until_failure = mock.graph_launches = mock.graph_edges = mock.spoiled = 0;
    mock.failure = mock.count_status = 0;
    mock.driver = 13000;
    mock.failed = NULL;
    mock.blas = (struct mock_blas){ 0 };
    mock.now_ms = mock.host_ms = mock.call_ms = mock.kernel_ms = mock.cold_ms = 0;
    mock.cache_bytes = mock.copied_bytes = mock.frame = 0;
    mock.processors = mock.threads = 0;
    memset(mock.lost, 0, sizeof mock.lost);
    memset(mock.peers, 0, sizeof mock.peers);
    mock.no_peers = false;
    memset(mock.busy, 0, sizeof mock.busy);
    mock.integrated = mock.coherent = mock.no_batches = false;
    memset(mock.others_bytes, 0, sizeof mock.others_bytes);
    memset(mock.no_code, 0, sizeof mock.no_code);
    memset(mock.loads, 0, sizeof mock.loads);
    pthread_mutex_unlock(&mock.lock);
    (void)cudaGetLastError();
}

size_t mock_left(void)
{
    size_t n = 0;
    pthread_mutex_lock(&mock.lock);
    for (const struct range *r = mock.ranges; r; r = r->next)
        n++;
    for (const struct object *o = mock.objects; o; o = o->next)
        n += !o->ended || (o->kind == STREAM && ((cudaStream_t)o)->capture);
    pthread_mutex_unlock(&mock.lock);
    return n;
}

static uint64_t read_locked(const uint64_t *count)
{
    pthread_mutex_lock(&mock.lock);
    uint64_t n = *count;
    pthread_mutex_unlock(&mock.lock);
    return n;
}

uint64_t mock_calls(void) { return read_locked(&mock.calls); }
uint64_t mock_graph_launches(void) { return read_locked(&mock.graph_launches); }
uint64_t mock_records(void) { return read_locked(&mock.records); }
uint64_t mock_batches(void) { return read_locked(&mock.batches); }
uint64_t mock_timed_events(void) { return read_locked(&mock.timed_events); }
uint64_t mock_graph_edges(void) { return read_locked(&mock.graph_edges); }
uint64_t mock_spoiled(void) { return read_locked(&mock.spoiled); }

const char *mock_connections(void)
{
    return mock.connections;
}

bool mock_peers(int from, int to)
{
    return mock.peers[from][to];
}

void mock_busy(int device)
{
    mock.busy[device] = true;
}

void mock_others(int device, uint64_t bytes)
{
    mock.others_bytes[device] = bytes;
}

void mock_local(uint64_t frame, int processors, int threads)
{
    mock.frame = frame;
    mock.processors = processors;
    mock.threads = threads;
}

void mock_integrated(void)
{
    mock.integrated = true;
}

void mock_coherent(void)
{
    mock.coherent = true;
}

void mock_no_code(int device)
{
    mock.no_code[device] = true;
}

uint64_t mock_loads(int device)
{
    return read_locked(&mock.loads[device]);
}

bool mock_has_batches(void)
{
    return CUDART_VERSION >= 12080 && !mock.no_batches;
}

void mock_no_batches(void)
{
    mock.no_batches = true;
}

void mock_no_peers(void)
{
    mock.no_peers = true;
}

void mock_fail(uint64_t n, int status)
{
    pthread_mutex_lock(&mock.lock);
    mock.until_failure = n;
    mock.failure = status;
    mock.failed = NULL;
    pthread_mutex_unlock(&mock.lock);
}

const char *mock_failed(void)
{
    return mock.failed;
}

void mock_driver(int version, int status)
{
    mock.driver = version;
    mock.count_status = status;
}

void mock_times(double call_us, double kernel_us, double cold_us, size_t cache_bytes)
{
    pthread_mutex_lock(&mock.lock);
    mock.host_ms = mock.now_ms;
    mock.call_ms = 1e-3 * call_us;
    mock.kernel_ms = 1e-3 * kernel_us;
    mock.cold_ms = 1e-3 * cold_us;
    mock.cache_bytes = cache_bytes;
    mock.copied_bytes = 0;
    pthread_mutex_unlock(&mock.lock);
}
