/* graph.h - the dataflow graph: immutable, in flat arrays. The compiler builds it, planners read it, and the runtime executes it.
 *
 * Room:     runtime/graph/ holds all inputs of a run: the graph and its builder, the platform, plans and times, and their serialized form (an image). It
 *           knows runtime/base/ and runtime/threads/, but no policies, devices or runs.
 * Words:    A *value* is what one output of one node yields, once per wave; what it yields in one wave is a token. A
 *           *work* is a distinct (kernel, dimensions, scalars): nodes of one work take the same time. A *scope* is one
 *           instance of a graph of the source.
 * Layout:   Flat arrays and indices, no pointers between records. Nodes are numbered in topological order. The outputs
 *           of node v are the values node[v].first_out … in out-slot order. Its inputs are in_value[node[v].first_in …]
 *           in in-slot order. So a loop over the numbers goes in dependency order, and nothing recurses.
 * Memory:   A graph is built by df_builder_finish() or laid over an image (image.h). df_graph_free() returns it in both
 *           cases. Arrays laid over an image borrow the image.
 * Threads:  immutable; anyone may read it.
 * Phases:   Nodes fire before wave 0 (once), in every wave, or after the last wave (final). The acc values of a node
 *           that fires in every wave are read in the last phase alone.
 * Ports:    A port of mode inout is one port with an in slot and an out slot. Its output value takes over the storage
 *           of its input value. That input has no other reader: if it had one, the builder inserted a copy node.
 * Parts:    A node may be one of n parts of a node of the source. Each makes a range of rows, which are counted by the
 *           first dimension. A *view* gives ranges of a *whole*: on the host they are the same bytes. A *join* makes a
 *           whole of its parts, which lie in its memory on the host from the beginning. Both are built-in kernels that
 *           run on the host and move nothing. A value that such a kernel reads or makes as a range is a *range*.
 * Loops:    A loop with `while` is one node. Its kernel is built in and of this node alone; a job of it repeats *steps*, which are
 *           calls of other kernels, in *rounds*. Its in ports are the first tokens of what rounds change, and what they only read. Those of
 *           which the last token is read are inout ports. A tmp port has what lies between.
 */
#ifndef DF_GRAPH_H
#define DF_GRAPH_H

#include <stdbool.h>

#include "runtime/df.h"

#define DF_NONE UINT32_MAX
#define DF_MAX_STAGES 256u                   /* numbers of @stage are below it */
#define DF_MAX_NEWEST 4096u                  /* frames of a live source that wait */
#define DF_MAX_RESOURCES 64u                 /* of a program: bits of df_kernel.uses */
#define DF_MAX_RESOURCE 65535u               /* jobs that may use one at a time */
#define DF_TMP_ALIGN 256                     /* a tmp port takes a multiple of this */
#define DF_ALL_TRAITS (DF_ORDERED | DF_STREAM | DF_ONCE | DF_SYNC | DF_THREADS | DF_LAUNCH | DF_RESTART | DF_RESUME | DF_ZERO_EXTENTS)

/* kernels.flags and nodes.flags */
enum { DF_KERNEL_COPY = 1,                   /* the built-in copy, or a select: each device runs it by its own copy
                                              * engine. Its port 0 is the first input, port 1 is the output. The other
                                              * ports are the other inputs of a select, which passes on the first input
                                              * that is not empty in a wave (DF_SKIP). Its dimension is a number of bytes */
       DF_KERNEL_VIEW = 2,                   /* a built-in view: its outputs are ranges of its input */
       DF_KERNEL_JOIN = 4,                   /* a built-in join: its inputs are ranges of its output */
       DF_KERNEL_RANGES = DF_KERNEL_VIEW | DF_KERNEL_JOIN,
       DF_KERNEL_LOOP = 8 };                 /* a built-in loop (df_loop), called as df_loop() of df.h */
