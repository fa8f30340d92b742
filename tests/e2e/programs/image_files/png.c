/* png.c - writes PNG files of every variant that libpng can write, and what the kernels of std/png.df make of them: png [all].
 *
 * Every colour type, depth, tRNS and interlacing comes with every statement about gamma (none, gAMA, sRGB, iCCP). With `all` each of these comes with
 * every filter, level of compression, bKGD and sBIT, too; else these are drawn. The size always is.
 */
#include <png.h>

#include "variants.h"

#define MOST_PIXELS (53 * 37)

enum { NO_GAMMA, GAMA, SRGB, ICCP, N_GAMMAS };
static const struct { uint32_t w, h; } sizes[] = { { 13, 11 }, { 1, 1 }, { 1, 5 }, { 5, 1 }, { 3, 2 }, { 8, 9 }, { 53, 37 } };
static const int filters[] = { PNG_FILTER_NONE, PNG_FILTER_SUB, PNG_FILTER_UP, PNG_FILTER_AVG, PNG_FILTER_PAETH, PNG_ALL_FILTERS };
static const int levels[] = { 0, 1, 9 };
#define N(ARRAY) (sizeof ARRAY / sizeof *ARRAY)

struct variant {
    int type, depth, interlaced, keyed, gamma; /* keyed: it has a tRNS chunk */
    int filter, level, bkgd, sbit, size;
};

static uint32_t width, height, n_pixels;
static uint16_t samples[MOST_PIXELS][4];    /* as they are in the file */
static uint16_t pixels[MOST_PIXELS][4];     /* red, green, blue, alpha, of the depth of the file, and of 8 bits from a palette */
static png_color palette[256];
static png_byte palette_alpha[256];
static uint16_t key[3];

static int n_samples(const struct variant *v)
{
    return v->type == PNG_COLOR_TYPE_RGB_ALPHA ? 4 : v->type == PNG_COLOR_TYPE_RGB ? 3 : v->type == PNG_COLOR_TYPE_GRAY_ALPHA ? 2 : 1;
}

static uint32_t most_of(const struct variant *v)
{
    return v->type == PNG_COLOR_TYPE_PALETTE ? 255 : (1u << v->depth) - 1;
}

static void draw_pixels(const struct variant *v)
{
    const int n = n_samples(v), colours = v->type == PNG_COLOR_TYPE_PALETTE || n > 2 ? 3 : 1;
    width = sizes[v->size].w;
    height = sizes[v->size].h;
    n_pixels = width * height;
    for (int i = 0; i < 256; i++) {
        palette[i] = (png_color){ (png_byte)sample(255), (png_byte)sample(255), (png_byte)sample(255) };
        palette_alpha[i] = (png_byte)sample(255);
        palette_alpha[i] += palette_alpha[i] == 10; /* which Pillow takes for the end of a line */
    }
    for (int c = 0; c < 3; c++)
        key[c] = (uint16_t)sample((1u << v->depth) - 1);
    for (uint32_t i = 0; i < n_pixels; i++) {
        for (int c = 0; c < n; c++)
            samples[i][c] = (uint16_t)(c < 3 && drawn(2) ? key[c] : sample((1u << v->depth) - 1));
        int is_key = v->keyed;
        for (int c = 0; c < 3; c++) {
            pixels[i][c] = samples[i][colours == 3 ? c : 0];
            is_key &= samples[i][colours == 3 ? c : 0] == key[colours == 3 ? c : 0];
        }
        pixels[i][3] = (uint16_t)(n % 2 == 0 ? samples[i][n - 1] : is_key ? 0 : most_of(v));
        if (v->type == PNG_COLOR_TYPE_PALETTE) {
            const int at = samples[i][0];
            const uint16_t of_palette[4] = { palette[at].red, palette[at].green, palette[at].blue, v->keyed ? palette_alpha[at] : 255 };
            memcpy(pixels[i], of_palette, sizeof of_palette);
        }
    }
}

/* ---- the file ---- */

/* An ICC profile of nothing but its header; libpng looks at no more. */
static void set_profile(png_structp png, png_infop info, int is_colour)
{
    static png_byte profile[132] = { [3] = 132, [8] = 2, [12] = 'm', 'n', 't', 'r', [16] = 'R', 'G', 'B', ' ', 'X', 'Y', 'Z', ' ',
                                     [36] = 'a', 'c', 's', 'p', [70] = 0xf6, 0xd6, [73] = 1, [78] = 0xd3, 0x2d };
    memcpy(profile + 16, is_colour ? "RGB " : "GRAY", 4);
    png_set_iCCP(png, info, "a profile", PNG_COMPRESSION_TYPE_BASE, profile, sizeof profile);
}

