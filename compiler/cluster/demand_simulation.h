/* demand_simulation.h - simulates a pipeline whose stages fetch work on demand, on many machines in virtual time. The
 * stream code of the runtime makes the decisions (runtime/stream/stream.h); machines are modelled as workers with
 * service times. demand_command.c runs it on the input that demand_stages.c makes, and demand_report.c prints the
 * result.
 *
 * Machines:    each has workers of one or more types: cores and GPUs. Any worker may execute any stage that its type
 *              supports. It processes one item, which is one stage of one wave, at a time.
 * Waves:       wave w has machine w modulo `homes` as its home. All its tokens stay there, so the homes are the
 *              senders. Reading a wave takes no time. A home has at most `places` unfinished waves; it reads the next
 *              one when there is room.
 * Stages:      a wave goes through the stages in order. A stage fires in a fraction of the waves, drawn per wave. When
 *              a stage has ended, its result is sent home, and the wave's next stage becomes ready there.
 * Network:     a machine's link serialises what the machine sends, and what it receives. The switch between the links
 *              buffers without bound, so no machine waits for another's link. Messages below DFC_SMALL_BYTES do not
 *              occupy the link, but keep their order. Then come the latency and message_s; within a machine only
 *              message_s.
 * Determinism: the same input gives the same result, to the last digit.
 * Cost:        about 2 us for each message and each end of an item.
 * Threads:     reentrant.
 */
#ifndef DFC_DEMAND_SIMULATION_H
#define DFC_DEMAND_SIMULATION_H

#include "compiler/cluster/manager_simulation.h"
#include "runtime/stream/stream.h"

enum { DFC_DEMAND_STAGES = 32, DFC_DEMAND_NODES = 1024 };

struct dfc_demand {
    enum dfr_stream_policy policy;
    uint32_t n_types, n_stages, n_node_types;
    struct dfc_demand_stage {
        double time_s[DFR_STREAM_TYPES]; /* INFINITY: a type cannot do it */
        double fires;                   /* a share of the waves, 0 to 1 */
        double in_bytes, out_bytes;     /* what goes to the worker's machine, and back home */
    } stages[DFC_DEMAND_STAGES];
    struct dfc_demand_nodes {
        uint32_t n, workers[DFR_STREAM_TYPES];
        double link_bytes_per_s, latency_s;
    } nodes[DFC_MOST_TYPES];
    double message_s;                   /* until a message that has come is read */
    int64_t waves;
    uint32_t homes;                     /* machines that are homes, the first ones; 0: all */
    uint32_t places, requests, most;    /* as in stream.h; `places` are waves */
    uint32_t seed;
    /* Callback for each change of a worker's target; NULL: none. */
    void (*target_changed)(void *arg, double now_s, uint32_t node, uint32_t worker, uint32_t type, uint32_t target);
    void *arg;
};

struct dfc_demand_result {
    double makespan_s;
    int64_t fired[DFC_DEMAND_STAGES];   /* items of each stage */
    int64_t done[DFC_DEMAND_STAGES][DFR_STREAM_TYPES];
    double busy[DFR_STREAM_TYPES];      /* share of the time in which workers of that type worked; 0: there are none */
    double ended_s[DFR_STREAM_TYPES];   /* when a worker of that type ended its last item */
    double moved_bytes;                 /* over the network */
    uint32_t most_waiting;              /* items at one sender */
    uint32_t most_held, held_bound;     /* items under way to one receiver and queued there, and what they cannot exceed */
    uint32_t most_target;
};

/* DF_E_MEMORY, DF_E_ARGUMENT: a stage can run nowhere, or a number is out of range. */
int dfc_demand_run(const struct dfc_demand *setup, struct dfc_demand_result *result, struct df_error *error);

#endif
