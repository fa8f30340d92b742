/* paper_rig.h - what the tests of the papers' experiments share: a graph with its times, simulated runs, and figures.
 * Each figure is printed beside the published one, in a line "figure …", which tests/run.sh shows.
 */
#ifndef PAPER_RIG_H
#define PAPER_RIG_H

#include "compiler/front/front.h"
#include "runtime/simulate/simulate.h"

struct paper {
    struct dfl_sink *sink;
    struct dfc_front *front;
    const struct df_graph *graph;
    struct df_platform platform;
    struct df_times times;              /* the times that policies are told */
    double *true_s;                     /* the times that jobs take */
};

/* Loads the graph with its platform and its costs. tiles: the value of its param `tiles`; NULL: the one in the file. */
void paper_begin(struct paper *paper, const char *path, const char *tiles);
void paper_end(struct paper *paper);

struct paper_setting {
    const char *policy;
    uint32_t waves, window;
    bool locality, prefetch;
};

/* Simulates a run. A policy that needs a plan gets one, made for the times that it is told. place: the unit of each
 * node; may be NULL. */
struct dfr_simulation paper_run(const struct paper *paper, struct paper_setting how, uint16_t *place);
double paper_seconds(const struct paper *paper, const char *policy, uint32_t waves, uint32_t window);

/* Prints the figure. Fails the test if it is further from the published figure than the tolerance. */
void paper_near(const char *what, double value, double published, double tolerance);

/* The same for two figures of ours, which a paper says are alike. */
void paper_alike(const char *what, double value, double other, double tolerance);

#define paper_less(a, b) \
    do { \
        double a_ = (a), b_ = (b); \
        if (!(a_ < b_)) \
            fail_msg("%s:%d: %s is %g, %s is %g", __FILE__, __LINE__, #a, a_, #b, b_); \
    } while (0)

#endif