enum { DF_NODE_ONCE = 1,                     /* fires once: before wave 0, by its own trait or because all its inputs
                                              * do; or see DF_NODE_FINAL */
       DF_NODE_INSERTED = 2,                 /* a copy that nobody wrote: the builder inserted it */
       DF_NODE_ZERO_COST = 4,                /* its cost is 0 on every class that it has; it takes no worker in
                                              * models */
       DF_NODE_FINAL = 8,                    /* beside DF_NODE_ONCE: it fires after the last wave, and not before wave
                                              * 0, because it reads an acc's result or another final node's */
       DF_NODE_RATED = 16,                   /* its rate was stated */
       DF_NODE_WORKER = 32 };                /* @worker: a source or sink that, on many ranks, runs on those that compute */

/* values.flags */
enum { DF_VALUE_ONCE = 1,                    /* there is one token of it in a run: it is made by a node that fires once,
                                              * or it is an acc's */
       DF_VALUE_ACC = 2 };                   /* it is the memory of an acc port: each job of its producer changes it */

/* Where a job runs. Kernels may need scratch on one side only: the CPU's code of a fused group keeps rows of its streams, the GPU's code whole planes. */
enum df_side { DF_ON_HOST, DF_ON_DEVICE };

struct df_kernel {
    uint32_t name;                           /* offset into strings */
    uint32_t file, line;                     /* place of the declaration; file: offset into strings, 0 ("") none */
    uint32_t first_port, first_dim, first_scalar; /* into kports, dim_names, kscalars */
    uint16_t n_ports, n_dims, n_scalars;
    uint16_t n_in, n_out;
    uint16_t traits;
    uint16_t flags;
    uint16_t code_classes;                   /* bit c: the declaration has code for class c */
    uint16_t cost_classes;                   /* bit c: the declaration has a cost for class c */
    uint16_t n_acc;                          /* acc ports; each has an out slot, too */
    uint32_t first_extent;                   /* into extents: DF_MAX_RANK for each port; DF_NONE: they are not kept, because
                                              * no port of the graph has an extent with a bound */
    uint64_t code_hash[2];                   /* of the sources of the cpu variant and of the gpu variant; 0: none */
    struct df_tolerance tolerance;           /* between its variants */
    uint64_t uses;                           /* bit r: its jobs use resource r */
    uint32_t loop, pad;                      /* of a loop: into loops */
};

/* The rounds of a loop. Before each, its condition is evaluated: postfix code (expr.h), in which DF_X_ARG i is the kernel's scalar i
 * below n_scalars, and behind these token loop_reads[first_read + i - n_scalars]. */
struct df_loop {
    uint64_t most;                           /* rounds at most */
    uint32_t first_code, n_code;             /* into code */
    uint32_t n_scalars;                      /* the first of the kernel's, that the condition has */
    uint32_t first_read, n_reads;            /* into loop_reads: a token each, of one element */
    uint32_t first_step, n_steps;            /* in the order in which a round makes them */
    uint32_t first_token, n_tokens;          /* into loop_tokens; steps number them from 0 for this loop */
    uint32_t pad;
};

/* A token inside a loop. One that is *carried* has two places: a round reads one and writes the other. */
struct df_loop_token {
    uint32_t in_port;                        /* of the loop's kernel: where it lies, or where a carried one lies at first; DF_NONE: it
                                              * is made in each round */
    uint32_t out_port;                       /* a carried one: in_port if it is an inout port, which is its place 0 and has its last token in the
                                              * end; DF_NONE: that is not read */
    uint32_t elem;                           /* enum df_elem */
    uint32_t carried;                        /* 1: it is */
    uint64_t bytes;
    uint64_t place[2];                       /* in the tmp port */
};

struct df_step {
    uint32_t kernel;
    uint32_t first_dim, first_scalar;        /* into those of the loop's kernel */
    uint32_t first_port;                     /* into step_ports: as many as the kernel has ports */
    uint64_t rows;                           /* if it could be divided: of what it makes, as df_part() says; else 0 */
    uint32_t by_rows, pad;                   /* 1: it is of formulas, so some of its rows can be made by themselves */
};

struct df_step_port {
    uint32_t reads, writes;                  /* tokens of the loop; DF_NONE. Both: an inout port */
    uint32_t next, pad;                      /* 1: it reads a carried token as this round has made it */
    uint64_t place;                          /* of a tmp port, in the loop's tmp port */
};

