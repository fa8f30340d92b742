/* flood.cu - what spreads, on a GPU: reconstruction, distance, watershed. The results are those of the CPU, to the bit.
 *
 * Reconstruction: a queue of pixels from which something can still grow, emptied in rounds. A word for each pixel has its value,
 *                 and in its lowest bit whether it is queued, so that no pixel is in a queue twice. Values only rise, so the
 *                 order does not matter. The host asks every ROUNDS rounds whether the queue is empty.
 * Watershed:      a thread for each component, which floods it as the CPU does (watershed.h).
 */
#include "device.h"

#include <math.h>

#include "watershed.h"

enum { ROUNDS = 8 };

template <class pixel> static __global__ void begin_growth(int64_t n, const pixel *marker, const pixel *mask, int less, int *word)
{
    EACH(p, n) {
        int v = marker[p] > less ? marker[p] - less : 0;
        word[p] = (v < mask[p] ? v : mask[p]) << 1;
    }
}

/* Raises pixel q to `most`. Was it raised, and not queued before? */
DF_ON_DEVICE int raise_pixel(int *word, int64_t q, int most)
{
    int old = look(&word[q]);
    while (old >> 1 < most) {
        int seen = atomicCAS(&word[q], old, most << 1 | 1);
        if (seen == old)
            return !(old & 1);
        old = seen;
    }
    return 0;
}

template <class pixel> DF_ON_DEVICE void spread(int64_t h, int64_t w, const pixel *mask, int *word, int64_t p, int *queue, int *n)
{
    const int64_t y = p / w, x = p % w;
    const int v = atomicAnd(&word[p], ~1) >> 1;
    for (int64_t b = y > 0 ? y - 1 : 0; b <= y + 1 && b < h; b++)
        for (int64_t a = x > 0 ? x - 1 : 0; a <= x + 1 && a < w; a++) {
            int64_t q = b * w + a;
            if (raise_pixel(word, q, v < mask[q] ? v : mask[q]))
                queue[atomicAdd(n, 1)] = (int)q;
        }
}

/* The first round takes all pixels, others take what is queued. `spent` is the counter of the round after the next. */
template <class pixel>
static __global__ void grow_all(int64_t h, int64_t w, const pixel *mask, int *word, int *queue, int *n)
{
    EACH(p, h * w) if (!(look(&word[p]) & 1)) spread(h, w, mask, word, p, queue, n);
}

template <class pixel>
static __global__ void grow_round(int64_t h, int64_t w, const pixel *mask, int *word, const int *from, const int *n_from, int *to,
                                  int *n_to, int *spent)
{
    EACH(i, *n_from) spread(h, w, mask, word, from[i], to, n_to);
    EACH(one, 1) spent[one] = 0;
}

template <class pixel> static __global__ void end_growth(int64_t n, const int *word, pixel *grown)
{
    EACH(p, n) grown[p] = (pixel)(word[p] >> 1);
}

template <class pixel>
static int grow(struct df_call *call, cudaStream_t stream, int64_t h, int64_t w, const pixel *marker, int less, const pixel *mask,
                int *work, pixel *grown)
{
    const int64_t n = h * w;
    int *queue[2] = { work + n, work + 2 * n }, *counters = work + 3 * n, left = 1;
    clear(stream, counters, 3 * sizeof *counters);
    LAUNCH(begin_growth, n, stream, n, marker, mask, less, work);
    LAUNCH(grow_all, n, stream, h, w, mask, work, queue[0], counters);
    for (int round = 0; left > 0;) {
        for (int i = 0; i < ROUNDS; i++, round++) {
            int *from = queue[round % 2], *to = queue[(round + 1) % 2];
            int *n_from = counters + round % 3, *n_to = counters + (round + 1) % 3, *spent = counters + (round + 2) % 3;
            LAUNCH(grow_round, n / 16 + 256, stream, h, w, mask, work, from, n_from, to, n_to, spent);
        }
        if (bring(call, stream, &left, counters + round % 3, sizeof left) != DF_OK)
            return DF_FAILED;
    }
    LAUNCH(end_growth, n, stream, n, work, grown);
    return after(call);
}

