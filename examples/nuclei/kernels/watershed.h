/* watershed.h - the watershed of one component of a mask, as the CPU and a thread of a GPU make it.
 *
 * Peaks:    the regional maxima over eight neighbours, within the component.
 * Order:    Pixels wait in a queue: the highest first, and of equally high ones the one that was put in first. A pixel
 *           is put in once, when a flood first comes beside it. Peaks come first, in raster order. Neighbours are put in
 *           in a fixed order: the four near ones, then the diagonal ones.
 * Lines:    A pixel that is taken out gets the label of its labelled neighbours. If they have two labels it becomes a line.
 *           So no two labels touch, and which pixels are lines says all.
 * Memory:   `order` and `heap` have as many entries as the component has pixels.
 */
#ifndef NUCLEI_WATERSHED_H
#define NUCLEI_WATERSHED_H

#include "box.h"

/* Of a pixel; numbers from 1 up are those of peaks. */
enum { UNSEEN = 0, QUEUED = -1, LINE = -2, NO_PEAK = -3 };

struct flood {
    int64_t h, w;
    const int32_t *component;           /* by pixel, as the next two */
    const uint16_t *level;
    int32_t *mark;                      /* UNSEEN at first */
    int32_t id;                         /* of this component */
    int32_t *order;                     /* pixels, in the order in which they were put in */
    int32_t *heap;                      /* places in `order`; the next pixel's comes first */
    int32_t put, waiting;
};

/* Neighbour k of pixel p; -1 if it is not in the component. */
BOTH int64_t neighbour(const struct flood *f, int64_t p, int k)
{
    int64_t y = p / f->w + (k == 0 || k == 4 || k == 5 ? -1 : k == 3 || k >= 6 ? 1 : 0);
    int64_t x = p % f->w + (k == 1 || k == 4 || k == 6 ? -1 : k == 2 || k == 5 || k == 7 ? 1 : 0);
    if (y < 0 || x < 0 || y >= f->h || x >= f->w || f->component[y * f->w + x] != f->id)
        return -1;
    return y * f->w + x;
}

/* Does place a come out before place b? */
BOTH int is_before(const struct flood *f, int32_t a, int32_t b)
{
    int32_t high = f->level[f->order[a]], other = f->level[f->order[b]];
    return high > other || (high == other && a < b);
}

BOTH void put_in(struct flood *f, int64_t pixel)
{
    int32_t at = f->waiting++, place = f->put++;
    f->order[place] = (int32_t)pixel;
    for (; at > 0 && is_before(f, place, f->heap[(at - 1) / 2]); at = (at - 1) / 2)
        f->heap[at] = f->heap[(at - 1) / 2];
    f->heap[at] = place;
}

BOTH int64_t take_out(struct flood *f)
{
    int32_t first = f->heap[0], last = f->heap[--f->waiting], at = 0;
    for (;;) {
        int32_t next = 2 * at + 1;
        if (next + 1 < f->waiting && is_before(f, f->heap[next + 1], f->heap[next]))
            next++;
        if (next >= f->waiting || is_before(f, last, f->heap[next]))
            break;
        f->heap[at] = f->heap[next];
        at = next;
    }
    f->heap[at] = last;
    return f->order[first];
}

/* The plateau of equally high pixels around p, none of which is known to be below another: is it a peak? Marks it with `id` or as
 * none. */
BOTH int mark_plateau(struct flood *f, int64_t p, int32_t id)
{
    const uint16_t high = f->level[p];
    int32_t n = 0;
    int peak = 1;
    f->order[n++] = (int32_t)p;
    f->mark[p] = id;
    for (int32_t i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) {
            int64_t q = neighbour(f, f->order[i], k);
            if (q < 0 || f->level[q] < high || (f->level[q] == high && f->mark[q] == id))
                continue;
            if (f->level[q] > high || f->mark[q] == NO_PEAK) {
                peak = 0;
                continue;
            }
            f->mark[q] = id;
            f->order[n++] = (int32_t)q;
        }
    for (int32_t i = 0; !peak && i < n; i++)
        f->mark[f->order[i]] = NO_PEAK;
    return peak;
}

/* Marks the peaks of the component. Gives how many there are. */
BOTH int32_t mark_peaks(struct flood *f, const struct box *b)
{
    int32_t n = 0;
    for (int64_t y = b->top; y <= b->bottom; y++)
        for (int64_t x = b->left; x <= b->right; x++) {
            int64_t p = y * f->w + x;
            if (f->component[p] == f->id && f->mark[p] == UNSEEN)
                n += mark_plateau(f, p, n + 1);
        }
    return n;
}

/* The one label among the neighbours; LINE if there are several. */
BOTH int32_t label_beside(const struct flood *f, int64_t p)
{
    int32_t label = 0;
    for (int k = 0; k < 8; k++) {
        int64_t q = neighbour(f, p, k);
        if (q < 0 || f->mark[q] <= 0 || f->mark[q] == label)
            continue;
        if (label > 0)
            return LINE;
        label = f->mark[q];
    }
    return label;
}

/* Afterwards parts[] is 0 in the component's lines. */
BOTH void flood_component(struct flood *f, const struct box *b, uint8_t *parts)
{
    f->put = f->waiting = 0;
    if (mark_peaks(f, b) < 2)
        return;                         /* nothing meets */
    for (int64_t y = b->top; y <= b->bottom; y++)
        for (int64_t x = b->left; x <= b->right; x++)
            if (f->component[y * f->w + x] == f->id && f->mark[y * f->w + x] > 0)
                put_in(f, y * f->w + x);
    while (f->waiting > 0) {
        int64_t p = take_out(f);
        if (f->mark[p] == QUEUED)
            f->mark[p] = label_beside(f, p);
        if (f->mark[p] == LINE) {
            parts[p] = 0;
            continue;
        }
        for (int k = 0; k < 8; k++) {
            int64_t q = neighbour(f, p, k);
            if (q >= 0 && f->mark[q] == NO_PEAK) {
                f->mark[q] = QUEUED;
                put_in(f, q);
            }
        }
    }
}
#endif
