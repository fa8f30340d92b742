/* gantt_impl.h - the bars of a Gantt chart. Private to gantt.c (simulated runs and their critical chain), gantt_trace.c
 * (real runs) and gantt_draw.c.
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
    uint32_t line;                      /* of the view */
    uint32_t kernel;                    /* job: its kernel, of the view */
};

struct dfc_gantt {
    struct dfc_gantt_bar *bars;
    size_t n_bars, capacity;
    bool failed;                        /* memory ran out */
};

/* Finds the chain that ends with the last job. chain[0] is that job; chain[i + 1] is what chain[i] had to wait for.
 * They are indices of bars. Gives how many there are; SIZE_MAX: no memory. *chain is malloc'ed. */
size_t dfc_gantt_chain(const struct dfc_gantt *gantt, const struct dfp_problem *problem, size_t **chain);

void dfc_gantt_add(struct dfc_gantt *gantt, struct dfc_gantt_bar bar);

/* ---- what is drawn ---- */

struct dfc_gantt_line {                 /* of a worker or of a copy engine */
    char name[96];
    bool copies;
    bool begins;                        /* the first of a unit */
};

struct dfc_gantt_view {
    const char *title;
    double end_s;
    const struct dfc_gantt_line *lines;
    uint32_t n_lines;
    const char *const *kernels;
    uint32_t n_kernels;
    const struct dfc_gantt_bar *bars;
    size_t n_bars;
    const size_t *chain;                /* indices of bars, as dfc_gantt_chain() gives them */
    size_t n_chain;
    /* Writes the name of a job's node, or what a copy copies. */
    void (*name)(const struct dfc_gantt_view *view, const struct dfc_gantt_bar *bar, char *name, size_t size);
    /* A copy to a peer: the name of the unit at which it arrives. */
    const char *(*peer)(const struct dfc_gantt_view *view, const struct dfc_gantt_bar *bar);
    const void *arg;                    /* of both */
};

bool dfc_gantt_draw(const struct dfc_gantt_view *view, FILE *out);

#endif
