/* message.c - escapes and shortens text for a terminal (message.h), for all code that prints messages: dfc, its
 * diagnostics, the engine's log and ranks. */
#include "runtime/base/message.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = 64, SMALL = 512 };        /* bytes of the words for what is left out; of a text if there is no memory */

size_t dfr_shown_bytes(const char *bytes, size_t n)
{
    const unsigned char *text = (const unsigned char *)bytes, c = text[0];
    if (c >= 0x20 && c < 0x7f)
        return 1;
    size_t length = c >= 0xc2 && c <= 0xdf ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
    if (length == 0 || length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xc2 && text[1] < 0xa0) ||                 /* C1 controls */
        (c == 0xe0 && text[1] < 0xa0) || (c == 0xf0 && text[1] < 0x90) || /* overlong */
        (c == 0xed && text[1] >= 0xa0) || (c == 0xf4 && text[1] >= 0x90)) /* surrogates, past U+10FFFF */
        return 0;
    if (c == 0xe2 && ((text[1] == 0x80 && text[2] >= 0xaa && text[2] <= 0xae) ||
                      (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9))) /* direction overrides */
        return 0;
    return length;
}

/* Moves *at past the character there, and gives how many bytes it takes if it is shown. */
static size_t pass(const char *text, size_t n, size_t *at)
{
    size_t length = dfr_shown_bytes(text + *at, n - *at);
    *at += length ? length : 1;
    return length ? length : DFR_ESCAPED_BYTES;
}

/* Writes the characters from `from` on that begin before `end`. Gives how many bytes it wrote. */
static size_t write_shown(char *to, const char *text, size_t n, size_t from, size_t end)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    for (size_t at = from; at < end;) {
        size_t begin = at, length = pass(text, n, &at);
        unsigned char c = (unsigned char)text[begin];
        if (dfr_shown_bytes(text + begin, n - begin))
            memcpy(to + used, text + begin, length);
        else
            memcpy(to + used, (char[]){ '\\', 'x', digits[c >> 4], digits[c & 15] }, DFR_ESCAPED_BYTES);
        used += length;
    }
    return used;
}

/* Where the characters end that take at most `room` bytes together. */
static size_t end_of_head(const char *text, size_t n, size_t room)
{
    size_t at = 0, end = 0, used = 0;
    while (at < n && (used += pass(text, n, &at)) <= room)
        end = at;
    return end;
}

/* Where the last characters begin that take at most `room` bytes together, of `total` for all. */
static size_t begin_of_tail(const char *text, size_t n, size_t total, size_t room)
{
    size_t at = 0;
    while (at < n && total > room)
        total -= pass(text, n, &at);
    return at;
}

size_t dfr_shown(char *to, size_t size, const char *text, size_t n)
{
    size_t total = 0, used = 0, head = n, tail = n;
    for (size_t at = 0; at < n;)
        total += pass(text, n, &at);
    if (total >= size) {
        size_t room = size > 2 * MARK ? size - MARK : 0;
        head = end_of_head(text, n, room ? room - room / 3 : size - 1);
        tail = room ? begin_of_tail(text, n, total, room / 3) : n;
    }
    used = write_shown(to, text, n, 0, head);
    if (tail < n)
        used += (size_t)snprintf(to + used, MARK, " ...(%zu bytes left out)... ", tail - head);
    used += write_shown(to + used, text, n, tail, n);
    to[used] = '\0';
    return used;
}

/* Line breaks at the end go, and those within become spaces. */
static void join_lines(char *text)
{
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        text[--n] = '\0';
    for (char *p = text; *p; p++)
        if (*p == '\n' || *p == '\r')
            *p = ' ';
}

static void show(char *to, size_t size, bool joined, const char *format, va_list list)
{
    char small[SMALL], *text = NULL;
    va_list again;
    va_copy(again, list);
    if (vasprintf(&text, format, list) < 0) {
        text = NULL;
        vsnprintf(small, sizeof small, format, again);
    }
    va_end(again);
    char *whole = text ? text : small;
    if (joined)
        join_lines(whole);
    dfr_shown(to, size, whole, strlen(whole));
    free(text);
}

void dfr_message(char *to, size_t size, const char *format, va_list list)
{
    show(to, size, false, format, list);
}

void dfr_message_text(char *to, size_t size, const char *format, va_list list)
{
    show(to, size, true, format, list);
}

void dfr_message_print(FILE *out, const char *format, ...)
{
    char text[DFR_MESSAGE_BYTES];
    va_list list;
    va_start(list, format);
    dfr_message(text, sizeof text, format, list);
    va_end(list);
    fprintf(out, "%s\n", text);
}

void dfr_message_name(FILE *out, const char *name)
{
    char shown[DFR_MESSAGE_BYTES];
    dfr_shown(shown, sizeof shown, name, strlen(name));
    fputs(shown, out);
}

/* Bytes of the command at text[0..n) that sets a colour or clears the rest of the line, as compilers use them. 0: there
 * is none. */
static size_t colour_bytes(const char *text, size_t n)
{
    size_t i = 2;
    if (n < 3 || text[0] != '\x1b' || text[1] != '[')
        return 0;
    while (i < n && ((text[i] >= '0' && text[i] <= '9') || text[i] == ';'))
        i++;
    return i < n && (text[i] == 'm' || text[i] == 'K') ? i + 1 : 0;
}

void dfr_message_lines(FILE *out, const char *text, size_t n)
{
    for (size_t at = 0; at < n;) {
        bool blank = text[at] == '\n' || text[at] == '\t';
        size_t bytes = blank ? 1 : colour_bytes(text + at, n - at), begin = at;
        char shown[DFR_ESCAPED_BYTES + 1];
        if (bytes) {
            fwrite(text + at, 1, bytes, out);
            at += bytes;
        } else {
            pass(text, n, &at);
            fwrite(shown, 1, dfr_shown(shown, sizeof shown, text + begin, at - begin), out);
        }
    }
}
