/* manager_simulation.h - simulates a run on many machines in virtual time: the runtime's own manager
 * (runtime/ranks/manager.h) distributes waves to workers, which are modelled by service times, over a shared network.
 *
 * Room:        compiler/cluster/ simulates runs on many machines, for `dfc scale` and `dfc map`. This file and flows.h
 *              know neither graphs nor platforms: the time of a wave on a machine is an input.
 * Machines:    a machine begins a wave when the wave's inputs have arrived and `every_s` has passed since it began the
 *              previous one. The wave ends `latency_s` later. Both are scaled by a random factor per wave, uniform from
 *              1 - vary to 1 + vary.
 * Shares:      with `shares`, machines divide the parts of accs instead of waves (runtime/ranks/ranks.h): the manager gives
 *              each machine one share in the place of a wave. The machine processes all waves of it, `inflight` at
 *              once, with the share's times, and then returns its parts.
 * Rank 0:      its thread handles one message at a time, handle_s each; sending one takes as long. It produces the
 *              inputs of waves one after the other, head_s each, and consumes their results in order, tail_s each.
 * Network:     each machine has a full-duplex link to a switch; rank 0's is `manager`. What one machine sends, or
 *              receives, is serialised; machines share rank 0's link, the switch's total bandwidth, and the file
 *              system's, max-min fair (flows.h). Then the latency is added. Messages below DFC_SMALL_BYTES slow no
 *              others, and heartbeats never wait.
 * Files:       with read_bytes, a machine reads that much for each wave before it begins, from a file system whose
 *              bandwidth all share; with write_bytes it writes that much before its result leaves.
 * Determinism: the same input gives the same result, to the last digit.
 * Cost:        about a microsecond for each message and each event of a machine.
 * Threads:     reentrant.
 */
#ifndef DFC_MANAGER_SIMULATION_H
#define DFC_MANAGER_SIMULATION_H

#include <stdint.h>

#include "runtime/df.h"

#define DFC_SMALL_BYTES 4096
enum { DFC_MOST_TYPES = 16 };

struct dfc_machines {                   /* of one type */
    uint32_t n;
    double every_s, latency_s;          /* of a wave; latency_s >= every_s */
    double link_bytes_per_s;
};

struct dfc_manager_share {
    double every_s[DFC_MOST_TYPES], latency_s[DFC_MOST_TYPES]; /* of a wave, by type of machine */
    double bytes;                       /* of its parts */
};

struct dfc_manager_setup {
    struct dfc_machines types[DFC_MOST_TYPES];
    uint32_t n_types;
    int64_t waves;
    const struct dfc_manager_share *shares; /* n_shares of them; NULL: machines share waves */
    uint32_t n_shares;
    unsigned window;                    /* 0: found. With shares it is one */
    unsigned inflight;                  /* waves that a machine says it can have in flight: where a found window begins */
    double vary;                        /* 0 to below 1 */
    uint32_t seed;
    double head_s, tail_s, handle_s;
    double give_bytes, result_bytes, read_bytes, write_bytes; /* of a wave */
    double latency_s;                   /* of a message */
    double manager_bytes_per_s;         /* rank 0's link */
    double switch_bytes_per_s, files_bytes_per_s; /* 0: no bound */
};

struct dfc_manager_result {
    double makespan_s;                  /* until the last wave has ended */
    int64_t waves[DFC_MOST_TYPES];      /* accepted from machines of that type; with shares: how many of these */
    double busy[DFC_MOST_TYPES];        /* share of the time in which machines of that type could begin no further wave; 0: there are none */
    double nodes_busy;                  /* the same share, of all machines */
    double manager_busy;                /* share of the time that its thread handled messages */
    double out_busy, in_busy, switch_busy, files_busy; /* bytes moved over what could be */
    unsigned least_window, most_window; /* at the end */
};

/* DF_E_MEMORY, DF_E_ARGUMENT, or what the manager says. */
int dfc_manager_simulate(const struct dfc_manager_setup *setup, struct dfc_manager_result *result, struct df_error *error);

#endif
