/* run_rig.h - builds graphs of integer kernels, runs them, and computes the same graphs one node after the other, for
 * the tests of the runtime. What reaches a sink is recorded by sink and wave. A run is right if its record is equal to
 * the record of the sequential computation.
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

/* The kernels, with their ports and their scalar s. All ports are i64[n]. Each kernel has a gpu variant, so that the
 * emulator may run it, unless RIG_CPU_ONLY is added. */
enum rig_kernel {
    RIG_SOURCE,   /* (out; s)             its values depend on wave and s */
    RIG_STREAM,   /* (out; s) stream      ends at wave s */
    RIG_ADD1,     /* (in, out; s) */
    RIG_ADD2,     /* (in, in, out; s) */
    RIG_BUMP,     /* (inout; s) */
    RIG_SCRATCH,  /* (in, tmp, tmp, out; s) */
    RIG_SPLIT,    /* (in, out, out; s) */
    RIG_SINK,     /* (in; s)              records as sink s */
    RIG_ORDERED,  /* (in; s) ordered      records as sink s, fails if a wave is not later than the one before */
    RIG_THREADS,  /* (in, out; s)         fails if df_threads() is not the expected number */
    RIG_FAIL,     /* (in, out; s)         fails at wave s, if rig_fails */
    RIG_ENDS,     /* (in, out; s)         ends its thread by pthread_exit() at wave s */
    RIG_CODE,     /* (in, out; s)         returns s */
    RIG_ONCE,     /* (out; s) once */
    RIG_TABLE,    /* (in, in, out; s)     the same as ADD2; its second input is meant to be a once value */
    RIG_MEET,     /* (in, out; s)         waits until s jobs of this kernel have begun; fails after 600 ms */
    RIG_SLOW,     /* (in, out; s)         takes 20 ms */
    RIG_STRAY,    /* (in, out; s)         writes to its input */
    RIG_SKIP,     /* (in, out; s)         skips in about half of the waves, unless 8 divides s */
    RIG_DROP,     /* (inout; s)           the same */
    RIG_ACC,      /* (in, acc, out; s)    what it adds up depends on the order of waves; its result is output 0 */
    RIG_POUR,     /* (in, acc; s)         the same, and nothing in each wave */
    RIG_KERNELS
};
enum { RIG_CPU_ONLY = 64 };

struct rig {
    struct df_builder *builder;
    struct df_graph *graph;
    uint64_t n;                         /* elements of each token of the next nodes */
    uint32_t n_sinks, n_nodes;
    /* for the next node */
    int hint;
    uint32_t depth, threads;
    const struct df_part_rows *part;    /* of the whole that it makes; NULL: it is no part */
    unsigned expected_threads;
    uint64_t expected_skipped, expected_left_out; /* jobs of each kind, as rig_expect() finds them */
    bool finals;                        /* there are final nodes: they record as wave number `waves` */
    struct rig_record *record, *expected;
};

struct rig_out {                        /* an output of a node */
    uint32_t node;
    unsigned slot;
};

/* Does a job of RIG_SKIP or RIG_DROP skip? For host code that decides before the kernel runs. */
bool rig_would_skip(const struct df_call *call, const union df_scalar *scalars);

extern bool rig_skips;                  /* random graphs have kernels that skip, and selects; false at first */
extern bool rig_fails;                  /* true at first */
/* The resources that kernels of the next graphs use, a bit each by kernel, and how many jobs may use each at a time; none at first. A job that finds more of
 * them at work fails. */
enum { RIG_RESOURCES = 3 };
extern uint32_t rig_resources[RIG_RESOURCES];   /* 0: the graph does not have it */
extern uint64_t rig_uses[RIG_KERNELS];
extern double rig_cost_s;               /* the stated cost of each node on each class; 0, as at first: none is stated */

void rig_begin(struct rig *r, uint64_t n);
/* Adds a node of a kernel (perhaps | RIG_CPU_ONLY) with scalar s, and gives its first output. If the kernel has fewer
 * than two inputs, the others are not used. */
struct rig_out rig_node(struct rig *r, int kernel, int64_t s, struct rig_out a, struct rig_out b);
void rig_sink(struct rig *r, int kernel, struct rig_out a); /* RIG_SINK or RIG_ORDERED */
struct rig_out rig_select(struct rig *r, struct rig_out a, struct rig_out b);
/* Halves of a token, and a token of halves; r->n elements are those of the whole. Kernels between the two get r->n / 2. */
void rig_view(struct rig *rig, struct rig_out a, struct rig_out parts[2]);
struct rig_out rig_join(struct rig *rig, struct rig_out a, struct rig_out b);
void rig_end(struct rig *r);
void rig_free(struct rig *r);

/* Computes `waves` waves sequentially into r->expected. */
void rig_expect(struct rig *r, int64_t waves);

/* The default options with these changes. Only errors are logged. */
struct df_options rig_options(const char *policy, enum df_device_kind device, unsigned workers);

/* Clears the record, runs with these options, and gives the status. */
int rig_run(struct rig *r, const struct df_options *options, struct df_stats *stats, struct df_error *error);

/* Clears the record. It is for tests that call df_run_start() themselves. */
void rig_clear(struct rig *r);

/* Is each of the first `waves` waves recorded once and as expected, and nothing else? If not, prints what is wrong. */
bool rig_same(const struct rig *r, int64_t waves);

/* rig_run() and rig_same(): fails the test unless the run succeeds, has `waves` waves, and is as expected. Gives the
 * run's statistics. */
struct df_stats rig_check(struct rig *r, const struct df_options *options, int64_t waves);

/* Makes a random graph of about n nodes with sinks. end > 0: it has streams, which end at wave `end` and later. */
extern bool rig_accs;                   /* the graphs of rig_random() have accs and final nodes, too; false at first */
void rig_random(struct rig *r, uint32_t seed, uint32_t n, uint64_t elements, int64_t end);

uint32_t rig_rand(uint32_t *state);

/* Gives the seeds to test. SEEDS=first-last in the environment replaces the usual few. */
void rig_seeds(unsigned *first, unsigned *last);

static const struct rig_out RIG_NOTHING = { UINT32_MAX, 0 };

#endif
