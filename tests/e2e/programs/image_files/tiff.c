/* tiff.c - writes TIFF files of every variant that libtiff can write, and what the kernels of std/tiff.df make of them: tiff [all].
 *
 * Every kind of sample comes in every layout: strips of 1 row, of 4 or of all, tiles of two sizes, planes together or one after the other. With `all` each
 * of these comes with every compression and predictor, order of bits and of bytes, and as BigTIFF, too; else these are drawn. The orientation and the
 * size always are. Kinds that are refused are listed in refused.txt, with words of the message.
 */
#include <tiffio.h>

#include "variants.h"

#define MOST_W 37
#define MOST_H 29
#define MOST_SAMPLES 6
#define N(ARRAY) ((int)(sizeof ARRAY / sizeof *ARRAY))

enum { UINT = SAMPLEFORMAT_UINT, INT = SAMPLEFORMAT_INT, FLOAT = SAMPLEFORMAT_IEEEFP };
enum { NO_EXTRA = -1, UNTAGGED = -1 };  /* UNTAGGED: without PhotometricInterpretation */
struct kind {
    const char *name;
    int photometric, format, bits, samples, extra; /* extra: of the first sample behind the colours */
    const char *refused;                /* NULL: it is read */
};
#define GREY(BITS) { "black0", PHOTOMETRIC_MINISBLACK, UINT, BITS, 1, NO_EXTRA, NULL }, { "white0", PHOTOMETRIC_MINISWHITE, UINT, BITS, 1, NO_EXTRA, NULL }
#define UNTAGGED_GREY(BITS) { "untagged", UNTAGGED, UINT, BITS, 1, NO_EXTRA, NULL }
#define EXTRAS(NAME, PHOTOMETRIC, FORMAT, BITS, SAMPLES)                                                                  \
    { NAME, PHOTOMETRIC, FORMAT, BITS, SAMPLES, NO_EXTRA, NULL }, { NAME "-x", PHOTOMETRIC, FORMAT, BITS, SAMPLES + 1, EXTRASAMPLE_UNSPECIFIED, NULL }, \
        { NAME "-premultiplied", PHOTOMETRIC, FORMAT, BITS, SAMPLES + 1, EXTRASAMPLE_ASSOCALPHA, NULL },                  \
        { NAME "-alpha", PHOTOMETRIC, FORMAT, BITS, SAMPLES + 1, EXTRASAMPLE_UNASSALPHA, NULL }
