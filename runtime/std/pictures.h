/* pictures.h - the common part of png.c, jpeg.c and tiff.c: input and output of whole pictures and of tiles. The including file
 * defines the functions declared first, and instantiates its kernels with PICTURES(). Before it includes this, a format whose files have one picture each
 * defines ONE_PICTURE.
 *
 * Extents:  height, width, channels. A kernel whose picture has two extents has one channel, a grey.
 * Elements: u8, u16, f32.
 */
#ifndef STD_PICTURES_H
#define STD_PICTURES_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <df_io.h>

#include "elements.h"

/* ---- given by the format ---- */

struct picture;                         /* a file that is read or written, at some row */

/* Opens a file whose rows are to be converted to `channels` of `elem`. Sets its extents, with the channels that the conversion can give. It reads only
 * the header, and allocates nothing whose size depends on the file: the caller compares the extents with the token first. */
static int picture_open(struct df_call *call, const char *path, enum df_elem elem, size_t channels,
                        struct picture **picture, uint64_t *extents);
/* Goes on to the file's next picture. *more is 0 if there is none. */
static int picture_turn(struct df_call *call, struct picture *picture, int *more, uint64_t *extents);
/* Prepares reading the rows of the current picture. Call it before the first picture_row(). */
static int picture_begin(struct df_call *call, struct picture *picture);
/* How many pictures the file has. */
static int64_t picture_pages(struct picture *picture);
/* Returns what is assumed of the picture because the file does not specify it, for a warning; NULL: nothing. */
static const char *picture_assumed(const struct picture *picture);
static df_next_row picture_row;

/* Begins to write to a file. */
static int picture_create(struct df_call *call, FILE *file, const char *path, enum df_elem elem, const uint64_t *extents,
                          struct picture **picture);
static df_put_row picture_put;
/* Works on the rows that have come, because the next one does not come soon. */
static int picture_flush(struct df_call *call, struct picture *picture);
/* Writes what follows the last row. */
static int picture_finish(struct df_call *call, struct picture *picture);

static void picture_close(struct picture *picture); /* NULL: nothing is open */
/* Has each file one picture? Then those before a wave's file need not be opened. */
#ifdef ONE_PICTURE
static const int one_picture = 1;

static int picture_turn(struct df_call *call, struct picture *p, int *more, uint64_t *extents)
{
    (void)call, (void)p, (void)extents;
    *more = 0;
    return DF_OK;
}

static int64_t picture_pages(struct picture *p)
{
    (void)p;
    return 1;
}
#else
static const int one_picture;
#endif

/* ---- whole pictures ---- */

static size_t channels_of(const struct token *token)
{
    return token->rank == 3 ? token->extents[2] : 1;
}

static size_t pixel_bytes_of(const struct token *token)
{
    return channels_of(token) * element_bytes[token->elem];
}

/* Warns of what is assumed of the picture. 1: it did. */
static int warn_assumed(struct df_call *call, const struct picture *picture, const char *path)
{
    const char *what = picture_assumed(picture);
    if (what)
        df_log(call, DF_LOG_WARNING, "'%s' %s", path, what);
    return what != NULL;
}

struct source {
    struct df_files *files;
    size_t next;                        /* number of the file to open */
    struct picture *picture;            /* NULL: none is open */
    int warned;                         /* of the first picture of which something is assumed */
};

static int end_source(void *state, int good, struct df_error *error)
{
    struct source *s = state;
    (void)good, (void)error;
    picture_close(s->picture);
    df_files_close(s->files);
    return DF_OK;
}

/* Compares its size with the token before anything is allocated for it. */
static int accept_picture(struct df_call *call, struct picture *picture, const char *path, const uint64_t *extents, const struct token *token)
{
    int status = df_extents_take(call, path, token->elem, token->rank, token->decided, token->extents, extents);
    return status == DF_OK ? picture_begin(call, picture) : status;
}

static int read_rows(struct df_call *call, struct picture *picture, const struct token *token, void *image)
{
    int status = DF_OK;
    size_t row_bytes = token->extents[1] * pixel_bytes_of(token);
    for (size_t y = 0; y < token->extents[0] && status == DF_OK; y++)
        status = picture_row(picture, (unsigned char *)image + y * row_bytes, call);
    return status;
}

