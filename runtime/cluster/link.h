/* link.h - how the processes (ranks) of a run reach each other. One struct of calls, so that the same code runs over MPI
 * (runtime/mpi/), over a mock in the tests, and in virtual time.
 *
 * Ranks:    0 to size - 1. Rank 0 is the manager, the others are workers.
 * Messages: rows of bytes of any length. What one rank sends to one other arrives in the order in which it was sent.
 *           Between different pairs of ranks there is no order.
 * Loss:     no message is lost while both ranks live. A rank that died is not told: what is sent to it may count as sent,
 *           or stay on its way for ever.
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
    DFR_LINK_ARRIVED,
    DFR_LINK_SENT
};

struct dfr_link_event {
    enum dfr_link_kind kind;
    int rank;                           /* ARRIVED: who sent it */
    unsigned char *bytes;               /* ARRIVED: free() it */
    size_t size;
    void *cookie;                       /* SENT: what send() was told */
};

struct dfr_link {
    int rank, size;
    /* Begins to send bytes[0..size), size > 0, to another rank. */
    int (*send)(struct dfr_link *link, int to, const void *bytes, size_t size, void *cookie, struct df_error *error);
    /* The next thing that has happened; NOTHING or MOVING: nothing. */
    int (*poll)(struct dfr_link *link, struct dfr_link_event *event, struct df_error *error);
    /* Frees the link. `whole`: all ranks live and close theirs, too, and nothing is on its way. Else a rank may be dead:
     * messages on their way to it are given up, and their bytes must stay where they are until the process ends. */
    void (*close)(struct dfr_link *link, bool whole);
};

/* Opens the link of MPI, in the thread that will make all calls, once in a process. The plug-in is the file that the
 * environment's DF_MPI names; else DFR_MPI_FILE in `folder`, beside the program, in ../lib from there, or where the system
 * looks for libraries. Outside of mpirun (or srun) the size is 1.
 * DF_E_DEVICE: there is no plug-in, or it does not load; DF_E_IO: MPI does not start. */
#define DFR_MPI_FILE "libdf-mpi.so"
int dfr_link_open_mpi(struct dfr_link **link, const char *folder, struct df_error *error);

/* What the plug-in exports: this, under the name `dfr_mpi_plugin`. */
#define DFR_MPI_VERSION 1
struct dfr_mpi_plugin {
    unsigned version;                   /* DFR_MPI_VERSION, or it is another dfc's */
    int (*open)(struct dfr_link **link, struct df_error *error);
};

#endif
