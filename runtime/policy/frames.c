/* frames.c - the ring of frames that wait, their arrival in virtual time, and the classes of latencies (frames.h), for engine/live.c, the simulator and
 * rehearsals. */
#include "runtime/policy/frames.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/error.h"

/* Each output begins with a cache line. */
uint64_t dfr_frames_offset(const struct df_graph *g, uint32_t node, uint32_t p)
{
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p; i++)
        if (g->kports[kernel->first_port + i].mode == DF_OUT)
            bytes += (g->port_bytes[g->works[g->nodes[node].work].first_port + i] + 63) / 64 * 64;
    return bytes;
}

int dfr_frames_create(struct dfr_frames *f, const struct df_graph *graph, uint32_t node, uint32_t n_slots, double takes_s, struct df_error *error)
{
    const struct df_live *how = df_node_live(graph, node);
    *f = (struct dfr_frames){ .node = node, .how = *how, .takes_s = takes_s, .next_s = takes_s, .begun = 1 };
    f->taken_s = malloc((n_slots + 1) * sizeof *f->taken_s);
    f->latencies = calloc(DFR_LATENCIES, sizeof *f->latencies);
    f->waiting = how->newest ? malloc(how->newest * sizeof *f->waiting) : NULL;
    if (!f->taken_s || !f->latencies || (how->newest && !f->waiting))
        return dfr_error_memory(error);
    for (uint32_t s = 0; s < n_slots; s++)
        f->taken_s[s] = NAN;
    return DF_OK;
}

void dfr_frames_destroy(struct dfr_frames *f)
{
    free(f->waiting);
    free(f->taken_s);
    free(f->latencies);
}

bool dfr_frames_come(struct dfr_frames *f, struct dfr_frame frame, struct dfr_frame *dropped)
{
    const bool full = f->n == f->how.newest;
    if (full)
        dfr_frames_take(f, dropped);
    f->waiting[(f->first + f->n++) % f->how.newest] = frame;
    f->frames++;
    f->dropped += full;
    return full;
}

bool dfr_frames_take(struct dfr_frames *f, struct dfr_frame *frame)
{
    if (f->n == 0)
        return false;
    *frame = f->waiting[f->first];
    f->first = (f->first + 1) % f->how.newest;
    f->n--;
    return true;
}

/* ---- virtual time ---- */

/* The frame that was under way has come. */
static void come(struct dfr_frames *f)
{
    struct dfr_frame dropped;
    dfr_frames_come(f, (struct dfr_frame){ .time_s = f->next_s }, &dropped);
    f->next_s = fmax(f->next_s, (double)f->begun++ * f->how.every_s) + f->takes_s;
}

double dfr_frames_job_s(struct dfr_frames *f, uint32_t slot, int64_t wave, double now_s)
{
    struct dfr_frame frame = { .time_s = (double)wave * f->how.every_s };
    double until_s = fmax(now_s, frame.time_s) + f->takes_s;
    if (f->how.newest && f->takes_s + f->how.every_s <= 0) {
        f->frames++;
        frame.time_s = until_s;
    } else if (f->how.newest) {
        while (f->next_s <= now_s)
            come(f);
        if (f->n == 0)
            come(f);
        dfr_frames_take(f, &frame);
        until_s = fmax(now_s, frame.time_s);
    } else {
        f->frames++;
    }
    f->taken_s[slot] = frame.time_s;
    return until_s - now_s;
}

/* ---- latencies ---- */

static uint32_t class_of(double s)
{
    int exponent;
    const double part = frexp(s, &exponent); /* from 0.5 up to 1 */
    if (!(s > 0) || exponent <= DFR_LATENCY_LEAST)
        return 0;
    if (exponent > DFR_LATENCY_MOST)
        return DFR_LATENCIES - 1;
    return ((uint32_t)(exponent - DFR_LATENCY_LEAST - 1) << DFR_LATENCY_BITS) + (uint32_t)((part - 0.5) * (2 << DFR_LATENCY_BITS));
}

/* The greatest latency of a class. */
static double end_of(uint32_t class)
{
    const double part = 0.5 + (double)((class & ((1u << DFR_LATENCY_BITS) - 1)) + 1) / (2 << DFR_LATENCY_BITS);
    return ldexp(part, (int)(class >> DFR_LATENCY_BITS) + DFR_LATENCY_LEAST + 1);
}

void dfr_frames_wave_ended(struct dfr_frames *f, uint32_t slot, double now_s)
{
    const double latency_s = now_s - f->taken_s[slot];
    if (isnan(latency_s))
        return;
    f->taken_s[slot] = NAN;
    f->latencies[class_of(latency_s)]++;
    f->waves++;
    f->worst_s = fmax(f->worst_s, latency_s);
}

static double quantile_s(const struct dfr_frames *f, double part)
{
    const double wanted = part * (double)f->waves;
    uint64_t n = 0;
    for (uint32_t c = 0; c < DFR_LATENCIES; c++) {
        n += f->latencies[c];
        if (n > 0 && (double)n >= wanted)
            return fmin(end_of(c), f->worst_s);
    }
    return 0;
}

void dfr_frames_stats(const struct dfr_frames *f, struct df_live_stats *stats)
{
    *stats = (struct df_live_stats){ .node = f->node, .frames = f->frames, .dropped = f->dropped, .waves = f->waves, .median_s = quantile_s(f, 0.5),
                                     .most_s = quantile_s(f, 0.99), .worst_s = f->worst_s };
}
