/* png.c - how a picture is packed best: png PICTURE.png…. Writes each picture by libpng's own choice and by combinations of
 * filter and strategy, as grey and as RGB, and prints the least of three processor times and the bytes, as CSV. It is why
 * runtime/std/png.c packs as it does.
 */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zlib.h>

static const struct way {
    const char *name;
    int filter, level, strategy;        /* level -1: libpng's own choice of all */
} ways[] = { { "libpng's own", 0, -1, 0 },
             { "no filter, runs", PNG_FILTER_NONE, 1, Z_RLE },
             { "sub, runs", PNG_FILTER_SUB, 1, Z_RLE },
             { "up, runs", PNG_FILTER_UP, 1, Z_RLE },
             { "average, runs", PNG_FILTER_AVG, 1, Z_RLE },
             { "paeth, runs", PNG_FILTER_PAETH, 1, Z_RLE },
             { "all filters, runs", PNG_ALL_FILTERS, 1, Z_RLE },
             { "paeth, no matches", PNG_FILTER_PAETH, 1, Z_HUFFMAN_ONLY },
             { "paeth, level 1", PNG_FILTER_PAETH, 1, Z_DEFAULT_STRATEGY },
             { "sub, level 1", PNG_FILTER_SUB, 1, Z_DEFAULT_STRATEGY } };

static void count(png_structp png, png_bytep data, size_t bytes)
{
    (void)data;
    *(size_t *)png_get_io_ptr(png) += bytes;
}

static void no_flush(png_structp png) { (void)png; }

static double packed(const struct way *way, const png_image *image, const unsigned char *pixels, int channels, size_t *bytes)
{
    struct timespec begin, end;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    *bytes = 0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    png_set_write_fn(png, bytes, count, no_flush);
    if (way->level >= 0) {
        png_set_filter(png, PNG_FILTER_TYPE_BASE, way->filter);
        png_set_compression_level(png, way->level);
        png_set_compression_strategy(png, way->strategy);
    }
    png_set_IHDR(png, info, image->width, image->height, 8, channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, 0, 0, 0);
    png_write_info(png, info);
    for (size_t y = 0; y < image->height; y++)
        png_write_row(png, pixels + y * image->width * (size_t)channels);
    png_write_end(png, info);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    png_destroy_write_struct(&png, &info);
    return (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
}

static int try_picture(const char *path, int channels)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    unsigned char *pixels = NULL;
    if (png_image_begin_read_from_file(&image, path)) {
        image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
        pixels = malloc(PNG_IMAGE_SIZE(image));
    }
    if (!pixels || !png_image_finish_read(&image, &(png_color){ 255, 255, 255 }, pixels, 0, NULL)) {
        fprintf(stderr, "png: error: can't read '%s': %s\n", path, image.message);
        free(pixels);
        return 1;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        size_t bytes = 0;
        double best = 1e9;
        for (int round = 0; round < 3; round++) {
            double ms = packed(&ways[i], &image, pixels, channels, &bytes);
            best = ms < best ? ms : best;
        }
        printf("%s,%s,\"%s\",%.1f,%zu\n", path, channels == 1 ? "grey" : "rgb", ways[i].name, best, bytes);
    }
    free(pixels);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    if (failed)
        fprintf(stderr, "usage: png PICTURE.png...\n");
    else
        printf("picture,samples,way,ms,bytes\n");
    for (int i = 1; i < argc; i++)
        failed |= try_picture(argv[i], 1) | try_picture(argv[i], 3);
    return failed;
}
