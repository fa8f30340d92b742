/* png_pack.h - compresses the rows of a PNG in parallel, on all workers that have no job (df_pieces()).
 *
 * Bands:    a band is the next BAND_BYTES of rows, and at least one row. Each is compressed independently: runs reach
 *           back only one byte, so little is lost. It ends at a byte boundary (Z_SYNC_FLUSH), so bands can simply be
 *           concatenated. The split into bands depends only on the picture, so the file is the same for any number of
 *           workers.
 * Memory:   rows are buffered until there are BANDS bands, or the picture's last row, or until packer_flush(). In
 *           addition each thread that compresses has a deflate state and a buffer for one band.
 */
#ifndef STD_PNG_PACK_H
#define STD_PNG_PACK_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <df.h>

#define BAND_BYTES 65536
#define BANDS 16

struct band {
    unsigned char *packed;              /* room for any band's; NULL: none yet */
    size_t packed_bytes, filtered_bytes;
    uLong adler;                        /* of the filtered rows */
    int good;                           /* 0: there was no memory */
};

struct tool {                           /* what one thread needs */
    struct tool *next;
    z_stream z;
    unsigned char filtered[];
};

struct packer {
    size_t row_bytes, pixel_bytes, band_rows, height;
    size_t y, held;                     /* rows that have come; of them, those in `rows` */
    unsigned char *rows;                /* the row before the held ones, 0 at first, and those */
    struct band bands[BANDS];
    pthread_mutex_t lock;               /* for `tools` */
    struct tool *tools;                 /* that no thread uses */
};

static void packer_close(struct packer *p)
{
    if (!p)
        return;
    for (struct tool *t; (t = p->tools); free(t)) {
        p->tools = t->next;
        deflateEnd(&t->z);
    }
    for (size_t i = 0; i < BANDS; i++)
        free(p->bands[i].packed);
    pthread_mutex_destroy(&p->lock);
    free(p->rows);
    free(p);
}

/* NULL: no memory. */
static struct packer *packer_new(size_t height, size_t row_bytes, size_t pixel_bytes)
{
    struct packer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    size_t rows = BAND_BYTES / row_bytes + (BAND_BYTES % row_bytes > 0);
    p->row_bytes = row_bytes;
    p->pixel_bytes = pixel_bytes;
    p->band_rows = rows < height ? rows : height;
    p->height = height;
    pthread_mutex_init(&p->lock, NULL);
    rows = BANDS * p->band_rows < height ? BANDS * p->band_rows : height;
    p->rows = calloc(1 + rows, row_bytes);
    if (p->rows)
        return p;
    packer_close(p);
    return NULL;
}

/* ---- a band, on any thread ---- */

static struct tool *take_tool(struct packer *p)
{
    pthread_mutex_lock(&p->lock);
    struct tool *t = p->tools;
    if (t)
        p->tools = t->next;
    pthread_mutex_unlock(&p->lock);
    if (t)
        return deflateReset(&t->z) == Z_OK ? t : NULL;
    t = calloc(1, sizeof *t + p->band_rows * (1 + p->row_bytes));
    if (t && deflateInit2(&t->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_RLE) == Z_OK)
        return t;
    free(t);
    return NULL;
}

static void give_tool(struct packer *p, struct tool *t)
{
    pthread_mutex_lock(&p->lock);
    t->next = p->tools;
    p->tools = t;
    pthread_mutex_unlock(&p->lock);
}

/* Paeth's predictor, as the PNG specification has it. */
static int paeth(int left, int up, int corner)
{
    int of_left = abs(up - corner), of_up = abs(left - corner), of_corner = abs(left + up - 2 * corner);
    int other = of_up <= of_corner ? up : corner;
    return (of_left <= of_up) & (of_left <= of_corner) ? left : other;
}

static void filter_row(unsigned char *restrict to, const unsigned char *row, const unsigned char *above, size_t bytes,
                       size_t pixel_bytes)
{
    *to++ = 4;                          /* the filter's number */
    for (size_t i = 0; i < pixel_bytes; i++)
        to[i] = (unsigned char)(row[i] - above[i]);
    for (size_t i = pixel_bytes; i < bytes; i++)
        to[i] = (unsigned char)(row[i] - paeth(row[i - pixel_bytes], above[i], above[i - pixel_bytes]));
}

static size_t filter_rows(const struct packer *p, size_t first, size_t n, unsigned char *to)
{
    for (size_t y = 0; y < n; y++) {
        const unsigned char *above = p->rows + (first + y) * p->row_bytes;
        filter_row(to + y * (1 + p->row_bytes), above + p->row_bytes, above, p->row_bytes, p->pixel_bytes);
    }
    return n * (1 + p->row_bytes);
}

static void compress_band(const struct packer *p, struct tool *t, struct band *b, int last)
{
    size_t room = deflateBound(&t->z, (uLong)(p->band_rows * (1 + p->row_bytes))) + 16; /* 16: the flush */
    if (!b->packed && !(b->packed = malloc(room)))
        return;
    b->adler = adler32(adler32(0, NULL, 0), t->filtered, (uInt)b->filtered_bytes);
    t->z.next_in = t->filtered;
    t->z.avail_in = (uInt)b->filtered_bytes;
    t->z.next_out = b->packed;
    t->z.avail_out = (uInt)room;
    b->good = deflate(&t->z, last ? Z_FINISH : Z_SYNC_FLUSH) == (last ? Z_STREAM_END : Z_OK) && t->z.avail_out > 0;
    b->packed_bytes = t->z.total_out;
}

/* A piece of df_pieces(). */
static void pack_band(void *packer, size_t i)
{
    struct packer *p = packer;
    struct band *b = &p->bands[i];
    struct tool *t = take_tool(p);
    size_t first = i * p->band_rows, n = p->held - first < p->band_rows ? p->held - first : p->band_rows;
    b->good = 0;
    if (!t)
        return;
    b->filtered_bytes = filter_rows(p, first, n, t->filtered);
    compress_band(p, t, b, p->y == p->height && first + n == p->held);
    give_tool(p, t);
}

/* ---- in order ---- */

/* Where the next row is to be put, as it stands in the file. */
static unsigned char *packer_row(const struct packer *p)
{
    return p->rows + (1 + p->held) * p->row_bytes;
}

/* Packs the first n bands that are held. The rows behind them stay. */
static void pack_bands(struct df_call *call, struct packer *p, size_t n)
{
    size_t rows = n * p->band_rows < p->held ? n * p->band_rows : p->held;
    df_pieces(call, n, pack_band, p);
    p->held -= rows;
    memmove(p->rows, p->rows + rows * p->row_bytes, (1 + p->held) * p->row_bytes);
}

/* That row is there. Gives how many of `bands` are to be written now. The last band that holds the last row ends the
 * compressed bytes. */
static size_t packer_put(struct df_call *call, struct packer *p)
{
    p->held++;
    p->y++;
    if (p->held < BANDS * p->band_rows && p->y < p->height)
        return 0;
    size_t n = (p->held + p->band_rows - 1) / p->band_rows;
    pack_bands(call, p, n);
    return n;
}

/* The next row does not come soon. Gives how many of `bands` are to be written now; rows that do not fill one wait. */
static size_t packer_flush(struct df_call *call, struct packer *p)
{
    size_t n = p->held / p->band_rows;
    if (n > 0)
        pack_bands(call, p, n);
    return n;
}

#endif