/* What at most n jobs of a run may use at a time, such as a library that must not be entered twice. */
struct df_resource {
    uint32_t name;
    uint32_t n;
};

/* A bound that runs are to keep. `dfc check` derives whether they do. */
enum df_promise_kind { DF_PROMISE_RATE, DF_PROMISE_LATENCY, DF_PROMISE_MEMORY, DF_N_PROMISE_KINDS };
struct df_promise {
    uint32_t kind;
    uint32_t unit;                           /* memory: the name of the unit whose memory it is; else 0 */
    double bound;                            /* at least so many waves per second; at most so many seconds, or bytes */
    double confidence;                       /* rate: the share of runs that keep it; latency: the share of waves */
};
#define DF_MOST_PROMISE 1e19                 /* bounds are above 0, and at most this */
#define DF_LEAST_CONFIDENCE 0.5
#define DF_MOST_CONFIDENCE 0.999
#define DF_DEFAULT_CONFIDENCE 0.99

struct df_kport {
    uint32_t name;
    uint8_t mode, elem, rank;
    uint8_t own;                             /* bit i, of an out port: extent i is a dimension variable whose value the
                                              * kernel decides in each wave; a node's dims have the most that it may be */
    int16_t in_slot, out_slot;               /* -1: none */
    uint8_t split;                           /* 1: parts of a node have ranges of its rows */
    uint8_t only;                            /* a tmp port of jobs on one side only: 1 + enum df_side; 0: of all jobs */
    uint8_t pad[2];
    uint64_t initial;                        /* acc: the bits of an element at first */
};

/* An extent of a kernel's port, over its dimension variables: postfix code (expr.h) in which DF_X_ARG d is variable d. */
struct df_extent {
    uint32_t first_code, n_code;             /* into code; 0 words: a number, which port_dims of the work has */
};

struct df_kscalar {
    uint32_t name;
    uint32_t type;                           /* enum df_scalar_type */
};

struct df_work {
    uint32_t kernel;
    uint32_t first_dim;                      /* into dims: n_dims of the kernel */
    uint32_t first_port;                     /* into port_bytes and port_dims: n_ports of the kernel. port_dims has
                                              * DF_MAX_RANK extents each, 1 past the rank */
    uint32_t first_scalar;                   /* into node_scalars: n_scalars of the kernel */
    uint32_t threads;                        /* of the cpu variant, >= 1 */
    uint32_t n_nodes;                        /* how many nodes are of this work */
    uint64_t tmp_bytes[2];                   /* by side: all tmp ports of a job there, each rounded up to DF_TMP_ALIGN */
    uint64_t job_bytes;                      /* inputs, outputs and tmp of one job on the host; an inout port counts once */
};

struct df_node {
    uint32_t kernel, work;
    uint32_t first_in, first_out;
    uint32_t scope;                          /* into scopes */
    uint32_t ordinal;                        /* k for the k-th call (from 1) of this name in its scope, if several share
                                              * the name; else 0 */
    uint32_t first_index;                    /* loop indices, into indices */
    uint16_t n_indices;
    int8_t hint_class;                       /* @cpu, @gpu; -1: none */
    uint8_t flags;
    uint32_t depth;                          /* @depth, 0: none given */
    float rate;                              /* @rate, or what was learnt, or what follows from the inputs */
    uint32_t file, line, col;                /* place of the call */
    uint32_t part;                           /* into parts; DF_NONE: its kernel is not divided */
    uint32_t stage;                          /* n + 1: the call in graph main says @stage(n); 0: it says none */
    uint32_t live;                           /* 1 + its place in df_graph.live; 0: it is no live source */
};

/* A source whose frames depend on the clock. */
struct df_live {
    double every_s;                          /* @every: frame k does not come before k times this; 0: it comes when it comes */
    uint32_t newest;                         /* @newest: so many frames wait at most, and the oldest is dropped; 0: none is */
    uint32_t pad;
};

/* The rows that a node makes, if its kernel can be divided. An undivided node has all of them. */
struct df_part_rows {
    uint64_t first, rows, whole;             /* of the outputs: first row, number of rows, and the rows of all parts */
    uint32_t number, n;                      /* part `number` of n; n is 1 if the node is not divided */
    uint32_t first_port;                     /* into port_rows: for each port the first row that is there. Ports that are
                                              * not divided have row 0 */
    uint32_t passes;                         /* @passes: the waves go by so often (passes.h); 0: nobody says it */
};

