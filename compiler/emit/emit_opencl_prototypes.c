/* emit_opencl_prototypes.c - prints for build/build_units.c the kernels of a .cl file as C, with types and without bodies, so that a C compiler's debug information
 * tells their parameters (`dfc wrap`). Line numbers are kept, so that messages of the compiler name the lines of the file.
 */
#include "compiler/emit/emit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What OpenCL C has and C has not. A vector is a struct of its numbers, and memory of a work-group is _Atomic, which nothing else is. */
static const char prelude[] =
    "#define __kernel\n#define kernel\n#define __global\n#define global\n#define __private\n#define private\n#define __constant const\n#define constant const\n"
    "#define __local _Atomic\n#define local _Atomic\n#define __read_only\n#define read_only\n#define __write_only\n#define write_only\n#define __read_write\n#define read_write\n"
    "#define __OPENCL_VERSION__ 120\n#define __OPENCL_C_VERSION__ 120\n#define CL_VERSION_1_0 100\n#define CL_VERSION_1_1 110\n#define CL_VERSION_1_2 120\n"
    "typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong; typedef unsigned long size_t; typedef long ptrdiff_t;\n"
    "#ifdef __FLT16_MAX__\ntypedef _Float16 half;\n#else\ntypedef ushort half;\n#endif\n"
    "#define DF_VECTORS(t) typedef struct { t a, b; } t##2; typedef struct { t a, b, c, d; } t##3, t##4; typedef struct { t a, b, c, d, e, f, g, h; } t##8; \\\n"
    "    typedef struct { t a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p; } t##16;\n"
    "DF_VECTORS(char) DF_VECTORS(uchar) DF_VECTORS(short) DF_VECTORS(ushort) DF_VECTORS(int) DF_VECTORS(uint) DF_VECTORS(long) DF_VECTORS(ulong) DF_VECTORS(float) DF_VECTORS(double)\n"
    "typedef struct { void *p; } image1d_t, image2d_t, image3d_t, image1d_array_t, image2d_array_t, image1d_buffer_t, sampler_t, event_t;\n";

/* The end of what is at `at` and no code: a comment, a text, or a line for the preprocessor. Else `at`. */
static char *skip(const char *text, char *at)
{
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (*at == '"' || *at == '\'') {
        const char quote = *at++;
        for (; *at && *at != quote; at++)
            at += *at == '\\' && at[1];
        return at + (*at == quote);
    }
    const char *before = at;
    while (*at == '#' && before > text && (before[-1] == ' ' || before[-1] == '\t'))
        before--;
    if (*at == '#' && (before == text || before[-1] == '\n'))
        for (at++; *at && !(*at == '\n' && at[-1] != '\\');)
            at++;
    return at;
}

/* Blanks what is neither the end of a line nor for the preprocessor. */
static void blank(const char *text, char *from, const char *to)
{
    while (from < to) {
        char *end = skip(text, from);
        const bool kept = end > from && *from == '#';
        for (end = end > from ? end : from + 1; from < end; from++)
            if (!kept && *from != '\n')
                *from = ' ';
    }
}

/* The bracket that closes the one at `at`, or the end of the text. */
static char *close_of(const char *text, char *at)
{
    for (unsigned depth = 0; *at;) {
        char *end = skip(text, at);
        depth += end == at && *at == '{';
        if (end == at && *at == '}' && --depth == 0)
            return at;
        at = end > at ? end : at + 1;
    }
    return at;
}

static bool has_word(const char *from, const char *to, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = from; at + n <= to; at++)
        if (strncmp(at, word, n) == 0 && (at == from || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) && !(isalnum((unsigned char)at[n]) || at[n] == '_'))
            return true;
    return false;
}

/* Kernels lose their bodies, types stay, and all else is blanked. */
static void keep_prototypes(char *text)
{
    char *item = text, last = '\0';
    for (char *at = text, *end; *at; at = end) {
        if ((end = skip(text, at)) > at)
            continue;
        end = at + 1;
        if (*at == '{') {
            char *close = close_of(text, at);
            end = close + (*close == '}');
            if (last == ')') {
                const bool is_kernel = has_word(item, at, "kernel") || has_word(item, at, "__kernel");
                blank(text, is_kernel ? at + 1 : item, is_kernel ? close : end);
                item = end;
            }
        } else if (*at == ';') {
            const bool is_type = has_word(item, at, "typedef") || has_word(item, at, "struct") || has_word(item, at, "union") || has_word(item, at, "enum");
            if (!is_type || memchr(item, '=', (size_t)(at - item)))
                blank(text, item, end);
            item = end;
        }
        if (!isspace((unsigned char)*at))
            last = *at;
    }
}

bool dfc_emit_opencl_prototypes(FILE *out, const char *path)
{
    struct dfc_list files = { 0 };
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    bool good = to && dfc_emit_opencl_text(to, path, &files);
    good = to && fclose(to) == 0 && good;
    if (good) {
        keep_prototypes(text);
        fprintf(out, "%s%s", prelude, text);
    }
    dfc_list_free(&files);
    free(text);
    return good;
}
