/* rct.c - RabbitCT's files: projections with their matrices (.rct) are read, volumes (.vol) are written.
 *
 * .rct: u32 width, u32 height, u32 views, f32 hu[2]; then for each view f64 matrix[12], f32 image[height][width].
 * .vol: u16 for each voxel: round(hu[0] * density + hu[1]), at most 4095; 0 where the density is not above 0.
 * All numbers are little endian, as on the machines that dfc is for.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <df_io.h>

enum { HEADER_BYTES = 20, MATRIX_BYTES = 12 * sizeof(double) };

struct header {
    uint32_t width, height, views;
    float hu[2];
};

struct source {
    FILE *file;
    struct header header;
    uint32_t next;                      /* number of the next view */
};

static int check_size(struct df_call *call, const char *path, FILE *file, const struct header *header)
{
    struct stat info;
    uint64_t record = MATRIX_BYTES + (uint64_t)header->width * header->height * sizeof(float);
    if (!header->width || !header->height || !header->views || header->width > 1 << 15 || header->height > 1 << 15)
        return df_fail(call, "'%s' is no .rct file: its header says %u views of %u x %u pixels", path, header->views,
                       header->width, header->height);
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
        return DF_OK;
    uint64_t want = HEADER_BYTES + record * header->views;
    if ((uint64_t)info.st_size == want)
        return DF_OK;
    return df_fail(call, "'%s' has %lld bytes, but %u views of %u x %u pixels have %llu: %s", path,
                   (long long)info.st_size, header->views, header->width, header->height, (unsigned long long)want,
                   (uint64_t)info.st_size < want ? "it is truncated" : "it is no .rct file, or something follows them");
}

static int open_rct(struct df_call *call, const char *path, FILE **file, struct header *header)
{
    FILE *opened;
    if (df_file_open(call, path, &opened) != DF_OK)
        return DF_FAILED;
    int status = fread(header, 1, HEADER_BYTES, opened) == HEADER_BYTES
                     ? check_size(call, path, opened, header)
                     : df_fail(call, "'%s' is no .rct file: it has less than the %d bytes of a header", path, HEADER_BYTES);
    if (status == DF_OK)
        *file = opened;
    else
        fclose(opened);
    return status;
}

int rct_header_cpu(struct df_call *call, int32_t *views, float *hu, const char *path)
{
    FILE *file;
    struct header header;
    if (open_rct(call, path, &file, &header) != DF_OK)
        return DF_FAILED;
    fclose(file);
    *views = (int32_t)header.views;
    hu[0] = header.hu[0];
    hu[1] = header.hu[1];
    return DF_OK;
}

static int end_source(void *state, int good, struct df_error *error)
{
    struct source *s = state;
    (void)good, (void)error;
    if (s->file)
        fclose(s->file);
    return DF_OK;
}

static int begin(struct df_call *call, struct source *s, size_t most, size_t h, size_t w, const char *path)
{
    if (open_rct(call, path, &s->file, &s->header) != DF_OK)
        return DF_FAILED;
    df_expect_waves(call, (int64_t)((s->header.views + most - 1) / most));
    return df_extents_check(call, path, DF_F32, 2, (size_t[]){ h, w },
                            (uint64_t[]){ s->header.height, s->header.width });
}

static int read_view(struct df_call *call, struct source *s, const char *path, double *a, float *p, size_t pixels)
{
    if (fread(a, MATRIX_BYTES, 1, s->file) != 1 || fread(p, sizeof *p, pixels, s->file) != pixels)
        return df_fail(call, "cannot read view %u of '%s': %s", s->next, path,
                       ferror(s->file) ? strerror(errno) : "the file ends within it");
    for (unsigned i = 0; i < 12; i++)
        if (!isfinite(a[i]))
            return df_fail(call, "the matrix of view %u of '%s' has an element that is no finite number", s->next, path);
    s->next++;
    return DF_OK;
}

int read_rct_cpu(struct df_call *call, size_t k, size_t h, size_t w, float *p, double *a, const char *path)
{
    struct source *s = df_state(call, sizeof *s, end_source);
    if (!s || (!s->file && begin(call, s, k, h, w, path) != DF_OK))
        return DF_FAILED;
    uint32_t left = s->header.views - s->next;
    if (!left)
        return DF_END;
    size_t here = k < left ? k : left;
    for (size_t i = 0; i < here; i++)
        if (read_view(call, s, path, a + 12 * i, p + i * h * w, h * w) != DF_OK)
            return DF_FAILED;
    memset(a + 12 * here, 0, (k - here) * MATRIX_BYTES);
    memset(p + here * h * w, 0, (k - here) * h * w * sizeof *p);
    return DF_OK;
}

static uint16_t hounsfield(float density, const float *hu)
{
    float value = roundf(hu[0] * density + hu[1]);
    return !(density > 0) || !(value > 0) ? 0 : value < 4095 ? (uint16_t)value : 4095;
}

int write_vol_cpu(struct df_call *call, size_t z, size_t y, size_t x, const float *vol, const float *hu, const char *path)
{
    struct df_output *output;
    if (!*path)
        return DF_OK;
    if (df_output_open(call, path, &output) != DF_OK)
        return DF_FAILED;
    FILE *file = df_output_resume(output);
    for (size_t i = 0; i < z * y * x; i++) {
        uint16_t value = hounsfield(vol[i], hu);
        fwrite(&value, sizeof value, 1, file);
    }
    return df_output_close_job(call, output, 1);
}

int write_density_cpu(struct df_call *call, size_t z, size_t y, size_t x, const float *vol, const char *path)
{
    struct df_output *output;
    if (!*path)
        return DF_OK;
    if (df_output_open(call, path, &output) != DF_OK)
        return DF_FAILED;
    fwrite(vol, sizeof *vol, z * y * x, df_output_resume(output));
    return df_output_close_job(call, output, 1);
}
