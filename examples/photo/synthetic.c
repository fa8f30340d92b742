/* synthetic.c - makes a PNG to try photo on where there is none at hand: something like stained tissue, dark round
 * nuclei on a pink, uneven ground. Seeded: the same options give the same pixels.  synthetic WIDTH HEIGHT SEED FILE.png
 */
#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

static uint8_t byte(double v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v + 0.5); }

static void ground(uint8_t *rgb, int width, int height)
{
    double phase = uniform() * 6;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            uint8_t *p = rgb + 3 * ((size_t)y * (size_t)width + (size_t)x);
            double wave = 12 * sin(x / 23.0 + phase) * cos(y / 31.0) + 8 * (uniform() - 0.5);
            p[0] = byte(228 + wave * 0.5);
            p[1] = byte(170 + wave);
            p[2] = byte(205 + wave * 0.7);
        }
}

static void nucleus(uint8_t *rgb, int width, int height)
{
    double cx = uniform() * width, cy = uniform() * height, a = 5 + 6 * uniform(), b = 4 + 5 * uniform(),
           turn = uniform() * 3.14159;
    for (int y = (int)(cy - 12); y <= (int)(cy + 12); y++)
        for (int x = (int)(cx - 12); x <= (int)(cx + 12); x++) {
            if (x < 0 || y < 0 || x >= width || y >= height)
                continue;
            double u = ((x - cx) * cos(turn) + (y - cy) * sin(turn)) / a,
                   v = ((y - cy) * cos(turn) - (x - cx) * sin(turn)) / b;
            if (u * u + v * v > 1)
                continue;
            uint8_t *p = rgb + 3 * ((size_t)y * (size_t)width + (size_t)x);
            double grain = 24 * (uniform() - 0.5);
            p[0] = byte(92 + grain);
            p[1] = byte(62 + grain);
            p[2] = byte(138 + grain);
        }
}

int main(int argc, char **argv)
{
    int width = argc == 5 ? atoi(argv[1]) : 0, height = argc == 5 ? atoi(argv[2]) : 0;
    if (width < 1 || height < 1 || width > 32768 || height > 32768) {
        fprintf(stderr, "usage: synthetic WIDTH HEIGHT SEED FILE.png   (1 to 32768 pixels a side)\n");
        return 2;
    }
    state = (uint64_t)strtoull(argv[3], NULL, 10) * 2 + 1;
    uint8_t *rgb = malloc(3 * (size_t)width * (size_t)height);
    if (!rgb) {
        fprintf(stderr, "synthetic: error: out of memory\n");
        return 1;
    }
    ground(rgb, width, height);
    for (long n = (long)width * height / 900; n > 0; n--)
        nucleus(rgb, width, height);
    png_image png = { .version = PNG_IMAGE_VERSION,
                      .width = (png_uint_32)width,
                      .height = (png_uint_32)height,
                      .format = PNG_FORMAT_RGB };
    if (!png_image_write_to_file(&png, argv[4], 0, rgb, 0, NULL)) {
        fprintf(stderr, "synthetic: error: can't write '%s': %s\n", argv[4], png.message);
        return 1;
    }
    free(rgb);
    return 0;
}
