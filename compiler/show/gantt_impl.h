/* gantt_impl.h - the bars of a Gantt chart. Private to gantt.c (what happened, and why it took so long) and
 * gantt_draw.c.
 */
#ifndef DFC_GANTT_IMPL_H
#define DFC_GANTT_IMPL_H

#include "compiler/show/gantt.h"

enum dfc_bar_kind { DFC_BAR_JOB, DFC_BAR_TO_DEVICE, DFC_BAR_FROM_DEVICE, DFC_BAR_TO_PEER };

struct dfc_gantt_bar {
    enum dfc_bar_kind kind;
    uint32_t row;                       /* job: its worker. Copy: the device; if to a peer, the sender */
    uint32_t to;                        /* copy: the unit at which it arrives */
    uint32_t what;                      /* job: node. Copy: value */
    uint32_t wave;
    double begin_s, end_s;
    bool critical;
};

struct dfc_gantt {
    struct dfc_gantt_bar *bars;
    size_t n_bars, capacity;
    bool failed;                        /* memory ran out */
};

/* Finds the chain that ends with the last job. chain[0] is that job; chain[i + 1] is what chain[i] had to wait for.
 * They are indices of bars. Gives how many there are; SIZE_MAX: no memory. *chain is malloc'ed. */
size_t dfc_gantt_chain(const struct dfc_gantt *gantt, const struct dfp_problem *problem, size_t **chain);

#endif
