/* jpeg.c - the sources and sinks of std/jpeg.df, compiled into programs that import it: JPEG input and output through libjpeg-turbo.
 *
 * Samples:  of 8 bits. f32 is 0 to 1. The inverse transform is libjpeg's exact one (islow) with smooth upsampling of colours, so that what is read has the bits that
 *           PIL and djpeg give. Profiles are ignored, and so is the orientation of Exif, which is warned of.
 * Channels: 1 grey, 3 RGB. Grey is converted to RGB if requested. CMYK is refused.
 * Written:  baseline, quality 95, colours not subsampled.
 * Damage:   what libjpeg only warns of, such as a file that is cut off, is an error: the pixels behind it would be made up.
 */
#if !__has_include(<jpeglib.h>)
#error "std/jpeg.df needs libjpeg: sudo apt-get install libjpeg-dev"
#endif
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#define ONE_PICTURE
#include "pictures.h"

#define QUALITY 95
#define EXIF_BYTES 4096                 /* of it are looked at: the orientation stands at its beginning */

struct picture {
    struct jpeg_error_mgr error;        /* first, so that libjpeg's pointer to it is one to this */
    jmp_buf failed;
    struct df_call *call;               /* the job that runs */
    char *path;
    FILE *file;                         /* reading: its own */
    int writes, turned;                 /* turned: Exif says that the picture is to be shown in another orientation */
    struct jpeg_decompress_struct in;
    struct jpeg_compress_struct out;
    enum df_elem elem;
    size_t channels;
    JSAMPLE *line;                      /* of f32: a row as libjpeg has it */
};

/* ---- messages of libjpeg ---- */

static void fail(struct picture *p, j_common_ptr jpeg)
{
    char why[JMSG_LENGTH_MAX];
    p->error.format_message(jpeg, why);
    if (p->writes)
        df_fail(p->call, "cannot write '%s': %s", p->path, ferror(p->file) ? strerror(errno) : why);
    else
        df_fail(p->call, "cannot read '%s': %s", p->path, why);
    longjmp(p->failed, 1);
}

static void on_error(j_common_ptr jpeg)
{
    fail((struct picture *)jpeg->err, jpeg);
}

/* level -1: the data is damaged, and libjpeg would go on. Others are remarks. */
static void on_message(j_common_ptr jpeg, int level)
{
    if (level < 0)
        fail((struct picture *)jpeg->err, jpeg);
}

static void picture_close(struct picture *p)
{
    if (!p)
        return;
    if (p->writes)
        jpeg_destroy_compress(&p->out);
    else
        jpeg_destroy_decompress(&p->in);
    if (p->file && !p->writes)
        fclose(p->file);
    free(p->line);
    free(p->path);
    free(p);
}

/* NULL: no memory (recorded). */
static struct picture *picture_new(struct df_call *call, const char *path, enum df_elem elem, int writes)
{
    struct picture *p = calloc(1, sizeof *p);
    if (p && (p->path = strdup(path))) {
        p->call = call;
        p->elem = elem;
        p->writes = writes;
        p->in.err = p->out.err = jpeg_std_error(&p->error);
        p->error.error_exit = on_error;
        p->error.emit_message = on_message;
        return p;
    }
    free(p);
    df_fail(call, "out of memory for '%s'", path);
    return NULL;
}

/* ---- reading ---- */

static unsigned number_at(const unsigned char *at, unsigned n, int big)
{
    unsigned number = 0;
    for (unsigned i = 0; i < n; i++)
        number |= (unsigned)at[big ? n - 1 - i : i] << 8 * i;
    return number;
}

/* Does Exif have another orientation than 1? Its first directory is a list of entries of 12 bytes; 0x112 is the orientation. */
static int is_turned(const unsigned char *exif, size_t n)
{
    const int big = n > 8 && exif[6] == 'M';
    const unsigned char *tiff = exif + 6;
    if (n < 14 || memcmp(exif, "Exif\0", 6) != 0)
        return 0;
    const size_t first = number_at(tiff + 4, 4, big), bytes = n - 6;
    if (first > bytes - 2)
        return 0;
    const size_t entries = number_at(tiff + first, 2, big);
    for (size_t i = 0; i < entries && first + 2 + 12 * (i + 1) <= bytes; i++)
        if (number_at(tiff + first + 2 + 12 * i, 2, big) == 0x112)
            return number_at(tiff + first + 2 + 12 * i + 8, 2, big) > 1;
    return 0;
}

static int check_channels(struct df_call *call, struct picture *p)
{
    const J_COLOR_SPACE space = p->in.jpeg_color_space;
    if (p->channels != 1 && p->channels != 3)
        return df_fail(call, "a JPEG has 1 or 3 channels, and the token has %zu", p->channels);
    if (space != JCS_GRAYSCALE && space != JCS_YCbCr && space != JCS_RGB)
        return df_fail(call, "'%s' is in %s, and the kernels read grey and RGB", p->path, space == JCS_CMYK || space == JCS_YCCK ? "CMYK" : "a colour space that nobody names");
    if (space != JCS_GRAYSCALE && p->channels == 1)
        return df_fail(call, "'%s' is in colour: a kernel ..._rgb reads it, and one of yours says what is grey", p->path);
    return DF_OK;
}

