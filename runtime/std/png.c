/* png.c - the sources and sinks of std/png.df, compiled into programs that import it: PNG input and output through libpng.
 *
 * Samples:  the file's full range maps to that of the element: 0 .. 255, 0 .. 65535, or 0 .. 1 for f32. f32 is written
 *           with 16 bits. Gamma and colour profiles are ignored.
 * Channels: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. Grey is converted to RGB if requested, and palettes always. A
 *           picture with alpha is composited on white if no alpha is requested. libpng could do that, but it would also
 *           correct gamma if the file has a gAMA or an sRGB chunk, and it takes white in another depth than that of the
 *           rows.
 * Packing:  every row has the Paeth filter, and only runs are searched for (Z_RLE). That takes a sixth of the time of
 *           libpng's defaults. Photographs come out as small; repetitive pictures come out larger (tests/bench/png.c).
 *           libpng writes everything except the compressed bytes, which are produced in bands (png_pack.h).
 */
#if !__has_include(<png.h>)
#error "std/png.df needs libpng: sudo apt-get install libpng-dev"
#endif
#include <errno.h>
#include <png.h>
#include <zlib.h>

#define ONE_PICTURE
#include "pictures.h"
#include "png_pack.h"
#include "png_unpack.h"

#define FILE_BUFFER_BYTES (64 * 1024)   /* the C library's own buffer is 4 KiB, half of a chunk as programs write them */

struct picture {
    struct df_call *call;               /* the job that runs */
    char *path;
    FILE *file;                         /* reading: its own; writing: the output's */
    png_structp png;
    png_infop info;
    int writes;
    enum df_elem elem;
    size_t channels, samples;           /* that are given: of a pixel, of a row */
    int lays;                           /* reading: libpng gives alpha as well, and the row is laid on white */
    int wide;                           /* reading: libpng gives samples of 16 bits */
    char *buffer;                       /* reading: of the file */
    struct unpacker *unpacker;          /* reading; NULL: libpng reads the file itself */
    unsigned char *rows;                /* reading: rows of the unpacker's current band, as libpng gives them */
    size_t rows_at, rows_end;           /* of these: the next one, and how many there are; SIZE_MAX: libpng failed */
    const char *why;                    /* reading: what is wrong in the band of these rows; NULL: nothing that libpng does not say */
    struct packer *packer;              /* writing */
    uLong adler;                        /* writing: of the rows that have been written */
    unsigned char *whole;               /* an interlaced picture, which comes as a whole; NULL: rows come one by one */
    size_t row_bytes, y;
};

static void on_error(png_structp png, png_const_charp why)
{
    struct picture *p = png_get_error_ptr(png);
    df_fail(p->call, "cannot %s '%s': %s", p->writes ? "write" : "read", p->path, p->writes && ferror(p->file) ? strerror(errno) : why);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp why)
{
    (void)png, (void)why;
}

static void picture_close(struct picture *p)
{
    if (!p)
        return;
    if (p->png && p->writes)
        png_destroy_write_struct(&p->png, &p->info);
    else if (p->png)
        png_destroy_read_struct(&p->png, &p->info, NULL);
    if (p->file && !p->writes)
        fclose(p->file);
    free(p->buffer);
    packer_close(p->packer);
    unpacker_close(p->unpacker);
    free(p->rows);
    free(p->path);
    free(p->whole);
    free(p);
}

/* Makes what reading and writing have in common. NULL: no memory (recorded). */
static struct picture *picture_new(struct df_call *call, const char *path, enum df_elem elem, int writes)
{
    struct picture *p = calloc(1, sizeof *p);
    if (p) {
        p->call = call;
        p->elem = elem;
        p->writes = writes;
        p->path = strdup(path);
        p->png = (writes ? png_create_write_struct : png_create_read_struct)(PNG_LIBPNG_VER_STRING, p, on_error, on_warning);
        p->info = p->png ? png_create_info_struct(p->png) : NULL;
    }
    if (p && p->path && p->info)
        return p;
    picture_close(p);
    df_fail(call, "out of memory for '%s'", path);
    return NULL;
}

/* ---- reading ---- */