/* Opens the next picture of the files. DF_END: there is none. */
static int next_picture(struct df_call *call, struct source *s, const struct token *token, uint64_t *extents)
{
    int more = 0;
    if (s->picture && picture_turn(call, s->picture, &more, extents) != DF_OK)
        return DF_FAILED;
    if (more)
        return DF_OK;
    picture_close(s->picture);
    s->picture = NULL;
    if (s->next == df_files_n(s->files))
        return DF_END;
    return picture_open(call, df_files_path(s->files, s->next++), token->elem, channels_of(token), &s->picture, extents);
}

/* If the first of several files has one picture, it is assumed that all have. */
static void expect_waves(struct df_call *call, const struct source *s)
{
    const int64_t pages = picture_pages(s->picture), n = (int64_t)df_files_n(s->files);
    if (n == 1)
        df_expect_waves(call, pages);
    else if (pages == 1 && (int64_t)s->next == df_wave(call) + 1)
        df_expect_waves(call, n);
}

/* The picture that was opened, or was to be, cannot be read: the next one comes from the next file. */
static int bad_picture(struct df_call *call, struct source *s)
{
    picture_close(s->picture);
    s->picture = NULL;
    return df_bad_file(call, df_files_path(s->files, s->next - 1));
}

static int next_or_bad(struct df_call *call, struct source *s, const struct token *token, uint64_t *extents)
{
    errno = 0;                          /* df_bad_file() looks at it */
    const int status = next_picture(call, s, token, extents);
    return status == DF_FAILED ? bad_picture(call, s) : status;
}

static int open_source(struct df_call *call, struct source *s, const char *path, int64_t *done)
{
    const int status = df_files_open(call, path, &s->files);
    if (status != DF_OK || !one_picture)
        return status;
    const int64_t n = (int64_t)df_files_n(s->files);
    df_expect_waves(call, n);
    s->next = (size_t)(*done < n ? *done : n);
    *done = 0;
    return DF_OK;
}

static int read_picture(struct df_call *call, const struct token *token, void *image, const char *path)
{
    struct source *s = df_state(call, sizeof *s, end_source);
    uint64_t extents[3];
    int64_t done = s && !s->files ? df_wave(call) : 0; /* pictures of waves before the first */
    if (!s || (!s->files && open_source(call, s, path, &done) != DF_OK))
        return DF_FAILED;
    const int first = s->next == 0 && !one_picture;
    int status = next_or_bad(call, s, token, extents);
    for (; done > 0 && (status == DF_OK || status == DF_SKIP); done--)
        status = next_or_bad(call, s, token, extents);
    if (status != DF_OK)
        return status;
    const char *file = df_files_path(s->files, s->next - 1);
    errno = 0;
    if (accept_picture(call, s->picture, file, extents, token) != DF_OK)
        return bad_picture(call, s);
    if (first)
        expect_waves(call, s);
    if (!s->warned)
        s->warned = warn_assumed(call, s->picture, file);
    errno = 0;
    return read_rows(call, s->picture, token, image) == DF_OK ? DF_OK : bad_picture(call, s);
}

/* Pictures of different sizes: the bounds become the size of this one. */
static int read_picture_up_to(struct df_call *call, const struct token *token, void *image, const char *path, size_t *h,
                              size_t *w)
{
    int status = read_picture(call, token, image, path);
    *h = token->extents[0];
    *w = token->extents[1];
    return status;
}

static int load_picture(struct df_call *call, const struct token *token, void *image, const char *path)
{
    struct picture *picture;
    uint64_t extents[3];
    int status = picture_open(call, path, token->elem, channels_of(token), &picture, extents);
    if (status != DF_OK)
        return status;
    status = accept_picture(call, picture, path, extents, token);
    if (status == DF_OK) {
        warn_assumed(call, picture, path);
        status = read_rows(call, picture, token, image);
    }
    picture_close(picture);
    return status;
}

static int write_rows(struct df_call *call, FILE *file, const char *path, const struct token *token, const void *image)
{
    size_t row_bytes = token->extents[1] * pixel_bytes_of(token);
    const uint64_t extents[3] = { token->extents[0], token->extents[1], channels_of(token) };
    struct picture *picture;
    int status = picture_create(call, file, path, token->elem, extents, &picture);
    if (status != DF_OK)
        return status;
    for (size_t y = 0; y < token->extents[0] && status == DF_OK; y++)
        status = picture_put(picture, (const unsigned char *)image + y * row_bytes, call);
    if (status == DF_OK)
        status = picture_finish(call, picture);
    picture_close(picture);
    return status;
}