static const struct kind kinds[] = {
    GREY(1), GREY(2), GREY(3), GREY(4), GREY(8), GREY(10), GREY(12), GREY(16),
    EXTRAS("black0", PHOTOMETRIC_MINISBLACK, UINT, 8, 1), EXTRAS("black0", PHOTOMETRIC_MINISBLACK, UINT, 16, 1),
    { "white0-alpha", PHOTOMETRIC_MINISWHITE, UINT, 8, 2, EXTRASAMPLE_UNASSALPHA, NULL },
    { "rgb", PHOTOMETRIC_RGB, UINT, 2, 3, NO_EXTRA, NULL }, { "rgb", PHOTOMETRIC_RGB, UINT, 4, 3, NO_EXTRA, NULL },
    EXTRAS("rgb", PHOTOMETRIC_RGB, UINT, 8, 3), EXTRAS("rgb", PHOTOMETRIC_RGB, UINT, 12, 3), EXTRAS("rgb", PHOTOMETRIC_RGB, UINT, 16, 3),
    { "rgb-premultiplied-x", PHOTOMETRIC_RGB, UINT, 8, 5, EXTRASAMPLE_ASSOCALPHA, NULL }, { "rgb-xxx", PHOTOMETRIC_RGB, UINT, 8, 6, EXTRASAMPLE_UNSPECIFIED, NULL },
    { "palette", PHOTOMETRIC_PALETTE, UINT, 1, 1, NO_EXTRA, NULL }, { "palette", PHOTOMETRIC_PALETTE, UINT, 2, 1, NO_EXTRA, NULL },
    { "palette", PHOTOMETRIC_PALETTE, UINT, 4, 1, NO_EXTRA, NULL }, { "palette", PHOTOMETRIC_PALETTE, UINT, 8, 1, NO_EXTRA, NULL },
    { "palette-alpha", PHOTOMETRIC_PALETTE, UINT, 8, 2, EXTRASAMPLE_UNASSALPHA, NULL },
    { "cmyk", PHOTOMETRIC_SEPARATED, UINT, 8, 4, NO_EXTRA, NULL }, { "cmyk", PHOTOMETRIC_SEPARATED, UINT, 16, 4, NO_EXTRA, NULL },
    { "cmyk-x", PHOTOMETRIC_SEPARATED, UINT, 8, 5, EXTRASAMPLE_UNSPECIFIED, NULL }, { "cmyk-xx", PHOTOMETRIC_SEPARATED, UINT, 8, 6, EXTRASAMPLE_UNSPECIFIED, NULL },
    { "inks", PHOTOMETRIC_SEPARATED, UINT, 8, 4, NO_EXTRA, NULL }, { "lab", PHOTOMETRIC_CIELAB, UINT, 8, 3, NO_EXTRA, NULL },
    { "ycbcr11", PHOTOMETRIC_YCBCR, UINT, 8, 3, NO_EXTRA, NULL }, { "ycbcr21", PHOTOMETRIC_YCBCR, UINT, 8, 3, NO_EXTRA, NULL },
    { "ycbcr22", PHOTOMETRIC_YCBCR, UINT, 8, 3, NO_EXTRA, NULL },
    { "signed", PHOTOMETRIC_MINISBLACK, INT, 8, 1, NO_EXTRA, NULL }, { "signed", PHOTOMETRIC_MINISBLACK, INT, 16, 1, NO_EXTRA, NULL },
    { "signed-rgb", PHOTOMETRIC_RGB, INT, 16, 3, NO_EXTRA, NULL }, { "void", PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_VOID, 16, 1, NO_EXTRA, NULL },
    { "float", PHOTOMETRIC_MINISBLACK, FLOAT, 32, 1, NO_EXTRA, NULL }, { "float-white0", PHOTOMETRIC_MINISWHITE, FLOAT, 32, 1, NO_EXTRA, NULL },
    EXTRAS("float-rgb", PHOTOMETRIC_RGB, FLOAT, 32, 3),
    UNTAGGED_GREY(1), UNTAGGED_GREY(2), UNTAGGED_GREY(4), UNTAGGED_GREY(8), UNTAGGED_GREY(12), UNTAGGED_GREY(16),
    { "untagged-signed", UNTAGGED, INT, 16, 1, NO_EXTRA, NULL }, { "untagged-float", UNTAGGED, FLOAT, 32, 1, NO_EXTRA, NULL },
    { "untagged-rgb", UNTAGGED, UINT, 8, 3, NO_EXTRA, NULL }, { "untagged-rgb", UNTAGGED, UINT, 16, 3, NO_EXTRA, NULL },
    { "mask", PHOTOMETRIC_MASK, UINT, 1, 1, NO_EXTRA, "a transparency mask" }, { "icclab", PHOTOMETRIC_ICCLAB, UINT, 8, 3, NO_EXTRA, "ICC L[*]a[*]b[*] [(]9[)]" },
    { "itulab", PHOTOMETRIC_ITULAB, UINT, 8, 3, NO_EXTRA, "ITU L[*]a[*]b[*] [(]10[)]" }, { "cfa", PHOTOMETRIC_CFA, UINT, 16, 1, NO_EXTRA, "a colour filter array" },
    { "logl", PHOTOMETRIC_LOGL, INT, 16, 1, NO_EXTRA, "LogL [(]32844[)]" }, { "logluv", PHOTOMETRIC_LOGLUV, FLOAT, 32, 3, NO_EXTRA, "LogLuv" },
    { "linear-raw", 34892, UINT, 16, 1, NO_EXTRA, "an unknown kind of colour [(]34892[)]" },
    { "palette", PHOTOMETRIC_PALETTE, UINT, 16, 1, NO_EXTRA, "a palette of more than 256 colours" },
    { "lab", PHOTOMETRIC_CIELAB, UINT, 16, 3, NO_EXTRA, "L[*]a[*]b[*] of another depth than 8 bits" },
    { "cmyk", PHOTOMETRIC_SEPARATED, FLOAT, 32, 4, NO_EXTRA, "CMYK of less than 4 samples, or of floats" },
    { "ycbcr11", PHOTOMETRIC_YCBCR, UINT, 16, 3, NO_EXTRA, "YCbCr of another depth than 8 bits" },
    { "ycbcr22-in-planes", PHOTOMETRIC_YCBCR, UINT, 8, 3, NO_EXTRA, "has YCbCr of no known layout" },
    { "untagged-x", UNTAGGED, UINT, 8, 2, EXTRASAMPLE_UNSPECIFIED, "does not say what its samples mean" },
    { "untagged-rgb-alpha", UNTAGGED, UINT, 8, 4, EXTRASAMPLE_UNASSALPHA, "neither one sample a pixel nor three" },
    { "black0", PHOTOMETRIC_MINISBLACK, UINT, 32, 1, NO_EXTRA, "has unsigned samples of 32 bits: the kernel for it is [.]{3}_u32" }, { "black0", PHOTOMETRIC_MINISBLACK, UINT, 64, 1, NO_EXTRA, "samples of 64 bits, unsigned" },
    { "signed", PHOTOMETRIC_MINISBLACK, INT, 32, 1, NO_EXTRA, "has signed samples of 32 bits: the kernel for it is [.]{3}_i32" }, { "float", PHOTOMETRIC_MINISBLACK, FLOAT, 16, 1, NO_EXTRA, "has float samples of 16 bits: the kernel for it is [.]{3}_f16" },
    { "float", PHOTOMETRIC_MINISBLACK, FLOAT, 64, 1, NO_EXTRA, "has float samples of 64 bits: the kernel for it is [.]{3}_f64" }, { "float", PHOTOMETRIC_MINISBLACK, FLOAT, 24, 1, NO_EXTRA, "samples of 24 bits, floats" },
    { "complex", PHOTOMETRIC_MINISBLACK, SAMPLEFORMAT_COMPLEXIEEEFP, 64, 1, NO_EXTRA, "samples of 64 bits, complex" },
};

