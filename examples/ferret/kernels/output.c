/* output.c - what was found, as a table and as a page. The page has all pictures in itself, each one once. */
#include "index.h"

#include <stdlib.h>
#include <string.h>

struct results {
    struct df_output *output;
    struct df_files *queries;
    struct index index;
    uint8_t *shown;                     /* of each picture of the index: is it in the page? */
    int begun;                          /* the table has its first line */
};

static int end_results(void *state, int good, struct df_error *error)
{
    struct results *r = state;
    if (good && r->shown)
        fprintf(df_output_resume(r->output), "</main>\n</html>\n");
    const int result = df_output_close(r->output, good, error);
    df_files_close(r->queries);
    index_close(&r->index);
    free(r->shown);
    return result;
}

static int begin(struct df_call *call, struct results *r, const char *index, const char *input, const char *output)
{
    const int good = index_open(call, index, &r->index) == DF_OK && df_files_open(call, input, &r->queries) == DF_OK &&
                     df_output_open(call, output, &r->output) == DF_OK;
    return good ? DF_OK : DF_FAILED;
}

/* The state of the sink, begun if it is new, and its file. NULL: reported. */
static struct results *results_file(struct df_call *call, size_t k, const int32_t *nearest, const char *index, const char *input,
                                    const char *output, FILE **file)
{
    struct results *r = df_state(call, sizeof *r, end_results);
    if (!r || (!r->output && begin(call, r, index, input, output) != DF_OK))
        return NULL;
    int result = (size_t)df_wave(call) < df_files_n(r->queries) ? DF_OK : df_fail(call, "there are more pictures than names");
    for (size_t i = 0; i < k && result == DF_OK; i++)
        if (nearest[i] < 0 || nearest[i] >= r->index.head->images)
            result = df_fail(call, "'%s' was replaced during the run", index);
    *file = df_output_resume(r->output);
    return result == DF_OK ? r : NULL;
}

/* A field of a table: in quotation marks if it has to be. */
static void put_field(FILE *file, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++)
        fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', file);
}

int table_cpu(struct df_call *call, size_t k, const int32_t *nearest, const double *distance, const char *index, const char *input,
              const char *output)
{
    FILE *file = NULL;
    struct results *r = results_file(call, k, nearest, index, input, output, &file);
    if (!r)
        return DF_FAILED;
    if (!r->begun++)
        fprintf(file, "query,rank,picture,distance\n");
    for (size_t i = 0; i < k; i++) {
        put_field(file, df_files_path(r->queries, (size_t)df_wave(call)));
        fprintf(file, ",%zu,", i + 1);
        put_field(file, r->index.names + r->index.name_at[nearest[i]]);
        fprintf(file, ",%.6f\n", distance[i]);
    }
    return df_output_pause(call, r->output);
}

/* ---- the page ---- */

static void put_text(FILE *file, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': fputs("&lt;", file); break;
        case '&': fputs("&amp;", file); break;
        case '"': fputs("&quot;", file); break;
        default: fputc(*text, file);
        }
}

/* Three bytes of data, `n` of which are there, as four digits. */
static void four_digits(char *to, const uint8_t *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned v = (unsigned)data[0] << 16 | (n > 1 ? (unsigned)data[1] << 8 : 0) | (n > 2 ? data[2] : 0u);
    to[0] = digits[v >> 18];
    to[1] = digits[v >> 12 & 63];
    to[2] = n > 1 ? digits[v >> 6 & 63] : '=';
    to[3] = n > 2 ? digits[v & 63] : '=';
}

static void put_base64(FILE *file, const uint8_t *data, size_t n)
{
    char text[4096];
    size_t used = 0;
    for (size_t i = 0; i < n; i += 3, used += 4) {
        if (used == sizeof text) {
            fwrite(text, 1, used, file);
            used = 0;
        }
        four_digits(text + used, data + i, n - i);
    }
    fwrite(text, 1, used, file);
}

/* A style of that name, with the picture as its background. */
static void put_style(FILE *file, char kind, int64_t number, const uint8_t *png, size_t n)
{
    fprintf(file, "<style>.%c%lld{background-image:url(data:image/png;base64,", kind, (long long)number);
    put_base64(file, png, n);
    fprintf(file, ")}</style>\n");
}

static void put_picture(FILE *file, char kind, int64_t number, const char *path, const char *below)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    fprintf(file, "<figure><div class=\"p %c%lld\" role=img title=\"", kind, (long long)number);
    put_text(file, path);
    fprintf(file, "\"></div><figcaption><b>%s</b> <span>", below);
    put_text(file, name);
    fprintf(file, "</span></figcaption></figure>\n");
}

static void put_head(FILE *file, const struct results *r)
{
    fprintf(file,
            "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<meta name=viewport content=\"width=device-width\">\n<title>ferret</title>\n"
            "<style>\nbody{margin:0;background:#eceae6;color:#222;font:13px/1.35 system-ui,sans-serif}\n"
            "header{padding:18px 24px 4px}h1{font-size:20px;margin:0}header p{margin:4px 0;color:#555}main{padding:8px 24px 24px;width:max-content}\n"
            "section{display:flex;gap:8px;align-items:flex-start;background:#fff;border-radius:6px;margin:0 0 10px;padding:10px}\n"
            "figure{margin:0;width:96px;flex:none}figure:first-child{padding-right:10px;border-right:2px solid #c33;margin-right:2px}\n"
            ".p{width:96px;height:96px;background-size:cover}figcaption{font-size:11px;color:#555}figcaption b{color:#222;display:block}\n"
            "figcaption span{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}\n</style>\n"
            "<header><h1>ferret</h1><p>On the left what was looked for, then the nearest of %lld pictures. The number is the distance.</p></header>\n"
            "<main>\n",
            (long long)r->index.head->images);
}

static void put_row(struct df_call *call, struct results *r, FILE *file, const uint8_t *png, size_t bytes, size_t k, const int32_t *nearest,
                    const double *distance)
{
    const struct index *x = &r->index;
    put_style(file, 'q', df_wave(call), png, bytes);
    for (size_t i = 0; i < k; i++)
        if (!r->shown[nearest[i]]) {
            const int64_t *at = x->png_at + nearest[i];
            put_style(file, 'i', nearest[i], x->pngs + at[0], (size_t)(at[1] - at[0]));
            r->shown[nearest[i]] = 1;
        }
    fprintf(file, "<section>\n");
    put_picture(file, 'q', df_wave(call), df_files_path(r->queries, (size_t)df_wave(call)), "looked for");
    for (size_t i = 0; i < k; i++) {
        char number[32];
        snprintf(number, sizeof number, "%.3f", distance[i]);
        put_picture(file, 'i', nearest[i], x->names + x->name_at[nearest[i]], number);
    }
    fprintf(file, "</section>\n");
}

int page_cpu(struct df_call *call, size_t b, size_t k, const uint8_t *png, const int32_t *nearest, const double *distance, const char *index,
             const char *input, const char *output)
{
    FILE *file = NULL;
    struct results *r = results_file(call, k, nearest, index, input, output, &file);
    if (!r)
        return DF_FAILED;
    if (!r->shown) {
        r->shown = calloc((size_t)r->index.head->images, 1);
        if (!r->shown)
            return df_fail(call, "no memory");
        put_head(file, r);
    }
    put_row(call, r, file, png, b, k, nearest, distance);
    return df_output_pause(call, r->output);
}
