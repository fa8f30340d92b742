/* windows.h - how many waves each rank held at most, over time: each change that rank 0 made.
 *
 * Bound:    the first DFR_MOST_CHANGES changes are kept, and the others are counted.
 */
#ifndef DFR_WINDOWS_H
#define DFR_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#define DFR_MOST_CHANGES 65536u

struct dfr_window_change {
    double at_s;                        /* dfr_clock_s() of rank 0 */
    int rank;
    unsigned window;
    double rate;                        /* waves a second, the best that was measured before; 0: none */
};

struct dfr_windows {
    struct dfr_window_change *changes;
    uint32_t n;
    size_t room;
    uint64_t n_dropped;                 /* also if there was no memory */
};

void dfr_windows_add(struct dfr_windows *windows, double at_s, int rank, unsigned window, double rate);
void dfr_windows_free(struct dfr_windows *windows);

#endif