static const struct { uint32_t w, h, is_tiled; } layouts[] = { { 0, 1, 0 }, { 0, 4, 0 }, { 0, MOST_H + 1, 0 }, { 16, 16, 1 }, { 32, 16, 1 } };
static const struct { uint16_t codec; int predictor; const char *name; } packings[] = {
    { COMPRESSION_NONE, 1, "none" }, { COMPRESSION_LZW, 1, "lzw" }, { COMPRESSION_LZW, 2, "lzw-2" }, { COMPRESSION_LZW, 3, "lzw-3" },
    { COMPRESSION_PACKBITS, 1, "packbits" }, { COMPRESSION_DEFLATE, 1, "deflate" }, { COMPRESSION_ADOBE_DEFLATE, 2, "adobe-2" },
    { COMPRESSION_ADOBE_DEFLATE, 3, "adobe-3" }, { COMPRESSION_ZSTD, 2, "zstd-2" }, { COMPRESSION_LZMA, 1, "lzma" }, { COMPRESSION_WEBP, 1, "webp" },
    { COMPRESSION_LERC, 1, "lerc" }, { COMPRESSION_PIXARLOG, 1, "pixarlog" }, { COMPRESSION_JBIG, 1, "jbig" }, { COMPRESSION_JPEG, 1, "jpeg" },
    { COMPRESSION_CCITTRLE, 1, "rle" }, { COMPRESSION_CCITTFAX3, 1, "g3" }, { COMPRESSION_CCITTFAX4, 1, "g4" },
};
static const struct { uint32_t w, h; } sizes[] = { { 13, 11 }, { 13, 11 }, { 37, 29 }, { 16, 16 }, { 1, 1 }, { 2, 5 } };

struct variant {
    const struct kind *kind;
    int layout, separate, packing, lsb_first, other_bytes, big, orientation;
};

