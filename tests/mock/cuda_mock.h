/* cuda_mock.h - a stand-in for the CUDA runtime, so that all of libdf-cuda runs where there is no GPU: the functions
 * that it calls, done on the host, by the rules of CUDA's documentation. It is no GPU: kernels are C functions, nothing
 * runs beside anything, and what a real driver does beyond the documentation is not in it.
 *
 * Work:     streams are queues of what was enqueued. Nothing of it is done until somebody asks for an event or waits;
 *           then a few of the heads that may go are, chosen by the seed. So whatever the runtime frees, reuses or reads
 *           too early is seen.
 * Memory:   a device's is closed to everybody (a fault) but while enqueued work is done; a copy must lie within it. No
 *           page of the host is pinned twice, and a copy's host side is pinned as a whole or not at all.
 * Rules:    a thread that has set no device gets the first that works; what a capture forbids spoils it (also when a
 *           thread waits for a device while another captures on it); a kernel goes to a stream of the thread's current
 *           device; an event is of its stream's device; an error of a kernel comes back from every later call of its
 *           device, for good; other errors stay a thread's last one until they are taken; the end of a cuBLAS handle
 *           waits for its device.
 * Time:     the mock's own. Every operation takes 1 us, a copy 1 ns for each byte besides. mock_times() lets the host's
 *           calls and kernels take some, too.
 * Use:      linked in place of the CUDA runtime. All is weak: NULL where CUDA's headers were not there to build it.
 */
#ifndef CUDA_MOCK_H
#define CUDA_MOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOCK __attribute__((weak))

/* cudaError_t of some trouble, for those without CUDA's headers. */
enum { MOCK_OUT_OF_MEMORY = 2, MOCK_DRIVER_TOO_OLD = 35, MOCK_BUSY = 46, MOCK_NO_DEVICE = 100,
       MOCK_ILLEGAL_ADDRESS = 700 };

/* A machine with so many GPUs; forgets all errors. What an earlier one has left (see mock_left) is returned. */
MOCK void mock_begin(unsigned devices, uint64_t memory_bytes, uint32_t seed);
/* Streams, events, graphs, allocations and pinned ranges that nobody has returned, and captures not ended. */
MOCK size_t mock_left(void);
MOCK uint64_t mock_calls(void);         /* since mock_begin() */
MOCK const char *mock_connections(void); /* CUDA_DEVICE_MAX_CONNECTIONS, as it was at the first call; "": not set */
MOCK int mock_last_error(void);         /* of this thread; takes it */
MOCK uint64_t mock_graph_launches(void);
MOCK uint64_t mock_graph_edges(void);   /* of the graph that was launched last */
MOCK uint64_t mock_spoiled(void);       /* calls that a capture forbids */
MOCK uint64_t mock_records(void);       /* of events */
MOCK uint64_t mock_timed_events(void);  /* events that were made with timing */
MOCK bool mock_peers(int from, int to); /* access was enabled */
MOCK uint64_t mock_batches(void);       /* calls that were given several copies */
MOCK bool mock_has_batches(void);       /* the runtime has such calls, and the driver */
MOCK void mock_no_batches(void);        /* the driver has none from now on */
MOCK void mock_no_peers(void);          /* none can be from now on */
MOCK void mock_busy(int device);        /* another process has it for itself */
MOCK void mock_others(int device, uint64_t bytes); /* other processes use so much of its memory */
MOCK void mock_local(uint64_t frame, int processors, int threads); /* each kernel has such a frame, and a GPU so many processors, of so many threads */
MOCK void mock_integrated(void);        /* the GPUs' memory is the host's */
MOCK void mock_coherent(void);          /* they use the host's page tables */
MOCK void mock_no_code(int device);     /* the program has none for it */
MOCK uint64_t mock_loads(int device);   /* functions that were asked for there, so that their code was loaded */
/* The n-th call from now, from 1, fails with this status; its name is then in mock_failed(). 0: none does. */
MOCK void mock_fail(uint64_t n, int status);
MOCK const char *mock_failed(void);     /* NULL: not reached yet */
/* What the driver says when it is counted: its version (0: there is none), and the status of counting. */
MOCK void mock_driver(int version, int status);
/* From now on each call that enqueues takes the host call_us, and nothing begins before it was enqueued. A kernel takes
 * kernel_us; or cold_us if cache_bytes or more were copied since the last one. mock_begin() ends that. */
MOCK void mock_times(double call_us, double kernel_us, double cold_us, size_t cache_bytes);

/* What the latest cuBLAS handle is bound to, and how many were made since mock_begin(). */
struct mock_blas {
    unsigned handles;
    void *stream, *workspace;
};
MOCK struct mock_blas mock_blas(void);

/* ---- for kernels' host code ---- */

/* A launch: fn(a copy of the bytes) when its turn comes. */
MOCK void mock_launch(void *stream, void (*fn)(void *), const void *arguments, size_t bytes);
MOCK void mock_launch_fault(void *stream); /* a kernel that touches what is not its own */
MOCK int mock_allocate(void);           /* cudaMalloc and cudaFree of a little */
MOCK void mock_select(int device);      /* cudaSetDevice, not undone */

#endif
