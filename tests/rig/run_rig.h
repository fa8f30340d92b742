/* run_rig.h - graphs of integer kernels that are run, and the same graphs computed one node after the other, for the
 * tests of the runtime. What reaches a sink is recorded by sink and wave, so that a run is right where the two records
 * are equal.
 */
#ifndef RUN_RIG_H
#define RUN_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/graph/builder.h"

#define RIG_SINKS 64
#define RIG_WAVES 64

struct rig_record {
    uint64_t sum[RIG_SINKS][RIG_WAVES];
    uint32_t count[RIG_SINKS][RIG_WAVES];
};

/* All ports are i64[n]. Each has a gpu variant, so that the emulator may run it, except where CPU_ONLY is added. */
enum rig_kernel {
    RIG_SOURCE,   /* (out; s)             wave and s */
    RIG_STREAM,   /* (out; s) stream      ends at wave s */
    RIG_ADD1,     /* (in, out; s) */
    RIG_ADD2,     /* (in, in, out; s) */
    RIG_BUMP,     /* (inout; s) */
    RIG_SCRATCH,  /* (in, tmp, tmp, out; s) */
    RIG_SPLIT,    /* (in, out, out; s) */
    RIG_SINK,     /* (in; s)              records as sink s */
    RIG_ORDERED,  /* (in; s) ordered      records as sink s, fails where a wave is out of order */
    RIG_THREADS,  /* (in, out; s)         fails where df_threads() is not as many as expected */
    RIG_FAIL,     /* (in, out; s)         fails at wave s */
    RIG_CODE,     /* (in, out; s)         returns s */
    RIG_ONCE,     /* (out; s) once */
    RIG_TABLE,    /* (in, in, out; s)     as ADD2; its second input is meant to be a once value */
    RIG_MEET,     /* (in, out; s)         keeps its worker until s of its jobs have begun, or a while */
    RIG_SLOW,     /* (in, out; s)         takes 20 ms */
    RIG_STRAY,    /* (in, out; s)         writes to its input */
    RIG_KERNELS
};
enum { RIG_CPU_ONLY = 64 };

struct rig {
    struct df_builder *builder;
    struct df_graph *graph;
    uint64_t n;                         /* elements of all tokens of the next nodes */
    uint32_t n_sinks, n_nodes;
    /* for the next node */
    int hint;
    uint32_t depth, threads;
    unsigned expected_threads;
    struct rig_record *record, *expected;
};

struct rig_out {                        /* an output of a node */
    uint32_t node;
    unsigned slot;
};

extern double rig_cost_s;               /* that nodes are said to take on each class; 0, as at first: nothing is said */

void rig_begin(struct rig *r, uint64_t n);
/* Adds a node of a kernel (maybe | RIG_CPU_ONLY) with scalar s; gives its first output. Unused inputs: any. */
struct rig_out rig_node(struct rig *r, int kernel, int64_t s, struct rig_out a, struct rig_out b);
void rig_sink(struct rig *r, int kernel, struct rig_out a); /* RIG_SINK or RIG_ORDERED */
void rig_end(struct rig *r);
void rig_free(struct rig *r);

/* Computes `waves` waves sequentially into r->expected. */
void rig_expect(struct rig *r, int64_t waves);

/* The default options with these; only errors are logged. */
struct df_options rig_options(const char *policy, enum df_device_kind device, unsigned workers);

/* Runs with these options; gives the status. The record is cleared first. */
int rig_run(struct rig *r, const struct df_options *options, struct df_stats *stats, struct df_error *error);

/* Begins a new record; for those who run the graph themselves. */
void rig_clear(struct rig *r);

/* Are the first `waves` waves as expected, each once, and nothing recorded beyond? Says what is not. */
bool rig_same(const struct rig *r, int64_t waves);

/* Both: fails the test unless the run is good, for `waves` waves, and as expected. Gives its statistics. */
struct df_stats rig_check(struct rig *r, const struct df_options *options, int64_t waves);

/* A random graph of about n nodes with sinks; streams where asked for end at wave `end` and later. */
void rig_random(struct rig *r, uint32_t seed, uint32_t n, uint64_t elements, int64_t end);

uint32_t rig_rand(uint32_t *state);

/* SEEDS=first-last in the environment runs others than the usual few. */
void rig_seeds(unsigned *first, unsigned *last);

static const struct rig_out RIG_NOTHING = { UINT32_MAX, 0 };

#endif
