/* cuda_mock_impl.h - the inside of the stand-in, shared by cuda_mock.c (objects and doing what was enqueued) and
 * cuda_mock_api.c (CUDA's functions and their rules). All of it is under one lock. */
#ifndef CUDA_MOCK_IMPL_H
#define CUDA_MOCK_IMPL_H

#include <cuda_runtime_api.h>
#include <pthread.h>

#include "tests/mock/cuda_mock.h"

#define MAX_DEVICES 8
#define HOST (-1)
#define PAGE 4096u

struct nodes {                          /* of a graph: a bit for each */
    uint64_t bits[4];
};

struct op {
    struct nodes after;                 /* in a graph: the nodes that this one follows */
    enum { OP_COPY, OP_KERNEL, OP_RECORD, OP_WAIT, OP_FAULT } kind;
    void *to;
    const void *from;
    size_t bytes;
    void *own;                          /* arguments, or what a copy from pageable memory has taken already */
    void (*fn)(void *);
    cudaEvent_t event;
    uint64_t number;                    /* of the event's record */
    double at_ms;                       /* when the host had enqueued it */
};

struct ops {
    struct op *items;
    size_t n, capacity, done;
};

struct capture {
    cudaStream_t stream;
    bool spoiled;
    struct ops ops;
    struct nodes last;                  /* the next node follows these */
    cudaGraphNode_t told[256];          /* the same, as cudaStreamGetCaptureInfo says it */
};

/* All objects stay until mock_begin(): so one that is used after its end is seen as such. */
struct object {
    enum { STREAM = 0x5157, EVENT, GRAPH, EXEC } kind;
    int device;
    bool ended;
    struct object *next;
};

struct CUstream_st { struct object object; struct ops queue; struct capture *capture; };
struct CUevent_st { struct object object; uint64_t recorded, done; double at_ms; bool timed; };
struct CUgraph_st { struct object object; struct ops ops; };
struct CUgraphExec_st { struct object object; struct ops ops; };

struct range {                          /* of a device's memory, of pinned or registered memory */
    int device;
    bool registered;
    unsigned char *base;
    size_t bytes, mapped;
    void *map;
    struct range *next;
};

struct mock {
    pthread_mutex_t lock;
    unsigned devices;
    uint64_t memory_bytes, calls, until_failure, graph_launches, graph_edges, spoiled, records, timed_events, batches;
    uint32_t random;
    int failure, driver, count_status;
    const char *failed;
    char connections[8];                /* CUDA_DEVICE_MAX_CONNECTIONS at the first call */
    cudaError_t lost[MAX_DEVICES];      /* what ended its context */
    bool peers[MAX_DEVICES][MAX_DEVICES], no_peers, busy[MAX_DEVICES], no_code[MAX_DEVICES];
    uint64_t frame;
    int processors, threads;
    bool integrated, coherent, no_batches;
    uint64_t others_bytes[MAX_DEVICES]; /* what other processes use */
    uint64_t loads[MAX_DEVICES];        /* questions for the attributes of functions */
    struct mock_blas blas;
    double now_ms;
    double host_ms, call_ms, kernel_ms, cold_ms; /* mock_times() */
    uint64_t cache_bytes, copied_bytes; /* copied since the last kernel */
    struct object *objects;
    struct range *ranges;
};

extern struct mock mock;

/* ---- cuda_mock.c ---- */

void *mock_new(int kind, size_t bytes, int device);
bool mock_is(const void *object, int kind);             /* and not ended */
void mock_add(struct ops *ops, struct op op);           /* takes op.own */
void mock_add_copy(struct ops *to, const struct op *op);
void mock_copy_ops(struct ops *to, const struct ops *from);
bool mock_in(const struct nodes *nodes, size_t node);
void mock_put(struct nodes *nodes, size_t node);
void mock_copy_graph(struct ops *to, const struct ops *graph); /* in an order that its edges allow, by the seed */
void mock_free_ops(struct ops *ops);
struct range *mock_range_at(const void *address, size_t bytes); /* that holds all of it */
bool mock_touches_device(const void *address, size_t bytes);
bool mock_touches_pinned(const void *address, size_t bytes);    /* by pages */
void mock_range_free(struct range *range);
void mock_some(unsigned at_most);                       /* heads that may go go */
void mock_until_empty(cudaStream_t stream);             /* NULL: every stream */

#endif
