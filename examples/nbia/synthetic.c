/* synthetic.c - makes a slide of which the class of each tile is known: 0 background, 1 stroma-poor (dense dark nuclei), 2 stroma-rich
 * (few nuclei among pink fibres). The classes lie in patches. What it makes is not like real tissue in more than its colours and its grain. Seeded:
 * the same options give the same pixels. A FILE.tif is a TIFF without compression.
 *     synthetic WIDTH HEIGHT TILE SEED FILE.png FILE.raw
 */
#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

static uint64_t state;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static uint8_t byte(double v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v + 0.5); }

struct slide {
    uint8_t *rgb;
    long width, height, tile, across;
    const int32_t *kind;
    const double *mixed;                /* of each tile: how much of the other tissue it has, from 0 to 0.5 */
};

static long tile_at(const struct slide *s, long y, long x) { return y / s->tile * s->across + x / s->tile; }

/* The tissue of a pixel: that of its tile, or, in spots, the other one. */
static int kind_at(const struct slide *s, long y, long x)
{
    const long tile = tile_at(s, y, x);
    const double spot = 0.5 + 0.25 * (sin((double)x / 37 + 2 * sin((double)y / 53)) + cos((double)y / 29 + (double)tile));
    return s->kind[tile] && spot < s->mixed[tile] ? 3 - s->kind[tile] : s->kind[tile];
}

static void ground(const struct slide *s, long y, long x)
{
    static const double colour[3][3] = { { 238, 236, 240 }, { 206, 150, 196 }, { 226, 156, 190 } };
    uint8_t *p = s->rgb + 3 * (y * s->width + x);
    const int kind = kind_at(s, y, x);
    const double fibre = kind == 2 ? 22 * sin((double)x / 9 + 3 * sin((double)y / 41)) : kind == 1 ? 6 * sin((double)x / 17) : 0;
    const double grain = (kind ? 14 : 5) * (uniform() - 0.5);
    p[0] = byte(colour[kind][0] + 0.4 * fibre + grain);
    p[1] = byte(colour[kind][1] + fibre + grain);
    p[2] = byte(colour[kind][2] + 0.6 * fibre + grain);
}

static void nucleus(const struct slide *s, double cy, double cx)
{
    const double a = 5 + 6 * uniform(), b = 4 + 4 * uniform(), turn = uniform() * 3.14159, c = cos(turn), d = sin(turn);
    for (long y = (long)cy - 12; y <= (long)cy + 12; y++)
        for (long x = (long)cx - 12; x <= (long)cx + 12; x++) {
            const double dx = (double)x - cx, dy = (double)y - cy, u = (dx * c + dy * d) / a, v = (dy * c - dx * d) / b;
            if (x < 0 || y < 0 || x >= s->width || y >= s->height || u * u + v * v > 1)
                continue;
            uint8_t *p = s->rgb + 3 * (y * s->width + x);
            const double grain = 30 * (uniform() - 0.5);
            p[0] = byte(90 + grain);
            p[1] = byte(62 + grain);
            p[2] = byte(140 + grain);
        }
}

static int write_png(const struct slide *s, const char *path)
{
    png_image image = { .version = PNG_IMAGE_VERSION, .width = (uint32_t)s->width, .height = (uint32_t)s->height, .format = PNG_FORMAT_RGB };
    return png_image_write_to_file(&image, path, 0, s->rgb, 0, NULL);
}

static int write_tiff(const struct slide *s, const char *path)
{
    TIFF *tiff = TIFFOpen(path, "w");
    int good = tiff && TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)s->width) &&
               TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, (uint32_t)s->height) && TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8) &&
               TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3) && TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB) &&
               TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) && TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 16);
    for (long y = 0; good && y < s->height; y++)
        good = TIFFWriteScanline(tiff, s->rgb + 3 * y * s->width, (uint32_t)y, 0) == 1;
    if (tiff)
        TIFFClose(tiff);
    return good;
}

static int write_picture(const struct slide *s, const char *path)
{
    const size_t n = strlen(path);
    return (n > 4 && strcmp(path + n - 4, ".tif") == 0 ? write_tiff : write_png)(s, path);
}

static void paint(const struct slide *s)
{
    static const double nuclei[3] = { 0, 1.0 / 260, 1.0 / 2200 }; /* a pixel */
    for (long y = 0; y < s->height; y++)
        for (long x = 0; x < s->width; x++)
            ground(s, y, x);
    for (long i = s->width * s->height / 260; i-- > 0;) {
        const double y = uniform() * (double)s->height, x = uniform() * (double)s->width;
        const int kind = kind_at(s, (long)y, (long)x);
        if (uniform() * nuclei[1] < nuclei[kind])
            nucleus(s, y, x);
    }
}

int main(int argc, char **argv)
{
    struct slide s = { .width = argc == 7 ? atol(argv[1]) : 0, .height = argc == 7 ? atol(argv[2]) : 0, .tile = argc == 7 ? atol(argv[3]) : 0 };
    if (s.width < 1 || s.height < 1 || s.width > 32768 || s.height > 32768 || s.tile < 1) {
        fprintf(stderr, "usage: synthetic WIDTH HEIGHT TILE SEED FILE.png|FILE.tif FILE.raw   (1 to 32768 pixels a side)\n");
        return 2;
    }
    state = (uint64_t)strtoull(argv[4], NULL, 10) * 2 + 1;
    s.across = (s.width + s.tile - 1) / s.tile;
    const long down = (s.height + s.tile - 1) / s.tile;
    int32_t *kind = malloc((size_t)(s.across * down) * sizeof *kind);
    double *mixed = malloc((size_t)(s.across * down) * sizeof *mixed);
    s.rgb = malloc(3 * (size_t)(s.width * s.height));
    if (!kind || !mixed || !s.rgb)
        return 1;
    for (long i = 0; i < s.across * down; i++) { /* like the one on the left, like the one above, or anything */
        const double u = uniform();
        kind[i] = u < 0.35 && i % s.across ? kind[i - 1] : u < 0.7 && i >= s.across ? kind[i - s.across] : (int32_t)(3 * uniform());
        mixed[i] = 0.5 * uniform();
    }
    s.kind = kind;
    s.mixed = mixed;
    paint(&s);
    FILE *raw = fopen(argv[6], "wb");
    const int good = raw && fwrite(kind, sizeof *kind, (size_t)(s.across * down), raw) == (size_t)(s.across * down) &&
                     fclose(raw) == 0 && write_picture(&s, argv[5]);
    if (!good)
        fprintf(stderr, "synthetic: cannot write %s and %s\n", argv[5], argv[6]);
    free(kind);
    free(mixed);
    free(s.rgb);
    return !good;
}
