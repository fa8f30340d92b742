/* reconstruct.h - reconstruction for one type of pixel: PIXEL, whose greatest value is MOST. reconstruct.c includes it for each.
 */

/* What the neighbours in another row give each pixel: the greatest of three, and never more than the mask. The row `beside`
 * has a 0 before and behind it. */
static void NAME(from_beside, PIXEL)(PIXEL *restrict row, const PIXEL *restrict beside, const PIXEL *restrict mask, size_t w)
{
    for (size_t x = 0; x < w; x++) {
        PIXEL v = beside[x] > beside[x + 1] ? beside[x] : beside[x + 1];
        v = v > beside[x + 2] ? v : beside[x + 2];
        v = v > row[x] ? v : row[x];
        row[x] = v < mask[x] ? v : mask[x];
    }
}

/* Along the row, to the right or to the left. */
static void NAME(along, PIXEL)(PIXEL *row, const PIXEL *mask, size_t w, int left)
{
    PIXEL v = 0;
    for (size_t i = 0; i < w; i++) {
        size_t x = left ? w - 1 - i : i;
        v = v < mask[x] ? v : mask[x];
        v = v > row[x] ? v : row[x];
        row[x] = v;
    }
}

/* What a pixel must exceed to make a neighbour grow: the neighbour's value, or MOST if that is at its mask. */
static void NAME(thresholds, PIXEL)(PIXEL *restrict to, const PIXEL *restrict row, const PIXEL *restrict mask, size_t w)
{
    for (size_t x = 0; x < w; x++)
        to[x] = row[x] < mask[x] ? row[x] : MOST;
}

/* Marks pixels that can make the right neighbour or one below grow. `own` and `below` begin one pixel before the row. */
static int NAME(mark_growing, PIXEL)(uint8_t *restrict to, const PIXEL *restrict row, const PIXEL *restrict own,
                                     const PIXEL *restrict below, size_t w)
{
    uint8_t any = 0;
    for (size_t x = 0; x < w; x++) {
        PIXEL v = below[x] < below[x + 1] ? below[x] : below[x + 1];
        v = v < below[x + 2] ? v : below[x + 2];
        v = v < own[x + 2] ? v : own[x + 2];
        to[x] = v < row[x];
        any |= to[x];
    }
    return any;
}

struct NAME(growth, PIXEL) {
    PIXEL *grown;
    const PIXEL *mask;
    size_t h, w;
    int32_t *queue;
    size_t first, n, room;              /* a ring */
    int lost;
};

static void NAME(push, PIXEL)(struct NAME(growth, PIXEL) *g, size_t pixel)
{
    if (g->n == g->room) {
        g->lost = 1;
        return;
    }
    size_t at = g->first + g->n++;
    g->queue[at < g->room ? at : at - g->room] = (int32_t)pixel;
}

static void NAME(spread, PIXEL)(struct NAME(growth, PIXEL) *g, size_t p)
{
    const size_t w = g->w, y = p / w, x = p % w;
    const PIXEL v = g->grown[p];
    for (size_t b = y > 0 ? y - 1 : 0; b <= y + 1 && b < g->h; b++)
        for (size_t a = x > 0 ? x - 1 : 0; a <= x + 1 && a < w; a++) {
            size_t q = b * w + a;
            PIXEL most = g->mask[q] < v ? g->mask[q] : v;
            if (g->grown[q] < most) {
                g->grown[q] = most;
                NAME(push, PIXEL)(g, q);
            }
        }
}

static void NAME(pass_up, PIXEL)(struct NAME(growth, PIXEL) *g, PIXEL *beside, PIXEL *own, PIXEL *below, uint8_t *growing)
{
    const size_t w = g->w;
    memset(beside, 0, (w + 2) * sizeof *beside);
    for (size_t x = 0; x < w + 2; x++)
        own[x] = below[x] = MOST;
    for (size_t y = g->h; y-- > 0;) {
        PIXEL *row = g->grown + y * w;
        const PIXEL *mask = g->mask + y * w;
        NAME(from_beside, PIXEL)(row, beside, mask, w);
        NAME(along, PIXEL)(row, mask, w, 1);
        memcpy(beside + 1, row, w * sizeof *row);
        NAME(thresholds, PIXEL)(own + 1, row, mask, w);
        if (NAME(mark_growing, PIXEL)(growing, row, own, below, w))
            for (const uint8_t *p = growing; (p = memchr(p, 1, (size_t)(growing + w - p))); p++)
                NAME(push, PIXEL)(g, y * w + (size_t)(p - growing));
        PIXEL *spare = below;
        below = own;
        own = spare;
    }
}

static void NAME(grow, PIXEL)(PIXEL *grown, const PIXEL *mask, size_t h, size_t w, int32_t *work)
{
    struct NAME(growth, PIXEL) g = { .grown = grown, .mask = mask, .h = h, .w = w, .queue = work, .room = h * w };
    PIXEL *beside = (PIXEL *)(work + h * w), *own = beside + w + 2, *below = own + w + 2;
    do {
        g.lost = 0;
        memset(beside, 0, (w + 2) * sizeof *beside);
        for (size_t y = 0; y < h; y++) {
            NAME(from_beside, PIXEL)(grown + y * w, beside, mask + y * w, w);
            NAME(along, PIXEL)(grown + y * w, mask + y * w, w, 0);
            memcpy(beside + 1, grown + y * w, w * sizeof *grown);
        }
        NAME(pass_up, PIXEL)(&g, beside, own, below, (uint8_t *)(below + w + 2));
        while (g.n > 0) {
            size_t p = (size_t)g.queue[g.first];
            g.first = g.first + 1 < g.room ? g.first + 1 : 0;
            g.n--;
            NAME(spread, PIXEL)(&g, p);
        }
    } while (g.lost);
}