union value { uint32_t u; float f; };
static uint32_t width, height;
static union value stored[MOST_H][MOST_W][MOST_SAMPLES];
static uint16_t palette[3][256];

static int lossy(const struct variant *v)
{
    const uint16_t codec = packings[v->packing].codec; /* WebP, and LERC with 8 bits, keep no colour where alpha is 0 */
    return codec == COMPRESSION_JPEG || codec == COMPRESSION_PIXARLOG || codec == COMPRESSION_WEBP ||
           (codec == COMPRESSION_LERC && v->kind->bits == 8 && v->kind->extra == EXTRASAMPLE_UNASSALPHA);
}

/* JPEG is of blocks, and YCbCr of groups of pixels. */
static uint32_t rows_per_strip(const struct variant *v)
{
    return layouts[v->layout].h * (packings[v->packing].codec == COMPRESSION_JPEG ? 16 : v->kind->photometric == PHOTOMETRIC_YCBCR ? 2 : 1);
}

/* Whether libtiff writes it so, and reads it again. */
static int possible(const struct variant *v)
{
    const struct kind *k = v->kind;
    const uint16_t codec = packings[v->packing].codec;
    const int predictor = packings[v->packing].predictor, is_colour = k->samples >= 3;
    const int is_ycbcr = k->photometric == PHOTOMETRIC_YCBCR, subsamples = is_ycbcr && strcmp(k->name, "ycbcr11") != 0;
    if (codec != COMPRESSION_NONE && !TIFFIsCODECConfigured(codec))
        return 0;
    if ((predictor == 2 && k->bits != 8 && k->bits != 16 && k->bits != 32) || (predictor > 1 && is_ycbcr) ||
        (predictor == 3 && (k->format != FLOAT || v->other_bytes))) /* floats in the other order of bytes are written with theirs swapped twice */
        return 0;
    if (v->separate && (k->samples == 1 || (subsamples && !k->refused)))
        return 0;
    if (is_ycbcr && layouts[v->layout].is_tiled && codec == COMPRESSION_NONE && v->lsb_first) /* libtiff does not make RGB of what it wrote */
        return 0;
    switch (codec) {
    case COMPRESSION_JPEG:
        return k->format == UINT && k->bits == 8 && k->photometric != PHOTOMETRIC_PALETTE && k->photometric != PHOTOMETRIC_CIELAB && k->samples <= 4 &&
               !(is_ycbcr && v->separate);
    case COMPRESSION_CCITTRLE: case COMPRESSION_CCITTFAX3: case COMPRESSION_CCITTFAX4: return k->bits == 1;
    case COMPRESSION_JBIG: return k->bits == 1 && layouts[v->layout].h > MOST_H;
    case COMPRESSION_WEBP: return k->bits == 8 && k->format == UINT && k->photometric == PHOTOMETRIC_RGB && !v->separate && (k->samples == 3 || k->samples == 4);
    case COMPRESSION_LERC: return (k->bits == 8 || k->bits == 16 || k->bits == 32) && k->format != SAMPLEFORMAT_VOID && !is_ycbcr;
    case COMPRESSION_PIXARLOG: /* the file always says that it has 8 bits */
        return k->bits == 8 && k->format == UINT && is_colour && !is_ycbcr && !v->separate && !layouts[v->layout].is_tiled;
    default: return 1;
    }
}

static void draw_samples(const struct kind *k)
{
    const uint32_t most = k->bits < 32 ? (1u << k->bits) - 1 : 0;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 256; i++)
            palette[c][i] = (uint16_t)(sample(65279) + 256);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (int s = 0; s < k->samples; s++)
                if (k->format == FLOAT)
                    stored[y][x][s].f = (float)((int)drawn(4000) - 1000) / 1000;
                else
                    stored[y][x][s].u = most ? sample(most) : 0;
}

/* ---- the file ---- */

