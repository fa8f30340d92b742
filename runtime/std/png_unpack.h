/* png_unpack.h - inflates a PNG's compressed bytes a band ahead of libpng, so that a worker that has no job can do one of the
 * two while the other is done (df_pieces()).
 *
 * libpng undoes the filters and gives the channels that are asked for, but it inflates, too. So it reads a file in which the
 * compressed bytes are replaced by the same bytes as blocks that are merely stored: unpacker_read() gives it, in place of
 * the file's IDAT chunks, one of 2 bytes, one for each band, and one that ends them.
 *
 * Band:   the next BAND_ROWS_BYTES of filtered rows, and at least one row, as stored blocks.
 * Errors: what is wrong in the compressed bytes stands in `why` of the band in which it was found.
 */
#ifndef STD_PNG_UNPACK_H
#define STD_PNG_UNPACK_H

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BAND_ROWS_BYTES (256 * 1024)
#define BLOCK_BYTES 65535               /* a stored block has no more */
#define BLOCK_HEADER 5

struct raw_band {
    unsigned char *bytes;
    size_t n, rows;
    const char *why;                    /* NULL: it is good */
};

struct unpacker {
    FILE *file;
    z_stream z;
    size_t line_bytes;                  /* of a filtered row */
    size_t band_rows, left_rows;        /* those that are still to be inflated */
    struct raw_band bands[2];           /* the one that libpng reads, and the next */
    int current;
    uint32_t chunk_left;                /* of the file's IDAT chunk */
    uLong crc;
    unsigned char in[32768];
    const unsigned char *out;           /* what is left of the chunk that libpng reads */
    size_t out_left;
    int begun;
};

static void unpacker_close(struct unpacker *u)
{
    if (!u)
        return;
    inflateEnd(&u->z);
    free(u->bands[0].bytes);
    free(u->bands[1].bytes);
    free(u);
}

/* NULL: no memory. */
static struct unpacker *unpacker_new(FILE *file, uint32_t first_chunk_bytes)
{
    struct unpacker *u = calloc(1, sizeof *u);
    if (!u)
        return NULL;
    u->file = file;
    u->chunk_left = first_chunk_bytes;
    u->crc = crc32(0, (const unsigned char *)"IDAT", 4);
    if (inflateInit(&u->z) == Z_OK)
        return u;
    free(u);
    return NULL;
}

/* 0: no memory. */
static int unpacker_sizes(struct unpacker *u, size_t line_bytes, size_t rows)
{
    u->line_bytes = line_bytes;
    u->left_rows = rows;
    u->band_rows = BAND_ROWS_BYTES / line_bytes + (BAND_ROWS_BYTES % line_bytes > 0);
    u->band_rows = u->band_rows < rows ? u->band_rows : rows;
    size_t bytes = u->band_rows * line_bytes, blocks = bytes / BLOCK_BYTES + 1;
    for (int i = 0; i < 2; i++)
        if (!(u->bands[i].bytes = malloc(bytes + blocks * BLOCK_HEADER)))
            return 0;
    return 1;
}

/* ---- from the file ---- */

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Ends the chunk and begins the next. NULL, or what is wrong. */
static const char *next_chunk(struct unpacker *u)
{
    unsigned char b[12];
    if (fread(b, 1, sizeof b, u->file) != sizeof b)
        return "Read Error";
    if (big_endian(b) != (uint32_t)u->crc)
        return "IDAT: CRC error";
    if (memcmp(b + 8, "IDAT", 4) != 0)
        return "Not enough image data";
    u->chunk_left = big_endian(b + 4);
    u->crc = crc32(0, b + 8, 4);
    return NULL;
}

static const char *more_input(struct unpacker *u)
{
    const char *why = NULL;
    while (u->chunk_left == 0 && !why)
        why = next_chunk(u);
    if (why)
        return why;
    size_t n = u->chunk_left < sizeof u->in ? u->chunk_left : sizeof u->in;
    if (fread(u->in, 1, n, u->file) != n)
        return "Read Error";
    u->crc = crc32(u->crc, u->in, (uInt)n);
    u->chunk_left -= (uint32_t)n;
    u->z.next_in = u->in;
    u->z.avail_in = (uInt)n;
    return NULL;
}

