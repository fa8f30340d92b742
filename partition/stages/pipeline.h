/* pipeline.h - maps the stages of a linear pipeline to heterogeneous processors, by replication and gathering.
 *
 * Words:    A *stage* is a step that every wave goes through. Stages follow each other in one line. A *mapping* cuts the line
 *           into *groups* of consecutive stages. A group of several stages is on one processor (gathered); a group of one
 *           stage is on one or more, which take different waves (replicated). A processor has at most one group. If the
 *           pipeline says so, groups of several stages are replicated, too, which HeDPM does not do. The
 *           *period* is the time between two waves that leave the pipeline.
 * Outside:  What gives the first stage its input and takes the last one's output is place 0 of the links. Processor p, from
 *           0, is place p + 1.
 * Model:    Moreno et al., "Heterogeneous dynamic pipeline mapping" (HeDPM), equations 1 to 6. For each wave a processor
 *           receives, computes and sends, one after the other. Sending d bytes takes c + d / B. If the neighbour is on several
 *           processors, c and B are the means over the links to them. A boundary that no byte crosses costs nothing.
 * Feeding:  *In order*, replica k takes waves k, k + R, k + 2R, …, and so R replicas take as long as the slowest, over R (eq. 1).
 *           *By demand*, a replica takes the next wave when it is free, so rates add up.
 * Room:     partition/stages/ knows runtime/base/, and runtime/subgraph/ for texts: numbers in, numbers out. It reads and writes no file.
 * Memory:   the caller frees pipelines and mappings. Functions free their scratch memory before they return.
 * Threads:  all functions are reentrant. The same input gives the same answer on every machine.
 * Errors:   functions that give an int give DF_OK, DF_E_MEMORY, or what they say.
 */
#ifndef DFP_PIPELINE_H
#define DFP_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/df.h"

enum { DFP_MOST_STAGES = 256, DFP_MOST_PROCESSORS = 512 };
#define DFP_NO_GROUP UINT32_MAX

enum dfp_feeding { DFP_IN_ORDER, DFP_BY_DEMAND };

struct dfp_pipeline {
    uint32_t n_stages, n_processors;
    double *work;                       /* by stage: w(n) */
    double *speed;                      /* by processor: s(p), > 0 */
    double *time_s;                     /* [stage * n_processors + processor]: w(n) / s(p), or as it was measured */
    double *bytes;                      /* n_stages + 1: d(n), what crosses the boundary before stage n; the last: behind all */
    bool *serial;                       /* by stage: it keeps something from wave to wave, so it has no replicas */
    double *bytes_per_s, *setup_s;      /* B and c, [place * (n_processors + 1) + place] */
    enum dfp_feeding feeding;
    bool replicate_groups;              /* groups of several stages may have replicas, too */
};

/* All links have 1 byte per second and no setup time, all other numbers are 0. */
int dfp_pipeline_new(uint32_t n_stages, uint32_t n_processors, struct dfp_pipeline *pipeline, struct df_error *error);
void dfp_pipeline_free(struct dfp_pipeline *pipeline);
void dfp_pipeline_link(struct dfp_pipeline *pipeline, uint32_t place_a, uint32_t place_b, double bytes_per_s, double setup_s); /* both ways */
void dfp_pipeline_times(struct dfp_pipeline *pipeline); /* time_s of work and speed */
/* Works and speeds of time_s, which the heuristics count with; speed[0] is given. If a time is no product of both, the speeds are by the
 * sum of all stages' times, and works are means over processors. */
void dfp_pipeline_speeds(struct dfp_pipeline *pipeline);

static inline double dfp_stage_s(const struct dfp_pipeline *l, uint32_t stage, uint32_t processor)
{
    return l->time_s[(uint64_t)stage * l->n_processors + processor];
}

struct dfp_mapping {
    uint32_t n_groups;
    uint32_t first[DFP_MOST_STAGES + 1];            /* by group: its first stage; first[n_groups] is n_stages */
    uint32_t group_of[DFP_MOST_PROCESSORS];         /* by processor; DFP_NO_GROUP: it has nothing to do */
};