/* Packs n samples, of which each is `step` after the one before, the most significant bit first. */
static void pack(const struct kind *k, const union value *from, size_t n, size_t step, uint8_t *to)
{
    memset(to, 0, n * 8);
    for (size_t i = 0; i < n; i++) {
        const union value v = from[i * step];
        if (k->bits == 32)
            memcpy(to + 4 * i, &v, 4);
        else if (k->bits == 16)
            memcpy(to + 2 * i, &(uint16_t){ (uint16_t)v.u }, 2);
        else if (k->bits < 16)
            for (int bit = 0; bit < k->bits; bit++)
                to[(i * (size_t)k->bits + (size_t)bit) / 8] |= (uint8_t)((v.u >> (k->bits - 1 - bit) & 1) << (7 - (i * (size_t)k->bits + (size_t)bit) % 8));
    }
}

static uint32_t unpacked(const struct kind *k, const uint8_t *from, size_t i) /* of what is lossy */
{
    uint16_t wide;
    memcpy(&wide, from + 2 * i * (k->bits == 16), 2);
    return k->bits == 16 ? wide : from[i];
}

static void set_fields(TIFF *tiff, const struct variant *v)
{
    const struct kind *k = v->kind;
    const int colours = k->photometric == PHOTOMETRIC_SEPARATED ? 4 : k->photometric == PHOTOMETRIC_RGB ? 3 : 1;
    const uint16_t codec = packings[v->packing].codec, extra[MOST_SAMPLES] = { (uint16_t)k->extra };
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, k->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, k->samples);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, k->format);
    if (k->photometric != UNTAGGED)
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, k->photometric);
    if (k->extra != NO_EXTRA)
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, k->samples - colours, extra);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, v->separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, codec);
    if (packings[v->packing].predictor > 1)
        TIFFSetField(tiff, TIFFTAG_PREDICTOR, packings[v->packing].predictor);
    if (codec == COMPRESSION_WEBP)
        TIFFSetField(tiff, TIFFTAG_WEBP_LOSSLESS, 1);
    if (codec == COMPRESSION_PIXARLOG)
        TIFFSetField(tiff, TIFFTAG_PIXARLOGDATAFMT, k->bits == 8 ? PIXARLOGDATAFMT_8BIT : PIXARLOGDATAFMT_16BIT);
    TIFFSetField(tiff, TIFFTAG_FILLORDER, v->lsb_first ? FILLORDER_LSB2MSB : FILLORDER_MSB2LSB);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, v->orientation);
    if (k->photometric == PHOTOMETRIC_PALETTE) {
        static uint16_t wide[3][65536];
        for (int c = 0; c < 3; c++)
            memcpy(wide[c], palette[c], sizeof palette[c]);
        TIFFSetField(tiff, TIFFTAG_COLORMAP, wide[0], wide[1], wide[2]);
    }
    if (strcmp(k->name, "inks") == 0)
        TIFFSetField(tiff, TIFFTAG_INKSET, INKSET_MULTIINK);
    if (k->photometric == PHOTOMETRIC_YCBCR)
        TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, k->name[5] - '0', k->name[6] - '0');
    if (k->photometric == PHOTOMETRIC_YCBCR && codec == COMPRESSION_JPEG)
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    if (layouts[v->layout].is_tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, layouts[v->layout].w);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, layouts[v->layout].h);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows_per_strip(v));
    }
}

static void die(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s\n", name, what);
    exit(1);
}

