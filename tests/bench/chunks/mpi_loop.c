/* mpi_loop.c - a bare manager and its workers over MPI: mpi_loop US CHUNKS prints the seconds from the first chunk to the last result. A
 * worker gets its next chunk when its result has come.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "chunk.h"

enum { END = -1 };

static void manage(long chunks, int workers)
{
    long given = 0, result;
    MPI_Status from;
    for (int w = 1; w <= workers; w++)
        MPI_Recv(&result, 1, MPI_LONG, w, 0, MPI_COMM_WORLD, &from);
    double begin_s = chunk_clock_s();
    for (int w = 1; w <= workers && given < chunks; w++, given++)
        MPI_Send(&given, 1, MPI_LONG, w, 0, MPI_COMM_WORLD);
    for (long n = 0; n < chunks; n++) {
        MPI_Recv(&result, 1, MPI_LONG, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &from);
        if (given < chunks) {
            MPI_Send(&given, 1, MPI_LONG, from.MPI_SOURCE, 0, MPI_COMM_WORLD);
            given++;
        }
    }
    printf("%.6f\n", chunk_clock_s() - begin_s);
    for (int w = 1; w <= workers; w++)
        MPI_Send(&(long){ END }, 1, MPI_LONG, w, 0, MPI_COMM_WORLD);
}

static void work(long us)
{
    long chunk = END;                   /* the first message says that it is there */
    do {
        MPI_Send(&chunk, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&chunk, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (chunk != END)
            chunk_work(us);
    } while (chunk != END);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3 || ranks < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0)
        manage(atol(argv[2]), ranks - 1);
    else
        work(atol(argv[1]));
    MPI_Finalize();
}
