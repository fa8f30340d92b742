/* tiff.c - TIFF, through libtiff: in strips or in tiles, with any compression that libtiff was built with. A file with
 * several pages is a picture for each; reduced ones, such as thumbnails, do not count.
 *
 * Samples:  They are the file's: 8 bits u8, 16 bits u16, floats of 32 bits f32. Other files are refused.
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

static const int one_picture = 0;

struct picture {
    TIFF *tiff;
    char *path;
    enum df_elem elem;
    size_t channels;                    /* that are asked for */
    int64_t pages;
    uint32_t height, width, y;
    size_t row_bytes;
    uint32_t tile_w, tile_h;            /* 0: the file is in strips */
    unsigned char *tile, *rows;         /* a tile; the rows of the tiles that row y is in */
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

static void picture_close(struct picture *p)
{
    if (!p)
        return;
    if (p->tiff)
        TIFFClose(p->tiff);
    free(p->path);
    free(p->tile);
    free(p->rows);
    free(p);
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

static uint32_t tag(TIFF *tiff, uint32_t name)
{
    uint16_t value = 0;
    return TIFFGetFieldDefaulted(tiff, name, &value) ? value : 0;
}

/* Is it a page for itself, and not a smaller copy of another? */
static int is_full(TIFF *tiff)
{
    uint32_t kind = 0;
    return !TIFFGetField(tiff, TIFFTAG_SUBFILETYPE, &kind) || !(kind & FILETYPE_REDUCEDIMAGE);
}

static int check_samples(struct df_call *call, const struct picture *p)
{
    static const char *const suffixes[DF_N_ELEMS] = { [DF_U8] = "read_tiff", [DF_U16] = "..._u16", [DF_F32] = "..._f32" };
    uint32_t bits = tag(p->tiff, TIFFTAG_BITSPERSAMPLE), format = tag(p->tiff, TIFFTAG_SAMPLEFORMAT);
    enum df_elem is = format == SAMPLEFORMAT_UINT && bits == 8       ? DF_U8
                      : format == SAMPLEFORMAT_UINT && bits == 16    ? DF_U16
                      : format == SAMPLEFORMAT_IEEEFP && bits == 32  ? DF_F32
                                                                     : DF_N_ELEMS;
    if (is == DF_N_ELEMS)
        return df_fail(call, "'%s' has samples of %u bits, %s: u8, u16 and f32 are read", p->path, bits,
                       format == SAMPLEFORMAT_IEEEFP ? "floats" : format == SAMPLEFORMAT_INT ? "signed" : "unsigned");
    if (is != p->elem)
        return df_fail(call, "'%s' has samples of %u bits: the kernel for it is %s", p->path, bits, suffixes[is]);
    return DF_OK;
}

static int check_layout(struct df_call *call, const struct picture *p, size_t channels)
{
    uint32_t photometric = tag(p->tiff, TIFFTAG_PHOTOMETRIC);
    if (photometric == PHOTOMETRIC_YCBCR && tag(p->tiff, TIFFTAG_COMPRESSION) == COMPRESSION_JPEG) {
        TIFFSetField(p->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        photometric = PHOTOMETRIC_RGB;
    }
    if (photometric != PHOTOMETRIC_MINISBLACK && photometric != PHOTOMETRIC_RGB)
        return df_fail(call, "'%s' has colours of kind %u (a palette, or white at 0): grey and RGB are read", p->path,
                       photometric);
    if (channels > 1 && tag(p->tiff, TIFFTAG_PLANARCONFIG) != PLANARCONFIG_CONTIG)
        return df_fail(call, "'%s' has its channels one after the other: tiffcp -p contig puts them together", p->path);
    if (p->channels == 1 && channels != 1)
        return df_fail(call, "'%s' has %zu channels: a kernel ..._rgb reads it", p->path, channels);
    return DF_OK;
}

/* Makes what reading the page's rows needs. */
static int prepare_rows(struct df_call *call, struct picture *p)
{
    size_t bytes = (size_t)p->width * p->channels * element_bytes[p->elem];
    free(p->tile);
    free(p->rows);
    p->tile = p->rows = NULL;
    p->tile_w = p->tile_h = p->y = 0;
    p->row_bytes = bytes;
    if (!TIFFIsTiled(p->tiff))
        return (size_t)TIFFScanlineSize(p->tiff) == bytes
                   ? DF_OK : df_fail(call, "'%s' has rows of %lld bytes, and %zu are expected", p->path,
                                     (long long)TIFFScanlineSize(p->tiff), bytes);
    TIFFGetField(p->tiff, TIFFTAG_TILEWIDTH, &p->tile_w);
    TIFFGetField(p->tiff, TIFFTAG_TILELENGTH, &p->tile_h);
    if (p->tile_w == 0 || p->tile_h == 0 ||
        (size_t)TIFFTileSize(p->tiff) != (size_t)p->tile_w * p->tile_h * p->channels * element_bytes[p->elem])
        return df_fail(call, "'%s' has tiles of no known layout", p->path);
    p->tile = malloc((size_t)TIFFTileSize(p->tiff));
    p->rows = calloc(p->tile_h, bytes);
    return p->tile && p->rows ? DF_OK : df_fail(call, "out of memory for tiles of '%s'", p->path);
}

static int begin_page(struct df_call *call, struct picture *p, uint64_t *extents)
{
    size_t channels = tag(p->tiff, TIFFTAG_SAMPLESPERPIXEL);
    if (!TIFFGetField(p->tiff, TIFFTAG_IMAGEWIDTH, &p->width) || !TIFFGetField(p->tiff, TIFFTAG_IMAGELENGTH, &p->height))
        return df_fail(call, "'%s' does not say how large it is", p->path);
    if (check_samples(call, p) != DF_OK || check_layout(call, p, channels) != DF_OK)
        return DF_FAILED;
    extents[0] = p->height;
    extents[1] = p->width;
    extents[2] = channels;
    return channels == p->channels ? prepare_rows(call, p) : DF_OK; /* the caller sees that the channels differ */
}

static int64_t count_pages(TIFF *tiff)
{
    int64_t n = 0;
    for (uint32_t page = 0, all = (uint32_t)TIFFNumberOfDirectories(tiff); page < all; page++)
        n += TIFFSetDirectory(tiff, (uint16_t)page) && (page == 0 || is_full(tiff));
    TIFFSetDirectory(tiff, 0);
    return n;
}

static int picture_open(struct df_call *call, const char *path, enum df_elem elem, size_t channels,
                        struct picture **picture, uint64_t *extents)
{
    FILE *file = NULL;
    struct picture *p = picture_new(call, path, elem);
    int status = p ? df_file_open(call, path, &file) : DF_FAILED; /* it says why not in the same words as for others */
    if (status == DF_OK) {
        p->channels = channels;
        p->tiff = TIFFFdOpen(dup(fileno(file)), path, "rm"); /* m: no map, whose file may be cut meanwhile */
        fclose(file);
        if (p->tiff)
            p->pages = count_pages(p->tiff);
        status = p->tiff ? begin_page(call, p, extents)
                         : df_fail(call, "'%s' is not a TIFF file that libtiff can read: %s", path, said);
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
    while (TIFFReadDirectory(p->tiff))
        if (is_full(p->tiff)) {
            *more = 1;
            return begin_page(call, p, extents);
        }
    return DF_OK;
}

static int64_t picture_pages(const struct picture *p)
{
    return p->pages;
}

/* Reads the row of tiles that begins with row y. */
static int read_tile_row(struct df_call *call, struct picture *p)
{
    size_t pixel = p->channels * element_bytes[p->elem];
    uint32_t rows = p->height - p->y < p->tile_h ? p->height - p->y : p->tile_h;
    for (uint32_t x = 0; x < p->width; x += p->tile_w) {
        uint32_t columns = p->width - x < p->tile_w ? p->width - x : p->tile_w;
        if (TIFFReadTile(p->tiff, p->tile, x, p->y, 0, 0) < 0)
            return read_failed(call, p->path);
        for (uint32_t y = 0; y < rows; y++)
            memcpy(p->rows + y * p->row_bytes + x * pixel, p->tile + (size_t)y * p->tile_w * pixel, columns * pixel);
    }
    return DF_OK;
}

static int picture_row(void *source, void *row, struct df_call *call)
{
    struct picture *p = source;
    begin_call();
    if (p->tile_h) {
        if (p->y % p->tile_h == 0 && read_tile_row(call, p) != DF_OK)
            return DF_FAILED;
        memcpy(row, p->rows + p->y % p->tile_h * p->row_bytes, p->row_bytes);
    } else if (TIFFReadScanline(p->tiff, row, p->y, 0) < 0) {
        return read_failed(call, p->path);
    }
    p->y++;
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
    TIFFSetField(p->tiff, TIFFTAG_SAMPLEFORMAT, p->elem == DF_F32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
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
    if (extents[2] < 1 || extents[2] > 4)
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
    p->tiff = TIFFFdOpen(fcntl(fileno(file), F_DUPFD_CLOEXEC, 3), path, bytes < (size_t)1 << 31 ? "w" : "w8");
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
