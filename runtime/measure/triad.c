/* triad.c - runs STREAM's triad, as a measure of memory bandwidth and as a background load (triad.h), for
 * measure_load.c. */
#include "runtime/measure/triad.h"

#include <stdlib.h>
#include <time.h>

#include "runtime/base/error.h"
#include "runtime/engine/host_memory.h"
#include "runtime/measure/load_threads.h"
#include "runtime/threads/bind.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/large.h"

#define LEAST_ARRAY_BYTES (UINT64_C(4) << 20)
#define MOST_ARRAY_BYTES (UINT64_C(64) << 20)
#define SHARE_OF_MEMORY 16
#define BLOCK 8192                      /* elements of one call */
#define BYTES_EACH 24.0                 /* two reads and one write of 8 bytes */
#define RATE_NS 100000000
#define TIMED 16384                     /* calls of which a thread remembers the time: the last ones */

struct own {                            /* a thread's arrays; alone on its cache lines */
    _Alignas(128) double *a;
    double *b, *c;
    size_t at;                          /* the next element */
    bool touched;
    float *seconds;                     /* of call n at [n % TIMED]; its thread's own while that runs */
    uint64_t calls;
};

struct dfr_triad {
    uint32_t threads;
    size_t length;                      /* elements of an array: a multiple of BLOCK */
    struct own own[];
};

static uint64_t array_bytes(uint32_t threads)
{
    uint64_t bytes = dfr_cache_bytes() / threads;
    uint64_t memory = dfr_host_bytes() / SHARE_OF_MEMORY / threads / 3;
    bytes = bytes > LEAST_ARRAY_BYTES ? bytes : LEAST_ARRAY_BYTES;
    bytes = bytes < MOST_ARRAY_BYTES ? bytes : MOST_ARRAY_BYTES;
    return bytes < memory ? bytes : memory;
}

int dfr_triad_new(uint32_t threads, struct dfr_triad **triad, struct df_error *error)
{
    size_t blocks = array_bytes(threads) / sizeof(double) / BLOCK, size = sizeof **triad + threads * sizeof(struct own);
    struct dfr_triad *t = aligned_alloc(_Alignof(struct dfr_triad), size);
    if (!t)
        return dfr_error_memory(error);
    t->threads = threads;
    t->length = (blocks ? blocks : 1) * BLOCK;
    bool good = true;
    for (uint32_t i = 0; i < threads; i++) {
        size_t bytes = t->length * sizeof(double);
        t->own[i] = (struct own){ .a = dfr_large_alloc(bytes), .b = dfr_large_alloc(bytes),
                                  .c = dfr_large_alloc(bytes), .seconds = malloc(TIMED * sizeof(float)) };
        good = good && t->own[i].a && t->own[i].b && t->own[i].c && t->own[i].seconds;
    }
    if (!good) {
        dfr_triad_free(t);
        return dfr_error_memory(error);
    }
    *triad = t;
    return DF_OK;
}

void dfr_triad_free(struct dfr_triad *t)
{
    for (uint32_t i = 0; t && i < t->threads; i++) {
        free(t->own[i].a);
        free(t->own[i].b);
        free(t->own[i].c);
        free(t->own[i].seconds);
    }
    free(t);
}

/* The thread that works on the arrays touches them first, so they lie in the memory that is nearest to its core. */
static void touch(struct own *own, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        own->a[i] = 0;
        own->b[i] = 1;
        own->c[i] = 2;
    }
    own->touched = true;
}

int dfr_triad_once(void *triad, uint32_t thread, struct df_error *error)
{
    struct dfr_triad *t = triad;
    struct own *own = &t->own[thread];
    (void)error;
    if (!own->touched)
        touch(own, t->length);
    double *restrict a = own->a + own->at;
    const double *restrict b = own->b + own->at, *restrict c = own->c + own->at;
    double begin_s = dfr_clock_s();
    for (size_t i = 0; i < BLOCK; i++)
        a[i] = b[i] + 3 * c[i];
    own->seconds[own->calls++ % TIMED] = (float)(dfr_clock_s() - begin_s);
    own->at = own->at + BLOCK < t->length ? own->at + BLOCK : 0;
    return DF_OK;
}

static int compare_seconds(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* By the median of its calls: a core that was taken away in the midst of some does not count. */
static double rate_of(struct own *own)
{
    size_t n = own->calls < TIMED ? own->calls : TIMED;
    qsort(own->seconds, n, sizeof *own->seconds, compare_seconds);
    return BYTES_EACH * BLOCK / own->seconds[n / 2];
}

int dfr_triad_rate(struct dfr_triad *t, uint32_t n, double *bytes_per_s, struct df_error *error)
{
    struct dfr_load_threads *beside;
    for (uint32_t i = 0; i < n; i++)
        t->own[i].calls = 0;
    int code = dfr_load_threads_start(n, dfr_triad_once, t, &beside, error);
    if (code != DF_OK)
        return code;
    nanosleep(&(struct timespec){ .tv_nsec = RATE_NS }, NULL);
    code = dfr_load_threads_stop(beside, error);
    *bytes_per_s = 0;
    for (uint32_t i = 0; i < n; i++)
        *bytes_per_s += rate_of(&t->own[i]);
    return code;
}

int dfr_triad_bandwidth(double *bytes_per_s, struct df_error *error)
{
    uint32_t cores = dfr_cores_count();
    struct dfr_triad *triad;
    int code = dfr_triad_new(cores, &triad, error);
    if (code != DF_OK)
        return code;
    code = dfr_triad_rate(triad, cores, bytes_per_s, error);
    dfr_triad_free(triad);
    return code;
}