static int write_picture(struct df_call *call, const struct token *token, const void *image, const char *pattern)
{
    struct df_output *output;
    char *path;
    if (!*pattern)
        return DF_OK;
    int *written = df_state(call, sizeof *written, NULL);
    if (!written || df_output_path(call, pattern, *written, &path) != DF_OK)
        return DF_FAILED;
    *written = 1;
    int status = df_output_open(call, path, &output);
    if (status == DF_OK) {
        status = write_rows(call, df_output_resume(output), path, token, image);
        int closed = df_output_close_job(call, output, status == DF_OK);
        status = status == DF_OK ? closed : status;
    }
    free(path);
    return status;
}

/* ---- tiles ---- */

struct tile_source {
    struct picture *picture;
    struct df_tiles_read *tiles;
};

static int end_tile_source(void *state, int good, struct df_error *error)
{
    struct tile_source *s = state;
    (void)good, (void)error;
    picture_close(s->picture);
    df_tiles_read_close(s->tiles);
    return DF_OK;
}

static int begin_tiles(struct df_call *call, struct tile_source *s, const struct token *token, const char *path,
                       int32_t halo)
{
    uint64_t extents[3];
    size_t wanted[3] = { token->extents[0], token->extents[1], channels_of(token) };
    if (picture_open(call, path, token->elem, wanted[2], &s->picture, extents) != DF_OK)
        return DF_FAILED;
    warn_assumed(call, s->picture, path);
    if (extents[2] != wanted[2])
        return df_fail(call, "'%s' has %llu channel%s, and a tile has %zu", path, (unsigned long long)extents[2], extents[2] == 1 ? "" : "s",
                       wanted[2]);
    if (df_tiles_read_open(call, extents[0], extents[1], pixel_bytes_of(token), wanted[0], wanted[1], halo,
                           &s->tiles) != DF_OK || picture_begin(call, s->picture) != DF_OK)
        return DF_FAILED;
    df_expect_waves(call, df_tiles_read_n(s->tiles));
    return DF_OK;
}

static int read_tile(struct df_call *call, const struct token *token, void *tile, int64_t *at, const char *path,
                     int32_t halo)
{
    struct tile_source *s = df_state(call, sizeof *s, end_tile_source);
    if (!s || (!s->tiles && begin_tiles(call, s, token, path, halo) != DF_OK))
        return DF_FAILED;
    if (df_wave(call) >= df_tiles_read_n(s->tiles))
        return DF_END;
    return df_tiles_read(call, s->tiles, df_wave(call), picture_row, s->picture, tile, at);
}

struct tile_sink {
    struct df_output *output;
    struct picture *picture;
    struct df_tiles_write *tiles;
    size_t extents[3];                  /* of every tile */
};

static int end_tile_sink(void *state, int good, struct df_error *error)
{
    struct tile_sink *s = state;
    int status = good ? df_tiles_write_done(s->tiles, error) : DF_OK;
    picture_close(s->picture);
    df_tiles_write_close(s->tiles);
    if (s->output)                      /* the last tile has closed it if all have come */
        df_output_close(s->output, 0, NULL);
    return status;
}

static int begin_picture(struct df_call *call, struct tile_sink *s, const struct token *token, const int64_t *at,
                         const char *path)
{
    const uint64_t extents[3] = { (uint64_t)at[2], (uint64_t)at[3], channels_of(token) };
    memcpy(s->extents, token->extents, token->rank * sizeof *s->extents);
    if (df_tiles_write_open(call, at, pixel_bytes_of(token), token->extents[0], token->extents[1], &s->tiles) != DF_OK ||
        df_output_open(call, path, &s->output) != DF_OK)
        return DF_FAILED;
    return picture_create(call, df_output_resume(s->output), path, token->elem, extents, &s->picture);
}

