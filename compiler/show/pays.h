/* pays.h - the tables at the end of `dfc profile` (commands/cmd_profile.c): does it pay off to divide waves over several
 * workers, or to offload kernels to a GPU? They show predictions beside measurements, and answer in words.
 *
 * Times:    of one worker, from the problem's times; the time of a wave is the mean over the waves of a run.
 * Memory:   everything is the caller's.
 */
#ifndef DFC_PAYS_H
#define DFC_PAYS_H

#include <stdio.h>

#include "partition/partition.h"

/* One way to run the graph. */
struct dfc_way {
    uint32_t workers;
    bool devices;                       /* with those of the platform */
    uint32_t waves;                     /* 0: nothing is predicted */
    double predicted_s, measured_s;     /* a wave; NaN: not known */
};

struct dfc_pays {
    const struct dfp_problem *problem;
    uint32_t inflight;                  /* 0: by default */
    const char *devices;                /* of the platform: "the GPU" */
    struct dfc_way ways[3];             /* first one worker, then all of them, then with devices */
    unsigned n_ways;
};

/* The policy by which a way runs. */
const char *dfc_way_policy(const struct dfc_way *way);
/* Predicts the way's time for its waves, in virtual time. If it cannot run so, it is NaN. */
void dfc_way_predict(const struct dfc_pays *pays, struct dfc_way *way);
/* Prints both tables and the sentences. false: no memory. */
bool dfc_pays_print(const struct dfc_pays *pays, FILE *out);

#endif