struct df_value {
    uint32_t producer;                       /* node */
    uint16_t slot;                           /* out slot of the producer */
    uint16_t flags;
    uint32_t first_reader, n_readers;        /* into readers */
    uint64_t bytes;
    uint32_t taken_from;                     /* value whose storage this one takes over (inout), or DF_NONE */
    uint32_t name;                           /* as written; "": none */
    uint32_t whole;                          /* of a range: the value, itself no range, that it lies in. It has a lower number if this is what
                                              * a view gives, a higher one if it is part of a join. DF_NONE: no range */
    uint32_t exact;                          /* bit i: extent i is one that the kernel decides (df_kport.own), and the call says
                                              * that it is what was planned, in every wave */
    uint64_t offset;                         /* bytes from the beginning of the whole */
};

struct df_reader {
    uint32_t node, slot;                     /* in slot */
};

struct df_scope {
    uint32_t parent;                         /* DF_NONE: the main graph */
    uint32_t name;                           /* of the source's graph */
    uint32_t ordinal;
    uint32_t first_index;
    uint32_t n_indices;
};

/* A scalar of a node: a constant, or an expression over args in postfix code (expr.h). */
struct df_scalar_value {
    uint32_t type;                           /* enum df_scalar_type */
    uint32_t n_code;                         /* 0: a constant */
    uint32_t first_code;                     /* into code */
    uint32_t str;                            /* constant str: offset into strings */
    int64_t i;                               /* constant i32, i64 */
    double f;                                /* constant f32, f64 */
};

struct df_arg {
    uint32_t name;
    uint32_t type;
    uint32_t has_default;
    uint32_t str;
    uint32_t help;                           /* what --help says of it: offset into strings */
    uint32_t pad;
    int64_t i;
    double f;
};

struct df_param {                            /* dynamic params only */
    uint32_t name;
    uint32_t help;                           /* as of an arg */
    int64_t value;                           /* the value that this graph was made with */
};

struct df_graph {
    const char *name;                        /* name of the program */
    uint32_t n_kernels, n_kports, n_dim_names, n_kscalars, n_works, n_nodes, n_values, n_in_values, n_readers;
    uint32_t n_scopes, n_indices, n_scalars, n_node_scalars, n_code, n_args, n_params, n_dims, n_wports;
    uint32_t n_string_bytes, n_extents;
    uint32_t n_parts, n_port_rows, n_resources, n_live, n_promises;
    uint32_t n_loops, n_steps, n_step_ports, n_loop_tokens, n_loop_reads;
    const struct df_kernel *kernels;
    const struct df_resource *resources;
    const struct df_promise *promises;
    const struct df_kport *kports;
    const struct df_extent *extents;
    const uint32_t *dim_names;
    const struct df_kscalar *kscalars;
    const struct df_work *works;
    const uint64_t *dims;
    const uint64_t *port_bytes;              /* n_wports */
    const uint64_t *port_dims;               /* n_wports * DF_MAX_RANK */
    const uint32_t *node_scalars;            /* index into scalars */
    const struct df_scalar_value *scalars;
    const uint64_t *code;
    const struct df_node *nodes;
    const struct df_live *live;
    const uint32_t *in_value;
    const struct df_value *values;
    const struct df_reader *readers;
    const struct df_scope *scopes;
    const int32_t *indices;
    const struct df_arg *args;
    const struct df_param *params;
    const struct df_part_rows *parts;
    const uint64_t *port_rows;
    const struct df_loop *loops;
    const struct df_step *steps;
    const struct df_step_port *step_ports;
    const struct df_loop_token *loop_tokens;
    const uint32_t *loop_reads;
    const char *strings;                     /* [0] is the empty string */
    const double *cost_s;                    /* [class * n_works + work]: from cost clauses; NaN: none */
    uint32_t n_classes;                      /* cpu, gpu and the other classes that are named */
    const uint32_t *class_names;             /* offsets into strings */
    const struct df_functions *functions;    /* by kernel; NULL: the graph has costs only */
    const char *identity;                    /* what decides the bits of its functions (record/facts.h), borrowed; NULL: nothing is known */
    void *owner;                             /* the allocation behind the arrays, private to graph.c and image.c */
};

