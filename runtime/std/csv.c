/* csv.c - a row of numbers for each wave, with a comma between them. Floats get as few digits as give the same number
 * when they are read again.
 */
#include <stdlib.h>
#include <string.h>

#include <df_io.h>

#include "elements.h"

struct table {
    struct df_output *output;
};

static int end_table(void *state, int good, struct df_error *error)
{
    return df_output_close(((struct table *)state)->output, good, error);
}

/* The table's file, with its header when it is new. NULL: reported. */
static FILE *table_file(struct df_call *call, struct table *t, size_t n, const char *path, const char *header)
{
    size_t names = 1;
    if (!t)
        return NULL;
    for (const char *p = header; *p; p++)
        names += *p == ',';
    if (*header && names != n) {
        df_fail(call, "the header '%s' names %zu columns, and a row has %zu", header, names, n);
        return NULL;
    }
    if (t->output)
        return df_output_resume(t->output);
    int begins;
    if (df_output_append(call, path, &t->output, &begins) != DF_OK)
        return NULL;
    FILE *file = df_output_resume(t->output);
    if (begins && *header)
        fprintf(file, "%s\n", header);
    if (begins)
        df_output_head(t->output);
    return file;
}

static void put_integer(FILE *file, int64_t v)
{
    fprintf(file, "%lld", (long long)v);
}

static void put_float(FILE *file, double v, int least, int most, int single)
{
    char text[40];
    for (int digits = least; digits <= most; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v)
            break;
    }
    fputs(text, file);
}

#define PUT_u8(file, v) put_integer(file, v)
#define PUT_u16(file, v) put_integer(file, v)
#define PUT_i32(file, v) put_integer(file, v)
#define PUT_i64(file, v) put_integer(file, v)
#define PUT_f32(file, v) put_float(file, (double)(v), 6, 9, 1)
#define PUT_f64(file, v) put_float(file, v, 15, 17, 0)

#define CSV(ELEM, TYPE)                                                                                              \
    int write_csv_##ELEM##_cpu(struct df_call *call, size_t n, const TYPE *row, const char *path, const char *header) \
    {                                                                                                                \
        if (!*path)                                                                                                  \
            return DF_OK;                                                                                            \
        struct table *t = df_state(call, sizeof *t, end_table);                                                      \
        FILE *file = table_file(call, t, n, path, header);                                                           \
        if (!file)                                                                                                   \
            return DF_FAILED;                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                             \
            PUT_##ELEM(file, row[i]);                                                                                \
            fputc(i + 1 < n ? ',' : '\n', file);                                                                     \
        }                                                                                                            \
        return df_output_pause(call, t->output);                                                                     \
    }
CSV(u8, uint8_t)
CSV(u16, uint16_t)
CSV(i32, int32_t)
CSV(i64, int64_t)
CSV(f32, float)
CSV(f64, double)
