/* tiff.c - the sources and sinks of std/tiff.df, compiled into programs that import it: TIFF input and output through libtiff, in strips or in tiles, with any
 * compression that libtiff was built with. Each page of a file is a picture; reduced ones, such as thumbnails, are skipped.
 *
 * Pages:    before version 4.5 libtiff numbers pages with 16 bits, and finds a page by walking through those before it.
 *           This file therefore follows the chain of directories itself, and passes the offset of each to libtiff.
 * Memory:   a picture's size is compared with the token before anything is allocated for it. A tile that is far larger
 *           than its picture is rejected.
 * Read:     samples are the file's, as far as there is an element type for them (tiff_samples.h). A page whose
 *           orientation is not top-left is read as a whole and rotated.
 * Written:  in strips, compressed by Deflate, as BigTIFF from 2 GiB on.
 */
#if !__has_include(<tiffio.h>)
#error "std/tiff.df needs libtiff: sudo apt-get install libtiff-dev"
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <tiffio.h>
#include <unistd.h>

#include "pictures.h"
#include "tiff_samples.h"

static const int one_picture = 0;

#define MOST_SPARE_BYTES (16 << 20)     /* of a tile that is more than four times as large as the picture */

struct picture {
    TIFF *tiff;
    int is_big, is_big_endian;          /* the file: BigTIFF; the order of its bytes */
    char *path;
    enum df_elem elem;
    size_t channels;                    /* that are asked for */
    uint64_t *pages;                    /* offsets of the directories of full pages; NULL: not read yet */
    size_t n_pages, page;               /* page: the number of the current one */
    int is_cut;                         /* the chain goes on after the last of these, to an offset where no directory is */
    uint32_t height, width, y;          /* as it is stored; y: the next row */
    struct samples samples;
    size_t planes, stored_bytes, row_bytes; /* planes: 1, or one for each sample. Bytes of a row: after unpack(), after finish() */
    uint32_t block_w, block_h;          /* what libtiff reads at once: a tile, a strip, or a row if block_h is 1 */
    int is_jbig, is_tiled, is_in_strips, is_direct; /* is_direct: libtiff's rows are those that are given */
    unsigned char *block, *rows;        /* a block; the stored rows of the blocks that row y is in */
    unsigned orientation;
    unsigned char *whole;               /* all rows, if they have to be turned */
    uint32_t given_y;
};

/* ---- what libtiff says ---- */

static _Thread_local char said[256];    /* by this thread's call */

static void on_error(const char *module, const char *format, va_list list)
{
    (void)module;
    vsnprintf(said, sizeof said, format, list);
}

static void listen(void)
{
    TIFFSetErrorHandler(on_error);
    TIFFSetWarningHandler(NULL);
}

/* Before a call of libtiff whose failure is to be told. */
static void begin_call(void)
{
    said[0] = '\0';
    errno = 0;
}

static int read_failed(struct df_call *call, const char *path)
{
    return df_fail(call, "cannot read '%s': %s", path, said[0] ? said : "libtiff does not say why");
}

/* A full disk is told in the system's words: libtiff says only at which row it was. */
static int write_failed(struct df_call *call, const char *path)
{
    const int code = errno;
    return df_fail(call, "cannot write '%s': %s", path, code ? strerror(code) : said[0] ? said : "libtiff does not say why");
}

static void end_page(struct picture *p)
{
    free(p->block);
    free(p->rows);
    free(p->whole);
    p->block = p->rows = p->whole = NULL;
}

static void picture_close(struct picture *p)
{
    if (!p)
        return;
    end_page(p);
    free(p->samples.ycbcr);
    free(p->pages);
    if (p->tiff)
        TIFFClose(p->tiff);
    free(p->path);
    free(p);
}

