/* tiff_samples.h - converts libtiff's samples to those of a token: unpacks bits, and converts other colour spaces to
 * RGB.
 *
 * Samples: unsigned ones of 1 to 8 bits become u8, scaled to its full range; of 9 to 16 bits u16, with their value. Signed ones of 8, 16, 32 and 64
 *          bits, unsigned ones of 32, and floats of 16, 32 and 64 stay what they are; f32 is also given of signed ones of 8 and 16 bits.
 * Colours: palettes become RGB, with the upper 8 bits of the palette; so does CMYK, as (1 - C) * (1 - K). L*a*b* of 8 bits keeps its samples, with a*
 *          and b* as 128 more than their value. Grey with white at 0 is inverted. Colours that were multiplied by alpha are divided by it, rounded
 *          down. Extra samples follow.
 */
#ifndef STD_TIFF_SAMPLES_H
#define STD_TIFF_SAMPLES_H

#include <df_formula.h>
#include <tiffio.h>

#include "elements.h"

#define UNPACK_PADDING 2                /* bytes behind a packed row that unpack() may read */

enum colours { AS_STORED, WHITE_AT_0, INDEXED, CMYK, LAB, YCBCR };

struct samples {
    enum df_elem elem;
    unsigned bits;
    unsigned most;                      /* unsigned: the largest of the samples that are given */
    enum colours colours;
    size_t stored, given;               /* of a pixel: in the file, as unpack() lays them out; after finish() */
    size_t alpha;                       /* which of those given has been multiplied into those before it; 0: none */
    uint8_t scaled[256];                /* a sample of less than 8 bits as one of 8 */
    uint8_t palette[256][3];
    unsigned group_w, group_h;          /* YCbCr: the pixels that share Cb and Cr; 1 and 1 else */
    TIFFYCbCrToRGB *ycbcr;              /* how libtiff makes RGB of it; NULL: nothing is to be made */
    const char *assumed;                /* for a page without PhotometricInterpretation: what is assumed; NULL: nothing, or it makes no difference */
};

/* ---- what a page has ---- */

static uint32_t tag(TIFF *tiff, uint32_t name)
{
    uint16_t value = 0;
    return TIFFGetFieldDefaulted(tiff, name, &value) ? value : 0;
}

static int is_small(const struct samples *s)
{
    return s->elem == DF_U8 || s->elem == DF_U16;
}

static int is_unsigned(const struct samples *s)
{
    return is_small(s) || s->elem == DF_U32;
}

/* Gives the element of the page's samples, for a kernel of `wanted` elements, or says in `why` which kind of samples is not read. */
static enum df_elem elem_of(TIFF *tiff, enum df_elem wanted, const char **why)
{
    const uint32_t bits = tag(tiff, TIFFTAG_BITSPERSAMPLE), format = tag(tiff, TIFFTAG_SAMPLEFORMAT);
    const int of_uint = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID; /* of VOID the specification says so */
    if (of_uint && bits >= 1 && bits <= 16)
        return bits <= 8 ? DF_U8 : DF_U16;
    if (of_uint && bits == 32)
        return DF_U32;
    if (format == SAMPLEFORMAT_INT && (bits == 8 || bits == 16))
        return wanted == DF_F32 ? DF_F32 : bits == 8 ? DF_I8 : DF_I16;
    if ((bits == 32 || bits == 64) && format == SAMPLEFORMAT_INT)
        return bits == 32 ? DF_I32 : DF_I64;
    if ((bits == 16 || bits == 32 || bits == 64) && format == SAMPLEFORMAT_IEEEFP)
        return bits == 16 ? DF_F16 : bits == 32 ? DF_F32 : DF_F64;
    *why = of_uint ? "unsigned" : format == SAMPLEFORMAT_INT ? "signed" : format == SAMPLEFORMAT_IEEEFP ? "floats" : "complex";
    return DF_N_ELEMS;
}

static const char *photometric_name(uint32_t photometric)
{
    switch (photometric) {
    case PHOTOMETRIC_MASK: return "a transparency mask";
    case PHOTOMETRIC_ICCLAB: return "ICC L*a*b*";
    case PHOTOMETRIC_ITULAB: return "ITU L*a*b*";
    case PHOTOMETRIC_CFA: return "a colour filter array";
    case PHOTOMETRIC_LOGL: return "LogL";
    case PHOTOMETRIC_LOGLUV: return "LogLuv";
    case PHOTOMETRIC_SEPARATED: return "CMYK of less than 4 samples, or of floats";
    case PHOTOMETRIC_PALETTE: return "a palette of more than 256 colours";
    case PHOTOMETRIC_CIELAB: return "L*a*b* of another depth than 8 bits";
    case PHOTOMETRIC_YCBCR: return "YCbCr of another depth than 8 bits, or with more than 3 samples";
    default: return "an unknown kind of colour";
    }
}

