/* png.c - the ends of photo.df: a source that cuts a PNG into tiles and a sink that puts the result together, through
 * libpng.
 *
 * The picture is read whole at wave 0. Tiles go row by row; a tile at the right or lower edge is filled up, so that all
 * tokens have one size. Pixels outside the picture are those mirrored at its edge without repeating it (…2 1 0 1
 * 2…): a symmetric filter commutes with that mirror, so filtering a tile and its halo equals filtering the whole
 * picture with mirrored borders.
 */
#include <png.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    uint8_t *rgb;           /* the source's; written at wave 0, then only read */
    uint32_t width, height; /* likewise; the sink reads them after the tile of the same wave came to it */
    uint32_t across, down;  /* tiles */
    uint8_t *edges;         /* the sink's */
    _Atomic int64_t written;
} picture;

/* A picture of which only the first --waves tiles were made is not written: that is said, not passed over. */
static void leave(void)
{
    int64_t tiles = (int64_t)picture.across * picture.down;
    if (picture.written && picture.written < tiles)
        fprintf(stderr, "photo: warning: %lld of %lld tiles were made: no picture written\n",
                (long long)picture.written, (long long)tiles);
    free(picture.rgb);
    free(picture.edges);
}

static int64_t mirrored(int64_t i, int64_t n)
{
    if (n == 1)
        return 0;
    int64_t period = 2 * (n - 1);
    i = ((i % period) + period) % period;
    return i < n ? i : period - i;
}

static int load(struct df_call *call, const char *path, uint32_t tile)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    png_color white = {255, 255, 255};
    if (!png_image_begin_read_from_file(&png, path))
        return df_fail(call, "can't read '%s': %s", path, png.message);
    png.format = PNG_FORMAT_RGB;
    uint8_t *rgb = malloc(PNG_IMAGE_SIZE(png));
    if (!rgb) {
        png_image_free(&png);
        return df_fail(call, "out of memory for a picture of %u x %u", png.width, png.height);
    }
    if (!png_image_finish_read(&png, &white, rgb, 0, NULL)) {
        free(rgb);
        return df_fail(call, "can't read '%s': %s", path, png.message);
    }
    picture.rgb = rgb;
    picture.width = png.width;
    picture.height = png.height;
    picture.across = (png.width + tile - 1) / tile;
    picture.down = (png.height + tile - 1) / tile;
    atexit(leave);
    return DF_OK;
}

/* Pixels left … left + w of a row of the picture: those inside as they lie, those outside mirrored one by one. */
static void copy_row(uint8_t *to, const uint8_t *row, int64_t left, int64_t w)
{
    int64_t first = left < 0 ? -left : 0, last = left + w > picture.width ? picture.width - left : w;
    for (int64_t x = 0; x < first && x < w; x++)
        memcpy(to + 3 * x, row + 3 * mirrored(left + x, picture.width), 3);
    if (first < last)
        memcpy(to + 3 * first, row + 3 * (left + first), (size_t)(3 * (last - first)));
    for (int64_t x = last > first ? last : first; x < w; x++)
        memcpy(to + 3 * x, row + 3 * mirrored(left + x, picture.width), 3);
}

int read_cpu(struct df_call *call, size_t h, size_t w, uint8_t *t, const char *path, int32_t size)
{
    int64_t wave = df_wave(call);
    if (wave == 0) {
        int status = load(call, path, (uint32_t)size);
        if (status != DF_OK)
            return status;
    }
    if (wave >= (int64_t)picture.across * picture.down)
        return DF_END;
    int64_t halo = ((int64_t)h - size) / 2;
    int64_t top = wave / picture.across * size - halo, left = wave % picture.across * size - halo;
    for (size_t y = 0; y < h; y++)
        copy_row(t + 3 * y * w, picture.rgb + (size_t)mirrored(top + (int64_t)y, picture.height) * picture.width * 3,
                 left, (int64_t)w);
    return DF_OK;
}

int write_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *e, const char *path)
{
    int64_t wave = df_wave(call);
    uint32_t top = (uint32_t)(wave / picture.across) * (uint32_t)h,
             left = (uint32_t)(wave % picture.across) * (uint32_t)w;
    uint32_t rows = picture.height - top < h ? picture.height - top : (uint32_t)h;
    uint32_t columns = picture.width - left < w ? picture.width - left : (uint32_t)w;
    if (!picture.edges && !(picture.edges = malloc((size_t)picture.width * picture.height)))
        return df_fail(call, "out of memory for a picture of %u x %u", picture.width, picture.height);
    for (uint32_t y = 0; y < rows; y++)
        memcpy(picture.edges + (size_t)(top + y) * picture.width + left, e + y * w, columns);
    picture.written = wave + 1;
    if (wave + 1 < (int64_t)picture.across * picture.down)
        return DF_OK;
    png_image png = {
        .version = PNG_IMAGE_VERSION, .width = picture.width, .height = picture.height, .format = PNG_FORMAT_GRAY
    };
    if (!png_image_write_to_file(&png, path, 0, picture.edges, 0, NULL))
        return df_fail(call, "can't write '%s': %s", path, png.message);
    return DF_OK;
}
