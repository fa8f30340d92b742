/* mapping.h - which rank has which stages, while a run goes on.
 *
 * Words:    A *group* is a set of stages that follow each other, and of the ranks that have them. Each rank of a group is a *replica*: it has all stages of
 *           the group, and gets some of the waves. Rank 0 is in no group. A *spare* rank is in none, and computes nothing.
 * Groups:   have numbers from 0, in the order of stages. Each has stages and ranks.
 * Order:    with feeding in order, wave w is for replica w mod R of each group of R ranks, by rising rank. By demand it is for whoever asks.
 * Change:   A mapping is never changed. Another one follows it, with a generation of its own (ranks/manager.h).
 * Memory:   a mapping is one struct without pointers.
 * Threads:  reentrant.
 */
#ifndef DFR_MAPPING_H
#define DFR_MAPPING_H

#include "runtime/subgraph/mapping_text.h"

struct dfr_mapping {
    uint32_t by_demand;
    uint32_t n_stages, n_ranks, n_groups;
    uint32_t group_of_stage[DFR_MOST_STAGES]; /* DFR_NO_GROUP: rank 0 has it */
    uint32_t group_of_rank[DFR_MOST_PROCESSORS + 1]; /* DFR_NO_GROUP: rank 0, or a spare one */
};

/* The mapping of a text: processor p is rank p + 1. on_first, by stage: rank 0 has the whole stage, whatever the text says. A group without other stages is
 * left out, and its ranks are spare. */
void dfr_mapping_of_text(const struct dfr_map_read *read, uint32_t n_stages, int n_ranks, const bool *on_first, struct dfr_mapping *mapping);

/* The mapping of whom nobody gave one: a rank for each stage that other ranks than the first one can have, in order. If there are more ranks, they are
 * replicas by turns, from the first stage on. If there are fewer, stages that follow each other share one. By demand. n_groups is 0 if there is no stage. */
void dfr_mapping_by_turns(uint32_t n_stages, int n_ranks, const bool *on_first, struct dfr_mapping *mapping);

/* The same stages on the ranks that live, by rank. A group that has lost all its ranks gets a spare one, if one lives; else its stages go over to the group before
 * it, or, if it is the first one, to the group behind it. false: no rank lives. */
bool dfr_mapping_without(const struct dfr_mapping *mapping, const bool *live, struct dfr_mapping *next);

/* Does each group have stages and ranks, and come before the next one? Nothing that arrives is trusted. */
bool dfr_mapping_is_valid(const struct dfr_mapping *mapping);

/* Replicas of the group; `ranks`, if it is not NULL, gets them by rising rank. */
uint32_t dfr_mapping_ranks(const struct dfr_mapping *mapping, uint32_t group, uint32_t *ranks);

/* As bytes that other ranks read. */
size_t dfr_mapping_bytes(const struct dfr_mapping *mapping);
void dfr_mapping_pack(const struct dfr_mapping *mapping, void *bytes);
/* false: these bytes are no valid mapping of so many stages and ranks. */
bool dfr_mapping_unpack(const void *bytes, size_t size, uint32_t n_stages, int n_ranks, struct dfr_mapping *mapping);

/* A line: "a b: rank 1; c: ranks 2 3". */
void dfr_mapping_text(const struct dfr_mapping *mapping, const char *const *stages, char *text, size_t size);

#endif