/* Sets colours. 0: these colours are not read. */
static int take_colours(TIFF *tiff, struct samples *s, uint32_t photometric)
{
    const int is_u8 = s->elem == DF_U8 && s->bits == 8;
    switch (photometric) {
    case PHOTOMETRIC_MINISWHITE: s->colours = is_unsigned(s) ? WHITE_AT_0 : AS_STORED; return 1;
    case PHOTOMETRIC_MINISBLACK: return 1;
    case PHOTOMETRIC_RGB: return s->stored >= 3;
    case PHOTOMETRIC_PALETTE: s->colours = INDEXED; return s->elem == DF_U8;
    case PHOTOMETRIC_SEPARATED:
        s->colours = tag(tiff, TIFFTAG_INKSET) == INKSET_CMYK ? CMYK : AS_STORED; /* of other inks the file may say the name, and not the colour */
        return s->colours == AS_STORED || (is_small(s) && s->stored >= 4);
    case PHOTOMETRIC_CIELAB: s->colours = LAB; return is_u8 && s->stored >= 3;
    case PHOTOMETRIC_YCBCR:
        s->colours = YCBCR;
        if (tag(tiff, TIFFTAG_COMPRESSION) == COMPRESSION_JPEG && tag(tiff, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_CONTIG) {
            TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
            s->colours = AS_STORED;
        }
        return is_u8 && s->stored == 3;
    default: return 0;
    }
}

/* 0: the page has none. Some programs write one with 8 bits. */
static int take_palette(TIFF *tiff, struct samples *s)
{
    uint16_t *colours[3];
    unsigned shift = 0;
    if (!TIFFGetField(tiff, TIFFTAG_COLORMAP, &colours[0], &colours[1], &colours[2]))
        return 0;
    for (size_t i = 0; i < (size_t)1 << s->bits; i++)
        for (size_t c = 0; c < 3; c++)
            shift = colours[c][i] > 255 ? 8 : shift;
    for (size_t i = 0; i < (size_t)1 << s->bits; i++)
        for (size_t c = 0; c < 3; c++)
            s->palette[i][c] = (uint8_t)(colours[c][i] >> shift);
    return 1;
}

static size_t alpha_of(TIFF *tiff, const struct samples *s, uint32_t photometric)
{
    uint16_t n = 0, *extra = NULL;
    const size_t colours = photometric == PHOTOMETRIC_MINISBLACK ? 1 : photometric == PHOTOMETRIC_RGB ? 3 : SIZE_MAX;
    const int has = (is_unsigned(s) || s->elem == DF_F16 || (s->elem == DF_F32 && s->bits == 32) || s->elem == DF_F64) && TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &n, &extra) && n > 0 && extra[0] == EXTRASAMPLE_ASSOCALPHA;
    return has && colours < s->given ? colours : 0;
}

/* Its tables stand behind the struct. */
static const char *take_ycbcr(TIFF *tiff, struct samples *s)
{
    const size_t tables = 4 * 256 * sizeof(TIFFRGBValue) + 2 * 256 * sizeof(int) + 3 * 256 * sizeof(int32_t);
    float *luma, *black_white;
    uint16_t across = 1, down = 1;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_YCBCRCOEFFICIENTS, &luma);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_REFERENCEBLACKWHITE, &black_white);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_YCBCRSUBSAMPLING, &across, &down);
    s->group_w = across;
    s->group_h = down;
    if (across < 1 || across > 4 || down < 1 || down > 4 || !(luma[0] + luma[1] + luma[2] < 1e30f) || luma[1] == 0 || /* NaN is not less */
        (across * down > 1 && tag(tiff, TIFFTAG_PLANARCONFIG) != PLANARCONFIG_CONTIG))
        return "has YCbCr of no known layout";
    if (!s->ycbcr)
        s->ycbcr = malloc(sizeof *s->ycbcr + tables);
    return s->ycbcr && TIFFYCbCrToRGBInit(s->ycbcr, luma, black_white) == 0 ? NULL : "has YCbCr that libtiff makes no RGB of";
}

/* What a page without PhotometricInterpretation holds: grey with white at 0 if it has one sample, as Pillow and, of faxes, libtiff have it; RGB if it has
 * three, as libtiff has it. 0: other numbers of samples have no usual meaning. */