/* Opens a TIFF on a duplicate of the file's descriptor. Returns NULL with errno and `said`; said[0] is '\0' if the descriptor could not be duplicated. */
static TIFF *open_again(FILE *file, const char *path, const char *mode)
{
    const int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
    TIFF *tiff = fd < 0 ? NULL : TIFFFdOpen(fd, path, mode);
    const int code = errno;
    if (!tiff && fd >= 0)
        close(fd);                      /* libtiff closes it with the TIFF only */
    errno = code;
    return tiff;
}

static struct picture *picture_new(struct df_call *call, const char *path, enum df_elem elem)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct picture *p = calloc(1, sizeof *p);
    pthread_once(&once, listen);
    begin_call();
    if (p && (p->path = strdup(path))) {
        p->elem = elem;
        return p;
    }
    picture_close(p);
    df_fail(call, "out of memory for '%s'", path);
    return NULL;
}

/* ---- reading ---- */

/* ---- pages ---- */

enum { DIRECTORY_BYTES = 1024 };        /* so much of a directory is examined: entries are sorted by tag, and the two that matter come first */

struct directory {
    uint64_t next;                      /* 0: it is the last one */
    int is_reduced;                     /* a smaller copy of another page */
};

static uint64_t number_at(const struct picture *p, const unsigned char *at, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | at[p->is_big_endian ? i : bytes - 1 - i];
    return number;
}

/* Returns 0 if no directory is at this offset. A truncated link ends the chain, as in libtiff. */
static int read_directory(const struct picture *p, uint64_t place, struct directory *d)
{
    const size_t head = p->is_big ? 8 : 2, entry = p->is_big ? 20 : 12, value = p->is_big ? 12 : 8, link = p->is_big ? 8 : 4;
    unsigned char bytes[DIRECTORY_BYTES], last[8];
    const int fd = TIFFFileno(p->tiff);
    const ssize_t got = place <= INT64_MAX ? pread(fd, bytes, sizeof bytes, (off_t)place) : 0;
    const uint64_t n = got >= (ssize_t)head ? number_at(p, bytes, head) : UINT64_MAX;
    if (n > 65535)                      /* libtiff reads no more */
        return 0;
    const size_t end = head + (size_t)n * entry;
    const int has_link = place <= INT64_MAX - end && pread(fd, last, link, (off_t)(place + end)) == (ssize_t)link;
    *d = (struct directory){ .next = has_link ? number_at(p, last, link) : 0 };
    for (size_t at = head; at < end && at + entry <= (size_t)got; at += entry) {
        const uint64_t tag = number_at(p, bytes + at, 2), type = number_at(p, bytes + at + 2, 2);
        const uint64_t of = type == TIFF_SHORT || type == TIFF_LONG ? number_at(p, bytes + at + value, type == TIFF_SHORT ? 2 : 4) : 0;
        d->is_reduced |= (tag == TIFFTAG_SUBFILETYPE && of & FILETYPE_REDUCEDIMAGE) || (tag == TIFFTAG_OSUBFILETYPE && of == OFILETYPE_REDUCEDIMAGE);
    }
    return 1;
}

/* Appends to p->pages, of which there is room for *room. 0: no memory. */
static int add_page(struct picture *p, size_t *room, uint64_t page)
{
    if (p->n_pages == *room) {
        const size_t more = *room ? 2 * *room : 4;
        uint64_t *pages = realloc(p->pages, more * sizeof *pages);
        if (!pages)
            return 0;
        p->pages = pages;
        *room = more;
    }
    p->pages[p->n_pages++] = page;
    return 1;
}

#define REDUCED (UINT64_C(1) << 63)     /* beside the place of a directory */

/* Follows the chain until it ends, leads to an offset without a directory, or returns to an earlier one (Brent's cycle detection). Returns the length of the
 * cycle, or 0; -1: no memory. */
static int64_t follow(struct picture *p)
{
    size_t room = 0, mark = 0, next_mark = 1;
    struct directory d;
    for (uint64_t place = TIFFCurrentDirOffset(p->tiff); place; place = d.next) {
        if (p->n_pages > 0 && place == (p->pages[mark] & ~REDUCED))
            return (int64_t)(p->n_pages - mark);
        if (!read_directory(p, place, &d)) {
            p->is_cut = 1;
            return 0;
        }
        if (!add_page(p, &room, place | (d.is_reduced ? REDUCED : 0)))
            return -1;
        if (p->n_pages == next_mark) {
            mark = p->n_pages - 1;
            next_mark = 2 * next_mark;
        }
    }
    return 0;
}