static void set_chunks(png_structp png, png_infop info, const struct variant *v)
{
    const png_color_16 background = { .index = 1, .red = 1, .green = 0, .blue = 1, .gray = 1 };
    const png_byte few = v->depth > 1 ? (png_byte)(v->depth - 1) : 1;
    const int is_colour = v->type & PNG_COLOR_MASK_COLOR;
    if (v->type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 1 << v->depth);
    if (v->gamma == GAMA)
        png_set_gAMA(png, info, drawn(2) ? 1.0 / 2.2 : 1.0 / 3);
    else if (v->gamma == SRGB)
        png_set_sRGB_gAMA_and_cHRM(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    else if (v->gamma == ICCP)
        set_profile(png, info, is_colour);
    if (v->keyed)
        png_set_tRNS(png, info, palette_alpha, v->type == PNG_COLOR_TYPE_PALETTE ? 1 << v->depth : 1,
                     &(png_color_16){ .red = key[0], .green = key[1], .blue = key[2], .gray = key[0] });
    if (v->bkgd)
        png_set_bKGD(png, info, &background);
    if (v->sbit)
        png_set_sBIT(png, info, &(png_color_8){ few, few, few, few, few });
}

static void write_file(const char *name, const struct variant *v)
{
    static png_byte rows[MOST_PIXELS * 8];
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    FILE *file = fopen(name, "wb");
    const size_t n = (size_t)n_samples(v), bytes = v->depth == 16 ? 2 : 1;
    if (!file || setjmp(png_jmpbuf(png)))
        exit(1);
    png_init_io(png, file);
    png_set_IHDR(png, info, width, height, v->depth, v->type, v->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    png_set_filter(png, 0, filters[v->filter]);
    png_set_compression_level(png, levels[v->level]);
    png_set_compression_buffer_size(png, drawn(2) ? 100 : 8192);
    set_chunks(png, info, v);
    png_write_info(png, info);
    png_set_packing(png);
    for (size_t i = 0; i < n_pixels; i++)
        for (size_t c = 0; c < n; c++) {
            png_byte *to = rows + (i * n + c) * bytes;
            to[bytes - 1] = (png_byte)samples[i][c];
            if (bytes == 2)
                to[0] = (png_byte)(samples[i][c] >> 8);
        }
    const int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < height; y++)
            png_write_row(png, rows + y * width * n * bytes);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

/* ---- what is to be read ---- */

/* Sample c of pixel i of `channels`, whose full range is `most`. Alpha that is not asked for is laid on white: in the depth of the file if that has 16
 * bits, else in that of the element. */
static uint32_t wanted(const struct variant *v, uint32_t i, int c, int channels, uint32_t most)
{
    const int is_alpha = channels % 2 == 0 && c == channels - 1;
    const uint64_t of = most_of(v), depth = v->depth == 16 ? 65535 : most;
    const uint64_t s = rounded(pixels[i][is_alpha ? 3 : c] * depth, of), alpha = rounded(pixels[i][3] * depth, of);
    return (uint32_t)rounded((channels % 2 == 0 ? s : rounded(s * alpha + depth * (depth - alpha), depth)) * most, depth);
}

static void add_token(const struct variant *v, const char *group, const char *kernel, int channels)
{
    static uint8_t u8[MOST_PIXELS * 4];
    static uint16_t u16[MOST_PIXELS * 4];
    static float f32[MOST_PIXELS * 4];
    const size_t n = n_pixels * (size_t)channels;
    char suffix[32];
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = (uint32_t)(i / (size_t)channels);
        const int c = (int)(i % (size_t)channels);
        u8[i] = (uint8_t)wanted(v, at, c, channels, 255);
        u16[i] = (uint16_t)wanted(v, at, c, channels, 65535);
        f32[i] = (float)(u16[i] / 65535.0);
    }
    snprintf(suffix, sizeof suffix, "%s-u8.want", kernel);
    add(group, suffix, u8, n);
    snprintf(suffix, sizeof suffix, "%s-u16.want", kernel);
    add(group, suffix, u16, 2 * n);
    snprintf(suffix, sizeof suffix, "%s-f32.want", kernel);
    add(group, suffix, f32, 4 * n);
}

static void make(const struct variant *v)
{
    static int number;
    static const char *const kernels[] = { "", "rgb1", "rgb2", "rgb3", "rgb4" };
    const int is_colour = v->type & PNG_COLOR_MASK_COLOR;
    const char *group = is_colour ? "png-colour" : "png-grey";
    char name[96];
    draw_pixels(v);
    snprintf(name, sizeof name, "%05d-type%d-%d%s%s%s%s-%ux%u.png", number++, v->type, v->depth, v->keyed ? "-trns" : "",
             v->interlaced ? "-adam7" : "", v->sbit ? "-sbit" : "", (const char *[]){ "", "-gama", "-srgb", "-iccp" }[v->gamma], width, height);
    write_file(name, v);
    add_line(group, "txt", name);
    if (!is_colour)
        add_token(v, group, "grey", 1);
    for (int c = is_colour ? 3 : 1; c <= 4; c++)
        add_token(v, group, kernels[c], c);
}

int main(int argc, char **argv)
{
    const int all = argc > 1 && strcmp(argv[1], "all") == 0;
    static const int types[] = { PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_PALETTE, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB_ALPHA };
    const int n_drawn = (int)(N(filters) * N(levels) * 4);
    for (int kind = 0; kind < (int)N(types) * 5 * 2 * 2 * N_GAMMAS; kind++) {
        struct variant v = { .type = types[kind % 5], .depth = 1 << kind / 5 % 5, .interlaced = kind / 25 % 2, .keyed = kind / 50 % 2, .gamma = kind / 100 };
        if ((v.type == PNG_COLOR_TYPE_PALETTE ? v.depth > 8 : v.type != PNG_COLOR_TYPE_GRAY && v.depth < 8) || (v.keyed && v.type & PNG_COLOR_MASK_ALPHA))
            continue;
        for (int i = all ? 0 : (int)drawn((uint32_t)n_drawn), end = all ? n_drawn : i + 1; i < end; i++) {
            v.filter = i % 6;
            v.level = i / 6 % 3;
            v.bkgd = i / 18 % 2;
            v.sbit = i / 36 % 2;
            v.size = (int)drawn(N(sizes));
            make(&v);
        }
    }
    return 0;
}