static int assume_photometric(struct samples *s, uint16_t *photometric)
{
    *photometric = s->stored == 1 ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_RGB;
    s->assumed = s->stored == 3      ? "has no PhotometricInterpretation: its samples are taken for RGB"
                 : is_unsigned(s)    ? "has no PhotometricInterpretation: its samples are taken for grey with white at 0"
                                     : NULL;
    return s->stored == 1 || s->stored == 3;
}

/* Gives what is wrong, or NULL. */
static const char *take_samples(TIFF *tiff, struct samples *s)
{
    static _Thread_local char why[160];
    uint16_t photometric;
    const unsigned most = s->bits < 32 ? (1u << s->bits) - 1 : UINT32_MAX;
    s->most = s->elem == DF_U8 ? 255 : most;
    s->colours = AS_STORED;
    s->assumed = NULL;
    if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric) && !assume_photometric(s, &photometric))
        return "does not say what its samples mean: it has no PhotometricInterpretation, and neither one sample a pixel nor three";
    if (!take_colours(tiff, s, photometric)) {
        snprintf(why, sizeof why, "holds %s (%u): grey, RGB, palettes, CMYK, YCbCr and L*a*b* are read", photometric_name(photometric), photometric);
        return why;
    }
    if (s->colours == INDEXED && !take_palette(tiff, s))
        return "has no palette";
    s->group_w = s->group_h = 1;
    if (s->colours == YCBCR) {
        const char *wrong = take_ycbcr(tiff, s);
        if (wrong)
            return wrong;
    }
    for (unsigned i = 0; s->bits < 8 && i <= most; i++)
        s->scaled[i] = (uint8_t)(s->colours == INDEXED ? i : (2 * 255 * i + most) / (2 * most));
    s->given = s->colours == INDEXED ? s->stored + 2 : s->colours == CMYK ? s->stored - 1 : s->stored;
    s->alpha = alpha_of(tiff, s, photometric);
    return NULL;
}

/* ---- a row ---- */

/* Sample i of a packed row: bits follow each other, the most significant first; 16 are this machine's. */
static unsigned packed(const unsigned char *row, size_t i, unsigned bits)
{
    if (bits == 8)
        return row[i];
    if (bits == 16)
        return ((const uint16_t *)(const void *)row)[i];
    const size_t at = i * bits;
    const unsigned three = (unsigned)row[at / 8] << 16 | (unsigned)row[at / 8 + 1] << 8 | row[at / 8 + 2];
    return three >> (24 - at % 8 - bits) & ((1u << bits) - 1);
}

/* Lays out `pixels` pixels of n samples each, beginning with sample `first` of the stored ones. */
static void unpack(const struct samples *s, const unsigned char *row, size_t pixels, size_t n, size_t first, void *to)
{
    if (n == s->stored && s->bits == 8 * element_bytes[s->elem]) {
        memcpy(to, row, pixels * n * element_bytes[s->elem]);
        return;
    }
    for (size_t i = 0; i < pixels * n; i++) {
        const size_t at = i / n * s->stored + first + i % n;
        if (s->bits >= 32) {
            const size_t bytes = s->bits / 8;
            memcpy((char *)to + bytes * at, row + bytes * i, bytes);
            continue;
        }
        const unsigned v = packed(row, i, s->bits);
        if (s->elem == DF_U8)
            ((uint8_t *)to)[at] = s->bits < 8 ? s->scaled[v] : (uint8_t)v;
        else if (s->elem == DF_U16 || s->elem == DF_I16 || s->elem == DF_F16)
            ((uint16_t *)to)[at] = (uint16_t)v;
        else if (s->elem == DF_I8)
            ((uint8_t *)to)[at] = (uint8_t)v;
        else
            ((float *)to)[at] = s->bits == 8 ? (float)(int8_t)v : (float)(int16_t)v;
    }
}

/* Lays out row y of the rows of groups at `groups`: in each stand the Y of its pixels, row by row, then Cb and Cr. */
static void unpack_groups(const struct samples *s, const uint8_t *groups, size_t y, size_t pixels, uint8_t *to)
{
    const size_t n = s->group_w * s->group_h;
    for (size_t x = 0; x < pixels; x++, to += 3) {
        const uint8_t *group = groups + x / s->group_w * (n + 2);
        to[0] = group[y * s->group_w + x % s->group_w];
        to[1] = group[n];
        to[2] = group[n + 1];
    }
}

