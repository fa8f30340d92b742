/* link.h - how the processes (ranks) of a run reach each other. One struct of calls, so that the same code runs over MPI
 * (runtime/mpi/), over TCP connections (link_tcp.h), over a mock in the tests, and in virtual time.
 *
 * Ranks:    0 to size - 1. Rank 0 is the manager, the others are workers.
 * Messages: rows of bytes of any length. What one rank sends to one other arrives in the order in which it was sent.
 *           Between different pairs of ranks there is no order. An *urgent* message may overtake others: heartbeats do.
 * Pieces:   a large message is sent in pieces of bounded size, with urgent messages between them. Each piece received shows that
 *           its sender is alive: DFR_LINK_HEARD.
 * Loss:     no message is lost while both ranks live. A message to a rank that died may get its DFR_LINK_SENT or stay in flight
 *           for ever. A link that detects the death reports DFR_LINK_LOST; not every link does.
 * Memory:   the sender owns a message and must not change it until a DFR_LINK_SENT event returns its cookie. A received
 *           message belongs to the receiver, who calls free(); it is aligned to DFR_LINK_ALIGN bytes.
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
    DFR_LINK_MOVING,                    /* no event, but messages are in transfer, which advances only in calls: poll again soon */
    DFR_LINK_HEARD,                     /* a piece of a message was received from this rank */
    DFR_LINK_ARRIVED,
    DFR_LINK_SENT,
    DFR_LINK_LOST                       /* this rank has ended, or its connection has. It is the last event of the rank */
};

struct dfr_link_event {
    enum dfr_link_kind kind;
    int rank;                           /* HEARD, ARRIVED: the sender; LOST */
    unsigned char *bytes;               /* ARRIVED: free() it */
    size_t size;
    void *cookie;                       /* SENT: the one given to send() */
};

struct dfr_link {
    int rank, size;
    /* Starts to send bytes[0..size), size > 0, to another rank. */
    int (*send)(struct dfr_link *link, int to, const void *bytes, size_t size, bool urgent, void *cookie, struct df_error *error);
    /* Takes the next event; NOTHING or MOVING: there is none. */
    int (*poll)(struct dfr_link *link, struct dfr_link_event *event, struct df_error *error);
    /* Frees the link. `whole`: all ranks live and close theirs, too, and no message is in flight. Otherwise a rank may be dead:
     * messages in flight are given up, and their bytes must stay valid until the process ends. */
    void (*close)(struct dfr_link *link, bool whole);
};

/* Opens the link of the ranks of this mpirun, in the thread that will make all calls, once in a process. MPI's plug-in is the file that the
 * environment's DF_MPI names; else DFR_MPI_FILE in `folder`, beside the program, in ../lib from there, or where the system
 * looks for libraries. Outside of mpirun (or srun) the size is 1.
 *
 * Carrier:  MPI starts the ranks. It carries the messages if all ranks run on one host (shared memory), or if every host has an RDMA
 *           network. Otherwise messages use TCP connections of this runtime, because Open MPI's TCP transport (4.1) may deadlock or abort
 *           when a rank dies. DF_LINK=mpi or DF_LINK=tcp in rank 0's environment overrides the choice.
 * Guard:    if a call into MPI does not return within DF_MPI_TIMEOUT seconds (environment; default 60), a watchdog reports it and ends the process
 *           with status 1 (guard.h). SIGPIPE within a call into MPI is discarded.
 *
 * DF_E_DEVICE: there is no plug-in, or it does not load; DF_E_IO: MPI does not start, or a rank cannot be reached; DF_E_ARGUMENT: DF_LINK or
 * DF_MPI_TIMEOUT is wrong. */
#define DFR_MPI_FILE "libdf-mpi.so"
int dfr_link_open_mpi(struct dfr_link **link, const char *folder, struct df_error *error);

/* The default of OMPI_MCA_btl_tcp_flags, unless the user sets it: without PUT, in which Open MPI 4.1.4 deadlocks when a rank dies. */
#define DFR_LINK_TCP_FLAGS "57"          /* send, inplace, need-ack, need-csum */

/* Finds an RDMA device of this host, such as "mlx5_0". Returns false if there is none. */
bool dfr_link_fast_device(char *name, size_t size);

/* What the plug-in exports: this, under the name `dfr_mpi_plugin`. */
#define DFR_MPI_VERSION 2
struct dfr_mpi_plugin {
    unsigned version;                   /* another value than DFR_MPI_VERSION: built by another version of dfc */
    int (*open)(struct dfr_link **link, struct df_error *error);
    /* Collective: gathers `bytes` bytes of each rank, in the order of ranks, on all of them. After open(). DF_E_IO. */
    int (*gather)(const void *mine, void *all, size_t bytes, struct df_error *error);
};

#endif