/* Finds all pages, each once. The first directory, which libtiff has read, counts even if it is a reduced page. Returns 0 without memory. */
static int find_pages(struct picture *p)
{
    const int64_t cycle = follow(p);
    size_t n = 0, distinct = p->n_pages;
    if (cycle < 0) {
        free(p->pages);
        p->pages = NULL;
        p->n_pages = 0;
        return 0;
    }
    if (cycle > 0)
        for (distinct = (size_t)cycle; distinct < p->n_pages && p->pages[distinct - (size_t)cycle] != p->pages[distinct]; distinct++)
            ;
    for (size_t i = 0; i < distinct; i++)
        if (i == 0 || !(p->pages[i] & REDUCED))
            p->pages[n++] = p->pages[i] & ~REDUCED;
    p->n_pages = n;
    return 1;
}

static int64_t picture_pages(struct picture *p)
{
    return p->pages || find_pages(p) ? (int64_t)p->n_pages + p->is_cut : 1;
}

/* ---- samples and blocks ---- */

static int sample_format(enum df_elem elem)
{
    switch (elem) {
    case DF_F16: case DF_F32: case DF_F64: return SAMPLEFORMAT_IEEEFP;
    case DF_I8: case DF_I16: case DF_I32: case DF_I64: return SAMPLEFORMAT_INT;
    default: return SAMPLEFORMAT_UINT;
    }
}

static int check_samples(struct df_call *call, struct picture *p)
{
    static const char *const suffixes[DF_N_ELEMS] = { [DF_U8] = "read_tiff", [DF_U16] = "..._u16", [DF_U32] = "..._u32", [DF_I8] = "..._i8",
                                                      [DF_I16] = "..._i16", [DF_I32] = "..._i32", [DF_I64] = "..._i64",
                                                      [DF_F16] = "..._f16", [DF_F32] = "..._f32", [DF_F64] = "..._f64" };
    struct samples *s = &p->samples;
    const char *why = NULL;
    s->bits = tag(p->tiff, TIFFTAG_BITSPERSAMPLE);
    s->stored = tag(p->tiff, TIFFTAG_SAMPLESPERPIXEL);
    s->elem = elem_of(p->tiff, p->elem, &why);
    if (s->elem == DF_N_ELEMS)
        return df_fail(call, "'%s' has samples of %u bits, %s: unsigned ones of 1 to 16 and 32, signed ones of 8, 16, 32 and 64, and floats of 16, 32 and 64 are read",
                       p->path, s->bits, why);
    if ((why = take_samples(p->tiff, s)))
        return df_fail(call, "'%s' %s", p->path, why);
    if (s->elem != p->elem)
        return df_fail(call, "'%s' has %ssamples of %u bits: the kernel for it is %s", p->path,
                       s->elem == DF_U32 ? "unsigned " : sample_format(s->elem) == SAMPLEFORMAT_INT ? "signed " : sample_format(s->elem) == SAMPLEFORMAT_IEEEFP ? "float " : "",
                       s->bits, suffixes[s->elem]);
    if (p->channels == 1 && s->given != 1)
        return df_fail(call, "'%s' has %zu channels: a kernel ..._rgb reads it", p->path, s->given);
    return DF_OK;
}

/* Bytes of a row of a block, as libtiff gives it; of `group_h` rows where pixels come in groups. */
static size_t packed_bytes(const struct picture *p)
{
    const struct samples *s = &p->samples;
    const size_t group = (size_t)s->group_w * s->group_h;
    return group > 1 ? ((size_t)p->block_w + s->group_w - 1) / s->group_w * (group + 2) : (s->stored / p->planes * p->block_w * s->bits + 7) / 8;
}

