/* virtual.h - a run on many machines in virtual time: the manager's own code (runtime/cluster/manager.h) hands waves to
 * workers that are boxes with service times, over a network that is shared.
 *
 * Room:     compiler/cluster/ simulates runs on many machines, for `dfc scale`. This file and flows.h know neither graphs nor
 *           platforms: what a wave takes on a machine is given.
 * Machines: A machine begins a wave when the wave's inputs are there and `every_s` has passed since it began the one
 *           before. The wave ends `latency_s` after its beginning. Both are a random factor longer or shorter by wave,
 *           drawn evenly from 1 - vary to 1 + vary.
 * Shares:   With `shares`, machines share the parts of accs, and no waves (runtime/shares/): the manager gives a share in the place of a wave, one to each
 *           machine, which does all waves of it, `inflight` at once, and then gives its parts. What a wave takes is the share's.
 * Rank 0:   Its thread handles one message at a time, each for handle_s; a message that it sends takes as long. It makes the
 *           inputs of waves one after the other, head_s each, and takes their results in order, tail_s each.
 * Network:  Each machine has a link to a switch, which sends and receives at the same time. Rank 0's is `manager`. What one
 *           machine sends, or receives, goes one after the other; machines share rank 0's link, the switch's whole
 *           bandwidth, and the file system's, max-min fair (flows.h). Then it takes the latency. Messages below
 *           DFC_SMALL_BYTES slow nobody, and heartbeats wait for nothing.
 * Files:    With read_bytes, a machine reads so much for each wave before it begins, from a file system whose bandwidth all
 *           share; with write_bytes it writes so much, and its result leaves then.
 * Determinism: the same input gives the same answer, to the last digit.
 * Cost:     about a microsecond for each message and each event of a machine.
 * Threads:  reentrant.
 */
#ifndef DFC_VIRTUAL_H
#define DFC_VIRTUAL_H

#include <stdint.h>

#include "runtime/df.h"

#define DFC_SMALL_BYTES 4096
enum { DFC_MOST_TYPES = 16 };

struct dfc_machines {                   /* of one type */
    uint32_t n;
    double every_s, latency_s;          /* of a wave; latency_s >= every_s */
    double link_bytes_per_s;
};

struct dfc_virtual_share {
    double every_s[DFC_MOST_TYPES], latency_s[DFC_MOST_TYPES]; /* of a wave, by type of machine */
    double bytes;                       /* of its parts */
};

struct dfc_virtual {
    struct dfc_machines types[DFC_MOST_TYPES];
    uint32_t n_types;
    int64_t waves;
    const struct dfc_virtual_share *shares; /* n_shares of them; NULL: machines share waves */
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

struct dfc_virtual_result {
    double makespan_s;                  /* until the last wave has ended */
    int64_t waves[DFC_MOST_TYPES];      /* accepted from machines of that type; with shares: how many of these */
    double busy[DFC_MOST_TYPES];        /* share of the time in which machines of that type could begin no further wave; 0: there are none */
    double nodes_busy;                  /* the same share, of all machines */
    double manager_busy;                /* share of the time that its thread handled messages */
    double out_busy, in_busy, switch_busy, files_busy; /* bytes moved over what could be */
    unsigned least_window, most_window; /* at the end */
};

/* DF_E_MEMORY, DF_E_ARGUMENT, or what the manager says. */
int dfc_virtual_run(const struct dfc_virtual *setup, struct dfc_virtual_result *result, struct df_error *error);

#endif