/* The rows are all there. The compressed bytes have to end too, and their last chunk; what else they hold is of no interest, as
 * it is of none to libpng. */
static const char *end_rows(struct unpacker *u)
{
    unsigned char rest[256];
    const char *why = NULL;
    for (int code = Z_OK; !why && (code == Z_OK || code == Z_BUF_ERROR);) {
        u->z.next_out = rest;
        u->z.avail_out = sizeof rest;
        code = inflate(&u->z, Z_NO_FLUSH);
        if ((code == Z_OK || code == Z_BUF_ERROR) && u->z.avail_in == 0 && u->z.avail_out > 0)
            why = more_input(u);
    }
    while (u->chunk_left > 0 && !why)
        why = more_input(u);
    if (!why && fread(rest, 1, 4, u->file) != 4)
        why = "Read Error";
    return why ? why : big_endian(rest) != (uint32_t)u->crc ? "IDAT: CRC error" : NULL;
}

static const char *inflate_block(struct unpacker *u, unsigned char *to, size_t bytes)
{
    u->z.next_out = to;
    u->z.avail_out = (uInt)bytes;
    while (u->z.avail_out > 0) {
        const char *why = u->z.avail_in == 0 ? more_input(u) : NULL;
        if (why)
            return why;
        int code = inflate(&u->z, Z_NO_FLUSH);
        if (code == Z_STREAM_END && u->z.avail_out > 0)
            return "Not enough image data";
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return u->z.msg ? u->z.msg : "the compressed data is damaged";
    }
    return NULL;
}

/* Fills the band that libpng does not read; with nothing if no row is left. */
static void unpack_band(struct unpacker *u)
{
    struct raw_band *b = &u->bands[!u->current];
    size_t rows = u->left_rows < u->band_rows ? u->left_rows : u->band_rows, left = rows * u->line_bytes;
    *b = (struct raw_band){ .bytes = b->bytes, .rows = rows };
    for (size_t n; left > 0 && !b->why; left -= n) {
        n = left < BLOCK_BYTES ? left : BLOCK_BYTES;
        unsigned char *to = b->bytes + b->n;
        memcpy(to, (const unsigned char[]){ 0, n & 255, n >> 8 & 255, ~n & 255, ~n >> 8 & 255 }, BLOCK_HEADER);
        b->why = inflate_block(u, to + BLOCK_HEADER, n);
        b->n += BLOCK_HEADER + n;
    }
    u->left_rows -= rows;
    if (u->left_rows == 0 && rows > 0 && !b->why)
        b->why = end_rows(u);
}

/* ---- to libpng ---- */

static void put_length(unsigned char *header, size_t n)
{
    const unsigned char length[] = { (unsigned char)(n >> 24), (unsigned char)(n >> 16), (unsigned char)(n >> 8),
                                     (unsigned char)n };
    memcpy(header, length, sizeof length);
}

/* The next chunk: at first zlib's header, then the current band once, then the end of the compressed bytes. */
static void begin_chunk(struct unpacker *u, unsigned char *header)
{
    static const unsigned char zlib_header[] = { 0x78, 0x01 }, end[] = { 1, 0, 0, 0xff, 0xff, 0, 0, 0, 1 };
    struct raw_band *b = &u->bands[u->current];
    u->out = !u->begun ? zlib_header : b->n > 0 ? b->bytes : end;
    u->out_left = !u->begun ? sizeof zlib_header : b->n > 0 ? b->n : sizeof end;
    if (u->begun)
        b->n = 0;
    u->begun = 1;
    put_length(header, u->out_left);
    memcpy(header + 4, "IDAT", 4);
}

/* What libpng gets for its next read of `n` bytes behind the first IDAT chunk's header. */
static void unpacker_read(struct unpacker *u, int is_header, unsigned char *to, size_t n)
{
    if (is_header && n == 8) {
        begin_chunk(u, to);
    } else if (u->out_left >= n) {
        memcpy(to, u->out, n);
        u->out += n;
        u->out_left -= n;
    } else {
        memset(to, 0, n);               /* a checksum, at which libpng does not look */
    }
}

#endif