/* Returns true if a group of the stages from `first` to before `end` may have several processors. */
bool dfp_may_replicate(const struct dfp_pipeline *pipeline, uint32_t first, uint32_t end);
/* Returns true if each stage has a group, and each group has a permitted number of processors. */
bool dfp_mapping_is_valid(const struct dfp_pipeline *pipeline, const struct dfp_mapping *mapping);
/* The period of a valid mapping (eq. 1 and 2). group_s, if not NULL: what each group takes. */
double dfp_mapping_period_s(const struct dfp_pipeline *pipeline, const struct dfp_mapping *mapping, double *group_s);
/* The seconds of work of each processor for a wave that it receives; 0 if it receives none. */
void dfp_mapping_times(const struct dfp_pipeline *pipeline, const struct dfp_mapping *mapping, double *processor_s);
/* A period that no mapping beats, of links that cost nothing: the work is shared by the processors as if it could be
 * divided, and no serial stage is faster than on its fastest processor. With measured times that are no products of work and
 * speed, each stage is counted by its best processor's time. */
double dfp_pipeline_bound_s(const struct dfp_pipeline *pipeline);

/* run.c: runs waves through a valid mapping in virtual time, and gives the mean time between two of them. A processor takes what
 * dfp_mapping_times() says. Waves wait in front of a group; in order they leave it in the order of their numbers. At most 4 waves
 * for each processor that is used are on their way. */
int dfp_mapping_run(const struct dfp_pipeline *pipeline, const struct dfp_mapping *mapping, double *period_s, struct df_error *error);

/* Stage n on processor n; if there are fewer processors, as many stages on each, in order. */
void dfp_map_identity(const struct dfp_pipeline *pipeline, struct dfp_mapping *mapping);

/* hedpm.c: Algorithm 4.2 of HeDPM. Returns false if it finds no mapping with all stages. */
bool dfp_map_hedpm(const struct dfp_pipeline *pipeline, struct dfp_mapping *mapping);

/* What Algorithm 4.1 did in an iteration. */
struct dfp_hedpm_step {
    double ideal_s, match_s;
    uint32_t first, n_stages, n_processors, processor; /* the first of them that was taken */
};
struct dfp_hedpm_log {
    uint32_t n_steps;
    struct dfp_hedpm_step steps[DFP_MOST_STAGES];
};
/* hedpm.c: Algorithm 4.1. What is aimed at is the ideal time (eq. 6) of each iteration, times the factor. */
bool dfp_map_hedpm_once(const struct dfp_pipeline *pipeline, double factor, struct dfp_mapping *mapping,
                        struct dfp_hedpm_log *log);
/* hedpm.c: the orders of its first step; arrays of n_stages and n_processors. */
void dfp_hedpm_sort(const struct dfp_pipeline *pipeline, uint32_t *stages, uint32_t *processors);

/* bsc.c: Binary Search Closest (Benoit and Robert, "Mapping pipeline skeletons onto heterogeneous platforms", JPDC 2008):
 * intervals without replicas, by bisection over the period. */
bool dfp_map_bsc(const struct dfp_pipeline *pipeline, struct dfp_mapping *mapping);

/* dpm.c: DPM, which HeDPM came from: it gathers fast stages and replicates slow ones, and takes all processors and links as
 * alike. */
bool dfp_map_dpm(const struct dfp_pipeline *pipeline, struct dfp_mapping *mapping);

/* brute.c: the best of all mappings, by exhaustive search. Gives up after `most_steps` partial mappings. */
bool dfp_map_brute(const struct dfp_pipeline *pipeline, uint64_t most_steps, struct dfp_mapping *mapping, uint64_t *steps);

/* search.c: ours. Begins with what `starts` hold, of which at least one is valid, and is never worse than any of them by
 * dfp_mapping_period_s(). Evaluates at most `budget` mappings (0: DFP_MAP_BUDGET). */
#define DFP_MAP_BUDGET 100000
int dfp_map_search(const struct dfp_pipeline *pipeline, const struct dfp_mapping *starts, uint32_t n_starts, uint64_t budget,
                   uint32_t seed, struct dfp_mapping *mapping, struct df_error *error);

#endif
