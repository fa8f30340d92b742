/* divide.h - chooses which nodes are divided into parts, and in how many passes the waves visit the parts of an acc,
 * when the program does not say so. dfc chooses for programs whose sizes it knows; programs with dynamic params and
 * libraries choose with the same code once their sizes are known (compiler/front/replan.c).
 *
 * Room:     compiler/divide/ knows graphs and planners but not the front end: a callback elaborates the graph with
 *           other divisions. It is linked into programs.
 * Memory:   dfc_divide() updates the struct in place. The caller owns `made`, the result of the last call of `make`,
 *           and frees the lists with dfc_divide_free().
 * Errors:   none. A candidate that cannot be elaborated, predicted or stored is not divided.
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
    bool throughput;                    /* waves keep the units busy: only nodes that fit nowhere are divided */
    bool fixed;                         /* the numbers of parts were given: only passes are chosen */
    bool one_pass;                      /* the number of passes was given, or is not chosen here */
    uint32_t waves;                     /* that there will be; 0: not known, and then how many are guessed */
    /* changed */
    struct dfc_made made;               /* the graph without divisions, and then with them */
    struct dfc_division *divisions;     /* their names and weights are of this list */
    size_t n_divisions;
    struct dfc_division *declined;      /* candidates that would not pay off; after_s is the predicted time of a wave */
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
