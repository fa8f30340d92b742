/* windows.c - changes of windows: windows.h. */
#include "runtime/ranks/windows.h"

#include <stdlib.h>

#include "runtime/base/array.h"

void dfr_windows_add(struct dfr_windows *w, double at_s, int rank, unsigned window, double rate)
{
    if (w->n < DFR_MOST_CHANGES && DFR_ARRAY_ROOM(w->changes, w->n, w->room))
        w->changes[w->n++] = (struct dfr_window_change){ at_s, rank, window, rate };
    else
        w->n_dropped++;
}

void dfr_windows_free(struct dfr_windows *w)
{
    free(w->changes);
    *w = (struct dfr_windows){ 0 };
}
