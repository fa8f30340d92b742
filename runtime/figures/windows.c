/* windows.c - changes of windows: windows.h. */
#include "runtime/figures/windows.h"

#include <stdbool.h>
#include <stdlib.h>

static bool grow(struct dfr_windows *w)
{
    uint32_t room = w->room ? 2 * w->room : 64;
    struct dfr_window_change *grown = room <= DFR_MOST_CHANGES ? realloc(w->changes, room * sizeof *grown) : NULL;

    if (!grown)
        return false;
    w->changes = grown;
    w->room = room;
    return true;
}

void dfr_windows_add(struct dfr_windows *w, double at_s, int rank, unsigned window, double rate)
{
    if (w->n < w->room || grow(w))
        w->changes[w->n++] = (struct dfr_window_change){ at_s, rank, window, rate };
    else
        w->n_dropped++;
}

void dfr_windows_free(struct dfr_windows *w)
{
    free(w->changes);
    *w = (struct dfr_windows){ 0 };
}
