/* png_unpack.h - inflates a PNG one band ahead of libpng, so that an idle worker can do one of the two while the other
 * is done (df_pieces()).
 *
 * libpng undoes the filters and converts channels, but it insists on inflating itself. It is therefore given a
 * substitute file in which the same bytes are in stored (uncompressed) deflate blocks: in place of the file's IDAT
 * chunks, unpacker_read() delivers one of 2 bytes (the zlib header), one per band, and a final one.
 *
 * Band:     the next BAND_ROWS_BYTES of filtered rows, and at least one row, as stored blocks.
 * Input:    compressed bytes are read from many chunks at once, because each call of inflate() copies its output into
 *           its window, and encoders write chunks of 8 KiB.
 * Adler:    inflate() runs without computing the Adler-32 checksum, because inflating is serial; sum_band(), which runs
 *           concurrently, computes it.
 * Errors:   errors in the compressed bytes are stored in `why` of the band in which they were found.
 */
#ifndef STD_PNG_UNPACK_H
#define STD_PNG_UNPACK_H

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BAND_ROWS_BYTES (256 * 1024)
#define IN_BYTES (128 * 1024)
#define BLOCK_BYTES 65535               /* a stored block has no more */
#define BLOCK_HEADER 5
#define MOST_REST_BYTES (1 << 20)       /* what the compressed bytes may hold behind the rows */

struct raw_band {
    unsigned char *bytes;
    size_t n, rows;
    int last;                           /* it holds the last row */
    const char *why;                    /* NULL: it is good */
};

struct unpacker {
    FILE *file;
    z_stream z;                         /* behind zlib's header */
    size_t line_bytes;                  /* of a filtered row */
    size_t band_rows, left_rows;        /* those that are still to be inflated */
    struct raw_band bands[2];           /* the one that libpng reads, and the next */
    int current;
    uint32_t chunk_left;                /* of the file's IDAT chunk */
    uLong crc;                          /* of that chunk, as far as it was read */
    int ended;                          /* no IDAT chunk follows */
    const char *why;                    /* behind what is in `in`, the file is damaged; NULL: it is not, or nobody knows yet */
    unsigned char in[IN_BYTES];
    uLong adler;                        /* of the filtered rows that were summed up */
    uLong rest_adler, wanted_adler;     /* of what the compressed bytes hold behind the rows; of all, as the file says */
    size_t rest_bytes;
    int has_adler;                      /* the file says it */
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
    u->adler = adler32(0, NULL, 0);
    if (inflateInit2(&u->z, -MAX_WBITS) == Z_OK)
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

/* Why fread() gave less than it was asked for. */
static const char *short_file(FILE *file)
{
    return ferror(file) ? strerror(errno) : "it ends too early";
}

/* Ends the chunk, and begins the next if it is an IDAT chunk too. */
static void next_chunk(struct unpacker *u)
{
    unsigned char crc[4], head[8];
    if (fread(crc, 1, sizeof crc, u->file) != sizeof crc)
        u->why = short_file(u->file);
    else if (big_endian(crc) != (uint32_t)u->crc)
        u->why = "IDAT: CRC error";
    else if (fread(head, 1, sizeof head, u->file) != sizeof head || memcmp(head + 4, "IDAT", 4) != 0)
        u->ended = 1;
    else
        u->chunk_left = big_endian(head);
    u->crc = crc32(0, (const unsigned char *)"IDAT", 4);
}

/* Reads until `in` is full, or no more can be read. inflate() has had all that was in it. */
static void read_input(struct unpacker *u)
{
    size_t n = 0;
    while (n < sizeof u->in && !u->why && !u->ended) {
        size_t more = u->chunk_left < sizeof u->in - n ? u->chunk_left : sizeof u->in - n;
        if (fread(u->in + n, 1, more, u->file) != more) {
            u->why = short_file(u->file);
            break;
        }
        u->crc = crc32(u->crc, u->in + n, (uInt)more);
        u->chunk_left -= (uint32_t)more;
        n += more;
        if (u->chunk_left == 0)
            next_chunk(u);
    }
    u->z.next_in = u->in;
    u->z.avail_in = (uInt)n;
}

/* NULL: there is input. Else why there is none. */
static const char *more_input(struct unpacker *u)
{
    if (u->z.avail_in == 0)
        read_input(u);
    return u->z.avail_in > 0 ? NULL : u->why ? u->why : "Not enough image data";
}

/* Bytes that stand beside the compressed ones. */
static const char *take_bytes(struct unpacker *u, unsigned char *to, size_t n)
{
    const char *why = NULL;
    for (; n > 0 && !(why = more_input(u)); n--, u->z.avail_in--)
        *to++ = *u->z.next_in++;
    return why;
}

/* RFC 1950. */
static const char *begin_stream(struct unpacker *u)
{
    unsigned char b[2];
    const char *why = take_bytes(u, b, sizeof b);
    if (why)
        return why;
    if ((b[0] << 8 | b[1]) % 31 != 0)
        return "incorrect header check";
    if ((b[0] & 15) != Z_DEFLATED)
        return "unknown compression method";
    if (b[0] >> 4 > MAX_WBITS - 8)
        return "invalid window size";
    return b[1] & 32 ? "the compressed data needs a dictionary" : NULL;
}

/* All rows have been inflated. Reads the end of the compressed stream and of its chunks. Further data is skipped, as libpng does, up to MOST_REST_BYTES: a
 * compressed megabyte can hold a gigabyte. */
static const char *end_rows(struct unpacker *u)
{
    unsigned char rest[256];
    const char *why = NULL;
    int code = Z_OK;
    u->rest_adler = adler32(0, NULL, 0);
    while (!why && (code == Z_OK || code == Z_BUF_ERROR)) {
        u->z.next_out = rest;
        u->z.avail_out = sizeof rest;
        code = inflate(&u->z, Z_NO_FLUSH);
        u->rest_adler = adler32(u->rest_adler, rest, (uInt)sizeof rest - u->z.avail_out);
        u->rest_bytes += sizeof rest - u->z.avail_out;
        if (u->rest_bytes > MOST_REST_BYTES)
            return "Too much image data";
        if ((code == Z_OK || code == Z_BUF_ERROR) && u->z.avail_in == 0 && u->z.avail_out > 0)
            why = more_input(u);
    }
    u->has_adler = code == Z_STREAM_END;
    if (!why && u->has_adler && !(why = take_bytes(u, rest, 4)))
        u->wanted_adler = big_endian(rest);
    while (!why && !u->why && !u->ended)
        read_input(u);
    return why ? why : u->why;
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
    *b = (struct raw_band){ .bytes = b->bytes, .rows = rows, .last = rows == u->left_rows };
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

/* Sums up the band that libpng is to read. Gives what is wrong, or NULL. It may be called while the next band is unpacked: the
 * last band has none. */
static const char *sum_band(struct unpacker *u)
{
    const struct raw_band *b = &u->bands[u->current];
    for (size_t n, at = 0; at < b->n; at += BLOCK_HEADER + n) {
        n = b->bytes[at + 1] | (size_t)b->bytes[at + 2] << 8;
        u->adler = adler32(u->adler, b->bytes + at + BLOCK_HEADER, (uInt)n);
    }
    if (!b->last || !u->has_adler)
        return NULL;
    uLong all = adler32_combine(u->adler, u->rest_adler, (z_off_t)u->rest_bytes);
    return all == u->wanted_adler ? NULL : "incorrect data check";
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
