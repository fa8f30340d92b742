/* tissue.c - both ends of nuclei.df: tiles with tissue, outlines, the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <df_io.h>

#include "nucleus.h"

static const char *const of_pixels[] = { "max", "min", "std", "entropy", "energy", "skewness", "kurtosis", "grad_mean", "grad_std",
                                         "grad_entropy", "grad_energy", "grad_skewness", "grad_kurtosis", "edge_area", "edge_mean" };

int tissue_cpu(struct df_call *call, size_t th, size_t tw, size_t *h, size_t *w, const uint8_t *t, const int64_t *at,
               int32_t *of_gpu, uint8_t *r, uint8_t *g, uint8_t *b)
{
    size_t below = (size_t)(at[2] - at[0]), right = (size_t)(at[3] - at[1]), bright = 0;
    (void)of_gpu;
    if (th > MOST_SIDE || tw > MOST_SIDE)
        return tile_is_too_large(call);
    *h = below < th ? below : th;
    *w = right < tw ? right : tw;
    for (size_t y = 0; y < *h; y++) {
        const uint8_t *row = t + y * tw * 3;
        uint8_t *ry = r + y * *w, *gy = g + y * *w, *by = b + y * *w;
        unsigned in_row = 0;
        for (size_t x = 0, end = *w; x < end; x++) {
            ry[x] = row[3 * x];
            gy[x] = row[3 * x + 1];
            by[x] = row[3 * x + 2];
            in_row += (ry[x] > 220) & (gy[x] > 220) & (by[x] > 220);
        }
        bright += in_row;
    }
    return 10 * bright >= 9 * *h * *w ? DF_SKIP : DF_OK;
}

/* Nuclei get an outline of one pixel, within them. */
int outline_cpu(struct df_call *call, size_t th, size_t tw, size_t h, size_t w, const uint8_t *t, const int32_t *labels, uint8_t *o)
{
    static const uint8_t colour[3] = { 0, 255, 0 };
    (void)call;
    memcpy(o, t, th * tw * 3);
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            const int32_t *l = labels + y * w + x;
            if (*l && (y == 0 || l[-(ptrdiff_t)w] != *l || y == h - 1 || l[w] != *l || x == 0 || l[-1] != *l || x == w - 1 || l[1] != *l))
                memcpy(o + (y * tw + x) * 3, colour, 3);
        }
    return DF_OK;
}

/* ---- the table ---- */

struct rows {
    struct df_output *output;
};

static int end_rows(void *state, int good, struct df_error *error)
{
    return df_output_close(((struct rows *)state)->output, good, error);
}

static void write_names(FILE *file)
{
    static const char *const cells[] = { "cell_grey", "cell_hema", "cell_eosin" };
    fputs("tile,label,top,left,bottom,right,area,perimeter,eccentricity,circularity,major_axis,minor_axis,extent,grey_mean", file);
    for (size_t i = 0; i < sizeof of_pixels / sizeof *of_pixels; i++)
        fprintf(file, ",grey_%s", of_pixels[i]);
    for (size_t c = 0; c < 3; c++) {
        fprintf(file, ",%s_mean,%s_mean_by_median", cells[c], cells[c]);
        for (size_t i = 0; i < sizeof of_pixels / sizeof *of_pixels; i++)
            fprintf(file, ",%s_%s", cells[c], of_pixels[i]);
    }
    fputc('\n', file);
}

/* A row for each nucleus; its box is in pixels of the whole picture. */
int save_cpu(struct df_call *call, size_t n, const int32_t *box, const float *table, const int64_t *at, const char *path)
{
    struct rows *rows = df_state(call, sizeof *rows, end_rows);
    if (!rows)
        return DF_FAILED;
    const int new = !rows->output;
    if (new && df_output_open(call, path, &rows->output) != DF_OK)
        return DF_FAILED;
    FILE *file = df_output_resume(rows->output);
    if (new)
        write_names(file);
    for (size_t i = 0; i < n; i++) {
        const struct box *b = (const struct box *)box + i;
        fprintf(file, "%lld,%d,%lld,%lld,%lld,%lld", (long long)df_wave(call), (int)b->label, (long long)(b->top + at[0]),
                (long long)(b->left + at[1]), (long long)(b->bottom + at[0]), (long long)(b->right + at[1]));
        for (size_t k = 0; k < N_FEATURES; k++)
            fprintf(file, ",%.6g", (double)table[N_FEATURES * i + k]);
        fputc('\n', file);
    }
    return df_output_pause(call, rows->output);
}

/* Says how many nuclei there are. If there are none, no tile has come to save(), and the table is its first line. */
int report_cpu(struct df_call *call, const int64_t *found, const char *path)
{
    struct df_output *output;
    fprintf(stderr, "%lld nuclei in %lld of %lld tiles\n", (long long)found[0], (long long)found[1], (long long)df_wave(call));
    if (found[1] > 0)
        return DF_OK;
    if (df_output_open(call, path, &output) != DF_OK)
        return DF_FAILED;
    write_names(df_output_resume(output));
    return df_output_close_job(call, output, 1);
}