/* Rows, or tiles that repeat the last pixels where they reach beyond. */
static void write_pixels(TIFF *tiff, const struct variant *v, const char *name)
{
    static uint8_t row[MOST_W * MOST_SAMPLES * 8 + 64], tile[32 * 32 * MOST_SAMPLES * 8];
    const struct kind *k = v->kind;
    const int planes = v->separate ? k->samples : 1, n = k->samples / planes;
    for (int p = 0; p < planes; p++) {
        for (uint32_t y = 0; !layouts[v->layout].is_tiled && y < height; y++) {
            pack(k, stored[y][0] + p, width * (size_t)n, (size_t)planes == 1 ? 1 : MOST_SAMPLES, row);
            if (planes == 1) {
                static union value flat[MOST_W * MOST_SAMPLES];
                for (uint32_t x = 0; x < width; x++)
                    memcpy(flat + x * (size_t)n, stored[y][x], (size_t)n * sizeof *flat);
                pack(k, flat, width * (size_t)n, 1, row);
            }
            if (packings[v->packing].codec == COMPRESSION_JBIG) /* which has no rows, only strips */
                memcpy(tile + y * ((width + 7) / 8), row, (width + 7) / 8);
            else if (TIFFWriteScanline(tiff, row, y, (uint16_t)p) < 0)
                die("a row cannot be written", name);
        }
        if (packings[v->packing].codec == COMPRESSION_JBIG && TIFFWriteEncodedStrip(tiff, 0, tile, (tmsize_t)(height * ((width + 7) / 8))) < 0)
            die("the strip cannot be written", name);
        const uint32_t tw = layouts[v->layout].w, th = layouts[v->layout].h;
        for (uint32_t top = 0; layouts[v->layout].is_tiled && top < height; top += th)
            for (uint32_t left = 0; left < width; left += tw) {
                const size_t bytes = ((size_t)tw * (size_t)n * (size_t)k->bits + 7) / 8;
                for (uint32_t y = 0; y < th; y++) {
                    static union value flat[32 * MOST_SAMPLES];
                    static uint8_t packed[32 * MOST_SAMPLES * 8];
                    for (uint32_t x = 0; x < tw; x++)
                        for (int s = 0; s < n; s++)
                            flat[x * (size_t)n + (size_t)s] = stored[top + y < height ? top + y : height - 1][left + x < width ? left + x : width - 1][p + s];
                    pack(k, flat, tw * (size_t)n, 1, packed);
                    memcpy(tile + y * bytes, packed, bytes);
                }
                if (TIFFWriteTile(tiff, tile, left, top, 0, (uint16_t)p) < 0)
                    die("a tile cannot be written", name);
            }
    }
}

/* YCbCr that is no JPEG is stored in groups of pixels: any bytes will do. */
static void write_any(TIFF *tiff, const struct variant *v, const char *name)
{
    static uint8_t bytes[64 * 64 * 8];
    const int is_tiled = layouts[v->layout].is_tiled;
    for (uint32_t i = 0, n = is_tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff); i < n; i++) {
        const uint32_t rows = rows_per_strip(v), per_plane = (height + rows - 1) / rows, left = height - i % per_plane * rows;
        const tmsize_t size = is_tiled ? TIFFTileSize(tiff) : TIFFVStripSize(tiff, rows < left ? rows : left);
        for (tmsize_t b = 0; b < size; b++)
            bytes[b] = (uint8_t)drawn(256);
        if ((is_tiled ? TIFFWriteEncodedTile(tiff, i, bytes, size) : TIFFWriteEncodedStrip(tiff, i, bytes, size)) < 0)
            die("a block cannot be written", name);
    }
}

/* What libtiff makes of the whole picture at once is what is stored. */
static void look_at_rgba(const char *name)
{
    static uint32_t raster[MOST_W * MOST_H];
    TIFF *tiff = TIFFOpen(name, "r");
    if (!tiff || !TIFFReadRGBAImageOriented(tiff, width, height, raster, ORIENTATION_TOPLEFT, 1))
        die("libtiff does not read it", name);
    TIFFClose(tiff);
    for (uint32_t i = 0; i < width * height; i++) {
        stored[i / width][i % width][0].u = TIFFGetR(raster[i]);
        stored[i / width][i % width][1].u = TIFFGetG(raster[i]);
        stored[i / width][i % width][2].u = TIFFGetB(raster[i]);
    }
}

/* What a lossy compression has made of the samples. */
static void look_at_samples(const struct variant *v, const char *name)
{
    static uint8_t block[64 * 64 * MOST_SAMPLES * 2];
    const struct kind *k = v->kind;
    const int planes = v->separate ? k->samples : 1, n = k->samples / planes;
    const uint32_t tw = layouts[v->layout].w, th = layouts[v->layout].h;
    TIFF *tiff = TIFFOpen(name, "r");
    if (!tiff)
        die("libtiff does not read it", name);
    if (packings[v->packing].codec == COMPRESSION_JPEG && k->photometric == PHOTOMETRIC_YCBCR)
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    for (int p = 0; p < planes; p++)
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++) {
                const size_t at = layouts[v->layout].is_tiled ? (y % th * tw + x % tw) * (size_t)n : x * (size_t)n;
                if (layouts[v->layout].is_tiled ? TIFFReadTile(tiff, block, x, y, 0, (uint16_t)p) < 0 : x == 0 && TIFFReadScanline(tiff, block, y, (uint16_t)p) < 0)
                    die("libtiff does not read it", name);
                for (int s = 0; s < n; s++)
                    stored[y][x][p + s].u = unpacked(k, block, at + (size_t)s);
            }
    TIFFClose(tiff);
}