static int read_header(struct df_call *call, struct picture *p, uint64_t *extents)
{
    if (setjmp(p->failed))
        return DF_FAILED;
    jpeg_create_decompress(&p->in);
    jpeg_stdio_src(&p->in, p->file);
    jpeg_save_markers(&p->in, JPEG_APP0 + 1, EXIF_BYTES);
    jpeg_read_header(&p->in, TRUE);
    for (jpeg_saved_marker_ptr m = p->in.marker_list; m; m = m->next)
        p->turned |= is_turned(m->data, m->data_length);
    extents[0] = p->in.image_height;
    extents[1] = p->in.image_width;
    extents[2] = p->channels;
    return check_channels(call, p);
}

static int picture_open(struct df_call *call, const char *path, enum df_elem elem, size_t channels, struct picture **picture, uint64_t *extents)
{
    struct picture *p = picture_new(call, path, elem, 0);
    int status = p ? df_file_open(call, path, &p->file) : DF_FAILED;
    unsigned char signature[3];
    if (p)
        p->channels = channels;
    if (status == DF_OK && (fread(signature, 1, 3, p->file) != 3 || memcmp(signature, "\xFF\xD8\xFF", 3) != 0))
        status = df_fail(call, "'%s' is not a JPEG file", path);
    if (status == DF_OK) {
        rewind(p->file);
        status = read_header(call, p, extents);
    }
    if (status != DF_OK) {
        picture_close(p);
        return status;
    }
    *picture = p;
    return DF_OK;
}

static int picture_begin(struct df_call *call, struct picture *p)
{
    p->call = call;
    if (p->elem == DF_F32 && !(p->line = malloc((size_t)p->in.image_width * p->channels)))
        return df_fail(call, "out of memory for rows of '%s'", p->path);
    if (setjmp(p->failed))
        return DF_FAILED;
    p->in.out_color_space = p->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&p->in);
    return DF_OK;
}

static const char *picture_assumed(const struct picture *p)
{
    return p->turned ? "is to be shown turned or mirrored, as its Exif data says; it is read as it is stored" : NULL;
}

static int picture_row(void *source, void *row, struct df_call *call)
{
    struct picture *p = source;
    JSAMPLE *to = p->line ? p->line : row;
    p->call = call;
    if (setjmp(p->failed))
        return DF_FAILED;
    jpeg_read_scanlines(&p->in, &to, 1);
    for (size_t i = 0; p->line && i < p->in.output_width * p->channels; i++)
        ((float *)row)[i] = (float)p->line[i] / 255;
    return DF_OK;
}

/* ---- writing ---- */

static int picture_create(struct df_call *call, FILE *file, const char *path, enum df_elem elem, const uint64_t *extents, struct picture **picture)
{
    if (extents[2] != 1 && extents[2] != 3)
        return df_fail(call, "a JPEG has 1 or 3 channels, and the token has %llu", (unsigned long long)extents[2]);
    if (extents[0] > JPEG_MAX_DIMENSION || extents[1] > JPEG_MAX_DIMENSION)
        return df_fail(call, "a JPEG has at most %ld x %ld pixels", JPEG_MAX_DIMENSION, JPEG_MAX_DIMENSION);
    struct picture *p = picture_new(call, path, elem, 1);
    if (!p)
        return DF_FAILED;
    p->file = file;
    p->channels = (size_t)extents[2];
    if (setjmp(p->failed) || (elem == DF_F32 && !(p->line = malloc((size_t)extents[1] * p->channels)))) {
        picture_close(p);
        return df_fail(call, "out of memory for '%s'", path); /* if libjpeg has said something, that is what counts */
    }
    jpeg_create_compress(&p->out);
    jpeg_stdio_dest(&p->out, file);
    p->out.image_height = (JDIMENSION)extents[0];
    p->out.image_width = (JDIMENSION)extents[1];
    p->out.input_components = (int)p->channels;
    p->out.in_color_space = p->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&p->out);
    jpeg_set_quality(&p->out, QUALITY, TRUE);
    p->out.comp_info[0].h_samp_factor = p->out.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&p->out, TRUE);
    *picture = p;
    return DF_OK;
}

static JSAMPLE sample_of(float v)
{
    return v > 0 ? v < 1 ? (JSAMPLE)(v * 255 + 0.5f) : 255 : 0; /* NaN: 0 */
}

static int picture_put(void *sink, const void *row, struct df_call *call)
{
    struct picture *p = sink;
    JSAMPLE *from = p->line ? p->line : (JSAMPLE *)(uintptr_t)row;
    p->call = call;
    for (size_t i = 0; p->line && i < p->out.image_width * p->channels; i++)
        p->line[i] = sample_of(((const float *)row)[i]);
    if (setjmp(p->failed))
        return DF_FAILED;
    jpeg_write_scanlines(&p->out, &from, 1);
    return DF_OK;
}

static int picture_flush(struct df_call *call, struct picture *p)
{
    (void)call, (void)p;
    return DF_OK;
}

static int picture_finish(struct df_call *call, struct picture *p)
{
    p->call = call;
    if (setjmp(p->failed))
        return DF_FAILED;
    jpeg_finish_compress(&p->out);
    return DF_OK;
}

PICTURE_OF(jpeg, , uint8_t, DF_U8)
PICTURE_OF(jpeg, _f32, float, DF_F32)
