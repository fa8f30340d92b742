/* link.h - how the processes (ranks) of a run reach each other. One struct of calls, so that the same code runs over MPI
 * (runtime/mpi/), over TCP connections (link_tcp.h), over a mock in the tests, and in virtual time.
 *
 * Ranks:    0 to size - 1. Rank 0 is the manager, the others are workers.
 * Messages: rows of bytes of any length. What one rank sends to one other arrives in the order in which it was sent.
 *           Between different pairs of ranks there is no order. An *urgent* message may overtake others: heartbeats do.
 * Pieces:   a large message travels in bounded pieces, urgent messages between them. Each piece that arrives is a sign of life
 *           of its sender: DFR_LINK_HEARD.
 * Loss:     no message is lost while both ranks live. What is sent to a rank that died may count as sent, or stay on its way
 *           for ever. A link that notices the death says so with DFR_LINK_LOST; not every link does.
 * Memory:   a message that is sent stays its sender's, unchanged, until a DFR_LINK_SENT event gives its cookie back. What
 *           arrives is given to the receiver, who calls free(); it begins at a multiple of DFR_LINK_ALIGN bytes.
 * Threads:  all calls of a link come from the thread that opened it, the communication thread.
 * Progress: no call waits.
 * Errors:   DF_OK, or a code with a sentence in *error; from then on the link may only be closed.
 */
#ifndef DFR_LINK_H
#define DFR_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/df.h"

#define DFR_LINK_ALIGN 64

enum dfr_link_kind {
    DFR_LINK_NOTHING,
    DFR_LINK_MOVING,                    /* nothing to be told, but messages move: poll again soon, they move in calls only */
    DFR_LINK_HEARD,                     /* a piece of a message has come from this rank */
    DFR_LINK_ARRIVED,
    DFR_LINK_SENT,
    DFR_LINK_LOST                       /* this rank has ended, or its connection has: nothing comes from it any more. Once for a rank */
};

struct dfr_link_event {
    enum dfr_link_kind kind;
    int rank;                           /* HEARD, ARRIVED: who sent it; LOST */
    unsigned char *bytes;               /* ARRIVED: free() it */
    size_t size;
    void *cookie;                       /* SENT: what send() was told */
};

struct dfr_link {
    int rank, size;
    /* Begins to send bytes[0..size), size > 0, to another rank. */
    int (*send)(struct dfr_link *link, int to, const void *bytes, size_t size, bool urgent, void *cookie, struct df_error *error);
    /* The next thing that has happened; NOTHING or MOVING: nothing. */
    int (*poll)(struct dfr_link *link, struct dfr_link_event *event, struct df_error *error);
    /* Frees the link. `whole`: all ranks live and close theirs, too, and nothing is on its way. Else a rank may be dead:
     * messages on their way to it are given up, and their bytes must stay where they are until the process ends. */
    void (*close)(struct dfr_link *link, bool whole);
};

/* Opens the link of the ranks of this mpirun, in the thread that will make all calls, once in a process. MPI's plug-in is the file that the
 * environment's DF_MPI names; else DFR_MPI_FILE in `folder`, beside the program, in ../lib from there, or where the system
 * looks for libraries. Outside of mpirun (or srun) the size is 1.
 *
 * Carrier:  MPI starts the ranks, and carries messages between ranks of one host (shared memory), or if every host has a fast network of its own
 *           (RDMA). Else messages go over TCP connections of this runtime: Open MPI's own TCP transport (4.1) may wait for itself, or abort,
 *           when a rank dies. The environment's DF_LINK, of rank 0, is `mpi` or `tcp`: it chooses.
 * Guard:    if a call of MPI does not return within DF_MPI_TIMEOUT seconds (environment; default 60), a thread says so, and ends the process with
 *           status 1 (guard.h). No call of MPI ends the process by SIGPIPE.
 *
 * DF_E_DEVICE: there is no plug-in, or it does not load; DF_E_IO: MPI does not start, or a rank cannot be reached; DF_E_ARGUMENT: DF_LINK or
 * DF_MPI_TIMEOUT is wrong. */
#define DFR_MPI_FILE "libdf-mpi.so"
int dfr_link_open_mpi(struct dfr_link **link, const char *folder, struct df_error *error);

/* What is set for Open MPI's TCP transport, as OMPI_MCA_btl_tcp_flags, unless the user sets it: no PUT. */
#define DFR_LINK_TCP_FLAGS "57"          /* send, inplace, need-ack, need-csum */

/* The name of a fast network's device on this host, such as "mlx5_0". false: there is none. */
bool dfr_link_fast_device(char *name, size_t size);

/* What the plug-in exports: this, under the name `dfr_mpi_plugin`. */
#define DFR_MPI_VERSION 2
struct dfr_mpi_plugin {
    unsigned version;                   /* DFR_MPI_VERSION, or it is another dfc's */
    int (*open)(struct dfr_link **link, struct df_error *error);
    /* Every rank's `bytes` bytes, in the order of ranks. All ranks call it, after open(). DF_E_IO. */
    int (*gather)(const void *mine, void *all, size_t bytes, struct df_error *error);
};

#endif
