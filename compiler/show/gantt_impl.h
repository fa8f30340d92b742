/* gantt_impl.h - the bars of a Gantt chart, private to gantt.c (what happened, and why it took so long) and
 * gantt_draw.c. */
#ifndef DFC_GANTT_IMPL_H
#define DFC_GANTT_IMPL_H

#include "compiler/show/gantt.h"

enum dfc_bar_kind { DFC_BAR_JOB, DFC_BAR_TO_DEVICE, DFC_BAR_FROM_DEVICE, DFC_BAR_TO_PEER };

struct dfc_gantt_bar {
    enum dfc_bar_kind kind;
    uint32_t row;                       /* job: worker. Copy: the device, of peers the sender */
    uint32_t to;                        /* copy: the unit where it arrives */
    uint32_t what;                      /* job: node. Copy: value */
    uint32_t wave;
    double begin_s, end_s;
    bool critical;
};

struct dfc_gantt {
    struct dfc_gantt_bar *bars;
    size_t n_bars, capacity;
    bool failed;                        /* no memory */
};

/* The chain that ends with the last job: chain[0] is that job, chain[i + 1] what chain[i] had to wait for. Indices of
 * bars; their number, or SIZE_MAX where there is no memory. *chain is malloc'ed. */
size_t dfc_gantt_chain(const struct dfc_gantt *gantt, const struct dfp_problem *problem, size_t **chain);

#endif
