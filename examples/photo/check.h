/* check.h - what the checks of the examples on pictures share: a PNG in memory, and the index of a mirrored pixel. */
#ifndef CHECK_H
#define CHECK_H

#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads a PNG as PNG_FORMAT_RGB or PNG_FORMAT_GRAY; alpha is laid on white. The caller frees it. Ends the program with a
 * message if it cannot be read. */
static uint8_t *load(const char *path, png_uint_32 format, int *width, int *height)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    png_color white = {255, 255, 255};
    uint8_t *pixels = NULL;
    if (png_image_begin_read_from_file(&png, path)) {
        png.format = format;
        pixels = malloc(PNG_IMAGE_SIZE(png));
        if (pixels && png_image_finish_read(&png, &white, pixels, 0, NULL)) {
            *width = (int)png.width;
            *height = (int)png.height;
            return pixels;
        }
    }
    fprintf(stderr, "check: can't read '%s': %s\n", path, png.message);
    exit(1);
}

/* Mirrored at the edge, which is not repeated, as often as it takes. */
static int reflect(int i, int n)
{
    while (n > 1 && (i < 0 || i >= n))
        i = i < 0 ? -i : 2 * n - 2 - i;
    return n > 1 ? i : 0;
}

#endif
