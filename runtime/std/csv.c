/* csv.c - the sinks of std/csv.df, compiled into programs that import it: write one row of comma-separated numbers per wave. Floats have the fewest digits that
 * parse back to the same number.
 */
#include <stdlib.h>
#include <string.h>

#include <df_formula.h>
#include <df_io.h>

#include "elements.h"

struct table {
    struct df_output *output;
};

static int end_table(void *state, int good, struct df_error *error)
{
    return df_output_close(((struct table *)state)->output, good, error);
}

/* The file for this wave's row, with its header when it is new: a file of its own if the path has a %d, else one for all waves. NULL:
 * reported. */
static FILE *row_file(struct df_call *call, size_t n, const char *pattern, const char *header, struct df_output **output)
{
    size_t names = 1;
    for (const char *p = header; *p; p++)
        names += *p == ',';
    if (*header && n > 0 && names != n) {
        df_fail(call, "the header '%s' names %zu columns, and a row has %zu", header, names, n);
        return NULL;
    }
    const int own = df_path_has_wave(pattern);
    struct table *t = own ? NULL : df_state(call, sizeof *t, end_table);
    if (!own && !t)
        return NULL;
    if (t && t->output)
        return df_output_resume(*output = t->output);
    char *path;
    if (df_output_path(call, pattern, 0, &path) != DF_OK)
        return NULL;
    int begins = 1;
    int status = own ? df_output_open(call, path, output) : df_output_append(call, path, output, &begins);
    free(path);
    if (status != DF_OK)
        return NULL;
    if (t)
        t->output = *output;
    FILE *file = df_output_resume(*output);
    if (begins && *header)
        fprintf(file, "%s\n", header);
    if (begins && t)
        df_output_head(*output);
    return file;
}

/* Ends a job that wrote a row. */
static int end_row(struct df_call *call, const char *pattern, struct df_output *output)
{
    return df_path_has_wave(pattern) ? df_output_close_job(call, output, 1) : df_output_pause(call, output);
}

static void put_integer(FILE *file, int64_t v)
{
    fprintf(file, "%lld", (long long)v);
}

enum of { F16, F32, F64 };

static int is_same(const char *text, double v, enum of of)
{
    return of == F64 ? strtod(text, NULL) == v : of == F32 ? strtof(text, NULL) == (float)v : (double)df_round_f16_f64(strtod(text, NULL)) == v;
}

static void put_float(FILE *file, double v, int least, int most, enum of of)
{
    char text[40];
    for (int digits = least; digits <= most; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (is_same(text, v, of))
            break;
    }
    fputs(text, file);
}

#define PUT_u8(file, v) put_integer(file, v)
#define PUT_u16(file, v) put_integer(file, v)
#define PUT_u32(file, v) put_integer(file, v)
#define PUT_i8(file, v) put_integer(file, v)
#define PUT_i16(file, v) put_integer(file, v)
#define PUT_i32(file, v) put_integer(file, v)
#define PUT_i64(file, v) put_integer(file, v)
#define PUT_f16(file, v) put_float(file, (double)df_f32_of_f16(v), 3, 5, F16)
#define PUT_f32(file, v) put_float(file, (double)(v), 6, 9, F32)
#define PUT_f64(file, v) put_float(file, v, 15, 17, F64)

#define CSV(ELEM, TYPE)                                                                                              \
    int write_csv_##ELEM##_cpu(struct df_call *call, size_t n, const TYPE *row, const char *path, const char *header) \
    {                                                                                                                \
        if (!*path)                                                                                                  \
            return DF_OK;                                                                                            \
        struct df_output *output;                                                                                    \
        FILE *file = row_file(call, n, path, header, &output);                                                       \
        if (!file)                                                                                                   \
            return DF_FAILED;                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                             \
            PUT_##ELEM(file, row[i]);                                                                                \
            fputc(i + 1 < n ? ',' : '\n', file);                                                                     \
        } /* a row of no numbers is no line */                                                                       \
        return end_row(call, path, output);                                                                          \
    }
CSV(u8, uint8_t)
CSV(u16, uint16_t)
CSV(u32, uint32_t)
CSV(i8, int8_t)
CSV(i16, int16_t)
CSV(i32, int32_t)
CSV(i64, int64_t)
CSV(f16, df_f16)
CSV(f32, float)
CSV(f64, double)