static void write_file(const char *name, const struct variant *v)
{
    char mode[8];
    snprintf(mode, sizeof mode, "w%s%s", v->other_bytes ? "b" : "l", v->big ? "8" : "");
    TIFF *tiff = TIFFOpen(name, mode);
    if (!tiff)
        die("cannot be written", name);
    set_fields(tiff, v);
    if (v->kind->photometric == PHOTOMETRIC_YCBCR && packings[v->packing].codec != COMPRESSION_JPEG)
        write_any(tiff, v, name);
    else
        write_pixels(tiff, v, name);
    TIFFClose(tiff);
}

/* ---- what is to be read ---- */

static int is_cmyk(const struct kind *k)
{
    return k->photometric == PHOTOMETRIC_SEPARATED && strcmp(k->name, "inks") != 0;
}

static int n_given(const struct kind *k)
{
    return k->samples + (k->photometric == PHOTOMETRIC_PALETTE ? 2 : is_cmyk(k) ? -1 : 0);
}

static const char *elem_of(const struct kind *k)
{
    return k->format == FLOAT || k->format == INT ? "f32" : k->bits > 8 ? "u16" : "u8";
}

/* Sample c of the pixel that is stored at y, x. */
static union value wanted(const struct kind *k, uint32_t y, uint32_t x, int c)
{
    const union value *p = stored[y][x];
    const uint32_t most = k->bits < 32 ? (1u << k->bits) - 1 : 0, full = k->bits <= 8 ? 255 : most;
    const int colours = k->photometric == PHOTOMETRIC_RGB ? 3 : 1;
    union value v = p[c];
    if (k->format == INT)
        return (union value){ .f = k->bits == 8 ? (int8_t)v.u : (int16_t)v.u };
    if (k->format == FLOAT)
        return (union value){ .f = k->extra != EXTRASAMPLE_ASSOCALPHA || c >= 3 ? v.f : p[3].f > 0 ? v.f / p[3].f : 0 };
    if (k->photometric == PHOTOMETRIC_PALETTE)
        return (union value){ .u = c < 3 ? palette[c][p[0].u] / 256 : p[c - 2].u };
    if (is_cmyk(k))
        return (union value){ .u = c < 3 ? (uint32_t)rounded((uint64_t)(most - v.u) * (most - p[3].u), most) : p[c + 1].u };
    if (k->photometric == PHOTOMETRIC_CIELAB && c > 0)
        v.u = (uint32_t)((int8_t)v.u + 128);
    if ((k->photometric == PHOTOMETRIC_MINISWHITE || (k->photometric == UNTAGGED && k->samples == 1)) && c == 0)
        v.u = most - v.u;
    if (k->bits < 8)
        v.u = (uint32_t)rounded(v.u * 255u, most);
    if (k->extra == EXTRASAMPLE_ASSOCALPHA && c < colours)
        v.u = p[colours].u == 0 ? 0 : v.u >= p[colours].u ? full : (uint32_t)((uint64_t)v.u * full / p[colours].u);
    return v;
}

/* Where the pixel that is stored at y, x is in the picture: the tag says which sides the first row and the first column are. */
static size_t shown_at(uint32_t y, uint32_t x, int orientation)
{
    const uint32_t down = height - 1 - y, right = width - 1 - x;
    const uint32_t row[] = { y, y, down, down, x, x, right, right }, column[] = { x, right, right, x, y, down, down, y };
    return (size_t)row[orientation - 1] * (orientation > 4 ? height : width) + column[orientation - 1];
}

