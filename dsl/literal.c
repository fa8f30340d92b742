/* literal.c - converts the spelling of numbers, strings and names to their values for the scanner (lexer.l), and checks
 * their limits.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dsl/reader.h"

struct dfl_number dfl_literal_int(struct dfl_reader *r, struct dfl_loc loc, const char *digits)
{
    struct dfl_number number = {.is_int = true};
    errno = 0;
    unsigned long long value = strtoull(digits, NULL, 10);
    if (errno == ERANGE || value > (unsigned long long)INT64_MAX + 1) {
        dfl_error(r->sink, loc, "integer is too large");
        dfl_hint(r->sink, "integers go up to %lld (i64)", (long long)INT64_MAX);
        r->bad_token = true;
        value = INT64_MAX;
    }
    number.is_min = value == (unsigned long long)INT64_MAX + 1;
    number.i = number.is_min ? INT64_MIN : (int64_t)value;
    number.f = (double)value;
    return number;
}

struct dfl_number dfl_literal_float(struct dfl_reader *r, struct dfl_loc loc, const char *digits)
{
    struct dfl_number number = {.f = strtod(digits, NULL)};
    if (isinf(number.f)) {
        dfl_error(r->sink, loc, "number is too large");
        dfl_hint(r->sink, "floats go up to 1.797e308 (f64)");
        r->bad_token = true;
        number.f = 1.0;
    }
    return number;
}

struct dfl_name dfl_literal_name(struct dfl_reader *r, struct dfl_loc loc, const char *text, size_t length)
{
    if (length > DFL_MAX_NAME) {
        dfl_error(r->sink, loc, "name is too long: %zu bytes, at most %d", length, DFL_MAX_NAME);
        r->bad_token = true;
        length = DFL_MAX_NAME;
    }
    return (struct dfl_name){dfl_arena_copy(r->arena, text, length), loc};
}

/* ---- strings ---- */

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return INT_MAX;
}

/* Reads up to `most` digits of `base` at text[*at..length). Gives their value, saturated; -1: there is no digit. */
static long read_digits(const char *text, size_t length, size_t *at, int base, size_t most)
{
    long value = -1;
    for (size_t n = 0; n < most && *at < length && digit_value(text[*at]) < base; n++, (*at)++) {
        value = (value < 0 ? 0 : value) * base + digit_value(text[*at]);
        if (value > 0x7fffffff)
            value = 0x7fffffff;
    }
    return value;
}

static size_t put_utf8(char *to, unsigned long c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(lead[n] | c);
    return n;
}

static void report_escape(struct dfl_reader *r, struct dfl_loc loc, size_t from, size_t to, const char *why)
{
    loc.col += 1 + (uint32_t)from; /* after the opening quote */
    loc.end_col = loc.col + (uint32_t)(to - from);
    dfl_error(r->sink, loc, "%s", why);
    r->bad_token = true;
}

/* The character that a simple escape stands for: itself, or a control character. 0: it is no simple escape. */
static char simple_escape(char c)
{
    switch (c) {
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    case '\\': case '"': case '\'': case '?': return c;
    default: return 0;
    }
}

/* Decodes the escape whose backslash is at body[*at] and appends it to `to`. Gives the number of bytes appended (0
 * after an error). No escape decodes to more bytes than it is written with. */
static size_t decode_escape(struct dfl_reader *r, struct dfl_loc loc, const char *body, size_t length, size_t *at,
                            char *to)
{
    size_t from = (*at)++;
    char c = body[*at]; /* the lexer takes no string that ends in a backslash */
    char simple = simple_escape(c);
    long value;

    if (simple) {
        (*at)++;
        *to = simple;
        return 1;
    }
    if (c >= '0' && c <= '7') {
        value = read_digits(body, length, at, 8, 3);
    } else if (c == 'x') {
        (*at)++;
        value = read_digits(body, length, at, 16, SIZE_MAX);
    } else if (c == 'u' || c == 'U') {
        size_t need = c == 'u' ? 4 : 8, digits = ++(*at);
        value = read_digits(body, length, at, 16, need);
        if (*at - digits < need || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
            report_escape(r, loc, from, *at, "escape does not stand for a Unicode character");
            dfl_hint(r->sink, "'\\u' takes four hexadecimal digits, '\\U' eight");
            return 0;
        }
    } else {
        (*at)++;
        while (*at < length && ((unsigned char)body[*at] & 0xc0) == 0x80) /* all of one UTF-8 character */
            (*at)++;
        report_escape(r, loc, from, *at, "unknown escape in a string");
        dfl_hint(r->sink, "the escapes are C's: \\n \\t \\\\ \\\" \\xHH \\ooo and so on; a backslash is '\\\\'");
        return 0;
    }
    if (value == 0) {
        report_escape(r, loc, from, *at, "string cannot hold a NUL character");
        return 0;
    }
    if (c == 'u' || c == 'U')
        return put_utf8(to, (unsigned long)value);
    if (value < 0 || value > 255) {
        report_escape(r, loc, from, *at,
                      value < 0 ? "'\\x' needs hexadecimal digits" : "escape does not fit in a byte");
        return 0;
    }
    *to = (char)value;
    return 1;
}

const char *dfl_literal_string(struct dfl_reader *r, struct dfl_loc loc, const char *body, size_t length)
{
    char *text = dfl_arena_text(r->arena, length);
    if (!text)
        return "";
    size_t n = 0;
    for (size_t at = 0; at < length;) {
        if (body[at] == '\\') {
            n += decode_escape(r, loc, body, length, &at, text + n);
        } else if (body[at] == '\0') {
            report_escape(r, loc, at, at + 1, "string cannot hold a NUL character");
            at++;
        } else {
            text[n++] = body[at++];
        }
    }
    text[n] = '\0';
    return text;
}