int reconstruct_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *marker, const uint8_t *mask,
                    int32_t *work, uint8_t *grown)
{
    return grow(call, stream, (int64_t)h, (int64_t)w, marker, 0, mask, work, grown);
}

int flatten_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint16_t *l, int32_t *work, uint16_t *f,
                int32_t height)
{
    return grow(call, stream, (int64_t)h, (int64_t)w, l, height, l, work, f);
}

/* ---- distance: by columns, and then each pixel looks along its row from near to far ---- */

static __global__ void along_columns(int64_t h, int64_t w, const uint8_t *m, int none, int *columns)
{
    EACH(x, w) {
        int d = none;
        for (int64_t y = 0; y < h; y++)
            columns[y * w + x] = d = m[y * w + x] ? (d < none ? d + 1 : none) : 0;
        for (int64_t y = h - 1; y-- > 0;) {
            int below = columns[(y + 1) * w + x] + 1;
            if (below < columns[y * w + x])
                columns[y * w + x] = below;
        }
    }
}

static __global__ void along_rows(int64_t h, int64_t w, int64_t none, const int *columns, float *d)
{
    EACH(p, h * w) {
        int64_t x = p % w, best = (int64_t)columns[p] * columns[p];
        for (int64_t k = 1; k * k < best && (k <= x || x + k < w); k++) {
            int64_t left = k <= x ? columns[p - k] : none, right = x + k < w ? columns[p + k] : none;
            int64_t nearer = left < right ? left : right;
            best = k * k + nearer * nearer < best ? k * k + nearer * nearer : best;
        }
        d[p] = best < none * none ? (float)sqrt((double)best) : (float)none;
    }
}

int distance_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *m, int32_t *columns, float *d)
{
    LAUNCH(along_columns, w, stream, (int64_t)h, (int64_t)w, m, (int)(h + w), columns);
    LAUNCH(along_rows, h * w, stream, (int64_t)h, (int64_t)w, (int64_t)(h + w), columns, d);
    return after(call);
}

/* ---- watershed ---- */

/* Where the pixels of each component have their place in `order` and `heap`. */
static __global__ void find_places(int64_t n, const struct box *boxes, int *begin)
{
    EACH(one, 1) {
        int next = (int)one;
        for (int64_t i = 0; i < n; i++) {
            begin[i] = next;
            next += boxes[i].area;
        }
    }
}

static __global__ void flood_components(int64_t h, int64_t w, int64_t n, const struct box *boxes, const int *begin,
                                        const int *component, const uint16_t *level, int *mark, int *order, int *heap, uint8_t *parts)
{
    EACH(i, n) {
        struct flood f;
        f.h = h;
        f.w = w;
        f.component = component;
        f.level = level;
        f.mark = mark;
        f.id = (int)i + 1;
        f.order = order + begin[i];
        f.heap = heap + begin[i];
        flood_component(&f, &boxes[i], parts);
    }
}

int separate_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, const uint8_t *m, const uint16_t *f, int32_t *work,
                 uint8_t *parts)
{
    const size_t plane = (h + 1) * (w + 4);
    const int64_t rows = (int64_t)h, columns = (int64_t)w;
    int *component = work, *mark = work + plane, *order = work + 2 * plane, *heap = work + 3 * plane, n = 0;
    struct box *boxes = (struct box *)(work + 4 * plane);
    find_components(stream, rows, columns, m, 1, 1, mark);
    number_components(stream, rows, columns, mark, order, heap, component);
    if (bring(call, stream, &n, heap + h, sizeof n) != DF_OK)
        return DF_FAILED;
    clear(stream, mark, h * w * sizeof *mark);
    move(stream, parts, m, h * w);
    if (n > 0) {
        int *begin = (int *)(boxes + n); /* there is room: at most (h + 1) (w + 1) / 4 components */
        find_boxes_on_gpu(stream, rows, columns, component, n, boxes);
        LAUNCH(find_places, 1, stream, n, boxes, begin);
        LAUNCH(flood_components, n, stream, rows, columns, n, boxes, begin, component, f, mark, order, heap, parts);
    }
    return after(call);
}
