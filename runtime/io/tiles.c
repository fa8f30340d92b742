/* tiles.c - splits a picture into a stream of tiles, and assembles tiles into a picture, with only one row of tiles in memory (df_io.h). Kernels call it:
 * std/pictures.h does for those of PNG and TIFF.
 *
 * Reading:  the picture rows [first, end) that the current row of tiles touches are in memory contiguously. They
 *           include all rows that mirroring needs: a row at most `halo` outside the picture mirrors to one that is no
 *           further inside.
 * Writing:  tiles arrive row by row, from left to right. When a row of tiles is complete, its picture rows are written.
 */
#include "runtime/df_io.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/threads/large.h"

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* In huge pages if there are many: every row is written before it is read, and a decoder waits for each page. NULL: no memory. */
static unsigned char *alloc_rows(int64_t n, size_t row_bytes)
{
    size_t bytes;
    return __builtin_mul_overflow((size_t)n, row_bytes, &bytes) || bytes > SIZE_MAX - DFR_HUGE_BYTES ? NULL : dfr_large_alloc(bytes);
}

/* ---- reading ---- */

struct df_tiles_read {
    int64_t height, width, core_h, core_w, halo, across, down;
    size_t pixel_bytes, row_bytes;
    unsigned char *rows;                /* the rows [first, end) */
    int64_t first, end;
};

/* The pixel of 0 .. n-1 that stands for pixel i. */
static int64_t mirrored(int64_t i, int64_t n, int64_t halo)
{
    i = at_most(i, n - 1 + halo);
    if (n == 1)
        return 0;
    int64_t period = 2 * (n - 1);
    i = (i % period + period) % period;
    return i < n ? i : period - i;
}

int df_tiles_read_open(struct df_call *call, uint64_t height, uint64_t width, size_t pixel_bytes, size_t h, size_t w,
                       int64_t halo, struct df_tiles_read **tiles)
{
    if (halo < 0 || 2 * (uint64_t)halo >= h || 2 * (uint64_t)halo >= w)
        return df_fail(call, "a tile of %zu x %zu has no pixel inside a halo of %lld", h, w, (long long)halo);
    struct df_tiles_read *t = calloc(1, sizeof *t);
    if (t) {
        *t = (struct df_tiles_read){ .height = (int64_t)height, .width = (int64_t)width, .halo = halo,
                                     .core_h = (int64_t)h - 2 * halo, .core_w = (int64_t)w - 2 * halo,
                                     .pixel_bytes = pixel_bytes, .row_bytes = (size_t)width * pixel_bytes };
        t->down = (t->height + t->core_h - 1) / t->core_h;
        t->across = (t->width + t->core_w - 1) / t->core_w;
        t->rows = alloc_rows(at_most((int64_t)h, t->height), t->row_bytes);
    }
    if (!t || !t->rows) {
        df_tiles_read_close(t);
        return df_fail(call, "out of memory for %zu rows of %llu pixels", h, (unsigned long long)width);
    }
    *tiles = t;
    return DF_OK;
}

int64_t df_tiles_read_n(const struct df_tiles_read *tiles)
{
    return tiles->across * tiles->down;
}

void df_tiles_read_close(struct df_tiles_read *tiles)
{
    if (tiles)
        free(tiles->rows);
    free(tiles);
}

/* Reads until the rows for tiles whose cores begin at `top` are there, and lets go of those above them. */
static int read_rows(struct df_call *call, struct df_tiles_read *t, int64_t top, df_next_row *next, void *source)
{
    int64_t first = top > t->halo ? top - t->halo : 0, end = at_most(top + t->core_h + t->halo, t->height);
    if (first > t->first) {
        if (first < t->end)
            memmove(t->rows, t->rows + (size_t)(first - t->first) * t->row_bytes,
                    (size_t)(t->end - first) * t->row_bytes);
        t->first = first;
    }
    for (; t->end < end; t->end++) {    /* rows above `first` fall away: the next one is read over them */
        int64_t place = t->end > t->first ? t->end - t->first : 0;
        int status = next(source, t->rows + (size_t)place * t->row_bytes, call);
        if (status != DF_OK)
            return status;
    }
    return DF_OK;
}

/* Pixels left .. left + w of a row: those inside at once, those outside one by one. */
static void copy_row(const struct df_tiles_read *t, unsigned char *to, const unsigned char *row, int64_t left, int64_t w)
{
    size_t bytes = t->pixel_bytes;
    int64_t first = left < 0 ? -left : 0, last = at_most(w, t->width - left);
    for (int64_t x = 0; x < w; x++)
        if (x < first || x >= last)
            memcpy(to + (size_t)x * bytes, row + (size_t)mirrored(left + x, t->width, t->halo) * bytes, bytes);
    if (first < last)
        memcpy(to + (size_t)first * bytes, row + (size_t)(left + first) * bytes, (size_t)(last - first) * bytes);
}

