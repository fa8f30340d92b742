/* paper_rig.h - what the tests of the papers' experiments share: a graph with its times, simulated runs, and figures
 * that are printed beside the published ones ("figure …" lines, which tests/run.sh shows).
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
    struct df_times times;              /* what policies are told */
    double *true_s;                     /* as they are */
};

/* The graph's platform and costs. tiles: the value of its param of that name; NULL: as the file has it. */
void paper_begin(struct paper *paper, const char *path, const char *tiles);
void paper_end(struct paper *paper);

struct paper_setting {
    const char *policy;
    uint32_t waves, window;
    bool locality, prefetch;
};

/* Policies that need a plan get one, for the times that they are told. place: of each node, or NULL. */
struct dfr_simulation paper_run(const struct paper *paper, struct paper_setting how, uint16_t *place);
double paper_seconds(const struct paper *paper, const char *policy, uint32_t waves, uint32_t window);

/* Prints the figure, and fails where it is further from the published one than the tolerance. */
void paper_near(const char *what, double value, double published, double tolerance);

/* The same of two figures that are both ours, and were published to be alike. */
void paper_alike(const char *what, double value, double other, double tolerance);

#define paper_less(a, b) \
    do { \
        double a_ = (a), b_ = (b); \
        if (!(a_ < b_)) \
            fail_msg("%s:%d: %s is %g, %s is %g", __FILE__, __LINE__, #a, a_, #b, b_); \
    } while (0)

#endif
