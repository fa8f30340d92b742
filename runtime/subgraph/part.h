/* part.h - runs a graph in three parts (cut.h): HEAD and TAIL on the first rank, BODY on each of the others. runtime/ranks runs chunks and waves with it,
 * and replay.c one node by itself.
 *
 * A part is a run that is fed (df_run_feed()): a wave begins on tokens from other parts, and leaves tokens for other parts when it has ended.
 *
 * Ports:    A port is a value that one part makes and another reads. It keeps its number of the whole graph, so that all ranks name it alike
 *           (struct dfr_value of message.h). What fires once fires in HEAD; the other parts get its tokens when they are opened.
 * Places:   A part holds several waves at a time, one in each place. dfr_part_begin() takes the next place and copies the tokens into it. When the
 *           wave has ended, its tokens for other parts are views into the place, until dfr_part_release(). Local wave w is in place w % places.
 *           Places are taken in turn, unless dfr_part_turn() chooses one: then some numbers have no wave.
 * Accs:     TAIL gets the sums of BODY's acc ports after the last wave, by dfr_part_once().
 * Waves:    are counted from 0 in each part (*local*). Kernels see the number in the whole run, which is given with each wave.
 * by_itself: BODY reads its waves from its own sources, and is not fed. The caller only waits until it has ended.
 * Empty:    In a part without nodes that fire in each wave, each wave ends as soon as it begins.
 * Threads:  One at a time in a part. options.fed, if there is one, is called by threads of the run.
 * Errors:   A call that fails returns the error of the part's run; after that, the part may only be closed.
 */
#ifndef DFR_PART_H
#define DFR_PART_H

#include "runtime/subgraph/cut.h"
#include "runtime/link/message.h"

struct dfr_port {                       /* a value that crosses */
    uint32_t value;                     /* of the whole graph */
    uint8_t from, to;                   /* the place where it is made; bit p: place p reads it */
    bool once;                          /* there is one token of it */
    uint8_t n_extents;                  /* its rank, if its extents differ from wave to wave; else 0 */
    uint64_t largest[DF_MAX_RANK];      /* extents */
    uint64_t bytes, elem_bytes;         /* of the largest token; of an element */
};

struct dfr_parts {
    const struct df_graph *graph;
    uint8_t *place;                     /* by node */
    struct dfr_cut cuts[DFR_PLACES];
    struct dfr_port *ports;             /* by rising value */
    uint32_t n_ports;
    uint32_t *port_of;                  /* by value of the graph: its port; DF_NONE: it does not cross */
    bool by_itself;                     /* false: parts are fed, by dfr_part_begin() */
};

/* Cuts the graph, which is borrowed. DF_E_REFUSED: it cannot be cut, or nothing of it can run on other ranks. */
int dfr_parts_make(const struct df_graph *graph, struct dfr_parts *parts, struct df_error *error);
/* The same if BODY is not to run: it may be empty. */
int dfr_parts_make_ends(const struct df_graph *graph, struct dfr_parts *parts, struct df_error *error);
/* The same at places that are given, by node, as dfr_cut_settle() leaves them. place: malloc'ed, and taken in any case. */
int dfr_parts_make_at(const struct df_graph *graph, uint8_t *place, struct dfr_parts *parts, struct df_error *error);
void dfr_parts_free(struct dfr_parts *parts);

struct dfr_part;

/* Starts a part's run with these options, but for buffers and waves. node_stats and node_skips are of the whole graph: the part adds its nodes'. once: tokens of what fires once, by rising port; those
 * that the part does not read are passed over. */
int dfr_part_open(const struct dfr_parts *parts, unsigned which, const struct df_options *options, const struct dfr_value *once,
                  uint32_t n_once, struct dfr_part **part, struct df_error *error);
/* Waits until what fires once has been made. A part with accs has finished. Writes its tokens, of all ports that are made once in this part: at most
 * n_ports of the parts. They last until the part is closed. */
int dfr_part_once(struct dfr_part *part, struct dfr_value *values, uint32_t *n, struct df_error *error);

/* Looks which waves have ended since. */
int dfr_part_poll(struct dfr_part *part, struct df_error *error);
/* The next wave goes into this place. Only for a part in which no node sees the waves in order. */
void dfr_part_turn(struct dfr_part *part, uint32_t place);
/* May a wave be begun? */
bool dfr_part_has_room(const struct dfr_part *part);
/* Has a stream of the part ended, so that it has no more waves than ended already? */
bool dfr_part_is_over(const struct dfr_part *part);
/* Is no wave there that was begun and not released? */
bool dfr_part_is_idle(const struct dfr_part *part);
uint32_t dfr_part_places(const struct dfr_part *part);
uint32_t dfr_part_places_of(const struct df_options *options); /* those of a part that is opened with them */
/* Waves that have ended so far; after the end in all. */
int64_t dfr_part_waves(const struct dfr_part *part);
/* The least number of a wave in which a stream of the part has ended; INT64_MAX: none has. options.apart. */
int64_t dfr_part_end(const struct dfr_part *part);
/* Begins the next wave, local number *local. There was room. values: by rising port, all that the part reads in each wave. */
int dfr_part_begin(struct dfr_part *part, int64_t number, const struct dfr_value *values, uint32_t n, int64_t *local,
                   struct df_error *error);
/* A wave that has ended and was not released; -1: there is none. in_order: the oldest, or none while that runs. */
int64_t dfr_part_ended(const struct dfr_part *part, bool in_order);
/* The tokens for place `to` that the wave has made; those of all ports that it makes if `to` is DFR_PLACES. */
void dfr_part_values(const struct dfr_part *part, int64_t local, unsigned to, struct dfr_value *values, uint32_t *n);
void dfr_part_release(struct dfr_part *part, int64_t local);

/* NULL: there is none, or it has ended by itself. */
struct df_run *dfr_part_run(struct dfr_part *part);
/* There are no more waves. Has the run ended? It does when the waves have that were begun, or are wanted. */
bool dfr_part_ends(struct dfr_part *part);
/* There are no more waves: waits for the end of the run, and of what comes after the last wave. stats may be NULL. */
int dfr_part_finish(struct dfr_part *part, struct df_stats *stats, struct df_error *error);
/* Frees the part. A run that has not finished is stopped first, as a failed one. NULL is allowed. */
void dfr_part_close(struct dfr_part *part);

#endif
