/* size.c - reads a PNG by libpng, and prints its width, its height and how many of its pixels are not white. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    if (argc != 2 || !png_image_begin_read_from_file(&image, argv[1])) {
        fprintf(stderr, "%s\n", image.message);
        return 1;
    }
    image.format = PNG_FORMAT_GRAY;
    unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
    if (!pixels || !png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
        fprintf(stderr, "%s\n", image.message);
        return 1;
    }
    size_t drawn = 0;
    for (size_t i = 0; i < PNG_IMAGE_SIZE(image); i++)
        drawn += pixels[i] < 250;
    printf("%u %u %zu\n", image.width, image.height, drawn);
    free(pixels);
    return 0;
}
