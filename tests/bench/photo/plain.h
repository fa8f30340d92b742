/* plain.h - the kernels of examples/photo called by hand, from C or C++: what a kernel is given, and what it may ask.
 * The filters are those of tests/photo, compiled with this header before them; source and sink are those of std/png.c
 * (../endtoend.py).
 */
#ifndef PLAIN_H
#define PLAIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DF_OK = 0, DF_END = 1, DF_FAILED = 3 };          /* as in df.h */
enum { TILE = 256, HALO = 3, BIG = TILE + 2 * HALO };   /* photo.df */

struct df_call {
    int64_t wave;
};

struct tile {
    struct df_call call;
    int64_t at[4];
    uint8_t rgb[BIG * BIG * 3], grey[BIG * BIG], blurred[(BIG - 4) * (BIG - 4)], edges[TILE * TILE];
};

int64_t df_wave(const struct df_call *call);
int df_fail(struct df_call *call, const char *format, ...);
void df_pieces(struct df_call *call, size_t n, void (*piece)(void *arg, size_t i), void *arg);
int read_png_tiles_rgb_cpu(struct df_call *call, size_t h, size_t w, size_t c, uint8_t *tile, int64_t *at,
                           const char *path, int32_t halo);
int grey_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *t, uint8_t *g);
int blur_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *g, uint8_t *b);
int sobel_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *b, uint8_t *e);
int write_png_tiles_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *tile, const int64_t *at,
                        const char *path);

static inline int tile_read(struct tile *t, const char *path)
{
    return read_png_tiles_rgb_cpu(&t->call, BIG, BIG, 3, t->rgb, t->at, path, HALO);
}

static inline int tile_write(struct tile *t, const char *path)
{
    return write_png_tiles_cpu(&t->call, TILE, TILE, t->edges, t->at, path);
}

/* What a wave does between read and write; true if all went well. */
static inline int tile_filter(struct tile *t)
{
    return grey_cpu(&t->call, BIG, BIG, t->rgb, t->grey) == DF_OK &&
           blur_cpu(&t->call, BIG, BIG, t->grey, t->blurred) == DF_OK &&
           sobel_cpu(&t->call, BIG - 4, BIG - 4, t->blurred, t->edges) == DF_OK;
}

#ifdef __cplusplus
}
#endif

#endif