static int write_tile(struct df_call *call, const struct token *token, const void *tile, const int64_t *at,
                      const char *path)
{
    if (!*path)
        return DF_OK;
    struct tile_sink *s = df_state(call, sizeof *s, end_tile_sink);
    if (!s || (!s->picture && begin_picture(call, s, token, at, path) != DF_OK))
        return DF_FAILED;
    if (!same_extents(token, s->extents))
        return df_fail(call, "a tile of '%s' has another size than those before it", path);
    if (!s->output)                     /* the picture is written and closed */
        return df_fail(call, "'%s' has all its tiles of %zu x %zu, and one more comes for row %lld, column %lld: is the token as "
                       "large as a core?", path, token->extents[0], token->extents[1], (long long)at[0], (long long)at[1]);
    df_output_resume(s->output);
    int status = df_tiles_write(call, s->tiles, tile, at, picture_put, s->picture);
    if (status == DF_OK)
        status = picture_flush(call, s->picture);
    if (status == DF_OK && df_tiles_write_done(s->tiles, NULL) != DF_OK)
        return df_output_pause(call, s->output);
    if (status == DF_OK)
        status = picture_finish(call, s->picture);
    struct df_output *output = s->output;
    s->output = NULL;
    int closed = df_output_close_job(call, output, status == DF_OK);
    return status == DF_OK ? closed : status;
}

/* ---- the kernels ---- */

#define PICTURE(NAME, TILES, TYPE, NUMBER, RANK, EXTENTS, ...)                                                            \
    int read_##NAME##_cpu(struct df_call *call, EXTENTS, TYPE *image, const char *path)                                   \
    {                                                                                                                     \
        return read_picture(call, &(struct token){ NUMBER, RANK, (size_t[]){ __VA_ARGS__ } }, image, path);               \
    }                                                                                                                     \
    int load_##NAME##_cpu(struct df_call *call, EXTENTS, TYPE *image, const char *path)                                   \
    {                                                                                                                     \
        return load_picture(call, &(struct token){ NUMBER, RANK, (size_t[]){ __VA_ARGS__ } }, image, path);               \
    }                                                                                                                     \
    int write_##NAME##_cpu(struct df_call *call, EXTENTS, const TYPE *image, const char *path)                            \
    {                                                                                                                     \
        return write_picture(call, &(struct token){ NUMBER, RANK, (size_t[]){ __VA_ARGS__ } }, image, path);              \
    }                                                                                                                     \
    int read_##TILES##_cpu(struct df_call *call, EXTENTS, TYPE *tile, int64_t *at, const char *path, int32_t halo)        \
    {                                                                                                                     \
        return read_tile(call, &(struct token){ NUMBER, RANK, (size_t[]){ __VA_ARGS__ } }, tile, at, path, halo);         \
    }                                                                                                                     \
    int write_##TILES##_cpu(struct df_call *call, EXTENTS, const TYPE *tile, const int64_t *at, const char *path)         \
    {                                                                                                                     \
        return write_tile(call, &(struct token){ NUMBER, RANK, (size_t[]){ __VA_ARGS__ } }, tile, at, path);              \
    }
#define PICTURE_UP_TO(NAME, TYPE, NUMBER, RANK, EXTENTS, ...)                                                             \
    int read_##NAME##_cpu(struct df_call *call, EXTENTS, TYPE *image, const char *path)                                   \
    {                                                                                                                     \
        return read_picture_up_to(call, &(struct token){ NUMBER, RANK, (size_t[]){ __VA_ARGS__ }, 3 }, image, path, h, w); \
    }
#define COMMA ,
#define PICTURE_OF(FORMAT, SUFFIX, TYPE, NUMBER)                                                                          \
    PICTURE(FORMAT##SUFFIX, FORMAT##_tiles##SUFFIX, TYPE, NUMBER, 2, size_t h COMMA size_t w, h, w)                       \
    PICTURE(FORMAT##_rgb##SUFFIX, FORMAT##_tiles_rgb##SUFFIX, TYPE, NUMBER, 3, size_t h COMMA size_t w COMMA size_t c,    \
            h, w, c)                                                                                                      \
    PICTURE_UP_TO(FORMAT##_up_to##SUFFIX, TYPE, NUMBER, 2, size_t *h COMMA size_t *w, *h, *w)                             \
    PICTURE_UP_TO(FORMAT##_up_to_rgb##SUFFIX, TYPE, NUMBER, 3, size_t *h COMMA size_t *w COMMA size_t c, *h, *w, c)
#define PICTURES(FORMAT)                                                                                                  \
    PICTURE_OF(FORMAT, , uint8_t, DF_U8)                                                                                  \
    PICTURE_OF(FORMAT, _u16, uint16_t, DF_U16)                                                                            \
    PICTURE_OF(FORMAT, _f32, float, DF_F32)

#endif
