/* divide.h - decides which nodes are divided if nobody says it, and how often the waves go by for the parts of accs: those whose division
 * is predicted to be faster. dfc decides it for programs whose sizes it knows. Programs with dynamic params and libraries decide it by
 * the same code when they know their sizes (compiler/front/replan.c).
 *
 * Room:     compiler/divide/ knows graphs, planners and no front end: graphs with other divisions are made by a function of the caller.
 *           It is linked into programs.
 * Memory:   dfc_divide() changes the struct in place. The caller owns `made`, as the last call of `make` gave it, and frees the lists
 *           with dfc_divide_free().
 * Errors:   none. What cannot be made, predicted or remembered is not divided.
 */
#ifndef DFC_DIVIDE_H
#define DFC_DIVIDE_H

#include <stdio.h>

#include "compiler/types/program.h"
#include "partition/partition.h"

struct dfc_made {                       /* a graph with some divisions */
    struct dfc_front *front;
    struct df_times times;
    void *more;                         /* what else the maker has for it */
};

struct dfc_divide {
    /* given */
    const struct df_platform *platform; /* where it will run */
    bool (*make)(void *arg, const struct dfc_division *divisions, size_t n_divisions, struct dfc_made *made); /* false: it cannot be made */
    void (*unmake)(struct dfc_made *made);
    void *arg;
    bool throughput;                    /* waves keep the units busy: only what fits nowhere is divided */
    bool fixed;                         /* somebody said how many parts nodes have: passes alone are chosen */
    bool one_pass;                      /* somebody said how many passes there are, or they are not chosen here */
    uint32_t waves;                     /* that there will be; 0: not known, and then how many are guessed */
    /* changed */
    struct dfc_made made;               /* the graph without divisions, and then with them */
    struct dfc_division *divisions;     /* their names and weights are of this list */
    size_t n_divisions;
    struct dfc_division *declined;      /* that were tried and would not pay: after_s is what a wave would take */
    size_t n_declined;
    bool waves_guessed;
    struct dfp_passes passes;           /* n is 0: there is no acc, or nothing to choose */
};

void dfc_divide(struct dfc_divide *d);
void dfc_divide_free(struct dfc_divide *d);

/* One line: "WHAT: NODE in N parts, WHY (WEIGHTS): ". */
void dfc_division_print(FILE *out, const char *what, const struct dfc_division *division);
/* The rest of the line of one that was taken: what a wave takes, and took before. */
void dfc_division_print_gain(FILE *out, const struct dfc_division *division);

#endif