static int block_bytes(const struct picture *p, uint32_t rows, size_t *bytes)
{
    return !__builtin_mul_overflow(packed_bytes(p), ((size_t)rows + p->samples.group_h - 1) / p->samples.group_h, bytes) && *bytes <= SIZE_MAX - UNPACK_PADDING;
}

/* Finds out in which blocks the page is. */
static int take_layout(struct df_call *call, struct picture *p)
{
    const int is_grouped = p->samples.group_w * p->samples.group_h > 1;
    uint32_t rows = 0;
    p->is_tiled = TIFFIsTiled(p->tiff);
    p->is_jbig = tag(p->tiff, TIFFTAG_COMPRESSION) == COMPRESSION_JBIG;
    p->planes = tag(p->tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE ? p->samples.stored : 1;
    p->block_w = p->width;
    if (p->is_tiled) {
        TIFFGetField(p->tiff, TIFFTAG_TILEWIDTH, &p->block_w);
        TIFFGetField(p->tiff, TIFFTAG_TILELENGTH, &p->block_h);
    } else {
        TIFFGetFieldDefaulted(p->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
        rows = rows < p->height ? rows : p->height;
        p->is_in_strips = p->planes > 1 || is_grouped || p->is_jbig;
        p->block_h = p->is_in_strips ? rows : 1;
    }
    size_t bytes;
    if (p->is_tiled && (double)p->block_w * p->block_h > 4.0 * p->width * p->height && (double)packed_bytes(p) * p->block_h > MOST_SPARE_BYTES)
        return df_fail(call, "'%s' has %u x %u pixels, in tiles of %u x %u: so large a tile is not read", p->path, p->height, p->width, p->block_h, p->block_w);
    if (p->block_w == 0 || p->block_h == 0 || !block_bytes(p, p->block_h, &bytes))
        return df_fail(call, "'%s' has %s of no known layout", p->path, p->is_tiled ? "tiles" : "strips");
    const tmsize_t is = p->is_tiled ? TIFFTileSize(p->tiff) : p->is_in_strips ? TIFFVStripSize(p->tiff, p->block_h) : TIFFScanlineSize(p->tiff);
    return (size_t)is == bytes ? DF_OK : df_fail(call, "'%s' has %s of %lld bytes, and %zu are expected", p->path,
                                                 p->is_tiled ? "tiles" : p->is_in_strips ? "strips" : "rows", (long long)is, bytes);
}

/* Makes what reading the page's rows needs. */
static int picture_begin(struct df_call *call, struct picture *p)
{
    const struct samples *s = &p->samples;
    size_t bytes;
    if (take_layout(call, p) != DF_OK)
        return DF_FAILED;
    p->stored_bytes = p->width * s->stored * element_bytes[s->elem];
    p->row_bytes = p->width * s->given * element_bytes[s->elem];
    p->is_direct = !p->is_tiled && !p->is_in_strips && s->bits == 8 * element_bytes[s->elem] && s->colours == AS_STORED && !s->alpha;
    if (p->is_direct)
        return DF_OK;
    block_bytes(p, p->block_h, &bytes);
    p->block = malloc(bytes + UNPACK_PADDING);
    p->rows = calloc(p->block_h < p->height ? p->block_h : p->height, p->stored_bytes);
    return p->block && p->rows ? DF_OK : df_fail(call, "out of memory for rows of '%s'", p->path);
}

/* Finds out how large the page is, and what its samples are. */
static int read_page(struct df_call *call, struct picture *p, uint64_t *extents)
{
    end_page(p);
    p->y = p->given_y = 0;
    if (!TIFFGetField(p->tiff, TIFFTAG_IMAGEWIDTH, &p->width) || !TIFFGetField(p->tiff, TIFFTAG_IMAGELENGTH, &p->height))
        return df_fail(call, "'%s' does not say how large it is", p->path);
    if (check_samples(call, p) != DF_OK)
        return DF_FAILED;
    p->orientation = tag(p->tiff, TIFFTAG_ORIENTATION);
    const int lies = p->orientation >= ORIENTATION_LEFTTOP && p->orientation <= ORIENTATION_LEFTBOT;
    extents[0] = lies ? p->width : p->height;
    extents[1] = lies ? p->height : p->width;
    extents[2] = p->samples.given;
    return DF_OK;
}

static int picture_open(struct df_call *call, const char *path, enum df_elem elem, size_t channels,
                        struct picture **picture, uint64_t *extents)
{
    FILE *file = NULL;
    struct picture *p = picture_new(call, path, elem);
    int status = p ? df_file_open(call, path, &file) : DF_FAILED; /* it says why not in the same words as for others */
    if (status == DF_OK) {
        p->channels = channels;
        begin_call();
        p->tiff = open_again(file, path, "rm"); /* m: no map, whose file may be cut meanwhile */
        if (p->tiff) {
            p->is_big = TIFFIsBigTIFF(p->tiff);
            p->is_big_endian = TIFFIsBigEndian(p->tiff);
        }
        status = p->tiff   ? read_page(call, p, extents)
                 : said[0] ? df_fail(call, "'%s' is not a TIFF file that libtiff can read: %s", path, said)
                           : df_fail(call, "cannot read '%s': %s", path, strerror(errno));
        fclose(file);
    }
    if (status != DF_OK) {
        picture_close(p);
        return status;
    }
    *picture = p;
    return DF_OK;
}

static int picture_turn(struct df_call *call, struct picture *p, int *more, uint64_t *extents)
{
    *more = 0;
    if (!p->pages && !find_pages(p))
        return df_fail(call, "out of memory for the pages of '%s'", p->path);
    if (++p->page >= p->n_pages)
        return p->is_cut ? df_fail(call, "'%s' ends before its page %zu", p->path, p->page + 1) : DF_OK;
    begin_call();
    if (!TIFFSetSubDirectory(p->tiff, p->pages[p->page]))
        return read_failed(call, p->path);
    *more = 1;
    return read_page(call, p, extents);
}

static const char *picture_assumed(const struct picture *p)
{
    return p->samples.assumed;
}

/* JBIG data has a header with a size of its own, by which its library allocates, and aborts if that fails. Returns what is wrong, or NULL. With
 * FILLORDER_MSB2LSB libtiff reverses the bits of each byte before decoding. */
static const char *check_jbig(const struct picture *p, uint32_t x, uint32_t rows, size_t plane)
{
    unsigned char head[20];
    const tmsize_t got = p->is_tiled ? TIFFReadRawTile(p->tiff, TIFFComputeTile(p->tiff, x, p->y, 0, (uint16_t)plane), head, sizeof head)
                                     : TIFFReadRawStrip(p->tiff, TIFFComputeStrip(p->tiff, p->y, (uint16_t)plane), head, sizeof head);
    if (got != sizeof head)
        return "its JBIG data is cut off";
    if (tag(p->tiff, TIFFTAG_FILLORDER) == FILLORDER_MSB2LSB)
        TIFFReverseBits(head, sizeof head);
    const uint32_t w = (uint32_t)head[4] << 24 | (uint32_t)head[5] << 16 | (uint32_t)head[6] << 8 | head[7];
    const uint32_t h = (uint32_t)head[8] << 24 | (uint32_t)head[9] << 16 | (uint32_t)head[10] << 8 | head[11];
    return head[2] == 1 && w == p->block_w && h <= rows ? NULL : "its JBIG data is not of its size";
}

/* Reads the block at column x, row y of a plane into `block`, of which `rows` rows are in the page. */
static int read_block(struct picture *p, uint32_t x, uint32_t rows, size_t plane)
{
    size_t all = 0;
    block_bytes(p, p->is_tiled ? p->block_h : rows, &all);
    const tmsize_t bytes = (tmsize_t)all;
    if (p->is_tiled)
        return TIFFReadEncodedTile(p->tiff, TIFFComputeTile(p->tiff, x, p->y, 0, (uint16_t)plane), p->block, bytes) == bytes;
    if (p->is_in_strips)
        return TIFFReadEncodedStrip(p->tiff, TIFFComputeStrip(p->tiff, p->y, (uint16_t)plane), p->block, bytes) == bytes;
    return TIFFReadScanline(p->tiff, p->block, p->y, 0) >= 0;
}

/* Reads the row of blocks that begins with row y. */
static int read_blocks(struct df_call *call, struct picture *p)
{
    const struct samples *s = &p->samples;
    const size_t pixel_bytes = s->stored * element_bytes[p->elem], packed = packed_bytes(p);
    const uint32_t rows = p->height - p->y < p->block_h ? p->height - p->y : p->block_h;
    for (uint32_t x = 0; x < p->width; x += p->block_w) {
        const uint32_t columns = p->width - x < p->block_w ? p->width - x : p->block_w;
        for (size_t plane = 0; plane < p->planes; plane++) {
            const char *why = p->is_jbig ? check_jbig(p, x, p->is_tiled ? p->block_h : rows, plane) : NULL;
            if (why)
                return df_fail(call, "cannot read '%s': %s", p->path, why);
            if (!read_block(p, x, rows, plane))
                return read_failed(call, p->path);
            for (uint32_t y = 0; y < rows; y++) {
                unsigned char *to = p->rows + y * p->stored_bytes + x * pixel_bytes;
                if (s->group_w * s->group_h > 1)
                    unpack_groups(s, p->block + y / s->group_h * packed, y % s->group_h, columns, to);
                else
                    unpack(s, p->block + y * packed, columns, s->stored / p->planes, plane, to);
            }
        }
    }
    return DF_OK;
}

/* The next row as it is stored. */
static int stored_row(struct df_call *call, struct picture *p, void *row)
{
    begin_call();
    if (p->is_direct) {
        if (TIFFReadScanline(p->tiff, row, p->y, 0) < 0)
            return read_failed(call, p->path);
    } else {
        if (p->y % p->block_h == 0 && read_blocks(call, p) != DF_OK)
            return DF_FAILED;
        finish(&p->samples, p->rows + p->y % p->block_h * p->stored_bytes, row, p->width);
    }
    p->y++;
    return DF_OK;
}

static int read_whole(struct df_call *call, struct picture *p)
{
    int status = DF_OK;
    p->whole = calloc(p->height, p->row_bytes);
    if (!p->whole)
        return df_fail(call, "out of memory for '%s', which is stored turned", p->path);
    for (uint32_t y = 0; y < p->height && status == DF_OK; y++)
        status = stored_row(call, p, p->whole + y * p->row_bytes);
    return status;
}

/* Row `given_y` of the picture, of what is stored with another corner or side first. */
static void turn_row(const struct picture *p, unsigned char *row)
{
    const unsigned o = p->orientation;
    const int lies = o >= ORIENTATION_LEFTTOP, from_below = o == ORIENTATION_BOTRIGHT || o == ORIENTATION_BOTLEFT || o == ORIENTATION_RIGHTTOP || o == ORIENTATION_RIGHTBOT,
              from_right = o == ORIENTATION_TOPRIGHT || o == ORIENTATION_BOTRIGHT || o == ORIENTATION_RIGHTBOT || o == ORIENTATION_LEFTBOT;
    const size_t pixel = p->samples.given * element_bytes[p->elem];
    for (size_t i = 0, n = lies ? p->height : p->width; i < n; i++, row += pixel) {
        const size_t y = lies ? i : p->given_y, x = lies ? p->given_y : i;
        memcpy(row, p->whole + (from_below ? p->height - 1 - y : y) * p->row_bytes + (from_right ? p->width - 1 - x : x) * pixel, pixel);
    }
}

static int picture_row(void *source, void *row, struct df_call *call)
{
    struct picture *p = source;
    if (p->orientation <= ORIENTATION_TOPLEFT || p->orientation > ORIENTATION_LEFTBOT)
        return stored_row(call, p, row);
    if (!p->whole && read_whole(call, p) != DF_OK)
        return DF_FAILED;
    turn_row(p, row);
    p->given_y++;
    return DF_OK;
}

/* ---- writing ---- */

static void set_fields(struct picture *p, const uint64_t *extents)
{
    uint16_t base = extents[2] < 3 ? 1 : 3, n_extra = (uint16_t)(extents[2] - base);
    uint16_t extra[] = { EXTRASAMPLE_UNASSALPHA };
    TIFFSetField(p->tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)extents[1]);
    TIFFSetField(p->tiff, TIFFTAG_IMAGELENGTH, (uint32_t)extents[0]);
    TIFFSetField(p->tiff, TIFFTAG_SAMPLESPERPIXEL, (uint16_t)extents[2]);
    TIFFSetField(p->tiff, TIFFTAG_BITSPERSAMPLE, (uint16_t)(8 * element_bytes[p->elem]));
    TIFFSetField(p->tiff, TIFFTAG_SAMPLEFORMAT, (uint16_t)sample_format(p->elem));
    TIFFSetField(p->tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(p->tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    TIFFSetField(p->tiff, TIFFTAG_PHOTOMETRIC, base == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    if (n_extra)
        TIFFSetField(p->tiff, TIFFTAG_EXTRASAMPLES, n_extra, extra);
    if (TIFFIsCODECConfigured(COMPRESSION_ADOBE_DEFLATE))
        TIFFSetField(p->tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(p->tiff, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(p->tiff, 0));
}

static int picture_create(struct df_call *call, FILE *file, const char *path, enum df_elem elem, const uint64_t *extents,
                          struct picture **picture)
{
    struct picture *p;
    if (extents[2] > 4)
        return df_fail(call, "a TIFF is written with 1 to 4 channels, and the token has %llu",
                       (unsigned long long)extents[2]);
    if (extents[0] > UINT32_MAX || extents[1] > UINT32_MAX)
        return df_fail(call, "a TIFF has at most %u x %u pixels", UINT32_MAX, UINT32_MAX);
    if (lseek(fileno(file), 0, SEEK_CUR) < 0)
        return df_fail(call, "a TIFF is not written from its beginning to its end, so '%s' cannot be a pipe: name a file", path);
    if (!(p = picture_new(call, path, elem)))
        return DF_FAILED;
    size_t bytes = (size_t)(extents[0] * extents[1] * extents[2]) * element_bytes[elem];
    begin_call();
    p->tiff = open_again(file, path, bytes < (size_t)1 << 31 ? "w" : "w8");
    if (!p->tiff) {
        const int status = write_failed(call, path);
        picture_close(p);
        return status;
    }
    set_fields(p, extents);
    *picture = p;
    return DF_OK;
}

static int picture_put(void *sink, const void *row, struct df_call *call)
{
    struct picture *p = sink;
    begin_call();
    return TIFFWriteScanline(p->tiff, (void *)row, p->y++, 0) < 0 ? write_failed(call, p->path) : DF_OK;
}

static int picture_flush(struct df_call *call, struct picture *p)
{
    (void)call, (void)p;                /* libtiff packs a strip when its last row is there */
    return DF_OK;
}

static int picture_finish(struct df_call *call, struct picture *p)
{
    begin_call();
    return TIFFFlush(p->tiff) ? DF_OK : write_failed(call, p->path);
}

PICTURES(tiff)
PICTURE_OF(tiff, _u32, uint32_t, DF_U32)
PICTURE_OF(tiff, _i8, int8_t, DF_I8)
PICTURE_OF(tiff, _i16, int16_t, DF_I16)
PICTURE_OF(tiff, _i32, int32_t, DF_I32)
PICTURE_OF(tiff, _i64, int64_t, DF_I64)
PICTURE_OF(tiff, _f16, df_f16, DF_F16)
PICTURE_OF(tiff, _f64, double, DF_F64)