static void add_token(const struct variant *v, const char *group)
{
    static uint8_t u8[MOST_W * MOST_H * MOST_SAMPLES];
    static uint16_t u16[MOST_W * MOST_H * MOST_SAMPLES];
    static float f32[MOST_W * MOST_H * MOST_SAMPLES];
    const int n = n_given(v->kind);
    const size_t all = (size_t)width * height * (size_t)n;
    const char *elem = elem_of(v->kind);
    char suffix[32];
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (int c = 0; c < n; c++) {
                const union value value = wanted(v->kind, y, x, c);
                const size_t at = shown_at(y, x, v->orientation) * (size_t)n + (size_t)c;
                u8[at] = (uint8_t)value.u;
                u16[at] = (uint16_t)value.u;
                f32[at] = value.f;
            }
    snprintf(suffix, sizeof suffix, "%s-%s.want", n == 1 ? "grey" : "rgb", elem);
    add(group, suffix, strcmp(elem, "u8") == 0 ? (void *)u8 : strcmp(elem, "u16") == 0 ? (void *)u16 : (void *)f32, all * (size_t)(elem[1] == '8' ? 1 : elem[1] == '1' ? 2 : 4));
}

static void make(struct variant v)
{
    static int number;
    const int size = (int)drawn((uint32_t)N(sizes)), lies = v.orientation > 4;
    char name[160], group[32], line[300];
    width = sizes[size].w;
    height = sizes[size].h;
    if (!possible(&v))
        return;
    snprintf(name, sizeof name, "%05d-%s-%d-%s%s-%s%s%s%s-turn%d-%ux%u.tif", number++, v.kind->name, v.kind->bits,
             (const char *[]){ "rows", "strips", "strip", "tiles", "wide" }[v.layout], v.separate ? "-planes" : "", packings[v.packing].name,
             v.lsb_first ? "-lsb" : "", v.other_bytes ? "-mm" : "", v.big ? "-big" : "", v.orientation, lies ? height : width, lies ? width : height);
    draw_samples(v.kind);
    if (v.kind->photometric == PHOTOMETRIC_YCBCR && packings[v.packing].codec != COMPRESSION_JPEG && !v.kind->refused) {
        struct variant upright = v;
        const uint64_t before = seed;
        upright.orientation = ORIENTATION_TOPLEFT;
        write_file(name, &upright);
        look_at_rgba(name);
        seed = before;
    }
    write_file(name, &v);
    if (v.kind->refused) {
        snprintf(line, sizeof line, "%s %s", name, v.kind->refused);
        add_line("tiff", "refused", line);
        return;
    }
    if (lossy(&v))
        look_at_samples(&v, name);
    snprintf(group, sizeof group, "tiff-%s-%d", elem_of(v.kind), n_given(v.kind));
    add_line(group, "txt", name);
    add_token(&v, group);
}

static void make_kind(const struct kind *k, int all)
{
    static int next;                    /* packing in turn, so that a few files have all */
    const int n_drawn = N(packings) * 8;
    for (int i = 0; i < N(layouts) * 2; i++) {
        struct variant v = { .kind = k, .layout = i / 2, .separate = i % 2 };
        if ((v.separate && k->samples == 1) || (k->refused && i != (strstr(k->name, "in-planes") != NULL)))
            continue;
        for (int rest = 0; rest < n_drawn; rest++) {
            v.orientation = drawn(3) ? ORIENTATION_TOPLEFT : 1 + (int)drawn(8);
            v.packing = k->refused ? 0 : all ? rest / 8 : next++ % N(packings);
            v.lsb_first = all ? rest % 2 : (int)drawn(2);
            v.other_bytes = all ? rest / 2 % 2 : (int)drawn(2);
            v.big = all ? rest / 4 % 2 : (int)drawn(2);
            width = height = 1;
            if (!all && !possible(&v))
                continue;
            make(v);
            if (!all || k->refused)
                break;
        }
    }
}

int main(int argc, char **argv)
{
    const int all = argc > 1 && strcmp(argv[1], "all") == 0;
    TIFFSetWarningHandler(NULL);
    for (int i = 0; i < N(kinds); i++)
        make_kind(&kinds[i], all);
    return 0;
}
