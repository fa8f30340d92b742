/* trace.h - the event trace of a run: one row of events for each CPU worker, GPU and copy engine, written as a Chrome
 * trace (chrome://tracing, Perfetto). The room runtime/trace/ knows the graph, whose names it writes, and
 * runtime/base/. It does not know a run: workers add their events, runtime/start/ creates and writes the trace. The
 * simulator writes its trace with it, too; start/learn.c reads the rows for --learn.
 *
 * Lanes:    events of one thread must not overlap there, and jobs of several streams of a device do. So a row whose events overlap is written as several:
 *           "NAME", "NAME 2", and so on.
 * Memory:   dfr_trace_create() reserves address space for a row's events; pages are committed as they are written. A
 *           full row drops further events, and the trace records how many.
 * Threads:  one thread writes a row. One thread calls create, write and destroy, when no row is being written.
 * Errors:   the file is replaced atomically (runtime/base/output.h).
 */
#ifndef DFR_TRACE_H
#define DFR_TRACE_H

#include <stdio.h>

#include "runtime/graph/graph.h"

struct dfr_trace_event {
    uint32_t id;                        /* node of a job; value of a copy */
    bool loads;                         /* the job's code was loaded onto its device meanwhile */
    int64_t wave;
    double begin_s, end_s;              /* dfr_clock_s() */
    double launched_s;                  /* when a device's worker launched the job; 0: not launched, or unknown */
    uint64_t bytes;
};

struct dfr_trace_row {
    const char *what;                   /* "job", "h2d", "d2h", "peer" */
    char name[48];
    uint32_t process;                   /* the unit's number */
    struct dfr_trace_event *events;
    uint64_t n, capacity, dropped;
};

struct dfr_trace;

/* Each row has room for `events` events. */
int dfr_trace_create(uint32_t n_rows, uint64_t events, struct dfr_trace **trace, struct df_error *error);
/* Events count rounds, of which a pass has `stride`: the trace shows wave and pass instead. */
void dfr_trace_passes(struct dfr_trace *trace, int64_t stride);
void dfr_trace_destroy(struct dfr_trace *trace);
struct dfr_trace_row *dfr_trace_row(struct dfr_trace *trace, uint32_t row);

/* Appends an event and returns it; NULL: the row is full. */
static inline struct dfr_trace_event *dfr_trace_add(struct dfr_trace_row *row, uint32_t id, int64_t wave, double begin_s,
                                                    double end_s, uint64_t bytes)
{
    if (row->n == row->capacity) {
        row->dropped++;
        return NULL;
    }
    row->events[row->n] = (struct dfr_trace_event){ .id = id, .wave = wave, .begin_s = begin_s, .end_s = end_s,
                                                    .bytes = bytes };
    return &row->events[row->n++];
}

/* Converts times of a rank's clock to those of a trace of all ranks, in seconds from origin_s. Rank 0's clock is ahead by these offsets at these times;
 * in between the offset is interpolated linearly, before and after it is the nearer one, because the error of an extrapolation would grow with its length.
 * If both times are equal, the first offset applies. */
struct dfr_trace_clock {
    double origin_s, first_s, first_offset_s, last_s, last_offset_s;
};
static inline double dfr_trace_time_s(const struct dfr_trace_clock *clock, double s)
{
    const double length_s = clock->last_s - clock->first_s, at_s = s - clock->first_s;
    const double along = !(at_s > 0) || !(length_s > 0) ? 0 : at_s < length_s ? at_s / length_s : 1;

    return s + clock->first_offset_s + along * (clock->last_offset_s - clock->first_offset_s) - clock->origin_s;
}

/* How one rank writes its part of the trace of a run on many ranks (df_options.trace_part). */
struct dfr_trace_part {
    FILE *file;                         /* each event is a line there that ends with a comma; it is not closed. NULL: nothing is traced */
    uint32_t process;                   /* of all rows: the rank */
    uint32_t first_row;                 /* the number of the first row there */
    char name[24];                      /* before the rows' names */
    struct dfr_trace_clock clock;       /* set before the run is waited for */
};
void dfr_trace_write_part(const struct dfr_trace *trace, const struct df_graph *graph, const struct dfr_trace_part *part);

/* Writes the trace to a file. unit_names: by process. Times are written relative to origin_s. */
int dfr_trace_write(const struct dfr_trace *trace, const struct df_graph *graph, const char *const *unit_names,
                    uint32_t n_units, double origin_s, const char *path, struct df_error *error);

#endif