static inline const char *df_graph_string(const struct df_graph *g, uint32_t offset) { return g->strings + offset; }

static inline uint32_t df_node_n_in(const struct df_graph *g, uint32_t v)
{
    return g->kernels[g->nodes[v].kernel].n_in;
}

static inline uint32_t df_node_n_out(const struct df_graph *g, uint32_t v)
{
    return g->kernels[g->nodes[v].kernel].n_out;
}

/* Is the port there for a job on that side? Only tmp ports may not be: then they have no address. */
static inline bool df_port_is_on(const struct df_kport *port, enum df_side side) { return !port->only || port->only == 1u + side; }

/* What a tmp port takes. */
static inline uint64_t df_tmp_room(uint64_t bytes) { return (bytes + DF_TMP_ALIGN - 1) / DF_TMP_ALIGN * DF_TMP_ALIGN; }

/* The next tmp port of a job on that side: its place in scratch, whose free bytes begin at *tmp. NULL: the port is not there. */
static inline void *df_tmp_take(const struct df_kport *port, enum df_side side, uint64_t bytes, unsigned char **tmp)
{
    void *place = df_port_is_on(port, side) ? *tmp : NULL;
    *tmp += place ? df_tmp_room(bytes) : 0;
    return place;
}

/* Bytes of port p of the work for a job on that side. */
static inline uint64_t df_port_bytes_on(const struct df_graph *g, const struct df_work *work, uint32_t p, enum df_side side)
{
    return df_port_is_on(&g->kports[g->kernels[work->kernel].first_port + p], side) ? g->port_bytes[work->first_port + p] : 0;
}

/* Scratch of one job of the node on that side. */
static inline uint64_t df_node_tmp_bytes(const struct df_graph *g, uint32_t v, enum df_side side)
{
    return g->works[g->nodes[v].work].tmp_bytes[side];
}

/* The resources that jobs of the node use, a bit each. */
static inline uint64_t df_node_uses(const struct df_graph *g, uint32_t v) { return g->kernels[g->nodes[v].kernel].uses; }

/* What makes the node a live source; NULL: it is none. */
static inline const struct df_live *df_node_live(const struct df_graph *g, uint32_t v) { return g->nodes[v].live ? &g->live[g->nodes[v].live - 1] : NULL; }
/* The first live source; DF_NONE: there is none. */
uint32_t df_graph_live(const struct df_graph *g);
/* Writes promise p as the language has it: "latency <= 90 ms". Returns the text. */
char *df_promise_text(const struct df_graph *g, uint32_t p, char *text, size_t size);

/* Returns true if a stream determines the number of waves. */
bool df_graph_has_streams(const struct df_graph *g);
/* Returns true if jobs of some work take several threads. */
static inline bool df_graph_has_gangs(const struct df_graph *g)
{
    bool has = false;
    for (uint32_t w = 0; w < g->n_works; w++)
        has = has || g->works[w].threads > 1;
    return has;
}
static inline bool df_value_is_once(const struct df_graph *g, uint32_t x) { return g->values[x].flags & DF_VALUE_ONCE; }
static inline bool df_value_is_acc(const struct df_graph *g, uint32_t x) { return g->values[x].flags & DF_VALUE_ACC; }
static inline bool df_node_is_final(const struct df_graph *g, uint32_t v) { return g->nodes[v].flags & DF_NODE_FINAL; }

static inline uint32_t df_node_n_acc(const struct df_graph *g, uint32_t v)
{
    return g->kernels[g->nodes[v].kernel].n_acc;
}

/* The i-th acc value of a node, in the order of its ports; i < df_node_n_acc(). */
uint32_t df_node_acc(const struct df_graph *g, uint32_t v, uint32_t i);
/* The values that must be where a job runs: what it reads, by in slot, then the accs that it changes. */
static inline uint32_t df_node_n_needs(const struct df_graph *g, uint32_t v)
{
    return df_node_n_in(g, v) + df_node_n_acc(g, v);
}