static void read_bytes(png_structp png, png_bytep to, size_t n)
{
    struct picture *p = png_get_io_ptr(png);
    int is_header = (png_get_io_state(png) & PNG_IO_MASK_LOC) == PNG_IO_CHUNK_HDR;
    if (p->unpacker) {
        unpacker_read(p->unpacker, is_header, to, n);
        return;
    }
    if (fread(to, 1, n, p->file) != n)
        png_error(png, short_file(p->file));
    if (!is_header || n != 8 || memcmp(to + 4, "IDAT", 4) != 0 || png_get_interlace_type(png, p->info) != PNG_INTERLACE_NONE)
        return;
    p->unpacker = unpacker_new(p->file, big_endian(to));
    if (!p->unpacker)
        png_error(png, "out of memory");
    begin_chunk(p->unpacker, to);
}

/* libpng need not check what the unpacker has made. */
static int begin_unpacking(struct df_call *call, struct picture *p, size_t line_bytes, size_t height)
{
    png_set_crc_action(p->png, PNG_CRC_QUIET_USE, PNG_CRC_NO_CHANGE);
    png_set_option(p->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
    if (!unpacker_sizes(p->unpacker, line_bytes, height) ||
        !(p->rows = malloc(p->unpacker->band_rows * p->row_bytes)))
        return df_fail(call, "out of memory for rows of '%s'", p->path);
    const char *why = begin_stream(p->unpacker);
    if (why)
        return df_fail(call, "cannot read '%s': %s", p->path, why);
    unpack_band(p->unpacker);
    return DF_OK;
}

/* Can libpng give `channels` of the element? */
static int check_channels(struct df_call *call, const struct picture *p)
{
    if (p->channels > 4)
        return df_fail(call, "a PNG has 1 to 4 channels, and the token has %zu", p->channels);
    if (png_get_color_type(p->png, p->info) & PNG_COLOR_MASK_COLOR && p->channels < 3)
        return df_fail(call, "'%s' is in colour: a kernel ..._rgb reads it, and one of yours says what is grey", p->path);
    return DF_OK;
}

/* Has libpng give them. */
static void transform(struct picture *p)
{
    int type = png_get_color_type(p->png, p->info), colour = type & PNG_COLOR_MASK_COLOR, alpha = type & PNG_COLOR_MASK_ALPHA;
    alpha |= png_get_valid(p->png, p->info, PNG_INFO_tRNS);
    png_set_expand(p->png);
    if (!colour && p->channels > 2)
        png_set_gray_to_rgb(p->png);
    p->lays = alpha && p->channels % 2 == 1;
    if (!alpha && p->channels % 2 == 0)
        png_set_add_alpha(p->png, p->elem == DF_U8 ? 255 : 65535, PNG_FILLER_AFTER);
    p->wide = p->elem != DF_U8 || (p->lays && png_get_bit_depth(p->png, p->info) == 16);
    if (p->wide)
        png_set_expand_16(p->png);
    else
        png_set_scale_16(p->png);
    const uint16_t one = 1;
    if (p->wide && *(const unsigned char *)&one)
        png_set_swap(p->png);
}

/* An interlaced picture can only be read as a whole. */
static int read_whole(struct df_call *call, struct picture *p, int passes)
{
    size_t height = png_get_image_height(p->png, p->info);
    if (passes == 1)
        return DF_OK;
    p->whole = calloc(height, p->row_bytes);
    if (!p->whole)
        return df_fail(call, "out of memory for '%s', which is interlaced", p->path);
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < height; y++)
            png_read_row(p->png, p->whole + y * p->row_bytes, NULL);
    return DF_OK;
}

