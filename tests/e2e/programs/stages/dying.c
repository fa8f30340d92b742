/* dying.c - MPI's plug-in as dfc makes it, in which one rank is killed by a wave's number: rank DIE_RANK of the environment, when it is about to send the tokens of
 * wave DIE_WAVE, or of the first later one that it gets. So no test has to meet a moment. The file `died` says that it did so.
 *
 * The head of a message (runtime/link/message.h): 8 bytes of magic, then numbers of 8 bytes, of which the second one is the kind and the sixth one the wave.
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/link/message.h"

enum { HEAD_BYTES = 8 + 8 * 8 };

static uint64_t number_at(const void *bytes, int i)
{
    uint64_t number;
    memcpy(&number, (const char *)bytes + 8 + 8 * (size_t)i, sizeof number);
    return number;
}

static int send_or_die(const void *bytes, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    const char *wanted = getenv("DIE_RANK"), *wave = getenv("DIE_WAVE");
    int rank;

    MPI_Comm_rank(comm, &rank);
    if (wanted && wave && atoi(wanted) == rank && n >= HEAD_BYTES && memcmp(bytes, "dfwave", 6) == 0) {
        const uint64_t kind = number_at(bytes, 1);
        if ((kind == DFR_GIVE || kind == DFR_RESULT) && number_at(bytes, 5) >= strtoull(wave, NULL, 10) && open("died", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0)
            kill(getpid(), SIGKILL);
    }
    return MPI_Isend(bytes, n, type, to, tag, comm, request);
}

#define MPI_Isend send_or_die
#include "runtime/mpi/link_mpi.c"
