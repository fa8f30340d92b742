/* text.c - parses and formats quantities with units, and escapes text for other formats (text.h), for messages,
 * reports, options and files of every room. */
#include "runtime/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/message.h"

bool dfr_parse_size(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *unit;
        uint64_t bytes;
    } units[] = { { "", 1 },
                  { "B", 1 },
                  { "kB", 1000 },
                  { "MB", 1000000 },
                  { "GB", 1000000000 },
                  { "TB", 1000000000000 },
                  { "KiB", UINT64_C(1) << 10 },
                  { "MiB", UINT64_C(1) << 20 },
                  { "GiB", UINT64_C(1) << 30 },
                  { "TiB", UINT64_C(1) << 40 } };
    size_t digits = strspn(text, "0123456789"), fraction = 0;
    if (digits && text[digits] == '.')
        fraction = strspn(text + digits + 1, "0123456789");
    const char *unit = text + digits + (fraction ? fraction + 1 : 0);
    unit += strspn(unit, " ");
    if (!digits)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].unit))
            continue;
        errno = 0;
        uint64_t whole = strtoull(text, NULL, 10), result;
        if (errno || __builtin_mul_overflow(whole, units[i].bytes, &result))
            return false;
        if (fraction)
            result += (uint64_t)(strtod(text + digits, NULL) * (double)units[i].bytes);
        if (!result || result > INT64_MAX || (!*unit && result < DFR_LEAST_BYTES))
            return false;
        *bytes = result;
        return true;
    }
    return false;
}

bool dfr_parse_seconds(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double s;
    } units[] = { { "s", 1 },    { "ms", 1e-3 }, { "us", 1e-6 }, { "ns", 1e-9 },
                  { "min", 60 }, { "m", 60 },    { "h", 3600 } };
    size_t digits = strspn(text, "0123456789"), fraction = 0;
    if (digits && text[digits] == '.')
        fraction = strspn(text + digits + 1, "0123456789");
    const char *unit = text + digits + (fraction ? fraction + 1 : 0);
    unit += strspn(unit, " ");
    for (size_t i = 0; digits && i < sizeof units / sizeof *units; i++) {
        double value = strtod(text, NULL) * units[i].s;
        if (strcmp(unit, units[i].unit))
            continue;
        if (!(value > 0 && value < 1e9))
            return false;
        *seconds = value;
        return true;
    }
    return false;
}

/* Digits after the point, so that at most three are significant: 1.23, 12.3, 123. */
static int decimals(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

/* from: the least time that is written in the unit with three digits. */
static const struct {
    double from, scale;
    const char *unit;
} time_units[] = { { 0.9995, 1, "s" }, { 0.9995e-3, 1e3, "ms" }, { 0.9995e-6, 1e6, "us" }, { 0, 1e9, "ns" } };

char *dfr_text_seconds(double seconds, char *text, size_t size)
{
    unsigned u = 0;
    if (!(seconds > 0)) {
        snprintf(text, size, "0 s");
        return text;
    }
    while (u < 3 && seconds < time_units[u].from)
        u++;
    double value = seconds * time_units[u].scale;
    snprintf(text, size, "%.*f %s", decimals(value), value, time_units[u].unit);
    return text;
}

char *dfr_text_seconds_6(double seconds, char *text, size_t size)
{
    unsigned u = 0;
    while (u < 3 && seconds != 0 && seconds * time_units[u].scale < 1)
        u++;
    if (seconds == seconds)
        snprintf(text, size, "%.6g %s", seconds * time_units[u].scale, time_units[u].unit);
    else
        snprintf(text, size, "-");
    return text;
}

char *dfr_text_bytes(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double value = (double)bytes;
    unsigned u = 0;
    for (; value >= (u ? 999.5 : 1024) && u < 6; u++) /* whole bytes are exact */
        value /= 1024;
    snprintf(text, size, "%.*f %s", u ? decimals(value) : 0, value, units[u]);
    return text;
}

char *dfr_text_close(FILE *out, char **text)
{
    const bool failed = !out || ferror(out);
    if (out && fclose(out) == 0 && !failed)
        return *text;
    free(*text);
    return *text = NULL;
}

void dfr_text_clean(char *text)
{
    for (size_t n; *text; text += n ? n : 1)
        if ((n = dfr_shown_bytes(text, strnlen(text, 4))) == 0)
            *text = '?';
}

/* Puts '?' for a byte that is no UTF-8 or a control character. Gives the bytes of the character at `text`. */
static size_t put_utf8(FILE *out, const char *text)
{
    size_t length = dfr_shown_bytes(text, strnlen(text, 4));
    if (length == 0)
        fputc('?', out);
    else
        fwrite(text, 1, length, out);
    return length ? length : 1;
}

void dfr_text_csv(FILE *out, const char *text)
{
    const bool quoted = text[strcspn(text, ",\"\r\n")];
    if (quoted)
        fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        if (strchr("\t\r\n", *text))
            fputc(*text, out);
        else
            text += put_utf8(out, text) - 1;
    }
    if (quoted)
        fputc('"', out);
}

void dfr_text_json(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(out, "\\u%04x", *p);
        else
            p += put_utf8(out, (const char *)p) - 1;
    }
    fputc('"', out);
}

void dfr_text_xml(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: text += put_utf8(out, text) - 1;  /* XML has no control characters */
        }
}

void dfr_shell_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,@%+-";
    if (*word && !word[strspn(word, plain)]) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (const char *c = word; *c; c++)
        *c == '\'' ? fputs("'\\''", out) : fputc(*c, out);
    fputc('\'', out);
}