/* Grey, or CMYK, of pixels with extra samples. (most - c) * (most - k) is below 2^32. */
#define FINISH_UNSIGNED(NAME, TYPE)                                                                                       \
    static void NAME(const struct samples *s, const TYPE *from, TYPE *to, size_t pixels)                                  \
    {                                                                                                                     \
        const uint32_t most = s->most;                                                                                    \
        const size_t colours = s->colours == CMYK ? 3 : 1, extra = s->given - colours;                                    \
        for (; pixels > 0; pixels--, from += s->stored, to += s->given) {                                                 \
            for (size_t c = 0; c < colours; c++)                                                                          \
                to[c] = (TYPE)(s->colours == CMYK ? ((most - from[c]) * (most - from[3]) + most / 2) / most : most - from[c]); \
            memcpy(to + colours, from + s->stored - extra, extra * sizeof *to);                                           \
        }                                                                                                                 \
    }
FINISH_UNSIGNED(finish_u8, uint8_t)
FINISH_UNSIGNED(finish_u16, uint16_t)
FINISH_UNSIGNED(finish_u32, uint32_t)   /* grey only */

static void finish_indexed(const struct samples *s, const uint8_t *from, uint8_t *to, size_t pixels)
{
    for (; pixels > 0; pixels--, from += s->stored, to += s->given) {
        memcpy(to, s->palette[from[0]], 3);
        memcpy(to + 3, from + 1, s->stored - 1);
    }
}

static void finish_lab(const struct samples *s, uint8_t *to, size_t pixels)
{
    for (; pixels > 0; pixels--, to += s->given) {
        to[1] ^= 128;
        to[2] ^= 128;
    }
}

static void finish_ycbcr(const struct samples *s, uint8_t *to, size_t pixels)
{
    for (; pixels > 0; pixels--, to += 3) {
        uint32_t r, g, b;
        TIFFYCbCrtoRGB(s->ycbcr, to[0], to[1], to[2], &r, &g, &b);
        to[0] = (uint8_t)r;
        to[1] = (uint8_t)g;
        to[2] = (uint8_t)b;
    }
}

/* Colours that are more than alpha cannot come of a multiplication by it: they are as bright as can be. */
#define DIVIDE_BY_ALPHA(NAME, TYPE, QUOTIENT)                                                                             \
    static void NAME(const struct samples *s, TYPE *to, size_t pixels)                                                    \
    {                                                                                                                     \
        for (; pixels > 0; pixels--, to += s->given)                                                                      \
            for (size_t c = 0; c < s->alpha; c++) {                                                                       \
                const TYPE v = to[c], alpha = to[s->alpha];                                                               \
                to[c] = (TYPE)(alpha > 0 ? (QUOTIENT) : 0);                                                               \
            }                                                                                                             \
    }
DIVIDE_BY_ALPHA(divide_u8, uint8_t, v < alpha ? v * s->most / alpha : s->most)
DIVIDE_BY_ALPHA(divide_u16, uint16_t, v < alpha ? v * s->most / alpha : s->most)
DIVIDE_BY_ALPHA(divide_u32, uint32_t, v < alpha ? (uint64_t)v * s->most / alpha : s->most)
DIVIDE_BY_ALPHA(divide_f32, float, v / alpha)
DIVIDE_BY_ALPHA(divide_f64, double, v / alpha)
/* alpha > 0: of the bits that is also so for negative ones, which no file has. */
DIVIDE_BY_ALPHA(divide_f16, df_f16, df_f16_of_f32(df_f32_of_f16(v) / df_f32_of_f16(alpha)))

/* Makes of stored samples those that are given. */
static void finish(const struct samples *s, const void *from, void *to, size_t pixels)
{
    if (s->colours == INDEXED)
        finish_indexed(s, from, to, pixels);
    else if (s->colours != AS_STORED && s->elem == DF_U16)
        finish_u16(s, from, to, pixels);
    else if (s->colours != AS_STORED && s->elem == DF_U32)
        finish_u32(s, from, to, pixels);
    else if (s->colours == WHITE_AT_0 || s->colours == CMYK)
        finish_u8(s, from, to, pixels);
    else
        memcpy(to, from, pixels * s->stored * element_bytes[s->elem]);
    if (s->colours == LAB)
        finish_lab(s, to, pixels);
    else if (s->colours == YCBCR)
        finish_ycbcr(s, to, pixels);
    if (s->alpha && s->elem == DF_U8)
        divide_u8(s, to, pixels);
    else if (s->alpha && s->elem == DF_U16)
        divide_u16(s, to, pixels);
    else if (s->alpha && s->elem == DF_U32)
        divide_u32(s, to, pixels);
    else if (s->alpha && s->elem == DF_F16)
        divide_f16(s, to, pixels);
    else if (s->alpha && s->elem == DF_F64)
        divide_f64(s, to, pixels);
    else if (s->alpha)
        divide_f32(s, to, pixels);
}

#endif
