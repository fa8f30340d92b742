/* synthetic.c - makes a PNG like tissue in haematoxylin and eosin: synthetic WIDTH HEIGHT SEED FILE.png
 *
 * Pink ground with waves, blue elliptic nuclei with grain and a darker rim, some of which touch; red blood cells; and bright
 * background without tissue: at the right of the picture, beyond a wavy edge at seven tenths of its width. The same options give the same
 * pixels.
 */
#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct picture {
    uint8_t *rgb;
    int width, height;
};

static uint64_t state;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

static void put(uint8_t *p, double r, double g, double b)
{
    const double v[3] = { r, g, b };
    for (int c = 0; c < 3; c++)
        p[c] = (uint8_t)(v[c] < 0 ? 0 : v[c] > 255 ? 255 : v[c] + 0.5);
}

/* Where tissue ends in row y. */
static double tissue_edge(const struct picture *p, double y)
{
    return p->width * (0.7 + 0.04 * sin(y / 97.0)) + 9 * sin(y / 17.0);
}

static void ground(struct picture *p)
{
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            double wave = 9 * sin(x / 23.0) * cos(y / 31.0) + 10 * (uniform() - 0.5);
            uint8_t *to = p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
            if (x > tissue_edge(p, y))
                put(to, 243 + wave / 4, 241 + wave / 4, 244 + wave / 4);
            else
                put(to, 222 + wave, 168 + wave, 205 + wave);
        }
}

/* An ellipse with half axes a and b, and grain; its rim is darker. */
static void cell(struct picture *p, double cx, double cy, double a, double b, const double *colour)
{
    const double turn = uniform() * 3.14159265;
    for (int y = (int)(cy - 16); y <= (int)(cy + 16); y++)
        for (int x = (int)(cx - 16); x <= (int)(cx + 16); x++) {
            double u = ((x - cx) * cos(turn) + (y - cy) * sin(turn)) / a, v = ((y - cy) * cos(turn) - (x - cx) * sin(turn)) / b;
            if (x < 0 || y < 0 || x >= p->width || y >= p->height || u * u + v * v > 1)
                continue;
            double shade = 22 * (uniform() - 0.5) - (u * u + v * v > 0.6 ? 14 : 0);
            put(p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x), colour[0] + shade, colour[1] + shade, colour[2] + shade);
        }
}

static void cells(struct picture *p)
{
    static const double blue[3] = { 88, 62, 138 }, pale[3] = { 124, 92, 160 }, blood[3] = { 226, 36, 40 };
    for (long n = (long)p->width * p->height / 2600; n > 0; n--) {
        double x = uniform() * p->width, y = uniform() * p->height, kind = uniform(), a = 6 + 5 * uniform(), b = 5 + 4 * uniform();
        if (x > tissue_edge(p, y) - 14)
            continue;
        cell(p, x, y, a, b, kind < 0.12 ? blood : kind < 0.3 ? pale : blue);
        if (kind > 0.75)
            cell(p, x + 1.6 * b, y + 0.5 * a, a, b, blue);
    }
}

int main(int argc, char **argv)
{
    struct picture p = { NULL, argc == 5 ? atoi(argv[1]) : 0, argc == 5 ? atoi(argv[2]) : 0 };
    if (p.width < 1 || p.height < 1 || p.width > 65536 || p.height > 65536) {
        fprintf(stderr, "usage: synthetic WIDTH HEIGHT SEED FILE.png   (1 to 65536 pixels a side)\n");
        return 2;
    }
    state = (uint64_t)strtoull(argv[3], NULL, 10) * 2 + 1;
    p.rgb = malloc(3 * (size_t)p.width * (size_t)p.height);
    if (!p.rgb) {
        fprintf(stderr, "synthetic: error: out of memory\n");
        return 1;
    }
    ground(&p);
    cells(&p);
    png_image png = { .version = PNG_IMAGE_VERSION, .width = (png_uint_32)p.width, .height = (png_uint_32)p.height,
                      .format = PNG_FORMAT_RGB, .flags = PNG_IMAGE_FLAG_FAST };
    if (!png_image_write_to_file(&png, argv[4], 0, p.rgb, 0, NULL)) {
        fprintf(stderr, "synthetic: error: cannot write '%s': %s\n", argv[4], png.message);
        return 1;
    }
    free(p.rgb);
    return 0;
}