int df_tiles_read(struct df_call *call, struct df_tiles_read *t, int64_t number, df_next_row *next, void *source,
                  void *tile, int64_t *at)
{
    int64_t top = number / t->across * t->core_h, left = number % t->across * t->core_w;
    int64_t h = t->core_h + 2 * t->halo, w = t->core_w + 2 * t->halo;
    int status = read_rows(call, t, top, next, source);
    if (status != DF_OK)
        return status;
    for (int64_t y = 0; y < h; y++) {
        int64_t row = mirrored(top - t->halo + y, t->height, t->halo) - t->first;
        copy_row(t, (unsigned char *)tile + (size_t)(y * w) * t->pixel_bytes, t->rows + (size_t)row * t->row_bytes,
                 left - t->halo, w);
    }
    memcpy(at, (const int64_t[]){ top, left, t->height, t->width }, 4 * sizeof *at);
    return DF_OK;
}

/* ---- writing ---- */

struct df_tiles_write {
    int64_t height, width, h, w;
    int64_t top, left;                  /* where the next tile belongs */
    int64_t n;                          /* tiles that have come */
    size_t pixel_bytes, row_bytes;
    unsigned char *rows;                /* of the current row of tiles */
};

int df_tiles_write_open(struct df_call *call, const int64_t *at, size_t pixel_bytes, size_t h, size_t w,
                        struct df_tiles_write **tiles)
{
    struct df_tiles_write *t;
    if (at[2] < 1 || at[3] < 1)
        return df_fail(call, "'at' says that the picture is %lld x %lld pixels", (long long)at[2], (long long)at[3]);
    t = calloc(1, sizeof *t);
    if (t) {
        *t = (struct df_tiles_write){ .height = at[2], .width = at[3], .h = (int64_t)h, .w = (int64_t)w,
                                      .pixel_bytes = pixel_bytes, .row_bytes = (size_t)at[3] * pixel_bytes };
        t->rows = alloc_rows(at_most(t->h, t->height), t->row_bytes);
    }
    if (!t || !t->rows) {
        df_tiles_write_close(t);
        return df_fail(call, "out of memory for %zu rows of %lld pixels", h, (long long)at[3]);
    }
    *tiles = t;
    return DF_OK;
}

void df_tiles_write_close(struct df_tiles_write *tiles)
{
    if (tiles)
        free(tiles->rows);
    free(tiles);
}

static int put_rows(struct df_call *call, const struct df_tiles_write *t, int64_t n, df_put_row *put, void *sink)
{
    int status = DF_OK;
    for (int64_t y = 0; y < n && status == DF_OK; y++)
        status = put(sink, t->rows + (size_t)y * t->row_bytes, call);
    return status;
}

int df_tiles_write(struct df_call *call, struct df_tiles_write *t, const void *tile, const int64_t *at, df_put_row *put,
                   void *sink)
{
    if (at[0] != t->top || at[1] != t->left || at[2] != t->height || at[3] != t->width)
        return df_fail(call, "a core of %lld x %lld belongs at row %lld, column %lld of %lld x %lld, and 'at' says row %lld, "
                       "column %lld of %lld x %lld: is the token as large as a core?", (long long)t->h, (long long)t->w,
                       (long long)t->top, (long long)t->left, (long long)t->height, (long long)t->width,
                       (long long)at[0], (long long)at[1], (long long)at[2], (long long)at[3]);
    int64_t rows = at_most(t->h, t->height - t->top), columns = at_most(t->w, t->width - t->left);
    for (int64_t y = 0; y < rows; y++)
        memcpy(t->rows + (size_t)y * t->row_bytes + (size_t)t->left * t->pixel_bytes,
               (const unsigned char *)tile + (size_t)(y * t->w) * t->pixel_bytes, (size_t)columns * t->pixel_bytes);
    t->n++;
    t->left += t->w;
    if (t->left < t->width)
        return DF_OK;
    t->left = 0;
    t->top += t->h;
    return put_rows(call, t, rows, put, sink);
}

int df_tiles_write_done(const struct df_tiles_write *t, struct df_error *error)
{
    if (!t || t->top >= t->height)
        return DF_OK;
    int64_t all = ((t->height + t->h - 1) / t->h) * ((t->width + t->w - 1) / t->w);
    return dfr_error(error, DF_E_KERNEL, "%lld of %lld tiles came, so no picture is written", (long long)t->n,
                     (long long)all);
}
