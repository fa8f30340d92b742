/* emit_opencl_formulas.c - prints for build/build_units.c the unit that has a program's formulas for OpenCL devices: the C functions that launch their kernels, and
 * the OpenCL C of these kernels as a text, which the driver compiles when the program runs.
 *
 * Headers: a driver finds no files, so what the text includes of libdf's headers is put into it, without comments and indentation.
 */
#include "compiler/emit/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/generate/generate.h"
#include "compiler/tools/messages.h"
#include "runtime/base/text.h"

/* ---- one text ---- */

/* Headers that are OpenCL C. Others are included where another compiler reads the text. */
static const char *const headers[] = { "df_opencl_c.h", "df_math.h", "df_strips.h", "df_formula.h", "df_formula_gpu.h" };
enum { N_HEADERS = sizeof headers / sizeof *headers };

struct inlined {
    FILE *out;
    const char *folder;                 /* of the headers */
    char *own;                          /* how #line names the text itself */
    unsigned lines;                     /* of it, so far */
    bool done[N_HEADERS];
};

static bool add_header(struct inlined *to, unsigned header);

/* The number of the header that the line includes. N_HEADERS: none of ours. */
static unsigned header_of(const char *line)
{
    static const char include[] = "#include <";
    unsigned i = 0;
    if (strncmp(line, include, sizeof include - 1) != 0)
        return N_HEADERS;
    line += sizeof include - 1;
    while (i < N_HEADERS && !(strncmp(line, headers[i], strlen(headers[i])) == 0 && line[strlen(headers[i])] == '>'))
        i++;
    return i;
}

/* Prints a line of a header without comments and outer blanks; *inside: a comment goes on. */
static void add_short_line(struct inlined *to, const char *line, size_t n, bool *inside)
{
    const bool goes_on = n && line[n - 1] == '\\';
    char *text = malloc(n + 1), *end = text;
    for (size_t i = 0; text && i < n - goes_on; i++)
        if (*inside) {
            *inside = !(line[i] == '*' && line[i + 1] == '/');
            i += !*inside;
        } else if (line[i] == '/' && line[i + 1] == '*') {
            *inside = true;
            i++;
        } else if (line[i] != ' ' || end > text) {
            *end++ = line[i];
        }
    while (text && end > text && end[-1] == ' ')
        end--;
    if (text && (end > text || goes_on))
        to->lines += fprintf(to->out, "%.*s%s\n", (int)(end - text), text, goes_on ? " \\" : "") > 0;
    free(text);
}

/* Prints a line of the formulas. What names lines of their own file is for one without headers. */
static void add_line(struct inlined *to, const char *line, size_t n)
{
    const char *name = strncmp(line, "#line ", 6) == 0 ? memchr(line, '"', n) : NULL;
    to->lines++;
    if (name && strncmp(name, to->own, strlen(to->own)) == 0)
        fprintf(to->out, "#line %u %s\n", to->lines + 1, to->own);
    else
        fprintf(to->out, "%.*s\n", (int)n, line);
}

static bool add_text(struct inlined *to, const char *text, bool is_header)
{
    bool good = true, inside = false;
    while (*text && good) {
        const size_t n = strcspn(text, "\n");
        const unsigned header = header_of(text);
        if (header < N_HEADERS)
            good = to->done[header] || add_header(to, header);
        else if (is_header)
            add_short_line(to, text, n, &inside);
        else
            add_line(to, text, n);
        text += n + (text[n] == '\n');
    }
    return good;
}

static bool add_header(struct inlined *to, unsigned header)
{
    char *path, *text = NULL;
    size_t size = 0;
    to->done[header] = true;
    if (asprintf(&path, "%s/%s", to->folder, headers[header]) < 0)
        return false;
    FILE *file = fopen(path, "r");
    const bool read = file && getdelim(&text, &size, '\0', file) > 0;
    if (file)
        fclose(file);
    if (!read)
        dfc_error("cannot read '%s': %s", path, strerror(errno));
    const bool good = read && add_text(to, text, true);
    free(path);
    free(text);
    return good;
}

char *dfc_opencl_formulas_text(const struct dfg_texts *texts, const char *stem, const char *folder)
{
    struct inlined to = { .folder = folder };
    char *text = NULL;
    size_t size;
    if (asprintf(&to.own, "\"%s_formulas.cl\"", stem) < 0)
        return NULL;
    to.out = open_memstream(&text, &size);
    const bool good = to.out && add_text(&to, texts->text[1], false);
    if (to.out && !good)
        fclose(to.out);
    if (!good)
        free(text);
    free(to.own);
    return good ? dfr_text_close(to.out, &text) : NULL;
}

/* ---- the unit ---- */

/* Does the code compute with f64? So do some of df_math.h and df_formula.h whose results are of other types. */
static bool has_doubles(const char *text)
{
    static const char *const words[] = { "double", "f64", "df_sin_f32", "df_cos_f32", "df_tan_f32", "df_pow_f32", "df_i64_of_f32", "df_u32_of_f32", "df_round_f16_i" };
    bool has = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        has |= strstr(text, words[i]) != NULL;
    return has;
}

void dfc_emit_opencl_unit(FILE *out, const struct dfg_texts *texts, const char *stem, const char *text)
{
    fprintf(out, "%sstatic const char df_text[] =\n    ", texts->text[0]);
    dfc_emit_string(out, text, strlen(text));
    fprintf(out, ";\nconst struct df_cl_source df_formulas_opencl = { .name = \"%s_formulas.cl\", .text = df_text, .bytes = sizeof df_text - 1, .needs = DF_CL_EXACT%s };\n",
            stem, has_doubles(texts->text[1]) ? " | DF_CL_FP64" : "");
}