static inline uint32_t df_node_need(const struct df_graph *g, uint32_t v, uint32_t k)
{
    uint32_t n_in = df_node_n_in(g, v);
    return k < n_in ? g->in_value[g->nodes[v].first_in + k] : df_node_acc(g, v, k - n_in);
}

/* Fills memory with the initial value of an acc, as it is before the first wave. */
void df_acc_first(const struct df_graph *g, uint32_t x, void *memory);

/* Returns true if jobs of this kernel run one at a time, in the order of waves. */
static inline bool df_kernel_in_order(const struct df_kernel *k)
{
    return k->traits & (DF_ORDERED | DF_STREAM) || k->n_acc > 0;
}

/* Returns true if the kernel sets this dimension variable anew in each wave. */
bool df_kernel_decides(const struct df_graph *g, const struct df_kernel *kernel, uint32_t dim);
/* Returns the variable if extent i of port p of the kernel is a single variable, else DF_NONE. */
uint32_t df_extent_variable(const struct df_graph *g, const struct df_kernel *kernel, uint32_t port, unsigned i);
/* Returns true if a view made this value. Other values with a whole are parts of a join, or copies that become one. */
static inline bool df_value_is_view(const struct df_graph *g, uint32_t value)
{
    return g->values[value].whole < value;
}

/* The value in whose memory this one lies on the host, and from which byte on: the value itself if it is no range. */
static inline uint32_t df_value_root(const struct df_graph *g, uint32_t value, uint64_t *offset)
{
    *offset = g->values[value].offset;  /* 0 if it is no range; no range lies in another one */
    return g->values[value].whole == DF_NONE ? value : g->values[value].whole;
}

/* Returns true if the node is a view or a join: its job moves no data and takes no worker. */
static inline bool df_node_is_ranges(const struct df_graph *g, uint32_t v)
{
    return g->kernels[g->nodes[v].kernel].flags & DF_KERNEL_RANGES;
}

static inline void df_node_stats_add(struct df_node_stats *stats, bool device, double seconds)
{
    *(device ? &stats->device_jobs : &stats->host_jobs) += 1;
    *(device ? &stats->device_s : &stats->host_s) += seconds;
}

/* The port of a copy or a select that has this in slot. */
static inline uint32_t df_select_port(uint32_t in_slot) { return in_slot == 0 ? 0 : in_slot + 1; }

/* How often a token of the value is made and read, as @rate says: as often as its node fires, and no more often than the
 * reader that fires most often. An acc has one result, however often its node fires. */
static inline double df_value_rate(const struct df_graph *g, uint32_t value)
{
    const struct df_value *x = &g->values[value];
    float most = x->n_readers ? 0 : 1;

    if (x->flags & DF_VALUE_ACC)
        return 1;
    for (uint32_t r = x->first_reader; r < x->first_reader + x->n_readers; r++)
        most = g->nodes[g->readers[r].node].rate > most ? g->nodes[g->readers[r].node].rate : most;
    return (double)(most < g->nodes[x->producer].rate ? most : g->nodes[x->producer].rate);
}

/* Sets the rate of each node without @rate: learnt[v] if that is above 0, else what follows from its inputs. learnt may be NULL. */
void df_graph_find_rates(struct df_graph *g, const float *learnt);
/* A hash of the sources of all kernels. */
uint64_t df_graph_code_hash(const struct df_graph *g);

size_t df_elem_bytes(enum df_elem elem);
const char *df_elem_name(enum df_elem elem);
const char *df_elem_c_type(enum df_elem elem);
bool df_elem_is_float(enum df_elem elem);
/* A scalar's type in dfc's language, which is also its member of union df_scalar; and in C, so that a name may follow. */
const char *df_scalar_name(enum df_scalar_type type);
const char *df_scalar_c_type(enum df_scalar_type type);

/* Verifies every invariant of this header (ranges, order, slots, counts). Called in debug builds, in tests, and for images that are read. Returns false if
 * one is violated, and *error says which. */
bool df_graph_check(const struct df_graph *g, struct df_error *error);

#endif
