/* figures_loops.c - the benchmark loops for the host figures of figures_host.c: STREAM (McCalpin 1995), multiply-add
 * chains, random reads and atomic additions (figures_loops.h).
 */
#include "profiles/probe/figures_loops.h"

#include <stdbool.h>

#define STEPS 512                       /* of a chain */
#define READS 1024
#define UPDATES 2048
#define LINE 8                          /* elements of a cache line */

#define ALWAYS static inline __attribute__((always_inline))
#if defined __x86_64__
#define WIDE __attribute__((target("avx2")))
#define WIDE_BYTES 32
static bool has_wide(void) { return __builtin_cpu_supports("avx2"); }
#else
#define WIDE
#define WIDE_BYTES 16
static bool has_wide(void) { return false; }
#endif

/* ---- STREAM ---- */

ALWAYS void block_of(enum dfw_figure figure, double *restrict x, const double *restrict y, const double *restrict z)
{
    for (int i = 0; i < DFW_STREAM_BLOCK; i++)
        x[i] = figure == DFW_COPY ? y[i] : figure == DFW_SCALE ? 3 * y[i] : figure == DFW_ADD ? y[i] + z[i] : y[i] + 3 * z[i];
}

ALWAYS void block(enum dfw_figure figure, double *a, double *b, double *c)
{
    switch (figure) {
    case DFW_COPY: block_of(DFW_COPY, c, a, b); break;
    case DFW_SCALE: block_of(DFW_SCALE, b, c, a); break;
    case DFW_ADD: block_of(DFW_ADD, c, a, b); break;
    default: block_of(DFW_TRIAD, a, b, c); break;
    }
}

static WIDE void block_wide(enum dfw_figure figure, double *a, double *b, double *c) { block(figure, a, b, c); }
static void block_plain(enum dfw_figure figure, double *a, double *b, double *c) { block(figure, a, b, c); }

/* Gives the bytes as STREAM counts them: of the arrays that the loop names, two or three. */
static double stream(enum dfw_figure figure, const struct dfw_arrays *arrays, struct dfw_lane *lane)
{
    uint64_t at = lane->at;
    lane->at = at + DFW_STREAM_BLOCK < lane->end ? at + DFW_STREAM_BLOCK : lane->first;
    (has_wide() ? block_wide : block_plain)(figure, arrays->of[0] + at, arrays->of[1] + at, arrays->of[2] + at);
    return (figure == DFW_COPY || figure == DFW_SCALE ? 2 : 3) * sizeof(double) * (double)DFW_STREAM_BLOCK;
}

/* ---- arithmetic ---- */

/* Twelve chains of vectors, so that no operation waits for the one before. With two constants they fit in 16 registers. */
#define N_CHAINS 12
#define CHAINS(each) each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7) each(8) each(9) each(10) each(11)
#define BEGIN(i) vector x##i = by + i;
#define STEP(i) x##i = x##i * by + plus;
#define JOIN(i) sum += x##i;

#define CHAIN_LOOP(name, element, bytes, target)                                                                       \
    static target double name(struct dfw_lane *lane)                                                                   \
    {                                                                                                                  \
        typedef element vector __attribute__((vector_size(bytes)));                                                    \
        vector by = (vector){ 0 } + (element)lane->keeps, plus = by / 4, sum = { 0 };                                  \
        CHAINS(BEGIN)                                                                                                  \
        for (int i = 0; i < STEPS; i++) {                                                                              \
            CHAINS(STEP)                                                                                               \
        }                                                                                                              \
        CHAINS(JOIN)                                                                                                   \
        lane->keeps = sum[0] > 2 ? 0.5 : 0.75; /* so that the chains neither vanish nor grow beyond all numbers */    \
        return 2.0 * STEPS * N_CHAINS * (bytes) / sizeof(element);                                                     \
    }

CHAIN_LOOP(f32_wide, float, WIDE_BYTES, WIDE)
CHAIN_LOOP(f64_wide, double, WIDE_BYTES, WIDE)
CHAIN_LOOP(f32_plain, float, 16, )
CHAIN_LOOP(f64_plain, double, 16, )

/* ---- random reads ---- */

/* The line of the next read, by a linear congruential generator (Knuth's MMIX). */
ALWAYS const double *somewhere(const struct dfw_arrays *arrays, uint64_t *place)
{
    *place = *place * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return &arrays->of[0][(uint64_t)(((unsigned __int128)*place * (arrays->length / LINE)) >> 64) * LINE];
}

/* What is read is 0. The compiler and the processor do not know that, so the next address waits for it. */
static double dependent(const struct dfw_arrays *arrays, struct dfw_lane *lane)
{
    for (int i = 0; i < READS; i++)
        lane->place += (uint64_t)*(volatile const double *)somewhere(arrays, &lane->place);
    return READS;
}

static double independent(const struct dfw_arrays *arrays, struct dfw_lane *lane)
{
    uint64_t place = lane->place;
    double sum = 0;
    for (int i = 0; i < READS; i++)
        sum += *somewhere(arrays, &place);
    lane->place = place;
    lane->keeps += sum;
    return READS;
}

/* ---- atomic additions ---- */

static double update(_Atomic uint64_t *counter)
{
    for (int i = 0; i < UPDATES; i++)
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    return UPDATES;
}

double dfw_loop(enum dfw_figure figure, const struct dfw_arrays *arrays, struct dfw_lane *lane, _Atomic uint64_t *shared)
{
    switch (figure) {
    case DFW_FLOPS_F32: return (has_wide() ? f32_wide : f32_plain)(lane);
    case DFW_FLOPS_F64: return (has_wide() ? f64_wide : f64_plain)(lane);
    case DFW_DEPENDENT: return dependent(arrays, lane);
    case DFW_RANDOM: return independent(arrays, lane);
    case DFW_SHARED: return update(shared);
    case DFW_SPREAD: return update(&lane->own);
    default: return stream(figure, arrays, lane);
    }
}