/* Reads the chunks before the rows. Ancillary chunks are not kept: a megabyte of compressed text can expand to gigabytes. */
static int read_header(struct df_call *call, struct picture *p, uint64_t *extents)
{
    if (setjmp(png_jmpbuf(p->png)))
        return DF_FAILED;
    png_set_read_fn(p->png, p, read_bytes);
    png_set_sig_bytes(p->png, 8);
    png_set_keep_unknown_chunks(p->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(p->png, p->info);
    extents[0] = png_get_image_height(p->png, p->info);
    extents[1] = png_get_image_width(p->png, p->info);
    extents[2] = p->channels;
    return check_channels(call, p);
}

static int picture_begin(struct df_call *call, struct picture *p)
{
    p->call = call;
    if (setjmp(png_jmpbuf(p->png)))
        return DF_FAILED;
    const size_t height = png_get_image_height(p->png, p->info), line_bytes = 1 + png_get_rowbytes(p->png, p->info);
    transform(p);
    int passes = png_set_interlace_handling(p->png);
    png_read_update_info(p->png, p->info);
    p->row_bytes = png_get_rowbytes(p->png, p->info);
    p->samples = png_get_image_width(p->png, p->info) * p->channels;
    return p->unpacker ? begin_unpacking(call, p, line_bytes, height) : read_whole(call, p, passes);
}

static int picture_open(struct df_call *call, const char *path, enum df_elem elem, size_t channels,
                        struct picture **picture, uint64_t *extents)
{
    unsigned char signature[8];
    struct picture *p = picture_new(call, path, elem, 0);
    int status = p ? df_file_open(call, path, &p->file) : DF_FAILED;
    if (p)
        p->channels = channels;
    if (status == DF_OK && (p->buffer = malloc(FILE_BUFFER_BYTES)))
        setvbuf(p->file, p->buffer, _IOFBF, FILE_BUFFER_BYTES);
    if (status == DF_OK && (fread(signature, 1, 8, p->file) != 8 || png_sig_cmp(signature, 0, 8) != 0))
        status = df_fail(call, "'%s' is not a PNG file", path);
    if (status == DF_OK)
        status = read_header(call, p, extents);
    if (status != DF_OK) {
        picture_close(p);
        return status;
    }
    *picture = p;
    return DF_OK;
}

static const char *picture_assumed(const struct picture *p)
{
    (void)p;
    return NULL;
}

/* The pieces: the next band is inflated, and the current one is summed up and becomes libpng's rows. The job's own worker takes the
 * first piece. It is the longer one, so that worker does not sleep until the other ends. */
static void read_piece(void *picture, size_t i)
{
    struct picture *p = picture;
    struct unpacker *u = p->unpacker;
    if (i == 0) {
        unpack_band(u);
        return;
    }
    p->rows_end = SIZE_MAX;
    p->why = sum_band(u);
    if (p->why || setjmp(png_jmpbuf(p->png)))
        return;                         /* only this piece fails the job */
    for (size_t y = 0; y < u->bands[u->current].rows; y++)
        png_read_row(p->png, p->rows + y * p->row_bytes, NULL);
    p->rows_end = u->bands[u->current].rows;
}

static int next_rows(struct df_call *call, struct picture *p)
{
    struct unpacker *u = p->unpacker;
    u->current = !u->current;
    if (u->bands[u->current].why)
        return df_fail(call, "cannot read '%s': %s", p->path, u->bands[u->current].why);
    p->rows_at = 0;
    df_pieces(call, 2, read_piece, p);
    if (p->why)
        return df_fail(call, "cannot read '%s': %s", p->path, p->why);
    return p->rows_end == SIZE_MAX ? DF_FAILED : DF_OK;
}

/* Where libpng's next row is. NULL: it failed. */
static unsigned char *row_of(struct df_call *call, struct picture *p)
{
    if (p->whole)
        return p->whole + p->y++ * p->row_bytes;
    if (p->rows_at == p->rows_end && next_rows(call, p) != DF_OK)
        return NULL;
    return p->rows + p->rows_at++ * p->row_bytes;
}

/* Pixels with alpha become pixels on white, in place. A sample counts as it is, whatever the file says of gamma. No sum is above most * most. */
#define LAY_ON_WHITE(NAME, TYPE)                                                                                          \
    static void NAME(const struct picture *p, TYPE *row)                                                                  \
    {                                                                                                                     \
        const uint32_t most = (TYPE)-1;                                                                                   \
        const TYPE *from = row;                                                                                           \
        for (TYPE *to = row; to < row + p->samples; from += p->channels + 1) {                                            \
            const uint32_t alpha = from[p->channels], white = most * (most - alpha) + most / 2;                           \
            for (size_t c = 0; c < p->channels; c++)                                                                      \
                *to++ = (TYPE)((from[c] * alpha + white) / most);                                                         \
        }                                                                                                                 \
    }
LAY_ON_WHITE(lay_u8, uint8_t)
LAY_ON_WHITE(lay_u16, uint16_t)

static int picture_row(void *source, void *row, struct df_call *call)
{
    struct picture *p = source;
    p->call = call;
    unsigned char *from = row_of(call, p);
    if (!from)
        return DF_FAILED;
    const uint16_t *wide = (const uint16_t *)(const void *)from;
    if (p->lays && p->wide)
        lay_u16(p, (uint16_t *)(void *)from);
    else if (p->lays)
        lay_u8(p, from);
    if (p->elem == DF_F32)
        for (size_t i = 0; i < p->samples; i++)
            ((float *)row)[i] = (float)wide[i] / 65535;
    else if (p->elem == DF_U8 && p->wide)
        for (size_t i = 0; i < p->samples; i++)
            ((uint8_t *)row)[i] = (uint8_t)((wide[i] + 128u) / 257);
    else
        memcpy(row, from, p->samples * element_bytes[p->elem]);
    return DF_OK;
}

/* ---- writing ---- */

static void write_chunk(struct picture *p, const char *name, const unsigned char *data, size_t bytes)
{
    png_write_chunk(p->png, (png_const_bytep)name, data, bytes);
}

static int write_header(struct df_call *call, struct picture *p, const uint64_t *extents)
{
    static const int types[] = { PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                 PNG_COLOR_TYPE_RGB_ALPHA };
    static const unsigned char zlib_header[] = { 0x78, 0x01 };
    if (extents[2] > 4)                 /* none would make the token empty, and the kernel is not called */
        return df_fail(call, "a PNG has 1 to 4 channels, and the token has %llu", (unsigned long long)extents[2]);
    if (extents[0] > PNG_UINT_31_MAX || extents[1] > PNG_UINT_31_MAX)
        return df_fail(call, "a PNG has at most %d x %d pixels", PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    if (setjmp(png_jmpbuf(p->png)))
        return DF_FAILED;
    png_init_io(p->png, p->file);
    png_set_IHDR(p->png, p->info, (png_uint_32)extents[1], (png_uint_32)extents[0], p->elem == DF_U8 ? 8 : 16,
                 types[extents[2] - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(p->png, p->info);
    write_chunk(p, "IDAT", zlib_header, sizeof zlib_header);
    p->samples = (size_t)extents[1] * (size_t)extents[2];
    p->row_bytes = png_get_rowbytes(p->png, p->info);
    p->packer = packer_new((size_t)extents[0], p->row_bytes, p->row_bytes / (size_t)extents[1]);
    return p->packer ? DF_OK : df_fail(call, "out of memory for rows of '%s'", p->path);
}

static int picture_create(struct df_call *call, FILE *file, const char *path, enum df_elem elem, const uint64_t *extents,
                          struct picture **picture)
{
    struct picture *p = picture_new(call, path, elem, 1);
    if (!p)
        return DF_FAILED;
    p->file = file;
    p->adler = adler32(0, NULL, 0);
    if (write_header(call, p, extents) != DF_OK) {
        picture_close(p);
        return DF_FAILED;
    }
    *picture = p;
    return DF_OK;
}

static uint16_t wide_of(float v)
{
    return v > 0 ? v < 1 ? (uint16_t)(v * 65535 + 0.5f) : 65535 : 0; /* NaN: 0 */
}

/* A sample of 16 bits has its high byte first. */
static void put_samples(const struct picture *p, const void *row, unsigned char *to)
{
    for (size_t i = 0; i < p->samples; i++) {
        uint16_t v = p->elem == DF_F32 ? wide_of(((const float *)row)[i]) : ((const uint16_t *)row)[i];
        to[2 * i] = (unsigned char)(v >> 8);
        to[2 * i + 1] = (unsigned char)v;
    }
}

static int write_bands(struct df_call *call, struct picture *p, size_t n)
{
    if (setjmp(png_jmpbuf(p->png)))
        return DF_FAILED;
    for (const struct band *b = p->packer->bands; n > 0; b++, n--) {
        if (!b->good)
            return df_fail(call, "out of memory for packing '%s'", p->path);
        p->adler = adler32_combine(p->adler, b->adler, (z_off_t)b->filtered_bytes);
        write_chunk(p, "IDAT", b->packed, b->packed_bytes);
    }
    return DF_OK;
}

static int picture_put(void *sink, const void *row, struct df_call *call)
{
    struct picture *p = sink;
    p->call = call;
    if (p->elem == DF_U8)
        memcpy(packer_row(p->packer), row, p->row_bytes);
    else
        put_samples(p, row, packer_row(p->packer));
    return write_bands(call, p, packer_put(call, p->packer));
}

static int picture_flush(struct df_call *call, struct picture *p)
{
    p->call = call;
    return write_bands(call, p, packer_flush(call, p->packer));
}

static int picture_finish(struct df_call *call, struct picture *p)
{
    const unsigned char adler[4] = { (unsigned char)(p->adler >> 24), (unsigned char)(p->adler >> 16),
                                     (unsigned char)(p->adler >> 8), (unsigned char)p->adler };
    p->call = call;
    if (setjmp(png_jmpbuf(p->png)))
        return DF_FAILED;
    write_chunk(p, "IDAT", adler, sizeof adler);
    write_chunk(p, "IEND", NULL, 0);
    return DF_OK;
}

PICTURES(png)
